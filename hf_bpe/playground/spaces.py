"""The playground as a folder that is a Hugging Face Space."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import conversion
import hf_bpe
from hf_bpe.errors import HfBpeError, PlaygroundError
from hf_bpe.files import path_of, write_atomically
from hf_bpe.playground.reading import Given, read_given

__all__ = ["write_space"]

_FILES = ("app.py", "Dockerfile", "README.md", "requirements.txt")
_VERSION = "HF_BPE_VERSION"


def write_space(
    folder: str | os.PathLike[str], tokenizers: Iterable[str | os.PathLike[str]] = (), **options: Any
) -> list[Path]:
    """Write a folder that is a Space as it is. Returns the files. tokenizers: go into it as Hugging Face folders, with their
    chat templates.

    options: those of `conversion.load`. Raises `PlaygroundError` for a tokenizer that such a folder cannot hold exactly, and
    for two of one name.
    """
    contents = {name: _template(name) for name in _FILES}
    for given in read_given(tokenizers, **options):
        name = f"tokenizers/{given.name}"
        if any(written.startswith(f"{name}/") for written in contents):
            raise PlaygroundError(
                f"{given.origin}: a tokenizer called {given.name!r} is there already; rename one of the folders"
            )
        contents |= {f"{name}/{file}": content for file, content in _as_folder(given).items()}
    return write_atomically(path_of(folder), contents)


def _template(name: str) -> bytes:
    text = files("hf_bpe.playground").joinpath(f"space/{name}").read_text("utf-8")
    return text.replace(_VERSION, hf_bpe.__version__).encode()


def _as_folder(given: Given) -> dict[str, bytes]:
    """A tokenizer as the files of a Hugging Face folder."""
    with tempfile.TemporaryDirectory(prefix="hf-bpe-space-") as kept:
        target = Path(kept) / "tokenizer"
        try:
            conversion.convert(given.load(), target, format="huggingface", source=given.path)
        except HfBpeError as error:
            raise PlaygroundError(f"{given.origin}: cannot go into a Space: {error}") from None
        return {file.relative_to(target).as_posix(): file.read_bytes() for file in sorted(target.rglob("*")) if file.is_file()}
