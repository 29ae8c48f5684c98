"""When two specs are one tokenizer, spelled differently or not; and which vocabulary entries encoding can never use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields as dataclass_fields
from functools import cache, partial
from typing import Any, Literal

from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe.errors import ConversionRefused
from hf_bpe.normalizers import Replace
from hf_bpe.pattern_syntax.possible_pieces import can_be_a_piece
from hf_bpe.patterns import find_named_pattern, pattern_for
from hf_bpe.pieces import SentencePieceRules
from hf_bpe.spec import TokenizerSpec

__all__ = [
    "compared_aspects",
    "contrast",
    "covers_every_text",
    "differences",
    "first_difference",
    "never_produced",
    "same_split",
    "usable_vocab",
]


def first_difference(a: TokenizerSpec, b: TokenizerSpec) -> str | None:
    """None if both give the same ids on every input whatever their provenance, else what differs first.

    Spelling does not count: the order of added tokens, a pattern written for another engine and back, an added token that
    also stands in the vocabulary where nothing can reach it.
    """
    return next((f"{aspect}: {detail}" for aspect, detail in differences(a, b)), None)


def differences(a: TokenizerSpec, b: TokenizerSpec) -> Iterator[tuple[str, str]]:
    """Every aspect in which two specs are not one tokenizer, and what differs first in it."""
    if a.dialect != b.dialect:  # nothing else can be compared
        yield "dialect", contrast(a.dialect, b.dialect)
        return
    # Which order scores come to takes three seconds to find for 32,000 pieces, so what is written alike is not asked.
    same_pieces = a.sentencepiece is not None and a.sentencepiece == b.sentencepiece
    for aspect, value_of in _ASPECTS.items():
        if same_pieces and aspect in _OF_PIECES and aspect != "prepend_scheme":  # which the added tokens tell in, too
            continue
        ours, theirs = value_of(a), value_of(b)
        if ours != theirs:
            yield aspect, contrast(ours, theirs)


def same_split(a: TokenizerSpec, b: TokenizerSpec) -> bool:
    """Whether both split text by one pattern, however it is spelled."""
    return bool(_one_spelling(a.pattern) == _one_spelling(b.pattern))


def compared_aspects(spec: TokenizerSpec) -> list[str]:
    """What `differences` compares, of a tokenizer of this dialect."""
    other = {"pattern", "unmatched", "ignore_merges", "merges"} if spec.sentencepiece else _OF_PIECES
    return [aspect for aspect in _ASPECTS if aspect not in other]


def covers_every_text(pattern: str | None) -> bool:
    """Whether the pattern is known to leave no text between its matches (the named ones do not)."""
    return pattern is None or find_named_pattern(pattern) is not None


def usable_vocab(spec: TokenizerSpec) -> dict[bytes, int]:
    """The vocabulary without the entries that are added tokens and nothing else: no text is split and merged into them.

    What every byte-level file is made of. Raises `ConversionRefused` for a SentencePiece model: its pieces are no byte strings
    that a list of merges makes.
    """
    if not isinstance(spec, TokenizerSpec):
        raise TypeError(f"a TokenizerSpec is converted, as conversion.load gives it; not {spec!r:.80}")
    if spec.dialect == "sentencepiece":
        raise ConversionRefused(
            "this is a SentencePiece model, which merges characters by the scores of pieces; a byte-level file cannot hold it. Save it "
            "as a .model file (format='sentencepiece') or as tokenizer.json"
        )
    added = {token.content.encode() for token in spec.added_tokens}
    idle = never_produced(added & spec.vocab.keys(), spec.merges, spec.ignore_merges, spec.pattern, spec.unmatched, spec.stages)
    vocab: dict[bytes, int] = spec.vocab | {}  # type: ignore[operator]  # copies at once, where dict() would ask for each key
    for token in idle:
        del vocab[token]
    return vocab


def never_produced(
    tokens: Collection[bytes],
    merges: Iterable[tuple[bytes, bytes]],
    ignore_merges: bool,
    pattern: str | None,
    unmatched: Literal["keep", "drop"],
    stages: tuple[str, ...] = (),
) -> set[bytes]:
    """Those of the tokens that splitting and merging cannot give: no byte, in no merge, never a piece looked up as a whole.

    >>> sorted(never_produced([b"a", b"<s>", b"bc"], [(b"b", b"c")], False, None, "keep"))
    [b'<s>']
    """
    idle = {token for token in tokens if len(token) > 1}
    if not idle:
        return idle
    for left, right in merges:
        idle -= {left, right, left + right}
    if ignore_merges:
        # Pieces are text, so half a character is none.
        texts = {token: token.decode(errors="ignore") for token in idle}
        idle = {t for t, text in texts.items() if text.encode() != t or not can_be_a_piece(text, pattern, unmatched, stages)}
    return idle


@cache
def _one_spelling(pattern: str | None) -> str | None:
    """The same text for patterns that differ only as one written out for Oniguruma and back does."""
    named = find_named_pattern(pattern)
    if named is not None or pattern is None:
        return named.pattern if named else None
    return pattern_for(pattern, "oniguruma")


_NOT_IN_IDS = {"pieces", "normalizer_name", "unk_surface", "bos_id", "eos_id", "pad_id"}
_KINDS_IN_TEXT = {"unknown", "user_defined", "byte"}


def _rule(name: str, spec: TokenizerSpec) -> Any:
    value = None if spec.sentencepiece is None else getattr(spec.sentencepiece, name)
    return "always" if value == "first" and not spec.added_tokens else value  # there is only one stretch then


def _order_of_pieces(spec: TokenizerSpec) -> Any:
    """Which pairs of pieces merge, and in which order; scores that no order says all of stand for themselves."""
    if spec.sentencepiece is None:
        return None
    merges = merges_of(spec.sentencepiece)
    return (
        merges.pairs if merges.conflict is None else tuple((piece.content, piece.score) for piece in spec.sentencepiece.pieces)
    )


def _kinds_of_pieces(spec: TokenizerSpec) -> Any:
    """The kinds that tell in ids. Control pieces, and unused ones that nothing makes, are as good as normal ones that nothing makes."""
    if spec.sentencepiece is None:
        return None
    made = {left + right for left, right in merges_of(spec.sentencepiece).pairs}
    telling = _KINDS_IN_TEXT | {"unused"}
    return tuple(
        (piece.content, piece.kind)
        for piece in spec.sentencepiece.pieces
        if piece.kind in telling and (piece.kind != "unused" or piece.content in made)
    )


_OF_PIECES = {field.name for field in dataclass_fields(SentencePieceRules)} | {"kinds of pieces", "order of pieces"}

_ASPECTS: Mapping[str, Callable[[TokenizerSpec], Any]] = {
    "dialect": lambda spec: spec.dialect,
    **{
        field.name: partial(_rule, field.name)
        for field in dataclass_fields(SentencePieceRules)
        if field.name not in _NOT_IN_IDS
    },
    "kinds of pieces": _kinds_of_pieces,
    "order of pieces": _order_of_pieces,
    "normalizer": lambda spec: tuple(
        (_one_spelling(step.pattern), step.content) if isinstance(step, Replace) else step for step in spec.normalizer
    ),
    "add_prefix_space": lambda spec: spec.add_prefix_space,
    "pattern": lambda spec: _one_spelling(spec.pattern),
    "unmatched": lambda spec: "keep" if covers_every_text(spec.pattern) else spec.unmatched,
    "stages": lambda spec: tuple(map(_one_spelling, spec.stages)),
    "ignore_merges": lambda spec: spec.ignore_merges,
    "added tokens": lambda spec: tuple(sorted(spec.added_tokens, key=lambda token: token.id)),
    "merges": lambda spec: spec.merges,
    "vocab": lambda spec: usable_vocab(spec) if spec.sentencepiece is None else spec.vocab,
}


def contrast(ours: Any, theirs: Any) -> str:
    """The first place where two values differ, short enough for a message."""
    if isinstance(ours, dict):
        ours, theirs = (tuple(sorted(value.items(), key=lambda item: item[1])) for value in (ours, theirs))
    if not isinstance(ours, tuple):
        return f"{ours!r} against {theirs!r}"
    place = next((n for n, (x, y) in enumerate(zip(ours, theirs, strict=False)) if x != y), min(len(ours), len(theirs)))
    shown = [repr(value[place]) if place < len(value) else "nothing" for value in (ours, theirs)]
    return f"{len(ours)} against {len(theirs)} entries; entry {place} is {shown[0]} against {shown[1]}"
