"""Renders a chat template with a short conversation, as transformers does, within limits: the template may be anybody's."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

__all__ = ["Rendered", "render"]

_SECONDS = 2.0
_LONGEST_TEMPLATE = 1_000_000
_MOST_TEXT = 1_000_000

_USER = {"role": "user", "content": "Hi"}
_ANSWER = {"role": "assistant", "content": "Hello"}
_CONVERSATIONS: tuple[list[dict[str, str]], ...] = (
    [_USER, _ANSWER],
    [_USER],
    [{"role": "system", "content": "Be brief."}, _USER, _ANSWER],
)
"""Tried in this order: some templates refuse a conversation that ends with the assistant, or that begins without a system message."""


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
    from jinja2 import TemplateError

    if len(template) > _LONGEST_TEMPLATE:
        return Rendered(None, f"it is {len(template)} characters long")
    reason = ""
    try:
        with _time_limit(_SECONDS):
            compiled = _environment().from_string(template)
            for messages in _CONVERSATIONS:
                try:
                    parts = compiled.generate(messages=messages, add_generation_prompt=False, **special_tokens)
                    return Rendered(_joined(parts))
                except _Refused as refusal:
                    reason = reason or str(refusal)
    except _TooMuch as error:
        return Rendered(None, str(error), is_defect=True)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        return Rendered(None, f"{error}{f' (line {line})' if line else ''}", is_defect=True)
    except (RecursionError, MemoryError, OverflowError) as error:
        return Rendered(None, f"{type(error).__name__}: {error}", is_defect=True)
    except Exception as error:  # noqa: BLE001  whatever an expression in the template raises, such as a TypeError
        return Rendered(None, f"{type(error).__name__}: {error}", is_defect=True)
    return Rendered(None, reason)


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
            sizes = [
                len(side) if isinstance(side, (str, list, tuple)) else abs(side) for side in (left, right) if _is_size(side)
            ]
            formats = operator == "%" and isinstance(left, str)
            if formats or (operator == "*" and len(sizes) == 2 and sizes[0] * sizes[1] > _MOST_TEXT**2):
                raise _TooMuch(f"it computes with {operator} what no template needs")
            if operator == "**" and any(size > 1000 for size in sizes):
                raise _TooMuch("it computes huge powers")
            if (
                operator == "*"
                and any(isinstance(side, (str, list, tuple)) for side in (left, right))
                and max(sizes) > _MOST_TEXT
            ):
                raise _TooMuch("it repeats text a million times")
            return SandboxedEnvironment.call_binop(self, context, operator, left, right)

    class Generation(jinja2.ext.Extension):
        """`{% generation %}...{% endgeneration %}`, which marks what the assistant says."""

        tags = {"generation"}  # noqa: RUF012  jinja2 asks for a set

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.Scope(body, lineno=line)

    environment = Limited(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = time.strftime
    return environment


def _is_size(value: object) -> bool:
    return isinstance(value, (str, list, tuple, int))


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
