"""Libraries fail in many ways, panics of Rust among them, which are no `Exception`. Whatever they do becomes a `LoaderError`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from conversion.verification.side import Side
from hf_bpe.errors import HfBpeError, LoaderError

__all__ = ["guarded", "library_errors"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_NOT_THE_LIBRARY = (HfBpeError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)


@contextmanager
def library_errors(what: str) -> Iterator[None]:
    """Raise `LoaderError` for what a library raises; what it failed at stands first in the message."""
    try:
        yield
    except _NOT_THE_LIBRARY:
        raise
    except BaseException as error:  # PanicException of PyO3 is no Exception, and cannot be imported
        raise LoaderError(f"{what}: {error}") from error


def guarded(side: Side) -> Side:
    """The side with everything that calls its library guarded. Errors name the text or the ids."""
    return replace(
        side,
        readings={reading: _each(side, encode, "encode") for reading, encode in side.readings.items()},
        decode=_each(side, side.decode, "decode"),
        pieces=None if side.pieces is None else _pieces(side, side.pieces),
    )


def _each(side: Side, call: Callable[[Sequence[Item]], list[Result]], verb: str) -> Callable[[Sequence[Item]], list[Result]]:
    def guarded_call(items: Sequence[Item]) -> list[Result]:
        try:
            return call(items)
        except _NOT_THE_LIBRARY:
            raise
        except BaseException:
            with library_errors(f"{side.label} does not {verb} {_failing(call, items)!r:.200}"):
                raise

    return guarded_call


def _failing(call: Callable[[Sequence[Item]], object], items: Sequence[Item]) -> Item:
    """The first that the library does not take by itself, else the first one."""
    for item in items:
        try:
            with library_errors(""):
                call([item])
        except HfBpeError:
            return item
    return items[0]


def _pieces(side: Side, pieces: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    def guarded_call(text: str) -> list[str]:
        with library_errors(f"{side.label} does not split {text!r:.200}"):
            return pieces(text)

    return guarded_call
