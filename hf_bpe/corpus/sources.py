"""From the paths a user names to the files that are read: which, in which order, in which format."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from hf_bpe.errors import CorpusError

__all__ = ["Paths", "Source", "find_sources"]

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
Format: TypeAlias = Literal["text", "jsonl", "parquet"]
Compression: TypeAlias = Literal["gzip", "zstd"]

_FORMATS: dict[str, Format] = {
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
# Files that nobody means as text. Others with an ending unknown here are text if they are named one by one.
_NOT_TEXT = {
    **dict.fromkeys(
        (".bz2", ".xz", ".lz4", ".zip", ".tar", ".tgz", ".7z", ".br"), "unpack it first, or compress with gzip or zstd"
    ),
    **dict.fromkeys((".arrow", ".feather", ".avro", ".orc", ".pkl"), "write it as Parquet first"),
    **dict.fromkeys((".npy", ".npz", ".bin", ".idx", ".safetensors", ".pdf", ".docx"), "it does not hold text"),
}


@dataclass(frozen=True)
class Source:
    """One file of a corpus, as it was when it was found.

    size: bytes on disk. mtime_ns: when it was last changed, in nanoseconds since 1970.
    """

    path: Path
    format: Format
    compression: Compression | None
    size: int
    mtime_ns: int

    @property
    def is_plain_text(self) -> bool:
        """Whether its bytes are those of its text."""
        return self.format == "text" and self.compression is None

    def open(self) -> BinaryIO:
        """The file, to read its bytes."""
        return self.path.open("rb")

    def describe(self) -> dict[str, Any]:
        """What tells whether the file is still the same, for records."""
        compression = {"compression": self.compression} if self.compression else {}
        return {"path": str(self.path), "format": self.format, **compression, "size": self.size, "mtime_ns": self.mtime_ns}

    def check_unchanged(self) -> None:
        """Raise `CorpusError` if the file is not what it was."""
        now = self.path.stat()
        if (now.st_size, now.st_mtime_ns) != (self.size, self.mtime_ns):
            raise CorpusError(f"{self.path}: was changed while it was read; read it again when nothing writes to it")


def find_sources(paths: Paths) -> list[Source]:
    """The files of a corpus, in the order given; those of a folder or a glob pattern sorted by path.

    A folder stands for all files in it and below, but not for names that begin with a dot or an underscore. A file named
    by itself or by a pattern is text where its ending does not say otherwise; in a folder such a file is refused.

    Raises `CorpusError` naming what does not exist, cannot be read, is no file, is no text, is named twice, or is empty.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [source for path in given for source in _expand(path)]
    if not found:
        raise CorpusError("no files were named")
    seen: set[Path] = set()
    for source in found:
        if source.path in seen:
            raise CorpusError(f"{source.path}: named twice; its documents would be in the corpus twice")
        seen.add(source.path)
    return found


def _expand(given: str | os.PathLike[str]) -> list[Source]:
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"a path is a str or a pathlib.Path, not {given!r:.80}; texts in memory are for Encoder.encode_batch")
    path = Path(given)
    if path.is_dir():
        return _folder(path)
    if not path.exists() and glob.has_magic(os.fspath(given)):
        matches = sorted(Path(match) for match in glob.glob(os.fspath(given), recursive=True))  # noqa: PTH207 - absolute patterns too
        files = [match for match in matches if not match.is_dir()]
        if not files:
            raise CorpusError(f"{os.fspath(given)}: no file matches this pattern")
        return [_source(file) for file in files]
    return [_source(path)]


def _folder(folder: Path) -> list[Source]:
    def complain(error: OSError) -> None:
        raise CorpusError(f"{error.filename}: cannot be read: {error.strerror}") from error

    files = []
    for parent, folders, names in os.walk(folder, onerror=complain):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        files += [Path(parent, name) for name in names if not name.startswith((".", "_"))]
    if not files:
        raise CorpusError(f"{folder}: is a folder without files to read")
    unknown = [file for file in sorted(files) if _kind(file)[0] is None]
    if unknown:
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        pattern = folder / "**" / "*.jsonl"
        raise CorpusError(
            f"{unknown[0]}{more}: its ending does not say what it holds. Name the files you want, by a pattern such as "
            f"{os.fspath(pattern)!r}; known endings are {', '.join(_FORMATS)}, the first six also with .gz or .zst"
        )
    return [_source(file) for file in sorted(files)]


def _kind(path: Path) -> tuple[Format | None, Compression | None]:
    suffix = path.suffix.lower()
    compression = _COMPRESSIONS.get(suffix)
    if compression is not None:
        suffix = path.with_suffix("").suffix.lower()
    return _FORMATS.get(suffix), compression


def _source(path: Path) -> Source:
    format_, compression = _kind(path)
    inner = (path.with_suffix("") if compression else path).suffix.lower()
    if inner in _NOT_TEXT:
        raise CorpusError(f"{path}: {inner} files cannot be read; {_NOT_TEXT[inner]}")
    if format_ == "parquet" and compression:
        raise CorpusError(f"{path}: Parquet files are compressed inside; unpack it first")
    try:
        path = path.resolve(strict=True)
        if not path.is_file():
            raise CorpusError(f"{path}: is not a regular file; what comes through a pipe can be read only once, save it first")
        with path.open("rb"):
            stat = path.stat()
    except OSError as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror or error}"
        raise CorpusError(f"{path}: {what}") from error
    return Source(path, format_ or "text", compression, stat.st_size, stat.st_mtime_ns)
