"""GPT-2's pair of files, under either of its names: encoder.json + vocab.bpe, vocab.json + merges.txt.

    vocab.json    {"!": 0, "\"": 1, ..., "<|endoftext|>": 50256}
    merges.txt    #version: 0.2
                  Ġ t
                  Ġ a

The files say nothing of the pattern: GPT-2's is what the format means, unless a sidecar (see `sidecar`) or the caller says
otherwise. transformers keeps files of the same names for tokenizers that split otherwise, and names the class beside them: such
folders are refused, as what the class does stands in no file. Nor do they say which entries are special tokens: without a sidecar, `<|endoftext|>` is where no merge makes it;
every other entry that no merge makes stays an ordinary token that encoding never gives, which is how these files are run.
"""

from __future__ import annotations

import json
import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from conversion.callers import leave_to_callers
from conversion.class_beside import SPLITS_AS_GPT2, class_beside, puts_space_first
from conversion.equality import never_produced, usable_vocab
from conversion.format import AsRun, Format, Given, make_spec, spec_of_table
from conversion.json_text import parse_json
from conversion.merges import check_lookup
from conversion.printable import Pair, native_table, read_merges, read_vocab, spell_merges, spell_vocab, without_added_tokens
from conversion.sidecar import FOLDER_SIDECAR, Sidecar, read_sidecar, write_sidecar
from conversion.verdict import Checks
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import read_text
from hf_bpe.patterns import NAMED_PATTERNS
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["FORMATS", "find_pair"]

_NAMES = {"gpt2": ("encoder.json", "vocab.bpe"), "vocab-merges": ("vocab.json", "merges.txt")}
_END_OF_TEXT = "<|endoftext|>"
_VERSION_LINE = "#version"
_BYTES = 256
_LOOKS_SPECIAL = re.compile(r"<.*>|\[.*\]")


def find_pair(path: Path, format_name: str) -> tuple[Path, Path] | None:
    """The two files a path means: a folder that holds one of them, or one of the two itself.

    A prefix before the name is kept. None: the path does not mean a pair of this format.

    >>> [file.name for file in find_pair(Path("my-vocab.json"), "vocab-merges")]
    ['my-vocab.json', 'my-merges.txt']
    """
    names = _NAMES.get(format_name)
    if names is None:
        return None
    if path.is_dir():
        both = path / names[0], path / names[1]
        return both if any(file.exists() for file in both) else None
    for name in names:
        if path.name.endswith(name):
            prefix = path.name.removesuffix(name)
            return path.with_name(prefix + names[0]), path.with_name(prefix + names[1])
    return None


def _recognises(path: Path, head: bytes, *, name: str) -> bool:
    return find_pair(path, name) is not None


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _read(path: Path, given: Given, *, name: str) -> TokenizerSpec:
    pair = find_pair(path, name)
    if pair is None:
        raise FormatError(f"{path}: neither a folder with {' and '.join(_NAMES[name])} nor one of the two")
    vocab_file, merges_file = pair
    texts = {file.name: read_text(file) for file in pair}
    sidecar = read_sidecar(vocab_file.with_name(FOLDER_SIDECAR), {name: text.encode() for name, text in texts.items()})
    spelled = read_vocab(parse_json(texts[vocab_file.name], str(vocab_file)), f"{vocab_file}: $")
    lines = _lines(texts[merges_file.name], str(merges_file))
    added = _added_tokens(given, sidecar, spelled, lines)
    if sidecar is None:  # which holds hashes of both files
        _warn_of_missing_merges(spelled, lines, added, str(merges_file))
    if sidecar is None and given.pattern is ... and not (vocab_file.parent / "tokenizer.json").is_file():
        _refuse_other_classes(vocab_file)
    rules = _split_rule(given, sidecar) | {"ignore_merges": sidecar.ignore_merges if sidecar else False}
    normalisation = sidecar.normalisation if sidecar else {"add_prefix_space": puts_space_first(vocab_file.parent)}
    fields = {**rules, **normalisation, "added_tokens": added, "provenance": {"format": name, "file": vocab_file.name}}
    by_sidecar = sidecar.only_added if sidecar and given.special_tokens is None else None
    table = native_table(spelled, lines, added, by_sidecar or partial(never_produced, merges=(), **rules))
    if table is not None and not any(line.startswith(_VERSION_LINE) for line in lines):
        return spec_of_table(str(vocab_file), table, **fields)
    merges = _read_merges(lines, spelled, str(merges_file))
    is_idle = by_sidecar or partial(never_produced, merges=merges, **rules)
    return make_spec(
        str(vocab_file),
        vocab=without_added_tokens(spelled, added, is_idle, f"{vocab_file}: $"),
        merges=merges,
        **fields,
    )


def _refuse_other_classes(vocab_file: Path) -> None:
    named = class_beside(vocab_file.parent)
    if named is not None and named not in SPLITS_AS_GPT2:
        raise ConversionRefused(
            f"{vocab_file}: the files beside it name {named!r}, and how that splits text stands in none of them. Pass pattern=, which is "
            "'gpt2' if it splits as GPT-2 does; of vocab.json and merges.txt, HfBpeTokenizer.from_pretrained(folder) asks transformers"
        )


def _split_rule(given: Given, sidecar: Sidecar | None) -> dict[str, Any]:
    if sidecar is not None and given.pattern is ...:
        return sidecar.split
    pattern = NAMED_PATTERNS["gpt2"].pattern if given.pattern is ... else given.resolved_pattern()
    return {"pattern": pattern, "unmatched": "keep", "stages": ()}


def _added_tokens(given: Given, sidecar: Sidecar | None, spelled: dict[str, int], lines: list[str]) -> tuple[AddedToken, ...]:
    if given.special_tokens is not None:
        return given.added_tokens()
    if sidecar is not None:
        return sidecar.added_tokens
    made = any(line.replace(" ", "", 1) == _END_OF_TEXT for line in lines)
    return (AddedToken(_END_OF_TEXT, spelled[_END_OF_TEXT]),) if _END_OF_TEXT in spelled and not made else ()


def _warn_of_missing_merges(spelled: dict[str, int], lines: list[str], added: tuple[AddedToken, ...], where: str) -> None:
    """Nothing in the files tells where the merges end, but each token of a whole pair is a byte, made by one, or a special token."""
    if len(spelled) <= _BYTES + len(lines):
        return
    known = {line.replace(" ", "", 1) for line in lines} | {token.content for token in added}
    lost = [token for token in spelled if len(token) > 1 and token not in known and not _LOOKS_SPECIAL.fullmatch(token)]
    if lost:
        warnings.warn(
            f"{where}: {len(lost)} of the {len(spelled)} tokens, such as {lost[0]!r}, are made by no merge, so no text becomes them. Is "
            "the file cut off? Fetch it again, or name in special_tokens= what is special",
            UserWarning,
            stacklevel=2,
        )


def _lines(text: str, where: str) -> list[str]:
    """The pairs, one a line."""
    first, *lines = text.replace("\r\n", "\n").split("\n")
    if not first.startswith(_VERSION_LINE):
        raise FormatError(
            f"{where}, line 1: expected '#version: 0.2', found {first[:60]!r}; some readers skip the first line and others do not, "
            "so put that line before the first pair"
        )
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _read_merges(lines: list[str], spelled: dict[str, int], where: str) -> tuple[Pair, ...]:
    pairs = [_parse_pair(line, f"{where}, line {number}") for number, line in enumerate(lines, 2)]
    return read_merges(pairs, spelled, lambda index: f"{where}, line {index + 2}")


def _parse_pair(line: str, where: str) -> tuple[str, str]:
    left, separator, right = line.partition(" ")
    if not (left and separator and right) or " " in right:
        raise FormatError(f"{where}: expected two tokens with one space between them, found {line[:60]!r}; the file is damaged")
    if line.startswith(_VERSION_LINE):
        raise FormatError(f"{where}: some readers take {line!r} for a comment, so the files do not mean one thing")
    return left, right


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def _write(spec: TokenizerSpec, _: str, checks: Checks, *, name: str) -> dict[str, bytes]:
    leave_to_callers(spec, checks, takes_stages=True)
    check_lookup(usable_vocab(spec), spec.merges, spec.ignore_merges, checks)
    if spec.stages:
        checks.suppose("the reader splits text by the pattern that stands in the sidecar, and the pieces by its stages")
    elif spec.pattern != NAMED_PATTERNS["gpt2"].pattern:
        checks.suppose("the reader splits text by the pattern that stands in the sidecar, not by GPT-2's")
    if any(token != AddedToken(_END_OF_TEXT, token.id) for token in spec.added_tokens):
        checks.suppose("the reader takes the tokens for special that stand in the sidecar")
    spelled = spell_vocab(spec)
    for token in sorted(spec.added_tokens, key=lambda token: token.id):
        if spelled.setdefault(token.content, token.id) != token.id:
            raise ConversionRefused(
                f"{_NAMES[name][0]} cannot hold the added token {token.content!r} (id {token.id}): its text is how the bytes of token "
                f"{spelled[token.content]} are spelled there"
            )
    merges = spell_merges(spec.merges)
    comment_like = next((pair for pair in merges if pair.startswith(_VERSION_LINE)), None)
    if comment_like:
        raise ConversionRefused(
            f"{_NAMES[name][1]} cannot hold the merge {comment_like!r}: readers take that line for a comment"
        )
    lines = ["#version: 0.2", *merges, ""]
    vocab_file, merges_file = _NAMES[name]
    files = {vocab_file: json.dumps(spelled).encode(), merges_file: "\n".join(lines).encode()}
    return files | {FOLDER_SIDECAR: write_sidecar(spec, files, with_merges=False)}


def _format(name: str, description: str) -> Format:
    return Format(
        name=name,
        description=description,
        is_folder=True,
        self_contained=False,
        recognises=partial(_recognises, name=name),
        in_folder=_NAMES[name],
        read=partial(_read, name=name),
        write=partial(_write, name=name),
        as_run=lambda spec, *_: AsRun("this package, by the files' merges only", spec.replace(ignore_merges=False)),
    )


FORMATS = (
    _format("gpt2", "folder with GPT-2's encoder.json and vocab.bpe"),
    _format("vocab-merges", "folder with vocab.json and merges.txt, the same files under the names Hugging Face gave them"),
)
