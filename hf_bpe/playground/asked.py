"""What the page asks for, checked: it is JSON that anybody may have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from hf_bpe.errors import PlaygroundError

__all__ = ["MOST_CHARACTERS", "Asked", "Message", "TextTooLong", "read_asked"]

MOST_CHARACTERS = 4_000_000
"""What a browser's text field still scrolls. The server would take a tenth of a second for these."""
_MOST_TOKENIZERS = 12
_MOST_MESSAGES = 200

Layout: TypeAlias = Literal["tokens", "pieces", "table"]
_LAYOUTS: tuple[Layout, ...] = get_args(Layout)


class TextTooLong(PlaygroundError):
    """A text has more characters than the page takes.

    >>> str(TextTooLong(10_000_000))[:71]
    'This text has 10,000,000 characters; the page takes up to 4,000,000. Co'
    """

    def __init__(self, characters: int) -> None:
        super().__init__(
            f"This text has {characters:,} characters; the page takes up to {MOST_CHARACTERS:,}. Count larger ones with "
            "hf-bpe encode TOKENIZER --count --file FILE"
        )


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: str
    content: str


@dataclass(frozen=True)
class Asked:
    """A text or a conversation to be shown.

    tokenizers: their keys, in the order of the columns. specials: whether special tokens in the text are tokens. start: the
    first character of the window to show. messages: None for plain text. template: the name of a ready one; "own" for the
    tokenizer's.
    """

    tokenizers: tuple[str, ...]
    text: str
    specials: bool = True
    layout: Layout = "tokens"
    start: int = 0
    messages: tuple[Message, ...] | None = None
    template: str = "own"
    generation_prompt: bool = False


def read_asked(body: bytes) -> Asked:
    """What a request asks for. Raises `TextTooLong`, and `PlaygroundError` for what no page of ours sends.

    >>> read_asked(b'{"tokenizers": ["t0"], "text": "hello"}').text
    'hello'
    """
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise PlaygroundError("this is not a request of the page: it is no JSON") from None
    if not isinstance(given, dict):
        raise PlaygroundError("this is not a request of the page: it is no JSON object")
    keys = given.get("tokenizers")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise PlaygroundError('this is not a request of the page: "tokenizers" is no list of keys')
    if len(keys) > _MOST_TOKENIZERS:
        raise PlaygroundError(f"{len(keys)} tokenizers are more than fit side by side; choose up to {_MOST_TOKENIZERS}")
    messages = _messages(given.get("messages"))
    asked = Asked(
        tuple(dict.fromkeys(keys)),
        _field(given, "text", str, ""),
        specials=_field(given, "specials", bool, True),
        layout=_layout(_field(given, "layout", str, "tokens")),
        start=max(0, _field(given, "start", int, 0)),
        messages=messages,
        template=_field(given, "template", str, "own"),
        generation_prompt=_field(given, "generation_prompt", bool, False),
    )
    length = len(asked.text) + sum(len(message.content) for message in messages or ())
    if length > MOST_CHARACTERS:
        raise TextTooLong(length)
    return asked


def _field(given: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    value = given.get(name, default)
    if type(value) is not kind:
        raise PlaygroundError(f'this is not a request of the page: "{name}" is no {kind.__name__}')
    return value


def _layout(given: str) -> Layout:
    for layout in _LAYOUTS:
        if layout == given:
            return layout
    raise PlaygroundError(f"no layout is named {given!r:.40}; there are {', '.join(_LAYOUTS)}")


def _messages(given: Any) -> tuple[Message, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > _MOST_MESSAGES:
        raise PlaygroundError(f"a conversation here is a list of up to {_MOST_MESSAGES} messages")
    return tuple(_message(each) for each in given)


def _message(given: Any) -> Message:
    if not isinstance(given, dict):
        raise PlaygroundError('a message is an object with "role" and "content"')
    return Message(_field(given, "role", str, "user"), _field(given, "content", str, ""))
