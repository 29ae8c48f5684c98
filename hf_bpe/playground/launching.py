"""From paths to a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import conversion
from hf_bpe.analysis.loaded import loaded_examples
from hf_bpe.chat import own_template
from hf_bpe.errors import PlaygroundError
from hf_bpe.files import path_of
from hf_bpe.playground.serving import DEFAULT_HOST, serve
from hf_bpe.playground.shelf import Shelf, name_of

__all__ = ["launch", "shelf_of"]


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
    shelf = shelf_of(tokenizers, **options)
    serve(shelf, host=host, port=port, share=share, ready=ready)


def shelf_of(tokenizers: Iterable[str | os.PathLike[str]], **options: Any) -> Shelf:
    """The tokenizers at these paths, read now, and the examples, read when they are looked at.

    >>> [shown.name for shown in shelf_of([]).given()][-2:]
    ['small', 'bytes']
    """
    shelf = Shelf()
    for given in tokenizers:
        path = path_of(given)
        spec = conversion.load(path, **options)
        shelf.add(name_of(path), lambda spec=spec: spec, str(path), own_template(path))
    for example in loaded_examples():
        shelf.add(example.name, example.load, example.about)
    return shelf


def check_installed() -> None:
    """Raise `PlaygroundError` where a package of the extra is missing."""
    try:
        import multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise PlaygroundError(
            f"the playground needs {error.name}, which is not installed: pip install 'hf-bpe[playground]'"
        ) from None
