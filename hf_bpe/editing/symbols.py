"""Learning merges of ids, where the learner merges bytes: each id is written as three bytes that merge before anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from hf_bpe.engine.backends import EngineName, choose_native
from hf_bpe.engine.reference import train_merges
from hf_bpe.errors import EditError
from hf_bpe.training.words import Words

__all__ = ["SymbolWords"]

_BASE = 85
"""Three kinds of bytes, so that only the three of one id can merge: 85 values each, for 614,125 ids."""


class SymbolWords:
    """Counted words as runs of ids.

    >>> words = SymbolWords([([7, 300, 300], 2), ([300, 300], 1)])
    >>> words.learn(2, 1000, lambda ids: False, progress=False)
    [(300, 300), (7, 1000)]
    """

    def __init__(self, counted: Iterable[tuple[Sequence[int], int]]) -> None:
        runs, counts = [], []
        for ids, times in counted:
            if len(ids) > 1:
                runs.append(ids)
                counts.append(times)
        flat = np.array([token_id for run in runs for token_id in run], np.int64)
        lengths = np.array([len(run) for run in runs], np.int64)
        if len(flat) and flat.max() >= _BASE**3:
            raise EditError(f"ids from {_BASE**3:,} on are not learnt with; this tokenizer gives {flat.max():,}")
        self._used: list[int] = np.unique(flat).tolist()
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(3 * lengths)])
        self._words = Words(_written(flat).reshape(-1), bounds, np.array(counts, np.int64))

    def learn(
        self,
        wanted: int,
        first_id: int,
        forbids: Callable[[list[int]], bool],
        *,
        min_frequency: int = 1,
        engine: EngineName = "auto",
        progress: bool = True,
    ) -> list[tuple[int, int]]:
        """Pairs of ids, the most frequent first; the n-th makes `first_id` + n. Fewer than wanted where no more are there.

        forbids: asked for the ids, as the words hold them, of which a pair is made; what it forbids is not merged.
        """
        start, ids = self._merges_of_ids()
        most, limits = len(start) + wanted, (min_frequency, None)

        def forbids_bytes(left: bytes, right: bytes) -> bool:
            return forbids(_read(left + right))

        with tqdm(total=wanted, desc="merging", unit=" merges", disable=not progress) as bar:
            native = choose_native(engine)
            if native is None:
                found = train_merges(dict(self._words.items()), most, *limits, start=start, forbids=forbids_bytes)
            else:
                found = native.learn_merges(
                    self._words,
                    most,
                    min_frequency=min_frequency,
                    max_token_length=None,
                    ties="lowest ids",
                    progress=lambda done: bar.update(max(0, done - len(start) - bar.n)),
                    start=start,
                    forbids=forbids_bytes,
                )
            bar.update(len(found) - len(start) - bar.n)
        new = 256 + len(start)
        return [tuple(ids[i] if i < new else first_id + i - new for i in pair) for pair in found[len(start) :]]  # type: ignore[misc]

    def _merges_of_ids(self) -> tuple[list[tuple[int, int]], dict[int, int]]:
        """The merges that make one symbol of each id: of its first two bytes, then with the third. Symbol -> id."""
        written = [tuple(row) for row in _written(np.array(self._used, np.int64)).tolist()]
        heads = {head: 256 + number for number, head in enumerate(dict.fromkeys(row[:2] for row in written))}
        start = [*heads, *((heads[row[:2]], row[2]) for row in written)]
        return start, {256 + len(heads) + number: token_id for number, token_id in enumerate(self._used)}


def _read(content: bytes) -> list[int]:
    """The ids that bytes were written for.

    >>> _read(_written(np.array([7, 300000])).tobytes())
    [7, 300000]
    """
    digits = np.frombuffer(content, np.uint8).reshape(-1, 3).astype(np.int64) - np.array([0, _BASE, 2 * _BASE])
    ids: list[int] = (digits @ np.array([_BASE**2, _BASE, 1])).tolist()
    return ids


def _written(ids: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The three bytes of each id, shape (ids, 3)."""
    digits = np.stack([ids // _BASE**2, ids // _BASE % _BASE + _BASE, ids % _BASE + 2 * _BASE], 1)
    return digits.astype(np.uint8)
