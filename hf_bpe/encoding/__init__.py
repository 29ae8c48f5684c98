"""Encodes corpora: text, JSON lines and Parquet files to arrays, or to shards that a training loop maps into memory."""

from hf_bpe.encoding.encode import encode_files
from hf_bpe.encoding.encoded import EncodedCorpus, open_encoded
from hf_bpe.encoding.ragged import Ragged

__all__ = ["EncodedCorpus", "Ragged", "encode_files", "open_encoded"]
