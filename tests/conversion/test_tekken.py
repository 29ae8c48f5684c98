from __future__ import annotations

import base64
import json

import pytest
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

import conversion
from conversion.nasty_strings import nasty_strings
from conversion.verdict import Checks
from hf_bpe import NAMED_PATTERNS, AddedToken, ConversionRefused, Encoder, FormatError, TokenizerSpec
from tests.conversion import hostile
from tests.conversion.support import spec_of_tokens, spec_with_unreachable_token
from tests.support.vocabularies import BYTES, TEKKEN_FILE, byte_spec, packaged

OLDER_FILE = packaged("mistral_common", "data", "tekken_240718.json")


def with_specials_first(spec: TokenizerSpec, *names: str) -> TokenizerSpec:
    """The same tokens with ids as tekken.json has them."""
    return spec.replace(
        vocab={token: i + len(names) for token, i in spec.vocab.items()},
        added_tokens=tuple(AddedToken(name, i) for i, name in enumerate(names)),
    )


def small(**fields):
    return with_specials_first(spec_of_tokens([b"ab", b"bca", b"ca", b" ab", b"\xe4\xb8"], **fields), "<unk>", "<s>", "</s>")


@pytest.fixture(scope="module")
def published():
    return conversion.load(TEKKEN_FILE)


def official_ids(path, texts):
    tokenizer = Tekkenizer.from_file(path)
    return [tokenizer.encode(text, bos=False, eos=False) for text in texts]


def test_published_files_give_the_ids_of_mistral_common(published):
    texts = nasty_strings(published.special_tokens)
    assert Encoder(published).encode_ordinary_batch(texts) == official_ids(TEKKEN_FILE, texts)
    tokenizer = Tekkenizer.from_file(TEKKEN_FILE)
    assert published.n_vocab == published.vocab_size == tokenizer.n_words == 131_072
    named = {token.content: token.id for token in published.added_tokens}
    assert named == tokenizer._special_tokens_reverse_vocab  # the names that the file leaves out, fillers too
    assert published.pattern == NAMED_PATTERNS["tekken"].pattern
    assert published.provenance["not_carried"] == "image"
    assert published.provenance["tekken_version"] == "v3"
    assert conversion.load(OLDER_FILE).special_tokens == published.special_tokens


def test_a_published_file_comes_back_with_its_ids(published, tmp_path):
    [path] = conversion.save(published, tmp_path / "tekken.json")
    assert conversion.load(path) == published
    texts = nasty_strings(published.special_tokens)[::5]
    assert official_ids(path, texts) == Encoder(published).encode_ordinary_batch(texts)
    tokenizer = Tekkenizer.from_file(path)
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.n_words) == (1, 2, 131_072)


@pytest.mark.parametrize("pattern", [*NAMED_PATTERNS, r"a+|\s", r"\p{L}+"])
@pytest.mark.parametrize("unmatched", ["keep", "drop"])
def test_what_is_written_runs_in_mistral_common(tmp_path, pattern, unmatched):
    named = NAMED_PATTERNS.get(pattern)
    spec = small(pattern=named.pattern if named else pattern, unmatched=unmatched)
    path, *_ = conversion.save(spec, tmp_path / "tekken.json")
    texts = nasty_strings(spec.special_tokens)
    assert official_ids(path, texts) == Encoder(spec).encode_ordinary_batch(texts)
    assert conversion.verify(conversion.load(path), spec, texts=[]).proof


def test_a_table_with_unreachable_tokens_is_exact(tmp_path):
    spec = with_specials_first(spec_with_unreachable_token(), "<s>")
    path, *_ = conversion.save(spec, tmp_path / "tekken.json")
    assert conversion.load(path).ignore_merges
    texts = ["abcd abcd", " abcd", "abcde"]
    assert official_ids(path, texts) == Encoder(spec).encode_ordinary_batch(texts)


def test_no_special_tokens_at_all(tmp_path):
    [path] = conversion.save(byte_spec("gpt2"), tmp_path / "tekken.json")
    assert conversion.load(path) == byte_spec("gpt2")
    assert official_ids(path, ["a b"]) == [[97, 32, 98]]


def test_vocabulary_behind_the_stated_size_is_not_read(tmp_path):
    data = json.loads(conversion_of(small()))
    data["config"]["default_vocab_size"] -= 1
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(data))
    assert b"\xe4\xb8" not in conversion.load(path).vocab
    text = ["ab中"]
    assert official_ids(path, text) == Encoder(conversion.load(path)).encode_ordinary_batch(text)


def test_specials_that_the_file_does_not_name_are_fillers(tmp_path):
    data = json.loads(conversion_of(small()))
    data["config"]["default_num_special_tokens"] += 2
    data["config"]["default_vocab_size"] += 2
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(data))
    found = conversion.load(path)
    assert list(found.special_tokens) == ["<unk>", "<s>", "</s>", "<SPECIAL_3>", "<SPECIAL_4>"]
    assert official_ids(path, ["ab"]) == Encoder(found).encode_ordinary_batch(["ab"])


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (lambda: byte_spec("gpt2", added_tokens=(AddedToken("<s>", 256),)), r"from 0 to 0 .* '<s>' has id 256"),
        (lambda: TokenizerSpec({t: i ^ 1 for t, i in BYTES.items()}, ()), r"id 0, which would be byte 0x00, is b'\\x01'"),
        (lambda: TokenizerSpec({t: i + 1 for t, i in BYTES.items()}, ()), r"1. token the id 0, and here that is id 1"),
        (lambda: TokenizerSpec(BYTES | {b"ab": 257}, ((b"a", b"b"),)), r"257. token the id 256, and here that is id 257"),
    ],
)
def test_ids_that_the_file_cannot_give_are_refused_even_if_loss_is_allowed(tmp_path, spec, complaint):
    for allow_lossy in (False, True):
        with pytest.raises(ConversionRefused, match=complaint):
            conversion.save(spec(), tmp_path / "tekken.json", allow_lossy=allow_lossy)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            {"added_tokens": (AddedToken("<unk>", 0, special=False), AddedToken("<s>", 1), AddedToken("</s>", 2))},
            "always matched",
        ),
        ({"added_tokens": (AddedToken("<unk>", 0, lstrip=True), AddedToken("<s>", 1), AddedToken("</s>", 2))}, "lstrip"),
        ({"merges": ((b"a", b"b"), (b"c", b"a"), (b"b", b"ca"), (b" ", b"ab"), (b"\xe4", b"\xb8"))}, "in the order of ids"),
        ({"merges": ()}, "no merge makes|tiktoken would merge"),
    ],
)
def test_what_the_file_cannot_say_is_refused_or_goes_into_a_sidecar(tmp_path, change, complaint):
    spec = small().replace(**change)
    with pytest.raises(ConversionRefused, match=complaint):
        conversion.save(spec, tmp_path / "tekken.json")
    path, *_ = conversion.save(spec, tmp_path / "tekken.json", allow_lossy=True)
    assert conversion.load(path) == spec
    Tekkenizer.from_file(path)


def test_a_sidecar_goes_when_it_is_no_longer_needed(tmp_path):
    conversion.save(small().replace(merges=()), tmp_path / "tekken.json", allow_lossy=True)
    conversion.save(small(), tmp_path / "tekken.json")
    assert [file.name for file in tmp_path.iterdir()] == ["tekken.json"]
    assert conversion.load(tmp_path / "tekken.json") == small()


# -- damaged files ----------------------------------------------------------------------------------------------------


def conversion_of(spec) -> bytes:
    from conversion import tekken

    return tekken.FORMAT.write(spec, "tekken.json", Checks())["tekken.json"]


def test_truncated_files_are_refused(tmp_path):
    for content in hostile.truncated(conversion_of(small())):
        hostile.refused(tmp_path / "tekken.json", content, "tekken")


def test_changed_files_are_read_or_refused(tmp_path):
    for content in hostile.flipped(conversion_of(small())):
        hostile.read_or_refused(tmp_path / "tekken.json", content, "tekken")


def entry(rank, token):
    return {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"config": None}, r"\$.config must be an object"),
        ({"vocab": {}}, r"\$.vocab must be a list"),
        ({"vocab": []}, r"\$.vocab has 0 tokens, and the config asks for 261"),
        ({"vocab": [1] * 261}, r"\$.vocab\[0\] must be an object, not '1'"),
        ({"vocab": [{"rank": 0}] * 261}, r"\$.vocab\[0\].token_bytes is missing"),
        ({"vocab": [{"rank": 0, "token_bytes": "*"}] * 261}, r"\$.vocab\[0\].token_bytes: '\*' is not base64"),
        ({"vocab": [{"rank": 0, "token_bytes": "é"}] * 261}, r"is not base64"),
        ({"vocab": [{"rank": 1, "token_bytes": "AA=="}] * 261}, r"\$.vocab\[0\].rank must be 0"),
        ({"vocab": [entry(i, bytes([255 - i])) for i in range(256)] * 2}, r"\[0\].token_bytes is b'\\xff'; the first 256"),
        (
            {"vocab": [*(entry(i, bytes([i])) for i in range(256)), *(entry(i, b"ab") for i in range(256, 261))]},
            r"\[257\]: .* stood",
        ),
        ({"special_tokens": [1]}, r"\$.special_tokens\[0\] must be an object"),
        ({"special_tokens": [{"rank": 1, "token_str": "<s>", "is_control": True}]}, r"\[0\].rank must be 0"),
        ({"special_tokens": [{"rank": 0, "token_str": "<s>"}]}, r"is_control is missing"),
        ({"special_tokens": [{"rank": i, "token_str": "<s>", "is_control": True} for i in (0, 1)]}, "appears more than once"),
        ({"special_tokens": [{"rank": i, "token_str": str(i), "is_control": True} for i in range(9)]}, "is 3, and there are 9"),
        ({"special_tokens": None, "config": {"version": "v13"}}, r"\$.special_tokens is missing"),
        ({"config": {"default_vocab_size": 10**400}}, r"default_vocab_size must lie in"),
        ({"config": {"default_vocab_size": -1}}, r"default_vocab_size must lie in"),
        ({"config": {"default_vocab_size": 3.5}}, r"default_vocab_size must be an integer"),
        ({"config": {"default_num_special_tokens": 2_000_000_000}}, r"default_num_special_tokens is 2000000000"),
        ({"config": {"pattern": "(?P<a>"}}, r"\$.config.pattern"),
        ({"config": {"pattern": "a*"}}, r"\$.config.pattern.*empty string"),
        ({"config": {"pattern": 1}}, r"\$.config.pattern must be a string"),
    ],
)
def test_a_damaged_file_is_named_with_place_and_reason(tmp_path, change, complaint):
    data = json.loads(conversion_of(small()))
    for key, value in change.items():
        if isinstance(value, dict) and value:
            data[key] |= value
        else:
            data[key] = value
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(data))
    with pytest.raises((FormatError, ConversionRefused), match=complaint) as caught:
        conversion.load(path, format="tekken")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "the file is empty"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"config": {}, "config": {}}', "the key 'config' stands twice"),
        (b'{"config": "\xff"}', "not UTF-8"),
        (b"[]", "not a tekken.json"),
        (b'{"config": {}, "vocab": []}', "default_vocab_size is missing"),
    ],
)
def test_other_content_is_refused(tmp_path, content, complaint):
    path = tmp_path / "tekken.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=complaint):
        conversion.load(path, format="tekken")
