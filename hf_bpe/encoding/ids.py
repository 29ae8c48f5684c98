"""From documents as bytes to their ids: the only place that calls the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from hf_bpe.corpus.documents import Batch, Offsets, offsets_of
from hf_bpe.encoding.ragged import Ids, Ragged
from hf_bpe.engine import Encoder
from hf_bpe.spec import TokenizerSpec

__all__ = ["IdMaker", "choose_dtype", "end_token", "gathered"]


def choose_dtype(spec: TokenizerSpec, dtype: npt.DTypeLike | None) -> np.dtype[Any]:
    """uint16 where all ids fit, else uint32; little-endian. Raises `ValueError` for a type that does not hold all ids."""
    chosen = np.dtype(dtype if dtype is not None else np.uint16 if spec.n_vocab <= 1 << 16 else np.uint32)
    if chosen.newbyteorder("=") not in (np.uint16, np.uint32):
        raise ValueError(f"dtype must be uint16 or uint32, not {chosen}")
    if spec.n_vocab > 1 << (8 * chosen.itemsize):
        raise ValueError(f"dtype {chosen} does not hold ids up to {spec.n_vocab - 1}; use uint32, or leave dtype out")
    little: np.dtype[Any] = chosen.newbyteorder("<")
    return little


def end_token(spec: TokenizerSpec, eos: int | str | None) -> int | None:
    """The id that ends each document. Raises `ValueError` naming the special tokens there are."""
    known = {token.content: token.id for token in spec.added_tokens}
    if eos is None or (type(eos) is int and spec.token_bytes(eos) is not None):
        return eos
    if isinstance(eos, str) and eos in known:
        return known[eos]
    there = ", ".join(f"{content!r} ({number})" for content, number in known.items()) or "none"
    raise ValueError(f"eos {eos!r} is not a special token or an id of this tokenizer; its special tokens: {there}")


class IdMaker:
    """Encodes batches of documents, special tokens in the text treated as text, and ends each with `eos`."""

    def __init__(self, encoder: Encoder, dtype: np.dtype[Any], eos: int | None, num_threads: int) -> None:
        self._encoder = encoder
        self._dtype = dtype
        self._eos = eos
        self._num_threads = num_threads

    def encode(self, batches: list[Batch]) -> Iterator[Ragged]:
        """The ids of each batch. All are encoded at once, which keeps every thread busy where batches are small."""
        offsets = offsets_of(np.concatenate([np.diff(batch.offsets) for batch in batches]))
        ids, places = self._encode(b"".join(batch.data for batch in batches), offsets)
        first = 0
        for batch in batches:
            last = first + len(batch.rows)
            yield self._ended(ids[places[first] : places[last]], places[first : last + 1] - places[first], batch.unfinished)
            first = last

    def _encode(self, data: bytes, offsets: Offsets) -> Ragged:
        ids, places = self._encoder.encode_ordinary_utf8(data, offsets, num_threads=self._num_threads, dtype=self._dtype.name)
        return Ragged(ids.astype(self._dtype, copy=False), places)

    def _ended(self, ids: Ids, offsets: Offsets, unfinished: bool) -> Ragged:
        if self._eos is None:
            return Ragged(ids, offsets)
        ends = offsets[1 : len(offsets) - unfinished]
        shifts = np.minimum(np.arange(len(offsets)), len(ends))
        return Ragged(np.insert(ids, ends, self._eos), offsets + shifts)


def gathered(parts: Iterable[tuple[Ragged, bool]], dtype: np.dtype[Any]) -> Ragged:
    """All batches in one. Each comes with whether its last document goes on in the next."""
    ids: list[Ids] = [np.zeros(0, dtype)]
    ends: list[Offsets] = [np.zeros(1, np.int64)]
    total = 0
    for part, unfinished in parts:
        ids.append(part.ids)
        ends.append(part.offsets[1 : len(part.offsets) - unfinished] + total)
        total += len(part.ids)
    return Ragged(np.concatenate(ids), np.concatenate(ends))
