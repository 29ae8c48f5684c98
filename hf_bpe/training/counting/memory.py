"""The budget: what a user may write for it, and how much of it the tables of counts may take up."""

from __future__ import annotations

import re

from hf_bpe.errors import TrainingError

__all__ = ["DEFAULT_MEMORY", "bytes_of", "for_tables"]

DEFAULT_MEMORY = "2GB"

_UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]I?|)B?\s*", re.IGNORECASE)

_BUFFERS = 200 << 20
"""The interpreter with its libraries, and the texts that are read ahead and counted; measured."""


def bytes_of(size: int | str) -> int:
    """A number of bytes from what a user writes. Raises `TrainingError` for anything else.

    >>> bytes_of("1.5GB"), bytes_of("64 MiB"), bytes_of(1000)
    (1500000000, 67108864, 1000)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    bytes_ = round(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if bytes_ < 1:
        raise TrainingError(f"memory_limit must be a size such as '1GB', '500MB' or a number of bytes, not {size!r}")
    return bytes_


def for_tables(limit: int) -> int:
    """How large tables of counts may be before they are put aside.

    A quarter of what buffers leave: a table that grows is there twice, the new one twice as large as the old, and tables are sorted
    beside themselves. Under a small limit, buffers are what they are, and a tenth is for tables.
    """
    return max((limit - _BUFFERS) // 4, limit // 10)
