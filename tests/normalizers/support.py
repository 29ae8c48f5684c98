"""Tokenizers with normalizers, of ours and of the `tokenizers` library."""

from __future__ import annotations

import json
import random

import tokenizers

from conversion.tokenizer_json import to_dict
from hf_bpe import NAMED_PATTERNS, AddedToken, TokenizerSpec
from hf_bpe.normalizers import NamedStep, NormalizerStep, Prepend, Replace
from tests.support.vocabularies import BYTES

FORMS: tuple[NamedStep, ...] = ("NFC", "NFD", "NFKC", "NFKD")
NAMES: tuple[NamedStep, ...] = (*FORMS, "Lowercase", "StripAccents", "Strip", "StripLeft", "StripRight")
MERGES = [
    (b"t", b"o"), (b"to", b"k"), (b" ", b"a"), (b"\xc3", b"\xa9"), (b" ", b"\xc3\xa9"), (b"\xcc", b"\x81"),
    (b"e", b"\xcc\x81"), (b"a", b"b"), (b"\xea", b"\xb0"), (b"\xea\xb0", b"\x81"),
]  # fmt: skip

# Composed and not, marks in any order, what several characters become and what becomes several, Hangul in parts, Indic,
# look-alikes, letters whose lower case is long, white space of all kinds, and the added tokens below.
PARTS = [
    *"aAbB sS\n\t.,'12éÉ", "  ", "\u0301", "\u0316", "\u0345", "\u0f73", "\u0344", "ﬁ", "½", "\u1100", "\u1161", "\u11a8", "각",
    "가", "か", "\uff9e", "\u3099", "İ", "ſ", "Σ", "\u0915", "\u093c", "\u0958", "\ufdfa", "\xa0", "\u3000", "\u2003", "ẛ",
    "\u0323", "\u212b", "豈", "\U0002f868", "🙂", "\u05d0", "\u05bc", "\u05b8", "e\u0301", "<s>", "<S>", "<ｓ>", "tok", "TOK",
    "tök", "to\u0308k", "x y",
]  # fmt: skip
CONTENTS = ["<s>", "tok", "TÖK", "tök", "éa", "x y", "ab", "to", "A ", " a", "a\u0301", "ﬁ", "\u0301"]


def spec_with(
    *steps: NormalizerStep, tokens: tuple[AddedToken, ...] = (), pattern: str | None = "gpt2", **rules
) -> TokenizerSpec:
    """A small vocabulary with steps."""
    vocab = dict(BYTES)
    for left, right in MERGES:
        vocab.setdefault(left + right, len(vocab))
    split = NAMED_PATTERNS[pattern].pattern if pattern in NAMED_PATTERNS else pattern
    return TokenizerSpec(vocab, tuple(MERGES), normalizer=steps, added_tokens=tokens, pattern=split, **rules)


def library(spec: TokenizerSpec) -> tokenizers.Tokenizer:
    """The same tokenizer, run by the library."""
    return tokenizers.Tokenizer.from_str(json.dumps(to_dict(spec, allow_lossy=True)))


def random_step(generator: random.Random) -> NormalizerStep:
    kind = generator.random()
    if kind < 0.8:
        return generator.choice(NAMES)
    if kind < 0.9:
        return Prepend(generator.choice(["_", " ", "é", "ab"]))
    return Replace(generator.choice([r"\s+", "a", r"\p{L}", r"\p{M}+", r"\."]), generator.choice(["", " ", "xé", "▁"]))


def random_tokens(generator: random.Random, vocab: dict[bytes, int]) -> tuple[AddedToken, ...]:
    """Half of them looked for in normalised text."""
    free = max(vocab.values()) + 1
    tokens = []
    for content in generator.sample(CONTENTS, generator.randrange(5)):
        token_id = vocab.get(content.encode(), free)
        free += token_id == free
        flags = {flag: generator.random() < 0.3 for flag in ("single_word", "lstrip", "rstrip")}
        normalized, special = generator.random() < 0.6, generator.random() < 0.5
        tokens.append(AddedToken(content, token_id, special=special, normalized=normalized, **flags))
    return tuple(tokens)


def random_spec(generator: random.Random) -> TokenizerSpec:
    """A prefix space only with patterns that tokenizer.json can hold beside it."""
    steps = [random_step(generator) for _ in range(generator.choice([0, 1, 1, 1, 2, 3]))]
    prefix = generator.random() < 0.4
    pattern = generator.choice([None, "gpt2"] if prefix else [None, "gpt2", "cl100k", "qwen2", r"\p{L}+"])
    tokens = random_tokens(generator, dict(spec_with().vocab))
    return spec_with(*steps, tokens=tokens, pattern=pattern, add_prefix_space=prefix)


def random_text(generator: random.Random) -> str:
    return "".join(generator.choices(PARTS, k=generator.randrange(14)))
