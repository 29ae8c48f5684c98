from __future__ import annotations

from importlib import import_module

import pytest


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a few documents, so that small files show what large ones meet."""
    monkeypatch.setattr(import_module("hf_bpe.encoding.encode"), "BLOCK_BYTES", 500)
