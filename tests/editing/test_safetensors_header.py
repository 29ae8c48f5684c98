"""Headers of .safetensors files: what the library accepts is read, and every way in which one can be wrong is named."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st
from safetensors import SafetensorError

from hf_bpe import FormatError
from hf_bpe.model_files.safetensors_header import Tensor, header_bytes, read_header
from tests.editing.models import save_tensors


def write(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def entry(start: int, end: int, shape: Any = None, dtype: Any = "U8") -> dict[str, Any]:
    return {"dtype": dtype, "shape": [end - start] if shape is None else shape, "data_offsets": [start, end]}


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        ({"a": entry(0, 4), "b": entry(3, 5)}, b"12345", "the data of b overlaps"),
        ({"a": entry(0, 4), "b": entry(5, 6)}, b"123456", "the data of b leaves a gap"),
        ({"a": entry(1, 4)}, b"1234", "the data of a leaves a gap"),
        ({"a": entry(0, 4)}, b"123", "it is truncated"),
        ({"a": entry(0, 4)}, b"12345", "more behind its tensors"),
        ({"a": entry(0, 4, [3])}, b"1234", r"a is U8 of the shape \[3\] and has 4 bytes"),
        ({"a": entry(0, 4, [2, 2], "F32")}, b"1234", "a is F32 of the shape"),
        ({"a": entry(0, 4, [-4])}, b"1234", "which is no tensor"),
        ({"a": entry(0, 4, [True])}, b"1", "which is no tensor"),
        ({"a": entry(4, 0, [4])}, b"1234", "which is no tensor"),
        ({"a": {"dtype": "U8", "shape": [4]}}, b"1234", "which is no tensor"),
        ({"a": entry(0, 4, dtype=3)}, b"1234", "which is no tensor"),
        ({"a": 7}, b"", "which is no tensor"),
        ({"a": entry(0, 2**70, [2**70])}, b"", "which is no tensor"),
        ({"__metadata__": {"format": 1}}, b"", "__metadata__ must map texts to texts"),
        ({"__metadata__": "pt"}, b"", "__metadata__ must map texts to texts"),
        ([], b"", "must be a JSON object"),
        (b"{}}", b"", "not JSON"),
        (b'{"a": 1, "a": 1}', b"", "stands twice"),
        (b"\xff\xfe", b"", "not UTF-8"),
        (b"", b"", "is empty"),
        (b"[" * 100_000, b"", "nested too deeply|not JSON"),
    ],
)
def test_damage_is_named(tmp_path: Path, header: Any, data: bytes, message: str) -> None:
    path = write(tmp_path / "x.safetensors", header, data)
    with pytest.raises(FormatError, match=message):
        read_header(path)


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 3])
def test_a_header_longer_than_the_file_is_not_read(tmp_path: Path, length: int) -> None:
    with pytest.raises(FormatError, match="it is truncated"):
        read_header(write(tmp_path / "x.safetensors", b"{}", length=length))


@st.composite
def headers(draw: st.DrawFn) -> tuple[dict[str, Any], bytes]:
    """Of small tensors, one of them perhaps with a number changed."""
    sizes = draw(st.lists(st.integers(0, 5), max_size=4))
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    entries = {f"t{number}": entry(start, start + size) for number, (start, size) in enumerate(zip(starts, sizes, strict=True))}
    if entries and draw(st.booleans()):
        spoilt = entries[draw(st.sampled_from(sorted(entries)))]
        key = draw(st.sampled_from(["shape", "data_offsets"]))
        spoilt[key] = [number + draw(st.integers(-1, 1)) for number in spoilt[key]]
    return entries, b"x" * (sum(sizes) + draw(st.sampled_from([0, 0, 0, 1, -1])))


@given(headers())
def test_files_are_taken_exactly_where_the_library_takes_them(tmp_path_factory: pytest.TempPathFactory, case: Any) -> None:
    path = write(tmp_path_factory.getbasetemp() / "case.safetensors", *case)
    try:
        safetensors.deserialize(path.read_bytes())
    except SafetensorError:
        with pytest.raises(FormatError):
            read_header(path)
    else:
        assert len(read_header(path).tensors) == len(case[0])


def test_a_file_of_the_library_is_read_and_its_header_written_anew_is_read_by_it(tmp_path: Path) -> None:
    values = {
        "b": np.arange(6, dtype=np.float32).reshape(2, 3),
        "a": np.ones(3, dtype=np.float16),
        "empty": np.zeros((0, 4), "<f4"),
    }
    save_tensors(tmp_path / "x.safetensors", values)
    header = read_header(tmp_path / "x.safetensors")
    assert {tensor.name: tensor.shape for tensor in header.tensors} == {name: value.shape for name, value in values.items()}
    assert header.metadata == {"format": "pt"}
    head, placed = header_bytes(header.tensors, header.metadata)
    assert placed == header.tensors
    assert len(head) % 8 == 0
    data = (tmp_path / "x.safetensors").read_bytes()[header.data_start :]
    assert {name for name, _ in safetensors.deserialize(head + data)} == set(values)


def test_names_and_metadata_beyond_ascii_are_kept(tmp_path: Path) -> None:
    head, _ = header_bytes([Tensor('é"\\中', "U8", (1,), 0, 1)], {"ключ": "значение\n"})
    (tmp_path / "x.safetensors").write_bytes(head + b"x")
    header = read_header(tmp_path / "x.safetensors")
    assert (header.tensors[0].name, header.metadata) == ('é"\\中', {"ключ": "значение\n"})
