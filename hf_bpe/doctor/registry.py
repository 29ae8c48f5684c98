"""All lints, and asking them."""

from __future__ import annotations

import os
from collections.abc import Iterable

from hf_bpe.doctor.finding import SEVERITIES, Finding, Lint
from hf_bpe.doctor.folder import Folder
from hf_bpe.doctor.lints import chat, configuration, files, model, special_tokens, splitting, vocabulary
from hf_bpe.errors import UnknownLintError

__all__ = ["LINTS", "examine"]

_FAMILIES = (files, vocabulary, splitting, special_tokens, configuration, chat, model)

LINTS: dict[str, Lint] = {each.code: each for family in _FAMILIES for each in vars(family).values() if isinstance(each, Lint)}
"""Code -> lint, in the order of the families."""


def examine(path: str | os.PathLike[str] | Folder, *, ignore: Iterable[str] = ()) -> list[Finding]:
    """What is wrong with the tokenizer in a folder or file, most serious first; empty if nothing is.

    It looks at raw files, so a damaged tokenizer, or one that this package does not run, is examined too.

    path: or what was found at one already. ignore: codes of lints that are not asked.

    Raises `FormatError` where there is nothing to examine, `UnknownLintError` for a code that no lint has.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "tokenizer.json").write_text('{"model": {"vocab": {"a": 0, "b": 0}, "merges": []}}')
    ...     [finding.code for finding in examine(folder) if finding.code == "duplicate-id"]
    ['duplicate-id']
    """
    left_out = set(ignore)
    unknown = sorted(left_out - LINTS.keys())
    if unknown:
        raise UnknownLintError(f"no lint is named {unknown[0]!r}; the lints are {', '.join(LINTS)}")
    folder = path if isinstance(path, Folder) else Folder(path)
    found = [finding for code, each in LINTS.items() if code not in left_out for finding in each.findings(folder)]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))
