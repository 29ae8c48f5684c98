"""mistral-common: tekken.json."""

from __future__ import annotations

from functools import partial

from conversion import tekken
from conversion.verification.loaders.files import TokenizerFile, library, named
from conversion.verification.loaders.without_specials import stretch_by_stretch
from conversion.verification.side import Side

__all__ = ["load"]

_MODULE = "mistral_common.tokens.tokenizers.tekken"


def load(given: TokenizerFile) -> Side:
    """A tekken.json as the library itself reads it."""
    if given.format is not tekken.FORMAT:
        raise given.refuse("mistral-common", "tekken.json")
    module = library(_MODULE, "mistral-common")
    tokenizer = module.Tekkenizer.from_file(str(given.path))
    keep = library("mistral_common.tokens.tokenizers.base", "mistral-common").SpecialTokenPolicy.KEEP
    return Side(
        source=given.path.name,
        loader="mistral-common",
        library=named("mistral-common"),
        engine="mistral-common",
        readings=stretch_by_stretch(given.spec, partial(tokenizer.encode, bos=False, eos=False)),
        decode=lambda rows: [tokenizer.decode(list(ids), keep) for ids in rows],
        spec=given.spec,
        nearest=given.spec,
    )
