"""The page of a comparison: whole, by itself, in both colour schemes, the same each time, safe with any names."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from hf_bpe import ReportError
from hf_bpe.analysis import Comparison, compare
from hf_bpe.analysis.report import tables
from hf_bpe.analysis.report.plots import bytes_per_token
from hf_bpe.pages import plots
from tests.support.vocabularies import byte_spec, cl100k_encoder

NASTY = "<b>$x_1$ & _\"'"


@pytest.fixture(scope="module")
def found() -> Comparison:
    corpora = {NASTY: iter(["some text"]), "中文": iter(["中文"])}
    return compare({NASTY: byte_spec(), "cl": cl100k_encoder()}, corpora, prices={NASTY: 1}, progress=False)


@pytest.fixture(scope="module")
def page(found) -> str:
    return found.to_html()


class Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def read(page) -> Read:
    reader = Read()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_nothing_is_fetched(read):
    for tag, attributes in read.tags:
        assert tag not in ("script", "link", "img", "iframe", "object")
        for name in ("href", "src", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")


def test_plots_are_drawn_and_described_and_their_ids_do_not_clash(page, read):
    figures = [attributes for tag, attributes in read.tags if tag == "figure"]
    assert len(figures) >= 7
    assert all(figure["role"] == "img" and figure["aria-label"] for figure in figures)
    svgs = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(svgs) == len(figures)
    for svg in svgs:
        ElementTree.fromstring(svg)
    clipped = [set(re.findall(r'<clipPath id="([^"]+)"', svg)) for svg in svgs]
    assert sum(map(len, clipped)) == len(set().union(*clipped))


def test_every_table_has_a_caption_and_headings_of_rows_and_columns(page, read):
    shown = [tag for tag, _ in read.tags if tag in ("table", "caption")]
    assert shown == ["table", "caption"] * (len(shown) // 2)
    assert all("scope" in attributes for tag, attributes in read.tags if tag == "th")


def test_names_are_text_wherever_they_stand(page, read):
    assert NASTY in read.text
    assert "<b>" not in page
    assert "$x_1$" in read.text  # in the plots too, where it would be a formula


def test_both_colour_schemes_are_there(page):
    assert "prefers-color-scheme: dark" in page
    assert "color-scheme" in page


def test_it_is_the_same_each_time(found, page):
    assert found.to_html() == page


def test_bars_are_left_out_where_there_is_no_figure(found):
    rows = tables.by_corpus(found.content, "tokens_per_word").rows
    assert rows[1] == ["中文", "-", "-"]
    assert tables.by_corpus(found.content, "cost").rows[0][2] == "-"


def test_more_tokenizers_than_colours():
    svg = bytes_per_token({f"t{number}": {"x": number + 1.0, "y": None} for number in range(13)})
    assert all(f">t{number}<" in svg for number in range(13))
    assert "<pattern" in svg  # hatched where colours come again


def test_without_matplotlib_it_says_what_to_install(found, monkeypatch):
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(ReportError, match=r"pip install 'hf-bpe\[plots\]'"):
        found.to_html()
    assert found.to_markdown()


def test_markdown_tables_are_rectangular_and_hold_names_as_they_are(found):
    lines = [line for line in found.to_markdown().splitlines() if line.startswith("|")]
    assert lines
    assert r"\<b>$x\_1$ & \_" in lines[2]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines[:4]}
    assert len(widths) == 1
