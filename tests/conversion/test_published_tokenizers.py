"""Real vocabularies through every format and back, each file run by the library it is made for."""

from __future__ import annotations

import argparse

import pytest

import conversion
from tests.support.text import generated_text
from tests.support.vocabularies import cl100k_spec, gpt2_spec, spec_of_ranks, tekken

TARGETS = {"tiktoken": "x.tiktoken", "gpt2": "pair", "vocab-merges": "pair", "tokenizer.json": "tokenizer.json"}


def tekken_spec():
    ranks, pattern = tekken()
    return spec_of_ranks(ranks, pattern=pattern)


@pytest.mark.parametrize("vocabulary", [gpt2_spec, cl100k_spec, tekken_spec])
def test_through_every_format_and_back_no_document_differs(tmp_path, vocabulary):
    spec = vocabulary()
    texts = [generated_text(seed, 2000) for seed in range(20)]
    for name, target in TARGETS.items():
        path = tmp_path / name / target
        conversion.save(spec, path, format=name)
        report = conversion.verify(spec, path, corpus=argparse.__file__, texts=texts, loader=("own", "official"))
        assert report.documents > 300
        assert report.equal, report.summary()
        spec = conversion.load(path)
        assert spec.provenance["format"] == name
    assert conversion.verify(spec, vocabulary()).proof
