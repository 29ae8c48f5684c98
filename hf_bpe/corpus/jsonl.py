"""Reads JSON lines: one object on each line, the text in one of its fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeAlias

import numpy as np

from hf_bpe.corpus.documents import BLOCK_BYTES, BadDocuments, Batch, Place, as_int64
from hf_bpe.corpus.sources import Source
from hf_bpe.corpus.streams import Stream
from hf_bpe.engine.backends import load_native
from hf_bpe.engine.reference import as_unicode

__all__ = ["extract_by_definition", "read_jsonl"]

Extracted: TypeAlias = tuple[bytes, bytes, bytes, bytes, list[tuple[int, str]]]
"""data, offsets, ends, lines, bad lines: as `native.jsonl_texts` gives them."""


def read_jsonl(
    source: Source, start: Place, *, field: str, bad: BadDocuments, block_bytes: int = BLOCK_BYTES
) -> Iterator[Batch]:
    """The texts in `field` of each line, in batches of about `block_bytes`. Blank lines hold no document.

    A line that is no JSON object, lacks the field, has it twice, or has something other than a string in it
    is bad. Surrogate escapes are joined to the character they mean; lone ones become U+FFFD.
    """
    native = load_native()
    extract: Callable[[bytes, str], Extracted] = extract_by_definition if native is None else native.jsonl_texts
    place = start
    with Stream(source, start.offset) as stream:
        for begin, lines in _whole_lines(stream, block_bytes):
            data, offsets, ends, rows, bad_lines = extract(lines, field)
            for line, reason in bad_lines:
                bad.add(source.path, f"line {place.row + line + 1}", reason)
            yield Batch(
                data,
                as_int64(offsets),
                as_int64(ends) + begin,
                as_int64(rows) + (place.row + 1),
                np.array([place.row + line + 1 for line, _ in bad_lines], np.int64),
                stream.consumed,
            )
            place = Place(begin + len(lines), place.row + lines.count(b"\n"))


def _whole_lines(stream: Stream, block_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Blocks that end with a line break, and where each begins; the last one may lack it."""
    parts: list[bytes] = []
    begin = 0
    for place, block in stream.blocks(block_bytes):
        if not parts:
            begin = place
        cut = block.rfind(b"\n") + 1
        if cut:
            yield begin, b"".join([*parts, block[:cut]])
            parts, begin = [], place + cut
        if cut < len(block):
            parts.append(block[cut:])
    if parts:
        yield begin, b"".join(parts)


def extract_by_definition(block: bytes, field: str) -> Extracted:
    """What `native.jsonl_texts` must give (but for the wording of reasons); runs where the native engine is missing.

    >>> extract_by_definition(b'{"text": "hi"}', "text")[0]
    b'hi'
    """
    texts, ends, rows, bad = [], [], [], []
    end = 0
    for number, line in enumerate(block.split(b"\n")):
        end = min(end + len(line) + 1, len(block))
        if not line.strip(b" \t\r"):
            continue
        try:
            texts.append(_text_of(line.decode(), field))
        except UnicodeDecodeError as error:
            bad.append((number, f"not UTF-8: byte 0x{line[error.start]:02X} at column {error.start + 1}"))
        except json.JSONDecodeError as error:
            bad.append((number, f"not JSON: {error.msg} at column {error.colno}"))
        except RecursionError:
            bad.append((number, "not JSON that Python can read: nested too deeply"))
        except _NotAText as error:
            bad.append((number, str(error)))
        else:
            ends.append(end)
            rows.append(number)
    offsets = np.cumsum([0, *map(len, texts)])
    return b"".join(texts), *(np.array(numbers, np.int64).tobytes() for numbers in (offsets, ends, rows)), bad  # type: ignore[return-value]


class _Object(list[tuple[str, Any]]):
    """The keys and values of an object, as they come."""


class _NotAText(ValueError):
    """The record holds no text where one is wanted."""


def _text_of(line: str, field: str) -> bytes:
    def refuse(constant: str) -> NoReturn:
        raise json.JSONDecodeError(f"{constant} is not JSON", line, 0)

    # Numbers do not matter here, and Python refuses to read very long ones.
    record: Any = json.loads(line, parse_constant=refuse, parse_int=len, parse_float=len, object_pairs_hook=_Object)
    if not isinstance(record, _Object):
        raise _NotAText(f"invalid type: {type(record).__name__}, expected an object on each line")
    texts = [value for key, value in record if key == field]
    if len(texts) != 1:
        raise _NotAText(f'field "{field}" is there twice' if texts else f'no field "{field}"')
    text = texts[0]
    if not isinstance(text, str):
        raise _NotAText(f'invalid type: {type(text).__name__}, expected a string in field "{field}"')
    return as_unicode(text).encode()
