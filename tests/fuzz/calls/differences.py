"""What the results of one call in both classes do not agree on."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tests.fuzz.calls.pairs import Pair

ATTRIBUTES = (
    "ids",
    "type_ids",
    "offsets",
    "word_ids",
    "words",
    "attention_mask",
    "special_tokens_mask",
    "sequence_ids",
    "n_sequences",
)


def outcome(call: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """What a call gives or raises."""
    try:
        return call(*arguments, **options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # stock panics with what is no Exception
        return error


def same(ours: Any, stock: Any) -> bool:
    """Whether two values are equal, arrays with their kinds."""
    if isinstance(stock, np.ndarray) and stock.dtype == object:
        return isinstance(ours, np.ndarray) and [np.array(row).tolist() for row in ours] == [
            np.array(row).tolist() for row in stock
        ]
    if isinstance(stock, np.ndarray):
        return (
            isinstance(ours, np.ndarray)
            and (ours.dtype, ours.shape) == (stock.dtype, stock.shape)
            and bool((ours == stock).all())
        )
    return bool(ours == stock)


def difference(pair: Pair, arguments: tuple[Any, ...], options: dict[str, Any], generator: random.Random) -> str | None:
    """What is not the same, but for what docs/transformers.md lists."""
    ours, stock = (outcome(tokenizer, arguments, {**options, "verbose": False}) for tokenizer in (pair.ours, pair.stock))
    if isinstance(ours, BaseException) or isinstance(stock, BaseException):
        return _difference_of_errors(ours, stock, arguments, options)
    if list(ours) != list(stock):
        return f"columns {list(ours)} here, {list(stock)} there"
    passed_over = _passed_over(pair, arguments)
    for name in stock:
        if name not in passed_over and not same(ours[name], stock[name]):
            return f"[{name!r}]: {_shown(ours[name], stock[name])}"
    if len(ours.encodings) != len(stock.encodings):
        return f"{len(ours.encodings)} encodings here, {len(stock.encodings)} there"
    pairs = list(zip(ours.encodings, stock.encodings, strict=True))
    if not options.get("return_overflowing_tokens"):  # else they are rows already, and stock has them once more in each
        for one, other in list(pairs):
            if len(one.overflowing) != len(other.overflowing):
                return f".overflowing: {len(one.overflowing)} here, {len(other.overflowing)} there"
            pairs += zip(one.overflowing, other.overflowing, strict=True)
    chosen = [*range(min(len(pairs), 4)), *generator.sample(range(len(pairs)), min(len(pairs), 4))]  # there may be thousands
    found = (
        f".encodings[{number}]{one}"
        for number, encodings in ((number, pairs[number]) for number in chosen)
        for one in _differences(pair, *encodings, passed_over, generator)
    )
    return next(found, None)


def _passed_over(pair: Pair, arguments: tuple[Any, ...]) -> frozenset[str]:
    names: tuple[str, ...] = ()
    if pair.holds_spaced_piece(arguments) or pair.trims_otherwise(arguments):
        names += ("offset_mapping", "offsets", "char_to_token", "char_to_word", "token_to_chars", "word_to_chars")
    if pair.holds_unmade_piece(arguments):
        names += ("word_ids", "words", "char_to_word", "token_to_word", "word_to_chars", "word_to_tokens")
    if pair.has_types_of_its_own:
        names += ("token_type_ids", "type_ids")
    if pair.numbers_pieces:
        names += ("sequence_ids", "n_sequences", "token_to_sequence", "token_to_chars", "token_to_word")
        names += ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars")
    return frozenset(names)


def _differences(pair: Pair, ours: Any, stock: Any, passed_over: Collection[str], generator: random.Random) -> Iterator[str]:
    """What two encodings do not agree on."""
    asked: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(3):
        number, sequence = generator.randrange(12), generator.choice((0, 0, 1))
        asked += [(name, (number, sequence)) for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars")]
        if number < len(stock):
            asked += [(name, (number,)) for name in ("token_to_chars", "token_to_word", "token_to_sequence")]
    answers = [(name, "", getattr(ours, name), getattr(stock, name)) for name in ATTRIBUTES]
    answers += [(name, str(given), getattr(ours, name)(*given), getattr(stock, name)(*given)) for name, given in asked]
    for name, given, found, expected in answers:
        if name not in passed_over and found != expected:
            yield f".{name}{given}: {_shown(found, expected)}"
    if not same_tokens(pair, ours.tokens, stock.tokens):
        yield f".tokens: {ours.tokens} here, {stock.tokens} there"


def _shown(ours: Any, stock: Any) -> str:
    """Two values; of long ones, where they begin to differ."""
    at = 0
    if isinstance(ours, list) and isinstance(stock, list) and len(ours) == len(stock) > 9:
        at = max(next((n for n, (a, b) in enumerate(zip(ours, stock, strict=True)) if a != b), 0) - 3, 0)
        ours, stock = ours[at : at + 9], stock[at : at + 9]
    return f"from {at} on {ours!a} here, {stock!a} there"


def same_tokens(pair: Pair, ours: Sequence[str | None], stock: Sequence[str | None]) -> bool:
    """Whether two lists mean the same tokens: stock has added tokens with the space they took along, or normalised, and those that
    merging made spelled as bytes.
    """
    named = [(content, content) for content in pair.contents] + list(pair.renamed.items())

    def is_same(mine: str | None, theirs: str | None) -> bool:
        if mine == theirs or mine is None or theirs is None:
            return mine == theirs
        if theirs.isspace():  # such a token with more white space that it took along: which one it was cannot be told
            return mine.isspace()
        meant = [
            content for name, content in named if name.strip() == theirs.strip()
        ]  # two, if one is spelled as the other is normalised
        return pair.ours.convert_tokens_to_ids(mine) in pair.ours.convert_tokens_to_ids(meant or [theirs])

    return not isinstance(stock, BaseException) and len(ours) == len(stock) and all(map(is_same, ours, stock))


def _difference_of_errors(ours: Any, stock: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    if isinstance(ours, BaseException) and not isinstance(ours, (ValueError, TypeError)):
        return f"raised {ours!r}"
    if isinstance(ours, BaseException) and isinstance(stock, BaseException):
        return None
    if isinstance(ours, BaseException):
        return f"raised {ours!r}, stock gave {dict(stock)}"
    return None if _is_accident(stock, arguments, options) else f"gave {dict(ours)}, stock raised {stock!r}"


def _is_accident(error: BaseException, arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Stock stops where there is nothing wrong."""
    if isinstance(error, IndexError):
        return [] in arguments  # an empty batch
    if "AddedVocabulary bad split" in str(error):
        return True  # two added tokens that take along the same white space
    # It counts special tokens that were not asked for.
    return "effective max length" in str(error) and options.get("add_special_tokens") is False
