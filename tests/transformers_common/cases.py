"""The classes that transformers' tests run in: one for each dialect, each with a tokenizer trained on the spot."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

import pytest
from transformers import PreTrainedTokenizerFast, TokenizersBackend
from transformers_tests import test_tokenization_common
from transformers_tests.test_sentencepiece_backend_mixin import SentencePieceBackendTesterMixin
from transformers_tests.test_tokenization_common import TokenizerTesterMixin
from transformers_tests.test_tokenizers_backend_mixin import TokenizersBackendTesterMixin

from hf_bpe.plugin import HfBpeTokenizer

NOT_APPLICABLE = {
    "test_tokenizer_store_full_signature": "wants every argument among those that are copied and saved; a spec is a vocabulary",
    "test_integration_from_extractor": "makes tokenizers of `vocab` and `merges`; ours are made of a spec",
}
"""Tests that cannot apply, and why."""

NOT_APPLICABLE_TO_PIECES = {
    "test_alignment_methods": "counts words; SentencePiece splits nothing, and transformers leaves its own models out too",
    "test_training_new_tokenizer": "takes the normalised text, which has `▁` for spaces, for the decoded one; the stock class fails too",
    "test_training_new_tokenizer_with_special_tokens_change": "the same",
    "test_add_tokens": "wants an AssertionError, which is a ValueError in transformers 5; its own classes have another test instead",
    "test_pretokenized_inputs": "wants words to be the text that they make; each has a `▁`, where a text has its space besides",
}
"""The same for the SentencePiece dialect alone."""

# Where they ask whether a tokenizer is of the stock class they mean whether windows and offsets come the way of fast tokenizers.
test_tokenization_common.TokenizersBackend = (TokenizersBackend, HfBpeTokenizer)

DOCS = Path(__file__).parents[2] / "docs"
WORDS = "Wonderful no inspiration example with subtoken. This is a test. "
BYTES = 300
"""What a vocabulary needs beside what it learns. Stock trainers go beyond a size that is too small; ours say so."""


class Roomy(HfBpeTokenizer):
    """Ours, but for a training that asks for 100 tokens, bytes included."""

    def train_new_from_iterator(self, text_iterator: Any, vocab_size: int, *arguments: Any, **options: Any) -> HfBpeTokenizer:
        return super().train_new_from_iterator(text_iterator, vocab_size + BYTES, *arguments, **options)


def trained(dialect: str, **settings: Any) -> HfBpeTokenizer:
    corpus = [path.read_text("utf-8") for path in sorted(DOCS.glob("*.md"))]
    return HfBpeTokenizer.train([*corpus, WORDS * 50], 2000, dialect=dialect, progress=False, **settings)


class CommonTests(TokenizerTesterMixin, TokenizersBackendTesterMixin):
    """All of them, on a folder that `setUpClass` saves. What the stock class makes of it is what the integration test expects."""

    tokenizer_class = rust_tokenizer_class = Roomy
    not_applicable: ClassVar[dict[str, str]] = NOT_APPLICABLE
    settings: ClassVar[dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        trained(**cls.settings).save_pretrained(folder.name)
        cls.from_pretrained_id = folder.name
        stock = PreTrainedTokenizerFast.from_pretrained(folder.name)
        cls.integration_expected_tokens = stock.tokenize(cls.integration_test_input_string)
        cls.integration_expected_token_ids = stock.encode(cls.integration_test_input_string, add_special_tokens=False)
        cls.integration_expected_decoded_text = stock.decode(cls.integration_expected_token_ids)
        super().setUpClass()

    def setUp(self) -> None:
        reason = self.not_applicable.get(self._testMethodName)
        if reason is not None:
            self.skipTest(reason)

    @classmethod
    def get_tokenizer(cls, *arguments: Any, **options: Any) -> Any:
        tokenizer = super().get_tokenizer(*arguments, **options)
        tokenizer.backend = "tokenizers"  # others are not asked for alignment
        return tokenizer


class ByteLevelTests(CommonTests, unittest.TestCase):
    """The byte-level dialect."""

    settings: ClassVar[dict[str, Any]] = {
        "dialect": "byte_level",
        "pattern": "gpt2",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
    }


class SentencePieceTests(CommonTests, SentencePieceBackendTesterMixin, unittest.TestCase):
    """The SentencePiece dialect."""

    settings: ClassVar[dict[str, Any]] = {"dialect": "sentencepiece", "preset": "llama2", "pad_token": "<pad>"}
    not_applicable: ClassVar[dict[str, str]] = NOT_APPLICABLE | NOT_APPLICABLE_TO_PIECES
    test_sentencepiece = test_slow_tokenizer = test_rust_tokenizer = True


@pytest.mark.parametrize("tests", [ByteLevelTests, SentencePieceTests])
def test_what_does_not_apply_is_a_test_that_exists(tests: type[CommonTests]) -> None:
    assert all(hasattr(tests, name) for name in tests.not_applicable)
