"""The playground as a folder that is a Hugging Face Space."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import conversion
import hf_bpe
from conversion.registry import locate
from hf_bpe.errors import PlaygroundError
from hf_bpe.files import path_of, write_atomically

__all__ = ["write_space"]

_WRITTEN = ("app.py", "Dockerfile", "README.md", "requirements.txt")


def write_space(
    folder: str | os.PathLike[str], tokenizers: Iterable[str | os.PathLike[str]] = (), *, force: bool = False, **options: Any
) -> list[Path]:
    """Write a folder that a Space can be made of as it is. Returns the files. tokenizers: are converted into it, as Hugging Face folders.
    """
    raise NotImplementedError
