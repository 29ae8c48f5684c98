"""Methods other than a call: decoding, tokens and ids, padding, and what a tokenizer says of itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.fuzz.calls.differences import outcome, same, same_tokens
from tests.fuzz.calls.pairs import Pair
from tests.fuzz.calls.requests import random_text

_FACTS: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "vocab_size": lambda tokenizer: tokenizer.vocab_size,
    "get_vocab": lambda tokenizer: tokenizer.get_vocab(),
    "get_added_vocab": lambda tokenizer: tokenizer.get_added_vocab(),
    "added_tokens_decoder": lambda tokenizer: tokenizer.added_tokens_decoder,
    "special_tokens_map": lambda tokenizer: tokenizer.special_tokens_map,
    "all_special_tokens": lambda tokenizer: tokenizer.all_special_tokens,
    "all_special_ids": lambda tokenizer: tokenizer.all_special_ids,
    "num_special_tokens_to_add": lambda tokenizer: [tokenizer.num_special_tokens_to_add(pair) for pair in (False, True)],
    "is_fast": lambda tokenizer: tokenizer.is_fast,
    "pad_token_id": lambda tokenizer: tokenizer.pad_token_id,
}


def difference_of_vocabularies(pair: Pair) -> str | None:
    """What two tokenizers say differently of themselves."""
    for name, ask in _FACTS.items():
        ours, stock = ask(pair.ours), ask(pair.stock)
        if isinstance(ours, dict) and ours != stock:
            ours, stock = dict(ours.items() - stock.items()), dict(stock.items() - ours.items())
        if ours != stock:
            return f"{name}: {ours!r:.500} here, {stock!r:.500} there"
    return None


def difference_of_methods(pair: Pair, generator: random.Random) -> str | None:
    """What one random method of both gives differently."""
    text = random_text(generator, pair.contents)
    ids = pair.ours.encode(text)
    if generator.random() < 0.5:
        ids = [generator.randrange(len(pair.ours) + 3) for _ in range(generator.randrange(9))]
    skip = {"skip_special_tokens": generator.random() < 0.5}
    tokens = pair.ours.convert_ids_to_tokens(ids)
    rows = [generator.choices(range(9), k=generator.randrange(1, 6)) for _ in range(3)]
    choices: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("decode", (ids,), skip),
        ("batch_decode", ([ids, ids[:1]],), skip),
        ("decode", (ids[0] if ids else 0,), skip),
        ("convert_ids_to_tokens", (ids,), skip),
        ("convert_tokens_to_ids", ([*[token for token in tokens if token is not None], text],), {}),
        ("tokenize", (text,), {"add_special_tokens": generator.random() < 0.5}),
        ("encode", (text,), {"add_special_tokens": generator.random() < 0.5}),
        ("get_special_tokens_mask", (ids,), {"already_has_special_tokens": True}),
        ("pad", ({"input_ids": rows},), {"padding_side": generator.choice(("left", "right", None)), "pad_to_multiple_of": 4}),
    ]
    name, arguments, options = generator.choice(choices)
    ours, stock = (outcome(getattr(tokenizer, name), arguments, options) for tokenizer in (pair.ours, pair.stock))
    if isinstance(ours, BaseException) and isinstance(stock, BaseException):
        return None
    names_tokens = name in ("tokenize", "convert_ids_to_tokens")
    if (same_tokens(pair, ours, stock) if names_tokens else same(ours, stock)) or _is_listed(pair, name, stock):
        return None
    if name in ("tokenize", "encode") and pair.leaves_control(text, split=False):
        return None
    return f"tokenizer.{name}(*{arguments!a}, **{options}): {ours!a} here, {stock!a} there"


def _is_listed(pair: Pair, name: str, stock: Any) -> bool:
    """Whether docs/transformers.md lists it: a panic, an added token that is not decoded to its own text, byte pieces that are no UTF-8."""
    if isinstance(stock, BaseException) and "AddedVocabulary bad split" in str(stock):
        return True  # two added tokens that take along the same white space
    if "decode" not in name:
        return False
    if isinstance(stock, BaseException):
        return pair.rules is not None and pair.rules.treat_whitespace_as_suffix and "out of bounds: the len is 0" in str(stock)
    is_no_text = pair.rules is not None and pair.rules.byte_fallback and "\ufffd" in "".join(stock)
    return is_no_text or not pair.decodes_added_alike
