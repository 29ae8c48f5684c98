"""Where counts are put aside: a temporary folder, or one beside the output from which an interrupted count goes on."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hf_bpe.corpus.documents import Place
from hf_bpe.encoding.output import locked
from hf_bpe.errors import FormatError, ResumeRefused
from hf_bpe.files import read_text, write_atomically
from hf_bpe.training.counting.merging import merge_streams
from hf_bpe.training.counting.record import Counted, LeftOut
from hf_bpe.training.counting.runs import read_run, write_run
from hf_bpe.training.words import Words

__all__ = ["ADDS_TO", "PartialStore", "Saved", "Store", "TemporaryStore"]

_MOST_RUNS = 64
"""More are merged into one: each of them holds a megabyte while they are read together."""

_STATE = "state.json"
_FORMAT = "hf-bpe interrupted count"
_VERSION = 1

ADDS_TO = "adds to"
"""The setting that says which output a count is added to, by its checksum."""


@dataclass
class Saved:
    """What was counted so far, apart from the counts: those of `open`, the source being read, are in runs of their own."""

    finished: list[Counted]
    left_out: list[LeftOut]
    open: Counted | None = None


class Store:
    """Runs in a folder: those of finished sources, and those of the source being read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.finished: list[str] = []
        self.open: list[str] = []
        self._number = 0

    @property
    def runs(self) -> list[str]:
        """The names of all runs."""
        return [*self.finished, *self.open]

    def put(self, words: Words, runs: list[str]) -> None:
        """Write a run, and name it in `runs`, which is `finished` or `open`."""
        if words.size:
            runs.append(self._write([words]))
        if len(runs) > _MOST_RUNS:
            by_size = sorted(runs, key=lambda name: (self.folder / name).stat().st_size)
            small = by_size[: _MOST_RUNS // 2]  # merging them all each time would write large ones again and again
            runs[:] = [*by_size[_MOST_RUNS // 2 :], self._write(merge_streams([*map(self._read, small)]))]

    def finish_open(self) -> None:
        """The source being read is finished."""
        self.finished += self.open
        self.open = []

    def forget_open(self) -> None:
        """The source being read shall not count."""
        self.open = []

    def rewrite(self, words: Iterator[Words]) -> None:
        """Put other words in the place of the runs that they are made of."""
        self.finished = [self._write(words)]

    def words(self) -> list[Iterator[Words]]:
        """The runs of finished sources."""
        return [self._read(name) for name in self.finished]

    def _remove_others(self) -> None:
        for path in self.folder.glob("run-*.words"):
            if path.name not in self.runs:
                path.unlink()

    def _read(self, name: str) -> Iterator[Words]:
        return read_run(self.folder / name)

    def _write(self, words: Any) -> str:
        self._number += 1
        name = f"run-{self._number:06d}.words"
        write_run(self.folder / name, words)
        return name


class TemporaryStore(Store):
    """A folder that goes when the store goes."""

    def __init__(self, parent: Path | None) -> None:
        self._temporary: Any = None
        self._parent = parent
        super().__init__(Path())

    def put(self, words: Words, runs: list[str]) -> None:
        """As ever; the folder is made for the first run."""
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="hf-bpe-counts-", dir=self._parent)
            self.folder = Path(self._temporary.name)
        super().put(words, runs)
        self._remove_others()


class PartialStore(Store):
    """A folder beside an output, with a list of what its runs hold."""

    def __init__(self, output: Path) -> None:
        super().__init__(output.with_name(f"{output.name}.partial"))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, and keep other processes out of it."""
        with locked(self.folder):
            yield

    def load(self, settings: dict[str, Any], known: Sequence[Counted] = ()) -> Saved | None:
        """What an interrupted count left, or None. Raises `ResumeRefused` if it had other settings, `FormatError` if it is damaged.

        known: what the output holds already. A count whose output was written, and that was killed before it could remove its folder, left
        nothing to go on with.
        """
        path = self.folder / _STATE
        if not path.exists():
            return None
        try:
            content = json.loads(read_text(path))
            if content["format"] != _FORMAT or content["version"] != _VERSION:
                raise FormatError(f"{path}: was written by another version of hf-bpe; remove {self.folder} to count anew")
            finished = list(map(Counted.from_json, content["finished"]))
            opened = None if content["open"] is None else _with_place(content["open"])
            begun = finished if opened is None else [*finished, opened]
            if content["settings"].get(ADDS_TO) != settings.get(ADDS_TO) and all(each.is_part_of(known) for each in begun):
                path.unlink()
                self._remove_others()
                return None
            differences = [
                f"{name}: {content['settings'].get(name)!r} there, {value!r} now"
                for name, value in settings.items()
                if content["settings"].get(name) != value
            ]
            if differences:
                raise ResumeRefused(
                    f"{self.folder} holds an interrupted count of other settings:\n"
                    + "\n".join(f"  - {line}" for line in differences)
                    + "\nChoose another output, or pass overwrite=True (--force) to count anew"
                )
            self.finished, self.open, self._number = content["finished_runs"], content["open_runs"], content["runs"]
            missing = [name for name in self.runs if not (self.folder / name).is_file()]
            if missing:
                raise FormatError(f"{self.folder / missing[0]}: is missing; remove {self.folder} to count anew")
            return Saved(
                finished,
                [LeftOut(**each) for each in content["left_out"]],
                opened,
            )
        except (json.JSONDecodeError, LookupError, TypeError, AttributeError) as error:
            raise FormatError(
                f"{path}: damaged ({type(error).__name__}: {error}); remove {self.folder} to count anew"
            ) from error

    def save(self, settings: dict[str, Any], saved: Saved) -> None:
        """Note what the runs hold, then remove runs that no longer count."""
        opened = saved.open
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "settings": settings,
            "runs": self._number,
            "finished_runs": self.finished,
            "open_runs": self.open,
            "finished": [each.to_json() for each in saved.finished],
            "left_out": [each.to_json() for each in saved.left_out],
            "open": None if opened is None else {**opened.to_json(), "place": asdict(opened.place)},
        }
        write_atomically(self.folder, {_STATE: (json.dumps(content, indent=1) + "\n").encode()})
        self._remove_others()

    def remove(self) -> None:
        """The folder and all in it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _with_place(content: dict[str, Any]) -> Counted:
    return Counted.from_json({**content, "place": Place(**content["place"])})
