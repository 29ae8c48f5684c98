"""Every example in a docstring gives what it says."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import conversion
import hf_bpe

PROGRAMS = {"hf_bpe.cli.__main__", "hf_bpe.cli.probe"}  # importing them runs them

MODULES = sorted(
    {package.__name__ for package in (hf_bpe, conversion)}
    | {
        module.name
        for package in (hf_bpe, conversion)
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
        if module.name not in PROGRAMS
    }
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
