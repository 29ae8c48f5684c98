"""How much a lossy conversion loses: the smallest text that shows it, and the share of texts that do."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from conversion.format import AsRun
from conversion.nasty_strings import nasty_strings
from conversion.sentencepiece.piece_merges import user_defined
from conversion.shrinking import shrink
from conversion.verdict import Counterexample, Loss, Rate
from conversion.verification.corpus import read_corpus
from hf_bpe.batching import batched
from hf_bpe.corpus.sources import Paths
from hf_bpe.engine import Encoder
from hf_bpe.pieces import SPACE_SYMBOL
from hf_bpe.spec import TokenizerSpec

__all__ = ["measure"]

_GENERATED = 4000
_SPELLED_OUT = 200
"""Added tokens at most that the built-in strings spell: tekken.json has 1,000, all treated alike."""
_MOST_SUSPECTS = 50_000
_MOST_CANDIDATES = 400_000
_BATCH_CHARACTERS = 1 << 18
_SHRINKING_EFFORT = 1_000_000


def measure(spec: TokenizerSpec, target: AsRun, suspects: Iterable[str] = (), corpus: Paths | None = None) -> Loss:
    """What is lost when `target` is run in place of the spec.

    suspects: texts that may show it. corpus: text files of the caller's, read document by document.
    """
    found_first = [token.content for token in spec.added_tokens] + (
        user_defined(spec.sentencepiece) if spec.sentencepiece else []
    )
    documents = read_corpus(corpus or ())
    builtin = [*nasty_strings(found_first[:_SPELLED_OUT]), *_generated(spec)]
    pair = _Pair(spec, target)
    rate = pair.rate(builtin)
    return Loss(
        run_by=target.by,
        smallest=pair.smallest(chain(islice(suspects, _MOST_SUSPECTS), _texts_of_tokens(spec), builtin)),
        builtin=rate,
        corpus=None if corpus is None else pair.rate(document.text for document in documents),
    )


class _Pair:
    """Two tokenizers, and the texts on which they differ: with special tokens as plain text, or looked for as special."""

    def __init__(self, spec: TokenizerSpec, target: AsRun) -> None:
        self._special = list(spec.special_tokens)
        self._source, self._target = (_encode(tokenizer, self._special) for tokenizer in (spec, target.tokenizer))

    def rate(self, texts: Iterable[str]) -> Rate:
        """How many differ."""
        total = differing = 0
        for batch in batched(texts, len, _BATCH_CHARACTERS):
            total += len(batch)
            differing += len({number for number, _ in self._differences(batch)})
        return Rate(total, differing)

    def smallest(self, candidates: Iterable[str]) -> Counterexample | None:
        """The shortest candidate that differs, made shorter still."""
        for batch in batched(sorted(set(islice(candidates, _MOST_CANDIDATES)), key=_simplest_first), len, _BATCH_CHARACTERS):
            found = min(self._differences(batch), default=None)
            if found is not None:
                number, as_special = found
                return self._made_smaller(batch[number], as_special)
        return None

    def _made_smaller(self, text: str, as_special: bool) -> Counterexample:
        def ids(text: str) -> list[tuple[int, ...]]:
            return [tuple(encode([text], as_special)[0]) for encode in (self._source, self._target)]

        def differs(text: str) -> bool:
            ours, theirs = ids(text)
            return ours != theirs

        text = shrink(text, differs, _SHRINKING_EFFORT)
        return Counterexample(text, as_special, *ids(text))

    def _differences(self, texts: Sequence[str]) -> Iterator[tuple[int, bool]]:
        """(number of the text, whether special tokens are looked for in it) of those that differ."""
        spelling = [number for number, text in enumerate(texts) if any(token in text for token in self._special)]
        for as_special, chosen in ((False, range(len(texts))), (True, spelling)):
            some = [texts[number] for number in chosen]
            both = zip(chosen, self._source(some, as_special), self._target(some, as_special), strict=True)
            yield from ((number, as_special) for number, ours, theirs in both if ours != theirs)


def _encode(
    tokenizer: TokenizerSpec | Callable[[Sequence[str], bool], list[list[int]]], special: Iterable[str]
) -> Callable[[Sequence[str], bool], list[list[int]]]:
    if not isinstance(tokenizer, TokenizerSpec):
        return tokenizer
    encoder = Encoder(tokenizer)
    known = tokenizer.special_tokens.keys() & set(special)

    def encode(texts: Sequence[str], as_special: bool) -> list[list[int]]:
        return encoder.encode_batch(texts, allowed_special=known if as_special else (), disallowed_special=())

    return encode


def _simplest_first(text: str) -> tuple[int, int, str]:
    return len(text), sum(not character.isalnum() for character in text), text


def _texts_of_tokens(spec: TokenizerSpec) -> Iterator[str]:
    """What each token stands for, as far as that is text."""
    for token in spec.vocab:
        text = token.decode(errors="ignore")
        yield text.replace(SPACE_SYMBOL, " ") if spec.sentencepiece else text


def _generated(spec: TokenizerSpec) -> list[str]:
    """Tokens in a row, always the same for one spec."""
    draw = random.Random(0)  # noqa: S311
    tokens = list(spec.vocab)
    rows = [b"".join(draw.choices(tokens, k=draw.randint(1, 12))).decode(errors="ignore") for _ in range(_GENERATED)]
    return [row.replace(SPACE_SYMBOL, " ") for row in rows] if spec.sentencepiece else rows
