"""What a lint is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from hf_bpe.doctor.folder import Folder

__all__ = ["SEVERITIES", "Finding", "Lint", "Problem", "Severity", "lint"]

Severity: TypeAlias = Literal["error", "warning", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
"""Most serious first. error: wrong ids, or it does not load. warning: some program or version goes wrong. hint: good to know."""


class Problem(NamedTuple):
    """What a lint yields: the place, what goes wrong and for whom, and what to do about it."""

    where: str
    what: str
    fix: str


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a tokenizer.

    code: the lint that found it. where: file, and the place in it. what: what goes wrong, and for whom. fix: what to do.
    """

    code: str
    severity: Severity
    where: str
    what: str
    fix: str

    def to_dict(self) -> dict[str, str]:
        """The fields by name.

        >>> Finding("id-gaps", "hint", "vocab.json", "ids 3..4 are free", "nothing").to_dict()["code"]
        'id-gaps'
        """
        return asdict(self)


@dataclass(frozen=True)
class Lint:
    """One question asked of every tokenizer. title: what it finds, in a few words."""

    code: str
    severity: Severity
    title: str
    check: Callable[[Folder], Iterable[Problem]]

    def findings(self, folder: Folder) -> Iterator[Finding]:
        """What it finds in a folder."""
        for where, what, fix in self.check(folder):
            yield Finding(self.code, self.severity, folder.real_name(where), _sentence(what), _sentence(fix))


def _sentence(text: str) -> str:
    """Messages of libraries, at the end of what a lint says, may have a full stop or not."""
    return text.rstrip(" .") + "."


def lint(severity: Severity) -> Callable[[Callable[[Folder], Iterable[Problem]]], Lint]:
    """Make a lint of a function that yields problems: its name is the code, its docstring the title.

    `hf_bpe.doctor.registry` finds it in its module.
    """

    def make(check: Callable[[Folder], Iterable[Problem]]) -> Lint:
        title = (check.__doc__ or "").strip().removesuffix(".")
        return Lint(check.__name__.replace("_", "-"), severity, title, check)

    return make
