"""What we save, loaded by stock transformers 4: `python -m tests.stock_four write FOLDER`, then `read.py FOLDER` in its own environment.

transformers 4 and 5 cannot be installed together, so this is `make stock-four` and no part of the test suite.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import hf_bpe
from conversion.nasty_strings import nasty_strings
from hf_bpe.plugin.saving import AUTO
from tests.support.vocabularies import cl100k_spec

MODEL_TYPES = (None, "llama", "mistral", "qwen2", "phi3", "gpt2", "bert", "modernbert")
CORPUS = ["The quick brown fox doesn't jump over 12345 lazy dogs. größer 안녕하세요 Привет, мир!  two  spaces\n"] * 20


def examples() -> dict[str, Any]:
    """One tokenizer of each dialect, and a published vocabulary."""
    names = {"bos_token": "<|bos|>", "eos_token": "<|end|>", "extra_special_tokens": ["<|im|>"]}
    trained = hf_bpe.HfBpeTokenizer.train(iter(CORPUS), 400, pattern="gpt2", add_bos_token=True, progress=False, **names)
    trained.add_tokens(["<tool>"])
    trained.chat_template = "{% for m in messages %}<|im|>{{ m['content'] }}<|end|>{% endfor %}"
    pieces = hf_bpe.HfBpeTokenizer.train(iter(CORPUS), 340, dialect="sentencepiece", preset="llama2")
    published = hf_bpe.HfBpeTokenizer.from_spec(cl100k_spec(), eos_token="<|endoftext|>", pad_token="<|endoftext|>")
    return {"trained": trained, "pieces": pieces, "cl100k": published}


def write(folder: Path) -> None:
    """The folders, and beside each what reading it must give."""
    for name, tokenizer in examples().items():
        texts = [*CORPUS[:1], *nasty_strings(tokenizer.all_special_tokens)]
        for auto in AUTO:
            target = folder / f"{name} {auto}"
            tokenizer.save_pretrained(target / "tokenizer", auto=auto)
            expected = {
                "auto": auto,
                "model_types": MODEL_TYPES,
                "texts": texts,
                "ids": tokenizer(texts)["input_ids"],
                "pairs": tokenizer(texts[0], "pair")["input_ids"],
                "decoded": tokenizer.batch_decode(tokenizer(texts)["input_ids"], clean_up_tokenization_spaces=False),
                "special": tokenizer.all_special_tokens,
                "size": len(tokenizer),
                "chat": tokenizer.chat_template
                and tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False),
            }
            (target / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    write(Path(sys.argv[2]))
