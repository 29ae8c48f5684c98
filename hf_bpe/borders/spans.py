"""Where ids stand in their text, in bytes and in characters, and which id stands at a place."""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import index
from typing import TYPE_CHECKING, Any

from hf_bpe.borders.supported import check_encoder
from hf_bpe.engine import Encoder
from hf_bpe.engine.parts import as_unicode
from hf_bpe.errors import BorderError
from hf_bpe.streaming.rules import decoding_rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Spans", "spans_of_ids", "spans_of_text"]

_SMALLEST_WINDOW = 8


@dataclass(frozen=True)
class Spans:
    """A text, its ids, and start and end of each: arrays of int64, shape (ids, 2).

    In characters, an id that holds a part of one spans all of it. Ids are counted from 0.
    """

    text: str
    ids: list[int]
    in_bytes: NDArray[np.int64]
    in_characters: NDArray[np.int64]

    def at_byte(self, place: int) -> int | None:
        """The number of the id that a byte belongs to; None if the pattern or the normaliser dropped it.

        Raises `IndexError` for a place outside the text.

        >>> spans_of_text(encoder, "hello world").at_byte(6)  # doctest: +SKIP
        1
        """
        return _covering(self.in_bytes, place, len(self.text.encode()), "byte")

    def at_character(self, place: int) -> int | None:
        """The number of the first id that a character, or part of it, belongs to; None if it was dropped. Raises `IndexError`.

        >>> spans_of_text(encoder, "hello world").at_character(6)  # doctest: +SKIP
        1
        """
        return _covering(self.in_characters, place, len(self.text), "character")


def _covering(spans: NDArray[np.int64], place: int, size: int, unit: str) -> int | None:
    if not 0 <= place < size:
        raise IndexError(f"{unit} {place} is outside the text, which has {size}")
    # Neither starts nor ends ever go back.
    number = int(spans[:, 1].searchsorted(place, side="right"))
    return number if number < len(spans) and spans[number, 0] <= place else None


def spans_of_text(encoder: Encoder, text: str, **options: Any) -> Spans:
    """The ids of a text and where they stand in it. `options`: those of `Encoder.encode`.

    >>> from hf_bpe import TokenizerSpec
    >>> encoder = Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()))
    >>> spans = spans_of_text(encoder, "éa")
    >>> spans.in_characters.tolist(), spans.at_character(1), spans.at_byte(1)
    ([[0, 1], [0, 1], [1, 2]], 2, 1)
    """
    check_encoder(encoder)
    ids, in_characters = encoder.encode_with_offsets(text, **options)
    _, in_bytes = encoder.encode_with_offsets(text, unit="bytes", **options)
    return Spans(as_unicode(text), ids.tolist(), in_bytes, in_characters)


def spans_of_ids(encoder: Encoder, ids: Sequence[int]) -> Spans:
    """Where ids stand in the text that they decode to, whether or not encoding would give them.

    Bytes that are no text are counted as they are in `in_bytes`, and as the U+FFFD of the decoded text in `in_characters`.
    Raises `UnknownTokenError`.

    >>> from hf_bpe import TokenizerSpec
    >>> encoder = Encoder(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()))
    >>> spans_of_ids(encoder, [97, 195, 169]).in_characters.tolist()
    [[0, 1], [1, 2], [1, 2]]
    """
    import numpy as np

    check_encoder(encoder)
    rules = decoding_rules(encoder)
    if rules.denormaliser is not None:
        raise BorderError("this model replaces parts of decoded text, so its ids have no places there")
    numbers = list(map(index, ids))
    contents = [rules.bytes_of([number]) for number in numbers]
    whole = encoder.decode_bytes(numbers)
    dropped = sum(map(len, contents)) - len(whole)  # spaces where the text begins
    for place, content in enumerate(contents):
        if dropped and content.startswith(b" "):
            contents[place] = content[1:]
            dropped -= 1
    ends = np.array(list(accumulate(map(len, contents))), np.int64)
    in_bytes = np.stack([ends - np.array(list(map(len, contents)), np.int64), ends], 1)
    parts = [b"".join(contents[begin:stop]) for begin, stop in _between_breaks(numbers, rules.breaks)]
    characters = _characters(parts, one_each=rules.is_sentencepiece)
    of_byte = np.array([*characters, characters[-1] + 1 if characters else 0], np.int64)
    is_empty = in_bytes[:, 0] == in_bytes[:, 1]
    first = of_byte[in_bytes[:, 0]]
    last = np.where(is_empty, first, of_byte[np.maximum(in_bytes[:, 1] - 1, 0)] + 1)
    return Spans(encoder.decode(numbers), numbers, in_bytes, np.stack([first, last], 1))


def _between_breaks(ids: Sequence[int], breaks: frozenset[int]) -> Iterator[tuple[int, int]]:
    """Start and end of ids whose bytes can make a character together."""
    done = 0
    for place, token_id in enumerate(ids):
        if token_id in breaks:
            yield done, place
            done = place
    yield done, len(ids)


def _characters(parts: Sequence[bytes], *, one_each: bool) -> list[int]:
    """For each byte the number of the character that it is part of. one_each: each byte that is no part of one is one itself."""
    sizes = [size for part in parts for size in _sizes(part, one_each=one_each)]
    return [number for number, size in enumerate(sizes) for _ in range(size)]


def _sizes(content: bytes, *, one_each: bool) -> Iterator[int]:
    """How many bytes each character has, in turn."""
    done, window = 0, _SMALLEST_WINDOW
    while done < len(content):
        part = content[done : done + window]  # not all that is left, which each bad byte would copy again
        bad, window = 0, 2 * window
        try:
            text, used = utf_8_decode(part, "strict", done + len(part) == len(content))
        except UnicodeDecodeError as error:
            text, used = part[: error.start].decode(), error.start
            bad, window = error.end - error.start, _SMALLEST_WINDOW
        yield from (len(character.encode()) for character in text)
        yield from [1] * bad if one_each else [bad] * (bad > 0)
        done += used + bad
