"""What the end of a text can become: all of it, and nothing else."""

from __future__ import annotations

import pytest
import tiktoken

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, BorderError, Encoder
from hf_bpe.borders import encode_with_completions, stable_part
from tests.fuzz.borders import continuations, run_completions, wrong_with
from tests.fuzz.subjects import Tally
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.pieces import model
from tests.support.vocabularies import BYTES, CL100K_SPECIALS, byte_spec, cl100k_ranks


def test_small_vocabularies_against_every_continuation() -> None:
    tally = Tally("texts")
    for number in range(35):
        run_completions(number, 3, tally)
    assert tally.done["borders"] > 120


@pytest.mark.parametrize("text", ["Hello wor", "don't", "it'", "  12", "中", "a\n\n", "Приве"])
def test_a_real_vocabulary_against_continuations(cl100k: Encoder, text: str) -> None:
    said = encode_with_completions(cl100k, text)
    behind = [*continuations("ld's 1\n")[:200], *"中文é😉", " world", "國", "\u0301", "ии"]
    assert wrong_with(cl100k, text, said, behind) is None


@pytest.mark.parametrize("text", ["Hello wor", "don't", "it'", "12", "中", "Приве", "(x", "naï"])
def test_tiktoken_says_the_same_behind_words(cl100k: Encoder, text: str) -> None:
    """Behind white space it does not: it has [a, \\n, \\n] for "a\\n\\n", which no text gives, and misses 174 runs for "x  "."""
    official = tiktoken.Encoding(
        "cl100k", pat_str=TIKTOKEN_PATTERNS["cl100k"], mergeable_ranks=cl100k_ranks(), special_tokens=CL100K_SPECIALS
    )
    stable, runs = official.encode_with_unstable(text)
    theirs = {(*stable, *run) for run in runs}
    said = encode_with_completions(cl100k, text)
    ours = {(*said.stable, *run) for run in said.sequences}
    # Where it takes no id for certain, the run before the last id differs in length only.
    assert {run for run in ours if not any(other[: len(run)] == run for other in theirs)} == set()
    assert {run for run in theirs if not any(run[: len(other)] == other for other in ours)} == set()


def test_the_tokens_that_a_word_can_become(cl100k: Encoder) -> None:
    said = encode_with_completions(cl100k, "The answ")
    assert (said.stable, said.rest) == (cl100k.encode("The"), " answ")
    assert {tuple(cl100k.encode(text)) for text in (" answer", " answ", " answers", " answering")} <= said.sequences.keys()
    assert cl100k.encode(" answer")[0] in said.next_ids()
    assert said.next_ids(cl100k.encode(" answer")) == []


def test_a_token_that_ends_within_a_character_is_given_with_text_that_completes_it() -> None:
    vocab = BYTES | {b"a\xe4\xb8": 256}
    merges = ((b"a", b"\xe4"), (b"a\xe4", b"\xb8"))
    encoder = Encoder(byte_spec("gpt2").replace(vocab=vocab | {b"a\xe4": 257}, merges=merges))
    said = encode_with_completions(encoder, "a")
    assert set(said.sequences) == {(97,), (256,), (257,)}
    assert encoder.encode("a" + said.sequences[256,])[0] == 256
    assert encoder.encode("a" + said.sequences[257,])[0] == 257


def test_a_token_of_bytes_that_no_text_holds_is_left_out() -> None:
    vocab = BYTES | {b"a\xff": 256}
    encoder = Encoder(byte_spec("gpt2").replace(vocab=vocab, merges=((b"a", b"\xff"),)))
    assert set(encode_with_completions(encoder, "a").sequences) == {(97,)}


def test_a_token_that_the_pattern_never_makes_is_left_out() -> None:
    vocab = BYTES | {b"a1": 256, b"a b": 257}
    encoder = Encoder(byte_spec("gpt2").replace(vocab=vocab, merges=((b"a", b"1"),)))
    assert set(encode_with_completions(encoder, "a").sequences) == {(97,)}


def test_a_token_that_only_looking_up_makes_is_given() -> None:
    vocab = BYTES | {b"abc": 256}
    looked_up = Encoder(byte_spec("gpt2").replace(vocab=vocab, ignore_merges=True))
    merged = Encoder(byte_spec("gpt2").replace(vocab=vocab))
    assert encode_with_completions(looked_up, "ab").sequences.keys() == {(97, 98), (256,)}
    assert encode_with_completions(merged, "ab").sequences.keys() == {(97, 98)}


def test_the_beginning_of_a_special_token_can_become_it() -> None:
    encoder = Encoder(byte_spec("gpt2", added_tokens=(AddedToken("<|end|>", 300),)))
    said = encode_with_completions(encoder, "a<|e", allowed_special="all")
    assert (said.rest, said.sequences[97, 300]) == ("a<|e", "nd|>")
    assert (97, 300) not in encode_with_completions(encoder, "a<|e").sequences


def test_a_whole_special_token_and_one_that_it_begins() -> None:
    encoder = Encoder(byte_spec("gpt2", added_tokens=(AddedToken("<s>", 300), AddedToken("<s><t>", 301))))
    said = encode_with_completions(encoder, "<s>", allowed_special="all")
    assert said.sequences == {(300,): "", (301,): "<t>"}


def test_lone_surrogates_are_replaced_as_in_encode(cl100k: Encoder) -> None:
    said = encode_with_completions(cl100k, "a \ud800")
    assert said.rest == " \ufffd"
    assert tuple(cl100k.encode(" \ufffd")) in said.sequences


def test_a_sentencepiece_model() -> None:
    encoder = Encoder(parse_model(model("mistral v1"), "m"))
    said = encode_with_completions(encoder, "The quick brown f")
    assert said.rest == "f"
    assert said.sequences.keys() >= {tuple(encoder.encode(word)[:1]) for word in ("f", "fox", "fortunate", "fé")}
    assert wrong_with(encoder, "The quick brown f", said, continuations("ox .")[:300]) is None


def test_too_many_are_refused_and_how_many_can_be_said(cl100k: Encoder) -> None:
    with pytest.raises(BorderError, match="within limit=1,000 tokens looked at"):
        encode_with_completions(cl100k, "a ", limit=1000)


@pytest.mark.parametrize(
    "change",
    [
        {"normalizer": ("NFC",)},
        {"stages": (r"\d",)},
        {"unmatched": "drop"},
        {"pattern": r"(?<=a)b|[\s\S]"},
        {"pattern": r"a+"},
        {"added_tokens": (AddedToken("<l>", 300, special=False, lstrip=True),)},
    ],
)
def test_what_is_not_known_is_refused(change: dict[str, object]) -> None:
    encoder = Encoder(byte_spec("gpt2").replace(**change))
    with pytest.raises(BorderError):
        encode_with_completions(encoder, "a b")


def test_what_is_no_text_is_refused(cl100k: Encoder) -> None:
    for wrong in (b"a", None, 5):
        with pytest.raises(TypeError, match="str"):
            encode_with_completions(cl100k, wrong)  # type: ignore[arg-type]


def test_a_long_piece_takes_no_more_looks_than_its_end(cl100k: Encoder) -> None:
    """The limit that is enough for 400 letters is for 6,000: only beginnings near the end are looked at."""
    found = [encode_with_completions(cl100k, "ab" * size, limit=5000).sequences for size in (200, 3000)]
    assert len(found[0]) == len(found[1]) > 50


def test_stable_ids_are_those_of_every_longer_text(cl100k: Encoder) -> None:
    ids, rest = stable_part(cl100k, "The quick brown fox")
    assert (ids, rest) == (cl100k.encode("The quick brown"), " fox")
    assert ids + cl100k.encode(rest) == cl100k.encode("The quick brown fox")
