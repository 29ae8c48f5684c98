from __future__ import annotations

import signal

import hypothesis
import pytest

import hf_bpe
from conversion.sentencepiece.model import parse_model
from tests.support.pieces import model
from tests.support.vocabularies import cl100k_encoder

# The same examples in every run; `--hypothesis-profile=explore` looks for new ones.
hypothesis.settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=2000)
hypothesis.settings.load_profile("suite")


def pytest_configure() -> None:
    """The suite compares two engines; without the compiled one it would compare the reference with itself."""
    if not hf_bpe.native_available():
        pytest.exit("the native engine is not installed: install a Rust toolchain, then `pip install -e .`", returncode=3)


# In the background job of a shell Ctrl-C is ignored, and so would every process be started that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def cl100k() -> hf_bpe.Encoder:
    """OpenAI's cl100k_base, with its special tokens."""
    return cl100k_encoder()


@pytest.fixture(scope="session")
def llama() -> hf_bpe.Encoder:
    """Mistral v1: a SentencePiece model of the Llama 2 kind."""
    return hf_bpe.Encoder(parse_model(model("mistral v1"), "mistral v1"))
