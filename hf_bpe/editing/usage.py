"""How often each token is used in a corpus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hf_bpe.batching import batched
from hf_bpe.engine import Encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["count_tokens"]

_BATCH_CHARACTERS = 1 << 24


def count_tokens(encoder: Encoder, texts: Iterable[str]) -> NDArray[np.int64]:
    """How often each id stands in the encoded texts, shape (n_vocab,). Special tokens that a text spells are text.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> count_tokens(Encoder(spec), ["aab"])[97:100].tolist()
    [2, 1, 0]
    """
    import numpy as np

    counts = np.zeros(encoder.spec.n_vocab, np.int64)
    for batch in batched(iter(texts), len, _BATCH_CHARACTERS):
        counts += np.bincount(encoder.encode_ordinary_batch_to_numpy(batch).ids, minlength=len(counts))
    return counts
