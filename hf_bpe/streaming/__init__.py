"""Ids and text that come bit by bit, and what may happen where a text ends."""

from hf_bpe.streaming.callbacks import DecodeStream, TextStreamer
from hf_bpe.streaming.decoding import StreamingByteDecoder, StreamingDecoder, StreamingDecoderBatch

__all__ = ["DecodeStream", "StreamingByteDecoder", "StreamingDecoder", "StreamingDecoderBatch", "TextStreamer"]
