"""GPT-2's pair of files, under either of its names: encoder.json + vocab.bpe, vocab.json + merges.txt.

    vocab.json    {"!": 0, "\"": 1, ..., "<|endoftext|>": 50256}
    merges.txt    #version: 0.2
                  Ġ t
                  Ġ a

The files say nothing of the pattern: GPT-2's is what the format means, unless a sidecar (see `sidecar`) or the caller says
otherwise. Nor do they say which entries are special tokens: without a sidecar, `<|endoftext|>` is where no merge makes it;
every other entry that no merge makes stays an ordinary token that encoding never gives, which is how these files are run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

from conversion.equality import never_produced
from conversion.format import Format, Given, make_spec
from conversion.json_text import parse_json
from conversion.merges import out_of_reach
from conversion.printable import Pair, read_merges, read_vocab, spell_merges, spell_vocab, without_added_tokens
from conversion.sidecar import FOLDER_SIDECAR, Sidecar, read_sidecar, write_sidecar
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import read_text
from hf_bpe.patterns import NAMED_PATTERNS
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["FORMATS", "find_pair"]

_NAMES = {"gpt2": ("encoder.json", "vocab.bpe"), "vocab-merges": ("vocab.json", "merges.txt")}
_END_OF_TEXT = "<|endoftext|>"
_VERSION_LINE = "#version"


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
    merges = _read_merges(texts[merges_file.name], spelled, str(merges_file))
    added = _added_tokens(given, sidecar, spelled, merges)
    pattern, unmatched = _split_rule(given, sidecar)
    ignore_merges = sidecar.ignore_merges if sidecar else False
    is_idle: Callable[[set[bytes]], set[bytes]] = partial(
        never_produced, merges=merges, ignore_merges=ignore_merges, pattern=pattern, unmatched=unmatched
    )
    if sidecar and given.special_tokens is None:
        is_idle = sidecar.only_added
    return make_spec(
        str(vocab_file),
        vocab=without_added_tokens(spelled, added, is_idle, f"{vocab_file}: $"),
        merges=merges,
        pattern=pattern,
        unmatched=unmatched,
        added_tokens=added,
        ignore_merges=ignore_merges,
        **(sidecar.normalisation if sidecar else {}),
        provenance={"format": name, "file": vocab_file.name},
    )


def _split_rule(given: Given, sidecar: Sidecar | None) -> tuple[str | None, Literal["keep", "drop"]]:
    if given.pattern is not ...:
        return given.resolved_pattern(), "keep"
    if sidecar is not None:
        return sidecar.pattern, sidecar.unmatched
    return NAMED_PATTERNS["gpt2"].pattern, "keep"


def _added_tokens(
    given: Given, sidecar: Sidecar | None, spelled: dict[str, int], merges: tuple[Pair, ...]
) -> tuple[AddedToken, ...]:
    if given.special_tokens is not None:
        return given.added_tokens()
    if sidecar is not None:
        return sidecar.added_tokens
    made = _END_OF_TEXT.encode() in {left + right for left, right in merges}
    return (AddedToken(_END_OF_TEXT, spelled[_END_OF_TEXT]),) if _END_OF_TEXT in spelled and not made else ()


def _read_merges(text: str, spelled: dict[str, int], where: str) -> tuple[Pair, ...]:
    first, *lines = text.replace("\r\n", "\n").split("\n")
    if not first.startswith(_VERSION_LINE):
        raise FormatError(
            f"{where}, line 1: expected '#version: 0.2', found {first[:60]!r}; some readers skip the first line and others do not, "
            "so put that line before the first pair"
        )
    if lines and not lines[-1]:
        lines.pop()
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


def _write(spec: TokenizerSpec, _: str, allow_lossy: bool, *, name: str) -> dict[str, bytes]:
    if spec.ignore_merges and not allow_lossy:
        _refuse_unreachable(spec, _NAMES[name])
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


def _refuse_unreachable(spec: TokenizerSpec, names: tuple[str, str]) -> None:
    lost = out_of_reach(spec.vocab, spec.merges)
    if lost:
        raise ConversionRefused(
            f"{' and '.join(names)} cannot hold this tokenizer exactly: {len(lost)} tokens are found only by looking up a whole "
            f"piece (ignore_merges), which the files cannot say; the first is {lost[0]!r} (id {spec.vocab[lost[0]]}). "
            "allow_lossy=True writes the files all the same: other readers will then give other ids for some text, while "
            "loading them here, with their sidecar, gives this tokenizer back"
        )


def _format(name: str, description: str) -> Format:
    return Format(
        name=name,
        description=description,
        is_folder=True,
        self_contained=False,
        recognises=partial(_recognises, name=name),
        read=partial(_read, name=name),
        write=partial(_write, name=name),
    )


FORMATS = (
    _format("gpt2", "folder with GPT-2's encoder.json and vocab.bpe"),
    _format("vocab-merges", "folder with vocab.json and merges.txt, the same files under the names Hugging Face gave them"),
)
