"""Weights of merged counts: rational numbers, made whole so that counts stay exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from hf_bpe.errors import TrainingError

__all__ = ["Weight", "as_fraction", "as_integers"]

Weight: TypeAlias = int | float | str | Fraction


def as_integers(weights: Sequence[Weight], wanted: int) -> list[int]:
    """The smallest whole numbers, not smaller than the weights, that are to each other as these are.

    A float counts as the decimal number that it is shown as: 0.1 is 1/10. Raises `TrainingError`.

    >>> as_integers([2, 1], 2), as_integers(["1/2", 0.75], 2)
    ([2, 1], [2, 3])
    """
    if isinstance(weights, str) or len(weights) != wanted:
        raise TrainingError(f"weights must be a list of {wanted} numbers, one for each counts, not {weights!r}")
    fractions = list(map(as_fraction, weights))
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * scale) for fraction in fractions]


def as_fraction(weight: Weight) -> Fraction:
    """A weight exactly. Raises `TrainingError` for what is no number above 0."""
    try:
        fraction = Fraction(str(weight) if isinstance(weight, float) else weight)
    except (ValueError, ZeroDivisionError, TypeError, OverflowError):
        fraction = Fraction(0)
    if isinstance(weight, bool) or fraction <= 0:
        raise TrainingError(f"a weight must be a number above 0, such as 2, 0.5 or '2/3', not {weight!r}")
    return fraction
