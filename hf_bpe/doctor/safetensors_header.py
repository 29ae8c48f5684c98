"""The shapes of tensors, out of the head of a .safetensors file; the tensors themselves are not read."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from conversion.json_text import parse_json
from hf_bpe.errors import FormatError

__all__ = ["tensor_entries"]

_LONGEST = 100_000_000
"""The library's own limit."""


def tensor_entries(path: Path) -> dict[str, Any]:
    """Name -> what the header says of a tensor. Raises `FormatError` for a damaged file."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            head = file.read(8)
            length = struct.unpack("<Q", head)[0] if len(head) == 8 else size
            if length > min(size - 8, _LONGEST):
                raise FormatError(
                    f"{path}: the header is {length} bytes long, and the file has {size}; it is truncated: fetch it again"
                )
            text = file.read(length).decode()
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError:
        raise FormatError(f"{path}: the header is not UTF-8 text; the file is damaged: fetch it again") from None
    data = parse_json(text, f"{path}, header")
    if not isinstance(data, dict):
        raise FormatError(f"{path}: the header must be a JSON object; the file is damaged: fetch it again")
    return data
