"""Ids and text that come bit by bit, and what may happen where a text ends."""

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
