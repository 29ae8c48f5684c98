"""Ids to text, some at a time."""

from __future__ import annotations

from codecs import lookup_error, utf_8_decode
from collections.abc import Iterator, Sequence
from operator import index

from hf_bpe.engine import Encoder
from hf_bpe.streaming.denormalising import Denormalising
from hf_bpe.streaming.rules import DecodingRules, DecodingSource, decoding_rules
from hf_bpe.utf8 import ONE_FOR_EACH_BYTE

__all__ = ["StreamingByteDecoder", "StreamingDecoder"]


_NONE: dict[int, str] = {}
_NEVER_RAISE = frozenset({"replace", "ignore", "backslashreplace", "surrogateescape"})
"""Ways to treat bytes that are no text with which decoding known ids cannot fail."""


class StreamingDecoder:
    """Gives the text behind ids as they come: what has been given, joined, is the text behind all of them, however they came.

    A character comes out with its last byte. Between calls a stream holds what is not decided yet: up to three bytes of a
    character, and whether the text has begun.

    source: an `Encoder`, whose `decode` is followed, or a `HfBpeTokenizer`, whose own is.
    skip_special_tokens: leave special tokens out.
    errors: what bytes that are no UTF-8 become, as in `Encoder.decode`; a tokenizer knows only "replace".

    >>> from hf_bpe import TokenizerSpec
    >>> stream = StreamingDecoder(Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())))
    >>> [stream.feed([byte]) for byte in "aé".encode()], stream.finish()
    (['a', '', 'é'], '')
    """

    __slots__ = ("_begun", "_denormalising", "_errors", "_handler", "_held", "_known", "_rules", "_skipped", "_texts")

    def __init__(self, source: Encoder | DecodingSource, *, skip_special_tokens: bool = False, errors: str = "replace") -> None:
        if errors != "replace" and not isinstance(source, Encoder):
            raise ValueError(f"errors is {errors!r}; a tokenizer decodes with 'replace' only: pass its Encoder for others")
        try:
            lookup_error(errors)
        except (LookupError, TypeError):
            raise ValueError(f"errors is {errors!r}, which Python does not know, as it does 'replace' and 'strict'") from None
        self._rules = rules = decoding_rules(source)
        self._skipped = rules.special_ids if skip_special_tokens else frozenset()
        self._errors = errors
        self._handler = _handler(rules, errors)
        self._held = b""
        self._begun = rules.leading == "stay"
        self._denormalising = Denormalising(rules.denormaliser, errors) if rules.denormaliser is not None else None
        # Where nothing is pending an id always gives the same text, so most calls are one look-up: 0.6 us instead of 2.6.
        self._texts = rules.texts.setdefault((skip_special_tokens, errors), {})
        self._known = self._texts if self._is_idle() else _NONE

    def feed(self, ids: Sequence[int]) -> str:
        """The text that is certain once these ids have come. Raises `UnknownTokenError`; the stream is then as it was.

        >>> StreamingDecoder(encoder).feed([15339, 1917])  # doctest: +SKIP
        'hello world'
        """
        known = self._known
        if len(ids) == 1:
            text = known.get(index(ids[0]))  # a float that equals an id is none; to ask costs 20 ns
            if text is not None:
                return text
        elif known:
            try:
                return "".join(map(known.__getitem__, map(index, ids)))
            except KeyError:
                pass
        if len(ids) > 1 and self.never_fails and self._rules.is_sentencepiece:
            self._rules.bytes_of(ids)  # raises for an unknown id before anything changes
            return "".join([self.feed((token_id,)) for token_id in map(index, ids)])
        text = self._feed(ids)
        was_idle, is_idle = known is self._texts, self._is_idle()
        self._known = self._texts if is_idle else _NONE
        if was_idle and is_idle and len(ids) == 1:
            self._texts[int(ids[0])] = text
        return text

    @property
    def never_fails(self) -> bool:
        """Whether only an unknown id can raise: not so where bytes that are no text may.

        >>> StreamingDecoder(encoder, errors="strict").never_fails  # doctest: +SKIP
        False
        """
        return self._errors in _NEVER_RAISE

    def _is_idle(self) -> bool:
        return self._begun and not self._held and self._denormalising is None

    def _feed(self, ids: Sequence[int]) -> str:
        if self._skipped and not self._skipped.isdisjoint(ids):
            ids = [token_id for token_id in map(index, ids) if token_id not in self._skipped]
        rules = self._rules
        is_plain = self._begun and self._denormalising is None and (not rules.breaks or rules.breaks.isdisjoint(ids))
        return self._text(rules.bytes_of(ids)) if is_plain else self._feed_pieces(ids)

    def finish(self) -> str:
        """The rest of the text: bytes of a character that did not come to its end. The stream can then be used for another.

        >>> StreamingDecoder(encoder).finish()  # doctest: +SKIP
        ''
        """
        rules = self._rules
        text = self._rest()
        if self._denormalising is not None:
            text = self._denormalising.feed(text, final=True)
        self._begun = rules.leading == "stay"
        self._known = self._texts if self._is_idle() else _NONE
        return text

    def copy(self) -> StreamingDecoder:
        """A stream that stands where this one does, to go on another way.

        >>> stream.copy().feed([1917])  # doctest: +SKIP
        ' world'
        """
        other = object.__new__(StreamingDecoder)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name))
        if self._denormalising is not None:
            other._denormalising = self._denormalising.copy()
        return other

    __copy__ = copy

    @property
    def pending(self) -> bytes:
        """The bytes of a character that is not complete yet, at most three."""
        return self._held

    # -- SentencePiece ------------------------------------------------------------------------------------------------

    def _feed_pieces(self, ids: Sequence[int]) -> str:
        rules = self._rules
        # All that can fail comes first, so that an unknown id changes nothing.
        parts = [rules.bytes_of(part) for part in _between(ids, rules.breaks)]
        if not self._begun:
            cut = self._beginning(ids)
            parts = [part[length:] for part, length in zip(parts, cut, strict=True)]
        texts = []
        for number, part in enumerate(parts):
            if number:
                texts.append(self._rest_of_bytes())
            texts.append(self._text(part))
        text = "".join(texts)
        return text if self._denormalising is None else self._denormalising.feed(text, final=False)

    def _beginning(self, ids: Sequence[int]) -> list[int]:
        """How many bytes go from each part; notes whether the text has begun."""
        rules = self._rules
        one_character = rules.leading == "one character"
        cuts = []
        for part in _between(ids, rules.breaks):
            cut = 0
            for token_id in part if not self._begun else ():
                content = rules.bytes_of([token_id])
                if one_character:
                    cut = int(content.startswith(b" "))
                    self._begun = bool(content)
                elif token_id in rules.spaced:
                    cut += 1
                    self._begun = rules.leading == "one piece's" or len(content) > 1
                elif content:
                    self._begun = True
                if self._begun:
                    break
            cuts.append(cut)
        return cuts

    def _text(self, content: bytes) -> str:
        if self._held:
            content = self._held + content
        text, used = utf_8_decode(content, self._handler, False)
        self._held = content[used:]
        return text

    def _rest_of_bytes(self) -> str:
        """What is left of bytes before an id that parts them. Only U+FFFD is put there: other handlers see bytes joined."""
        return self._rest() if self._errors == "replace" else ""

    def _rest(self) -> str:
        held = self._held
        self._held = b""
        return held.decode("utf-8", self._handler)


def _handler(rules: DecodingRules, errors: str) -> str:
    """What bytes that are no text become where they stand."""
    if rules.denormaliser is not None and errors != "replace":
        return "surrogateescape"  # they stay until all is replaced
    return ONE_FOR_EACH_BYTE if rules.is_sentencepiece and errors == "replace" else errors


def _between(ids: Sequence[int], breaks: frozenset[int]) -> Iterator[Sequence[int]]:
    """The ids in parts, none of which holds a break."""
    if breaks.isdisjoint(ids):
        yield ids
        return
    part: list[int] = []
    for token_id in ids:
        if token_id in breaks:
            yield part
            part = []
        else:
            part.append(token_id)
    yield part


class StreamingByteDecoder:
    """The same for bytes: what is given, joined, is `Encoder.decode_bytes` of all ids.

    >>> from hf_bpe import TokenizerSpec
    >>> stream = StreamingByteDecoder(Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())))
    >>> stream.feed([195]), stream.feed([169]), stream.finish()
    (b'\\xc3', b'\\xa9', b'')
    """

    __slots__ = ("_text",)

    def __init__(self, encoder: Encoder, *, skip_special_tokens: bool = False) -> None:
        if not isinstance(encoder, Encoder):
            raise TypeError(
                f"the bytes behind ids are those of an Encoder, not of a {type(encoder).__name__}; make one with hf_bpe.Encoder(spec)"
            )
        self._text = StreamingDecoder(encoder, skip_special_tokens=skip_special_tokens, errors="surrogateescape")

    def feed(self, ids: Sequence[int]) -> bytes:
        """The bytes that are certain once these ids have come. Raises `UnknownTokenError`."""
        text = self._text
        if text._rules.is_sentencepiece:
            return text.feed(ids).encode("utf-8", "surrogateescape")
        if text._skipped:
            ids = [token_id for token_id in map(index, ids) if token_id not in text._skipped]
        return text._rules.bytes_of(ids)

    def finish(self) -> bytes:
        """The rest of the bytes. The stream can then be used for another text."""
        return self._text.finish().encode("utf-8", "surrogateescape")

    def copy(self) -> StreamingByteDecoder:
        """A stream that stands where this one does."""
        other = object.__new__(StreamingByteDecoder)
        other._text = self._text.copy()
        return other

    __copy__ = copy
