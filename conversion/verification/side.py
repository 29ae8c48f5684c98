"""One side of a comparison: something that encodes and decodes, and what is known of how it does that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from conversion.verification.stretches import Split, splitter
from hf_bpe.engine import Encoder
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["AS_SPECIAL", "AS_TEXT", "WITH_TEMPLATE", "Encode", "Ids", "Reading", "Side"]

Ids: TypeAlias = list[list[int]]
Encode: TypeAlias = Callable[[Sequence[str]], Ids]
Reading: TypeAlias = Literal[
    "special tokens as plain text", "special tokens as special", "special tokens as special, those of the template added"
]

AS_TEXT: Reading = "special tokens as plain text"
AS_SPECIAL: Reading = "special tokens as special"
WITH_TEMPLATE: Reading = "special tokens as special, those of the template added"


@dataclass(frozen=True)
class Side:
    """A tokenizer as one library runs it.

    source: where it came from. loader: the name of the loader. library: what runs it, with its version.
    engine: what decides ids: two sides of one engine and one description give the same ids.
    readings: how it encodes texts, for each way to read special tokens that the library has.
    decode: rows of ids -> texts, special tokens kept.
    spec: what the library runs; None where it is nothing a spec can say, and `unsaid` says why.
    nearest: the spec, or else one that lacks what could not be said: enough to name tokens and to aim texts at, no proof of anything.
    parts: for `tokenizers` and what is built on it: the tokenizer.json of what is in memory, which need not be that on disk.
    tokens: what ids stand for, where `nearest` does not say it.
    pieces: a text without special tokens -> what is merged, as the library itself splits it; None where it does not show that.
    """

    source: str
    loader: str
    library: str
    engine: str
    readings: Mapping[Reading, Encode]
    decode: Callable[[Sequence[Sequence[int]]], list[str]]
    spec: TokenizerSpec | None
    nearest: TokenizerSpec | None
    unsaid: str = ""
    parts: Mapping[str, Any] | None = None
    pieces: Callable[[str], list[str]] | None = None
    tokens: dict[int, bytes] = field(default_factory=dict, compare=False, repr=False)

    @property
    def label(self) -> str:
        """What it is called in reports."""
        return f"{self.source} run by {self.library}"

    @cached_property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """What is matched in the text itself."""
        if self.nearest is not None:
            return self.nearest.added_tokens
        listed = self.parts["added_tokens"] if self.parts is not None else ()
        return tuple(AddedToken(**token) for token in listed)

    @cached_property
    def split(self) -> Mapping[Reading, Split]:
        """For each reading, what cuts a text at its added tokens."""
        always = splitter([token for token in self.added_tokens if not token.special])
        everywhere = splitter(self.added_tokens)
        return {AS_TEXT: always, AS_SPECIAL: everywhere, WITH_TEMPLATE: everywhere}

    @cached_property
    def own_encoder(self) -> Encoder | None:
        """The engine of this package running what the library is said to run."""
        return Encoder(self.spec) if self.spec is not None else None

    @cached_property
    def merging(self) -> Encoder | None:
        """The same for byte-level pieces, each of which is merged as a whole."""
        if self.nearest is None or self.nearest.sentencepiece is not None:
            return None
        return Encoder(self.nearest.replace(pattern=None, added_tokens=()))

    def token(self, token_id: int) -> bytes:
        """The bytes of a token; where no description tells them, those of the text it decodes to.

        >>> side.token(97)  # doctest: +SKIP
        b'a'
        """
        if not self.tokens and self.nearest is not None:
            self.tokens.update({known: token for token, known in self.nearest.vocab.items()})
            self.tokens.update({token.id: token.content.encode() for token in self.nearest.added_tokens})
        if token_id not in self.tokens:
            self.tokens[token_id] = self.decode([[token_id]])[0].encode()
        return self.tokens[token_id]
