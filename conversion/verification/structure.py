"""What two tokenizers consist of: the same, which proves them equal on every input, or what is different."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conversion.equality import compared_aspects, differences
from conversion.verification.causes import CAUSE_OF_ASPECT, Cause
from conversion.verification.side import Side
from hf_bpe.spec import TokenizerSpec

__all__ = ["Aspect", "Structure", "compare_structure"]

_WITHOUT_EFFECT = ("version", "truncation", "padding")


@dataclass(frozen=True)
class Aspect:
    """Something in which the descriptions differ, which need not show in any id. cause: what it would be the cause of."""

    name: str
    cause: Cause
    detail: str


@dataclass(frozen=True)
class Structure:
    """What comparing the descriptions says.

    proof: why both give the same ids for every input; None where that does not follow.
    compared: the aspects that were compared; empty where one side says too little of itself, for the reason in `unsaid`.
    """

    proof: str | None
    compared: tuple[str, ...]
    differences: tuple[Aspect, ...]
    unsaid: str = ""


def compare_structure(a: Side, b: Side) -> Structure:
    """Compare what the sides run, part by part."""
    if a.parts is not None and b.parts is not None and a.engine == b.engine:
        parts = sorted((a.parts.keys() | b.parts.keys()) - set(_WITHOUT_EFFECT))
        if all(a.parts.get(part) == b.parts.get(part) for part in parts):
            return Structure(_proof(a, parts), tuple(parts), ())
    if a.spec is None or b.spec is None:
        unsaid = "; ".join(f"{side.label}: {side.unsaid}" for side in (a, b) if side.spec is None)
        return Structure(None, (), tuple(_parts_apart(a.parts, b.parts)), unsaid)
    compared = compared_aspects(a.spec)
    found = [Aspect(name, _cause_of(name, a.spec, b.spec), detail) for name, detail in differences(a.spec, b.spec)]
    found += _parts_apart(a.parts, b.parts, only=("decoder", "post_processor", "clean_up_tokenization_spaces"))
    proved = not found and a.engine == b.engine == "hf_bpe"
    return Structure(_proof(a, compared) if proved else None, tuple(compared), tuple(found))


def _proof(side: Side, compared: list[str]) -> str:
    return f"equal on every input: one engine ({side.engine}) runs both, and both have the same {', '.join(compared)}"


def _cause_of(aspect: str, a: TokenizerSpec, b: TokenizerSpec) -> Cause:
    if aspect == "vocab":
        return "ids only" if a.vocab.keys() == b.vocab.keys() else "merges"
    if aspect == "added tokens":
        contents = [sorted((token.content, token.special) for token in spec.added_tokens) for spec in (a, b)]
        return "ids only" if contents[0] == contents[1] else "special tokens"
    return CAUSE_OF_ASPECT.get(aspect, "merges")


_CAUSE_OF_PART: Mapping[str, Cause] = {
    "normalizer": "normaliser",
    "pre_tokenizer": "pattern",
    "model": "merges",
    "added_tokens": "special tokens",
    "post_processor": "special tokens",
    "decoder": "decoder",
    "clean_up_tokenization_spaces": "decoder",
}


def _parts_apart(
    a: Mapping[str, Any] | None, b: Mapping[str, Any] | None, only: tuple[str, ...] = tuple(_CAUSE_OF_PART)
) -> list[Aspect]:
    """The parts of two tokenizer.json that differ; of the large ones no more than that."""
    if a is None or b is None:
        return []
    return [
        Aspect(part, _CAUSE_OF_PART[part], f"{_short(a.get(part))} against {_short(b.get(part))}")
        for part in only
        if a.get(part) != b.get(part)
    ]


def _short(part: object) -> str:
    said = repr(part)
    return said if len(said) <= 300 else f"{said[:300]}..."
