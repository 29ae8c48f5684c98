"""The tokenizers that somebody names: by path, or by the name of an example that needs no file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import conversion
from hf_bpe.analysis.loaded import example_named
from hf_bpe.chat import own_template
from hf_bpe.errors import FormatError
from hf_bpe.files import path_of
from hf_bpe.playground.shelf import OwnTemplate
from hf_bpe.spec import TokenizerSpec

__all__ = ["Given", "read_given"]


class Given(NamedTuple):
    """A tokenizer. origin: where it came from, in words. path: None of an example. load: makes its description."""

    name: str
    origin: str
    path: Path | None
    load: Callable[[], TokenizerSpec]
    chat: OwnTemplate = (None, {})


def read_given(tokenizers: Iterable[str | os.PathLike[str]], **options: Any) -> list[Given]:
    """What is named, files read. options: those of `conversion.load`; of several tokenizers, for those that cannot be read
    without.

    Raises `FormatError` for a file that is no tokenizer.

    >>> [given.name for given in read_given(["bytes"])]
    ['bytes']
    """
    paths = [path_of(given) for given in tokenizers]
    found = []
    for path in paths:
        if not path.exists():
            example = example_named(str(path))
            found.append(Given(example.name, example.about, None, example.load))
        else:
            spec = _read(path, options, alone=len(paths) == 1)
            found.append(Given(_name_of(path), str(path), path, partial(_same, spec), own_template(path)))
    return found


def _read(path: Path, options: dict[str, Any], *, alone: bool) -> TokenizerSpec:
    """Of several only some may need a pattern, and the others refuse one."""
    if not alone and options:
        with suppress(FormatError):
            return conversion.load(path)
    return conversion.load(path, **options)


def _same(spec: TokenizerSpec) -> TokenizerSpec:
    return spec


def _name_of(path: Path) -> str:
    """What a tokenizer is called on the page: its folder, where the file's own name says nothing.

    >>> _name_of(Path("models/gpt2/tokenizer.json")), _name_of(Path("cl100k_base.tiktoken"))
    ('gpt2', 'cl100k_base.tiktoken')
    """
    whole = path.resolve()
    says_nothing = whole.name in {"tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "encoder.json"}
    return (whole.parent.name if says_nothing else "") or whole.name
