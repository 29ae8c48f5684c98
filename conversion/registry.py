"""All formats, and finding the one a file is in: by what it holds, never by how large its vocabulary is."""

from __future__ import annotations

from pathlib import Path

from conversion import gguf, gpt2, huggingface, minbpe, sentencepiece, tekken, tiktoken, tokenizer_json
from conversion.format import Format
from conversion.sidecar import FOLDER_SIDECAR
from hf_bpe.errors import FormatError

__all__ = ["FORMATS", "find_format", "format_for_reading", "format_for_writing", "locate"]

# In the order they are asked: a folder with a tokenizer.json may also hold vocab.json and merges.txt, as transformers writes
# them, and the names of GPT-2's files tell more than that they are JSON. tokenizer.json is any JSON that is nothing else.
FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        huggingface.FORMAT,
        *gpt2.FORMATS,
        *sentencepiece.FORMATS,
        tiktoken.FORMAT,
        tiktoken.PLUGIN_FORMAT,
        tekken.FORMAT,
        minbpe.FORMAT,
        gguf.FORMAT,
        tokenizer_json.FORMAT,
    )
}

_BY_SUFFIX = dict(
    zip((".tiktoken", ".gguf", ".model", ".vocab"), (tiktoken.FORMAT, gguf.FORMAT, *sentencepiece.FORMATS), strict=True)
)

_HEAD = 4096


def find_format(name: str) -> Format:
    """The format of that name. Raises `FormatError` listing the names."""
    try:
        return FORMATS[name]
    except KeyError:
        raise FormatError(f"no format is named {name!r}; the formats are {_names()}") from None


def locate(path: Path, format_name: str | None = None) -> tuple[Path, Format]:
    """Where a tokenizer is, and its format: the path itself, or the one file of a folder that holds one.

    Raises `FormatError` for a path that is in none of the formats, and for a folder with several tokenizers in files.
    """
    chosen = None if format_name is None else find_format(format_name)
    if path.is_dir() and not any(
        each.is_folder and each.recognises(path, b"") for each in ([chosen] if chosen else FORMATS.values())
    ):
        path = _file_in(path, chosen)
    return path, chosen or format_for_reading(path)


def _file_in(folder: Path, chosen: Format | None) -> Path:
    """The one file in a folder that has the name of one of the format; the folder itself where there is none."""
    names = {name for each in ([chosen] if chosen else FORMATS.values()) if not each.is_folder for name in each.in_folder}
    files = sorted(
        {path for name in names for path in folder.glob(name) if path.is_file() and not path.name.endswith(FOLDER_SIDECAR)}
    )
    if len(files) > 1:
        listed = ", ".join(file.name for file in files)
        raise FormatError(f"{folder}: holds several files that may be tokenizers, {listed}; give the path of one of them")
    if files:
        return files[0]
    if chosen is not None:
        looked_for = " or ".join(chosen.in_folder) or f"a file of that format by its own name ({chosen.description})"
        raise FormatError(f"{folder}: is a folder, and {chosen.name} was asked for; it holds no {looked_for}")
    return folder


def format_for_reading(path: Path) -> Format:
    """The format a file or folder is in. Raises `FormatError` for one that is missing, empty or in none of them."""
    head = _head(path)
    for candidate in FORMATS.values():
        if candidate.recognises(path, head):
            return candidate
    raise FormatError(f"{path}: {_why_unknown(path, head)}; the formats are {_names()}: choose one with format=")


def format_for_writing(path: Path) -> Format:
    """The format a name asks for: by its ending, or, for a name without one, a Hugging Face folder.

    Raises `FormatError` where it could be several.

    >>> format_for_writing(Path("x.gguf")).name, format_for_writing(Path("my-model-v1.5")).name
    ('gguf', 'huggingface')
    """
    if path.suffix in _BY_SUFFIX:
        return _BY_SUFFIX[path.suffix]
    if path.name.endswith(huggingface.TOKENIZER_FILE):
        return tokenizer_json.FORMAT
    if path.suffix == ".json" and path.name.startswith(tekken.FORMAT.name):
        return tekken.FORMAT
    if not path.suffix[1:].isalpha():
        return huggingface.FORMAT
    raise FormatError(f"{path}: the name does not say which format to write; choose one with format=: {_names()}")


def _head(path: Path) -> bytes:
    if path.is_dir():
        return b""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror or error}") from error


def _why_unknown(path: Path, head: bytes) -> str:
    if path.is_dir():
        names = dict.fromkeys(name for each in FORMATS.values() for name in each.in_folder)
        return f"a folder in which nothing is called {', '.join(names)}"
    if not head.strip():
        what = "begins with nothing but white space" if head else "is empty"
        return f"the file {what}; it was truncated, or it is the wrong file"
    return f"in no format known here; it begins {head[:40]!r}"


def _names() -> str:
    return ", ".join(FORMATS)
