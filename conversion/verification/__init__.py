"""Whether two tokenizers are the same: what they consist of, and their ids on text."""

from conversion.verification.causes import CAUSES
from conversion.verification.difference import Difference
from conversion.verification.loaders import LOADERS, split_prefix
from conversion.verification.report import CauseReport, VerifyReport, verify

__all__ = ["CAUSES", "LOADERS", "CauseReport", "Difference", "VerifyReport", "split_prefix", "verify"]
