"""A corpus in all formats, some of it worth a part of its own."""

from __future__ import annotations

from pathlib import Path

from tests.encoding.support import SEPARATOR, TEXTS, lines, write, write_parquet
from tests.support.text import generated_text


def write_corpus(folder: Path) -> Path:
    """A file of each format, one of them empty."""
    folder.mkdir()
    write(folder / "a.jsonl", lines())
    write(folder / "b.txt", SEPARATOR.join(TEXTS[5:9]).encode())
    write(folder / "c.jsonl.zst", lines([generated_text(100 + number, 300) for number in range(20)]))
    write(folder / "d.jsonl", b"")
    write(folder / "e.txt.gz", generated_text(7, 5000).encode())
    write_parquet(folder / "f.parquet", TEXTS[:7], row_group_size=3)
    return folder
