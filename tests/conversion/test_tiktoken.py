from __future__ import annotations

import base64
import contextlib
import json

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import conversion
from conversion.tiktoken.file import parse_ranks, to_tiktoken_encoding
from hf_bpe import NAMED_PATTERNS, AddedToken, ConversionRefused, Encoder, FormatError, PatternError, TokenizerSpec
from tests.conversion.support import rank_tables, small_spec, spec_of_tokens, spec_with_unreachable_token
from tests.support.text import difficult_text, plain_text
from tests.support.vocabularies import BYTES, CL100K_FILE, CL100K_SPECIALS, byte_spec, cl100k_spec, random_specs


@pytest.fixture(scope="module")
def cl100k():
    return conversion.load(CL100K_FILE, pattern="cl100k", special_tokens=CL100K_SPECIALS)


def rank_file(tokens):
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))


# -- reading ----------------------------------------------------------------------------------------------------------


def test_cl100k_is_read_whole(cl100k):
    assert cl100k == cl100k_spec()
    assert not cl100k.ignore_merges


def test_a_pattern_is_never_guessed():
    with pytest.raises(FormatError, match=r"pass pattern= one of gpt2, cl100k, .*, or the pattern itself"):
        conversion.load(CL100K_FILE)


def test_a_pattern_may_be_given_as_text_or_as_the_whole_text(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(rank_file(BYTES))
    assert conversion.load(path, pattern="gpt2").unmatched == "keep"
    assert conversion.load(path, pattern=None).pattern is None
    own = conversion.load(path, pattern=r"\p{L}+")
    assert (own.pattern, own.unmatched) == (r"\p{L}+", "drop")
    assert Encoder(own).encode_ordinary("a b") == [97, 98]


def test_an_unknown_pattern_name_is_refused(tmp_path):
    with pytest.raises(PatternError, match="no split pattern is named 'gpt9'"):
        conversion.load(CL100K_FILE, pattern="gpt9")


def test_windows_line_ends_and_blank_lines_are_no_harm(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(rank_file(BYTES).replace(b"\n", b"\r\n") + b"\r\n\n")
    assert conversion.load(path, pattern=None).vocab == BYTES


def test_a_table_with_an_unreachable_token_is_looked_up_by_whole_piece(tmp_path):
    spec = spec_with_unreachable_token()
    conversion.save(spec, tmp_path / "x.tiktoken")
    found = conversion.load(tmp_path / "x.tiktoken")
    assert found.ignore_merges
    assert found.ignore_merges
    assert Encoder(found).encode_ordinary("abcd abcd") == to_tiktoken_encoding(found).encode("abcd abcd")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (b"YQ== 0\nYg==", "line 2: expected a base64 token and a rank.*truncated"),
        (b"YQ== 0\nYg== 1 2\n", "line 2: expected a base64 token and a rank"),
        (b"YQ== 0\nY 1\n", "line 2: .*is not base64"),
        (b"YQ== 0\nY*g= 1\n", "line 2: .*is not base64"),
        (b"YQ== 0\nYg== x\n", "line 2: the rank must be an integer"),
        (b"YQ== 0\nYg== -1\n", "line 2: the rank must be an integer"),
        (b"YQ== 0\nYg== 1.0\n", "line 2: the rank must be an integer"),
        (b"YQ== 0\nYg== 1_0\n", "line 2: the rank must be an integer"),
        (b"YQ== 0\nYg== 2147483648\n", "line 2: the rank must be an integer in 0..2147483647"),
        (b"YQ== 0\nYg== " + b"9" * 5000 + b"\n", "line 2: the rank must be an integer"),
        (b"YQ== 0\nYg== 0\n", "line 2: rank 0 belongs to b'a' already"),
        (b"YQ== 0\nYQ== 1\n", "line 2: the token b'a' stood in the table before"),
        (b"YQ== 0\n", "vocab lacks the bytes 0x00, 0x01"),
        (b"\xff\xfe\x00 0\n", "line 1: .*is not base64"),
    ],
)
def test_a_damaged_rank_file_is_named_with_place_and_reason(tmp_path, content, complaint):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=complaint) as caught:
        conversion.load(path, format="tiktoken", pattern=None)
    assert str(path) in str(caught.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_a_format_error(content):
    with contextlib.suppress(FormatError):
        table = parse_ranks(content, "x.tiktoken")
        assert len(set(table.values())) == len(table) > 0


def test_special_tokens_that_clash_with_the_table_are_refused():
    with pytest.raises(FormatError, match="added token '<x>' has id 5, which is"):
        conversion.load(CL100K_FILE, pattern="cl100k", special_tokens={"<x>": 5})


# -- writing ----------------------------------------------------------------------------------------------------------


def test_cl100k_is_written_byte_for_byte_as_published(cl100k, tmp_path):
    main, sidecar = conversion.save(cl100k, tmp_path / "cl100k.tiktoken")
    assert main.read_bytes() == CL100K_FILE.read_bytes()
    assert json.loads(sidecar.read_text())["pattern"] == NAMED_PATTERNS["cl100k"].pattern
    assert conversion.load(main) == cl100k


def test_merges_against_the_order_of_ids_are_refused_with_the_first_pair():
    merges = ((b"b", b"c"), (b"a", b"b"))
    spec = TokenizerSpec(vocab=BYTES | {b"ab": 256, b"bc": 257}, merges=merges)
    with pytest.raises(ConversionRefused, match=r"b'b' \+ b'c' \(making id 257\) merges before b'a' \+ b'b' \(making id 256\)"):
        to_tiktoken_encoding(spec)


def test_a_token_that_no_merge_makes_is_refused():
    spec = TokenizerSpec(vocab=BYTES | {b"ab": 256}, merges=())
    with pytest.raises(ConversionRefused, match=r"tiktoken would merge b'a' \+ b'b'"):
        to_tiktoken_encoding(spec)


def test_an_unreachable_token_without_whole_piece_lookup_is_refused():
    with pytest.raises(ConversionRefused, match=r"no merge makes b'abcd' \(id 259\)"):
        to_tiktoken_encoding(spec_with_unreachable_token().replace(ignore_merges=False))


def test_further_pairs_that_make_the_same_tokens_change_nothing(tmp_path):
    vocab = BYTES | {b"ab": 256, b"bc": 257, b"abc": 258}
    merges = ((b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc"))
    spec = TokenizerSpec(vocab=vocab, merges=merges)
    conversion.save(spec, tmp_path / "x.tiktoken")
    assert conversion.load(tmp_path / "x.tiktoken") == spec
    assert conversion.verify(spec, tmp_path / "x.tiktoken", texts=["abcabbc"], loader=("own", "official")).equal


@pytest.mark.parametrize(
    ("tokens", "complaint"),
    [
        ([AddedToken("<a>", 300, special=False)], "'<a>' is always matched"),
        ([AddedToken("<a>", 300, lstrip=True)], "'<a>' has lstrip"),
        ([AddedToken("<a>", 300, rstrip=True)], "'<a>' has lstrip, rstrip"),
        ([AddedToken("<a>", 300, single_word=True)], "single_word"),
        ([AddedToken("<a><b>", 300), AddedToken("<b>", 301), AddedToken("<a>", 302)], "'<a>' begins '<a><b>'"),
    ],
)
def test_special_tokens_that_tiktoken_does_not_know_are_refused(tmp_path, tokens, complaint):
    spec = byte_spec("gpt2", added_tokens=tuple(tokens))
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "x.tiktoken")
    assert list(tmp_path.iterdir()) == []
    conversion.save(spec, tmp_path / "x.tiktoken", allow_lossy=True)
    assert conversion.load(tmp_path / "x.tiktoken") == spec


def test_the_refusal_shows_what_tiktoken_would_do(tmp_path):
    spec = TokenizerSpec(vocab=BYTES | {b"ab": 256, b"bc": 257}, merges=((b"b", b"c"), (b"a", b"b")))
    conversion.save(spec, tmp_path / "x.tiktoken", allow_lossy=True)
    report = conversion.verify(spec, tmp_path / "x.tiktoken", texts=["abc"], loader=("own", "official"))
    assert report.smallest is not None
    assert (report.smallest.text, report.smallest.a_ids, report.smallest.b_ids) == ("abc", (97, 257), (256, 99))


@given(random_specs(), st.lists(plain_text(), max_size=5))
def test_whatever_is_not_refused_is_exact_in_tiktoken(spec, texts):
    try:
        encoding = to_tiktoken_encoding(spec)
    except ConversionRefused:
        return
    assert encoding.encode_ordinary_batch(texts) == Encoder(spec).encode_ordinary_batch(texts)


@given(
    rank_tables(), st.sampled_from(["a+", "[ab]+|c", r"\p{L}+|\s", None]), st.sampled_from(["keep", "drop"]), difficult_text()
)
def test_text_between_matches_is_kept_or_dropped_in_tiktoken_too(table, pattern, unmatched, text):
    spec = spec_of_tokens(table, pattern=pattern, unmatched=unmatched)
    assert to_tiktoken_encoding(spec).encode_ordinary(text) == Encoder(spec).encode_ordinary(text)


def test_special_tokens_reach_tiktoken():
    spec = small_spec()
    encoding = to_tiktoken_encoding(spec, "small")
    assert isinstance(encoding, tiktoken.Encoding)
    assert (encoding.name, encoding.n_vocab) == ("small", spec.n_vocab)
    text = "ab<s>bca<|end|>"
    assert encoding.encode(text, allowed_special="all") == Encoder(spec).encode(text, allowed_special="all")
    assert encoding.encode_ordinary(text) == Encoder(spec).encode_ordinary(text)


def test_a_special_token_that_also_stands_idle_in_the_vocabulary_is_only_special(tmp_path):
    spec = byte_spec("gpt2", added_tokens=(AddedToken("<s>", 256),)).replace(vocab=BYTES | {b"<s>": 256})
    conversion.save(spec, tmp_path / "x.tiktoken")
    assert conversion.verify(spec, tmp_path / "x.tiktoken", loader=("own", "official")).equal
