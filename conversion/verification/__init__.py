"""Whether two tokenizers are the same: what they consist of, and their ids on text."""

from conversion.verification.comparison import Difference
from conversion.verification.report import VerifyReport, verify

__all__ = ["Difference", "VerifyReport", "verify"]
