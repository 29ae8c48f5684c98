"""Damaged and hostile files give findings or a typed error, whatever is in them."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import conversion
from hf_bpe import NAMED_PATTERNS, FormatError
from hf_bpe.doctor import Finding, examine
from hf_bpe.doctor.rendering import render
from tests.conversion.hostile import flipped, truncated
from tests.conversion.support import spec_of_tokens
from tests.doctor.folders import bos_processor, safetensors, sound, token, write

DEEP = json.loads("[" * 200 + "]" * 200)
STRANGE: list[Any] = [None, True, -1, 2**70, 1.5, "", "\ud800", "x", [], {}, [[]], [None], [{}], {"a": {}}, {"type": 1}, DEEP]


def findings_or_refusal(path: Path) -> list[Finding]:
    try:
        return examine(path)
    except FormatError as error:
        message = str(error)
    assert str(path) in message
    return []


def rich() -> dict[str, Any]:
    """A folder in which many lints have something to look at."""
    files = sound()
    files["tokenizer.json"]["post_processor"] = {"type": "Sequence", "processors": [bos_processor()]}
    files["tokenizer.json"]["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "NFC"}]}
    files["tokenizer.json"]["added_tokens"].append(token("<s>a", 264, normalized=True))
    # A few tokens: what becomes of the others is the same.
    model = files["tokenizer.json"]["model"]
    model["vocab"] = dict(list(model["vocab"].items())[-8:])
    files["tokenizer_config.json"] |= {
        "added_tokens_decoder": {"261": token("<s>", 261)},
        "additional_special_tokens": ["<s>"],
        "extra_special_tokens": {"image": "<i>"},
        "auto_map": {"AutoTokenizer": ["a.B", None]},
        "chat_template": [{"name": "default", "template": "{{ bos_token }}"}],
        "add_bos_token": True,
    }
    files["special_tokens_map.json"] = {"bos_token": token("<s>", 261)}
    files["added_tokens.json"] = {"<s>": 261}
    files["config.json"]["text_config"] = {"vocab_size": 264, "eos_token_id": [1]}
    return files


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


def replaced(files: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    copy = json.loads(json.dumps({name: content for name, content in files.items() if not isinstance(content, bytes)}))
    target = copy
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return copy


def test_values_of_any_type_in_any_place_of_the_json_files(tmp_path: Path) -> None:
    files = rich()
    everywhere = [p for name in files if name != "model.safetensors" for p in places(files[name], (name,)) if len(p) > 1]
    draw = random.Random(5)
    draw.shuffle(everywhere)
    for path in everywhere:
        changed = replaced(files, path, draw.choice(STRANGE))
        (tmp_path / path[0]).write_text(json.dumps(changed[path[0]]), "utf-8")
        findings_or_refusal(tmp_path)
        write(tmp_path, {path[0]: files[path[0]]})


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "model.safetensors"])
def test_truncated_and_damaged_files_of_a_folder(name: str, tmp_path: Path) -> None:
    write(tmp_path, rich())
    content = (tmp_path / name).read_bytes()
    for damaged in (*truncated(content, 20), *flipped(content, 40)):
        (tmp_path / name).write_bytes(damaged)
        findings_or_refusal(tmp_path)


@pytest.mark.parametrize("name", ["a.tiktoken", "a.gguf", "a.model", "tekken.json"])
def test_truncated_and_damaged_files_of_other_formats(name: str, tmp_path: Path) -> None:
    spec = spec_of_tokens([b"ab", b"ca", b"bca"], pattern=NAMED_PATTERNS["llama3"].pattern)
    conversion.save(spec, tmp_path / name, format="minbpe" if name == "a.model" else None)
    content = (tmp_path / name).read_bytes()
    for damaged in (*truncated(content, 15), *flipped(content, 30)):
        (tmp_path / name).write_bytes(damaged)
        findings_or_refusal(tmp_path)


def test_truncated_json_is_named_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, sound() | {"tokenizer_config.json": '{"bos_token": "<s>",\n "eos'})
    [finding] = [each for each in examine(tmp_path) if each.code == "damaged-file"]
    assert finding.where == "tokenizer_config.json"
    assert "line 2, column 2" in finding.what


def test_every_contradiction_is_found_at_once(tmp_path: Path) -> None:
    files = sound()
    files["tokenizer.json"]["model"]["vocab"]["he"] = 257
    files["tokenizer.json"]["model"]["merges"] += ["l l", "q q"]
    assert {"duplicate-id", "duplicate-merge", "orphan-merge"} <= {each.code for each in examine(write(tmp_path, files))}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", b'{"model": {"type": "BPE", "vocab": {}, "merges": []}}'),
        ("tokenizer.json", b'{"decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}'),
        ("my.tokenizer.json", b'{"model": {"type": "BPE", "vocab": {}, "merges": []}}'),
        ("a.tiktoken", b"IQ== " + b"9" * 6000),
        ("vocab.json", b"{}"),
        ("tekken.json", b'{"config": {"default_vocab_size": 0, "default_num_special_tokens": 0}, "vocab": []}'),
    ],
)
def test_a_vocabulary_without_a_token(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "merges.txt").write_bytes(b"#version: 0.2\n")
    findings_or_refusal(tmp_path)
    assert findings_or_refusal(tmp_path / name)


@pytest.mark.parametrize("length", [0, 2**40, 2**63])
def test_safetensors_that_claim_a_huge_header(length: int, tmp_path: Path) -> None:
    write(tmp_path, sound() | {"model.safetensors": length.to_bytes(8, "little") + b"{}"})
    assert "damaged-weights" in {each.code for each in examine(tmp_path)}


def test_packed_and_odd_tensors_are_left_alone(tmp_path: Path) -> None:
    shapes = {"lm_head.weight": [1, 4]}
    write(tmp_path, sound() | {"model.safetensors": safetensors(shapes, dtype="U8"), "b.safetensors": safetensors({"x": []})})
    assert examine(tmp_path) == []


@pytest.mark.parametrize("name", ["nothing-here", "empty"])
def test_nothing_to_examine_is_a_typed_error(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match=name):
        examine(tmp_path / name)


def test_pipes_and_folders_in_place_of_files_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.tiktoken")
    (tmp_path / "config.json").mkdir()
    files = sound()
    del files["config.json"]
    assert examine(write(tmp_path, files)) == []


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% set s = 'a' * 1000 %}{% for a in s %}{% for b in s %}{% for c in s %}{% endfor %}{% endfor %}{% endfor %}",
        "{{ 'a' * 10 ** 12 }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ '%099999999999d' % 1 }}",
        "{{ '%099999999999d' | format(1) }}",
        "{{ 'a' | center(10000000000) }}",
        "{{ 'a'.ljust(10000000000) }}",
        "{% set x = 999 ** 999 %}{{ x * x }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% for a in range(9999) %}{{ 'a' * 9999 }}{% endfor %}",
        "{{ messages.__class__.__mro__ }}",
        "{{ 1 / 0 }}",
        "{{ messages[9].content.x }}",
        "{% include 'x' %}",
        "{{ 1 + 'a' }}",
        "\ud800{{ bos_token",
    ],
)
def test_a_template_cannot_take_the_machine_or_fail_without_a_reason(template: str) -> None:
    start = time.monotonic()
    rendered = render(template, {"bos_token": "<s>"})
    assert time.monotonic() - start < 10
    assert rendered.is_defect
    assert rendered.reason


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages[0].content[0].text.upper() }}",
        "{{ '%s: %02d' % ('a', 3) }}{{ '%s' | format('b') }}{{ 'a' * 80 }}{{ 'ab' | center(10) | trim }}{{ range(3) | list }}",
        "{% if messages[0].role != 'system' %}{{ raise_exception('system first') }}{% endif %}",
        "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% break %}{% endfor %}",
        "{{ messages | tojson(indent=2) }}{{ strftime_now('%Y') }}",
        "{%- set ns = namespace(n=0) -%}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ '%s' }}{% endfor %}",
    ],
)
def test_templates_that_are_choosy_or_use_what_transformers_offers_are_no_defect(template: str) -> None:
    rendered = render(template, {})
    assert not rendered.is_defect
    assert rendered.text is not None
