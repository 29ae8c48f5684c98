"""Steps behind ByteLevel, which see bytes: Falcon's, run by `tokenizers` and by us."""

from __future__ import annotations

import json
import random
from functools import cache

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from conversion.tokenizer_json import from_dict
from hf_bpe import ConversionRefused, Encoder

# Bytes that are spelled as digits or marks, inside characters of two to four bytes, beside digits and each other.
PARTS = [
    *"1207 .,a", "12", "345", "2²", "²3", "½", "¼1", "¹³", "粲", "伽", "¡", "«", "»x", "·", "é", "𝼼", "ậ", "ế", "1,234,567",
    "\u0bfb", "\ufbbc", "¿1", "x2y", "\n", "  ",
]  # fmt: skip


def text_of(generator, length):
    return "".join(generator.choices(PARTS, k=length))


ROWS = {
    "Falcon": lambda: [
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
    ],
    "digits alone": lambda: [pre_tokenizers.ByteLevel(add_prefix_space=True), pre_tokenizers.Digits(individual_digits=True)],
    "marks": lambda: [pre_tokenizers.ByteLevel(add_prefix_space=False), pre_tokenizers.Punctuation("isolated")],
    "runs of marks": lambda: [
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.Split(Regex("[a-z]|12"), "isolated"),
    ],
}


@cache
def trained(row: str) -> Tokenizer:
    """A vocabulary that the steps made."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(ROWS[row]())
    tokenizer.decoder = decoders.ByteLevel()
    generator = random.Random(1)
    # No digit or mark right behind a byte that is spelled as one: both would stand in one token, and that is refused.
    apart = [part for part in PARTS if len(part) < 2 or part[0].isascii()]
    texts = ["a".join(generator.choices(apart, k=30)) for _ in range(300)]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, special_tokens=["<s>"], show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@pytest.mark.parametrize("row", ROWS)
def test_ids_are_those_of_tokenizers(row):
    stock = trained(row)
    spec = from_dict(json.loads(stock.to_str()), "x")
    generator = random.Random(2)
    texts = [text_of(generator, generator.randrange(1, 9)) for _ in range(3000)]
    expected = [encoding.ids for encoding in stock.encode_batch_fast(texts)]
    assert Encoder(spec).encode_ordinary_batch(texts) == expected
    assert Encoder(spec, engine="reference").encode_ordinary_batch(texts[:300]) == expected[:300]


def test_a_vocabulary_of_other_training_is_refused():
    data = json.loads(trained("Falcon").to_str())
    vocab, merges = data["model"]["vocab"], data["model"]["merges"]
    vocab["Â²"] = 600
    merges.append(["Â", "²"])
    with pytest.raises(ConversionRefused, match=r"holds Digits behind ByteLevel, .* the token 'Â²' reaches over such a place"):
        from_dict(data, "x")
    del vocab["Â²"]
    vocab["¾½"] = 600
    merges[-1] = ["¾", "½"]
    assert from_dict(data, "x").stages
    data["model"]["ignore_merges"] = True
    with pytest.raises(ConversionRefused, match=r"the token '[²³¹¼½¾]+' reaches"):
        from_dict(data, "x")


@pytest.mark.parametrize(
    "step",
    [
        {"type": "Split", "pattern": {"Regex": "[0-9](?=a)"}, "behavior": "Isolated", "invert": False},
        {"type": "Split", "pattern": {"Regex": "[^a]b"}, "behavior": "Isolated", "invert": False},
        {"type": "Split", "pattern": {"String": "é"}, "behavior": "MergedWithNext", "invert": False},
        {"type": "Split", "pattern": {"Regex": "\\A1"}, "behavior": "Isolated", "invert": False},
        {"type": "Punctuation", "behavior": "MergedWithPrevious"},
    ],
)
def test_what_may_mean_another_thing_for_bytes_is_refused(step):
    data = json.loads(trained("marks").to_str())
    data["pre_tokenizer"]["pretokenizers"][1] = step
    with pytest.raises(ConversionRefused, match="behind ByteLevel, where it sees bytes"):
        from_dict(data, "x")


def test_bytes_spelled_twice_are_refused():
    data = json.loads(trained("marks").to_str())
    data["pre_tokenizer"]["pretokenizers"][1] = data["pre_tokenizer"]["pretokenizers"][0]
    with pytest.raises(ConversionRefused, match="holds ByteLevel twice"):
        from_dict(data, "x")
