"""Numbers as people read them; nothing to show is a dash."""

from __future__ import annotations

__all__ = ["decimal", "percent", "thousands"]


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
