"""`prune`: a vocabulary with fewer tokens that gives the same ids wherever a text needs none of those that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from hf_bpe.analysis.metrics.usage import count_tokens
from hf_bpe.editing.derivations import Derivations
from hf_bpe.editing.id_map import IdMap, Made
from hf_bpe.editing.selection import fixed_ids, ids_named, leaves, of_scripts
from hf_bpe.engine import Encoder
from hf_bpe.errors import EditError
from hf_bpe.pieces import Piece, SentencePieceRules
from hf_bpe.spec import TokenizerSpec
from hf_bpe.vocabulary.shown import shown_some, tokens_by_id

__all__ = ["Pruned", "prune", "without_ids"]


@dataclass(frozen=True)
class Pruned:
    """A pruned tokenizer.

    spec: without the removed tokens.
    id_map: which id became which.
    removed: old id -> the bytes of a removed token (of SentencePiece pieces as they are written, of added tokens their text).
    taken_along: those of them that nobody asked for: a merge makes them of one that goes.
    notes: what to know of the rules, such as a script that no token is of.
    """

    spec: TokenizerSpec
    id_map: IdMap
    removed: Mapping[int, bytes]
    taken_along: frozenset[int]
    notes: tuple[str, ...] = ()


def prune(
    spec: TokenizerSpec,
    tokens: Iterable[int | bytes | str] = (),
    *,
    scripts: Iterable[str] = (),
    corpus: Iterable[str] | None = None,
    min_count: int | None = None,
    unwanted: Iterable[str] | None = None,
    vocab_size: int | None = None,
    keep: Iterable[int | bytes | str] = (),
    compact: bool = True,
) -> Pruned:
    r"""Remove tokens, and with each of them those that merges make with it.

    tokens: by id, bytes or text. Added tokens go only if they are named here.
    scripts: tokens that hold a character of one of these scripts, such as "Cyrillic".
    corpus, min_count: texts, and how often a token must be used in them to stay. A token that others are made with is used wherever
        one of those is that went.
    unwanted: texts such as those of a language that is not needed. `min_count` (here by default 1) then speaks only of tokens that they
        use: what `unwanted` uses and `corpus` does not goes; what neither uses stays, with what it is made of.
    vocab_size: how many ids are left (`spec.vocab_size`): further tokens go one by one, the least used in `corpus` first, of equals the
        highest id; without a corpus the highest ids.
    keep: tokens that stay whatever these rules say, with those that they are made of.
    compact: give the tokens that are left new ids without gaps, in the old order. False: they have their old ids; in a SentencePiece model
        control pieces `<removed_17>`, which no text contains, stand in the gaps.

    **What does not change**: a text whose old ids hold no removed token has the same ids as before, renumbered by `id_map`.
    Nothing that is left becomes unreachable. Other texts have more tokens, made of the parts of those that are gone.

    Raises `EditError` for tokens that are not there, that must stay (bytes), or that `keep` needs; for a size that cannot be
    reached; and where nothing is asked for.

    >>> spec = TokenizerSpec(
    ...     vocab={bytes([b]): b for b in range(256)} | {b"ab": 256, b"abc": 257, b"de": 258},
    ...     merges=((b"a", b"b"), (b"ab", b"c"), (b"d", b"e")),
    ... )
    >>> pruned = prune(spec, ["ab"])
    >>> pruned.removed, pruned.id_map.new_id(258), sorted(pruned.taken_along)
    ({256: b'ab', 257: b'abc'}, 256, [257])
    """
    _check_texts(tokens=tokens, scripts=scripts, corpus=corpus, unwanted=unwanted, keep=keep)
    _check_numbers(spec, min_count, vocab_size, corpus)
    if unwanted is not None and corpus is None:
        raise EditError("without a corpus of what is to remain, all that unwanted texts use would go; give one as `corpus`")
    derivations = Derivations(spec)
    named = ids_named(spec, tokens)
    fixed = fixed_ids(spec) - {token.id for token in spec.added_tokens if token.id in named}
    kept = derivations.parts_of(fixed | ids_named(spec, keep))
    gone = derivations.made_with(named)
    _refuse_conflict(spec, named, gone & kept, fixed)
    by_script = of_scripts(spec, scripts)
    asked = named | (set().union(*by_script.values()) - kept)
    gone |= derivations.made_with(asked)
    taken_along = gone - asked
    by_use = _by_use(spec, corpus, unwanted, derivations, gone, kept, min_count, vocab_size)
    gone |= by_use
    notes = [f"no token holds a character of {script!r}" for script, found in by_script.items() if not found]
    if by_use and corpus is None:
        notes.append(
            f"{len(by_use):,} tokens are chosen by their ids, the highest first, as no corpus says which are used least"
        )
    if not gone:
        raise EditError(f"no token is to be removed: {'; '.join(notes) or 'no rule was given, or none applies'}")
    return replace(without_ids(spec, gone, frozenset(taken_along), compact=compact), notes=tuple(notes))


def _check_numbers(spec: TokenizerSpec, min_count: int | None, vocab_size: int | None, corpus: object) -> None:
    for name, number in {"min_count": min_count, "vocab_size": vocab_size}.items():
        if number is not None and (type(number) is not int or number < 1):
            raise EditError(f"{name} must be a whole number of at least 1, not {number!r}")
    if min_count is not None and corpus is None:
        raise EditError("min_count says how often a corpus must use a token, and there is no corpus")
    if vocab_size is not None and vocab_size > spec.vocab_size:
        raise EditError(f"vocab_size={vocab_size:,} is more than the {spec.vocab_size:,} ids there are")


def _check_texts(**arguments: object) -> None:
    for name, given in arguments.items():
        if isinstance(given, str | bytes):
            raise TypeError(f"{name} must be a collection, not the one {given!r:.60}; put it into a list")


def _refuse_conflict(spec: TokenizerSpec, named: set[int], conflict: set[int], fixed: frozenset[int]) -> None:
    if not conflict:
        return
    shown = shown_some(spec, sorted(conflict), 5)
    if conflict & named & fixed:
        raise EditError(f"these must stay, as texts are made of them or they stand for what is no token: {shown}")
    raise EditError(f"these are to be kept, but are made of tokens that are to be removed, or are among them: {shown}")


def _by_use(
    spec: TokenizerSpec,
    corpus: Iterable[str] | None,
    unwanted: Iterable[str] | None,
    derivations: Derivations,
    gone: set[int],
    kept: set[int],
    min_count: int | None,
    vocab_size: int | None,
) -> set[int]:
    """What goes for being used too little, and then for there being too many."""
    if min_count is None and unwanted is None and vocab_size is None:
        return set()
    encoder = Encoder(spec)
    counts = count_tokens(encoder, corpus or ())
    among = {*spec.vocab.values()} - kept - _last_of_their_characters(spec.sentencepiece)
    may_go = among
    if unwanted is not None:
        used = np.flatnonzero(count_tokens(encoder, unwanted)).tolist()
        may_go = among & derivations.parts_of(used)  # what the text has where its tokens have gone
    enough = min_count or (0 if unwanted is None else 1)
    further = takewhile(lambda leaf: leaf[1] < enough, leaves(counts, may_go, derivations, gone) if enough else ())
    more = {token_id for token_id, _ in further}
    if vocab_size is None:
        return more
    for token_id, _ in leaves(counts, among, derivations, gone | more):
        if spec.vocab_size - len(gone) - len(more) <= vocab_size:
            return more
        more.add(token_id)
    left = spec.vocab_size - len(gone) - len(more)
    if left > vocab_size:
        raise EditError(
            f"vocab_size={vocab_size:,} cannot be reached: {left:,} tokens must stay: bytes, added tokens, and what `keep` needs"
        )
    return more


def _last_of_their_characters(rules: SentencePieceRules | None) -> set[int]:
    """The pieces of one character where nothing else stands for it."""
    if rules is None or rules.byte_fallback:
        return set()
    return {number for number, piece in enumerate(rules.pieces) if len(piece.content) == 1}


def without_ids(spec: TokenizerSpec, gone: set[int], taken_along: frozenset[int] = frozenset(), *, compact: bool) -> Pruned:
    """The tokenizer without these ids, which no others are made with and which may go. taken_along, compact: as in `prune`."""
    token_of = tokens_by_id(spec)
    left = sorted(token_of.keys() - gone)
    new_ids = {old: new for new, old in enumerate(left)} if compact else {old: old for old in left}
    tokens = tuple(replace(token, id=new_ids[token.id]) for token in spec.added_tokens if token.id in new_ids)
    removed = {token_id: token_of[token_id] for token_id in sorted(gone)}
    provenance = {**spec.provenance, "pruned": f"{len(gone):,} of {spec.vocab_size:,} tokens removed"}
    if spec.sentencepiece is None:
        vocab = {token: new_ids[token_id] for token, token_id in spec.vocab.items() if token_id in new_ids}
        merges = tuple(pair for pair in spec.merges if pair[0] + pair[1] in vocab)
        new = spec.replace(
            vocab=vocab, merges=merges, ignore_merges=spec.ignore_merges, added_tokens=tokens, provenance=provenance
        )
    else:
        rules = _without_pieces(spec.sentencepiece, gone, new_ids, compact)
        new = spec.replace(sentencepiece=rules, added_tokens=tokens, provenance=provenance)
    stand_ins = (
        {} if compact or spec.sentencepiece is None else {old: Made("mean", (old,)) for old in gone}
    )  # rows as they were
    return Pruned(new, IdMap(spec.n_vocab, new.n_vocab, new_ids, gone, stand_ins), removed, taken_along)


def _without_pieces(rules: SentencePieceRules, gone: set[int], new_ids: Mapping[int, int], compact: bool) -> SentencePieceRules:
    lost = gone & _last_of_their_characters(rules)
    if lost:
        raise EditError(
            f"without the piece {rules.pieces[min(lost)].content!r} the character would become the unknown piece; the model has no byte "
            "fallback"
        )
    if compact:
        pieces = tuple(piece for number, piece in enumerate(rules.pieces) if number not in gone)
    else:
        pieces = tuple(
            Piece(f"<removed_{number}>", kind="control") if number in gone else piece
            for number, piece in enumerate(rules.pieces)
        )
    bos, eos, pad = (new_ids.get(-1 if old is None else old) for old in (rules.bos_id, rules.eos_id, rules.pad_id))
    return replace(rules, pieces=pieces, bos_id=bos, eos_id=eos, pad_id=pad)
