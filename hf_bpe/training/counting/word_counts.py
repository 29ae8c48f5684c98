"""`WordCounts`: how often each piece of a corpus occurs, counted once and then trained on as often as wanted."""

from __future__ import annotations

import errno
import heapq
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hf_bpe.engine.backends import EngineName
from hf_bpe.errors import FormatError, TrainingError, WordCountsMismatch, some
from hf_bpe.normalizers import NormalizerStep
from hf_bpe.training.corpus import Corpus
from hf_bpe.training.counting.make import CountOptions, describe, make_counts
from hf_bpe.training.counting.memory import DEFAULT_MEMORY
from hf_bpe.training.counting.merging import joined, merge_streams, multiplied, sorted_words
from hf_bpe.training.counting.parquet_file import Totals, read_metadata, read_words, write_words
from hf_bpe.training.counting.record import Counted, LeftOut
from hf_bpe.training.counting.rules import CountRules
from hf_bpe.training.counting.weights import Weight, as_integers
from hf_bpe.training.words import Words

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["WordCounts"]


class WordCounts:
    """Distinct words (the pieces that text is split into before anything is merged) and how often each occurs.

    rules: how text was cut into them. sources: what was read. left_out: sources that could not be read. dropped: which words were
    left out for being rare, and how many. weights: by how much the counts of merged parts were multiplied.

    The words may be on disk, and more than fit into memory: `blocks` gives them part by part, sorted by their bytes.

    >>> counts = WordCounts({b"ab": 3, b"abc": 1}, pattern=None)
    >>> len(counts), counts.occurrences, counts.most_common(1)
    (2, 4, [(b'ab', 3)])
    """

    rules: CountRules
    sources: tuple[Counted, ...]
    left_out: tuple[LeftOut, ...]
    dropped: tuple[dict[str, int], ...]
    weights: tuple[int, ...]
    path: Path | None

    def __init__(self, counts: Mapping[bytes, int], **rules: Any) -> None:
        """Counts that were made elsewhere. rules: as in `count`; the words must be what these make of the text.

        Raises `CorpusError` for a count outside of 1..2^63 - 1.
        """
        words = sorted_words(counts.items())
        self._set(lambda: iter([words]), CountRules.of(**rules))

    @classmethod
    def _of(cls, blocks: Callable[[], Iterator[Words]], rules: CountRules, **known: Any) -> WordCounts:
        made = cls.__new__(cls)
        made._set(blocks, rules, **known)
        return made

    def _set(
        self,
        blocks: Callable[[], Iterator[Words]],
        rules: CountRules,
        *,
        sources: Iterable[Counted] = (),
        left_out: Iterable[LeftOut] = (),
        dropped: Iterable[dict[str, int]] = (),
        weights: Iterable[int] = (),
        path: Path | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._blocks = blocks
        self.rules = rules
        self.sources, self.left_out = tuple(sources), tuple(left_out)
        self.dropped, self.weights, self.path = tuple(dropped), tuple(weights), path
        if metadata is not None:
            self.__dict__["_totals"] = {name: metadata[name] for name in Totals().to_json()}

    @classmethod
    def count(
        cls,
        corpus: Corpus,
        *,
        pattern: str | None = "cl100k",
        stages: Sequence[str] = (),
        unmatched: Literal["keep", "drop"] = "keep",
        normalizer: NormalizerStep | Sequence[NormalizerStep] = (),
        add_prefix_space: bool = False,
        special_tokens: Sequence[str] = (),
        text_field: str = "text",
        output: str | os.PathLike[str] | None = None,
        add: bool = False,
        overwrite: bool = False,
        memory_limit: int | str = DEFAULT_MEMORY,
        temporary_folder: str | os.PathLike[str] | None = None,
        drop_words_below: int | None = None,
        skip_bad_files: bool = False,
        num_threads: int | None = None,
        progress: bool = True,
        engine: EngineName = "auto",
    ) -> WordCounts:
        """Count a corpus.

        corpus: a file, a folder, a pattern such as "data/*.jsonl.zst", "-" for standard input; a list of these as `Path`s or of str
            that all name existing files; a `datasets.Dataset` or `IterableDataset`; or any iterable of texts. Files are UTF-8 text
            (one text each), JSON lines or Parquet, the first two also with .gz or .zst.
        pattern, stages, unmatched, normalizer, add_prefix_space: how text is cut into words, as for `train`.
        special_tokens: cut out of the text, not counted.
        text_field: the field or column that holds the text.
        output: a word-count file to write. Called again after an interruption, the count goes on where it was; where the file holds
            all that is asked for, nothing is read. None: the counts are kept in memory, or in a temporary folder if they do not fit.
        add: count what the output does not hold yet, and add it. overwrite: replace the output.
        memory_limit: of the whole process, which a text that cannot be cut may exceed. Counts that do not fit are put aside on disk as
            sorted runs, and merged at the end: the result is exact.
        temporary_folder: where they are put without an `output`; default: the system's. With one, they are put beside it.
        drop_words_below: leave out words that occur less often in all of the corpus. Off by default: what is learnt from the
            rest is no longer exact. The result, its file, and what is trained from it say so.
        skip_bad_files: leave out a file that is damaged, as if it had not been named, and warn of it at the end.

        The result depends on the texts alone: not on their order, threads, the budget, interruptions, or how texts are put
        into files.

        Raises `CorpusError` naming file, row and reason for what cannot be read, or if there is no text at all; `ResumeRefused`
        if the output was begun with other settings or other texts; `FileExistsError` if it holds something else.

        >>> WordCounts.count(["the cat", "the dog"], progress=False).most_common(1)
        [(b'the', 2)]
        """
        rules = CountRules.of(
            pattern,
            stages=stages,
            unmatched=unmatched,
            normalizer=normalizer,
            add_prefix_space=add_prefix_space,
            special_tokens=special_tokens,
        )
        return cls.count_by(
            rules,
            corpus,
            text_field=text_field,
            output=output,
            add=add,
            overwrite=overwrite,
            memory_limit=memory_limit,
            temporary_folder=temporary_folder,
            drop_words_below=drop_words_below,
            skip_bad_files=skip_bad_files,
            num_threads=num_threads,
            progress=progress,
            engine=engine,
        )

    @classmethod
    def count_by(cls, rules: CountRules, corpus: Corpus, **options: Unpack[CountOptions]) -> WordCounts:
        """`count` by rules that were made before."""
        return cls.count_stages([rules], corpus, **options)[0]

    @classmethod
    def count_stages(cls, rules: Sequence[CountRules], corpus: Corpus, **options: Unpack[CountOptions]) -> list[WordCounts]:
        """Counts of one corpus by several rules, in one pass. An `output` is for one only."""
        made = make_counts(rules, corpus, **options)
        if isinstance(made, Path):
            return [_opened(made)]
        return [
            cls._of(each.blocks, rule, sources=each.sources, left_out=each.left_out, dropped=each.dropped)
            for rule, each in zip(rules, made, strict=True)
        ]

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, check: bool = True) -> WordCounts:
        """Open a word-count file; its words stay on disk.

        check: read all of it once to compare its checksum. Without, damage is found when the words are read.

        Raises `FormatError` for a file that is damaged, of another version, or no word counts.
        """
        counts = _opened(Path(path))
        for _ in counts.blocks() if check else ():
            pass
        return counts

    @classmethod
    def merge(cls, *counts: WordCounts, weights: Sequence[Weight] | None = None) -> WordCounts:
        """The counts of several corpora as one; the parts must stay as they are while it is in use.

        weights: how much each part counts: whole numbers, floats, or texts such as "2/3". They are multiplied by the smallest number
            that makes them whole, so that counts stay exact: [0.5, 1] is [1, 2]. Only what they are to each other decides what is
            learnt, apart from `min_frequency`, which the counts as multiplied must reach.

        Raises `WordCountsMismatch` naming what differs where text was cut in different ways, `CorpusError` (when read) for counts that
        64 bits do not hold. Warns of a source that is in several parts.

        >>> WordCounts.merge(WordCounts({b"a": 1}), WordCounts({b"a": 3}), weights=[2, 1]).most_common(1)
        [(b'a', 5)]
        """
        if not counts:
            raise TrainingError("there are no counts to merge")
        first, *others = counts
        for other in others:
            first._refuse_other(other.rules, f"{other}: cannot be merged with {first}")
        if weights is None:
            _warn_of_repeated([source for each in counts for source in each.sources])
        factors = [1] * len(counts) if weights is None else as_integers(weights, len(counts))

        def blocks() -> Iterator[Words]:
            return merge_streams([_weighted(each, factor) for each, factor in zip(counts, factors, strict=True)])

        return cls._of(
            blocks,
            first.rules,
            sources=[source for each in counts for source in each.sources],
            left_out=[left for each in counts for left in each.left_out],
            dropped=[dropped for each in counts for dropped in each.dropped],
            weights=() if weights is None else factors,
        )

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> WordCounts:
        """Write a word-count file, and return the counts that are in it. Needs pyarrow (`pip install 'hf-bpe[parquet]'`).

        Raises `FileExistsError` where there is something already, unless it is to be overwritten.
        """
        target = Path(path)
        if target.exists() and (not overwrite or not target.is_file()):
            raise FileExistsError(errno.EEXIST, "exists; choose another name, or pass overwrite=True (--force)", str(target))
        write_words(target, self.blocks(), self._description)
        return _opened(target)

    def blocks(self) -> Iterator[Words]:
        """The words, sorted by their bytes, in parts that fit into memory."""
        return self._blocks()

    def words(self) -> Words:
        """All words at once, in memory."""
        return joined(list(self.blocks()))

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Each word with its count, sorted by the bytes of the words."""
        for block in self.blocks():
            yield from block.items()

    def most_common(self, n: int) -> list[tuple[bytes, int]]:
        """The `n` words that occur most often, most frequent first; of equally frequent ones, those first that sort first."""

        def best() -> Iterator[tuple[int, bytes]]:
            for block in self.blocks():
                candidates = np.argsort(-block.counts, kind="stable")[:n].tolist()  # no other can be among the first n of all
                yield from ((-int(block.counts[number]), block.word(number)) for number in candidates)

        return [(word, -count) for count, word in heapq.nsmallest(n, best())]

    def __len__(self) -> int:
        words: int = self._totals["words"]
        return words

    def __repr__(self) -> str:
        return f"WordCounts({self.path or 'in memory'})"

    @property
    def occurrences(self) -> int:
        """The sum of all counts."""
        occurrences: int = self._totals["occurrences"]
        return occurrences

    @property
    def text_bytes(self) -> int:
        """Bytes of the text that the words make up, each as often as it occurs."""
        size: int = self._totals["text_bytes"]
        return size

    @property
    def checksum(self) -> str:
        """Over words and counts: equal for equal counts, wherever they are."""
        checksum: str = self._totals["checksum"]
        return checksum

    @cached_property
    def _totals(self) -> dict[str, Any]:
        totals = Totals()
        for block in self.blocks():
            totals.add(block)
        return totals.to_json()

    def inspect(self) -> dict[str, Any]:
        """What a word-count file says of itself, and how many words occur once, and the longest one's bytes."""
        once, longest = 0, 0
        for block in self.blocks():
            once += int((block.counts == 1).sum())
            longest = max(longest, int(block.lengths.max(initial=0)))
        return {**self._totals, "seen_once": once, "longest": longest, **self._description()}

    def _description(self) -> dict[str, Any]:
        return describe(self.rules, self.sources, self.left_out, self.dropped, self.weights)

    def provenance(self) -> dict[str, str]:
        """What a tokenizer trained on these counts says of them. Not which files: their names are nobody else's business."""
        said = {"trained on": f"{self.text_bytes:,} bytes of text"}
        if self.weights:
            said["weights of its parts"] = ", ".join(map(str, self.weights))
        if self.left_out:
            said["files left out"] = f"{len(self.left_out):,} that could not be read"
        if self.dropped:
            said["words left out"] = "; ".join(
                f"{each['words']:,} seen less than {each['below']:,} times ({each['occurrences']:,} occurrences)"
                for each in self.dropped
            )
        return said

    def refuse_other_rules(self, rules: CountRules) -> None:
        """Raise `WordCountsMismatch`, naming what differs, if text is to be cut otherwise than it was. Special tokens may differ."""
        self._refuse_other(rules, f"{self}: cannot be trained on with these settings", special_tokens=False)

    def _refuse_other(self, rules: CountRules, what: str, *, special_tokens: bool = True) -> None:
        differences = self.rules.differences(rules)
        if not special_tokens:
            differences = [line for line in differences if not line.startswith("special_tokens")]
        if differences:
            lines = "\n".join(f"  - {line}" for line in differences)
            raise WordCountsMismatch(
                f"{what}: the text was cut into words in another way:\n{lines}\nCount it again in the same way"
            )


def _opened(path: Path) -> WordCounts:
    content = read_metadata(path)
    try:
        return WordCounts._of(
            lambda: read_words(path, content["checksum"]),
            CountRules.from_json(content["rules"]),
            sources=map(Counted.from_json, content["sources"]),
            left_out=[LeftOut(**left) for left in content["left_out"]],
            dropped=content["dropped"],
            weights=content["weights"],
            path=path,
            metadata=content,
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(
            f"{path}: its metadata are damaged ({type(error).__name__}: {error}); restore it, or count again"
        ) from error


def _weighted(counts: WordCounts, factor: int) -> Iterator[Words]:
    return (multiplied(words, factor) for words in counts.blocks())


def _warn_of_repeated(sources: Sequence[Counted]) -> None:
    seen: set[tuple[str, int, int]] = set()
    repeated = []
    for source in sources:
        key = source.name, source.text_bytes, source.crc32
        if key in seen:
            repeated.append(source.name)
        seen.add(key)
    if repeated:
        warnings.warn(
            f"{some(repeated)}: counted in more than one part, so that it counts more than once; give weights to do that on purpose",
            stacklevel=3,
        )
