"""`replace_tokens`: ids of ordinary tokens given to others, which stand in their places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hf_bpe.editing.derivations import Derivations
from hf_bpe.editing.id_map import IdMap
from hf_bpe.editing.new_pieces import scores_below, sets_free
from hf_bpe.editing.prune import without_ids
from hf_bpe.editing.selection import fixed_ids, ids_named
from hf_bpe.engine import Encoder
from hf_bpe.errors import EditError, some
from hf_bpe.pieces import SPACE_SYMBOL, Piece
from hf_bpe.spec import TokenizerSpec
from hf_bpe.vocabulary.findings import UNREACHED, findings_of_token
from hf_bpe.vocabulary.shown import shown_some, tokens_by_id

__all__ = ["Replaced", "replace_tokens"]


@dataclass(frozen=True)
class Replaced:
    """A tokenizer with other tokens in the places of some.

    id_map: these ids are gone and are to be made; all others are kept. replaced: id -> the token that had it, and the one that has it.
    """

    spec: TokenizerSpec
    id_map: IdMap
    replaced: Mapping[int, tuple[bytes, bytes]]


def replace_tokens(spec: TokenizerSpec, tokens: Mapping[int | bytes | str, bytes | str]) -> Replaced:
    """Give the ids of tokens to other tokens, such as those of glitch tokens to words of a new domain. No other id changes.

    tokens: the token that goes, by id, bytes or text, -> the one that comes, by bytes or text. That is merged of two tokens, when
    nothing else can be merged any more; where it takes more than two, those in between have to come as well.

    **What does not change**: a text whose old ids hold none of the tokens that go, and whose new ids none of those that come, has the
    same ids.

    Raises `EditError` for tokens that are not there, that others are made of, or that must stay; for new ones that are there already,
    that no text can have, or that are not made of two.

    >>> spec = TokenizerSpec(
    ...     vocab={bytes([b]): b for b in range(256)} | {b"ab": 256, b"de": 257}, merges=((b"a", b"b"), (b"d", b"e"))
    ... )
    >>> replaced = replace_tokens(spec, {"de": "abc"})
    >>> replaced.spec.merges, replaced.spec.vocab[b"abc"]
    (((b'a', b'b'), (b'ab', b'c')), 257)
    """
    wanted = _wanted(spec, tokens)
    _refuse_what_must_stay(spec, {*wanted})
    left = without_ids(spec, {*wanted}, compact=False).spec
    pairs = _pairs(left, wanted)
    new = _with_tokens(spec, left, wanted, pairs)
    _refuse_unreachable(new, wanted)
    old = tokens_by_id(spec)
    kept = {token_id: token_id for token_id in spec.used_ids.difference(wanted)}
    id_map = IdMap(spec.n_vocab, new.n_vocab, kept, wanted, dict.fromkeys(wanted))
    return Replaced(new, id_map, {token_id: (old[token_id], token) for token_id, token in sorted(wanted.items())})


def _wanted(spec: TokenizerSpec, tokens: Mapping[int | bytes | str, bytes | str]) -> dict[int, bytes]:
    """Id -> the token that is to have it."""
    if not tokens:
        raise EditError("no token is to be replaced: name one, and what comes in its place")
    found: dict[int, bytes] = {}
    for old, new in tokens.items():
        (token_id,) = ids_named(spec, [old])
        if token_id in found:
            raise EditError(f"two tokens are to come in the place of {shown_some(spec, [token_id])}; name one")
        found[token_id] = _content(spec, new)
    twice = {token for token in found.values() if [*found.values()].count(token) > 1}
    there = [token for token in found.values() if not token or spec.token_id(token) is not None]
    if twice or there:
        raise EditError(
            f"each new token must be one that is not there yet, and come once: {some(list(map(repr, [*there, *twice])))}"
        )
    return found


def _content(spec: TokenizerSpec, token: bytes | str) -> bytes:
    if not isinstance(token, bytes | str):
        raise TypeError(f"a new token is given by its bytes or its text, not as {token!r:.80}")
    try:
        text = token.decode() if isinstance(token, bytes) and spec.sentencepiece is not None else token
        if isinstance(text, bytes):
            return text
        return (text if spec.sentencepiece is None else text.replace(" ", SPACE_SYMBOL)).encode()
    except UnicodeError:
        raise EditError(f"{token!r} is no text that UTF-8 can hold; give whole characters") from None


def _refuse_what_must_stay(spec: TokenizerSpec, ids: set[int]) -> None:
    fixed = ids & fixed_ids(spec)
    if fixed & {token.id for token in spec.added_tokens}:
        raise EditError(
            f"added tokens are renamed, which leaves them their rows (hf-bpe rename): {shown_some(spec, sorted(fixed))}"
        )
    if fixed:
        raise EditError(f"these must stay, as texts are made of them: {shown_some(spec, sorted(fixed))}")
    made = Derivations(spec).made_with(ids) - ids
    if made:
        raise EditError(
            f"other tokens are made of those that are to go: {shown_some(spec, sorted(made))}; replace these as well, or choose tokens "
            "that no others are made of"
        )


def _pairs(left: TokenizerSpec, wanted: Mapping[int, bytes]) -> dict[int, tuple[bytes, bytes]]:
    """The two tokens that each new one is merged of, in the order of the merges: short ones first, as others may be made of them.

    New merges come after all old ones. So what a text becomes is what the old ones make of it, and then the new ones by rank.
    """
    runs = _runs(left, wanted)
    found: dict[int, tuple[bytes, bytes]] = {}
    for token_id in sorted(wanted, key=lambda i: len(runs[i])):
        run = runs[token_id]
        for pair in found.values():
            run = _joined(run, pair)
        if len(run) != 2:
            raise EditError(
                f"{wanted[token_id]!r} is merged of {len(run)} tokens, {' '.join(map(repr, run))}, and a merge joins two"
                + (f"; put {_steps(run)} in the place of other tokens as well" if len(run) > 2 else "")
            )
        found[token_id] = (run[0], run[1])
    return found


def _runs(left: TokenizerSpec, wanted: Mapping[int, bytes]) -> dict[int, list[bytes]]:
    """The tokens that each new one consists of now."""
    tokens = tokens_by_id(left)
    rules = left.sentencepiece
    if rules is None:
        encoder = Encoder(left)
        ids = {token_id: encoder.encode_piece(token) for token_id, token in wanted.items()}
    else:
        as_they_are = replace(rules, prepend_scheme="never", remove_extra_whitespaces=False)
        encoder = Encoder(left.replace(sentencepiece=as_they_are, added_tokens=()))
        ids = {token_id: encoder.encode_ordinary(token.decode()) for token_id, token in wanted.items()}
    return {token_id: [tokens[part] for part in run] for token_id, run in ids.items()}


def _joined(run: Sequence[bytes], pair: tuple[bytes, bytes]) -> list[bytes]:
    """The run with every such pair joined, from the left."""
    joined: list[bytes] = []
    for part in run:
        if joined and (joined[-1], part) == pair:
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _steps(run: Sequence[bytes]) -> str:
    return some([repr(b"".join(run[:stop])) for stop in range(2, len(run))])


def _with_tokens(
    spec: TokenizerSpec, left: TokenizerSpec, wanted: Mapping[int, bytes], pairs: Mapping[int, tuple[bytes, bytes]]
) -> TokenizerSpec:
    provenance = {**spec.provenance, "replaced": f"{len(wanted):,} tokens have the ids of others"}
    rules = left.sentencepiece
    if rules is None:
        vocab = {**left.vocab, **{token: token_id for token_id, token in wanted.items()}}
        merges = (*left.merges, *pairs.values())
        return left.replace(vocab=vocab, merges=merges, ignore_merges=left.ignore_merges, provenance=provenance)
    pieces, frees = list(rules.pieces), sets_free(rules)
    for token_id, score in zip(pairs, scores_below(rules), strict=False):
        content = wanted[token_id].decode()
        freed = frees(content)
        if freed is not None:
            raise EditError(f"{content!r} is part of the piece {freed!r}, which no merge makes now, and one might make then")
        pieces[token_id] = Piece(content, score)
    return left.replace(sentencepiece=replace(rules, pieces=tuple(pieces)), provenance=provenance)


def _refuse_unreachable(new: TokenizerSpec, ids: Iterable[int]) -> None:
    encoder = Encoder(new)
    found = {token_id: findings_of_token(encoder, token_id) for token_id in ids}
    odd = [token_id for token_id, findings in found.items() if not UNREACHED.isdisjoint(findings)]
    if odd:
        reasons = sorted({finding for token_id in odd for finding in found[token_id]} & UNREACHED)
        raise EditError(f"no text would have these new tokens ({', '.join(reasons)}): {shown_some(new, odd)}")
