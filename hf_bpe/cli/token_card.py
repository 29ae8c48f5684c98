"""What `hf-bpe show --card` prints."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from hf_bpe.analysis import Card, MergeNode, shown
from hf_bpe.analysis.card import Tokens

__all__ = ["print_card"]


def print_card(card: Card, console: Console) -> None:
    """A token, by itself."""
    entry = card.entry
    table = Table(show_header=False, show_edge=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    rows: list[tuple[str, str]] = [
        ("id", str(entry.id)),
        ("kind", entry.kind),
        ("text", "none: a part of a character" if entry.text is None else shown(entry.text)),
        ("bytes", " ".join(f"{byte:02X}" for byte in entry.content)),
        ("spelled", entry.spelled),
    ]
    if card.rank is not None:
        rows.append(("merge", f"#{card.rank:,}"))
    if card.score is not None:
        rows.append(("score", f"{card.score:g}"))
    rows += [
        ("reachable", f"{'yes' if card.is_reachable else 'no'}: {card.why}"),
        ("findings", ", ".join(card.findings) or "none"),
        ("beside it", "  ".join(f"{near.spelled} ({near.id})" for near in card.beside)),
        ("longer ones", _some(card.starting, "begin with it")),
        ("", _some(card.ending, "end with it")),
        ("", _some(card.used_in, "are merged with it")),
    ]
    for name, value in rows:
        table.add_row(name, Text(value))  # a Text is not searched for markup
    console.print(Text(entry.spelled if entry.text is None else shown(entry.text), "bold"))
    console.print(table)
    for node in card.tree:
        if node.parts:
            console.print(_tree(node))


def _some(tokens: Tokens, what: str) -> str:
    more = " ..." if tokens.total > len(tokens.first) else ""
    listed = "  ".join(entry.spelled for entry in tokens.first)
    return f"{tokens.total:,} {what}{': ' if listed else ''}{listed}{more}"


def _tree(node: MergeNode) -> Tree:
    tree = Tree(_node(node))
    waiting = [(tree, node)]  # a token of 2,000 bytes may be as deep
    while waiting:
        branch, of = waiting.pop()
        waiting += [(branch.add(_node(part)), part) for part in of.parts]
    return tree


def _node(node: MergeNode) -> Text:
    merge = f"  #{node.rank + 1:,}" if node.rank is not None else f"  score {node.score:g}" if node.score is not None else ""
    return Text.assemble(shown(node.content), (merge, "dim"))
