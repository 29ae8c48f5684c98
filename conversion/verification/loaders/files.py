"""A tokenizer on disk as loaders get it, and the libraries that they load it with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from conversion.format import Format, Given
from conversion.huggingface import TOKENIZER_FILE, deciding_file
from conversion.registry import locate
from hf_bpe.errors import LoaderError
from hf_bpe.spec import TokenizerSpec

__all__ = ["TokenizerFile", "library", "named", "read_tokenizer"]


@dataclass(frozen=True)
class TokenizerFile:
    """A file or folder, its format, and what the caller says of it. The spec is read when it is asked for."""

    path: Path
    format: Format
    given: Given

    @cached_property
    def spec(self) -> TokenizerSpec:
        """What this package reads. Raises `FormatError` or `ConversionRefused`."""
        return self.format.read(self.path, Given() if self.format.self_contained else self.given)

    def refuse(self, loader: str, formats: str) -> LoaderError:
        """The error for a loader that does not run this format."""
        return LoaderError(
            f"{self.path}: this is {self.format.description}, and {loader} runs {formats}; choose another loader"
        )


def read_tokenizer(path: Path, given: Given) -> TokenizerFile:
    """What stands at a path. Raises `FormatError` where it is no tokenizer."""
    decides = deciding_file(path)
    if decides is not None and decides.name != TOKENIZER_FILE:  # a folder with nothing but a SentencePiece model
        path = decides
    return TokenizerFile(*locate(path), given)


def library(module: str, package: str) -> Any:
    """A module that may be missing. Raises `LoaderError` saying what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise LoaderError(f"this loader needs {package}, which cannot be imported ({error}): pip install {package}") from None


def named(package: str) -> str:
    """A package and its version.

    >>> named("no-such-package")
    'no-such-package'
    """
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package
