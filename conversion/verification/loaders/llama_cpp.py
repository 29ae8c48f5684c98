"""llama.cpp through llama-cpp-python, which this package does not ask for: only GGUF files need it."""

from __future__ import annotations

from conversion import gguf
from conversion.verification.loaders.files import TokenizerFile, library, named
from conversion.verification.side import AS_SPECIAL, AS_TEXT, Side
from hf_bpe.errors import LoaderError

__all__ = ["load"]


def load(given: TokenizerFile) -> Side:
    """The vocabulary of a GGUF file; its tensors, if there are any, stay on disk."""
    if given.format is not gguf.FORMAT:
        raise given.refuse("llama.cpp", "GGUF files")
    module = library("llama_cpp", "llama-cpp-python")
    try:
        model = module.Llama(model_path=str(given.path), vocab_only=True, verbose=False)
    except ValueError as error:
        raise LoaderError(f"{given.path}: llama.cpp does not load it: {error}") from None

    def encode(text: str, *, special: bool) -> list[int]:
        ids: list[int] = model.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=special)
        return ids

    return Side(
        source=given.path.name,
        loader="llama.cpp",
        library=f"llama.cpp ({named('llama-cpp-python')})",
        engine="llama.cpp",
        readings={
            AS_TEXT: lambda texts: [encode(text, special=False) for text in texts],
            AS_SPECIAL: lambda texts: [encode(text, special=True) for text in texts],
        },
        decode=lambda rows: [model.detokenize(list(ids), special=True).decode("utf-8", "replace") for ids in rows],
        spec=given.spec,
        nearest=given.spec,
    )
