"""`hf-bpe show`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from hf_bpe.cli.console import print_json
from hf_bpe.cli.files import read_input
from hf_bpe.cli.options import Json, LoadedPattern, SourceFormat, SpecialIds, Tokenizer, load
from hf_bpe.cli.text import File, only_one
from hf_bpe.engine import Encoder
from hf_bpe.engine.steps import MergeStep, merge_steps
from hf_bpe.spec import TokenizerSpec
from hf_bpe.spelling import spelling_of

__all__ = ["show"]


def show(
    tokenizer: Tokenizer,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", show_default=False, help="Text; default: --file, else standard input.")
    ] = None,
    file: File = None,
    merges: Annotated[bool, typer.Option("--merges", help="Show how each piece is merged, step by step.")] = False,
    as_json: Json = False,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
) -> None:
    """Write a text's tokens, one a line: the id, and the token as files spell it, special tokens read as special.

    A space is `Ġ` in byte-level tokens and `▁` in pieces. With --merges, special tokens are read as text.
    """
    only_one("TEXT", text, file)
    spec = load(tokenizer, source, pattern, special_token)
    spell = spelling_of(spec).spell
    if merges:
        _show_merges(spec, read_input(text, file), spell, as_json)
        return
    spelled = {token_id: spell(token) for token, token_id in spec.vocab.items()}
    spelled |= {token.id: token.content for token in spec.added_tokens}
    ids = Encoder(spec).encode(read_input(text, file), allowed_special="all")
    if as_json:
        print_json([{"id": token_id, "token": spelled[token_id]} for token_id in ids])
        return
    for token_id in ids:
        typer.echo(f"{token_id:7}  {_on_one_line(spelled[token_id])}")


def _show_merges(spec: TokenizerSpec, text: str, spell: Callable[[bytes], str], as_json: bool) -> None:
    pieces = [piece.encode() for piece in Encoder(spec).pretokenize(text)]
    steps = [merge_steps(spec, piece) for piece in pieces]
    if as_json:
        spelled = [[_as_json(step, spec, spell) for step in each] for each in steps]
        print_json([{"piece": spell(piece), "steps": each} for piece, each in zip(pieces, spelled, strict=True)])
        return
    for piece, each in zip(pieces, steps, strict=True):
        typer.echo(_on_one_line(spell(piece)))
        width = max(len(_cause(step, spell)) for step in each)
        for step in each:
            typer.echo(f"  {_cause(step, spell):{width}}  {' '.join(map(spell, step.tokens))}")


def _cause(step: MergeStep, spell: Callable[[bytes], str]) -> str:
    """What made a step: the rank of the merge, counted from 1, and its pair.

    >>> _cause(MergeStep((b"ab",), (b"a", b"b"), 6), bytes.decode)
    '#7 a + b'
    """
    if step.pair is None or step.rank is None:
        return "bytes" if len(step.tokens) > 1 else "whole"
    return f"#{step.rank + 1} {' + '.join(map(spell, step.pair))}"


def _as_json(step: MergeStep, spec: TokenizerSpec, spell: Callable[[bytes], str]) -> dict[str, Any]:
    merged = None
    if step.pair is not None and step.rank is not None:
        left, right = step.pair
        merged = {"rank": step.rank + 1, "left": spell(left), "right": spell(right), "id": spec.vocab[left + right]}
    return {"merge": merged, "tokens": list(map(spell, step.tokens))}


def _on_one_line(token: str) -> str:
    r"""A token with what is not visible escaped.

    >>> _on_one_line("▁a\n")
    '▁a\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in token)
