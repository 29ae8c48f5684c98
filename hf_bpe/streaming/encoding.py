"""Text to ids, some at a time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from hf_bpe.engine import Encoder
from hf_bpe.engine.parts import as_unicode
from hf_bpe.streaming.stability import Stable, stability_of

__all__ = ["StreamingEncoder"]

SpecialTokens: TypeAlias = Literal["all"] | Collection[str]

_BLOCK = 1 << 16
_SMALL = 1 << 12


class StreamingEncoder:
    """Gives the ids of a text as it grows: those that no further text can change. Joined, they are `Encoder.encode` of the whole.

    What is given out is proved, not guessed from an overlap: a piece is given when the split pattern ends it there whatever
    follows, and no added token can begin before. The text of the others is kept.

    allowed_special, disallowed_special: as in `Encoder.encode`. A disallowed token raises when the text that spells it comes; the
    text of that call is then not taken.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern=r"\\w+|\\W")
    >>> stream = StreamingEncoder(Encoder(spec))
    >>> stream.feed("ab"), stream.feed("c d"), stream.finish()
    ([], [97, 98, 99, 32], [100])
    """

    def __init__(
        self, encoder: Encoder, *, allowed_special: SpecialTokens = (), disallowed_special: SpecialTokens = "all"
    ) -> None:
        self._encoder = encoder
        self._options = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        self._stability = stability_of(encoder, allowed_special, disallowed_special)
        self._pending = ""
        self._half = ""  # the first half of a surrogate pair
        self._looked_at = 0  # characters of `_pending` among which there was nothing to give out
        self.steps = 0
        """Characters looked at so far, for those who count what a stream costs: each comes a few times at most."""

    @property
    def is_streaming(self) -> bool:
        """Whether ids can come before `finish`: False where nothing can be proved, so all text is kept until then."""
        return self._stability is not None

    @property
    def pending(self) -> str:
        """The text whose ids are not certain yet."""
        return self._pending + self._half

    def feed(self, text: str) -> list[int]:
        """The ids that are certain once this text has come.

        Raises `TypeError` for what is no str, `DisallowedSpecialTokenError`; the stream is then as it was before.

        >>> StreamingEncoder(encoder).feed("hello world")  # doctest: +SKIP
        [15339]
        """
        if not isinstance(text, str):
            raise TypeError(f"the text must be a str, not a {type(text).__name__}")
        before = self._pending, self._half, self._looked_at
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        text = as_unicode(text)
        ids: list[int] = []
        try:
            for start in range(0, len(text), _BLOCK):
                self._pending += text[start : start + _BLOCK]
                ids += self._take()
        except Exception:
            self._pending, self._half, self._looked_at = before
            raise
        return ids

    def finish(self) -> list[int]:
        """The rest of the ids. The stream can then be used for another text.

        >>> StreamingEncoder(encoder).finish()  # doctest: +SKIP
        []
        """
        ids = self._encoder.encode(self.pending, **self._options)  # type: ignore[arg-type]
        self._pending, self._half, self._looked_at = "", "", 0
        return ids

    def copy(self) -> StreamingEncoder:
        """A stream that stands where this one does, to go on another way.

        >>> stream.copy().finish()  # doctest: +SKIP
        [1917]
        """
        other = object.__new__(StreamingEncoder)
        other.__dict__.update(self.__dict__)
        return other

    __copy__ = copy

    def _take(self) -> list[int]:
        """The ids that can be given out now, whose text goes."""
        # Text in which there was nothing to give out is looked at again only once there is a quarter more of it. So a stream that
        # never comes to an end of a piece costs five times its length, not its square.
        size = len(self._pending)
        if self._stability is None or (self._looked_at > _SMALL and size < self._looked_at * 5 // 4):
            return []
        self.steps += size
        stable: Stable = self._stability(self._pending)
        if stable.stop:
            self._pending, self._looked_at = self._pending[stable.stop :], 0
        else:
            self._looked_at = size
        return stable.ids
