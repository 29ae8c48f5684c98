"""Normalizers of the byte-level dialect in files: as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

from conversion.json_text import field
from hf_bpe.errors import ConversionRefused, FormatError, PatternError
from hf_bpe.normalizers import NamedStep, NormalizerStep, Prepend, Replace
from hf_bpe.pattern_syntax import translate
from hf_bpe.patterns import check_pattern, pattern_for

__all__ = ["read_normalizer", "write_normalizer"]

_STRIPS: dict[NormalizerStep, tuple[bool, bool]] = {
    "Strip": (True, True),
    "StripLeft": (True, False),
    "StripRight": (False, True),
}
_NAMED: dict[object, NormalizerStep] = {name: name for name in get_args(NamedStep) if name not in ("StripLeft", "StripRight")}


def read_normalizer(data: object, where: str) -> tuple[NormalizerStep, ...]:
    """The steps of a tokenizer.json's `normalizer`. Raises `ConversionRefused` naming one that is not known here."""
    if data is None:
        return ()
    if not isinstance(data, dict):
        raise FormatError(f"{where} must be an object or null, not a {type(data).__name__}")
    kind = data.get("type")
    if kind == "Sequence":
        parts = enumerate(field(data, "normalizers", list, where))
        return tuple(step for number, part in parts for step in read_normalizer(part, f"{where}.normalizers[{number}]"))
    if kind == "Prepend":
        return (Prepend(field(data, "prepend", str, where)),)
    if kind == "Replace":
        return (
            Replace(_read_pattern(field(data, "pattern", dict, where), f"{where}.pattern"), field(data, "content", str, where)),
        )
    if kind == "Strip":
        ends = (field(data, "strip_left", bool, where), field(data, "strip_right", bool, where))
        return tuple(name for name, stripped in _STRIPS.items() if stripped == ends)
    if isinstance(kind, str) and kind in _NAMED:
        return (_NAMED[kind],)
    raise ConversionRefused(
        f"{where} is {kind if isinstance(kind, str) else json.dumps(data)[:60]}: byte-level BPE is run here with "
        f"{', '.join(map(str, _NAMED))}, Prepend and Replace; normalise texts before encoding, and set it to null"
    )


def _read_pattern(data: dict[str, Any], where: str) -> str:
    text = data.get("Regex", data.get("String"))
    if not isinstance(text, str) or len(data) != 1:
        raise FormatError(f"{where} must be {{'String': ...}} or {{'Regex': ...}}, not {json.dumps(data)[:60]}")
    try:
        pattern = translate(text, source="oniguruma", target="regex") if "Regex" in data else _escape(text)
        check_pattern(pattern)
    except PatternError as error:
        raise ConversionRefused(f"{where}: {error}") from None
    return pattern


def _escape(text: str) -> str:
    return "".join(f"\\{character}" if character in r"\^$.|?*+()[]{}" else character for character in text)


def write_normalizer(normalizer: Sequence[NormalizerStep]) -> dict[str, Any] | None:
    """The `normalizer` of a tokenizer.json.

    >>> write_normalizer(("NFC",))
    {'type': 'NFC'}
    """
    steps = [_write_step(step) for step in normalizer]
    if len(steps) > 1:
        return {"type": "Sequence", "normalizers": steps}
    return steps[0] if steps else None


def _write_step(step: NormalizerStep) -> dict[str, Any]:
    if isinstance(step, Prepend):
        return {"type": "Prepend", "prepend": step.content}
    if isinstance(step, Replace):
        return {"type": "Replace", "pattern": {"Regex": pattern_for(step.pattern, "oniguruma")}, "content": step.content}
    if step in _STRIPS:
        left, right = _STRIPS[step]
        return {"type": "Strip", "strip_left": left, "strip_right": right}
    return {"type": step}
