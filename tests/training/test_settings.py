"""Every knob: what it does on a corpus small enough to merge by hand, what contradicts it, and that the tokenizer tells of it."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Iterator
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hf_bpe
from hf_bpe.errors import PatternError, TrainingError
from hf_bpe.training import dialects
from hf_bpe.training.given_settings import byte_level_settings
from hf_bpe.training.settings import SETTINGS_KEY, ByteLevelSettings
from tests.support.text import difficult_text, plain_text

pytestmark = pytest.mark.filterwarnings("ignore:only .* merges asked for were found")

ENGINES = ["native", "reference"]


@pytest.fixture(params=ENGINES)
def train(request):
    def run(texts: list[str], vocab_size: int, **options: object) -> hf_bpe.TokenizerSpec:
        options = {"pattern": None, "min_frequency": 1, "progress": False, "engine": request.param} | options
        return hf_bpe.train(iter(texts), vocab_size, **options)

    return run


def made(spec: hf_bpe.TokenizerSpec) -> list[str]:
    return [(left + right).decode("utf-8", "backslashreplace") for left, right in spec.merges]


def test_reserved_tokens_follow_the_special_ones(train):
    spec = train(["abab"], 260, special_tokens=["<|end|>"], reserved_tokens=2)
    assert spec.special_tokens == {"<|end|>": 257, "<|reserved_0|>": 258, "<|reserved_1|>": 259}


def test_reserved_names_that_are_taken_are_passed_over(train):
    spec = train(["abab"], 260, special_tokens=["<|reserved_0|>"], reserved_tokens=2)
    assert list(spec.special_tokens) == ["<|reserved_0|>", "<|reserved_1|>", "<|reserved_2|>"]


def test_the_size_is_exact_where_the_text_yields_it(train):
    for size in (256, 257, 259):
        assert train(["aaabdaaabac"], size).vocab_size == size


def test_what_the_text_does_not_yield_is_reserved(train):
    spec = train(["abab"], 260, shortfall="reserve", special_tokens=["<|end|>"])
    assert spec.vocab_size == spec.n_vocab == 260
    assert made(spec) == ["ab", "abab"]
    assert spec.special_tokens == {"<|end|>": 258, "<|reserved_0|>": 259}


def test_what_the_text_does_not_yield_is_an_error_on_request(train):
    with pytest.raises(TrainingError, match="only 2 of the 44 merges asked for were found"):
        train(["abab"], 300, shortfall="error")


def test_the_alphabet_comes_first_then_spaces_then_texts(train):
    spec = train(["zzzz"], 263, initial_alphabet="éa", space_runs=3, forced_tokens=["abc"])
    assert made(spec) == ["é", "  ", "   ", "ab", "abc", "zz", "zzzz"]
    encoder = hf_bpe.Encoder(spec)
    assert [encoder.encode_ordinary(text) for text in ("é", "  ", "   ", "abc")] == [[256], [257], [258], [260]]


def test_forced_tokens_take_part_in_what_is_learnt(train):
    # Without the forced "ab", "bc" would be merged first.
    assert made(train(["abc bc bc", "abc"], 258)) == ["bc", " bc"]
    assert made(train(["abc bc bc", "abc"], 258, forced_tokens=["ab"])) == ["ab", " b"]


def test_forbidden_tokens_are_never_made_nor_gone_through(train):
    assert made(train(["abcabcabc"], 259)) == ["ab", "abc", "abcabc"]
    assert made(train(["abcabcabc"], 259, forbidden_tokens=["ab"])) == ["bc", "abc", "abcabc"]
    assert made(train(["abcabcabc"], 258, forbidden_tokens=["ab", "bc"])) == ["ca", "bca"]


def test_forbidden_merges_leave_other_ways_to_the_token(train):
    assert made(train(["abcabcabc"], 258, forbidden_merges=[("ab", "c")])) == ["ab", "cab"]
    assert made(train(["abcabcabc"], 258, forbidden_merges=[["a", "b"]])) == ["bc", "abc"]


def test_forbidden_patterns_are_searched_in_tokens(train):
    spec = train(["a1a1a1b22b22b22"], 262, forbidden_patterns=["letters-with-digits"])
    assert made(spec) == ["22"]
    assert made(train(["éèéè"], 258, forbidden_patterns=[r"[^\x00-\x7f]"], shortfall="reserve")) == []


@pytest.mark.parametrize(
    ("digits", "tokens"), [("single", []), ("up-to-three", ["00", "200"]), ("right-aligned", ["00", "000"])]
)
def test_digits_are_learnt_in_their_groups(train, digits, tokens):
    spec = train(["2000", "2000"], 258, pattern=r"\p{N}+|\P{N}+", digits=digits, shortfall="reserve")
    assert made(spec)[:2] == tokens[:2]
    assert "2000" not in made(spec)


@settings(max_examples=15)
@given(texts=st.lists(st.one_of(difficult_text(), plain_text("ab1 ")), min_size=1, max_size=5).filter(any), data=st.data())
def test_both_engines_learn_the_same_with_any_settings(texts, data):
    chosen = {
        "pattern": data.draw(st.sampled_from(["gpt2", "cl100k", "indic"])),
        "digits": data.draw(st.sampled_from([None, "single", "right-aligned"])),
        "space_runs": data.draw(st.integers(0, 5)),
        "forced_tokens": data.draw(st.lists(st.sampled_from(["ab", "abb", " a"]), max_size=3, unique=True)),
        "forbidden_tokens": data.draw(st.lists(st.sampled_from(["ba", "aa", "1 "]), max_size=2)),
        "forbidden_patterns": data.draw(st.lists(st.sampled_from([r"[.,]\S", "a{2}", "beyond-ascii"]), max_size=1)),
        "superwords": data.draw(st.sampled_from([None, "lines", "sentences"])),
        "min_frequency": data.draw(st.integers(1, 3)),
        "shortfall": "reserve",
        "progress": False,
    }
    if chosen["superwords"]:
        chosen |= {"superword_max_words": data.draw(st.sampled_from([None, 1, 2]))}
    native = hf_bpe.train(iter(texts), 300, engine="native", **chosen)
    assert native == hf_bpe.train(iter(texts), 300, engine="reference", **chosen)
    tokens = [left + right for left, right in native.merges]
    assert not {b"ba", b"aa", b"1 "} & {*tokens} & {text.encode() for text in chosen["forbidden_tokens"]}


def test_a_rule_that_raises_ends_the_training_with_its_error():
    from hf_bpe.engine import native
    from hf_bpe.training.words import Words

    def fail(left: bytes, right: bytes) -> bool:
        raise LookupError(left + right)

    with pytest.raises(LookupError, match="ab"):
        native.learn_merges(
            Words.of([(b"ab", 2)]), 1, min_frequency=1, max_token_length=None, ties="lowest ids", progress=len, forbids=fail
        )


def test_given_merges_of_unknown_tokens_are_refused():
    from hf_bpe.engine import native
    from hf_bpe.training.words import Words

    with pytest.raises(hf_bpe.HfBpeError, match="merge 1 uses"):
        native.learn_merges(
            Words.of([(b"ab", 2)]),
            3,
            min_frequency=1,
            max_token_length=None,
            ties="lowest ids",
            progress=len,
            start=[(97, 98), (257, 97)],
        )


# ---------------------------------------------------------------------------------------------------------------------
# Contradictions


def never() -> Iterator[str]:
    raise AssertionError("the corpus was read")
    yield ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reserved_tokens": -1}, "reserved_tokens must be at least 0"),
        ({"reserved_tokens": True}, "must be a whole number, not True"),
        ({"vocab_size": 260, "reserved_tokens": 5}, "256 bytes and 5 special tokens need at least 261"),
        ({"vocab_size": 257, "forced_tokens": ["abc"]}, "and 2 merges that are forced, need at least 258"),
        ({"space_runs": -2}, "space_runs must be at least 0"),
        ({"forced_tokens": "abc"}, "forced_tokens must be a list of texts, not the one text 'abc'"),
        ({"forced_tokens": [""]}, "forced_tokens holds an empty text"),
        ({"forced_tokens": ["\ud800"]}, "lone surrogate"),
        ({"forced_tokens": ["a b"], "pattern": "gpt2"}, "the split pattern never leaves it whole"),
        ({"forced_tokens": ["12"], "pattern": "gpt2", "digits": "single"}, "the split pattern never leaves it whole"),
        ({"forced_tokens": ["abc"], "max_token_length": 2}, "longer than max_token_length=2"),
        ({"forced_tokens": ["abc"], "forbidden_tokens": ["ab"]}, "is forbidden"),
        ({"forced_tokens": ["<a>"], "special_tokens": ["<a>"]}, "cannot be both special tokens and tokens that are merged"),
        ({"initial_alphabet": 3}, "initial_alphabet must be a text"),
        ({"forbidden_merges": ["ab"]}, "forbidden_merges must be a list of pairs"),
        ({"forbidden_merges": [("a", "")]}, "forbidden_merges must be a list of pairs"),
        ({"forbidden_patterns": ["no-such-rule"]}, "no rule is named 'no-such-rule'"),
        ({"digits": "single", "pattern": None}, "needs a split pattern"),
        ({"shortfall": "ignore"}, "shortfall must be"),
        ({"superwords_from": 300}, "superwords is None"),
        ({"superword_max_words": 3}, "superwords is None"),
        ({"superwords": "lines", "pattern": None}, "need a first stage that splits"),
        ({"superwords": "lines", "stages": [r"\d"], "pattern": "gpt2"}, "leave one of them out"),
        ({"superwords": "lines", "superwords_from": 100, "pattern": "gpt2"}, "must lie between 256"),
        ({"superwords": "lines", "superwords_from": 301, "pattern": "gpt2"}, "must lie between 256.*and vocab_size 300"),
        ({"min_frequency": 1.5}, "min_frequency must be a whole number"),
        ({"mergers": 1}, "mergers"),
        ({"like": "gpt2"}, "like must be a TokenizerSpec"),
    ],
)
def test_contradictions_are_refused_before_any_text_is_read(options, message):
    with pytest.raises(TrainingError, match=message):
        hf_bpe.train(never(), **({"vocab_size": 300, "pattern": None} | options))


@pytest.mark.parametrize(
    "options",
    [{"digits": "pairs"}, {"digits": "single", "pattern": r"\w+"}, {"forbidden_patterns": ["("]}, {"superwords": "a*"}],
)
def test_patterns_are_checked_before_any_text_is_read(options):
    with pytest.raises(PatternError):
        hf_bpe.train(never(), 300, **options)


# ---------------------------------------------------------------------------------------------------------------------
# What the tokenizer tells of them, and training another like it


def test_provenance_tells_what_was_not_the_default(train):
    spec = train(["abab"], 258, forbidden_tokens=["ba"], space_runs=2)
    assert json.loads(spec.provenance[SETTINGS_KEY]) == {"space_runs": 2, "min_frequency": 1, "forbidden_tokens": ["ba"]}
    assert spec.provenance["pairs merged if seen"] == "1 times or more"


def test_like_takes_split_specials_and_settings_over(train):
    first = train(
        ["a1 a1 b"], 265, pattern="gpt2", digits="single", special_tokens=["<|end|>"], space_runs=2, normalizer="NFC", max_token_length=3,
        forbidden_merges=[("a", "b")], shortfall="reserve",
    )  # fmt: skip
    again = hf_bpe.train(iter(["a1 a1 b"]), 265, like=first, progress=False)
    assert again == first
    assert again.provenance == first.provenance
    other = hf_bpe.train(iter(["é" * 9]), 300, like=first, special_tokens=["<s>"], min_frequency=2, progress=False)
    assert (other.pattern, other.normalizer) == (first.pattern, first.normalizer)
    assert next(iter(other.special_tokens)) == "<s>"
    assert json.loads(other.provenance[SETTINGS_KEY])["space_runs"] == 2


def test_like_a_superword_tokenizer_has_both_stages_again():
    texts = ["by the way " * 9, "in the end 1234 " * 9]
    first = hf_bpe.train(iter(texts), 300, pattern="qwen2", superwords="lines", superwords_from=270, progress=False)
    assert hf_bpe.train(iter(texts), 300, like=first, progress=False) == first


def test_like_a_tokenizer_that_was_not_trained_here():
    spec = byte_level_settings(
        {}, like=hf_bpe.TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=(), pattern=r"a|[^a]+")
    )
    assert spec == ByteLevelSettings(pattern=r"a|[^a]+")


@pytest.mark.parametrize("told", ["{", "[]", "3", '{"min_frequency": "x", "unknown": 1}'])
def test_a_provenance_that_is_nonsense_is_no_reason_to_fail_silently(told):
    spec = hf_bpe.TokenizerSpec(
        vocab={bytes([b]): b for b in range(256)}, merges=(), pattern="a|[^a]+", provenance={SETTINGS_KEY: told}
    )
    if "min_frequency" in told:
        with pytest.raises(TrainingError, match="min_frequency"):
            byte_level_settings({}, like=spec)
    else:
        assert byte_level_settings({}, like=spec) == ByteLevelSettings(pattern="a|[^a]+")


def test_editors_see_every_setting():
    [overload] = [
        found for found in typing.get_overloads(dialects.train) if "superwords" in inspect.signature(found).parameters
    ]
    shown = {name: parameter.default for name, parameter in inspect.signature(overload).parameters.items()}
    for field in fields(ByteLevelSettings):
        assert shown[field.name] == field.default
