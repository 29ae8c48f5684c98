"""The names that the common architectures give the tensors with a row for each id. What stands before a name is any prefix."""

from __future__ import annotations

import re

__all__ = ["BIAS", "EMBEDDING", "HEAD", "has_row_for_each_id"]

EMBEDDING = re.compile(
    r"(^|\.)(embed_tokens|embed_tokens_per_layer|wte|word_embeddings|word_embedding|tok_embeddings|tokens_embed|embed_in|shared"
    r"|(backbone|rwkv)\.embeddings)\.weight$"
)
"""Rows that ids are looked up in."""

HEAD = re.compile(
    r"(^|\.)(lm_head|lm_head\.linear|lm_head\.decoder|embed_out|output|output_layer|shared_head\.head|cls\.predictions\.decoder)"
    r"\.weight$"
)
"""Rows that give the logit of an id."""

BIAS = re.compile(
    r"(^|\.)((lm_head|lm_head\.linear|lm_head\.decoder|embed_out|output|cls\.predictions|cls\.predictions\.decoder|lm_head)\.bias"
    r"|final_logits_bias)$"
)
"""One number for each id, added to its logit."""


def has_row_for_each_id(name: str) -> bool:
    """Whether a matrix of this name has a row for each id.

    >>> has_row_for_each_id("model.embed_tokens.weight"), has_row_for_each_id("model.norm.weight")
    (True, False)
    """
    return bool(EMBEDDING.search(name) or HEAD.search(name))
