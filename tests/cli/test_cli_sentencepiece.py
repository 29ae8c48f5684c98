"""The commands on SentencePiece models: a .model file, or a folder that holds only tokenizer.model."""

import json

import pytest
import sentencepiece

import conversion
import hf_bpe
from tests.cli.samples import CORPUS

LLAMA2 = ("--dialect", "sentencepiece", "--preset", "llama2", "--vocab-size", 330)
TEXT = "hello 안녕하세요 quick\n"


@pytest.fixture(scope="session")
def piece_spec():
    return hf_bpe.train(iter([CORPUS]), 330, dialect="sentencepiece", preset="llama2", progress=False)


@pytest.fixture(params=["m.model", "tokenizer.model"])
def model(request, piece_spec, tmp_path):
    """A .model file, and a folder with one in it."""
    conversion.save(piece_spec, tmp_path / request.param)
    return tmp_path / request.param if request.param == "m.model" else tmp_path


@pytest.fixture
def processor(piece_spec, tmp_path):
    conversion.save(piece_spec, tmp_path / "again" / "m.model")
    return sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "again" / "m.model"))


def test_train_writes_what_sentencepiece_reads(run, corpus, piece_spec, processor, tmp_path):
    result = run("train", corpus, "-o", tmp_path / "x.model", *LLAMA2, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (summary["format"], summary["vocab_size"]) == ("sentencepiece", 330)
    assert summary["merges"] == sum(len(processor.id_to_piece(i)) > 1 for i in range(259, 330))
    assert conversion.load(tmp_path / "x.model") == piece_spec
    assert sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "x.model")).encode(TEXT) == processor.encode(TEXT)


def test_train_writes_a_hugging_face_folder_by_default(run, corpus, piece_spec, tmp_path):
    result = run("train", corpus, "-o", tmp_path / "out", *LLAMA2)
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "tokenizer.json",
        "tokenizer_config.json",
        "tokenizer.model",
    }


def test_train_takes_settings_by_their_names(run, corpus, tmp_path):
    settings = ("--set", "byte_fallback=false", "--set", "unk_surface=?", "--set", 'user_defined_symbols=["[U]"]')
    target = tmp_path / "x.model"
    result = run("train", corpus, "-o", target, *LLAMA2[:4], "--vocab-size", 80, *settings, "--special-token", "<|im|>")
    assert result.exit_code == 0, result.output
    rules = conversion.load(target).sentencepiece
    assert [piece.content for piece in rules.pieces[:5]] == ["<unk>", "<s>", "</s>", "<|im|>", "[U]"]
    assert (rules.byte_fallback, rules.unk_surface) == (False, "?")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--vocab-size", 5000), "too large: this text yields"),
        (("--vocab-size", 100), "too small"),
        (("--preset", "llama9"), "there is llama2"),
        (("--set", "split_digits=perhaps"), "split_digits must be True or False"),
        (("--set", "nonsense=1"), "is not trained with nonsense"),
        (("--pattern", "gpt2"), "is not trained with pattern"),
        (("--min-frequency", "3"), "is not trained with min_frequency"),
    ],
)
def test_what_cannot_be_trained_is_said_and_nothing_is_written(fails, corpus, tmp_path, arguments, said):
    assert said in fails("train", corpus, "-o", tmp_path / "x.model", *LLAMA2, *arguments)
    assert not (tmp_path / "x.model").exists()


def test_usage_errors_exit_with_2(fails, corpus, tmp_path):
    assert "NAME=VALUE" in fails("train", corpus, "-o", tmp_path / "x.model", *LLAMA2, "--set", "split_digits", code=2)
    fails("train", corpus, "-o", tmp_path / "x.model", "--dialect", "wordpiece", code=2)


def test_byte_level_training_knows_no_preset(fails, corpus, tmp_path):
    assert "is not trained with preset" in fails("train", corpus, "-o", tmp_path / "x", "--preset", "llama2")


def test_encode_and_decode_are_those_of_sentencepiece(run, model, processor):
    ids = processor.encode(TEXT)
    assert run("encode", model, TEXT).stdout.split() == list(map(str, ids))
    assert run("encode", model, TEXT, "--count").stdout.strip() == str(len(ids))
    assert run("decode", model, "--json", *ids).stdout == json.dumps(TEXT) + "\n"


def test_special_tokens_are_matched_where_it_is_said(run, fails, model):
    assert "--allow-special '<s>'" in fails("encode", model, "<s>quick")
    assert run("encode", model, "<s>quick", "--allow-special", "<s>").stdout.split()[0] == "1"
    assert run("encode", model, "<s>quick", "--special", "text").stdout.split()[0] != "1"


def test_show_writes_pieces_as_they_are(run, model, processor):
    lines = run("show", model, "<s>The quick 안\n").stdout.splitlines()
    tokens = [line.split()[1] for line in lines]
    assert tokens == ["<s>", *processor.encode("The quick 안\n", out_type=str)]
    assert tokens[1].startswith("▁")
    assert lines[-1].split() == ["13", "<0x0A>"]
    [token] = json.loads(run("show", model, "<s>", "--json").stdout)
    assert (token["id"], token["token"], token["kind"]) == (1, "<s>", "special")


def test_show_writes_byte_level_tokens_as_files_spell_them(run, tokenizer):
    assert [line.split()[1] for line in run("show", tokenizer, "The quick").stdout.splitlines()] == ["The", "Ġquick"]


def test_inspect_names_every_rule(run, model):
    facts = json.loads(run("inspect", model, "--json").stdout)
    assert facts["dialect"] == "sentencepiece"
    assert facts["pieces"]["byte"] == 256
    assert (facts["byte_fallback"], facts["prepend_scheme"], facts["bos_id"]) == (True, "always", 1)
    assert "byte fallback" in run("inspect", model).stdout


def test_verify_compares_with_sentencepiece_itself(run, model, piece_spec, tmp_path, corpus):
    conversion.save(piece_spec, tmp_path / "b.model")
    result = run("verify", model, tmp_path / "b.model", "--corpus", corpus, "--official", "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["equal"]
    assert "run by sentencepiece" in report["a"]


def test_verify_finds_another_model(run, model, tmp_path):
    other = hf_bpe.train(iter([CORPUS]), 320, dialect="sentencepiece", preset="llama2", progress=False)
    conversion.save(other, tmp_path / "other.model")
    assert run("verify", model, tmp_path / "other.model").exit_code == 1


def test_convert_there_and_back(run, model, processor, tmp_path):
    assert run("convert", model, tmp_path / "t" / "tokenizer.json").exit_code == 0
    assert run("convert", tmp_path / "t" / "tokenizer.json", tmp_path / "back.model").exit_code == 0
    assert sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "back.model")).encode(TEXT) == processor.encode(TEXT)


def test_what_two_files_of_gpt2_cannot_hold_is_refused(fails, model, tmp_path):
    assert "SentencePiece" in fails("convert", model, tmp_path / "folder", "--to", "gpt2")
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize("content", [b"", b"\x0a\x05\x0a\x03abc\x15", b"garbage"])
def test_damaged_models_are_one_message(fails, tmp_path, content):
    (tmp_path / "bad.model").write_bytes(content)
    assert "bad.model" in fails("encode", tmp_path / "bad.model", "--from", "sentencepiece", "x")


def test_train_refuses_before_it_trains_what_could_not_be_saved(fails, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(hf_bpe, "train", lambda *_, **__: pytest.fail("it trained"))
    said = fails("train", corpus, "-o", tmp_path / "out", "--dialect", "sentencepiece", "--vocab-size", 300)
    assert "nmt_nfkc cannot be saved as huggingface" in said
    assert not (tmp_path / "out").exists()


def test_a_lossy_conversion_says_what_is_lost(run, corpus, tmp_path):
    options = ("--dialect", "sentencepiece", "--set", "hard_vocab_limit=false")
    assert run("train", corpus, "-o", tmp_path / "x.model", *options).exit_code == 0
    result = run("convert", tmp_path / "x.model", tmp_path / "tokenizer.json", "--allow-lossy")
    assert result.exit_code == 0, result.output
    assert "tokenizer.json: lossy: other ids for some text" in result.stderr
