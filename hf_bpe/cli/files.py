"""Where commands read text from and write tokenizers to."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from conversion.registry import find_format, format_for_writing
from hf_bpe.errors import FormatError
from hf_bpe.files import read_text

__all__ = ["STDIN", "read_input", "refuse_existing", "target_format"]

STDIN = Path("-")


def read_input(text: str | None, file: Path | None) -> str:
    """The text itself, else that of the file, else that of standard input. `-` is standard input too."""
    if text is not None and text != "-":
        return _checked(text)
    if file not in (None, STDIN):
        return read_text(file)
    content = sys.stdin.buffer.read()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"standard input: not UTF-8 text: byte 0x{content[error.start]:02X} at offset {error.start}; convert it to UTF-8 first"
        ) from None


def _checked(text: str) -> str:
    """An argument as it is. Bytes in it that are no UTF-8 reach Python as surrogates, and would be encoded as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        what = ord(text[error.start])
        byte = f"byte 0x{what - 0xDC00:02X}" if 0xDC80 <= what <= 0xDCFF else f"the surrogate U+{what:04X}"
        raise FormatError(
            f"the text given as an argument: not UTF-8 text: {byte} after {error.start} characters; convert it to UTF-8 first"
        ) from None
    return text


def refuse_existing(target: Path, force: bool) -> None:
    """Raise `FileExistsError` for a file or a folder with something in it, unless forced; for a device or a pipe always."""
    if target.exists() and not (target.is_file() or target.is_dir()):
        # Files take their names by renaming, which would put a plain file in the place of /dev/null for everybody.
        raise FileExistsError(f"{target} is neither a file nor a folder; choose another name")
    if force or not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    what = "is a folder with files in it" if target.is_dir() else "exists"
    raise FileExistsError(f"{target} {what}; choose another name, or pass --force to write over it")


def target_format(target: Path, given: str | None) -> str:
    """The format to write: the one given, else what the name says."""
    try:
        return (format_for_writing(target) if given is None else find_format(given)).name
    except FormatError as error:
        raise typer.BadParameter(str(error).replace("choose one with format=:", "choose one of")) from None
