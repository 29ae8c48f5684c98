"""The part of a text that no further text can change."""

from __future__ import annotations

from typing import Any, NamedTuple

from hf_bpe.borders.supported import check_encoder
from hf_bpe.engine import Encoder, SpecialTokens
from hf_bpe.engine.parts import as_unicode
from hf_bpe.errors import BorderError
from hf_bpe.streaming.cutting import obstacle_of
from hf_bpe.streaming.encoding import StreamingEncoder

__all__ = ["StablePart", "stable_part"]


class StablePart(NamedTuple):
    """The ids that no further text can change, and the text behind them, which is as if it were a text of its own."""

    ids: list[int]
    rest: str


def stable_part(
    encoder: Encoder,
    text: str,
    *,
    allowed_special: SpecialTokens | None = None,
    disallowed_special: SpecialTokens | None = None,
) -> StablePart:
    """The ids that no further text can change. Special tokens are as in `Encoder.encode`.

    Raises `BorderError` where nothing can be proved, and what `encode` does.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern=r"\\w+|\\W")
    >>> stable_part(Encoder(spec), "a bc")
    StablePart(ids=[97, 32], rest='bc')
    """
    check_encoder(encoder)
    sets: dict[str, Any] = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
    stream = StreamingEncoder(encoder, **sets, rest_alone=True)
    if not stream.is_streaming:
        reason = obstacle_of(encoder, *encoder.special_sets(allowed_special, disallowed_special))
        raise BorderError(f"nothing can be proved of texts of this tokenizer: {reason}. Encode the text when it is complete")
    ids = stream.feed(text) + stream.settle()
    return StablePart(ids, as_unicode(stream.pending))
