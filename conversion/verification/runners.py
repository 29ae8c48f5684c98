"""Something that encodes: a spec run by this package, or a file run by the library its format belongs to."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from conversion import sentencepiece as sentencepiece_format
from conversion.format import Format, Given
from conversion.gpt2 import find_pair
from conversion.huggingface import TOKENIZER_FILE, deciding_file
from conversion.json_text import read_json
from conversion.registry import format_for_reading
from conversion.sidecar import file_sidecar
from conversion.tiktoken import file as tiktoken_format
from conversion.tokenizer_json.file import pre_tokenizer_for
from hf_bpe.engine import Encoder
from hf_bpe.engine.reference import split_on_added_tokens
from hf_bpe.files import read_bytes
from hf_bpe.pieces import SPACE_SYMBOL
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["Loader", "Runner", "Source", "make_runner"]

Source: TypeAlias = str | os.PathLike[str] | TokenizerSpec | Encoder
Loader: TypeAlias = Literal["own", "official"]
Ids: TypeAlias = list[list[int]]


@dataclass(frozen=True)
class Runner:
    """Encodes texts, with special tokens taken as plain text or as special.

    same_engine: whether this package runs `spec`, so that equal specs mean equal ids.
    """

    label: str
    spec: TokenizerSpec
    same_engine: bool
    as_text: Callable[[Sequence[str]], Ids]
    as_special: Callable[[Sequence[str]], Ids]
    decode_bytes: Callable[[Sequence[int]], bytes]


def make_runner(source: Source, loader: Loader, given: Given) -> Runner:
    """A runner of a path, a spec or an encoder. The official loader needs a path, for it reads the file itself."""
    if loader not in ("own", "official"):
        raise ValueError(f"loader {loader!r} is not known; it must be 'own' or 'official'")
    if isinstance(source, TokenizerSpec | Encoder):
        if loader == "official":
            raise ValueError("the official loader reads files; save the spec first and pass the path")
        encoder = source if isinstance(source, Encoder) else Encoder(source)
        return _own(encoder, repr(encoder.spec))
    path = Path(source)
    decides = deciding_file(path)
    if decides is not None and decides.name != TOKENIZER_FILE:  # a folder with nothing but a SentencePiece model
        path = decides
    chosen = format_for_reading(path)
    spec = chosen.read(path, Given() if chosen.self_contained else given)
    if loader == "own":
        return _own(Encoder(spec), path.name)
    if spec.sentencepiece is not None and chosen is tiktoken_format.FORMAT:
        return _tiktoken_with_table(path, spec)
    if chosen is tiktoken_format.FORMAT:
        return _tiktoken(path, spec)
    if chosen in sentencepiece_format.FORMATS:
        return _sentencepiece(path.with_suffix(".model") if path.suffix == ".vocab" else path, spec)
    return _tokenizers(path, chosen, spec)


def _own(encoder: Encoder, label: str) -> Runner:
    return Runner(
        label=label,
        spec=encoder.spec,
        same_engine=True,
        as_text=encoder.encode_ordinary_batch,
        as_special=lambda texts: encoder.encode_batch(texts, allowed_special="all"),
        decode_bytes=encoder.decode_bytes,
    )


def _tiktoken(path: Path, spec: TokenizerSpec) -> Runner:
    import tiktoken

    encoding = tiktoken.Encoding(
        path.name,
        pat_str=tiktoken_format.tiktoken_pattern(spec),
        mergeable_ranks=tiktoken_format.parse_ranks(read_bytes(path), str(path)),
        special_tokens=dict(spec.special_tokens),
    )
    return Runner(
        label=f"{path.name} run by tiktoken {tiktoken.__version__}",
        spec=spec,
        same_engine=False,
        as_text=lambda texts: encoding.encode_ordinary_batch(list(texts)),
        as_special=lambda texts: encoding.encode_batch(list(texts), allowed_special="all"),
        decode_bytes=encoding.decode_bytes,
    )


def _sentencepiece(path: Path, spec: TokenizerSpec) -> Runner:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return _stretch_by_stretch(f"{path.name} run by sentencepiece {sentencepiece.__version__}", spec, processor.encode)


def _tiktoken_with_table(path: Path, spec: TokenizerSpec) -> Runner:
    import tiktoken

    sidecar = read_json(path.with_name(file_sidecar(path.name)))
    ranks = tiktoken_format.parse_ranks(read_bytes(path), str(path))
    encoding = tiktoken.Encoding(path.name, pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})

    def encode(text: str) -> list[int]:
        spaced = (sidecar["prefix"] + text if text else "").replace(SPACE_SYMBOL, " ")
        return [token_id for rank in encoding.encode_ordinary(spaced) for token_id in sidecar["expansion"][rank]]

    return _stretch_by_stretch(f"{path.name} run by tiktoken {tiktoken.__version__} with its table of ids", spec, encode)


def _stretch_by_stretch(label: str, spec: TokenizerSpec, encode: Callable[[str], list[int]]) -> Runner:
    """For libraries that know no special tokens: those are cut out of the text first."""
    encoder = Encoder(spec)

    def as_special(text: str) -> list[int]:
        ids: list[int] = []
        for part in split_on_added_tokens(text, spec.added_tokens):
            ids += [part.id] if isinstance(part, AddedToken) else encode(part)
        return ids

    return Runner(
        label=label,
        spec=spec,
        same_engine=False,
        as_text=lambda texts: [encode(text) for text in texts],
        as_special=lambda texts: [as_special(text) for text in texts],
        decode_bytes=encoder.decode_bytes,
    )


def _tokenizers(path: Path, chosen: Format, spec: TokenizerSpec) -> Runner:
    import tokenizers

    pair = find_pair(path, chosen.name)
    if pair is None:
        tokenizer = tokenizers.Tokenizer.from_file(str(path / TOKENIZER_FILE if path.is_dir() else path))
    else:
        tokenizer = _tokenizer_of_pair(pair, spec)
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(texts: Sequence[str], *, specials_are_text: bool) -> Ids:
        tokenizer.encode_special_tokens = specials_are_text
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    return Runner(
        label=f"{path.name} run by tokenizers {tokenizers.__version__}",
        spec=spec,
        same_engine=False,
        as_text=lambda texts: encode(texts, specials_are_text=True),
        as_special=lambda texts: encode(texts, specials_are_text=False),
        decode_bytes=lambda ids: tokenizer.decode(list(ids), skip_special_tokens=False).encode(),
    )


def _tokenizer_of_pair(pair: tuple[Path, Path], spec: TokenizerSpec) -> Any:
    """GPT-2's files in `tokenizers`: the library reads vocabulary and merges; pattern and special tokens it is told."""
    import tokenizers

    empty = {"model": {"type": "BPE", "vocab": {}, "merges": []}, "pre_tokenizer": pre_tokenizer_for(spec)}
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], **empty}))
    tokenizer.model = tokenizers.models.BPE.from_file(*map(str, pair))
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    for token in spec.added_tokens:
        flags = {flag: getattr(token, flag) for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")}
        tokenizer.add_tokens([tokenizers.AddedToken(token.content, **flags)])
    return tokenizer
