"""`.model` and `.vocab` files: what is read, what is written, what is refused."""

from __future__ import annotations

import contextlib
import random
import struct
import tracemalloc
from functools import cache

import pytest

import conversion
from conversion.sentencepiece.model import parse_model, serialise_model
from conversion.sentencepiece.protobuf import fields, float_field, length_field, varint_field
from hf_bpe import AddedToken, ConversionRefused, Encoder, FormatError, Piece, TokenizerSpec
from hf_bpe.charsmap import build_charsmap
from tests.conversion.support import small_spec
from tests.support.pieces import PACKAGED, TRAINED, model, pieces_spec, processor

TEXTS = ["the cat  sat <s>", " 那 cat\n", "ABAB ab A", ""]


@cache
def small_model() -> bytes:
    charsmap = build_charsmap({b"A": b"a", b"AB": b"ab"})
    return serialise_model(
        pieces_spec(
            Piece("<s>", 0.0, "control"),
            *map(Piece, "\u2581abct"),
            Piece("ab", -1.0),
            Piece("sat", 0.0, "user_defined"),
            Piece("\u2581ab", -2.0, "unused"),
            bos_id=1,
            normalizer_name="mine",
            precompiled_charsmap=charsmap,
            denormalizer_charsmap=charsmap,
        )
    )


def pieces_only(*pieces: bytes, model_type: int = 2, **extra: bytes) -> bytes:
    """A file of pieces as they are given."""
    trainer = varint_field(3, model_type) + extra.get("trainer", b"")
    return b"".join(length_field(1, piece) for piece in pieces) + length_field(2, trainer) + extra.get("more", b"")


def a_piece(content: str, score: float = 0.0, kind: int = 1) -> bytes:
    return length_field(1, content.encode()) + float_field(2, score) + varint_field(3, kind)


UNKNOWN = a_piece("<unk>", kind=2)


# -- reading and writing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PACKAGED, *TRAINED])
def test_a_model_comes_back_equal_and_runs_alike_in_sentencepiece(name, tmp_path):
    original = tmp_path / "original.bin"
    original.write_bytes(model(name))
    spec = conversion.load(original)
    [written] = conversion.save(spec, tmp_path / "tokenizer.model")
    assert conversion.load(written) == spec
    assert spec.provenance["format"] == "sentencepiece"
    ours, theirs = processor(written.read_bytes()), processor(model(name))
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text)
        assert ours.decode(ours.encode(text)) == theirs.decode(theirs.encode(text))
    roles = [(of.unk_id(), of.bos_id(), of.eos_id(), of.pad_id()) for of in (ours, theirs)]
    assert roles[0] == roles[1]


def test_what_the_file_says_is_in_the_spec():
    rules = parse_model(model("all spaces"), "").sentencepiece
    assert rules is not None
    assert (rules.byte_fallback, rules.remove_extra_whitespaces, rules.unk_surface) == (True, False, "?!")
    assert (rules.unk_id, rules.bos_id, rules.eos_id, rules.pad_id) == (0, 1, 2, 3)
    assert parse_model(model("no dummy prefix"), "").sentencepiece.prepend_scheme == "never"
    assert parse_model(model("space as suffix"), "").sentencepiece.treat_whitespace_as_suffix
    assert parse_model(model("nmt_nfkc"), "").sentencepiece.normalizer_name == "nmt_nfkc"


def test_control_pieces_and_the_unknown_piece_are_special_tokens():
    assert parse_model(model("mistral v1"), "").special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}


def test_no_begin_token_stays_none_even_if_a_control_piece_has_the_name():
    content = serialise_model(pieces_spec(Piece("<s>", 0.0, "control"), Piece("a")))
    assert parse_model(content, "").sentencepiece.bos_id is None
    assert processor(content).bos_id() == -1


def test_fields_that_are_not_known_are_passed_over():
    with_more = small_model() + varint_field(150, 7) + length_field(151, b"x") + float_field(152, 1.0)
    assert parse_model(with_more, "") == parse_model(small_model(), "")


def test_a_vocab_file_stands_beside_its_model(tmp_path):
    spec = parse_model(small_model(), "")
    paths = conversion.save(spec, tmp_path / "x.vocab")
    assert [path.name for path in paths] == ["x.model", "x.vocab"]
    assert (tmp_path / "x.vocab").read_text("utf-8").splitlines()[:3] == ["<unk>\t0", "<s>\t0", "\u2581\t0"]
    assert conversion.load(tmp_path / "x.vocab") == spec
    (tmp_path / "x.vocab").write_text("<unk>\t0\n<t>\t0\n", "utf-8")
    with pytest.raises(FormatError, match=r"x.vocab, line 2: not the piece that x.model beside it has"):
        conversion.load(tmp_path / "x.vocab")
    (tmp_path / "x.model").unlink()
    with pytest.raises(FormatError, match=r"x.vocab: a .vocab file says neither .* there is no x.model beside it"):
        conversion.load(tmp_path / "x.vocab")


def test_verify_runs_sentencepiece(tmp_path):
    [path] = conversion.save(parse_model(model("identity"), ""), tmp_path / "x.model")
    report = conversion.verify(path, path, loader=("own", "official"), texts=TEXTS)
    assert report.differing == 0
    assert "sentencepiece" in report.b


# -- what a file cannot say -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (small_spec(), "splits text by a pattern, which SentencePiece does not"),
        (pieces_spec(prepend_scheme="first"), "the dummy prefix stands before the first stretch"),
        (pieces_spec().replace(added_tokens=[]), r"'<unk>' \(id 0\) is missing"),
        (pieces_spec().replace(added_tokens=[AddedToken("<unk>", 0), AddedToken("<t>", 5)]), r"'<t>' \(id 5\) is no control"),
        (pieces_spec().replace(added_tokens=[AddedToken("<unk>", 0, lstrip=True)]), "'<unk>'"),
        (pieces_spec(Piece("a"), eos_id=1), "eos_id is 1, which is 'a'"),
    ],
)
def test_what_a_model_file_cannot_say_is_refused(tmp_path, spec, complaint):
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "x.model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["gpt2", "vocab-merges"])
@pytest.mark.parametrize("allow_lossy", [False, True])
def test_byte_level_files_refuse_pieces(tmp_path, name, allow_lossy):
    with pytest.raises(ConversionRefused, match="this is a SentencePiece model"):
        conversion.save(parse_model(small_model(), ""), tmp_path / "x", format=name, allow_lossy=allow_lossy)
    assert list(tmp_path.iterdir()) == []


def test_a_tiktoken_encoding_of_pieces_is_refused():
    with pytest.raises(ConversionRefused, match="this is a SentencePiece model"):
        conversion.to_tiktoken_encoding(parse_model(small_model(), ""))


# -- damaged and other files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "kind"), [(1, "unigram"), (3, "word"), (4, "char")])
def test_models_that_are_not_bpe_are_refused_by_name(number, kind):
    with pytest.raises(ConversionRefused, match=f"x.model: a SentencePiece model of the kind '{kind}'"):
        parse_model(pieces_only(UNKNOWN, a_piece("a"), model_type=number), "x.model")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (pieces_only(a_piece("a")), "exactly one unknown piece, not 0"),
        (pieces_only(UNKNOWN, a_piece("?", kind=2)), "exactly one unknown piece, not 2: '<unk>', '?'"),
        (pieces_only(UNKNOWN, a_piece("a"), a_piece("a")), "pieces appear more than once: 'a'"),
        (pieces_only(UNKNOWN, a_piece("a", float("nan"))), "scores must be finite 32-bit floats: 'a' has nan"),
        (pieces_only(UNKNOWN, a_piece("a", float("inf"))), "'a' has inf"),
        (pieces_only(UNKNOWN, a_piece("")), "piece 1 is empty"),
        (pieces_only(UNKNOWN, a_piece("a\0")), "hold a NUL"),
        (pieces_only(UNKNOWN, a_piece("a", kind=7)), "piece 1, 'a', is of kind 7"),
        (pieces_only(UNKNOWN, a_piece("<0x00>", kind=6), trainer=varint_field(35, 1)), "missing: '<0x01>'"),
        (pieces_only(UNKNOWN, a_piece("<0x00>", kind=6)), "byte_fallback is off"),
        (pieces_only(UNKNOWN, a_piece("byte", kind=6), trainer=varint_field(35, 1)), "must be written like '<0x41>': 'byte'"),
        (pieces_only(UNKNOWN, length_field(1, b"\xff")), "piece 1: field 1 is not UTF-8"),
        (pieces_only(UNKNOWN, varint_field(1, 5)), "piece 1: field 1 is written as a varint, and must be a length and bytes"),
        (
            pieces_only(UNKNOWN, length_field(1, b"a") + varint_field(2, 5)),
            "field 2 is written as a varint, and must be 4 bytes",
        ),
        (pieces_only(UNKNOWN, a_piece("a"), model_type=9), "model_type 9, which is no kind"),
        (pieces_only(UNKNOWN, more=length_field(3, length_field(2, b"abcdefgh"))), "precompiled_charsmap is invalid"),
        (
            pieces_only(UNKNOWN, more=length_field(5, length_field(2, b"abcdefgh") + b"\x18\0\x20\0\x28\0")),
            "denormalizer_charsmap",
        ),
        (length_field(1, UNKNOWN), "no trainer_spec"),
        (length_field(2, varint_field(3, 2)), "holds no pieces"),
        (length_field(1, UNKNOWN)[:-1], "field 1 needs 14 bytes and 13 are left"),
        (b"\x0a\xff\xff\xff\xff\x0f", "needs 4294967295 bytes and 0 are left"),
        (b"\x0a" + b"\xff" * 11, "more than 64 bits"),
        (b"\x0a\x80", "ends in the middle of a number"),
        (b"\x0b\x0c", "field 1 is a group"),
        (b"\x0e", "field 1 is wire type 6"),
        (b"\x02\x00", "0 is no field number"),
    ],
)
def test_damage_is_named(content, complaint):
    with pytest.raises(FormatError, match=f"^x.model: .*{complaint}"):
        parse_model(content, "x.model")


def test_a_denormaliser_that_moves_spaces_is_refused():
    denormalizer = length_field(2, build_charsmap({b"a": b"b"}))
    with pytest.raises(ConversionRefused, match="denormalizer_spec has add_dummy_prefix, remove_extra_whitespaces"):
        parse_model(pieces_only(UNKNOWN, more=length_field(5, denormalizer)), "x.model")


def test_pattern_and_special_tokens_are_not_for_such_files(tmp_path):
    (tmp_path / "x.model").write_bytes(small_model())
    with pytest.raises(FormatError, match="states its own pattern"):
        conversion.load(tmp_path / "x.model", pattern="cl100k")


def read_both(content: bytes) -> None:
    """Refused by name here, or run by both with the same results."""
    try:
        spec: TokenizerSpec = parse_model(content, "x.model")
    except (FormatError, ConversionRefused) as error:
        complaint = str(error)
    else:
        complaint = ""
    if complaint:
        assert complaint.startswith("x.model")
        return
    official = processor(content)
    encoder = Encoder(spec)
    for text in TEXTS:
        assert encoder.encode_ordinary(text) == official.encode(text)
    ids = list(range(min(12, spec.n_vocab)))
    with contextlib.suppress(UnicodeDecodeError):
        assert encoder.decode(ids) == official.decode(ids)


def without_charsmap() -> bytes:
    spec = parse_model(small_model(), "")
    rules = {field: getattr(spec.sentencepiece, field) for field in ("bos_id", "normalizer_name")}
    return serialise_model(pieces_spec(*spec.sentencepiece.pieces[1:], **rules))


def test_a_truncated_file_is_refused_at_every_length():
    content = without_charsmap()
    for length in range(len(content)):
        read_both(content[:length])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("make", [without_charsmap, small_model])
def test_flipped_bits_are_refused_or_mean_the_same_to_sentencepiece(make, seed):
    generator, content = random.Random(seed), make()
    for _ in range(40 if make is without_charsmap else 4):
        damaged = bytearray(content)
        for _ in range(generator.choice((1, 1, 2, 5))):
            damaged[generator.randrange(len(damaged))] ^= 1 << generator.randrange(8)
        read_both(bytes(damaged))


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_refused(seed):
    generator = random.Random(seed)
    for _ in range(50):
        with pytest.raises((FormatError, ConversionRefused)):
            parse_model(generator.randbytes(generator.randrange(200)), "x.model")


def peak_of_reading(content: bytes) -> int:
    tracemalloc.start()
    try:
        parse_model(content, "")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_many_fields_that_say_nothing_take_no_memory():
    padding = (varint_field(150, 0) + length_field(2, b"")) * 30_000
    assert parse_model(small_model() + padding, "") == parse_model(small_model(), "")
    assert peak_of_reading(small_model() + padding) < peak_of_reading(small_model()) + 4 * len(padding)


# -- the wire format --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**31 - 1, -1, -(2**31)])
def test_numbers_come_back(number):
    [field] = fields(varint_field(5, number), "x")
    assert (field.number, field.as_int32(), field.as_bool()) == (5, number, number != 0)


def test_a_number_beyond_32_bits_is_refused():
    [field] = fields(varint_field(5, 2**31), "x")
    with pytest.raises(FormatError, match="x: field 5 is 2147483648, which does not fit 32 bits"):
        field.as_int32()


def test_floats_and_eight_byte_fields_are_read():
    message = float_field(2, 1.5) + b"\x09" + struct.pack("<Q", 7)
    assert [field.as_float() if field.number == 2 else field.value for field in fields(message, "x")] == [1.5, 7]
