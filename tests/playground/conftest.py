from __future__ import annotations

import json

import pytest

from tests.support.playground import call, listening, sample_shelf


@pytest.fixture(scope="module")
def address():
    """A playground of the samples."""
    with listening(sample_shelf(), hosts={"127.0.0.1"}) as found:
        yield found


@pytest.fixture(scope="module")
def look(address):
    """Ask for a text; gives the answer."""

    def ask(text="", tokenizers=("t0",), **fields):
        return call(f"{address}/look", json.dumps({"text": text, "tokenizers": tokenizers, **fields}).encode())

    return ask
