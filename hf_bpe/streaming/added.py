"""Added tokens in text that goes on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import regex

from hf_bpe.engine.reference import Place, cut_at
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["AddedTokens", "OpenText"]


class OpenText(NamedTuple):
    """The ordinary text behind the last certain added token, as far as no added token can still begin in it."""

    start: int
    stop: int


class AddedTokens:
    """The added tokens that a call cares for: finds them, and says of which the end of a text could be the beginning.

    allowed: the special ones that are found; those that are not special always are. forbidden: those that raise; of them only the
    beginnings matter here, for finding them is up to `encode`.
    """

    def __init__(self, spec: TokenizerSpec, allowed: Collection[str], forbidden: Collection[str]) -> None:
        self.matched = [token for token in spec.added_tokens if not token.special or token.content in allowed]
        self.forbidden = [token for token in spec.added_tokens if token.content in forbidden]
        self.both = [*self.matched, *self.forbidden]
        # Where no special token is found, those that are text hide what begins inside them.
        hiding = (
            [token for token in spec.added_tokens if token.special and token.content not in forbidden] if not allowed else []
        )
        self._hides = _overlap([token.content for token in hiding], [token.content for token in self.matched])
        # In a SentencePiece model `normalized` has no meaning.
        self._is_late = {token.content: token.normalized and spec.sentencepiece is None for token in self.both}
        self._first, self._second = (
            _Finder([t for t in self.matched if self._is_late[t.content] == late]) for late in (False, True)
        )
        contents = [token.content for token in self.both]
        self._beginnings = {content[:length] for content in contents for length in range(1, len(content))}
        self._longest = max(map(len, contents), default=1) - 1
        self._takes_space_before = any(token.lstrip for token in self.matched)

    def obstacle(self) -> str | None:
        """Why what is found may not stay found; None if it does.

        A token that must stand alone does not, nor one that can begin inside a special token that is text. Nor does one that raises
        in normalised text, if one that is looked for before can take part of it away: `encode` would not raise then.
        """
        alone = next((token.content for token in self.both if token.single_word), None)
        if alone is not None:
            return f"the added token {alone!r} must stand alone (single_word)"
        if self._hides:
            return "an added token can begin inside a special token that is text"
        early = [token.content for token in self.matched if not self._is_late[token.content]]
        late = [token.content for token in self.forbidden if self._is_late[token.content]]
        beginnings = {content[:length] for content in early for length in range(1, len(content) + 1)} if late else set()
        for content in late:
            if (
                (self._takes_space_before and content[-1].isspace())
                or any(content in other for other in early)
                or any(content[place:] in beginnings for place in range(1, len(content)))
            ):
                return f"other added tokens can take a part of {content!r} away, which raises in normalised text"
        return None

    def certain_until(self, text: str) -> int:
        """Where the part of the text begins that may yet become an added token, or be taken along by one."""
        start = max(0, len(text) - self._longest)
        certain = next((n for n in range(start, len(text)) if text[n:] in self._beginnings), len(text))
        if self._takes_space_before:
            certain = len(text[:certain].rstrip())
        return certain

    def open_text(self, text: str) -> OpenText:
        """The ordinary text that no certain token follows; what stands before it can be encoded as a text of its own."""
        limit = self.certain_until(text)
        begin = before = 0
        for start, stop, token in self.places(text):
            if token is None:
                continue
            # Tokens that are looked for in normalised text give way to the others, so all of one must be certain; and in white space
            # that a token takes along another may begin all the same.
            shown = text.find(token.content, start)
            is_certain = shown + len(token.content) <= limit if self._is_late[token.content] else shown < limit
            if not is_certain or (token.rstrip and not (stop < len(text) and stop <= limit)):
                begin = begin if begin <= start else before
                return OpenText(begin, max(begin, min(start, limit)))
            before, begin = (begin if begin <= start else before), stop
        return OpenText(begin, max(begin, limit))

    def holds_any(self, text: str) -> bool:
        """Whether a matched token stands in the text."""
        return any(token is not None for _, _, token in self.places(text))

    def places(self, text: str) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Start and end of each stretch of the text, and the matched token that it is, if any."""
        for first, last, token in self._first.cut(text):
            if token is not None:
                yield first, last, token
                continue
            for inner, outer, found in self._second.cut(text[first:last]):
                yield first + inner, first + outer, found


class _Finder:
    """Finds tokens, the longest at each place. One look at the first character rules most places out."""

    def __init__(self, tokens: Collection[AddedToken]) -> None:
        self._tokens = {token.content: token for token in tokens}
        self._lengths = sorted({len(content) for content in self._tokens}, reverse=True)
        firsts = sorted({content[0] for content in self._tokens})
        self._first = regex.compile("[" + "".join(map(_escaped, firsts)) + "]") if firsts else None

    def cut(self, text: str) -> Iterator[tuple[int, int, AddedToken | None]]:
        """Start, end and token of each stretch."""
        return cut_at(text, self._places(text))

    def _places(self, text: str) -> Iterator[Place]:
        done = 0
        for match in self._first.finditer(text) if self._first is not None else ():
            start = match.start()
            if start < done:
                continue
            content = next((text[start : start + n] for n in self._lengths if text[start : start + n] in self._tokens), None)
            if content is not None:
                done = start + len(content)
                yield start, done, self._tokens[content]


def _overlap(texts: Sequence[str], others: Sequence[str]) -> bool:
    """Whether one of the others can begin inside one of the texts, or where it begins."""
    ends = {text[place:] for text in texts for place in range(1, len(text))}
    beginnings = {other[:length] for other in others for length in range(1, len(other) + 1)} if ends else set()
    return not ends.isdisjoint(beginnings) or any(other in text for text in texts for other in others)


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08x}"
