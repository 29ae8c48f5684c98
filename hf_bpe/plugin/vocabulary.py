"""`Vocabulary`: a spec and the tokens added to it at run time, with the look-ups that serving them needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import tokenizers

from hf_bpe.engine import Encoder
from hf_bpe.engine.normalizer_reference import NormalizerReference
from hf_bpe.errors import HfBpeError, UnknownTokenError
from hf_bpe.plugin.read_only import ReadOnlyDict
from hf_bpe.plugin.spaces import OuterSpaces
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.spelling import spelling_of
from hf_bpe.streaming.rules import DecodingRules

__all__ = ["Vocabulary", "library_token"]


def _to_library_token(token: AddedToken) -> tokenizers.AddedToken:
    """The same token as the class that the `tokenizers` and `transformers` libraries use."""
    return tokenizers.AddedToken(
        token.content,
        single_word=token.single_word,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        normalized=token.normalized,
        special=token.special,
    )


def _from_library_token(token: tokenizers.AddedToken, token_id: int, may_be_normalized: bool) -> AddedToken:
    return AddedToken(
        token.content,
        token_id,
        special=token.special,
        single_word=token.single_word,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        normalized=token.normalized and may_be_normalized,
    )


def library_token(token: str | tokenizers.AddedToken, special: bool | None) -> tokenizers.AddedToken:
    """A token as the `tokenizers` library takes it. special: True makes it special; None leaves it as it is."""
    if isinstance(token, str):
        return tokenizers.AddedToken(token, special=bool(special), normalized=not special)
    if not isinstance(token, tokenizers.AddedToken):
        raise TypeError(f"an added token must be a str or an AddedToken, not {token!r:.80}")
    if not special or token.special or not token.content:
        return token
    # Making a token special changes `normalized` unless that was set, which only the library can tell.
    scratch = tokenizers.Tokenizer(tokenizers.models.BPE())
    scratch.add_special_tokens([token])
    return scratch.get_added_tokens_decoder()[0]


K = TypeVar("K")
V = TypeVar("V")


class Known(dict[K, V | None]):
    """Answers of a function, kept but for those that are None, so that there are no more than the vocabulary has names."""

    def __init__(self, find: Callable[[K], V | None]) -> None:
        self._find = find

    def __missing__(self, key: K) -> V | None:
        found = self._find(key)
        if found is not None:
            self[key] = found
        return found


class Vocabulary:
    """Immutable, so that a thread that took hold of one keeps a consistent view while another thread adds tokens.

    base: the vocabulary and the rules; its own added tokens are not looked at.
    added: the added tokens in force (default: those of the base); kept in the order of their ids, as files have them.
    counted: texts of added tokens that count towards `base_size`. Files list these in the vocabulary as well. Default: those
        of the base, so that a tokenizer has the size it was trained for, as with the `tokenizers` library; but none with
        `ignore_merges`, where a token in the vocabulary could also come from plain text, and none beside the pieces of a
        SentencePiece model, which are the vocabulary.

    What is slow to make (the engine, the checked spec, inverse tables) is made when first needed. Pickles hold none of it,
    so that using a tokenizer does not change its pickle.
    """

    def __init__(
        self, base: TokenizerSpec, added: Sequence[AddedToken] | None = None, counted: Collection[str] | None = None
    ) -> None:
        self._base = base
        self.spelling = spelling_of(base)
        if counted is None:
            counted = () if base.ignore_merges or base.sentencepiece else [token.content for token in base.added_tokens]
        self._counted = frozenset(counted)
        self.added = tuple(sorted(base.added_tokens if added is None else added, key=lambda token: token.id))
        self.by_content = {token.content: token for token in self.added}
        self.by_id = {token.id: token for token in self.added}

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self._base, self.added, sorted(self._counted))

    def __copy__(self) -> Vocabulary:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Vocabulary:
        return self

    # -- made when first needed ---------------------------------------------------------------------------------------

    @cached_property
    def spec(self) -> TokenizerSpec:
        """The complete description, added tokens included."""
        return self._base if self.added == self._base.added_tokens else self._base.replace(added_tokens=self.added)

    @cached_property
    def encoder(self) -> Encoder:
        """Runs `spec`."""
        return Encoder(self.spec)

    @cached_property
    def plain_encoder(self) -> Encoder:
        """Runs the spec as if no token had been added."""
        return Encoder(self._base.replace(added_tokens=()))

    @cached_property
    def _tokens(self) -> dict[int, bytes]:
        return {token_id: token for token, token_id in self._base.vocab.items()}

    @cached_property
    def _normalizer(self) -> NormalizerReference:
        return NormalizerReference(self._base.normalizer)

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """Ids of the added tokens that are special."""
        return frozenset(token.id for token in self.added if token.special)

    @cached_property
    def added_ids(self) -> dict[str, int]:
        """Text -> id of the added tokens, in the order of the ids."""
        return {token.content: token.id for token in self.added}

    @cached_property
    def shown_added_ids(self) -> ReadOnlyDict:
        """The same to be given out."""
        return ReadOnlyDict(self.added_ids)

    @cached_property
    def library_tokens(self) -> dict[int, tokenizers.AddedToken]:
        """Id -> added token, as the class of the `tokenizers` library. Not to be given out: these can be changed."""
        return self.new_library_tokens()

    def new_library_tokens(self) -> dict[int, tokenizers.AddedToken]:
        """The same, the caller's own."""
        return {token.id: _to_library_token(token) for token in self.added}

    @cached_property
    def _ids(self) -> dict[str, int]:
        vocab = self._base.vocab
        return dict(zip(self.spelling.spell_all(vocab), vocab.values(), strict=True)) | self.added_ids

    # -- sizes and look-ups -------------------------------------------------------------------------------------------

    @cached_property
    def listed(self) -> dict[str, int]:
        """Text -> id of the added tokens that count towards `base_size`."""
        return {token.content: token.id for token in self.added if token.content in self._counted}

    @cached_property
    def base_size(self) -> int:
        """How many names there are without those of tokens added later."""
        return len(self._base.vocab) + sum(not self._is_in_base(content) for content in self.listed)

    @cached_property
    def size(self) -> int:
        """How many names `ids` has. An added token that merging can also make has two: `Ċ` and a line feed."""
        return len(self._base.vocab) + sum(not self._is_in_base(token.content) for token in self.added)

    @cached_property
    def next_id(self) -> int:
        """The id that the next added token gets: the one that stock classes give it, unless that is in use."""
        return max(self._base.n_vocab, self.base_size, 1 + max(self.by_id, default=-1))

    def ids(self) -> dict[str, int]:
        """Token -> id, tokens in the spelling of files of their dialect, added tokens as they are. The caller's own."""
        return dict(self._ids)

    def id_of(self, token: str) -> int | None:
        """The id of a token in the spelling of `ids`, None if there is none.

        >>> Vocabulary(spec).id_of("Ġhello")  # doctest: +SKIP
        31373
        """
        added = self.by_content.get(token)
        if added is not None:
            return added.id
        spelt = self.spelling.read(token)
        return None if spelt is None else self._base_id(spelt)

    @cached_property
    def known_ids(self) -> Known[str, int]:
        """`id_of` of each token that was asked for."""
        return Known(self.id_of)

    @cached_property
    def known_tokens(self) -> Known[int, str]:
        """`token_of` of each id that was asked for."""
        return Known(self.token_of)

    def token_of(self, token_id: int) -> str | None:
        """The token with an id in the spelling of `ids`, None if there is none. Raises `OverflowError` below zero."""
        added = self.by_id.get(token_id)
        if added is not None:
            return added.content
        token = self._tokens.get(token_id)
        if token is None:
            _check_not_negative(token_id)
            return None
        return self.spelling.spell(token)

    @cached_property
    def outer_spaces(self) -> OuterSpaces:
        """How many spaces each token that merging makes begins and ends with, spelled as in files even where it is an added one too."""
        return OuterSpaces(self.spec.n_vocab, lambda token_id: self.spelling.spell(self._tokens[token_id]))

    def found_token_of(self, token_id: int, text: str) -> str:
        """What stock classes call an added token that was found as this text, which may hold more space than the token itself."""
        token = self.by_id[token_id]
        name = self._normalizer.apply(token.content) if token.normalized else token.content
        if name == token.content:
            return text
        before = text[: len(text) - len(text.lstrip())] if token.lstrip else ""
        behind = text[len(text.rstrip()) :] if token.rstrip else ""
        return before + name + behind

    # -- decoding -----------------------------------------------------------------------------------------------------

    def decode(self, ids: Sequence[int], skip_special: bool) -> str:
        """The text behind ids; ids that are not in use give no text. Raises `OverflowError` for one below zero."""
        if skip_special:
            special = self.special_ids
            ids = [token_id for token_id in ids if token_id not in special]
        try:
            return self._decode(ids)
        except (UnknownTokenError, OverflowError):
            for token_id in ids:
                _check_not_negative(token_id)
            return self._decode([i for i in ids if i in self._tokens or i in self.by_id])

    @cached_property
    def _decode(self) -> Callable[[Sequence[int]], str]:
        return self.spelling.decoder(self.encoder)

    @cached_property
    def decoding_rules(self) -> DecodingRules:
        """How `decode` makes text, for ids that come bit by bit."""
        rules = self.spelling.decoding_rules(self.encoder)

        def bytes_of(ids: Sequence[int]) -> bytes:
            try:
                return rules.bytes_of(ids)
            except (UnknownTokenError, OverflowError):
                for token_id in ids:
                    _check_not_negative(token_id)
                return rules.bytes_of([i for i in ids if i in self._tokens or i in self.by_id])

        return replace(rules, bytes_of=bytes_of, special_ids=self.special_ids)

    def join(self, tokens: Iterable[str]) -> str:
        """The text behind tokens in the spelling of `ids`; a token outside that spelling stands for itself.

        >>> Vocabulary(spec).join(["Hello", "Ġworld"])  # doctest: +SKIP
        'Hello world'
        """
        return self.spelling.join(tokens, self.by_content)

    # -- adding -------------------------------------------------------------------------------------------------------

    def with_tokens(self, tokens: Iterable[tokenizers.AddedToken]) -> tuple[Vocabulary, int]:
        """A vocabulary with more added tokens, and how many of them were new or came with other flags.

        A token that the vocabulary holds already keeps its id; others get the next ids in turn. Empty ones are passed
        over. Raises `ValueError` for a token that no tokenizer.json can hold, or that is not to be found in normalised text.
        """
        added = dict(self.by_content)
        next_id, changed = 0, 0
        for token in tokens:
            if not token.content:
                continue
            token_id = added[token.content].id if token.content in added else self._id_in_base(token.content)
            if token_id is None:
                token_id = next_id or self.next_id
                next_id = token_id + 1
            new = _from_library_token(token, token_id, self.spelling.matches_normalized)
            if added.get(token.content) == new:
                continue
            added[token.content] = new
            changed += 1
        if not changed:
            return self, 0
        try:
            self._normalizer.as_sought([token for token in added.values() if token.normalized and self._base.normalizer])
        except HfBpeError as error:
            raise ValueError(str(error)) from None
        return Vocabulary(self._base, tuple(added.values()), self._counted), changed

    def _is_in_base(self, name: str) -> bool:
        spelt = self.spelling.read(name)
        return spelt is not None and self._base_id(spelt) is not None

    def with_prefix_space(self, wanted: bool) -> Vocabulary:
        """The same with a space put before texts, or without."""
        base, rules = self._base, self._base.sentencepiece
        if rules is None:
            base = base if base.add_prefix_space == wanted else base.replace(add_prefix_space=wanted)
        elif wanted != (rules.prepend_scheme != "never"):
            base = base.replace(sentencepiece=dataclasses.replace(rules, prepend_scheme="first" if wanted else "never"))
        return self if base is self._base else Vocabulary(base, self.added, self._counted)

    def _base_id(self, token: bytes) -> int | None:
        table = self._base.table  # asked itself: the dict is made when first needed, which loading a folder should not do
        return self._base.vocab.get(token) if table is None else table.token_id(token)

    def _id_in_base(self, content: str) -> int | None:
        try:
            text = content.encode()
        except UnicodeEncodeError:
            raise ValueError(f"added token {content!r} holds a lone surrogate, which no UTF-8 text does") from None
        spelt = self.spelling.read(content)
        if spelt is not None and spelt != text and self._base_id(spelt) is not None:
            raise ValueError(
                f"added token {content!r} cannot be told from the token {spelt!r}, which byte-level files spell the same; "
                "choose another text, such as one in angle brackets"
            )
        token_id = self._base_id(text)
        holder = None if token_id is None else self.by_id.get(token_id)
        if holder is not None and holder.content != content:
            raise ValueError(f"added token {content!r} has the id of the added token {holder.content!r}")
        return token_id


def _check_not_negative(token_id: int) -> None:
    if token_id < 0:
        raise OverflowError(
            f"id {token_id} is negative and stands for no token; put an id in place of fill values such as -100 first"
        )
