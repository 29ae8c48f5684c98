"""tokenizer.json, the file of the `tokenizers` library and of every Hugging Face model, as far as it is BPE.

Here is byte-level BPE; what is a SentencePiece model is handed on to `sentencepiece_json`. Such a file can describe far more. What gives a text other ids and has no place in a `TokenizerSpec`
(other normalizers, dropout, chains of unknown splits, ...) is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversion.equality import never_produced
from conversion.format import AsRun, Format, Given, make_spec, spec_of_table
from conversion.json_text import field, optional_field, read_json
from conversion.normalizers import read_normalizer, write_normalizer
from conversion.overlaps import two_passes
from conversion.printable import (
    misread_when_decoding,
    native_table,
    read_merges,
    read_vocab,
    spell_merges,
    spell_vocab,
    without_added_tokens,
)
from conversion.sidecar import parse_added_token
from conversion.tokenizer_json.pieces import from_parts, is_sentencepiece, to_parts
from conversion.tokenizer_json.post_processor import carried, remembered
from conversion.verdict import Checks
from hf_bpe.byte_level import bytes_to_token, token_to_bytes
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.patterns import NAMED_PATTERNS, find_named_pattern, pattern_for
from hf_bpe.spec import AddedToken, TokenizerSpec

if TYPE_CHECKING:
    from conversion.tokenizer_json.split_rules import SplitRule

__all__ = ["FORMAT", "from_dict", "pre_tokenizer_for", "to_dict"]


def _recognises(path: Path, head: bytes) -> bool:
    """A JSON object whose first value is no number (a bare vocabulary's is)."""
    opening, brace, rest = head.partition(b"{")
    _, _, value = rest.partition(b":")
    return bool(brace) and not opening.strip(b"\xef\xbb\xbf \t\r\n") and not value.lstrip()[:1].isdigit() and b'"' in rest


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _read(path: Path, given: Given) -> TokenizerSpec:
    given.refuse(str(path))
    return from_dict(read_json(path), str(path))


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
    added = _read_added_tokens(data.get("added_tokens"), raw_vocab, f"{where}: $.added_tokens")
    _refuse_second_names(added, raw_vocab, raw_merges, f"{where}: $.added_tokens")
    ignore_merges = bool(model.get("ignore_merges"))
    pattern, unmatched, stages = _read_split_rule(
        data.get("pre_tokenizer"),
        f"{where}: $.pre_tokenizer",
        lambda: raw_vocab.keys() - {token.content for token in added},
        ignore_merges,
    )
    rules: dict[str, Any] = {"pattern": pattern, "unmatched": unmatched, "stages": stages, "ignore_merges": ignore_merges}
    fields: dict[str, Any] = {
        **rules,
        "normalizer": read_normalizer(data.get("normalizer"), f"{where}: $.normalizer"),
        "add_prefix_space": _adds_prefix_space(data.get("pre_tokenizer"), f"{where}: $.pre_tokenizer"),
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
    for name, kind in _TYPES.items():
        optional_field(dict(data), name, kind, f"{where}: $")
    for name, kind in _MODEL_TYPES.items():
        optional_field(model, name, kind, f"{where}: $.model")


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
    added = _read_added_tokens(data.get("added_tokens"), vocab, f"{where}: $.added_tokens")
    _refuse_overlaps(added, f"{where}: $.added_tokens")
    return from_parts(data, vocab, pairs, added, where, _provenance(data, where))


def _provenance(data: Mapping[str, Any], where: str) -> dict[str, str]:
    return {"format": FORMAT.name, "file": Path(where).name} | remembered(data.get("post_processor")) | _not_carried(data)


def _refuse_unknown_parts(data: Mapping[str, Any], model: Mapping[str, Any], where: str) -> None:
    """Raise `ConversionRefused` naming the first part that changes ids and has no place in a spec."""
    kind = model.get("type") or "BPE"  # files of the first versions have no type
    if kind != "BPE":
        raise ConversionRefused(f"{where}: $.model.type is {kind!r}; only byte-level BPE is read")
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
    if _kind(decoder) != "ByteLevel":
        yield (
            f"$.decoder is {_kind(decoder)}",
            "a byte-level tokenizer needs the ByteLevel decoder, or it does not give the text back",
        )


def _kind(part: object) -> str:
    return str(part.get("type", "an object without a type")) if isinstance(part, dict) else json.dumps(part)[:60]


def _not_carried(data: Mapping[str, Any]) -> dict[str, str]:
    parts = [part for part in ("truncation", "padding") if _kind(data.get(part)) != "null"]
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


def _read_added_tokens(raw: object, spelled: Mapping[str, int], where: str) -> tuple[AddedToken, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise FormatError(f"{where} must be a list, not a {type(raw).__name__}")
    added = tuple(parse_added_token(entry, f"{where}[{number}]") for number, entry in enumerate(raw))
    for token, assigned in zip(added, _assigned_ids(added, spelled), strict=True):
        if token.id != assigned:
            raise FormatError(
                f"{where}: {token.content!r} has id {token.id} here, but `tokenizers` gives it {assigned} when it loads the file; "
                "put the token into $.model.vocab with the id it shall have"
            )
    return added


def _assigned_ids(added: Sequence[AddedToken], spelled: Mapping[str, int]) -> list[int]:
    """The ids that `tokenizers` gives added tokens on loading: the one in the vocabulary, else the next after its length.

    The ids that stand in the file beside them are not looked at.
    """
    following = iter(range(len(spelled), len(spelled) + len(added)))
    return [spelled[token.content] if token.content in spelled else next(following) for token in added]


def _refuse_second_names(
    added: Sequence[AddedToken], spelled: Mapping[str, int], merges: Sequence[str | list[str]], where: str
) -> None:
    """Raise `ConversionRefused` where an added token and an ordinary one share a text with two ids, or an id with two texts.

    `tokenizers` makes such files: it looks a new token up as it is spelled in the vocabulary, where a line feed is 'Ċ'.
    """
    for token in added:
        spelling = bytes_to_token(token.content.encode("utf-8", "surrogatepass"))
        if spelling == token.content:
            continue
        if spelled.get(spelling, token.id) != token.id:
            raise ConversionRefused(
                f"{where}: {token.content!r} has id {token.id}, and the ordinary token {spelling!r}, which is the same text, has id "
                f"{spelled[spelling]}; a text with two ids is not run here"
            )
        if token.content in spelled and _is_ordinary(token.content, merges):
            raise ConversionRefused(
                f"{where}: {token.content!r} has id {token.id}, and so has the ordinary token that is spelled like it, which is "
                f"{token_to_bytes(token.content)!r}; an id with two texts is not run here"
            )


def _is_ordinary(spelling: str, merges: Sequence[str | list[str]]) -> bool:
    """Whether it spells bytes that are one, or that merges make one."""
    try:
        is_byte = len(token_to_bytes(spelling)) == 1
    except ValueError:
        return False
    return is_byte or any("".join(pair).replace(" ", "") == spelling for pair in merges)


def _refuse_overlaps(added: Sequence[AddedToken], where: str) -> None:
    """`tokenizers` looks for all not-`normalized` tokens first, then for the others: not the same as one look where they overlap.

    Byte-level engines do that too; those of SentencePiece models look once.
    """
    found = two_passes(added)
    if found is not None:
        raise ConversionRefused(
            f"{where}: {found[0]!r} (normalized: false) and {found[1]!r} (normalized: true) can overlap, and which of the two wins "
            "follows no one rule; give both the same value"
        )


# ---------------------------------------------------------------------------------------------------------------------
# Reading the pre-tokenizer


def _read_split_rule(data: object, where: str, tokens: Callable[[], Iterable[str]], ignore_merges: bool) -> SplitRule:
    splits, byte_level, behind = _around_byte_level(data, where)
    use_regex = byte_level.get("use_regex", True)
    if not splits and not behind:
        return (NAMED_PATTERNS["gpt2"].pattern if use_regex else None), "keep", ()
    from conversion.tokenizer_json import split_rules
    from conversion.tokenizer_json.behind_byte_level import read_step_behind
    from conversion.tokenizer_json.pre_tokenizers import Split, read_step
    from hf_bpe.pattern_syntax import parse

    gpt2 = [Split(parse(str(NAMED_PATTERNS["gpt2"].pattern)))] if use_regex else []
    seeing_bytes = [read_step_behind(split, where, tokens(), ignore_merges) for split in behind]
    return split_rules.read_stages([*(read_step(split, where) for split in splits), *gpt2, *seeing_bytes], where)


def _around_byte_level(data: object, where: str) -> tuple[list[dict[str, Any]], dict[str, Any], list[dict[str, Any]]]:
    """The steps before ByteLevel, itself, and those behind it."""
    steps = _steps(data, where)
    places = [place for place, step in enumerate(steps) if step.get("type") == "ByteLevel"]
    if not places:
        raise ConversionRefused(f"{where} ends with {_kind(steps[-1])}; a byte-level tokenizer has a ByteLevel step")
    if len(places) > 1:
        raise ConversionRefused(
            f"{where} holds ByteLevel twice, which spells bytes of what is spelled already; remove one of them"
        )
    [place] = places
    byte_level = steps[place]
    field(byte_level, "add_prefix_space", bool, where)
    if "use_regex" in byte_level:
        field(byte_level, "use_regex", bool, where)
    return steps[:place], byte_level, steps[place + 1 :]


def _steps(data: object, where: str) -> list[dict[str, Any]]:
    """The pre-tokenizers in order, sequences inside sequences laid out flat; at least one."""
    if not isinstance(data, dict):
        raise ConversionRefused(f"{where} is {_kind(data)}; without a ByteLevel step this is not a byte-level tokenizer")
    if data.get("type") != "Sequence":
        return [data]
    steps = [step for part in field(data, "pretokenizers", list, where) for step in _steps(part, where)]
    if not steps:
        raise ConversionRefused(f"{where} is an empty Sequence; without a ByteLevel step this is not a byte-level tokenizer")
    return steps


def _adds_prefix_space(data: object, where: str) -> bool:
    splits, byte_level, _ = _around_byte_level(data, where)
    if byte_level["add_prefix_space"] and splits:
        raise ConversionRefused(
            f"{where}: a ByteLevel with add_prefix_space after another step puts a space before every piece, not before the text; set it "
            "to false"
        )
    return bool(byte_level["add_prefix_space"])


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def _write(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    return {name: json.dumps(_document(spec, checks), ensure_ascii=False, separators=(",", ":")).encode()}


def _as_run(_: TokenizerSpec, files: Mapping[str, bytes], name: str) -> AsRun:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_str(files[name].decode())

    def encode(texts: Sequence[str], as_special: bool) -> list[list[int]]:
        tokenizer.encode_special_tokens = not as_special
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    return AsRun(f"tokenizers {tokenizers.__version__}", encode)


def to_dict(spec: TokenizerSpec, *, allow_lossy: bool = False) -> dict[str, Any]:
    """The content of a tokenizer.json that gives the same ids, in `tokenizers`, for every text.

    Raises `ConversionRefused` where there is none; with `allow_lossy` only where there is none that comes near.
    """
    checks = Checks()
    document = _document(spec, checks)
    if not allow_lossy:
        checks.refuse_losses(FORMAT.name)
    return document


def _document(spec: TokenizerSpec, checks: Checks) -> dict[str, Any]:
    added = sorted(spec.added_tokens, key=lambda token: token.id)
    head = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_write_added_token(token) for token in added],
        "post_processor": carried(spec),
    }
    if spec.dialect == "sentencepiece":
        parts = to_parts(spec, checks)
        _refuse_renumbered(added, parts["model"]["vocab"])
        return head | parts
    return {
        **head,
        "normalizer": write_normalizer(spec.normalizer),
        "pre_tokenizer": pre_tokenizer_for(spec),
        "decoder": _byte_level(use_regex=True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": spec.ignore_merges,
            "vocab": _write_vocab(spec, added, checks),
            "merges": spell_merges(spec.merges),
        },
    }


def _refuse_renumbered(added: Sequence[AddedToken], vocab: Mapping[str, int]) -> None:
    for token, assigned in zip(added, _assigned_ids(added, vocab), strict=True):
        if token.id != assigned:
            raise ConversionRefused(
                f"tokenizer.json cannot give the added token {token.content!r} its id {token.id}: `tokenizers` numbers added tokens from "
                f"the end of the vocabulary on, so it would be {assigned}; renumber the added tokens without gaps"
            )


def _write_added_token(token: AddedToken) -> dict[str, Any]:
    return {
        "id": token.id,
        "content": token.content,
        "single_word": token.single_word,
        "lstrip": token.lstrip,
        "rstrip": token.rstrip,
        "normalized": token.normalized,
        "special": token.special,
    }


def _write_vocab(spec: TokenizerSpec, added: Sequence[AddedToken], checks: Checks) -> dict[str, int]:
    """The spelled vocabulary, with the added tokens in it if they would not get their own ids otherwise."""
    spelled = spell_vocab(spec)
    for token in added:
        if spelled.get(token.content, token.id) != token.id:
            raise ConversionRefused(
                f"tokenizer.json cannot hold the added token {token.content!r} (id {token.id}): its text is how the bytes of token "
                f"{spelled[token.content]} are spelled there"
            )
    misread = next((token.content for token in added if misread_when_decoding(token)), None)
    spelling = (
        f"it encodes to the added token {misread!r} and decodes it to other bytes, as its text is also a spelling of bytes"
    )
    checks.expect("decoding gives the text of every added token", spelling if misread is not None else None)
    checks.hold("the pre-tokenizer splits every text as the pattern does")
    if [token.id for token in added] == _assigned_ids(added, spelled):
        return spelled
    conflict = _piece_conflict(spec, [token for token in added if token.content not in spelled])
    checks.expect("no added token is found in plain text because it stands in the vocabulary", conflict)
    return spelled | {token.content: token.id for token in added}


def _piece_conflict(spec: TokenizerSpec, new_entries: Sequence[AddedToken]) -> str | None:
    """In the vocabulary a token is also found as a whole piece where `ignore_merges` is on: wrong if it can be a piece."""
    readable = {}
    for token in new_entries:
        try:
            readable[token_to_bytes(token.content)] = token
        except ValueError:
            continue  # not in the byte alphabet, so no piece is spelled like that
    idle = never_produced(readable, (), spec.ignore_merges, spec.pattern, spec.unmatched, spec.stages)
    for entry, token in readable.items():
        if entry not in idle:
            return (
                f"it gives the added token {token.content!r} its id {token.id} only inside the vocabulary, where ignore_merges also "
                "finds it in plain text, as a whole piece; renumber the added tokens without gaps after the vocabulary"
            )
    return None


def pre_tokenizer_for(spec: TokenizerSpec) -> dict[str, Any]:
    """The `pre_tokenizer` part: the spec's pattern and byte alphabet."""
    if spec.pattern is None:
        return _byte_level(use_regex=False, add_prefix_space=spec.add_prefix_space)
    named = find_named_pattern(spec.pattern)
    if named is not None and named.name == "gpt2" and not spec.stages:
        return _byte_level(use_regex=True, add_prefix_space=spec.add_prefix_space)
    if spec.add_prefix_space:
        raise ConversionRefused(
            "tokenizer.json can put a space before a text (add_prefix_space) only with the pattern of GPT-2 or with none: behind another "
            "Split it would stand before every piece"
        )
    first = _splits(spec.pattern, "keep" if named else spec.unmatched)
    return _sequence([*first, *(split for stage in spec.stages for split in _splits(stage, "keep"))])


def _splits(pattern: str, unmatched: str) -> list[dict[str, Any]]:
    """A pattern as a Split, or as the several that it was published as."""
    from conversion.tokenizer_json import split_rules

    named = find_named_pattern(pattern)
    if named is not None and named.stages:
        return [_split(stage, "keep") for stage in named.stages]
    if named is not None and named.pattern is not None and split_rules.means_the_same(named.pattern):
        return [_split(named.pattern, "keep")]
    return [_split(pattern_for(pattern, "oniguruma"), unmatched)]


def _sequence(splits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": [*splits, _byte_level(use_regex=False)]}


def _split(pattern: str, unmatched: str) -> dict[str, Any]:
    behavior, invert = ("Isolated", False) if unmatched == "keep" else ("Removed", True)
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def _byte_level(*, use_regex: bool, add_prefix_space: bool = False) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": use_regex}


FORMAT = Format(
    name="tokenizer.json",
    description="the file of the tokenizers library: byte-level BPE or a SentencePiece BPE model",
    is_folder=False,
    self_contained=True,
    recognises=_recognises,
    in_folder=("*tokenizer.json",),
    read=_read,
    write=_write,
    as_run=_as_run,
)
