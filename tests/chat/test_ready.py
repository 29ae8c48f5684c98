"""The ready templates write the published formats."""

from __future__ import annotations

import pytest
from mistral_common.protocol.instruct.messages import AssistantMessage, SystemMessage, ToolMessage, UserMessage
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.tool_calls import Function, FunctionCall, Tool, ToolCall
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

from conversion.sentencepiece.model import parse_model
from hf_bpe import ChatTemplateError, Encoder, FormatError, TokenizerSpec
from hf_bpe.chat import TEMPLATES, encode_conversation, find_template, render, with_template_tokens
from tests.support.pieces import model
from tests.support.vocabularies import byte_spec

from .samples import CHAT, TOOLS

TALK = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "Hi!"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Bye."},
]


def text(name: str, *arguments: object, **options: object) -> str:
    template = TEMPLATES[name]
    return render(*arguments, template.source, special_tokens=template.roles, **options).text  # type: ignore[arg-type]


def test_chatml():
    assert text("chatml", TALK, add_generation_prompt=True) == (
        "<|im_start|>system\nYou are kind.<|im_end|>\n<|im_start|>user\nHi!<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n"
        "<|im_start|>user\nBye.<|im_end|>\n<|im_start|>assistant\n"
    )


def test_llama3():
    assert text("llama3", TALK, add_generation_prompt=True) == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nYou are kind.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nHi!<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\nHello.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nBye.<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_mistral():
    assert text("mistral", TALK, add_generation_prompt=True) == (
        "<s>[SYSTEM_PROMPT]You are kind.[/SYSTEM_PROMPT][INST]Hi![/INST]Hello.</s>[INST]Bye.[/INST]"
    )


def test_tools_in_chatml():
    tools = text("chatml", CHAT[3:], tools=TOOLS)
    assert tools.startswith("<|im_start|>system\n# Tools\n\nYou may call one or more functions")
    assert '<tools>\n{"type": "function", "function": {"name": "f"' in tools
    assert tools.endswith(
        '<|im_start|>assistant\n<tool_call>\n{"name": "f", "arguments": {"x": "2 é"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\n4\n</tool_response><|im_end|>\n<|im_start|>assistant\n4.<|im_end|>\n"
    )


def test_tools_in_llama3():
    tools = text("llama3", CHAT[3:], tools=TOOLS)
    assert tools.startswith("<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nEnvironment: ipython\n")
    assert tools.endswith(
        '<|start_header_id|>assistant<|end_header_id|>\n\n{"name": "f", "parameters": {"x": "2 é"}}<|eot_id|>'
        "<|start_header_id|>ipython<|end_header_id|>\n\n4<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n4.<|eot_id|>"
    )
    with pytest.raises(ChatTemplateError, match="one tool call"):
        text("llama3", [{"role": "assistant", "tool_calls": [{}, {}]}])


def test_mistral_gives_the_ids_of_mistral_common():
    """Mistral's own tokenizer, version 7, on a conversation with tools."""
    official = MistralTokenizer.v7()
    call = ToolCall(id="abcdefghi", function=FunctionCall(name="f", arguments='{"x": "2"}'))
    request = ChatCompletionRequest(
        messages=[
            SystemMessage(content="You are kind."),
            UserMessage(content="Hi!"),
            AssistantMessage(content="Hello."),
            UserMessage(content="f(2)?"),
            AssistantMessage(tool_calls=[call]),
            ToolMessage(content="4", tool_call_id="abcdefghi"),
        ],
        tools=[Tool(function=Function(**TOOLS[0]["function"]))],
    )
    theirs = official.encode_chat_completion(request).tokens
    chat = [
        *TALK[:3],
        {"role": "user", "content": "f(2)?"},
        {"role": "assistant", "tool_calls": [{"id": "abcdefghi", "function": {"name": "f", "arguments": '{"x": "2"}'}}]},
        {"role": "tool", "tool_call_id": "abcdefghi", "content": "4"},
    ]
    encoder = Encoder(with_template_tokens(parse_model(model("mistral v7"), ""), "mistral"))
    assert encode_conversation(encoder, chat, "mistral", tools=TOOLS).ids == theirs


def test_missing_special_tokens_are_added_once_behind_the_others():
    spec = with_template_tokens(byte_spec(), "llama3")
    assert dict(spec.special_tokens) == {token: 256 + n for n, token in enumerate(TEMPLATES["llama3"].special_tokens)}
    assert with_template_tokens(spec, "llama3") is spec
    assert encode_conversation(Encoder(spec), TALK, "llama3").ids[0] == 256


def test_a_token_that_is_there_already_becomes_special_and_keeps_its_id():
    vocab = {**{bytes([b]): b for b in range(256)}, b"<|im_end|>": 300}
    spec = with_template_tokens(TokenizerSpec(vocab=vocab, merges=()), "chatml")
    assert dict(spec.special_tokens) == {"<|im_start|>": 301, "<|im_end|>": 300}


def test_templates_by_string_file_and_name(tmp_path):
    file = tmp_path / "mine.jinja"
    file.write_text("{{ messages[0].content }}", "utf-8")
    assert find_template(file) == find_template(str(file)) == find_template("{{ messages[0].content }}")
    assert find_template("chatml") is find_template(TEMPLATES["chatml"]) is TEMPLATES["chatml"]
    with pytest.raises(ChatTemplateError, match="no chat template is named 'chatmll'; there are chatml, llama3, mistral"):
        find_template("chatmll")
    with pytest.raises(FormatError, match=r"missing\.jinja: cannot be read"):
        find_template("missing.jinja")
    file.write_bytes(b"\xff")
    with pytest.raises(FormatError, match="UTF-8"):
        find_template(file)
    with pytest.raises(ChatTemplateError, match="ready"):
        with_template_tokens(byte_spec(), "{{ 1 }}")


def test_masks_show_what_the_assistant_wrote():
    spec = with_template_tokens(byte_spec(), "chatml")
    encoded = encode_conversation(Encoder(spec), TALK, "chatml")
    marked = bytes(i for i, mask in zip(encoded.ids, encoded.assistant_mask, strict=True) if mask and i < 256)
    assert marked == b"Hello."
    untrusted = bytes(i for i, trust in zip(encoded.ids, encoded.trusted_mask, strict=True) if not trust)
    assert untrusted == b"You are kind.Hi!Hello.Bye."
