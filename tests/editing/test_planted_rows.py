"""Of rows planted as if no training had touched them, which the audit finds, and what else: docs/editing.md has these figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hf_bpe.editing.audit import Rows, audit
from tests.support.vocabularies import BYTES, byte_spec

TOKENS, ROWS, WIDTH, SEEDS = 4000, 4096, 64, 3
SPEC = byte_spec().replace(vocab=BYTES | {b"%05d" % number: number for number in range(256, TOKENS)})


@dataclass(frozen=True)
class Setting:
    """planted: tokens without training. noise: how much their rows, and those known to be untrained, differ; others differ by 1.
    moved: how far training took planted ones at most. astray: how many rows said to be untrained are not. zeros: how many are padding.
    """

    tied: bool = True
    planted: int = 40
    noise: float = 0.02
    moved: float = 0.0
    astray: int = 0
    zeros: int = 0


def planted(setting: Setting, seed: int) -> tuple[np.ndarray, set[int]]:  # type: ignore[type-arg]
    """A matrix whose rows from TOKENS on are known to be untrained, and the planted ids."""
    generator = np.random.default_rng(seed)
    matrix = generator.normal(size=(ROWS, WIDTH)) * generator.uniform(0.6, 1.4, (ROWS, 1)) + generator.normal(size=WIDTH) * 0.5
    start = generator.normal(size=WIDTH) * (0.3 if setting.tied else 0.03)
    chosen = generator.choice(np.arange(256, TOKENS), setting.planted, replace=False)
    for row in (*chosen, *range(TOKENS, ROWS - setting.astray)):
        matrix[row] = start + generator.normal(size=WIDTH) * setting.noise
    matrix[TOKENS : TOKENS + setting.zeros] = 0
    for row in chosen if setting.moved else ():
        matrix[row] += generator.normal(size=WIDTH) * generator.uniform(0, setting.moved)
    return matrix, {*map(int, chosen)}


FIGURES = {
    "tied": (Setting(), 1.0, 1.0),
    "untied": (Setting(tied=False), 1.0, 1.0),
    "tied, 3 planted": (Setting(planted=3), 1.0, 1.0),
    "untied, 3 planted": (Setting(tied=False, planted=3), 1.0, 1.0),
    "tied, a quarter planted": (Setting(planted=1000), 1.0, 1.0),
    "untied, a quarter planted": (Setting(tied=False, planted=1000), 1.0, 1.0),
    "tied, noise 0.3": (Setting(noise=0.3), 1.0, 1.0),
    "untied, noise 0.3": (Setting(tied=False, noise=0.3), 1.0, 1.0),
    "tied, a fifth astray": (Setting(astray=20), 1.0, 1.0),
    "untied, a fifth astray": (Setting(tied=False, astray=20), 1.0, 1.0),
    "untied, most of them zeros": (Setting(tied=False, zeros=80), 1.0, 1.0),
    "tied, moved up to 0.3": (Setting(moved=0.3), 1.0, 0.95),
    "untied, moved up to 0.3": (Setting(tied=False, moved=0.3), 1.0, 0.49),
}
"""Name -> setting, precision, recall."""


@pytest.mark.parametrize("name", FIGURES)
def test_planted_rows_are_found(name: str) -> None:
    setting, precision, recall = FIGURES[name]
    right = suspected = wanted = 0
    for seed in range(SEEDS):
        matrix, ids = planted(setting, seed)
        rows = Rows(ROWS, lambda matrix=matrix: (matrix[first : first + 999] for first in range(0, ROWS, 999)))  # type: ignore[misc]
        found = audit(SPEC, embedding=rows, head=None if setting.tied else rows, untrained=range(TOKENS, ROWS))
        listed = {token.id for token in found.of("undertrained")}
        right, suspected, wanted = right + len(listed & ids), suspected + len(listed), wanted + len(ids)
        assert [token.id for token in found.tokens[: len(listed)]] == [token.id for token in found.of("undertrained")]
    assert (right / suspected, right / wanted) == pytest.approx((precision, recall), abs=0.02)
