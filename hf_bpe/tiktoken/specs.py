"""From what a `tiktoken.Encoding` is made of to a spec, and which specs mean what tiktoken can mean."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping

from conversion.callers import caller_must_normalise
from conversion.format import make_spec, spec_of_table
from conversion.tiktoken.file import native_table
from conversion.tiktoken.rank_tables import flag_conflict, spec_of_ranks
from conversion.tokenizer_json.split_rules import from_tiktoken
from hf_bpe.errors import ConversionRefused
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["refuse_other_dialects", "spec_of_encoding"]


def spec_of_encoding(name: str, pat_str: str, ranks: Mapping[bytes, int], special_tokens: Mapping[str, int]) -> TokenizerSpec:
    """The tokenizer that tiktoken makes of these. Raises `ConversionRefused` for a pattern, `FormatError` for ranks that are not run."""
    where = f"encoding {name!r}"
    pattern, unmatched = from_tiktoken(pat_str, where)
    added = [AddedToken(content, token_id) for content, token_id in special_tokens.items()]
    if not all(type(token) is bytes and type(rank) is int for token, rank in ranks.items()):
        return make_spec(where, vocab=dict(ranks), merges=())  # which says what is no bytes or no int
    table = native_table(_rank_file(ranks))  # a quarter of the time that the slower way takes, which says what is amiss
    if table is not None:
        return spec_of_table(where, table, pattern=pattern, unmatched=unmatched, added_tokens=added)
    return spec_of_ranks(where, dict(ranks), None, pattern=pattern, unmatched=unmatched, added_tokens=added)


def _rank_file(ranks: Mapping[bytes, int]) -> bytes:
    lines = [
        b"%s %d" % (b2a_base64(token, newline=False), rank) for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    ]
    return b"\n".join([*lines, b""])


def refuse_other_dialects(spec: TokenizerSpec, name: str) -> None:
    """Raise `ConversionRefused` for what no encoding can mean: its text is split as it is, and special tokens are found by their text."""
    if spec.dialect == "sentencepiece":
        raise ConversionRefused(f"{name!r} is a SentencePiece model, and an Encoding merges bytes; use hf_bpe.Encoder")
    reason = flag_conflict(spec.added_tokens)
    if caller_must_normalise(spec):
        reason = "it has a normalizer"
    if spec.stages:
        reason = "it splits text in several stages, and pat_str is one pattern"
    if reason:
        raise ConversionRefused(f"{name!r} is no encoding in tiktoken's sense: {reason}; use hf_bpe.Encoder, which runs it")
