"""The `tokenizers` library: tokenizer.json, and GPT-2's two files. Also what transformers' fast classes run inside."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from conversion import huggingface, tokenizer_json
from conversion.gpt2 import find_pair
from conversion.tokenizer_json.byte_level_split import pre_tokenizer_for
from conversion.verification.loaders.files import TokenizerFile, library, named
from conversion.verification.side import AS_SPECIAL, AS_TEXT, WITH_TEMPLATE, Ids, Side
from hf_bpe.byte_level import token_to_bytes
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.spec import TokenizerSpec

__all__ = ["described", "load", "pieces_of"]


def load(given: TokenizerFile) -> Side:
    """A tokenizer.json as the library itself reads it."""
    module = library("tokenizers", "tokenizers")
    pair = find_pair(given.path, given.format.name)
    if pair is not None:
        tokenizer = _of_pair(module, pair, given.spec)
    elif given.format in (huggingface.FORMAT, tokenizer_json.FORMAT):
        file = given.path / huggingface.TOKENIZER_FILE if given.path.is_dir() else given.path
        tokenizer = _of_file(module, file)
    else:
        raise given.refuse("tokenizers", "tokenizer.json and GPT-2's files")
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(texts: Sequence[str], *, specials_are_text: bool = False, template: bool = False) -> Ids:
        tokenizer.encode_special_tokens = specials_are_text
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=template)]

    return Side(
        source=given.path.name,
        loader="tokenizers",
        library=named("tokenizers"),
        engine="tokenizers",
        readings={
            AS_TEXT: partial(encode, specials_are_text=True),
            AS_SPECIAL: encode,
            WITH_TEMPLATE: partial(encode, template=True),
        },
        decode=lambda rows: tokenizer.decode_batch([list(ids) for ids in rows], skip_special_tokens=False),
        pieces=pieces_of(tokenizer),
        **described(tokenizer, given.path.name),
    )


def _of_file(module: Any, path: Path) -> Any:
    try:
        return module.Tokenizer.from_file(str(path))
    except Exception as error:  # noqa: BLE001 - the library raises nothing more exact
        raise FormatError(f"{path}: tokenizers does not load it: {error}") from None


def _of_pair(module: Any, pair: tuple[Path, Path], spec: TokenizerSpec) -> Any:
    """GPT-2's files: the library reads vocabulary and merges; pattern and special tokens it is told."""
    empty = {"model": {"type": "BPE", "vocab": {}, "merges": []}, "pre_tokenizer": pre_tokenizer_for(spec)}
    tokenizer = module.Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], **empty}))
    tokenizer.model = module.models.BPE.from_file(*map(str, pair))
    tokenizer.decoder = module.decoders.ByteLevel()
    for token in spec.added_tokens:
        flags = {flag: getattr(token, flag) for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")}
        tokenizer.add_tokens([module.AddedToken(token.content, **flags)])
    return tokenizer


def described(tokenizer: Any, where: str) -> dict[str, Any]:
    """The fields of a side that say what a `tokenizers.Tokenizer` runs: what is in memory, not what was on disk."""
    parts = json.loads(tokenizer.to_str())
    spec, unsaid = _read(parts, where)
    nearest = spec if spec is not None else _read({**parts, "normalizer": None, "post_processor": None}, where)[0]
    tokens = {} if nearest is not None else {token_id: token.encode() for token, token_id in tokenizer.get_vocab().items()}
    return {"parts": parts, "spec": spec, "nearest": nearest, "unsaid": unsaid, "tokens": tokens}


def _read(parts: dict[str, Any], where: str) -> tuple[TokenizerSpec | None, str]:
    try:
        return tokenizer_json.from_dict(parts, where), ""
    except (ConversionRefused, FormatError) as error:
        return None, str(error)


def pieces_of(tokenizer: Any) -> Any:
    """How a `tokenizers.Tokenizer` normalises and splits."""

    def pieces(text: str) -> list[str]:
        text = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer is not None else text
        if tokenizer.pre_tokenizer is None:
            return [text] if text else []
        found = [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text)]
        return [token_to_bytes(piece).decode("utf-8", "replace") for piece in found] if spelled else found

    spelled = _spells_bytes(json.loads(tokenizer.to_str())["pre_tokenizer"])
    return pieces


def _spells_bytes(pre_tokenizer: Mapping[str, Any] | None) -> bool:
    """Whether pieces come out in the alphabet of GPT-2."""
    if pre_tokenizer is None:
        return False
    return pre_tokenizer["type"] == "ByteLevel" or any(map(_spells_bytes, pre_tokenizer.get("pretokenizers", ())))
