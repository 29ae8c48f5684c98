"""`Scratch`: what using a tokenizer leaves behind in it, and is no part of what it is."""

from __future__ import annotations

from typing import Any

__all__ = ["Scratch"]


class Scratch(dict[str, Any]):
    """A dict that copies and pickles as an empty one.

    `datasets` names its cached results after the pickle of a tokenizer's `__dict__`, past `__getstate__`. With plain attributes
    for what was found out on the way, a tokenizer would have another name after its first call, and `map` would run again.

    >>> Scratch(found=1).__reduce__()[1], Scratch(found=1).__copy__()
    ((), {})
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return Scratch, ()

    def __copy__(self) -> Scratch:
        return Scratch()

    def __deepcopy__(self, memo: dict[int, Any]) -> Scratch:
        return Scratch()
