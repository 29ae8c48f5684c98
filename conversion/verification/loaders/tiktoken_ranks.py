"""tiktoken: rank files as they are, with the sidecar's table of ids where there is one, and plugins by what they say."""

from __future__ import annotations

from typing import Any

from conversion.json_text import read_json
from conversion.sidecar import file_sidecar
from conversion.tiktoken import FORMAT, file, to_tiktoken_encoding
from conversion.verification.loaders.files import TokenizerFile, library, named
from conversion.verification.loaders.without_specials import stretch_by_stretch
from conversion.verification.side import AS_SPECIAL, AS_TEXT, Side
from hf_bpe.engine import Encoder
from hf_bpe.files import read_bytes
from hf_bpe.pieces import SPACE_SYMBOL

__all__ = ["load"]


def load(given: TokenizerFile) -> Side:
    """A rank file; of another format what its description becomes in tiktoken, where that is exact."""
    tiktoken = library("tiktoken", "tiktoken")
    if given.format is not FORMAT:
        return _side(given, to_tiktoken_encoding(given.spec, name=given.path.name))
    ranks = file.parse_ranks(read_bytes(given.path), str(given.path))
    if given.spec.sentencepiece is not None:
        return _with_table_of_ids(given, tiktoken, ranks)
    pattern, special_tokens = file.tiktoken_pattern(given.spec), dict(given.spec.special_tokens)
    name = given.path.name
    return _side(given, tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens))


def _side(given: TokenizerFile, encoding: Any) -> Side:
    return Side(
        source=given.path.name,
        loader="tiktoken",
        library=named("tiktoken"),
        engine="tiktoken",
        readings={
            AS_TEXT: lambda texts: encoding.encode_ordinary_batch(list(texts)),
            AS_SPECIAL: lambda texts: encoding.encode_batch(list(texts), allowed_special="all"),
        },
        decode=lambda rows: [encoding.decode(list(ids)) for ids in rows],
        spec=given.spec,
        nearest=given.spec,
    )


def _with_table_of_ids(given: TokenizerFile, tiktoken: Any, ranks: dict[bytes, int]) -> Side:
    sidecar = read_json(given.path.with_name(file_sidecar(given.path.name)))
    encoding = tiktoken.Encoding(given.path.name, pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})

    def encode(text: str) -> list[int]:
        spaced = (sidecar["prefix"] + text if text else "").replace(SPACE_SYMBOL, " ")
        return [token_id for rank in encoding.encode_ordinary(spaced) for token_id in sidecar["expansion"][rank]]

    return Side(
        source=given.path.name,
        loader="tiktoken",
        library=f"{named('tiktoken')} with its table of ids",
        engine="tiktoken",
        readings=stretch_by_stretch(given.spec, encode),
        decode=Encoder(given.spec).decode_batch,
        spec=given.spec,
        nearest=given.spec,
    )
