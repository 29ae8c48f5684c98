r"""The pre-tokenizers of tokenizer.json, each as a pattern of ours that cuts out the same pieces.

Most cut the text at matches of something, and a `behavior` says what becomes of matches and of the text between. Each of
those has a pattern that matches the very pieces: with `x` merged into the piece before it, `[^x]*x|[^x]+`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conversion.json_text import field
from hf_bpe.errors import ConversionRefused, PatternError
from hf_bpe.pattern_syntax import Node, matches_empty, parse
from hf_bpe.pattern_syntax.code_points import complement, members, union
from hf_bpe.pattern_syntax.fusion import class_of_run, inverse
from hf_bpe.pattern_syntax.tree import ANYTHING, Alternation, Class, Edge, Look, Property, Repeat, Sequence, Span

__all__ = ["Split", "read_step"]


@dataclass(frozen=True)
class Split:
    """A pattern that matches pieces, and what becomes of the text between its matches."""

    tree: Node
    unmatched: Literal["keep", "drop"] = "keep"


def read_step(step: Mapping[str, Any], where: str) -> Split:
    """A pre-tokenizer other than ByteLevel. Raises `ConversionRefused` naming one that is no pattern."""
    kind = step.get("type")
    read = _READERS.get(str(kind))
    if read is None:
        why = _REFUSED.get(str(kind), "which is no pattern known here")
        raise ConversionRefused(f"{where} holds {kind}, {why}; {', '.join(_READERS)} and ByteLevel are read")
    return read(dict(step), where)


def _read_split(step: dict[str, Any], where: str) -> Split:
    pattern = field(step, "pattern", dict, where)
    behavior, invert = field(step, "behavior", str, where), field(step, "invert", bool, where)
    if "Regex" in pattern:
        tree = _parse(field(pattern, "Regex", str, f"{where}.pattern"), where)
    else:
        text = field(pattern, "String", str, f"{where}.pattern")
        tree = _one_or_all([Class((Span(ord(character), ord(character)),)) for character in text])
    if matches_empty(tree):
        raise ConversionRefused(
            f"{where}: a Split at {pattern} can match the empty string, so it would split without taking text"
        )
    return _behaving(tree, behavior, where, invert=invert)


def _read_digits(step: dict[str, Any], where: str) -> Split:
    number = Class((Property("N"),))
    return Split(number if field(step, "individual_digits", bool, where) else _run(number))


def _read_punctuation(step: dict[str, Any], where: str) -> Split:
    return _behaving(_punctuation(), field(step, "behavior", str, where) if "behavior" in step else "Isolated", where)


def _read_delimiter(step: dict[str, Any], where: str) -> Split:
    delimiter = field(step, "delimiter", str, where)
    return _behaving(Class((Span(ord(delimiter[:1] or "\0"), ord(delimiter[:1] or "\0")),)), "Removed", where)


def _read_fixed_length(step: dict[str, Any], where: str) -> Split:
    length = field(step, "length", int, where)
    if not 0 < length <= _LONGEST_FIXED:
        raise ConversionRefused(f"{where}: FixedLength with a length of {length}; 1 to {_LONGEST_FIXED} are read")
    return Split(Repeat(ANYTHING, 1, length, "greedy"))


_LONGEST_FIXED = 1000  # engines limit the count of a repetition
_READERS: Mapping[str, Callable[[dict[str, Any], str], Split]] = {
    "Split": _read_split,
    "Digits": _read_digits,
    "Punctuation": _read_punctuation,
    "Whitespace": lambda step, where: Split(parse(r"\w+|[^\w\s]+"), "drop"),
    "WhitespaceSplit": lambda step, where: Split(parse(r"[^\s]+"), "drop"),
    "CharDelimiterSplit": _read_delimiter,
    "FixedLength": _read_fixed_length,
}
_REFUSED = {
    "UnicodeScripts": "which cuts where the script changes by a table of its own, older than Unicode 16",
    "BertPreTokenizer": "which both drops white space and cuts at punctuation",
    "Metaspace": "which writes spaces as U+2581 before the bytes are spelled",
}

# ---------------------------------------------------------------------------------------------------------------------
# What becomes of matches


def _behaving(match: Node, behavior: str, where: str, *, invert: bool = False) -> Split:
    """The pattern of the pieces where text is cut at `match`; with `invert` matches and the text between change places."""
    if behavior == "Isolated":
        return Split(match)
    if behavior == "Contiguous":
        return Split(_run(match))
    if behavior == "Removed" and invert:
        return Split(match, "drop")
    run = class_of_run(match)
    if behavior == "Removed":
        if run is None:
            raise ConversionRefused(
                f"{where}: a Split with behavior 'Removed' at more than single characters leaves the text between matches, which "
                "no pattern can say; 'Removed' with invert, or at a class of characters, is read"
            )
        return Split(_run(inverse(run)), "drop")
    if behavior in ("MergedWithPrevious", "MergedWithNext"):
        # With `invert` the same pieces come about the other way round.
        return Split(_before(match) if (behavior == "MergedWithPrevious") != invert else _behind(match))
    raise ConversionRefused(
        f"{where}: behavior {behavior!r} is not known; there are Isolated, Removed, MergedWithPrevious, MergedWithNext, Contiguous"
    )


def _before(match: Node) -> Node:
    """A match with the text before it; of matches side by side the others stand alone."""
    run = class_of_run(match)
    if run is not None:
        return Alternation((Sequence((_any(inverse(run)), match)), _run(inverse(run))))
    return Alternation((Sequence((_any(ANYTHING, "lazy"), match)), _run(ANYTHING)))


def _behind(match: Node) -> Node:
    """A match with the text behind it."""
    run = class_of_run(match)
    if run is not None:
        return Alternation((Sequence((match, _any(inverse(run)))), _run(inverse(run))))
    stop = Look(Alternation((match, Edge(end=True))), ahead=True, negated=False)
    return Alternation((Sequence((match, _any(ANYTHING, "lazy"), stop)), Sequence((Repeat(ANYTHING, 1, None, "lazy"), stop))))


def _any(body: Node, mode: Literal["greedy", "lazy"] = "greedy") -> Node:
    return Repeat(body, 0, None, mode)


def _run(match: Node) -> Node:
    """Matches side by side as one."""
    return Repeat(class_of_run(match) or match, 1, None, "greedy")


def _one_or_all(parts: list[Class]) -> Node:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _parse(text: str, where: str) -> Node:
    try:
        return parse(text, "oniguruma")
    except PatternError as error:
        raise ConversionRefused(f"{where}: {error}") from None


# ---------------------------------------------------------------------------------------------------------------------
# Punctuation


def _punctuation() -> Class:
    r"""What the Punctuation step takes for punctuation: ASCII's, and `\p{P}` in the older Unicode of the table it was built with."""
    ascii_marks = (Span(0x21, 0x2F), Span(0x3A, 0x40), Span(0x5B, 0x60), Span(0x7B, 0x7E))
    known = members(Class((Property("P"), *ascii_marks, Span(0x166D, 0x166D), Span(0x111C9, 0x111C9))))
    return Class(tuple(complement(union([*complement(known), *_LATER]))))


# Punctuation since Unicode 8, but for U+2E50 and U+2E51, which are symbols.
_LATER = tuple(
    Span(first, last)
    for first, last in (
        (0x61D, 0x61D), (0x9FD, 0x9FD), (0xA76, 0xA76), (0xC77, 0xC77), (0xC84, 0xC84), (0x1B4E, 0x1B4F), (0x1B7D, 0x1B7F),
        (0x2E43, 0x2E4F), (0x2E52, 0x2E5D), (0x10D6E, 0x10D6E), (0x10EAD, 0x10EAD), (0x10F55, 0x10F59), (0x10F86, 0x10F89),
        (0x113D4, 0x113D5), (0x113D7, 0x113D8), (0x1144B, 0x1144F), (0x1145A, 0x1145B), (0x1145D, 0x1145D), (0x11660, 0x1166C),
        (0x116B9, 0x116B9), (0x1183B, 0x1183B), (0x11944, 0x11946), (0x119E2, 0x119E2), (0x11A3F, 0x11A46), (0x11A9A, 0x11A9C),
        (0x11A9E, 0x11AA2), (0x11B00, 0x11B09), (0x11BE1, 0x11BE1), (0x11C41, 0x11C45), (0x11C70, 0x11C71), (0x11EF7, 0x11EF8),
        (0x11F43, 0x11F4F), (0x11FFF, 0x11FFF), (0x12FF1, 0x12FF2), (0x16D6D, 0x16D6F), (0x16E97, 0x16E9A), (0x16FE2, 0x16FE2),
        (0x1E5FF, 0x1E5FF), (0x1E95E, 0x1E95F),
    )
)  # fmt: skip
