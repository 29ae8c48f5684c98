"""Stubs of the compiled engine (native/src/python.rs). Use it through `hf_bpe.Encoder` and `hf_bpe.train`."""

from collections.abc import Callable, Iterable, Sequence
from typing import final

import numpy as np
import numpy.typing as npt

UNICODE_VERSION: str
"""Version of the Unicode tables behind every split pattern, e.g. "16.0.0"."""

@final
class Policy:
    """What to do with added tokens during a call; made by `Engine.policy`."""

@final
class Engine:
    """A tokenizer ready to run. Immutable; every method may be called from several threads at once."""

    def __new__(
        cls,
        *,
        vocab: dict[bytes, int],
        merges: tuple[tuple[bytes, bytes], ...],
        pattern: str | None,
        family: str | None,
        keep_unmatched: bool,
        ignore_merges: bool,
        added_tokens: Sequence[tuple[str, int, bool, bool, bool, bool]],
    ) -> Engine:
        """Build the tables.

        pattern: in the fancy-regex dialect. family: the name under which this very pattern is published, if any; then
        hand-written rules run instead. added_tokens: (content, id, special, single_word, lstrip, rstrip).
        Raises `PatternError`.
        """

    def policy(self, allowed: frozenset[str], forbidden: frozenset[str]) -> Policy:
        """Match the plain added tokens and the special ones in `allowed`; raise on those in `forbidden`."""

    def encode(self, text: str, policy: Policy) -> list[int]:
        """Ids of a text. Raises `DisallowedSpecialTokenError`, `PatternError`, `UnicodeEncodeError`."""

    def encode_batch(self, texts: Sequence[str], policy: Policy, num_threads: int) -> list[list[int]]:
        """Ids of each text, on up to `num_threads` threads."""

    def count(self, text: str, policy: Policy) -> int:
        """How many ids `encode` gives."""

    def pretokenize(self, text: str) -> list[str]:
        """The pieces that merging never crosses."""

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes behind ids. Raises `UnknownTokenError`."""

@final
class WordCounter:
    """Counts the pieces of a corpus, then learns merges from the counts."""

    def __new__(
        cls, *, pattern: str | None, family: str | None, keep_unmatched: bool, special_tokens: list[str]
    ) -> WordCounter:
        """Special tokens are cut out of the text and not counted."""

    def add(self, texts: Sequence[str], num_threads: int) -> None:
        """Count texts. Raises `UnicodeEncodeError` before it has counted any if one holds a lone surrogate."""

    def word_counts(self) -> dict[bytes, int]:
        """The distinct pieces and how often each was seen. Ends the counter."""

    def learn(
        self, num_merges: int, min_frequency: int, max_token_length: int | None, progress: Callable[[int], object]
    ) -> list[tuple[int, int]]:
        """Merges as pairs of ids, the n-th making id 256 + n. Ends the counter.

        `progress` gets the number of merges done every so often; what it raises, or Ctrl-C, ends the training.
        """

def recover_merges(tokens: Sequence[bytes]) -> tuple[list[tuple[int, int]], list[int]]:
    """For tokens in rank order: (rank, length of the left part) of each reachable one; ranks of the unreachable ones.

    >>> recover_merges([b"a", b"b", b"ab"])
    ([(2, 1)], [])
    """

def jsonl_texts(block: bytes, field: str) -> tuple[bytes, bytes, bytes, bytes, list[tuple[int, str]]]:
    """Of whole lines of JSON: the texts in `field` end to end; then, as the bytes of int64 arrays, their offsets (one more than
    there are texts), where in the block the line of each ends, and its number from 0; then (number, reason) of each bad line.

    >>> jsonl_texts(b'{"text": "hi"}\\n', "text")[0]
    b'hi'
    """

def invalid_utf8(data: bytes, offsets: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """(document, place in it) of the first wrong byte of each document `data[offsets[n]:offsets[n + 1]]` that is not UTF-8."""
