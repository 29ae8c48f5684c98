"""`Reading`: how a worker reads and counts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from hf_bpe.training.corpus import Corpus
from hf_bpe.training.counting import CountRules, WordCounts

__all__ = ["Reading"]


@dataclass(frozen=True)
class Reading:
    """The settings of a count; fields are as in `WordCounts.count`."""

    rules: CountRules
    text_field: str
    memory_limit: int | str
    temporary_folder: str | None
    skip_bad_files: bool
    num_threads: int

    def settings(self) -> dict[str, Any]:
        """Those that decide what is counted."""
        return {"rules": self.rules.to_json(), "text_field": self.text_field, "skip_bad_files": self.skip_bad_files}

    def count(self, corpus: Corpus) -> WordCounts:
        """The same counter as in one process. A part may be empty where the whole is not."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of files left out, which their counts name: the driver warns of all at once
            return WordCounts.count_by(
                self.rules,
                corpus,
                text_field=self.text_field,
                memory_limit=self.memory_limit,
                temporary_folder=self.temporary_folder,
                skip_bad_files=self.skip_bad_files,
                allow_empty=True,
                num_threads=self.num_threads,
                progress=False,
            )
