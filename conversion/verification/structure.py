"""What two tokenizers consist of: the same, which proves them equal on every input, or what is different."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conversion.equality import compared_aspects, contrast, differences
from conversion.verification.causes import CAUSE_OF_ASPECT, Cause
from conversion.verification.side import Side
from hf_bpe.spec import TokenizerSpec

__all__ = ["Aspect", "Structure", "compare_structure"]

_MANY, _ROOM = 20, 400
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
    a_parts, b_parts = _told(a.parts), _told(b.parts)
    if a_parts and a_parts == b_parts and a.engine == b.engine:
        return Structure(_proof(a, list(a_parts)), tuple(a_parts), ())
    if a.spec is None or b.spec is None:
        unsaid = "; ".join(f"{side.label}: {side.unsaid}" for side in (a, b) if side.spec is None)
        return Structure(None, (), tuple(_parts_apart(a_parts, b_parts)), unsaid)
    compared = compared_aspects(a.spec)
    found = [Aspect(name, _cause_of(name, a.spec, b.spec), detail) for name, detail in differences(a.spec, b.spec)]
    found += [aspect for aspect in _parts_apart(a_parts, b_parts) if aspect.name in _NOT_IN_SPECS]
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
    "added_tokens": "special tokens",
    "post_processor": "special tokens",
    "decoder": "decoder",
    "clean_up_tokenization_spaces": "decoder",
    "model.ignore_merges": "unreachable tokens",
}
"""Part of a tokenizer.json -> what it decides; all others decide merges."""

_NOT_IN_SPECS = ("decoder", "post_processor", "clean_up_tokenization_spaces")


def _told(parts: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a tokenizer.json says, without what says nothing: null, false, templates that add no token, flags that decoding ignores."""
    if parts is None:
        return {}
    model = {f"model.{key}": value for key, value in parts["model"].items()}
    told = {**parts, **model, "model": None}
    if not (parts.get("post_processor") or {}).get("special_tokens", True):
        told["post_processor"] = None
    if (parts.get("decoder") or {}).get("type") == "ByteLevel":
        told["decoder"] = "ByteLevel"
    return {part: told[part] for part in sorted(told) if told[part] and part not in _WITHOUT_EFFECT}


def _parts_apart(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Aspect]:
    """The parts of two tokenizer.json that differ."""
    if not (a and b):
        return []
    parts = [part for part in sorted(a.keys() | b.keys()) if a.get(part) != b.get(part)]
    return [Aspect(part, _CAUSE_OF_PART.get(part, "merges"), _short(a.get(part), b.get(part))) for part in parts]


def _short(a: object, b: object) -> str:
    """What differs first in large parts; of the others both, as far as there is room."""
    if isinstance(a, list) and isinstance(b, list):
        return contrast(tuple(a), tuple(b))
    if isinstance(a, dict) and isinstance(b, dict) and len(a) > _MANY:
        return contrast(a, b)
    return " against ".join(said if len(said) <= _ROOM else f"{said[:_ROOM]}..." for said in map(repr, (a, b)))
