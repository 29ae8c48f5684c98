"""Settings as they are given: by name, those of another tokenizer, and all that can be wrong with them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from hf_bpe.errors import TrainingError
from hf_bpe.normalizers import as_steps
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.rules import forbids
from hf_bpe.training.settings import BYTE_LEVEL_SETTING_NAMES, SETTINGS_KEY, ByteLevelSettings, Shortfall
from hf_bpe.training.ties import TieBreak

__all__ = ["byte_level_settings", "check_settings"]


def byte_level_settings(given: Mapping[str, Any], like: TokenizerSpec | None = None) -> ByteLevelSettings:
    """Settings by name, checked. like: a spec whose own are the defaults: its split, normalizer, special tokens, and what it was trained with.

    Raises `TrainingError` or `PatternError`.

    >>> byte_level_settings({"digits": "single", "pattern": r"\\p{N}+|\\P{N}+"}).rules.pattern
    '\\\\p{N}|\\\\P{N}+'
    """
    unknown = given.keys() - BYTE_LEVEL_SETTING_NAMES
    if unknown:
        raise TrainingError(
            f"unknown settings {', '.join(sorted(unknown))}; there are {', '.join(sorted(BYTE_LEVEL_SETTING_NAMES))}"
        )
    settings = replace(_like(like) if like is not None else ByteLevelSettings(), **_in_tuples(given))
    check_settings(settings)
    return settings


def _in_tuples(given: Mapping[str, Any]) -> dict[str, Any]:
    tupled = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if "normalizer" in tupled:
        tupled["normalizer"] = as_steps(tupled["normalizer"])
    if isinstance(tupled.get("forbidden_merges"), tuple):
        tupled["forbidden_merges"] = tuple(
            tuple(pair) if isinstance(pair, list) else pair for pair in tupled["forbidden_merges"]
        )
    if isinstance(tupled.get("initial_alphabet"), tuple):
        tupled["initial_alphabet"] = "".join(map(str, tupled["initial_alphabet"]))
    return tupled


def _like(spec: TokenizerSpec) -> ByteLevelSettings:
    if not isinstance(spec, TokenizerSpec):
        raise TrainingError(f"like must be a TokenizerSpec, such as conversion.load gives, not {spec!r:.80}")
    if spec.sentencepiece is not None:
        raise TrainingError(
            "a byte-level vocabulary cannot be trained like a SentencePiece model; train with dialect='sentencepiece'"
        )
    kept = {name: getattr(spec, name) for name in ("pattern", "stages", "unmatched", "normalizer", "add_prefix_space")}
    kept["special_tokens"] = tuple(token.content for token in spec.added_tokens if token.special)
    try:
        told = json.loads(spec.provenance.get(SETTINGS_KEY, "{}"))
        return ByteLevelSettings(
            **kept | _in_tuples({name: value for name, value in told.items() if name in BYTE_LEVEL_SETTING_NAMES})
        )
    except (ValueError, AttributeError):  # anyone may write into a provenance
        return ByteLevelSettings(**kept)


def check_settings(settings: ByteLevelSettings) -> None:
    """Raise `TrainingError` or `PatternError` for settings that are wrong or contradict each other.

    >>> check_settings(ByteLevelSettings(min_frequency=0))
    Traceback (most recent call last):
    hf_bpe.errors.TrainingError: min_frequency must be at least 1, not 0
    """
    for defects in (_type_defects, _special_defects, _number_defects, _superword_defects):
        if found := list(defects(settings)):
            raise TrainingError("; ".join(found))
    _ = settings.rules, settings.superword_rules  # which raise what is wrong with patterns
    _check_forced(settings)


def _type_defects(settings: ByteLevelSettings) -> Iterator[str]:
    for name in ("special_tokens", "stages", "forced_tokens", "forbidden_tokens", "forbidden_patterns"):
        value = getattr(settings, name)
        if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
            what = f"the one text {value!r}" if isinstance(value, str) else repr(value)
            yield f"{name} must be a list of texts, not {what}"
        elif any("\ud800" <= character <= "\udfff" for item in value for character in item):
            yield f"{name} holds a lone surrogate, which no UTF-8 text does"
    for name in ("pattern", "superwords", "initial_alphabet"):
        value = getattr(settings, name)
        if not isinstance(value, str) and not (value is None and name != "initial_alphabet"):
            yield f"{name} must be a text, not {value!r}"
    pairs = settings.forbidden_merges
    if not isinstance(pairs, tuple) or not all(
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) and part for part in pair) for pair in pairs
    ):
        yield f"forbidden_merges must be a list of pairs of texts, such as [('t', 'he')], not {pairs!r}"
    if settings.tie_break not in get_args(TieBreak):
        yield f"tie_break must be one of {', '.join(get_args(TieBreak))}, not {settings.tie_break!r}"
    if settings.shortfall not in get_args(Shortfall):
        yield f"shortfall must be 'warn', 'error' or 'reserve', not {settings.shortfall!r}"


def _special_defects(settings: ByteLevelSettings) -> Iterator[str]:
    tokens = settings.special_tokens
    repeated = [token for token, times in Counter(tokens).items() if times > 1]
    if repeated or "" in tokens:
        yield f"special tokens must be distinct and not empty: {repeated or ['']!r}"
    bytes_already = [token for token in tokens if len(token.encode()) == 1]
    if bytes_already:
        yield f"special tokens {bytes_already!r} are single bytes, which are tokens already; give them a longer spelling"
    forced = [token for token in tokens if token.encode() in settings.first_tokens]
    if forced:
        yield f"{forced!r} cannot be both special tokens and tokens that are merged; forced_tokens is for the latter"


_LEAST = {
    "min_frequency": (1, ""),
    "max_token_length": (1, " byte"),
    "reserved_tokens": (0, ""),
    "space_runs": (0, ""),
    "superwords_from": (1, ""),
    "superword_max_words": (1, ""),
}


def _number_defects(settings: ByteLevelSettings) -> Iterator[str]:
    for name, (least, unit) in _LEAST.items():
        value = getattr(settings, name)
        if value is None and name not in ("min_frequency", "reserved_tokens", "space_runs"):
            continue
        if type(value) is not int:
            yield f"{name} must be a whole number, not {value!r}"
        elif value < least:
            yield f"{name} must be at least {least}{unit}, not {value}"


def _superword_defects(settings: ByteLevelSettings) -> Iterator[str]:
    if settings.superwords is None:
        for name in ("superwords_from", "superword_max_words"):
            if getattr(settings, name) is not None:
                yield f"{name} says how superwords are learnt, but superwords is None; give it a pattern, such as 'lines'"
    elif settings.stages:
        yield "superwords are learnt within one pattern, and stages split what it leaves whole; leave one of them out"
    elif settings.pattern is None:
        yield "superwords need a first stage that splits text (pattern); without a split, every token may cross white space already"


def _check_forced(settings: ByteLevelSettings) -> None:
    from hf_bpe.pattern_syntax.possible_pieces import can_be_part_of_a_piece

    rules, is_forbidden = settings.superword_rules or settings.rules, forbids(settings)
    if "" in settings.forced_tokens:
        raise TrainingError("forced_tokens holds an empty text")
    tokens = [bytes([byte]) for byte in range(256)]
    for left, right in settings.first_merges:
        token = tokens[left] + tokens[right]
        if settings.max_token_length is not None and len(token) > settings.max_token_length:
            raise TrainingError(
                f"{token!r} is to be a token, but is longer than max_token_length={settings.max_token_length} bytes"
            )
        if is_forbidden(tokens[left], tokens[right]):
            raise TrainingError(
                f"{token!r} is to be a token, or a part of one, but is forbidden; take it out of one of the lists"
            )
        tokens.append(token)
    for token in settings.first_tokens:
        if not can_be_part_of_a_piece(token.decode(), rules.pattern, rules.unmatched, rules.stages):
            raise TrainingError(
                f"{token.decode()!r} is to be a token, but the split pattern never leaves it whole, so no text would hold it; choose another "
                "pattern, or make it a special token"
            )
