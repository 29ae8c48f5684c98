"""Lints about chat templates: where they are, whether they run, and what they put before a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conversion.json_shapes import dicts_in, is_id, list_at, quoted, text_at
from conversion.tokenizer_json.post_processor import tokens_around
from hf_bpe.doctor.finding import Problem, lint
from hf_bpe.doctor.folder import CONFIG, TEMPLATE, TOKENIZER, Folder
from hf_bpe.doctor.rendering import Rendered, render
from hf_bpe.errors import some

_MARKER = re.compile(r"<[|｜][^<>\s|｜]{1,40}[|｜]>")
_MISPLACED = re.compile(r"chat[-_]?template.*\.(jinja2?|j2|txt|json)$|^template\.(jinja2?|j2)$", re.IGNORECASE)


@lint("warning")
def double_bos(folder: Folder) -> Iterator[Problem]:
    """A chat template that begins with the bos that the post-processor adds too."""
    for chat in _chats(folder):
        text = chat.rendered().text or ""
        doubled = next((token for token in chat.before if token and text.startswith(token)), None)
        if doubled is not None:
            yield Problem(
                chat.place,
                f"The rendered conversation begins with {quoted(doubled)}, and {chat.adder} puts it before every text. Whoever "
                "renders first and then tokenizes, as servers and training scripts do, gives the model two, which it never saw",
                "Tokenize rendered text with add_special_tokens=False, as apply_chat_template(tokenize=True) does; or leave the token out "
                "of the template.",
            )


@lint("error")
def template_fails(folder: Folder) -> Iterator[Problem]:
    """A chat template that cannot be rendered."""
    for chat in _chats(folder):
        rendered = chat.rendered()
        if rendered.is_defect:
            yield Problem(
                chat.place,
                f"It does not render a conversation of two messages: {rendered.reason}. apply_chat_template raises an error, and "
                "servers answer every chat request with one",
                "Correct the template; jinja2 names the line.",
            )


@lint("hint")
def template_unknown_token(folder: Folder) -> Iterator[Problem]:
    """A marker in rendered chats that is no token."""
    known = folder.token_ids.keys()
    for chat in _chats(folder) if known else ():
        text = chat.rendered().text or ""
        strange = list(dict.fromkeys(marker for marker in _MARKER.findall(text) if marker not in known))
        if strange:
            yield Problem(
                chat.place,
                f"{some([quoted(marker) for marker in strange])} in rendered conversations is no token, so it is encoded as letters and signs, "
                "and users can write the same",
                "Nothing, if the model was trained so (Zephyr was). Else add the marker as a special token.",
            )


@lint("warning")
def templates_differ(folder: Folder) -> Iterator[Problem]:
    """Two chat templates of one name that are not the same."""
    in_config = text_at(folder.json(CONFIG), "chat_template")
    in_file = folder.template_files.get(TEMPLATE)
    if in_config is not None and in_file is not None and in_config.strip() != in_file.strip():
        yield Problem(
            TEMPLATE,
            f"{CONFIG} has another chat_template. transformers from 4.51 on takes this file; older versions, text-generation-inference and "
            "transformers.js take the other: the same messages become other prompts",
            f"Write both the same, or remove chat_template from {CONFIG}.",
        )


@lint("hint")
def template_in_file_only(folder: Folder) -> Iterator[Problem]:
    """A chat template that only newer readers find."""
    if TEMPLATE in folder.files and folder.json(CONFIG) and not folder.json(CONFIG).get("chat_template"):
        yield Problem(
            TEMPLATE,
            "transformers before 4.51, and programs that read tokenizer_config.json only, find no chat template and fall back to another or fail",
            f"For them, also write it into {CONFIG} (save_pretrained(..., save_jinja_files=False)).",
        )


@lint("warning")
def template_misplaced(folder: Folder) -> Iterator[Problem]:
    """A chat template where no version of transformers looks for it."""
    misplaced = [n for n in folder.files if _MISPLACED.search(n) and n not in (TEMPLATE, "chat_template.json")]
    if (
        "chat_template.json" in folder.files
        and not folder.json("processor_config.json")
        and not folder.json("preprocessor_config.json")
    ):
        misplaced.append("chat_template.json")  # that of a processor
    for name in misplaced if not list(_templates(folder)) else ():
        yield Problem(
            name,
            "Tokenizers do not read this file, and there is no other template: apply_chat_template raises an error",
            f"Name it {TEMPLATE}, or put its text into {CONFIG} as chat_template.",
        )
    named = list(dicts_in(folder.json(CONFIG).get("chat_template")))
    if named and not any(entry.get("name") == "default" for entry in named):
        yield Problem(
            f"{CONFIG}: $.chat_template",
            "None of the named templates is 'default': apply_chat_template without chat_template= raises an error",
            "Name one of them 'default'.",
        )


@dataclass(frozen=True)
class _Chat:
    """A chat template, the special tokens it may name, and which tokens are put before every text, by what."""

    place: str
    template: str
    special_tokens: tuple[tuple[str, str], ...]
    before: tuple[str, ...]
    adder: str

    def rendered(self) -> Rendered:
        return _rendered(self.template, self.special_tokens)


@lru_cache(maxsize=32)
def _rendered(template: str, special_tokens: tuple[tuple[str, str], ...]) -> Rendered:
    """Several lints ask, and a template that does not end takes all the time that it gets."""
    return render(template, dict(special_tokens))


def _chats(folder: Folder) -> Iterator[_Chat]:
    roles = tuple((role, content) for role, (content, _) in folder.roles.items())
    if folder.json(TOKENIZER):
        before, adder = tokens_around(folder.json(TOKENIZER).get("post_processor"))[0], f"the post_processor of {TOKENIZER}"
    else:
        adds = folder.json(CONFIG).get("add_bos_token") is True
        before, adder = [content for role, content in roles if adds and role == "bos_token"], f"add_bos_token of {CONFIG}"
    for place, template in _templates(folder):
        yield _Chat(place, template, roles, tuple(before), adder)
    for name, metadata in folder.gguf_metadata.items():
        gguf_template = text_at(metadata, "tokenizer.chat_template")
        if gguf_template is not None:
            named = tuple(
                (f"{role}_token", content) for role in ("bos", "eos") if (content := _gguf_token(metadata, role)) is not None
            )
            adds = metadata.get("tokenizer.ggml.add_bos_token") is True
            before = [content for role, content in named if adds and role == "bos_token"]
            yield _Chat(f"{name}: tokenizer.chat_template", gguf_template, named, tuple(before), "tokenizer.ggml.add_bos_token")


def _gguf_token(metadata: dict[str, Any], role: str) -> str | None:
    """The text of a token that is named by its id."""
    tokens, number = list_at(metadata, "tokenizer.ggml.tokens"), metadata.get(f"tokenizer.ggml.{role}_token_id")
    token = tokens[number] if is_id(number) and number < len(tokens) else None
    return token if isinstance(token, str) else None


def _templates(folder: Folder) -> Iterator[tuple[str, str]]:
    """(place, text) of the chat templates that transformers reads."""
    yield from folder.template_files.items()
    found: Any = folder.json(CONFIG).get("chat_template")
    if isinstance(found, str):
        yield f"{CONFIG}: $.chat_template", found
    for number, entry in enumerate(dicts_in(found)):
        text = text_at(entry, "template")
        if text is not None:
            yield f"{CONFIG}: $.chat_template[{number}]", text
