from __future__ import annotations

import copy
import json

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import conversion
from conversion.tokenizer_json import from_dict, to_dict
from hf_bpe import NAMED_PATTERNS, AddedToken, ConversionRefused, Encoder, FormatError, TokenizerSpec
from tests.conversion.support import small_spec, spec_of_tokens, spec_with_unreachable_token, stock_tokenizer, write_json
from tests.support.official import DEEPSEEK_STAGES
from tests.support.text import difficult_text, plain_text
from tests.support.vocabularies import BYTES, byte_spec, cl100k_spec, gpt2_spec, random_specs

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def document(**changes):
    """The tokenizer.json of a small tokenizer, with some top-level parts changed."""
    return copy.deepcopy(to_dict(small_spec())) | changes


def model(**changes):
    return document()["model"] | changes


def split(regex, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: regex}, "behavior": behavior, "invert": invert}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL]}


def added(content, token_id, **flags):
    default = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": token_id, "content": content} | default | flags


# -- there and back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec", [small_spec(), spec_with_unreachable_token(), byte_spec()], ids=["small", "unreachable", "bytes"]
)
def test_writing_and_reading_gives_the_tokenizer_back(tmp_path, spec):
    [path] = conversion.save(spec, tmp_path / "tokenizer.json")
    assert conversion.load(path) == spec


@pytest.mark.parametrize("name", NAMED_PATTERNS)
def test_a_named_pattern_is_recognised_again(name):
    spec = byte_spec(name)
    assert from_dict(to_dict(spec), "x").pattern == NAMED_PATTERNS[name].pattern


@pytest.mark.parametrize("name", NAMED_PATTERNS)
@given(text=difficult_text())
def test_a_named_pattern_splits_alike_in_tokenizers(name, text):
    spec = byte_spec(name)
    steps = tokenizers.Tokenizer.from_str(json.dumps(to_dict(spec))).pre_tokenizer
    pieces = [text[start:end] for _, (start, end) in steps.pre_tokenize_str(text)]
    assert pieces == Encoder(spec).pretokenize(text)


@pytest.mark.parametrize(
    "pattern", [r"\w+|\W", r"[^\W\d]+|\s", r"\bfoo\b|\s|.", r"\p{N}{1,3}+|a$|\S", r"(?i:'st)|.", r"a{2}?|b{1,2}?|c"]
)
@given(text=st.text("ab c12'sStT_foo\n٣\u200d\ufb06", max_size=20))
def test_any_pattern_keeps_its_meaning_in_tokenizers_and_back(pattern, text):
    spec = byte_spec(pattern)
    ids = Encoder(spec).encode_ordinary(text)
    assert stock_tokenizer(spec).encode(text).ids == ids
    assert Encoder(from_dict(to_dict(spec), "x")).pretokenize(text) == Encoder(spec).pretokenize(text)


@given(random_specs(), st.lists(plain_text(), max_size=5))
def test_every_tokenizer_is_exact_in_tokenizers(spec, texts):
    stock = stock_tokenizer(spec)
    assert [stock.encode(text).ids for text in texts] == Encoder(spec).encode_ordinary_batch(texts)


@given(random_specs())
def test_every_tokenizer_comes_back(tmp_path_factory, spec):
    conversion.save(spec, tmp_path_factory.mktemp("json") / "tokenizer.json")  # reads back and compares


# -- writing ----------------------------------------------------------------------------------------------------------


def test_added_tokens_keep_their_ids_across_gaps():
    stock = stock_tokenizer(cl100k_spec())
    assert {
        token.content: stock.token_to_id(token.content) for token in cl100k_spec().added_tokens
    } == cl100k_spec().special_tokens
    assert stock.encode("hi<|endofprompt|>").ids[-1] == 100276


def test_added_tokens_without_gaps_stay_out_of_the_vocabulary():
    data = to_dict(gpt2_spec())
    assert "<|endoftext|>" not in data["model"]["vocab"]
    assert stock_tokenizer(gpt2_spec()).token_to_id("<|endoftext|>") == 50256


def test_a_gap_before_a_special_token_that_could_be_a_piece_is_refused():
    spec = spec_with_unreachable_token().replace(added_tokens=(AddedToken("<s>", 300),))
    with pytest.raises(ConversionRefused, match="'<s>' its id 300 only inside the vocabulary"):
        to_dict(spec)  # its pattern takes runs of non-space, `<s>` among them
    apart = spec.replace(pattern=r"\w+|\W")
    stock = stock_tokenizer(apart)
    stock.encode_special_tokens = True
    assert stock.encode("abcd<s>").ids == Encoder(apart).encode_ordinary("abcd<s>")


def test_an_added_token_spelled_like_other_bytes_is_refused():
    with pytest.raises(ConversionRefused, match="its text is how the bytes of token 233 are spelled"):
        to_dict(byte_spec(added_tokens=(AddedToken("é", 300),)), allow_lossy=True)


def test_an_added_token_that_would_decode_to_other_bytes_is_refused():
    spec = byte_spec(added_tokens=(AddedToken("<é>", 256),))
    with pytest.raises(ConversionRefused, match="decodes it to other bytes"):
        to_dict(spec)
    assert from_dict(to_dict(spec, allow_lossy=True), "x") == spec


def test_added_tokens_outside_the_byte_alphabet_are_no_trouble():
    spec = byte_spec(added_tokens=(AddedToken("<｜begin of text｜>", 300),))
    stock = stock_tokenizer(spec)
    assert stock.encode("a<｜begin of text｜>b").ids == [97, 300, 98]
    assert stock.decode([97, 300, 98], skip_special_tokens=False) == "a<｜begin of text｜>b"
    assert from_dict(to_dict(spec), "x") == spec


def test_flags_of_added_tokens_work_in_tokenizers():
    tokens = (AddedToken("<m>", 256, lstrip=True, rstrip=True), AddedToken("foo", 257, special=False, single_word=True))
    spec = byte_spec(added_tokens=tokens)
    text = "a <m> b foo food"
    assert stock_tokenizer(spec).encode(text).ids == Encoder(spec).encode(text, allowed_special="all")
    assert from_dict(to_dict(spec), "x") == spec


def test_text_between_matches_is_dropped_where_the_tokenizer_drops_it():
    spec = byte_spec(r"\p{L}+", unmatched="drop")
    assert stock_tokenizer(spec).encode("a1b").ids == [97, 98] == Encoder(spec).encode_ordinary("a1b")


def test_cl100ks_possessive_digits_are_not_written_as_they_stand():
    regex = to_dict(cl100k_spec())["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    assert r"\p{N}{1,3}+" not in regex  # Oniguruma would repeat the group, and take "1887" whole
    assert stock_tokenizer(cl100k_spec()).encode("1887").ids == Encoder(cl100k_spec()).encode_ordinary("1887")


# -- reading ----------------------------------------------------------------------------------------------------------


def test_what_tokenizers_itself_saves_is_read():
    again = json.loads(stock_tokenizer(small_spec()).to_str(pretty=True))
    assert isinstance(again["model"]["merges"][0], list)
    assert from_dict(again, "x") == small_spec()


def test_a_tokenizer_trained_by_tokenizers_is_read(tmp_path):
    stock = tokenizers.ByteLevelBPETokenizer()
    stock.train_from_iterator(
        ["hello world, hello tokens"] * 9, vocab_size=290, special_tokens=["<s>", "<pad>"], show_progress=False
    )
    stock.save(str(tmp_path / "tokenizer.json"))
    spec = conversion.load(tmp_path / "tokenizer.json")
    assert spec.special_tokens == {"<s>": 0, "<pad>": 1}
    text = "hello <s> worlds of tokens<pad>"
    assert Encoder(spec).encode(text, allowed_special="all") == stock.encode(text).ids


def test_every_split_of_deepseek_as_published_is_recognised():
    spec = from_dict(document(pre_tokenizer=sequence(*map(split, DEEPSEEK_STAGES))), "x")
    assert spec.pattern == NAMED_PATTERNS["deepseek-v3"].pattern


def test_the_text_tiktoken_uses_means_something_else_in_a_split():
    spec = from_dict(document(pre_tokenizer=sequence(split(NAMED_PATTERNS["cl100k"].pattern))), "x")
    assert Encoder(spec).pretokenize("1887") == ["1887"]


@pytest.mark.parametrize(
    "pre_tokenizer",
    [
        BYTE_LEVEL | {"use_regex": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        {"type": "Sequence", "pretokenizers": [{"type": "Sequence", "pretokenizers": [BYTE_LEVEL | {"use_regex": True}]}]},
        sequence(split(NAMED_PATTERNS["gpt2"].pattern)),
    ],
)
def test_gpt2s_pattern_is_read_in_each_of_its_forms(pre_tokenizer):
    assert from_dict(document(pre_tokenizer=pre_tokenizer), "x").pattern == NAMED_PATTERNS["gpt2"].pattern


def test_the_last_place_of_a_repeated_pair_counts():
    vocab = document()["model"]["vocab"] | {"bc": 500}
    data = document(model=model(vocab=vocab, merges=["a b", "b c", "a b"]), added_tokens=[])
    spec = from_dict(data, "x")
    assert spec.merges == ((b"b", b"c"), (b"a", b"b"))
    assert tokenizers.Tokenizer.from_str(json.dumps(data)).encode("abc").ids == Encoder(spec).encode_ordinary("abc")


def test_an_added_token_that_merges_make_stays_a_token_too():
    data = document(added_tokens=[added("ab", 256)])
    spec = from_dict(data, "x")
    assert spec.vocab[b"ab"] == spec.special_tokens["ab"] == 256
    assert Encoder(spec).encode_ordinary("ab") == [256]


def test_an_added_token_that_only_stands_in_the_vocabulary_is_no_token_of_it():
    spec = from_dict(to_dict(cl100k_spec()), "x")
    assert b"<|endoftext|>" not in spec.vocab


TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [400], "tokens": ["<s>"]}},
}


@pytest.mark.parametrize(
    "post_processor",
    [
        TEMPLATE,
        {
            "type": "RobertaProcessing",
            "sep": ["<s>", 400],
            "cls": ["<s>", 400],
            "trim_offsets": True,
            "add_prefix_space": False,
        },
        {"type": "Sequence", "processors": [{"type": "ByteLevel", "trim_offsets": False}, TEMPLATE]},
    ],
)
def test_a_post_processor_goes_into_another_tokenizer_json(post_processor):
    spec = from_dict(document(added_tokens=[added("<s>", 400)], post_processor=post_processor), "x")
    assert to_dict(spec)["post_processor"] == post_processor
    assert spec == from_dict(document(added_tokens=[added("<s>", 400)]), "x")


@pytest.mark.parametrize(
    "post_processor",
    [
        {"type": "RobertaProcessing", "sep": ["<s>", 7], "cls": ["<s>", 400]},
        {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "\ud800"}}], "special_tokens": {}},
        {"type": "Sequence", "processors": [{"type": "Unheard"}]},
    ],
)
def test_a_post_processor_that_is_not_understood_is_left_out_and_named(tmp_path, post_processor):
    spec = from_dict(document(added_tokens=[added("<s>", 400)], post_processor=post_processor), "x")
    [path] = conversion.save(spec, tmp_path / "tokenizer.json")
    assert json.loads(path.read_bytes())["post_processor"] is None
    [line] = conversion.check(spec, "tokenizer.json").left_out
    assert line.startswith("the source's post_processor, which ")


@pytest.mark.parametrize("post_processor", [[], 5, json.loads("[" * 900 + "]" * 900)], ids=["list", "number", "deep"])
def test_a_post_processor_that_is_no_object_is_refused(post_processor):
    with pytest.raises(FormatError, match=r"\$.post_processor must be an object"):
        from_dict(document(post_processor=post_processor), "x")


def test_what_a_target_leaves_out_is_in_the_verdict():
    spec = from_dict(
        document(added_tokens=[added("<s>", 400)], post_processor=TEMPLATE, padding={"strategy": "BatchLongest"}), "x"
    )
    assert conversion.check(spec, "tokenizer.json").left_out == ("the source's padding",)
    around, padding = conversion.check(spec, "gpt2").left_out
    assert around == "the source's post_processor, which puts '<s>' before every text: the target by itself adds no tokens"
    moved = spec.replace(added_tokens=[AddedToken("<s>", 500)])
    assert conversion.check(moved, "huggingface").left_out == (around, padding)
    assert to_dict(spec.replace(added_tokens=[]))["post_processor"] is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"normalizer": {"type": "Nmt"}}, r"\$.normalizer is Nmt"),
        ({"pre_tokenizer": None}, r"\$.pre_tokenizer is null; without a ByteLevel"),
        ({"pre_tokenizer": {"type": "Sequence", "pretokenizers": []}}, "empty Sequence"),
        (
            {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}},
            "ends with Metaspace; a byte-level tokenizer has a ByteLevel step",
        ),
        (
            {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split("a"), BYTE_LEVEL | {"add_prefix_space": True}]}},
            "a space before every piece",
        ),
        ({"pre_tokenizer": sequence({"type": "UnicodeScripts"})}, "holds UnicodeScripts, which cuts where the script changes"),
        ({"pre_tokenizer": sequence({"type": "BertPreTokenizer"})}, "holds BertPreTokenizer, which both drops"),
        ({"pre_tokenizer": sequence({"type": "Metaspace"})}, "holds Metaspace, which writes spaces"),
        ({"pre_tokenizer": sequence({"type": "Another"})}, "holds Another, which is no pattern known here"),
        ({"pre_tokenizer": sequence(split("", kind="String"))}, "can match the empty string"),
        ({"pre_tokenizer": sequence(split("ab", "Removed"))}, "'Removed' at more than single characters"),
        ({"pre_tokenizer": sequence(split("a", "Torn"))}, "behavior 'Torn' is not known"),
        ({"pre_tokenizer": sequence(split("a"), split("b", "Removed"))}, "not the first one"),
        ({"pre_tokenizer": sequence({"type": "FixedLength", "length": 0})}, "FixedLength with a length of 0"),
        ({"pre_tokenizer": sequence(split("a*"))}, "can match the empty string"),
        ({"pre_tokenizer": sequence(split("(a"))}, "expected '\\)'"),
        ({"pre_tokenizer": sequence(split(r"\w+"))}, r"Oniguruma's \\w"),
        ({"pre_tokenizer": sequence(split("(?i:st)"))}, "also matches a single character"),
        ({"decoder": None}, r"\$.decoder is null"),
        ({"decoder": {"type": "WordPiece"}}, r"\$.decoder is WordPiece"),
        ({"model": model(type="Unigram")}, r"\$.model.type is 'Unigram'"),
        ({"model": model(dropout=0.1)}, r"\$.model.dropout"),
        ({"model": model(continuing_subword_prefix="##")}, r"continuing_subword_prefix: tokens are spelled with '##'"),
        ({"model": model(end_of_word_suffix="</w>")}, "end_of_word_suffix"),
    ],
)
def test_what_no_pattern_and_merges_can_say_is_refused_by_name(change, complaint):
    with pytest.raises(ConversionRefused, match=complaint) as caught:
        from_dict(document(**change), "some/tokenizer.json")
    assert str(caught.value).startswith("some/tokenizer.json: ")


@pytest.mark.parametrize(
    "options",
    [{"unk_token": "<|endoftext|>"}, {"fuse_unk": True}, {"byte_fallback": True}, {"dropout": 0.0}, {"end_of_word_suffix": ""}],
)
def test_what_is_for_unknown_characters_has_no_effect_where_every_byte_is_known(options):
    data = document(model=model(**options))
    assert from_dict(data, "x") == small_spec()
    assert tokenizers.Tokenizer.from_str(json.dumps(data)).encode("abc é 中").ids == Encoder(small_spec()).encode_ordinary(
        "abc é 中"
    )


def test_a_sequence_of_one_decoder_is_that_decoder():
    decoder = document()["decoder"]
    assert from_dict(document(decoder={"type": "Sequence", "decoders": [decoder]}), "x") == small_spec()


VOCAB = document()["model"]["vocab"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model": []}, r"\$.model must be an object, not \[\]"),
        ({"model": {}}, r"\$.model.vocab is missing"),
        ({"model": model(vocab=[])}, r"\$.model.vocab must be an object"),
        ({"model": model(vocab=VOCAB | {"ab": True})}, r"\$.model.vocab\['ab'\]: the id must be an integer"),
        ({"model": model(vocab=VOCAB | {"ab": 2**31})}, "the id must be an integer"),
        ({"model": model(vocab=VOCAB | {"zz": 0}), "added_tokens": []}, "share id 0"),
        ({"model": model(vocab=VOCAB | {"z z": 999}), "added_tokens": []}, r"\['z z'\]: .*not an added token either"),
        ({"model": model(vocab={k: v for k, v in VOCAB.items() if k != "q"})}, "vocab lacks the bytes 0x71"),
        ({"model": model(merges=None)}, r"\$.model.merges must be a list, not None"),
        ({"model": model(merges=["a b", "ab"])}, r"\$.model.merges\[1\] must be two tokens"),
        ({"model": model(merges=[["a", "b", "c"]])}, r"\$.model.merges\[0\] must be two tokens"),
        ({"model": model(merges=[["a", 1]])}, r"\$.model.merges\[0\] must be two tokens"),
        ({"model": model(merges=["a z"])}, r"\$.model.merges\[0\]: 'a' \+ 'z': 'az' is not in the vocabulary"),
        *(
            ({"model": model(**{name: wrong})}, rf"\$.model.{name} must be {wanted}, not")
            for names, wanted, values in (
                (("ignore_merges", "fuse_unk", "byte_fallback"), "true or false", ("false", 0, [])),
                (("unk_token", "continuing_subword_prefix", "end_of_word_suffix", "type"), "a string", (5, 0, False, {})),
                (("dropout",), "a number", ("x", False, [])),
            )
            for name in names
            for wrong in values
        ),
        *(
            ({part: wrong}, rf"\$.{part} must be an object, not")
            for part in ("normalizer", "decoder", "padding")
            for wrong in ("x", 0, [])
        ),
        ({"version": 1.0}, r"\$.version must be a string"),
        ({"added_tokens": {}}, r"\$.added_tokens must be a list"),
        ({"added_tokens": ["<s>"]}, r"\$.added_tokens\[0\] must be an object"),
        ({"added_tokens": [added("", 400)]}, r"\$.added_tokens\[0\].content is empty"),
        ({"added_tokens": [added("<s>", True)]}, r"\$.added_tokens\[0\].id must be an integer, not True"),
        ({"added_tokens": [added("<s>", 400, special=1)]}, r"\$.added_tokens\[0\].special must be true or false"),
        ({"added_tokens": [{"id": 400, "content": "<s>"}]}, r"\$.added_tokens\[0\].special is missing"),
        ({"added_tokens": [added("<t>", 500)]}, "'<t>' has id 500 here, but `tokenizers` gives it 264"),
        ({"added_tokens": [added("ab", 7)]}, "'ab' has id 7 here, but `tokenizers` gives it 256"),
        ({"pre_tokenizer": sequence({"type": "Split"})}, r"\$.pre_tokenizer.pattern is missing"),
        ({"pre_tokenizer": {"type": "Sequence"}}, r"\$.pre_tokenizer.pretokenizers is missing"),
        ({"pre_tokenizer": {"type": "ByteLevel"}}, r"\$.pre_tokenizer.add_prefix_space is missing"),
    ],
)
def test_a_damaged_file_is_named_with_place_and_reason(change, complaint):
    with pytest.raises(FormatError, match=complaint) as caught:
        from_dict(document(**change), "some/tokenizer.json")
    assert str(caught.value).startswith("some/tokenizer.json: ")


def test_the_id_we_predict_is_the_one_tokenizers_gives():
    data = document(added_tokens=[added("<t>", 500), added("<s>", 400), added("<u>", 3, special=False)])
    stock = tokenizers.Tokenizer.from_str(json.dumps(data))
    assert [stock.token_to_id(token) for token in ("<t>", "<s>", "<u>")] == [264, 400, 265]


def test_a_file_that_says_everything_is_not_told_otherwise(tmp_path):
    path = write_json(tmp_path / "tokenizer.json", document())
    with pytest.raises(FormatError, match="states its own pattern and special tokens"):
        conversion.load(path, pattern="gpt2")


@pytest.mark.parametrize("content", ["", "{", "null", "[]", '{"model": 1}', '{"version": "1.0"}', '{"a": {"b": ' * 50_000])
def test_json_of_another_shape_is_a_format_error(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=r"tokenizer.json"):
        conversion.load(path, format="tokenizer.json")


def test_a_folder_is_read_by_its_tokenizer_json(tmp_path):
    conversion.save(gpt2_spec(), tmp_path, format="vocab-merges")
    conversion.save(small_spec(), tmp_path / "tokenizer.json")
    assert conversion.load(tmp_path) == small_spec()


def test_a_whole_piece_that_is_an_added_token_too_stays_reachable():
    spec = TokenizerSpec(
        vocab=BYTES | {b"<s>": 256}, merges=(), pattern=r"\S+|\s", ignore_merges=True, added_tokens=(AddedToken("<s>", 256),)
    )
    assert from_dict(to_dict(spec), "x") == spec
    stock = stock_tokenizer(spec)
    stock.encode_special_tokens = True
    assert stock.encode("<s> <s>x").ids == Encoder(spec).encode_ordinary("<s> <s>x")


def test_unreachable_tokens_are_reached_in_tokenizers():
    spec = spec_of_tokens([b"bc", b"ab", b"cd", b"abcd"], pattern=r"\s?\S+|\s", unmatched="keep")
    assert stock_tokenizer(spec).encode("abcd abcd").ids == Encoder(spec).encode_ordinary("abcd abcd")
