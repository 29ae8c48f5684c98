"""Which tokens are made of which: what else must go where one goes, so that nothing that stays becomes unreachable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe.spec import TokenizerSpec

__all__ = ["Derivations"]


class Derivations:
    """The pairs that make the tokens of one vocabulary, by ids.

    >>> spec = TokenizerSpec(
    ...     vocab={bytes([b]): b for b in range(256)} | {b"ab": 256, b"abc": 257}, merges=((b"a", b"b"), (b"ab", b"c"))
    ... )
    >>> sorted(Derivations(spec).made_with([256]))
    [256, 257]
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        self.parts: dict[int, tuple[int, int]] = {}
        """Token -> the first pair that makes it."""
        self._users: Mapping[int, set[int]] = defaultdict(set)
        self._makers: Mapping[int, set[int]] = defaultdict(set)
        for left, right, made in _pairs(spec):
            self.parts.setdefault(made, (left, right))
            self._users[left].add(made)
            self._users[right].add(made)
            self._makers[made] |= {left, right}

    def users(self, token_id: int) -> set[int]:
        """The tokens that some merge makes with this one."""
        return self._users.get(token_id, set())

    def makers(self, token_id: int) -> set[int]:
        """The tokens that some merge makes this one of."""
        return self._makers.get(token_id, set())

    def made_with(self, token_ids: Iterable[int]) -> set[int]:
        """These tokens, those that some merge makes with them, and so on.

        Where all of them are gone and a text had none of them, it has the ids that it had: whatever merged in it was made of what
        is still there, by merges that are still there, in their old order.
        """
        return _closure(token_ids, self.users)

    def parts_of(self, token_ids: Iterable[int]) -> set[int]:
        """These tokens, those that some merge makes them of, and so on."""
        return _closure(token_ids, self.makers)


def _closure(token_ids: Iterable[int], following: Callable[[int], set[int]]) -> set[int]:
    found = set(token_ids)
    waiting = [*found]
    while waiting:
        new = following(waiting.pop()) - found
        found |= new
        waiting += new
    return found


def _pairs(spec: TokenizerSpec) -> Iterator[tuple[int, int, int]]:
    if spec.sentencepiece is None:
        vocab = spec.vocab
        yield from ((vocab[left], vocab[right], vocab[left + right]) for left, right in spec.merges)
        return
    id_of = {piece.content: number for number, piece in enumerate(spec.sentencepiece.pieces)}
    for left, right in merges_of(spec.sentencepiece).pairs:
        # A character that is no piece is in no vocabulary, so it cannot be removed.
        yield id_of.get(left, -1), id_of.get(right, -1), id_of[left + right]
