"""The report beside a lossy result: `x.gguf.hf_bpe.verdict.json`, or `hf_bpe.verdict.json` in a folder.

    {"report": "hf_bpe verdict", "version": 1,
     "files": {"x.gguf": "<sha256>"},                       what it speaks of
     "verdict": "lossy", "format": "gguf",
     "checks": [...], "conditions": [...], "losses": [...], what holds, holds under a condition, does not hold
     "loss": {"run_by": "...",
              "smallest": {"text": "...", "as_special": false, "source_ids": [...], "target_ids": [...]},
              "builtin": {"texts": 4841, "differing": 12}, "corpus": null}}

Nothing reads it but people and their programs; a later, exact conversion to the same place removes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from conversion.verdict import Verdict

__all__ = ["report_file", "report_of"]

_NAME = "hf_bpe.verdict.json"


def report_file(name: str, is_folder: bool) -> str:
    """Where the report of a file stands, or of a folder, in it.

    >>> report_file("x.gguf", False), report_file("pair", True)
    ('x.gguf.hf_bpe.verdict.json', 'hf_bpe.verdict.json')
    """
    return _NAME if is_folder else f"{name}.{_NAME}"


def report_of(verdict: Verdict, contents: Mapping[str, bytes]) -> bytes:
    """The content of the report."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    data = {"report": "hf_bpe verdict", "version": 1, "files": hashes, **verdict.to_dict()}
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()
