"""Looks for what is wrong with a tokenizer folder or file: `hf-bpe doctor PATH`.

>>> from hf_bpe.doctor import examine
>>> for finding in examine("my-tokenizer"):  # doctest: +SKIP
...     print(finding.severity, finding.code, finding.where, finding.what, finding.fix)
"""

from hf_bpe.doctor.finding import SEVERITIES, Finding, Lint, Severity
from hf_bpe.doctor.folder import Folder
from hf_bpe.doctor.registry import LINTS, examine

__all__ = ["LINTS", "SEVERITIES", "Finding", "Folder", "Lint", "Severity", "examine"]
