"""transformers: our class for it, `AutoTokenizer` as it is without us, and `PreTrainedTokenizerFast`.

The two stock ones need not agree: for some model types in config.json transformers 5 builds the tokenizer anew from the class of
that type and takes no more than the vocabulary from tokenizer.json. So what is compared is what stands in memory afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from conversion.huggingface import TOKENIZER_FILE
from conversion.verification.loaders.files import library, named
from conversion.verification.loaders.huggingface_tokenizers import described, pieces_of
from conversion.verification.side import AS_SPECIAL, AS_TEXT, WITH_TEMPLATE, Ids, Side
from hf_bpe.errors import HfBpeError, LoaderError

__all__ = ["load_fast", "load_plugin", "load_stock"]

_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
_AUTO_MODULE = "transformers.models.auto.tokenization_auto"


def load_plugin(source: str) -> Side:
    """HfBpeTokenizer."""
    library("transformers", "transformers")
    tokenizer = _from_pretrained(library("hf_bpe.plugin", "hf-bpe").HfBpeTokenizer, source, "HfBpeTokenizer")
    return _side(tokenizer, source, "plugin", {"spec": tokenizer.spec, "nearest": tokenizer.spec, "engine": "hf_bpe"})


def load_stock(source: str) -> Side:
    """What AutoTokenizer makes of a folder where this package is not installed."""
    auto = library(_AUTO_MODULE, "transformers")
    with _nothing_registered(auto):
        tokenizer = _from_pretrained(auto.AutoTokenizer, source, "AutoTokenizer")
    return _stock_side(tokenizer, source, "stock")


def load_fast(source: str) -> Side:
    """What PreTrainedTokenizerFast makes of a folder, or of a tokenizer.json alone."""
    cls = library("transformers", "transformers").PreTrainedTokenizerFast
    if Path(source).is_file():
        tokenizer = cls(tokenizer_file=source)
    else:
        tokenizer = _from_pretrained(cls, source, "PreTrainedTokenizerFast")
    return _stock_side(tokenizer, source, "fast")


def _from_pretrained(cls: Any, source: str, name: str) -> Any:
    path = Path(source)
    folder = path.parent if path.is_file() and path.name == TOKENIZER_FILE else path
    # A name that is no path is a repository's, and nothing else may be sent to the Hub: it would be asked for, again and again.
    if not folder.exists() and not _REPOSITORY.fullmatch(source):
        raise LoaderError(
            f"{source}: there is no such file or folder, and it is no name of a repository, which is owner/name (such as "
            "openai-community/gpt2)"
        )
    try:
        return (
            cls.from_pretrained(str(folder.resolve()), local_files_only=True) if path.exists() else cls.from_pretrained(source)
        )
    except HfBpeError:
        raise
    except Exception as error:  # noqa: BLE001 - transformers raises whatever its parts raise, tokenizers bare Exception
        raise LoaderError(f"{source}: {name} does not load it: {error}") from None


@contextmanager
def _nothing_registered(auto: Any) -> Iterator[None]:
    """Transformers as if nobody had registered a tokenizer class, this package for one."""
    tables = [getattr(auto, "REGISTERED_TOKENIZER_CLASSES", {}), getattr(auto.TOKENIZER_MAPPING, "_extra_content", {})]
    before = [dict(table) for table in tables]
    for table in tables:
        table.clear()
    try:
        yield
    finally:
        for table, content in zip(tables, before, strict=True):
            table.update(content)


def _stock_side(tokenizer: Any, source: str, loader: str) -> Side:
    backend = getattr(tokenizer, "_tokenizer", None)
    if backend is None or not hasattr(backend, "to_str"):  # a class in Python, which shows nothing of how it works
        unsaid = f"{type(tokenizer).__name__} does not say how it splits and merges"
        return _side(tokenizer, source, loader, {"spec": None, "nearest": None, "unsaid": unsaid, "engine": "transformers"})
    fields = described(backend, source)
    fields["parts"]["clean_up_tokenization_spaces"] = bool(tokenizer.clean_up_tokenization_spaces)
    return _side(tokenizer, source, loader, {"pieces": pieces_of(backend), "engine": "tokenizers", **fields})


def _side(tokenizer: Any, source: str, loader: str, fields: dict[str, Any]) -> Side:
    def encode(texts: Sequence[str], *, specials_are_text: bool = False, template: bool = False) -> Ids:
        if not texts:
            return []
        found = tokenizer(
            list(texts),
            add_special_tokens=template,
            split_special_tokens=specials_are_text,
            return_attention_mask=False,
            return_token_type_ids=False,
            padding=False,
            truncation=False,
            verbose=False,
        )
        ids: Ids = found["input_ids"]
        return ids

    return Side(
        source=Path(source).name or source,
        loader=loader,
        library=f"{named('transformers')} ({type(tokenizer).__name__})",
        readings={
            AS_TEXT: partial(encode, specials_are_text=True),
            AS_SPECIAL: encode,
            WITH_TEMPLATE: partial(encode, template=True),
        },
        decode=lambda rows: [tokenizer.decode(list(ids), skip_special_tokens=False) for ids in rows],
        **fields,
    )
