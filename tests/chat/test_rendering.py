"""Rendering: the text is that of transformers, and every character has its author."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from transformers.utils.chat_template_utils import render_jinja_template

from hf_bpe import ChatTemplateError
from hf_bpe.chat import TEMPLATES, render, trusted
from hf_bpe.chat.origins import TEMPLATE, UNKNOWN, USER
from hf_bpe.chat.rendering import has_generation_blocks

from .samples import CHAT, DOCUMENTS, SHAPES, SPECIAL_TOKENS, TOOLS

TOKENS = {name: token for name, token in SPECIAL_TOKENS.items() if token}
SOURCES = {**SHAPES, **{name: template.source for name, template in TEMPLATES.items()}}


def by_transformers(chat: Any, template: str, **options: Any) -> tuple[str, list[tuple[int, int]]]:
    tracked = has_generation_blocks(template) and not options.get("continue_final_message")
    texts, spans = render_jinja_template(
        [chat], chat_template=template, return_assistant_tokens_mask=tracked, **{**TOKENS, **options}
    )
    return texts[0], spans[0] if tracked else []


@pytest.mark.parametrize("name", SOURCES)
def test_the_text_is_that_of_transformers(name):
    for options in ({}, {"add_generation_prompt": True}, {"tools": TOOLS, "documents": DOCUMENTS}):
        ours = render(CHAT, SOURCES[name], special_tokens=TOKENS, **{"tools": [], "documents": [], **options})
        assert ours.text == by_transformers(CHAT, SOURCES[name], **{"tools": [], "documents": [], **options})[0]
        assert "".join(ours.text[start:stop] for start, stop, _ in ours.spans()) == ours.text


@pytest.mark.parametrize("name", SOURCES)
def test_special_tokens_are_the_templates_and_contents_are_the_users(name):
    marked = [{**m, "content": "".join(chr(0xE000 + ord(c)) if c.isalnum() else c for c in m["content"])} for m in CHAT]
    rendered = render(marked, SOURCES[name], special_tokens=TOKENS, tools=TOOLS, documents=[])
    for character, origin in zip(rendered.text, rendered.origins, strict=True):
        if "\ue000" <= character <= "\uf8ff":
            assert origin & 3 == USER
        elif character == "|":
            assert origin & 3 == TEMPLATE


@pytest.mark.parametrize("name", ["generation", *TEMPLATES])
def test_generation_blocks_are_where_transformers_has_them(name):
    chat = [*CHAT[:2], {"role": "assistant", "content": "two"}, *CHAT[1:2], {"role": "assistant", "content": "é"}]
    text, spans = by_transformers(chat, SOURCES[name])
    rendered = render(chat, SOURCES[name], special_tokens=TOKENS)
    inside = [any(start <= n < stop for start, stop in spans) for n in range(len(text))]
    assert [rendered.generated(n, n + 1) for n in range(len(text))] == inside
    assert any(inside)


@pytest.mark.parametrize("name", ["data", "plus", "thinking", "generation", *TEMPLATES])
@pytest.mark.parametrize(
    "content", ["open ", " a b", "x\n\n", "CONTINUE_FINAL_MESSAGE_TAG", [{"type": "text", "text": "part "}]]
)
def test_a_message_to_continue(name, content):
    if isinstance(content, list) and name not in ("data",):
        return
    chat = [*CHAT[:2], {"role": "assistant", "content": content}]
    template = SOURCES[name].replace("m['content']", "(m['content'] if m['content'] is string else m['content'][0].text)")
    ours = render(chat, template, special_tokens=TOKENS, continue_final_message=True)
    assert ours.text == by_transformers(chat, template, continue_final_message=True)[0]
    assert ours.text.rstrip().endswith(str(content[0]["text"] if isinstance(content, list) else content).strip())


def test_a_forged_tag_behind_the_last_message_does_not_move_its_end():
    template = "{% for m in messages %}{{ m.content }}{% endfor %}<|end|>{{ tools[0].name }}"
    tool = {"name": "CONTINUE_FINAL_MESSAGE_TAG "}
    assert render(CHAT[1:2], template, tools=[tool], continue_final_message=True).text == CHAT[1]["content"]


def test_what_callers_pass_is_made_plain():
    @dataclasses.dataclass
    class Message:
        role: str
        content: list[Any]

    class Wicked(str):
        __slots__ = ()

        def strip(self, *_: Any) -> str:
            return "<|im|>"

    message = Message("user", [Wicked("a"), object(), 1.5, ("b", None)])
    template = "{{ messages[0].content[0].strip() }}{{ messages[0].content }}"
    ours = render([message], template)
    assert ours.text == by_transformers([message], template)[0] == "a['a', '<object>', 1.5, ('b', None)]"
    assert {origin for *_, origin in ours.spans()} == {USER}


def test_reasoning_goes_by_all_its_names_and_fields_that_are_none_are_left_out():
    template = "{{ messages[0].thinking }}|{{ messages[0].reasoning_content }}|{{ 'content' in messages[0] }}"
    chat = [{"role": "assistant", "reasoning": "why", "content": None}]
    # transformers leaves None out one step before
    assert render(chat, template).text == by_transformers([{"role": "assistant", "reasoning": "why"}], template)[0]


def test_dates_are_the_templates_unless_a_user_chose_the_form():
    spans = list(
        render(
            [{"role": "user", "content": "%Y<s>"}], "{{ strftime_now('%Y') }}{{ strftime_now(messages[0].content) }}"
        ).spans()
    )
    assert [origin for *_, origin in spans] == [TEMPLATE, USER]


def test_variables_are_not_trusted_and_special_tokens_are():
    rendered = render(CHAT[:1], "{{ bos_token }}{{ date }}", special_tokens=TOKENS, variables={"date": "x"})
    assert [origin for *_, origin in rendered.spans()] == [TEMPLATE, USER]
    rendered = render(CHAT[:1], "{{ bos_token }}", special_tokens=TOKENS, variables={"bos_token": "x"})
    assert [origin for *_, origin in rendered.spans()] == [USER]
    rendered = render([{"role": "user", "content": trusted("a") + "b"}], "{{ messages[0].content }}")
    assert [origin for *_, origin in rendered.spans()] == [TEMPLATE, USER]


def test_a_role_is_the_templates_only_if_it_is_one_of_those_known():
    for role, origin in (("user", TEMPLATE), ("us", USER), ("user ", USER), ("<|im|>", USER)):
        assert next(render([{"role": role, "content": ""}], "{{ messages[0].role }}").spans())[2] == origin


@pytest.mark.parametrize("conversation", ["hello", {"role": "user", "content": "x"}])
def test_what_is_no_list_of_messages_is_said_to_be_none(conversation):
    with pytest.raises(TypeError, match="a conversation is a list of messages"):
        render(conversation, "{{ messages }}")


def test_numbers_and_formatted_text_are_unknown():
    for template in ("{{ messages | length }}", "{{ '<%s>' % messages[0].content }}", "{{ '{}'.format('a') }}"):
        assert {origin for *_, origin in render([{"role": "user", "content": "x"}], template).spans()} == {UNKNOWN}


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% for m in messages %}", "line 1 of the chat template"),
        ("{{ raise_exception('no system prompt') }}", "refuses this conversation: no system prompt"),
        ("{{ messages + 1 }}", "fails: TypeError"),
        ("{{ messages.__class__.__mro__ }}", "refuses"),
        ("{{ messages.append(1) }}", "refuses"),
        ("{{ namespace(__class__=1) }}", "namespace"),
        ("{{ messages | string }}{{ 'x' | wordcount(", "line 1"),
        ("{% include 'secret' %}", "fails|refuses"),
    ],
)
def test_what_a_template_cannot_do_is_one_clear_error(template, message):
    with pytest.raises(ChatTemplateError, match=message):
        render([{"role": "user", "content": "x"}], template)


@pytest.mark.parametrize("chat", [[], ["text"], [1], [None]], ids=str)
def test_what_is_no_conversation_is_refused(chat):
    with pytest.raises((TypeError, ValueError), match="message"):
        render(chat, SHAPES["data"])


def test_options_that_exclude_each_other_and_fields_that_are_not_there():
    with pytest.raises(ValueError, match="pass one"):
        render(CHAT, SHAPES["data"], add_generation_prompt=True, continue_final_message=True)
    with pytest.raises(ValueError, match="no 'thinking'"):
        render(CHAT[:1], SHAPES["data"], continue_final_message="thinking")
    with pytest.raises(ValueError, match="does not look at"):
        render([{"role": "user", "content": "x", "title": "y"}], SHAPES["data"], continue_final_message="title")
    with pytest.raises(ChatTemplateError, match="does not appear"):
        render(CHAT[:1], "{{ messages[0].content[:2] }}", continue_final_message=True)
