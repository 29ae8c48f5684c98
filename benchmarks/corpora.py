"""Text to measure on: files named on the command line, else text that the machine has anyway."""

from __future__ import annotations

import site
import sysconfig
from collections.abc import Iterator
from pathlib import Path

KINDS = (".py", ".pyi", ".txt", ".rst", ".md")


def installed_text() -> Iterator[str]:
    """Sources and documents of the standard library, then of the installed packages, in a fixed order."""
    roots = [Path(sysconfig.get_paths()["stdlib"]), *map(Path, site.getsitepackages())]
    seen: set[Path] = set()
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.suffix in KINDS and path.is_file() and path not in seen:
                seen.add(path)
                try:
                    yield path.read_text("utf-8")
                except (UnicodeDecodeError, OSError):
                    continue  # some packages test encodings with files that are not UTF-8


def documents(files: list[Path], megabytes: int) -> list[str]:
    """About `megabytes` of text as a list of documents; files are cut at lines holding `<|endoftext|>`."""
    source = (d for path in files for d in path.read_text("utf-8").split("\n<|endoftext|>\n")) if files else installed_text()
    texts: list[str] = []
    size = 0
    for text in source:
        texts.append(text)
        size += len(text.encode())
        if size >= megabytes * 1_000_000:
            break
    return texts


def size_of(texts: list[str]) -> int:
    """Bytes of UTF-8."""
    return sum(len(text.encode()) for text in texts)
