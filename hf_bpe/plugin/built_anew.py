"""Tokenizers whose files leave out what only a class of transformers knows: vocab.json and merges.txt of Qwen2, RoBERTa, ..."""

from __future__ import annotations

from typing import Any

from hf_bpe.errors import ConversionRefused
from hf_bpe.plugin.acceleration import made_of
from hf_bpe.plugin.origin import Origin

__all__ = ["built_anew"]


def built_anew(origin: Origin, named: str, ours: Any) -> Any:
    """What `AutoTokenizer` builds of such files, as our class (`ours`). named: what they say builds it, for messages.

    Raises `ConversionRefused` where nothing is built, or what is built cannot be run exactly.
    """
    from transformers import AutoTokenizer

    what = f"{origin.name}: it holds vocab.json and merges.txt, and how {named!r} runs them stands in no file"
    advice = "Add a tokenizer.json, or pass pattern=, which is 'gpt2' if it splits as GPT-2 does"
    arguments = {
        "trust_remote_code": False,
        **origin.settings,
        **origin.hub,
    }  # without an answer, transformers asks at the terminal
    try:
        stock = AutoTokenizer.from_pretrained(origin.name, **arguments)
    except (ValueError, OSError, ImportError, KeyError, TypeError, AttributeError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise ConversionRefused(f"{what}; AutoTokenizer does not build it: {why}. {advice}") from error
    try:
        return stock if isinstance(stock, ours) else made_of(stock, ours)
    except ConversionRefused as refusal:
        raise ConversionRefused(f"{what}. {refusal}. AutoTokenizer loads it") from None
