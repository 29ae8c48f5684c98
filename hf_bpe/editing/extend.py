"""`extend`: more tokens, learnt from a corpus on top of those that are there, whose ids and merges stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import regex

from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe.editing.id_map import IdMap
from hf_bpe.editing.matching import id_map_between
from hf_bpe.editing.new_pieces import Habits, habits_of, scores_below, sets_free
from hf_bpe.editing.symbols import SymbolWords
from hf_bpe.engine import Encoder
from hf_bpe.engine.backends import EngineName
from hf_bpe.errors import EditError
from hf_bpe.pieces import SPACE_SYMBOL, Piece, SentencePieceRules
from hf_bpe.spec import TokenizerSpec
from hf_bpe.training.corpus import Corpus, inputs_of, lines_of
from hf_bpe.training.counting.rules import CountRules
from hf_bpe.training.counting.word_counts import WordCounts

__all__ = ["Extended", "extend"]


@dataclass(frozen=True)
class Extended:
    """An extended tokenizer.

    id_map: every old id is kept, the new ones are to be made. learnt: the new tokens, by id. habits: of a SentencePiece model, what
    its new pieces are not; None for a byte-level tokenizer, whose pattern splits text.
    """

    spec: TokenizerSpec
    id_map: IdMap
    learnt: dict[int, bytes]
    habits: Habits | None = None


def extend(
    spec: TokenizerSpec,
    corpus: Corpus,
    tokens: int,
    *,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    split_digits: bool | None = None,
    split_by_unicode_script: bool | None = None,
    text_field: str = "text",
    num_threads: int | None = None,
    progress: bool = True,
    engine: EngineName = "auto",
) -> Extended:
    """Go on training: learn so many tokens from a corpus, with the ids after the largest. What is there stays as it is.

    corpus: what `hf_bpe.train` takes, or `WordCounts` made with the tokenizer's own rules (byte-level only). text_field: its
    column. min_frequency, max_token_length (bytes): as in `hf_bpe.train`.
    split_digits, split_by_unicode_script: for SentencePiece models, as in SentencePiece's trainer: whether digits stay alone, and
        characters of several scripts (punctuation being one) apart. By default as in the vocabulary: a rule that no piece of it breaks is
        kept.

    Each word is encoded as before, and then the most frequent pairs of ids are merged. In a text each new merge comes after all old
    ones; so its ids are the old ones, some runs of them joined to new ids. (Where pieces are looked up as a whole first, as in
    Llama 3, a new token that is a whole piece is found in that way, too.) New pieces of a SentencePiece model never cross spaces.

    Raises `EditError` for a number that is none or cannot be reached, for what `WordCounts` of other rules say, and for rules of
    SentencePiece where there is a pattern;
    `CorpusError` for a corpus that cannot be read.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)} | {b"ab": 256}, merges=((b"a", b"b"),))
    >>> extended = extend(spec, ["abcabc"], 1, progress=False)
    >>> extended.spec.merges, extended.learnt
    (((b'a', b'b'), (b'ab', b'c')), {257: b'abc'})
    """
    if type(tokens) is not int or tokens < 1:
        raise EditError(f"tokens must be how many to learn, a whole number of at least 1, not {tokens!r}")
    rules = spec.sentencepiece
    habits = _habits(spec, {"split_digits": split_digits, "split_by_unicode_script": split_by_unicode_script})
    if rules is None:
        words = _words(
            spec, corpus, {"text_field": text_field, "num_threads": num_threads, "progress": progress, "engine": engine}
        )
    else:
        words = _pieces(spec, rules, corpus, text_field)
    options: dict[str, Any] = {"min_frequency": min_frequency, "engine": engine, "progress": progress}
    merges = words.learn(tokens, spec.n_vocab, _forbids(spec, max_token_length, habits), **options)
    if len(merges) < tokens:
        raise EditError(
            f"only {len(merges):,} of {tokens:,} tokens can be learnt: no further pair that may be a token occurs {min_frequency} times; "
            "give more text, or lower min_frequency"
        )
    bytes_of = _contents(spec)
    learnt: dict[int, bytes] = {}
    pairs = []
    for new_id, (left, right) in enumerate(merges, spec.n_vocab):
        pairs.append((bytes_of[left], bytes_of[right]))
        learnt[new_id] = bytes_of[new_id] = bytes_of[left] + bytes_of[right]
    provenance = {**spec.provenance, "extended": f"{len(learnt):,} tokens learnt"}
    if rules is None:
        vocab = spec.vocab | {token: new_id for new_id, token in learnt.items()}  # type: ignore[operator]
        fields = {"vocab": vocab, "merges": (*spec.merges, *pairs), "ignore_merges": spec.ignore_merges}
        new = spec.replace(**fields, provenance=provenance)
    else:
        new = spec.replace(sentencepiece=_with_pieces(spec, rules, learnt), provenance=provenance)
    return Extended(new, id_map_between(spec, new), learnt, habits)


def _contents(spec: TokenizerSpec) -> dict[int, bytes]:
    return {token_id: token for token, token_id in spec.vocab.items()}


def _habits(spec: TokenizerSpec, given: Mapping[str, bool | None]) -> Habits | None:
    """What new pieces are not: as given, else as those that merges make are not. Added tokens, which may hold anything, do not count."""
    asked = {name: value for name, value in given.items() if value is not None}
    if spec.sentencepiece is None:
        if asked:
            raise EditError(f"{' and '.join(asked)}: only for SentencePiece models; this tokenizer's pattern splits text")
        return None
    added = {token.content for token in spec.added_tokens}
    made = (left + right for left, right in merges_of(spec.sentencepiece).pairs)
    return replace(habits_of(piece for piece in made if piece not in added), **asked)


def _forbids(spec: TokenizerSpec, longest: int | None, habits: Habits | None) -> Callable[[Sequence[int]], bool]:
    """What says of a run of old ids that it shall be no token: one that is there, is too long, has a part that merges with
    nothing, would have another piece made, or is what no piece of the vocabulary is.
    """
    bytes_of = _contents(spec)
    known = {*spec.vocab, *(token.content.encode() for token in spec.added_tokens)}
    pieces = spec.sentencepiece.pieces if spec.sentencepiece is not None else ()
    alone = {number for number, piece in enumerate(pieces) if piece.kind != "normal"}
    frees = sets_free(spec.sentencepiece) if spec.sentencepiece is not None else lambda content: None

    def forbids(ids: Sequence[int]) -> bool:
        content = b"".join([bytes_of[token_id] for token_id in ids])
        if content in known or (longest is not None and len(content) > longest) or not alone.isdisjoint(ids):
            return True
        text = content.decode("utf-8", "replace")
        return frees(text) is not None or (habits is not None and habits.broken_by(text))

    return forbids


# -- what is counted --------------------------------------------------------------------------------------------------


def _words(spec: TokenizerSpec, corpus: Corpus, options: dict[str, Any]) -> SymbolWords:
    rules = CountRules.from_spec(spec, [token.content for token in spec.added_tokens])
    if isinstance(corpus, WordCounts):
        found = corpus.rules.differences(rules)
        if found:
            raise EditError("the words were counted in another way than this tokenizer splits text:\n  " + "\n  ".join(found))
        counts = corpus
    else:
        given = {name: getattr(rules, name) for name in ("pattern", "stages", "unmatched", "normalizer", "add_prefix_space")}
        counts = WordCounts.count(corpus, **given, special_tokens=rules.special_tokens, **options)
    encoder = Encoder(spec)
    return SymbolWords((encoder.encode_piece(word), times) for word, times in counts.words().items())


_WORDS = {
    suffix: regex.compile(word.replace("_", f"{SPACE_SYMBOL} "))  # a space is one where the model does not escape them
    for suffix, word in {False: "[_][^_]*|[^_]+", True: "[^_]*[_]|[^_]+"}.items()
}
"""Words, by whether spaces stand behind them."""


def _pieces(spec: TokenizerSpec, rules: SentencePieceRules, corpus: Corpus, text_field: str) -> SymbolWords:
    """Words of a SentencePiece model: from one space to the next, in text as it normalises it."""
    if isinstance(corpus, WordCounts):
        raise EditError("a SentencePiece model counts other words than WordCounts holds; give the corpus itself")
    encoder, word = Encoder(spec), _WORDS[rules.treat_whitespace_as_suffix]
    counts: Counter[str] = Counter()
    for line in lines_of(inputs_of(corpus, field=text_field, separator=b"\n")):
        for part in encoder.pretokenize(line.decode("utf-8", "replace")):
            counts.update(word.findall(part))
    as_they_are = replace(rules, prepend_scheme="never", remove_extra_whitespaces=False)
    alone = Encoder(spec.replace(sentencepiece=as_they_are, added_tokens=()))
    return SymbolWords((alone.encode_ordinary(word), times) for word, times in counts.items())


def _with_pieces(spec: TokenizerSpec, rules: SentencePieceRules, learnt: dict[int, bytes]) -> SentencePieceRules:
    """The pieces with new ones behind, whose scores are lower than all others. Ids in between that are no pieces become control pieces."""
    names = {token.id: token.content for token in spec.added_tokens}
    between = [Piece(names.get(n, f"<gap_{n}>"), kind="control") for n in range(len(rules.pieces), spec.n_vocab)]
    new = [Piece(content.decode(), score) for content, score in zip(learnt.values(), scores_below(rules), strict=False)]
    return replace(rules, pieces=(*rules.pieces, *between, *new))
