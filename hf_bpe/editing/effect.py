"""What an edit does to the ids of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hf_bpe.batching import batched
from hf_bpe.engine import Encoder

__all__ = ["Change", "Effect", "effect_on"]

_BATCH_CHARACTERS = 1 << 22
_SHOWN = 60
"""Characters of a text in an example."""


@dataclass(frozen=True)
class Change:
    """The first place where a text has other ids: the text from there on, and the tokens, to where both meet again or the text ends."""

    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    def is_like(self, other: Change) -> bool:
        """Whether the same tokens became the same tokens."""
        return (self.before, self.after) == (other.before, other.after)


@dataclass
class Effect:
    """What an edit does to the texts of a corpus.

    texts, changed: how many there are, and how many have other ids than before (those of tokens that only got another number are the
        same). tokens_before, tokens_after: ids in all. examples: the first few changes, each of another kind.
    """

    texts: int = 0
    changed: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    examples: list[Change] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """For JSON.

        >>> Effect(10, 1, 100, 103).to_dict()["changed"]
        1
        """
        return asdict(self)

    def summary(self) -> str:
        """In one line.

        >>> Effect(10, 1, 100, 103).summary()
        '1 of 10 texts changes: 103 tokens instead of 100 (+3.00 %)'
        """
        share = 100 * (self.tokens_after / max(self.tokens_before, 1) - 1)
        verb = "changes" if self.changed == 1 else "change"
        return (
            f"{self.changed:,} of {self.texts:,} texts {verb}: {self.tokens_after:,} tokens instead of {self.tokens_before:,} "
            f"({share:+.2f} %)"
        )


def effect_on(
    texts: Iterable[str], before: Encoder, after: Encoder, new_ids: Mapping[int, int] | None = None, *, examples: int = 5
) -> Effect:
    """Encode texts with both. new_ids: old id -> new id; None: ids are kept.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> longer = spec.replace(vocab=spec.vocab | {b"ab": 256}, merges=((b"a", b"b"),))
    >>> effect_on(["abc", "c"], Encoder(spec), Encoder(longer)).examples
    [Change(text='abc', before=('a', 'b'), after=('ab',))]
    """
    effect = Effect()
    for batch in batched(iter(texts), len, _BATCH_CHARACTERS):
        for text, old, new in zip(batch, before.encode_ordinary_batch(batch), after.encode_ordinary_batch(batch), strict=True):
            effect.texts += 1
            effect.tokens_before += len(old)
            effect.tokens_after += len(new)
            if (old if new_ids is None else [new_ids.get(token_id) for token_id in old]) == new:
                continue
            effect.changed += 1
            if len(effect.examples) < examples:
                change = _first_change(text, before, after)
                if not any(change.is_like(other) for other in effect.examples):
                    effect.examples.append(change)
    return effect


def _first_change(text: str, before: Encoder, after: Encoder) -> Change:
    sides = []
    for encoder in (before, after):
        ids, spans = encoder.encode_with_offsets(text, disallowed_special=())
        sides.append(
            [
                (start, stop, encoder.decode([token_id]))
                for token_id, (start, stop) in zip(ids.tolist(), spans.tolist(), strict=True)
            ]
        )
    same = next((n for n, (a, b) in enumerate(zip(*sides, strict=False)) if a != b), min(map(len, sides)))
    old, new = (side[same:] for side in sides)
    start = min([side[0][0] for side in (old, new) if side], default=len(text))
    meet = min({stop for _, stop, _ in old} & {stop for _, stop, _ in new}, default=len(text))
    shown = [tuple(token for _, stop, token in side if stop <= meet) for side in (old, new)]
    return Change(text[start : start + _SHOWN], shown[0], shown[1])
