"""Lets a worker die once: a file in a folder that all processes know names the place, and who removes it dies there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

FOLDER = "HF_BPE_TEST_DEATHS"

BEFORE_COUNTED = "text is read and counted in memory"
BEFORE_RETURNING_COUNTS = "the counts of a part are written"
BEFORE_RETURNING_SUM = "merged counts are written"
BETWEEN_SHARDS = "a shard is complete, its part is not"
BEFORE_RETURNING_SHARDS = "a part is complete"


def install() -> None:
    """Run in each worker as it starts."""
    from hf_bpe.distributed import counting, encoding, reading
    from hf_bpe.encoding.shards import ShardWriter
    from hf_bpe.training.counting import WordCounts

    _die_after(WordCounts, "count_by", BEFORE_COUNTED, static=True)
    _die_after(WordCounts, "save", BEFORE_RETURNING_COUNTS)
    _die_after(counting, "_write_sum", BEFORE_RETURNING_SUM)
    _die_after(ShardWriter, "_close", BETWEEN_SHARDS)
    _die_after(encoding, "encode_here", BEFORE_RETURNING_SHARDS)
    _note_calls(reading.Reading, "count")


def _die_after(owner: Any, name: str, place: str, *, static: bool = False) -> None:
    def dying(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            result = function(*arguments, **options)
            with suppress(FileNotFoundError):
                (_folder() / place).unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    wrapped = dying(getattr(owner, name))
    setattr(owner, name, staticmethod(wrapped) if static else wrapped)


def _note_calls(owner: Any, name: str) -> None:
    function = getattr(owner, name)

    @wraps(function)
    def call(self: Any, corpus: Any) -> Any:
        with (_folder() / "counted").open("a") as file:
            file.write(f"{corpus[0].name if isinstance(corpus, list) else 'a block'}\n")
        return function(self, corpus)

    setattr(owner, name, call)


def _folder() -> Path:
    return Path(os.environ[FOLDER])


class Deaths:
    """What a test says and asks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def order(self, *places: str) -> None:
        """One worker shall die at each place."""
        for place in places:
            (self._folder / place).touch()

    @property
    def outstanding(self) -> set[str]:
        """Places where nobody died."""
        return {path.name for path in self._folder.iterdir()} - {"counted"}

    def counted(self) -> list[str]:
        """The first file of each part that was begun to be counted since this was asked last."""
        log = self._folder / "counted"
        names = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return sorted(names)
