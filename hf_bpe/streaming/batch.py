"""Ids to text for several texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from hf_bpe.engine import Encoder
from hf_bpe.streaming.decoding import StreamingDecoder
from hf_bpe.streaming.rules import DecodingSource, decoding_rules

__all__ = ["StreamingDecoderBatch"]


class StreamingDecoderBatch:
    """Several streams of one tokenizer. Arguments are those of `StreamingDecoder`.

    >>> from hf_bpe import TokenizerSpec
    >>> streams = StreamingDecoderBatch(Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())), 2)
    >>> streams.feed([[104, 105], [195]]), streams.finish()
    (['hi', ''], ['', '\ufffd'])
    """

    def __init__(self, source: Encoder | DecodingSource, size: int, **options: Any) -> None:
        first = StreamingDecoder(source, **options)
        self._never_fails = first.never_fails
        self._rules = decoding_rules(source)
        self.streams = [first, *(first.copy() for _ in range(size - 1))][:size]

    def feed(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """What each stream gives for its row of ids; a row may be empty. Raises `ValueError` for another number of rows.

        What raises leaves all streams as they were.
        """
        if len(rows) != len(self.streams):
            raise ValueError(f"there are {len(self.streams)} streams, and {len(rows)} rows of ids came; pass one row for each")
        if self._never_fails:
            self._rules.bytes_of([*chain.from_iterable(rows)])  # raises for an unknown id; copies would cost 1 us each
            return [stream.feed(row) for stream, row in zip(self.streams, rows, strict=True)]
        gone_on = [stream.copy() for stream in self.streams]
        texts = [stream.feed(row) for stream, row in zip(gone_on, rows, strict=True)]
        self.streams = gone_on
        return texts

    def finish(self) -> list[str]:
        """The rest of each text."""
        return [stream.finish() for stream in self.streams]

    def select(self, rows: Sequence[int]) -> None:
        """Keep these streams, in this order, each as often as it is named: what beam search does with its beams.

        >>> streams.select([1, 1])  # doctest: +SKIP
        """
        self.streams = [self.streams[row].copy() for row in rows]
