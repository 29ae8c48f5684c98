"""What the end of a text can become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hf_bpe.borders.search import Search
from hf_bpe.borders.stable import stable_part
from hf_bpe.engine import Encoder, SpecialTokens
from hf_bpe.errors import BorderError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.streaming.added import AddedTokens

__all__ = ["Completions", "encode_with_completions"]


@dataclass(frozen=True)
class Completions:
    """What a text can become when more text follows.

    stable: the ids with which the encoding of every longer text begins.
    rest: the text behind them.
    sequences: the runs of ids that come next, each just long enough to cover the rest -> a text that, put behind, makes it so. No
        longer text is encoded in another way, and each of these ways is taken by some.

    >>> Completions([1], "a", {(97,): "", (300,): "b"}).next_ids()
    [97, 300]
    """

    stable: list[int]
    rest: str
    sequences: dict[tuple[int, ...], str]

    def next_ids(self, chosen: Sequence[int] = ()) -> list[int]:
        """The ids that can follow the stable ones and `chosen`, while the rest is not covered; then none."""
        done = tuple(chosen)
        return sorted({ids[len(done)] for ids in self.sequences if len(ids) > len(done) and ids[: len(done)] == done})


def encode_with_completions(
    encoder: Encoder, text: str, *, allowed_special: SpecialTokens = (), limit: int = 200_000
) -> Completions:
    """The stable ids of a text, and all that its end can become.

    Special tokens that are not allowed are text, as with `disallowed_special=()`. It costs about 20 us for each token that begins with one
    of the ends of the rest: a whole vocabulary of words where the text ends with a space, a handful behind a few letters.

    limit: how many runs to look at before giving up. Raises `BorderError` beyond it, and for tokenizers of which this cannot be proved:
    besides those of `stable_part`, with normalizers, stages, patterns that leave text out, added tokens that take white space along; and,
    of SentencePiece models, those that remove spaces or have user-defined or unused pieces.

    >>> from hf_bpe import TokenizerSpec
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    >>> encoder = Encoder(TokenizerSpec(vocab=vocab, merges=((b"a", b"b"),), pattern=r"\\w+|\\W"))
    >>> encode_with_completions(encoder, "c a").sequences
    {(97,): '', (256,): 'b'}
    """
    added = AddedTokens(encoder.spec, *encoder.special_sets(allowed_special, ()))
    _check(encoder.spec, added)
    stable, rest = stable_part(encoder, text, allowed_special=allowed_special)
    if not rest:
        return Completions(stable, rest, {(): ""})
    return Completions(stable, rest, Search(encoder, added, allowed_special, rest, limit).run())


def _check(spec: TokenizerSpec, added: AddedTokens) -> None:
    rules = spec.sentencepiece
    if rules is not None:
        plain = not rules.remove_extra_whitespaces and all(p.kind not in ("user_defined", "unused") for p in rules.pieces)
    else:
        plain = spec.unmatched == "keep" and not (spec.normalizer or spec.add_prefix_space or spec.stages)
    if not plain or any(t.lstrip or t.rstrip or t.normalized for t in added.matched):
        raise BorderError(
            "the completions of this tokenizer are not known exactly: it normalises, splits in stages, leaves text out, removes spaces, has "
            "user-defined or unused pieces, or added tokens with lstrip, rstrip or normalized. stable_part and heal need less"
        )
