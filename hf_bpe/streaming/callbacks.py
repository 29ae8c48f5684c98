"""Streaming decoders under the names and methods that other libraries call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from hf_bpe.engine import Encoder
from hf_bpe.streaming.decoding import StreamingDecoder
from hf_bpe.streaming.rules import DecodingSource

__all__ = ["DecodeStream", "TextStreamer"]


class TextStreamer:
    """What `model.generate(streamer=...)` of transformers takes: `put` and `end`. Gives text to a callback as it comes.

    Unlike transformers' own class it decodes every id once, and gives each character out when its last byte is there; that one
    decodes the whole line again for each id, and holds a word back until the next one begins.

    on_text: called with each bit of text, which is never empty.
    on_end: called once all text was given.
    skip_prompt: leave out the ids of the first `put`.
    options: those of `StreamingDecoder`.

    >>> from hf_bpe import TokenizerSpec
    >>> texts = []
    >>> streamer = TextStreamer(Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())), texts.append)
    >>> streamer.put([104, 105]), streamer.put(33), streamer.end(), texts
    (None, None, None, ['hi', '!'])
    """

    def __init__(
        self,
        source: Encoder | DecodingSource,
        on_text: Callable[[str], object],
        *,
        on_end: Callable[[], object] | None = None,
        skip_prompt: bool = False,
        **options: Any,
    ) -> None:
        self._stream = StreamingDecoder(source, **options)
        self._on_text = on_text
        self._on_end = on_end
        self._skip_prompt = skip_prompt
        self._is_prompt = True

    def put(self, value: Any) -> None:
        """Take ids: an int, a list, or an array or tensor of one row. Raises `ValueError` for several rows."""
        ids = _one_row(value)
        is_prompt, self._is_prompt = self._is_prompt, False
        if not (is_prompt and self._skip_prompt):
            self._give(self._stream.feed(ids))

    def end(self) -> None:
        """Give out the rest. The streamer can then be used for another text."""
        self._give(self._stream.finish())
        self._is_prompt = True
        if self._on_end is not None:
            self._on_end()

    def _give(self, text: str) -> None:
        if text:
            self._on_text(text)


def _one_row(value: Any) -> Sequence[int]:
    if type(value) is int:  # the others take 0.5 us to tell apart
        return (value,)
    ids = value.tolist() if hasattr(value, "tolist") else value
    if _is_id(ids):
        return [index(ids)]
    if len(ids) and not _is_id(ids[0]):
        if len(ids) != 1:
            raise ValueError(f"a streamer takes one row of ids, not {len(ids)}; use StreamingDecoderBatch for several")
        ids = ids[0]
    return list(map(index, ids))


def _is_id(value: Any) -> bool:
    """Whether this is a number, of Python, numpy or torch. Arrays have `__index__` too, so it is tried."""
    try:
        index(value)
    except TypeError:
        return False
    return True


class DecodeStream:
    """What `tokenizers.decoders.DecodeStream` is to its callers: `step(tokenizer, id)` gives text, or None while there is none.

    Joined, the steps and `finish` are the full decode; the class of `tokenizers` compares decoded windows instead, and stops with
    an error where a window's text does not begin the next.

    ids: those that come before, whose text is not given.

    >>> from hf_bpe import TokenizerSpec
    >>> encoder = Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()))
    >>> stream = DecodeStream()
    >>> [stream.step(encoder, byte) for byte in "é!".encode()]
    [None, 'é', '!']
    """

    def __init__(self, ids: Sequence[int] | None = None, skip_special_tokens: bool = False) -> None:
        self._before = list(ids or ())
        self._skip_special_tokens = skip_special_tokens
        self._source: Encoder | DecodingSource | None = None
        self._stream: StreamingDecoder | None = None

    def step(self, tokenizer: Encoder | DecodingSource, token_id: int | Sequence[int]) -> str | None:
        """The text that is certain with this id, or these. Raises `ValueError` for another tokenizer than at the first step."""
        if self._stream is None:
            stream = StreamingDecoder(tokenizer, skip_special_tokens=self._skip_special_tokens)
            stream.feed(self._before)  # which may raise; a second step then raises as well
            self._source, self._stream = tokenizer, stream
        elif tokenizer is not self._source:
            raise ValueError("a DecodeStream goes on with the tokenizer of its first step; make one for each tokenizer")
        return self._stream.feed(_one_row(token_id)) or None

    def finish(self) -> str:
        """The rest of the text.

        >>> DecodeStream().finish()
        ''
        """
        return self._stream.finish() if self._stream is not None else ""
