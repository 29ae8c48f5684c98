from __future__ import annotations

import re
import struct

import pytest
from gguf import GGUFReader, GGUFWriter

import conversion
from conversion.gguf import file as gguf
from conversion.gguf.llama_cpp import reaching_over
from conversion.gguf.metadata import boolean, parse_metadata, serialise, text, texts
from conversion.merges import recover_merges
from conversion.sentencepiece.model import reserved_tokens
from conversion.verdict import Checks
from hf_bpe import NAMED_PATTERNS, AddedToken, ConversionRefused, Encoder, Piece, SentencePieceRules, TokenizerSpec
from hf_bpe.errors import FormatError
from hf_bpe.pieces import byte_piece
from tests.conversion import hostile
from tests.conversion.support import spec_of_tokens, spec_with_unreachable_token
from tests.support.pieces import PACKAGED
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec, gpt2_spec

PATTERNS = {name: named.pattern for name, named in NAMED_PATTERNS.items()}
SPECIALS = (AddedToken("<s>", 262), AddedToken("<|end|>", 265), AddedToken("<u>", 270, special=False))


def small(pattern="gpt2", **fields):
    tokens = [b"ab", b"bca", b"ca", b" ab", b"\xe4\xb8"]
    return spec_of_tokens(tokens, **{"pattern": PATTERNS[pattern], "added_tokens": SPECIALS} | fields)


def contents(path):
    """What the gguf package reads."""
    return {key: field.contents() for key, field in GGUFReader(path).fields.items()}


# -- byte-level -------------------------------------------------------------------------------------------------------


def test_the_gguf_package_reads_what_is_written(tmp_path):
    [path] = conversion.save(small(), tmp_path / "x.gguf")
    found = contents(path)
    assert found["general.architecture"] == "llama"
    assert (found["tokenizer.ggml.model"], found["tokenizer.ggml.pre"]) == ("gpt2", "gpt-2")
    assert found["tokenizer.ggml.tokens"][97] == "a"
    assert found["tokenizer.ggml.tokens"][32] == "Ġ"
    assert found["tokenizer.ggml.tokens"][261:266] == ["[PAD261]", "<s>", "[PAD263]", "[PAD264]", "<|end|>"]
    assert found["tokenizer.ggml.token_type"][260:] == [1, 5, 3, 5, 5, 3, 5, 5, 5, 5, 4]
    assert found["tokenizer.ggml.merges"] == ["a b", "b ca", "c a", "Ġ ab", "ä ¸"]
    assert (found["tokenizer.ggml.add_bos_token"], found["tokenizer.ggml.add_eos_token"]) == (False, False)
    assert conversion.load(path) == small()


def test_what_the_gguf_package_writes_is_read(tmp_path):
    path = tmp_path / "x.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    tokens = [*map(chr, range(33, 127)), *map(chr, range(161, 173)), *map(chr, range(174, 256)), *map(chr, range(256, 324))]
    writer.add_token_list([*tokens, "ab", "<s>", "[PAD258]", "<u>"])
    writer.add_token_types([1] * 257 + [3, 5, 4])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(257)
    writer.add_add_bos_token(True)
    writer.add_array("numbers", [1, 2, 3])
    writer.add_float64("x", 0.5)
    writer.add_chat_template("{{ messages }}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    found = conversion.load(path)
    assert found.pattern == PATTERNS["llama3"]
    assert found.merges == ((b"a", b"b"),)
    assert found.added_tokens == (AddedToken("<s>", 257), AddedToken("<u>", 259, special=False))
    assert not found.ignore_merges
    assert found.provenance["tokenizer.ggml.bos_token_id"] == "257"
    assert "the source's chat_template" in conversion.check(found, "tiktoken").left_out
    [again] = conversion.save(found, tmp_path / "y.gguf")
    assert contents(again)["tokenizer.ggml.bos_token_id"] == 257
    assert contents(again)["tokenizer.ggml.add_bos_token"] is True
    assert Encoder(conversion.load(again)).encode_ordinary("ab<u>") == [256, 259]


@pytest.mark.parametrize(
    ("pattern", "name"), [("gpt2", "gpt-2"), ("llama3", "llama-bpe"), ("qwen2", "qwen2"), ("cl100k", "llama-bpe")]
)
def test_patterns_that_llama_cpp_has_are_named(tmp_path, pattern, name):
    path, *_ = conversion.save(small(pattern), tmp_path / "x.gguf")
    assert contents(path)["tokenizer.ggml.pre"] == name
    assert conversion.load(path) == small(pattern)


@pytest.mark.parametrize("spec", [gpt2_spec, cl100k_spec], ids=["gpt2", "cl100k"])
def test_published_vocabularies_come_back(tmp_path, spec):
    path, *_ = conversion.save(spec(), tmp_path / "x.gguf")
    assert conversion.load(path) == spec()


@pytest.mark.parametrize("pattern", ["o200k", "tekken"])
def test_a_pattern_that_llama_cpp_only_approximates_is_refused_or_written_with_a_sidecar(tmp_path, pattern):
    with pytest.raises(ConversionRefused, match=r"is not this pattern exactly: .*शी"):
        conversion.save(small(pattern), tmp_path / "x.gguf")
    assert list(tmp_path.iterdir()) == []
    path, sidecar, _ = conversion.save(small(pattern), tmp_path / "x.gguf", allow_lossy=True)
    assert conversion.load(path) == small(pattern)
    sidecar.unlink()
    with pytest.raises(ConversionRefused, match=f"pass pattern='{pattern}' for the tokenizer that it stands for"):
        conversion.load(path)
    assert conversion.load(path, pattern=pattern) == small(pattern)


@pytest.mark.parametrize("pattern", [None, r"\S+", PATTERNS["kimi"], PATTERNS["deepseek-v3"]])
def test_a_pattern_that_llama_cpp_does_not_have_is_refused_with_what_to_add(tmp_path, pattern):
    for allow_lossy in (False, True):
        with pytest.raises(
            ConversionRefused, match=r"gpt-2, llama-bpe, dbrx, qwen2 are exact\. To add one: a name and its LLAMA_VOCAB_PRE"
        ):
            conversion.save(small().replace(pattern=pattern), tmp_path / "x.gguf", allow_lossy=allow_lossy)


def with_pre(content: bytes, name: str | None) -> bytes:
    old = text("gpt-2")
    key = struct.pack("<Q", 18) + b"tokenizer.ggml.pre"
    assert content.count(key + old) == 1
    if name is not None:
        return content.replace(key + old, key + text(name))
    count = struct.pack("<Q", struct.unpack_from("<Q", content, 16)[0] - 1)
    return content[:16] + count + content[24:].replace(key + old, b"")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("falcon", "'falcon' splits text is not known here .*pass pattern="),
        ("gpt-4o", "'gpt-4o' is not the pattern 'o200k' exactly"),
        ("tekken", "'tekken' is not the pattern 'tekken' exactly"),
        (None, "there is no tokenizer.ggml.pre"),
    ],
)
def test_other_names_are_refused_unless_the_pattern_is_given(tmp_path, name, complaint):
    path = tmp_path / "x.gguf"
    path.write_bytes(with_pre(content_of(small()), name))
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.load(path)
    assert conversion.load(path, pattern="gpt2") == small()
    assert conversion.load(path, pattern="gpt2", special_tokens={"<x>": 999}).special_tokens == {"<x>": 999}


def test_whole_piece_lookup_goes_by_the_name(tmp_path):
    spec = spec_with_unreachable_token().replace(pattern=PATTERNS["llama3"])
    [path] = conversion.save(spec, tmp_path / "x.gguf")
    assert contents(path)["tokenizer.ggml.pre"] == "llama-bpe"
    assert conversion.load(path).ignore_merges
    [path] = conversion.save(spec.replace(ignore_merges=False), tmp_path / "x.gguf")
    assert contents(path)["tokenizer.ggml.pre"] == "dbrx"
    assert not conversion.load(path).ignore_merges
    with pytest.raises(ConversionRefused, match=r"looked up as a whole first here, and llama\.cpp's pre-tokenizer 'qwen2'"):
        conversion.save(spec.replace(pattern=PATTERNS["qwen2"]), tmp_path / "y.gguf")


@pytest.mark.parametrize(
    ("pattern", "token", "complaint"),
    [
        ("llama3", "ſa".encode(), "U.017F. for an s"),
        ("qwen2", b"\xbfa", "U.017F. for an s"),
        ("cl100k", b"\n ", "after its last line break"),
        ("cl100k", b"\n\xe3\x80", "after its last line break"),
        ("gpt2", "ſa".encode(), None),
        ("llama3", b"\n ", None),
        ("cl100k", b"\n \n", None),
        ("llama3", "ſ".encode(), None),
    ],
)
def test_a_token_over_a_place_that_llama_cpp_splits_elsewhere_is_refused(tmp_path, pattern, token, complaint):
    tokens = [token[start:] for start in range(len(token) - 2, -1, -1)]
    spec = spec_of_tokens(tokens, pattern=PATTERNS[pattern])
    if complaint is None:
        conversion.save(spec, tmp_path / "x.gguf")
        return
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "x.gguf")


def test_places_that_two_patterns_split_differently_are_where_the_counterexamples_are():
    """The vocabulary check says no exactly where ids differ: `'ſa` and white space at the end."""
    for pattern, other, tokens, example in [
        (
            "llama3",
            PATTERNS["llama3"].replace("(?i:'s|", "(?:'[sS]|(?i:").replace("'d)", "'d))"),
            [b"\xc5\xbf", "ſa".encode()],
            "'ſa",
        ),
        ("cl100k", PATTERNS["llama3"], [b"\n "], "a\n "),
    ]:
        spec = spec_of_tokens(tokens, pattern=PATTERNS[pattern])
        assert reaching_over(gguf.pre_tokenizer_for(spec.pattern, None), spec.pattern, spec.vocab)
        assert Encoder(spec).encode_ordinary(example) != Encoder(spec.replace(pattern=other)).encode_ordinary(example)
        without = spec_of_tokens(tokens[:-1], pattern=PATTERNS[pattern])
        assert not reaching_over(gguf.pre_tokenizer_for(spec.pattern, None), spec.pattern, without.vocab)
        assert Encoder(without).encode_ordinary(example) == Encoder(without.replace(pattern=other)).encode_ordinary(example)


@pytest.mark.parametrize(
    ("added", "complaint"),
    [
        ([AddedToken("<a>", 300, lstrip=True)], "lstrip"),
        ([AddedToken("<a>", 300, special=False, single_word=True)], "single_word"),
        ([AddedToken("ab", 300), AddedToken("bcd", 301)], "'ab' and 'bcd' can overlap"),
        ([AddedToken("</s>", 300, special=False)], "goes by its name"),
    ],
)
def test_added_tokens_that_llama_cpp_finds_otherwise_are_refused_or_go_into_a_sidecar(tmp_path, added, complaint):
    spec = byte_spec("gpt2", added_tokens=tuple(added))
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "x.gguf")
    path, sidecar, _ = conversion.save(spec, tmp_path / "x.gguf", allow_lossy=True)
    assert conversion.load(path) == spec
    sidecar.unlink()
    if "overlap" in complaint:
        with pytest.raises(ConversionRefused, match=complaint):
            conversion.load(path)


def test_an_added_token_that_is_a_piece_is_refused_where_pieces_are_looked_up(tmp_path):
    spec = byte_spec("llama3", added_tokens=(AddedToken("pad", 300),))
    with pytest.raises(ConversionRefused, match=r"would also find 'pad' .id 300. in plain text"):
        conversion.save(spec, tmp_path / "x.gguf")
    path, *_ = conversion.save(spec, tmp_path / "x.gguf", allow_lossy=True)
    assert conversion.load(path) == spec


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (lambda: byte_spec("gpt2", added_tokens=(AddedToken("é", 300),)), "ids 233 and 300 are both spelled 'é'"),
        (lambda: byte_spec("gpt2", added_tokens=(AddedToken("<s>", 2_000_000_000),)), "1999999744 of them are not in use"),
        (
            lambda: small(added_tokens=(AddedToken("ab", 256),)),
            "'ab' .id 256. both as an added token and as one that merging makes",
        ),
    ],
)
def test_what_the_file_cannot_hold_is_refused(tmp_path, spec, complaint):
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec(), tmp_path / "x.gguf", allow_lossy=True)
    assert list(tmp_path.iterdir()) == []


def test_tensors_behind_the_metadata_are_not_read(tmp_path):
    path = tmp_path / "x.gguf"
    with path.open("wb") as file:
        file.write(content_of(small()))
        file.truncate(20 << 30)  # sparse
    assert conversion.load(path) == small()


# -- SentencePiece ----------------------------------------------------------------------------------------------------


def rules(*pieces: Piece, **fields) -> SentencePieceRules:
    bytes_ = [Piece(byte_piece(byte), 0.0, "byte") for byte in range(256)]
    reserved = [Piece("<unk>", 0.0, "unknown"), Piece("<s>", 0.0, "control"), Piece("</s>", 0.0, "control")]
    settings = {"byte_fallback": True, "remove_extra_whitespaces": False, "bos_id": 1, "eos_id": 2} | fields
    return SentencePieceRules((*reserved, *bytes_, *pieces), **settings)


def model(*pieces: Piece, **fields) -> TokenizerSpec:
    from conversion.sentencepiece.model import reserved_tokens

    made = rules(*pieces, **fields)
    return TokenizerSpec.from_sentencepiece(made, added_tokens=reserved_tokens(made))


def test_a_published_model_comes_back(tmp_path):
    spec = conversion.load(PACKAGED["mistral v1"])
    [path] = conversion.save(spec, tmp_path / "x.gguf")
    found, read = conversion.load(path), contents(path)
    assert found == spec
    assert read["tokenizer.ggml.model"] == "llama"
    assert read["tokenizer.ggml.tokens"] == [piece.content for piece in spec.sentencepiece.pieces]
    assert read["tokenizer.ggml.scores"] == [piece.score for piece in spec.sentencepiece.pieces]
    assert read["tokenizer.ggml.token_type"][:4] == [2, 3, 3, 6]
    assert read["tokenizer.ggml.add_space_prefix"] is True
    assert [read[f"tokenizer.ggml.{role}_token_id"] for role in ("unknown", "bos", "eos")] == [0, 1, 2]


def test_a_model_without_a_dummy_prefix_may_have_user_defined_pieces(tmp_path):
    spec = model(Piece("a", -1.0), Piece("[U]", 0.0, "user_defined"), prepend_scheme="never")
    [path] = conversion.save(spec, tmp_path / "x.gguf")
    assert conversion.load(path) == spec


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (lambda: model(Piece("[U]", 0.0, "user_defined")), "puts a space after the user-defined piece"),
        (lambda: model(Piece("a b", 0.0, "user_defined"), prepend_scheme="never"), "holds a space"),
        (lambda: model(Piece("s>", -1.0)), "makes the control piece '<s>' of '<' and 's>'"),
        (lambda: model(Piece("q", 0.0, "unused")), "finds the unused piece 'q' in text"),
        (lambda: model(Piece("%", 0.0, "control")), "finds the control piece '%' in text"),
        (lambda: model(Piece("ab", 0.0, "unused")), "makes the unused piece 'ab' of 'a' and 'b'"),
        (lambda: model(remove_extra_whitespaces=True), "drops repeated spaces"),
        (lambda: model(treat_whitespace_as_suffix=True), "after the text"),
        (lambda: model(escape_whitespaces=False), "hold spaces as they are"),
        (lambda: model(prepend_scheme="first"), "before the first part only"),
        (lambda: conversion.load(PACKAGED["mistral v3"]), "user-defined piece"),
    ],
)
def test_a_model_that_llama_cpp_runs_otherwise_is_refused(tmp_path, spec, complaint):
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec(), tmp_path / "x.gguf")
    assert list(tmp_path.iterdir()) == []
    conversion.save(spec(), tmp_path / "x.gguf", allow_lossy=True)
    assert contents(tmp_path / "x.gguf")["tokenizer.ggml.model"] == "llama"


def test_a_file_that_llama_cpp_runs_otherwise_is_refused(tmp_path):
    path, *_ = conversion.save(conversion.load(PACKAGED["mistral v3"]), tmp_path / "x.gguf", allow_lossy=True)
    with pytest.raises(ConversionRefused, match=r"x.gguf: .*is no one SentencePiece model"):
        conversion.load(path)


def test_other_kinds_of_tokenizers_are_refused_by_name(tmp_path):
    path = tmp_path / "x.gguf"
    path.write_bytes(serialise({"tokenizer.ggml.model": text("t5"), "tokenizer.ggml.tokens": texts(["a"])}))
    with pytest.raises(ConversionRefused, match=r"tokenizer\.ggml\.model is 't5'"):
        conversion.load(path)


# -- damaged files ----------------------------------------------------------------------------------------------------


def content_of(spec) -> bytes:
    [content] = gguf.FORMAT.write(spec, "x.gguf", Checks()).values()
    return content


BOTH = {"byte-level": small(), "pieces": model(Piece("a", -1.0), Piece("aa", -2.0))}


@pytest.mark.parametrize("spec", BOTH.values(), ids=BOTH)
def test_truncated_files_are_refused(tmp_path, spec):
    for content in hostile.truncated(content_of(spec).rstrip(b"\0")):
        hostile.refused(tmp_path / "x.gguf", content, "gguf")


@pytest.mark.parametrize("spec", BOTH.values(), ids=BOTH)
def test_changed_files_are_read_or_refused(tmp_path, spec):
    for content in hostile.flipped(content_of(spec)):
        hostile.read_or_refused(tmp_path / "x.gguf", content, "gguf")


def header(keys: int, rest: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, keys) + rest


KEY = struct.pack("<Q", 1) + b"k"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"GGUX" + bytes(40), "does not begin with b'GGUF'"),
        (header(0, b"", version=1), "version 1 of GGUF is not read"),
        (header(0, b"", version=3 << 24), "a big-endian file of GGUF is not read"),
        (header(0, b""), "tokenizer.ggml.model is missing"),
        (header(1 << 60, b""), "byte 24: key 0 needs 8 bytes and 0 are left"),
        (header(1, struct.pack("<Q", 1 << 60)), "key 0 needs 1152921504606846976 bytes"),
        (header(1, KEY + struct.pack("<I", 99)), "k is of type 99"),
        (header(1, KEY + struct.pack("<IIQ", 9, 4, 1 << 60)), "k needs .* bytes and 0 are left"),
        (header(1, KEY + struct.pack("<IIQ", 9, 8, 1 << 60)), r"k\[0\] needs 8 bytes"),
        (header(1, KEY + struct.pack("<IIQ", 9, 9, 1)), "an array of type 9"),
        (header(1, KEY + struct.pack("<IQ", 8, 1) + b"\xff"), "k is not UTF-8"),
        (header(2, (KEY + struct.pack("<IB", 0, 1)) * 2), "the key 'k' stands twice"),
    ],
)
def test_damaged_metadata_is_named_with_place_and_reason(tmp_path, content, complaint):
    assert re.search(complaint, hostile.refused(tmp_path / "x.gguf", content, "gguf"))


def test_an_empty_file_is_named(tmp_path):
    assert "empty" in hostile.refused(tmp_path / "x.gguf", b"", "gguf")


def changed(spec, **values) -> bytes:
    """A file with some of its values changed; None leaves the key out."""
    found = gguf.FORMAT.write(spec, "x.gguf", Checks())["x.gguf"]
    entries, place = {}, 24
    for key in parse_metadata(found, "x"):
        start = found.index(struct.pack("<Q", len(key)) + key.encode(), place) + 8 + len(key)
        entries[key] = start
        place = start
    ends = [*(start - 8 - len(key) for key, start in list(entries.items())[1:]), len(found.rstrip(b"\0"))]
    raw = {key: found[start:end] for (key, start), end in zip(entries.items(), ends, strict=True)}
    raw |= {f"tokenizer.ggml.{key}": value for key, value in values.items()}
    return serialise({key: value for key, value in raw.items() if value is not None})


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"tokens": None}, "tokenizer.ggml.tokens is missing"),
        ({"tokens": text("a")}, "tokenizer.ggml.tokens must be a list, not a str"),
        ({"token_type": texts(["a"])}, "tokenizer.ggml.token_type must be a list of a number, not of str"),
        ({"tokens": texts(["a"])}, "has 271 entries for 1 tokens"),
        ({"tokens": texts(["a"] * 271)}, r"tokens\[1\]: 'a' is the token 0 already"),
        ({"tokens": texts([f"\u2581{n}" for n in range(271)])}, r"tokens\[0\]: "),
        ({"merges": None}, "tokenizer.ggml.merges is missing"),
        ({"merges": texts(["ab"])}, r"merges\[0\]: expected two tokens"),
        ({"merges": texts(["a b c"])}, r"merges\[0\]: expected two tokens"),
        ({"merges": texts(["a q"])}, r"merges\[0\]: 'a' \+ 'q': 'aq' is not in the vocabulary"),
        ({"merges": texts(["a b", "a b"])}, r"merges\[1\]: 'a b' stood in the list before"),
        ({"model": boolean(True)}, "tokenizer.ggml.model must be text, not a bool"),
        ({"pre": boolean(True)}, "tokenizer.ggml.pre must be text"),
        ({"bos_token_id": text("1")}, "tokenizer.ggml.bos_token_id must be a number"),
    ],
)
def test_wrong_values_are_named(tmp_path, values, complaint):
    assert re.search(complaint, hostile.refused(tmp_path / "x.gguf", changed(small(), **values), "gguf"))


def test_more_fields_than_tokens_in_a_model(tmp_path):
    from conversion.gguf.metadata import float32s

    message = hostile.refused(tmp_path / "x.gguf", changed(BOTH["pieces"], scores=float32s([1.0])), "gguf")
    assert "tokenizer.ggml.scores has 1 entries for 261 tokens" in message
    message = hostile.refused(tmp_path / "x.gguf", changed(BOTH["pieces"], scores=float32s([float("nan")] * 261)), "gguf")
    assert "scores must be finite" in message


def test_merges_need_not_be_in_the_order_of_ids(tmp_path):
    vocab = BYTES | {b"ab": 256, b"bc": 257}
    spec = TokenizerSpec(vocab, ((b"b", b"c"), (b"a", b"b")), pattern=PATTERNS["gpt2"])
    assert recover_merges(sorted(vocab, key=vocab.get))[0] != spec.merges
    [path] = conversion.save(spec, tmp_path / "x.gguf")
    assert conversion.load(path) == spec


def without(key, tmp_path, spec):
    """A file that lacks a key, as the gguf package writes it where nobody adds it."""
    conversion.save(spec, tmp_path / "whole.gguf")
    known = contents(tmp_path / "whole.gguf")
    writer = GGUFWriter(tmp_path / "x.gguf", "llama")
    writer.add_tokenizer_model(known["tokenizer.ggml.model"])
    writer.add_token_list(known["tokenizer.ggml.tokens"])
    adders = {
        "tokenizer.ggml.pre": writer.add_tokenizer_pre,
        "tokenizer.ggml.token_type": writer.add_token_types,
        "tokenizer.ggml.merges": writer.add_token_merges,
        "tokenizer.ggml.scores": writer.add_token_scores,
    }
    for name, adder in adders.items():
        if name != key and name in known:
            adder(known[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return tmp_path / "x.gguf"


def test_a_file_without_kinds_has_normal_tokens_only_as_llama_cpp_reads_it(tmp_path):
    spec = small(added_tokens=())
    assert conversion.load(without("tokenizer.ggml.token_type", tmp_path, spec)) == spec


def test_a_model_without_scores_has_only_zeros(tmp_path):
    rules = SentencePieceRules(
        (
            Piece("<unk>", 0.0, "unknown"),
            *(Piece(byte_piece(byte), 0.0, "byte") for byte in range(256)),
            *(Piece(content, -float(n)) for n, content in enumerate(["ab", "bc", "a", "b", "c"])),
        ),
        byte_fallback=True,
        remove_extra_whitespaces=False,
    )
    spec = TokenizerSpec.from_sentencepiece(rules, added_tokens=reserved_tokens(rules))
    found = conversion.load(without("tokenizer.ggml.scores", tmp_path, spec))
    assert {piece.score for piece in found.sentencepiece.pieces} == {0.0}


def test_a_file_without_merges_is_refused_with_a_remedy(tmp_path):
    with pytest.raises(FormatError, match=r"tokenizer\.ggml\.merges is missing, .* write the file again"):
        conversion.load(without("tokenizer.ggml.merges", tmp_path, small()))


def test_roles_and_a_chat_template_that_a_target_lacks_are_named(tmp_path):
    path = tmp_path / "x.gguf"
    conversion.save(small("gpt2").replace(provenance={"tokenizer.ggml.eos_token_id": "7"}), path)
    [line] = conversion.check(conversion.load(path), "tokenizer.json").left_out
    assert line == "the source's eos_token_id, which say what begins and ends a text: the target has no roles"
    assert not conversion.check(conversion.load(path), "gguf").left_out
