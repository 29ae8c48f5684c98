"""Every edit of every kind of vocabulary keeps its promise, in our engine and in stock classes of transformers.

The vocabularies are cut down here; `python -m tests.fuzz edits` takes them whole.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import hf_bpe
from hf_bpe import NAMED_PATTERNS, AddedToken, TokenizerSpec
from tests.editing.test_prune import TEXTS
from tests.fuzz.edits import EDITS
from tests.support.vocabularies import cl100k_ranks, gpt2_spec, spec_of_ranks


def small_gpt2() -> TokenizerSpec:
    spec = gpt2_spec()
    merges = spec.merges[:3000]
    tokens = {bytes([byte]) for byte in range(256)} | {left + right for left, right in merges}
    vocab = {token: token_id for token, token_id in spec.vocab.items() if token in tokens}
    return spec.replace(vocab=vocab, merges=merges)


def small_ranks(pattern: str, *whole: bytes) -> TokenizerSpec:
    """The first ranks of cl100k, and tokens that no merge makes: those are found only as whole pieces."""
    ranks = {token: rank for token, rank in cl100k_ranks().items() if rank < 4000}
    ranks |= {token: 4000 + number for number, token in enumerate(whole)}
    end = AddedToken("<|end_of_text|>", 4100)
    return spec_of_ranks(ranks, pattern=NAMED_PATTERNS[pattern].pattern, added_tokens=(end,))


def small_llama2() -> TokenizerSpec:
    """With the rules of Llama 2, which its stock class has by itself."""
    return hf_bpe.train(TEXTS[::2], 900, dialect="sentencepiece", preset="llama2", progress=False)


VOCABULARIES = {
    "gpt2": small_gpt2,
    "cl100k": lambda: small_ranks("cl100k"),
    "llama3-style": lambda: small_ranks("llama3", b" unreachable", b"Xylophon", b"\xd0\xb1\xd1\x83\xd0\xbb\xd0\xba"),
    "sentencepiece": small_llama2,
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", VOCABULARIES)
def test_texts_that_an_edit_does_not_concern_keep_their_ids(name: str, edit: str, tmp_path: Path) -> None:
    spec = VOCABULARIES[name]()
    assert spec.ignore_merges == (name == "llama3-style")
    as_before, changed = EDITS[edit](spec, TEXTS[::6], tmp_path)
    assert as_before > 0
    assert changed > 0
