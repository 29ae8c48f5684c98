"""`hf-bpe show`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, repeat
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from hf_bpe.analysis import Cards, Differences, Pretoken, Token, View, Vocabulary, differences, pretokens, shown, view
from hf_bpe.analysis.naming import distinct_names
from hf_bpe.cli.console import out, print_json
from hf_bpe.cli.files import read_input
from hf_bpe.cli.merge_steps import show_merges
from hf_bpe.cli.options import Json, LoadedPattern, SourceFormat, SpecialIds, Tokenizer, load
from hf_bpe.cli.painting import Painter, label
from hf_bpe.cli.text import File, only_one
from hf_bpe.cli.token_card import print_card
from hf_bpe.engine import Encoder

__all__ = ["show"]


def show(
    tokenizer: Tokenizer,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", show_default=False, help="Text; default: --file, else standard input.")
    ] = None,
    file: File = None,
    others: Annotated[
        list[Path] | None,
        typer.Option(
            "--with", "-w", metavar="TOKENIZER", show_default=False, help="Another tokenizer, to compare (repeatable)."
        ),
    ] = None,
    only_differences: Annotated[
        bool, typer.Option("--differences", help="Show only what the tokenizers cut differently, side by side.")
    ] = False,
    ids: Annotated[bool, typer.Option("--ids", help="Show the ids, too.")] = False,
    with_bytes: Annotated[bool, typer.Option("--bytes", help="One token a line, with its bytes.")] = False,
    offsets: Annotated[
        bool, typer.Option("--offsets", help="One token a line, with where it stands, in bytes and in characters.")
    ] = False,
    lines: Annotated[bool, typer.Option("--lines", help="One token a line, as in a pipe.")] = False,
    merges: Annotated[bool, typer.Option("--merges", help="Show how each piece is merged, step by step.")] = False,
    pieces: Annotated[
        bool, typer.Option("--pieces", help="Show the pieces that the pattern cuts, and which alternative took each.")
    ] = False,
    card: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", show_default=False, help="Show all about one token: its text, spelling, bytes, or #ID."),
    ] = None,
    special: Annotated[
        Literal["all", "text"], typer.Option(help="What special tokens in the text are: themselves, or the text they are.")
    ] = "all",
    as_json: Json = False,
    pattern: LoadedPattern = None,
    source: SourceFormat = None,
    special_token: SpecialIds = None,
) -> None:
    """Show a text's tokens: in colour, or in a pipe one a line, the id and the token as files spell it.

    In colour, a space is `·`, a line break `⏎`, and bytes that are only a part of a character are `\\xE4`. In lines, a space is `Ġ` in byte-level
    tokens and `▁` in pieces. Several tokenizers stand below one another; what they cut differently is underlined. With --merges, special
    tokens are read as text. In place of a file, TOKENIZER may be gpt2, cl100k_base or tekken, where a package that ships it is installed, small, or bytes.
    """
    only_one("TEXT", text, file)
    _check_modes({"--merges": merges, "--pieces": pieces, "--card": card is not None, "--with": bool(others)})
    if only_differences and not others:
        raise typer.BadParameter("name another tokenizer by --with", param_hint="--differences")
    spec = load(tokenizer, source, pattern, special_token)
    if card is not None:
        _show_card(Cards(spec), card, as_json)
        return
    content = read_input(text, file)
    if merges:
        show_merges(spec, content, as_json)
        return
    specs = [spec, *(load(other, None, None, None) for other in others or ())]
    allowed: Any = "all" if special == "all" else ()
    views = [view(Vocabulary(Encoder(each)), content, allowed_special=allowed) for each in specs]
    if pieces:
        _show_pieces(views[0], pretokens(views[0]), as_json)
        return
    compared = _Compared(distinct_names([str(tokenizer), *map(str, others or ())]), views, differences(views))
    if as_json:
        print_json(_as_json(compared))
    elif only_differences:
        _show_differences(compared)
    elif out.is_terminal and not (with_bytes or offsets or lines):
        _show_texts(compared, ids)
    else:
        _write(_lines(compared, with_bytes, offsets), end="")


class _Compared(NamedTuple):
    """Tokenizers, by the names they are told apart by, and one text as their tokens."""

    names: list[str]
    views: list[View]
    differences: Differences

    def marks(self, number: int) -> Iterable[bool]:
        """Of each token of a tokenizer whether it lies where they differ."""
        return repeat(False, len(self.views[0])) if len(self.views) == 1 else self.differences.marks(number).tolist()


def _check_modes(given: dict[str, bool]) -> None:
    wanted = [name for name, is_wanted in given.items() if is_wanted]
    if len(wanted) > 1:
        raise typer.BadParameter(f"{' and '.join(wanted)} do not go together; pass one of them")


# ---------------------------------------------------------------------------------------------------------------------
# A text's tokens


def _show_texts(compared: _Compared, ids: bool) -> None:
    painter = Painter(out)
    for number, (name, tokens) in enumerate(zip(compared.names, compared.views, strict=True)):
        if number:
            out.print()
        _write(painter.text(tokens, compared.marks(number)))
        if ids:
            _write(painter.one(token, f"{token.id}") + " " for token in tokens)
        out.print(Text(_summary(name, tokens), "dim"), soft_wrap=True)
    if len(compared.views) > 1:
        found = compared.differences
        out.print(Text(f"cut differently: {len(found):,} places, {found.differing_bytes:,} bytes", "bold"), soft_wrap=True)


def _write(parts: Iterable[str], end: str = "\n") -> None:
    """Text with codes of its own, which rich need not look at."""
    parts = iter(parts)
    while some := "".join(islice(parts, 10_000)):
        out.file.write(some)
    out.file.write(end)


def _summary(name: str, tokens: View) -> str:
    """How much of what there is.

    >>> from hf_bpe import TokenizerSpec
    >>> _summary("bytes", view(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()), "né"))
    'bytes: 3 tokens, 2 characters, 3 bytes, 1.00 bytes per token'
    """
    num_bytes = len(tokens.text.encode())
    counted = f"{len(tokens):,} tokens, {len(tokens.text):,} characters, {num_bytes:,} bytes"
    return f"{name}: {counted}{f', {num_bytes / len(tokens):.2f} bytes per token' if len(tokens) else ''}"


def _lines(compared: _Compared, with_bytes: bool, offsets: bool) -> Iterator[str]:
    painter = Painter(out) if out.is_terminal else None
    for number, (name, tokens) in enumerate(zip(compared.names, compared.views, strict=True)):
        for token, is_marked in zip(tokens, compared.marks(number), strict=True):
            spelled = _on_one_line(token.spelled)
            if painter is not None:
                spelled = painter.one(token, label(token), is_marked=is_marked)
            columns = [f"{token.id:7}  {spelled}", *_columns(token, with_bytes, offsets)]
            if len(compared.views) > 1:
                columns = [name, *columns, "differs" if is_marked else "same"]
            yield "\t".join(columns) + "\n"


def _columns(token: Token, with_bytes: bool, offsets: bool) -> list[str]:
    found = [" ".join(f"{byte:02X}" for byte in token.content)] if with_bytes else []
    if offsets:
        found += [f"{start}-{stop}" for start, stop in (token.in_bytes, token.in_characters)]
    return found


@lru_cache(1 << 16)
def _on_one_line(token: str) -> str:
    r"""A token with what is not visible escaped.

    >>> _on_one_line("▁a\n")
    '▁a\\n'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in token)


def _show_differences(compared: _Compared) -> None:
    table = Table(title=f"{len(compared.differences):,} places", title_justify="left")
    for column in ("text", *compared.names):
        table.add_column(Text(column), overflow="fold")
    for stretch in compared.differences:
        cells = [
            " | ".join(map(label, tokens[own.start : own.stop]))
            for tokens, own in zip(compared.views, stretch.tokens, strict=True)
        ]
        table.add_row(*map(Text, (shown(stretch.text), *cells)))
    out.print(table)


def _as_json(compared: _Compared) -> Any:
    if len(compared.views) == 1:
        return [token.to_dict() for token in compared.views[0]]
    each = zip(compared.names, compared.views, strict=True)
    return {
        "tokenizers": [{"name": name, "tokens": [token.to_dict() for token in tokens]} for name, tokens in each],
        "differences": [
            {
                "in_bytes": list(stretch.in_bytes),
                "text": stretch.text,
                "tokens": [[own.start, own.stop] for own in stretch.tokens],
            }
            for stretch in compared.differences
        ],
    }


# ---------------------------------------------------------------------------------------------------------------------
# Pieces, and one token


def _show_pieces(tokens: View, found: Sequence[Pretoken], as_json: bool) -> None:
    if as_json:
        print_json([piece.to_dict() for piece in found])
        return
    width = min(max((len(shown(piece.text)) for piece in found), default=0), 24)
    ids = tokens.ids.tolist()
    lines = (
        f"{piece.in_characters[0]}-{piece.in_characters[1]}\t{shown(piece.text):{width}}\t{_took(piece)}\t"
        f"{' '.join(map(str, ids[piece.tokens.start : piece.tokens.stop]))}\n"
        for piece in found
    )
    _write(lines, end="")


def _took(piece: Pretoken) -> str:
    """What took a piece: the alternative of each stage, by number and as it is written."""
    if piece.is_added:
        return "added token"
    told = [
        "between matches"
        if each is None
        else f"{f'{each.stage + 1}.' if len(piece.matched) > 1 else ''}{each.number} {each.source}"
        for each in piece.matched
    ]
    return ", ".join(told) or "no pattern"


def _show_card(cards: Cards, wanted: str, as_json: bool) -> None:
    card = cards.card(cards.find(wanted))
    if as_json:
        print_json(cards.to_dict(card))
    else:
        print_card(card, out)
