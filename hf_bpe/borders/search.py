"""The search for the runs of ids that cover the end of a text.

Three facts make it finite and exact. What stands before the end is proved (`hf_bpe.streaming.cutting`). Within a piece, the ids up to
any border between them are those of the bytes up to there, merged alone; so what stands before the last id is known from its length.
And ids that stay beside each other when merged alone, pair by pair, do so together. What remains is tried: a run of ids is given only
with a text after which the encoder itself began with it, and left out only where no text can do that.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Iterator
from typing import Any, NamedTuple

from hf_bpe.borders.splits import OpenPiece, Splits, splits_of
from hf_bpe.borders.tables import tables_of
from hf_bpe.engine import Encoder, SpecialTokens
from hf_bpe.errors import BorderError
from hf_bpe.pieces import SPACE_SYMBOL
from hf_bpe.streaming.added import AddedTokens
from hf_bpe.utf8 import begins_text

__all__ = ["Search"]


class Search:
    """Looks for the runs of ids that cover a text."""

    def __init__(self, encoder: Encoder, added: AddedTokens, allowed: SpecialTokens, rest: str, limit: int) -> None:
        self._encoder, self._added, self._rest = encoder, added, rest
        self._options: Any = {"allowed_special": allowed, "disallowed_special": ()}
        self._tables = tables_of(encoder)
        self._left = limit
        self._limit = limit
        self._open = ""  # what stands behind the last added token
        self._stays: dict[tuple[int, int], bool] = {}
        self.found: dict[tuple[int, ...], str] = {}

    def run(self) -> dict[tuple[int, ...], str]:
        """Every run of ids, and a text that makes it."""
        self._with_added_tokens()
        last = max((stop for _, stop, token in self._added.places(self._rest) if token is not None), default=0)
        lead, self._open = self._encode(self._rest[:last]), self._rest[last:]
        if not self._open:
            self._try(tuple(lead), "")
        elif self._encoder.spec.sentencepiece is not None:
            self._with_pieces(lead, self._open, last)
        else:
            self._with_bytes(lead, self._open)
        return dict(sorted(self.found.items()))

    def _encode(self, text: str) -> list[int]:
        return self._encoder.encode(text, **self._options)

    def _count(self, number: int = 1) -> None:
        self._left -= number
        if self._left < 0:
            raise BorderError(
                f"what the end of the text, {self._rest[-40:]!r}, can become was not found within limit={self._limit:,} tokens looked at; raise "
                "the limit, or cut the text before its last white space"
            )

    def _try(self, ids: tuple[int, ...], behind: str) -> bool:
        """Note the ids if the rest and that text are encoded so."""
        is_so = tuple(self._encode(self._rest + behind)[: len(ids)]) == ids
        if is_so:
            self.found.setdefault(ids, behind)
        return is_so

    def _try_all(self, runs: list[tuple[tuple[int, ...], str]]) -> None:
        texts = [self._rest + behind for _, behind in runs]
        encoded = self._encoder.encode_batch(texts, num_threads=1, **self._options) if texts else []
        for (ids, behind), whole in zip(runs, encoded, strict=True):
            if tuple(whole[: len(ids)]) == ids:
                self.found.setdefault(ids, behind)

    def _with_added_tokens(self) -> None:
        """The end of the text can be the beginning of an added token, or a whole one."""
        rest = self._rest
        for token in self._added.matched:
            for place in range(max(0, len(rest) - len(token.content)), len(rest)):
                if token.content.startswith(rest[place:]):
                    self._count()
                    self._try((*self._encode(rest[:place]), token.id), token.content[len(rest) - place :])

    # -- SentencePiece ------------------------------------------------------------------------------------------------

    def _with_pieces(self, lead: list[int], text: str, start: int) -> None:
        rules = self._encoder.spec.sentencepiece
        if rules is None or (start and rules.prepend_scheme == "first"):
            raise BorderError(
                "text behind an added token is encoded in another way than by itself; cut the text behind the token"
            )
        written = "".join(self._encoder.pretokenize(text))
        runs = [(self._tables.merging.encode_ordinary(written), "")]
        longest = self._tables.longest  # in bytes, so it is long enough
        for place in range(max(0, len(written) - longest), len(written)):
            head = self._tables.merging.encode_ordinary(written[:place])
            open_part = written[place:]
            for surface, token_id in self._tables.starting_with(open_part.replace(SPACE_SYMBOL, " ").encode()):
                self._count()
                piece = rules.pieces[token_id]
                if piece.kind == "normal" and piece.content.startswith(open_part):
                    runs.append(([*head, token_id], surface.decode()[len(open_part) :]))
        self._try_all([((*lead, *ids), behind) for ids, behind in runs])

    # -- bytes --------------------------------------------------------------------------------------------------------

    def _with_bytes(self, lead: list[int], text: str) -> None:
        splits = splits_of(self._encoder.spec.pattern)
        if splits is None or not splits.is_total:
            raise BorderError(
                f"the pattern {self._encoder.spec.pattern!r} leaves text between its matches, or cannot be looked into"
            )
        for way in splits.ways(text):
            head = list(lead)
            for start, stop in zip((0, *way.borders), way.borders, strict=False):
                head += self._ids_of_piece(text[start:stop].encode())
            self._with_way(_Way(splits, way, tuple(head), text[way.begin :]))

    def _ids_of_piece(self, piece: bytes) -> list[int]:
        spec = self._encoder.spec
        known = spec.vocab.get(piece) if spec.ignore_merges else None
        return self._tables.merged(piece) if known is None else [known]

    def _with_way(self, way: _Way) -> None:
        tables, text = self._tables, way.text
        # Nothing merges over a border that no token crosses, so the ids of all before it are known.
        certain = tables.crossings.last_uncrossed(text, 0, len(text))
        before, content = text[:certain].encode(), text[certain:].encode()
        lead = tables.merged(before)
        candidates: list[tuple[tuple[int, ...], bytes]] = []
        for place in range(max(0, len(content) - tables.longest), len(content)):
            head = (*lead, *tables.merged(content[:place]))
            for token, token_id in tables.starting_with(content[place:]):
                self._count()
                behind = token[len(content) - place :]
                if begins_text(behind) and (not head or self._stay(head[-1], token_id)):
                    candidates.append(((*head, token_id), behind))
        self._try_all([((*way.head, *ids), behind.decode()) for ids, behind in candidates if _is_text(behind)])
        for ids, behind in candidates:
            if (*way.head, *ids) not in self.found:
                self._look_further(way, ids, behind)

    def _look_further(self, way: _Way, ids: tuple[int, ...], behind: bytes) -> None:
        """Look for a text that makes the ids, which the bytes `behind` do not by themselves, or leave a character incomplete."""
        spec, text = self._encoder.spec, way.text.encode()
        is_looked_up = spec.ignore_merges and len(ids) == 1 and text + behind in spec.vocab
        can_go_on = len(ids) > 1 or tuple(self._tables.merged(text + behind)) == ids
        if not (is_looked_up or can_go_on):
            return
        wanted = (*way.head, *ids)
        branches = [iter([(ids[-1], behind)])]
        known = set[Any]()
        is_refused = False
        while branches:
            last, added = next(branches[-1], (-1, b""))
            if last < 0:
                branches.pop()
                continue
            characters, part = _split_characters(added)
            piece = way.splits.go_on(way.piece, characters)
            if piece is None or self._added.holds_any(self._open + characters):
                continue
            key = (last, part, piece.state, piece.owed)
            if key in known:
                continue
            following = None if part else way.splits.text_behind(piece)
            if following is not None and self._try(wanted, characters + following):
                return
            if following is not None and spec.ignore_merges and text + added in spec.vocab:
                pass  # looked up as a whole; other bytes that lead to this key are not
            else:
                known.add(key)
                is_refused |= following is not None
            if can_go_on:
                branches.append(self._neighbours(last, added, part))
        if is_refused:
            raise BorderError(
                f"whether {self._rest!r} can become {list(wanted)} is not known: the added tokens of this tokenizer get in the way"
            )

    def _neighbours(self, last: int, added: bytes, part: bytes) -> Iterator[tuple[int, bytes]]:
        """Tokens that stay beside the last one when merged, as (id, bytes behind the text)."""
        for token, token_id in self._tables.within_characters if part else self._tables.by_length:
            if begins_text(part + token) and self._stay(last, token_id):
                yield token_id, added + token

    def _stay(self, left: int, right: int) -> bool:
        """Whether two tokens, merged together, stay as they are."""
        known = self._stays.get((left, right))
        if known is None:
            self._count()
            bytes_of = self._tables.bytes_of
            known = self._tables.merged(bytes_of[left] + bytes_of[right]) == [left, right]
            self._stays[left, right] = known
        return known


class _Way(NamedTuple):
    """One way to split the end of a text. head: the ids before the open piece; text: what stands of that piece."""

    splits: Splits
    piece: OpenPiece
    head: tuple[int, ...]
    text: str


def _split_characters(content: bytes) -> tuple[str, bytes]:
    """The whole characters, and the bytes behind them, which are the beginning of one."""
    text, used = utf_8_decode(content, "strict", False)
    return text, content[used:]


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
