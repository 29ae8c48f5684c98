"""Where a long text may be cut so that its parts have the ids of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hf_bpe.cuts import can_cut, last_cut
from hf_bpe.spec import TokenizerSpec

__all__ = ["Cut", "cut_of"]

Cut: TypeAlias = Callable[[bytearray, int], int]
"""(text, end) -> the last place before `end` at which it may be cut; 0: none."""


def cut_of(spec: TokenizerSpec) -> Cut | None:
    """What finds such a place for this tokenizer; None where none is known.

    >>> from hf_bpe import NAMED_PATTERNS
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> cut_of(spec) is None, cut_of(spec.replace(pattern=NAMED_PATTERNS["gpt2"].pattern)) is None
    (True, False)
    """
    cuttable = can_cut(spec.pattern, spec.normalizer, spec.add_prefix_space) and all(
        token.special for token in spec.added_tokens
    )
    return last_cut if cuttable else None
