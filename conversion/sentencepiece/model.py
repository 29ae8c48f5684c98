"""SentencePiece BPE models: `.model` files, and the `.vocab` files beside them.

A `.model` file is a protocol buffer message: the pieces (text, score, kind), what the normaliser does before merging, what
the denormaliser does after decoding, and the settings of the training, some of which decide how the model runs. Read are
those that do: kind of model, byte fallback, white space as suffix, the text of the unknown piece, and which pieces begin, end
and pad. Not kept are the other training settings, the rules in text form that the compiled ones were made of, and the self-test
samples: they change no id.

A `.vocab` file has a line for each piece, text TAB score. It says neither kinds nor normaliser, so it is written with the
`.model` file beside it, and not read without one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from conversion.format import AsRun, Format, Given, spec_of_pieces
from conversion.sentencepiece.protobuf import Field, fields, float_field, length_field, varint_field
from conversion.verdict import Checks
from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.files import read_bytes, read_text
from hf_bpe.pieces import Piece, PieceKind, SentencePieceRules
from hf_bpe.spec import AddedToken, TokenizerSpec

__all__ = ["FORMATS", "parse_model", "pieces_of", "reserved_tokens", "serialise_model"]

# Numbers of fields and values of enumerations, as SentencePiece's description of the format has them.
_PIECES, _TRAINER, _NORMALIZER, _DENORMALIZER = 1, 2, 3, 5
_CONTENT, _SCORE, _KIND = 1, 2, 3
_KIND_KEY = varint_field(_KIND, 0)[0]
_USUAL_KEYS = (length_field(_PIECES, b"")[0], length_field(_CONTENT, b"")[0], float_field(_SCORE, 0)[0], _KIND_KEY)
_FLOAT = struct.Struct("<f")
_KINDS: dict[int, PieceKind] = {1: "normal", 2: "unknown", 3: "control", 4: "user_defined", 5: "unused", 6: "byte"}
_MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
_BPE = 2
_TRAINER_FIELDS: dict[int, tuple[str, Callable[[Field], Any], Any]] = {
    3: ("model_type", Field.as_int32, 1),
    24: ("treat_whitespace_as_suffix", Field.as_bool, False),
    35: ("byte_fallback", Field.as_bool, False),
    44: ("unk_surface", Field.as_text, " \u2047 "),
    46: ("bos_piece", Field.as_text, "<s>"),
    47: ("eos_piece", Field.as_text, "</s>"),
    48: ("pad_piece", Field.as_text, "<pad>"),
}
_NORMALIZER_FIELDS: dict[int, tuple[str, Callable[[Field], Any], Any]] = {
    1: ("name", Field.as_text, ""),
    2: ("precompiled_charsmap", Field.as_bytes, b""),
    3: ("add_dummy_prefix", Field.as_bool, True),
    4: ("remove_extra_whitespaces", Field.as_bool, True),
    5: ("escape_whitespaces", Field.as_bool, True),
}
_SPACE_SETTINGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
_NAMED_ROLES = ("bos", "eos", "pad")


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def _recognises(path: Path, head: bytes) -> bool:
    """A first field that is a piece, which begins with its text."""
    return len(head) > 3 and head[0] == 0x0A and head[1] < 0x80 and head[2] == 0x0A and head[3] <= head[1]


def _read(path: Path, given: Given) -> TokenizerSpec:
    given.refuse(str(path))
    return parse_model(read_bytes(path), str(path), {"format": "sentencepiece", "file": path.name})


def parse_model(content: bytes, where: str, provenance: dict[str, str] | None = None) -> TokenizerSpec:
    """The tokenizer that a `.model` file holds. Control pieces and the unknown piece are special tokens of it.

    where: what the file is called in errors. Raises `FormatError`.
    """
    pieces, start = _usual_pieces(content)
    # A message that stands there twice means both, one after the other.
    messages = {_TRAINER: bytearray(), _NORMALIZER: bytearray(), _DENORMALIZER: bytearray()}
    for field in fields(content, where, start):
        if field.number == _PIECES:
            pieces.append(_parse_piece(field.as_bytes(), f"{where}: piece {len(pieces)}"))
        elif field.number in messages:
            messages[field.number] += field.as_bytes()
    if not pieces:
        raise FormatError(f"{where}: holds no pieces; the file is truncated, or it is the wrong file")
    if not messages[_TRAINER]:
        raise FormatError(f"{where}: holds no trainer_spec, which says what kind of model it is; the file is truncated")
    trainer = _settings(bytes(messages[_TRAINER]), _TRAINER_FIELDS, f"{where}: trainer_spec")
    normalizer = _settings(bytes(messages[_NORMALIZER]), _NORMALIZER_FIELDS, f"{where}: normalizer_spec")
    denormalizer = _settings(bytes(messages[_DENORMALIZER]), _NORMALIZER_FIELDS, f"{where}: denormalizer_spec")
    _refuse_other_models(trainer["model_type"], where)
    _refuse_spaces(denormalizer, where)
    rules = SentencePieceRules(
        pieces=tuple(pieces),
        byte_fallback=trainer["byte_fallback"],
        prepend_scheme="always" if normalizer["add_dummy_prefix"] else "never",
        remove_extra_whitespaces=normalizer["remove_extra_whitespaces"],
        escape_whitespaces=normalizer["escape_whitespaces"],
        treat_whitespace_as_suffix=trainer["treat_whitespace_as_suffix"],
        precompiled_charsmap=normalizer["precompiled_charsmap"],
        denormalizer_charsmap=denormalizer["precompiled_charsmap"],
        normalizer_name=normalizer["name"],
        unk_surface=trainer["unk_surface"],
        bos_id=_control_id(trainer["bos_piece"], pieces),
        eos_id=_control_id(trainer["eos_piece"], pieces),
        pad_id=_control_id(trainer["pad_piece"], pieces),
    )
    return spec_of_pieces(where, rules, added_tokens=reserved_tokens(rules), provenance=provenance)


def _parse_piece(message: bytes, where: str) -> Piece:
    content, score, kind = "", 0.0, 1
    for field in fields(message, where):
        if field.number == _CONTENT:
            content = field.as_text()
        elif field.number == _SCORE:
            score = field.as_float()
        elif field.number == _KIND:
            kind = field.as_int32()
    if not content:
        raise FormatError(f"{where} is empty; the file is damaged")
    if kind not in _KINDS:
        raise FormatError(f"{where}, {content!r}, is of kind {kind}, and the kinds are 1 to {len(_KINDS)}; the file is damaged")
    return Piece(content, score, _KINDS[kind])


def _usual_pieces(content: bytes) -> tuple[list[Piece], int]:
    """The pieces at the beginning that are written as all writers do, and where the next field stands.

    That is short texts, each with score and kind: all pieces of most files, in a quarter of the time that their fields take.
    """
    pieces: list[Piece] = []
    place = 0
    try:
        while True:
            piece_key, size, text_key, length = content[place : place + 4]
            score_at = place + 4 + length
            score_key, kind_key, kind = content[score_at], _KIND_KEY, 1
            if size == 9 + length:
                kind_key, kind = content[score_at + 5], content[score_at + 6]
            elif size != 7 + length:
                break
            if (piece_key, text_key, score_key, kind_key) != _USUAL_KEYS or not length or size > 0x7F:
                break
            (score,) = _FLOAT.unpack_from(content, score_at + 1)
            pieces.append(Piece(content[place + 4 : score_at].decode(), score, _KINDS[kind]))
            place += 2 + size
    except (IndexError, KeyError, ValueError, struct.error):
        pass  # whatever is wrong with the next one, its fields will tell
    return pieces, place


def _settings(message: bytes, known: dict[int, tuple[str, Callable[[Field], Any], Any]], where: str) -> dict[str, Any]:
    """The fields that are known, by name; of one that stands there twice the last counts."""
    values = {name: default for name, _, default in known.values()}
    for field in fields(message, where):
        if field.number in known:
            name, interpret, _ = known[field.number]
            values[name] = interpret(field)
    return values


def _refuse_other_models(model_type: int, where: str) -> None:
    if model_type == _BPE:
        return
    if model_type not in _MODEL_TYPES:
        raise FormatError(f"{where}: trainer_spec has model_type {model_type}, which is no kind of model; the file is damaged")
    raise ConversionRefused(
        f"{where}: a SentencePiece model of the kind {_MODEL_TYPES[model_type]!r}, which is not BPE: its scores are no order of "
        "merges. Run it with the sentencepiece package"
    )


def _refuse_spaces(denormalizer: dict[str, Any], where: str) -> None:
    """A denormaliser that also moves spaces. SentencePiece's trainer never makes one."""
    moved = [name for name in _SPACE_SETTINGS if denormalizer[name]]
    if denormalizer["precompiled_charsmap"] and moved:
        raise ConversionRefused(f"{where}: denormalizer_spec has {', '.join(moved)} on, which decoding here does not do")


def _control_id(content: str, pieces: list[Piece]) -> int | None:
    """The id of the control piece of that name. SentencePiece goes by the name as well, not by the id the training set."""
    return next((n for n, piece in enumerate(pieces) if piece.kind == "control" and piece.content == content), None)


def reserved_tokens(rules: SentencePieceRules) -> tuple[AddedToken, ...]:
    """The pieces that SentencePiece never finds in text, as special tokens: how they are found there if a caller wants it."""
    return tuple(
        AddedToken(piece.content, number) for number, piece in enumerate(rules.pieces) if piece.kind in ("control", "unknown")
    )


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def _converted(spec: TokenizerSpec, checks: Checks) -> TokenizerSpec:
    from conversion.sentencepiece.byte_pieces import (
        to_sentencepiece,  # brings in the engine, which reading a file does not need
    )

    return to_sentencepiece(spec, checks)


def _write(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    content = serialise_model(spec)
    checks.hold("the file states every piece, score and rule")
    return {name: content}


def _as_run(_: TokenizerSpec, files: Mapping[str, bytes], name: str) -> AsRun:
    model = f"{Path(name).stem}.model" if name.endswith(".vocab") else name
    return AsRun("this package, by scores as sentencepiece does", parse_model(files[model], model))


def serialise_model(spec: TokenizerSpec) -> bytes:
    """The content of a `.model` file. Raises `ConversionRefused` for what such a file cannot say."""
    rules = pieces_of(spec, "a .model file")
    _refuse_what_the_file_cannot_say(spec, rules)
    kinds = {kind: number for number, kind in _KINDS.items()}
    pieces = [
        length_field(_CONTENT, piece.content.encode())
        + float_field(_SCORE, piece.score)
        + varint_field(_KIND, kinds[piece.kind])
        for piece in rules.pieces
    ]
    trainer = [
        varint_field(3, _BPE),
        varint_field(4, len(rules.pieces)),
        varint_field(24, rules.treat_whitespace_as_suffix),
        varint_field(35, rules.byte_fallback),
        varint_field(40, rules.unk_id),
        *(varint_field(number, -1 if i is None else i) for number, i in zip((41, 42, 43), _role_ids(rules), strict=True)),
        length_field(44, rules.unk_surface.encode()),
        length_field(45, rules.pieces[rules.unk_id].content.encode()),
        *(length_field(46 + n, _role_name(rules, n).encode()) for n in range(len(_NAMED_ROLES))),
    ]
    normalizer = [
        length_field(1, rules.normalizer_name.encode()),
        length_field(2, rules.precompiled_charsmap),
        varint_field(3, rules.prepend_scheme == "always"),
        varint_field(4, rules.remove_extra_whitespaces),
        varint_field(5, rules.escape_whitespaces),
    ]
    message = [*(length_field(_PIECES, piece) for piece in pieces)]
    message += [length_field(_TRAINER, b"".join(trainer)), length_field(_NORMALIZER, b"".join(normalizer))]
    if rules.denormalizer_charsmap:
        denormalizer = length_field(2, rules.denormalizer_charsmap) + b"".join(varint_field(n, False) for n in (3, 4, 5))
        message.append(length_field(_DENORMALIZER, denormalizer))
    return b"".join(message)


def pieces_of(spec: TokenizerSpec, target: str) -> SentencePieceRules:
    """What a SentencePiece model is made of. Raises `ConversionRefused` for a tokenizer of another dialect."""
    if spec.sentencepiece is None:
        raise ConversionRefused(
            f"{target} holds a SentencePiece model, and this tokenizer is byte-level: save it as tokenizer.json"
        )
    return spec.sentencepiece


def _refuse_what_the_file_cannot_say(spec: TokenizerSpec, rules: SentencePieceRules) -> None:
    if rules.prepend_scheme == "first":
        raise ConversionRefused(
            "a .model file cannot say that the dummy prefix stands before the first stretch of text only: SentencePiece knows no added "
            "tokens. Save it as tokenizer.json, or change prepend_scheme to 'always'"
        )
    if not rules.prefix_before_space:
        raise ConversionRefused(
            "a .model file cannot say that the dummy prefix is left out before text that begins with a space, as Metaspace does; "
            "save it as tokenizer.json"
        )
    found, stated = set(spec.added_tokens), set(reserved_tokens(rules))
    if found != stated:
        token = min(found ^ stated, key=lambda token: token.id)
        reason = "is missing among the added tokens" if token in stated else "is no control piece, or has flags"
        raise ConversionRefused(
            "a .model file has exactly its control pieces and the unknown piece as special tokens, and "
            f"{token.content!r} (id {token.id}) {reason}. Save it as tokenizer.json, or make the added tokens pieces"
        )
    for role, token_id in zip(_NAMED_ROLES, _role_ids(rules), strict=True):
        if token_id is not None and rules.pieces[token_id].kind != "control":
            raise ConversionRefused(
                f"{role}_id is {token_id}, which is {rules.pieces[token_id].content!r}: in a .model file that must be a control piece"
            )


def _role_ids(rules: SentencePieceRules) -> tuple[int | None, ...]:
    return tuple(getattr(rules, f"{role}_id") for role in _NAMED_ROLES)


def _role_name(rules: SentencePieceRules, role: int) -> str:
    """The name of the piece for a role. For none: the unknown piece, which SentencePiece takes for none in that place.

    Leaving the field out would name `<s>`, which may be a control piece without being the one that begins.
    """
    token_id = _role_ids(rules)[role]
    return rules.pieces[rules.unk_id if token_id is None else token_id].content


# ---------------------------------------------------------------------------------------------------------------------
# .vocab


def _recognises_vocab(path: Path, head: bytes) -> bool:
    return path.suffix == ".vocab" and b"\t" in head.split(b"\n")[0]


def _read_vocab(path: Path, given: Given) -> TokenizerSpec:
    model = path.with_suffix(".model")
    if not model.exists():
        raise FormatError(
            f"{path}: a .vocab file says neither which pieces are control or byte pieces nor how text is normalised, and there is no "
            f"{model.name} beside it, which does; load that file"
        )
    spec = _read(model, given)
    listed = [line.split("\t")[0] for line in _vocab_text(pieces_of(spec, "")).split("\n")]
    found = [line.split("\t")[0] for line in read_text(path).split("\n")]
    if found != listed:
        line = next((n for n, (a, b) in enumerate(zip(found, listed, strict=False)) if a != b), min(len(found), len(listed)))
        raise FormatError(
            f"{path}, line {line + 1}: not the piece that {model.name} beside it has; they belong to different models"
        )
    return spec


def _write_vocab(spec: TokenizerSpec, name: str, checks: Checks) -> dict[str, bytes]:
    model = f"{Path(name).stem}.model"
    return {**_write(spec, model, checks), name: _vocab_text(pieces_of(spec, "a .vocab file")).encode()}


def _vocab_text(rules: SentencePieceRules) -> str:
    return "".join(f"{piece.content}\t{piece.score:g}\n" for piece in rules.pieces)


FORMATS = (
    Format(
        name="sentencepiece",
        description="SentencePiece BPE .model file",
        is_folder=False,
        self_contained=True,
        recognises=_recognises,
        in_folder=("*.model",),
        read=_read,
        write=_write,
        converted=_converted,
        as_run=_as_run,
    ),
    Format(
        name="sentencepiece-vocab",
        description="SentencePiece .vocab file, with the .model file beside it",
        is_folder=False,
        self_contained=True,
        recognises=_recognises_vocab,
        read=_read_vocab,
        write=_write_vocab,
        converted=_converted,
        ending=".vocab",
        as_run=_as_run,
    ),
)
