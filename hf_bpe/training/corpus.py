"""From what a user calls a corpus to its texts, holding one at a time in memory."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from hf_bpe.cuts import last_cut
from hf_bpe.engine.reference import as_unicode
from hf_bpe.errors import CorpusError

__all__ = ["Corpus", "corpus_paths", "corpus_size", "lines_of", "texts_of"]

Corpus: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_BLOCK_BYTES = 1 << 20


def corpus_paths(corpus: Corpus) -> list[Path] | None:
    """The files a corpus names, or None if it is an iterable of texts.

    A single str or path is a file. A list or tuple is of files if its items are paths, or are str that all name existing
    files; a list in which some do and some do not is refused rather than guessed at.
    """
    if isinstance(corpus, str | os.PathLike):
        return [_existing(corpus)]
    if not isinstance(corpus, list | tuple):
        return None
    if any(isinstance(item, os.PathLike) for item in corpus):
        return [_existing(item) for item in corpus]
    named = [isinstance(item, str) and _names_file(item) for item in corpus]
    if corpus and all(named):
        return [Path(item) for item in corpus]
    for item, is_file in zip(corpus, named, strict=True):
        if not is_file and isinstance(item, str) and (any(named) or _LIKE_A_FILE.fullmatch(item)):
            raise CorpusError(
                f"{item!r:.80} does not name a file, though {'other items do' if any(named) else 'it looks like one'}; pass paths as "
                "pathlib.Path, and texts through an iterator: iter(texts)"
            )
    return None


# One word with a suffix, such as "corpus.txt": as a text it would be trained on without a word, to nobody's joy.
_LIKE_A_FILE = re.compile(r"\S{1,255}\.[A-Za-z0-9]{1,8}")


def _names_file(text: str) -> bool:
    try:
        return "\0" not in text and Path(text).is_file()
    except OSError:  # "File name too long": a text
        return False


def _existing(path: str | os.PathLike[str]) -> Path:
    found = Path(path)
    if not found.is_file():
        what = "is a folder" if found.is_dir() else "does not exist"
        raise CorpusError(f"corpus file {os.fspath(path)!r} {what}; pass paths of UTF-8 text files, or an iterable of texts")
    return found


def corpus_size(paths: list[Path] | None) -> int | None:
    """Bytes in the files, or None for an iterable, whose size nobody knows."""
    return None if paths is None else sum(path.stat().st_size for path in paths)


def texts_of(corpus: Corpus, *, cuttable: bool) -> Iterator[str]:
    """The texts of a corpus. A file is one text, given in parts where `cuttable` says that parts are counted alike."""
    paths = corpus_paths(corpus)
    if paths is None:
        yield from _checked(corpus)  # type: ignore[arg-type]  # a str or path has paths
        return
    for path in paths:
        yield from _parts(path) if cuttable else [_whole(path)]


def lines_of(corpus: Corpus) -> Iterator[str]:
    """The lines of a corpus, without their line feeds. Surrogates are read as in every other text."""
    paths = corpus_paths(corpus)
    if paths is None:
        for text in _checked(corpus):  # type: ignore[arg-type]  # a str or path has paths
            yield from as_unicode(text).split("\n")
        return
    for path in paths:
        begun: list[str] = []
        for block in _blocks(path):
            head, *lines = block.split("\n")
            begun.append(head)
            for line in lines:
                yield "".join(begun)
                begun = [line]
        yield "".join(begun)


def _checked(texts: Iterable[object]) -> Iterator[str]:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            hint = (
                "; a `datasets` table gives rows, pass dataset['text'] or (row['text'] for row in dataset)"
                if isinstance(text, dict)
                else ""
            )
            raise CorpusError(f"text {number} of the corpus is a {type(text).__name__}, not a str{hint}")
        yield text


def _whole(path: Path) -> str:
    return "".join(_blocks(path))


def _blocks(path: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    done = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                yield decoder.decode(block)
                done += len(block)
            yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}: not UTF-8 text: {error.reason} in the block that starts at byte {done}; convert the file to UTF-8 first"
        ) from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror or error}") from error


def _parts(path: Path) -> Iterator[str]:
    """A file in parts of about a megabyte, cut where a cut changes no piece."""
    pending = ""
    for block in _blocks(path):
        pending += block
        cut = last_cut(pending)
        if cut:
            yield pending[:cut]
            pending = pending[cut:]
    if pending:
        yield pending
