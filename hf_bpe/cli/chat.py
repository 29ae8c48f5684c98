"""`hf-bpe chat`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from hf_bpe.chat import EncodedConversation, encode_conversation, find_template, own_template
from hf_bpe.cli.console import out, print_json
from hf_bpe.cli.files import read_input
from hf_bpe.cli.options import Json, LoadedPattern, SourceFormat, SpecialIds, Tokenizer, load
from hf_bpe.engine import Encoder
from hf_bpe.errors import ChatTemplateError, FormatError

__all__ = ["chat"]

Rule = Literal["text", "raise", "special"]


def chat(
    tokenizer: Tokenizer,
    messages: Annotated[
        Path,
        typer.Argument(
            metavar="MESSAGES",
            show_default=False,
            help='JSON: a list of messages, or {"messages": ..., "tools": ..., "documents": ...}; - is standard input.',
        ),
    ],
    template: Annotated[
        str | None,
        typer.Option(
            "--template", "-t", show_default=False, help="chatml, llama3, mistral, or a file; default: the folder's own."
        ),
    ] = None,
    add_generation_prompt: Annotated[
        bool, typer.Option("--add-generation-prompt", help="Begin the message that the model is to write.")
    ] = False,
    continue_final_message: Annotated[
        bool, typer.Option("--continue-final-message", help="Leave the last message open.")
    ] = False,
    untrusted: Annotated[
        Rule, typer.Option(help="What a special token in a message is: the text it is spelled with, an error, or itself.")
    ] = "text",
    show: Annotated[
        bool, typer.Option("--show", help="Show the text, coloured by token, with what messages say set apart.")
    ] = False,
    as_json: Json = False,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
) -> None:
    """Write the ids of a conversation, in which nothing that its messages say is a special token.

    With --show: each token in brackets; what messages say is underlined, special tokens are bold.
    """
    spec = load(tokenizer, source, pattern, special_token)
    found, roles = own_template(tokenizer)
    if template is None and found is None:
        raise ChatTemplateError(f"{tokenizer} holds no chat template; pass --template chatml, llama3, mistral, or a file")
    given = _read_conversation(messages)
    encoded = encode_conversation(
        Encoder(spec),
        given["messages"],
        find_template(template if template is not None else str(found)),
        untrusted=untrusted,
        tools=given.get("tools"),
        documents=given.get("documents"),
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        special_tokens=roles,
    )
    if as_json:
        tokens = [{"id": i, "text": text, "trusted": bool(trust)} for i, text, trust in _tokens(encoded)]
        print_json(tokens if show else encoded.ids)
    elif show:
        out.print(_shown(encoded, frozenset(spec.special_tokens.values())), soft_wrap=True)
    else:
        typer.echo(" ".join(map(str, encoded.ids)))


def _tokens(encoded: EncodedConversation) -> Iterator[tuple[int, str, int]]:
    """Id, text and trust of each token. Of tokens that share a character the first shows it."""
    done = 0
    for token_id, (start, stop), trust in zip(encoded.ids, encoded.offsets.tolist(), encoded.trusted_mask, strict=True):
        yield token_id, encoded.text[max(done, start) : stop], trust
        done = max(done, stop)


def _shown(encoded: EncodedConversation, special: frozenset[int]) -> Text:
    shown = Text()
    for token_id, text, trust in _tokens(encoded):
        style = "bold magenta" if token_id in special else "green" if trust else "underline yellow"
        visible = text.replace("\n", "\\n\n")
        shown.append("[", "dim").append(visible, style).append("]", "dim")
    return shown


def _read_conversation(path: Path) -> Mapping[str, Any]:
    try:
        given = json.loads(read_input(None, path))
    except json.JSONDecodeError as error:
        raise FormatError(f"{path}: not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    if isinstance(given, list):
        given = {"messages": given}
    if not isinstance(given, dict) or not isinstance(given.get("messages"), list) or not given["messages"]:
        raise FormatError(f'{path}: not a conversation; it must be a list of messages, or an object with "messages"')
    for name in ("tools", "documents"):
        if not isinstance(given.get(name), list | None):
            raise FormatError(f'{path}: "{name}" is not a list')
    for number, message in enumerate(given["messages"]):
        if not isinstance(message, dict):
            raise FormatError(f'{path}: message {number + 1} is not an object with "role" and "content"')
    return given
