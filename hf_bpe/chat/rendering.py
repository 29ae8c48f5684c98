"""Conversations through chat templates: the text, and who wrote which of its characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jinja2 import TemplateError

from hf_bpe.chat.environment import clock, compile_template
from hf_bpe.chat.origins import GENERATED, TAG, TEMPLATE, USER, Traced, origins_of
from hf_bpe.chat.plain import plain
from hf_bpe.errors import ChatTemplateError

__all__ = ["ROLES", "Rendered", "has_generation_blocks", "render"]

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "ipython", "model"})
"""Values of `role` that count as the template's own: some templates build special tokens of them, `<|user|>`. Whoever can choose
the role can write a system message anyway; no other text can pass for one of these."""

_TAG = "CONTINUE_FINAL_MESSAGE_TAG "
_REASONING = ("reasoning_content", "thinking", "reasoning")
_RUNS = re.compile(rb"[\x00\x04]+|[\x01\x05]+|[\x02\x06]+|[\x03\x07]+")  # of one origin, in generation blocks or not
_GENERATION = re.compile(r"\{%-?\s*generation\s*-?%\}")


@dataclass(frozen=True)
class Rendered:
    """A conversation as text. `origins`: a byte for each character."""

    text: str
    origins: bytes

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Start, end and origin (`USER`, `TEMPLATE`, `UNKNOWN`) of the stretches that one hand wrote."""
        for run in _RUNS.finditer(self.origins):
            yield run.start(), run.end(), self.origins[run.start()] & 3

    def generated(self, start: int, stop: int) -> bool:
        """Whether some of the characters stand in a generation block."""
        return max(self.origins[start:stop], default=0) >= GENERATED


def render(
    messages: Sequence[Any],
    template: str,
    *,
    tools: Sequence[Any] | None = None,
    documents: Sequence[Any] | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    special_tokens: Mapping[str, Any] | None = None,
    variables: Mapping[str, Any] | None = None,
) -> Rendered:
    """Render messages as `apply_chat_template` does, and find out which characters the template wrote and which the messages.

    template: in Jinja. special_tokens: `bos_token`, `eos_token`, ... as the template asks for them; they are trusted. tools:
    JSON schemas. variables: others that the template asks for; like messages, tools and documents, they are not trusted
    unless made by `trusted`. continue_final_message: leave the last message open; a name: that field of it.

    Raises `ChatTemplateError` for a template that fails or refuses the messages, and for one whose rendering changes when
    origins are followed.

    >>> rendered = render([{"role": "user", "content": "hi"}], "{% for m in messages %}<u>{{ m.content }}{% endfor %}")
    >>> rendered.text, list(rendered.spans()) == [(0, 3, TEMPLATE), (3, 5, USER)]
    ('<u>hi', True)
    """
    if continue_final_message and add_generation_prompt:
        raise ChatTemplateError(
            "continue_final_message leaves the last message open, add_generation_prompt begins another: pass one"
        )
    if isinstance(messages, (str, bytes, Mapping)):
        raise TypeError(
            f"a conversation is a list of messages, dicts with 'role' and 'content'; not a {type(messages).__name__}"
        )
    if not messages:
        raise ChatTemplateError("the conversation is empty; pass at least one message")
    _check_dicts("tools", tools, "JSON schemas, dicts as OpenAI has them")
    _check_dicts("documents", documents, "dicts, most with 'title' and 'text'")

    now = datetime.now()  # of both renderings: a second may pass between them

    def values(tracing: bool) -> dict[str, Any]:
        user = USER if tracing else None
        chat = _messages(messages, user)
        if continue_final_message:
            _tag(chat[-1], continue_final_message, template, tracing)
        tokens = {name: str(token) for name, token in (special_tokens or {}).items() if isinstance(token, str)}
        return {
            "strftime_now": clock(now, tracing),
            **{name: plain(token, TEMPLATE if tracing else None) for name, token in tokens.items()},
            **{name: plain(value, user) for name, value in (variables or {}).items()},
            "messages": chat,
            "tools": plain(tools, user),
            "documents": plain(documents, user),
            "add_generation_prompt": add_generation_prompt,
        }

    text = _run(template, values(False), tracing=False)
    traced = _run(template, values(True), tracing=True)
    if text != traced or not isinstance(traced, Traced):
        at = next((n for n, (a, b) in enumerate(zip(text, traced, strict=False)) if a != b), min(len(text), len(traced)))
        raise ChatTemplateError(
            f"it cannot be told who wrote what: following origins, this template gives {traced[at : at + 20]!r} instead of "
            f"{text[at : at + 20]!r} at character {at}. Use a simpler template, or pass the text as parts to Encoder.encode_parts"
        )
    return _cut_at_tag(text, traced, bool(continue_final_message))


def _check_dicts(name: str, given: Any, what: str) -> None:
    """Raise `ChatTemplateError` for what no template knows how to show: it would write a number, or nothing, without a word."""
    if given is None:
        return
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise ChatTemplateError(f"{name} is a list of {what}; not a {type(given).__name__}")
    for number, each in enumerate(given):
        if not isinstance(plain(each, None), dict):
            raise ChatTemplateError(f"{name}[{number}] is {each!r:.80}, a {type(each).__name__}; {name} are {what}")


def _run(template: str, values: dict[str, Any], *, tracing: bool) -> str:
    compiled = compile_template(template, tracing)
    try:
        return compiled.render(values)
    except TemplateError as error:
        raise ChatTemplateError(f"the chat template refuses this conversation: {error}") from None
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ZeroDivisionError, OverflowError) as error:
        raise ChatTemplateError(f"the chat template fails: {type(error).__name__}: {error}") from error


def _messages(messages: Sequence[Any], origin: int | None) -> list[dict[str, Any]]:
    """Messages as the template sees them: fields that are None left out, reasoning under all names it goes by."""
    chat = []
    for number, message in enumerate(messages):
        fields = plain(message, origin)
        if not isinstance(fields, dict):
            raise TypeError(f"message {number} is a {type(message).__name__}; messages are dicts with 'role' and 'content'")
        fields = {key: value for key, value in fields.items() if value is not None}
        if origin is not None and fields.get("role") in ROLES:
            fields["role"] = Traced(fields["role"], TEMPLATE)
        reasoning = next((fields[name] for name in _REASONING if name in fields), None)
        if reasoning is not None:
            fields = {"thinking": reasoning, **fields, "reasoning_content": reasoning}
        chat.append(fields)
    return chat


# ---------------------------------------------------------------------------------------------------------------------
# The message that is to be continued


def _tag(message: dict[str, Any], field: bool | str, template: str, tracing: bool) -> None:
    """Put the tag behind the text that is to be continued."""
    name = field if isinstance(field, str) else "content"
    content = message.get(name)
    if content is None:
        raise ChatTemplateError(f"continue_final_message: the last message has no {name!r} to continue")
    names = [n for n in _REASONING if message.get(n) == content] if name in _REASONING else [name]
    if not any(n in template for n in names):
        raise ChatTemplateError(f"continue_final_message: the chat template does not look at {name!r}")
    tag = Traced(_TAG, TAG) if tracing else _TAG
    if isinstance(content, (list, tuple)):
        block = next((block for block in reversed(content) if isinstance(block, dict) and "text" in block), None)
        if block is None:
            raise ChatTemplateError("continue_final_message: the last message has no text to continue")
        block["text"] = block["text"] + tag
        return
    for n in names:
        message[n] = message[n] + tag


def _cut_at_tag(text: str, traced: Traced, is_continued: bool) -> Rendered:
    origins = origins_of(traced)
    if not is_continued:
        return Rendered(text, origins)
    at = _last_tag(text, origins)
    if at < 0:
        raise ChatTemplateError(
            "continue_final_message: the end of the last message does not appear in what the chat template writes; it may cut "
            "messages short. Render without it"
        )
    kept = text[:at]
    if text[at : at + len(_TAG)] != _TAG:  # trimmed, so the message would have been too
        kept = kept.rstrip()
    return Rendered(kept, origins[: len(kept)])


def _last_tag(text: str, origins: bytes) -> int:
    """Where the tag stands last, the real one: a user can spell it as well."""
    spelled = _TAG.strip()
    at = text.rfind(spelled)
    while at >= 0 and {origin & 3 for origin in origins[at : at + len(spelled)]} != {TAG}:
        at = text.rfind(spelled, 0, at + len(spelled) - 1)
    return at


def has_generation_blocks(template: str) -> bool:
    """Whether a template says what the model wrote."""
    return _GENERATION.search(template) is not None
