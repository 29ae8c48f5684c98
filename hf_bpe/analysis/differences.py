"""`differences`: where several tokenizers cut one text differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from hf_bpe.analysis.tokens import View
from hf_bpe.errors import HfBpeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Differences", "Stretch", "differences"]


class Stretch(NamedTuple):
    """A part of the text, as short as can be, that all begin and end alike and do not cut alike in between.

    text: the characters that it holds, or parts of which it holds. tokens: the numbers of each view's tokens in it.
    """

    in_bytes: tuple[int, int]
    text: str
    tokens: tuple[range, ...]


@dataclass(frozen=True, eq=False)
class Differences(Sequence[Stretch]):
    """The stretches, in order. Each is made when it is asked for.

    views: what was compared. common: bytes of the text at which every tokenizer cuts, or at which it begins or ends. differs: of each gap between
    them whether they cut differently there.
    """

    views: tuple[View, ...]
    common: NDArray[np.int64]
    differs: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self._gaps)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self._stretch(int(gap)) for gap in self._gaps[key]]
        return self._stretch(int(self._gaps[key]))

    @cached_property
    def _gaps(self) -> NDArray[np.int64]:
        return self.differs.nonzero()[0]

    @cached_property
    def _content(self) -> bytes:
        return self.views[0].text.encode()

    def _stretch(self, gap: int) -> Stretch:
        start, stop = int(self.common[gap]), int(self.common[gap + 1])
        tokens = (view.in_bytes[:, 0].searchsorted((start, stop)).tolist() for view in self.views)
        return Stretch((start, stop), _characters(self._content, start, stop), tuple(range(*pair) for pair in tokens))

    def marks(self, number: int) -> NDArray[np.bool_]:
        """Of each token of a view whether it lies in such a stretch, shape (tokens,).

        >>> import hf_bpe
        >>> from hf_bpe.analysis import view
        >>> learnt = hf_bpe.train(["abab"], 257, pattern=None, progress=False)
        >>> views = [view(spec, "abc") for spec in (learnt, learnt.replace(vocab={bytes([b]): b for b in range(256)}, merges=()))]
        >>> found = differences(views)
        >>> [(stretch.text, stretch.tokens) for stretch in found], found.marks(1).tolist()
        ([('ab', (range(0, 1), range(0, 2)))], [True, True, False])
        """
        import numpy as np

        starts = self.views[number].in_bytes[:, 0]
        if not len(self.differs):
            return np.zeros(len(starts), np.bool_)
        gaps = (self.common.searchsorted(starts, side="right") - 1).clip(0, len(self.differs) - 1)
        return np.take(self.differs, gaps)

    @cached_property
    def differing_bytes(self) -> int:
        """How many bytes of the text lie in stretches."""
        import numpy as np

        return int(np.diff(self.common)[self.differs].sum())


def differences(views: Sequence[View]) -> Differences:
    """Where views of one text cut it differently. Only borders count, not ids: two vocabularies may number the same tokens otherwise.

    What a tokenizer adds without text, such as a space put before it, is no difference. Raises `HfBpeError` for views of different texts.
    """
    import numpy as np

    if not views:
        raise HfBpeError("there is nothing to compare; pass the views of at least one tokenizer")
    if any(view.text != views[0].text for view in views):
        raise HfBpeError("these are views of different texts; make them of the same one")
    cuts = np.zeros((len(views), len(views[0].text.encode()) + 1), np.bool_)
    cuts[:, [0, -1]] = True
    for row, view in zip(cuts, views, strict=True):
        row[view.in_bytes.ravel()] = True
    in_all = cuts.all(0)
    common = np.flatnonzero(in_all)
    inside = np.flatnonzero(cuts.any(0) & ~in_all)
    differs = np.zeros(max(len(common) - 1, 0), np.bool_)
    differs[common.searchsorted(inside) - 1] = True
    return Differences(tuple(views), common, differs)


def _characters(content: bytes, start: int, stop: int) -> str:
    """The characters that lie, or lie partly, between two bytes."""
    while start > 0 and content[start] & 0xC0 == 0x80:
        start -= 1
    while stop < len(content) and content[stop] & 0xC0 == 0x80:
        stop += 1
    return content[start:stop].decode()
