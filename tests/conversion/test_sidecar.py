from __future__ import annotations

import json

import pytest

import conversion
from hf_bpe import AddedToken, FormatError, TokenizerSpec
from tests.conversion.support import small_spec, write_json
from tests.support.vocabularies import BYTES


@pytest.fixture
def saved(tmp_path):
    """A rank file and its sidecar."""
    return conversion.save(small_spec(), tmp_path / "x.tiktoken")


def change(path, **values):
    data = json.loads(path.read_text()) | values
    write_json(path, {key: value for key, value in data.items() if value is not ...})


def test_it_carries_what_the_file_cannot_say(tmp_path):
    flagged = AddedToken("<u>", 300, special=False, single_word=True, lstrip=True, rstrip=True, normalized=True)
    spec = small_spec(pattern="[ab]+", unmatched="drop", added_tokens=(flagged, AddedToken("<s>", 301)))
    spec = spec.replace(ignore_merges=True)
    conversion.save(spec, tmp_path / "x.tiktoken", allow_lossy=True)
    assert conversion.load(tmp_path / "x.tiktoken") == spec


def test_merges_stand_in_it_only_where_the_ranks_do_not_imply_them(tmp_path, saved):
    assert "merges" not in json.loads(saved[1].read_text())
    other = TokenizerSpec(vocab=BYTES | {b"ab": 256, b"bc": 257}, merges=((b"b", b"c"), (b"a", b"b")))
    _, sidecar, _ = conversion.save(other, tmp_path / "y.tiktoken", allow_lossy=True)
    assert json.loads(sidecar.read_text())["merges"] == [[98, 99], [97, 98]]
    assert conversion.load(tmp_path / "y.tiktoken") == other


def test_what_the_caller_says_comes_first(saved):
    spec = conversion.load(saved[0], pattern="gpt2", special_tokens={"<x>": 999})
    assert (spec.pattern, spec.special_tokens) == (conversion.load(saved[0], pattern="gpt2").pattern, {"<x>": 999})
    assert conversion.load(saved[0], pattern=None).special_tokens == small_spec().special_tokens


@pytest.mark.parametrize("name", ["x.tiktoken", "pair"])
def test_a_pattern_of_the_callers_comes_in_the_place_of_all_stages(tmp_path, name):
    options = {"format": "vocab-merges"} if name == "pair" else {"allow_lossy": True}
    conversion.save(small_spec(stages=("a",)), tmp_path / name, **options)
    assert conversion.load(tmp_path / name).stages == ("a",)
    assert conversion.load(tmp_path / name, pattern="gpt2").stages == ()


def test_one_that_belongs_to_another_file_is_refused(saved):
    main, sidecar = saved
    main.write_bytes(main.read_bytes() + b"enp6 999\n")
    with pytest.raises(FormatError, match=r"x.tiktoken.hf_bpe.json: stale: it was written for another x.tiktoken"):
        conversion.load(main)
    with pytest.raises(FormatError, match="stale"):
        conversion.load(main, pattern="gpt2", special_tokens={})
    sidecar.unlink()
    assert conversion.load(main, pattern="gpt2").vocab[b"zzz"] == 999


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt"])
def test_a_folders_sidecar_belongs_to_both_files(tmp_path, name):
    conversion.save(small_spec(), tmp_path, format="vocab-merges")
    path = tmp_path / name
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(FormatError, match=f"stale: it was written for another {name}"):
        conversion.load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": "something else"}, "not a sidecar of this package"),
        ({"version": 2}, "sidecar version 2 is not 1; update hf-bpe"),
        ({"version": True}, "sidecar version True is not 1"),
        ({"files": ...}, r"\$.files is missing"),
        ({"files": []}, r"\$.files must be an object"),
        ({"files": {}}, "stale"),
        ({"pattern": ...}, r"\$.pattern is missing"),
        ({"pattern": 1}, r"\$.pattern must be a string"),
        ({"pattern": "(a"}, "expected '\\)'"),
        ({"pattern": "a*"}, "can match the empty string"),
        ({"unmatched": "both"}, r"\$.unmatched must be 'keep' or 'drop'"),
        ({"ignore_merges": 0}, r"\$.ignore_merges must be true or false"),
        ({"added_tokens": None}, r"\$.added_tokens must be a list"),
        ({"added_tokens": [1]}, r"\$.added_tokens\[0\] must be an object"),
        ({"added_tokens": [{"content": "x"}]}, r"\$.added_tokens\[0\].special is missing"),
        ({"in_vocab": ...}, r"\$.in_vocab is missing"),
        ({"in_vocab": [-1]}, r"\$.in_vocab\[0\]: the id must be"),
        ({"stages": "a"}, r"\$.stages must be a list"),
        ({"stages": [1]}, r"\$.stages\[0\] must be a pattern, not 1"),
        ({"stages": ["a*"]}, r"\$.stages\[0\]: .*can match the empty string"),
        ({"stages": ["a"], "pattern": None}, "stages but no pattern"),
        ({"merges": [[1]]}, r"\$.merges\[0\] must be a pair of ids"),
        ({"merges": [[1, True]]}, r"\$.merges\[0\]: the id must be an integer"),
        ({"merges": [[1, 9999]]}, "merges id 9999, which the vocabulary does not hold"),
        ({"merges": [[1, 2]]}, "merges use or make tokens that are not in vocab"),
    ],
)
def test_a_damaged_one_is_named_with_place_and_reason(saved, changes, complaint):
    change(saved[1], **changes)
    with pytest.raises(FormatError, match=complaint) as caught:
        conversion.load(saved[0])
    assert str(saved[0]) in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"null", b'{"format": "hf_bpe sidecar", "format": ""}'])
def test_one_that_is_no_json_object_is_refused(saved, content):
    saved[1].write_bytes(content)
    with pytest.raises(FormatError, match=r"x.tiktoken.hf_bpe.json"):
        conversion.load(saved[0])


def test_a_file_may_be_renamed_together_with_its_sidecar(tmp_path):
    conversion.save(small_spec(), tmp_path / "x.tiktoken")
    (tmp_path / "x.tiktoken").rename(tmp_path / "y.tiktoken")
    (tmp_path / "x.tiktoken.hf_bpe.json").rename(tmp_path / "y.tiktoken.hf_bpe.json")
    assert conversion.load(tmp_path / "y.tiktoken") == small_spec()
    (tmp_path / "y.tiktoken").write_bytes(b"IQ== 0\n")
    with pytest.raises(FormatError, match=r"stale: it was written for x\.tiktoken \(not y\.tiktoken"):
        conversion.load(tmp_path / "y.tiktoken")
