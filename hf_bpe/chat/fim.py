"""Fill in the middle: a document is shown to a model without its middle, which it writes last.

As in "Efficient Training of Language Models to Fill in the Middle" (Bavarian et al., 2022): `psm` puts prefix, suffix, middle
in this order; `spm` puts the suffix first, in the variant in which the token of the prefix still comes first of all, so that
one model learns both.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from hf_bpe.engine import Encoder
from hf_bpe.errors import UnknownTokenError

__all__ = ["FIM_TOKENS", "FimTokens", "Order", "fim_example", "fim_prompt", "split_for_fim", "with_random_fim"]

Order: TypeAlias = Literal["psm", "spm"]


@dataclass(frozen=True)
class FimTokens:
    """The special tokens before the prefix, the suffix and the middle, and the one that ends the middle, if there is one."""

    prefix: str
    suffix: str
    middle: str
    end: str | None = None


FIM_TOKENS: Mapping[str, FimTokens] = MappingProxyType(
    {
        "starcoder": FimTokens("<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<|endoftext|>"),
        "qwen": FimTokens("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|endoftext|>"),
        "deepseek": FimTokens("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>", "<｜end▁of▁sentence｜>"),
        "codellama": FimTokens("▁<PRE>", "▁<SUF>", "▁<MID>", "▁<EOT>"),
        "openai": FimTokens("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|endoftext|>"),
    }
)
"""The tokens of published models."""


def fim_prompt(
    encoder: Encoder, prefix: str, suffix: str, tokens: str | FimTokens = "starcoder", *, order: Order = "psm"
) -> list[int]:
    """Ids after which a model writes what stands between prefix and suffix. No special token in them is one.

    >>> fim_prompt(encoder, "def f(", "): pass", "openai")  # doctest: +SKIP
    [100258, 755, 282, 7, 100260, 1680, 1522, 100259]
    """
    before, ids_prefix = _id_of(encoder, tokens, "prefix"), encoder.encode_ordinary(prefix)
    between, ids_suffix = _id_of(encoder, tokens, "suffix"), _continued(encoder, suffix)
    middle = _id_of(encoder, tokens, "middle")
    if order == "psm":
        return [before, *ids_prefix, between, *ids_suffix, middle]
    if order == "spm":
        return [before, between, *ids_suffix, middle, *ids_prefix]
    raise ValueError(f"order is {order!r}; it must be 'psm' or 'spm'")


def fim_example(
    encoder: Encoder,
    prefix: str,
    middle: str,
    suffix: str,
    tokens: str | FimTokens = "starcoder",
    *,
    order: Order = "psm",
    end: bool = True,
) -> list[int]:
    """Ids to train on: `fim_prompt`, the middle, and the token that ends it unless `end` is False or there is none.

    >>> fim_example(encoder, "a", "b", "c", "openai")  # doctest: +SKIP
    [100258, 64, 100260, 66, 100259, 65, 100257]
    """
    ids = [*fim_prompt(encoder, prefix, suffix, tokens, order=order), *_continued(encoder, middle)]
    return [*ids, _id_of(encoder, tokens, "end")] if end and _set(tokens).end is not None else ids


def split_for_fim(text: str, randomness: random.Random | int) -> tuple[str, str, str]:
    """A text cut at two places, each as likely as any other: prefix, middle, suffix. `randomness`: a generator, or a seed.

    >>> split_for_fim("abcdef", 1)
    ('a', 'bcd', 'ef')
    """
    chance = _generator(randomness)
    first, second = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
    return text[:first], text[first:second], text[second:]


def with_random_fim(
    encoder: Encoder,
    document: str,
    randomness: random.Random | int,
    tokens: str | FimTokens = "starcoder",
    *,
    rate: float = 0.5,
    spm_rate: float = 0.5,
    end: bool = True,
) -> list[int]:
    """Ids of a document to train on: with probability `rate` cut in three (`spm_rate` of those in the order `spm`), else whole.

    Cutting happens in the document, at characters, and before encoding, so that the model sees words cut in two as it will in
    an editor. Give all documents one generator, or each a seed of its own. `end`: put the token that ends a middle behind
    both kinds.

    >>> with_random_fim(encoder, "def f(): pass", randomness=7, tokens="openai")  # doctest: +SKIP
    [100258, 755, 100260, 368, 25, 1522, 100259, 282, 100257]
    """
    for name, chance_of in (("rate", rate), ("spm_rate", spm_rate)):
        if not 0 <= chance_of <= 1:
            raise ValueError(f"{name} is {chance_of!r}; a probability lies between 0 and 1")
    chance = _generator(randomness)
    if chance.random() >= rate:
        ids = encoder.encode_ordinary(document)
        return [*ids, _id_of(encoder, tokens, "end")] if end and _set(tokens).end is not None else ids
    order: Order = "spm" if chance.random() < spm_rate else "psm"
    prefix, middle, suffix = split_for_fim(document, chance)
    return fim_example(encoder, prefix, middle, suffix, tokens, order=order, end=end)


def _generator(randomness: random.Random | int) -> random.Random:
    return randomness if isinstance(randomness, random.Random) else random.Random(randomness)  # noqa: S311


def _set(tokens: str | FimTokens) -> FimTokens:
    if isinstance(tokens, FimTokens):
        return tokens
    if tokens not in FIM_TOKENS:
        raise ValueError(f"no set of tokens is named {tokens!r}; there are {', '.join(FIM_TOKENS)}, or pass FimTokens(...)")
    return FIM_TOKENS[tokens]


def _id_of(encoder: Encoder, tokens: str | FimTokens, role: Literal["prefix", "suffix", "middle", "end"]) -> int:
    content = getattr(_set(tokens), role)
    token_id = encoder.spec.token_id(content.encode())
    if token_id is None:
        raise UnknownTokenError(
            f"this vocabulary lacks {content!r}, the token of the {role}; choose another set of tokens, or add it to the spec"
        )
    return token_id


def _continued(encoder: Encoder, text: str) -> list[int]:
    """Ids of a text that goes on where another stopped: a SentencePiece model puts no space before it."""
    rules = encoder.spec.sentencepiece
    if rules is None or rules.prepend_scheme == "never":
        return encoder.encode_ordinary(text)
    return _without_prefix(encoder).encode_ordinary(text)


@lru_cache(4)
def _without_prefix(encoder: Encoder) -> Encoder:
    rules = encoder.spec.sentencepiece
    if rules is None:
        return encoder
    engine: Literal["native", "reference"] = "native" if encoder.engine == "native" else "reference"
    return Encoder(encoder.spec.replace(sentencepiece=replace(rules, prepend_scheme="never")), engine=engine)
