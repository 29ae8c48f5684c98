"""Extending keeps every id and merge, and joins runs of old ids to new ones and nothing else."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest
from tokenizers import Tokenizer

import conversion
from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, Encoder, train
from hf_bpe.editing import Habits, effect_on, extend
from hf_bpe.editing.symbols import SymbolWords
from hf_bpe.errors import EditError
from hf_bpe.training.counting.word_counts import WordCounts
from tests.editing.checks import check_extended
from tests.editing.test_prune import TEXTS
from tests.support.pieces import model
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec, gpt2_spec

GREEK = [
    "Ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν, καὶ θεὸς ἦν ὁ λόγος. " * 3,
    "ὁ λόγος σὰρξ ἐγένετο καὶ ἐσκήνωσεν ἐν ἡμῖν",
] * 5


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "mistral v1"])
def test_old_ids_stay_and_new_ones_join_them(name: str) -> None:
    spec = {"gpt2": gpt2_spec, "cl100k": cl100k_spec}.get(name, lambda: parse_model(model(name), name))()
    extended = extend(spec, GREEK, 12, progress=False)
    assert sorted(extended.learnt) == list(range(spec.n_vocab, spec.n_vocab + 12))
    assert extended.spec.n_vocab == spec.n_vocab + 12
    assert all(extended.spec.vocab[token] == token_id for token, token_id in spec.vocab.items())
    assert extended.spec.merges[: len(spec.merges)] == spec.merges
    assert dict(extended.id_map.kept) == {i: i for i in extended.id_map.kept}
    assert set(extended.learnt) <= extended.id_map.made.keys()
    assert check_extended(spec, extended, [*GREEK[:2], *TEXTS[::20]]) >= 2
    effect = effect_on(GREEK, Encoder(spec), Encoder(extended.spec))
    assert effect.changed == len(GREEK)
    assert effect.tokens_after < effect.tokens_before


def test_the_most_frequent_pairs_of_tokens_are_learnt() -> None:
    spec = byte_spec().replace(vocab=BYTES | {b"ab": 256}, merges=((b"a", b"b"),), added_tokens=(AddedToken("<s>", 257),))
    extended = extend(spec, ["abcabcabc<s>abcx"], 2, progress=False, min_frequency=1)
    assert list(extended.learnt.values()) == [b"abc", b"abcabc"]
    assert extended.spec.merges[1:] == ((b"ab", b"c"), (b"abc", b"abc"))
    assert extended.spec.vocab[b"abc"] == 258


def test_a_token_that_is_there_is_not_learnt_again() -> None:
    # "ba" is a token that no merge makes; "<s>" is an added one.
    spec = byte_spec().replace(vocab=BYTES | {b"ba": 256}, added_tokens=(AddedToken("cd", 257),), ignore_merges=False)
    extended = extend(spec, iter(["xbay xbay xbay"]), 3, progress=False)
    assert b"ba" not in extended.learnt.values()
    assert len({*extended.learnt.values()}) == 3


def test_merges_in_any_order_are_respected() -> None:
    # "bca" is merged of "b" and "ca" before "ca" is made: what a list of ranks implies.
    spec = byte_spec().replace(vocab=BYTES | {b"bca": 256, b"ca": 257}, merges=((b"b", b"ca"), (b"c", b"a")))
    extended = extend(spec, ["bcabcax", "bcax"] * 4, 1, progress=False)
    assert list(extended.learnt.values()) == [b"bcabca"] or list(extended.learnt.values()) == [b"bcax"]
    assert check_extended(spec, extended, ["bcax", "cabcabca", "xbca"]) == 1


def test_stock_tokenizers_give_the_same_ids(tmp_path: Path) -> None:
    for number, spec in enumerate((gpt2_spec(), parse_model(model("mistral v1"), "m"))):
        extended = extend(spec, GREEK, 30, progress=False, min_frequency=1).spec
        path = tmp_path / f"{number}" / "tokenizer.json"
        path.parent.mkdir()
        conversion.save(extended, path)
        stock, encoder = Tokenizer.from_file(str(path)), Encoder(extended)
        for text in [*GREEK[:2], *TEXTS[::15]]:
            assert stock.encode(text, add_special_tokens=False).ids == encoder.encode_ordinary(text)


def test_counted_words_are_taken_if_they_were_split_in_the_same_way() -> None:
    spec = gpt2_spec()
    special = [token.content for token in spec.added_tokens]
    counts = WordCounts.count(GREEK, pattern="gpt2", special_tokens=special, progress=False)
    assert extend(spec, counts, 5, progress=False).spec == extend(spec, GREEK, 5, progress=False).spec
    with pytest.raises(EditError, match="counted in another way"):
        extend(spec, WordCounts.count(GREEK, pattern="cl100k", progress=False), 5, progress=False)


def test_new_pieces_never_cross_spaces_and_are_longest_where_that_is_said() -> None:
    spec = parse_model(model("mistral v1"), "m")
    learnt = extend(spec, GREEK, 20, max_token_length=8, progress=False).learnt.values()
    assert not any("▁" in token.decode()[1:] for token in learnt)
    assert max(map(len, learnt)) <= 8


NUMBERS = ["In 1987 the λόγος, λόγος. (λόγος) 1987 don't x9 x9 приветworld don't 1987"] * 20
SPLIT = {"split_digits": False, "split_by_unicode_script": False}


def test_new_pieces_hold_no_digits_and_no_two_scripts_where_none_of_the_vocabulary_does() -> None:
    for name in ("mistral v1", "mistral v3"):
        extended = extend(parse_model(model(name), name), NUMBERS, 6, progress=False)
        assert extended.habits == Habits(split_digits=True, split_by_unicode_script=True, split_by_number=True)
        assert [token.decode() for token in extended.learnt.values() if not token.decode().lstrip("▁").isalpha()] == []


def test_the_rules_of_the_trainer_can_be_given() -> None:
    spec = parse_model(model("mistral v1"), "m")
    for given, tokens, some in ((SPLIT, 14, {"▁1987", "▁don't"}), ({"split_digits": False}, 9, {"▁1987"})):
        learnt = {token.decode() for token in extend(spec, NUMBERS, tokens, progress=False, **given).learnt.values()}
        assert learnt & {"▁1987", "▁don't"} == some
    joined = parse_model(model("identity"), "m")
    assert [*extend(joined, ["4321 4321"], 1, progress=False).learnt.values()] == ["▁4".encode()]
    with pytest.raises(EditError, match="only 0 of 1"):
        extend(joined, ["4321 4321"], 1, progress=False, split_digits=True)


RULES_OF_TRAINING: list[dict[str, bool]] = [
    {},
    {"split_digits": True},
    {"split_by_number": False},
    {"split_by_unicode_script": False},
    {"split_by_unicode_script": False, "split_digits": True},
]


@pytest.mark.parametrize("settings", RULES_OF_TRAINING, ids=str)
def test_the_rules_that_a_model_was_trained_by_are_found(settings: dict[str, bool]) -> None:
    text = "abc123 x9 １２３ ١٢٣ 12 ab12cd ²³ ab, (ab) ひカ漢 キャー がギ ab́c don't ﷺ 〆 々 ー ا،ب приветworld"
    spec = train([text] * 50, 500, dialect="sentencepiece", hard_vocab_limit=False, progress=False, **settings)
    found = extend(spec, ["dcba dcba"], 1, progress=False).habits
    assert found is not None
    assert found.split_digits == settings.get("split_digits", False)
    assert found.split_by_unicode_script == settings.get("split_by_unicode_script", True)
    mixed = not settings.get("split_by_number", True) or not found.split_by_unicode_script
    assert found.split_by_number == (found.split_digits or not mixed)


def test_added_tokens_say_nothing_of_what_pieces_are() -> None:
    spec = parse_model(model("mistral v1"), "m").with_added_tokens(["<h1>", "a1"], special=False)
    assert extend(spec, NUMBERS, 1, progress=False).habits == Habits(True, True, True)


def test_the_rules_of_sentencepiece_are_none_of_a_pattern() -> None:
    with pytest.raises(EditError, match="split_digits: only for SentencePiece models"):
        extend(gpt2_spec(), NUMBERS, 1, progress=False, split_digits=True)
    assert extend(gpt2_spec(), NUMBERS, 1, progress=False).habits is None


def test_new_pieces_of_a_model_with_spaces_behind_words_have_them_there() -> None:
    learnt = extend(parse_model(model("space as suffix"), "m"), NUMBERS, 5, progress=False).learnt.values()
    assert any(token.decode().endswith("▁") for token in learnt)
    assert not any("▁" in token.decode()[:-1] for token in learnt)


def test_ids_of_added_tokens_behind_the_pieces_are_filled_up() -> None:
    spec = parse_model(model("mistral v1"), "m")
    spec = spec.replace(added_tokens=(*spec.added_tokens, AddedToken("<tool>", 32005)))
    extended = extend(spec, GREEK, 3, progress=False)
    assert sorted(extended.learnt) == [32006, 32007, 32008]
    assert Encoder(extended.spec).encode("<tool>", allowed_special="all") == [32005]
    assert 32003 in extended.id_map.made


@pytest.mark.parametrize(
    ("number", "message"), [(0, "at least 1"), (True, "at least 1"), ("5", "at least 1"), (10_000, "only .* can be learnt")]
)
def test_a_number_that_cannot_be_reached_is_refused(number: object, message: str) -> None:
    with pytest.raises(EditError, match=message):
        extend(byte_spec("gpt2"), ["abab"], number, progress=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(10))
def test_learning_from_ids_is_what_plain_counting_gives(seed: int) -> None:
    generator = random.Random(seed)
    words = [
        (generator.choices([3, 90, 85 * 85, 614_124], k=generator.randint(1, 9)), generator.randint(1, 5)) for _ in range(30)
    ]
    found = SymbolWords(words).learn(6, 700_000, lambda ids: len(ids) > 5, progress=False)
    assert found == SymbolWords(words).learn(6, 700_000, lambda ids: len(ids) > 5, progress=False, engine="reference")
    pair = found[0]
    assert sum(times for ids, times in words for both in pairwise(ids) if both == pair)
    assert all(max(both) < 700_006 for both in found)


def test_ids_beyond_what_three_bytes_hold_are_refused() -> None:
    with pytest.raises(EditError, match="614,125"):
        SymbolWords([([1, 614_125], 1)])
