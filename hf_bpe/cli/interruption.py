"""What Ctrl-C leaves of commands that write all they have at the end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["forget", "told", "watch"]

_before: dict[Path, tuple[int, int] | None] = {}
"""Places that the running command is about to fill, and what was there; one command runs at a time."""


def watch(places: Iterable[Path]) -> None:
    """From here on these files and folders may take their places, in a moment but one after the other."""
    _before.update({place: _what_is_at(place) for place in places})


def forget() -> None:
    """Another command begins."""
    _before.clear()


def told() -> str:
    """What somebody is to know who pressed Ctrl-C.

    >>> told()
    'interrupted; nothing was written'
    """
    written = [str(place) for place, before in _before.items() if _what_is_at(place) not in (None, before)]
    return f"interrupted; written by then: {', '.join(written)}" if written else "interrupted; nothing was written"


def _what_is_at(place: Path) -> tuple[int, int] | None:
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
