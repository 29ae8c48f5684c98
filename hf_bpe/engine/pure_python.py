"""Everything an `Encoder` asks of an engine, through the reference: what runs where the native engine is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hf_bpe.engine.parts import as_unicode
from hf_bpe.engine.pieces_reference import PiecesReference
from hf_bpe.engine.protocol import Unit
from hf_bpe.engine.reference import Placed, Reference, ReferenceEngine, ReferencePolicy
from hf_bpe.engine.stock_places import stock_places
from hf_bpe.errors import CorpusError, HfBpeError
from hf_bpe.spec import TokenizerSpec

__all__ = ["Face", "make_pure_python"]

Arrays = tuple[NDArray[Any], NDArray[np.int64]]


class Face(Reference):
    """The native engine's methods, out of those of a reference. One thread, whatever it is told."""

    def encode_to_numpy(self, text: str, policy: ReferencePolicy, narrow: bool) -> NDArray[Any]:
        """Ids as uint16 (`narrow`) or uint32."""
        return np.array(self.encode(text, policy), dtype=np.uint16 if narrow else np.uint32)

    def encode_piece(self, piece: bytes, whole: bool = True) -> list[int]:
        """Byte-level engines have their own."""
        raise HfBpeError("a SentencePiece model merges characters, not pieces of bytes; encode the text")

    def encode_batch(self, texts: Sequence[str], policy: ReferencePolicy, num_threads: int) -> list[list[int]]:
        """Ids of each text."""
        return [self.encode(text, policy) for text in texts]

    def encode_batch_to_numpy(self, texts: Sequence[str], policy: ReferencePolicy, num_threads: int, narrow: bool) -> Arrays:
        """Ids of all texts, and where each text's begin."""
        rows = self.encode_batch(texts, policy, num_threads)
        ids = np.array([token_id for row in rows for token_id in row], dtype=np.uint16 if narrow else np.uint32)
        return ids, _begins(rows)

    def encode_utf8_to_numpy(
        self, data: Any, offsets: NDArray[Any], policy: ReferencePolicy, num_threads: int, narrow: bool
    ) -> Arrays:
        """The same for texts that stand in `data` as UTF-8."""
        view, texts = memoryview(data), []
        if view.itemsize != 1 or not view.contiguous:
            raise ValueError("the data must be contiguous bytes")
        if not isinstance(offsets, np.ndarray) or offsets.dtype != np.int64 or offsets.ndim != 1:
            raise TypeError("the offsets must be an int64 array of one dimension")
        content, bounds = bytes(view), offsets.tolist()
        if not bounds or min(bounds) < 0 or bounds != sorted(bounds) or bounds[-1] > len(content):
            raise ValueError(f"offsets must ascend, hold at least one number, and end within the {len(content)} bytes of data")
        for number, (start, stop) in enumerate(pairwise(bounds)):
            try:
                texts.append(content[start:stop].decode())
            except UnicodeDecodeError as error:
                raise CorpusError(f"text {number} is not UTF-8: see byte {start + error.start} of the data") from None
        return self.encode_batch_to_numpy(texts, policy, num_threads, narrow)

    def place(self, texts: Sequence[str], policy: ReferencePolicy, num_threads: int, unit: Unit) -> PlacedRows:
        """Ids with places in bytes, in characters, or in those of stock classes."""
        rows = [self.encode_with_spans(text, policy, unit != "bytes") for text in texts]
        rules = self._spec.sentencepiece
        if unit == "stock" and rules is not None:
            rows = [stock_places(as_unicode(text), row, rules) for text, row in zip(texts, rows, strict=True)]
        return PlacedRows(rows)

    def place_one(self, text: str, policy: ReferencePolicy, unit: Unit) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids and places of one text."""
        placed = self.place([text], policy, 1, unit)
        return placed.ids()[0], placed.offsets()[0]

    def count(self, text: str, policy: ReferencePolicy) -> int:
        """How many ids `encode` gives."""
        return len(self.encode(text, policy))

    def count_batch(self, texts: Sequence[str], policy: ReferencePolicy, num_threads: int) -> list[int]:
        """The same for each text."""
        return [self.count(text, policy) for text in texts]

    def decode(self, ids: Any) -> str | bytes:
        """The text behind ids, or the bytes where they are not UTF-8."""
        content = self.decode_bytes(ids)
        try:
            return content.decode()
        except UnicodeDecodeError:
            return content

    def cache_info(self) -> tuple[int, int, int]:
        """There is no cache."""
        return 0, 0, 0


class PlacedRows:
    """The native engine's `Places`."""

    def __init__(self, rows: Sequence[Sequence[Placed]]) -> None:
        self._rows = rows

    def ids(self) -> list[list[int]]:
        """The ids of each text."""
        return [[placed.token_id for placed in row] for row in self._rows]

    def offsets(self) -> list[list[tuple[int, int]]]:
        """First and last + 1 byte or character of each id."""
        return [[(placed.start, placed.stop) for placed in row] for row in self._rows]

    def pieces(self) -> list[list[int]]:
        """The number of the piece of each id."""
        return [[placed.piece for placed in row] for row in self._rows]

    def bounds(self) -> list[int]:
        """Where each text's ids begin, and where the last one's end."""
        return [0, *accumulate(map(len, self._rows))]

    def arrays(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The same as arrays, and whether each id is an added token that was found."""
        found = [placed for row in self._rows for placed in row]
        ids, starts, stops, pieces, added = zip(*found, strict=True) if found else ((), (), (), (), ())
        return (
            np.array(ids, dtype=np.uint32),
            np.array(starts, dtype=np.int64),
            np.array(stops, dtype=np.int64),
            np.array(pieces, dtype=np.uint32),
            np.array(added, dtype=np.bool_),
            np.array(self.bounds(), dtype=np.int64),
        )


def _begins(rows: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    """Where each row begins, and where the last ends."""
    return np.array([0, *accumulate(map(len, rows))], dtype=np.int64)


class _ByteLevel(ReferenceEngine, Face):
    """Runs a byte-level spec."""


class _Pieces(PiecesReference, Face):
    """Runs a SentencePiece model."""


def make_pure_python(spec: TokenizerSpec) -> Face:
    """The engine for the dialect of the spec."""
    return _ByteLevel(spec) if spec.dialect == "byte_level" else _Pieces(spec)
