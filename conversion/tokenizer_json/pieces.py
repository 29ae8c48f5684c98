"""tokenizer.json in the style of Llama 2: a SentencePiece model as a BPE of characters with byte_fallback.

What SentencePiece does to the text becomes steps of the normalizer; scores become an order of merges (see `piece_merges`).
Two traps, each of which changes ids: the Metaspace pre-tokenizer leaves the prefix out where the text begins with a space, so the
prefix is written as a Prepend normalizer, and Metaspace only for models that have its rule (`prefix_before_space=False`); and
added tokens cut the text, each stretch then getting a prefix of its own, so user-defined pieces are cut out by a Split instead.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from conversion.format import spec_of_pieces
from conversion.json_text import field, optional_field
from conversion.sentencepiece.piece_merges import Pair, PieceMerges, isolated_parts, merges_of, pieces_of_merges, user_defined
from conversion.verdict import Checks
from hf_bpe.errors import ConversionRefused, FormatError, some
from hf_bpe.pieces import SPACE_SYMBOL, PieceKind, SentencePieceRules, byte_of_piece
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["from_parts", "is_sentencepiece", "to_parts"]

Step = dict[str, Any]

# ---------------------------------------------------------------------------------------------------------------------
# Writing


def to_parts(spec: TokenizerSpec, checks: Checks) -> dict[str, Any]:
    """The normalizer, pre_tokenizer, decoder and model of a tokenizer.json that gives the same ids for every text, or comes near."""
    rules = _rules_of(spec)
    merges = merges_of(rules)
    obstacles = list(_obstacles(spec, rules, merges))
    for reason in obstacles:
        checks.lose(reason)
    if not obstacles:
        checks.hold("scores have an order of merges, and tokenizers has a step for everything that the model does to text")
    for reason in _decoded_otherwise(rules):
        checks.decodes_otherwise(reason)
    frozen = user_defined(rules)
    vocab = {piece.content: number for number, piece in enumerate(rules.pieces)}
    pairs = [[left, right] for left, right in merges.pairs if left in vocab and right in vocab]  # else refused, or lossy
    return {
        "normalizer": _sequence("normalizers", _normalizer_steps(rules)),
        "pre_tokenizer": _sequence("pretokenizers", [*_metaspace_steps(rules), *_split_steps(rules, merges)]),
        "decoder": {"type": "Sequence", "decoders": _decoder_steps(rules)},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": rules.pieces[rules.unk_id].content,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": rules.byte_fallback,
            "ignore_merges": bool(frozen),
            "vocab": vocab,
            "merges": pairs,
        },
    }


def _rules_of(spec: TokenizerSpec) -> SentencePieceRules:
    if spec.sentencepiece is None:
        raise TypeError("a byte-level spec has no SentencePiece rules")
    return spec.sentencepiece


def _obstacles(spec: TokenizerSpec, rules: SentencePieceRules, merges: PieceMerges) -> Iterator[str]:
    """What tokenizers cannot do as this model does, each with a text that shows it."""
    if merges.conflict:
        yield merges.conflict
    if rules.precompiled_charsmap:
        yield (
            f"the normaliser {rules.normalizer_name!r} replaces the longest prefix that its table holds, and the Precompiled "
            "normalizer of tokenizers goes by whole grapheme clusters: 'か' followed by U+FF9E is one letter for the first and "
            "two for the second"
        )
    if rules.denormalizer_charsmap:
        yield "decoded text is denormalised, and no decoder of tokenizers does that"
    if rules.prepend_scheme == "first" and rules.prefix_before_space and spec.added_tokens:
        token = spec.added_tokens[0].content
        yield (
            f"the prefix goes only before the first stretch of text, and no normalizer of tokenizers knows which that is: in "
            f"{f'a{token}b'!r} it would go before 'b' too; prepend_scheme 'always' and 'never' can be written, and "
            "prefix_before_space=False, as Metaspace"
        )
    yield from _odd_pieces(rules, merges)


def _decoded_otherwise(rules: SentencePieceRules) -> Iterator[str]:
    """What tokenizers gives back for ids where SentencePiece gives another text; `skip_special_tokens` leaves special tokens out."""
    shown, unknown = rules.unk_surface, rules.pieces[rules.unk_id].content
    if not rules.byte_fallback and shown != unknown:
        yield f"unknown characters come back as {unknown!r}, and from SentencePiece as {shown!r}"
    if rules.remove_extra_whitespaces:
        yield (
            f"where a text begins with {SPACE_SYMBOL!r}, SentencePiece drops it from every piece up to the first that holds more, and "
            f"tokenizers once at most: the ids of {SPACE_SYMBOL + 'a'!r} show it"
        )


def _odd_pieces(rules: SentencePieceRules, merges: PieceMerges) -> Iterator[str]:
    known = {piece.content for piece in rules.pieces if len(piece.content) == 1}
    made = {left + right for left, right in merges.pairs}
    unknown = rules.pieces[rules.unk_id].content
    if len(unknown) == 1:
        yield f"the unknown piece is the single character {unknown!r}, which tokenizers would find in text as any other piece"
    for content in sorted(made, key=len):
        lacking = sorted(set(content) - known)
        if lacking:
            yield (
                f"merging makes {content!r} though its character {lacking[0]!r} is no piece itself, and tokenizers merges pieces "
                f"only; the text {content!r} shows it"
            )
            break
    unused = [piece.content for piece in rules.pieces if piece.kind == "unused" and piece.content in made]
    if unused:
        yield f"{len(unused)} unused pieces come apart again after merging, which tokenizers cannot do: {some(list(map(repr, unused)))}"
    may_be_whole = user_defined(rules) and not rules.byte_fallback
    whole = [content for content, rest in _cut_up(rules, merges) if not rest and content != unknown] if may_be_whole else []
    if whole:
        yield (
            f"the user-defined pieces are cut out, and between two of them {whole[0]!r} would be found, which merging never makes: its "
            "characters are unknown, so it cannot be cut up"
        )
    spaced = [content for content in user_defined(rules) if " " in content and rules.remove_extra_whitespaces]
    if spaced:
        yield f"the user-defined piece {spaced[0]!r} keeps its spaces from being removed as extra, which no normalizer can say"


def _normalizer_steps(rules: SentencePieceRules) -> list[Step]:
    """What happens to a text before merging, in SentencePiece's order: extra spaces, prefix, U+2581, spaces at the end, suffix."""
    if not rules.prefix_before_space:
        return []  # Metaspace does it all
    space = SPACE_SYMBOL if rules.escape_whitespaces else " "
    steps = []
    if rules.precompiled_charsmap:
        charsmap = base64.b64encode(rules.precompiled_charsmap).decode()
        steps.append({"type": "Precompiled", "precompiled_charsmap": charsmap})
    if rules.remove_extra_whitespaces:
        steps += [_replace("Regex", r"\A +", ""), _replace("Regex", " {2,}", " ")]
    if rules.prepend_scheme != "never" and not rules.treat_whitespace_as_suffix:
        steps.append({"type": "Prepend", "prepend": space})
    if rules.escape_whitespaces:
        steps.append(_replace("String", " ", space))
    suffix = space if rules.prepend_scheme != "never" and rules.treat_whitespace_as_suffix else ""
    if suffix:
        steps.append(_replace("Regex", r"\z", suffix))
    if rules.remove_extra_whitespaces:  # after the suffix, which a text of nothing but U+2581 gets as well
        steps.append(_replace("Regex", rf"{space}+\z", suffix))
    return steps


def _metaspace_steps(rules: SentencePieceRules) -> list[Step]:
    if rules.prefix_before_space:
        return []
    return [{"type": "Metaspace", "replacement": SPACE_SYMBOL, "prepend_scheme": rules.prepend_scheme, "split": False}]


def _split_steps(rules: SentencePieceRules, merges: PieceMerges) -> list[Step]:
    """Cuts out user-defined pieces. Being whole pieces of text they are then looked up as such (`ignore_merges`).

    That would also find what merging never makes, `<0x41>` between two user-defined pieces; so such a text is cut once more,
    behind the first of the parts that it is merged into that is no unknown character: cut between two of those, it would have two
    unknown pieces instead of one.
    """
    frozen = user_defined(rules)
    if not frozen:
        return []
    steps = [_split("|".join(map(_escape, frozen)))]
    cuts = [f"{_escape(first)}(?={_escape(rest)}\\z)" for first, rest in _cut_up(rules, merges) if rest]
    return [*steps, _split(rf"\A(?:{'|'.join(cuts)})")] if cuts else steps


def _cut_up(rules: SentencePieceRules, merges: PieceMerges) -> Iterator[tuple[str, str]]:
    """What merging never makes, cut where that changes nothing; the second half is empty if there is no such place."""
    known = {piece.content for piece in rules.pieces}
    never_made = [p.content for p in rules.pieces if len(p.content) > 1 and p.kind in ("control", "unknown", "byte")]
    never_made += sorted(merges.unreachable)
    for parts in isolated_parts(never_made, rules):
        borders: Sequence[int] = range(1, len(parts))
        if not rules.byte_fallback:
            borders = [at for at in borders if parts[at - 1] in known or parts[at] in known]
        at = next(iter(borders), len(parts))
        yield "".join(parts[:at]), "".join(parts[at:])


def _decoder_steps(rules: SentencePieceRules) -> list[Step]:
    """As SentencePiece decodes: what the prefix is dropped for is U+2581 at the start, even where the prefix is a plain space or
    stands behind the text, and stays then.
    """
    spaces = _replace("String", SPACE_SYMBOL, " ")
    join: list[Step] = [*([{"type": "ByteFallback"}] if rules.byte_fallback else []), {"type": "Fuse"}]
    if rules.prepend_scheme == "never":
        return [spaces, *join]
    if rules.escape_whitespaces:
        return [spaces, *join, _strip(" ")]
    return [*join, _strip(SPACE_SYMBOL), spaces]


def _strip(content: str) -> Step:
    return {"type": "Strip", "content": content, "start": 1, "stop": 0}


def _replace(kind: str, pattern: str, content: str) -> Step:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def _split(regex: str) -> Step:
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def _sequence(name: str, steps: Sequence[Step]) -> Step | None:
    if len(steps) > 1:
        return {"type": "Sequence", name: list(steps)}
    return steps[0] if steps else None


_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}]")


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda match: "\\" + match.group(), text)


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def is_sentencepiece(data: Mapping[str, Any]) -> bool:
    """Whether a tokenizer.json is of this style: no byte alphabet, but byte_fallback or U+2581 for a space."""
    shown = json.dumps([data.get(part) for part in ("normalizer", "pre_tokenizer", "decoder")], ensure_ascii=False)
    model = data["model"]
    return '"ByteLevel"' not in shown and (bool(model.get("byte_fallback")) or SPACE_SYMBOL in shown)


def from_parts(
    data: Mapping[str, Any],
    vocab: Mapping[str, int],
    merges: Sequence[Pair],
    added: Sequence[AddedToken],
    where: str,
    provenance: Mapping[str, str],
) -> TokenizerSpec:
    """The SentencePiece model that a tokenizer.json of this style describes, its vocabulary and added tokens read already.

    Raises `ConversionRefused` for what gives a text other ids than any SentencePiece model.
    """
    model = data["model"]
    contents = _contents(vocab, added, where)
    normalisation = _read_normalizer(data.get("normalizer"), f"{where}: $.normalizer")
    _refuse_normalised(added, normalisation, f"{where}: $.added_tokens")
    splits = _flat(data.get("pre_tokenizer"), "pretokenizers", f"{where}: $.pre_tokenizer")
    if splits and splits[0].get("type") == "Metaspace":
        normalisation = _with_metaspace(splits.pop(0), normalisation, merges, f"{where}: $.pre_tokenizer")
    frozen = _read_user_defined(splits)
    reserved: dict[str, PieceKind] = {token.content: "control" for token in added}
    reserved.update(dict.fromkeys(frozen, "user_defined"))
    reserved.update(_fallback_kinds(model, contents, where))
    pieces = pieces_of_merges(contents, merges, reserved, f"{where}: $.model.merges")
    control = {piece.content: number for number, piece in enumerate(pieces) if piece.kind == "control"}
    rules = replace(
        normalisation,
        pieces=pieces,
        byte_fallback=bool(model.get("byte_fallback")),
        bos_id=control.get("<s>"),
        eos_id=control.get("</s>"),
        pad_id=control.get("<pad>"),
    )
    spec = spec_of_pieces(where, rules, added_tokens=added, provenance=provenance)
    _check_splits(splits, bool(model.get("ignore_merges")), rules, where)
    _check_decoder(data.get("decoder"), rules, f"{where}: $.decoder")
    return spec


def _contents(vocab: Mapping[str, int], added: Sequence[AddedToken], where: str) -> list[str]:
    """The vocabulary in the order of ids, without what is an added token behind a gap."""
    content_of = {token_id: content for content, token_id in vocab.items()}
    count = next(number for number in range(len(content_of) + 1) if number not in content_of)
    behind = content_of.keys() - range(count) - {token.id for token in added}
    if behind:
        first = min(behind)
        raise ConversionRefused(
            f"{where}: $.model.vocab has no id {count}, but {content_of[first]!r} has id {first}: the pieces of a SentencePiece model "
            "are numbered without gaps; add placeholder tokens for the ids between"
        )
    return [content_of[number] for number in range(count)]


def _fallback_kinds(model: Mapping[str, Any], contents: Sequence[str], where: str) -> dict[str, PieceKind]:
    """The unknown piece and the byte pieces, which tokenizers knows by name."""
    unknown = model.get("unk_token")
    in_bytes = bool(model.get("byte_fallback"))
    kinds: dict[str, PieceKind] = {}
    if in_bytes:
        kinds = {content: "byte" for content in contents if byte_of_piece(content) is not None}
        if len(kinds) < 256:
            raise ConversionRefused(
                f"{where}: $.model.byte_fallback is on, but {256 - len(kinds)} of the 256 byte tokens are not in the vocabulary, so "
                "some characters would become the unknown token; SentencePiece wants all of them"
            )
    elif not unknown or not model.get("fuse_unk"):
        what = "$.model.unk_token is null, so unknown characters are lost" if not unknown else "$.model.fuse_unk is off"
        raise ConversionRefused(f"{where}: {what}; SentencePiece makes one unknown piece of each run of unknown characters")
    if unknown is None:
        unknown = "<unk>"  # never used, but there has to be one
    if unknown not in contents:
        raise ConversionRefused(f"{where}: the unknown token {unknown!r} is not in the vocabulary, and SentencePiece needs one")
    if len(unknown) == 1:
        raise ConversionRefused(
            f"{where}: the unknown token is the single character {unknown!r}, which is then also found in text"
        )
    return kinds | {unknown: "unknown"}


def _flat(part: object, name: str, where: str) -> list[Step]:
    """The steps of a part, sequences inside sequences laid out flat."""
    if part is None:
        return []
    if not isinstance(part, dict):
        raise FormatError(f"{where} must be an object or null, not a {type(part).__name__}")
    if part.get("type") != "Sequence":
        return [part]
    return [step for inner in field(part, name, list, where) for step in _flat(inner, name, where)]


def _read_normalizer(part: object, where: str) -> SentencePieceRules:
    """Rules without pieces: those whose steps are these."""
    steps = _flat(part, "normalizers", where)
    kinds = [step.get("type") for step in steps]
    if "Precompiled" in kinds:
        raise ConversionRefused(
            f"{where} holds a Precompiled charsmap, which tokenizers applies to whole grapheme clusters and SentencePiece by longest "
            "prefix, so no SentencePiece model gives the same ids; load the tokenizer.model it was made from"
        )
    if kinds[:2] == ["Replace", "Prepend"]:  # in either order: the prefix holds no space
        steps[:2] = reversed(steps[:2])
    for trims, scheme, escapes, suffix in product((False, True), ("always", "never"), (True, False), (False, True)):
        rules = SentencePieceRules(
            (),
            prepend_scheme=scheme,  # type: ignore[arg-type]
            remove_extra_whitespaces=trims,
            escape_whitespaces=escapes,
            treat_whitespace_as_suffix=suffix,
        )
        if _normalizer_steps(rules) == steps:
            return rules
    raise ConversionRefused(
        f"{where} is {' + '.join(map(str, kinds)) or 'null'}, and no SentencePiece model does that to a text; Prepend and Replace with "
        f"{SPACE_SYMBOL!r} are read"
    )


def _refuse_normalised(added: Sequence[AddedToken], rules: SentencePieceRules, where: str) -> None:
    leaves_alone = rules.prepend_scheme == "never" and not rules.remove_extra_whitespaces
    for token in added:
        if token.normalized and (not leaves_alone or " " in token.content or SPACE_SYMBOL in token.content):
            raise ConversionRefused(
                f"{where}: {token.content!r} is normalized: it is looked for with the prefix before it, in text that has its prefix "
                'already, so not where it is written; set "normalized" to false'
            )


def _read_user_defined(splits: Sequence[Step]) -> list[str]:
    """What the first Split cuts out, if it is one of ours; `_check_splits` looks whether it is."""
    pattern = splits[0].get("pattern") if splits and splits[0].get("type") == "Split" else None
    regex = pattern.get("Regex") if isinstance(pattern, dict) else None
    if not isinstance(regex, str):
        return []
    return [re.sub(r"\\(.)", r"\1", part) for part in re.findall(r"(?:\\.|[^\\|])+", regex, re.DOTALL)]


def _with_metaspace(step: Step, rules: SentencePieceRules, merges: Sequence[Pair], where: str) -> SentencePieceRules:
    """What a Metaspace step does beside these rules. It adds its prefix only where the text does not begin with a space."""
    if step.get("replacement") != SPACE_SYMBOL:
        raise ConversionRefused(f"{where} holds Metaspace with {step.get('replacement')!r}; only {SPACE_SYMBOL!r} is read")
    crossing = next((pair for pair in merges if SPACE_SYMBOL in "".join(pair)[1:]), None)
    cuts, prefixes = (optional_field(step, name, bool, where) is not False for name in ("split", "add_prefix_space"))
    if cuts and crossing:
        raise ConversionRefused(
            f"{where} holds Metaspace: it cuts before every {SPACE_SYMBOL!r}, and {crossing[0]!r} + {crossing[1]!r} merge across; set "
            "split to false"
        )
    scheme = step.get("prepend_scheme", "always" if prefixes else "never")
    if scheme not in ("always", "first", "never"):
        raise FormatError(f"{where}: prepend_scheme must be 'always', 'first' or 'never', not {scheme!r}")
    rules = replace(rules, escape_whitespaces=True)
    if scheme == "never" or (rules.prepend_scheme == "always" and not rules.treat_whitespace_as_suffix):
        return rules  # the text begins with a prefix already
    if rules.remove_extra_whitespaces or rules.prepend_scheme != "never":
        raise ConversionRefused(
            f"{where} holds Metaspace with prepend_scheme {scheme!r} after a normalizer that also moves spaces, which is not read"
        )
    return replace(rules, prepend_scheme=scheme, prefix_before_space=False)


def _check_splits(splits: Sequence[Step], ignore_merges: bool, rules: SentencePieceRules, where: str) -> None:
    """Raise unless cutting and looking up leave ids as they are."""
    merges = merges_of(rules)
    if user_defined(rules) and ignore_merges and list(splits) == _split_steps(rules, merges):
        return
    for step in splits:
        reason = _why_split_matters(step, rules)
        if reason:
            raise ConversionRefused(f"{where}: $.pre_tokenizer holds {step.get('type')}: {reason}")
    if ignore_merges:
        made = {left + right for left, right in merges.pairs}
        for piece in rules.pieces:
            if len(piece.content) > 1 and piece.content not in made and _can_be_whole(piece.content, rules):
                raise ConversionRefused(
                    f"{where}: $.model.ignore_merges finds {piece.content!r} where it is the whole text, and merging does not make it; "
                    "set it to false"
                )


def _why_split_matters(step: Step, rules: SentencePieceRules) -> str | None:
    if step.get("type") == "Split" and step.get("pattern") == {"String": " "} and rules.escape_whitespaces:
        return None  # there is no space any more
    return "no SentencePiece model cuts text like that"


def _can_be_whole(content: str, rules: SentencePieceRules) -> bool:
    prefixed = rules.prepend_scheme == "always" and not rules.treat_whitespace_as_suffix and rules.escape_whitespaces
    return content.startswith(SPACE_SYMBOL) or not prefixed


def _check_decoder(part: object, rules: SentencePieceRules, where: str) -> None:
    steps = _flat(part, "decoders", where)
    known = _decoder_steps(rules)
    if known[-1] == {"type": "Fuse"} and steps == known[:-1]:
        return  # what is decoded is joined all the same
    metaspace = len(steps) == 1 and steps[0].get("type") == "Metaspace" and not rules.byte_fallback
    if steps != known and not metaspace:
        raise ConversionRefused(
            f"{where} is {' + '.join(str(step.get('type')) for step in steps) or 'null'}, which does not give the text back as "
            f"SentencePiece does; it has to be {' + '.join(step['type'] for step in known)}"
        )
