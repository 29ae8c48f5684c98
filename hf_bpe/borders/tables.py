"""What is looked up in a vocabulary at the border of a text: tokens by what they begin with, and ids by merging alone."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from hf_bpe.engine import Encoder
from hf_bpe.pieces import piece_bytes
from hf_bpe.streaming.crossings import Crossings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Tables", "tables_of"]

_TEXT_KINDS = ("normal", "user_defined", "unused", "byte")

_KNOWN: WeakKeyDictionary[Encoder, Tables] = WeakKeyDictionary()


def tables_of(encoder: Encoder) -> Tables:
    """The tables of an encoder, each made when first used. Of 100,000 tokens they take 0.1 to 0.5 s."""
    known = _KNOWN.get(encoder)
    if known is None:
        # Not the encoder itself is kept: tables that held it would keep it alive, and so themselves.
        known = _KNOWN[encoder] = Tables(encoder)
    return known


class Tables:
    """Look-ups in one vocabulary, added tokens not considered."""

    def __init__(self, encoder: Encoder) -> None:
        self.spec = encoder.spec
        self._engine = encoder.engine

    # -- tokens by their beginning ------------------------------------------------------------------------------------

    @cached_property
    def _sorted(self) -> list[tuple[bytes, int]]:
        rules = self.spec.sentencepiece
        if rules is None:
            return sorted(self.spec.vocab.items())
        return sorted(
            (piece_bytes(piece), token_id) for token_id, piece in enumerate(rules.pieces) if piece.kind in _TEXT_KINDS
        )

    @cached_property
    def longest(self) -> int:
        """The length of the longest token, in bytes."""
        return max(len(token) for token, _ in self._sorted)

    @cached_property
    def bytes_of(self) -> dict[int, bytes]:
        """The bytes of each id."""
        return {token_id: token for token, token_id in self._sorted}

    @cached_property
    def by_length(self) -> list[tuple[bytes, int]]:
        """All tokens and their ids, the shortest first."""
        return sorted(self._sorted, key=lambda item: len(item[0]))

    @cached_property
    def within_characters(self) -> list[tuple[bytes, int]]:
        """The tokens that begin within a character, the shortest first."""
        return [item for item in self.by_length if 0x80 <= item[0][0] < 0xC0]

    def starting_with(self, prefix: bytes) -> list[tuple[bytes, int]]:
        """The tokens that begin with these bytes, and their ids."""
        beyond = prefix.rstrip(b"\xff")
        stop = len(self._sorted) if not beyond else bisect_left(self._sorted, (beyond[:-1] + bytes([beyond[-1] + 1]), -1))
        return self._sorted[bisect_left(self._sorted, (prefix, -1)) : stop]

    def beginning(self, content: bytes) -> list[int]:
        """The ids of tokens that these bytes begin with, and go on after."""
        found = []
        for length in range(1, min(len(content), self.longest + 1)):
            token = content[:length]
            place = bisect_left(self._sorted, (token, -1))
            while place < len(self._sorted) and self._sorted[place][0] == token:
                found.append(self._sorted[place][1])
                place += 1
        return found

    @cached_property
    def used_ids(self) -> NDArray[np.int64]:
        """Every id that stands for something."""
        import numpy as np

        return np.array(sorted(self.spec.used_ids), np.int64)

    @cached_property
    def unknown(self) -> tuple[int, str] | None:
        """The id that encoding gives for what is no piece, and a character that is none; None where it never does."""
        rules = self.spec.sentencepiece
        if rules is None or rules.byte_fallback:
            return None
        known = {character for piece in rules.pieces for character in piece.content}
        return rules.unk_id, next(chr(n) for n in range(0x10FFFD, 0, -1) if chr(n) not in known)

    @cached_property
    def mute_ids(self) -> frozenset[int]:
        """The ids that no text gives: control pieces that are no added tokens, and the unknown one if characters become bytes."""
        rules, spelt = self.spec.sentencepiece, {*self.spec.special_tokens.values()}
        kinds = ("control",) if self.unknown else ("control", "unknown")
        silent = {n for n, p in enumerate(rules.pieces if rules is not None else ()) if p.kind in kinds}
        return frozenset(n for n in silent if n not in spelt or (rules is not None and n == rules.unk_id))

    @cached_property
    def special_tokens(self) -> dict[int, str]:
        """Id -> text of the special tokens that have one."""
        silent = self.mute_ids | {self.unknown[0]} if self.unknown else self.mute_ids
        return {token_id: content for content, token_id in self.spec.special_tokens.items() if token_id not in silent}

    @cached_property
    def parting_tokens(self) -> dict[int, str]:
        """Id -> text of the tokens behind which a text begins anew: in a SentencePiece model every added one, for its prefix."""
        if self.spec.sentencepiece is None:
            return self.special_tokens
        return {token.id: token.content for token in self.spec.added_tokens if not token.special} | self.special_tokens

    # -- merging ------------------------------------------------------------------------------------------------------

    @cached_property
    def crossings(self) -> Crossings:
        """Which characters some token holds side by side."""
        return Crossings(self.spec.vocab)

    @cached_property
    def merging(self) -> Encoder:
        """An encoder that only merges: the whole text is one piece, nothing is looked for and nothing changed before."""
        rules = self.spec.sentencepiece
        if rules is not None:
            spec = self.spec.replace(
                sentencepiece=replace(rules, prepend_scheme="never", prefix_before_space=True), added_tokens=()
            )
        else:
            spec = self.spec.replace(
                pattern=None,
                stages=(),
                unmatched="keep",
                normalizer=(),
                add_prefix_space=False,
                ignore_merges=False,
                added_tokens=(),
            )
        return Encoder(spec, engine=self._engine)  # type: ignore[arg-type]

    def merged(self, content: bytes) -> list[int]:
        """The ids of one piece of the byte-level dialect, which may begin or end within a character."""
        return self.merging.encode_piece(content, whole=False)
