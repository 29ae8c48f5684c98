"""minbpe's tokenizers as views of this package's: the names of the lecture "Let's build the GPT tokenizer" over the fast engine.

Training merges what minbpe merges: of equally frequent pairs the one that stands first in the text. (`hf_bpe.train` takes the one
with the lowest ids, which does not depend on the order of the corpus.) What differs is listed in docs/minbpe.md.

>>> tokenizer = BasicTokenizer()
>>> tokenizer.train("aaabdaaabac", 256 + 3)
>>> tokenizer.encode("aaabdaaabac")
[258, 100, 258, 97, 99]
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NoReturn, TypeAlias

import conversion
from conversion.equality import covers_every_text
from conversion.minbpe import model_file, read_pattern, written_pattern
from hf_bpe.engine import Encoder
from hf_bpe.engine.backends import load_native
from hf_bpe.engine.reference import train_merges
from hf_bpe.errors import EncodingError, FormatError, SpecError, TrainingError, some
from hf_bpe.files import read_bytes, write_atomically
from hf_bpe.patterns import NAMED_PATTERNS, find_named_pattern
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.tiktoken.registry import get_encoding
from hf_bpe.training.words import Words

__all__ = [
    "GPT2_SPLIT_PATTERN",
    "GPT4_SPECIAL_TOKENS",
    "GPT4_SPLIT_PATTERN",
    "BasicTokenizer",
    "GPT4Tokenizer",
    "RegexTokenizer",
    "Tokenizer",
    "get_stats",
    "merge",
]

GPT2_SPLIT_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
GPT4_SPLIT_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"""
)
GPT4_SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}

_GPT4_RANKS = 100_256

AllowedSpecial: TypeAlias = Literal["all", "none", "none_raise"] | Collection[str]

_BYTES = tuple(bytes([byte]) for byte in range(256))


def get_stats(ids: Sequence[int], counts: dict[tuple[int, int], int] | None = None) -> dict[tuple[int, int], int]:
    """How often each pair of neighbours stands in the ids, added to `counts` if given.

    >>> get_stats([1, 2, 3, 1, 2])
    {(1, 2): 2, (2, 3): 1, (3, 1): 1}
    """
    counts = {} if counts is None else counts
    for pair in pairwise(ids):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(ids: Sequence[int], pair: tuple[int, int], idx: int) -> list[int]:
    """The ids with `idx` in place of every such pair, from left to right.

    >>> merge([1, 2, 3, 1, 2], (1, 2), 4)
    [4, 3, 4]
    """
    merged: list[int] = []
    place = 0
    while place < len(ids):
        found = tuple(ids[place : place + 2]) == tuple(pair)
        merged.append(idx if found else ids[place])
        place += 2 if found else 1
    return merged


class Tokenizer:
    """What the three have in common: a spec, seen as minbpe shows it."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        split = read_pattern(pattern, "the pattern")
        unmatched: Literal["keep", "drop"] = "keep" if covers_every_text(split) else "drop"
        self._use(TokenizerSpec(dict(zip(_BYTES, range(256), strict=True)), (), pattern=split, unmatched=unmatched))

    def _use(self, spec: TokenizerSpec) -> None:
        self._encoder = Encoder(spec)
        self._merges: Mapping[tuple[int, int], int] | None = None
        self._vocab: Mapping[int, bytes] | None = None

    @property
    def spec(self) -> TokenizerSpec:
        """The tokenizer, for everything else that this package does with one."""
        return self._encoder.spec

    @property
    def merges(self) -> Mapping[tuple[int, int], int]:
        """Pair of ids -> the id that it becomes, in the order learnt."""
        if self._merges is None:
            ids = self.spec.vocab
            self._merges = MappingProxyType({(ids[left], ids[right]): ids[left + right] for left, right in self.spec.merges})
        return self._merges

    @property
    def vocab(self) -> Mapping[int, bytes]:
        """Id -> bytes, special tokens last."""
        if self._vocab is None:
            tokens = sorted((token_id, token) for token, token_id in self.spec.vocab.items())
            special = {token_id: token.encode() for token, token_id in self.special_tokens.items()}
            self._vocab = MappingProxyType(dict(tokens) | special)
        return self._vocab

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Text -> id of the special tokens."""
        return self.spec.special_tokens

    @property
    def inverse_special_tokens(self) -> Mapping[int, str]:
        """Id -> text of the special tokens."""
        return MappingProxyType({token_id: token for token, token_id in self.special_tokens.items()})

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> None:
        """Learn `vocab_size - 256` merges from a text, in place of those known so far.

        Raises `TrainingError`, a `ValueError`, for a size below 256 and where the text has no pair left to merge.
        """
        if vocab_size < 256:
            raise TrainingError(f"vocab_size is {vocab_size}; the 256 bytes are tokens already, so it must be 256 or more")
        taken = [f"{token!r}: {token_id}" for token, token_id in self.special_tokens.items() if token_id < vocab_size]
        if taken:
            raise SpecError(
                [
                    f"with vocab_size={vocab_size} merges take the ids of special tokens: {some(taken)}; register those afterwards"
                ]
            )
        words = Counter(piece.encode() for piece in self._encoder.pretokenize(text))
        merges = _learn(words, vocab_size - 256)
        if len(merges) < vocab_size - 256:
            raise TrainingError(
                f"the text has no pair left after {len(merges)} merges; lower vocab_size to {256 + len(merges)} or take more text"
            )
        tokens = list(_BYTES)
        for number, (left, right) in enumerate(merges, 1):
            tokens.append(tokens[left] + tokens[right])
            if verbose:
                print(f"merge {number}/{len(merges)}: {(left, right)} -> {255 + number} ({tokens[-1]!r})")  # noqa: T201
        pairs = tuple((tokens[left], tokens[right]) for left, right in merges)
        self._use(self.spec.replace(vocab={token: number for number, token in enumerate(tokens)}, merges=pairs))

    def decode(self, ids: Sequence[int]) -> str:
        """The text behind ids, U+FFFD for bytes that are no text. Raises `UnknownTokenError`, a `KeyError`.

        >>> BasicTokenizer().decode([104, 105])
        'hi'
        """
        return self._encoder.decode(ids)

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Write `file_prefix.model`, which `load` and minbpe read, and `file_prefix.vocab`, which people do."""
        ids = self.spec.vocab
        pairs = [(ids[left], ids[right]) for left, right in self.spec.merges]
        pattern = self.pattern
        if pattern != pattern.strip() or "\n" in pattern or "\r" in pattern:  # the file would be read otherwise, or not at all
            pattern = written_pattern(self.spec)
        model = model_file(pattern, self.spec.added_tokens, pairs)
        path = Path(file_prefix)
        write_atomically(path.parent, {f"{path.name}.model": model, f"{path.name}.vocab": self.view().encode()})

    def load(self, model_file: str | os.PathLike[str]) -> None:
        """Become the tokenizer of a `.model` file. Raises `FormatError`, `ConversionRefused`."""
        path = Path(model_file)
        if path.suffix != ".model":
            raise FormatError(f"{path}: minbpe loads only files whose name ends in .model")
        spec = conversion.load(path, format="minbpe")
        self.pattern = read_bytes(path).decode().split("\n")[1].strip()
        self._use(spec)

    def view(self) -> str:
        """The tokens for people to look at, a line each: what it is made of, the token, its id.

        >>> BasicTokenizer().view().splitlines()[97]
        '[a] 97'
        """
        vocab = self.vocab
        parts = {made: pair for pair, made in self.merges.items()}
        lines = []
        for token_id, token in vocab.items():
            made_of = "".join(f"[{_rendered(vocab[part])}]" for part in parts.get(token_id, ()))
            lines.append(f"{made_of}{' -> ' if made_of else ''}[{_rendered(token)}] {token_id}\n")
        return "".join(lines)


class BasicTokenizer(Tokenizer):
    """Merges over the whole text, which is not split. No special tokens.

    >>> BasicTokenizer().encode("hi")
    [104, 105]
    """

    def __init__(self) -> None:
        super().__init__("")

    def encode(self, text: str) -> list[int]:
        """Ids of a text."""
        return self._encoder.encode_ordinary(text)

    def load(self, model_file: str | os.PathLike[str]) -> None:
        """Become the tokenizer of a `.model` file. Raises `FormatError`, also for one that splits text or has special tokens."""
        loaded = RegexTokenizer("")
        loaded.load(model_file)
        if loaded.pattern or loaded.special_tokens:
            raise FormatError(
                f"{model_file}: it has a pattern or special tokens, which a BasicTokenizer has not; load it with RegexTokenizer"
            )
        self._use(loaded.spec)


class RegexTokenizer(Tokenizer):
    """Splits text first, and merges within the pieces; has special tokens.

    pattern: in the syntax of the `regex` module; GPT-4's if not given. Raises `ConversionRefused` for one that is not run here.

    >>> tokenizer = RegexTokenizer()
    >>> tokenizer.train("hello world hello", 256 + 2)
    >>> tokenizer.register_special_tokens({"<|endoftext|>": 258})
    >>> tokenizer.encode("hello<|endoftext|>", allowed_special="all")
    [257, 108, 111, 258]
    """

    def __init__(self, pattern: str | None = None) -> None:
        super().__init__(GPT4_SPLIT_PATTERN if pattern is None else pattern)

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Have these special tokens, text -> id, and no others. Raises `SpecError` for an id that another token has."""
        if not isinstance(special_tokens, Mapping):
            raise SpecError(
                [f"special tokens map text to id, as in {{'<|endoftext|>': 100257}}; not a {type(special_tokens).__name__}"]
            )
        self._use(
            self.spec.replace(added_tokens=tuple(AddedToken(token, token_id) for token, token_id in special_tokens.items()))
        )

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of a text in which no special token is special."""
        return self._encoder.encode_ordinary(text)

    def encode(self, text: str, allowed_special: AllowedSpecial = "none_raise") -> list[int]:
        """Ids of a text. Special tokens: "all" become their ids, "none" is text, "none_raise" raises
        `DisallowedSpecialTokenError`; of a set of them those become ids, and the others are text. Raises `EncodingError`, a
        `ValueError`, for anything else.
        """
        if allowed_special == "none_raise":
            return self._encoder.encode(text)
        if allowed_special == "none":
            return self._encoder.encode_ordinary(text)
        if allowed_special != "all":
            if isinstance(allowed_special, str) or not isinstance(allowed_special, Collection):
                raise EncodingError(
                    f'allowed_special={allowed_special!r} is not understood; it is "all", "none", "none_raise" or a set'
                )
            allowed_special = self.special_tokens.keys() & allowed_special  # minbpe passes over names that it does not know
        return self._encoder.encode(text, allowed_special=allowed_special, disallowed_special=())


class GPT4Tokenizer(RegexTokenizer):
    """GPT-4's tokenizer. encoding: a name of its ranks; tiktoken downloads those of this one. Without a network, name one that a plugin
    brings along, or a file given to `hf_bpe.tiktoken.register_encoding`. Raises `EncodingError` for other ranks than GPT-4's.

    >>> GPT4Tokenizer().encode("hello world!!!?")  # doctest: +SKIP
    [15339, 1917, 12340, 30]
    """

    def __init__(self, encoding: str = "cl100k_base") -> None:
        self.pattern = GPT4_SPLIT_PATTERN
        self._use(get_encoding(encoding).spec)
        if find_named_pattern(self.spec.pattern) is not NAMED_PATTERNS["cl100k"] or len(self.spec.vocab) != _GPT4_RANKS:
            raise EncodingError(
                f"{encoding!r} is no cl100k_base, whose ranks and pattern GPT-4 has; for others use hf_bpe.tiktoken.get_encoding"
            )
        self.register_special_tokens(GPT4_SPECIAL_TOKENS)

    @property
    def byte_shuffle(self) -> dict[int, int]:
        """Byte -> its id, which is another number in GPT-4's table."""
        return {byte: self.spec.vocab[token] for byte, token in enumerate(_BYTES)}

    @property
    def inverse_byte_shuffle(self) -> dict[int, int]:
        """Id of a byte -> byte."""
        return {token_id: byte for byte, token_id in self.byte_shuffle.items()}

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> NoReturn:
        """GPT-4's tokenizer is trained already. Raises `NotImplementedError`."""
        raise NotImplementedError("GPT-4's tokenizer is trained already; train a RegexTokenizer")

    def save(self, file_prefix: str | os.PathLike[str]) -> NoReturn:
        """A minbpe file cannot hold this order of the bytes. Raises `NotImplementedError`."""
        raise NotImplementedError(
            "a minbpe file cannot hold GPT-4's order of the bytes; use conversion.save(tokenizer.spec, ...)"
        )

    def load(self, model_file: str | os.PathLike[str]) -> NoReturn:
        """It is loaded already. Raises `NotImplementedError`."""
        raise NotImplementedError("GPT-4's tokenizer cannot be loaded from a file; use RegexTokenizer")

    def save_vocab(self, vocab_file: str | os.PathLike[str]) -> None:
        """Write what `view` gives."""
        write_atomically(Path(vocab_file).parent, {Path(vocab_file).name: self.view().encode()})


def _learn(words: dict[bytes, int], num_merges: int) -> list[tuple[int, int]]:
    native = load_native()
    if native is None:
        return train_merges(words, num_merges, ties="first seen")
    merges: list[tuple[int, int]] = native.learn_merges(
        Words.of(words.items()), num_merges, min_frequency=1, max_token_length=None, ties="first seen", progress=lambda _: None
    )
    return merges


def _rendered(token: bytes) -> str:
    """A token on one line: U+FFFD for what is no text, control characters by their numbers."""
    text = token.decode("utf-8", "replace")
    if text.isprintable():  # most are, and this is ten times as fast
        return text
    return "".join(c if unicodedata.category(c)[0] != "C" else f"\\u{ord(c):04x}" for c in text)
