from __future__ import annotations

import json

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

import conversion
from hf_bpe import AddedToken, ConversionRefused, Encoder, FormatError, TokenizerSpec
from hf_bpe.byte_level import bytes_to_token
from tests.conversion.support import small_spec, spec_with_unreachable_token, write_json
from tests.support.text import plain_text
from tests.support.vocabularies import (
    BYTES,
    GPT2_ENCODER_FILE,
    GPT2_MERGES_FILE,
    byte_spec,
    cl100k_spec,
    gpt2_spec,
    random_specs,
)

PAIRS = {"gpt2": ("encoder.json", "vocab.bpe"), "vocab-merges": ("vocab.json", "merges.txt")}
SPELLED = {bytes_to_token(token): token_id for token, token_id in BYTES.items()}


def write_pair(folder, vocab, merges, names=PAIRS["vocab-merges"]):
    (folder / names[0]).write_text(vocab if isinstance(vocab, str) else json.dumps(vocab), "utf-8")
    (folder / names[1]).write_text(merges, "utf-8")
    return folder


# -- reading ----------------------------------------------------------------------------------------------------------


def test_gpt2s_files_are_read_as_they_are():
    assert conversion.load(GPT2_ENCODER_FILE.parent) == gpt2_spec()


@pytest.mark.parametrize("file", [GPT2_ENCODER_FILE, GPT2_MERGES_FILE], ids=lambda file: file.name)
def test_either_file_stands_for_both(file):
    assert conversion.load(file) == gpt2_spec()


def test_a_prefix_before_the_names_is_kept(tmp_path):
    write_pair(tmp_path, SPELLED, "#version: 0.2\n", ("my-vocab.json", "my-merges.txt"))
    assert conversion.load(tmp_path / "my-vocab.json").vocab == BYTES


def test_the_caller_may_say_pattern_and_special_tokens(tmp_path):
    write_pair(tmp_path, SPELLED | {"<s>": 256, "<|endoftext|>": 257}, "#version: 0.2\n")
    spec = conversion.load(tmp_path, pattern=None, special_tokens={"<s>": 256})
    assert (spec.pattern, spec.special_tokens) == (None, {"<s>": 256})
    assert spec.vocab[b"<|endoftext|>"] == 257


def test_end_of_text_is_special_only_where_no_merge_makes_it(tmp_path):
    write_pair(tmp_path, SPELLED | {"<|endoftext|>": 256}, "#version: 0.2\n")
    assert conversion.load(tmp_path).special_tokens == {"<|endoftext|>": 256}
    steps = ["<|endoftext|>"[:end] for end in range(2, 14)]
    merges = "".join(f"{step[:-1]} {step[-1]}\n" for step in steps)
    write_pair(tmp_path, SPELLED | {step: 256 + n for n, step in enumerate(steps)}, "#version: 0.2\n" + merges)
    made = conversion.load(tmp_path)
    assert not made.added_tokens
    assert b"<|endoftext|>" in made.vocab


def test_the_last_place_of_a_repeated_pair_counts(tmp_path):
    write_pair(tmp_path, SPELLED | {"ab": 256, "bc": 257}, "#version: 0.2\na b\nb c\na b\n")
    spec = conversion.load(tmp_path, pattern=None)
    assert spec.merges == ((b"b", b"c"), (b"a", b"b"))
    stock = tokenizers.Tokenizer(tokenizers.models.BPE.from_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")))
    assert stock.encode("abc").ids == Encoder(spec).encode_ordinary("abc") == [97, 257]


def test_windows_line_ends_are_no_harm(tmp_path):
    write_pair(tmp_path, SPELLED | {"ab": 256}, "#version: 0.2\r\na b\r\n")
    assert conversion.load(tmp_path).merges == ((b"a", b"b"),)


@pytest.mark.parametrize(
    ("vocab", "complaint"),
    [
        ("", "vocab.json: the file is empty"),
        ('{"a": 0,', "vocab.json, line 1, column 9: not JSON.*truncated"),
        ('["a"]', r"vocab.json: \$ must be an object"),
        ('{"a": 0, "a": 1}', "the key 'a' stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "vocab.json, line 1, column 7: a number of thousands of digits"),
        (SPELLED | {"ab": True}, r"vocab.json: \$\['ab'\]: the id must be an integer in 0..2147483647, not True"),
        (SPELLED | {"ab": 256.0}, "the id must be an integer"),
        (SPELLED | {"ab": "256"}, "the id must be an integer"),
        (SPELLED | {"ab": None}, "the id must be an integer"),
        (SPELLED | {"ab": -1}, "the id must be an integer"),
        (SPELLED | {"ab": 2**40}, "the id must be an integer"),
        (SPELLED | {"ab": 0}, "share id 0"),
        (SPELLED | {"a b": 256}, r"'a b'.*name it in special_tokens="),
        (SPELLED | {"": 256}, "vocab holds the empty token"),
        ({k: v for k, v in SPELLED.items() if k != "q"}, "vocab lacks the bytes 0x71"),
    ],
)
def test_a_damaged_vocabulary_is_named_with_place_and_reason(tmp_path, vocab, complaint):
    write_pair(tmp_path, vocab, "#version: 0.2\n")
    with pytest.raises(FormatError, match=complaint):
        conversion.load(tmp_path)


@pytest.mark.parametrize(
    ("merges", "complaint"),
    [
        ("", "merges.txt, line 1: expected '#version: 0.2'"),
        ("a b\n", "merges.txt, line 1: expected '#version: 0.2'"),
        ("#version: 0.2\na\n", "merges.txt, line 2: expected two tokens with one space"),
        ("#version: 0.2\na  b\n", "line 2: expected two tokens"),
        ("#version: 0.2\na b c\n", "line 2: expected two tokens"),
        ("#version: 0.2\n\na b\n", "line 2: expected two tokens"),
        ("#version: 0.2\na x\n", "line 2: 'a' \\+ 'x': 'ax' is not in the vocabulary"),
        ("#version: 0.2\na b\na\u3000 b\n", "line 3: .*is not in the vocabulary"),
        ("#version: 0.2\n#version: a\n", "line 2: some readers take"),
    ],
)
def test_damaged_merges_are_named_with_place_and_reason(tmp_path, merges, complaint):
    write_pair(tmp_path, SPELLED | {"ab": 256}, merges)
    with pytest.raises(FormatError, match=complaint):
        conversion.load(tmp_path)


@pytest.mark.parametrize("missing", PAIRS["vocab-merges"])
def test_a_missing_half_is_named(tmp_path, missing):
    write_pair(tmp_path, SPELLED, "#version: 0.2\n")
    (tmp_path / missing).unlink()
    with pytest.raises(FormatError, match=rf"{missing}: cannot be read: No such file"):
        conversion.load(tmp_path)


def test_a_file_that_is_not_utf8_is_named(tmp_path):
    write_pair(tmp_path, SPELLED, "#version: 0.2\n")
    (tmp_path / "merges.txt").write_bytes(b"#version: 0.2\n\xff \xfe\n")
    with pytest.raises(FormatError, match=r"merges.txt: not UTF-8 text: byte 0xFF at offset 14"):
        conversion.load(tmp_path)


# -- writing ----------------------------------------------------------------------------------------------------------


def test_gpt2_is_written_byte_for_byte_as_published(tmp_path):
    conversion.save(gpt2_spec(), tmp_path, format="gpt2")
    assert (tmp_path / "encoder.json").read_bytes() == GPT2_ENCODER_FILE.read_bytes()
    assert (tmp_path / "vocab.bpe").read_bytes() == GPT2_MERGES_FILE.read_bytes()


@pytest.mark.parametrize("name", PAIRS)
def test_both_names_of_the_files_give_the_tokenizer_back(tmp_path, name):
    paths = conversion.save(small_spec(), tmp_path, format=name)
    assert [path.name for path in paths] == [*PAIRS[name], "hf_bpe.json"]
    assert conversion.load(tmp_path) == small_spec()
    assert conversion.load(tmp_path).provenance["format"] == name


def test_pattern_and_flags_travel_in_the_sidecar(tmp_path):
    tokens = (AddedToken("<s>", 100_300, lstrip=True), AddedToken("<u>", 100_301, special=False, single_word=True))
    spec = cl100k_spec().replace(added_tokens=tokens, unmatched="drop")
    conversion.save(spec, tmp_path, format="vocab-merges")
    assert conversion.load(tmp_path) == spec


def test_unreachable_tokens_are_refused_and_survive_when_insisted(tmp_path):
    spec = spec_with_unreachable_token()
    with pytest.raises(ConversionRefused, match=r"1 tokens are found only by looking up a whole piece .*b'abcd' \(id 259\)"):
        conversion.save(spec, tmp_path / "files", format="gpt2")
    assert not (tmp_path / "files").exists()
    with pytest.warns(UserWarning, match=r"is not exact\ngpt2: lossy.*\n.*\n.*\n  smallest counterexample: 'abcd'"):
        conversion.save(spec, tmp_path / "files", format="gpt2", allow_lossy=True)
    assert conversion.load(tmp_path / "files") == spec
    report = conversion.verify(spec, tmp_path / "files", texts=["abcd"], loader=("own", "official"))
    assert not report.equal


def test_whole_piece_lookup_is_no_obstacle_where_every_token_is_reachable(tmp_path):
    spec = small_spec().replace(ignore_merges=True)
    conversion.save(spec, tmp_path, format="gpt2")
    assert conversion.verify(spec, tmp_path, texts=["abca bca", "cabca"], loader=("own", "official")).equal


def test_a_pair_that_reads_as_a_comment_is_refused(tmp_path):
    spec = TokenizerSpec(vocab=BYTES | {b"#version": 256, b"#version!": 257}, merges=((b"#version", b"!"),))
    with pytest.raises(ConversionRefused, match="take that line for a comment"):
        conversion.save(spec, tmp_path, format="gpt2")


def test_an_added_token_spelled_like_other_bytes_is_refused(tmp_path):
    spec = byte_spec("gpt2", added_tokens=(AddedToken("é", 300),))
    with pytest.raises(ConversionRefused, match=r"'é' .id 300.: its text is how the bytes of token 233 are spelled"):
        conversion.save(spec, tmp_path, format="gpt2", allow_lossy=True)


@settings(max_examples=40)
@given(random_specs(), st.lists(plain_text(), max_size=5))
def test_whatever_is_not_refused_is_exact_in_tokenizers(tmp_path_factory, spec, texts):
    folder = tmp_path_factory.mktemp("pair")
    try:
        conversion.save(spec, folder, format="vocab-merges")
    except ConversionRefused:
        assert spec.ignore_merges
        return
    assert conversion.verify(spec, folder, texts=texts, loader=("own", "official")).equal


def test_a_bare_vocabulary_is_not_taken_for_a_tokenizer_json(tmp_path):
    path = write_json(tmp_path / "vocab.json", SPELLED)
    with pytest.raises(FormatError, match=r"merges.txt: cannot be read"):
        conversion.load(path)
