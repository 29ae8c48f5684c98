"""Read a split pattern once, then say it exactly in the dialect of any regular-expression engine.

The same text means different things to different engines: `\\p{N}{1,3}+` is possessive to `regex` and tiktoken but a
repeated group to Oniguruma (the engine of `tokenizers`), `$` sits in four different places, `(?i:st)` matches U+FB06 in
one of them. So a pattern is parsed into a small tree with one meaning, and written out again per engine:

>>> translate(r"\\p{N}{1,3}+|$", source="tiktoken", target="oniguruma")
'(?>\\\\p{N}{1,3})|\\\\z'

What engines disagree on and no rewriting can mend (back-references, `\\h`, ...) is refused by name.
"""

from __future__ import annotations

from hf_bpe.pattern_syntax.llama_cpp import render_llama_cpp
from hf_bpe.pattern_syntax.normal_form import NormalForm, normal_form
from hf_bpe.pattern_syntax.reader import alternatives, parse
from hf_bpe.pattern_syntax.tree import SPACE, Dialect, Node, Property, Span, matches_empty
from hf_bpe.pattern_syntax.writer import render

__all__ = [
    "SPACE",
    "Dialect",
    "Node",
    "NormalForm",
    "Property",
    "Span",
    "alternatives",
    "matches_empty",
    "normal_form",
    "parse",
    "render",
    "render_llama_cpp",
    "translate",
]


def translate(pattern: str, *, source: Dialect, target: Dialect) -> str:
    """Say a pattern of one engine in the dialect of another, with the same meaning.

    >>> translate(r"(?i:'s)", source="regex", target="oniguruma")
    "'[sSſ]"
    """
    return render(parse(pattern, source), target)
