"""What the formats share whose merges follow from ranks, because tiktoken runs them: rank files, plugins of tiktoken, tekken.json."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Any

from conversion.equality import usable_vocab
from conversion.format import make_spec
from conversion.merges import recover_merges
from conversion.overlaps import two_passes
from conversion.sidecar import Sidecar
from conversion.verdict import Checks
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["MERGED_BY_ID", "check_ranks", "flag_conflict", "rank_conflict", "spec_of_ranks", "special_conflict"]

MERGED_BY_ID = "merging by id is merging by the list of merges, and finds no token that merging does not make"


def spec_of_ranks(where: str, vocab: dict[bytes, int], sidecar: Sidecar | None, **fields: Any) -> TokenizerSpec:
    """The tokenizer of a table whose ids are in the order of ranks.

    A sidecar says which merges there are, if not those that the table implies, and whether whole pieces are looked up first.
    Without one they are exactly where it matters, since tiktoken always does.
    """
    merges, unreachable = recover_merges(sorted(vocab, key=vocab.__getitem__))
    stated = sidecar.merged_tokens(vocab, where) if sidecar else None
    return make_spec(
        where,
        vocab=vocab,
        merges=merges if stated is None else stated,
        ignore_merges=sidecar.ignore_merges if sidecar else bool(unreachable),
        **(sidecar.normalisation if sidecar else {}),
        **fields,
    )


def rank_conflict(spec: TokenizerSpec) -> str | None:
    """Why merging by id is not merging by this list of merges, or None where it is on every input.

    It is the same where the pairs stand in the order of what they make and every pair that the table implies is among them;
    further pairs that make the same tokens another way change nothing, since their parts never meet.
    """
    vocab = usable_vocab(spec)
    implied, unreachable = recover_merges(sorted(vocab, key=vocab.__getitem__))
    if unreachable and not spec.ignore_merges:
        token = unreachable[0]
        return f"no merge makes {token!r} (id {vocab[token]}), and tiktoken would find it where it is a whole piece"
    if implied == spec.merges:
        return None
    for earlier, later in pairwise(spec.merges):
        if vocab[b"".join(earlier)] > vocab[b"".join(later)]:
            return f"{_shown(earlier, vocab)} merges before {_shown(later, vocab)}, and tiktoken merges in the order of ids"
    stated = set(spec.merges)
    lacking = next((pair for pair in implied if pair not in stated), None)
    return lacking and f"tiktoken would merge {_shown(lacking, vocab)}, which is not among the merges"


def check_ranks(spec: TokenizerSpec, checks: Checks) -> None:
    """Note whether merging by id is merging by this list of merges."""
    checks.expect(MERGED_BY_ID, rank_conflict(spec), lambda: _where_ranks_show(spec))


def _where_ranks_show(spec: TokenizerSpec) -> Iterator[str]:
    """Texts of two merges that reach into each other, one of which stands where its id would not put it."""
    out_of_place: set[tuple[bytes, bytes]] = set()
    for earlier, later in pairwise(spec.merges):
        if spec.vocab[b"".join(earlier)] > spec.vocab[b"".join(later)]:
            out_of_place |= {earlier, later}
    after: defaultdict[bytes, list[bytes]] = defaultdict(list)
    before: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for left, right in spec.merges if out_of_place else ():
        after[left].append(right)
        before[right].append(left)
    for left, right in sorted(out_of_place):
        for outer in chain((left + right + end for end in after[right]), (start + left + right for start in before[left])):
            yield outer.decode(errors="ignore")


def special_conflict(tokens: Iterable[AddedToken]) -> str | None:
    """Why tiktoken cannot match these added tokens as they are matched here, or None."""
    tokens = list(tokens)
    flags = flag_conflict(tokens)
    if flags:
        return flags
    contents = sorted(token.content for token in tokens)
    for shorter, longer in pairwise(contents):  # sorted, so a prefix stands right before one of the texts it begins
        if longer.startswith(shorter):
            return f"the special token {shorter!r} begins {longer!r}, and tiktoken takes either where the longer one stands"
    return None


def flag_conflict(tokens: Iterable[AddedToken]) -> str | None:
    """Why added tokens are not simply special tokens found by their text, leftmost first, or None."""
    tokens = list(tokens)
    for token in tokens:
        if not token.special:
            return f"the added token {token.content!r} is always matched, and only special tokens can be stated"
        if token.single_word or token.lstrip or token.rstrip:
            return f"the added token {token.content!r} has lstrip, rstrip or single_word, which cannot be stated"
    overlapping = two_passes(tokens)
    return overlapping and (
        f"the added tokens {overlapping[0]!r} and {overlapping[1]!r} can overlap, and the first, which is not normalized, is always "
        "found before the second, which is; that cannot be stated"
    )


def _shown(pair: tuple[bytes, bytes], vocab: dict[bytes, int]) -> str:
    return f"{pair[0]!r} + {pair[1]!r} (making id {vocab[pair[0] + pair[1]]})"
