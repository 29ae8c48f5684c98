"""What both kinds of tokenizer in a GGUF file share: the list of tokens with their kinds, and how special tokens are found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from conversion.gguf.metadata import boolean, uint32
from hf_bpe.errors import FormatError
from hf_bpe.pieces import PieceKind

__all__ = ["KINDS", "TokenList", "caller_settings", "entry", "kind_numbers", "overlap_conflict", "token_list", "write_settings"]

TokenList: TypeAlias = list[tuple[str, PieceKind]]
T = TypeVar("T")

KINDS: dict[int, PieceKind] = {1: "normal", 2: "unknown", 3: "control", 4: "user_defined", 5: "unused", 6: "byte"}
_TYPES: dict[type, str] = {str: "text", int: "a number", float: "a fraction", bool: "true or false", list: "a list"}
# For callers that add tokens around a text; encoding does not.
_ROLES = "bos eos eot eom unknown seperator padding cls mask fim_pre fim_suf fim_mid fim_pad fim_rep fim_sep".split()
_IDS = tuple(f"tokenizer.ggml.{role}_token_id" for role in _ROLES)
_SWITCHES = ("tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token")


def entry(metadata: Mapping[str, Any], key: str, kind: type[T], where: str, items: type = object) -> T:
    """The value of a key, which must be there and of that type. items: the type of a list's items."""
    if key not in metadata:
        raise FormatError(f"{where}: {key} is missing; it must be {_TYPES[kind]}. The file may hold no tokenizer")
    value = metadata[key]
    if type(value) is not kind:
        raise FormatError(f"{where}: {key} must be {_TYPES[kind]}, not a {type(value).__name__}; the file is damaged")
    if isinstance(value, list) and value and not isinstance(value[0], items):  # all are of one type
        raise FormatError(f"{where}: {key} must be a list of {_TYPES[items]}, not of {type(value[0]).__name__}")
    return value


def token_list(metadata: Mapping[str, Any], where: str) -> TokenList:
    """Text and kind of each token, by id. Raises `FormatError` if two that are in use have one text."""
    contents = entry(metadata, "tokenizer.ggml.tokens", list, where, str)
    # Old files have no kinds, and llama.cpp then takes every token for a normal one.
    kinds = "tokenizer.ggml.token_type"
    numbers = entry(metadata, kinds, list, where, int) if kinds in metadata else [1] * len(contents)
    if len(contents) != len(numbers):
        raise FormatError(
            f"{where}: tokenizer.ggml.token_type has {len(numbers)} entries for {len(contents)} tokens; the file is damaged"
        )
    if KINDS.keys() >= set(numbers) and len(set(contents)) == len(contents):
        return list(zip(contents, map(KINDS.__getitem__, numbers), strict=True))
    return _checked_one_by_one(contents, numbers, where)


def _checked_one_by_one(contents: list[str], numbers: list[int], where: str) -> TokenList:
    tokens: TokenList = []
    id_of: dict[str, int] = {}
    for token_id, (content, number) in enumerate(zip(contents, numbers, strict=True)):
        if number not in KINDS:
            raise FormatError(
                f"{where}: tokenizer.ggml.token_type[{token_id}] is {number}, and the types are 1 to {len(KINDS)}"
            )
        if KINDS[number] != "unused" and id_of.setdefault(content, token_id) != token_id:
            raise FormatError(
                f"{where}: tokenizer.ggml.tokens[{token_id}]: {content!r} is the token {id_of[content]} already; the file is damaged"
            )
        tokens.append((content, KINDS[number]))
    return tokens


def kind_numbers(kinds: Iterable[PieceKind]) -> list[int]:
    """The numbers of kinds of tokens."""
    number_of = {kind: number for number, kind in KINDS.items()}
    return [number_of[kind] for kind in kinds]


def overlap_conflict(contents: Sequence[str]) -> str | None:
    """Why llama.cpp finds these added tokens elsewhere in some text, or None.

    It looks for the longest of them in the whole text, then for the next, where the rule here is the leftmost: different
    only where one that is not longer can begin before another and reach into it.

    >>> overlap_conflict(["ab", "bcd"])
    "'ab' and 'bcd' can overlap, and llama.cpp then takes the longer one, not the one that begins first"
    >>> overlap_conflict(["<a>", "<a><b>"])
    """
    starts: dict[str, list[str]] = {}
    for content in contents:
        starts.setdefault(content[0], []).append(content)
    for first in contents:
        for place in range(1, len(first)):
            for second in starts.get(first[place], ()):
                if second != first and len(first) <= len(second) and second.startswith(first[place:]):
                    return f"{first!r} and {second!r} can overlap, and llama.cpp then takes the longer one, not the one that begins first"
    return None


def caller_settings(metadata: Mapping[str, Any], where: str) -> dict[str, str]:
    """Which tokens callers put around a text, by the keys they have, for `provenance`."""
    ids = {key: str(entry(metadata, key, int, where)) for key in _IDS if key in metadata}
    return ids | {key: str(entry(metadata, key, bool, where)) for key in _SWITCHES if key in metadata}


def write_settings(provenance: Mapping[str, str], n_vocab: int) -> dict[str, bytes]:
    """The same from `provenance`; what it does not say is switched off, where llama.cpp would go by other names."""
    ids = {key: provenance[key] for key in _IDS if key in provenance}
    valid = {key: uint32(int(value)) for key, value in ids.items() if value.isdecimal() and int(value) < n_vocab}
    return valid | {key: boolean(provenance.get(key) == "True") for key in _SWITCHES}
