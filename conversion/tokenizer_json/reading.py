"""From the content of a tokenizer.json to a spec. A SentencePiece model is handed on to `pieces`.

Such a file can describe far more than BPE. What gives a text other ids and has no place in a `TokenizerSpec` (other normalizers,
dropout, unknown splits, ...) is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from conversion.equality import never_produced
from conversion.format import make_spec, spec_of_table
from conversion.json_text import field, optional_field
from conversion.normalizers import read_normalizer
from conversion.printable import native_table, read_merges, read_vocab, without_added_tokens
from conversion.tokenizer_json.added_tokens import read_added_tokens, refuse_overlaps, refuse_second_names
from conversion.tokenizer_json.byte_level_split import adds_prefix_space, read_split_rule
from conversion.tokenizer_json.pieces import from_parts, is_sentencepiece
from conversion.tokenizer_json.post_processor import remembered
from conversion.tokenizer_json.steps import NAME, kind
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.spec import TokenizerSpec

__all__ = ["from_dict"]


def from_dict(data: Mapping[str, Any], where: str) -> TokenizerSpec:
    """The tokenizer that the content of a tokenizer.json describes. `where` names it in errors.

    Raises `FormatError` for a damaged file, `ConversionRefused` for a sound one that is no plain byte-level BPE.
    The post-processor and truncation do not change what a text's own ids are: `provenance` has the first, and names the others.
    """
    if not isinstance(data, Mapping) or "model" not in data:
        tekken = isinstance(data, Mapping) and "config" in data
        instead = "; its 'config' is that of a tekken.json: load it with format='tekken'" if tekken else ""
        raise FormatError(f"{where}: not a tokenizer.json: it must be an object with a 'model'{instead}")
    model = field(dict(data), "model", dict, f"{where}: $")
    _check_types(data, model, where)
    _refuse_unknown_parts(data, model, where)
    if is_sentencepiece(data):
        return _read_sentencepiece(data, model, where)
    raw_vocab = field(model, "vocab", dict, f"{where}: $.model")
    raw_merges = field(model, "merges", list, f"{where}: $.model")
    added = read_added_tokens(data.get("added_tokens"), raw_vocab, f"{where}: $.added_tokens")
    refuse_second_names(added, raw_vocab, raw_merges, f"{where}: $.added_tokens")
    ignore_merges = bool(model.get("ignore_merges"))
    pattern, unmatched, stages = read_split_rule(
        data.get("pre_tokenizer"),
        f"{where}: $.pre_tokenizer",
        lambda: raw_vocab.keys() - {token.content for token in added},
        ignore_merges,
    )
    rules: dict[str, Any] = {"pattern": pattern, "unmatched": unmatched, "stages": stages, "ignore_merges": ignore_merges}
    fields: dict[str, Any] = {
        **rules,
        "normalizer": read_normalizer(data.get("normalizer"), f"{where}: $.normalizer"),
        "add_prefix_space": adds_prefix_space(data.get("pre_tokenizer"), f"{where}: $.pre_tokenizer"),
        "added_tokens": added,
        "provenance": _provenance(data, where),
    }
    table = native_table(raw_vocab, raw_merges, added, partial(never_produced, merges=(), **rules))
    if table is not None:
        return spec_of_table(where, table, **fields)
    spelled = read_vocab(raw_vocab, f"{where}: $.model.vocab")
    merges = _read_merges(raw_merges, spelled, f"{where}: $.model.merges")
    vocab = without_added_tokens(spelled, added, partial(never_produced, merges=merges, **rules), f"{where}: $.model.vocab")
    return make_spec(where, vocab=vocab, merges=merges, **fields)


_TYPES: Mapping[str, type] = {
    "version": str,
    **dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"), dict),
}


_MODEL_TYPES: Mapping[str, type] = {
    "type": str,
    "dropout": float,
    **dict.fromkeys(("unk_token", "continuing_subword_prefix", "end_of_word_suffix"), str),
    **dict.fromkeys(("fuse_unk", "byte_fallback", "ignore_merges"), bool),
}


def _check_types(data: Mapping[str, Any], model: dict[str, Any], where: str) -> None:
    """Raise `FormatError` for a part that is of no type `tokenizers` takes; `"false"` in quotes would be as good as true."""
    for name, expected in _TYPES.items():
        optional_field(dict(data), name, expected, f"{where}: $")
    for name, expected in _MODEL_TYPES.items():
        optional_field(model, name, expected, f"{where}: $.model")


def _read_sentencepiece(data: Mapping[str, Any], model: dict[str, Any], where: str) -> TokenizerSpec:
    vocab = read_vocab(field(model, "vocab", dict, f"{where}: $.model"), f"{where}: $.model.vocab")
    pairs = _read_pairs(field(model, "merges", list, f"{where}: $.model"), f"{where}: $.model.merges")
    for number, (left, right) in enumerate(pairs):
        lacking = next((part for part in (left, right, left + right) if part not in vocab), None)
        if lacking is not None:
            raise FormatError(
                f"{where}: $.model.merges[{number}]: {left!r} + {right!r}: {lacking!r} is not in the vocabulary; do the two belong "
                "together?"
            )
    added = read_added_tokens(data.get("added_tokens"), vocab, f"{where}: $.added_tokens")
    refuse_overlaps(added, f"{where}: $.added_tokens")
    return from_parts(data, vocab, pairs, added, where, _provenance(data, where))


def _provenance(data: Mapping[str, Any], where: str) -> dict[str, str]:
    return {"format": NAME, "file": Path(where).name} | remembered(data.get("post_processor")) | _not_carried(data)


def _refuse_unknown_parts(data: Mapping[str, Any], model: Mapping[str, Any], where: str) -> None:
    """Raise `ConversionRefused` naming the first part that changes ids and has no place in a spec."""
    model_type = model.get("type") or "BPE"  # files of the first versions have no type
    if model_type != "BPE":
        raise ConversionRefused(f"{where}: $.model.type is {model_type!r}; only byte-level BPE is read")
    byte_level = () if is_sentencepiece(data) else _not_byte_level(data, model)
    for part, why in (*_changes_ids(model), *byte_level):
        raise ConversionRefused(f"{where}: {part}: {why}")


def _changes_ids(model: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if model.get("dropout"):
        yield "$.model.dropout", "merges would be left out at random; set it to null"
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(affix):
            yield f"$.model.{affix}", f"tokens are spelled with {model[affix]!r}, which BPE does not know here"


def _not_byte_level(data: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    decoder = data.get("decoder")
    if isinstance(decoder, dict) and decoder.get("type") == "Sequence":
        match decoder.get("decoders"):
            case [only]:
                decoder = only
    if kind(decoder) != "ByteLevel":
        yield (
            f"$.decoder is {kind(decoder)}",
            "a byte-level tokenizer needs the ByteLevel decoder, or it does not give the text back",
        )


def _not_carried(data: Mapping[str, Any]) -> dict[str, str]:
    parts = [part for part in ("truncation", "padding") if kind(data.get(part)) != "null"]
    return {"not_carried": ", ".join(parts)} if parts else {}


def _read_merges(raw: list[Any], spelled: Mapping[str, int], where: str) -> tuple[tuple[bytes, bytes], ...]:
    return read_merges(_read_pairs(raw, where), spelled, lambda index: f"{where}[{index}]")


def _read_pairs(raw: list[Any], where: str) -> list[tuple[str, str]]:
    pairs = []
    for number, entry in enumerate(raw):
        pair = entry.split(" ") if isinstance(entry, str) else entry
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) and part for part in pair):
            raise FormatError(f"{where}[{number}] must be two tokens, as 'a b' or ['a', 'b'], not {str(entry)[:60]!r}")
        pairs.append((pair[0], pair[1]))
    return pairs
