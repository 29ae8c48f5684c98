"""Lints about files as such: damaged, refused, or saying different things."""

from __future__ import annotations

from collections.abc import Iterator

from conversion.json_shapes import quoted
from hf_bpe.doctor.finding import Problem, lint
from hf_bpe.doctor.folder import TOKENIZER, Folder
from hf_bpe.doctor.vocabularies import RawVocabulary
from hf_bpe.errors import ConversionRefused, FormatError

_FETCH = "Fetch or write the file again"


@lint("error")
def damaged_file(folder: Folder) -> Iterator[Problem]:
    """A file that cannot be parsed, or that contradicts itself."""
    for name, message in folder.damaged.items():
        yield Problem(name, f"No program reads it: {message}", f"{_FETCH}.")
    for reading in folder.readings:
        if isinstance(reading.refusal, FormatError) and reading.file not in folder.damaged:
            what = f"hf_bpe does not read it, and others may stumble: {reading.refusal}"
            yield Problem(reading.file, what, "Do what the message says.")


@lint("warning")
def refused(folder: Folder) -> Iterator[Problem]:
    """A sound file that hf_bpe cannot run exactly."""
    for reading in folder.readings:
        if isinstance(reading.refusal, ConversionRefused):
            yield Problem(
                reading.file,
                f"hf_bpe cannot run or convert it exactly, and says so instead of giving other ids: {reading.refusal}",
                "Use it with the library it was made for; here nothing is wrong with the file itself.",
            )


@lint("error")
def refused_by_tokenizers(folder: Folder) -> Iterator[Problem]:
    """A tokenizer.json that the tokenizers library does not load."""
    if folder.stock is not None and folder.stock.refusal is not None:
        yield Problem(
            TOKENIZER,
            f"transformers, text-generation-inference and all that use the tokenizers library fail to load it: {folder.stock.refusal}",
            "Correct the place that the message names, or write the file again.",
        )


@lint("error")
def duplicate_key(folder: Folder) -> Iterator[Problem]:
    """A JSON key that stands twice in one object."""
    for name, key in folder.repeated_keys:
        yield Problem(
            name,
            f"The key {quoted(key)} stands twice in one object. Readers differ: some take the first value, some the last, some refuse",
            "Keep one of the two.",
        )


@lint("error")
def files_disagree(folder: Folder) -> Iterator[Problem]:
    """Two files that give one token two ids, or one id two tokens."""
    ids: dict[str, tuple[int, str]] = {}
    owners: dict[int, tuple[str, str]] = {}
    for content, token_id, place in folder.added_tokens():
        first_id, first_place = ids.setdefault(content, (token_id, place))
        owner, owner_place = owners.setdefault(token_id, (content, place))
        if first_id != token_id and not _same_file(first_place, place):
            yield _disagreement(quoted(content), f"id {first_id}", first_place, f"id {token_id}", place)
        elif owner != content and not _same_file(owner_place, place):
            yield _disagreement(f"Id {token_id}", quoted(owner), owner_place, quoted(content), place)
    main = next((v for v in folder.vocabularies if v.file == TOKENIZER), None)
    if main is not None:
        yield from (problem for other in folder.vocabularies for problem in _moved_tokens(main, other))


_COPIES = ("vocab.json", "encoder.json", "tokenizer.model")
"""Files that other programs read in place of tokenizer.json."""


def _moved_tokens(main: RawVocabulary, other: RawVocabulary) -> Iterator[Problem]:
    if other.file not in _COPIES or other.spelling != main.spelling:
        return
    moved = [token for token, token_id in other.entries if main.tokens.get(token, token_id) != token_id]
    if moved:
        what = f"{len(moved)} tokens, such as {quoted(moved[0])},"
        ids = (f"id {vocabulary.tokens[moved[0]]}" for vocabulary in (main, other))
        yield _disagreement(what, next(ids), main.place, next(ids), other.place, "have")


def _disagreement(what: str, first: str, first_place: str, second: str, second_place: str, verb: str = "is") -> Problem:
    return Problem(
        second_place,
        f"{what} {verb} {first} in {first_place}, but {second} here. Which one counts depends on the program and its version",
        f"Keep what the model was trained with (usually {TOKENIZER}), and write the other file again or delete it.",
    )


def _same_file(a: str, b: str) -> bool:
    return a.partition(":")[0] == b.partition(":")[0]
