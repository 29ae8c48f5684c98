"""`TokenizerSpec`: one frozen description of a BPE tokenizer, which everything else runs, makes, moves or edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Literal, Protocol

from hf_bpe.errors import EditError, PatternError, SpecError, some
from hf_bpe.normalizers import NormalizerStep, Replace, as_steps, describe, normalizer_defects
from hf_bpe.patterns import check_pattern
from hf_bpe.pieces import SentencePieceRules

__all__ = ["AddedToken", "TokenizerSpec", "VocabularyTable"]

MAX_TOKEN_ID = 2**31 - 1
"""Ids fit a signed 32-bit integer everywhere (numpy, torch and GGUF readers assume it)."""


class VocabularyTable(Protocol):
    """Tokens and merges in another form than dict and tuple: what a spec needs of `hf_bpe.engine.native.Vocabulary`."""

    def __len__(self) -> int:
        """How many tokens."""

    def vocab(self) -> dict[bytes, int]:
        """Token -> id."""

    def merges(self) -> tuple[tuple[bytes, bytes], ...]:
        """Pairs of tokens, best rank first."""

    def token_id(self, token: bytes) -> int | None:
        """The id of a token."""

    def token_bytes(self, token_id: int) -> bytes | None:
        """The token of an id."""

    @property
    def n_vocab(self) -> int:
        """The largest id + 1."""

    @property
    def is_by_rank(self) -> bool:
        """Whether it was given as ranks: then pieces are looked up as a whole first."""

    @property
    def unreachable(self) -> int:
        """How many tokens merging never makes; 0 unless it was given as ranks."""


@dataclass(frozen=True)
class AddedToken:
    """A token matched in the text itself, before it is split and merged.

    `special` tokens are matched only where the caller allows it; others always. `lstrip` and `rstrip` also take the white
    space on that side, `single_word` demands that no word character touches the match. `normalized`: looked for, normalised
    itself, in what is left of the normalised text once the other added tokens are taken out; in a SentencePiece model it has
    no meaning. Meanings as in the `tokenizers` library.
    """

    content: str
    id: int
    special: bool = True
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


@dataclass(frozen=True)
class TokenizerSpec:
    """Everything that decides which ids a text becomes. Checked when made; immutable; picklable; hashable.

    vocab: token bytes -> id, without added tokens (an added token whose text merging can also produce stands in both).
    merges: pairs of token bytes, best rank first; the merged bytes are in `vocab`. Rank is the position, not the id.
    pattern: how text is split before merging, in the syntax of the `regex` module; None: the whole text is one piece.
    unmatched: text between matches of the pattern is a piece of its own ("keep") or is lost ("drop", as in tiktoken).
    stages: patterns that split the pieces further, one after the other, each within the borders of the pieces before; text
        between their matches is kept. For splits in a row that are no one pattern; only tokenizer.json can hold them.
    ignore_merges: a piece that is a token as a whole gets that token's id without merging. It changes ids only where a
        token cannot be reached by merging (Llama 3 has 588 of those).
    added_tokens: matched leftmost first, and the longest of those that start at one place.
    normalizer: what is done to each stretch of text between added tokens before it is split: names and
        `hf_bpe.normalizers.Prepend` and `Replace`, one after the other.
    add_prefix_space: then, a space is put before each stretch that does not begin with one.
    sentencepiece: the pieces and rules of a SentencePiece model, which then decide everything but the added tokens: see
        `from_sentencepiece`. None: merging starts from single bytes, all 256 of which are in `vocab`.
    provenance: where it came from, free text by key; not part of equality.

    Raises `SpecError` naming every defect.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)} | {b"ab": 256}, merges=((b"a", b"b"),))
    >>> spec.n_vocab, spec.vocab_size
    (257, 257)
    """

    vocab: Mapping[bytes, int]
    merges: tuple[tuple[bytes, bytes], ...]
    pattern: str | None = None
    added_tokens: tuple[AddedToken, ...] = ()
    ignore_merges: bool = field(default_factory=bool)  # False; a plain default would be found before `__getattr__`
    unmatched: Literal["keep", "drop"] = "keep"
    stages: tuple[str, ...] = ()
    normalizer: tuple[NormalizerStep, ...] = ()
    add_prefix_space: bool = False
    sentencepiece: SentencePieceRules | None = None
    provenance: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.sentencepiece is not None:
            raise SpecError(["a SentencePiece model has no vocab and merges of its own; use TokenizerSpec.from_sentencepiece"])
        defects = _shape_defects(self)
        if defects:
            raise SpecError(defects)
        object.__setattr__(self, "vocab", MappingProxyType(dict(self.vocab)))
        object.__setattr__(self, "merges", tuple(self.merges))
        object.__setattr__(self, "added_tokens", tuple(self.added_tokens))
        object.__setattr__(self, "stages", tuple(self.stages))
        object.__setattr__(self, "normalizer", as_steps(self.normalizer))
        object.__setattr__(self, "provenance", MappingProxyType(dict(self.provenance)))
        self.validate()

    @classmethod
    def from_table(cls, table: VocabularyTable, **fields: Any) -> TokenizerSpec:
        """A spec over a table that was checked when made (a native `Vocabulary`). The other fields are as in the constructor.

        `vocab` and `merges` become Python objects when first asked for, and so does `ignore_merges` where the table has to
        be searched for tokens that merging cannot reach: for 100,000 tokens that takes longer than reading the file, and an
        `Encoder` needs none of it.
        """
        return cls._without_checking_vocab(fields | {"table": table})

    @classmethod
    def from_sentencepiece(
        cls, rules: SentencePieceRules, *, added_tokens: Iterable[AddedToken] = (), provenance: Mapping[str, str] | None = None
    ) -> TokenizerSpec:
        """A spec of the dialect "sentencepiece". `vocab` maps the pieces as UTF-8, U+2581 and `<0x41>` as written, to their ids.

        There are no merges: which pairs merge, and when, follows from the scores. Control pieces become special tokens where
        `added_tokens` names them with their id.
        """
        defects = rules.defects()
        if defects:
            raise SpecError(defects)
        vocab = MappingProxyType({piece.content.encode(): number for number, piece in enumerate(rules.pieces)})
        fields = {"vocab": vocab, "merges": (), "ignore_merges": False, "table": None, "sentencepiece": rules}
        return cls._without_checking_vocab(fields | {"added_tokens": added_tokens, "provenance": provenance or {}})

    @classmethod
    def _without_checking_vocab(cls, fields: dict[str, Any]) -> TokenizerSpec:
        spec = object.__new__(cls)
        values = {f.name: f.default for f in dataclass_fields(cls) if f.default is not MISSING} | {"provenance": {}} | fields
        values["added_tokens"] = tuple(values["added_tokens"])
        values["normalizer"] = as_steps(values["normalizer"])
        values["provenance"] = MappingProxyType(dict(values["provenance"]))
        for name, value in values.items():
            object.__setattr__(spec, name, value)
        defects = [*_added_token_defects(spec), *_rule_defects(spec)]
        if defects:
            raise SpecError(defects)
        return spec

    def __getattr__(self, name: str) -> Any:
        # Only what is not there yet comes here.
        if name == "table":
            value: Any = None
        elif name == "vocab" and self.table is not None:
            value = MappingProxyType(self.table.vocab())
        elif name == "merges" and self.table is not None:
            value = self.table.merges()
        elif name == "ignore_merges" and self.table is not None:
            value = self.table.unreachable > 0
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        object.__setattr__(self, name, value)
        return value

    @property
    def dialect(self) -> Literal["byte_level", "sentencepiece"]:
        """What merging starts from: bytes, or the characters of a SentencePiece model."""
        return "byte_level" if self.sentencepiece is None else "sentencepiece"

    def token_id(self, token: bytes) -> int | None:
        """The id of a token given as bytes, added tokens included, or None.

        >>> TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()).token_id(b"a")
        97
        """
        token_id = self.table.token_id(token) if self.table is not None else self.vocab.get(token)
        return self._added_ids.get(token) if token_id is None else token_id

    @cached_property
    def _added_ids(self) -> dict[bytes, int]:
        return {token.content.encode(): token.id for token in self.added_tokens}

    def token_bytes(self, token_id: int) -> bytes | None:
        """The bytes of an id, added tokens included, or None. Looks at every id.

        >>> TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()).token_bytes(97)
        b'a'
        """
        if not 0 <= token_id < self.n_vocab:
            return None
        token_of, _ = _lookups(self)
        token = token_of(token_id)
        return token if token is not None else next((t.content.encode() for t in self.added_tokens if t.id == token_id), None)

    def validate(self) -> None:
        """Raise `SpecError` naming every defect; return None for a sound description (as every constructed one is)."""
        if self.sentencepiece is not None:
            basis = self.sentencepiece.defects()
        else:
            basis = [*_vocab_defects(self), *_merge_defects(self)]
        defects = [*basis, *_added_token_defects(self), *_rule_defects(self)]
        if defects:
            raise SpecError(defects)

    @cached_property
    def n_vocab(self) -> int:
        """Largest id + 1: the number of embedding rows a model needs (tiktoken's name). Holes count."""
        largest = self.table.n_vocab - 1 if self.table is not None else max(self.vocab.values())
        return 1 + max([largest, *(token.id for token in self.added_tokens)])

    @cached_property
    def vocab_size(self) -> int:
        """How many ids are in use."""
        if self.table is not None:
            return len(self.table) + len([token for token in self.added_tokens if self.table.token_bytes(token.id) is None])
        return len(self.used_ids)

    @cached_property
    def used_ids(self) -> frozenset[int]:
        """The ids that have a token, added ones included. Others below `n_vocab` are holes."""
        return frozenset(self.vocab.values()).union(token.id for token in self.added_tokens)

    @cached_property
    def special_tokens(self) -> Mapping[str, int]:
        """Text -> id of the added tokens that are special."""
        return MappingProxyType({token.content: token.id for token in self.added_tokens if token.special})

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over everything but provenance: equal for equal tokenizers, on every machine."""
        import hashlib  # brings in OpenSSL, a tenth of what loading a rank file takes

        digest = hashlib.sha256()
        by_id = sorted(self.vocab.items(), key=itemgetter(1))
        digest.update(b"".join([b"%d:%d:%s" % (token_id, len(token), token) for token, token_id in by_id]))
        digest.update(b"".join([b"%d:%s%s" % (len(left), left, right) for left, right in self.merges]))
        rules: tuple[Any, ...] = (self.pattern, self.added_tokens, self.ignore_merges, self.unmatched, self.dialect)
        if self.sentencepiece is not None:
            rules += (self.sentencepiece,)
        if self.stages:
            rules += (self.stages,)
        if self.normalizer or self.add_prefix_space:
            rules += (self.normalizer, self.add_prefix_space)
        digest.update(repr(rules).encode())
        return digest.hexdigest()

    def replace(self, **changes: Any) -> TokenizerSpec:
        """A copy with some fields changed, checked again.

        >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
        >>> spec.replace(added_tokens=[AddedToken("<s>", 256)]).n_vocab
        257
        """
        if changes.keys() == {"provenance"}:  # which nothing depends on, so nothing is checked or worked out again
            copy = object.__new__(type(self))
            copy.__dict__.update(self.__dict__, provenance=MappingProxyType(dict(changes["provenance"])))
            return copy
        if self.sentencepiece is None:
            if self.table is None or changes.keys() & {"vocab", "merges", "sentencepiece"}:
                return replace(self, **changes)
            kept = (f.name for f in dataclass_fields(self) if f.name not in ("vocab", "merges", "sentencepiece"))
            rules = {name: self.__dict__[name] for name in kept if name in self.__dict__}  # ignore_merges may be unknown yet
            return self.from_table(self.table, **rules | changes)
        fields = {"added_tokens": self.added_tokens, "provenance": self.provenance} | changes
        return self.from_sentencepiece(fields.pop("sentencepiece", self.sentencepiece), **fields)

    def with_added_tokens(self, tokens: Iterable[str] | Mapping[str, int], *, special: bool = True) -> TokenizerSpec:
        """A copy that has these added tokens too. Ids that are there stay.

        A text that the vocabulary holds as a token has its id; others get those after the largest, in order, or the ids of a
        mapping. Added tokens that are there already stay as they are, and become special where that is asked for.

        Raises `SpecError` for an id that is taken, for a token that has another, and for what is no text or no id.

        >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
        >>> dict(spec.with_added_tokens(["<|user|>", "<|end|>"]).special_tokens)
        {'<|user|>': 256, '<|end|>': 257}
        """
        if isinstance(tokens, str):
            raise TypeError(f"tokens must be a collection of texts, not the one text {tokens!r}; put it into a list")
        tokens = tokens if isinstance(tokens, Mapping) else list(tokens)
        odd = [
            f"an added token is given by its text, a str, not as {token!r:.80}"
            for token in tokens
            if not isinstance(token, str)
        ]
        if isinstance(tokens, Mapping):
            odd += [
                f"the id of {token!r} is an int, not {given!r:.80}" for token, given in tokens.items() if type(given) is not int
            ]
        if odd:
            raise SpecError(odd)
        added = {token.content: token for token in self.added_tokens}
        next_id = self.n_vocab
        for content in tokens:
            known = added.get(content)
            old_id = self.token_id(content.encode("utf-8", "surrogatepass")) if known is None else known.id
            new_id = tokens[content] if isinstance(tokens, Mapping) else next_id if old_id is None else old_id
            if old_id not in (None, new_id):
                raise SpecError([f"the token {content!r} has id {old_id}, and {new_id} is asked for; an id never changes"])
            next_id = max(next_id, new_id + 1)
            new = AddedToken(content, new_id, special) if known is None else replace(known, special=known.special or special)
            added[content] = new
        return self.replace(added_tokens=tuple(added.values()))

    def with_renamed_tokens(self, names: Mapping[str, str]) -> TokenizerSpec:
        """A copy in which added tokens, by their texts, have other texts and their old ids: so reserved tokens come into use.

        Raises `EditError` for what is no added token, or one that merging makes too, and for a text that another token has.

        >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()).with_added_tokens(["<|reserved_0|>"])
        >>> dict(spec.with_renamed_tokens({"<|reserved_0|>": "<|tool|>"}).special_tokens)
        {'<|tool|>': 256}
        """
        refusal = next(_why_not_renamed(self, names), None)
        if refusal is not None:
            raise EditError(refusal)
        renamed = [replace(token, content=names.get(token.content, token.content)) for token in self.added_tokens]
        if self.sentencepiece is None:
            return self.replace(added_tokens=tuple(renamed))
        ids = {token.id: names[token.content] for token in self.added_tokens if token.content in names}
        pieces = tuple(replace(piece, content=ids.get(n, piece.content)) for n, piece in enumerate(self.sentencepiece.pieces))
        return self.replace(sentencepiece=replace(self.sentencepiece, pieces=pieces), added_tokens=tuple(renamed))

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.sentencepiece is not None:
            return _rebuild, (
                {"rules": self.sentencepiece, "added_tokens": self.added_tokens, "provenance": dict(self.provenance)},
            )
        values = {f.name: getattr(self, f.name) for f in dataclass_fields(self)}
        values["vocab"], values["provenance"] = dict(self.vocab), dict(self.provenance)
        return _rebuild, (values,)

    def __repr__(self) -> str:
        changes = describe(self.normalizer, self.add_prefix_space)
        normalizer = f"normalizer={changes!r}, " if changes else ""
        return (
            f"TokenizerSpec(dialect={self.dialect!r}, vocab_size={self.vocab_size}, n_vocab={self.n_vocab}, {normalizer}"
            f"merges={len(self.merges)}, added_tokens={len(self.added_tokens)}, fingerprint={self.fingerprint[:12]!r})"
        )


def _why_not_renamed(spec: TokenizerSpec, names: Mapping[str, str]) -> Iterator[str]:
    def token_id(text: str) -> int | None:
        return spec.token_id(text.encode("utf-8", "surrogatepass"))

    added = {token.content for token in spec.added_tokens}
    unknown = [name for name in names if token_id(name) is None]
    if unknown:
        yield f"there is no token {_some(unknown)} to rename; the added tokens are {_some(sorted(added)) if added else 'none'}"
    merged = {name for name in names if spec.sentencepiece is None and name.encode() in spec.vocab}
    ordinary = [name for name in names if name in merged or name not in added]
    if ordinary:
        yield f"{_some(ordinary)} cannot be renamed, being made by merging; put another token in its place (hf-bpe replace)"
    new = [*names.values()]
    taken = [name for name in new if name not in names and token_id(name) is not None]
    if taken:
        yield f"{_some(taken)} cannot be a new name, as there is a token of that name; choose another"
    twice = [name for name in dict.fromkeys(new) if new.count(name) > 1]
    if twice:
        yield f"{_some(twice)} is to be the new name of several tokens; give each one of its own"
    if "" in new:
        yield "a new name is empty; give one that a text can have"


def _some(texts: Iterable[str]) -> str:
    return some(list(map(repr, texts)))


def _rebuild(values: dict[str, Any]) -> TokenizerSpec:
    return TokenizerSpec.from_sentencepiece(**values) if "rules" in values else TokenizerSpec(**values)


def _shape_defects(spec: TokenizerSpec) -> list[str]:
    """Wrong types, which would make the other checks meaningless."""
    defects = []
    if not isinstance(spec.vocab, Mapping):
        return [f"vocab must map bytes to ids, not be a {type(spec.vocab).__name__}"]
    bad_tokens, bad_ids, bad_merges = [], [], []
    # All at once takes a third of the time that a look at each takes.
    if not _all_are(bytes, spec.vocab):
        bad_tokens = [repr(t) for t in spec.vocab if not isinstance(t, bytes)]
    if not _all_are(int, spec.vocab.values()):
        bad_ids = [f"{t!r}: {i!r}" for t, i in spec.vocab.items() if type(i) is not int]
    if not (
        _all_are(tuple, spec.merges) and {*map(len, spec.merges)} <= {2} and _all_are(bytes, chain.from_iterable(spec.merges))
    ):
        bad_merges = [
            repr(m) for m in spec.merges if not (type(m) is tuple and len(m) == 2 and type(m[0]) is type(m[1]) is bytes)
        ]
    bad_added = [
        repr(t)
        for t in spec.added_tokens
        if not (isinstance(t, AddedToken) and type(t.id) is int and isinstance(t.content, str))
    ]
    if bad_tokens:
        defects.append(f"tokens must be bytes: {some(bad_tokens)}")
    if bad_ids:
        defects.append(f"ids must be int: {some(bad_ids)}")
    if bad_merges:
        defects.append(f"merges must be pairs of bytes: {some(bad_merges)}")
    if bad_added:
        defects.append(f"added tokens must be AddedToken(content: str, id: int): {some(bad_added)}")
    return defects


def _all_are(kind: type, values: Iterable[object]) -> bool:
    return {*map(type, values)} <= {kind}


def _vocab_defects(spec: TokenizerSpec) -> list[str]:
    defects = []
    if b"" in spec.vocab:
        defects.append("vocab holds the empty token")
    missing = [f"0x{byte:02X}" for byte in range(256) if bytes([byte]) not in spec.vocab]
    if missing:
        defects.append(f"vocab lacks the bytes {some(missing)}; a byte-level tokenizer needs all 256")
    ids = spec.vocab.values()
    if min(ids, default=0) < 0 or max(ids, default=0) > MAX_TOKEN_ID:
        out_of_range = [f"{t!r}: {i}" for t, i in spec.vocab.items() if not 0 <= i <= MAX_TOKEN_ID]
        defects.append(f"ids must lie in 0..{MAX_TOKEN_ID}: {some(out_of_range)}")
    if len(set(spec.vocab.values())) < len(spec.vocab):
        owner: dict[int, bytes] = {}
        clashes = [f"{t!r} and {owner[i]!r} share id {i}" for t, i in spec.vocab.items() if owner.setdefault(i, t) is not t]
        defects.append(f"ids are not unique: {some(clashes)}")
    return defects


def _merge_defects(spec: TokenizerSpec) -> list[str]:
    vocab = spec.vocab
    defects = []
    unknown = []
    # All at once takes a third of the time that a look at each pair takes.
    if not {*chain.from_iterable(spec.merges), *map(b"".join, spec.merges)} <= vocab.keys():
        unknown = [
            f"{left!r} + {right!r}"
            for left, right in spec.merges
            if left not in vocab or right not in vocab or left + right not in vocab
        ]
    if unknown:
        defects.append(f"merges use or make tokens that are not in vocab: {some(unknown)}")
    if len(set(spec.merges)) < len(spec.merges):
        seen: set[tuple[bytes, bytes]] = set()
        repeated = [f"{m[0]!r} + {m[1]!r}" for m in spec.merges if m in seen or seen.add(m)]  # type: ignore[func-returns-value]
        defects.append(f"merges appear more than once: {some(repeated)}")
    return defects


def _lookups(spec: TokenizerSpec) -> tuple[Callable[[int], bytes | None], Callable[[bytes], int | None]]:
    """Id -> token and token -> id, added tokens left out."""
    if spec.table is not None:
        return spec.table.token_bytes, spec.table.token_id
    token_of_id = {token_id: token for token, token_id in spec.vocab.items()}
    return token_of_id.get, spec.vocab.get


def _added_token_defects(spec: TokenizerSpec) -> list[str]:
    defects: list[str] = []
    if not spec.added_tokens:
        return defects
    token_of, id_of = _lookups(spec)
    contents: dict[str, AddedToken] = {}
    ids: dict[int, AddedToken] = {}
    for token in spec.added_tokens:
        if not token.content:
            defects.append("an added token is empty")
            continue
        try:
            encoded = token.content.encode()
        except UnicodeEncodeError:
            defects.append(f"added token {token.content!r} holds a lone surrogate, which no UTF-8 text does")
            continue
        if not 0 <= token.id <= MAX_TOKEN_ID:
            defects.append(f"added token {token.content!r}: id {token.id} does not lie in 0..{MAX_TOKEN_ID}")
        if contents.setdefault(token.content, token) is not token:
            defects.append(f"added token {token.content!r} appears more than once")
        elif ids.setdefault(token.id, token) is not token:
            defects.append(f"added tokens {ids[token.id].content!r} and {token.content!r} share id {token.id}")
        if token_of(token.id) not in (None, encoded):
            defects.append(f"added token {token.content!r} has id {token.id}, which is {token_of(token.id)!r} in vocab")
        if id_of(encoded) not in (None, token.id):
            defects.append(
                f"added token {token.content!r} has id {token.id}, but the same text has id {id_of(encoded)} in vocab, and a text of two "
                "ids is not run here; give both the same id, or take it out of the added tokens"
            )
    return defects


def _rule_defects(spec: TokenizerSpec) -> list[str]:
    defects = []
    if spec.unmatched not in ("keep", "drop"):
        defects.append(f"unmatched is {spec.unmatched!r}; it must be 'keep' or 'drop'")
    if spec.stages and spec.pattern is None:
        defects.append("there are stages but no pattern; make the first of them the pattern")
    defects += normalizer_defects(spec.normalizer)
    if not isinstance(spec.add_prefix_space, bool):
        defects.append(f"add_prefix_space must be True or False, not {spec.add_prefix_space!r}")
    replaced = [step.pattern for step in spec.normalizer if isinstance(step, Replace) and isinstance(step.pattern, str)]
    for pattern in (spec.pattern, *spec.stages, *replaced):
        try:
            if pattern is not None:
                check_pattern(pattern)
        except PatternError as error:
            defects.append(str(error))
    return defects
