"""tiktoken rank files: one token per line, its bytes in base64 and its rank, which is its id too.

    IQ== 0
    Ig== 1

Pattern and special tokens stand in tiktoken's program, not in the file; here they travel in a sidecar (see `sidecar`).
tiktoken always looks a whole piece up before it merges. That changes ids only where some token is unreachable by merging,
so a table read from a rank file has `ignore_merges` on exactly then.
"""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversion.callers import caller_must_normalise, leave_to_callers
from conversion.equality import covers_every_text, usable_vocab
from conversion.format import AsRun, Format, Given, spec_of_table
from conversion.merges import recover_merges
from conversion.overlaps import texts_of_overlaps
from conversion.sentencepiece.expansion import files_of, read_expansion
from conversion.sidecar import Sidecar, file_sidecar, read_sidecar, write_sidecar
from conversion.tiktoken.rank_tables import check_ranks, spec_of_ranks, special_conflict
from conversion.tokenizer_json.split_rules import from_tiktoken
from conversion.verdict import Checks
from hf_bpe.engine.backends import load_native
from hf_bpe.errors import ConversionRefused, FormatError, HfBpeError
from hf_bpe.files import read_bytes
from hf_bpe.patterns import NAMED_PATTERNS, pattern_for
from hf_bpe.spec import MAX_TOKEN_ID, AddedToken, TokenizerSpec, VocabularyTable

if TYPE_CHECKING:
    import tiktoken

__all__ = [
    "FORMAT",
    "PATTERN_TRANSLATED",
    "as_run",
    "check_tiktoken",
    "native_table",
    "parse_ranks",
    "rank_file",
    "tiktoken_pattern",
    "to_tiktoken_encoding",
]

PATTERN_TRANSLATED = "the pattern, written for the target's regular expressions, splits every text alike"

_LINE = re.compile(rb"\s*[A-Za-z0-9+/]+={0,2} [0-9]+\r?(\n|\Z)")


def _recognises(path: Path, head: bytes) -> bool:
    return _LINE.match(head) is not None


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _read(path: Path, given: Given) -> TokenizerSpec:
    content = read_bytes(path)
    model = read_expansion(path, content)
    if model is not None:
        given.refuse(str(path))
        return model
    sidecar = read_sidecar(path.with_name(file_sidecar(path.name)), {path.name: content})
    if given.pattern is ... and sidecar is None:
        raise FormatError(
            f"{path}: a rank file does not say how text is split, and there is no {file_sidecar(path.name)} beside it; pass pattern= "
            f"one of {', '.join(NAMED_PATTERNS)}, or the pattern itself (tiktoken calls it pat_str)"
        )
    provenance = {"format": FORMAT.name, "file": path.name}
    added = sidecar.added_tokens if sidecar and given.special_tokens is None else given.added_tokens()
    fields: dict[str, Any] = {**_split_rule(given, sidecar), "added_tokens": added, "provenance": provenance}
    table = native_table(content) if sidecar is None or sidecar.merges is None else None
    if table is not None:
        stated = {} if sidecar is None else {"ignore_merges": sidecar.ignore_merges, **sidecar.normalisation}
        return spec_of_table(str(path), table, **stated, **fields)
    return spec_of_ranks(str(path), parse_ranks(content, str(path)), sidecar, **fields)


def native_table(content: bytes) -> VocabularyTable | None:
    """The table, read and resolved by the native engine; None where it is not installed or finds anything amiss.

    What is amiss, and in which line, is then said by `parse_ranks`, which reads ten times slower.
    """
    native = load_native()
    if native is None:
        return None
    try:
        table: VocabularyTable = native.Vocabulary.from_rank_file(content)
    except HfBpeError:
        return None
    return table


def _split_rule(given: Given, sidecar: Sidecar | None) -> dict[str, Any]:
    if sidecar is not None and given.pattern is ...:
        return sidecar.split
    pattern = given.resolved_pattern()
    return {"pattern": pattern, "unmatched": "keep" if covers_every_text(pattern) else "drop"}


def parse_ranks(content: bytes, where: str) -> dict[bytes, int]:
    """The table a rank file holds: token -> rank.

    >>> parse_ranks(b"IQ== 0\\nIg== 1\\n", "x.tiktoken")
    {b'!': 0, b'"': 1}
    """
    ranks: dict[bytes, int] = {}
    owners: dict[int, bytes] = {}
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        token, rank = _parse_line(line, f"{where}, line {number}")
        if token in ranks:
            raise FormatError(
                f"{where}, line {number}: the token {token!r} stood in the table before, with rank {ranks[token]}"
            )
        if owners.setdefault(rank, token) is not token:
            raise FormatError(
                f"{where}, line {number}: rank {rank} belongs to {owners[rank]!r} already; every token needs its own"
            )
        ranks[token] = rank
    if not ranks:
        raise FormatError(f"{where}: the file is empty; it was truncated, or it is the wrong file")
    return ranks


def _parse_line(line: bytes, where: str) -> tuple[bytes, int]:
    fields = line.split()
    if len(fields) != 2:
        raise FormatError(
            f"{where}: expected a base64 token and a rank, found {line[:60]!r}; the file may be truncated: fetch it again"
        )
    try:
        token = base64.b64decode(fields[0], validate=True)
    except binascii.Error as error:
        raise FormatError(f"{where}: {fields[0][:60]!r} is not base64: {error}; the file is damaged: fetch it again") from None
    if not fields[1].isdigit() or len(fields[1]) > len(str(MAX_TOKEN_ID)) or int(fields[1]) > MAX_TOKEN_ID:
        raise FormatError(f"{where}: the rank must be an integer in 0..{MAX_TOKEN_ID}, not {fields[1][:60]!r}")
    return token, int(fields[1])


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def _write(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    if spec.dialect == "sentencepiece":
        return files_of(spec, name, checks)
    checks.suppose("tiktoken is given the pattern (pat_str) and the special tokens that stand in the sidecar")
    content, with_merges = rank_file(spec, checks)
    main = {name: content}
    return main | {file_sidecar(name): write_sidecar(spec, main, with_merges=with_merges)}


def rank_file(spec: TokenizerSpec, checks: Checks) -> tuple[bytes, bool]:
    """The content of a rank file, and whether its sidecar must state the merges because the ranks imply others."""
    check_tiktoken(spec, checks)
    table = sorted(usable_vocab(spec).items(), key=lambda item: item[1])
    lines = [b"%s %d\n" % (binascii.b2a_base64(token, newline=False), rank) for token, rank in table]
    implied, _ = recover_merges([token for token, _ in table])
    return b"".join(lines), implied != spec.merges


def check_tiktoken(spec: TokenizerSpec, checks: Checks) -> None:
    """Note whether tiktoken gives the same ids."""
    check_ranks(spec, checks)
    checks.expect(
        "tiktoken finds the special tokens as they are found here",
        special_conflict(spec.added_tokens),
        lambda: texts_of_overlaps(spec.added_tokens),
    )
    leave_to_callers(spec, checks)
    tiktoken_pattern(spec)
    checks.hold(PATTERN_TRANSLATED)


def as_run(spec: TokenizerSpec, content: bytes, name: str) -> AsRun:
    """A rank file under the pattern and the special tokens of a spec, as tiktoken runs it."""
    pattern, unmatched = from_tiktoken(tiktoken_pattern(spec), name)
    added = [AddedToken(token.content, token.id) for token in spec.added_tokens if token.special]
    # Where one begins another, tiktoken may take either: here the shorter.
    added = [token for token in added if not any(_begins(other, token) for other in added)]
    run = spec_of_ranks(name, parse_ranks(content, name), None, pattern=pattern, unmatched=unmatched, added_tokens=added)
    return AsRun("this package, by ranks as tiktoken does", run)


def _begins(other: AddedToken, token: AddedToken) -> bool:
    return token.content != other.content and token.content.startswith(other.content)


def to_tiktoken_encoding(spec: TokenizerSpec, name: str = "hf_bpe") -> tiktoken.Encoding:
    """The same tokenizer as a `tiktoken.Encoding`. Raises `ConversionRefused` where tiktoken would give other ids."""
    import tiktoken

    vocab = usable_vocab(spec)
    checks = Checks()
    check_tiktoken(spec, checks)
    checks.refuse_losses("tiktoken")
    condition = caller_must_normalise(spec)
    if condition:
        raise ConversionRefused(
            f"tiktoken has no normaliser, and gives the same ids only if {condition}; do that, and convert "
            "spec.replace(normalizer=(), add_prefix_space=False)"
        )
    return tiktoken.Encoding(
        name, pat_str=tiktoken_pattern(spec), mergeable_ranks=vocab, special_tokens=dict(spec.special_tokens)
    )


def tiktoken_pattern(spec: TokenizerSpec) -> str:
    r"""The pattern, of several the first, as tiktoken's `pat_str`. Text between matches, which tiktoken drops, is matched where it must be kept.

    >>> tiktoken_pattern(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern=r"\p{L}+"))
    '\\p{L}+|(?:(?!\\p{L}+)[\\s\\S])+'
    """
    if spec.pattern is None:
        return r"[\s\S]+"
    pattern = pattern_for(spec.pattern, "tiktoken")
    if spec.unmatched == "drop" or covers_every_text(spec.pattern):
        return pattern
    return rf"{pattern}|(?:(?!{pattern})[\s\S])+"


FORMAT = Format(
    name="tiktoken",
    description="tiktoken rank file: base64 token and rank per line",
    is_folder=False,
    self_contained=False,
    recognises=_recognises,
    read=_read,
    write=_write,
    as_run=lambda spec, files, name: as_run(spec, files[name], name),
)
