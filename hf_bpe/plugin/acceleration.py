"""Gives `HfBpeTokenizer` in place of the stock tokenizers that `AutoTokenizer` makes, where it does exactly what they do.

What a stock tokenizer does is not always what its tokenizer.json says: for some model types transformers builds it anew, and
settings and tokens come from half a dozen files. So the stock tokenizer is made first, and ours out of what the stock one holds
then, its backend and its settings. That costs a second reading, some 0.4 s for 128,000 tokens, and no rule of transformers has to be
known here. Reading the folder ourselves would be faster and right only until the next release of transformers.
"""

from __future__ import annotations

import importlib
import json
from types import FunctionType
from typing import Any

from hf_bpe.errors import ConversionRefused, FormatError
from hf_bpe.plugin.loading import read_document
from hf_bpe.plugin.model_types import AUTO_MODULE
from hf_bpe.plugin.saving import IN_FORCE, LEFT_OUT

__all__ = ["accelerate_auto_tokenizer", "accelerated"]

_MARK = "hf_bpe_stock"
_ARGUMENTS_OF_THE_BACKEND = frozenset(
    {"vocab", "merges", "tokenizer_object", "post_processor", "add_prefix_space", "from_slow"}
)


def accelerate_auto_tokenizer(wanted: bool) -> None:
    """Let `AutoTokenizer.from_pretrained` give our class where it can; or, not `wanted`, no longer. Does nothing before transformers 5."""
    auto = importlib.import_module(AUTO_MODULE)
    if not hasattr(auto, "TokenizersBackend"):
        return
    present = vars(auto.AutoTokenizer)["from_pretrained"]
    stock = getattr(present.__func__, _MARK, None)
    if wanted and stock is None:
        auto.AutoTokenizer.from_pretrained = classmethod(_accelerating(present))
    elif not wanted and stock is not None:
        auto.AutoTokenizer.from_pretrained = stock


def _accelerating(stock: Any) -> Any:
    def from_pretrained(cls: type, *inputs: Any, **kwargs: Any) -> Any:
        return accelerated(stock.__func__(cls, *inputs, **kwargs))

    from_pretrained.__doc__ = stock.__func__.__doc__
    setattr(from_pretrained, _MARK, stock)
    return from_pretrained


def accelerated(stock: Any) -> Any:
    """Our class where it does what a stock tokenizer does; else that tokenizer itself.

    Left alone are tokenizers without a backend of the `tokenizers` library, those whose class has methods of its own (Whisper,
    NLLB, ...), and those whose backend cannot be run exactly.
    """
    from transformers import PreTrainedTokenizerFast

    from hf_bpe.plugin.tokenization_hf_bpe import HfBpeTokenizer

    if not isinstance(stock, PreTrainedTokenizerFast) or _has_methods_of_its_own(type(stock), PreTrainedTokenizerFast):
        return stock
    try:
        loaded = read_document(json.loads(stock.backend_tokenizer.to_str()), stock.name_or_path)
        ours = HfBpeTokenizer(loaded=loaded, **_arguments(stock))
    except (ConversionRefused, FormatError):
        return stock
    return ours if _is_like(ours, stock) else stock


def _has_methods_of_its_own(given: type, base: type) -> bool:
    above = given.__mro__[: given.__mro__.index(base)]
    return any(
        isinstance(value, (FunctionType, classmethod, staticmethod, property)) and name != "__init__"
        for cls in above
        for name, value in vars(cls).items()
    )


def _arguments(stock: Any) -> dict[str, Any]:
    """The settings of a tokenizer, as arguments that give another the same."""
    settings = {name: value for name, value in stock.init_kwargs.items() if name not in LEFT_OUT | _ARGUMENTS_OF_THE_BACKEND}
    settings |= {name: None for name in settings if name in stock.SPECIAL_TOKENS_ATTRIBUTES}
    settings |= {name: getattr(stock, name) for name in IN_FORCE}
    settings |= {name: token for name, token in stock._special_tokens_map.items() if token is not None}
    return settings | {"extra_special_tokens": list(stock._extra_special_tokens), "name_or_path": stock.name_or_path}


def _is_like(ours: Any, stock: Any) -> bool:
    """Whether nothing was added or changed in the making of it."""
    return bool(
        len(ours) == len(stock)
        and ours.added_tokens_decoder == stock.added_tokens_decoder
        and ours.special_tokens_map == stock.special_tokens_map
        and ours.all_special_ids == stock.all_special_ids
    )
