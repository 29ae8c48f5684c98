"""`hf-bpe inspect`."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import Any

from rich.table import Table
from rich.text import Text

from conversion.merges import unreachable_tokens
from hf_bpe.cli.console import out, print_json
from hf_bpe.cli.options import Json, LoadedPattern, SourceFormat, SpecialIds, Tokenizer, load
from hf_bpe.patterns import find_named_pattern
from hf_bpe.pieces import SentencePieceRules
from hf_bpe.spec import TokenizerSpec

__all__ = ["describe", "inspect"]

_SHOWN = 10


def inspect(
    tokenizer: Tokenizer,
    as_json: Json = False,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
) -> None:
    """Show what a tokenizer consists of."""
    facts = describe(load(tokenizer, source, pattern, special_token))
    if as_json:
        print_json(facts)
        return
    table = Table(show_header=False, box=None)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), Text(_shown(value)))
    out.print(Text(str(tokenizer), style="bold"), table, sep="\n", soft_wrap=True)


def describe(spec: TokenizerSpec) -> dict[str, Any]:
    """The facts about a tokenizer, ready for JSON."""
    longest = sorted(spec.vocab, key=lambda token: (-len(token), spec.vocab[token]))[:_SHOWN]
    return {
        "dialect": spec.dialect,
        "vocab_size": spec.vocab_size,
        "n_vocab": spec.n_vocab,
        "special_tokens": dict(spec.special_tokens),
        "other_added_tokens": {token.content: token.id for token in spec.added_tokens if not token.special},
        **(_byte_level_facts(spec) if spec.sentencepiece is None else _sentencepiece_facts(spec.sentencepiece)),
        "longest_tokens": [
            {"id": spec.vocab[token], "bytes": len(token), "text": token.decode("utf-8", "backslashreplace")}
            for token in longest
        ],
        "provenance": dict(spec.provenance),
        "fingerprint": spec.fingerprint,
    }


def _byte_level_facts(spec: TokenizerSpec) -> dict[str, Any]:
    named = find_named_pattern(spec.pattern)
    return {
        "merges": len(spec.merges),
        "pattern": spec.pattern,
        "pattern_name": named.name if named else None,
        "unmatched_text": spec.unmatched,
        "ignore_merges": spec.ignore_merges,
        "unreachable_tokens": len(unreachable_tokens(spec.vocab, spec.merges)),
    }


def _sentencepiece_facts(rules: SentencePieceRules) -> dict[str, Any]:
    """Every rule by its name; of the charsmaps the size, of the pieces how many there are of each kind."""
    rest = {field.name: getattr(rules, field.name) for field in fields(rules) if field.name != "pieces"}
    sizes = {name: f"{len(value):,} bytes" for name, value in rest.items() if isinstance(value, bytes)}
    return {"pieces": dict(Counter(piece.kind for piece in rules.pieces)), **rest, "unk_id": rules.unk_id, **sizes}


def _shown(value: Any) -> str:
    """A fact for people.

    >>> _shown(50257), _shown({"file": "x"}), _shown(None), _shown([{"id": 1, "text": "a"}])
    ('50,257', 'file: x', '-', "id 1, text 'a'")
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return _lines([f"{key}: {item}" for key, item in value.items()])
    if isinstance(value, list):
        return _lines([", ".join(f"{key} {item!r:.36}" for key, item in each.items()) for each in value])
    return "-" if value is None else str(value)


def _lines(lines: list[str]) -> str:
    rest = len(lines) - _SHOWN
    return "\n".join([*lines[:_SHOWN], *([f"... and {rest} more (--json shows all)"] if rest > 0 else [])]) or "-"
