"""`Encoder`: text to ids and back, for one spec. Immutable, thread-safe, picklable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hf_bpe.engine.arrays import Alignment, CacheInfo, Ragged
from hf_bpe.engine.backends import EngineName, make_engine
from hf_bpe.engine.parts import Part, Trust, join_parts, refuse_unknown, sets_of
from hf_bpe.engine.protocol import Places
from hf_bpe.engine.threads import thread_count
from hf_bpe.errors import DisallowedSpecialTokenError, UnknownTokenError
from hf_bpe.pieces import piece_bytes
from hf_bpe.spec import TokenizerSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

__all__ = ["Encoder", "SpecialTokens"]

SpecialTokens: TypeAlias = Literal["all"] | Collection[str]

_POLICIES_KEPT = 64
_MOST_UINT16 = 1 << 16


class Encoder:
    """Encodes and decodes with one `TokenizerSpec`.

    Never changes after it is made; share it between threads, fork with it, pickle it. Text holding lone surrogates, which
    UTF-8 cannot hold, is encoded as if each were U+FFFD (surrogate pairs count as the character they mean), as tiktoken
    does.

    engine: "native", "reference", or "auto" for the native one where it is installed.
    special: what a special token in a text is where the call does not say: an error ("raise"), the text it is spelled with
        ("text"), or itself ("special"); or one of these for each of some tokens, and the others raise. Raises `ValueError` for
        tokens and words that are not known.

    >>> from hf_bpe import TokenizerSpec
    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()).with_added_tokens(["<s>", "</s>"])
    >>> Encoder(spec, special={"<s>": "special", "</s>": "text"}).encode("<s></s>")
    [256, 60, 47, 115, 62]
    """

    def __init__(
        self, spec: TokenizerSpec, *, engine: EngineName = "auto", special: Trust | Mapping[str, Trust] = "raise"
    ) -> None:
        self.spec = spec
        self._engine_name = engine
        self._special = dict(special) if isinstance(special, Mapping) else special
        self._engine = make_engine(spec, engine)
        self._specials = frozenset(spec.special_tokens)
        self._ordinary = self._engine.policy(frozenset(), frozenset())
        self._policies: dict[tuple[SpecialTokens | None, SpecialTokens | None], Any] = {}
        self._default = self._engine.policy(*sets_of(self._special, self._specials))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.spec, self._engine_name, self._special)

    def __repr__(self) -> str:
        special = "" if self._special == "raise" else f", special={self._special!r}"
        return f"Encoder({self.spec!r}, engine={self.engine!r}{special})"

    @property
    def engine(self) -> str:
        """Which engine runs: "native" or "reference"."""
        return "native" if type(self._engine).__module__ == "hf_bpe.engine.native" else "reference"

    @property
    def n_vocab(self) -> int:
        """Largest id + 1."""
        return self.spec.n_vocab

    # -- encoding -----------------------------------------------------------------------------------------------------

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of a text in which no special token is special. Added tokens that are not special are still matched, but not
        where they begin inside a special one: `tokenizers` does so.

        >>> encoder.encode_ordinary("hello <|endoftext|>")  # doctest: +SKIP
        [15339, 83739, 8862, 728, 428, 91, 29]
        """
        return self._engine.encode(text, self._ordinary)

    def encode(
        self, text: str, *, allowed_special: SpecialTokens | None = None, disallowed_special: SpecialTokens | None = None
    ) -> list[int]:
        """Ids of a text, special tokens treated as the call says (tiktoken's meaning), or as the encoder does where it is silent.

        A special token in `allowed_special` becomes its id. One in `disallowed_special` ("all", or not given: every one not
        allowed) raises `DisallowedSpecialTokenError`. Any other is encoded as the text it is. Pass `disallowed_special=()` for
        text that may hold such spellings by accident; pass `allowed_special="all"` only for text you wrote yourself. A name in
        either that is no special token of this tokenizer raises `EncodingError`.

        >>> encoder.encode("<|endoftext|>", allowed_special="all")  # doctest: +SKIP
        [100257]
        """
        policy = self._default
        if allowed_special is not None or disallowed_special is not None:
            policy = self._policy(allowed_special, disallowed_special)
        return self._engine.encode(text, policy)

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialTokens | None = None,
        disallowed_special: SpecialTokens | None = None,
    ) -> list[list[int]]:
        """`encode` of each text, on `num_threads` threads (default: all processors)."""
        policy = self._policy(allowed_special, disallowed_special)
        return self._engine.encode_batch(_batch(texts), policy, thread_count(num_threads))

    def encode_ordinary_batch(self, texts: Sequence[str], *, num_threads: int | None = None) -> list[list[int]]:
        """`encode_ordinary` of each text, on `num_threads` threads (default: all processors)."""
        return self._engine.encode_batch(_batch(texts), self._ordinary, thread_count(num_threads))

    def encode_piece(self, piece: bytes, *, whole: bool = True) -> list[int]:
        """Ids of one piece of bytes as it is: not normalised, searched for added tokens or split. It need not be UTF-8.

        whole: a piece that is a token is taken as that where the spec says `ignore_merges`; False: it is merged all the same.
        Raises `HfBpeError` for a SentencePiece model, which merges characters.

        >>> encoder.encode_piece(b"hello world")  # doctest: +SKIP
        [15339, 1917]
        """
        return self._engine.encode_piece(piece, whole)

    def count(
        self, text: str, *, allowed_special: SpecialTokens | None = None, disallowed_special: SpecialTokens | None = None
    ) -> int:
        """How many ids `encode` gives, without making them.

        >>> encoder.count("hello world")  # doctest: +SKIP
        2
        """
        return self._engine.count(text, self._policy(allowed_special, disallowed_special))

    def count_ordinary(self, text: str) -> int:
        """How many ids `encode_ordinary` gives, without making them."""
        return self._engine.count(text, self._ordinary)

    def count_ordinary_batch(self, texts: Sequence[str], *, num_threads: int | None = None) -> list[int]:
        """`count_ordinary` of each text, on `num_threads` threads (default: all processors)."""
        return self._engine.count_batch(_batch(texts), self._ordinary, thread_count(num_threads))

    # -- trusted and untrusted text -----------------------------------------------------------------------------------

    def encode_parts(self, parts: Iterable[Part]) -> list[int]:
        """Ids of the parts joined, where a special token is one only if all of its text is trusted.

        Each part is a text and its trust: True or "special"; False or "text": special tokens that lie there, or partly there,
        are the text they are spelled with; "raise": they raise `DisallowedSpecialTokenError`. Merges, splits and added tokens
        that are not special cross the borders of parts as if there were none, and so does the white space that special
        tokens take along: where no untrusted text spells one, the ids are those of `encode(text, allowed_special="all")`.

        Raises `DisallowedSpecialTokenError` also where untrusted text would become a special token all the same, as merging
        can make it: some vocabularies hold their special tokens as ordinary ones too.

        >>> encoder.encode_parts([("<|endoftext|>", True), ("hi <|endoftext|>", False)])  # doctest: +SKIP
        [100257, 6151, 83739, 8862, 728, 428, 91, 29]
        """
        text, policy = self._parts(parts)
        ids: list[int] = self._engine.encode(text, policy)
        self._refuse_specials_from_text(text, policy, ids)
        return ids

    def encode_parts_with_offsets(
        self, parts: Iterable[Part], *, unit: Literal["characters", "bytes"] = "characters"
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Ids as `encode_parts` gives them, shape (n,), and start and end of each in the joined text, as `encode_with_offsets` does."""
        _check_unit(unit)
        text, policy = self._parts(parts)
        ids, spans = self._with_offsets(text, policy, characters=unit == "characters")
        self._refuse_specials_from_text(text, policy, ids.tolist())
        return ids, spans

    def align_parts(self, parts: Iterable[Part]) -> Alignment:
        """Ids as `encode_parts` gives them, with all that `align_batch` says of those of one text.

        >>> encoder.align_parts([("<|endoftext|>", True), ("hi <|endoftext|>", False)]).added.tolist()[:2]  # doctest: +SKIP
        [True, False]
        """
        text, policy = self._parts(parts)
        found = Alignment(*self._engine.place([text], policy, 1, "characters").arrays())
        self._refuse_specials_from_text(text, policy, found.ids.tolist())
        return found

    def _parts(self, parts: Iterable[Part]) -> tuple[str, Any]:
        text, lengths, trusts = join_parts(parts)
        try:
            policy = self._engine.policy_of_parts(text, lengths, trusts)
        except DisallowedSpecialTokenError as error:
            raise DisallowedSpecialTokenError(
                error.token,
                f"untrusted text spells {error.token!r}, which is a special token; to encode it as the text it is, let the trust of "
                'that text be "text"',
            ) from None
        self._refuse_normalised_specials(text, policy, lengths, trusts)
        return text, policy

    def _refuse_specials_from_text(self, text: str, policy: Any, ids: list[int]) -> None:
        if not self._specials_in_vocab:
            return
        made = [token_id for token_id in ids if token_id in self._specials_in_vocab]
        matched = [i for i in self._engine.added_ids(text, policy) if i in self._specials_in_vocab] if made else []
        if len(made) > len(matched):
            token_id = next((i for i in made if made.count(i) > matched.count(i)), made[0])
            token = self._specials_in_vocab[token_id]
            raise DisallowedSpecialTokenError(
                token,
                f"untrusted text became the special token {token!r}: this vocabulary holds it as an ordinary token too, so it "
                "cannot be encoded as text. Remove it from the text",
            )

    def _refuse_normalised_specials(self, text: str, policy: Any, lengths: list[int], trusts: bytes) -> None:
        """Raise for special tokens that are found in normalised text, where untrusted text became part of one."""
        special = {token.id: token.content for token in self.spec.added_tokens if token.special and token.normalized}
        if not self.spec.normalizer or not special or not any(trusts):
            return
        is_trusted = [not trust for length, trust in zip(lengths, trusts, strict=True) for _ in range(length)]
        ids, spans = self._with_offsets(text, policy)
        for token_id, (start, stop) in zip(ids.tolist(), spans.tolist(), strict=True):
            if token_id in special and not (start < stop and all(is_trusted[start:stop])):
                raise DisallowedSpecialTokenError(
                    special[token_id],
                    f"untrusted text, {text[start:stop]!r}, became the special token {special[token_id]!r}, which is looked for in "
                    "normalised text. Remove it from the text, or make the token one with normalized=False",
                )

    @cached_property
    def _specials_in_vocab(self) -> dict[int, str]:
        """Id -> text of the special tokens that come out of ordinary text too."""
        rules = self.spec.sentencepiece
        if rules is None:
            id_of = self.spec.vocab.get if self.spec.table is None else self.spec.table.token_id
            return {i: token for token, i in self.spec.special_tokens.items() if id_of(token.encode()) is not None}
        never = ("control", "unknown")  # an unknown piece says nothing of the text it stands for
        found = {i: token for token, i in self.spec.special_tokens.items() if i < len(rules.pieces)}
        return {i: token for i, token in found.items() if rules.pieces[i].kind not in never}

    # -- encoding to arrays -------------------------------------------------------------------------------------------

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: SpecialTokens | None = None,
        disallowed_special: SpecialTokens | None = None,
        dtype: DTypeLike = "uint32",
    ) -> NDArray[Any]:
        """`encode` as an array of shape (ids,). `dtype`: uint32, or uint16 where `n_vocab` is at most 65,536."""
        policy = self._policy(allowed_special, disallowed_special)
        return self._engine.encode_to_numpy(text, policy, self._narrow(dtype))

    def encode_ordinary_to_numpy(self, text: str, *, dtype: DTypeLike = "uint32") -> NDArray[Any]:
        """`encode_ordinary` as an array of shape (ids,). `dtype`: uint32, or uint16 where `n_vocab` is at most 65,536.

        >>> encoder.encode_ordinary_to_numpy("hello world")  # doctest: +SKIP
        array([15339,  1917], dtype=uint32)
        """
        return self._engine.encode_to_numpy(text, self._ordinary, self._narrow(dtype))

    def encode_batch_to_numpy(
        self,
        texts: Sequence[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialTokens | None = None,
        disallowed_special: SpecialTokens | None = None,
        dtype: DTypeLike = "uint32",
    ) -> Ragged:
        """`encode` of each text, as one array of ids and one of where each text's begin."""
        policy = self._policy(allowed_special, disallowed_special)
        return Ragged(
            *self._engine.encode_batch_to_numpy(_batch(texts), policy, thread_count(num_threads), self._narrow(dtype))
        )

    def encode_ordinary_batch_to_numpy(
        self, texts: Sequence[str], *, num_threads: int | None = None, dtype: DTypeLike = "uint32"
    ) -> Ragged:
        """`encode_ordinary` of each text, as one array of ids and one of where each text's begin.

        >>> encoder.encode_ordinary_batch_to_numpy(["hello world", "hello"]).offsets  # doctest: +SKIP
        array([0, 2, 3])
        """
        threads, narrow = thread_count(num_threads), self._narrow(dtype)
        return Ragged(*self._engine.encode_batch_to_numpy(_batch(texts), self._ordinary, threads, narrow))

    def encode_ordinary_utf8(
        self, data: Any, offsets: NDArray[np.int64], *, num_threads: int | None = None, dtype: DTypeLike = "uint32"
    ) -> Ragged:
        """`encode_ordinary` of texts that stand one after the other in a buffer, as Arrow keeps a column of strings.

        data: a bytes-like object of UTF-8. offsets: int64, shape (texts + 1,); text n is `data[offsets[n]:offsets[n + 1]]`.
        Raises `CorpusError` naming the text and the byte that is not UTF-8, `ValueError` for offsets out of order.
        """
        threads, narrow = thread_count(num_threads), self._narrow(dtype)
        return Ragged(*self._engine.encode_utf8_to_numpy(data, offsets, self._ordinary, threads, narrow))

    def encode_with_offsets(
        self,
        text: str,
        *,
        unit: Literal["characters", "bytes"] = "characters",
        allowed_special: SpecialTokens | None = None,
        disallowed_special: SpecialTokens | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Ids, shape (n,), and start and end of each in the text, shape (n, 2).

        In characters, an id that holds part of one spans all of it, so neighbours may overlap. White space that an added
        token takes along belongs to it. Text that the pattern drops belongs to none. What a normalizer made spans a whole
        character, the first of those it was made of, as in `tokenizers`.

        >>> encoder.encode_with_offsets("hello world")[1].tolist()  # doctest: +SKIP
        [[0, 5], [5, 11]]
        """
        _check_unit(unit)
        return self._with_offsets(text, self._policy(allowed_special, disallowed_special), characters=unit == "characters")

    def _with_offsets(self, text: str, policy: Any, *, characters: bool = True) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        import numpy as np  # loading a tokenizer needs none

        ids, starts, stops, *_ = self._engine.place([text], policy, 1, "characters" if characters else "bytes").arrays()
        return ids, np.stack([starts, stops], 1)

    def align_batch(
        self,
        texts: Sequence[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialTokens | None = None,
        disallowed_special: SpecialTokens | None = None,
    ) -> Alignment:
        """`encode_with_offsets` in characters of each text, with the piece of it that each id is part of, and whether it was merged.

        Pieces are what merging never crosses, counted from 0; an added token is one, and so is a user-defined piece of a
        SentencePiece model. `num_threads`: default all processors.

        >>> encoder.align_batch(["hello world!", "hello"]).pieces  # doctest: +SKIP
        array([0, 1, 2, 0], dtype=uint32)
        """
        policy, threads = self._policy(allowed_special, disallowed_special), thread_count(num_threads)
        return Alignment(*self._engine.place(_batch(texts), policy, threads, "characters").arrays())

    def place(
        self, text: str, *, allowed_special: SpecialTokens | None = None, disallowed_special: SpecialTokens | None = None
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """`encode_with_offsets` in lists, with the characters that the `tokenizers` library gives to spaces that a SentencePiece
        model adds, or leaves one of.

        >>> encoder.place("hello world")  # doctest: +SKIP
        ([15339, 1917], [(0, 5), (5, 11)])
        """
        return self._engine.place_one(text, self._policy(allowed_special, disallowed_special), "stock")

    def place_batch(
        self,
        texts: Sequence[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialTokens | None = None,
        disallowed_special: SpecialTokens | None = None,
    ) -> Places:
        """What `align_batch` finds, to be had as lists, with places as `place` has them.

        >>> encoder.place_batch(["hello world", "hello"]).offsets()  # doctest: +SKIP
        [[(0, 5), (5, 11)], [(0, 5)]]
        """
        policy, threads = self._policy(allowed_special, disallowed_special), thread_count(num_threads)
        return self._engine.place(_batch(texts), policy, threads, "stock")

    def _narrow(self, dtype: DTypeLike) -> bool:
        name = dtype if isinstance(dtype, str) else getattr(dtype, "name", getattr(dtype, "__name__", str(dtype)))
        if name == "uint16" and self.n_vocab > _MOST_UINT16:
            raise ValueError(f"ids up to {self.n_vocab - 1} do not fit uint16; use uint32")
        if name not in ("uint16", "uint32"):
            raise ValueError(f"dtype {name!r} is not known here; it must be uint32 or uint16: use .astype for others")
        return bool(name == "uint16")

    # -- looking at text ----------------------------------------------------------------------------------------------

    def pretokenize(self, text: str) -> list[str]:
        """The pieces that merging never crosses, added tokens not considered."""
        return self._engine.pretokenize(text)

    def encode_single_token(self, token: str | bytes) -> int:
        """The id of one token given as text or bytes, special tokens included. Raises `UnknownTokenError`."""
        try:
            content = token.encode() if isinstance(token, str) else token
        except UnicodeEncodeError:
            raise UnknownTokenError(
                f"{token!r} holds a surrogate, which no UTF-8 text does; pass the bytes of the token"
            ) from None
        token_id = self.spec.token_id(content)
        if token_id is None:
            raise UnknownTokenError(f"{token!r} is not a token of this vocabulary")
        return token_id

    # -- decoding -----------------------------------------------------------------------------------------------------

    def decode_bytes(self, ids: Sequence[int] | NDArray[Any]) -> bytes:
        """The bytes behind the ids; of a SentencePiece model what `decode` gives, before bytes that are no text are replaced.

        Raises `UnknownTokenError` for an id that is not in the vocabulary.
        """
        return self._engine.decode_bytes(ids)

    def decode(self, ids: Sequence[int] | NDArray[Any], errors: str = "replace") -> str:
        """The text behind the ids; bytes that are not UTF-8 become U+FFFD unless `errors` says otherwise.

        For a SentencePiece model, what SentencePiece gives: no control pieces, no dummy prefix, a U+FFFD for each such byte.

        >>> encoder.decode([15339, 1917])  # doctest: +SKIP
        'hello world'
        """
        if errors != "replace" and self.spec.dialect == "sentencepiece":
            return self._engine.decode_bytes(ids).decode("utf-8", errors)
        text = self._engine.decode(ids)
        return text if isinstance(text, str) else text.decode("utf-8", errors)

    def decode_batch(self, batch: Sequence[Sequence[int]] | Ragged, errors: str = "replace") -> list[str]:
        """`decode` of each row of ids."""
        rows = batch.rows() if isinstance(batch, Ragged) else batch
        return [self.decode(ids, errors) for ids in rows]

    def decode_single_token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token; of a SentencePiece model those of the piece, its space too. Raises `UnknownTokenError`."""
        rules = self.spec.sentencepiece
        if rules is not None and 0 <= token_id < len(rules.pieces):
            return piece_bytes(rules.pieces[token_id])
        return self._engine.decode_bytes([token_id])

    # -- the cache ----------------------------------------------------------------------------------------------------

    def cache_info(self) -> CacheInfo:
        """What the cache of pieces holds, and how often it was asked. Caches in use by another thread are not counted.

        >>> encoder.cache_info()  # doctest: +SKIP
        CacheInfo(bytes=98304, lookups=2, misses=2)
        """
        return CacheInfo(*self._engine.cache_info())

    # -- special tokens -----------------------------------------------------------------------------------------------

    def special_sets(
        self, allowed_special: SpecialTokens | None = None, disallowed_special: SpecialTokens | None = None
    ) -> tuple[frozenset[str], frozenset[str]]:
        """The special tokens that become their ids in a call with these arguments, and those that raise.

        >>> encoder.special_sets(disallowed_special=())  # doctest: +SKIP
        (frozenset(), frozenset())
        """
        if allowed_special is None and disallowed_special is None:
            return sets_of(self._special, self._specials)
        allowed = (
            self._specials
            if allowed_special == "all"
            else self._known(() if allowed_special is None else allowed_special, "allowed_special")
        )
        if disallowed_special is None or disallowed_special == "all":
            return allowed, self._specials - allowed
        return allowed, self._known(disallowed_special, "disallowed_special")

    def _policy(self, allowed_special: SpecialTokens | None, disallowed_special: SpecialTokens | None) -> Any:
        if allowed_special is None and disallowed_special is None:
            return self._default
        try:
            policy = self._policies.get((allowed_special, disallowed_special))
        except TypeError:  # a list or a set, which may be another next time
            policy = None
        return self._new_policy(allowed_special, disallowed_special) if policy is None else policy

    def _new_policy(self, allowed_special: SpecialTokens | None, disallowed_special: SpecialTokens | None) -> Any:
        sets = self.special_sets(allowed_special, disallowed_special)
        policy = self._policies.get(sets) or self._engine.policy(*sets)
        if len(self._policies) < _POLICIES_KEPT:  # a caller with endless different sets must not make memory grow
            self._policies[sets] = policy
            if all(isinstance(given, _UNCHANGEABLE) for given in (allowed_special, disallowed_special)):
                self._policies[allowed_special, disallowed_special] = policy
        return policy

    def _known(self, contents: SpecialTokens, argument: str) -> frozenset[str]:
        if isinstance(contents, str) or not isinstance(contents, Iterable):
            raise TypeError(f"{argument} must be 'all' or a collection of special tokens, not {contents!r:.80}")
        chosen = frozenset(contents)
        # A misspelt name would let text through, or turn a special token into text, without a word.
        refuse_unknown(chosen, self._specials, f"{argument}: ")
        return chosen


_UNCHANGEABLE = (str, tuple, frozenset, type(None))
"""Arguments that name the same special tokens in every call. With 65,536 tokens, finding out which takes 3 ms."""


def _rebuild(spec: TokenizerSpec, engine: EngineName, special: Trust | Mapping[str, Trust]) -> Encoder:
    return Encoder(spec, engine=engine, special=special)


def _check_unit(unit: str) -> None:
    if unit not in ("characters", "bytes"):
        raise ValueError(f"unit is {unit!r}; it must be 'characters' or 'bytes'")


def _batch(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, str):
        raise TypeError("a batch is a sequence of texts, not one str; use encode for a single text")
    return texts
