"""From counted words and settings to merges, in one stage or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tqdm import tqdm

from hf_bpe.engine.backends import EngineName, choose_native
from hf_bpe.engine.reference import train_merges
from hf_bpe.training.rules import Forbids, forbids, forbids_in_second_stage
from hf_bpe.training.settings import ByteLevelSettings
from hf_bpe.training.ties import TIE_BREAKS
from hf_bpe.training.words import Words

__all__ = ["Pair", "learn"]

Pair = tuple[int, int]


def learn(
    settings: ByteLevelSettings,
    vocab_size: int,
    words: Sequence[Words],
    unit: int = 1,
    engine: EngineName = "auto",
    progress: bool = False,
) -> list[Pair]:
    """Merges for a vocabulary of this size, or fewer where there are no more; the n-th makes id 256 + n.

    words: those of the first stage and, where there is one, of the second. The second begins with its text merged by all merges of the
    first, as encoding will merge it: those are not the tokens of the first stage wherever its pattern split what the second leaves whole.
    unit: what a word counts that occurs once; `min_frequency` is in these.
    """
    wanted = settings.merges(vocab_size)
    merges = list(settings.first_merges)
    with tqdm(total=wanted, desc="merging", unit=" merges", disable=not progress) as bar:

        def tell(done: int) -> None:
            bar.update(done - bar.n)

        for number, stage in enumerate(words):
            is_first = number == 0
            most = min(wanted, settings.first_stage_merges(vocab_size)) if is_first else wanted
            forbidden = forbids(settings) if is_first else forbids_in_second_stage(settings)
            merges = _merges_of(
                stage, most, settings, unit, merges, forbidden if settings.has_rules(is_first) else None, engine, tell
            )
            tell(len(merges))
    return merges


def _merges_of(
    words: Words,
    most: int,
    settings: ByteLevelSettings,
    unit: int,
    start: Sequence[Pair],
    forbidden: Forbids | None,
    engine: EngineName,
    progress: Callable[[int], None],
) -> list[Pair]:
    rule = TIE_BREAKS[settings.tie_break]
    limits = settings.min_frequency * unit, rule.longest(settings.max_token_length)
    native = choose_native(engine)
    if native is None:
        return train_merges(dict(words.items()), most, *limits, rule.ties, start=start, forbids=forbidden)
    merges: list[Pair] = native.learn_merges(
        words,
        most,
        min_frequency=limits[0],
        max_token_length=limits[1],
        ties=rule.ties,
        progress=progress,
        start=start,
        forbids=forbidden,
    )
    return merges
