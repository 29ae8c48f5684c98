"""Every lint: a folder in which it finds something, and one, close to it, in which it does not."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import conversion
from conversion.gguf.metadata import boolean, int32s, parse_metadata, serialise, text, texts, uint32
from hf_bpe import NAMED_PATTERNS, AddedToken
from hf_bpe.doctor import LINTS, examine
from tests.conversion.support import spec_of_tokens, spec_with_unreachable_token
from tests.doctor.folders import Files, bos_processor, byte_level, codes, safetensors, sound, split, token, write

Change = Callable[[Files], object]
BOS_TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"


def document(files: Files) -> Files:
    return files["tokenizer.json"]


def model(files: Files) -> Files:
    return files["tokenizer.json"]["model"]


def config(files: Files) -> Files:
    return files["tokenizer_config.json"]


def steps(*pre_tokenizers: Files) -> Change:
    return lambda files: document(files).update(pre_tokenizer={"type": "Sequence", "pretokenizers": list(pre_tokenizers)})


def regex(pattern: str) -> Change:
    return steps(split({"Regex": pattern}), byte_level(use_regex=False))


def set_config(**values: object) -> Change:
    return lambda files: config(files).update(values)


def set_model(**values: object) -> Change:
    return lambda files: model(files).update(values)


def add_token(content: str, number: int, **flags: object) -> Change:
    return lambda files: document(files)["added_tokens"].append(token(content, number, **flags))


def add_entry(content: str, number: int) -> Change:
    return lambda files: model(files)["vocab"].update({content: number})


def add_file(name: str, content: object) -> Change:
    return lambda files: files.update({name: content})


def set_file(name: str, **values: object) -> Change:
    return lambda files: files[name].update(values)


def both(*changes: Change) -> Change:
    return lambda files: [change(files) for change in changes]


def drop(name: str, *path: str) -> Change:
    def change(files: Files) -> None:
        inner = files
        for key in path:
            inner = inner[key]
        del inner[name]

    return change


def repeated_key(files: Files) -> None:
    files["tokenizer_config.json"] = '{"bos_token": "<s>", "bos_token": "</s>"}'


def rank_file(*lines: tuple[bytes, int]) -> str:
    return "".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in lines)


ALL_BYTES = [(bytes([byte]), byte) for byte in range(256)]

LOWERCASE: Change = lambda files: document(files).update(normalizer={"type": "Lowercase"})  # noqa: E731

# code -> (a change after which it finds something, one after which it does not)
CASES: dict[str, tuple[Change, Change]] = {
    "damaged-file": (add_file("special_tokens_map.json", '{"bos'), add_file("special_tokens_map.json", {})),
    "refused": (set_model(dropout=0.1), set_model(dropout=None)),
    "refused-by-tokenizers": (set_model(type="NoSuchModel"), set_model(ignore_merges=True)),
    "duplicate-key": (repeated_key, add_file("tokenizer_config.json", {"bos_token": "<s>", "eos_token": "</s>"})),
    "files-disagree": (add_file("added_tokens.json", {"<s>": 5}), add_file("added_tokens.json", {"<s>": 261})),
    "bad-id": (add_entry("x1", -1), add_entry("x1", 264)),
    "duplicate-id": (add_entry("x1", 5), add_entry("x1", 264)),
    "duplicate-token": (
        add_file("a.tiktoken", rank_file(*ALL_BYTES, (b"a", 256))),
        add_file("a.tiktoken", rank_file(*ALL_BYTES, (b"ab", 256))),
    ),
    "missing-bytes": (drop("Ġ", "tokenizer.json", "model", "vocab"), both()),
    "misspelled-token": (add_entry("a b", 264), both(add_entry("a b", 264), add_token("a b", 264))),
    "unreachable-token": (add_entry("xyz", 264), both(add_entry("xyz", 264), set_model(ignore_merges=True))),
    "whole-lookup-token": (both(add_entry("xyz", 264), set_model(ignore_merges=True)), set_model(ignore_merges=True)),
    "id-gaps": (add_entry("x1", 266), both(add_token("x1", 264), add_entry("x1", 264))),
    "orphan-merge": (lambda files: model(files)["merges"].append("q q"), both()),
    "duplicate-merge": (
        lambda files: model(files)["merges"].append("h e"),
        lambda files: both(add_entry("eh", 264), lambda f: model(f)["merges"].append("e h"))(files),
    ),
    "unknown-token-missing": (set_model(unk_token="<unk>"), set_model(unk_token="hello")),
    "dropout": (set_model(dropout=0.1), set_model(dropout=0.0)),
    "dead-split": (
        steps(split({"String": r"\s?\S+"}), byte_level(use_regex=False)),
        steps(split({"String": " "}), byte_level(use_regex=False)),
    ),
    "never-matching-split": (regex(r"a(?=b)c"), regex(r"a(?=b)b")),
    "invalid-regex": (regex(r"(\s+"), regex(r"(?:\s+)")),
    "possessive-count": (regex(r"\p{N}{1,3}+|\P{N}+"), regex(r"(?>\p{N}{1,3})|\{1,3\}+|\P{N}++")),
    "double-split": (
        steps(split({"Regex": r"\s?\S+|\s+"}), byte_level()),
        steps({"type": "Digits", "individual_digits": True}, byte_level()),
    ),
    "token-across-split": (regex(r"\S|\s+"), regex(r" ?\w+|\W")),
    "byte-level-twice": (steps(byte_level(), byte_level(use_regex=False)), steps(byte_level())),
    "byte-level-order": (
        steps(byte_level(use_regex=False), split({"Regex": r"\s+"})),
        steps(byte_level(use_regex=False), split({"Regex": "[0-9][0-9]"})),
    ),
    "decoder-mismatch": (
        lambda files: document(files).update(decoder={"type": "Fuse"}),
        lambda files: document(files).update(decoder={"type": "Sequence", "decoders": [byte_level()]}),
    ),
    "left-on": (
        lambda files: document(files).update(
            truncation={"max_length": 8, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
        ),
        both(),
    ),
    "prefix-special": (
        both(add_token("<a>", 264), add_token("<a><b>", 265)),
        both(add_token("<a>", 264), add_token("<a2>", 265), add_token("<a><c>", 266, special=False)),
    ),
    "overlapping-special": (
        both(add_token("ab", 264), add_token("bcd", 265)),
        both(add_token("abc", 264), add_token("bd", 265)),
    ),
    "post-processor-id": (
        lambda files: document(files).update(post_processor=bos_processor(number=262)),
        lambda files: document(files).update(post_processor=bos_processor()),
    ),
    "added-token-twice": (add_token("<s>", 262), add_token("<t>", 264)),
    "renumbered-token": (add_token("<t>", 300), add_token("<t>", 264)),
    "special-missing": (set_config(bos_token="<bos>"), set_config(bos_token={"content": "</s>"})),
    "special-not-flagged": (
        lambda files: document(files)["added_tokens"][1].update(special=False),
        add_token("<tool>", 264, special=False),
    ),
    "flags-disagree": (
        set_config(added_tokens_decoder={"261": {"content": "<s>", "lstrip": True}}),
        set_config(added_tokens_decoder={"261": {"content": "<s>", "lstrip": False, "special": True}}),
    ),
    "normalized-special": (
        lambda files: both(add_token("<T>", 264, normalized=True), LOWERCASE)(files),
        lambda files: both(add_token("<t>", 264, normalized=True), LOWERCASE)(files),
    ),
    "space-in-special": (add_token("<t> ", 264), add_token("<t u>", 264)),
    "many-added-tokens": (
        lambda files: document(files)["added_tokens"].extend(token(f"<{n}>", 264 + n) for n in range(5001)),
        lambda files: document(files)["added_tokens"].extend(token(f"<{n}>", 264 + n) for n in range(100)),
    ),
    "pad-is-eos": (set_config(pad_token="</s>"), set_config(pad_token=None)),
    "clean-up-spaces": (set_config(clean_up_tokenization_spaces=True), set_config(clean_up_tokenization_spaces=None)),
    "wrong-setting": (set_config(bos_token=5), set_config(chat_template={"default": "x"}, padding_side="left")),
    "max-length": (set_config(model_max_length=0), set_config(model_max_length=1e30)),
    "length-beyond-model": (set_config(model_max_length=4096), set_config(model_max_length=int(1e30))),
    "two-names": (
        set_config(additional_special_tokens=["<s>"], extra_special_tokens=["</s>"]),
        set_config(additional_special_tokens=["<s>"]),
    ),
    "list-of-special-tokens": (
        set_config(extra_special_tokens=["<s>"]),
        set_config(extra_special_tokens={"image_token": "<s>"}),
    ),
    "new-class-name": (
        set_config(tokenizer_class="TokenizersBackend"),
        set_config(tokenizer_class="HfBpeTokenizer", auto_map={"AutoTokenizer": ["code.Tokenizer", None]}),
    ),
    "custom-code": (
        set_config(tokenizer_class="Own", auto_map={"AutoTokenizer": ["someone/repo--code.Tokenizer", None]}),
        set_config(auto_map={"AutoTokenizer": ["someone/repo--code.Tokenizer", None]}),
    ),
    "custom-code-missing": (
        set_config(auto_map={"AutoTokenizer": ["code.Tokenizer", None]}),
        both(set_config(auto_map={"AutoTokenizer": ["code.Tokenizer", None]}), add_file("code.py", "class Tokenizer: ...")),
    ),
    "rebuilt-on-load": (set_file("config.json", model_type="qwen2"), set_file("config.json", model_type="gpt2")),
    "no-tokenizer-json": (
        both(add_file("tokenizer.model", b""), drop("tokenizer.json")),
        add_file("tokenizer.model", b""),
    ),
    "switch-disagrees": (
        set_config(add_bos_token=True),
        both(set_config(add_bos_token=True), lambda files: document(files).update(post_processor=bos_processor())),
    ),
    "merges-as-pairs": (
        lambda files: model(files).update(merges=[merge.split(" ") for merge in model(files)["merges"]]),
        both(),
    ),
    "private-path": (set_config(name_or_path="/home/me/models/x"), set_config(name_or_path="me/x")),
    "double-bos": (
        both(set_config(chat_template=BOS_TEMPLATE), lambda files: document(files).update(post_processor=bos_processor())),
        set_config(chat_template=BOS_TEMPLATE),
    ),
    "template-fails": (
        set_config(chat_template="{% for m in messages %}{{ m.content }}"),
        set_config(chat_template="{{ raise_exception('only with images') }}"),
    ),
    "template-unknown-token": (
        set_config(chat_template="<|user|>{{ messages[0].content }}"),
        set_config(chat_template="<s>{{ messages[0].content }}"),
    ),
    "templates-differ": (
        both(set_config(chat_template="a"), add_file("chat_template.jinja", "b")),
        both(set_config(chat_template="a"), add_file("chat_template.jinja", "a\n")),
    ),
    "template-in-file-only": (
        add_file("chat_template.jinja", "a"),
        both(set_config(chat_template="a"), add_file("chat_template.jinja", "a")),
    ),
    "template-misplaced": (
        add_file("chat_template.jinja2", "a"),
        both(add_file("chat_template.json", {}), add_file("processor_config.json", {"a": 1})),
    ),
    "too-few-rows": (
        add_file("model.safetensors", safetensors({"lm_head.weight": [263, 4]})),
        add_file("model.safetensors", safetensors({"lm_head.weight": [512, 4], "model.norm.weight": [4]})),
    ),
    "rows-against-config": (
        add_file("model.safetensors", safetensors({"lm_head.weight": [512, 4]})),
        both(add_file("model.safetensors", safetensors({"lm_head.weight": [512, 4]})), set_file("config.json", vocab_size=512)),
    ),
    "vocab-size": (set_file("config.json", vocab_size=263), set_file("config.json", text_config={"vocab_size": 300})),
    "special-id": (set_file("generation_config.json", eos_token_id=5), set_file("generation_config.json", eos_token_id=None)),
    "damaged-weights": (
        add_file("model.safetensors", b"\xff" * 20),
        add_file("model.safetensors", safetensors({})),
    ),
}


def test_every_lint_has_a_case() -> None:
    assert CASES.keys() == LINTS.keys()


def test_a_sound_folder_is_clean(tmp_path: Path) -> None:
    assert examine(write(tmp_path, sound())) == []


@pytest.mark.parametrize("code", CASES)
def test_lint_finds_what_it_is_for(code: str, tmp_path: Path) -> None:
    files = sound()
    CASES[code][0](files)
    found = [finding for finding in examine(write(tmp_path, files)) if finding.code == code]
    assert found
    for finding in found:
        assert finding.severity == LINTS[code].severity
        assert finding.where.partition(":")[0].partition("/")[0] in [*files, "additional_chat_templates"]
        assert finding.what.endswith(".")
        assert finding.fix.endswith(".")
        assert len(finding.what) > 40
        assert "/tmp" not in finding.what


@pytest.mark.parametrize("code", CASES)
def test_lint_is_silent_where_it_is_close_but_sound(code: str, tmp_path: Path) -> None:
    files = sound()
    CASES[code][1](files)
    assert code not in codes(write(tmp_path, files))


# ---------------------------------------------------------------------------------------------------------------------
# The same lints on other formats


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("eos_token", {"content": 5}),
        ("tokenizer_class", ["x"]),
        ("chat_template", 5),
        ("added_tokens_decoder", [1]),
        ("additional_special_tokens", "<s>"),
        ("extra_special_tokens", 5),
        ("model_input_names", 5),
        ("padding_side", "middle"),
        ("truncation_side", 5),
    ],
)
def test_a_setting_that_transformers_does_not_take_is_named(key: str, value: object, tmp_path: Path) -> None:
    files = sound()
    files["tokenizer_config.json"][key] = value
    findings = examine(write(tmp_path, files))
    assert [each.where for each in findings if each.code == "wrong-setting"] == [f"tokenizer_config.json: $.{key}"]


@pytest.mark.parametrize("name", ["gpt2.tokenizer.json", "renamed", "tokenizer (1).json"])
def test_a_tokenizer_json_of_another_name_is_examined_like_one(name: str, tmp_path: Path) -> None:
    files = sound()
    change = steps(split({"String": r"\p{L}+| ?\d"}), byte_level(use_regex=False))
    change(files)
    write(tmp_path, {"tokenizer.json": files["tokenizer.json"], name: files["tokenizer.json"]})
    by_its_name, renamed = (examine(tmp_path / each) for each in ("tokenizer.json", name))
    assert "dead-split" in {each.code for each in by_its_name}
    assert [each.code for each in renamed] == [each.code for each in by_its_name]
    assert all(each.where.startswith(f"{name}: ") for each in renamed)


def test_rank_file_with_two_tokens_of_one_rank(tmp_path: Path) -> None:
    write(tmp_path, {"a.tiktoken": rank_file(*ALL_BYTES, (b"ab", 5))})
    assert {"duplicate-id", "damaged-file"} <= codes(tmp_path / "a.tiktoken")


def test_rank_file_without_some_bytes(tmp_path: Path) -> None:
    write(tmp_path, {"a.tiktoken": rank_file(*ALL_BYTES[:200])})
    [finding] = [each for each in examine(tmp_path / "a.tiktoken") if each.code == "missing-bytes"]
    assert "56 of the 256 bytes: 0xC8" in finding.what


def test_rank_file_with_tokens_that_need_a_look_at_the_whole_piece(tmp_path: Path) -> None:
    conversion.save(spec_with_unreachable_token(), tmp_path / "a.tiktoken")
    assert codes(tmp_path / "a.tiktoken") == {"whole-lookup-token"}


def test_pair_of_gpt2_files_with_a_merge_twice(tmp_path: Path) -> None:
    vocab = model(sound())["vocab"]
    write(tmp_path, {"vocab.json": vocab, "merges.txt": "#version: 0.2\nh e\nl l\nhe ll\nhell o\nĠ w\nl l\n"})
    assert codes(tmp_path) == {"duplicate-merge"}
    assert codes(tmp_path / "merges.txt") == {"duplicate-merge"}


def test_vocab_json_that_numbers_tokens_differently_than_tokenizer_json(tmp_path: Path) -> None:
    files = sound()
    vocab = dict(model(files)["vocab"])
    vocab["he"], vocab["ll"] = vocab["ll"], vocab["he"]
    write(tmp_path, files | {"vocab.json": vocab, "merges.txt": "#version: 0.2\nh e\nl l\nhe ll\nhell o\nĠ w\n"})
    [finding] = [each for each in examine(tmp_path) if each.code == "files-disagree"]
    assert finding.what.startswith("2 tokens, such as 'he', have id 256 in tokenizer.json: $.model.vocab, but id 257 here")


@pytest.mark.parametrize("name", ["a.gguf", "tokenizer.json", "a.tiktoken", "a.model"])
def test_what_this_package_writes_is_clean(name: str, tmp_path: Path) -> None:
    tokens = [b"ab", b"ca", b"bca"]
    spec = spec_of_tokens(tokens, pattern=NAMED_PATTERNS["llama3"].pattern)
    conversion.save(spec, tmp_path / name, format="minbpe" if name == "a.model" else None)
    assert examine(tmp_path) == []


def test_byte_fallback_without_all_byte_pieces(tmp_path: Path) -> None:
    vocab = {"<unk>": 0, "a": 1, "▁": 2, "<0x41>": 3}
    files = {
        "tokenizer.json": {"model": {"type": "BPE", "vocab": vocab, "merges": [], "byte_fallback": True, "unk_token": "<unk>"}}
    }
    [finding] = [each for each in examine(write(tmp_path, files)) if each.code == "missing-bytes"]
    assert "No token for 255 of the 256 bytes: <0x00>" in finding.what


def test_piece_that_no_merge_makes_in_a_sentencepiece_like_file(tmp_path: Path) -> None:
    vocab = {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "ba": 4}
    files = {"tokenizer.json": {"model": {"type": "BPE", "vocab": vocab, "merges": ["a b"], "unk_token": "<unk>"}}}
    [finding] = [each for each in examine(write(tmp_path, files)) if each.code == "unreachable-token"]
    assert finding.what.startswith("Merging never makes one token: 'ba'.")


def test_lone_surrogates_in_tokens_are_shown_and_break_nothing(tmp_path: Path) -> None:
    files = sound()
    add_entry("\ud800x", 264)(files)
    (tmp_path / "tokenizer.json").write_text(json.dumps(document(files)), "utf-8")
    assert "misspelled-token" in codes(tmp_path)


def test_gguf_file_whose_template_begins_with_the_bos_that_llama_cpp_adds(tmp_path: Path) -> None:
    spec = spec_of_tokens([b"ab"], pattern=NAMED_PATTERNS["gpt2"].pattern, added_tokens=[AddedToken("<s>", 257)])
    conversion.save(spec, tmp_path / "a.gguf")
    metadata = parse_metadata((tmp_path / "a.gguf").read_bytes(), "a.gguf")
    entries = {
        "tokenizer.ggml.model": text("gpt2"),
        "tokenizer.ggml.pre": text("gpt-2"),
        "tokenizer.ggml.tokens": texts(metadata["tokenizer.ggml.tokens"]),
        "tokenizer.ggml.token_type": int32s(metadata["tokenizer.ggml.token_type"]),
        "tokenizer.ggml.merges": texts(metadata["tokenizer.ggml.merges"]),
        "tokenizer.ggml.bos_token_id": uint32(257),
        "tokenizer.chat_template": text(BOS_TEMPLATE),
    }
    (tmp_path / "a.gguf").write_bytes(serialise(entries))
    assert examine(tmp_path) == []
    (tmp_path / "a.gguf").write_bytes(serialise({**entries, "tokenizer.ggml.add_bos_token": boolean(True)}))
    [finding] = examine(tmp_path)
    assert (finding.code, finding.where) == ("double-bos", "a.gguf: tokenizer.chat_template")


def test_chat_templates_that_are_no_text_are_damaged_files(tmp_path: Path) -> None:
    write(tmp_path, sound() | {"chat_template.jinja": b"\xff", "additional_chat_templates/tools.jinja": b"\xff"})
    damaged = [finding.where for finding in examine(tmp_path) if finding.code == "damaged-file"]
    assert damaged == ["chat_template.jinja", "additional_chat_templates/tools.jinja"]
