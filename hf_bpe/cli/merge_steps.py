"""What `hf-bpe show --merges` prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from hf_bpe.analysis import shown
from hf_bpe.cli.console import print_json
from hf_bpe.engine import Encoder
from hf_bpe.engine.steps import MergeRules, MergeStep
from hf_bpe.spec import TokenizerSpec
from hf_bpe.spelling import spelling_of

__all__ = ["show_merges"]


def show_merges(spec: TokenizerSpec, text: str, as_json: bool) -> None:
    """Print how each piece of a text is merged."""
    spell, rules = spelling_of(spec).spell, MergeRules(spec)
    pieces = [piece.encode() for piece in Encoder(spec).pretokenize(text)]
    steps = {piece: rules.steps(piece) for piece in dict.fromkeys(pieces)}
    if as_json:
        spelled = {piece: [_as_json(step, spec, spell) for step in each] for piece, each in steps.items()}
        print_json([{"piece": spell(piece), "steps": spelled[piece]} for piece in pieces])
        return
    for piece in pieces:
        typer.echo(shown(spell(piece)))
        width = max(len(_cause(step, spell)) for step in steps[piece])
        for number, step in enumerate(steps[piece]):
            cause = _cause(step, spell) if number == 0 or step.pair is not None else "given as"
            typer.echo(f"  {cause:{width}}  {' '.join(shown(spell(token)) for token in step.tokens)}")


def _cause(step: MergeStep, spell: Callable[[bytes], str]) -> str:
    """What made a step: the rank of the merge, counted from 1, or the score of the piece, and the pair.

    >>> _cause(MergeStep((b"ab",), (b"a", b"b"), 6), bytes.decode)
    '#7 a + b'
    """
    if step.pair is None:
        return "bytes" if len(step.tokens) > 1 else "whole"
    place = f"#{step.rank + 1}" if step.rank is not None else f"{step.score:g}"
    return f"{place} {' + '.join(shown(spell(part)) for part in step.pair)}"


def _as_json(step: MergeStep, spec: TokenizerSpec, spell: Callable[[bytes], str]) -> dict[str, Any]:
    merged = None
    if step.pair is not None:
        left, right = step.pair
        place = {"score": step.score} if step.rank is None else {"rank": step.rank + 1}
        merged = {**place, "left": spell(left), "right": spell(right), "id": spec.vocab[left + right]}
    return {"merge": merged, "tokens": list(map(spell, step.tokens))}
