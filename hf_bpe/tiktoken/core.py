"""`Encoding`: tiktoken's class over the engine of this package."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

import regex

from conversion.equality import usable_vocab
from conversion.tiktoken.file import tiktoken_pattern
from hf_bpe.engine import Encoder
from hf_bpe.errors import DisallowedSpecialTokenError, EncodingAssertionError, EncodingError, UnknownTokenError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.tiktoken.specs import refuse_other_dialects, spec_of_encoding
from hf_bpe.tiktoken.unstable import completions, encode_bytes, encode_with_last_piece, unstable_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Encoding", "raise_disallowed_special_token"]

Allowed: TypeAlias = Literal["all"] | AbstractSet[str]
Disallowed: TypeAlias = Literal["all"] | Collection[str]

_NONE: frozenset[str] = frozenset()
_MOST_ID = 2**32 - 1
"""What fits the integers that tiktoken holds ids in."""


class Encoding:
    """What `tiktoken.Encoding` is, run by `hf_bpe.Encoder`: the same methods, results and errors. Share it between threads.

    name: shown, and what a registered encoding is pickled by. pat_str: how text is split, in tiktoken's syntax; text between its
    matches is lost. mergeable_ranks: token -> rank, which is its id too; all 256 single bytes among them. special_tokens:
    text -> id. explicit_n_vocab: the number of both, which is checked.

    Raises `ConversionRefused` for a pattern, `FormatError` for ranks that this package does not run; the message names the encoding.

    >>> Encoding("bytes", pat_str=r"[\\s\\S]", mergeable_ranks={bytes([b]): b for b in range(256)}, special_tokens={}).encode("hi")
    [104, 105]
    """

    _is_of_spec = False

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        self._run(name, spec_of_encoding(name, pat_str, mergeable_ranks, special_tokens))
        self._pat_str = pat_str
        self._mergeable_ranks = mergeable_ranks
        self._special_tokens = special_tokens
        tokens = len(mergeable_ranks) + len(special_tokens)
        if explicit_n_vocab and not (tokens == explicit_n_vocab == self.max_token_value + 1):
            raise EncodingAssertionError(
                f"encoding {name!r}: explicit_n_vocab is {explicit_n_vocab}, and there are {tokens} tokens, the largest id being "
                f"{self.max_token_value}; leave it out where ids have gaps"
            )

    @classmethod
    def from_spec(cls, spec: TokenizerSpec, name: str = "hf_bpe") -> Encoding:
        """Any byte-level tokenizer as an encoding; its merges need not be in the order of ids.

        Raises `ConversionRefused` for SentencePiece models, normalizers, and added tokens that are more than special tokens.

        >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
        >>> Encoding.from_spec(spec, "bytes")
        <Encoding 'bytes'>
        """
        refuse_other_dialects(spec, name)
        encoding = cls.__new__(cls)
        encoding._is_of_spec = True
        encoding._run(name, spec)
        return encoding

    def _run(self, name: str, spec: TokenizerSpec) -> None:
        self.name = name
        self.encoder = Encoder(spec)
        self.max_token_value = spec.n_vocab - 1

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from hf_bpe.tiktoken import registry

        # What tiktoken's plugins name is found in every process; what was registered in this one is not.
        if self is registry.ENCODINGS.get(self.name) and self.name in registry.tiktoken_names():
            return registry.get_encoding, (self.name,)
        if self._is_of_spec:
            return type(self).from_spec, (self.spec, self.name)
        return _rebuild, (type(self), self.name, self._pat_str, self._mergeable_ranks, self._special_tokens)

    @property
    def spec(self) -> TokenizerSpec:
        """The tokenizer, for everything else that this package does with one."""
        return self.encoder.spec

    # Set by the constructor, or worked out for what `from_spec` was given.

    @functools.cached_property
    def _pat_str(self) -> str:
        return tiktoken_pattern(self.spec)

    @functools.cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return usable_vocab(self.spec)

    @functools.cached_property
    def _special_tokens(self) -> dict[str, int]:
        return dict(self.spec.special_tokens)

    # -- encoding -----------------------------------------------------------------------------------------------------

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of a text in which no special token is special.

        >>> get_encoding("cl100k_base").encode_ordinary("<|endoftext|>")  # doctest: +SKIP
        [27, 91, 8862, 728, 428, 91, 29]
        """
        return self.encoder.encode_ordinary(text)

    def encode(self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all") -> list[int]:
        """Ids of a text. Special tokens: those allowed become their id, those disallowed raise, all others are text.

        Anything may be disallowed, not only special tokens. Raises `DisallowedSpecialTokenError`, a `ValueError`.

        >>> get_encoding("cl100k_base").encode("<|endoftext|>", allowed_special="all")  # doctest: +SKIP
        [100257]
        """
        try:
            if allowed_special is _NONE and disallowed_special == "all":
                return self.encoder.encode(text)
            return self.encoder.encode(text, **self._policy(allowed_special, disallowed_special, [text]))
        except DisallowedSpecialTokenError as error:
            raise_disallowed_special_token(error.token)

    def encode_to_numpy(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> NDArray[np.uint32]:
        """`encode` as an array of uint32."""
        try:
            return self.encoder.encode_to_numpy(text, **self._policy(allowed_special, disallowed_special, [text]))
        except DisallowedSpecialTokenError as error:
            raise_disallowed_special_token(error.token)

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int | None = 8) -> list[list[int]]:
        """`encode_ordinary` of each text, on up to so many threads, and no more than there are processors."""
        return self.encoder.encode_ordinary_batch(list(text), num_threads=_threads(num_threads))

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int | None = 8,
        allowed_special: Allowed = _NONE,
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """`encode` of each text, on up to so many threads, and no more than there are processors.

        >>> get_encoding("cl100k_base").encode_batch(["hello world", "hello"])  # doctest: +SKIP
        [[15339, 1917], [15339]]
        """
        threads = _threads(num_threads)
        texts = list(text)
        if disallowed_special != "all":
            disallowed_special = frozenset(disallowed_special)  # None is refused, unlike in `encode`
        policy = self._policy(allowed_special, disallowed_special, texts)
        try:
            return self.encoder.encode_batch(texts, num_threads=threads, **policy)
        except DisallowedSpecialTokenError as error:
            for each in texts:  # the first of the texts that are refused, whichever thread met one first
                self.encode(each, allowed_special=allowed_special, disallowed_special=disallowed_special)
            raise_disallowed_special_token(error.token)

    def encode_with_unstable(
        self, text: str, *, allowed_special: Allowed = _NONE, disallowed_special: Disallowed = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """The ids that more text does not change, and the sequences of ids that could follow them, as tiktoken sees it.

        >>> get_encoding("gpt2").encode_with_unstable("hello fanta")[0]  # doctest: +SKIP
        [31373]
        """
        try:
            self.encoder.count(text, **self._policy(allowed_special, disallowed_special, [text]))
        except DisallowedSpecialTokenError as error:
            raise_disallowed_special_token(error.token)
        allowed = (
            frozenset(self._special_tokens) if allowed_special == "all" else frozenset(self._special_tokens) & allowed_special
        )
        ids, last_piece = encode_with_last_piece(self.encoder, text, frozenset(allowed))
        stable = len(ids) - unstable_length(self, ids, last_piece)
        unstable = b"".join(self.token_of[token_id] for token_id in ids[stable:])
        return ids[:stable], completions(self, unstable) if unstable else []

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of one token, special tokens included. Raises `UnknownTokenError`, a `KeyError`.

        >>> get_encoding("cl100k_base").encode_single_token("hello")  # doctest: +SKIP
        15339
        """
        token = _as_bytes(text_or_bytes)
        token_id = self.spec.token_id(token)
        if token_id is None:
            raise UnknownTokenError(token)
        return token_id

    def _policy(self, allowed: Allowed, disallowed: Disallowed, texts: Sequence[str]) -> dict[str, Any]:
        """What `Encoder` is told. What is disallowed and no special token is looked for here, in all texts."""
        if allowed != "all":
            odd = _no_set_of_texts(allowed)
            if odd is not None:  # tiktoken looks for what is disallowed before it looks at what is allowed
                rest = self.special_tokens_set - allowed if disallowed == "all" else frozenset(disallowed or ())
                _refuse_any_of(rest, texts[:1])
                raise TypeError(odd)
            allowed = self.special_tokens_set.intersection(allowed)
        if disallowed != "all":
            disallowed = frozenset(disallowed or ())
            if not self.special_tokens_set.issuperset(disallowed):
                _refuse_any_of(disallowed, texts)
                disallowed = disallowed & self.special_tokens_set
        return {"allowed_special": allowed, "disallowed_special": disallowed}

    # -- decoding -----------------------------------------------------------------------------------------------------

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes behind ids. Raises `UnknownTokenError`, a `KeyError`; `OverflowError` for what can be no id.

        >>> get_encoding("cl100k_base").decode_bytes([15339, 1917])  # doctest: +SKIP
        b'hello world'
        """
        try:
            return self.encoder.decode_bytes(_sequence(tokens))
        except UnknownTokenError:
            raise self._unknown(tokens) from None

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """The text behind ids; bytes that are not UTF-8 become U+FFFD, or what `errors` says as in `bytes.decode`.

        >>> get_encoding("cl100k_base").decode([15339, 1917])  # doctest: +SKIP
        'hello world'
        """
        try:
            if type(errors) is not str:  # where all is UTF-8 nobody would look at it
                b"".decode(errors=errors)
            return self.encoder.decode(_sequence(tokens), errors)
        except UnknownTokenError:
            raise self._unknown(tokens) from None

    def _unknown(self, tokens: Sequence[int]) -> Exception:
        ids = list(map(int, tokens))
        if not all(0 <= token_id <= _MOST_ID for token_id in ids):
            return OverflowError("out of range integral type conversion attempted")
        return UnknownTokenError(f"Invalid token for decoding: {next(i for i in ids if i not in self._bytes_of)}")

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one id, special tokens included. Raises `UnknownTokenError`, a `KeyError`.

        >>> get_encoding("cl100k_base").decode_single_token_bytes(15339)  # doctest: +SKIP
        b'hello'
        """
        known = self._bytes_of.get(token) if type(token) is int else None  # 5.0 would be found too
        if known is not None:
            return known
        try:
            return self.encoder.decode_single_token_bytes(token)
        except UnknownTokenError:
            if not 0 <= token <= _MOST_ID:
                raise OverflowError("out of range integral type conversion attempted") from None
            raise UnknownTokenError(str(token)) from None

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """The bytes of each id.

        >>> get_encoding("cl100k_base").decode_tokens_bytes([15339, 1917])  # doctest: +SKIP
        [b'hello', b' world']
        """
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """The text behind ids, and the character that each begins in. Raises `UnicodeDecodeError` for what is no text.

        >>> get_encoding("cl100k_base").decode_with_offsets([15339, 1917])  # doctest: +SKIP
        ('hello world', [0, 5])
        """
        parts = self.decode_tokens_bytes(tokens)
        offsets, characters = [], 0
        for part in parts:
            offsets.append(max(0, characters - (0x80 <= part[0] < 0xC0)))
            characters += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode(), offsets

    def decode_batch(
        self, batch: Iterable[Sequence[int]], *, errors: str = "replace", num_threads: int | None = 8
    ) -> list[str]:
        """`decode` of each row of ids. `num_threads` changes nothing: making Python's strings is most of the work."""
        _threads(num_threads)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(self, batch: Iterable[Sequence[int]], *, num_threads: int | None = 8) -> list[bytes]:
        """`decode_bytes` of each row of ids."""
        _threads(num_threads)
        return [self.decode_bytes(tokens) for tokens in batch]

    # -- the vocabulary -----------------------------------------------------------------------------------------------

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens but the special ones, sorted."""
        return list(self.sorted_tokens)

    @functools.cached_property
    def sorted_tokens(self) -> list[bytes]:
        """The same, kept."""
        return sorted(self._mergeable_ranks)

    @functools.cached_property
    def longest_token(self) -> int:
        """How many bytes the longest of them has."""
        return max(map(len, self._mergeable_ranks))

    @functools.cached_property
    def token_of(self) -> dict[int, bytes]:
        """Id -> bytes of all tokens but the special ones."""
        return {token_id: token for token, token_id in self._mergeable_ranks.items()}

    @functools.cached_property
    def _bytes_of(self) -> dict[int, bytes]:
        return {token_id: token.encode() for token, token_id in self._special_tokens.items()} | self.token_of

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`. Raises `KeyError` where there is none."""
        return self._special_tokens["<|endoftext|>"]

    @functools.cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    @functools.cached_property
    def _special_token_values(self) -> set[int]:
        return set(self._special_tokens.values())

    def is_special_token(self, token: int) -> bool:
        """Whether an id is a special token's. Raises `EncodingAssertionError`, an `AssertionError`, for what is not an int."""
        if not isinstance(token, int):
            raise EncodingAssertionError(f"an id is an int, not {token!r}")
        return token in self._special_token_values

    @property
    def n_vocab(self) -> int:
        """Largest id + 1."""
        return self.max_token_value + 1

    # -- what tiktoken keeps to itself, and others use ------------------------------------------------------------------

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        return self.encoder.encode_piece(_as_bytes(text_or_bytes))

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        pieces = regex.findall(self._pat_str, text)
        return [token_id for piece in pieces for token_id in self.encoder.encode_piece(piece.encode())]

    def _encode_bytes(self, text: bytes) -> list[int]:
        if not isinstance(text, bytes):
            raise TypeError(f"{type(text).__name__!r} object is not an instance of 'bytes'")
        return encode_bytes(self, text)


def _rebuild(made: type[Encoding], name: str, pat_str: str, ranks: dict[bytes, int], specials: dict[str, int]) -> Encoding:
    return made(name, pat_str=pat_str, mergeable_ranks=ranks, special_tokens=specials)


def _threads(num_threads: int | None) -> int:
    processors = os.cpu_count() or 1
    if num_threads is None:
        return processors
    if num_threads <= 0:
        raise EncodingError("max_workers must be greater than 0")
    return math.ceil(min(num_threads, processors))  # a float is a number of threads to tiktoken too


def _as_bytes(text_or_bytes: str | bytes) -> bytes:
    if isinstance(text_or_bytes, str):
        return text_or_bytes.encode()
    if not isinstance(text_or_bytes, bytes):
        raise TypeError(f"{type(text_or_bytes).__name__!r} object is not an instance of 'bytes'")
    return text_or_bytes


def _sequence(tokens: Sequence[int]) -> Sequence[int]:
    if type(tokens) is list or isinstance(tokens, Sequence) or hasattr(tokens, "__array__"):
        return tokens
    raise TypeError(f"{type(tokens).__name__!r} object is not an instance of 'Sequence'")


def _no_set_of_texts(given: object) -> str | None:
    """What tiktoken says of it, if it is none."""
    if not isinstance(given, (set, frozenset)):
        return f"{type(given).__name__!r} object is not an instance of 'set'"
    odd = next((token for token in given if not isinstance(token, str)), None)
    return None if odd is None else f"{type(odd).__name__!r} object is not an instance of 'str'"


def _refuse_any_of(contents: AbstractSet[str], texts: Sequence[str]) -> None:
    """Raise for the first of the texts that holds one of these."""
    for text in texts if contents else ():
        match = _any_of(frozenset(contents)).search(text)
        if match:
            raise_disallowed_special_token(match.group())


@functools.lru_cache(maxsize=128)
def _any_of(contents: frozenset[str]) -> regex.Pattern[str]:
    return regex.compile("|".join(map(regex.escape, sorted(contents, key=len, reverse=True))))


def raise_disallowed_special_token(token: str) -> NoReturn:
    """Raise `DisallowedSpecialTokenError` with the words of tiktoken, which callers look for."""
    raise DisallowedSpecialTokenError(
        token,
        f"Encountered text corresponding to disallowed special token {token!r}.\n"
        "If you want this text to be encoded as a special token, "
        f"pass it to `allowed_special`, e.g. `allowed_special={{{token!r}, ...}}`.\n"
        f"If you want this text to be encoded as normal text, disable the check for this token "
        f"by passing `disallowed_special=(enc.special_tokens_set - {{{token!r}}})`.\n"
        "To disable this check for all special tokens, pass `disallowed_special=()`.\n",
    ) from None
