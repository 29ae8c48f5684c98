"""What follows from measured cells: how the time falls with threads, and how it grows with the input."""

from __future__ import annotations

from benchmarks.harness import Result

TIMES = "times"  # the unit of a quotient


def scaling(results: list[Result]) -> list[Result]:
    """One thread's time over all threads' time."""
    return quotients(results, "documents", 3, "speed of all threads over one thread", slower_first=True)


def growth(results: list[Result]) -> list[Result]:
    """The longest hostile string's time over the shortest's; in line is the quotient of their lengths."""
    return quotients(results, "hostile", 2, "growth of time with length", slower_first=False)


def quotients(results: list[Result], section: str, position: int, title: str, *, slower_first: bool) -> list[Result]:
    """The quotient of the first and the last of the cells that differ only in the label at one position."""
    families: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        if result.section == section:
            families.setdefault((*result.labels[:position], *result.labels[position + 1 :]), []).append(result)
    found = []
    for family in families.values():
        first, last = family[0], family[-1]
        above, below = (first, last) if slower_first else (last, first)
        if first is not last:
            label = f"{above.labels[position]} / {below.labels[position]}"
            labels = (*first.labels[:position], label, *first.labels[position + 1 :])
            found.append(Result(labels, None, divided(above, below), {**first.refused, **last.refused}, title, TIMES))
    return found


def divided(above: Result, below: Result) -> dict[str, list[float]]:
    """Round by round, for those that both cells have."""
    common = [name for name in above.measured if name in below.measured]
    return {name: [a / b for a, b in zip(above.measured[name], below.measured[name], strict=False)] for name in common}
