"""Random arguments of calls."""

from __future__ import annotations

import random
from typing import Any

CHARACTERS = "aAbB 1'\n\t\u00a0é안中😉👩\u200d\u0301\u3000<>s_\x00\x85"
WORDS = [
    "the",
    " dog",
    "Hello",
    " world",
    "  ",
    " ",
    "\n\n",
    "don't",
    "12345",
    "größer",
    "안녕하세요",
    "你好",
    "👩‍👩‍👧‍👦",
    "é",
    "a" * 9,
]


def random_text(generator: random.Random, contents: list[str]) -> str:
    """Words, spaces, characters of many kinds, and added tokens."""
    parts = []
    for _ in range(generator.choice((0, 1, 1, 2, 3, 5))):
        kind = generator.randrange(4)
        if kind == 0:
            parts.append("".join(generator.choices(CHARACTERS, k=generator.choice((1, 2, 5)))))
        elif kind == 1 and contents:
            parts.append(generator.choice(["", " ", "  "]) + generator.choice(contents) + generator.choice(["", " ", "x"]))
        else:
            parts.append(generator.choice(WORDS))
    return "".join(parts)


def random_call(generator: random.Random, contents: list[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a call."""

    def text() -> str:
        return random_text(generator, contents)

    def words() -> list[str]:
        return [text() for _ in range(generator.choice((0, 1, 2, 5)))]

    split = generator.random() < 0.2
    one = words if split else text
    shape = generator.randrange(5)
    size = generator.choice((1, 1, 2, 4))
    arguments: tuple[Any, ...]
    if shape == 0:
        arguments = (one(),)
    elif shape == 1:
        arguments = (one(), one())
    elif shape == 2:
        arguments = ([one() for _ in range(size)],)
    elif shape == 3:
        arguments = ([(one(), one()) for _ in range(size)],)
    else:
        arguments = ([one() for _ in range(size)], [one() for _ in range(size)])
    choices: dict[str, list[Any]] = {
        "add_special_tokens": [True, False],
        "split_special_tokens": [True, False],
        "truncation": [True, True, False, "longest_first", "only_first", "only_second"],
        "max_length": [1, 2, 3, 5, 8, 12, 20],
        "stride": [0, 0, 1, 2, 5],
        "padding": [True, False, "max_length", "longest"],
        "padding_side": ["left", "right"],
        "pad_to_multiple_of": [1, 2, 4, 8],
        "return_token_type_ids": [True, False],
        "return_attention_mask": [True, False],
        "return_special_tokens_mask": [True, False],
        "return_offsets_mapping": [True, False],
        "return_overflowing_tokens": [True, False],
        "return_length": [True, False],
        "return_tensors": ["np"],
    }
    options = {name: generator.choice(values) for name, values in choices.items() if generator.random() < 0.35}
    if split:
        options["is_split_into_words"] = True
    return arguments, options
