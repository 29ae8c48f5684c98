"""`audit`: what is odd about the tokens of a vocabulary, and about the rows that a model has for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from hf_bpe.analysis.metrics.usage import count_tokens
from hf_bpe.editing.audit.undertrained import Indicators, Rows, border, checked_untrained, indicators, suspects
from hf_bpe.engine import Encoder
from hf_bpe.spec import TokenizerSpec
from hf_bpe.spelling import spelled_vocabulary
from hf_bpe.vocabulary.findings import UNREACHED, Finding, findings_of, twins

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Audit", "AuditedToken", "LookedAt", "audit"]


@dataclass(frozen=True)
class AuditedToken:
    """A token of which there is something to say.

    count: how often the corpus has it. norm, distance: the indicators of its row; see `undertrained.indicators`.
    """

    id: int
    token: str
    findings: tuple[Finding, ...]
    count: int | None = None
    norm: float | None = None
    distance: float | None = None


@dataclass(frozen=True)
class LookedAt:
    """How rows were judged.

    embedding, head: the names of the matrices; head is None for a tied one. indicator: by which one tokens are "undertrained".
    border: its largest value that is; None where the rows known to be untrained are not unlike the others, and nothing can be told.
    untrained: the ids that it was taken from.
    """

    embedding: str
    head: str | None
    indicator: Literal["norm", "distance"]
    border: float | None
    untrained: tuple[int, ...]


@dataclass(frozen=True)
class Audit:
    """What was found.

    tokens: by id; those with undertrained rows first, the most suspicious first. ids_without_token: below the number of rows, if a matrix was
    given, else below `n_vocab`. twins: all groups of tokens that differ only in case or white space around them, the largest first.
    rows: how those of a model were judged; None without one.
    """

    vocab_size: int
    tokens: tuple[AuditedToken, ...]
    ids_without_token: tuple[int, ...]
    twins: tuple[tuple[str, ...], ...]
    rows: LookedAt | None = None

    @property
    def groups_of_twins(self) -> int:
        """How many groups there are."""
        return len(self.twins)

    @property
    def counts(self) -> Mapping[Finding, int]:
        """How many tokens there are of each finding."""
        found = Counter(finding for token in self.tokens for finding in token.findings)
        return {finding: found[finding] for finding in get_args(Finding) if found[finding]}

    def of(self, finding: Finding) -> list[AuditedToken]:
        """The tokens with that finding."""
        return [token for token in self.tokens if finding in token.findings]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"groups_of_twins": self.groups_of_twins, "counts": dict(self.counts)}


def audit(
    spec: TokenizerSpec,
    *,
    corpus: Iterable[str] | None = None,
    embedding: Rows | None = None,
    head: Rows | None = None,
    untrained: Sequence[int] | None = None,
) -> Audit:
    """Look at every token: whether any text can have it, what it is spelled like, and whether its row was ever trained.

    corpus: texts, for how often each token is used; those that never are become "unused".
    embedding: the rows of the input embedding, some at a time. head: those of the output matrix, where the model has one of its own.
    untrained: ids whose rows no training can have reached; default: ids without a token, reserved tokens, and tokens that no text
        has. "undertrained" are the tokens with rows like theirs: by norm of the embedding where there is a head of its own, else by
        distance; these are candidates, to be tried on the model.

    Raises `EditError` where rows are given and no untrained row is known.

    >>> found = audit(TokenizerSpec(vocab={bytes([b]): b for b in range(256)}, merges=()))
    >>> dict(found.counts)
    {'no text': 13, 'part of a character': 115}
    """
    encoder = Encoder(spec)
    counts = None if corpus is None else count_tokens(encoder, corpus)
    found = findings_of(encoder, counts)
    unreached = {token_id for token_id, findings in found.items() if not UNREACHED.isdisjoint(findings)}
    ids = spec.used_ids
    size = spec.n_vocab if embedding is None else embedding.count
    holes = tuple(token_id for token_id in range(size) if token_id not in ids)
    rows, judged, order = None, None, list[int]()
    if embedding is not None:
        reference = checked_untrained(unreached.union(holes) if untrained is None else untrained, embedding)
        candidates = sorted(ids.difference(reference))
        rows, judged = _judge(embedding, head, reference, candidates)
        if judged.border is not None:
            order = suspects(getattr(rows, judged.indicator), judged.border, candidates)
        for token_id in order:
            found.setdefault(token_id, []).append("undertrained")
    others = sorted(token_id for token_id, findings in found.items() if "undertrained" not in findings)
    spelled = spelled_vocabulary(spec)
    return Audit(
        vocab_size=spec.vocab_size,
        tokens=tuple(_audited(token_id, spelled[token_id], found[token_id], counts, rows) for token_id in (*order, *others)),
        ids_without_token=holes,
        twins=tuple(tuple(spelled[token_id] for token_id in group) for group in twins(spec)),
        rows=judged,
    )


def _judge(
    embedding: Rows, head: Rows | None, reference: Sequence[int], candidates: Sequence[int]
) -> tuple[Indicators, LookedAt]:
    """Norms of the input rows, and the distances of the output rows, which with one matrix are the same rows; and the border."""
    found = indicators(embedding, reference)
    if head is not None:
        found = replace(found, distance=indicators(head, reference).distance)
    indicator: Literal["norm", "distance"] = "distance" if head is None else "norm"
    most = border(getattr(found, indicator), reference, candidates)
    return found, LookedAt(embedding.name, None if head is None else head.name, indicator, most, tuple(reference))


def _audited(
    token_id: int, token: str, findings: Sequence[Finding], counts: NDArray[np.int64] | None, rows: Indicators | None
) -> AuditedToken:
    return AuditedToken(
        token_id,
        token,
        tuple(findings),
        None if counts is None else int(counts[token_id]),
        None if rows is None else round(float(rows.norm[token_id]), 6),
        None if rows is None else round(float(rows.distance[token_id]), 6),
    )
