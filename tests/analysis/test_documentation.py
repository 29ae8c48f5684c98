"""The examples of docs/looking.md and docs/compare.md give what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.support.vocabularies import cl100k_encoder, gpt2_spec

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("name", "at_least"), [("looking.md", 15), ("compare.md", 6)])
def test_every_example(name, at_least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = (DOCS / name).read_text("utf-8").replace("```python", "").replace("```", "")
    known = {"encoder": cl100k_encoder(), "spec": gpt2_spec()}
    examples = doctest.DocTestParser().get_doctest(written, known, name, str(DOCS / name), 0)
    assert len(examples.examples) > at_least
    assert doctest.DocTestRunner().run(examples).failed == 0
