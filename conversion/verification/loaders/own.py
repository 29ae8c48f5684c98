"""The engine of this package."""

from __future__ import annotations

from conversion.verification.loaders.files import TokenizerFile
from conversion.verification.side import AS_SPECIAL, AS_TEXT, Side
from hf_bpe.engine import Encoder

__all__ = ["load", "of_encoder"]


def load(file: TokenizerFile) -> Side:
    """A tokenizer of any format that is read here."""
    return of_encoder(Encoder(file.spec), file.path.name)


def of_encoder(encoder: Encoder, source: str) -> Side:
    """An encoder as it is."""
    return Side(
        source=source,
        loader="own",
        library=f"hf_bpe ({encoder.engine})",
        engine="hf_bpe",
        readings={
            AS_TEXT: encoder.encode_ordinary_batch,
            AS_SPECIAL: lambda texts: encoder.encode_batch(texts, allowed_special="all"),
        },
        decode=encoder.decode_batch,
        spec=encoder.spec,
        nearest=encoder.spec,
        pieces=encoder.pretokenize,
    )
