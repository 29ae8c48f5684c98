"""Texts are normalised as by the `tokenizers` library: same ids, same offsets, by both engines."""

from __future__ import annotations

import pickle
import random

import pytest

from conversion.nasty_strings import nasty_strings
from hf_bpe import AddedToken, DisallowedSpecialTokenError, Encoder, HfBpeError, SpecError, train
from hf_bpe.normalizers import Prepend, Replace
from tests.normalizers.support import FORMS, NAMES, library, random_spec, random_text, spec_with
from tests.support.text import varied_code_points

ENGINES = ["native", "reference"]


def assert_like_library(spec, texts, engines=ENGINES):
    stock = library(spec)
    encoders = [Encoder(spec, engine=engine) for engine in engines]
    for text in texts:
        wanted = stock.encode(text, add_special_tokens=False)
        for encoder in encoders:
            ids, offsets = encoder.encode_with_offsets(text, allowed_special="all")
            assert (ids.tolist(), list(map(tuple, offsets.tolist()))) == (wanted.ids, wanted.offsets), (
                encoder.engine,
                text,
                spec,
            )
            assert encoder.encode(text, allowed_special="all") == wanted.ids, (encoder.engine, text)


# -- against the library ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_random_tokenizers_give_the_ids_and_offsets_of_the_library(seed):
    generator = random.Random(f"normalizers {seed}")
    compared = 0
    for _ in range(25):
        spec = random_spec(generator)
        try:
            encoder = Encoder(spec)
        except HfBpeError:  # added tokens that normalising makes the same, or nothing: see below
            continue
        texts = [random_text(generator) for _ in range(12)]
        assert_like_library(spec, texts)
        reference = Encoder(spec, engine="reference")
        for text in texts:
            in_bytes = [
                e.encode_with_offsets(text, unit="bytes", allowed_special="all")[1].tolist() for e in (encoder, reference)
            ]
            assert in_bytes[0] == in_bytes[1], (text, spec)
            assert encoder.pretokenize(text) == reference.pretokenize(text)
        compared += 1
    assert compared > 15


@pytest.mark.parametrize("steps", [(name,) for name in NAMES] + [("NFD", "StripAccents", "Lowercase")])
def test_nasty_strings(steps):
    assert_like_library(spec_with(*steps, pattern="qwen2"), nasty_strings(), ["native"])


@pytest.mark.parametrize("step", [*FORMS, "Lowercase", "StripAccents"])
def test_code_points_alone_behind_a_letter_and_before_a_mark(step):
    # All of them against the crate that the library uses: native/tests/normalizing.rs.
    text = "".join(f"{character}\ne{character}\u0316\n" for character in varied_code_points())
    wanted = library(spec_with(step)).normalizer.normalize_str(text)
    (found,) = Encoder(spec_with(step, pattern=None), engine="native").pretokenize(text)
    assert found == wanted, next(
        pair for pair in zip(found.split("\n"), wanted.split("\n"), strict=False) if pair[0] != pair[1]
    )


@pytest.mark.parametrize("step", FORMS)
def test_a_long_run_of_marks_and_one_far_into_plain_text(step):
    marks = "\u0301\u0316\u0345" * 100
    texts = ["a" * 100 + "e" + marks + "b" * 100, marks, "x" * 33 + "\u0301", "é" * 40 + "\u1100\u1161\u11a8" * 40, "ab\u0301"]
    assert_like_library(spec_with(step), texts, ["native"])


# -- what a step does -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("steps", "text", "pieces"),
    [
        (["NFC"], "e\u0301 \u1112\u1161\u11ab", ["é", " 한"]),
        (["NFD"], "é", ["e", "\u0301"]),
        (["NFKC"], "ﬁ ①", ["fi", " 1"]),
        (["NFKD"], "ﬁé", ["fie", "\u0301"]),
        (["Lowercase"], "ΑΣ İ", ["ασ", " i", "\u0307"]),
        (["StripAccents"], "e\u0301é", ["eé"]),
        (["Strip"], " \u3000a b\n", ["a", " b"]),
        (["StripLeft"], "  a ", ["a", " "]),
        (["StripRight"], " a  ", [" a"]),
        ([Prepend("x")], "a", ["xa"]),
        ([Prepend("x")], "", []),
        ([Replace(r"\s+", " ")], "a \n\tb", ["a", " b"]),
        ([Replace("a", "")], "aaa", []),
        (["Lowercase", Replace("a", "B")], "AaC", ["BBc"]),
        ([], "", []),
    ],
)
def test_steps_come_one_after_the_other(engine, steps, text, pieces):
    assert Encoder(spec_with(*steps), engine=engine).pretokenize(text) == pieces


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "pieces"), [("a", [" a"]), (" a", [" a"]), ("\ta", [" ", "\t", "a"]), ("", []), ("\xa0", [" \xa0"])]
)
def test_a_space_is_put_before_what_does_not_begin_with_a_space(engine, text, pieces):
    assert Encoder(spec_with(add_prefix_space=True), engine=engine).pretokenize(text) == pieces


@pytest.mark.parametrize("engine", ENGINES)
def test_the_prefix_stands_behind_every_added_token(engine):
    token = AddedToken("<s>", 266)
    spec = spec_with(tokens=(token,), add_prefix_space=True, pattern=None)
    ids, spans = Encoder(spec, engine=engine).encode_with_offsets("éb<s>é", allowed_special="all")
    assert ids.tolist() == [260, 98, 266, 260]
    assert spans.tolist() == [[0, 1], [1, 2], [2, 5], [5, 6]]


@pytest.mark.parametrize("engine", ENGINES)
def test_offsets_are_of_the_text_as_it_was_given(engine):
    encoder = Encoder(spec_with("NFKC", pattern=None), engine=engine)
    text = "xé e\u0301ﬁ"
    ids, spans = encoder.encode_with_offsets(text)
    assert encoder.decode(ids) == "xé éfi"
    assert spans.tolist() == [[0, 1], [1, 2], [2, 4], [5, 6], [5, 6]]  # a composed character: the first of its parts
    in_bytes = encoder.encode_with_offsets(text, unit="bytes")[1].tolist()
    assert in_bytes == [[0, 1], [1, 3], [3, 5], [7, 10], [7, 10]]


@pytest.mark.parametrize("engine", ENGINES)
def test_characters_that_stay_what_they_are_are_told_apart_to_the_byte(engine):
    encoder = Encoder(spec_with("NFC", pattern=None), engine=engine)
    _, spans = encoder.encode_with_offsets("e\u0301\u3042", unit="bytes")
    assert spans.tolist() == [[0, 1], [3, 4], [4, 5], [5, 6]]


def test_text_that_nothing_changes_has_the_offsets_of_a_tokenizer_without_normalizer():
    text = "각é 🙂 <s>"
    plain, normalising = (Encoder(spec_with(*steps)) for steps in ([], ["NFC"]))
    for unit in ("characters", "bytes"):
        found = [e.encode_with_offsets(text, unit=unit)[1].tolist() for e in (plain, normalising)]
        assert found[0] == found[1]


# -- added tokens -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_normalized_tokens_are_looked_for_after_the_others_in_normalised_text(engine):
    tokens = (AddedToken("Day", 266, special=False, normalized=True), AddedToken("[DAY]", 267, special=False))
    spec = spec_with("Lowercase", tokens=tokens)
    encoder = Encoder(spec, engine=engine)
    assert encoder.encode_ordinary("[DAY]DAY[day]") == [267, 266, 91, 266, 93]
    assert_like_library(spec, ["[DAY]DAY[day]", "monday", "[[DAY]]"], [engine])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_forbidden_token_is_found_in_what_normalising_makes_of_a_text(engine):
    written, normalised = (AddedToken("<s>", 266, normalized=normalized) for normalized in (False, True))
    forged = "a＜s＞"
    encoder = Encoder(spec_with("NFKC", tokens=(normalised,)), engine=engine)
    assert encoder.encode(forged, allowed_special="all") == [97, 266]
    for call in (encoder.encode, encoder.encode_with_offsets):
        with pytest.raises(DisallowedSpecialTokenError, match="<s>"):
            call(forged)
    # Looked for in the text as it is written, it is not forged by look-alikes.
    assert Encoder(spec_with("NFKC", tokens=(written,)), engine=engine).encode(forged) == [97, 60, 115, 62]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("steps", "contents", "complaint"),
    [
        (["Lowercase"], ["Hi", "hi"], '"Hi" and "hi" are both "hi"'),  # of which the library takes either, by chance
        (["StripAccents"], ["\u0316"], "nothing is left"),  # at which the library panics
    ],
)
def test_added_tokens_that_normalising_does_not_tell_apart_are_refused(engine, steps, contents, complaint):
    tokens = tuple(AddedToken(content, 266 + n, normalized=True) for n, content in enumerate(contents))
    with pytest.raises(HfBpeError, match=complaint.replace('"', "['\"]")):
        Encoder(spec_with(*steps, tokens=tokens), engine=engine)


# -- the spec ---------------------------------------------------------------------------------------------------------


def test_one_step_needs_no_tuple_and_a_spec_says_what_it_does():
    spec = spec_with("NFC").replace(normalizer="NFKC", add_prefix_space=True)
    assert spec.normalizer == ("NFKC",)
    assert "normalizer='NFKC, a space before the text'" in repr(spec)
    assert "normalizer" not in repr(spec_with())


def test_equality_fingerprint_and_pickles_know_the_normalizer():
    specs = [spec_with(), spec_with("NFC"), spec_with("NFD"), spec_with(add_prefix_space=True), spec_with(Prepend("a"))]
    assert len({spec.fingerprint for spec in specs}) == len(specs) == len(set(specs))
    for spec in specs:
        again = pickle.loads(pickle.dumps(Encoder(spec))).spec
        assert (again, again.normalizer, again.add_prefix_space) == (spec, spec.normalizer, spec.add_prefix_space)


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        (["nfc"], "'nfc' is not known; there are NFC"),
        ([7], "7 is not known"),
        ([Prepend(7)], "is not known"),
        ([Prepend("\ud800")], "lone surrogate"),
        ([Replace("a*", "")], "can match the empty string"),
        ([Replace("(", "")], "expected"),
    ],
)
def test_what_is_no_step_is_named(steps, complaint):
    with pytest.raises(SpecError, match=complaint):
        spec_with(*steps)


def test_only_true_and_false_say_whether_there_is_a_prefix():
    with pytest.raises(SpecError, match="add_prefix_space must be True or False, not 'yes'"):
        spec_with(add_prefix_space="yes")


# -- training ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_training_counts_normalised_text(engine):
    rules = {"vocab_size": 260, "engine": engine, "progress": False, "special_tokens": ["<É>"], "min_frequency": 1}
    decomposed = train(iter(["e\u0301te\u0301 <É>e\u0301te\u0301"]), normalizer="NFC", **rules)
    composed = train(iter(["été <É>été"]), normalizer=["NFC"], **rules)
    assert (decomposed, decomposed.normalizer) == (composed, ("NFC",))
    assert decomposed.merges == train(iter(["été <É>été"]), **rules).merges


@pytest.mark.parametrize("engine", ENGINES)
def test_training_counts_the_prefix_space(engine):
    rules = {"vocab_size": 257, "engine": engine, "progress": False, "min_frequency": 1}
    assert train(iter(["b b"]), pattern="gpt2", add_prefix_space=True, **rules).merges == ((b" ", b"b"),)
    with pytest.warns(UserWarning, match="only 0"):
        assert train(iter(["b"]), pattern="gpt2", **rules).merges == ()


def test_training_refuses_a_step_that_is_none():
    with pytest.raises(SpecError, match="'Nmt' is not known"):
        train(iter(["a"]), 300, normalizer="Nmt", progress=False)
