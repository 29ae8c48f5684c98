"""What the tokens themselves show: which no text can have, which hold parts of characters, which stand for persons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

import regex

from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe.engine import Encoder
from hf_bpe.pattern_syntax.possible_pieces import can_be_part_of_a_piece
from hf_bpe.pieces import SPACE_SYMBOL, Piece, piece_bytes
from hf_bpe.spec import TokenizerSpec
from hf_bpe.utf8 import is_within_text
from hf_bpe.vocabulary.byte_pieces import bytes_fallen_back_to

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LONG", "UNREACHED", "Finding", "findings_of", "findings_of_token", "twins"]

Finding: TypeAlias = Literal[
    "never merged",
    "split apart",
    "no text",
    "shadowed",
    "part of a character",
    "very long",
    "personal",
    "joined words",
    "reserved",
    "unused",
    "undertrained",
]
UNREACHED = frozenset[Finding]({"never merged", "split apart", "no text", "shadowed", "reserved"})
"""Findings of tokens that no training text has."""

LONG = 40
"""Bytes from which on a token is very long: 189 of the 100,000 of cl100k are, nearly all runs of one character."""

_KINDS_OF_TEXT = ("normal", "user_defined", "unused")
_PERSONAL = regex.compile(
    r"""
    [\w.+-]+@[\w-]+\.\w  # an e-mail address
    | @(?:gmail|googlemail|yahoo|hotmail|outlook|icloud|aol|gmx|protonmail|yandex|naver|qq|163)\b  # or the rest of one
    | https?://\w | \bwww\.\w  # the address of a page
    # or the rest of one. Others, as `.info`, `.me`, `.app`, `.in`, are attributes in code as often.
    | (?<!\bself|\bthis)(?<=[\p{L}\d])\.(?:com|org|net|edu|gov|io|co|dev|de|fr|uk|jp|ru|cn|kr|pl|nl|br|eu|ca|au)\b(?![(=])
    """,
    regex.VERBOSE,
)
_JOINED = regex.compile(r"^ ?(?=\p{L}{8,}$)(?:\p{L}*?(?:\p{Ll}(?=\p{Lu})|\p{Lu}(?=\p{Lu}\p{Ll}))){2}")
"""Three words or more, parted by their capitals, and nothing else."""
_RESERVED = regex.compile(
    r"[<\[].*(?:reserved|unused|extra|place.?holder|dummy|removed|pad|token|special|control).*\d.*[>\]]|^>>UNUSED_\d+<<$",
    regex.IGNORECASE,
)


def findings_of(encoder: Encoder, counts: Sequence[int] | NDArray[np.int64] | None = None) -> dict[int, list[Finding]]:
    """What is to be said of the tokens: id -> findings, of those that have any, by id.

    counts: how often each id is used in some text; then tokens that some text could have, and this one never has, are "unused".

    Certain are: "never merged": no merges make it, so no text has it (in a vocabulary that looks pieces up as a whole: they do not,
    and the split never leaves it whole); "split apart": it is merged, but no piece that the split pattern leaves can hold it;
    "no text": it holds bytes that UTF-8 never has; "shadowed": a byte piece, and all characters with that byte are pieces, or never left
    by the normaliser; "part of a character"; "very long"; "joined words": three or more, told by capitals. The others are guessed from the
    spelling: "personal" (of an e-mail address or a page), "reserved".

    >>> found = findings_of(Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())))
    >>> found[0xC3], found[0xFF]
    (['part of a character'], ['no text'])
    """
    spec = encoder.spec
    special = {token.id: token.content for token in spec.added_tokens}
    unmade = _never_merged(encoder)
    found: dict[int, list[Finding]] = {i: ["reserved"] for i, name in special.items() if _RESERVED.search(name)}
    of_texts = ((i, _of_one(spec, content, i in unmade)) for content, i in _contents(spec))
    for token_id, those in chain(of_texts, _of_byte_pieces(spec)):
        if token_id in special:
            continue
        findings = [*those]
        if counts is not None and not counts[token_id] and UNREACHED.isdisjoint(findings):
            findings.append("unused")
        if findings:
            found[token_id] = findings
    return dict(sorted(found.items()))


def findings_of_token(encoder: Encoder, token_id: int) -> list[Finding]:
    """The same of one token; of a control piece, or the unknown piece, there is nothing to say.

    >>> findings_of_token(Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())), 0xF5)
    ['no text']
    """
    spec, rules = encoder.spec, encoder.spec.sentencepiece
    added = next((token for token in spec.added_tokens if token.id == token_id), None)
    if added is not None:
        return ["reserved"] if _RESERVED.search(added.content) else []
    if rules is not None:
        piece = rules.pieces[token_id]
        if piece.kind == "byte":
            return list(_of_byte_piece(piece, bytes_fallen_back_to(rules)))
        if piece.kind not in _KINDS_OF_TEXT:
            return []
        return list(_of_one(spec, piece_bytes(piece), piece.content in merges_of(rules).unreachable))
    content = encoder.decode_single_token_bytes(token_id)
    return list(_of_one(spec, content, _is_unmade(encoder, content, token_id)))


def twins(spec: TokenizerSpec) -> list[list[int]]:
    """Tokens that differ only in case, or in white space around them, the largest groups first.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)} | {b" a": 256}, merges=((b" ", b"a"),))
    >>> twins(spec)[0]
    [65, 97, 256]
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for content, token_id in _contents(spec):
        try:
            text = content.decode().replace(SPACE_SYMBOL, " ").strip()
        except UnicodeDecodeError:
            continue
        if text:
            groups[text.casefold()].append(token_id)
    return sorted((sorted(group) for group in groups.values() if len(group) > 1), key=lambda group: (-len(group), group))


def _contents(spec: TokenizerSpec) -> Iterator[tuple[bytes, int]]:
    """The tokens that are made of text, and their ids."""
    rules = spec.sentencepiece
    if rules is None:
        return iter(spec.vocab.items())
    return ((piece_bytes(piece), number) for number, piece in enumerate(rules.pieces) if piece.kind in _KINDS_OF_TEXT)


def _never_merged(encoder: Encoder) -> set[int]:
    spec = encoder.spec
    if spec.sentencepiece is not None:
        id_of = {piece.content: number for number, piece in enumerate(spec.sentencepiece.pieces)}
        return {id_of[content] for content in merges_of(spec.sentencepiece).unreachable}
    return {i for token, i in spec.vocab.items() if _is_unmade(encoder, token, i)}


def _is_unmade(encoder: Encoder, token: bytes, token_id: int) -> bool:
    # What its own bytes are not merged into, no other bytes are either.
    return len(token) > 1 and encoder.encode_piece(token, whole=False) != [token_id]


def _of_byte_pieces(spec: TokenizerSpec) -> Iterator[tuple[int, Iterator[Finding]]]:
    rules = spec.sentencepiece
    if rules is None:
        return
    given = bytes_fallen_back_to(rules)
    for number, piece in enumerate(rules.pieces):
        if piece.kind == "byte":
            yield number, _of_byte_piece(piece, given)


def _of_byte_piece(piece: Piece, given: frozenset[int] | None) -> Iterator[Finding]:
    """given: the bytes that some text may have, if that is known."""
    [byte] = content = piece_bytes(piece)
    if given is not None and byte not in given:
        yield "shadowed" if is_within_text(content) else "no text"
    elif byte >= 0x80:
        yield "part of a character"


def _of_one(spec: TokenizerSpec, content: bytes, is_unmade: bool) -> Iterator[Finding]:
    text = content.decode("utf-8", "replace")
    is_text = "\ufffd" not in text or "\ufffd".encode() in content
    if is_unmade and not spec.ignore_merges:
        yield "never merged"
    elif not is_text and not is_within_text(content):
        yield "no text"
    elif is_text and spec.sentencepiece is None:
        if not can_be_part_of_a_piece(text, spec.pattern, spec.unmatched, spec.stages):
            yield "never merged" if is_unmade else "split apart"
    elif not is_text:
        yield "part of a character"
    if len(content) >= LONG:
        yield "very long"
    if is_text and _PERSONAL.search(text):
        yield "personal"
    if is_text and _JOINED.search(text):
        yield "joined words"
    if is_text and _RESERVED.search(text):
        yield "reserved"
