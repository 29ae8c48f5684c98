"""`hf-bpe show`."""

from __future__ import annotations

from typing import Annotated

import typer

from hf_bpe.cli.console import print_json
from hf_bpe.cli.files import read_input
from hf_bpe.cli.options import Json, LoadedPattern, SourceFormat, SpecialIds, Tokenizer, load
from hf_bpe.cli.text import File, only_one
from hf_bpe.engine import Encoder
from hf_bpe.plugin.spelling import spelling_of

__all__ = ["show"]


def show(
    tokenizer: Tokenizer,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", show_default=False, help="Text; default: --file, else standard input.")
    ] = None,
    file: File = None,
    as_json: Json = False,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
) -> None:
    """Write a text's tokens, one a line: the id, and the token as files spell it, special tokens read as special.

    A space is `Ġ` in byte-level tokens and `▁` in pieces.
    """
    only_one("TEXT", text, file)
    spec = load(tokenizer, source, pattern, special_token)
    spell = spelling_of(spec).spell
    spelled = {token_id: spell(token) for token, token_id in spec.vocab.items()}
    spelled |= {token.id: token.content for token in spec.added_tokens}
    ids = Encoder(spec).encode(read_input(text, file), allowed_special="all")
    if as_json:
        print_json([{"id": token_id, "token": spelled[token_id]} for token_id in ids])
        return
    for token_id in ids:
        typer.echo(f"{token_id:7}  {_on_one_line(spelled[token_id])}")


def _on_one_line(token: str) -> str:
    r"""A token with what is not visible escaped.

    >>> _on_one_line("▁a\n")
    '▁a\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in token)
