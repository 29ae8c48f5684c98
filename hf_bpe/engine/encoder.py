"""`Encoder`: text to ids and back, for one spec. Immutable, thread-safe, picklable."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Sequence
from functools import cache
from types import ModuleType
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from hf_bpe.engine.reference import ReferenceEngine
from hf_bpe.errors import DisallowedSpecialTokenError, EngineUnavailableError, UnknownTokenError
from hf_bpe.pattern_syntax import parse, render
from hf_bpe.patterns import find_named_pattern
from hf_bpe.spec import TokenizerSpec

__all__ = ["Encoder", "EngineName", "as_unicode", "choose_native", "load_native", "native_available", "native_pattern"]

EngineName: TypeAlias = Literal["auto", "native", "reference"]
SpecialTokens: TypeAlias = Literal["all"] | Collection[str]

Result = TypeVar("Result")

_POLICIES_KEPT = 64


@cache
def load_native() -> ModuleType | None:
    """The compiled module, or None after one warning that says what is lost and how to get it."""
    try:
        from hf_bpe.engine import native
    except ImportError as error:
        warnings.warn(
            f"hf_bpe runs without its native engine ({error}): results are the same, encoding and training are hundreds of times "
            "slower. Install a Rust toolchain and run `pip install --force-reinstall hf-bpe`, or use a published wheel.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return native


def native_available() -> bool:
    """Whether the compiled engine is installed."""
    return load_native() is not None


class Engine(Protocol):
    """What an engine does for an `Encoder`. `policy` makes the opaque value the other methods take."""

    def policy(self, allowed: frozenset[str], forbidden: frozenset[str]) -> Any: ...
    def encode(self, text: str, policy: Any) -> list[int]: ...
    def encode_batch(self, texts: Sequence[str], policy: Any, num_threads: int) -> list[list[int]]: ...
    def count(self, text: str, policy: Any) -> int: ...
    def pretokenize(self, text: str) -> list[str]: ...
    def decode_bytes(self, ids: Sequence[int]) -> bytes: ...


def choose_native(engine: EngineName) -> ModuleType | None:
    """The compiled module if `engine` wants it and it is there; None for the reference. Raises if it must be there."""
    if engine not in ("auto", "native", "reference"):
        raise ValueError(f"engine {engine!r} is not known; it must be 'auto', 'native' or 'reference'")
    native = load_native() if engine != "reference" else None
    if native is None and engine == "native":
        raise EngineUnavailableError("the native engine is not installed; use engine='reference', or see the warning above")
    return native


def native_pattern(pattern: str | None) -> dict[str, str | None]:
    """A pattern as the native engine takes it: in its own dialect, with the name under which it was published, if any."""
    named = find_named_pattern(pattern)
    return {
        "pattern": None if pattern is None else render(parse(pattern), "tiktoken"),
        "family": named.name if named else None,
    }


def _make_engine(spec: TokenizerSpec, name: EngineName) -> Engine:
    native = choose_native(name)
    if native is None:
        return ReferenceEngine(spec)
    engine: Engine = native.Engine(
        vocab=dict(spec.vocab),
        merges=spec.merges,
        **native_pattern(spec.pattern),
        keep_unmatched=spec.unmatched == "keep",
        ignore_merges=spec.ignore_merges,
        added_tokens=[(t.content, t.id, t.special, t.single_word, t.lstrip, t.rstrip) for t in spec.added_tokens],
    )
    return engine


def as_unicode(text: str) -> str:
    """Join surrogate pairs, replace lone surrogates by U+FFFD: what tiktoken does with text that UTF-8 cannot hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Encoder:
    """Encodes and decodes with one `TokenizerSpec`.

    Never changes after it is made; share it between threads, fork with it, pickle it. Text holding lone surrogates, which
    UTF-8 cannot hold, is encoded as if each were U+FFFD (surrogate pairs count as the character they mean), as tiktoken
    does.

    engine: "native", "reference", or "auto" for the native one where it is installed.
    """

    def __init__(self, spec: TokenizerSpec, *, engine: EngineName = "auto") -> None:
        self.spec = spec
        self._engine_name = engine
        self._engine = _make_engine(spec, engine)
        self._specials = frozenset(spec.special_tokens)
        self._ordinary = self._engine.policy(frozenset(), frozenset())
        self._policies: dict[tuple[frozenset[str], frozenset[str]], Any] = {}
        self._default = self._policy((), "all")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.spec, self._engine_name)

    def __repr__(self) -> str:
        return f"Encoder({self.spec!r}, engine={self.engine!r})"

    @property
    def engine(self) -> str:
        """Which engine runs: "native" or "reference"."""
        return "reference" if isinstance(self._engine, ReferenceEngine) else "native"

    @property
    def n_vocab(self) -> int:
        """Largest id + 1."""
        return self.spec.n_vocab

    # -- encoding -----------------------------------------------------------------------------------------------------

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of a text in which no special token is special. Added tokens that are not special are still matched.

        >>> encoder.encode_ordinary("hello <|endoftext|>")  # doctest: +SKIP
        [15339, 83739, 8862, 728, 428, 91, 29]
        """
        return self._run(self._engine.encode, text, self._ordinary)

    def encode(self, text: str, *, allowed_special: SpecialTokens = (), disallowed_special: SpecialTokens = "all") -> list[int]:
        """Ids of a text, special tokens treated as the caller says (tiktoken's meaning).

        A special token in `allowed_special` becomes its id. One in `disallowed_special` ("all": every one not allowed)
        raises `DisallowedSpecialTokenError`. Any other is encoded as the text it is. Pass `disallowed_special=()` for text
        that may hold such spellings by accident; pass `allowed_special="all"` only for text you wrote yourself.

        >>> encoder.encode("<|endoftext|>", allowed_special="all")  # doctest: +SKIP
        [100257]
        """
        policy = self._default
        if allowed_special != () or disallowed_special != "all":
            policy = self._policy(allowed_special, disallowed_special)
        return self._run(self._engine.encode, text, policy)

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialTokens = (),
        disallowed_special: SpecialTokens = "all",
    ) -> list[list[int]]:
        """`encode` of each text, on `num_threads` threads (default: all processors)."""
        return self._batch(texts, self._policy(allowed_special, disallowed_special), num_threads)

    def encode_ordinary_batch(self, texts: Sequence[str], *, num_threads: int | None = None) -> list[list[int]]:
        """`encode_ordinary` of each text, on `num_threads` threads (default: all processors)."""
        return self._batch(texts, self._ordinary, num_threads)

    def count(self, text: str, *, allowed_special: SpecialTokens = (), disallowed_special: SpecialTokens = "all") -> int:
        """How many ids `encode` gives, without making them.

        >>> encoder.count("hello world")  # doctest: +SKIP
        2
        """
        return self._run(self._engine.count, text, self._policy(allowed_special, disallowed_special))

    def pretokenize(self, text: str) -> list[str]:
        """The pieces that merging never crosses, added tokens not considered."""
        return self._run(self._engine.pretokenize, text)

    def encode_single_token(self, token: str | bytes) -> int:
        """The id of one token given as text or bytes, special tokens included. Raises `UnknownTokenError`."""
        content = token.encode() if isinstance(token, str) else token
        token_id = self.spec.vocab.get(content)
        if token_id is None:
            token_id = next((t.id for t in self.spec.added_tokens if t.content.encode() == content), None)
        if token_id is None:
            raise UnknownTokenError(f"{token!r} is not a token of this vocabulary")
        return token_id

    # -- decoding -----------------------------------------------------------------------------------------------------

    def decode_bytes(self, ids: Sequence[int]) -> bytes:
        """The bytes behind the ids. Raises `UnknownTokenError` for an id that is not in the vocabulary."""
        return self._engine.decode_bytes(ids)

    def decode(self, ids: Sequence[int], errors: str = "replace") -> str:
        """The text behind the ids; bytes that are not UTF-8 become U+FFFD unless `errors` says otherwise.

        >>> encoder.decode([15339, 1917])  # doctest: +SKIP
        'hello world'
        """
        return self._engine.decode_bytes(ids).decode("utf-8", errors)

    def decode_batch(self, batch: Sequence[Sequence[int]], errors: str = "replace") -> list[str]:
        """`decode` of each list of ids."""
        return [self.decode(ids, errors) for ids in batch]

    def decode_single_token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token. Raises `UnknownTokenError`."""
        return self._engine.decode_bytes([token_id])

    # -- special tokens -----------------------------------------------------------------------------------------------

    def _policy(self, allowed_special: SpecialTokens, disallowed_special: SpecialTokens) -> Any:
        allowed = self._specials if allowed_special == "all" else self._known(allowed_special, "allowed_special")
        if disallowed_special == "all":
            forbidden = self._specials - allowed
        else:
            forbidden = self._known(disallowed_special, "disallowed_special")
        key = (allowed, forbidden)
        policy = self._policies.get(key)
        if policy is None:
            policy = self._engine.policy(allowed, forbidden)
            if len(self._policies) < _POLICIES_KEPT:  # a caller with endless different sets must not make memory grow
                self._policies[key] = policy
        return policy

    def _known(self, contents: SpecialTokens, argument: str) -> frozenset[str]:
        if isinstance(contents, str):
            raise TypeError(f"{argument} must be 'all' or a collection of special tokens, not the string {contents!r}")
        return frozenset(contents) & self._specials

    def _batch(self, texts: Sequence[str], policy: Any, num_threads: int | None) -> list[list[int]]:
        if isinstance(texts, str):
            raise TypeError("a batch is a sequence of texts, not one str; use encode for a single text")
        threads = num_threads if num_threads is not None else os.cpu_count() or 1
        if threads < 1:
            raise ValueError(f"num_threads must be at least 1, not {threads}")
        return self._run(self._engine.encode_batch, texts, policy, threads)

    def _run(self, method: Callable[..., Result], text: str | Sequence[str], *arguments: Any) -> Result:
        """Call the engine; a text that UTF-8 cannot hold is mended and tried again, which costs nothing where all can."""
        try:
            try:
                return method(text, *arguments)
            except UnicodeEncodeError:
                return method(as_unicode(text) if isinstance(text, str) else [as_unicode(t) for t in text], *arguments)
        except DisallowedSpecialTokenError as error:
            raise _disallowed(error) from None


def _rebuild(spec: TokenizerSpec, engine: EngineName) -> Encoder:
    return Encoder(spec, engine=engine)


def _disallowed(error: DisallowedSpecialTokenError) -> DisallowedSpecialTokenError:
    content = error.args[0]
    return DisallowedSpecialTokenError(
        f"the text holds {content!r}, which is a special token. To encode it as that token, pass "
        f"allowed_special={{{content!r}, ...}}; to encode it as plain text, pass disallowed_special=() ; "
        "encode_ordinary never matches special tokens"
    )
