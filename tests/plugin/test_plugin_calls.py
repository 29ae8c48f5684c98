"""Random calls of random tokenizers: the same as the stock fast class, but for what docs/transformers.md lists."""

from __future__ import annotations

from typing import Any

import pytest

from hf_bpe.plugin import HfBpeTokenizer
from tests.fuzz import calls
from tests.fuzz.calls.pairs import MODELS
from tests.fuzz.subjects import Mismatch, Tally

COUNTS = {"bytes": 200, "pieces": 100, **dict.fromkeys(MODELS, 25)}


@pytest.mark.parametrize("kind", COUNTS)
def test_random_calls(kind: str) -> None:
    calls.run(COUNTS[kind], 0, Tally("calls"), kinds={kind: 1}, each=25, show=False)


def test_what_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = HfBpeTokenizer._encode_plus

    def last_number_wrong(self: Any, *arguments: Any, **options: Any) -> Any:
        result = real(self, *arguments, **options)
        for column in result.values():
            if isinstance(column, list) and column and isinstance(column[-1], int):
                column[-1] += 1
        return result

    monkeypatch.setattr(HfBpeTokenizer, "_encode_plus", last_number_wrong)
    with pytest.raises(Mismatch, match=r"here, .* there"):
        calls.run(40, 0, Tally("calls"), kinds={"bytes": 1}, each=40, show=False)
