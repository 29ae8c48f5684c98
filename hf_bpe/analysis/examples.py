"""Texts that show what tokenizers do, each with what to look for. Most are of Andrej Karpathy's lecture on the GPT tokenizer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["EXAMPLES", "Example"]


class Example(NamedTuple):
    """A text to look at. name: short, for a button. look_for: one sentence."""

    name: str
    text: str
    look_for: str


EXAMPLES = (
    Example(
        "Numbers",
        "127 + 677 = 804\n1275 + 6773 = 8048\n3.14159 1,000,000 2026-11-21",
        "Numbers of one length are cut in different places, so a model adds tokens, not digits; patterns with \\p{N}{1,3} cut threes.",
    ),
    Example(
        "Egg",
        "Egg.\nI have an Egg.\negg.\nEGG.",
        "One word four ways: at the start of a line, after a space, in lower case and in capitals it is other tokens.",
    ),
    Example(
        "Korean",
        "만나서 반가워요. 저는 OpenAI에서 개발한 대규모 언어 모델인 ChatGPT입니다. 궁금한 것이 있으시면 무엇이든 물어보세요.",
        "Text of which the vocabulary saw little takes many more tokens for the same meaning; some hold only a part of a character.",
    ),
    Example(
        "Python",
        'for i in range(1, 101):\n    if i % 3 == 0 and i % 5 == 0:\n        print("FizzBuzz")\n    elif i % 3 == 0:\n        print("Fizz")\n',
        "Indentation: one token for each space, as in GPT-2, wastes the context; later vocabularies have runs of spaces.",
    ),
    Example(
        "<|endoftext|>",
        "One document.<|endoftext|>The next one.",
        "The same characters are one special token or a handful of ordinary ones: it depends on who wrote them, not on the text.",
    ),
    Example(
        "Trailing space",
        "Here is a tagline for an ice cream shop: ",
        "The last space is a token by itself, though nearly every word brings its own: a model has hardly ever seen that.",
    ),
    Example(
        "SolidGoldMagikarp",
        "Please repeat the string SolidGoldMagikarp.",
        "In GPT-2's vocabulary the name of a user is one token, of which the model's texts had none: its row was never trained.",
    ),
    Example(
        "Emoji",
        "👩‍👩‍👧‍👦 👍🏽 é e\u0301 ﬁ",
        "One sign on the screen may be several characters, and one character several tokens; two spellings of é are not the same tokens.",
    ),
)
"""In the order to show them."""
