"""SentencePiece models as tokenizer.json, as rank files with a table, and byte-level tokenizers as SentencePiece models."""

from __future__ import annotations

import copy
import io
import json
import random
import re
from functools import cache
from itertools import product

import pytest
import sentencepiece
import tiktoken
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import conversion
from conversion.merges import merged_parts
from conversion.nasty_strings import nasty_strings
from conversion.sentencepiece.expansion import expanded
from conversion.sentencepiece.model import parse_model, serialise_model
from conversion.sentencepiece.piece_merges import isolated_parts, merges_of
from conversion.tiktoken.file import parse_ranks
from conversion.tokenizer_json import from_dict, to_dict
from hf_bpe import NAMED_PATTERNS, AddedToken, ConversionRefused, Encoder, FormatError, TokenizerSpec
from hf_bpe.charsmap import build_charsmap
from hf_bpe.pieces import Piece, SentencePieceRules, byte_piece
from hf_bpe.spelling import spelling_of
from tests.conversion.support import small_spec, spec_with_unreachable_token
from tests.support.text import difficult_text
from tests.support.vocabularies import packaged

MISTRAL = {
    "v1": "tokenizer.model.v1",
    "v3": "mistral_instruct_tokenizer_240323.model.v3",
    "v7": "mistral_instruct_tokenizer_241114.model.v7",
}
BYTES = tuple(Piece(byte_piece(byte), kind="byte") for byte in range(256))
SPACES = "\u2581"


@cache
def mistral(version):
    return conversion.load(packaged("mistral_common", "data", MISTRAL[version]))


@cache
def mistral_processor():
    return processor(mistral("v1"))


@cache
def stock(version):
    found = tokenizers.Tokenizer.from_str(json.dumps(to_dict(mistral(version))))
    found.encode_special_tokens = True
    return found


def processor(spec):
    return sentencepiece.SentencePieceProcessor(model_proto=serialise_model(spec))


def spec_of(*pieces, fallback=True, **rules):
    rules = {"remove_extra_whitespaces": False, "byte_fallback": fallback} | rules
    listed = (Piece("<unk>", kind="unknown"), Piece("<s>", kind="control"), *(BYTES if fallback else ()), *pieces)
    named = [AddedToken(piece.content, n) for n, piece in enumerate(listed) if piece.kind in ("control", "unknown")]
    return TokenizerSpec.from_sentencepiece(SentencePieceRules(listed, **rules), added_tokens=named)


def small(*more, byte_fallback=True, **rules):
    pieces = [Piece(c) for c in "\u2581abc12<>s/é中"]
    pieces += [
        Piece(t, -float(n))
        for n, t in enumerate(["ab", "\u2581a", "ca", "\u2581ab", "\u2581\u2581", "bca", "é中", "12", "<s"], 1)
    ]
    return spec_of(*pieces, *more, fallback=byte_fallback, **rules)


def run_by_tokenizers(spec, texts):
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(to_dict(spec)))
    tokenizer.encode_special_tokens = True
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]


def fuzz(alphabet, count=1500, longest=14):
    draw = random.Random(5)
    return ["".join(draw.choices(alphabet, k=draw.randrange(longest))) for _ in range(count)]


# -- exactness --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", MISTRAL)
def test_mistral_is_exact_in_tokenizers(version):
    texts = nasty_strings(["<s>", "<unk>", "[INST]", "<0x41>"]) + fuzz(
        ["▁", " ", "  ", "a", "the", "\n", "é", "한", "<s>", "🙂", "."]
    )
    ids = [encoding.ids for encoding in stock(version).encode_batch_fast(texts, add_special_tokens=False)]
    model = processor(mistral(version))
    assert ids == model.encode(texts)
    assert stock(version).decode_batch(ids, skip_special_tokens=False) == [model.decode(i) for i in ids]


def test_the_unknown_piece_between_user_defined_ones_is_one_piece_in_tokenizers():
    spec = spec_of(Piece("[U]", kind="user_defined"), *map(Piece, "ab"), fallback=False, prepend_scheme="never")
    texts = ["<unk>", "[U]<unk>[U]", "a<unk>b", "[U]<s>a[U]", "[U]<>[U]"]
    with pytest.raises(ConversionRefused, match="'<s>' would be found, which merging never makes"):
        to_dict(spec)
    spec = spec_of(Piece("[U]", kind="user_defined"), *map(Piece, "abs"), fallback=False, prepend_scheme="never")
    assert run_by_tokenizers(spec, texts) == processor(spec).encode(texts)


@given(difficult_text())
def test_mistral_is_exact_in_tokenizers_on_difficult_text(text):
    assert stock("v1").encode(text, add_special_tokens=False).ids == mistral_processor().encode(text)


def test_each_piece_has_one_pair_and_runs_of_spaces_are_in_an_order():
    merges = merges_of(mistral("v1").sentencepiece)
    assert (len(merges.pairs), merges.conflict) == (28446, None)
    runs = [len("".join(pair)) for pair in merges.pairs if not "".join(pair).strip(SPACES)]
    assert runs[-1] == 2  # two spaces merge last, or longer runs would come apart in the middle


def test_special_tokens_become_ids_and_each_stretch_gets_a_prefix():
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(to_dict(small())))
    text = "ab<s>ab<unk> a"
    assert tokenizer.encode(text, add_special_tokens=False).ids == Encoder(small()).encode(text, allowed_special="all")


@cache
def trained(**settings):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on  the mat", "a mat of [U] cats, 12 dogs", "안녕 hello world <0x41>"] * 50),
        model_writer=out, model_type="bpe", minloglevel=2, hard_vocab_limit=False, **({"vocab_size": 360} | settings),
    )  # fmt: skip
    return parse_model(out.getvalue(), "trained")


@pytest.mark.parametrize(
    "settings",
    [
        {"normalization_rule_name": "identity", "byte_fallback": True, "remove_extra_whitespaces": False},
        {"normalization_rule_name": "identity", "byte_fallback": True},
        {"normalization_rule_name": "identity", "vocab_size": 90},
        {"normalization_rule_name": "identity", "byte_fallback": True, "treat_whitespace_as_suffix": True},
        {"normalization_rule_name": "identity", "byte_fallback": True, "add_dummy_prefix": False},
        {"normalization_rule_name": "identity", "byte_fallback": True, "user_defined_symbols": "[U],cat,▁on"},
    ],
    ids=["plain", "trimmed", "unknown", "suffix", "no-prefix", "user-defined"],
)
def test_trained_models_are_exact_in_tokenizers_and_come_back(tmp_path, settings):
    spec = trained(**settings)
    bits = [" ", "  ", "▁", "the", "cat", "[U]", "at", "on", "<0x41>", "<s>", "<unk>", "é", "ß中", "\n", "12", "안"]
    texts = nasty_strings(["<s>", "[U]"]) + fuzz(bits)
    assert run_by_tokenizers(spec, texts) == processor(spec).encode(texts)
    [path] = conversion.save(spec, tmp_path / "tokenizer.json")
    again = conversion.load(path)
    conversion.save(again, tmp_path / "back.model")
    assert sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "back.model")).encode(texts) == processor(
        spec
    ).encode(texts)


@given(st.data())
def test_scores_with_ties_are_exact_or_refused(data):
    alphabet = data.draw(st.sampled_from(["a", "ab", "abc"]))
    texts = ["".join(t) for n in range(2, 6) for t in product(alphabet, repeat=n)]
    chosen = data.draw(st.lists(st.sampled_from(texts), unique=True, max_size=9))
    scores = [float(-data.draw(st.integers(0, 3))) for _ in chosen]
    spec = spec_of(*map(Piece, alphabet), *map(Piece, chosen, scores), fallback=False, prepend_scheme="never")
    merges = merges_of(spec.sentencepiece)
    rank_of = {pair: rank for rank, pair in enumerate(merges.pairs)}
    if merges.conflict is None:
        for text in ["".join(t) for n in range(1, 7 if len(alphabet) < 3 else 6) for t in product(alphabet, repeat=n)]:
            assert merged_parts(text, lambda *pair: rank_of.get(pair)) == isolated_parts([text], spec.sentencepiece)[0]
        assert conversion.equality.first_difference(from_dict(to_dict(spec), "x"), spec) is None


# -- refusals ---------------------------------------------------------------------------------------------------------

ABS = [Piece("a"), Piece("b"), Piece("\u2581")]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (spec_of(*ABS, Piece("ab", -1.0), Piece("ba", -1.0)), "in a circle: 'ab' before 'ba' for the text 'aba', 'ba' before 'ab' for"),
        (spec_of(*ABS, Piece("xa", -1.0)), "merging makes 'xa' though its character 'x' is no piece"),
        (spec_of(*ABS, Piece("ab", -1.0, "unused")), "1 unused pieces come apart"),
        (small(precompiled_charsmap=build_charsmap({b"x": b"y"})), "whole grapheme clusters"),
        (small(denormalizer_charsmap=build_charsmap({b"x": b"y"})), "decoded text is denormalised"),
        (small(prepend_scheme="first"), "in 'a<unk>b' it would go before 'b' too"),
        (small(Piece("x y", kind="user_defined"), remove_extra_whitespaces=True), "keeps its spaces"),
    ],
)  # fmt: skip
def test_what_tokenizers_cannot_do_is_refused(tmp_path, spec, complaint):
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "tokenizer.json")
    assert list(tmp_path.iterdir()) == []
    path, _ = conversion.save(spec, tmp_path / "tokenizer.json", allow_lossy=True)
    assert tokenizers.Tokenizer.from_file(str(path)).get_vocab_size() == len(spec.vocab)


# -- decoding ---------------------------------------------------------------------------------------------------------

LEADING = {f"{scheme} escapes={escapes} suffix={suffix}": {"prepend_scheme": scheme, "escape_whitespaces": escapes, "treat_whitespace_as_suffix": suffix}
           for scheme in ("always", "never") for escapes in (True, False) for suffix in (False, True)}  # fmt: skip


@pytest.mark.parametrize("rules", LEADING.values(), ids=LEADING)
def test_ids_decode_in_tokenizers_and_in_our_class_as_in_sentencepiece(rules):
    spec = small(**rules)
    model, written = processor(spec), tokenizers.Tokenizer.from_str(json.dumps(to_dict(spec)))
    ours, read = spelling_of(spec).decoder(Encoder(spec)), Encoder(from_dict(to_dict(spec), "x"))
    assert written.decode([]) == ours([]) == model.decode([]) == ""
    for text in [" ", "▁", "  a", " a ", "▁▁a ", *fuzz(["▁", " ", "  ", "a", "ab", "é", "中", "🙂"], 200)]:
        ids = model.encode(text)
        expected = model.decode(ids)
        assert written.decode(ids, skip_special_tokens=False) == read.decode(ids) == expected, text
        if spec.sentencepiece.escape_whitespaces or not text.startswith("▁"):
            assert ours(ids) == expected, text


@pytest.mark.parametrize("rules", [{"treat_whitespace_as_suffix": True}, {"escape_whitespaces": False}])
def test_a_decoder_that_strips_otherwise_is_refused(rules):
    data = to_dict(small(**rules))
    data["decoder"]["decoders"] = [*WITHOUT_STRIP["decoders"], {"type": "Strip", "content": " ", "start": 0, "stop": 1}]
    with pytest.raises(ConversionRefused, match=r"\$.decoder is"):
        from_dict(data, "x")


def test_the_verdict_says_what_decodes_otherwise():
    def decoding(**rules):
        verdict = conversion.check(small(**rules), "tokenizer.json")
        assert verdict.kind == "exact"
        assert verdict.summary().count("decodes otherwise") == len(verdict.to_dict()["decoding"]) == len(verdict.decoding)
        return verdict.decoding

    assert decoding() == decoding(unk_surface="?") == ()
    assert decoding(byte_fallback=False) == ("unknown characters come back as '<unk>', and from SentencePiece as ' \u2047 '",)
    [trims] = decoding(remove_extra_whitespaces=True)
    assert "'▁a'" in trims
    spec = small(remove_extra_whitespaces=True)
    ids = processor(spec).encode("▁a")
    texts = [processor(spec).decode(ids), tokenizers.Tokenizer.from_str(json.dumps(to_dict(spec))).decode(ids)]
    assert texts == ["a", " a"]


def test_an_unknown_piece_of_one_character_is_refused():
    spec = TokenizerSpec.from_sentencepiece(SentencePieceRules((Piece("?", kind="unknown"), Piece("a"))))
    with pytest.raises(ConversionRefused, match="single character '\\?'"):
        to_dict(spec)


def test_added_tokens_that_would_be_renumbered_are_refused():
    spec = small()
    spec = spec.replace(added_tokens=(*spec.added_tokens, AddedToken("<far>", 5000)))
    with pytest.raises(ConversionRefused, match="'<far>' its id 5000"):
        to_dict(spec)


# -- reading ----------------------------------------------------------------------------------------------------------


def document(change=None, **parts):
    data = copy.deepcopy(to_dict(small()))
    data["model"] |= change or {}
    return data | parts


METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False}
SPACE_TO_SYMBOL = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
SPACE_SPLIT = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
GAP = {**to_dict(small())["model"]["vocab"], "zz": 5000}


@pytest.mark.parametrize(
    "change",
    [
        {"pre_tokenizer": METASPACE},
        {"pre_tokenizer": SPACE_SPLIT},
        {"normalizer": {"type": "Sequence", "normalizers": [SPACE_TO_SYMBOL, {"type": "Prepend", "prepend": "▁"}]}},
    ],
)
def test_other_spellings_of_the_same_are_read(change):
    assert conversion.equality.first_difference(from_dict(document(**change), "x"), small()) is None


WITHOUT_STRIP = {"type": "Sequence", "decoders": to_dict(small())["decoder"]["decoders"][:-1]}
STYLES = {
    "Llama 2, legacy": {},
    "Metaspace always": {"normalizer": None, "pre_tokenizer": METASPACE},
    "Metaspace first, as with legacy=False": {"normalizer": None, "pre_tokenizer": METASPACE | {"prepend_scheme": "first"}},
    "Metaspace never": {"normalizer": None, "pre_tokenizer": METASPACE | {"prepend_scheme": "never"}, "decoder": WITHOUT_STRIP},
    "Metaspace of old files": {
        "normalizer": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True, "prepend_scheme": "first", "split": False},
    },
    "Metaspace after Replace": {"normalizer": SPACE_TO_SYMBOL, "pre_tokenizer": METASPACE},
    "Gemma": {"normalizer": SPACE_TO_SYMBOL, "pre_tokenizer": SPACE_SPLIT, "decoder": WITHOUT_STRIP},
    "no Fuse": {
        "normalizer": SPACE_TO_SYMBOL,
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": WITHOUT_STRIP["decoders"][:-1]},
    },
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_each_style_of_file_gives_the_ids_and_texts_of_tokenizers(style):
    data = document(**STYLES[style])
    token = {"content": "<s>", "single_word": False, "lstrip": False, "normalized": False, "special": True}
    data["added_tokens"] = [{"id": 1, "rstrip": True, **token}]  # rstrip: as Phi-3 has it
    stock = tokenizers.Tokenizer.from_str(json.dumps(data))
    spec = from_dict(data, "x")
    written = tokenizers.Tokenizer.from_str(json.dumps(to_dict(spec)))
    assert conversion.equality.first_difference(from_dict(to_dict(spec), "x"), spec) is None
    native, reference = Encoder(spec, engine="native"), Encoder(spec, engine="reference")
    texts = [
        "",
        " ",
        "▁",
        "  a",
        "▁a",
        " <s>a",
        "<s> a",
        "<s><s>",
        "a<s>▁b",
        *fuzz(["▁", " ", "ab", "a", "<s>", "é", "中", "x"], 800),
    ]
    for text in texts:
        ids = stock.encode(text, add_special_tokens=False).ids
        assert native.encode(text, allowed_special="all") == ids, text
        assert reference.encode(text, allowed_special="all") == ids, text
        assert written.encode(text, add_special_tokens=False).ids == ids, text
        assert stock.decode(ids) == native.decode(ids) == reference.decode(ids), text


def test_offsets_without_a_prefix_are_those_of_tokenizers():
    data = document(normalizer=None, pre_tokenizer=METASPACE)
    stock, spec = tokenizers.Tokenizer.from_str(json.dumps(data)), from_dict(data, "x")
    for text in [" ab", "ab ab", "▁ab é"]:
        for engine in ("native", "reference"):
            _, spans = Encoder(spec, engine=engine).encode_with_offsets(text)
            assert spans.tolist() == [list(span) for span in stock.encode(text, add_special_tokens=False).offsets], text


@pytest.mark.parametrize("name", ["x.model", "x.gguf", "x.tiktoken"])
def test_other_formats_do_not_leave_the_prefix_out(tmp_path, name):
    spec = from_dict(document(normalizer=None, pre_tokenizer=METASPACE), "x")
    with pytest.raises(ConversionRefused, match=r"begins with|no fixed text"):
        conversion.save(spec, tmp_path / name)


def test_a_list_of_all_splits_gives_the_same_model():
    vocab = to_dict(small())["model"]["vocab"]
    order = [left + right for left, right in to_dict(small())["model"]["merges"]]
    splits = [[t[:n], t[n:]] for t in order for n in range(1, len(t)) if t[:n] in vocab and t[n:] in vocab]
    assert len(splits) > len(order)
    assert conversion.equality.first_difference(from_dict(document({"merges": splits}), "x"), small()) is None


def test_an_entry_that_no_merge_makes_is_never_made():
    merges = [pair for pair in to_dict(small())["model"]["merges"] if "".join(pair) != "12"]
    spec = from_dict(document({"merges": merges}), "x")
    assert spec.sentencepiece.pieces[spec.vocab[b"12"]].kind == "control"
    assert len(Encoder(spec).encode_ordinary("12")) == 3


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (document(normalizer={"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, pre_tokenizer=METASPACE), "no SentencePiece model does that"),
        (document(normalizer=None, pre_tokenizer=METASPACE | {"replacement": "_"}), "Metaspace with '_'"),
        (document(pre_tokenizer={"type": "Sequence", "pretokenizers": [SPACE_SPLIT, METASPACE]}), "pre_tokenizer holds Metaspace"),
        (document(pre_tokenizer=METASPACE | {"split": True}), "cuts before every '▁', and '▁' \\+ '▁' merge across"),
        (document(pre_tokenizer={"type": "Whitespace"}), "pre_tokenizer holds Whitespace"),
        (document(normalizer={"type": "Precompiled", "precompiled_charsmap": ""}), "whole grapheme clusters"),
        (document(normalizer={"type": "NFKC"}), r"\$.normalizer is NFKC"),
        (document(decoder={"type": "Fuse"}), r"\$.decoder is Fuse"),
        (document({"vocab": GAP}), "has no id 279, but 'zz' has id 5000"),
        (document({"dropout": 0.1}), "dropout"),
        (document({"ignore_merges": True, "vocab": {**GAP, "zz": 279, "▁yy": 280}}), "ignore_merges finds '▁yy'"),
        (document({"unk_token": "<none>"}), "'<none>' is not in the vocabulary"),
        (document({"byte_fallback": False, "fuse_unk": False}), "fuse_unk is off"),
        (document({"byte_fallback": False, "unk_token": None}), "unknown characters are lost"),
        (document({"vocab": {("yy" if k == "<0x41>" else k): v for k, v in to_dict(small())["model"]["vocab"].items()}}), "1 of the 256"),
        (document(added_tokens=[{**to_dict(small())["added_tokens"][1], "normalized": True}]), "'<s>' is normalized"),
    ],
)  # fmt: skip
def test_what_no_sentencepiece_model_does_is_refused(data, complaint):
    with pytest.raises(ConversionRefused, match=complaint):
        from_dict(data, "x")


# -- rank files with a table ------------------------------------------------------------------------------------------


def run_by_tiktoken(path, texts):
    sidecar = json.loads(path.with_name(path.name + ".hf_bpe.json").read_text("utf-8"))
    ranks = parse_ranks(path.read_bytes(), "x")
    encoding = tiktoken.Encoding("x", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})
    spaced = [(sidecar["prefix"] + text).replace("\u2581", " ") if text else "" for text in texts]
    return [[i for rank in encoding.encode_ordinary(text) for i in sidecar["expansion"][rank]] for text in spaced]


def test_tiktoken_with_the_table_is_sentencepiece(tmp_path):
    path, _ = conversion.save(mistral("v1"), tmp_path / "x.tiktoken")
    texts = nasty_strings(["<s>", "<0x41>"])
    assert run_by_tiktoken(path, texts) == processor(mistral("v1")).encode(texts)
    assert len(expanded(mistral("v1").sentencepiece)) == 32344
    assert conversion.load(path) == mistral("v1")


def test_unused_pieces_and_characters_that_are_no_pieces_are_in_the_table(tmp_path):
    spec = small(Piece("ax", -20.0), Piece("cc", -21.0, "unused"), Piece("ccc", -22.0))
    path, _ = conversion.save(spec, tmp_path / "x.tiktoken")
    texts = fuzz("abcx é中䷀")
    assert run_by_tiktoken(path, texts) == processor(spec).encode(texts)
    assert conversion.verify(path, spec, texts=texts, loader=("official", "own")).equal


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (spec_of(*ABS, fallback=False), "without byte_fallback"),
        (small(remove_extra_whitespaces=True), "normaliser does more"),
        (small(treat_whitespace_as_suffix=True), "no fixed text before"),
        (small(Piece("[U]", kind="user_defined")), r"user-defined pieces, such as '\[U\]'"),
    ],
)
def test_what_a_table_cannot_say_is_refused(tmp_path, spec, complaint):
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "x.tiktoken")


def test_a_table_that_was_changed_is_refused(tmp_path):
    path, sidecar = conversion.save(small(), tmp_path / "x.tiktoken")
    data = json.loads(sidecar.read_text("utf-8"))
    sidecar.write_text(json.dumps(data | {"expansion": data["expansion"][::-1]}))
    with pytest.raises(FormatError, match="expansion is not the table"):
        conversion.load(path)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(FormatError, match="stale"):
        conversion.load(path)


@pytest.mark.parametrize("name", ["gpt2", "vocab-merges"])
def test_files_of_byte_level_merges_cannot_hold_pieces(tmp_path, name):
    with pytest.raises(ConversionRefused, match="this is a SentencePiece model"):
        conversion.save(small(), tmp_path / "x", format=name)


# -- byte-level tokenizers as .model files ----------------------------------------------------------------------------


def test_a_byte_level_tokenizer_without_a_pattern_is_exact_in_sentencepiece(tmp_path):
    spec = small_spec(pattern=None)
    [path] = conversion.save(spec, tmp_path / "x.model")
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    texts = nasty_strings(["<s>"]) + fuzz("abc 中é\n\0")
    ids = Encoder(spec).encode_ordinary_batch(texts)
    assert model.encode(texts) == ids
    assert [model.decode(i) for i in ids] == [text.replace("\0", "Ā") for text in texts]
    assert (model.piece_to_id("<s>"), model.unk_id()) == (400, 403)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"normalizer": None, "pre_tokenizer": METASPACE | {"split": "false"}}, r"pre_tokenizer.split must be true or false"),
        ({"normalizer": None, "pre_tokenizer": METASPACE | {"add_prefix_space": 1}}, r"add_prefix_space must be true or false"),
        ({"model": to_dict(small())["model"] | {"byte_fallback": "true"}}, r"\$.model.byte_fallback must be true or false"),
    ],
)
def test_a_field_of_another_type_is_no_true(change, complaint):
    with pytest.raises(FormatError, match=complaint):
        from_dict(document(**change), "x")


@pytest.mark.parametrize("pattern", ["x", None, ["Regex"]])
def test_a_split_whose_pattern_is_no_object_is_refused(pattern):
    split = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    with pytest.raises(ConversionRefused, match="holds Split"):
        from_dict(document(pre_tokenizer=split), "x")


@pytest.mark.parametrize("far", [1 << 23, 2**31 - 1])
@pytest.mark.parametrize("name", ["sentencepiece", "sentencepiece-vocab", "gguf", "tekken", "minbpe"])
def test_one_id_far_from_the_others_asks_for_no_millions_of_pieces(name, far):
    vocab = {bytes([byte]): byte for byte in range(256)} | {b"!": far}
    verdict = conversion.check(
        TokenizerSpec(vocab, (), pattern=NAMED_PATTERNS["gpt2"].pattern if name == "gguf" else None), name
    )
    assert verdict.kind == "impossible"
    assert re.search(rf"the largest, {far}, and {far - 255} of them are not in use|ids", verdict.impossible)


def test_a_pattern_is_refused_or_lost_and_the_report_says_what_it_costs(tmp_path):
    with pytest.raises(ConversionRefused, match=r"splits text by a pattern"):
        conversion.save(small_spec(pattern=r"\S|\s"), tmp_path / "x.model")
    path, report = conversion.save(small_spec(pattern=r"\S|\s"), tmp_path / "x.model", allow_lossy=True)
    assert conversion.load(path).dialect == "sentencepiece"
    loss = json.loads(report.read_text("utf-8"))["loss"]
    assert len(loss["smallest"]["text"]) == 2
    assert 0 < loss["builtin"]["differing"] < loss["builtin"]["texts"]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (spec_with_unreachable_token().replace(pattern=None), "found only by looking up a whole piece"),
        (small_spec(pattern=None, added_tokens=(AddedToken("<x>", 300, special=False),)), "always matched or has flags"),
        (small_spec(pattern=None, added_tokens=(AddedToken("é", 300),)), "how the bytes of another token are spelled"),
        (small_spec(pattern=None, added_tokens=(AddedToken("ab", 256),)), "also made by merging"),
    ],
)
def test_what_pieces_cannot_say_is_refused(tmp_path, spec, complaint):
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "x.model")


# -- verify -----------------------------------------------------------------------------------------------------------


def test_the_official_library_of_each_format_agrees(tmp_path):
    spec = small()
    paths = [conversion.save(spec, tmp_path / name)[0] for name in ("x.model", "tokenizer.json", "x.tiktoken")]
    for path in paths:
        report = conversion.verify(spec, path, texts=["ab<s>ab  é中", "▁a"], loader=("own", "official"))
        assert report.equal, report.summary()
