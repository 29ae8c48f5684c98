"""How each library is loaded from a local file, and which of its calls does what.

A loader imports its library inside, so that a worker process pays for one library only. It gets the files of a vocabulary
and the number of threads, picks the library's fastest call for each task at that number, and leaves None where there is
none. All encode text as plain text: no special tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import OURS

Ids = list[int]


class Unsupported(Exception):
    """A library cannot read a vocabulary."""


@dataclass(frozen=True)
class VocabularyFiles:
    """One vocabulary in the forms that the libraries read, all in one folder, as far as a form can hold it.

    The name of a byte-level vocabulary is that of its split.
    """

    name: str
    folder: Path

    @property
    def ranks(self) -> Path:
        """The format of tiktoken; for byte-level vocabularies."""
        return self.folder / "vocabulary.tiktoken"

    @property
    def model(self) -> Path:
        """The format of sentencepiece; for vocabularies of its dialect."""
        return self.folder / "vocabulary.model"

    @property
    def reference(self) -> str:
        """The library that says what is right."""
        return "sentencepiece" if self.model.exists() else "tiktoken"

    @property
    def tokenizer_json(self) -> Path:
        """The format of `tokenizers`; `transformers` reads the folder."""
        return self.folder / "tokenizer.json"

    @property
    def tuetoken_json(self) -> Path:
        """The same with a pattern spelled as tuetoken's own converter does, where that is the only spelling it takes."""
        return self.folder / "tuetoken.json"

    @property
    def pattern(self) -> str:
        """The split, in the spelling that is fastest for tiktoken where several are published."""
        from hf_bpe.patterns import NAMED_PATTERNS

        named = NAMED_PATTERNS[self.name]
        return named.spellings[0] if named.spellings else named.pattern or r"[\s\S]+"


@dataclass(frozen=True)
class Calls:
    """What a loaded library does. An array form may be of the library's own making; `rows_of` reads it."""

    encode: Callable[[str], Ids]
    encode_batch: Callable[[list[str]], list[Ids]] | None
    encode_array: Callable[[str], Any] | None = None
    encode_batch_array: Callable[[list[str]], Any] | None = None
    decode: Callable[[Ids], str] | None = None
    decode_array: Callable[[Any], str] | None = None


def rows_of(result: Any) -> list[Any]:
    """The arrays of single documents in what `encode_batch_array` gave: flat ids with offsets, or one row per document."""
    if hasattr(result, "offsets") and hasattr(result, "ids"):
        result = (result.ids, result.offsets)
    if isinstance(result, tuple):
        ids, offsets = result
        return [ids[start:end] for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    return list(result)


# ---------------------------------------------------------------------------------------------------------------------


def load_hf_bpe(files: VocabularyFiles, threads: int) -> Calls:
    """Ours."""
    import conversion
    from hf_bpe import Encoder

    spec = conversion.load(files.model) if files.model.exists() else conversion.load(files.ranks, pattern=files.name)
    encoder = Encoder(spec, engine="native")
    batch_to_numpy = getattr(encoder, "encode_ordinary_batch_to_numpy", None)
    return Calls(
        encode=encoder.encode_ordinary,
        encode_batch=lambda texts: encoder.encode_ordinary_batch(texts, num_threads=threads),
        encode_array=getattr(encoder, "encode_ordinary_to_numpy", None),
        encode_batch_array=batch_to_numpy and (lambda texts: batch_to_numpy(texts, num_threads=threads)),
        decode=encoder.decode,
        decode_array=encoder.decode if batch_to_numpy else None,
    )


def load_tiktoken(files: VocabularyFiles, threads: int) -> Calls:
    """The official implementation of byte-level BPE, and the reference for it."""
    import tiktoken

    return calls_of_encoding(tiktoken.Encoding, files, threads)


def load_tiktoken_face(files: VocabularyFiles, threads: int) -> Calls:
    """Ours under tiktoken's names: the same calls."""
    from hf_bpe import tiktoken

    return calls_of_encoding(tiktoken.Encoding, files, threads)


def calls_of_encoding(make: Any, files: VocabularyFiles, threads: int) -> Calls:
    """What a class that is tiktoken's `Encoding`, or looks like it, does. Ranks are read by tiktoken, for both."""
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(held(files.ranks))
    encoding = make(files.name, pat_str=files.pattern, mergeable_ranks=ranks, special_tokens={})
    return Calls(
        encode=encoding.encode_ordinary,
        encode_batch=(
            one_by_one(encoding.encode_ordinary)
            if threads == 1
            else lambda texts: encoding.encode_ordinary_batch(texts, num_threads=threads)
        ),
        encode_array=lambda text: encoding.encode_to_numpy(text, disallowed_special=()),
        encode_batch_array=(
            one_by_one(lambda text: encoding.encode_to_numpy(text, disallowed_special=())) if threads == 1 else None
        ),
        decode=encoding.decode,
    )


def load_sentencepiece(files: VocabularyFiles, threads: int) -> Calls:
    """The official implementation of its dialect, and the reference for it."""
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=held(files.model), num_threads=threads)

    def encode_array(texts: Any) -> Any:
        return processor.encode(texts, return_type="numpy")

    return Calls(
        encode=processor.encode,
        encode_batch=one_by_one(processor.encode) if threads == 1 else processor.encode,
        encode_array=encode_array,
        encode_batch_array=one_by_one(encode_array) if threads == 1 else encode_array,
        decode=processor.decode,
        decode_array=processor.decode,
    )


def load_tokenizers(files: VocabularyFiles, threads: int) -> Calls:
    """Hugging Face's engine; TOKENIZERS_PARALLELISM and RAYON_NUM_THREADS set its threads."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(held(files.tokenizer_json))
    return Calls(
        encode=lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        encode_batch=lambda texts: [e.ids for e in tokenizer.encode_batch_fast(texts, add_special_tokens=False)],
        decode=tokenizer.decode,
    )


def load_transformers(files: VocabularyFiles, threads: int) -> Calls:
    """What most people call: `AutoTokenizer`, then `tokenizer(text)`."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(Path(held(files.tokenizer_json)).parent))

    def encode(texts: Any) -> Any:
        return tokenizer(texts, add_special_tokens=False, return_attention_mask=False)["input_ids"]

    return Calls(encode=encode, encode_batch=encode, decode=tokenizer.decode, decode_array=tokenizer.decode)


def load_gigatoken(files: VocabularyFiles, threads: int) -> Calls:
    """From the rank file where it knows the split by name, else from tokenizer.json."""
    import gigatoken

    scheme = {"gpt2": "gpt2", "cl100k": "cl100k", "o200k": "o200k", "qwen2": "qwen2"}.get(files.name)
    tokenizer = (
        gigatoken.Tokenizer.from_tiktoken(files.ranks, scheme, {})
        if scheme
        else gigatoken.Tokenizer(held(files.tokenizer_json))
    )

    def decode(ids: Any) -> str:
        return tokenizer.decode(ids).decode("utf-8", "replace")

    return Calls(
        encode=lambda text: tokenizer.encode(text).tolist(),
        encode_batch=lambda texts: tokenizer.encode_batch_list(texts, parallel=threads > 1),
        encode_array=tokenizer.encode,
        encode_batch_array=lambda texts: tokenizer.encode_batch(texts, parallel=threads > 1),
        decode=decode,
        decode_array=decode,
    )


def load_fastokens(files: VocabularyFiles, threads: int) -> Calls:
    """From the rank file where it knows the split by name, else from tokenizer.json: other ways miss its fast scanner."""
    import numpy as np
    from fastokens import Tokenizer

    preset = {"cl100k": "cl100k_base", "o200k": "o200k_base"}.get(files.name)
    tokenizer = (
        Tokenizer.from_tiktoken(str(files.ranks), encoding=preset)
        if preset
        else Tokenizer.from_file(held(files.tokenizer_json))
    )

    def encode_batch_array(texts: list[str]) -> tuple[Any, Any]:
        ids, offsets = tokenizer.encode_batch_flat(texts)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64)

    return Calls(
        encode=lambda text: tokenizer.encode(text).ids,
        encode_batch=lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(texts)],
        encode_array=lambda text: encode_batch_array([text])[0],
        encode_batch_array=encode_batch_array,
        decode=tokenizer.decode,
    )


def load_toktok(files: VocabularyFiles, threads: int) -> Calls:
    """Has its vocabularies compiled in."""
    import toktok

    tokenizer = toktok._encoding(bundled(files, {"cl100k": "cl100k_base", "o200k": "o200k_base"}))

    def encode_batch_array(texts: list[str]) -> Any:
        return tokenizer.encode_batch_to_numpy(texts, threads)

    return Calls(
        encode=tokenizer.encode_ordinary,
        encode_batch=one_by_one(tokenizer.encode_ordinary) if threads == 1 else lists_of(encode_batch_array),
        encode_array=lambda text: tokenizer.encode_to_numpy(text, disallowed_special=()),
        encode_batch_array=encode_batch_array,
        decode=tokenizer.decode,
        decode_array=tokenizer.decode,
    )


def load_quicktok(files: VocabularyFiles, threads: int) -> Calls:
    """Has its vocabularies in files of its own format."""
    import quicktok

    names = {"cl100k": "cl100k_base", "o200k": "o200k_base", "llama3": "llama3"}
    tokenizer = quicktok.Tokenizer(bundled(files, names), "")

    def encode_batch_array(texts: list[str]) -> Any:
        return tokenizer.encode_batch(texts, threads)

    return Calls(
        encode=tokenizer.encode_ordinary,
        encode_batch=one_by_one(tokenizer.encode_ordinary) if threads == 1 else lists_of(encode_batch_array),
        encode_array=lambda text: encode_batch_array([text])[0],
        encode_batch_array=encode_batch_array,
        decode=tokenizer.decode,
        decode_array=tokenizer.decode,
    )


def load_tuetoken(files: VocabularyFiles, threads: int) -> Calls:
    """From the JSON that its own converter makes of a rank file, as its `from_tiktoken` does; else from tokenizer.json."""
    from tuetoken import Tokenizer

    tokenizer = Tokenizer(str(files.tuetoken_json) if files.tuetoken_json.exists() else held(files.tokenizer_json))

    def encode_batch_array(texts: list[str]) -> tuple[Any, Any]:
        result = tokenizer.encode_ordinary_to_buffer(texts, threads)
        return result["data"], result["offsets"]

    return Calls(
        encode=tokenizer.encode_ordinary,
        encode_batch=lambda texts: tokenizer.encode_ordinary_batch(texts, threads),
        encode_array=lambda text: encode_batch_array([text])[0],
        encode_batch_array=encode_batch_array,
        decode=tokenizer.decode,
        decode_array=tokenizer.decode_array,
    )


def load_splintr(files: VocabularyFiles, threads: int) -> Calls:
    """From the rank file, with its own spelling of the split. SentencePiece models from tokenizer.json: its fastest way."""
    import numpy as np
    import splintr

    names = {"gpt2": "GPT2", "cl100k": "CL100K_BASE", "o200k": "O200K_BASE", "llama3": "LLAMA3", "qwen2": "QWEN2"}
    if files.model.exists():
        tokenizer = splintr.from_json(held(files.tokenizer_json))
    elif files.name in names:
        tokenizer = splintr.Tokenizer(str(files.ranks), getattr(splintr, f"{names[files.name]}_PATTERN"), {})
    else:
        raise Unsupported(f"no pattern {files.name}")

    def encode_batch_array(texts: list[str]) -> tuple[Any, Any]:
        ids, offsets = tokenizer.encode_batch_flat(texts)
        width = np.uint64 if len(offsets) == 8 * (len(texts) + 1) else np.uint32
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, width)

    return Calls(
        encode=tokenizer.encode_ordinary,
        encode_batch=one_by_one(tokenizer.encode_ordinary) if threads == 1 else tokenizer.encode_batch,
        encode_array=lambda text: np.frombuffer(tokenizer.encode_flat(text), np.uint32),
        encode_batch_array=encode_batch_array,
        decode=tokenizer.decode if files.model.exists() else tokenizer.decode_lossy,
    )


def load_kitoken(files: VocabularyFiles, threads: int) -> Calls:
    """From the model, or the rank file, where it guesses the split from the size of the vocabulary. One thread only."""
    from kitoken import Kitoken

    model = files.model
    tokenizer = Kitoken.from_sentencepiece_file(str(model)) if model.exists() else Kitoken.from_tiktoken_file(str(files.ranks))
    return Calls(
        encode=tokenizer.encode,
        encode_batch=tokenizer.encode_all if threads == 1 else None,
        decode=lambda ids: tokenizer.decode(ids).decode("utf-8", "replace"),
    )


def load_rs_bpe(files: VocabularyFiles, threads: int) -> Calls:
    """Has its vocabularies compiled in."""
    from rs_bpe.bpe import openai

    name = bundled(files, {"cl100k": "cl100k_base", "o200k": "o200k_base"})
    tokenizer = getattr(openai, name)()
    return Calls(
        encode=tokenizer.encode,
        encode_batch=(
            one_by_one(tokenizer.encode) if threads == 1 else lambda texts: tokenizer.encode_batch_parallel(texts, None)[0]
        ),
        decode=tokenizer.decode,
    )


# ---------------------------------------------------------------------------------------------------------------------


def held(path: Path) -> str:
    """The path of a file, for a library that needs it; not every form holds every vocabulary."""
    if not path.exists():
        raise Unsupported(f"needs {path.name}, which cannot hold this vocabulary")
    return str(path)


def bundled(files: VocabularyFiles, names: dict[str, str]) -> str:
    """The library's own name of a vocabulary that it carries."""
    name = names.get(files.name)
    if name is None:
        raise Unsupported(f"has only {', '.join(names)}")
    return name


def one_by_one(encode: Callable[[str], Any]) -> Callable[[Iterable[str]], list[Any]]:
    """A batch call that is a plain loop: with one thread a loop is what a caller would write."""
    return lambda texts: [encode(text) for text in texts]


def lists_of(encode_batch_array: Callable[[list[str]], Any]) -> Callable[[list[str]], list[Ids]]:
    """Lists by way of arrays, where a library uses threads for arrays alone."""
    return lambda texts: [row.tolist() for row in rows_of(encode_batch_array(texts))]


Loader = Callable[[VocabularyFiles, int], Calls]

# By name on PyPI, or of a module, which is how they are called in the report.
PEERS: dict[str, Loader] = {
    OURS: load_hf_bpe,
    "tiktoken": load_tiktoken,
    "hf_bpe.tiktoken": load_tiktoken_face,
    "sentencepiece": load_sentencepiece,
    "tokenizers": load_tokenizers,
    "transformers": load_transformers,
    "gigatoken": load_gigatoken,
    "fastokens": load_fastokens,
    "toktok-rs": load_toktok,
    "quicktok-v1": load_quicktok,
    "tuetoken": load_tuetoken,
    "splintr-rs": load_splintr,
    "kitoken": load_kitoken,
    "rs-bpe": load_rs_bpe,
}
