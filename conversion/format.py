"""What a file format is to this package, and what a caller can say about a file that does not say it itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import Any

from conversion.verdict import Checks
from hf_bpe.charsmap import charsmap_defect
from hf_bpe.errors import FormatError, SpecError
from hf_bpe.patterns import resolve_pattern
from hf_bpe.pieces import SentencePieceRules
from hf_bpe.spec import AddedToken, TokenizerSpec, VocabularyTable

__all__ = ["AsRun", "Format", "Given", "make_spec", "spec_of_pieces", "spec_of_table"]


@dataclass(frozen=True)
class Given:
    """What the caller of `load` says. `...` and `None`: nothing, so the file or its sidecar has to say it.

    pattern: a name, a pattern, or None for "the whole text is one piece".
    special_tokens: text -> id.
    """

    pattern: str | EllipsisType | None = ...
    special_tokens: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        """Raise `TypeError` for what is no pattern, and no mapping of text to id."""
        if not (self.pattern is None or self.pattern is ... or isinstance(self.pattern, str)):
            raise TypeError(f"pattern must be a name, a pattern or None, not {self.pattern!r:.60}")
        tokens = self.special_tokens
        if tokens is None:
            return
        if not isinstance(tokens, Mapping):
            raise TypeError(f"special_tokens must be a dict of text and id, such as {{'<s>': 1}}, not {tokens!r:.60}")
        for content, token_id in tokens.items():
            if not isinstance(content, str) or type(token_id) is not int:
                raise TypeError(
                    f"special_tokens must give a text its id, such as {{'<s>': 1}}, not {content!r:.40} {token_id!r:.40}"
                )

    def resolved_pattern(self) -> str | None:
        """The pattern itself; only where one was given."""
        if isinstance(self.pattern, EllipsisType):
            raise TypeError("no pattern was given")
        return resolve_pattern(self.pattern)

    def added_tokens(self) -> tuple[AddedToken, ...]:
        """The special tokens as added tokens."""
        return tuple(AddedToken(content, token_id) for content, token_id in (self.special_tokens or {}).items())

    def refuse(self, where: str) -> None:
        """Raise `FormatError` if anything was given: for formats whose file says it all."""
        if self.pattern is not ... or self.special_tokens is not None:
            raise FormatError(
                f"{where}: the file states its own pattern and special tokens; load it without pattern= and special_tokens= "
                "and change the result with spec.replace(...)"
            )


@dataclass(frozen=True)
class AsRun:
    """A written file as the library it is made for runs it.

    by: the library, or what stands for it. tokenizer: what it does as a spec, or, where no spec does that, texts and whether
    special tokens are looked for in them -> ids.
    """

    by: str
    tokenizer: TokenizerSpec | Callable[[Sequence[str], bool], list[list[int]]]


@dataclass(frozen=True)
class Format:
    """One file format.

    is_folder: whether writing makes a folder. in_folder: patterns of the names by which a folder is one of this format, or, where
        the format is a file, by which that file is found in a folder. self_contained: whether the files alone say pattern and special tokens.
    recognises: path and the first bytes of the file (none for a folder) -> whether this is one.
    read: path and what the caller says -> spec.
    converted: spec, checks -> the spec in the dialect of the format, for one that holds another.
    write: spec, file name, checks -> file name -> content, the nearest there is where `checks` found a loss. None: reading only.
        Both raise `ConversionRefused` where there is no such file at all.
    ending: what the name of a file has to end in, if anything.
    as_run: spec, what was written, file name -> what its own library makes of it, which knows no sidecar of ours.
    """

    name: str
    description: str
    is_folder: bool
    self_contained: bool
    recognises: Callable[[Path, bytes], bool]
    read: Callable[[Path, Given], TokenizerSpec]
    write: Callable[[TokenizerSpec, str, Checks], dict[str, bytes]] | None = None
    converted: Callable[[TokenizerSpec, Checks], TokenizerSpec] | None = None
    ending: str = ""
    in_folder: tuple[str, ...] = ()
    as_run: Callable[[TokenizerSpec, Mapping[str, bytes], str], AsRun] | None = None


def spec_of_table(where: str, table: VocabularyTable, **fields: Any) -> TokenizerSpec:
    """The same for a file that the native engine read."""
    try:
        return TokenizerSpec.from_table(table, **fields)
    except SpecError as error:
        raise FormatError(f"{where}: {_sentence(error.defects)}") from None


def make_spec(where: str, **fields: Any) -> TokenizerSpec:
    """A spec out of what a file holds. Raises `FormatError` naming the file and every defect."""
    try:
        return TokenizerSpec(**fields)
    except SpecError as error:
        raise FormatError(f"{where}: {_sentence(error.defects)}") from None


def spec_of_pieces(where: str, rules: SentencePieceRules, **fields: Any) -> TokenizerSpec:
    """The same for a SentencePiece model."""
    for name in ("precompiled_charsmap", "denormalizer_charsmap"):
        blob: bytes = getattr(rules, name)
        defect = charsmap_defect(blob) if blob else None
        if defect is not None:
            raise FormatError(f"{where}: {name} is invalid: {defect}; the file is damaged")
    try:
        return TokenizerSpec.from_sentencepiece(rules, **fields)
    except SpecError as error:
        raise FormatError(f"{where}: {_sentence(error.defects)}") from None


def _sentence(defects: Iterable[str]) -> str:
    return "; ".join(defects)
