"""`hf-bpe encode` and `hf-bpe decode`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hf_bpe.cli.console import print_json
from hf_bpe.cli.files import read_input
from hf_bpe.cli.options import Json, LoadedPattern, SourceFormat, SpecialIds, Tokenizer, load
from hf_bpe.engine import Encoder
from hf_bpe.errors import DisallowedSpecialTokenError, FormatError
from hf_bpe.spec import TokenizerSpec

__all__ = ["decode", "encode", "only_one"]

SpecialRule = Literal["error", "text", "all"]
File = Annotated[Path | None, typer.Option("--file", "-f", show_default=False, help="Read this file; - is standard input.")]


def encode(
    tokenizer: Tokenizer,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", show_default=False, help="Text; default: --file, else standard input.")
    ] = None,
    file: File = None,
    special: Annotated[
        SpecialRule, typer.Option(help="What a special token in the text is: an error, plain text, or (all) that token.")
    ] = "error",
    allow_special: Annotated[
        list[str] | None, typer.Option(show_default=False, help="A special token to encode as such, or 'all' (repeatable).")
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Only how many ids there are.")] = False,
    as_json: Json = False,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
) -> None:
    """Write the ids of a text, separated by spaces."""
    only_one("TEXT", text, file)
    spec = load(tokenizer, source, pattern, special_token)
    content = read_input(text, file)
    rules = _special_rules(spec, special, allow_special or [], content)
    encoder = Encoder(spec)
    if count:
        typer.echo(encoder.count(content, **rules))
        return
    ids = encoder.encode(content, **rules)
    if as_json:
        print_json(ids)
    else:
        typer.echo(" ".join(map(str, ids)))


def decode(
    tokenizer: Tokenizer,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[IDS]...", show_default=False, help="Ids; default: --file, else standard input."),
    ] = None,
    file: File = None,
    as_json: Json = False,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
) -> None:
    """Write the text behind ids, byte for byte. Ids are separated by white space, or a JSON list."""
    given = " ".join(ids) if ids else None
    only_one("IDS", given, file)
    encoder = Encoder(load(tokenizer, source, pattern, special_token))
    content = encoder.decode_bytes(parse_ids(read_input(given, file)))
    if as_json:
        print_json(content.decode("utf-8", "replace"))
    else:
        typer.echo(content, nl=sys.stdout.isatty())  # a line break in a pipe would be a byte that no token holds


def parse_ids(text: str) -> list[int]:
    """Ids out of a JSON list or of words. Raises `FormatError` naming the first that is none.

    >>> parse_ids("[1, 2]"), parse_ids("1 2\\n3")
    ([1, 2], [1, 2, 3])
    """
    if text.lstrip().startswith("["):
        try:
            words = json.loads(text)
        except json.JSONDecodeError as error:
            raise FormatError(f"not a JSON list of ids: {error.msg} at line {error.lineno} column {error.colno}") from None
    else:
        words = [int(word) if word.isascii() and word.isdecimal() else word for word in text.split()]
    for place, word in enumerate(words):
        if type(word) is not int or not 0 <= word < 2**31:
            raise FormatError(f"{word!r} (number {place + 1}) is not an id; ids are whole numbers from 0 up")
    return list(words)


def only_one(argument: str, given: str | None, file: Path | None) -> None:
    """Refuse a text on the command line beside a file."""
    if given is not None and file is not None:
        raise typer.BadParameter(f"pass either {argument} or --file, not both")


def _special_rules(spec: TokenizerSpec, special: SpecialRule, allowed: list[str], text: str) -> dict[str, Any]:
    """The options as `Encoder.encode` takes them. Raises for a special token that nobody allowed, in this command's words."""
    if special == "all" or "all" in allowed:
        return {"allowed_special": "all"}
    unknown = [token for token in allowed if token not in spec.special_tokens]
    if unknown:
        known = ", ".join(map(repr, spec.special_tokens)) or "none"
        raise typer.BadParameter(f"{unknown[0]!r} is not a special token here; there are {known}", param_hint="--allow-special")
    if special == "text":
        return {"allowed_special": allowed, "disallowed_special": ()}
    held = [token for token in spec.special_tokens if token not in allowed and token in text]
    if held:
        raise DisallowedSpecialTokenError(
            held[0],
            f"the text holds {', '.join(map(repr, held))}, special here. Pass --allow-special {held[0]!r} to encode it as that "
            "token, or --special text to encode it as plain text",
        )
    return {"allowed_special": allowed}
