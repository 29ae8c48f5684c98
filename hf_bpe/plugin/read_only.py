"""`ReadOnlyDict`: a table that is shared, given out without copying it."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["ReadOnlyDict"]


class ReadOnlyDict(dict[str, int]):
    """A dict that cannot be changed; copies of it, of whatever kind, are plain ones.

    Stock classes make a new dict in every call instead. That takes 20 ms for 100,000 tokens, and servers ask with every token.

    >>> ReadOnlyDict(a=1).copy() | {"b": 2}
    {'a': 1, 'b': 2}
    """

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this is the tokenizer's own table, which is not changed by hand; change a copy, dict(...), of it")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
