"""Where commands read text from and write tokenizers to."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

import conversion
from conversion.huggingface import TOKENIZER_FILE
from conversion.registry import find_format, format_for_writing
from conversion.report import report_file, report_of
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import read_bytes, read_text, write_atomically
from hf_bpe.spec import TokenizerSpec

__all__ = ["HUGGING_FACE", "STDIN", "read_input", "refuse_existing", "save", "target_format"]

HUGGING_FACE = "huggingface"
STDIN = Path("-")


def read_input(text: str | None, file: Path | None) -> str:
    """The text itself, else that of the file, else that of standard input. `-` is standard input too."""
    if text not in (None, "-"):
        return str(text)
    if file not in (None, STDIN):
        return read_text(file)
    content = sys.stdin.buffer.read()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"standard input: not UTF-8 text: byte 0x{content[error.start]:02X} at offset {error.start}; convert it to UTF-8 first"
        ) from None


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
    """The format to write: the one given, else what the name says, else, for a name without an ending, a Hugging Face folder."""
    try:
        if given is not None:
            return find_format(given).name
        return format_for_writing(target).name if target.suffix[1:].isalpha() else HUGGING_FACE
    except FormatError as error:
        raise typer.BadParameter(str(error).replace("choose one with format=:", "choose one of")) from None


def save(spec: TokenizerSpec, target: Path, file_format: str, **options: Any) -> conversion.Converted:
    """Write a tokenizer in a format, with the options of `conversion.convert`; the plugin writes a Hugging Face folder."""
    if file_format != HUGGING_FACE or options.get("dry_run"):
        return conversion.convert(spec, target, format=file_format, **options)
    verdict = conversion.check(spec, HUGGING_FACE)
    verdict.refuse(bool(options.get("allow_lossy")))
    if verdict.kind == "lossy":
        spec, verdict = _nearest(spec, options)
    from hf_bpe.plugin import HfBpeTokenizer  # imports transformers, which takes seconds

    paths = [Path(path) for path in HfBpeTokenizer.from_spec(spec).save_pretrained(target)]
    report = report_file(target.name, is_folder=True)
    if verdict.kind == "lossy":
        contents = {path.name: read_bytes(path) for path in paths}
        paths += write_atomically(target, {report: report_of(verdict, contents)})
    else:
        target.joinpath(report).unlink(missing_ok=True)  # of what was there before
    return conversion.Converted(verdict, tuple(paths))


def _nearest(spec: TokenizerSpec, options: dict[str, Any]) -> tuple[TokenizerSpec, conversion.Verdict]:
    """What the nearest tokenizer.json is read as, which a folder can then hold, and what it loses."""
    with tempfile.TemporaryDirectory(prefix="hf-bpe-") as folder:
        file = Path(folder, TOKENIZER_FILE)
        verdict = conversion.convert(spec, file, **options).verdict
        try:
            return conversion.load(file), replace(verdict, format=HUGGING_FACE)
        except ConversionRefused as refusal:
            reason = str(refusal).removeprefix(f"{file}: ")
            raise ConversionRefused(
                f"the nearest {TOKENIZER_FILE} is one that no folder of this package can hold: {reason}. Convert to a file of that name "
                "to get it by itself"
            ) from None
