"""The tokenizer in the metadata of a GGUF file, which llama.cpp runs. Written are files of a vocabulary only, without tensors.

    tokenizer.ggml.model         "gpt2": byte-level BPE; "llama": a SentencePiece model (see `gguf_pieces`)
    tokenizer.ggml.tokens        the tokens; a token's id is its place
    tokenizer.ggml.token_type    1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte

and for byte-level BPE

    tokenizer.ggml.pre           the name of one of llama.cpp's pre-tokenizers (see `llama_cpp`), in place of a pattern
    tokenizer.ggml.merges        pairs, as in GPT-2's merges.txt

Control tokens are special tokens, user-defined ones added tokens that are always matched, unused ones fill gaps in the ids and
are dropped. Which tokens begin and end a text is for callers to say, so it is kept in `provenance`, and written from there.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conversion.callers import leave_to_callers
from conversion.equality import never_produced, usable_vocab
from conversion.format import AsRun, Format, Given, make_spec, spec_of_table
from conversion.gaps import refuse_wide_gaps
from conversion.gguf import pieces as gguf_pieces
from conversion.gguf.llama_cpp import control_conflict, find_pre_tokenizer, looks_up_pieces, pre_tokenizer_for, reaching_over
from conversion.gguf.metadata import MAGIC, int32s, parse_metadata, serialise, text, texts
from conversion.gguf.tokens import (
    TokenList,
    caller_settings,
    entry,
    kind_numbers,
    overlap_conflict,
    token_list,
    write_settings,
)
from conversion.merges import out_of_reach
from conversion.overlaps import texts_of_overlaps
from conversion.printable import Pair, native_table, read_merges, spell, spell_merges
from conversion.sidecar import as_sidecar_says, file_sidecar, read_sidecar, with_sidecar_where_needed
from conversion.tiktoken.rank_tables import flag_conflict
from conversion.verdict import Checks
from hf_bpe.byte_level import token_to_bytes
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import read_bytes
from hf_bpe.patterns import NAMED_PATTERNS
from hf_bpe.pieces import PieceKind
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["FORMAT"]

_PRE = "tokenizer.ggml.pre"
_MERGES = "tokenizer.ggml.merges"


def _recognises(path: Path, head: bytes) -> bool:
    return head.startswith(MAGIC)


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _read(path: Path, given: Given) -> TokenizerSpec:
    beside = path.with_name(file_sidecar(path.name))
    if given != Given() or not beside.exists():
        return _parse(_mapped(path), path.name, str(path), given)
    content = read_bytes(path)
    sidecar = read_sidecar(beside, {path.name: content})
    stated = Given() if sidecar is None else Given(pattern=None)  # any will do: the sidecar says which
    return as_sidecar_says(_parse(content, path.name, str(path), stated, corrected=True), sidecar, str(path))


def _mapped(path: Path) -> Any:
    """The file without reading it: the tensors behind the metadata can be gigabytes."""
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError:
        raise FormatError(f"{path}: the file is empty; it was truncated, or it is the wrong file") from None
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror or error}") from error


def _parse(content: Any, name: str, where: str, given: Given, *, corrected: bool = False) -> TokenizerSpec:
    """corrected: by a sidecar, so it does not matter what llama.cpp would do otherwise."""
    metadata = parse_metadata(content, where)
    model = entry(metadata, "tokenizer.ggml.model", str, where)
    if model not in ("gpt2", "llama"):
        raise ConversionRefused(
            f"{where}: tokenizer.ggml.model is {model!r}; only byte-level BPE ('gpt2') and SentencePiece BPE ('llama') are read"
        )
    tokens = token_list(metadata, where)
    provenance = {"format": FORMAT.name, "file": name} | caller_settings(metadata, where)
    if "tokenizer.chat_template" in metadata:
        provenance["not_carried"] = "chat_template"
    if model == "gpt2":
        return _parse_byte_level(metadata, tokens, where, given, provenance, corrected)
    given.refuse(where)
    return gguf_pieces.parse(metadata, tokens, where, provenance)


def _parse_byte_level(
    metadata: dict[str, Any], tokens: TokenList, where: str, given: Given, provenance: dict[str, str], corrected: bool
) -> TokenizerSpec:
    pattern, looked_up = _split_rule(metadata, where, given)
    spelled = {content: number for number, (content, kind) in enumerate(tokens) if kind in ("normal", "byte")}
    added = given.added_tokens() if given.special_tokens is not None else _added_tokens(tokens)
    conflict = overlap_conflict([token.content for token in added]) or (_piece_conflict(added, pattern) if looked_up else None)
    if conflict and not corrected:
        raise ConversionRefused(f"{where}: {conflict}")
    if _MERGES not in metadata:
        raise FormatError(
            f"{where}: {_MERGES} is missing, so neither this package nor llama.cpp knows what to merge; write the file again from the "
            "original tokenizer with a newer convert_hf_to_gguf.py"
        )
    lines = entry(metadata, _MERGES, list, where, str)
    fields: dict[str, Any] = {"pattern": pattern, "added_tokens": added, "provenance": provenance}
    table = native_table(spelled, lines, (), set)
    if table is not None:
        spec = spec_of_table(where, table, ignore_merges=False, **fields)
    else:
        vocab = {_bytes_of(content, f"{where}: tokenizer.ggml.tokens[{i}]"): i for content, i in spelled.items()}
        spec = make_spec(where, vocab=vocab, merges=_read_merges(lines, spelled, where), **fields)
    return spec.replace(ignore_merges=True) if looked_up and out_of_reach(spec.vocab, spec.merges) else spec


def _split_rule(metadata: dict[str, Any], where: str, given: Given) -> tuple[str | None, bool]:
    """The pattern, and whether whole pieces are looked up first."""
    name = entry(metadata, _PRE, str, where) if _PRE in metadata else None
    if given.pattern is not ...:
        return given.resolved_pattern(), name is not None and looks_up_pieces(name)
    if name is None:
        raise ConversionRefused(
            f"{where}: there is no {_PRE}, so llama.cpp splits text by a rule that no model was trained with; pass pattern= the pattern "
            "of the tokenizer"
        )
    known = find_pre_tokenizer(name, where)
    return NAMED_PATTERNS[known.pattern].pattern, known.ignore_merges


def _added_tokens(tokens: TokenList) -> list[AddedToken]:
    return [
        AddedToken(content, number, special=kind != "user_defined")
        for number, (content, kind) in enumerate(tokens)
        if kind in ("control", "unknown", "user_defined")
    ]


def _bytes_of(spelling: str, where: str) -> bytes:
    try:
        return token_to_bytes(spelling)
    except ValueError as error:
        raise FormatError(f"{where}: {error}; is it a token of another type, or not byte-level BPE?") from None


def _read_merges(lines: list[str], spelled: dict[str, int], where: str) -> tuple[Pair, ...]:
    pairs: dict[tuple[str, str], None] = {}
    for number, line in enumerate(lines):
        left, separator, right = line.partition(" ")
        if not (left and separator and right) or " " in right:
            raise FormatError(
                f"{where}: {_MERGES}[{number}]: expected two tokens with one space between them, found {line[:60]!r}"
            )
        if (left, right) in pairs:
            raise FormatError(
                f"{where}: {_MERGES}[{number}]: {line[:60]!r} stood in the list before, and readers differ in which place counts"
            )
        pairs[left, right] = None
    return read_merges(list(pairs), spelled, lambda index: f"{where}: {_MERGES}[{index}]")


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def _write(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    # Some model must be named, and which one says nothing about a vocabulary.
    head = {"general.architecture": text("llama")}
    settings = write_settings(spec.provenance, spec.n_vocab)
    if spec.sentencepiece is not None:
        return {name: serialise(head | settings | gguf_pieces.entries_of(spec, spec.sentencepiece, checks))}
    content = serialise(head | settings | _byte_level_entries(spec, checks))
    found = None if checks.losses else _parse(content, name, name, Given())
    return with_sidecar_where_needed(spec, name, content, found, checks)


def _byte_level_entries(spec: TokenizerSpec, checks: Checks) -> dict[str, bytes]:
    vocab = usable_vocab(spec)
    lookup_matters = bool(out_of_reach(vocab, spec.merges))
    known = pre_tokenizer_for(spec.pattern, spec.ignore_merges if lookup_matters else None)
    added = sorted(spec.added_tokens, key=lambda token: token.id)
    contents, kinds = _token_arrays(spec, vocab)
    leave_to_callers(spec, checks)
    over = reaching_over(known, spec.pattern, vocab)
    checks.expect(f"llama.cpp's pre-tokenizer {known.name!r} splits text so that no id tells the difference", over)
    checks.expect(
        "llama.cpp finds the added tokens as they are found here",
        flag_conflict(replace(token, special=True) for token in added)
        or control_conflict(token.content for token in added if not token.special)
        or overlap_conflict([token.content for token in added])
        or (_piece_conflict(added, spec.pattern) if known.ignore_merges else None),
        lambda: texts_of_overlaps(added),
    )
    checks.suppose("texts hold no digits that are newer than the tables of the llama.cpp that runs the file")
    return {
        "tokenizer.ggml.model": text("gpt2"),
        _PRE: text(known.name),
        "tokenizer.ggml.tokens": texts(contents),
        "tokenizer.ggml.token_type": int32s(kind_numbers(kinds)),
        _MERGES: texts(spell_merges(spec.merges)),
    }


def _as_run(spec: TokenizerSpec, files: Mapping[str, bytes], name: str) -> AsRun:
    if spec.sentencepiece is not None:
        run = gguf_pieces.as_run(spec, spec.sentencepiece)
    else:
        lookup_matters = bool(out_of_reach(usable_vocab(spec), spec.merges))
        known = pre_tokenizer_for(spec.pattern, spec.ignore_merges if lookup_matters else None)
        run = _parse(files[name], name, name, Given(pattern=known.regex), corrected=True)
    return AsRun("this package, split as llama.cpp does", run)


def _token_arrays(spec: TokenizerSpec, vocab: dict[bytes, int]) -> tuple[list[str], list[PieceKind]]:
    refuse_wide_gaps(spec, "a GGUF file")
    contents = [f"[PAD{number}]" for number in range(spec.n_vocab)]
    kinds: list[PieceKind] = ["unused"] * spec.n_vocab
    for content, token_id in zip(spell(vocab), vocab.values(), strict=True):
        contents[token_id], kinds[token_id] = content, "normal"
    for added in spec.added_tokens:
        if kinds[added.id] == "normal":
            raise ConversionRefused(
                f"a GGUF file cannot hold {added.content!r} (id {added.id}) both as an added token and as one that merging makes"
            )
        contents[added.id], kinds[added.id] = added.content, "control" if added.special else "user_defined"
    if len(set(contents)) < len(contents):
        seen: dict[str, int] = {}
        first, second = next((seen[c], i) for i, c in enumerate(contents) if seen.setdefault(c, i) != i)
        raise ConversionRefused(
            f"a GGUF file knows tokens by their spelling, and the ids {first} and {second} are both spelled {contents[second]!r} there"
        )
    return contents, kinds


def _piece_conflict(added: Sequence[AddedToken], pattern: str | None) -> str | None:
    """llama.cpp looks whole pieces up among all tokens, special ones too."""
    readable = {}
    for token in added:
        try:
            readable[token_to_bytes(token.content)] = token
        except ValueError:
            continue  # not in the byte alphabet, so no piece is spelled like that
    found = readable.keys() - never_produced(readable, (), True, pattern, "keep")
    if not found:
        return None
    token = readable[min(found)]
    return f"llama.cpp would also find {token.content!r} (id {token.id}) in plain text, as a whole piece"


FORMAT = Format(
    name="gguf",
    description="GGUF file, its tokenizer only: byte-level BPE or SentencePiece BPE",
    is_folder=False,
    self_contained=False,
    recognises=_recognises,
    in_folder=("*.gguf",),
    read=_read,
    write=_write,
    as_run=_as_run,
)
