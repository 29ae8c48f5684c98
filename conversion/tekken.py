"""tekken.json, the file of Mistral's tokenizers, which mistral-common reads and tiktoken runs.

    {"config": {"pattern": "...", "default_vocab_size": 131072, "default_num_special_tokens": 1000, "version": "v3", ...},
     "vocab": [{"rank": 0, "token_bytes": "AA==", "token_str": "\\u0000"}, ...],
     "special_tokens": [{"rank": 0, "token_str": "<unk>", "is_control": true}, ...]}

Ids 0 to N-1 are the special tokens (N is `default_num_special_tokens`; those that the file does not name are called
`<SPECIAL_20>` by their number), and the id of every other token is its rank + N. The first 256 ranks are the bytes in order. The
list of tokens may be longer than `default_vocab_size` - N; the rest is not used, and reading it would change ids.

mistral-common never finds special tokens in text. Here they are found where a caller allows it, as everywhere.
"""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any

from conversion.callers import leave_to_callers
from conversion.equality import usable_vocab
from conversion.format import AsRun, Format, Given
from conversion.json_text import field, parse_json
from conversion.overlaps import texts_of_overlaps
from conversion.sidecar import as_sidecar_says, file_sidecar, read_sidecar, with_sidecar_where_needed
from conversion.tiktoken.file import PATTERN_TRANSLATED, tiktoken_pattern
from conversion.tiktoken.rank_tables import check_ranks, flag_conflict, spec_of_ranks
from conversion.tokenizer_json.split_rules import from_tiktoken
from conversion.verdict import Checks
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import read_bytes, text_of
from hf_bpe.spec import MAX_TOKEN_ID, AddedToken, TokenizerSpec

__all__ = ["FORMAT"]

_FILLER = "<SPECIAL_{}>"
# What files without a list of special tokens mean by it: those of the first versions.
_FIRST_SPECIAL_TOKENS = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> "
    "[IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]"
).split()
_VERSIONS_WITHOUT_LIST = ("v1", "v2", "v3", "v7")
_WRITTEN_VERSION = "v3"
_NOT_CARRIED = ("image", "audio", "multimodal", "model_settings_builder")


def _recognises(path: Path, head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and (b'"default_num_special_tokens"' in head or b'"token_bytes"' in head)


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _read(path: Path, given: Given) -> TokenizerSpec:
    given.refuse(str(path))
    content = read_bytes(path)
    sidecar = read_sidecar(path.with_name(file_sidecar(path.name)), {path.name: content})
    return as_sidecar_says(_parse(content, path.name, str(path)), sidecar, str(path))


def _parse(content: bytes, name: str, where: str) -> TokenizerSpec:
    data = parse_json(text_of(content, where), where)
    if not isinstance(data, dict) or "config" not in data:
        raise FormatError(f"{where}: not a tekken.json: it must be an object with a 'config'")
    config = field(data, "config", dict, f"{where}: $")
    size, reserved = (_count(config, key, f"{where}: $.config") for key in ("default_vocab_size", "default_num_special_tokens"))
    version = field(config, "version", str, f"{where}: $.config")
    pattern, unmatched = from_tiktoken(field(config, "pattern", str, f"{where}: $.config"), f"{where}: $.config.pattern")
    added = _special_tokens(data, version, reserved, where)
    tokens = _tokens(field(data, "vocab", list, f"{where}: $"), size - reserved, f"{where}: $.vocab")
    not_carried = [part for part in _NOT_CARRIED if data.get(part)]
    return spec_of_ranks(
        where,
        {token: rank + reserved for token, rank in tokens.items()},
        None,
        pattern=pattern,
        unmatched=unmatched,
        added_tokens=added,
        provenance={"format": FORMAT.name, "file": name, "tekken_version": version}
        | ({"not_carried": ", ".join(not_carried)} if not_carried else {}),
    )


def _count(config: dict[str, Any], key: str, where: str) -> int:
    value = field(config, key, int, where)
    if not 0 <= value <= MAX_TOKEN_ID:
        raise FormatError(f"{where}.{key} must lie in 0..{MAX_TOKEN_ID}, not {str(value)[:40]}")
    return value


def _special_tokens(data: dict[str, Any], version: str, reserved: int, where: str) -> tuple[AddedToken, ...]:
    place = f"{where}: $.special_tokens"
    if data.get("special_tokens") is not None:
        entries = field(data, "special_tokens", list, f"{where}: $")
        contents = [_special_token(entry, number, f"{place}[{number}]") for number, entry in enumerate(entries)]
    elif version in _VERSIONS_WITHOUT_LIST:
        contents = list(_FIRST_SPECIAL_TOKENS)
    else:
        raise FormatError(f"{place} is missing, which only versions {', '.join(_VERSIONS_WITHOUT_LIST)} may leave out")
    if not len(contents) <= reserved <= 1 << 20:  # a file of a few bytes must not ask for millions of names
        raise FormatError(
            f"{where}: $.config.default_num_special_tokens is {reserved}, and there are {len(contents)} special tokens; it must be as "
            "many or more (and at most 1048576): the file is damaged"
        )
    contents += [_FILLER.format(number) for number in range(len(contents), reserved)]
    return tuple(AddedToken(content, number) for number, content in enumerate(contents))


def _special_token(entry: object, number: int, where: str) -> str:
    if not isinstance(entry, dict):
        raise FormatError(f"{where} must be an object, not {str(entry)[:60]!r}")
    field(entry, "is_control", bool, where)
    if field(entry, "rank", int, where) != number:
        raise FormatError(f"{where}.rank must be {number}, its place in the list, not {entry['rank']}")
    return field(entry, "token_str", str, where)


def _tokens(entries: list[Any], size: int, where: str) -> dict[bytes, int]:
    """Token -> rank of the first `size` entries."""
    if not 256 <= size <= len(entries):
        raise FormatError(
            f"{where} has {len(entries)} tokens, and the config asks for {size} (default_vocab_size - default_num_special_tokens): it "
            "must ask for 256 or more that are there; the file is truncated or damaged"
        )
    ranks: dict[bytes, int] = {}
    for rank, entry in enumerate(entries[:size]):
        token = _token(entry, rank, f"{where}[{rank}]")
        if ranks.setdefault(token, rank) != rank:
            raise FormatError(f"{where}[{rank}]: the token {token!r} stood in the list before, with rank {ranks[token]}")
    return ranks


def _token(entry: object, rank: int, where: str) -> bytes:
    if not isinstance(entry, dict):
        raise FormatError(f"{where} must be an object, not {str(entry)[:60]!r}")
    if field(entry, "rank", int, where) != rank:
        raise FormatError(f"{where}.rank must be {rank}, its place in the list, not {entry['rank']}")
    spelled = field(entry, "token_bytes", str, where)
    try:
        token = base64.b64decode(spelled, validate=True)
    except ValueError as error:
        raise FormatError(f"{where}.token_bytes: {spelled[:60]!r} is not base64: {error}; the file is damaged") from None
    if rank < 256 and token != bytes([rank]):
        raise FormatError(f"{where}.token_bytes is {token!r}; the first 256 tokens must be the bytes in order")
    return token


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def _write(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    tokens = sorted(usable_vocab(spec).items(), key=lambda item: item[1])
    _refuse_ids(spec, tokens)
    checks.hold("ids are numbered as the file numbers them")
    check_ranks(spec, checks)
    leave_to_callers(spec, checks)
    checks.expect(
        "added tokens are special tokens, found by their text",
        flag_conflict(spec.added_tokens),
        lambda: texts_of_overlaps(spec.added_tokens),
    )
    checks.hold(PATTERN_TRANSLATED)
    added = sorted(spec.added_tokens, key=lambda token: token.id)
    data = {
        "config": {
            "pattern": tiktoken_pattern(spec),
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": len(tokens) + len(added),
            "default_num_special_tokens": len(added),
            "version": spec.provenance.get("tekken_version", _WRITTEN_VERSION),
        },
        "vocab": [_token_entry(rank, token) for rank, (token, _) in enumerate(tokens)],
        "special_tokens": [{"rank": t.id, "token_str": t.content, "is_control": True} for t in added],
    }
    content = json.dumps(data).encode()
    return with_sidecar_where_needed(spec, name, content, _parse(content, name, name), checks)


def _refuse_ids(spec: TokenizerSpec, tokens: list[tuple[bytes, int]]) -> None:
    """The ids that the file can give: special tokens from 0, then the 256 bytes in order, then the others without a gap."""
    reserved = len(spec.added_tokens)
    misplaced = next((token for token in spec.added_tokens if token.id >= reserved), None)
    if misplaced:
        raise ConversionRefused(
            f"tekken.json numbers the {reserved} special tokens from 0 to {reserved - 1} and everything else after them, and "
            f"{misplaced.content!r} has id {misplaced.id}; the ids cannot be kept. Renumber the tokenizer first"
        )
    for rank, (token, token_id) in enumerate(tokens):
        if token_id != rank + reserved:
            raise ConversionRefused(
                f"tekken.json gives its {rank + 1}. token the id {rank + reserved}, and here that is id {token_id} ({token!r}): ids must "
                "have no gap and begin after the special tokens"
            )
        if rank < 256 and token != bytes([rank]):
            raise ConversionRefused(
                f"tekken.json begins with the 256 bytes in order, and id {token_id}, which would be byte 0x{rank:02X}, is {token!r}; the "
                "ids cannot be kept. Renumber the tokenizer first"
            )


def _token_entry(rank: int, token: bytes) -> dict[str, Any]:
    try:
        text: str | None = token.decode()
    except UnicodeDecodeError:
        text = None
    return {"rank": rank, "token_bytes": binascii.b2a_base64(token, newline=False).decode(), "token_str": text}


FORMAT = Format(
    name="tekken",
    description="tekken.json of Mistral's tokenizers",
    is_folder=False,
    self_contained=True,
    recognises=_recognises,
    in_folder=("tekken*.json",),
    read=_read,
    write=_write,
    as_run=lambda _, files, name: AsRun("this package, by ranks as mistral-common does", _parse(files[name], name, name)),
)
