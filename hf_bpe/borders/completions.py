"""What the end of a text can become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hf_bpe.borders.search import Search
from hf_bpe.borders.stable import stable_part
from hf_bpe.borders.supported import check_encoder, obstacle_to_completions
from hf_bpe.engine import Encoder, SpecialTokens
from hf_bpe.errors import BorderError
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
    encoder: Encoder,
    text: str,
    *,
    allowed_special: SpecialTokens | None = None,
    disallowed_special: SpecialTokens | None = None,
    limit: int = 1_000_000,
) -> Completions:
    """The stable ids of a text, and all that its end can become.

    Special tokens are as in `Encoder.encode`; one that raises does so in the text itself, and is text in what may follow. It costs
    about 20 us for each token that begins with one of the ends of the rest: a whole vocabulary of words where the text ends with a
    space, a handful behind a few letters. The rest is merged again for each of its last
    places and encoded again for each run, so a long one costs more: 10 s behind 1,000 spaces.

    limit: how many tokens and pairs of tokens to look at before giving up; more than there are runs. Raises `ValueError` for what is no such number; `BorderError` beyond it, and for
    tokenizers of which this cannot be proved, with the one reason: besides those of `stable_part`, with normalizers, stages, patterns that
    leave text out, added tokens that take white space along; and, of SentencePiece models, those that remove spaces or have
    user-defined or unused pieces. Raises what `Encoder.encode` does.

    >>> from hf_bpe import TokenizerSpec
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    >>> encoder = Encoder(TokenizerSpec(vocab=vocab, merges=((b"a", b"b"),), pattern=r"\\w+|\\W"))
    >>> encode_with_completions(encoder, "c a").sequences
    {(97,): '', (256,): 'b'}
    """
    check_encoder(encoder)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise ValueError(f"limit must be how many tokens to look at, an int of at least 1, not {limit!r}")
    allowed, _ = encoder.special_sets(allowed_special, disallowed_special)
    added = AddedTokens(encoder.spec, allowed, ())
    obstacle = obstacle_to_completions(encoder.spec, added)
    if obstacle is not None:
        raise BorderError(
            f"the completions of this tokenizer are not known exactly: {obstacle}. stable_part and heal need less"
        )
    stable, rest = stable_part(encoder, text, allowed_special=allowed_special, disallowed_special=disallowed_special)
    if not rest:
        return Completions(stable, rest, {(): ""})
    return Completions(stable, rest, Search(encoder, added, allowed, rest, limit).run())
