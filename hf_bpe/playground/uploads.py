"""Files that a visitor uploads: read by the same readers as files on the command line, and gone when they are read."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import conversion
from hf_bpe.chat import own_template
from hf_bpe.errors import FormatError, HfBpeError, PlaygroundError
from hf_bpe.playground.shelf import OwnTemplate
from hf_bpe.spec import TokenizerSpec

__all__ = ["MOST_BYTES", "MOST_FILES", "Read", "read_upload"]

MOST_BYTES = 100_000_000
"""The largest tokenizer.json known, of 256,000 tokens, has 34 MB."""
MOST_FILES = 12


_WORDS = {
    ": choose one with format=": "",
    "pass pattern=": "choose the split pattern, ",
    "load it without pattern= and special_tokens= and change the result with spec.replace(...)": "leave the split pattern empty",
    "cannot be read: No such file or directory": "is missing; choose it together with the others",
}
"""What the page says where the library names arguments and files."""


class Read(NamedTuple):
    """An uploaded tokenizer."""

    name: str
    spec: TokenizerSpec
    chat: OwnTemplate


def read_upload(files: Mapping[str, bytes], pattern: str | None = None) -> Read:
    """A tokenizer out of files by name: one, or those that a folder would hold. They go into a folder that is then removed.

    pattern: how text is split, for files that do not say it; None: the files say it.

    Raises `PlaygroundError` saying what is wrong with which file, and what to do.

    >>> read_upload({"a/tokenizer.json": b"{}", "b/tokenizer.json": b"{}"})
    Traceback (most recent call last):
    ...
    hf_bpe.errors.PlaygroundError: two of these files have the same name; choose the files of one tokenizer
    """
    names = {name: plain_name(name) for name in files}
    if not files or len(files) > MOST_FILES:
        raise PlaygroundError(f"choose one tokenizer: a file, or up to {MOST_FILES} files that belong together")
    if len(set(names.values())) < len(names):
        raise PlaygroundError("two of these files have the same name; choose the files of one tokenizer")
    with tempfile.TemporaryDirectory(prefix="hf-bpe-playground-") as kept:
        folder = Path(kept)
        for name, content in files.items():
            (folder / names[name]).write_bytes(content)
        name = _name(list(names.values()))
        path = folder / name if len(files) == 1 else folder
        options: dict[str, Any] = {} if pattern is None else {"pattern": pattern}
        try:
            spec = _load(path, folder / name, options)
            return Read(name, spec, own_template(path))
        except (HfBpeError, OSError) as error:
            raise PlaygroundError(_in_words_of_the_page(str(error), folder)) from None


def _load(path: Path, named: Path, options: dict[str, Any]) -> TokenizerSpec:
    """What is at a path; of a folder that is none of a tokenizer the file that says most, with what stands beside it."""
    try:
        return conversion.load(path, **options)
    except FormatError:
        if path.is_dir():
            with suppress(FormatError):
                return conversion.load(named, **options)
        raise


def plain_name(given: str) -> str:
    """The last part of a name that a browser sent, which may be anything. Raises `PlaygroundError` for what names no file.

    >>> plain_name("../../etc/tokenizer.json")
    'tokenizer.json'
    """
    name = given.replace("\\", "/").rpartition("/")[2]
    if name in ("", ".", "..") or not name.isprintable() or len(name.encode("utf-8", "replace")) > 200:
        raise PlaygroundError(f"{given!r:.80} is no name of a file; rename it")
    return name


def _name(names: list[str]) -> str:
    """What the upload is called: its only file, or the one that says most."""
    telling = [name for name in names if name.endswith((".json", ".model", ".tiktoken", ".gguf"))]
    return min(telling or names, key=lambda name: (name.endswith("_config.json"), name.startswith("special_tokens"), name))


def _in_words_of_the_page(message: str, folder: Path) -> str:
    """A message without the folder that nobody knows of, and with what to choose on the page.

    >>> _in_words_of_the_page("/tmp/x/vocab.bpe: cannot be read: No such file or directory", Path("/tmp/x"))
    'vocab.bpe: is missing; choose it together with the others'
    """
    bare = message.replace(f"{folder}/", "").replace(f"{folder}:", "these files:").replace(str(folder), "these files")
    for of_the_library, of_the_page in _WORDS.items():
        bare = bare.replace(of_the_library, of_the_page)
    return bare
