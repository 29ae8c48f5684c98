"""`Cards`: all that is to be known of one token by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe.analysis.merge_tree import MergeNode, merge_trees
from hf_bpe.analysis.tokens import Entry, Vocabulary, as_encoder
from hf_bpe.engine import Encoder
from hf_bpe.engine.steps import MergeRules
from hf_bpe.errors import UnknownTokenError
from hf_bpe.pieces import SPACE_SYMBOL, byte_piece
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.spelling import spelling_of
from hf_bpe.vocabulary.findings import Finding, findings_of_token

__all__ = ["Card", "Cards", "Tokens"]

_BESIDE = 3
_MOST_IN_TREE = 256
"""Longer tokens have no tree: one may be as deep as it is long, deeper than JSON can be read. Those of o200k have up to 128 bytes."""
_BYTES = re.compile(r"(?:\\x[0-9A-Fa-f]{2})+")
_WHY: dict[Finding, str] = {
    "never merged": "no merges make it, so no text becomes it",
    "split apart": "merging would make it, but no piece that the split pattern leaves can hold it",
    "no text": "it holds bytes that no UTF-8 text has",
    "shadowed": "it is a byte of characters that are pieces themselves, or never come up",
}


class Tokens(NamedTuple):
    """Some of the tokens of a kind, by id, and how many there are."""

    total: int
    first: tuple[Entry, ...]


@dataclass(frozen=True)
class Card:
    """A token.

    added: its rules, if it is an added token. rank: the place among the merges, counted from 1, of the one that makes it; score: what
    a SentencePiece model has instead. tree: how merging makes it of bytes or characters; several trees where it stops short of the
    token, and none of what is no text, as special tokens are, or longer than 256 bytes. beside: the tokens of the ids before and
    after. starting, ending: longer tokens that do so with it. used_in: those that a merge makes with it. findings: what
    `hf-bpe audit` says of it. is_reachable: whether any text becomes it; a special token's own spelling counts where it is allowed.
    """

    entry: Entry
    added: AddedToken | None
    rank: int | None
    score: float | None
    tree: tuple[MergeNode, ...]
    beside: tuple[Entry, ...]
    starting: Tokens
    ending: Tokens
    used_in: Tokens
    findings: tuple[Finding, ...]
    is_reachable: bool
    why: str


class Cards:
    """Makes cards of a tokenizer's tokens. One looks at every token and every merge: a tenth of a second for 200,000.

    >>> from hf_bpe.training import train
    >>> cards = Cards(train(["abcabc,ab"], 258, pattern=None, progress=False))
    >>> card = cards.card(cards.find("ab"))
    >>> card.entry.id, card.rank, card.is_reachable, [entry.spelled for entry in card.used_in.first]
    (256, 1, True, ['abc'])
    """

    def __init__(self, tokenizer: TokenizerSpec | Encoder | Vocabulary) -> None:
        self.vocabulary = tokenizer if isinstance(tokenizer, Vocabulary) else Vocabulary(as_encoder(tokenizer))
        self._spec = self.vocabulary.encoder.spec
        self._spelling = spelling_of(self._spec)
        self._merges = MergeRules(self._spec)

    def find(self, wanted: str) -> int:
        r"""The id of a token as people give it: `#123`, its spelling, its text, bytes as `\xF0\x9F`, or 123 where no token is that text.

        Raises `UnknownTokenError`.
        """
        ways = (self._by_number_sign, self._as_added, self._as_spelled, self._as_text, self._as_bytes, self._as_id)
        found = next((token_id for way in ways if (token_id := way(wanted)) is not None), None)
        if found is None:
            near = next((text for text in (f" {wanted}", wanted.strip()) if self._as_text(text) is not None), None)
            raise UnknownTokenError(
                f"{wanted!r} is no token here{'' if near is None else f', {near!r} is one'}; give one by its id, as #123, by its text, as it is spelled in files, or by its bytes, as "
                "\\xF0\\x9F"
            )
        return found

    def card(self, token_id: int, *, most: int = 12) -> Card:
        """The card of an id. most: how many tokens to list of each kind. Raises `UnknownTokenError`."""
        added = next((token for token in self._spec.added_tokens if token.id == token_id), None)
        entry = self.vocabulary.entry(token_id)
        findings = tuple(findings_of_token(self.vocabulary.encoder, token_id))
        content = self._content(token_id, added)
        tree = merge_trees(self._merges, content) if content is not None and len(content) <= _MOST_IN_TREE else ()
        root = tree[0] if len(tree) == 1 else None
        is_reachable, why = self._reach(entry, added, findings)
        return Card(
            entry=entry,
            added=added,
            rank=None if root is None or root.rank is None else root.rank + 1,
            score=self._score(token_id),
            tree=tree,
            beside=self._beside(token_id),
            starting=self._longer(content, bytes.startswith, most),
            ending=self._longer(content, bytes.endswith, most),
            used_in=self._listed({self._spec.vocab[a + b] for a, b in self._pairs if content in (a, b)}, most),
            findings=findings,
            is_reachable=is_reachable,
            why=why,
        )

    def to_dict(self, card: Card) -> dict[str, Any]:
        """A card for JSON."""
        spell = self._spelling.spell

        def short(tokens: Tokens) -> dict[str, Any]:
            return {"count": tokens.total, "first": [_short(entry) for entry in tokens.first]}

        return {
            **_short(card.entry),
            "text": card.entry.text,
            "bytes": list(card.entry.content),
            "kind": card.entry.kind,
            "rank": card.rank,
            "score": card.score,
            "tree": [node.to_dict(spell) for node in card.tree],
            "beside": [_short(entry) for entry in card.beside],
            "starting": short(card.starting),
            "ending": short(card.ending),
            "used_in": short(card.used_in),
            "findings": list(card.findings),
            "reachable": card.is_reachable,
            "why": card.why,
        }

    # -- finding ------------------------------------------------------------------------------------------------------

    def _by_number_sign(self, wanted: str) -> int | None:
        return self._as_id(wanted[1:]) if wanted.startswith("#") else None

    def _as_added(self, wanted: str) -> int | None:
        return next((token.id for token in self._spec.added_tokens if token.content == wanted), None)

    def _as_spelled(self, wanted: str) -> int | None:
        content = self._spelling.read(wanted)
        return None if content is None else self._spec.vocab.get(content)

    def _as_text(self, wanted: str) -> int | None:
        try:
            content = wanted.encode()
        except UnicodeEncodeError:
            return None
        return self._of_bytes(content)

    def _as_bytes(self, wanted: str) -> int | None:
        return self._of_bytes(bytes.fromhex(wanted.replace("\\x", ""))) if _BYTES.fullmatch(wanted) else None

    def _of_bytes(self, content: bytes) -> int | None:
        """The token of some bytes; of one byte in a SentencePiece model its byte piece, if no other piece is that text."""
        if self._spec.sentencepiece is None:
            return self._spec.vocab.get(content)
        found = self._spec.vocab.get(content.replace(b" ", SPACE_SYMBOL.encode()))
        return self._spec.vocab.get(byte_piece(content[0]).encode()) if found is None and len(content) == 1 else found

    def _as_id(self, wanted: str) -> int | None:
        is_number = wanted.isascii() and wanted.isdecimal() and len(wanted) < 11
        return int(wanted) if is_number and int(wanted) in self._spec.used_ids else None

    # -- what a card says ---------------------------------------------------------------------------------------------

    def _content(self, token_id: int, added: AddedToken | None) -> bytes | None:
        """The token as merging has it: bytes, or a piece as it is written; None of what merging never meets."""
        rules = self._spec.sentencepiece
        if rules is None:
            content = self.vocabulary.encoder.decode_single_token_bytes(token_id)
            return content if added is None or self._spec.vocab.get(content) == token_id else None
        is_text = token_id < len(rules.pieces) and rules.pieces[token_id].kind in ("normal", "user_defined", "unused")
        return rules.pieces[token_id].content.encode() if is_text else None

    def _score(self, token_id: int) -> float | None:
        rules = self._spec.sentencepiece
        if rules is None or token_id >= len(rules.pieces):
            return None
        piece = rules.pieces[token_id]
        return piece.score if piece.kind in ("normal", "unused") and len(piece.content) > 1 else None

    def _reach(self, entry: Entry, added: AddedToken | None, findings: Iterable[Finding]) -> tuple[bool, str]:
        if added is not None:
            return True, f"a text that spells it becomes it{' where special tokens are allowed' if added.special else ''}"
        rules = self._spec.sentencepiece
        if rules is not None and rules.pieces[entry.id].kind == "control":
            return False, "it is a control piece, which no text becomes"
        if rules is not None and rules.pieces[entry.id].kind == "unused":
            return False, "it is an unused piece, which comes apart after merging"
        against = [finding for finding in findings if finding in _WHY]
        if against:
            return False, _WHY[against[0]]
        if entry.text and self.vocabulary.encoder.encode_ordinary(entry.text) == [entry.id]:
            return True, "its own text becomes it"
        if entry.text is None:
            return True, "it is a part of characters, and no rule keeps text from becoming it"
        return True, "its own text alone does not become it, but no rule keeps other text from it"

    def _beside(self, token_id: int) -> tuple[Entry, ...]:
        ids = (*range(token_id - _BESIDE, token_id), *range(token_id + 1, token_id + _BESIDE + 1))
        return tuple(self.vocabulary.entry(i) for i in ids if i in self._spec.used_ids)

    def _longer(self, content: bytes | None, does: Callable[[bytes, bytes], bool], most: int) -> Tokens:
        """The longer tokens that begin or end with it. All are looked at: 20 ms for 200,000, a sorted table of them takes a second."""
        if content is None:
            return Tokens(0, ())
        return self._listed((i for token, i in self._spec.vocab.items() if does(token, content) and token != content), most)

    @cached_property
    def _pairs(self) -> Sequence[tuple[bytes, bytes]]:
        """What merges: of a SentencePiece model a pair for each piece."""
        rules = self._spec.sentencepiece
        return self._spec.merges if rules is None else [(a.encode(), b.encode()) for a, b in merges_of(rules).pairs]

    def _listed(self, ids: Iterable[int], most: int) -> Tokens:
        every = sorted(ids)
        return Tokens(len(every), tuple(map(self.vocabulary.entry, every[:most])))


def _short(entry: Entry) -> dict[str, Any]:
    return {"id": entry.id, "token": entry.spelled}
