"""Fill in the middle: orders, token sets, random cuts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, Encoder, UnknownTokenError
from hf_bpe.chat import FIM_TOKENS, FimTokens, fim_example, fim_prompt, split_for_fim, with_random_fim
from tests.support.pieces import model
from tests.support.vocabularies import byte_spec, cl100k_spec

P, S, M, E = range(256, 260)
ENCODER = Encoder(byte_spec(added_tokens=tuple(AddedToken(t, 256 + n) for n, t in enumerate(("<p>", "<s>", "<m>", "<e>")))))
TOKENS = FimTokens("<p>", "<s>", "<m>", "<e>")


def ids(*parts: int | str) -> list[int]:
    return [i for part in parts for i in ([part] if isinstance(part, int) else part.encode())]


def test_orders():
    assert fim_prompt(ENCODER, "ab", "yz", TOKENS) == ids(P, "ab", S, "yz", M)
    assert fim_prompt(ENCODER, "ab", "yz", TOKENS, order="spm") == ids(P, S, "yz", M, "ab")
    assert fim_example(ENCODER, "ab", "m", "yz", TOKENS) == ids(P, "ab", S, "yz", M, "m", E)
    assert fim_example(ENCODER, "ab", "m", "yz", TOKENS, order="spm", end=False) == ids(P, S, "yz", M, "ab", "m")
    assert fim_example(ENCODER, "", "", "", FimTokens("<p>", "<s>", "<m>")) == ids(P, S, M)


def test_a_document_cannot_hold_the_tokens():
    assert fim_prompt(ENCODER, "<m>", "<s>", TOKENS) == ids(P, "<m>", S, "<s>", M)


@pytest.mark.parametrize("name", FIM_TOKENS)
def test_named_sets(name):
    tokens = FIM_TOKENS[name]
    contents = [t for t in (tokens.prefix, tokens.suffix, tokens.middle, tokens.end) if t]
    encoder = Encoder(byte_spec(added_tokens=tuple(AddedToken(t, 256 + n) for n, t in enumerate(contents))))
    assert (
        encoder.decode(fim_example(encoder, "a", "b", "c", name)) == f"{contents[0]}a{contents[1]}c{contents[2]}b{contents[3]}"
    )


def test_published_ids():
    encoder = Encoder(cl100k_spec())
    assert fim_prompt(encoder, "def f(", "): pass", "openai") == [100258, 755, 282, 7, 100260, 1680, 1522, 100259]


def test_a_sentencepiece_model_puts_no_space_before_what_goes_on():
    spec = parse_model(model("mistral v1"), "")
    names = [AddedToken(token, spec.n_vocab + n) for n, token in enumerate(("▁<PRE>", "▁<SUF>", "▁<MID>", "▁<EOT>"))]
    encoder = Encoder(spec.replace(added_tokens=(*spec.added_tokens, *names)))
    found = fim_example(encoder, "def", " f", "x", "codellama")
    assert [encoder.decode_single_token_bytes(i) for i in found] == [
        *("▁<PRE>".encode(), b" def", "▁<SUF>".encode(), b"x"),
        *("▁<MID>".encode(), b" f", "▁<EOT>".encode()),
    ]


@given(st.text(max_size=30), st.integers(0, 2**32))
def test_cuts_lose_nothing(text, seed):
    assert "".join(split_for_fim(text, seed)) == text
    assert split_for_fim(text, seed) == split_for_fim(text, random.Random(seed))


def test_cuts_reach_every_place():
    cuts = {tuple(map(len, split_for_fim("abc", seed))) for seed in range(300)}
    assert cuts == {(a, b, 3 - a - b) for a in range(4) for b in range(4 - a)}


def test_rates():
    chance = random.Random(0)
    kinds = [with_random_fim(ENCODER, "text", chance, TOKENS, rate=0.5, spm_rate=0.25)[:2] for _ in range(2000)]
    cut = [ids for ids in kinds if ids[0] == P]
    assert 900 < len(cut) < 1100
    assert with_random_fim(ENCODER, "text", 1, TOKENS, rate=0) == ids("text", E)
    assert with_random_fim(ENCODER, "text", 1, TOKENS, rate=0, end=False) == ids("text")
    assert with_random_fim(ENCODER, "text", 1, TOKENS, rate=1, spm_rate=1)[:2] == [P, S]
    assert with_random_fim(ENCODER, "text", 5, TOKENS) == with_random_fim(ENCODER, "text", 5, TOKENS)


def test_errors_say_what_there_is():
    with pytest.raises(ValueError, match="starcoder, qwen"):
        fim_prompt(ENCODER, "", "", "startcoder")
    with pytest.raises(UnknownTokenError, match=r"lacks '<fim_prefix>', the token of the prefix"):
        fim_prompt(ENCODER, "", "")
    with pytest.raises(ValueError, match="'psm' or 'spm'"):
        fim_prompt(ENCODER, "", "", TOKENS, order="mps")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rate is 2"):
        with_random_fim(ENCODER, "", 0, TOKENS, rate=2)
