"""docs/doctor.md lists the lints that there are."""

from __future__ import annotations

from pathlib import Path

from hf_bpe.doctor import LINTS

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"


def test_the_table_of_the_page_is_the_registry() -> None:
    expected = [f"| `{lint.code}` | {lint.severity} | {lint.title} |" for lint in LINTS.values()]
    found = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert found == expected


def test_every_lint_has_a_title_and_a_code_of_plain_words() -> None:
    for lint in LINTS.values():
        assert lint.title
        assert "|" not in lint.title
        assert lint.code.replace("-", "").isalnum()
