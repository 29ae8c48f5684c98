"""Chat templates that are ready to use, each with the special tokens it writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from hf_bpe.errors import ChatTemplateError
from hf_bpe.files import read_text

__all__ = ["TEMPLATES", "ReadyTemplate", "find_template"]


@dataclass(frozen=True)
class ReadyTemplate:
    """A chat template, the special tokens that it writes, and their roles (`bos_token`, `eos_token`, ...).

    eos is what ends a turn of the assistant: where generating has to stop.

    >>> TEMPLATES["chatml"].roles["eos_token"]
    '<|im_end|>'
    """

    name: str
    source: str
    special_tokens: tuple[str, ...]
    roles: Mapping[str, str]


def _ready(name: str, special_tokens: str, roles: dict[str, str]) -> ReadyTemplate:
    source = files("hf_bpe.chat").joinpath(f"templates/{name}.jinja").read_text("utf-8").removesuffix("\n")
    return ReadyTemplate(name, source, tuple(special_tokens.split()), MappingProxyType(roles))


_MISTRAL = (
    "<s> </s> [INST] [/INST] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_CALLS] "
    "[TOOL_RESULTS] [TOOL_CONTENT] [/TOOL_RESULTS]"
)
_LLAMA3 = "<|begin_of_text|> <|start_header_id|> <|end_header_id|> <|eot_id|>"

TEMPLATES: Mapping[str, ReadyTemplate] = MappingProxyType(
    {
        "chatml": _ready("chatml", "<|im_start|> <|im_end|>", {"eos_token": "<|im_end|>"}),
        "llama3": _ready("llama3", _LLAMA3, {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>"}),
        "mistral": _ready("mistral", _MISTRAL, {"bos_token": "<s>", "eos_token": "</s>"}),
    }
)
"""The ready templates by name."""


def find_template(template: str | os.PathLike[str] | ReadyTemplate) -> str | ReadyTemplate:
    """What a caller means by a template: the name of a ready one, a file (a path, or a name ending in .jinja), or itself.

    Raises `ChatTemplateError` for a name that is not known, `FormatError` for a file that cannot be read.

    >>> find_template("chatml").name
    'chatml'
    """
    if isinstance(template, ReadyTemplate):
        return template
    if isinstance(template, os.PathLike) or (template.endswith((".jinja", ".jinja2")) and "{" not in template):
        return read_text(os.fspath(template))
    if template in TEMPLATES:
        return TEMPLATES[template]
    if "{" not in template:
        known = ", ".join(TEMPLATES)
        raise ChatTemplateError(
            f"no chat template is named {template!r}; there are {known}. Pass a name, a path, or a template in Jinja"
        )
    return template
