"""Whether two patterns split every text alike, by proof: each has one smallest automaton, and theirs are the same.

A match depends on the text from its start on, so a pattern is a function from that text to the length of the first match.
Its normal form is the minimal automaton of the texts in which a mark stands where that match ends. Minimal automata are
unique up to the names of their states and letters, which are numbered here in the order they are met. So equal normal
forms mean the same function, and the same function has equal normal forms: `a|b` and `[ab]`, `x{1,}` and `x+`, a
possessive `+` that changes nothing, a branch no text reaches, are all one.

Alternative considered: rewriting the tree step by step until nothing changes. Each step needs its own proof, and there
is always one more spelling; here one construction covers all, and near misses differ because the functions do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from hf_bpe.pattern_syntax.alphabet import Alphabet
from hf_bpe.pattern_syntax.automaton import Automaton, State
from hf_bpe.pattern_syntax.program import Program, Unprovable
from hf_bpe.pattern_syntax.tree import Node, matches_empty

__all__ = ["NormalForm", "normal_form"]


@dataclass(frozen=True)
class NormalForm:
    """The minimal automaton of a pattern.

    `letters`: (first code point, letter) of each run of code points that the pattern does not tell apart.
    `table`: for each state, where each letter leads; the last column is the mark. State 0 is the start.
    `accepting`: the states in which the text may end, if the mark stood at the end of the match.
    """

    letters: tuple[tuple[int, int], ...]
    table: tuple[tuple[int, ...], ...]
    accepting: tuple[int, ...]

    @property
    def digest(self) -> str:
        """A short name of this form; two forms share one only by a collision of BLAKE2b in 80 bits."""
        return blake2b(repr((self.letters, self.table, self.accepting)).encode(), digest_size=10).hexdigest()


@lru_cache(maxsize=64)
def normal_form(tree: Node) -> NormalForm | None:
    """The normal form, or None where there is none to be had: a pattern that looks at what precedes the match, that can match
    the empty string, or that is too large to be worth it.
    """
    if matches_empty(tree):
        return None
    try:
        alphabet = Alphabet(tree)
        states = Automaton(Program(tree, alphabet.letters_of)).explore(alphabet.every)
    except Unprovable:
        return None
    return _minimal(states, alphabet)


def _minimal(states: list[State], alphabet: Alphabet) -> NormalForm:
    rows = []
    for follow, mark, _ in states:
        row = [0] * alphabet.size
        for letters, target in follow:
            while letters:
                row[(letters & -letters).bit_length() - 1] = target
                letters &= letters - 1
        rows.append([*row, mark])
    block = [int(state.accepting) for state in states]
    count = 0
    while count != len(set(block)):
        count = len(set(block))
        number: dict[tuple[int, ...], int] = {}
        block = [number.setdefault((own, *(block[t] for t in row)), len(number)) for own, row in zip(block, rows, strict=True)]

    of_block = dict(zip(reversed(block), reversed(rows), strict=True))
    merged = {own: [block[target] for target in row] for own, row in of_block.items()}
    columns = list(zip(*merged.values(), strict=True))[:-1]
    first_like: dict[tuple[int, ...], int] = {}
    class_of = [first_like.setdefault(column, letter) for letter, column in enumerate(columns)]
    order = [*alphabet.order(class_of), alphabet.size]

    name = {block[1]: 0}
    queue = [block[1]]
    for own in queue:
        for letter in order:
            if merged[own][letter] not in name:
                name[merged[own][letter]] = len(name)
                queue.append(merged[own][letter])
    table = tuple(tuple(name[merged[own][letter]] for letter in order) for own in queue)
    accepting = {own for own, state in zip(block, states, strict=True) if state.accepting}
    place = {letter_class: place for place, letter_class in enumerate(order)}
    runs = alphabet.runs({letter: place[letter_class] for letter, letter_class in enumerate(class_of)})
    return NormalForm(runs, table, tuple(sorted(name[own] for own in accepting if own in name)))
