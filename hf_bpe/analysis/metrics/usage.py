"""How often each token is used, and what that says of the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hf_bpe.batching import batched

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hf_bpe.engine import Encoder
    from hf_bpe.spec import TokenizerSpec

__all__ = ["ALPHA", "count_tokens", "renyi_entropy", "vocabulary_use"]

ALPHA = 2.5
"""Of the Rényi entropy: the order that says most about translation in Zouhar et al., 2023."""

_BATCH_CHARACTERS = 1 << 24
_ID_BANDS = 10
_FREQUENCY_BANDS = (0, 1, 10, 100, 1_000, 10_000)


def count_tokens(encoder: Encoder, texts: Iterable[str]) -> NDArray[np.int64]:
    """How often each id stands in the encoded texts, shape (n_vocab,). Special tokens that a text spells are text.

    >>> from hf_bpe import Encoder, TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> count_tokens(Encoder(spec), ["aab"])[97:100].tolist()
    [2, 1, 0]
    """
    import numpy as np

    counts = np.zeros(encoder.spec.n_vocab, np.int64)
    for batch in batched(iter(texts), len, _BATCH_CHARACTERS):
        counts += np.bincount(encoder.encode_ordinary_batch_to_numpy(batch).ids, minlength=len(counts))
    return counts


def vocabulary_use(spec: TokenizerSpec, counts: NDArray[np.int64]) -> dict[str, Any]:
    """How much of the vocabulary a text uses, and how evenly.

    counts: how often each id stands in the text. `by_id`: tenths of the vocabulary in the order of the ids, which for most vocabularies is that in
    which they were learnt. `by_frequency`: how many tokens are used so often, and what part of the text's tokens they are. `renyi_efficiency`: the Rényi entropy of
    the tokens, of order 2.5, as a share of the largest that a vocabulary of this size can have, the logarithm of its size;
    `renyi_efficiency_of_used`: of the tokens in use only.
    """
    import numpy as np

    ids = np.array(sorted(spec.used_ids), np.int64)
    times = counts[ids]
    used, total = int((times > 0).sum()), int(times.sum())
    entropy = renyi_entropy(times, ALPHA)
    return {
        "size": len(ids),
        "used": used,
        "share_used": round(used / len(ids), 6),
        "by_id": _by_id(ids, times),
        "by_frequency": _by_frequency(times, total),
        "renyi_alpha": ALPHA,
        "renyi_entropy": _rounded(entropy),
        "renyi_efficiency": _share(entropy, len(ids)),
        "renyi_efficiency_of_used": _share(entropy, used),
    }


def renyi_entropy(counts: NDArray[np.int64], alpha: float) -> float | None:
    """In bits: log2(sum of p^alpha) / (1 - alpha); for alpha 1 Shannon's, its limit. None of nothing.

    >>> import numpy as np
    >>> renyi_entropy(np.array([2, 2, 0, 2, 2]), 2.5)
    2.0
    """
    import numpy as np

    present = counts[counts > 0]
    if not len(present):
        return None
    shares = present / present.sum()
    if alpha == 1:
        return abs(float(-(shares * np.log2(shares)).sum()))
    return abs(float(np.log2((shares**alpha).sum()) / (1 - alpha)))  # of one token alone it is 0, not -0


def _by_id(ids: NDArray[np.int64], times: NDArray[np.int64]) -> list[dict[str, int]]:
    import numpy as np

    parts = zip(np.array_split(ids, _ID_BANDS), np.array_split(times, _ID_BANDS), strict=True)
    return [
        {"from": int(band[0]), "to": int(band[-1]), "tokens": len(band), "used": int((often > 0).sum())}
        for band, often in parts
        if len(band)
    ]


def _by_frequency(times: NDArray[np.int64], total: int) -> list[dict[str, Any]]:
    bands = [(first, after - 1) for first, after in pairwise(_FREQUENCY_BANDS)] + [(_FREQUENCY_BANDS[-1], None)]
    rows = []
    for first, last in bands:
        inside = times[(times >= first) & (times <= last)] if last is not None else times[times >= first]
        share = round(int(inside.sum()) / total, 6) if total else None
        rows.append({"from": first, "to": last, "tokens": len(inside), "share_of_text": share})
    return rows


def _share(entropy: float | None, size: int) -> float | None:
    import numpy as np

    return None if entropy is None or size < 2 else _rounded(entropy / float(np.log2(size)))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
