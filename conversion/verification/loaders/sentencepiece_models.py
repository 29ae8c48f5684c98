"""sentencepiece: `.model` files, and `.vocab` files that stand beside one."""

from __future__ import annotations

from conversion import sentencepiece
from conversion.verification.loaders.files import TokenizerFile, library, named
from conversion.verification.loaders.without_specials import stretch_by_stretch
from conversion.verification.side import Side

__all__ = ["load"]


def load(given: TokenizerFile) -> Side:
    """A model as the library itself reads it."""
    if given.format not in sentencepiece.FORMATS:
        raise given.refuse("sentencepiece", "its own .model files")
    module = library("sentencepiece", "sentencepiece")
    path = given.path.with_suffix(".model") if given.path.suffix == ".vocab" else given.path
    processor = module.SentencePieceProcessor(model_file=str(path))
    return Side(
        source=given.path.name,
        loader="sentencepiece",
        library=named("sentencepiece"),
        engine="sentencepiece",
        readings=stretch_by_stretch(given.spec, processor.encode),
        decode=lambda rows: [processor.decode(list(ids)) for ids in rows],
        spec=given.spec,
        nearest=given.spec,
    )
