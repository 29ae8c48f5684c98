"""SentencePiece models in transformers: folders that hold only tokenizer.model, and what they are saved as."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import conversion
import hf_bpe
from hf_bpe import ConversionRefused, FormatError, TokenizerSpec
from hf_bpe.charsmap import build_charsmap
from hf_bpe.plugin import HfBpeTokenizer
from tests.support.vocabularies import packaged

MISTRAL = packaged("mistral_common", "data", "tokenizer.model.v1")
CORPUS = ["hello world, hello again and again", "  the  quick brown fox 123 jumps\tover", "größer, höher, weiter"] * 8
TEXTS = [
    "",
    " ",
    "Hello world",
    " Hello  world ",
    "hello 안녕하세요",
    "tabs\tand\nnew\r\nlines\n",
    "<s>a</s> b <unk>",
    "▁a▁▁b",
    "<0x41> \u00a0\u2028\x00",
    "emoji 👩‍👩‍👧‍👦 12345",
    "a<tool>b</tool> c",
]


@pytest.fixture(scope="module")
def mistral(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a published model and nothing else."""
    folder = tmp_path_factory.mktemp("mistral")
    shutil.copy(MISTRAL, folder / "tokenizer.model")
    return folder


@pytest.fixture(scope="module")
def processor() -> Any:
    return sentencepiece.SentencePieceProcessor(model_file=str(MISTRAL))


@pytest.fixture(scope="module")
def loaded(mistral: Path) -> Any:
    """Shared by tests that do not change it."""
    return HfBpeTokenizer.from_pretrained(mistral)


def small_spec(**options: Any) -> TokenizerSpec:
    options = {"preset": "llama2", "hard_vocab_limit": False, **options}
    return hf_bpe.train(iter(CORPUS), 380, dialect="sentencepiece", progress=False, **options)


@pytest.fixture(scope="module")
def spec() -> TokenizerSpec:
    return small_spec()


@pytest.fixture
def tokenizer(spec: TokenizerSpec) -> Any:
    """One that a test may change."""
    return HfBpeTokenizer.from_spec(spec)


def write_folder(spec: TokenizerSpec, folder: Path, **config: Any) -> Path:
    conversion.save(spec, folder / "tokenizer.model")
    if config:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


# -- loading --------------------------------------------------------------------------------------------------------------


def test_a_folder_with_only_a_model_is_loaded(loaded: Any, processor: Any) -> None:
    assert (len(loaded), loaded.vocab_size) == (32000, 32000)
    assert (loaded.bos_token, loaded.eos_token, loaded.unk_token, loaded.pad_token) == ("<s>", "</s>", "<unk>", None)
    assert loaded.get_vocab() == {processor.id_to_piece(i): i for i in range(32000)}


def test_ids_are_those_of_sentencepiece_behind_bos(loaded: Any, processor: Any) -> None:
    for text in TEXTS:
        plain = loaded.encode(text, split_special_tokens=True)
        assert plain == [1, *processor.encode(text)]
        assert loaded.encode(text, split_special_tokens=True, add_special_tokens=False) == processor.encode(text)


def test_tokens_are_pieces(loaded: Any) -> None:
    assert loaded.tokenize("Hello world\n") == ["▁Hello", "▁world", "<0x0A>"]
    assert loaded.convert_tokens_to_ids(["▁Hello", "<0x0A>", "<s>", "no such piece"]) == [22557, 13, 1, 0]
    assert loaded.convert_ids_to_tokens([22557, 13, 1]) == ["▁Hello", "<0x0A>", "<s>"]
    assert loaded.convert_tokens_to_string(["▁Hello", "<0xEC>", "<0x95>", "<0x88>", "odd"]) == "Hello안odd"


@pytest.mark.parametrize("bos", [None, True, False])
@pytest.mark.parametrize("eos", [None, True, False])
@pytest.mark.parametrize("said_by", ["caller", "config"])
def test_bos_and_eos_are_put_where_they_are_asked_for(
    spec: TokenizerSpec, tmp_path: Path, bos: bool | None, eos: bool | None, said_by: str
) -> None:
    asked = {name: value for name, value in (("add_bos_token", bos), ("add_eos_token", eos)) if value is not None}
    write_folder(spec, tmp_path, **(asked if said_by == "config" else {}))
    tokenizer = HfBpeTokenizer.from_pretrained(tmp_path, **(asked if said_by == "caller" else {}))
    body = tokenizer.encode("hello", add_special_tokens=False)
    assert tokenizer.encode("hello") == [1] * (bos is not False) + body + [2] * (eos is True)
    assert (tokenizer.add_bos_token, tokenizer.add_eos_token) == (bos is not False, eos is True)


def test_a_model_without_bos_puts_none(tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(write_folder(small_spec(bos_id=-1), tmp_path))
    assert tokenizer.bos_token is None
    assert tokenizer.encode("hello") == tokenizer.encode("hello", add_special_tokens=False)


def test_the_configuration_beside_a_model_names_other_tokens(spec: TokenizerSpec, tmp_path: Path) -> None:
    config = {"pad_token": "<pad>", "additional_special_tokens": ["<|im|>"], "model_max_length": 77}
    tokenizer = HfBpeTokenizer.from_pretrained(write_folder(spec, tmp_path, **config))
    assert (tokenizer.pad_token_id, tokenizer.model_max_length) == (spec.n_vocab, 77)
    assert tokenizer.tokenize("a<|im|>b") == ["▁a", "<|im|>", "▁b"]


@pytest.mark.parametrize("said_by", ["caller", "config"])
def test_legacy_puts_a_space_behind_added_tokens_too(spec: TokenizerSpec, tmp_path: Path, said_by: str) -> None:
    expected = {None: "▁hello <s> ▁world", True: "▁hello <s> ▁world", False: "▁hello <s> world"}
    for legacy, tokens in expected.items():
        folder = tmp_path / str(legacy)
        asked = {} if legacy is None else {"legacy": legacy}
        folder.mkdir()
        write_folder(spec, folder, **(asked if said_by == "config" else {}))
        tokenizer = HfBpeTokenizer.from_pretrained(folder, **(asked if said_by == "caller" else {}))
        assert "".join(tokenizer.tokenize("hello<s>world")) == tokens.replace(" ", "")
        assert tokenizer.tokenize("<s>hello")[1].startswith("▁") == (legacy is not False)


def test_no_prefix_space_where_none_is_wanted(spec: TokenizerSpec, tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_pretrained(write_folder(spec, tmp_path), add_prefix_space=False)
    assert not tokenizer.tokenize("hello")[0].startswith("▁")
    assert tokenizer.decode(tokenizer.encode(" hello"), skip_special_tokens=True) == " hello"


@pytest.mark.parametrize("wanted", [True, False])
def test_the_caller_decides_on_the_space_where_there_is_a_tokenizer_json_too(
    spec: TokenizerSpec, tmp_path: Path, wanted: bool
) -> None:
    HfBpeTokenizer.from_spec(spec).save_pretrained(tmp_path)
    tokenizer = HfBpeTokenizer.from_pretrained(tmp_path, add_prefix_space=wanted)
    assert tokenizer.add_prefix_space is wanted
    assert tokenizer.tokenize("hello")[0].startswith("▁") is wanted


def test_a_model_without_dummy_prefix_stays_without(tmp_path: Path) -> None:
    folder = write_folder(small_spec(add_dummy_prefix=False), tmp_path)
    assert HfBpeTokenizer.from_pretrained(folder, legacy=True).spec.sentencepiece.prepend_scheme == "never"


def test_auto_tokenizer_gives_this_class_where_the_folder_names_it(spec: TokenizerSpec, tmp_path: Path) -> None:
    write_folder(spec, tmp_path, tokenizer_class="HfBpeTokenizer")
    assert type(AutoTokenizer.from_pretrained(tmp_path)) is HfBpeTokenizer


def test_train_makes_one_in_one_step() -> None:
    tokenizer = HfBpeTokenizer.train(
        iter(CORPUS), 360, dialect="sentencepiece", preset="llama2", pad_token="<pad>", eos_token="</s>", progress=False
    )
    assert (len(tokenizer), tokenizer.pad_token_id, tokenizer.eos_token_id) == (360, 3, 2)
    assert tokenizer.encode("hello")[0] == tokenizer.bos_token_id


def test_tokenizer_json_is_preferred(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.model").write_bytes(b"damaged")
    assert HfBpeTokenizer.from_pretrained(tmp_path).encode("hello") == tokenizer.encode("hello")


# -- what cannot be loaded ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x0a\xff\xff\xff\xff", b"{}"])
def test_a_damaged_model_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.model").write_bytes(content)
    with pytest.raises(FormatError, match=r"tokenizer\.model"):
        HfBpeTokenizer.from_pretrained(tmp_path)


def test_a_model_that_is_cut_off_is_named(spec: TokenizerSpec, tmp_path: Path) -> None:
    path = write_folder(spec, tmp_path) / "tokenizer.model"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(FormatError, match=r"tokenizer\.model"):
        HfBpeTokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize("kind", ["unigram", "word", "char"])
def test_other_kinds_of_models_are_refused_by_name(tmp_path: Path, kind: str) -> None:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_prefix=str(tmp_path / "tokenizer"),
        model_type=kind,
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    with pytest.raises(ConversionRefused, match=kind):
        HfBpeTokenizer.from_pretrained(tmp_path)


def test_a_folder_with_neither_file_is_listed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(FormatError, match=r"no tokenizer\.json, no tokenizer\.model,.*notes\.txt"):
        HfBpeTokenizer.from_pretrained(tmp_path)


# -- the usual surface ----------------------------------------------------------------------------------------------------


def test_decoding_drops_one_space_where_the_text_begins(loaded: Any) -> None:
    ids = loaded.encode("Hello world")
    assert loaded.decode(ids) == "<s> Hello world"
    assert loaded.decode(ids, skip_special_tokens=True) == "Hello world"
    assert loaded.decode(loaded.encode("  a"), skip_special_tokens=True) == "  a"
    assert loaded.decode(np.array(ids)) == "<s> Hello world"
    assert loaded.decode([22557, 999_999]) == "Hello"


def test_each_byte_of_no_character_is_one_mark_as_in_sentencepiece(loaded: Any, processor: Any) -> None:
    ids = loaded.convert_tokens_to_ids(["▁a", "<0xC3>", "<0xA9>", "<0xFF>", "<0xE4>", "<0xBD>", "▁b", "<0xA0>"])
    assert loaded.decode(ids) == processor.decode(ids) == "aé\ufffd\ufffd\ufffd b\ufffd"


@pytest.mark.parametrize("replaced", [b"0", "안".encode(), b"\xff"])
def test_decoded_text_is_denormalised(spec: TokenizerSpec, replaced: bytes) -> None:
    rules = dataclasses.replace(spec.sentencepiece, denormalizer_charsmap=build_charsmap({b"o": replaced}))
    changed = spec.replace(sentencepiece=rules)
    tokenizer = HfBpeTokenizer.from_spec(changed, add_bos_token=False)
    ids = tokenizer.encode("hello world")
    assert tokenizer.decode(ids) == hf_bpe.Encoder(changed).decode(ids)
    assert tokenizer.decode(ids) == "hello world".replace("o", replaced.decode("utf-8", "replace"))


def test_what_is_no_piece_is_unknown_without_byte_fallback() -> None:
    tokenizer = HfBpeTokenizer.from_spec(small_spec(byte_fallback=False))
    ids = tokenizer.encode("hello 안녕하세요")
    assert tokenizer.convert_ids_to_tokens(ids)[-2:] == ["▁", "<unk>"]
    assert tokenizer.decode(ids) == "<s> hello <unk>"
    assert tokenizer.decode(ids, skip_special_tokens=True) == "hello "


def test_batches_pairs_padding_and_truncation(tokenizer: Any) -> None:
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    batch = tokenizer(["hello", "hello world again"], padding=True, return_tensors="np")
    assert batch["input_ids"].shape == batch["attention_mask"].shape
    assert (batch["input_ids"][0] == tokenizer.pad_token_id).sum() > 0
    assert len(tokenizer("hello world again and again", truncation=True, max_length=4)["input_ids"]) == 4
    assert tokenizer("a", "b")["input_ids"] == tokenizer.encode("a") + tokenizer.encode("b")


def test_added_tokens_are_found_in_the_text_as_it_is(tokenizer: Any) -> None:
    assert tokenizer.add_tokens(["<tool>", tokenizers.AddedToken("</tool>", normalized=True)]) == 2
    assert [token.normalized for token in tokenizer.spec.added_tokens] == [False] * 5
    assert tokenizer.tokenize("a<tool>hello</tool>") == ["▁a", "<tool>", "▁hello", "</tool>"]
    assert tokenizer.decode(tokenizer.encode("a<tool>hello"), skip_special_tokens=True) == "a<tool> hello"
    assert tokenizer.get_added_vocab()["</tool>"] == len(tokenizer) - 1


def test_copies_and_pickles_give_the_same_ids(tokenizer: Any) -> None:
    tokenizer.add_tokens(["<tool>"])
    for again in (pickle.loads(pickle.dumps(tokenizer)), copy.copy(tokenizer), copy.deepcopy(tokenizer)):
        assert [again.encode(text) for text in TEXTS] == [tokenizer.encode(text) for text in TEXTS]


def test_chat_templates_run(tokenizer: Any) -> None:
    tokenizer.chat_template = "{{ bos_token }}{% for m in messages %}[INST] {{ m['content'] }} [/INST]{% endfor %}"
    chat = [{"role": "user", "content": "hello world"}]
    ids = tokenizer.apply_chat_template(chat)["input_ids"]
    assert ids == tokenizer.encode("<s>[INST] hello world [/INST]", add_special_tokens=False)


def test_what_a_user_writes_does_not_become_a_special_token(tokenizer: Any) -> None:
    tokenizer.chat_template = "{{ bos_token }}{% for m in messages %}[INST] {{ m['content'] }} [/INST]{% endfor %}"
    chat = [{"role": "user", "content": "hello <s> world</s>"}]
    ids = tokenizer.apply_chat_template(chat, sanitize_control_tokens=True)["input_ids"]
    assert (ids.count(1), ids.count(2)) == (1, 0)
    assert "<s>" in tokenizer.decode(ids[1:])


# -- saving ---------------------------------------------------------------------------------------------------------------


def assert_same_everywhere(tokenizer: Any, folder: Path, texts: list[str] = TEXTS) -> None:
    """Our class, the stock class and the `tokenizers` library read one folder and give the same ids, tokens and text."""
    ours, stock = HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)
    raw = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text in texts:
        expected = tokenizer.encode(text)
        assert ours.encode(text) == stock.encode(text) == raw.encode(text).ids == expected
        assert ours.tokenize(text) == stock.tokenize(text) == tokenizer.tokenize(text)
        for skip in (False, True):
            assert ours.decode(expected, skip_special_tokens=skip) == stock.decode(expected, skip_special_tokens=skip)
    assert stock.get_vocab() == ours.get_vocab() == tokenizer.get_vocab()
    assert len(stock) == len(ours) == len(tokenizer)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"byte_fallback": False},
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": True},
        {"user_defined_symbols": ["[U]", "he"]},
    ],
    ids=str,
)
def test_a_trained_model_is_the_same_in_all_readers(options: dict[str, Any], tmp_path: Path) -> None:
    tokenizer = HfBpeTokenizer.from_spec(small_spec(**options))
    tokenizer.save_pretrained(tmp_path)
    assert_same_everywhere(tokenizer, tmp_path, [*TEXTS, "a[U]he[U] she"])
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    for text in TEXTS:
        assert tokenizer.encode(text, split_special_tokens=True)[1:] == processor.encode(text)


def test_a_published_model_is_the_same_in_all_readers(loaded: Any, tmp_path: Path) -> None:
    loaded.save_pretrained(tmp_path)
    assert_same_everywhere(loaded, tmp_path)
    assert conversion.load(tmp_path / "tokenizer.model") == loaded.spec
    assert type(AutoTokenizer.from_pretrained(tmp_path)) is HfBpeTokenizer


@pytest.fixture(scope="module")
def saved(spec: TokenizerSpec, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """One folder with added tokens of several kinds, read by this class and by the stock one."""
    folder = tmp_path_factory.mktemp("saved")
    tokenizer = HfBpeTokenizer.from_spec(spec, add_eos_token=True, pad_token="<pad>")
    tokenizer.add_tokens([tokenizers.AddedToken("<left>", lstrip=True), tokenizers.AddedToken("he", single_word=True)])
    tokenizer.save_pretrained(folder)
    return HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder)


STRANGE = st.lists(
    st.one_of(
        st.sampled_from(
            ["<s>", "</s>", "<unk>", "<pad>", "<left>", "he", "hello", " ", "  ", "▁", "<0x41>", "\n", "\x00", "안"]
        ),
        st.text(max_size=4),
        st.text(" helowrd", max_size=8),
    ),
    max_size=8,
).map("".join)


@given(STRANGE)
@settings(max_examples=300, deadline=None)
def test_any_text_is_the_same_in_stock_transformers(saved: tuple[Any, Any], text: str) -> None:
    ours, stock = saved
    ids = ours.encode(text)
    assert ids == stock.encode(text)
    assert ours.convert_ids_to_tokens(ids) == stock.convert_ids_to_tokens(ids)
    for skip in (False, True):
        assert ours.decode(ids, skip_special_tokens=skip) == stock.decode(ids, skip_special_tokens=skip)


@given(st.lists(st.integers(0, 387), max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_ids_without_broken_characters_are_decoded_alike(saved: tuple[Any, Any], ids: list[int]) -> None:
    ours, stock = saved
    expected = stock.decode(ids)
    if "\ufffd" not in expected:  # else stock classes lose a whole run of byte pieces
        assert ours.decode(ids) == expected
    assert ours.convert_ids_to_tokens(ids) == stock.convert_ids_to_tokens(ids)


def test_an_added_token_with_the_space_symbol_is_decoded_to_other_text_by_stock(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.add_tokens(["<a▁b>"])
    with pytest.warns(RuntimeWarning, match="<a▁b>"):
        tokenizer.save_pretrained(tmp_path)
    ours, stock = HfBpeTokenizer.from_pretrained(tmp_path), PreTrainedTokenizerFast.from_pretrained(tmp_path)
    ids = ours.encode("x<a▁b>y", add_special_tokens=False)
    assert ids == stock.encode("x<a▁b>y", add_special_tokens=False)
    assert (ours.decode(ids), stock.decode(ids)) == ("x<a▁b> y", "x<a b> y")


def test_tokens_added_at_run_time_are_saved_and_no_model_is_written_beside(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.add_tokens(["<tool>", "</tool>"])
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    tokenizer.save_pretrained(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokenizer.json", "tokenizer_config.json"]
    assert_same_everywhere(tokenizer, tmp_path)


@pytest.mark.parametrize("around", [{"add_bos_token": False}, {"add_eos_token": True, "add_bos_token": True}])
def test_bos_and_eos_are_saved(spec: TokenizerSpec, tmp_path: Path, around: dict[str, bool]) -> None:
    tokenizer = HfBpeTokenizer.from_spec(spec, **around)
    tokenizer.save_pretrained(tmp_path)
    assert_same_everywhere(tokenizer, tmp_path)


def test_saving_twice_writes_the_same_tokenizer_json(tokenizer: Any, tmp_path: Path) -> None:
    tokenizer.save_pretrained(tmp_path / "a")
    HfBpeTokenizer.from_pretrained(tmp_path / "a").save_pretrained(tmp_path / "b")
    assert (tmp_path / "a" / "tokenizer.json").read_bytes() == (tmp_path / "b" / "tokenizer.json").read_bytes()


def test_a_model_that_says_the_same_is_not_written_over(mistral: Path, spec: TokenizerSpec, tmp_path: Path) -> None:
    model = tmp_path / "tokenizer.model"
    shutil.copy(mistral / "tokenizer.model", model)
    HfBpeTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path)
    assert model.read_bytes() == MISTRAL.read_bytes()
    HfBpeTokenizer.from_spec(spec).save_pretrained(tmp_path)
    assert conversion.load(model) == spec


def test_a_model_file_can_be_named_itself(spec: TokenizerSpec, tmp_path: Path) -> None:
    conversion.save(spec, tmp_path / "mine.model")
    by_path = HfBpeTokenizer.from_pretrained(tmp_path / "mine.model")
    assert by_path.spec == HfBpeTokenizer(vocab_file=tmp_path / "mine.model").spec == spec


@pytest.mark.parametrize(
    ("options", "arguments", "said"),
    [
        ({"normalization_rule_name": "nmt_nfkc"}, {}, "nmt_nfkc"),
        ({}, {"legacy": False}, "prefix"),
    ],
    ids=["charsmap", "non-legacy"],
)
def test_what_stock_readers_cannot_do_is_refused_and_nothing_written(
    options: dict[str, Any], arguments: dict[str, Any], said: str, tmp_path: Path
) -> None:
    tokenizer = HfBpeTokenizer.from_spec(small_spec(**options), **arguments)
    with pytest.raises(ConversionRefused, match=said):
        tokenizer.save_pretrained(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_model_of_another_tokenizer_in_the_folder_is_pointed_out(spec: TokenizerSpec, tmp_path: Path) -> None:
    conversion.save(spec, tmp_path / "tokenizer.model")
    tokenizer = HfBpeTokenizer.from_spec(spec)
    tokenizer.add_tokens(["<new>"])
    with pytest.warns(RuntimeWarning, match="is not this tokenizer, which such a file cannot hold"):
        tokenizer.save_pretrained(tmp_path)
