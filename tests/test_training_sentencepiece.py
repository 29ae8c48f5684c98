"""Training a SentencePiece model: what comes out is what sentencepiece itself makes, and what cannot be is refused first."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

import conversion
import hf_bpe
from hf_bpe import CorpusError, TokenizerSpec, TrainingError
from hf_bpe.training.sentencepiece_settings import PRESETS, SentencePieceSettings

LINES = [
    "The quick brown fox jumps over the lazy dog, and the dog doesn't mind at all.",
    "def encode(text):    return [ord(c) for c in text]  # 12345 is a number",
    "Der schnelle braune Fuchs springt über den faulen Hund; größer, höher, weiter!",
    "hello world, hello again",
] * 8
TEXT = "\n".join(LINES) + "\n"
KOREAN = "hello 안녕하세요"


def train(corpus: Any = None, vocab_size: int = 400, **options: Any) -> TokenizerSpec:
    options = {"preset": "llama2", "progress": False, **options}
    return hf_bpe.train(iter([TEXT]) if corpus is None else corpus, vocab_size, dialect="sentencepiece", **options)


def contents(spec: TokenizerSpec) -> list[str]:
    assert spec.sentencepiece is not None
    return [piece.content for piece in spec.sentencepiece.pieces]


def their_model(lines: list[str], vocab_size: int, **options: Any) -> sentencepiece.SentencePieceProcessor:
    """What sentencepiece makes when it is called without this package."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="bpe", vocab_size=vocab_size, minloglevel=2, **options
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def pieces_of(processor: sentencepiece.SentencePieceProcessor) -> list[tuple[str, float]]:
    return [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.get_piece_size())]


# -- what comes out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"preset": None}, {"user_defined_symbols": ["[U]"], "split_digits": False}])
def test_the_pieces_are_those_of_sentencepiece(options: dict[str, Any]) -> None:
    theirs = {**PRESETS.get(options.get("preset", "llama2") or "", {}), **options}
    theirs.pop("preset", None)
    expected = their_model(LINES, 320 if options.get("preset", 1) is None else 400, **theirs, hard_vocab_limit=False)
    found = train(vocab_size=expected.get_piece_size(), **options)
    assert found.sentencepiece is not None
    assert [(piece.content, piece.score) for piece in found.sentencepiece.pieces] == pieces_of(expected)


def test_llama2_has_specials_then_bytes_then_merges_then_characters() -> None:
    spec = train()
    found = contents(spec)
    assert found[:3] == ["<unk>", "<s>", "</s>"]
    assert found[3:259] == [f"<0x{byte:02X}>" for byte in range(256)]
    lengths = [len(content) for content in found[259:]]
    first_character = lengths.index(1)
    assert min(lengths[:first_character]) > 1
    assert max(lengths[first_character:]) == 1
    assert max(lengths) <= 16
    rules = spec.sentencepiece
    assert rules is not None
    assert rules.byte_fallback
    assert (rules.prepend_scheme, rules.remove_extra_whitespaces, rules.precompiled_charsmap) == ("always", False, b"")
    assert (rules.bos_id, rules.eos_id, rules.pad_id) == (1, 2, None)
    assert not any(digit in content for content in found[259:first_character] for digit in "12345")


def test_llama2_learns_pieces_of_spaces_alone() -> None:
    assert "▁▁" in contents(train())
    assert "▁▁" not in contents(train(allow_whitespace_only_pieces=False))


@pytest.mark.parametrize("preset", ["llama2", None])
def test_ids_are_those_of_sentencepiece_on_the_saved_model(preset: str | None, tmp_path: Path) -> None:
    spec = train(vocab_size=300 if preset is None else 400, preset=preset, hard_vocab_limit=False)
    conversion.save(spec, tmp_path / "m.model")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    encoder = hf_bpe.Encoder(spec)
    for text in [*LINES[:4], KOREAN, "", " ", "  two  spaces ", "<s>", "\n\t", "x" * 50]:
        assert encoder.encode_ordinary(text) == processor.encode(text)
        assert encoder.decode(processor.encode(text)) == processor.decode(processor.encode(text))


def test_the_lectures_example_with_byte_fallback() -> None:
    spec = train()
    tokens = [contents(spec)[i] for i in hf_bpe.Encoder(spec).encode_ordinary(KOREAN)]
    bytes_of_korean = [f"<0x{byte:02X}>" for byte in "안녕하세요".encode()]
    assert tokens == ["▁hello", "▁", *bytes_of_korean]
    assert hf_bpe.Encoder(spec).decode(hf_bpe.Encoder(spec).encode_ordinary(KOREAN)) == KOREAN


def test_the_lectures_example_without_byte_fallback() -> None:
    spec = train(vocab_size=150, byte_fallback=False)
    ids = hf_bpe.Encoder(spec).encode_ordinary(KOREAN)
    assert [contents(spec)[i] for i in ids] == ["▁hello", "▁", "<unk>"]
    assert hf_bpe.Encoder(spec).decode(ids) == "hello  ⁇ "


def test_the_dummy_prefix_makes_a_word_the_same_wherever_it_stands() -> None:
    spec = train()
    encode = hf_bpe.Encoder(spec).encode_ordinary
    assert encode("world") == encode("hello world")[1:]
    bare = train(add_dummy_prefix=False)
    assert hf_bpe.Encoder(bare).encode_ordinary("world") != hf_bpe.Encoder(bare).encode_ordinary("hello world")[1:]


def test_special_tokens_become_control_pieces_and_symbols_are_found() -> None:
    spec = train(special_tokens=["<s>", "<|im|>", 'a,"b'], user_defined_symbols=["[MASK]", "x y"])
    assert contents(spec)[:7] == ["<unk>", "<s>", "</s>", "<|im|>", 'a,"b', "[MASK]", "x y"]
    assert spec.special_tokens.keys() == {"<unk>", "<s>", "</s>", "<|im|>", 'a,"b'}
    encoder = hf_bpe.Encoder(spec)
    assert 5 in encoder.encode_ordinary("a[MASK]b")
    assert 3 not in encoder.encode_ordinary("<|im|>")
    assert encoder.encode("<|im|>", allowed_special="all") == [3]


def test_special_ids_and_pieces_can_be_chosen() -> None:
    spec = train(pad_id=3, pad_piece="<pad>", bos_id=-1, eos_piece="<end>")
    assert contents(spec)[:5] == ["<unk>", "<0x00>", "<end>", "<pad>", "<0x01>"]
    rules = spec.sentencepiece
    assert rules is not None
    assert (rules.bos_id, rules.eos_id, rules.pad_id) == (None, 2, 3)


def test_the_number_of_threads_changes_nothing() -> None:
    assert train(num_threads=1) == train(num_threads=4)


def test_a_file_and_a_text_are_cut_into_the_same_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert train(path) == train([path]) == train(iter(LINES)) == train()


def test_lines_across_blocks_of_a_file_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, "utf-8")
    expected = train(path)
    monkeypatch.setattr("hf_bpe.training.corpus._BLOCK_BYTES", 7)
    assert train(path) == expected


@given(st.lists(st.text("ab \n\ré", max_size=12), max_size=8), st.integers(1, 5))
@settings(max_examples=50)
def test_lines_of_files_are_those_of_the_whole_text(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], block: int
) -> None:
    from hf_bpe.training import corpus

    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes("".join(parts).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "_BLOCK_BYTES", block)
        found = [line.decode() for line in corpus.lines_of(corpus.inputs_of(path, separator=b"\n"))]
    expected = "".join(parts).split("\n")
    assert [line for line in found if line] == [line for line in expected if line]


def test_lines_not_learnt_from_are_counted() -> None:
    odd = ["long " * 900, "held back \u2585", ""]
    with pytest.warns(UserWarning, match=r"2 of 34 lines were not learnt from: 1 are longer .*4,192 bytes, 1 hold U\+2585"):
        spec = train(iter([*LINES, *odd]))
    assert spec == train()


def test_what_is_counted_is_what_sentencepiece_leaves_out() -> None:
    odd = ["zzz" * 1398, "qqq \u2585", "\u00e9" * 2097]
    options = dict(PRESETS["llama2"])
    assert pieces_of(their_model([*LINES, *odd], 400, **options)) == pieces_of(their_model(LINES, 400, **options))
    just_short_enough = "w" * 4192
    assert "ww" in contents(train(iter([*LINES, just_short_enough]), 430))


def test_nothing_is_said_on_standard_error() -> None:
    program = "import hf_bpe; hf_bpe.train(iter(['aab aab']), 265, dialect='sentencepiece', preset='llama2', progress=False)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert (ran.stdout, ran.stderr) == ("", "")


def test_importing_the_package_does_not_import_sentencepiece() -> None:
    program = "import sys, hf_bpe; hf_bpe.train; assert 'sentencepiece' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_progress_is_shown_where_it_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    train(progress=True)
    said = capsys.readouterr().err
    assert "reading" in said
    assert "sentencepiece is merging" in said


def test_soft_limit_gives_what_there_is() -> None:
    assert train(vocab_size=10_000, hard_vocab_limit=False).vocab_size < 1000


def test_provenance_names_the_trainer() -> None:
    assert train().provenance["trained with"] == f"sentencepiece {sentencepiece.__version__}"


# -- what is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vocab_size", "said"),
    [(10_000, r"too large: this text yields \d+ pieces; lower it"), (270, r"too small: .* alone are 3\d\d; raise it")],
)
def test_impossible_sizes_say_what_is_possible(vocab_size: int, said: str) -> None:
    with pytest.raises(TrainingError, match=said):
        train(vocab_size=vocab_size)


def test_the_sizes_that_errors_name_are_possible() -> None:
    with pytest.raises(TrainingError) as large:
        train(vocab_size=10_000)
    most = int(str(large.value).split("yields ")[1].split()[0])
    assert train(vocab_size=most).vocab_size == most
    with pytest.raises(TrainingError) as small:
        train(vocab_size=50)
    least = int(str(small.value).split("are ")[1].split(";")[0])
    assert train(vocab_size=least).vocab_size == least


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"preset": "llama3"}, "no preset is named 'llama3'; there is llama2"),
        ({"vocab_size": 0}, "vocab_size must be a whole number above 0"),
        ({"vocab_size": 400.0}, "vocab_size must be a whole number above 0"),
        ({"num_threads": 0}, "num_threads must lie in"),
        ({"character_coverage": 0.5}, r"character_coverage must lie in 0\.98\.\.1"),
        ({"character_coverage": float("nan")}, "character_coverage must lie in"),
        ({"max_sentence_length": 9}, "max_sentence_length must lie in"),
        ({"max_sentencepiece_length": 0}, "max_sentencepiece_length must lie in"),
        ({"normalization_rule_name": "nfd"}, "must be one of identity, nfkc"),
        ({"split_digits": 1}, "split_digits must be True or False, not 1"),
        ({"unk_id": -1}, "unk_id must lie in 0"),
        ({"unk_id": True}, "unk_id must be a whole number"),
        ({"bos_id": 2}, "bos_id and eos_id are both 2"),
        ({"bos_id": 400}, "bos_id cannot be what it is: .* smaller than vocab_size"),
        ({"vocab_size": 1}, "bos_id cannot be what it is: .* smaller than vocab_size"),
        ({"bos_piece": "</s>"}, "must differ from each other: '</s>'"),
        ({"user_defined_symbols": "abc"}, "user_defined_symbols must be a list of str"),
        ({"user_defined_symbols": ["a", "a"]}, "must differ from each other: 'a'"),
        ({"user_defined_symbols": ["a\0b"]}, "NUL"),
        ({"user_defined_symbols": ["\ud800"]}, "surrogate"),
        ({"user_defined_symbols": ["<0x41>"]}, "sentencepiece refuses: <0x41> is already defined"),
        ({"special_tokens": ["a"], "user_defined_symbols": ["a"]}, "must differ"),
        ({"special_tokens": "<a>"}, "must be a list of texts, not '<a>'"),
        ({"special_tokens": [""]}, "empty"),
        ({"pattern": "gpt2"}, "the dialect 'sentencepiece' is not trained with pattern; its settings are"),
        ({"dialect": "byte_level"}, "the dialect 'byte_level' is not trained with preset"),
        ({"dialect": "wordpiece"}, "no dialect is named 'wordpiece'"),
    ],
    ids=str,
)
def test_bad_settings_are_refused_by_name(options: dict[str, Any], said: str) -> None:
    arguments = {"vocab_size": 400, "dialect": "sentencepiece", "preset": "llama2", "progress": False, **options}
    with pytest.raises(TrainingError, match=said):
        hf_bpe.train(iter([TEXT]), arguments.pop("vocab_size"), **arguments)


def test_bad_settings_are_refused_before_the_corpus_is_read() -> None:
    def corpus() -> Any:
        raise AssertionError("read")
        yield ""

    with pytest.raises(TrainingError, match="split_digits"):
        train(corpus(), split_digits="yes")


@pytest.mark.parametrize(
    ("corpus", "said"),
    [
        ("nowhere.txt", "does not exist"),
        (iter([]), "the corpus is empty"),
        (iter(["", "\n\n"]), "the corpus is empty"),
        (iter(["a" * 5000]), "no line of the corpus can be learnt from: 1 are longer"),
        (iter([3]), "text 0 of the corpus is a int"),
    ],
    ids=["missing", "nothing", "empty lines", "too long", "no text"],
)
def test_unusable_corpora_are_refused(corpus: Any, said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        train(corpus)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("naïve\n".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"latin\.txt: document 1, byte 2 of the text: not UTF-8"):
        train(tmp_path / "latin.txt")


def test_the_callers_own_error_comes_through() -> None:
    def corpus() -> Any:
        yield TEXT
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        train(corpus())


def test_defaults_are_those_of_sentencepiece() -> None:
    """Each setting passed as its default changes nothing."""
    bare = pieces_of(their_model(LINES, 120))
    spelt_out = train(vocab_size=120, preset=None)
    assert spelt_out.sentencepiece is not None
    assert [(piece.content, piece.score) for piece in spelt_out.sentencepiece.pieces] == bare
    assert SentencePieceSettings().defects() == []


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"num_threads": "a"}, "num_threads must lie in 1.."),
        ({"preset": ["llama2"]}, "no preset is named"),
        ({"special_tokens": None}, "special_tokens must be a list of texts, not None"),
        ({"special_tokens": [5]}, r"special_tokens must be a list of texts, not \[5\]"),
        ({"control_symbols": "abc"}, "control_symbols must be a list of texts"),
    ],
)
def test_arguments_of_other_types_are_named(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TrainingError, match=complaint):
        hf_bpe.train(["text"], 300, dialect="sentencepiece", progress=False, **given)
