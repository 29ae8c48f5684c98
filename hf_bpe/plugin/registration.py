"""Makes `AutoTokenizer.from_pretrained` give `HfBpeTokenizer` for the folders this package saved, and for no others.

Those folders name the stock class `PreTrainedTokenizerFast`, so that they load without this package too. A stand-in takes
that name in transformers' table of registered classes: it hands marked folders to `HfBpeTokenizer` and every other one to
the stock class. The table is not part of transformers' documented interface. Where it is missing or has changed its shape,
only `AutoTokenizer.register` is used: folders that name `HfBpeTokenizer` still give it, others give the stock class, with
the same ids.

Importing this module does not import transformers: `install_registration` registers at once where its auto classes are
loaded already, and else waits for their import.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from hf_bpe.errors import ConversionRefused
from hf_bpe.plugin.marker import MARKER
from hf_bpe.plugin.model_types import AUTO_MODULE

if TYPE_CHECKING:
    from importlib.abc import Loader

__all__ = ["install_registration", "register"]

ACCELERATE = "HF_BPE_ACCELERATE"
"""Environment variable: 1, true, yes or on means `register(accelerate=True)` as soon as this package is imported."""

_YES, _NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")

_STOCK_NAMES = ("PreTrainedTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend")
"""What a marked folder may name: what this package writes (AutoTokenizer drops "Fast"), or what stock classes make of it."""


def install_registration() -> None:
    """Register now, or as soon as transformers' auto classes are imported. Calling it again changes nothing."""
    if AUTO_MODULE in sys.modules:
        _register_or_warn()
    elif not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())


def _register_or_warn() -> None:
    wish = os.environ.get(ACCELERATE, "").strip().lower()
    if wish not in (*_YES, *_NO):
        warnings.warn(f"{ACCELERATE}={wish} has no effect; it must be 1 or 0", RuntimeWarning, stacklevel=2)
    try:
        register(accelerate=True if wish in _YES else None)
    except (ImportError, AttributeError, TypeError, ValueError) as error:  # neither import must fail for want of the other
        warnings.warn(f"AutoTokenizer will not give HfBpeTokenizer: {error!r}", RuntimeWarning, stacklevel=2)


def register(accelerate: bool | None = None) -> None:
    """Register `HfBpeTokenizer` with `AutoTokenizer`, importing transformers if need be.

    With transformers older than 5 it does nothing: the stock class loads the folders with the same ids.

    accelerate: True makes `AutoTokenizer` give our class for every tokenizer that it runs exactly, and the stock class for
        the rest; False ends that; None leaves it as it is. The ids are those of the stock tokenizer; see docs/huggingface.md.
    """
    _register_class()
    if accelerate is not None:
        from hf_bpe.plugin.acceleration import accelerate_auto_tokenizer

        accelerate_auto_tokenizer(accelerate)


@cache
def _register_class() -> None:
    auto = importlib.import_module(AUTO_MODULE)
    if not hasattr(auto, "TokenizersBackend"):  # 4.x
        return
    from hf_bpe.plugin.tokenization_hf_bpe import HfBpeTokenizer

    class HfBpeConfig(auto.PreTrainedConfig):  # type: ignore[misc, name-defined]
        """AutoTokenizer registers tokenizer classes by the configuration class of a model; no model has this one."""

        model_type = "hf_bpe"

    auto.AutoTokenizer.register(HfBpeConfig, slow_tokenizer_class=HfBpeTokenizer, exist_ok=True)
    table = getattr(auto, "REGISTERED_TOKENIZER_CLASSES", None)
    if isinstance(table, dict) and callable(getattr(auto, "get_tokenizer_config", None)):
        stand_in = _stand_in(auto, HfBpeTokenizer)
        for name in _STOCK_NAMES:
            table.setdefault(name, stand_in)


def _stand_in(auto: ModuleType, ours: Any) -> type:
    """The class that answers to the stock names. `auto`: transformers' module of auto tokenizers."""
    stock: Any = auto.TokenizersBackend

    def from_pretrained(cls: type, pretrained_model_name_or_path: Any, *inputs: Any, **kwargs: Any) -> Any:
        if MARKER in auto.get_tokenizer_config(pretrained_model_name_or_path, **kwargs):
            try:
                return ours.from_pretrained(pretrained_model_name_or_path, *inputs, **kwargs)
            except ConversionRefused as refusal:  # the mark survives when a stock class changes and saves a tokenizer
                warnings.warn(f"using {stock.__name__} instead of {ours.__name__}: {refusal}", RuntimeWarning, stacklevel=3)
        return stock.from_pretrained(pretrained_model_name_or_path, *inputs, **kwargs)

    # AutoTokenizer asks a class for its name and its module to tell transformers' own classes from others', and runs a
    # repository's own code only where it finds the former. The stand-in must not change that for folders it hands on.
    body = {"from_pretrained": classmethod(from_pretrained), "__module__": stock.__module__, "__doc__": _stand_in.__doc__}
    return type("HfBpeStandIn", (stock,), body)


class _AfterImport:
    """Calls `register` once, after the import of transformers' auto classes.

    A finder by its method alone: deriving from `importlib.abc` costs 10 ms at every import of this package.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != AUTO_MODULE:
            return None
        with contextlib.suppress(ValueError):  # another thread was faster
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisteringLoader(spec.loader)  # type: ignore[assignment]
        return spec


class _RegisteringLoader:
    """Loads a module with its own loader, then calls `register`."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader  # what others see of the module is as if nobody had listened
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _register_or_warn()
