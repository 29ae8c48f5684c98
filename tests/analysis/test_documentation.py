"""The examples of docs/looking.md give what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

from tests.support.vocabularies import cl100k_encoder

PAGE = Path(__file__).parents[2] / "docs" / "looking.md"


def test_every_example() -> None:
    written = PAGE.read_text("utf-8").replace("```python", "").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(written, {"encoder": cl100k_encoder()}, PAGE.name, str(PAGE), 0)
    assert len(examples.examples) > 15
    assert doctest.DocTestRunner().run(examples).failed == 0
