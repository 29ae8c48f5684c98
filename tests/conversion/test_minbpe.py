from __future__ import annotations

from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import conversion
from conversion import minbpe
from conversion.nasty_strings import nasty_strings
from conversion.verdict import Checks
from hf_bpe import NAMED_PATTERNS, AddedToken, ConversionRefused, Encoder, FormatError, TokenizerSpec
from tests.conversion import hostile
from tests.support.text import difficult_text
from tests.support.vocabularies import BYTES, byte_spec

MERGES = ((b"a", b"b"), (b" ", b"ab"), (b"c", b"a"), (b"ab", b"ca"))


def spec_of_merges(merges, **fields):
    """Ids as minbpe gives them: by order of the merges."""
    made = {left + right: 256 + n for n, (left, right) in enumerate(merges)}
    return TokenizerSpec(BYTES | made, tuple(merges), **fields)


class Loaded:
    """How minbpe reads such a file and encodes with it, in as few words as possible (it is not on PyPI)."""

    def __init__(self, path):
        with path.open(encoding="utf-8") as file:
            assert file.readline().strip() == "minbpe v1"
            self.pattern = file.readline().strip()
            count = int(file.readline().strip())
            self.special_tokens = {}
            for _ in range(count):
                name, token_id = file.readline().strip().split()
                self.special_tokens[name] = int(token_id)
            self.merges = {tuple(map(int, line.split())): 256 + n for n, line in enumerate(file)}
        vocab = dict(enumerate(map(bytes, zip(range(256)))))
        for (left, right), made in self.merges.items():
            vocab[made] = vocab[left] + vocab[right]  # what is not there yet is a KeyError

    def encode_ordinary(self, text):
        pieces = regex.findall(regex.compile(self.pattern), text) if self.pattern else [text]
        return [token_id for piece in pieces for token_id in self._encode_piece(piece.encode())]

    def encode(self, text):
        if not self.special_tokens:
            return self.encode_ordinary(text)
        parts = regex.split("(" + "|".join(map(regex.escape, self.special_tokens)) + ")", text)
        rows = [[self.special_tokens[p]] if p in self.special_tokens else self.encode_ordinary(p) for p in parts]
        return [token_id for row in rows for token_id in row]

    def _encode_piece(self, piece):
        ids = list(piece)
        while len(ids) >= 2:
            best = min(pairwise(ids), key=lambda pair: self.merges.get(pair, float("inf")))
            if best not in self.merges:
                break
            merged, place = [], 0
            while place < len(ids):
                if tuple(ids[place : place + 2]) == best:
                    merged.append(self.merges[best])
                    place += 2
                else:
                    merged.append(ids[place])
                    place += 1
            ids = merged
        return ids


@pytest.mark.parametrize("pattern", [*NAMED_PATTERNS, r"a+|\s", r" ?a|b ", "(a)|b+", "a\nb|[\r\n]|c"])
@pytest.mark.parametrize("unmatched", ["keep", "drop"])
def test_what_is_written_runs_as_minbpe_runs_it(tmp_path, pattern, unmatched):
    named = NAMED_PATTERNS.get(pattern)
    added = (AddedToken("<|end|>", 400), AddedToken("<|end|>2", 401), AddedToken("[x]", 300))
    spec = spec_of_merges(MERGES, pattern=named.pattern if named else pattern, unmatched=unmatched, added_tokens=added)
    path, *_ = conversion.save(spec, tmp_path / "x.model", format="minbpe")
    official, ours = Loaded(path), Encoder(spec)
    texts = list(nasty_strings(spec.special_tokens))
    texts += ["ab ab abca<|end|>2<|end|>[x]", "a\nb\r\nc", " a b abca", ""]
    for text in texts:
        assert official.encode_ordinary(text) == ours.encode_ordinary(text)
        assert official.encode(text) == ours.encode(text, allowed_special="all")
    assert conversion.verify(conversion.load(path), spec, texts=[]).proof


@st.composite
def merge_lists(draw):
    """Merges in any order that minbpe can have: each of tokens made before, no token made twice."""
    tokens = [b"a", b"b", b"c", b"\xc3", b"\xa9"]
    merges = []
    for left, right in draw(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=20)):
        pair = tokens[left % len(tokens)], tokens[right % len(tokens)]
        if pair[0] + pair[1] not in tokens:
            tokens.append(pair[0] + pair[1])
            merges.append(pair)
    return tuple(merges)


@settings(max_examples=60)
@given(merge_lists(), st.lists(st.text("abcé ", max_size=20), max_size=4), difficult_text())
def test_any_merges_give_the_ids_of_minbpe(tmp_path_factory, merges, texts, text):
    spec = spec_of_merges(merges, pattern=r"\s?\S+|\s")
    path, *_ = conversion.save(spec, tmp_path_factory.mktemp("x") / "x.model", format="minbpe")
    found = conversion.load(path)
    assert (found.vocab, found.merges) == (spec.vocab, spec.merges)
    for text in texts:
        assert Encoder(found).encode_ordinary(text) == Loaded(path).encode_ordinary(text)


def test_a_file_of_minbpe_is_read(tmp_path):
    path = tmp_path / "x.model"
    path.write_text("minbpe v1\n\n1\n<s> 258\n97 98\n256 99\n")
    found = conversion.load(path)
    assert (found.pattern, found.provenance["format"]) == (None, "minbpe")
    assert found.merges == ((b"a", b"b"), (b"ab", b"c"))
    assert Encoder(found).encode("abcab<s>", allowed_special="all") == Loaded(path).encode("abcab<s>") == [257, 256, 258]


def test_windows_line_ends_are_no_harm(tmp_path):
    path = tmp_path / "x.model"
    path.write_bytes(b"minbpe v1\r\n\r\n0\r\n97 98\r\n")
    assert Encoder(conversion.load(path)).encode_ordinary("ab") == Loaded(path).encode_ordinary("ab") == [256]


def test_a_special_token_that_merging_makes_too(tmp_path):
    spec = spec_of_merges(MERGES, added_tokens=(AddedToken("ab", 256),))
    path, *_ = conversion.save(spec, tmp_path / "x.model", format="minbpe")
    assert conversion.load(path) == spec


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (lambda: TokenizerSpec({t: i ^ 1 for t, i in BYTES.items()}, ()), "byte 0x00 the id 0, and here it has id 1"),
        (
            lambda: TokenizerSpec(BYTES | {b"ab": 257}, ((b"a", b"b"),)),
            "1. merge makes the id 256, and b'a' \\+ b'b' makes id 257",
        ),
        (lambda: TokenizerSpec(BYTES | {b"ab": 256}, ()), "no token that no merge makes, such as b'ab'"),
        (
            lambda: TokenizerSpec(BYTES | {b"abc": 256, b"bc": 257}, ((b"a", b"bc"), (b"b", b"c"))),
            "b'a' \\+ b'bc' makes id 256 of id 257",
        ),
        (lambda: byte_spec(added_tokens=(AddedToken("a b", 300),)), "'a b': its name holds white space"),
        (lambda: byte_spec(added_tokens=(AddedToken("\u3000", 300),)), "its name holds white space"),
    ],
)
def test_what_the_file_cannot_hold_is_refused_even_if_loss_is_allowed(tmp_path, spec, complaint):
    for allow_lossy in (False, True):
        with pytest.raises(ConversionRefused, match=complaint):
            conversion.save(spec(), tmp_path / "x.model", format="minbpe", allow_lossy=allow_lossy)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"added_tokens": (AddedToken("<s>", 300, special=False),)}, "always matched"),
        ({"added_tokens": (AddedToken("<s>", 300, rstrip=True),)}, "rstrip"),
        # merging `abcd` ends in a, bc, d, so only a look at the whole piece finds it
        ({"merges": ((b"b", b"c"), (b"a", b"b"), (b"c", b"d"), (b"ab", b"cd")), "ignore_merges": True}, r"1 tokens .* b'abcd'"),
    ],
)
def test_what_the_file_cannot_say_is_refused_or_goes_into_a_sidecar(tmp_path, fields, complaint):
    spec = spec_of_merges(fields.pop("merges", MERGES), **fields)
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "x.model", format="minbpe")
    path, *_ = conversion.save(spec, tmp_path / "x.model", format="minbpe", allow_lossy=True)
    assert conversion.load(path) == spec
    assert Loaded(path).merges


def test_the_name_must_be_one_that_minbpe_loads(tmp_path):
    with pytest.raises(FormatError, match=r"whose name ends in .model"):
        conversion.save(byte_spec(), tmp_path / "x.bin", format="minbpe")


# -- damaged files ----------------------------------------------------------------------------------------------------


def content_of(spec) -> bytes:
    return minbpe.FORMAT.write(spec, "x.model", Checks())["x.model"]


SOUND = spec_of_merges(MERGES, pattern=NAMED_PATTERNS["gpt2"].pattern, added_tokens=(AddedToken("<s>", 300),))


def test_truncated_files_are_refused_or_shorter(tmp_path):
    content = content_of(SOUND)
    for part in hostile.truncated(content):
        if part.endswith(b"\n") and part.count(b"\n") >= 4:
            continue  # nothing says how many merges there are, so this is a sound file with fewer of them
        hostile.refused(tmp_path / "x.model", part, "minbpe")


def test_changed_files_are_read_or_refused(tmp_path):
    for content in hostile.flipped(content_of(SOUND)):
        hostile.read_or_refused(tmp_path / "x.model", content, "minbpe")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "line 1: expected 'minbpe v1'"),
        (b"minbpe v2\n\n0\n", "line 1: expected 'minbpe v1', found 'minbpe v2'"),
        (b"minbpe v1\n", "line 3: the file ends before the number"),
        (b"minbpe v1\n\n0\n97 98", "line 4: does not end with a line break"),
        (b"minbpe v1\n\n5\n<s> 300\n", "line 3: 5 special tokens, and 1 lines follow"),
        (b"minbpe v1\n\n99999999999999999999\n", "line 3: expected a number in"),
        (b"minbpe v1\n\n-1\n", "line 3: expected a number in"),
        (b"minbpe v1\n\n1\n<s>\n", "line 4: expected a special token and its id"),
        (b"minbpe v1\n\n1\na b 3\n", "line 4: expected a special token and its id"),
        (b"minbpe v1\n\n1\n<s> 5\n", "added token '<s>' has id 5, which is"),
        (b"minbpe v1\n\n2\n<s> 300\n<s> 301\n", "more than once"),
        (b"minbpe v1\n\n0\n97\n", "line 4: expected a pair of ids"),
        (b"minbpe v1\n\n0\n97 x\n", "line 4: expected a number"),
        (b"minbpe v1\n\n0\n97 256\n", "line 4: id 256 is not made by any line before"),
        (b"minbpe v1\n\n0\n97 98\n97 \xc2\xb2\n", "line 5: expected a number"),
        (b"minbpe v1\n\xff\n0\n", "not UTF-8"),
    ],
)
def test_a_damaged_file_is_named_with_place_and_reason(tmp_path, content, complaint):
    assert regex.search(complaint, hostile.refused(tmp_path / "x.model", content, "minbpe"))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("minbpe v1\n\n0\n97 98\n98 99\n256 99\n97 257\n", "line 7: .* makes b'abc', which id 258 is already"),
        ("minbpe v1\n\n0\n97 98\n97 98\n", "line 5: .* makes b'ab', which id 256 is already"),
        ("minbpe v1\n(a)b\n0\n", "line 2: .*captures groups"),
        ("minbpe v1\na*\n0\n", "line 2: .*empty string"),
        ("minbpe v1\n(\n0\n", "line 2"),
        ("minbpe v1\n\n2\n<s> 300\n<s>x 301\n", "line 5: '<s>x' begins with '<s>', which stands before it"),
    ],
)
def test_a_file_that_means_something_else_to_minbpe_is_refused(tmp_path, content, complaint):
    path = tmp_path / "x.model"
    path.write_text(content)
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.load(path)
