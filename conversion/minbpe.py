r"""The `.model` files of minbpe.

    minbpe v1
    '(?i:[sdmt]|ll|ve|re)|...        the pattern, on one line; an empty line: the whole text is one piece (its BasicTokenizer)
    1                                how many special tokens, each on a line with its id
    <|endoftext|> 100257
    32 116                           the merges: pairs of ids, the first making id 256, the next 257, ...
    32 97

Ids 0 to 255 are the bytes in order. minbpe finds the pieces with `re.findall` of the `regex` module: text between matches is
lost, and where the pattern captures groups it gets the groups. `\p{...}` there means the Unicode of that module's version, and
Unicode 16 here: text of characters that are newer than that may be split differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from conversion.callers import leave_to_callers
from conversion.equality import covers_every_text, usable_vocab
from conversion.format import AsRun, Format, Given, make_spec
from conversion.merges import check_lookup
from conversion.overlaps import texts_of_overlaps
from conversion.sidecar import as_sidecar_says, file_sidecar, read_sidecar, with_sidecar_where_needed
from conversion.tiktoken.rank_tables import flag_conflict, special_conflict
from conversion.verdict import Checks
from hf_bpe.errors import ConversionRefused, FormatError, PatternError
from hf_bpe.files import read_bytes, text_of
from hf_bpe.pattern_syntax import parse, render
from hf_bpe.patterns import check_pattern, find_named_pattern
from hf_bpe.spec import MAX_TOKEN_ID, AddedToken, TokenizerSpec

__all__ = ["FORMAT", "model_file", "read_pattern", "written_pattern"]

_VERSION = "minbpe v1"
_BYTES = [bytes([byte]) for byte in range(256)]


def _recognises(path: Path, head: bytes) -> bool:
    return head.split(b"\n")[0].strip() == _VERSION.encode()


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _read(path: Path, given: Given) -> TokenizerSpec:
    given.refuse(str(path))
    content = read_bytes(path)
    sidecar = read_sidecar(path.with_name(file_sidecar(path.name)), {path.name: content})
    return as_sidecar_says(_parse(content, path.name, str(path)), sidecar, str(path))


def _parse(content: bytes, name: str, where: str) -> TokenizerSpec:
    lines = text_of(content, where).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].strip() != _VERSION:
        raise FormatError(f"{where}, line 1: expected {_VERSION!r}, found {lines[0][:60]!r}; it is the wrong file")
    if len(lines) < 3:
        raise FormatError(f"{where}, line {len(lines) + 1}: the file ends before the number of special tokens; it is truncated")
    if lines[-1]:
        raise FormatError(f"{where}, line {len(lines)}: does not end with a line break; the file is truncated")
    pattern = read_pattern(lines[1].strip(), f"{where}, line 2")
    count = _number(lines[2].strip(), f"{where}, line 3")
    if count > len(lines) - 4:
        raise FormatError(f"{where}, line 3: {count} special tokens, and {len(lines) - 4} lines follow; the file is truncated")
    added = [_read_special(line, f"{where}, line {number}") for number, line in enumerate(lines[3 : 3 + count], 4)]
    _refuse_order(added, where)
    vocab, merges = _read_merges(lines[3 + count : -1], 4 + count, where)
    return make_spec(
        where,
        vocab=vocab,
        merges=merges,
        pattern=pattern,
        unmatched="keep" if covers_every_text(pattern) else "drop",
        added_tokens=added,
        provenance={"format": FORMAT.name, "file": name},
    )


def read_pattern(text: str, where: str) -> str | None:
    """A pattern as minbpe means it, of which the empty one is none. Raises `ConversionRefused` for one that is not run here.

    >>> read_pattern("", "here") is None
    True
    """
    if not text:
        return None
    try:
        parse(text, "regex")
        check_pattern(text)
        captures = _captures_groups(text)
    except PatternError as error:
        raise ConversionRefused(f"{where}: {error}") from None
    if captures:
        raise ConversionRefused(
            f"{where}: the pattern {text!r} captures groups, and minbpe then takes the groups for the pieces; write (?:...) for (...)"
        )
    named = find_named_pattern(text)
    return named.pattern if named else text


def _captures_groups(pattern: str) -> bool:
    import regex  # reading most files does not need it

    try:
        return bool(regex.compile(pattern).groups)
    except regex.error as error:
        raise PatternError(f"the regex module, which minbpe uses, does not take {pattern!r}: {error}") from None


def _read_special(line: str, where: str) -> AddedToken:
    fields = line.split()
    if len(fields) != 2:
        raise FormatError(f"{where}: expected a special token and its id, found {line[:60]!r}; the file is damaged")
    return AddedToken(fields[0], _number(fields[1], where))


def _number(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MAX_TOKEN_ID)) and int(text) <= MAX_TOKEN_ID):
        raise FormatError(f"{where}: expected a number in 0..{MAX_TOKEN_ID}, found {text[:60]!r}; the file is damaged")
    return int(text)


def _refuse_order(added: list[AddedToken], where: str) -> None:
    """The first that fits, in the order of the file, is what minbpe takes; the rule here is the longest."""
    for number, later in enumerate(added):
        for earlier in added[:number]:
            if later.content.startswith(earlier.content) and later.content != earlier.content:
                raise ConversionRefused(
                    f"{where}, line {number + 4}: {later.content!r} begins with {earlier.content!r}, which stands before it, so minbpe "
                    "never finds it; here the longest is found. Put the longer one first"
                )


def _read_merges(lines: list[str], first_line: int, where: str) -> tuple[dict[bytes, int], tuple[tuple[bytes, bytes], ...]]:
    tokens = list(_BYTES)
    vocab = {token: number for number, token in enumerate(tokens)}
    merges: list[tuple[bytes, bytes]] = []
    for number, line in enumerate(lines, first_line):
        place = f"{where}, line {number}"
        fields = line.split()
        if len(fields) != 2:
            raise FormatError(f"{place}: expected a pair of ids, found {line[:60]!r}; the file is damaged")
        left, right = (_number(text, place) for text in fields)
        if max(left, right) >= len(tokens):
            raise FormatError(
                f"{place}: id {max(left, right)} is not made by any line before; the file is damaged or lines are missing"
            )
        pair = tokens[left], tokens[right]
        made = b"".join(pair)
        if made in vocab:
            raise ConversionRefused(
                f"{place}: {pair[0]!r} + {pair[1]!r} makes {made!r}, which id {vocab[made]} is already: two ids for one token, which "
                "training never gives and no other format can hold"
            )
        vocab[made] = len(tokens)
        tokens.append(made)
        merges.append(pair)
    return vocab, tuple(merges)


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def _write(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    if not name.endswith(FORMAT.ending):
        raise FormatError(f"{name}: minbpe loads only files whose name ends in .model; give it such a name")
    _refuse_ids(spec)
    checks.hold("ids are numbered as the file numbers them, each token made of tokens before it")
    checks.expect(
        "added tokens are special tokens, found by their text",
        flag_conflict(spec.added_tokens),
        lambda: texts_of_overlaps(spec.added_tokens),
    )
    leave_to_callers(spec, checks)
    check_lookup(usable_vocab(spec), spec.merges, spec.ignore_merges, checks)
    if spec.pattern is not None:
        checks.suppose("texts hold no characters newer than Unicode 16, which the regex module that minbpe uses may know")
    id_of = spec.vocab
    content = model_file(written_pattern(spec), spec.added_tokens, ((id_of[left], id_of[right]) for left, right in spec.merges))
    return with_sidecar_where_needed(spec, name, content, _parse(content, name, name), checks)


def model_file(pattern: str, added: Sequence[AddedToken], merges: Iterable[tuple[int, int]]) -> bytes:
    """The content of a file, special tokens as they stand unless one begins another: minbpe takes the first that fits, so then
    longer ones stand first.

    >>> model_file("", [AddedToken("<s>", 257)], [(97, 97)])
    b'minbpe v1\\n\\n1\\n<s> 257\\n97 97\\n'
    """
    if special_conflict(added):
        added = sorted(added, key=lambda token: (-len(token.content), token.id))
    specials = [f"{_special(token)} {token.id}" for token in added]
    lines = [_VERSION, pattern, str(len(added)), *specials, *(f"{left} {right}" for left, right in merges), ""]
    return "\n".join(lines).encode()


def _refuse_ids(spec: TokenizerSpec) -> None:
    """The ids that the file can give: the bytes in order, then what each merge makes, in order."""
    vocab = usable_vocab(spec)
    for byte, token in enumerate(_BYTES):
        if vocab[token] != byte:
            raise ConversionRefused(
                f"a minbpe file gives byte 0x{byte:02X} the id {byte}, and here it has id {vocab[token]}; the ids cannot be kept. "
                "Renumber the tokenizer first"
            )
    for number, (left, right) in enumerate(spec.merges, 256):
        if vocab[left + right] != number:
            raise ConversionRefused(
                f"a minbpe file gives what its {number - 255}. merge makes the id {number}, and {left!r} + {right!r} makes id "
                f"{vocab[left + right]} here; the ids cannot be kept. Renumber the tokenizer first"
            )
        if max(vocab[left], vocab[right]) >= number:
            raise ConversionRefused(
                f"a minbpe file makes every token of tokens that it made before, and {left!r} + {right!r} makes id {number} of id "
                f"{max(vocab[left], vocab[right])} here; the ids cannot be kept. Renumber the tokenizer first"
            )
    made = {left + right for left, right in spec.merges}
    idle = next((token for token in vocab if len(token) > 1 and token not in made), None)
    if idle is not None:
        raise ConversionRefused(f"a minbpe file holds no token that no merge makes, such as {idle!r} (id {vocab[idle]}) here")


def written_pattern(spec: TokenizerSpec) -> str:
    """The pattern as one line that minbpe reads as it is meant, white space at its ends included.

    >>> written_pattern(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern=" ?a| ", unmatched="drop"))
    '(?: ?a| )'
    """
    pattern = spec.pattern
    if pattern is None:
        return ""
    if spec.unmatched == "keep" and not covers_every_text(pattern):
        pattern = rf"{pattern}|(?:(?!{pattern})[\s\S])+"  # what findall would lose
    if "\n" in pattern or "\r" in pattern or _captures_groups(pattern):
        pattern = render(parse(pattern, "regex"), "regex")
    return pattern if pattern == pattern.strip() else f"(?:{pattern})"  # white space at the ends is not read


def _special(token: AddedToken) -> str:
    if len(token.content.split()) != 1 or token.content.split()[0] != token.content:
        raise ConversionRefused(f"a minbpe file cannot hold the special token {token.content!r}: its name holds white space")
    return token.content


FORMAT = Format(
    name="minbpe",
    description="minbpe .model file",
    is_folder=False,
    self_contained=True,
    recognises=_recognises,
    read=_read,
    write=_write,
    ending=".model",
    as_run=lambda _, files, name: AsRun("this package, by the file's merges as minbpe does", _parse(files[name], name, name)),
)
