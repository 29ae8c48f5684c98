"""Importing the package is cheap, and says once what is missing."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_import_does_not_load_heavy_packages() -> None:
    heavy = ["transformers", "torch", "ray", "tokenizers", "tiktoken", "numpy", "huggingface_hub", "typer", "rich"]
    code = f"import sys, hf_bpe, conversion; print([name for name in {heavy} if name in sys.modules])"
    assert run(code) == "[]\n"


def test_editing_loads_no_framework() -> None:
    code = "import sys, hf_bpe.editing; print([n for n in ('transformers', 'torch', 'safetensors') if n in sys.modules])"
    assert run(code) == "[]\n"


def test_the_names_of_tiktoken_and_minbpe_do_not_load_transformers() -> None:
    code = "import sys; from hf_bpe import minbpe, tiktoken; print([n for n in ('transformers', 'torch') if n in sys.modules])"
    assert run(code) == "[]\n"


def test_without_the_native_engine_one_warning_says_how_to_get_it_and_results_are_the_same() -> None:
    code = """
import sys
sys.modules["hf_bpe.engine.native"] = None
import hf_bpe
spec = hf_bpe.train(iter(["aaabdaaabac"]), 259, pattern=None, progress=False)
print(hf_bpe.Encoder(spec).engine, hf_bpe.Encoder(spec).encode_ordinary("aaabdaaabac"))
try:
    hf_bpe.Encoder(spec, engine="native")
except hf_bpe.EngineUnavailableError as error:
    print("refused")
"""
    output = run(code)
    assert "reference [258, 100, 258, 97, 99]\nrefused\n" in output
    assert output.count("RuntimeWarning: hf_bpe runs without its native engine") == 1
    assert "Rust toolchain" in output
