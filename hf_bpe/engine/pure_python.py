"""Everything an `Encoder` asks of an engine, through the reference: what runs where the native engine is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hf_bpe.engine.pieces_reference import PiecesReference
from hf_bpe.engine.reference import Reference, ReferenceEngine, ReferencePolicy
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

    def encode_batch_with_offsets(
        self, texts: Sequence[str], policy: ReferencePolicy, num_threads: int, characters: bool
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_], NDArray[np.int64]]:
        """Ids; first and last + 1 byte or character of each, one after the other; piece of each; whether each was found; where each
        text's begin.
        """
        rows = [self.encode_with_spans(text, policy, characters) for text in texts]
        found = [placed for row in rows for placed in row]
        ids, starts, stops, pieces, added = zip(*found, strict=True) if found else ((), (), (), (), ())
        return (
            np.array(ids, dtype=np.uint32),
            np.array([starts, stops], dtype=np.int64).T.reshape(-1),
            np.array(pieces, dtype=np.uint32),
            np.array(added, dtype=np.bool_),
            _begins(rows),
        )

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
