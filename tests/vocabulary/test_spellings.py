"""What is read off the spelling of tokens, at vocabularies that are in use."""

from __future__ import annotations

import pytest

from conversion.sentencepiece.model import parse_model
from hf_bpe import Encoder, TokenizerSpec
from hf_bpe.vocabulary.findings import Finding, findings_of, findings_of_token
from tests.support.pieces import PACKAGED
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec, gpt2_spec

JOINED_IN_GPT2 = {
    *("ForgeModLoader", "realDonaldTrump", "PsyNetMessage", " guiActiveUn", " guiActiveUnfocused", " externalToEVA"),
    *(" externalToEVAOnly", "externalActionCode", " RandomRedditorWithNo", "TPPStreamerBot", "ItemThumbnailImage"),
    *(" SetFontSize", "quickShipAvailable", "isSpecialOrderable", "soDeliveryDate", "oreAndOnline", "InstoreAndOnline"),
    *("BuyableInstoreAndOnline", " TheNitromeFan", "EStreamFrame", " SolidGoldMagikarp", " SetTextColor"),
}


def with_finding(spec: TokenizerSpec, finding: Finding) -> set[str]:
    encoder = Encoder(spec)
    found = (token_id for token_id, findings in findings_of(encoder).items() if finding in findings)
    return {encoder.decode_single_token_bytes(token_id).decode() for token_id in found}


def test_joined_words_of_gpt2() -> None:
    assert with_finding(gpt2_spec(), "joined words") == JOINED_IN_GPT2


def test_what_real_vocabularies_have_of_addresses() -> None:
    assert with_finding(gpt2_spec(), "personal") == set()
    assert with_finding(cl100k_spec(), "personal") == {"@gmail", "@yahoo", "@hotmail", "@qq"}


def findings_of_text(text: str) -> list[Finding]:
    return findings_of_token(Encoder(byte_spec().replace(vocab=BYTES | {text.encode(): 256}, ignore_merges=True)), 256)


@pytest.mark.parametrize(
    "text",
    [
        *(" <jane.doe@example.org>", "jane@example", "@gmail", "doe@hotmail", " https://a", "](https://github.com/jane)"),
        *("www.example", "example.com", "github.io/", ".readthedocs.io/en", "ac.jp>", "7.de"),
    ],
)
def test_addresses_are_personal(text: str) -> None:
    is_whole = text != "jane@example"  # nothing tells it from `a@b` of code
    assert ("personal" in findings_of_text(text)) == is_whole


@pytest.mark.parametrize(
    "text",
    [
        *("@Override", "@property", "@pytest.mark", ".com", " https", "://", "www", "logger.info", "self.net", "this.io"),
        *("foo.de(", "x.co=", "complex128", "SolidGoldMagikarp", "example.community", "e.g."),
    ],
)
def test_what_code_is_full_of_is_not_personal(text: str) -> None:
    assert "personal" not in findings_of_text(text)


@pytest.mark.parametrize("text", ["HttpServletRequest", " getElementById", "parseJSONText", "ÉtéÀParis", "TPPStreamerBot"])
def test_words_are_told_by_capitals(text: str) -> None:
    assert "joined words" in findings_of_text(text)


@pytest.mark.parametrize(
    "text", [" JavaScript", " iPhones", "PLoS", "isNaN", "HTTPSERVER", " McDonaldson", "Get_Set_Go", "ABCDEFGhi", "aBc DeFgHi"]
)
def test_fewer_and_short_ones_are_not_named(text: str) -> None:
    assert "joined words" not in findings_of_text(text)


@pytest.mark.parametrize(
    ("name", "is_reserved"),
    [
        *(("<|reserved_special_token_5|>", True), ("<unused7>", True), ("[PAD151660]", True), ("[control_8]", True)),
        *(("<｜place▁holder▁no▁0｜>", True), ("<|extra_204|>", True), (">>UNUSED_12<<", True), ("<extra_id_3>", True)),
        *(("<|endoftext|>", False), ("[INST]", False), ("<|image_0|>", False), ("<0x41>", False), ("[/INST]", False)),
    ],
)
def test_reserved_tokens_are_told_by_their_names(name: str, is_reserved: bool) -> None:
    found = findings_of_token(Encoder(byte_spec().with_added_tokens([name])), 256)
    assert found == (["reserved"] if is_reserved else [])


def test_reserved_tokens_of_a_real_model() -> None:
    spec = parse_model(PACKAGED["mistral v7"].read_bytes(), "m")
    found = findings_of(Encoder(spec))
    names = {token.content for token in spec.added_tokens if "reserved" in found.get(token.id, [])}
    assert names == {token.content for token in spec.added_tokens if token.content.startswith("[control_")}
    assert len(names) > 700
