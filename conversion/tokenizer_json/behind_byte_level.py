"""Pre-tokenizers behind ByteLevel, as Falcon has them: they see bytes, each spelled as a character, where a pattern sees text.

Of ASCII both see the same. But `Digits` also takes `²` for a digit, which is how byte 0xB2 is spelled, and so cuts "²", the
bytes C2 B2, and "粲", E7 B2 B2, inside. Where text is cut inside a character shows in ids only if a token reaches over that
place, and a vocabulary that was trained with such steps has no such token. So the step is read as what it does to ASCII, once
the vocabulary has been looked through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from conversion.tokenizer_json.pre_tokenizers import Split, read_step
from hf_bpe.byte_level import bytes_to_unicode
from hf_bpe.errors import ConversionRefused
from hf_bpe.pattern_syntax import Node, Span
from hf_bpe.pattern_syntax.code_points import members
from hf_bpe.pattern_syntax.fusion import class_of_run
from hf_bpe.pattern_syntax.tree import Alternation, Atomic, Class, Edge, Look, Repeat, Sequence, classes_in

__all__ = ["read_step_behind"]

_ASCII = 0x80


def read_step_behind(step: Mapping[str, Any], where: str, tokens: Iterable[str], ignore_merges: bool) -> Split:
    """The step as one that sees text. tokens: those that merging makes, as they are spelled.

    Raises `ConversionRefused` where it cuts inside characters and a token shows that, or where that is not known.
    """
    split = read_step(step, where)
    kind = f"{where} holds {step.get('type')} behind ByteLevel"
    spelled = {own: _spelled_bytes(own) for own in classes_in(split.tree)}
    inside = {spelling for found in spelled.values() for byte, spelling in found.items() if byte >= _ASCII}
    tree = _on_ascii(split.tree, {own: _ascii_class(found) for own, found in spelled.items()})
    if tree is None or (inside and class_of_run(split.tree) is None):
        raise ConversionRefused(
            f"{kind}, where it sees bytes, and what it does there is not known to be the same for text; put it before ByteLevel"
        )
    across = _reaching(tokens, inside, may_be_inside=isinstance(split.tree, Repeat) and not ignore_merges)
    if across is not None:
        raise ConversionRefused(
            f"{kind}, where it cuts inside characters, and the token {across!r} reaches over such a place; put it before ByteLevel"
        )
    return replace(split, tree=tree)


def _spelled_bytes(own: Class) -> dict[int, str]:
    """The bytes whose spelling is in a class."""
    spans = members(own)
    return {
        byte: spelling
        for byte, spelling in bytes_to_unicode().items()
        if any(s.first <= ord(spelling) <= s.last for s in spans)
    }


def _ascii_class(spelled: Mapping[int, str]) -> Class:
    return Class(tuple(Span(byte, byte) for byte in sorted(spelled) if byte < _ASCII))


def _on_ascii(node: Node, seen: Mapping[Class, Class]) -> Node | None:
    """The tree with classes of text for classes of bytes; None where it looks around, or a class is none of ASCII's."""
    match node:
        case Class():
            return seen[node] if seen[node].items else None
        case Sequence(nodes) | Alternation(nodes):
            found = [_on_ascii(part, seen) for part in nodes]
            return None if None in found else type(node)(tuple(part for part in found if part is not None))
        case Repeat(body) | Atomic(body):
            inner = _on_ascii(body, seen)
            return None if inner is None else replace(node, body=inner)
        case Look() | Edge():
            return None


def _reaching(tokens: Iterable[str], inside: set[str], *, may_be_inside: bool) -> str | None:
    """The first token with such a byte beside another one. may_be_inside: unless all of it are such bytes."""
    for token in tokens if inside else ():
        if len(token) > 1 and not inside.isdisjoint(token) and not (may_be_inside and inside.issuperset(token)):
            return token
    return None
