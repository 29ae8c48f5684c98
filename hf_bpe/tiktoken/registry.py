"""Encodings by name: those that tiktoken finds, plugins included, and files or specs registered here."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from types import EllipsisType
from typing import Any

import conversion
from hf_bpe.errors import EncodingError
from hf_bpe.spec import TokenizerSpec
from hf_bpe.tiktoken.core import Encoding

__all__ = ["ENCODINGS", "get_encoding", "list_encoding_names", "register_encoding"]

ENCODINGS: dict[str, Encoding] = {}
"""Those that were asked for so far."""

_registered: dict[str, Encoding] = {}
_lock = threading.RLock()


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding of a name, made at the first call and kept.

    Raises `EncodingError`, which is a `ValueError`, for an unknown name; `ConversionRefused` or `FormatError`, naming the encoding,
    for one whose pattern or ranks are not run here.

    >>> get_encoding("cl100k_base")  # doctest: +SKIP
    <Encoding 'cl100k_base'>
    """
    if not isinstance(encoding_name, str):
        raise EncodingError(f"Expected a string in get_encoding, got {type(encoding_name)}")
    known = ENCODINGS.get(encoding_name)
    if known is not None:
        return known
    with _lock:
        if encoding_name not in ENCODINGS:
            ENCODINGS[encoding_name] = _make(encoding_name)
        return ENCODINGS[encoding_name]


def _make(name: str) -> Encoding:
    if name in _registered:
        return _registered[name]
    if name not in tiktoken_names():
        raise EncodingError(
            f"Unknown encoding {name}.\nEncodings found: {list_encoding_names()}\nInstall the plugin of tiktoken that has it, or register a "
            "file with register_encoding"
        )
    from tiktoken import registry

    constructors = registry.ENCODING_CONSTRUCTORS or {}
    return Encoding(**constructors[name]())


def tiktoken_names() -> list[str]:
    """The names that tiktoken finds in `tiktoken_ext`. Raises `ValueError`, as tiktoken does, where its plugins contradict each other."""
    from tiktoken import registry

    return registry.list_encoding_names()


def __getattr__(name: str) -> Any:
    """Tiktoken's table, looked up each time: plugins are found, and tests put others in its place, after this module is imported."""
    if name != "ENCODING_CONSTRUCTORS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tiktoken import registry

    tiktoken_names()
    return registry.ENCODING_CONSTRUCTORS


def list_encoding_names() -> list[str]:
    """All names, tiktoken's first.

    >>> "cl100k_base" in list_encoding_names()
    True
    """
    return [*tiktoken_names(), *_registered]


def register_encoding(
    name: str,
    source: str | os.PathLike[str] | TokenizerSpec,
    *,
    pattern: str | EllipsisType | None = ...,
    special_tokens: Mapping[str, int] | None = None,
    replace: bool = False,
) -> None:
    """Let `get_encoding` find a tokenizer of your own, in this process.

    source: a file or folder in any format that `conversion.load` reads, with `pattern` and `special_tokens` as there; it is read now, so
    that no name is taken in vain. Or a spec, which has both already. replace: in place of one that was registered under this name.

    Raises `EncodingError` for a name that is taken (one name must not come to mean two things), for arguments of the wrong type, and
    for a pattern or special tokens beside a spec; what `conversion.load` and `Encoding.from_spec` raise.

    >>> from hf_bpe import train
    >>> register_encoding("pets", train(["cats and dogs, dogs and cats"], vocab_size=258, progress=False))
    >>> get_encoding("pets").n_vocab
    258
    """
    if not isinstance(name, str) or not name:
        raise EncodingError(f"an encoding is named by a text, not by {name!r}")
    with _lock:
        if name in tiktoken_names():
            raise EncodingError(f"there is an encoding {name!r} already, which tiktoken has; choose another name")
        if name in _registered and not replace:
            raise EncodingError(f"there is an encoding {name!r} already; choose another name, or pass replace=True")
        _registered[name] = Encoding.from_spec(_spec_of(name, source, pattern, special_tokens), name)
        ENCODINGS.pop(name, None)


def _spec_of(
    name: str,
    source: str | os.PathLike[str] | TokenizerSpec,
    pattern: str | EllipsisType | None,
    special_tokens: Mapping[str, int] | None,
) -> TokenizerSpec:
    if isinstance(source, TokenizerSpec):
        if pattern is not ... or special_tokens is not None:
            raise EncodingError(
                f"encoding {name!r}: a spec has its pattern and special tokens; give those with a file only, or change the spec by "
                "spec.replace(pattern=...) and spec.with_added_tokens(...)"
            )
        return source
    if not isinstance(source, str | os.PathLike):
        raise EncodingError(f"encoding {name!r}: its source is a path or a TokenizerSpec, not a {type(source).__name__}")
    if not (pattern is None or pattern is ... or isinstance(pattern, str)):
        raise EncodingError(f"encoding {name!r}: pattern is a text or None, not a {type(pattern).__name__}")
    if not (special_tokens is None or isinstance(special_tokens, Mapping)):
        raise EncodingError(f"encoding {name!r}: special_tokens maps text to id, and is no {type(special_tokens).__name__}")
    return conversion.load(source, pattern=pattern, special_tokens=special_tokens)
