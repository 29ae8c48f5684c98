"""Renders a chat template with a short conversation, as transformers does, within limits: the template may be anybody's."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from types import FrameType
from typing import Any

__all__ = ["Rendered", "render"]

_SECONDS = 2.0
_LONGEST_TEMPLATE = 1_000_000
_MOST_TEXT = 1_000_000
_MOST_POWER = 1000
_HUGE_WIDTH = re.compile(r"%[^a-zA-Z%]*[0-9]{6}")

_USER = {"role": "user", "content": "Hi"}
_ANSWER = {"role": "assistant", "content": "Hello"}
_CONVERSATIONS: tuple[list[dict[str, Any]], ...] = (
    [_USER, _ANSWER],
    [_USER],
    [{"role": "system", "content": "Be brief."}, _USER, _ANSWER],
    [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
)
"""Tried in this order: some templates refuse a conversation that ends with the assistant, that begins without a system message, or
in which a message is not a list of parts."""


@dataclass(frozen=True)
class Rendered:
    """The text, or why there is none. is_defect: the template is wrong, rather than choosy about conversations."""

    text: str | None
    reason: str = ""
    is_defect: bool = False


class _Refused(Exception):
    """The template itself called raise_exception."""


class _TooMuch(Exception):
    """It ran too long or made too much."""


def render(template: str, special_tokens: Mapping[str, str]) -> Rendered:
    """The text of the first conversation that the template takes.

    >>> render("{{ bos_token }}{% for m in messages %}{{ m.content }} {% endfor %}", {"bos_token": "<s>"}).text
    '<s>Hi Hello '
    >>> render("{% for %}", {}).is_defect
    True
    """
    if len(template) > _LONGEST_TEMPLATE:
        return Rendered(None, f"it is {len(template)} characters long")
    failures: list[str] = []
    refusal = ""
    try:
        with _time_limit(_SECONDS):
            compiled = _environment().from_string(template)
            for messages in _CONVERSATIONS:
                try:
                    return Rendered(
                        _joined(compiled.generate(messages=messages, add_generation_prompt=False, **special_tokens))
                    )
                except _Refused as error:
                    refusal = refusal or str(error)
                except _TooMuch:
                    raise
                except Exception as error:  # noqa: BLE001  whatever an expression in the template raises, such as a TypeError
                    failures.append(_reason(error))
    except Exception as error:  # noqa: BLE001  it does not compile, or takes too much
        failures.append(_reason(error))
    return Rendered(None, failures[0], is_defect=True) if failures else Rendered(None, refusal)


def _reason(error: Exception) -> str:
    if isinstance(error, _TooMuch):
        return str(error)
    line = getattr(error, "lineno", None)
    return f"{type(error).__name__}: {error}{f' (line {line})' if line else ''}"


def _joined(parts: Iterator[str]) -> str:
    text = ""
    for part in parts:
        text += part
        if len(text) > _MOST_TEXT:
            raise _TooMuch(f"it makes more than {_MOST_TEXT} characters of two short messages")
    return text


def _environment() -> Any:
    """What transformers offers to templates."""
    import jinja2.ext
    from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

    class Limited(ImmutableSandboxedEnvironment):
        """Where no single operation makes gigabytes: a time limit would come too late for it."""

        intercepted_binops = frozenset(("*", "**", "%"))

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            _refuse_huge(left, right)
            if operator == "**" and isinstance(right, int) and right > _MOST_POWER:
                raise _TooMuch("it computes huge powers")
            if operator == "*" and _length(left) * _length(right) > _MOST_TEXT:
                raise _TooMuch("it repeats text a million times")
            return SandboxedEnvironment.call_binop(self, context, operator, left, right)

        def call(self, context: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
            _refuse_huge(*args, *kwargs.values())
            return super().call(context, function, *args, **kwargs)

    class Generation(jinja2.ext.Extension):
        """`{% generation %}...{% endgeneration %}`, which marks what the assistant says."""

        tags = {"generation"}  # noqa: RUF012  jinja2 asks for a set

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.Scope(body, lineno=line)

    environment = Limited(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters |= {name: _guarded(filter_) for name, filter_ in environment.filters.items()}
    environment.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = time.strftime
    return environment


def _length(value: object) -> int:
    """How often `*` repeats, or what it repeats: a million numbers, or a text of a million characters."""
    if isinstance(value, (str, list, tuple)):
        return len(value)
    return abs(value) if isinstance(value, int) else 1


def _refuse_huge(*values: object) -> None:
    """Numbers and widths from which a single call makes gigabytes."""
    for value in values:
        if (isinstance(value, int) and abs(value) > _MOST_TEXT) or (isinstance(value, str) and _HUGE_WIDTH.search(value)):
            raise _TooMuch("it computes with numbers that no template needs")


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # with the marks by which jinja2 knows what to pass
    def checked(*args: Any, **kwargs: Any) -> Any:
        _refuse_huge(*args, *kwargs.values())
        return function(*args, **kwargs)

    return checked


def _refuse(message: object = "") -> None:
    raise _Refused(str(message))


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `_TooMuch` inside, at the next line of Python, when the time is up.

    By tracing: an alarm signal works in the main thread only, and a thread cannot be stopped.
    """
    end = time.monotonic() + seconds

    def watch(frame: FrameType, event: str, argument: object) -> Any:
        if time.monotonic() > end:
            raise _TooMuch(f"it does not end within {seconds:g} seconds")
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(before)
