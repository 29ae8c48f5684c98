"""A file is cut only where a cut changes no piece, for every published pattern."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
import regex

import hf_bpe
from hf_bpe import cuts
from hf_bpe.normalizers import Prepend, Replace
from hf_bpe.training import corpus as corpus_module
from tests.support.corpus import parts_of
from tests.support.text import TROUBLE, WHITE_SPACE, varied_code_points
from tests.support.vocabularies import byte_spec

PATTERNS = [name for name in hf_bpe.NAMED_PATTERNS if name != "none"]
AFTER = "aZsStTmMdDrRlLvVkK09"
AFTER_TOO = "αωАяאתاينअहぁんァヺ一龥가힣"  # the other letters behave alike: no pattern tells letters of one script apart


def cuts_of(text: str) -> list[int]:
    return [match.start() for match in cuts._IN_TEXT.finditer(text)]


def test_bytes_are_cut_where_text_is() -> None:
    """Between every character and an ASCII letter, and the other way round."""
    for code_point in range(0x110000):
        if not 0xD800 <= code_point < 0xE000:
            for text in (f"{chr(code_point)}\na", f"a\n{chr(code_point)}"):
                found = [match.start() for match in cuts._IN_UTF8.finditer(text.encode())]
                assert found == [len(text[:place].encode()) for place in cuts_of(text)], ascii(text)
    content = bytearray("a\nb \nc\u3000\nd\u00e9\ne.\n\u4e2d".encode())
    assert cuts.last_cut(content) == len(content) - 3
    assert cuts.last_cut(content, len(content) - 4) == 14


def test_only_letters_and_ascii_digits_begin_a_part() -> None:
    begin = [chr(code_point) for code_point in range(0x110000) if cuts_of(f"a\n{chr(code_point)}")]
    assert len(begin) > 30_000
    assert all(regex.fullmatch(r"[\p{L}0-9]", character) for character in begin)


@pytest.mark.parametrize("name", PATTERNS)
def test_no_cut_changes_a_piece(name: str) -> None:
    encoder = hf_bpe.Encoder(byte_spec(name), engine="native")
    choose = random.Random(6)
    texts = [before + space + "\n" + after for before in TROUBLE for space in ("", *WHITE_SPACE) for after in AFTER + AFTER_TOO]
    for _ in range(5000):
        spaces = "".join(choose.choices(["\n", "\n", "\n", *WHITE_SPACE], k=choose.randint(1, 4)))
        texts.append(
            "".join(choose.choices(TROUBLE, k=3))
            + spaces
            + choose.choice(AFTER + AFTER_TOO)
            + "".join(choose.choices(TROUBLE, k=2))
        )
    places = [(text, cut) for text in texts for cut in cuts_of(text)]
    assert len(places) > 3_000
    for text, cut in places:
        assert encoder.pretokenize(text[:cut]) + encoder.pretokenize(text[cut:]) == encoder.pretokenize(text), (text, cut)


@pytest.mark.parametrize("space", [*WHITE_SPACE, "\x1c", "\x1f"])
def test_a_break_after_any_white_space_is_no_place_to_cut(space: str) -> None:
    assert cuts_of(f"a{space}\nb") == []
    assert cuts_of("a\nb") == [2]


def test_a_break_at_the_start_of_a_file_is_no_place_to_cut() -> None:
    assert cuts_of("\nb") == []


@pytest.mark.parametrize("block", [1, 2, 3, 5, 64])
def test_characters_cut_by_a_block_are_put_together_again(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "é\na中\nb😉\nc한\u0301\r\nd\nx" * 60
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    monkeypatch.setattr(corpus_module, "_BLOCK_BYTES", block)
    parts = parts_of(path, cut=cuts.last_cut)
    assert "".join(parts) == text
    assert len(parts) > 8
    assert parts_of(path, cut=None) == [text]


def test_only_the_end_of_what_was_read_is_searched_for_a_cut() -> None:
    """A break further than 64 KiB from the end is not used: a file of one endless line costs no quadratic search."""
    assert cuts.last_cut("a\nb" + "x" * (1 << 17)) == 0
    assert cuts.last_cut("a\nb" + "x" * 1000) == 2


def test_the_last_cut_is_the_last_of_all() -> None:
    choose = random.Random(8)
    found = 0
    for _ in range(3000):
        text = "".join(
            choose.choices(["\n", "\n", "\n", "\r\n", " ", "a", "b", "é", "中", "\u3000", "😉", "9"], k=choose.randint(0, 30))
        )
        end = choose.randint(0, len(text))
        cut = max((match.start() for match in cuts._IN_TEXT.finditer(text, 0, end)), default=0)
        assert cuts.last_cut(text, end) == cut, ascii(text)
        assert cuts.last_cut(text.encode(), len(text[:end].encode())) == len(text[:cut].encode()), ascii(text)
        found += cut > 0
    assert found > 300


@pytest.mark.parametrize(("pattern", "special_tokens"), [("none", []), (r"\S+\s+\S+|\s+|\S+", []), ("gpt2", ["<a>\n"])])
def test_where_a_cut_could_change_a_piece_the_file_is_read_whole(
    pattern: str, special_tokens: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"{a}{b}<a>\n{b}{a}\n" for a, b in itertools.product("abc", "xyz")) * 5
    path = tmp_path / "text.txt"
    path.write_text(text, "utf-8", newline="")
    options = {"pattern": pattern, "special_tokens": special_tokens, "progress": False, "min_frequency": 1}
    whole = hf_bpe.train(iter([text]), 270, **options)  # type: ignore[arg-type]
    monkeypatch.setattr(corpus_module, "_BLOCK_BYTES", 7)
    assert hf_bpe.train([path], 270, **options) == whole  # type: ignore[arg-type]


def test_a_special_token_is_found_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ab ab<|endoftext|>ab\nab<|endoftext|>\n" * 30
    path = tmp_path / "text.txt"
    path.write_text(text, "utf-8")
    monkeypatch.setattr(corpus_module, "_BLOCK_BYTES", 11)
    options = {"special_tokens": ["<|endoftext|>"], "progress": False, "min_frequency": 1, "pattern": "cl100k"}
    spec = hf_bpe.train([path], 259, **options)  # type: ignore[arg-type]
    assert spec == hf_bpe.train(iter([text]), 259, **options)  # type: ignore[arg-type]
    assert [left + right for left, right in spec.merges] == [b"ab", b" ab"]


@pytest.mark.parametrize("step", ["NFC", "NFD", "NFKC", "NFKD", "Lowercase"])
def test_a_cut_changes_no_piece_of_normalised_text(step: str) -> None:
    spec = byte_spec("gpt2", normalizer=(step,))
    assert cuts.can_cut(spec.pattern, spec.normalizer)
    encoder = hf_bpe.Encoder(spec, engine="native")
    parts = [f"{character}\na" for character in varied_code_points() if not character.isspace()]
    parts += [f"a\n{character}" for character in varied_code_points() if cuts_of(f"a\n{character}")]
    pieces = [piece for part in parts for piece in (*encoder.pretokenize(part[:-1]), *encoder.pretokenize(part[-1]))]
    assert [piece for part in parts for piece in encoder.pretokenize(part)] == pieces


@pytest.mark.parametrize("step", ["Strip", "StripAccents", Prepend("a"), Replace("a", "")])
def test_other_normalizers_let_no_text_be_cut(step: object) -> None:
    spec = byte_spec("gpt2", normalizer=(step,))
    assert not cuts.can_cut(spec.pattern, spec.normalizer)
    assert not cuts.can_cut(spec.pattern, (), add_prefix_space=True)
