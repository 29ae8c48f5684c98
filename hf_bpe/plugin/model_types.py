"""What transformers does with a tokenizer because of the model type in the config.json beside it."""

from __future__ import annotations

import importlib
import json

__all__ = ["AUTO_MODULE", "drift_warning", "rebuilding_class"]

AUTO_MODULE = "transformers.models.auto.tokenization_auto"


def rebuilding_class(model_type: str) -> str | None:
    """The class that the installed transformers forces on tokenizers of a model type and that builds them anew, or None.

    Such a class reads vocabulary and merges from tokenizer.json and takes normalizer and pre-tokenizer from its own source, so
    ids can differ without a word. Which types those are is asked of transformers' own tables; where these are gone or have
    another shape, the answer is None.

    >>> rebuilding_class("qwen2"), rebuilding_class("llama")  # doctest: +SKIP
    ('Qwen2Tokenizer', None)
    """
    try:
        auto = importlib.import_module(AUTO_MODULE)
        name = auto.TOKENIZER_MAPPING_NAMES.get(model_type)
        if name is None or model_type not in auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS:
            return None
        found = auto.tokenizer_class_from_name(name)
    except (ImportError, AttributeError, TypeError):
        return None
    return name if found is not None and "__init__" in vars(found) and found is not auto.TokenizersBackend else None


def drift_warning(config: bytes | None, where: str) -> str | None:
    """What to tell those who put a tokenizer beside this config.json, if anything. where: what is loaded, for the message."""
    try:
        model_type = json.loads(config or b"")["model_type"]
    except (ValueError, KeyError, TypeError):  # none, or not one that transformers could read either
        return None
    forced = rebuilding_class(model_type) if isinstance(model_type, str) else None
    if forced is None:
        return None
    return (
        f"the config.json there says model_type {model_type!r}, for which AutoTokenizer of the installed transformers builds a {forced} "
        'and drops how this tokenizer splits text: its ids may differ. Pass auto="remote-code": then '
        f"{where} keeps its ids, with trust_remote_code and without"
    )
