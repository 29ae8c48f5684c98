"""Numbers as people read them; nothing to show is a dash."""

from __future__ import annotations

import math

__all__ = ["amount", "decimal", "percent", "thousands"]


def percent(share: float | None, places: int = 2) -> str:
    """A share of 1.

    >>> percent(0.125), percent(None)
    ('12.50 %', '-')
    """
    return "-" if share is None else f"{100 * share:.{places}f} %"


def thousands(number: int | None) -> str:
    """A count.

    >>> thousands(12345)
    '12,345'
    """
    return "-" if number is None else f"{number:,}"


def decimal(number: float | None, places: int = 2) -> str:
    """A figure that is not whole.

    >>> decimal(1.2345), decimal(None)
    ('1.23', '-')
    """
    return "-" if number is None else f"{number:,.{places}f}"


def amount(money: float | None) -> str:
    """What something costs, with enough places for what costs little.

    >>> amount(1234.5), amount(0.00001234), amount(0), amount(None)
    ('1,234.50', '0.0000123', '0.00', '-')
    """
    if money is None:
        return "-"
    places = 2 if money >= 1 or money == 0 else 2 - math.floor(math.log10(money))
    return f"{money:,.{places}f}"
