"""From paths to a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

from hf_bpe.analysis.loaded import loaded_examples
from hf_bpe.errors import PlaygroundError
from hf_bpe.playground.reading import read_given
from hf_bpe.playground.serving import DEFAULT_HOST, serve
from hf_bpe.playground.shelf import Shelf

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

    host: 127.0.0.1, so that only this machine can open it, unless another is given. port: None for 7860, or the next that is
    free. share: also under an address that anybody can open; needs gradio. ready: called with each address. options: those of
    `conversion.load`.

    Raises `PlaygroundError` where the packages of the extra are missing and where it cannot listen, `FormatError` for a file
    that is no tokenizer.

    >>> launch(["gpt2/tokenizer.json"])  # doctest: +SKIP
    """
    _check_installed()
    shelf = shelf_of(tokenizers, **options)
    serve(shelf, host=host, port=port, share=share, ready=ready)


def shelf_of(tokenizers: Iterable[str | os.PathLike[str]], **options: Any) -> Shelf:
    """The tokenizers that are named, see `read_given`, and shown first; and the other examples, which are read when they are
    looked at.

    Where nothing is named, the first three examples are shown.

    >>> [shown.name for shown in shelf_of(["bytes"]).given() if shown.first]
    ['bytes']
    """
    shelf = Shelf()
    named = read_given(tokenizers, **options)
    for given in named:
        shelf.add(given.name, given.load, given.origin, given.chat, first=True)
    others = [example for example in loaded_examples() if example.about not in [given.origin for given in named]]
    for number, example in enumerate(others):
        shelf.add(example.name, example.load, example.about, first=not named and number < _SHOWN)
    return shelf


def _check_installed() -> None:
    missing = [name for name in ("starlette", "uvicorn", "python_multipart") if find_spec(name) is None]
    if missing:
        raise PlaygroundError(
            f"the playground needs {', '.join(missing)}, not installed here: pip install 'hf-bpe[playground]'"
        )
