"""Tokenizers and official libraries for the conversion tests."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers
from hypothesis import strategies as st

from conversion import tokenizer_json
from hf_bpe import AddedToken, TokenizerSpec
from tests.support.vocabularies import BYTES, spec_of_ranks

SPECIALS = (AddedToken("<s>", 400), AddedToken("<|end|>", 402))


def spec_of_tokens(tokens: Sequence[bytes], **fields: Any) -> TokenizerSpec:
    """The tokenizer of a rank table: the 256 bytes, then these tokens."""
    return spec_of_ranks({token: rank for rank, token in enumerate([*BYTES, *tokens])}, **fields)


def small_spec(**fields: Any) -> TokenizerSpec:
    """Bytes, some merges, a token whose part has a worse rank than itself, special tokens after a gap."""
    return spec_of_tokens(
        [b"ab", b"bca", b"ca", b" ab", b"\xe4\xb8", b"\xe4\xb8\xad"],
        **{"pattern": r"\s?\S+|\s", "unmatched": "keep", "added_tokens": SPECIALS} | fields,
    )


def spec_with_unreachable_token() -> TokenizerSpec:
    """`abcd` is only found as a whole piece: merging its bytes ends in `a`, `bc`, `d`."""
    spec = spec_of_tokens([b"bc", b"ab", b"cd", b"abcd"], pattern=r"\s?\S+|\s", unmatched="keep")
    assert spec.ignore_merges
    return spec


@st.composite
def rank_tables(draw: st.DrawFn, alphabet: bytes = b"abc", most: int = 25) -> list[bytes]:
    """Tokens in any order of rank: parts after wholes, wholes without parts."""
    tokens = st.lists(st.sampled_from(list(alphabet)), min_size=2, max_size=6).map(bytes)
    return draw(st.lists(tokens, unique=True, max_size=most))


def random_texts(alphabet: str, count: int, longest: int, seed: int = 0) -> list[str]:
    """The same texts for the same seed."""
    draw = random.Random(seed)
    return ["".join(draw.choices(alphabet, k=draw.randrange(longest))) for _ in range(count)]


def stock_tokenizer(spec: TokenizerSpec) -> tokenizers.Tokenizer:
    """A spec as the `tokenizers` library runs it."""
    return tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json.to_dict(spec)))


def write_json(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), "utf-8")
    return path
