"""Small blocks, so that small corpora are read and counted in many."""

import pytest


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("hf_bpe.training.corpus._BLOCK_BYTES", 500)
    monkeypatch.setattr("hf_bpe.training.counting.tally.ENOUGH_BYTES", 700)
    monkeypatch.setattr("hf_bpe.training.counting.tally._PART_BYTES", 100)
    monkeypatch.setattr("hf_bpe.training.counting.runs.BLOCK_WORDS", 16)


@pytest.fixture
def tiny_budget(monkeypatch):
    """Every batch fills the memory."""
    monkeypatch.setattr("hf_bpe.training.counting.make.for_tables", lambda limit: 1)
