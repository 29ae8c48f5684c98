"""No false alarms about vocabularies that everybody uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from hf_bpe.doctor import examine
from tests.support.vocabularies import CL100K_FILE, GPT2_ENCODER_FILE, TEKKEN_FILE


@pytest.mark.parametrize("file", [CL100K_FILE, GPT2_ENCODER_FILE, TEKKEN_FILE], ids=["cl100k", "gpt2", "tekken"])
def test_published_vocabularies_are_clean(file: Path) -> None:
    assert examine(file) == []
