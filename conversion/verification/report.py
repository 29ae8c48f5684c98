"""Whether two tokenizers give the same ids: by proof where their descriptions say so, else by trying."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import EllipsisType
from typing import Any

from conversion.format import Given
from conversion.nasty_strings import nasty_strings
from conversion.verification.causes import CAUSES, Cause
from conversion.verification.comparison import Comparison
from conversion.verification.corpus import DEFAULT_SEPARATOR, Document, Origin, corpus_size, read_corpus
from conversion.verification.difference import Difference
from conversion.verification.generated import generated_texts
from conversion.verification.loaders import Source, load_side
from conversion.verification.structure import Aspect, Structure, compare_structure
from hf_bpe.corpus.sources import Paths
from hf_bpe.progress import reporting_bytes

__all__ = ["CauseReport", "Difference", "OriginReport", "VerifyReport", "verify"]

_LAYOUT = 1


@dataclass(frozen=True)
class OriginReport:
    """How many texts of one origin were compared, and how many of them differ."""

    origin: Origin
    documents: int
    differing: int


@dataclass(frozen=True)
class CauseReport:
    """One reason why ids or texts differ: in how many of the documents it is what parts them first, and the smallest text found."""

    cause: Cause
    documents: int
    smallest: Difference


@dataclass(frozen=True)
class VerifyReport:
    """What a comparison found.

    documents, differing: texts compared, and those that differ; `origins` says the same of built-in strings, strings generated for
    these two tokenizers, given texts and the corpus.
    a_tokens, b_tokens: how many ids each gave for all of them.
    proof: why the two are equal on every input, where that follows from their descriptions; then no corpus is read.
    compared: the parts of the descriptions that were compared. unsaid: why they were not.
    differences: where the descriptions differ, which need not show in any id.
    causes: why documents differ, for the first `explained` ones that do. first, smallest: the first difference met, and the
    shortest text found that shows one.
    interrupted: whether it was ended before all was compared.
    """

    a: str
    b: str
    documents: int
    differing: int
    origins: tuple[OriginReport, ...]
    explained: int
    a_tokens: int
    b_tokens: int
    proof: str | None
    compared: tuple[str, ...]
    unsaid: str
    differences: tuple[Aspect, ...]
    causes: tuple[CauseReport, ...]
    first: Difference | None
    interrupted: bool = False

    @property
    def equal(self) -> bool:
        """Whether no text was encoded or decoded differently."""
        return self.differing == 0

    @property
    def cause(self) -> Cause | None:
        """What most documents differ by."""
        return max(self.causes, key=lambda found: found.documents).cause if self.causes else None

    @property
    def smallest(self) -> Difference | None:
        """The shortest text that shows a difference."""
        return min((found.smallest for found in self.causes), key=lambda difference: len(difference.text), default=None)

    @property
    def structure(self) -> str | None:
        """The first thing in which the descriptions differ."""
        return next((f"{aspect.name}: {aspect.detail}" for aspect in self.differences), None)

    @property
    def builtin(self) -> int:
        """How many of the documents were built-in strings."""
        return sum(origin.documents for origin in self.origins if origin.origin == "built-in")

    @property
    def tokens(self) -> int:
        """How many ids `a` gave."""
        return self.a_tokens

    def by_origin(self) -> str:
        """How many documents of each origin differ, as text."""
        return ", ".join(f"{found.origin}: {found.differing} of {found.documents}" for found in self.origins)

    def summary(self) -> str:
        """The report as text."""
        lines = [
            f"a: {self.a}",
            f"b: {self.b}",
            f"{self.differing} of {self.documents} documents differ ({self.by_origin()}; {self.a_tokens} and {self.b_tokens} tokens)",
        ]
        if self.interrupted:
            lines.append("interrupted: this is what was known by then")
        if self.proof:
            lines.append(f"proof: {self.proof}")
        if self.unsaid:
            lines.append(f"descriptions not compared: {self.unsaid}")
        lines += [f"the descriptions differ: {aspect.name}: {aspect.detail}" for aspect in self.differences]
        if self.first:
            lines.append(f"first difference: {self.first}")
        for found in self.causes:
            lines.append(f"cause: {found.cause}, {found.documents} documents; smallest difference: {found.smallest}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON, in the layout that docs/verify.md gives."""
        smallest = asdict(self.smallest) if self.smallest else None
        return {"layout": _LAYOUT, "equal": self.equal, "cause": self.cause, "smallest": smallest, **asdict(self)}


def verify(
    a: Source,
    b: Source,
    *,
    corpus: Paths | None = None,
    texts: Iterable[str] | None = None,
    loader: str | tuple[str, str] = "own",
    pattern: str | EllipsisType | None = ...,
    special_tokens: Mapping[str, int] | None = None,
    separator: str | None = DEFAULT_SEPARATOR,
    text_field: str = "text",
    progress: bool = False,
) -> VerifyReport:
    """Compare two tokenizers, each a path, a spec or an encoder.

    corpus: text, .jsonl and .parquet files, .gz and .zst too; read document by document. `separator` ends a document of a text
        file, `text_field` holds the text in the others. texts: further texts.
        Built-in strings that break tokenizers, and strings made for what these two differ in, are always run.
    loader: what runs them: "own" (this package), "official" (the library of the format), or one of `LOADERS`. A pair of values:
        one for each side, so that two loaders of one folder can be compared.
    pattern, special_tokens: as in `load`, for sides whose format does not state them.
    progress: show a bar on standard error while the corpus is read.

    Each text is encoded with special tokens as plain text and, where it spells one, with special tokens as special; the ids of the
    first are decoded again. Ctrl-C ends the comparison with what is known by then.

    Raises `LoaderError` for a library that is missing or fails, `FormatError` and `ConversionRefused` as `load` does, `CorpusError`.
    """
    given = Given(pattern, special_tokens)
    if not isinstance(loader, str | tuple | list):
        raise TypeError(f"loader must be a name, or two, one for each side; not {loader!r:.80}")
    loaders = (loader, loader) if isinstance(loader, str) else tuple(loader)
    if len(loaders) != 2:
        raise ValueError(f"loader must be one name, or two, one for each side; {loader!r} are {len(loaders)}")
    sides = [load_side(source, chosen, given) for source, chosen in zip((a, b), loaders, strict=True)]
    given_texts = _given_documents(texts)
    size = corpus_size(corpus) if corpus is not None else 0  # before anything is compared: a wrong name should be told at once
    structure = compare_structure(sides[0], sides[1])
    comparison = Comparison(sides[0], sides[1])
    interrupted = False
    causes: list[CauseReport] = []
    try:
        comparison.run(_own_documents(comparison, proved=structure.proof is not None))
        if structure.proof is None or comparison.differing.total():
            comparison.run(given_texts)
            with reporting_bytes("comparing", size, shown=progress and corpus is not None) as report:
                found = (
                    read_corpus(corpus, separator=separator, text_field=text_field, report=report)
                    if corpus is not None
                    else None
                )
                if found is not None:
                    comparison.run(found)
    except KeyboardInterrupt:
        interrupted = True
    try:
        for cause in sorted(comparison.examples, key=CAUSES.index):
            causes.append(CauseReport(cause, comparison.examples[cause].documents, comparison.smallest(cause)))
    except KeyboardInterrupt:
        interrupted = True
    return _report(comparison, structure, causes, interrupted)


def _given_documents(texts: Iterable[str] | None) -> Iterator[Document]:
    """What the caller passed. Raises `TypeError` for what is no text; in a list at once, of an iterator when its turn comes."""
    if isinstance(texts, str):
        raise TypeError("texts must be a list of texts, and a str is one of its letters: pass [text]")
    if texts is not None and not isinstance(texts, Iterable):
        raise TypeError(f"texts must be a list of texts, not {texts!r:.80}")
    for number, text in enumerate(texts if isinstance(texts, Sequence) else ()):
        _given_document(number, text)
    return (_given_document(number, text) for number, text in enumerate(texts or ()))


def _given_document(number: int, text: str) -> Document:
    if not isinstance(text, str):
        raise TypeError(f"texts must be str, and number {number} is {text!r:.80}, a {type(text).__name__}")
    return Document(f"text {number}", text, "given")


def _own_documents(comparison: Comparison, *, proved: bool) -> Iterator[Document]:
    strings = nasty_strings(comparison.special_tokens)
    yield from (Document(f"built-in string {number}", text, "built-in") for number, text in enumerate(strings))
    if not proved:
        generated = generated_texts(comparison.a, comparison.b)
        yield from (Document(f"generated string {number}", text, "generated") for number, text in enumerate(generated))


def _report(comparison: Comparison, structure: Structure, causes: list[CauseReport], interrupted: bool) -> VerifyReport:
    # A proof that built-in strings contradict is a defect of this package, which the report must not hide.
    return VerifyReport(
        a=comparison.a.label,
        b=comparison.b.label,
        documents=comparison.documents.total(),
        differing=comparison.differing.total(),
        origins=tuple(OriginReport(name, count, comparison.differing[name]) for name, count in comparison.documents.items()),
        explained=comparison.explained,
        a_tokens=comparison.a_tokens,
        b_tokens=comparison.b_tokens,
        proof=structure.proof if not comparison.differing.total() else None,
        compared=structure.compared,
        unsaid=structure.unsaid,
        differences=structure.differences,
        causes=tuple(causes),
        first=comparison.first,
        interrupted=interrupted,
    )
