"""The pre_tokenizer of a byte-level tokenizer.json, both ways: Splits, the ByteLevel step, and what stands behind it.

What reads single steps and regular expressions is imported when it is needed: files of GPT-2's kind do without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from conversion.json_text import field
from conversion.tokenizer_json.steps import kind
from hf_bpe.errors import ConversionRefused
from hf_bpe.patterns import NAMED_PATTERNS, find_named_pattern, pattern_for
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    from conversion.tokenizer_json.split_rules import SplitRule

__all__ = ["adds_prefix_space", "byte_level_step", "pre_tokenizer_for", "read_split_rule"]


def read_split_rule(data: object, where: str, tokens: Callable[[], Iterable[str]], ignore_merges: bool) -> SplitRule:
    """The pattern, what becomes of text it leaves, and the stages behind it. `tokens` gives the spelled vocabulary, if it is needed."""
    splits, byte_level, behind = _around_byte_level(data, where)
    use_regex = byte_level.get("use_regex", True)
    if not splits and not behind:
        return (NAMED_PATTERNS["gpt2"].pattern if use_regex else None), "keep", ()
    from conversion.tokenizer_json import split_rules
    from conversion.tokenizer_json.behind_byte_level import read_step_behind
    from conversion.tokenizer_json.pre_tokenizers import Split, read_step
    from hf_bpe.pattern_syntax import parse

    gpt2 = [Split(parse(str(NAMED_PATTERNS["gpt2"].pattern)))] if use_regex else []
    seeing_bytes = [read_step_behind(split, where, tokens(), ignore_merges) for split in behind]
    return split_rules.read_stages([*(read_step(split, where) for split in splits), *gpt2, *seeing_bytes], where)


def _around_byte_level(data: object, where: str) -> tuple[list[dict[str, Any]], dict[str, Any], list[dict[str, Any]]]:
    """The steps before ByteLevel, itself, and those behind it."""
    steps = _steps(data, where)
    places = [place for place, step in enumerate(steps) if step.get("type") == "ByteLevel"]
    if not places:
        raise ConversionRefused(f"{where} ends with {kind(steps[-1])}; a byte-level tokenizer has a ByteLevel step")
    if len(places) > 1:
        raise ConversionRefused(
            f"{where} holds ByteLevel twice, which spells bytes of what is spelled already; remove one of them"
        )
    [place] = places
    byte_level = steps[place]
    field(byte_level, "add_prefix_space", bool, where)
    if "use_regex" in byte_level:
        field(byte_level, "use_regex", bool, where)
    return steps[:place], byte_level, steps[place + 1 :]


def _steps(data: object, where: str) -> list[dict[str, Any]]:
    """The pre-tokenizers in order, sequences inside sequences laid out flat; at least one."""
    if not isinstance(data, dict):
        raise ConversionRefused(f"{where} is {kind(data)}; without a ByteLevel step this is not a byte-level tokenizer")
    if data.get("type") != "Sequence":
        return [data]
    steps = [step for part in field(data, "pretokenizers", list, where) for step in _steps(part, where)]
    if not steps:
        raise ConversionRefused(f"{where} is an empty Sequence; without a ByteLevel step this is not a byte-level tokenizer")
    return steps


def adds_prefix_space(data: object, where: str) -> bool:
    """Whether ByteLevel puts a space before the text. Raises `ConversionRefused` where it would stand before every piece."""
    splits, byte_level, _ = _around_byte_level(data, where)
    if byte_level["add_prefix_space"] and splits:
        raise ConversionRefused(
            f"{where}: a ByteLevel with add_prefix_space after another step puts a space before every piece, not before the text; set it "
            "to false"
        )
    return bool(byte_level["add_prefix_space"])


def pre_tokenizer_for(spec: TokenizerSpec) -> dict[str, Any]:
    """The `pre_tokenizer` part: the spec's pattern and byte alphabet."""
    if spec.pattern is None:
        return byte_level_step(use_regex=False, add_prefix_space=spec.add_prefix_space)
    named = find_named_pattern(spec.pattern)
    if named is not None and named.name == "gpt2" and not spec.stages:
        return byte_level_step(use_regex=True, add_prefix_space=spec.add_prefix_space)
    if spec.add_prefix_space:
        raise ConversionRefused(
            "tokenizer.json can put a space before a text (add_prefix_space) only with the pattern of GPT-2 or with none: behind another "
            "Split it would stand before every piece"
        )
    first = _splits(spec.pattern, "keep" if named else spec.unmatched)
    return _sequence([*first, *(split for stage in spec.stages for split in _splits(stage, "keep"))])


def _splits(pattern: str, unmatched: str) -> list[dict[str, Any]]:
    """A pattern as a Split, or as the several that it was published as."""
    from conversion.tokenizer_json import split_rules

    named = find_named_pattern(pattern)
    if named is not None and named.stages:
        return [_split(stage, "keep") for stage in named.stages]
    if named is not None and named.pattern is not None and split_rules.means_the_same(named.pattern):
        return [_split(named.pattern, "keep")]
    return [_split(pattern_for(pattern, "oniguruma"), unmatched)]


def _sequence(splits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": [*splits, byte_level_step(use_regex=False)]}


def _split(pattern: str, unmatched: str) -> dict[str, Any]:
    behavior, invert = ("Isolated", False) if unmatched == "keep" else ("Removed", True)
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def byte_level_step(*, use_regex: bool, add_prefix_space: bool = False) -> dict[str, Any]:
    """ByteLevel, as a pre-tokenizer or as the decoder."""
    return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": use_regex}
