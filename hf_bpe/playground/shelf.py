"""The tokenizers that the page offers: those given at the start, and those that visitors upload."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from hf_bpe.analysis import Vocabulary
from hf_bpe.analysis.card import Cards
from hf_bpe.engine import Encoder
from hf_bpe.errors import PlaygroundError
from hf_bpe.spec import TokenizerSpec

__all__ = ["OwnTemplate", "Shelf", "Shown", "name_of"]

OwnTemplate: TypeAlias = tuple[str | None, Mapping[str, Any]]
"""A chat template, or None, and special tokens by role: what `own_template` finds."""

_UPLOADS_KEPT = 8
"""A vocabulary of 200,000 tokens takes some 60 MB; whoever uploads more loses the one that was not used for longest."""

_NO_TEMPLATE: OwnTemplate = (None, {})


@dataclass(frozen=True)
class Shown:
    """A tokenizer on the page. key: how the page asks for it. origin: where it came from, for its title. chat: its own template. load: makes
    its description, when it is first looked at.

    first: whether it is shown before anybody has chosen. extended: the same with the special tokens of ready chat templates, by their names, once somebody has asked for that.
    """

    key: str
    name: str
    origin: str
    load: Callable[[], TokenizerSpec]
    chat: OwnTemplate = _NO_TEMPLATE
    first: bool = False
    extended: dict[str, Vocabulary] = field(default_factory=dict, compare=False)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its tokens, and what encodes with them. Raises what `load` raises."""
        return Vocabulary(Encoder(self.load()))

    @property
    def spec(self) -> TokenizerSpec:
        """What it consists of."""
        return self.vocabulary.encoder.spec

    @cached_property
    def cards(self) -> Cards:
        """What is known of each token by itself. Its tables take half a second, when the first card is asked for."""
        return Cards(self.vocabulary)


@dataclass
class Shelf:
    """Tokenizers by key. Uploaded ones have keys that cannot be guessed, so visitors of one server do not see each other's."""

    _given: dict[str, Shown] = field(default_factory=dict)
    _uploaded: OrderedDict[str, Shown] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(
        self,
        name: str,
        load: Callable[[], TokenizerSpec],
        origin: str,
        chat: OwnTemplate = _NO_TEMPLATE,
        *,
        first: bool = False,
    ) -> Shown:
        """Offer a tokenizer to everybody. One of a name that is taken gets a number behind it."""
        free = _free_name(name, [shown.name for shown in self._given.values()])
        shown = Shown(f"t{len(self._given)}", free, origin, load, chat, first)
        self._given[shown.key] = shown
        return shown

    def upload(self, name: str, spec: TokenizerSpec, origin: str, chat: OwnTemplate, beside: Iterable[str] = ()) -> Shown:
        """Offer a tokenizer to whom is told its key. beside: the names on that page already."""
        key = secrets.token_urlsafe(18)
        shown = Shown(key, _free_name(name, beside), origin, lambda: spec, chat)
        with self._lock:
            self._uploaded[key] = shown
            while len(self._uploaded) > _UPLOADS_KEPT:
                self._uploaded.popitem(last=False)
        return shown

    def given(self) -> list[Shown]:
        """Those that everybody is offered."""
        return list(self._given.values())

    def find(self, key: str) -> Shown:
        """The tokenizer of a key. Raises `PlaygroundError` for one that is not, or no longer, here."""
        if key in self._given:
            return self._given[key]
        with self._lock:
            if key in self._uploaded:
                self._uploaded.move_to_end(key)
                return self._uploaded[key]
        raise PlaygroundError(
            f"this tokenizer is no longer here: the last {_UPLOADS_KEPT} uploads are kept, until the server ends. Upload it again"
        )


def name_of(path: Path) -> str:
    """What a tokenizer is called on the page: its folder, where the file's own name says nothing.

    >>> name_of(Path("models/gpt2/tokenizer.json")), name_of(Path("cl100k_base.tiktoken"))
    ('gpt2', 'cl100k_base.tiktoken')
    """
    says_nothing = path.name in {"tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "encoder.json"}
    folder = path.resolve().parent.name if not path.parent.name else path.parent.name
    return (folder or path.name) if says_nothing else (path.name or path.resolve().name)


def _free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with a number behind it where it is taken.

    >>> _free_name("gpt2", ["gpt2", "gpt2 (2)"])
    'gpt2 (3)'
    """
    used = set(taken)
    if name not in used:
        return name
    return next(numbered for count in range(2, len(used) + 3) if (numbered := f"{name} ({count})") not in used)
