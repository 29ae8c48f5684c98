"""Compiles chat templates, for rendering with or without the origins of characters.

The language is that of transformers' `apply_chat_template`: Jinja in a sandbox, `{% generation %}`, `{% break %}`, `tojson`,
`raise_exception`, `strftime_now`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

from jinja2 import Template, TemplateError, nodes
from jinja2.compiler import CodeGenerator
from jinja2.exceptions import SecurityError, TemplateSyntaxError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from hf_bpe.chat.origins import TEMPLATE, USER, Traced, join, origins_of, written
from hf_bpe.errors import ChatTemplateError

__all__ = ["clock", "compile_template"]


class _Generation(Extension):
    """`{% generation %}`: marks what the model wrote, for masks."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_mark"), [], [], body).set_lineno(line)

    def _mark(self, caller: Any) -> str:
        text: str = caller()
        return text.generated() if isinstance(text, Traced) else text


class _TracingCode(CodeGenerator):
    """Template text and string constants become `Traced` strings, and strings are joined by what keeps origins."""

    def visit_Const(self, node: nodes.Const, frame: Any) -> None:  # noqa: N802
        value = node.as_const(frame.eval_ctx)
        self.write(f"environment.literal({value!r})" if isinstance(value, str) else repr(value))

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Any) -> None:  # noqa: N802
        self.write(f"environment.literal({node.data!r})")

    def visit_Concat(self, node: nodes.Concat, frame: Any) -> None:  # noqa: N802
        self.write("environment.concat((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"environment.literal({''.join(map(str, group))!r})"

    def _output_child_pre(self, node: nodes.Expr, frame: Any, finalize: Any) -> None:
        self.write("environment.written(")


class _Environment(ImmutableSandboxedEnvironment):
    """What templates find: as in transformers."""

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, LoopControlExtension])
        self.filters["tojson"] = _to_json
        self.globals |= {
            "raise_exception": _raise_exception,
            "dict": _Dict(),
            "namespace": _Namespace,
        }


class _TracingEnvironment(_Environment):
    """The same, keeping origins."""

    code_generator_class = _TracingCode
    concat = staticmethod(join)
    written = staticmethod(written)
    literal = staticmethod(lru_cache(4096)(lambda text: Traced(text, TEMPLATE)))

    def __init__(self) -> None:
        super().__init__()
        self.filters["tojson"] = lambda value, **options: written(value, lambda it: _to_json(it, **options))
        self.filters["join"] = _join_filter


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: int | None = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _join_filter(values: Iterable[Any], separator: str = "", attribute: str | None = None) -> str:
    if attribute is not None:
        raise ChatTemplateError("the filter `join(attribute=...)` is not followed here; write `| map(attribute=...) | join`")
    return Traced(separator, origins_of(separator)).join(map(written, values))


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def clock(now: datetime, tracing: bool) -> Callable[[str], str]:
    """`strftime_now` of templates. What it writes is trusted if the template alone chose the form."""

    def strftime_now(form: str) -> str:
        text = now.strftime(form)
        return Traced(text, TEMPLATE if set(origins_of(form)) <= {TEMPLATE} else USER) if tracing else text

    return strftime_now


class _Dict:
    """`dict` without the attributes of the class."""

    def __call__(self, *values: Any, **named: Any) -> dict[Any, Any]:
        return dict(*values, **named)

    def fromkeys(self, keys: Iterable[Any], value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


class _Namespace(Namespace):
    """`namespace` without attributes that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, values = args[0], dict(*args[1:], **kwargs)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a chat template cannot set the attribute {name!r} of a namespace; rename it")


@lru_cache(64)
def compile_template(source: str, tracing: bool) -> Template:
    """A template ready to render. Raises `ChatTemplateError` naming the line that is no Jinja."""
    try:
        return (_TracingEnvironment if tracing else _Environment)().from_string(source)
    except TemplateSyntaxError as error:
        raise ChatTemplateError(f"line {error.lineno} of the chat template: {error.message}") from None
