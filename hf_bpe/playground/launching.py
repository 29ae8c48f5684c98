"""From paths to a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import conversion
from hf_bpe.analysis.loaded import loaded_examples
from hf_bpe.chat import own_template
from hf_bpe.errors import FormatError, PlaygroundError
from hf_bpe.files import path_of
from hf_bpe.playground.serving import DEFAULT_HOST, serve
from hf_bpe.playground.shelf import Shelf, name_of
from hf_bpe.spec import TokenizerSpec

__all__ = ["launch", "shelf_of"]

_SHOWN = 3


def launch(
    tokenizers: Iterable[str | os.PathLike[str]] = (),
    *,
    host: str = DEFAULT_HOST,
    port: int | None = None,
    share: bool = False,
    ready: Callable[[str], None] = lambda address: None,
    **options: Any,
) -> None:
    """Serve the page until Ctrl-C. tokenizers: files and folders; those that are there without a file are offered too.

    host: 127.0.0.1, so that only this machine can open it, unless another is given. port: None for 7860, or the next that is free. share:
    also under an address that anybody can open; needs gradio. ready: called with each address. options: those of `conversion.load`.

    Raises `PlaygroundError` where the packages of the extra are missing and where it cannot listen, `FormatError` for a file that is no
    tokenizer.

    >>> launch(["gpt2/tokenizer.json"])  # doctest: +SKIP
    """
    _check_installed()
    shelf = shelf_of(tokenizers, **options)
    serve(shelf, host=host, port=port, share=share, ready=ready)


def shelf_of(tokenizers: Iterable[str | os.PathLike[str]], **options: Any) -> Shelf:
    """The tokenizers at these paths, read now and shown first, and the examples that need no file, read when they are looked at.

    An example may also be named in place of a path. Where nothing is given, the first three examples are shown. options: of several tokenizers,
    for those that cannot be read without.

    >>> [shown.name for shown in shelf_of(["bytes"]).given() if shown.first]
    ['bytes']
    """
    shelf = Shelf()
    examples = {example.name: example for example in loaded_examples()}
    paths = [path_of(given) for given in tokenizers]
    for path in paths:
        if str(path) in examples and not path.exists():
            example = examples.pop(str(path))
            shelf.add(example.name, example.load, example.about, first=True)
        else:
            spec = _read(path, options, alone=len(paths) == 1)
            shelf.add(name_of(path), partial(_same, spec), str(path), own_template(path), first=True)
    nothing_given = not shelf.given()
    for number, example in enumerate(examples.values()):
        shelf.add(example.name, example.load, example.about, first=nothing_given and number < _SHOWN)
    return shelf


def _read(path: Path, options: dict[str, Any], *, alone: bool) -> TokenizerSpec:
    """Of several only some may need a pattern, and the others refuse one."""
    if not alone and options:
        with suppress(FormatError):
            return conversion.load(path)
    return conversion.load(path, **options)


def _same(spec: TokenizerSpec) -> TokenizerSpec:
    return spec


def _check_installed() -> None:
    missing = [name for name in ("starlette", "uvicorn", "python_multipart") if find_spec(name) is None]
    if missing:
        raise PlaygroundError(
            f"the playground needs {', '.join(missing)}, not installed here: pip install 'hf-bpe[playground]'"
        )
