"""hf_bpe: train, run, convert and publish byte-level BPE tokenizers.

>>> import hf_bpe
>>> spec = hf_bpe.train(["aaabdaaabac"], vocab_size=259, pattern=None)
>>> hf_bpe.Encoder(spec).encode_ordinary("aaabdaaabac")
[258, 100, 258, 97, 99]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hf_bpe.engine import Encoder, native_available
from hf_bpe.errors import (
    ConversionRefused,
    CorpusError,
    DisallowedSpecialTokenError,
    EngineUnavailableError,
    FormatError,
    HfBpeError,
    PatternError,
    ResumeRefused,
    SpecError,
    TrainingError,
    UnknownTokenError,
)
from hf_bpe.patterns import NAMED_PATTERNS, resolve_pattern
from hf_bpe.plugin.registration import install_registration
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.training import train

if TYPE_CHECKING:
    from hf_bpe.encoding import EncodedCorpus, Ragged, encode_files, open_encoded
    from hf_bpe.plugin import HfBpeTokenizer

__version__ = "0.1.0"

__all__ = [
    "NAMED_PATTERNS",
    "AddedToken",
    "ConversionRefused",
    "CorpusError",
    "DisallowedSpecialTokenError",
    "EncodedCorpus",
    "Encoder",
    "EngineUnavailableError",
    "FormatError",
    "HfBpeError",
    "HfBpeTokenizer",
    "PatternError",
    "Ragged",
    "ResumeRefused",
    "SpecError",
    "TokenizerSpec",
    "TrainingError",
    "UnknownTokenError",
    "encode_files",
    "native_available",
    "open_encoded",
    "resolve_pattern",
    "train",
]


def __getattr__(name: str) -> Any:
    if name == "HfBpeTokenizer":  # needs transformers, which takes seconds to import
        from hf_bpe.plugin import HfBpeTokenizer

        return HfBpeTokenizer
    if name in ("EncodedCorpus", "Ragged", "encode_files", "open_encoded"):  # these need numpy
        from hf_bpe import encoding

        return getattr(encoding, name)
    raise AttributeError(f"module 'hf_bpe' has no attribute {name!r}")


install_registration()
