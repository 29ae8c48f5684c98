"""Added tokens of white space, where an earlier added token has taken that white space along."""

from __future__ import annotations

import json
from typing import Any

import pytest
import tokenizers

from conversion import tokenizer_json
from hf_bpe import AddedToken, Encoder, TokenizerSpec
from tests.support.vocabularies import byte_spec

both_engines = pytest.mark.parametrize("engine", ["native", "reference"])


def spec(**flags: bool) -> TokenizerSpec:
    return byte_spec("gpt2", added_tokens=(AddedToken("\n", 10, special=False, **flags), AddedToken("<s>", 300, rstrip=True)))


def stock(flags: dict[str, bool], text: str) -> tokenizers.Encoding:
    return tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json.to_dict(spec(**flags)))).encode(text)


@both_engines
@pytest.mark.parametrize("text", ["\n\n", "a\n\nb", "<s>\n\n", "\n <s> \n x"])
@pytest.mark.parametrize("flags", [{}, {"rstrip": True}], ids=str)
def test_without_lstrip_it_is_matched_again_as_in_tokenizers(engine: Any, flags: dict[str, bool], text: str) -> None:
    ids, spans = Encoder(spec(**flags), engine=engine).encode_with_offsets(text, allowed_special="all")
    official = stock(flags, text)
    assert ids.tolist() == official.ids
    assert [tuple(span) for span in spans.tolist()] == official.offsets


@both_engines
@pytest.mark.parametrize("text", ["\n\n", "a\n\nb", "<s>\n\n"])
def test_with_lstrip_and_rstrip_it_is_not_matched_in_what_was_taken(engine: Any, text: str) -> None:
    flags = {"lstrip": True, "rstrip": True}
    assert Encoder(spec(**flags), engine=engine).encode(text, allowed_special="all") == stock(flags, text).ids


@both_engines
def test_no_token_ends_before_it_begins(engine: Any) -> None:
    _, spans = Encoder(spec(lstrip=True), engine=engine).encode_with_offsets("<s>\n\n", allowed_special="all")
    assert (spans[:, 0] <= spans[:, 1]).all()


def test_native_gives_offsets_of_a_token_without_text() -> None:
    Encoder(spec(lstrip=True, rstrip=True), engine="native").encode_with_offsets("\n\n")


def test_the_reference_gives_offsets_of_a_token_without_text() -> None:
    Encoder(spec(lstrip=True, rstrip=True), engine="reference").encode_with_offsets("\n\n")
