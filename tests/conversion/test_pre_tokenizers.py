"""Each pre-tokenizer of tokenizer.json, alone and in rows, cuts as it does in `tokenizers`."""

from __future__ import annotations

import json
import random
from itertools import product

import pytest
from tokenizers import Tokenizer, pre_tokenizers

from conversion.tokenizer_json import from_dict, to_dict
from conversion.tokenizer_json.byte_level_split import pre_tokenizer_for
from hf_bpe import NAMED_PATTERNS, Encoder, SpecError
from hf_bpe.pattern_syntax import parse, render
from hf_bpe.pattern_syntax.fusion import fused
from hf_bpe.patterns import find_named_pattern
from tests.conversion.support import small_spec
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.text import assigned_code_points, every_code_point, generated_text
from tests.support.vocabularies import byte_spec

WHOLE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
GPT2 = WHOLE | {"use_regex": True}
MAIN = str(NAMED_PATTERNS["gpt2"].pattern)
NEW_DIGITS = {chr(c) for c in (*range(0x11DE0, 0x11DEA), *range(0x16FF4, 0x16FF7))}  # Digits knows Unicode 17
BEHAVIORS = ["Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext", "Removed"]


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def digits(individual):
    return {"type": "Digits", "individual_digits": individual}


def punctuation(behavior):
    return {"type": "Punctuation", "behavior": behavior}


def document(*steps):
    pre_tokenizer = {"type": "Sequence", "pretokenizers": list(steps)}
    return to_dict(small_spec()) | {"pre_tokenizer": pre_tokenizer, "added_tokens": []}


def read(*steps):
    return from_dict(document(*steps), "x")


def theirs(pre_tokenizer):
    """The pieces of `tokenizers`."""
    nothing = dict.fromkeys(["truncation", "padding", "normalizer", "post_processor", "decoder"])
    model = {"type": "BPE", "vocab": {}, "merges": []}
    data = {"version": "1.0", **nothing, "added_tokens": [], "pre_tokenizer": pre_tokenizer, "model": model}
    steps = Tokenizer.from_str(json.dumps(data)).pre_tokenizer
    return lambda text: [text[start:end] for _, (start, end) in steps.pre_tokenize_str(text)]


ROWS = {
    **{
        f"{behavior} {'inverted ' * invert}{name} {then}": [split(pattern, behavior, invert), last]
        for behavior, invert, (name, pattern), (then, last) in product(
            BEHAVIORS,
            (False, True),
            {"class": r"[a\s]", "run": r"\s+", "short run": r"\p{L}{1,3}", "choice": "ab|a?c"}.items(),
            {"": WHOLE, "then gpt2": GPT2}.items(),
        )
        if (behavior, name, invert) != ("Removed", "choice", False)
    },
    **{f"literal {behavior}": [split("a b", behavior, behavior == "Removed", "String"), WHOLE] for behavior in BEHAVIORS},
    **{f"literal space {behavior}": [split(" ", behavior, kind="String"), GPT2] for behavior in BEHAVIORS},
    "a regular expression as literal": [split(r"\p{N}{1,3}", kind="String"), GPT2],
    "a literal with meta-characters": [split("a.b", kind="String"), WHOLE],
    "StarCoder": [digits(True), GPT2],
    "runs of digits": [digits(False), GPT2],
    "digits alone": [digits(True), WHOLE],
    "SmolLM": [digits(True), split(MAIN), WHOLE],
    "BLOOM": [split(" ?[^(\\s|[.,!?…。，、।۔،])]+"), WHOLE],
    "Falcon, before the bytes are spelled": [
        punctuation("Contiguous"), split(MAIN), digits(False), split("[0-9][0-9][0-9]"), WHOLE,
    ],
    **{f"punctuation {behavior}": [punctuation(behavior), GPT2] for behavior in BEHAVIORS},
    "punctuation by default": [{"type": "Punctuation"}, WHOLE],
    "Whitespace": [{"type": "Whitespace"}, WHOLE],
    "WhitespaceSplit": [{"type": "WhitespaceSplit"}, WHOLE],
    "WhitespaceSplit, then others": [{"type": "WhitespaceSplit"}, digits(True), GPT2],
    "CharDelimiterSplit": [{"type": "CharDelimiterSplit", "delimiter": "e"}, GPT2],
    "FixedLength": [{"type": "FixedLength", "length": 5}, WHOLE],
    "a sequence in a sequence": [{"type": "Sequence", "pretokenizers": [digits(True)]}, GPT2],
}  # fmt: skip
BITS = [
    "a",
    "b",
    "c",
    "a b",
    "a.b",
    " ",
    "  ",
    "\n",
    "1",
    "12345",
    "\u00b2",
    "٣",
    ".",
    ",!",
    "é",
    "中",
    r"\p{N}{1,3}",
    "'s",
    "_",
    "e\u0301",
]
DRAW = random.Random(7)
TEXTS = ["", *("".join(DRAW.choices(BITS, k=DRAW.randrange(9))) for _ in range(120)), generated_text(3, 400)]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_steps_cuts_as_in_tokenizers_and_is_written_again(row):
    spec = read(*ROWS[row])
    official = theirs({"type": "Sequence", "pretokenizers": ROWS[row]})
    written = theirs(pre_tokenizer_for(spec))
    bytes_only = byte_spec(spec.pattern, unmatched=spec.unmatched, stages=spec.stages)
    native, reference = Encoder(bytes_only, engine="native"), Encoder(bytes_only, engine="reference")
    for text in TEXTS:
        pieces = official(text)
        assert native.pretokenize(text) == pieces, text
        assert reference.pretokenize(text) == pieces, text
        assert written(text) == pieces, text
        ours, theirs_spans = (engine.encode_with_offsets(text) for engine in (native, reference))
        assert ours[1].tolist() == theirs_spans[1].tolist(), text
    again = from_dict(to_dict(spec), "x")
    assert (again.pattern, again.unmatched, again.stages) == (spec.pattern, spec.unmatched, spec.stages)


@pytest.mark.parametrize("row", ["StarCoder", "Falcon, before the bytes are spelled", "literal space Removed"])
def test_ids_of_a_row_are_those_of_tokenizers(row):
    data = document(*ROWS[row])
    stock, spec = Tokenizer.from_str(json.dumps(data)), from_dict(data, "x")
    for engine in ("native", "reference"):
        assert Encoder(spec, engine=engine).encode_ordinary_batch(TEXTS) == [stock.encode(text).ids for text in TEXTS]


@pytest.mark.parametrize(
    "step",
    [digits(False), punctuation("Contiguous"), {"type": "Whitespace"}, {"type": "WhitespaceSplit"}],
    ids=lambda step: step["type"],
)
def test_the_classes_of_a_step_hold_for_every_assigned_code_point(step):
    spec = read(step, WHOLE)
    native = Encoder(byte_spec(spec.pattern, unmatched=spec.unmatched), engine="native")
    text = "".join(
        character for character in (*assigned_code_points(), *every_code_point()[::99]) if character not in NEW_DIGITS
    )
    assert native.pretokenize(text) == theirs({"type": "Sequence", "pretokenizers": [step, WHOLE]})(text)


def test_digits_of_unicode_17_are_the_known_difference():
    """`tokenizers` 0.23 asks Rust's own tables in this one step, and Unicode 16's everywhere else."""
    found = pre_tokenizers.Digits(individual_digits=True)
    assert all(len(found.pre_tokenize_str(f"a{c}b")) == 3 for c in NEW_DIGITS)
    assert Encoder(byte_spec(r"\p{N}")).pretokenize("a\U00011de0b") == ["a\U00011de0b"]


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [(r"\p{N}", MAIN, "starcoder"), (r"[\p{Nd}\p{Nl}\p{No}]", TIKTOKEN_PATTERNS["gpt2"].replace(r"\s++$|", ""), "starcoder")],
)
def test_fused_splits_are_recognised_as_the_published_ones(first, second, name):
    both = fused(parse(first), parse(second))
    assert both is not None
    assert find_named_pattern(render(both, "regex")) is NAMED_PATTERNS[name]


def test_published_families_stay_one_pattern_with_fast_rules():
    assert (
        read(digits(True), GPT2).pattern
        == read(digits(True), split(MAIN), WHOLE).pattern
        == NAMED_PATTERNS["starcoder"].pattern
    )
    assert (
        read(*(split(stage) for stage in NAMED_PATTERNS["deepseek-v3"].stages), WHOLE).pattern
        == NAMED_PATTERNS["deepseek-v3"].pattern
    )
    assert read(split(TIKTOKEN_PATTERNS["kimi"]), WHOLE).pattern == NAMED_PATTERNS["kimi"].pattern


@pytest.mark.parametrize("first", ["ab", "a|bc", r"(?=a)a", r"a+?", r"a{2}", "(?:ab)+"])
def test_what_is_no_run_of_a_class_is_not_fused(first):
    assert fused(parse(first), parse(MAIN)) is None


def test_runs_that_the_second_split_would_cut_are_not_fused():
    assert fused(parse(r"\p{N}+"), parse(r"\d|\S")) is None
    assert fused(parse(r"\p{N}{1,3}"), parse(r"\p{N}{2}|[\s\S]")) is None
    assert fused(parse(r"[ab]+"), parse(r"a+|b+")) is None


PARTS = [r"\s+(?!\S)", r"\s+$", r"^\S", r"\S+?(?=\s|\Z)", r"(?<=a)b|(?<!1)c", r" ?[^\s\p{L}]+", r"[^1a]+", r"(?>[ab]+1?)", r"\w{2,3}", "[a-c1]"]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), product([r"\p{N}", "[ab]", r"[^\s]+", r"\s{1,2}"], PARTS))
def test_a_fused_pattern_is_the_two_in_a_row(first, second):
    both = fused(parse(first), parse(second + r"|[\s\S]"))
    if both is None:
        return  # stages run it: the rows above
    ours = Encoder(byte_spec(render(both, "regex")))
    rows = theirs(
        {"type": "Sequence", "pretokenizers": [split(render(parse(p), "oniguruma")) for p in (first, second + r"|[\s\S]")]}
    )
    for text in TEXTS:
        assert ours.pretokenize(text) == rows(text), text


def test_stages_belong_to_the_tokenizer():
    spec = byte_spec("ab", stages=["a|c"])
    assert spec != byte_spec("ab")
    assert spec.fingerprint != byte_spec("ab").fingerprint
    assert spec.replace(ignore_merges=True).stages == ("a|c",)
    with pytest.raises(SpecError, match="stages but no pattern"):
        byte_spec(None, stages=("a",))
    with pytest.raises(SpecError, match="can match the empty string"):
        byte_spec("a", stages=("b*",))
