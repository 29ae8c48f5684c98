"""What is read off the spelling of tokens, at vocabularies that are in use."""

from __future__ import annotations

import pytest

from hf_bpe import Encoder, TokenizerSpec
from hf_bpe.vocabulary.findings import Finding, findings_of, findings_of_token
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


@pytest.mark.parametrize("text", [" JavaScript", " iPhones", "PLoS", "isNaN", "HTTPSERVER", " McDonaldson", "Get_Set_Go", "ABCDEFGhi", "aBc DeFgHi"])
def test_fewer_and_short_ones_are_not_named(text: str) -> None:
    assert "joined words" not in findings_of_text(text)
