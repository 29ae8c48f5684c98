"""The head of a .safetensors file: which tensors it holds, and where. The tensors themselves are not read."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conversion.json_shapes import quoted
from conversion.json_text import parse_json
from hf_bpe.errors import FormatError

__all__ = ["Header", "Tensor", "header_bytes", "read_header", "tensor_entries"]

_LONGEST = 100_000_000
"""The library's own limit."""

_METADATA = "__metadata__"

_BITS = {
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
}
"""Of one number. Tensors of another dtype are passed through by the size of their data."""


@dataclass(frozen=True)
class Tensor:
    """One entry of a header. start, end: bytes behind the header."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def nbytes(self) -> int:
        """How long its data is."""
        return self.end - self.start


@dataclass(frozen=True)
class Header:
    """A sound header: the data of its tensors, in this order, fill the file from `data_start` to its end."""

    tensors: tuple[Tensor, ...]
    metadata: Mapping[str, str] | None
    data_start: int


def tensor_entries(path: Path) -> dict[str, Any]:
    """Name -> what the header says of a tensor, right or wrong. Raises `FormatError` for a damaged file."""
    return {name: entry for name, entry in _parse(path)[0].items() if name != _METADATA}


def read_header(path: Path) -> Header:
    """What a file holds. Raises `FormatError` for one that is damaged, truncated, or contradicts itself."""
    data, length, size = _parse(path)
    metadata = data.pop(_METADATA, None)
    if metadata is not None and not (isinstance(metadata, dict) and all(isinstance(text, str) for text in metadata.values())):
        raise FormatError(f"{path}: {_METADATA} must map texts to texts; the file is damaged: fetch it again")
    tensors = sorted((_tensor(path, *item) for item in data.items()), key=lambda tensor: (tensor.start, tensor.end))
    end = 0
    for tensor in tensors:
        if tensor.start != end:
            what = "overlaps the one before it" if tensor.start < end else "leaves a gap before it"
            raise FormatError(f"{path}: the data of {tensor.name} {what}; the file is damaged: fetch it again")
        end = tensor.end
    if 8 + length + end != size:
        what = "it is truncated" if size < 8 + length + end else "there is more behind its tensors than the header says"
        raise FormatError(
            f"{path}: the file has {size} bytes, and its header speaks of {8 + length + end}; {what}: fetch it again"
        )
    return Header(tuple(tensors), metadata, 8 + length)


def header_bytes(tensors: Iterable[Tensor], metadata: Mapping[str, str] | None) -> tuple[bytes, tuple[Tensor, ...]]:
    """The head of a file that holds these tensors one behind the other, and the tensors where they then stand.

    >>> head, (tensor,) = header_bytes([Tensor("a", "F32", (2,), 100, 108)], None)
    >>> head[8:], tensor.start
    (b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  ', 0)
    """
    placed = []
    end = 0
    for tensor in tensors:
        placed.append(replace(tensor, start=end, end=end + tensor.nbytes))
        end += tensor.nbytes
    data: dict[str, Any] = {} if metadata is None else {_METADATA: dict(metadata)}
    for tensor in placed:
        data[tensor.name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": [tensor.start, tensor.end]}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the data is aligned, as the library does
    return struct.pack("<Q", len(text)) + text, tuple(placed)


def _parse(path: Path) -> tuple[dict[str, Any], int, int]:
    """The JSON of the header, its length, and the size of the file."""
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
    return data, length, size


def _tensor(path: Path, name: str, entry: Any) -> Tensor:
    entry = entry if isinstance(entry, dict) else {}
    dtype, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not (
        isinstance(dtype, str) and _are_sizes(shape) and _are_sizes(offsets) and len(offsets) == 2 and offsets[0] <= offsets[1]
    ):
        raise FormatError(
            f"{path}: the header says of {name} {quoted(entry)}, which is no tensor; the file is damaged: fetch it again"
        )
    tensor = Tensor(name, dtype, tuple(shape), *offsets)
    if dtype in _BITS and tensor.nbytes * 8 != math.prod(shape) * _BITS[dtype]:
        raise FormatError(
            f"{path}: {name} is {dtype} of the shape {shape} and has {tensor.nbytes} bytes; the file is damaged: fetch it again"
        )
    return tensor


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) is int and 0 <= number < 2**63 for number in value)
