"""docs/editing.md says what is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

from hf_bpe.editing import IdMap
from hf_bpe.editing.starting_rows import INITS
from hf_bpe.vocabulary.findings import Finding

PAGE = (Path(__file__).parents[2] / "docs" / "editing.md").read_text("utf-8")


def test_the_id_map_of_the_page_is_one() -> None:
    (written,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert IdMap.from_dict(json.loads(written)).to_bytes().decode() == written


def test_the_table_of_the_page_names_every_way_of_making_rows() -> None:
    assert set(INITS) <= set(re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE))


def test_the_table_of_the_page_names_every_finding() -> None:
    table = re.search(r"^\| finding \|.*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    assert table is not None
    named = re.findall(r"^\| ([^|]+?) \|", table[0], re.MULTILINE)[1:]
    assert sorted(named) == sorted(get_args(Finding))


def test_the_python_of_the_page_compiles() -> None:
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)):
        compile(code, f"docs/editing.md, {number}", "exec")
