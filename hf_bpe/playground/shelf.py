"""The tokenizers that the page offers: those given at the start, and those that visitors upload."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from hf_bpe.analysis import Vocabulary
from hf_bpe.analysis.card import Cards
from hf_bpe.chat import TEMPLATES, with_template_tokens
from hf_bpe.chat.encoding import missing_tokens
from hf_bpe.engine import Encoder
from hf_bpe.errors import PlaygroundError
from hf_bpe.spec import TokenizerSpec

__all__ = ["OwnTemplate", "Shelf", "Shown"]

OwnTemplate: TypeAlias = tuple[str | None, Mapping[str, Any]]
"""A chat template, or None, and special tokens by role: what `own_template` finds."""

_UPLOADS_KEPT = 8
"""A vocabulary of 131,000 tokens takes 67 MB; whoever uploads more loses the one that was not used for longest."""

_T = TypeVar("_T")
_NO_TEMPLATE: OwnTemplate = (None, {})


class _Once(Generic[_T]):
    """A value that is made when it is first asked for, once, however many ask at a time.

    `functools.cached_property` has one lock for all objects of a class up to Python 3.11: a slow tokenizer would hold up the
    others.
    """

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[_T] = []

    def __call__(self) -> _T:
        with self._lock:
            if not self._made:
                self._made.append(self._make())
        return self._made[0]


class Shown:
    """A tokenizer on the page. key: how the page asks for it. origin: where it came from, for its title. chat: its own
    template.

    first: whether it is shown before anybody has chosen.
    """

    def __init__(
        self,
        key: str,
        name: str,
        origin: str,
        load: Callable[[], TokenizerSpec],
        chat: OwnTemplate = _NO_TEMPLATE,
        *,
        first: bool = False,
    ) -> None:
        self.key = key
        self.name = name
        self.origin = origin
        self.chat = chat
        self.first = first
        self._vocabulary = _Once(lambda: Vocabulary(Encoder(load())))
        self._cards = _Once(lambda: Cards(self.vocabulary))
        self._extended = {name: _Once(partial(self._cards_with, name)) for name in TEMPLATES}

    @property
    def vocabulary(self) -> Vocabulary:
        """Its tokens, and what encodes with them. Raises what loading raises."""
        return self._vocabulary()

    @property
    def spec(self) -> TokenizerSpec:
        """What it consists of."""
        return self.vocabulary.encoder.spec

    def cards(self, template: str = "own") -> Cards:
        """What is known of each token by itself. Its tables take half a second, when the first card is asked for.

        template: of a ready one: of the vocabulary that has its special tokens too.
        """
        return self._extended[template]() if template in self._extended else self._cards()

    def _cards_with(self, template: str) -> Cards:
        if not missing_tokens(self.spec, TEMPLATES[template]):
            return self._cards()
        return Cards(with_template_tokens(self.spec, template))


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
        shown = Shown(f"t{len(self._given)}", free, origin, load, chat, first=first)
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


def _free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with a number behind it where it is taken.

    >>> _free_name("gpt2", ["gpt2", "gpt2 (2)"])
    'gpt2 (3)'
    """
    used = set(taken)
    if name not in used:
        return name
    return next(numbered for count in range(2, len(used) + 3) if (numbered := f"{name} ({count})") not in used)
