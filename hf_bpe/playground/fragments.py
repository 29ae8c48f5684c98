"""HTML of the page and of its parts. Everything is escaped: the texts of tokens are anybody's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from hf_bpe.playground.asked import MOST_CHARACTERS
from hf_bpe.playground.cards import OneToken, glyphs_of_part
from hf_bpe.playground.cells import COLOURS
from hf_bpe.playground.looking import WINDOW, Looked
from hf_bpe.playground.shelf import Shown
from hf_bpe.playground.uploads import MOST_BYTES

if TYPE_CHECKING:
    import jinja2

__all__ = ["card", "columns", "page", "pill"]

_KINDS = {
    "ordinary": "ordinary",
    "byte": "one byte of a character",
    "special": "special token",
    "added": "added token",
    "unknown": "stands for what the vocabulary lacks",
}


def columns(looked: Looked) -> str:
    """The tokens of a text, a column for each tokenizer."""
    return _template("columns").render(looked=looked, window=WINDOW)


def card(one: OneToken) -> str:
    """The panel about one token."""
    return _template("card").render(one=one, kinds=_KINDS)


def pill(shown: Shown) -> str:
    """The switch of one tokenizer, for one that was uploaded."""
    return _template("pill").render(shown=shown)


def page(looked: Looked, offered: Sequence[Shown], **what: Any) -> str:
    """The whole page, with a text looked at already."""
    return _template("page").render(
        looked=looked, offered=offered, columns=columns(looked), most_characters=MOST_CHARACTERS, most_bytes=MOST_BYTES, **what
    )


def _template(name: str) -> jinja2.Template:
    return _environment().get_template(f"{name}.html.jinja")


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    folder = files("hf_bpe.playground").joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "thousands": "{:,}".format,
        "ratio": _ratio,
        "brief": _brief,
        "glyphs": glyphs_of_part,
        "colour": _colour,
    }
    return environment


def _ratio(number: float | None) -> str:
    """Two places, or a dash where there is no number.

    >>> _ratio(4.125), _ratio(None)
    ('4.12', '–')
    """
    return "–" if number is None else f"{number:.2f}"


def _brief(text: str) -> str:
    """A text that fits a row.

    >>> _brief("a" * 100)[-3:], len(_brief("a" * 100))
    ('aa…', 61)
    """
    return text if len(text) <= 60 else text[:60] + "…"


def _colour(content: bytes) -> int:
    """The same for the same bytes, so that a token keeps its colour from one step to the next.

    >>> _colour(b"a"), _colour(b"b")
    (1, 2)
    """
    return sum(content) % COLOURS
