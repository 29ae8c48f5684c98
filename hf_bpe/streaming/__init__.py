"""Ids and text that come bit by bit, and what may happen where a text ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hf_bpe.lazy_names import lazy_names

if TYPE_CHECKING:
    from hf_bpe.streaming.batch import StreamingDecoderBatch
    from hf_bpe.streaming.callbacks import DecodeStream, TextStreamer
    from hf_bpe.streaming.decoding import StreamingByteDecoder, StreamingDecoder
    from hf_bpe.streaming.encoding import StreamingEncoder

__all__ = [
    "DecodeStream",
    "StreamingByteDecoder",
    "StreamingDecoder",
    "StreamingDecoderBatch",
    "StreamingEncoder",
    "TextStreamer",
]

# Imported when first asked for: every tokenizer needs the rules of decoding, few need streams.
__getattr__ = lazy_names(
    __name__,
    {
        "hf_bpe.streaming.batch": ("StreamingDecoderBatch",),
        "hf_bpe.streaming.callbacks": ("DecodeStream", "TextStreamer"),
        "hf_bpe.streaming.decoding": ("StreamingByteDecoder", "StreamingDecoder"),
        "hf_bpe.streaming.encoding": ("StreamingEncoder",),
    },
)
