"""Corpora that commands encode, with a progress bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conversion.verification.corpus import corpus_size, read_corpus
from hf_bpe.cli.console import err
from hf_bpe.progress import reporting_bytes

__all__ = ["read_texts"]


def read_texts(paths: Sequence[str], text_field: str = "text", *, quiet: bool, doing: str) -> Iterator[str]:
    """The texts of a corpus, one at a time: called again, it reads again. doing: what a progress bar says.

    Raises `CorpusError` for a wrong name at once, for what cannot be read when it comes to it.
    """
    return _texts(paths, corpus_size(paths), text_field, not quiet and err.is_terminal, doing)


def _texts(paths: Sequence[str], size: int, text_field: str, shown: bool, doing: str) -> Iterator[str]:
    with reporting_bytes(doing, size, shown=shown) as report:
        for document in read_corpus(paths, text_field=text_field, report=report):
            yield document.text
