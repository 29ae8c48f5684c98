"""A SentencePiece model in a GGUF file (`tokenizer.ggml.model` is "llama"): its pieces, scores and kinds as they are.

llama.cpp merges pieces as SentencePiece does, with these differences, which are looked for before reading or writing: it has no
normaliser but for spaces; it also merges to control, byte and unused pieces, by their text; it cuts the text at user-defined
pieces before it puts a space in front of every part. A key `add_space_prefix` says whether it does put one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conversion.format import spec_of_pieces
from conversion.gguf.metadata import boolean, float32s, int32s, text, texts, uint32
from conversion.gguf.tokens import TokenList, entry, kind_numbers, overlap_conflict
from conversion.sentencepiece.model import reserved_tokens
from conversion.verdict import Checks
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.pieces import SPACE_SYMBOL, Piece, SentencePieceRules
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["as_run", "entries_of", "parse"]

_ROLES = {"bos_id": "bos", "eos_id": "eos", "pad_id": "padding"}
_SPACE_PREFIX = "tokenizer.ggml.add_space_prefix"


def parse(metadata: Mapping[str, Any], tokens: TokenList, where: str, provenance: dict[str, str]) -> TokenizerSpec:
    """The model of a list of tokens. Raises `FormatError` and `ConversionRefused`."""
    # Without scores llama.cpp takes all for 0: of two pairs the one on the left is merged first.
    listed = "tokenizer.ggml.scores"
    scores = entry(metadata, listed, list, where, float) if listed in metadata else [0.0] * len(tokens)
    if len(scores) != len(tokens):
        raise FormatError(
            f"{where}: tokenizer.ggml.scores has {len(scores)} entries for {len(tokens)} tokens; the file is damaged"
        )
    prefixed = entry(metadata, _SPACE_PREFIX, bool, where) if _SPACE_PREFIX in metadata else True
    keys = {role: f"tokenizer.ggml.{name}_token_id" for role, name in _ROLES.items()}
    ids: dict[str, Any] = {role: entry(metadata, key, int, where) for role, key in keys.items() if key in metadata}
    rules = SentencePieceRules(
        pieces=tuple(Piece(content, score, kind) for (content, kind), score in zip(tokens, scores, strict=True)),
        byte_fallback=any(kind == "byte" for _, kind in tokens),
        prepend_scheme="always" if prefixed else "never",
        remove_extra_whitespaces=False,
        **ids,
    )
    spec = spec_of_pieces(where, rules, provenance=provenance)
    conflict = _conflict(rules)
    if conflict:
        raise ConversionRefused(f"{where}: {conflict}, so this file is no one SentencePiece model")
    return spec.replace(added_tokens=reserved_tokens(rules))


def entries_of(spec: TokenizerSpec, rules: SentencePieceRules, checks: Checks) -> dict[str, bytes]:
    """The metadata of a SentencePiece model. Raises `ConversionRefused` where its special tokens cannot be stated."""
    checks.expect("the model does nothing to text that llama.cpp does not do", _setting_conflict(rules))
    checks.expect(
        "llama.cpp finds no piece in text that the model does not find there, nor finds it elsewhere", _conflict(rules)
    )
    if {replace(token, normalized=False) for token in spec.added_tokens} != set(reserved_tokens(rules)):
        raise ConversionRefused(
            "a GGUF file of a SentencePiece model has exactly its control pieces and the unknown piece as special tokens, and this "
            "tokenizer has others. Save it as tokenizer.json, or make the added tokens pieces"
        )
    ids = {name: getattr(rules, role) for role, name in _ROLES.items()} | {"unknown": rules.unk_id}
    return {
        "tokenizer.ggml.model": text("llama"),
        "tokenizer.ggml.tokens": texts([piece.content for piece in rules.pieces]),
        "tokenizer.ggml.scores": float32s([piece.score for piece in rules.pieces]),
        "tokenizer.ggml.token_type": int32s(kind_numbers(piece.kind for piece in rules.pieces)),
        _SPACE_PREFIX: boolean(rules.prepend_scheme == "always"),
        **{f"tokenizer.ggml.{name}_token_id": uint32(i) for name, i in ids.items() if i is not None},
    }


def as_run(spec: TokenizerSpec, rules: SentencePieceRules) -> TokenizerSpec:
    """The model that llama.cpp runs in place of one: without a normaliser, and with every piece found by its text."""
    user_defined = {piece.content for piece in rules.pieces if piece.kind == "user_defined"}
    run = replace(
        rules,
        pieces=tuple(
            replace(piece, kind="control" if piece.content in user_defined else "normal")
            if piece.kind in ("control", "unused", "user_defined")
            else piece
            for piece in rules.pieces
        ),
        prepend_scheme="never" if rules.prepend_scheme == "never" else "always",
        remove_extra_whitespaces=False,
        escape_whitespaces=True,
        treat_whitespace_as_suffix=False,
        precompiled_charsmap=b"",
        denormalizer_charsmap=b"",
        bos_id=None,
        eos_id=None,
        pad_id=None,
    )
    always = [
        AddedToken(piece.content, n, special=False) for n, piece in enumerate(rules.pieces) if piece.content in user_defined
    ]
    return TokenizerSpec.from_sentencepiece(run, added_tokens=[*spec.added_tokens, *always])


def _setting_conflict(rules: SentencePieceRules) -> str | None:
    if rules.precompiled_charsmap or rules.denormalizer_charsmap:
        return f"it normalises text ({rules.normalizer_name}), which llama.cpp does not"
    if rules.remove_extra_whitespaces:
        return "it drops repeated spaces, and llama.cpp keeps them: 'a  b'"
    if rules.treat_whitespace_as_suffix:
        return "it puts the space after the text, and llama.cpp before it"
    if not rules.escape_whitespaces:
        return "its pieces hold spaces as they are, and llama.cpp writes U+2581 for them"
    if rules.prepend_scheme == "first":
        return "the space before the text stands before the first part only, and llama.cpp puts one after every special token"
    if not rules.prefix_before_space:
        return "it puts no space before text that begins with one, and llama.cpp does: ' a'"
    return None


def _conflict(rules: SentencePieceRules) -> str | None:
    if not rules.byte_fallback:
        return "it has no byte pieces, without which llama.cpp stops at a character that is no piece"
    texts_of_kind = {
        kind: [piece.content for piece in rules.pieces if piece.kind == kind] for kind in ("control", "unknown", "user_defined")
    }
    user_defined = texts_of_kind["user_defined"]
    if user_defined and rules.prepend_scheme != "never":
        return f"llama.cpp puts a space after the user-defined piece {user_defined[0]!r}, and SentencePiece does not"
    spaced = next((content for content in user_defined if " " in content or SPACE_SYMBOL in content), None)
    if spaced is not None:
        return f"the user-defined piece {spaced!r} holds a space, which llama.cpp writes differently in text and in pieces"
    return overlap_conflict([content for contents in texts_of_kind.values() for content in contents]) or _made_conflict(rules)


def _made_conflict(rules: SentencePieceRules) -> str | None:
    """A piece that llama.cpp would make of text, or find there, and SentencePiece never does."""
    contents = {piece.content for piece in rules.pieces}
    for piece in rules.pieces:
        if piece.kind in ("normal", "user_defined"):
            continue
        word = piece.content
        if len(word) == 1:
            return f"llama.cpp finds the {piece.kind} piece {word!r} in text"
        for cut in range(1, len(word)):
            if all(len(part) == 1 or part in contents for part in (word[:cut], word[cut:])):
                return f"llama.cpp makes the {piece.kind} piece {word!r} of {word[:cut]!r} and {word[cut:]!r} in text"
    return None
