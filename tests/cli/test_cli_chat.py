"""`hf-bpe chat`."""

import json

import pytest

import conversion
from hf_bpe import Encoder
from hf_bpe.chat import encode_conversation, with_template_tokens
from tests.support.vocabularies import byte_spec

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi<|im_end|>\n안녕 [x]"}]


@pytest.fixture
def chatml(spec, tmp_path):
    made = with_template_tokens(spec, "chatml")
    conversion.save(made, tmp_path / "tokenizer.json")
    (tmp_path / "messages.json").write_text(json.dumps(CHAT), "utf-8")
    return tmp_path / "tokenizer.json", tmp_path / "messages.json", encode_conversation(Encoder(made), CHAT, "chatml")


def test_ids(run, chatml):
    tokenizer, messages, expected = chatml
    found = run("chat", tokenizer, messages, "--template", "chatml")
    assert found.stdout == " ".join(map(str, expected.ids)) + "\n"
    assert json.loads(run("chat", tokenizer, messages, "-t", "chatml", "--json").stdout) == expected.ids
    assert run("chat", tokenizer, "-", "-t", "chatml", stdin=json.dumps({"messages": CHAT})).stdout == found.stdout


def test_show(run, chatml):
    tokenizer, messages, expected = chatml
    shown = run("chat", tokenizer, messages, "-t", "chatml", "--show", "--add-generation-prompt").stdout
    assert shown.startswith("[<|im_start|>][s")
    assert shown.count("[<|im_end|>]") == 2
    tokens = json.loads(run("chat", tokenizer, messages, "-t", "chatml", "--show", "--json").stdout)
    assert "".join(token["text"] for token in tokens) == expected.text
    assert [token["trusted"] for token in tokens] == list(map(bool, expected.trusted_mask))


def test_the_folders_own_template(run, chatml, tmp_path):
    tokenizer, messages, _ = chatml
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"eos_token": {"content": "<|im_end|>"}, "chat_template": "{{ eos_token }}"})
    )
    end = Encoder(conversion.load(tokenizer)).encode_single_token("<|im_end|>")
    assert run("chat", tmp_path, messages).stdout == f"{end}\n"
    (tmp_path / "chat_template.jinja").write_text("{{ eos_token * 2 }}")
    assert run("chat", tokenizer, messages).stdout == f"{end} {end}\n"
    named = [{"name": "tool_use", "template": "x"}, {"name": "default", "template": "{{ eos_token }}"}]
    (tmp_path / "chat_template.jinja").unlink()
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>", "chat_template": named}))
    assert run("chat", tokenizer, messages).stdout == f"{end}\n"


def test_errors(fails, chatml):
    tokenizer, messages, _ = chatml
    assert "holds no chat template" in fails("chat", tokenizer, messages)
    assert "no chat template is named 'chatmll'" in fails("chat", tokenizer, messages, "-t", "chatmll")
    assert "untrusted text spells '<|im_end|>'" in fails("chat", tokenizer, messages, "-t", "chatml", "--untrusted", "raise")
    for content, message in (
        ("{", "not JSON"),
        ("[]", "not a conversation"),
        ("[1]", "message 1"),
        ('{"a": 1}', "not a conversation"),
        ('{"messages": [{}], "tools": "zz"}', '"tools" is not a list'),
    ):
        messages.write_text(content)
        assert message in fails("chat", tokenizer, messages, "-t", "chatml")
    messages.write_text('[{"role": "assistant", "content": "x"}]')
    both = ("--add-generation-prompt", "--continue-final-message")
    assert "pass one" in fails("chat", tokenizer, messages, "-t", "chatml", *both)


def test_a_tokenizer_without_the_tokens_of_a_template_is_told_how_a_command_adds_them(fails, chatml, tmp_path):
    _, messages, _ = chatml
    conversion.save(byte_spec(), tmp_path / "plain")
    said = " ".join(fails("chat", tmp_path / "plain", messages, "-t", "chatml").split())
    assert "lacks the special tokens <|im_start|>, <|im_end|>" in said
    assert "hf-bpe train takes --special-token" in said
    assert "with_template_tokens" not in said


def test_tools_that_are_no_schemas_are_refused(fails, chatml, tmp_path):
    tokenizer, _, _ = chatml
    (tmp_path / "m.json").write_text('{"messages": [{"role": "user", "content": "a"}], "tools": [5]}')
    assert "tools[0] is 5" in fails("chat", tokenizer, tmp_path / "m.json", "-t", "chatml")
