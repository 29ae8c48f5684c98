"""Defects that were once there: what a text that fails leaves behind, damaged tables, the two engines apart."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import numpy as np
import pytest

import conversion
from hf_bpe import AddedToken, DisallowedSpecialTokenError, Encoder, FormatError, PatternError, TokenizerSpec, UnknownTokenError
from hf_bpe.engine import native
from tests.support.vocabularies import BYTES, byte_spec

GIVES_UP = r"(?:a(?!z)|a(?!z)a)+b|x"
HOPELESS = "a" * 100_000


@pytest.mark.parametrize("call", ["encode_ordinary", "count_ordinary", "encode_ordinary_to_numpy"])
@pytest.mark.parametrize("pieces", [128, 200, 255, 384])
def test_a_text_that_fails_leaves_nothing_behind(call: str, pieces: int) -> None:
    # Pieces are handed on 128 at a time and looked up 256 at a time.
    encoder = Encoder(byte_spec(GIVES_UP), engine="native")
    with pytest.raises(PatternError, match="gave up at byte"):
        getattr(encoder, call)("x" * pieces + HOPELESS)
    assert encoder.encode_ordinary("q" * 600) == [113] * 600


def test_a_short_text_after_one_that_fails_does_not_panic() -> None:
    encoder = Encoder(byte_spec(GIVES_UP), engine="native")
    with pytest.raises(PatternError, match="gave up at byte"):
        encoder.encode_ordinary("x" * 128 + HOPELESS)
    assert encoder.encode_ordinary("q") == [113]


def test_the_cache_stays_bounded_where_only_offsets_are_asked_for() -> None:
    encoder = Encoder(byte_spec("gpt2"), engine="native")
    generator = random.Random(0)
    for _ in range(40):
        words = [generator.randbytes(6).hex() for _ in range(20_000)]
        encoder.encode_with_offsets(" ".join(words))
    info = encoder.cache_info()
    assert info.bytes <= 24 << 20
    assert info.lookups >= info.misses


def test_a_rank_file_with_a_byte_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.tiktoken"
    lines = [base64.b64encode(token) + b" %d\n" % rank for token, rank in BYTES.items()]
    path.write_bytes(b"".join([*lines, b"YQ== 300\n"]))
    with pytest.raises(FormatError, match="line 257: the token b'a' stood in the table before, with rank 97"):
        conversion.load(path, pattern=None)


def test_engines_agree_on_a_table_whose_merges_were_given() -> None:
    spec = TokenizerSpec.from_table(native.Vocabulary(BYTES | {b"ab": 256}, ()))
    assert not spec.ignore_merges
    assert Encoder(spec, engine="reference").encode_ordinary("ab") == [97, 98]
    assert Encoder(spec, engine="native").encode_ordinary("ab") == [97, 98]


def test_offsets_of_the_reference_refuse_special_tokens() -> None:
    encoder = Encoder(byte_spec(added_tokens=(AddedToken("<s>", 300),)), engine="reference")
    with pytest.raises(DisallowedSpecialTokenError):
        encoder.encode_with_offsets("<s>")


@pytest.mark.parametrize("text", [5, None])
def test_offsets_of_the_reference_refuse_what_is_not_text(text: object) -> None:
    with pytest.raises(TypeError):
        Encoder(byte_spec(), engine="reference").encode_with_offsets(text)  # type: ignore[arg-type]


def test_the_reference_names_an_unknown_id_of_an_array_as_a_number() -> None:
    with pytest.raises(UnknownTokenError, match=r"^id 299 is not in the vocabulary$"):
        Encoder(byte_spec(), engine="reference").decode(np.array([299], dtype=np.uint32))
