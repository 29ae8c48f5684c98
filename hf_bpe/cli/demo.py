"""The main job from end to end, on text that every Python has: its standard library. Needs no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import conversion
import hf_bpe
from conversion.equality import first_difference
from hf_bpe.errors import CorpusError, HfBpeError

__all__ = ["Demo", "Outcome", "Step"]

END_OF_TEXT = "<|endoftext|>"

HARD_TEXTS = (
    "",
    "hello world!!!? (안녕하세요!) lol123 😉",
    f"one document{END_OF_TEXT}the next one",
    "  spaces   and\ttabs \r\n\r\n  and breaks\n\n\n  ",
    "1234567890 don't DON'T naïve façade ﬁ ǅ ٣٤٥ ૧૨૩",
    "👩‍👩‍👧‍👦 नमस्ते 你好，世界 مرحبا שלום ﷽ \u0000 \ufeff \u2028",
)

_SKIPPED_FOLDERS = frozenset({"site-packages", "dist-packages", "__pycache__", "test", "tests", "idle_test"})
_KEPT_ASIDE = 10
"""One file in this many is not learnt from, to try the tokenizer on text that is new to it."""


class Outcome(NamedTuple):
    """What a step came to, as found by looking, and whether that is as it must be."""

    result: str
    passed: bool


class Step(NamedTuple):
    """One thing to do."""

    title: str
    run: Callable[[], Outcome]


@dataclass
class Demo:
    """The steps, in order. Each uses what the ones before it left behind.

    folder: where the tokenizers are written. max_bytes: how much text to use at most.
    """

    folder: Path
    vocab_size: int
    max_bytes: int

    def steps(self) -> list[Step]:
        """What to do."""
        places = [self.saved, self.folder / "demo.tiktoken", self.folder / "gpt2", self.folder / "back" / "tokenizer.json"]
        formats = ("tiktoken", "gpt2", "tokenizer.json")
        return [
            Step("Read the standard library", self.read),
            Step("Train", self.train),
            Step("Encode and decode", self.encode),
            Step("Save as a Hugging Face folder", self.save),
            Step("AutoTokenizer, hf_bpe imported", partial(self.load_elsewhere, with_us=True)),
            Step("AutoTokenizer, without hf_bpe", partial(self.load_elsewhere, with_us=False)),
            *(
                Step(f"Convert to {name}", partial(self.convert, source, target, name))
                for (source, target), name in zip(pairwise(places), formats, strict=True)
            ),
            *(Step(f"Verify {name}", partial(self.verify, place)) for place, name in zip(places[1:], formats, strict=True)),
        ]

    @property
    def saved(self) -> Path:
        """The Hugging Face folder."""
        return self.folder / "tokenizer"

    # -- training -----------------------------------------------------------------------------------------------------

    def read(self) -> Outcome:
        """Python's own modules: some to learn from, some kept aside."""
        found = _standard_library(self.max_bytes)
        self.aside = found[::_KEPT_ASIDE]
        self.corpus = [path for number, path in enumerate(found) if number % _KEPT_ASIDE]
        if not self.corpus:
            raise CorpusError("this Python's standard library has no sources to learn from, or --megabytes is too small")
        return Outcome(f"{_size(self.corpus)} to learn from, {_size(self.aside)} kept aside", passed=True)

    def train(self) -> Outcome:
        """Learn merges."""
        self.spec = hf_bpe.train(self.corpus, self.vocab_size, special_tokens=[END_OF_TEXT], progress=False)
        result = f"{self.spec.vocab_size:,} tokens: 256 bytes, {len(self.spec.merges):,} merges, {END_OF_TEXT}"
        return Outcome(result, self.spec.vocab_size == self.vocab_size)

    @cached_property
    def texts(self) -> list[str]:
        """What to try the tokenizer on."""
        return [*HARD_TEXTS, *(path.read_bytes().decode() for path in self.aside)]

    def encode(self) -> Outcome:
        """There and back with our own engine."""
        encoder = hf_bpe.Encoder(self.spec)
        self.ids = encoder.encode_batch(self.texts, allowed_special="all")
        wrong = _differing(encoder.decode_batch(self.ids, errors="strict"), self.texts)
        num_bytes, num_ids = sum(len(text.encode()) for text in self.texts), sum(map(len, self.ids))
        result = f"{len(self.texts)} texts not learnt from: {num_ids:,} ids of {num_bytes / num_ids:.2f} bytes; {wrong} decode wrongly"
        return Outcome(result, wrong == 0)

    # -- Hugging Face -------------------------------------------------------------------------------------------------

    def save(self) -> Outcome:
        """Write the folder."""
        from hf_bpe.plugin import HfBpeTokenizer  # imports transformers, which takes seconds

        written = HfBpeTokenizer.from_spec(self.spec, eos_token=END_OF_TEXT).save_pretrained(self.saved)
        return Outcome(", ".join(sorted(Path(path).name for path in written)), all(Path(path).is_file() for path in written))

    def load_elsewhere(self, *, with_us: bool) -> Outcome:
        """Load the folder with `AutoTokenizer` in a process of its own: our class with us imported, the stock one without."""
        found = _probe(self.saved, self.texts, "import hf_bpe" if with_us else "")
        other_ids, wrong = _differing(found["ids"], self.ids), _differing(found["texts"], self.texts)
        result = f"{found['class']}: {other_ids} of {len(self.texts)} texts with other ids, {wrong} decode wrongly"
        right_class = (found["class"] == "HfBpeTokenizer") == found["hf_bpe_imported"] == with_us
        return Outcome(result, right_class and not other_ids and not wrong)

    # -- conversion ---------------------------------------------------------------------------------------------------

    def convert(self, source: Path, target: Path, file_format: str) -> Outcome:
        """From the file that the step before wrote to the next format; the tokenizer must still be the one trained."""
        written = conversion.save(conversion.load(source), target, format=file_format)
        same = first_difference(conversion.load(target), self.spec) is None
        return Outcome(
            f"{', '.join(path.name for path in written)}: {'same' if same else 'ANOTHER'} tokenizer when read back", same
        )

    def verify(self, place: Path) -> Outcome:
        """Compare the Hugging Face folder with a converted file, each run by the library it belongs to."""
        report = conversion.verify(self.saved, place, corpus=self.aside, texts=HARD_TEXTS, loader="official")
        result = f"{report.differing} of {report.documents} texts with other ids ({report.tokens:,} ids compared)"
        return Outcome(result if report.equal else report.summary(), report.equal)


def _differing(found: Sequence[object], expected: Sequence[object]) -> int:
    return sum(a != b for a, b in zip(found, expected, strict=True))


def _size(paths: Sequence[Path]) -> str:
    return f"{len(paths)} files ({sum(path.stat().st_size for path in paths) / 1e6:.1f} MB)"


def _standard_library(max_bytes: int) -> list[Path]:
    """Python's modules without their tests, which not every installation has; only UTF-8; so many bytes at most.

    Each once: Debian's has one under two names.
    """
    root = Path(sysconfig.get_path("stdlib"))
    chosen: list[Path] = []
    total = 0
    for found in sorted(root.rglob("*.py")):
        path = found.resolve()
        if path in chosen or not path.is_file() or not _SKIPPED_FOLDERS.isdisjoint(found.relative_to(root).parts):
            continue
        size = path.stat().st_size
        if size and total + size <= max_bytes and _is_utf8(path):
            chosen.append(path)
            total += size
    return chosen


def _is_utf8(path: Path) -> bool:
    try:
        path.read_bytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def _probe(folder: Path, texts: list[str], preamble: str) -> dict[str, Any]:
    """Run `probe.py` in a fresh process, after the preamble."""
    program = preamble + "\n" + files("hf_bpe.cli").joinpath("probe.py").read_text("utf-8")
    finished = subprocess.run(  # noqa: S603  # our own program, in our own interpreter
        [sys.executable, "-c", program],
        input=json.dumps({"folder": str(folder.resolve()), "texts": texts}),
        capture_output=True,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},  # nothing here needs the Hub, so nothing may wait for it
        check=False,
    )
    if finished.returncode:
        raise HfBpeError(f"loading {folder} with AutoTokenizer failed:\n{finished.stderr.strip()}")
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found
