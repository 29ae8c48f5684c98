"""A tokenizer of the same kind on other texts: the same split, special tokens, template and settings, with a vocabulary learnt anew."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tokenizers

from hf_bpe.errors import ConversionRefused
from hf_bpe.pieces import SentencePieceRules
from hf_bpe.plugin.loading import LoadedTokenizer
from hf_bpe.plugin.marker import MARKER
from hf_bpe.plugin.saving import IN_FORCE
from hf_bpe.plugin.template import SequenceTemplate, read_template
from hf_bpe.plugin.vocabulary import Vocabulary, library_token
from hf_bpe.spec import AddedToken, TokenizerSpec
from hf_bpe.training import train

if TYPE_CHECKING:
    from hf_bpe.plugin.tokenization_hf_bpe import HfBpeTokenizer

__all__ = ["train_new"]


def train_new(
    tokenizer: HfBpeTokenizer,
    texts: Iterable[str | Iterable[str]],
    vocab_size: int,
    new_special_tokens: Sequence[str | tokenizers.AddedToken],
    renamed: Mapping[str, str],
    settings: Mapping[str, Any],
) -> HfBpeTokenizer:
    """See `HfBpeTokenizer.train_new_from_iterator`. As in the stock class, added tokens that are not special are left behind."""
    kept = [_with_content(token, renamed) for token in tokenizer._vocabulary.library_tokens.values() if token.special]
    kept += [library_token(token, special=True) for token in new_special_tokens]
    tokens = {token.content: token for token in kept}
    rules = tokenizer.spec.sentencepiece
    own: dict[str, Any] = {"like": tokenizer.spec} if rules is None else _settings(rules, renamed)
    pieces = own.pop("pieces", ())
    beyond = [content for content in tokens if content not in pieces]
    trained = train(
        _texts(texts),
        vocab_size,
        dialect=tokenizer.spec.dialect,
        special_tokens=beyond,
        **{"progress": False, **own, **settings},
    )
    spec = _dressed(trained, tokenizer.spec, tokens)
    configured = _configuration(tokenizer, new_special_tokens, renamed)
    loaded = LoadedTokenizer(Vocabulary(spec), _moved(tokenizer._template, spec, renamed))
    return type(tokenizer)(loaded=loaded, **configured)


def _texts(texts: Iterable[str | Iterable[str]]) -> Iterator[str]:
    for item in texts:
        if isinstance(item, str):
            yield item
        else:
            yield from item


def _with_content(token: tokenizers.AddedToken, renamed: Mapping[str, str]) -> tokenizers.AddedToken:
    token = copy.deepcopy(token)
    token.content = renamed.get(token.content, token.content)
    return token


def _settings(rules: SentencePieceRules, renamed: Mapping[str, str]) -> dict[str, Any]:
    """How a model like this one is trained. `pieces`: special ones that are there without being named."""
    if not rules.escape_whitespaces or (rules.precompiled_charsmap and rules.normalizer_name == "user_defined"):
        raise ConversionRefused(
            "train_new_from_iterator: this SentencePiece model normalises text as no setting of its trainer does; "
            "use hf_bpe.train with settings of your choice"
        )
    contents = [renamed.get(piece.content, piece.content) for piece in rules.pieces]
    ids = {"unk": rules.unk_id, "bos": rules.bos_id, "eos": rules.eos_id, "pad": rules.pad_id}
    roles = {role: token_id for role, token_id in ids.items() if token_id is not None}
    kinds = dict(zip(contents, (piece.kind for piece in rules.pieces), strict=True))
    named = {contents[token_id] for token_id in roles.values()}
    control = [content for content, kind in kinds.items() if kind == "control" and content not in named]
    return {
        "preset": "llama2" if rules.byte_fallback else None,
        "normalization_rule_name": rules.normalizer_name if rules.precompiled_charsmap else "identity",
        "byte_fallback": rules.byte_fallback,
        "add_dummy_prefix": rules.prepend_scheme != "never",
        "remove_extra_whitespaces": rules.remove_extra_whitespaces,
        "treat_whitespace_as_suffix": rules.treat_whitespace_as_suffix,
        "unk_surface": rules.unk_surface,
        "hard_vocab_limit": False,
        "control_symbols": control,
        "user_defined_symbols": [content for content, kind in kinds.items() if kind == "user_defined"],
        "pieces": named | set(control),
        **{f"{role}_id": roles.get(role, -1) for role in ids},
        **{f"{role}_piece": contents[token_id] for role, token_id in roles.items()},
    }


def _dressed(trained: TokenizerSpec, old: TokenizerSpec, tokens: Mapping[str, tokenizers.AddedToken]) -> TokenizerSpec:
    """What was learnt, with the flags of added tokens and the rules that training knows nothing of."""
    ids = {token.content: token.id for token in trained.added_tokens}
    if trained.sentencepiece is not None:
        ids = {piece.content: number for number, piece in enumerate(trained.sentencepiece.pieces)}
    added = [
        AddedToken(
            content,
            ids[content],
            special=True,
            single_word=token.single_word,
            lstrip=token.lstrip,
            rstrip=token.rstrip,
            normalized=token.normalized and trained.sentencepiece is None,
        )
        for content, token in tokens.items()
    ]
    if trained.sentencepiece is None:
        added += [token for token in trained.added_tokens if token.content not in tokens]  # reserved ones
    if trained.sentencepiece is None or old.sentencepiece is None:
        return trained.replace(added_tokens=added)
    rules = dataclasses.replace(trained.sentencepiece, prepend_scheme=old.sentencepiece.prepend_scheme)
    return trained.replace(added_tokens=added, sentencepiece=rules)


def _moved(template: SequenceTemplate, spec: TokenizerSpec, renamed: Mapping[str, str]) -> SequenceTemplate:
    """The template with the new ids of its special tokens."""
    if template.source is None:
        return template
    source = copy.deepcopy(dict(template.source))
    for part in source.get("processors", [source]):
        for entry in part.get("special_tokens", {}).values():
            entry["tokens"] = [renamed.get(token, token) for token in entry["tokens"]]
            entry["ids"] = [_new_id(token, spec) for token in entry["tokens"]]
        for role in {"cls", "sep"} & part.keys():
            token = renamed.get(part[role][0], part[role][0])
            part[role] = [token, _new_id(token, spec)]
    return read_template(source, "the template")


def _new_id(token: str, spec: TokenizerSpec) -> int:
    token_id = spec.token_id(token.encode())
    if token_id is None:
        raise ValueError(f"the template puts {token!r} around texts, which the new tokenizer does not have")
    return token_id


def _configuration(
    tokenizer: HfBpeTokenizer, new_special_tokens: Sequence[str | tokenizers.AddedToken], renamed: Mapping[str, str]
) -> dict[str, Any]:
    left_out = ("loaded", "tokenizer_file", "vocab_file", "added_tokens_decoder", "add_bos_token", "add_eos_token")
    kept = {name: getattr(tokenizer, name, value) for name, value in tokenizer.init_kwargs.items() if name not in left_out}
    kept |= {name: getattr(tokenizer, name) for name in IN_FORCE}
    for role in tokenizer.SPECIAL_TOKENS_ATTRIBUTES:
        token = tokenizer._special_tokens_map.get(role)
        if token is not None:
            kept[role] = _with_content(library_token(token, special=True), renamed)
    kept.pop("additional_special_tokens", None)
    if isinstance(kept.get(MARKER), Mapping):
        kept[MARKER] = {**kept[MARKER], "provenance": None}  # that of the old vocabulary
    extra = [renamed.get(token, token) for token in tokenizer.extra_special_tokens]
    kept["extra_special_tokens"] = [*extra, *new_special_tokens]
    return kept
