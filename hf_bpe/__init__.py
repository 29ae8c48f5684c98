"""hf_bpe: train, run, convert and publish byte-level BPE tokenizers.

>>> import hf_bpe
>>> spec = hf_bpe.train(["aaabdaaabac"], vocab_size=259, pattern=None)
>>> hf_bpe.Encoder(spec).encode_ordinary("aaabdaaabac")
[258, 100, 258, 97, 99]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hf_bpe.plugin.registration import install_registration

if TYPE_CHECKING:
    from hf_bpe.encoding import EncodedCorpus, encode_files, open_encoded
    from hf_bpe.engine import CacheInfo, Encoder, Ragged, native_available
    from hf_bpe.errors import (
        BorderError,
        ChatTemplateError,
        ClusterError,
        ComparisonError,
        ConversionRefused,
        CorpusError,
        DisallowedSpecialTokenError,
        EditError,
        EncodingAssertionError,
        EncodingError,
        EngineUnavailableError,
        FormatError,
        HfBpeError,
        HubAccessDenied,
        HubConflict,
        HubError,
        HubNotFound,
        HubUnreachable,
        PatternError,
        ReportError,
        ResumeRefused,
        SpecError,
        TrainingError,
        UnknownTokenError,
        WordCountsMismatch,
    )
    from hf_bpe.patterns import NAMED_PATTERNS, resolve_pattern
    from hf_bpe.pieces import Piece, SentencePieceRules
    from hf_bpe.plugin import HfBpeTokenizer
    from hf_bpe.plugin.registration import register
    from hf_bpe.spec import AddedToken, TokenizerSpec
    from hf_bpe.training import Mixture, WordCounts, train

__version__ = "0.1.0"

# Each name is imported when first used: a script that only encodes need not wait for the trainer, nor anyone but the
# plugin's users for transformers, which takes seconds.
_HOMES = {
    "hf_bpe.encoding": ("EncodedCorpus", "encode_files", "open_encoded"),
    "hf_bpe.engine": ("CacheInfo", "Encoder", "Ragged", "native_available"),
    "hf_bpe.errors": (
        "BorderError",
        "ChatTemplateError",
        "ClusterError",
        "ComparisonError",
        "ConversionRefused",
        "CorpusError",
        "DisallowedSpecialTokenError",
        "EditError",
        "EncodingAssertionError",
        "EncodingError",
        "EngineUnavailableError",
        "FormatError",
        "HfBpeError",
        "HubAccessDenied",
        "HubConflict",
        "HubError",
        "HubNotFound",
        "HubUnreachable",
        "PatternError",
        "ReportError",
        "ResumeRefused",
        "SpecError",
        "TrainingError",
        "UnknownTokenError",
        "WordCountsMismatch",
    ),
    "hf_bpe.patterns": ("NAMED_PATTERNS", "resolve_pattern"),
    "hf_bpe.pieces": ("Piece", "SentencePieceRules"),
    "hf_bpe.plugin": ("HfBpeTokenizer",),
    "hf_bpe.plugin.registration": ("register",),
    "hf_bpe.spec": ("AddedToken", "TokenizerSpec"),
    "hf_bpe.training": ("Mixture", "WordCounts", "train"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "NAMED_PATTERNS",
    "AddedToken",
    "BorderError",
    "CacheInfo",
    "ChatTemplateError",
    "ClusterError",
    "ComparisonError",
    "ConversionRefused",
    "CorpusError",
    "DisallowedSpecialTokenError",
    "EditError",
    "EncodedCorpus",
    "Encoder",
    "EncodingAssertionError",
    "EncodingError",
    "EngineUnavailableError",
    "FormatError",
    "HfBpeError",
    "HfBpeTokenizer",
    "HubAccessDenied",
    "HubConflict",
    "HubError",
    "HubNotFound",
    "HubUnreachable",
    "Mixture",
    "PatternError",
    "Piece",
    "Ragged",
    "ReportError",
    "ResumeRefused",
    "SentencePieceRules",
    "SpecError",
    "TokenizerSpec",
    "TrainingError",
    "UnknownTokenError",
    "WordCounts",
    "WordCountsMismatch",
    "encode_files",
    "native_available",
    "open_encoded",
    "register",
    "resolve_pattern",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'hf_bpe' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


install_registration()
