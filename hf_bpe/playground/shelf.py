"""The tokenizers that the page offers: those given at the start, and those that visitors upload."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hf_bpe.analysis import Vocabulary
from hf_bpe.analysis.card import Cards
from hf_bpe.chat.beside import Beside
from hf_bpe.engine import Encoder
from hf_bpe.errors import PlaygroundError
from hf_bpe.spec import TokenizerSpec

__all__ = ["Shelf", "Shown", "name_of"]

_UPLOADS_KEPT = 8
"""A vocabulary of 200,000 tokens takes some 60 MB; whoever uploads more loses the one that was not used for longest."""


@dataclass(frozen=True)
class Shown:
    """A tokenizer on the page. key: how the page asks for it. origin: where it came from, for its title. chat: its own template.

    extended: the same with the special tokens of ready chat templates, by their names, once somebody has asked for that.
    """

    key: str
    name: str
    origin: str
    vocabulary: Vocabulary
    chat: Beside = Beside(None, {})
    extended: dict[str, Vocabulary] = field(default_factory=dict, compare=False)

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

    def add(self, name: str, spec: TokenizerSpec, origin: str, chat: Beside = Beside(None, {})) -> Shown:
        """Offer a tokenizer to everybody. One of a name that is taken gets a number behind it."""
        free = _free_name(name, [shown.name for shown in self._given.values()])
        shown = Shown(f"t{len(self._given)}", free, origin, Vocabulary(Encoder(spec)), chat)
        self._given[shown.key] = shown
        return shown

    def upload(self, name: str, spec: TokenizerSpec, origin: str, chat: Beside, beside: Iterable[str] = ()) -> Shown:
        """Offer a tokenizer to whom is told its key. beside: the names on that page already."""
        key = secrets.token_urlsafe(18)
        shown = Shown(key, _free_name(name, beside), origin, Vocabulary(Encoder(spec)), chat)
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
