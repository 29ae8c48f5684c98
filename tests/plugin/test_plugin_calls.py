"""Random calls of random tokenizers against the stock class; `make fuzz` makes more of them."""

from __future__ import annotations

import pytest

from tests.fuzz import calls
from tests.fuzz.subjects import Tally


@pytest.mark.parametrize("kind", ["no dummy prefix, all spaces", "user-defined"])
def test_random_calls(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "KINDS", {kind: 1})
    monkeypatch.setattr(calls, "CALLS_EACH", 50)
    tally = Tally("calls")
    calls.run(150, 5, tally, show=False)
    assert str(tally) == f"{kind}: 150 calls"
