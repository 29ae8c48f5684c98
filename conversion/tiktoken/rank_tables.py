"""What the formats share whose merges follow from ranks, because tiktoken runs them: rank files, plugins of tiktoken, tekken.json."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from conversion.equality import usable_vocab
from conversion.format import make_spec
from conversion.merges import recover_merges
from conversion.sidecar import Sidecar
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["flag_conflict", "rank_conflict", "spec_of_ranks", "special_conflict"]


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


def special_conflict(tokens: Iterable[AddedToken]) -> str | None:
    """Why tiktoken cannot match these added tokens as they are matched here, or None."""
    flags = flag_conflict(tokens)
    if flags:
        return flags
    contents = sorted(token.content for token in tokens)
    for shorter, longer in pairwise(contents):  # sorted, so a prefix stands right before one of the texts it begins
        if longer.startswith(shorter):
            return f"the special token {shorter!r} begins {longer!r}, and tiktoken takes either where the longer one stands"
    return None


def flag_conflict(tokens: Iterable[AddedToken]) -> str | None:
    """The first added token that is more than a special token found by its text, or None."""
    for token in tokens:
        if not token.special:
            return f"the added token {token.content!r} is always matched, and only special tokens can be stated"
        if token.single_word or token.lstrip or token.rstrip:
            return f"the added token {token.content!r} has lstrip, rstrip or single_word, which cannot be stated"
    return None


def _shown(pair: tuple[bytes, bytes], vocab: dict[bytes, int]) -> str:
    return f"{pair[0]!r} + {pair[1]!r} (making id {vocab[pair[0] + pair[1]]})"
