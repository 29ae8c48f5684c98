"""Each loader runs what is on disk with its library, and any two of them can be compared."""

from __future__ import annotations

import contextlib
import json
import sys
from types import SimpleNamespace

import pytest

import conversion
import hf_bpe  # noqa: F401 - registers its class with transformers, which the stock loaders must not use
from conversion.format import Given
from conversion.tokenizer_json import to_dict
from conversion.verification import LOADERS, split_prefix
from conversion.verification.loaders import load_side
from conversion.verification.side import AS_SPECIAL, AS_TEXT
from hf_bpe import NAMED_PATTERNS, AddedToken, Encoder
from hf_bpe.errors import ConversionRefused, FormatError, LoaderError
from hf_bpe.plugin import HfBpeTokenizer
from tests.conversion.support import small_spec, spec_of_tokens
from tests.conversion.test_matrix import pieces, plain, write
from tests.support.vocabularies import byte_spec

TEXTS = ["ab<s>bca ab", "ca<|end|><s>", "abcabca  ab\n中中", "<s>"]


def folder_of(spec, path, **config):
    """A Hugging Face folder with nothing but a tokenizer.json, and a config.json if something is to stand in it."""
    conversion.save(spec, path / "tokenizer.json")
    if config:
        (path / "config.json").write_text(json.dumps(config))
    return path


@pytest.mark.parametrize("loader", ["plugin", "stock", "fast", "tokenizers", "official"])
def test_loaders_of_a_hugging_face_folder_agree(tmp_path, loader):
    HfBpeTokenizer.from_spec(small_spec()).save_pretrained(tmp_path / "folder")
    report = conversion.verify(small_spec(), tmp_path / "folder", texts=TEXTS, loader=("own", loader))
    assert report.equal, report.summary()
    assert report.differences == ()
    assert bool(report.proof) == (loader == "plugin")


def test_the_stock_loader_does_not_give_our_class(tmp_path):
    HfBpeTokenizer.from_spec(small_spec()).save_pretrained(tmp_path / "folder")
    label = conversion.verify(tmp_path / "folder", tmp_path / "folder", loader=("stock", "plugin"))
    assert label.a.endswith("(TokenizersBackend)")
    assert label.b.endswith("(HfBpeTokenizer)")
    from transformers import AutoTokenizer

    assert type(AutoTokenizer.from_pretrained(tmp_path / "folder")) is HfBpeTokenizer  # as before


@pytest.mark.parametrize(
    ("loader", "name"),
    [
        ("tiktoken", "tiktoken"),
        ("tiktoken", "tiktoken-plugin"),
        ("tokenizers", "gpt2"),
        ("minbpe", "minbpe"),
        ("fast", "tokenizer.json"),
    ],
)
def test_loaders_of_files_agree(tmp_path, loader, name):
    path = write(plain(), tmp_path, name)
    report = conversion.verify(path, path, texts=TEXTS, loader=("own", loader))
    assert report.equal, report.summary()


def test_the_loader_of_sentencepiece_agrees(tmp_path):
    path = write(pieces(), tmp_path, "sentencepiece")
    assert conversion.verify(path, path, texts=TEXTS, loader=("own", "sentencepiece")).equal


def test_mistral_common_runs_its_own_file(tmp_path):
    specials = [AddedToken(content, number) for number, content in enumerate(["<unk>", "<s>", "</s>"])]
    vocab = {token: token_id + len(specials) for token, token_id in plain().vocab.items()}
    spec = plain().replace(vocab=vocab, added_tokens=specials, pattern=NAMED_PATTERNS["tekken"].pattern)
    path = write(spec, tmp_path, "tekken")
    report = conversion.verify(path, path, texts=TEXTS, loader=("own", "mistral-common"))
    assert report.equal, report.summary()
    assert "mistral-common" in report.b
    assert report.documents > 5000


def test_minbpe_with_special_tokens_and_merges_inside_long_pieces(tmp_path):
    spec = spec_of_tokens([b"ab", b"abab", b"aa"], pattern=r"\w+|\W", added_tokens=(AddedToken("<s>", 900),))
    conversion.save(spec, tmp_path / "x.model", format="minbpe")
    texts = ["ab" * 7 + "aaa", "a<s>ab<s>", "aaaa"]
    report = conversion.verify(tmp_path / "x.model", tmp_path / "x.model", texts=texts, loader=("own", "minbpe"))
    assert report.equal, report.summary()


def test_llama_cpp_is_run_through_its_python_package(tmp_path, monkeypatch):
    """The package is large and compiled on installation, so a stand-in of the same calls is compared here."""
    spec = byte_spec("gpt2", added_tokens=(AddedToken("<s>", 256),))
    path = write(spec, tmp_path, "gguf")
    own = load_side(spec, "own", Given())

    class Llama:
        def __init__(self, *, model_path, vocab_only, verbose):
            assert (model_path, vocab_only, verbose) == (str(path), True, False)

        def tokenize(self, text, *, add_bos, special):
            assert not add_bos
            return own.readings[AS_SPECIAL if special else AS_TEXT]([text.decode()])[0]

        def detokenize(self, ids, *, special):
            assert special
            return own.decode([ids])[0].encode()

    monkeypatch.setitem(sys.modules, "llama_cpp", SimpleNamespace(Llama=Llama))
    report = conversion.verify(path, path, texts=TEXTS, loader=("own", "llama.cpp"))
    assert report.equal, report.summary()
    assert report.b.startswith("x.gguf run by llama.cpp")


@pytest.mark.parametrize(
    ("loader", "module", "name", "package"),
    [
        ("llama.cpp", "llama_cpp", "gguf", "llama-cpp-python"),
        ("mistral-common", "mistral_common.tokens.tokenizers.tekken", "tekken", "mistral-common"),
        ("stock", "transformers.models.auto.tokenization_auto", "huggingface", "transformers"),
    ],
)
def test_a_missing_library_is_named_with_what_to_install(tmp_path, monkeypatch, loader, module, name, package):
    path = write(plain(), tmp_path, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(LoaderError, match=rf"this loader needs {package}.* pip install {package}"):
        conversion.verify(path, path, loader=("own", loader))


@pytest.mark.parametrize("loader", ["sentencepiece", "mistral-common", "minbpe", "llama.cpp"])
def test_a_loader_of_another_format_is_refused(tmp_path, loader):
    conversion.save(small_spec(), tmp_path / "x.tiktoken")
    with pytest.raises(LoaderError, match=rf"x\.tiktoken: this is .*rank file.*, and {loader} runs .*; choose another loader"):
        conversion.verify(small_spec(), tmp_path / "x.tiktoken", loader=("own", loader))


@pytest.mark.parametrize("loader", ["stock", "fast", "tokenizers", "plugin"])
def test_a_damaged_folder_is_named(tmp_path, loader):
    (tmp_path / "tokenizer.json").write_text('{"model": {"type": "BPE", "vocab": {"a": "b"}}}')
    with pytest.raises((LoaderError, FormatError, ConversionRefused), match=tmp_path.name):
        conversion.verify(small_spec(), tmp_path, loader=("own", loader))


def test_a_library_that_fails_on_a_text_ends_the_comparison_with_its_name(tmp_path, monkeypatch):
    path = write(plain(), tmp_path, "minbpe")
    failing = SimpleNamespace(compile=lambda pattern: SimpleNamespace(findall=lambda text: 1 / len(text)), escape=None)
    monkeypatch.setitem(sys.modules, "regex", failing)
    monkeypatch.setattr("conversion.minbpe._captures_groups", lambda pattern: False)
    with pytest.raises(LoaderError, match=r"x\.model run by minbpe's rules .* does not encode '': division by zero"):
        conversion.verify(plain(), path, loader=("own", "minbpe"))


@pytest.mark.parametrize("loader", ["tokenizers", "fast"])
def test_a_panic_of_a_library_is_an_error_like_any_other(tmp_path, loader):
    """Stripping the end of nothing, as the decoder here does, is out of bounds."""
    data = to_dict(plain())
    strip = {"type": "Strip", "content": " ", "start": 0, "stop": 1}
    data["decoder"] = {"type": "Sequence", "decoders": [data["decoder"], {"type": "Fuse"}, strip]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(LoaderError, match=r"tokenizer\.json run by .* does not decode \[\]: index out of bounds"):
        conversion.verify(plain(), tmp_path / "tokenizer.json", loader=("own", loader))


def test_a_prefix_chooses_the_loader():
    assert split_prefix("stock:some/folder") == ("stock", "some/folder")
    assert split_prefix("./stock:folder") == ("own", "./stock:folder")
    assert split_prefix(r"C:\folder") == ("own", r"C:\folder")
    assert all(split_prefix(f"{name}:x") == (name, "x") for name in LOADERS)


# -- transformers rebuilds some tokenizers ------------------------------------------------------------------------------


def test_a_tokenizer_that_transformers_rebuilds_is_found_and_the_cause_named(tmp_path):
    """With model_type qwen2, transformers 5 puts Qwen's pattern and normaliser in the place of those of tokenizer.json."""
    spec = spec_of_tokens([b"12", b"123"], pattern=NAMED_PATTERNS["llama3"].pattern)
    folder = folder_of(spec, tmp_path / "folder", model_type="qwen2")
    report = conversion.verify(folder, folder, loader=("stock", "tokenizers"))
    assert report.a.endswith("(Qwen2Tokenizer)")
    assert not report.equal
    found = {cause.cause: cause.smallest.text for cause in report.causes}
    assert found["pattern"] == "12"
    assert found["special tokens"] == "<|endoftext|>"  # which the class adds
    assert set(found) == {"special tokens", "normaliser", "pattern"}
    causes = {aspect.name: aspect.cause for aspect in report.differences}
    assert causes == {"added tokens": "special tokens", "normalizer": "normaliser", "pattern": "pattern"}
    assert conversion.verify(folder, folder, loader=("fast", "tokenizers")).proof


def test_a_llama_folder_that_transformers_rebuilds_is_found(tmp_path):
    """Its class puts no space before text that begins with one, and none behind a special token."""
    folder = folder_of(pieces(), tmp_path, model_type="llama")
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "LlamaTokenizer"}')
    report = conversion.verify(folder, folder, loader=("stock", "tokenizers"))
    assert report.a.endswith("(LlamaTokenizer)")
    found = {cause.cause: cause.smallest.text for cause in report.causes}
    assert found["normaliser"] == " "
    assert set(found) == {"special tokens", "normaliser"}  # it adds </s>


def test_a_folder_that_transformers_leaves_alone_is_proved_equal(tmp_path):
    folder = folder_of(small_spec(), tmp_path / "folder")
    report = conversion.verify(folder, folder, loader=("stock", "tokenizers"))
    assert report.proof is not None
    assert report.proof.startswith("equal on every input: one engine (tokenizers) runs both")
    assert "pre_tokenizer" in report.compared


def test_a_template_that_only_one_side_adds_is_a_difference_of_special_tokens(tmp_path):
    folder_of(small_spec(), tmp_path / "plain")
    data = json.loads((tmp_path / "plain" / "tokenizer.json").read_text("utf-8"))
    sequence = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    data["post_processor"] = {
        "type": "TemplateProcessing",
        "single": sequence,
        "pair": [*sequence, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [400], "tokens": ["<s>"]}},
    }
    (tmp_path / "bos").mkdir()
    (tmp_path / "bos" / "tokenizer.json").write_text(json.dumps(data))
    report = conversion.verify(tmp_path / "plain", tmp_path / "bos", loader="tokenizers")
    assert [cause.cause for cause in report.causes] == ["special tokens"]
    assert report.smallest is not None
    assert report.smallest.text == ""
    assert report.smallest.b_ids == (400,)


@pytest.fixture
def asked(monkeypatch):
    """What is asked of the network; transformers goes on where that fails."""
    found = []

    def ask(*arguments, **_):
        found.append(arguments)
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("socket.socket.connect", ask)
    monkeypatch.setattr("socket.getaddrinfo", ask)
    return found


@pytest.mark.parametrize("loader", ["stock", "plugin", "fast"])
@pytest.mark.parametrize("name", ["nope", "./nope", "/nowhere/at all", "a/b/c"])
def test_what_can_be_no_repository_is_not_asked_for(asked, loader, name):
    with pytest.raises(LoaderError, match="there is no such file or folder, and it is no name of a repository"):
        load_side(name, loader, Given())
    assert asked == []


def test_the_name_of_a_local_file_is_not_sent_to_the_hub(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = "my.tokenizer.json"  # a name that could be a repository's, as an absolute path could not
    conversion.save(small_spec(), path)
    ids = [Encoder(small_spec()).encode("ab c")]
    with contextlib.suppress(LoaderError):  # whether AutoTokenizer takes a file is its own affair
        load_side(path, "stock", Given())
    for loader in ("plugin", "fast"):
        assert load_side(path, loader, Given()).readings[AS_TEXT](["ab c"]) == ids
    assert HfBpeTokenizer.from_pretrained(path)(["ab c"])["input_ids"] == ids
    assert asked == []
