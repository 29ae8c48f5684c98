"""Text to ids, some at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hf_bpe.engine import Encoder, SpecialTokens
from hf_bpe.engine.parts import as_unicode
from hf_bpe.streaming.cutting import cutter_of
from hf_bpe.streaming.rules import its_encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["StreamingEncoder"]

_BLOCK = 1 << 16
_SMALL = 64


class StreamingEncoder:
    """Gives the ids of a text as it grows: those that no further text can change. Joined, they are `Encoder.encode` of the whole.

    What is given out is proved, not guessed from an overlap: a piece is given when the split pattern ends it there whatever
    follows, and no added token can begin before. The text of the others is kept. A stream that has kept more than 64 characters
    looks again once there is a quarter more, so one that never comes to an end of a piece costs five times its length, not its square.

    allowed_special, disallowed_special: as in `Encoder.encode`. A disallowed token raises when its text is looked at, in `finish` at the
    latest; the text of that call is then not taken.
    rest_alone: what is `pending` shall always be as if it were a text of its own. SentencePiece models then need spaces to be cut.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern=r"\\w+|\\W")
    >>> stream = StreamingEncoder(Encoder(spec))
    >>> stream.feed("ab"), stream.feed("c d"), stream.finish()
    ([], [97, 98, 99, 32], [100])
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        allowed_special: SpecialTokens | None = None,
        disallowed_special: SpecialTokens | None = None,
        rest_alone: bool = False,
    ) -> None:
        if not isinstance(encoder, Encoder):
            raise TypeError(f"a text is encoded with an Encoder, not with a {type(encoder).__name__}{its_encoder(encoder)}")
        self._encoder = encoder
        self._options: dict[str, Any] = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        sets = encoder.special_sets(allowed_special, disallowed_special)
        self._cutter = cutter_of(encoder, *sets, rest_alone=rest_alone)
        self._kept: list[str] = []
        self._given = 0  # characters at the beginning of what is kept whose ids were given out
        self._half = ""  # the first half of a surrogate pair
        self._size = 0  # characters of what is kept
        self._next_look = 1  # the size from which on it is worth while to look for a cut
        self.steps = 0
        """Characters looked at so far, for those who count what a stream costs."""

    @property
    def is_streaming(self) -> bool:
        """Whether ids can come before `finish`: False where nothing can be proved, so all text is kept until then."""
        return self._cutter is not None

    @property
    def pending(self) -> str:
        """The text whose ids are not certain yet."""
        return "".join(self._kept)[self._given :] + self._half

    def feed(self, text: str) -> list[int]:
        """The ids that are certain once this text has come.

        Raises `TypeError` for what is no str, `DisallowedSpecialTokenError`; the stream is then as it was before.

        >>> StreamingEncoder(encoder).feed("hello world")  # doctest: +SKIP
        [15339]
        """
        if not isinstance(text, str):
            raise TypeError(f"the text must be a str, not a {type(text).__name__}")
        if self._cutter is None or self._size + len(text) < self._next_look:
            self._keep(text)
            return []
        gone_on = self.copy()
        ids = [i for start in range(0, len(text), _BLOCK) for i in gone_on._add(text[start : start + _BLOCK])]
        self.__dict__.update(gone_on.__dict__)
        return ids

    def finish(self) -> list[int]:
        """The rest of the ids. The stream can then be used for another text.

        >>> StreamingEncoder(encoder).finish()  # doctest: +SKIP
        []
        """
        if self._given:
            ids, begins = self._encode("".join(self._kept) + self._half)
            ids = ids[begins.searchsorted(self._given) :]
        else:
            ids = self._encoder.encode(self.pending, **self._options)
        self._kept, self._given, self._half, self._size, self._next_look = [], 0, "", 0, 1
        return ids

    def _encode(self, text: str) -> tuple[list[int], NDArray[np.int64]]:
        """The ids of a text, and the characters they begin at."""
        ids, spans = self._encoder.encode_with_offsets(text, **self._options)
        return ids.tolist(), spans[:, 0]

    def copy(self) -> StreamingEncoder:
        """A stream that stands where this one does, to go on another way.

        >>> stream.copy().finish()  # doctest: +SKIP
        [1917]
        """
        other = object.__new__(StreamingEncoder)
        other.__dict__.update(self.__dict__)
        other._kept = [*self._kept]
        return other

    __copy__ = copy

    def _keep(self, text: str) -> None:
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        self._kept.append(as_unicode(text))
        self._size += len(self._kept[-1])

    def settle(self) -> list[int]:
        """The ids that are certain by now, where `feed` may have put off looking.

        >>> stream.settle()  # doctest: +SKIP
        []
        """
        text = "".join(self._kept)
        if self._cutter is None or not text:
            return []
        self.steps += len(text)
        ids, begins = self._encode(text)
        end, resume = self._cutter(text)
        if not resume and end <= self._given:  # no further than before
            self._next_look = self._size + (self._size // 4 if self._size > _SMALL else 1)
            return []
        first, last = begins.searchsorted((self._given, end))
        self._kept, self._given, self._size = [text[resume:]], max(0, end - resume), len(text) - resume
        self._next_look = self._size + 1
        return ids[first:last]

    def _add(self, block: str) -> list[int]:
        """The ids that can be given out now, whose text goes."""
        self._keep(block)
        return self.settle() if self._size >= self._next_look else []
