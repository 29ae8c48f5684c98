"""Whether two tokenizers give the same ids: by proof where their descriptions are the same, and always by trying."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from types import EllipsisType
from typing import Any

from conversion.equality import first_difference
from conversion.format import Given
from conversion.nasty_strings import nasty_strings
from conversion.verification.comparison import Comparison, Difference
from conversion.verification.documents import DEFAULT_SEPARATOR, Corpus, read_documents
from conversion.verification.runners import Loader, Source, make_runner

__all__ = ["Difference", "VerifyReport", "verify"]


@dataclass(frozen=True)
class VerifyReport:
    """What a comparison found.

    documents: texts compared, `builtin` of them strings of this package. tokens: how many ids `a` gave for all of them.
    proof: why the two are equal on every input, where that follows from their descriptions. structure: the first thing in
    which the descriptions differ, which need not show in any id. smallest: the shortest text found that shows a difference.
    """

    a: str
    b: str
    documents: int
    builtin: int
    differing: int
    tokens: int
    proof: str | None
    structure: str | None
    first: Difference | None
    smallest: Difference | None

    @property
    def equal(self) -> bool:
        """Whether no text was encoded differently."""
        return self.differing == 0

    def summary(self) -> str:
        """The report as text."""
        lines = [
            f"a: {self.a}",
            f"b: {self.b}",
            f"{self.differing} of {self.documents} documents differ ({self.builtin} of them built-in strings; {self.tokens} tokens)",
        ]
        if self.proof:
            lines.append(f"proof: {self.proof}")
        if self.structure:
            lines.append(f"the descriptions differ: {self.structure}")
        if self.first and self.smallest:
            lines += [f"first difference: {self.first}", f"smallest difference: {self.smallest}"]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON."""
        return {"equal": self.equal, **asdict(self)}


def verify(
    a: Source,
    b: Source,
    *,
    corpus: Corpus | None = None,
    texts: Iterable[str] | None = None,
    loader: Loader | tuple[Loader, Loader] = "own",
    pattern: str | EllipsisType | None = ...,
    special_tokens: Mapping[str, int] | None = None,
    separator: str = DEFAULT_SEPARATOR,
) -> VerifyReport:
    """Compare two tokenizers, each a path, a spec or an encoder.

    corpus: one or more text files, read document by document; `separator` is the line between documents. texts: further texts.
        A built-in list of strings that break tokenizers is always run.
    loader: "own" runs a path's tokenizer here, "official" in the library of its format (tiktoken for rank files, else
        tokenizers). A pair of values: one for each side.
    pattern, special_tokens: as in `load`, for sides whose format does not state them.

    Each text is encoded with special tokens as plain text, and where it spells one also with special tokens as special.
    """
    given = Given(pattern, special_tokens)
    loaders = (loader, loader) if isinstance(loader, str) else loader
    sides = [make_runner(source, chosen, given) for source, chosen in zip((a, b), loaders, strict=True)]
    structure = first_difference(sides[0].spec, sides[1].spec)
    comparison = Comparison(*sides)
    builtin = nasty_strings(comparison.special_tokens)
    comparison.run(
        chain(
            ((f"built-in string {number}", text) for number, text in enumerate(builtin)),
            ((f"text {number}", text) for number, text in enumerate(texts or ())),
            read_documents(corpus, separator) if corpus is not None else (),
        )
    )
    same = structure is None and all(side.same_engine for side in sides)
    return VerifyReport(
        a=sides[0].label,
        b=sides[1].label,
        documents=comparison.documents,
        builtin=len(builtin),
        differing=comparison.differing,
        tokens=comparison.tokens,
        proof="both are descriptions of one tokenizer, run by one engine: equal on every input" if same else None,
        structure=structure,
        first=comparison.first,
        smallest=comparison.smallest_difference(),
    )
