"""Stubs of the compiled engine (native/src/python). Use it through `hf_bpe.Encoder` and `hf_bpe.train`.

A text with lone surrogates counts as if each were U+FFFD, and surrogate pairs as the characters they mean.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

UNICODE_VERSION: str
"""Version of the Unicode tables behind every split pattern, e.g. "16.0.0"."""

FAMILIES: tuple[str, ...]
"""Names of the published patterns that have hand-written rules."""

@final
class Vocabulary:
    """The table behind a spec, as `hf_bpe.spec.VocabularyTable` describes it. Immutable; shared by a spec and its engines.

    `vocab` is in the order of ids. The merges of a rank file, and which of its tokens are unreachable, are found at the first call.
    """

    def __new__(cls, vocab: dict[bytes, int], merges: tuple[tuple[bytes, bytes], ...]) -> Vocabulary:
        """Every single byte must be in `vocab`, and every merge use and make tokens that are. Raises `HfBpeError`."""

    @staticmethod
    def from_rank_file(content: bytes) -> Vocabulary:
        """Read tiktoken's format and find the merges. Raises `HfBpeError`, which does not say where, if anything is amiss."""

    @staticmethod
    def from_spelled(vocab: dict[str, int], merges: list[Any], without: frozenset[str]) -> Vocabulary:
        """Read what GPT-2's files and tokenizer.json hold, tokens in the printable spelling of bytes, merges as 'a b' or ['a', 'b'].

        without: entries of `vocab` to leave out. Raises `HfBpeError`, `ValueError`, `TypeError` or `OverflowError`, which do not
        say where, if anything is amiss.
        """

    def __len__(self) -> int: ...
    def vocab(self) -> dict[bytes, int]: ...
    def merges(self) -> tuple[tuple[bytes, bytes], ...]: ...
    def token_id(self, token: bytes) -> int | None: ...
    def token_bytes(self, token_id: int) -> bytes | None: ...
    @property
    def n_vocab(self) -> int: ...
    @property
    def is_by_rank(self) -> bool: ...
    @property
    def unreachable(self) -> int: ...

@final
class Policy:
    """What to do with added tokens during a call; made by `Engine.policy`."""

@final
class Engine:
    """A tokenizer ready to run. Immutable; every method may be called from several threads at once.

    `narrow` asks for uint16 instead of uint32 ids: only where every id fits.
    """

    def __new__(
        cls,
        *,
        vocabulary: Vocabulary,
        normalizer: Sequence[tuple[str, str, str]],
        add_prefix_space: bool,
        pattern: str | None,
        family: str | None,
        keep_unmatched: bool,
        ignore_merges: bool,
        added_tokens: Sequence[tuple[str, int, bool, bool, bool, bool, bool]],
        stages: Sequence[tuple[str | None, str | None]] = (),
    ) -> Engine:
        """Build the tables.

        pattern: in the fancy-regex dialect. family: one of `FAMILIES` if this very pattern is published under that name;
        then its rules run, and the pattern is not looked at. added_tokens: (content, id, special, single_word, lstrip,
        rstrip, normalized). normalizer: name, and what is put before texts, or the pattern (in the same dialect) and what
        replaces it. stages: (pattern, family) of further splits of the pieces. Raises `PatternError`, and `HfBpeError` for added
        tokens of which normalising leaves nothing, or the same.
        """

    @staticmethod
    def from_pieces(
        *,
        contents: Sequence[str],
        scores: Sequence[float],
        kinds: bytes,
        byte_fallback: bool,
        prepend_scheme: str,
        prefix_before_space: bool,
        remove_extra_whitespaces: bool,
        escape_whitespaces: bool,
        treat_whitespace_as_suffix: bool,
        precompiled_charsmap: bytes,
        denormalizer_charsmap: bytes,
        unk_surface: str,
        added_tokens: Sequence[tuple[str, int, bool, bool, bool, bool, bool]],
    ) -> Engine:
        """Build the tables of a SentencePiece model.

        kinds: a byte for each piece, its number in a model file. The other arguments: as in `SentencePieceRules`. Raises
        `HfBpeError` for a charsmap that is damaged.
        """

    def policy(self, allowed: frozenset[str], forbidden: frozenset[str]) -> Policy:
        """Match the plain added tokens and the special ones in `allowed`; raise on those in `forbidden`."""

    def policy_of_parts(self, text: str, lengths: Sequence[int], trusts: bytes) -> Policy:
        """A policy for this text alone: special tokens are matched where all of one lies in parts of trust 0.

        lengths: characters of each part. trusts: a byte for each: 0 special, 1 text, 2 raise. Raises
        `DisallowedSpecialTokenError` for a special token that touches a part of trust 2.
        """

    def added_ids(self, text: str, policy: Policy) -> list[int]:
        """The ids of the added tokens that a text is cut at."""

    def encode(self, text: str, policy: Policy) -> list[int]:
        """Ids of a text. Raises `DisallowedSpecialTokenError`, `PatternError`."""

    def encode_piece(self, piece: bytes, whole: bool) -> list[int]:
        """Ids of one piece, which is not split. whole: a token is taken as that where merges are ignored, else merged all the same.

        Raises `HfBpeError` for a SentencePiece model.
        """

    def encode_to_numpy(self, text: str, policy: Policy, narrow: bool) -> NDArray[Any]:
        """Ids of a text, shape (n,)."""

    def encode_batch(self, texts: Sequence[str], policy: Policy, num_threads: int) -> list[list[int]]:
        """Ids of each text, on up to `num_threads` threads."""

    def encode_batch_to_numpy(
        self, texts: Sequence[str], policy: Policy, num_threads: int, narrow: bool
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Ids of all texts, and where each text's begin (one more than there are texts)."""

    def encode_utf8_to_numpy(
        self, data: Any, offsets: NDArray[np.int64], policy: Policy, num_threads: int, narrow: bool
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The same for texts that stand in a buffer: text n is `data[offsets[n]:offsets[n + 1]]`. Raises `CorpusError`."""

    def place(
        self, texts: Sequence[str], policy: Policy, num_threads: int, unit: Literal["bytes", "characters", "stock"]
    ) -> Places:
        """Ids and where they come from, in bytes, in characters, or in those that stock classes give to spaces, on up to
        `num_threads` threads.
        """

    def place_one(
        self, text: str, policy: Policy, unit: Literal["bytes", "characters", "stock"]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The same for one text: its ids, and first and last + 1 of each."""

    def count(self, text: str, policy: Policy) -> int:
        """How many ids `encode` gives."""

    def count_batch(self, texts: Sequence[str], policy: Policy, num_threads: int) -> list[int]:
        """The same for each text."""

    def pretokenize(self, text: str) -> list[str]:
        """The pieces that merging never crosses; of a SentencePiece model the normalised text."""

    def decode(self, ids: Iterable[int] | NDArray[Any]) -> str | bytes:
        """The text behind ids, or the bytes where they are not UTF-8 (never of a SentencePiece model). Raises `UnknownTokenError`."""

    def decode_bytes(self, ids: Iterable[int] | NDArray[Any]) -> bytes:
        """The bytes behind ids. Raises `UnknownTokenError`."""

    def cache_info(self) -> tuple[int, int, int]:
        """Bytes held by the caches, pieces looked up so far, and how many had to be merged."""

@final
class Places:
    """Where the ids of some texts come from. Lists are made anew in each call, pairs are shared between them."""

    def ids(self) -> list[list[int]]:
        """The ids of each text."""

    def offsets(self) -> list[list[tuple[int, int]]]:
        """First and last + 1 byte or character of each id, by text."""

    def pieces(self) -> list[list[int]]:
        """The number of the piece of each id, by text."""

    def bounds(self) -> list[int]:
        """Where each text's ids begin, and where the last one's end."""

    def arrays(
        self,
    ) -> tuple[
        NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_], NDArray[np.int64]
    ]:
        """Ids; starts; stops; pieces; whether each is an added token that was found; bounds."""

@final
class WordCounter:
    """Counts the pieces of a corpus."""

    def __new__(
        cls,
        *,
        pattern: str | None,
        family: str | None,
        keep_unmatched: bool,
        special_tokens: list[str],
        normalizer: Sequence[tuple[str, str, str]],
        add_prefix_space: bool,
        stages: Sequence[tuple[str, str | None]] = (),
    ) -> WordCounter:
        """Special tokens are cut out of the text and not counted."""

    def add(self, texts: Sequence[str], num_threads: int) -> None:
        """Count texts."""

    def add_utf8(self, data: bytes, offsets: NDArray[np.int64], num_threads: int) -> None:
        """Count texts that lie end to end: text n is `data[offsets[n]:offsets[n + 1]]`."""

    @property
    def nbytes(self) -> int:
        """The memory that counts take up."""

    def absorb(self, other: WordCounter) -> None:
        """Add what another counter has counted, which begins anew."""

    def take_words(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """What was counted so far, as `hf_bpe.training.words.Words`, in ascending order of the words' bytes. Counting begins anew."""

def merge_sorted_words(
    parts: Sequence[tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The words of sorted parts (the arrays of `Words`), sorted; counts of the same word are added up."""

def words_ascend(words: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]) -> bool:
    """Whether each word is greater than the one before."""

def learn_merges(
    words: tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]],
    num_merges: int,
    *,
    min_frequency: int,
    max_token_length: int | None,
    ties: Literal["lowest ids", "lowest characters", "first seen"],
    progress: Callable[[int], object],
    start: Sequence[tuple[int, int]] = (),
    forbids: Callable[[bytes, bytes], bool] | None = None,
) -> list[tuple[int, int]]:
    """Merges of counted words (the arrays of `Words`) as pairs of ids, the n-th making id 256 + n.

    start: merges that are done first. forbids: asked for the tokens of a pair before it is merged; what it forbids never is.
    `progress` gets the number of merges done every so often. What either raises, or Ctrl-C, ends the training.
    """

def recover_merges(tokens: Sequence[bytes]) -> tuple[list[tuple[int, int]], list[int]]:
    """For distinct tokens in rank order: (rank, length of the left part) of each reachable one; ranks of the unreachable ones.

    >>> recover_merges([b"a", b"b", b"ab"])
    ([(2, 1)], [])
    """

def pairs(starts: NDArray[np.int64], stops: NDArray[np.int64], bounds: NDArray[np.int64]) -> list[list[tuple[int, int]]]:
    """What `zip` makes of two arrays, cut at `bounds`: in a tenth of the time, the garbage collector not looking at any of it.

    >>> pairs(np.array([0, 2, 0]), np.array([2, 5, 1]), np.array([0, 2, 3]))
    [[(0, 2), (2, 5)], [(0, 1)]]
    """

def jsonl_texts(block: bytes, field: str) -> tuple[bytes, bytes, bytes, bytes, list[tuple[int, str]]]:
    """Of whole lines of JSON: the texts in `field` end to end; then, as the bytes of int64 arrays, their offsets (one more than
    there are texts), where in the block the line of each ends, and its number from 0; then (number, reason) of each bad line.

    >>> jsonl_texts(b'{"text": "hi"}\\n', "text")[0]
    b'hi'
    """

def invalid_utf8(data: bytes, offsets: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """(document, place in it) of the first wrong byte of each document `data[offsets[n]:offsets[n + 1]]` that is not UTF-8."""
