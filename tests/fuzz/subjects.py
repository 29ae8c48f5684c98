"""What is compared: a vocabulary here, the same in tiktoken, and what to say when they differ."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import tiktoken

import conversion
from benchmarks.vocabularies import sources
from hf_bpe import NAMED_PATTERNS, Encoder, TokenizerSpec
from hf_bpe.engine import native
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.vocabularies import cl100k_ranks, tekken

_SHOWN = 4000
_TRIALS = 4000


class Mismatch(Exception):
    """Two that should agree do not; the message is the reproducer."""


@dataclass
class Tally:
    """What was done so far, for whoever stops before the end."""

    unit: str
    done: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, amount: float) -> None:
        """Count."""
        self.done[name] = self.done.get(name, 0) + amount

    def __str__(self) -> str:
        amounts = [f"{name}: {amount:,.1f}".removesuffix(".0") + f" {self.unit}" for name, amount in self.done.items()]
        return "; ".join(amounts) or "nothing yet"


@dataclass(frozen=True)
class Subject:
    """One vocabulary in this package and in tiktoken."""

    name: str
    spec: TokenizerSpec
    ours: Encoder
    official: tiktoken.Encoding

    def differs(self, text: str) -> bool:
        """Whether an encoder that has seen nothing else differs on a text."""
        return Encoder(self.spec, engine="native").encode_ordinary(text) != self.official.encode_ordinary(text)

    def mismatch(self, text: str, call: str, where: str) -> Mismatch:
        """The reproducer, as short as a few thousand trials make it."""
        if not self.differs(text):
            found = f"{call} differs, though encode_ordinary of a new encoder does not: what was encoded before matters"
            return Mismatch(f"{self.name}: {found}. {where}\ntext = {shown(text)}")
        short = shrink(text, self.differs)
        ours, official = Encoder(self.spec, engine="native").encode_ordinary(short), self.official.encode_ordinary(short)
        return Mismatch(f"{self.name}: {where}\ntext = {shown(short)}\nours = {ours[:200]}\ntiktoken = {official[:200]}")


def subjects(folder: Path | None, only: list[str]) -> dict[str, Callable[[], Subject]]:
    """By name, what loads it: those of installed packages, those of `folder`, and the ranks of cl100k under other splits."""
    paths = {name: path for name, path in sources(folder).items() if name in TIKTOKEN_PATTERNS}
    found = {name: partial(load, name, path) for name, path in paths.items()}
    found["tekken"] = partial(of_ranks, "tekken", lambda: tekken()[0])
    for split in TIKTOKEN_PATTERNS:
        if split not in found:
            found[split] = partial(of_ranks, split, cl100k_ranks)
    unknown = set(only) - set(found)
    if unknown:
        raise SystemExit(f"no vocabulary {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    return {name: found[name] for name in only or found}


def load(name: str, path: Path) -> Subject:
    """A vocabulary out of a file or folder, without its special tokens."""
    spec = conversion.load(path) if path.is_dir() else conversion.load(path, pattern=name)
    ranks = dict((conversion.load(path) if path.is_dir() else conversion.load(path, pattern=name)).vocab)
    return pair(name, dataclasses.replace(spec, added_tokens=()) if spec.added_tokens else spec, ranks)


def of_ranks(name: str, ranks: Callable[[], dict[bytes, int]]) -> Subject:
    """A table of ranks under a named split."""
    content = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks().items())
    table = native.Vocabulary.from_rank_file(content)
    return pair(name, TokenizerSpec.from_table(table, pattern=NAMED_PATTERNS[name].pattern), ranks())


def pair(name: str, spec: TokenizerSpec, ranks: dict[bytes, int]) -> Subject:
    """Both encoders. The spec is as loaded: nobody asked it for its tokens yet."""
    official = tiktoken.Encoding(name, pat_str=TIKTOKEN_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
    return Subject(name, spec, Encoder(spec, engine="native"), official)


def shrink(text: str, differs: Callable[[str], bool]) -> str:
    """A shorter text that still differs: ever smaller stretches are left out for as long as that is so."""
    size, trials = max(1, len(text) // 2), 0
    while trials < _TRIALS:
        at, before = 0, len(text)
        while at < len(text) and trials < _TRIALS:
            candidate = text[:at] + text[at + size :]
            trials += 1
            if differs(candidate):
                text = candidate
            else:
                at += size
        if size == 1 and len(text) == before:
            break
        size = max(1, size // 2)
    return text


def shown(text: str) -> str:
    """A text as Python would read it, if it is not too long."""
    return ascii(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!a} ... and {len(text) - _SHOWN} more characters"
