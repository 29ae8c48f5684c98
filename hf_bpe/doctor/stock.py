"""tokenizer.json as the `tokenizers` library loads it: what it refuses, and what it makes of the ids in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["StockTokenizer", "load_stock", "regex_error"]


@dataclass(frozen=True)
class StockTokenizer:
    """The loaded tokenizer, or why there is none."""

    tokenizer: Any
    refusal: str | None


def load_stock(text: str) -> StockTokenizer:
    """Load the text of a tokenizer.json."""
    import tokenizers

    try:
        return StockTokenizer(tokenizers.Tokenizer.from_str(text), None)
    except BaseException as error:  # noqa: BLE001  a plain Exception, or a PanicException, which is no Exception at all
        return StockTokenizer(None, _message(error))


def regex_error(pattern: str) -> str | None:
    """Why Oniguruma, the engine of `tokenizers`, does not take a regular expression, or None.

    >>> regex_error(r"\\s+"), regex_error("(")
    (None, 'end pattern with unmatched parenthesis')
    """
    import tokenizers

    try:
        tokenizers.Regex(pattern)
    except BaseException as error:  # noqa: BLE001  as above
        return _message(error)
    return None


def _message(error: BaseException) -> str:
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error  # Ctrl-C
    return str(error).strip().rstrip(".") or type(error).__name__
