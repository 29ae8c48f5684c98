"""A SentencePiece model as a tiktoken rank file, with a table that gives each rank its ids.

A rank file alone cannot hold such a model: the character `A` and the byte 0x41 are two pieces with one spelling, ids are no
order of merges, and characters that are no pieces come apart into bytes. So ranks are an order of merges only, and a sidecar
(`x.tiktoken.hf_bpe.json`) says which ids each rank stands for:

    {"format": "hf_bpe expansion", "version": 1, "files": {"x.tiktoken": "<sha256>"},
     "use": "...",                         how to encode with tiktoken and the table
     "prefix": " ",                        what stands before every text
     "expansion": [[3], [4], ...],         rank -> ids
     "sentencepiece": {...},               the model itself, which reading the file here gives back
     "added_tokens": [...]}

To encode: `(prefix + text).replace("\u2581", " ")`, the whole of it one piece for tiktoken (pattern `[\\s\\S]+`); then the ids of
each rank in order. The table holds the 256 bytes, the beginnings of characters of several bytes, the characters, the merges.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any

from conversion.format import spec_of_pieces
from conversion.json_text import field, read_json
from conversion.sentencepiece.piece_merges import merges_of, user_defined
from conversion.sidecar import file_sidecar, parse_added_token
from conversion.verdict import Checks
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.pieces import SPACE_SYMBOL, Piece, SentencePieceRules, byte_piece
from hf_bpe.spec import TokenizerSpec

__all__ = ["expanded", "files_of", "read_expansion"]

_FORMAT, _VERSION = "hf_bpe expansion", 1
_USE = "encode (prefix + text) with U+2581 replaced by a space, as one piece; then put expansion[rank] for each rank"


def expanded(rules: SentencePieceRules) -> list[tuple[bytes, list[int]]]:
    """Tokens, best rank first, and the ids each stands for. Raises `ConversionRefused` where there is no such table."""
    merges = merges_of(rules)
    _refuse(rules, merges.conflict)
    id_of = {piece.content: number for number, piece in enumerate(rules.pieces)}
    bytes_of = [id_of[byte_piece(byte)] for byte in range(256)]
    findable = {piece.content for piece in rules.pieces if piece.kind in ("normal", "unused")}
    made = {pair: "".join(pair) for pair in merges.pairs if " " not in "".join(pair)}  # there is no space in escaped text
    characters = {c for c in findable if len(c) == 1 and c != " "} | {c for content in made.values() for c in content}
    unused = {piece.content for piece in rules.pieces if piece.kind == "unused"} & set(made.values())

    ids: dict[str, list[int]] = {}  # a text that merging makes -> what becomes of it
    for character in characters:
        ids[character] = [id_of[character]] if character in id_of else [bytes_of[byte] for byte in character.encode()]
    parts_of = {whole: pair for pair, whole in made.items()}
    for whole in sorted(parts_of, key=len):
        left, right = parts_of[whole]
        ids[whole] = ids[left] + ids[right] if whole in unused else [id_of[whole]]

    table = {bytes([byte]): [bytes_of[byte]] for byte in range(256)}
    for length in (1, 2, 3, 4):
        for character in sorted(characters):
            token = _spelled(character)
            if length < len(token):
                table.setdefault(token[:length], [bytes_of[byte] for byte in token[:length]])
            elif length == len(token):
                table[token] = ids[character]
    for whole in made.values():
        table[_spelled(whole)] = ids[whole]
    return list(table.items())


def _spelled(content: str) -> bytes:
    return content.replace(SPACE_SYMBOL, " ").encode()


def _refuse(rules: SentencePieceRules, conflict: str | None) -> None:
    reason = conflict
    if not rules.byte_fallback:
        reason = "without byte_fallback a run of unknown characters is one unknown piece, which no table says"
    elif rules.precompiled_charsmap or rules.remove_extra_whitespaces or not rules.escape_whitespaces:
        reason = "its normaliser does more to a text than write its spaces as U+2581"
    elif rules.treat_whitespace_as_suffix or rules.prepend_scheme == "first" or not rules.prefix_before_space:
        reason = "its dummy prefix is no fixed text before every text"
    elif user_defined(rules):
        reason = f"its user-defined pieces, such as {user_defined(rules)[0]!r}, are found before anything is merged"
    if reason:
        raise ConversionRefused(
            f"tiktoken cannot hold this SentencePiece model, not even with a table of ids: {reason}. Save it as tokenizer.json"
        )


def files_of(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    """The rank file and its sidecar. Raises `ConversionRefused`."""
    rules = spec.sentencepiece
    if rules is None:
        raise TypeError("a byte-level spec needs no expansion")
    table = expanded(rules)
    checks.hold("scores have an order of merges")
    checks.suppose('texts are prepared, and ranks replaced by the ids of the table, as the sidecar says under "use"')
    checks.decodes_otherwise("tiktoken decodes ranks, which are no ids; what ids stand for is said by the model in the sidecar")
    lines = [b"%s %d\n" % (binascii.b2a_base64(token, newline=False), rank) for rank, (token, _) in enumerate(table)]
    ranks = b"".join(lines)
    data = {
        "format": _FORMAT,
        "version": _VERSION,
        "files": {name: hashlib.sha256(ranks).hexdigest()},
        "use": _USE,
        "prefix": "" if rules.prepend_scheme == "never" else " ",
        "expansion": [ids for _, ids in table],
        "sentencepiece": _rules_to_json(rules),
        "added_tokens": [asdict(token) for token in spec.added_tokens],
    }
    return {name: ranks, file_sidecar(name): json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()}


def read_expansion(path: Path, content: bytes) -> TokenizerSpec | None:
    """The model that the sidecar of a rank file holds; None where there is none of this kind."""
    sidecar = path.with_name(file_sidecar(path.name))
    data = read_json(sidecar) if sidecar.exists() else None
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        return None
    where = f"{sidecar}: $"
    if data.get("version") != _VERSION:
        raise FormatError(f"{sidecar}: version {data.get('version')!r} is not {_VERSION}; update hf-bpe to read it")
    if field(data, "files", dict, where).get(path.name) != hashlib.sha256(content).hexdigest():
        raise FormatError(f"{sidecar}: stale: it was written for another {path.name}; save both together again")
    rules = _rules_of_json(field(data, "sentencepiece", dict, where), f"{where}.sentencepiece")
    tokens = field(data, "added_tokens", list, where)
    added = [parse_added_token(token, f"{where}.added_tokens[{n}]") for n, token in enumerate(tokens)]
    spec = spec_of_pieces(str(sidecar), rules, added_tokens=added, provenance={"format": "tiktoken", "file": path.name})
    try:
        table = expanded(rules)
    except ConversionRefused as refusal:
        raise FormatError(f"{where}.sentencepiece was not written with this table: {refusal}") from None
    if field(data, "expansion", list, where) != [ids for _, ids in table]:
        raise FormatError(f"{where}.expansion is not the table of the model beside it; save both together again")
    return spec


def _rules_to_json(rules: SentencePieceRules) -> dict[str, Any]:
    values = {f.name: getattr(rules, f.name) for f in dataclass_fields(rules)}
    values["pieces"] = [[piece.content, piece.score, piece.kind] for piece in rules.pieces]
    return {k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in values.items()}


def _rules_of_json(data: Mapping[str, Any], where: str) -> SentencePieceRules:
    values = dict(data)
    try:
        values["pieces"] = tuple(Piece(*entry) for entry in values["pieces"])
        for name in ("precompiled_charsmap", "denormalizer_charsmap"):
            values[name] = base64.b64decode(values[name], validate=True)
        return SentencePieceRules(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{where} is not a SentencePiece model as this package writes it: {error!r}") from None
