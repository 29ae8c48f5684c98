"""`view_conversation`: a conversation as a tokenizer's template renders it, each token with who wrote it."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from hf_bpe.analysis.tokens import Token, View, Vocabulary, as_encoder, view_of
from hf_bpe.chat import ReadyTemplate, Rendered, encode_conversation
from hf_bpe.chat.origins import TEMPLATE, UNKNOWN
from hf_bpe.engine import Encoder
from hf_bpe.spec import TokenizerSpec

__all__ = ["Conversation", "Span", "Writer", "view_conversation"]

Writer: TypeAlias = Literal["template", "message", "unknown", "both"]
"""template: trusted, its special tokens are themselves. message: untrusted, what a message, a tool or a variable says. unknown: the template
computed it in a way that hides its origin; treated as untrusted. both: of a token that lies on a border."""
_WRITERS: dict[int, Writer] = {TEMPLATE: "template", UNKNOWN: "unknown"}


class Span(NamedTuple):
    """A stretch of the rendered text by one writer.

    message: the number of the message that says it, role: that message's; None for what the template wrote, and for what cannot be told.
    is_generated: it stands in a block that the template marks as written by the model.
    """

    start: int
    stop: int
    writer: Writer
    message: int | None
    role: str | None
    is_generated: bool


@dataclass(frozen=True)
class Conversation:
    """The view of the rendered text, and its spans, which cover it in order."""

    view: View
    spans: tuple[Span, ...]

    def spans_of(self, token: Token) -> tuple[Span, ...]:
        """The spans in which a token stands: one, or more on a border. None for one without text."""
        start, stop = token.in_characters
        first = bisect_right(self.spans, start, key=lambda span: span.start) - 1
        last = bisect_left(self.spans, stop, key=lambda span: span.start)
        return self.spans[first:last] if start < stop else ()

    def writer(self, token: Token) -> Writer | None:
        """Who wrote the text of a token; None of a token without text."""
        writers = {span.writer for span in self.spans_of(token)}
        return "both" if len(writers) > 1 else next(iter(writers), None)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        tokens = [token.to_dict() | {"writer": self.writer(token)} for token in self.view]
        return {"text": self.view.text, "spans": [span._asdict() for span in self.spans], "tokens": tokens}


def view_conversation(
    tokenizer: TokenizerSpec | Encoder | Vocabulary,
    messages: Sequence[Any],
    template: str | os.PathLike[str] | ReadyTemplate,
    **options: Any,
) -> Conversation:
    """Render a conversation and look at its tokens. template, options: those of `hf_bpe.chat.encode_conversation`. Raises as that does.

    >>> spec = TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=())
    >>> found = view_conversation(spec, [{"role": "user", "content": "hi"}], "{% for m in messages %}<{{ m.content }}>{% endfor %}")
    >>> [(span.writer, span.role) for span in found.spans], found.writer(found.view[1])
    ([('template', None), ('message', 'user'), ('template', None)], 'message')
    """
    vocabulary = tokenizer if isinstance(tokenizer, Vocabulary) else Vocabulary(as_encoder(tokenizer))
    encoder = vocabulary.encoder
    encoded = encode_conversation(encoder, messages, template, **options)
    _, in_bytes = encoder.encode_parts_with_offsets(encoded.parts, unit="bytes")
    found = view_of(vocabulary, encoded.text, encoder.align_parts(encoded.parts), in_bytes)
    return Conversation(found, tuple(_spans(encoded.rendered, messages)))


def _spans(rendered: Rendered, messages: Sequence[Any]) -> Iterator[Span]:
    speakers = _Speakers(messages)
    for start, stop, origin in rendered.spans():
        writer: Writer = _WRITERS.get(origin, "message")
        message = None if writer == "template" else speakers.of(rendered.text[start:stop])
        role = None if message is None else messages[message].get("role")
        yield Span(start, stop, writer, message, role if isinstance(role, str) else None, rendered.generated(start, stop))


class _Speakers:
    """Which message says a text, of texts that come in the order of the messages.

    Origins tell messages from the template, not one message from another; their order nearly always does. What is found in no message from the
    last one on has no speaker: it is what a tool or a variable says, or the template has changed it.
    """

    def __init__(self, messages: Sequence[Any]) -> None:
        self._said = ["\n".join(_strings(message)) for message in messages]
        self._at = (0, 0)

    def of(self, text: str) -> int | None:
        """The number of the message."""
        wanted = text.strip()
        number, start = self._at
        for message in range(number, len(self._said)):
            place = self._said[message].find(wanted, start if message == number else 0)
            if wanted and place >= 0:
                self._at = message, place + len(wanted)
                return message
        return None


def _strings(value: Any) -> Iterator[str]:
    """All that a message says, in whatever it is nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for inner in value:
            yield from _strings(inner)
