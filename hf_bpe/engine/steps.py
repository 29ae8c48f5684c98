"""How a piece is merged, one step after the other: for those who want to watch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from hf_bpe.errors import EncodingError
from hf_bpe.spec import TokenizerSpec

__all__ = ["MergeStep", "merge_steps"]


class MergeStep(NamedTuple):
    """One merge of a piece. tokens: what is there after it. pair: what was merged. rank: its place among the merges, from 0."""

    tokens: tuple[bytes, ...]
    pair: tuple[bytes, bytes] | None
    rank: int | None


def merge_steps(spec: TokenizerSpec, piece: bytes) -> list[MergeStep]:
    """What merging does to a piece of text: first the bytes it begins with, then a step for each single merge.

    The best-ranked pair is merged, the leftmost of equals; the last step has the tokens that encoding gives. A piece that the tokenizer
    takes whole without merging (`ignore_merges`) has one step. Raises `EncodingError` for a SentencePiece model, which has no ranks.

    >>> from hf_bpe.training import train
    >>> spec = train(["aaabdaaabac"], 259, pattern=None, progress=False)
    >>> for step in merge_steps(spec, b"aab"):
    ...     print(step.rank, *step.tokens)
    None b'a' b'a' b'b'
    0 b'aa' b'b'
    """
    if spec.sentencepiece is not None:
        raise EncodingError(
            "a SentencePiece model merges by scores of pieces, not by a list of merges; steps are shown of byte-level ones"
        )
    if spec.ignore_merges and piece in spec.vocab:
        return [MergeStep((piece,), None, None)]
    ranks = {pair: rank for rank, pair in enumerate(spec.merges)}
    tokens: tuple[bytes, ...] = tuple(piece[place : place + 1] for place in range(len(piece)))
    steps = [MergeStep(tokens, None, None)]
    while (place := _best(tokens, ranks)) is not None:
        pair = (tokens[place], tokens[place + 1])
        tokens = (*tokens[:place], b"".join(pair), *tokens[place + 2 :])
        steps.append(MergeStep(tokens, pair, ranks[pair]))
    return steps


def _best(tokens: Sequence[bytes], ranks: dict[tuple[bytes, bytes], int]) -> int | None:
    """Where the best-ranked pair begins."""
    found = [(ranks[pair], place) for place, pair in enumerate(pairwise(tokens)) if pair in ranks]
    return min(found)[1] if found else None
