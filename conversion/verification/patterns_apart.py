"""The shortest texts that two split patterns split differently, out of their automata.

A pattern's normal form is the automaton of the texts in which a mark stands where the first match ends. Running two of them side by
side on every text, breadth first, meets first the shortest text that one takes and the other does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import product

from hf_bpe.errors import PatternError
from hf_bpe.pattern_syntax import NormalForm, normal_form, parse

__all__ = ["characters_told_apart", "short_texts", "texts_split_apart"]

_MOST_PAIRS = 20_000
_MOST_TEXTS = 400
_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_READABLE = " \n\ta1A.'é中\r"


def texts_split_apart(a: str | None, b: str | None) -> list[str]:
    """Texts, shortest first, whose first piece differs; none where the patterns are the same or cannot be told apart by proof.

    >>> texts_split_apart(r"\\p{N}{1,2}|[^\\p{N}]", r"\\p{N}|[^\\p{N}]")[0]
    '11'
    """
    a_form, b_form = _form(a), _form(b)
    if a_form is None or b_form is None or a_form.digest == b_form.digest:
        return []
    return list(dict.fromkeys(_witnesses(a_form, b_form)))[:_MOST_TEXTS]


def characters_told_apart(a: str | None, b: str | None) -> list[str]:
    """One character for each set that neither pattern tells apart; where they cannot be had, those that most patterns know."""
    a_form, b_form = _form(a), _form(b)
    if a_form is None or b_form is None:
        return list(_READABLE)
    return list(_common_letters(a_form, b_form).values())


def _form(pattern: str | None) -> NormalForm | None:
    try:
        return normal_form(parse(pattern if pattern is not None else r"[\s\S]+"))
    except PatternError:
        return None


def _common_letters(a: NormalForm, b: NormalForm) -> dict[tuple[int, int], str]:
    """(letter of a, letter of b) -> a character that is both, one that people know if there is such a one."""
    starts = sorted({start for form in (a, b) for start, _ in form.letters})
    common: dict[tuple[int, int], str] = {}
    letters = [dict(form.letters) for form in (a, b)]
    here = [0, 0]
    runs = []
    for start, following in zip(starts, [*starts[1:], _LAST + 1], strict=True):
        here = [letters[side].get(start, here[side]) for side in (0, 1)]
        runs.append((start, following, (here[0], here[1])))
    for character in _READABLE:
        pair = next(pair for start, following, pair in runs if start <= ord(character) < following)
        common.setdefault(pair, character)
    for start, following, pair in runs:
        first = next((code for code in (start, following - 1) if code not in _SURROGATES), None)
        if first is not None:
            common.setdefault(pair, chr(first))
    return common


def _witnesses(a: NormalForm, b: NormalForm) -> Iterator[str]:
    """Texts that one form takes and the other does not, marks left out."""
    letters = _common_letters(a, b)
    moves = [(a_letter, b_letter, character) for (a_letter, b_letter), character in letters.items()]
    moves.append((-1, -1, ""))  # the mark: the last column of both
    seen = {(0, 0)}
    queue: deque[tuple[int, int, str]] = deque([(0, 0, "")])
    while queue:
        a_state, b_state, text = queue.popleft()
        for a_letter, b_letter, character in moves:
            target = a.table[a_state][a_letter], b.table[b_state][b_letter]
            longer = text + character
            if (target[0] in a.accepting) != (target[1] in b.accepting):
                yield longer
            if target not in seen and len(seen) < _MOST_PAIRS:
                seen.add(target)
                queue.append((*target, longer))


def short_texts(characters: list[str], longest: int = 2) -> Iterator[str]:
    """Every text of up to `longest` of the characters.

    >>> list(short_texts(["a", "b"], 1))
    ['a', 'b']
    """
    for length in range(1, longest + 1):
        yield from map("".join, product(characters, repeat=length))
