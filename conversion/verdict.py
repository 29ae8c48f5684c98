"""What a conversion does to ids, said before anything is written: nothing, nothing under a condition, or what is lost.

A writer goes through its checks with `Checks`; each leaves either what holds or what is lost, so that the reasons of an exact
conversion and of a refused one come from the same place. What cannot be written at all raises `ConversionRefused` there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from hf_bpe.errors import ConversionRefused

__all__ = ["Checks", "Counterexample", "Loss", "Rate", "Verdict"]

Kind = Literal["exact", "conditional", "lossy", "impossible"]

_HEADLINES: dict[Kind, str] = {
    "exact": "exact: the same ids for every text",
    "conditional": "exact under a condition: the same ids for every text",
    "lossy": "lossy: other ids for some text",
    "impossible": "impossible: there is no such file",
}


@dataclass(frozen=True)
class Counterexample:
    """A text that gets other ids. `as_special`: where special tokens are looked for in it, else where they are plain text."""

    text: str
    as_special: bool
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]

    def __str__(self) -> str:
        reading = ", special tokens as special" if self.as_special else ""
        return f"{self.text!r}{reading}: {list(self.source_ids)} becomes {list(self.target_ids)}"


@dataclass(frozen=True)
class Rate:
    """How many of some texts get other ids."""

    texts: int
    differing: int

    def __str__(self) -> str:
        share = f" ({100 * self.differing / self.texts:.2g} %)" if self.texts else ""
        return f"{self.differing:,} of {self.texts:,}{share}"


@dataclass(frozen=True)
class Loss:
    """What was measured of a loss: the target as its own library runs it, without our sidecar.

    run_by: what stood for that library. smallest: the shortest text found that gets other ids; None where none of those tried
    does. builtin: strings of this package. corpus: documents of the caller's, if any.
    """

    run_by: str
    smallest: Counterexample | None
    builtin: Rate
    corpus: Rate | None = None

    def lines(self) -> list[str]:
        """The same as text."""
        found = str(self.smallest) if self.smallest else "none among the texts tried"
        rates = [f"{self.builtin} built-in strings"] + ([f"{self.corpus} documents of the corpus"] if self.corpus else [])
        return [f"smallest counterexample: {found}", f"other ids, run by {self.run_by}: {', '.join(rates)}"]


@dataclass(frozen=True)
class Verdict:
    """Whether a format holds a tokenizer.

    checks: what was looked at and holds. conditions: under which it gives the same ids. losses: in which it does not; `loss` is
    what was measured of them. impossible: why there is no such file at all, not even a lossy one. left_out: what the source says
    beyond the ids of a text itself, such as tokens around every text, and the target does not. decoding: where the same ids decode
    to another text.

    >>> Verdict("tiktoken", checks=("merging by id is merging by the list of merges",)).kind
    'exact'
    """

    format: str
    checks: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    impossible: str | None = None
    loss: Loss | None = None
    left_out: tuple[str, ...] = ()
    decoding: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """The verdict in a word."""
        if self.impossible is not None:
            return "impossible"
        if self.losses:
            return "lossy"
        return "conditional" if self.conditions else "exact"

    def refuse(self, allow_lossy: bool) -> None:
        """Raise `ConversionRefused` where there is no such file, or only a lossy one, and that is not allowed."""
        if self.impossible is not None:
            raise ConversionRefused(self.impossible)
        if self.losses and not allow_lossy:
            raise ConversionRefused(
                f"{self.format} cannot hold this tokenizer exactly: {'; '.join(self.losses)}. allow_lossy=True writes the nearest "
                "file, and beside it a report of how much is lost"
            )

    def summary(self) -> str:
        """The verdict as text."""
        lines = [f"{self.format}: {_HEADLINES[self.kind]}"]
        if self.impossible is not None:
            lines.append(f"  because {self.impossible}")
        lines += [f"  {'and if' if self.losses else 'if'} {condition}" for condition in self.conditions]
        lines += [f"  lost: {reason}" for reason in self.losses]
        lines += [f"  {line}" for line in self.loss.lines()] if self.loss else []
        lines += [f"  left out: {what}" for what in self.left_out]
        lines += [f"  decodes otherwise: {reason}" for reason in self.decoding]
        lines += [f"  checked: {reason}" for reason in self.checks]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The verdict for JSON."""
        return {"verdict": self.kind, **asdict(self)}


class Checks:
    """What a writer finds on its way.

    read_back: whether it has read what it wrote, as whoever loads it will, and found the same tokenizer.
    """

    def __init__(self) -> None:
        self.read_back = False
        self.held: list[str] = []
        self.conditions: list[str] = []
        self.losses: list[str] = []
        self.decoding: list[str] = []
        self._suspects: list[Callable[[], Iterable[str]]] = []

    def expect(self, claim: str, conflict: str | None, suspects: Callable[[], Iterable[str]] | None = None) -> None:
        """Note that the claim holds, or why it does not: the conflict.

        suspects: texts that may show it, which are asked for only where a counterexample is wanted.

        >>> checks = Checks()
        >>> checks.expect("bytes come first", None)
        >>> checks.expect("ids have no gap", "id 7 is not in use")
        >>> checks.held, checks.losses
        (['bytes come first'], ['id 7 is not in use'])
        """
        if conflict is None:
            self.hold(claim)
        else:
            self.lose(conflict, suspects)

    def hold(self, claim: str) -> None:
        """Note what was looked at, and is so."""
        self.held.append(claim)

    def lose(self, reason: str, suspects: Callable[[], Iterable[str]] | None = None) -> None:
        """Note what is lost."""
        self.losses.append(reason)
        if suspects is not None:
            self._suspects.append(suspects)

    def suppose(self, condition: str) -> None:
        """Note what has to be so where the file is run."""
        self.conditions.append(condition)

    def decodes_otherwise(self, reason: str) -> None:
        """Note where ids, though they are the same, stand for another text."""
        self.decoding.append(reason)

    def suspects(self) -> Iterable[str]:
        """Texts that may show what is lost."""
        return (text for suspects in self._suspects for text in suspects())

    def refuse_losses(self, target: str) -> None:
        """Raise `ConversionRefused` if anything is lost."""
        if self.losses:
            raise ConversionRefused(
                f"{target} cannot hold this tokenizer exactly: {'; '.join(self.losses)}. `hf-bpe convert --allow-lossy` writes the "
                "nearest there is"
            )

    def verdict(self, format_name: str) -> Verdict:
        """What all of it comes to."""
        held, conditions, losses = tuple(self.held), tuple(self.conditions), tuple(self.losses)
        return Verdict(format_name, held, conditions, losses, decoding=tuple(self.decoding))
