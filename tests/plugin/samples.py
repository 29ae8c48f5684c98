"""Texts and vocabularies that the tests of the plugin share. Nothing here needs a file or the network."""

from __future__ import annotations

import hf_bpe
from hf_bpe import AddedToken, TokenizerSpec

CORPUS = [
    "The quick brown fox jumps over the lazy dog, and the dog doesn't mind. " * 4,
    "def encode(text):\n    return [ord(c) for c in text]  # 12345 is a number\n" * 4,
    "Der schnelle braune Fuchs springt über den faulen Hund; größer, höher, weiter! " * 4,
    "안녕하세요 세계, 토크나이저를 만들어 봅시다. 안녕하세요 여러분! " * 4,
    "Привет, мир! Быстрая коричневая лиса прыгает через ленивую собаку. " * 4,
    "    spaces   and\ttabs\r\n\r\n  indents   \n" * 4,
]

TEXTS = [
    "",
    " ",
    "Hello world",
    "The quick brown fox doesn't jump 12345 times.",
    "  leading and trailing  ",
    "tabs\tand\nnew\r\nlines\n\n\n",
    "안녕하세요 세계! Привет, größer höher — naïve façade",
    "emoji 👩‍👩‍👧‍👦 and 🇰🇷 and \u00a0no-break\u2028line\u3000wide",
    "x" * 300 + " " * 40,
    "<|end|> in text <|pad|><|end|>and <|bos|>. <|im|>",
    "a <mask> b<mask>c  <mask>  d",
    "word plus wordplus plusword plus.",
    "keep<tool>this</tool> text",
    "\x00\x01\x7f\x80 control",
]

ADDED = [
    AddedToken("<|bos|>", 0),
    AddedToken("<|end|>", 0),
    AddedToken("<|pad|>", 0),
    AddedToken("<|im|>", 0),
    AddedToken("<mask>", 0, lstrip=True, rstrip=True),
    AddedToken("<left>", 0, lstrip=True),
    AddedToken("plus", 0, special=False, single_word=True),
    AddedToken("<tool>", 0, special=False),
    AddedToken("</tool>", 0, special=False, rstrip=True),
]

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im|>assistant\n{% endif %}"
)

NAMES = {
    "bos_token": "<|bos|>",
    "eos_token": "<|end|>",
    "pad_token": "<|pad|>",
    "additional_special_tokens": ["<|im|>", "<mask>"],
}
"""The roles of the special tokens."""


def make_spec(vocab_size: int = 500, pattern: str | None = "gpt2") -> TokenizerSpec:
    """A small vocabulary with added tokens of every kind."""
    trained = hf_bpe.train(iter(CORPUS), vocab_size, pattern=pattern, progress=False)
    first = trained.n_vocab
    flags = [{**vars(token), "id": first + n} for n, token in enumerate(ADDED)]
    return trained.replace(added_tokens=tuple(AddedToken(**values) for values in flags))
