"""Ends of texts: every continuation over a small alphabet against what is said of all."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

from hf_bpe import NAMED_PATTERNS, AddedToken, Encoder, TokenizerSpec
from hf_bpe.borders import Completions, encode_with_completions
from hf_bpe.errors import BorderError
from tests.fuzz.random_specs import random_vocabulary
from tests.fuzz.subjects import Mismatch, Tally
from tests.support.pieces import random_pieces_spec

TEXTS_EACH = 4
CONTINUATIONS = 400
ALPHABETS = ("ab", "abc", "a \n", "a's l", "é中", "a1 é")
PATTERNS = [
    None,
    r"a+|[^a]",
    r"\s+|\S+",
    r"[\s\S]",
    r"\p{L}+|\p{N}|[^\p{L}\p{N}]+",
    r"(?i:a|bc)+|[\s\S]",
    r"\S{1,3}|\s",
    r"\w+(?!\S)|\s|\S",
    r"ab(?=c)|[\s\S]",
    *(named.pattern for named in NAMED_PATTERNS.values()),
]


def random_case(generator: random.Random) -> tuple[TokenizerSpec, str]:
    """A tokenizer whose ends of texts can be known, and its alphabet."""
    alphabet = generator.choice(ALPHABETS)
    if generator.random() < 0.25:
        spec = random_pieces_spec(generator, "ab \u2581")
        rules = spec.sentencepiece
        assert rules is not None
        pieces = tuple(p if p.kind in ("unknown", "control") else replace(p, kind="normal") for p in rules.pieces)
        changes = {"treat_whitespace_as_suffix": False, "escape_whitespaces": True, "remove_extra_whitespaces": False}
        return spec.replace(sentencepiece=replace(rules, pieces=pieces, **changes)), "ab é"
    vocab, merges = random_vocabulary(generator, alphabet)
    contents = generator.sample(["<s>", alphabet[:2], alphabet[0] * 3, "b" + alphabet], generator.choice((0, 0, 0, 1, 2)))
    free = 1 + max(vocab.values())
    added = [AddedToken(c, vocab.get(c.encode(), free + n), special=False) for n, c in enumerate(dict.fromkeys(contents))]
    pattern, looks_up = generator.choice(PATTERNS), generator.random() < 0.4
    return TokenizerSpec(
        vocab=vocab, merges=merges, pattern=pattern, ignore_merges=looks_up, added_tokens=tuple(added)
    ), alphabet


def continuations(alphabet: str) -> list[str]:
    """The shortest ones, as many as there is time for."""
    runs = itertools.chain.from_iterable(itertools.product(alphabet, repeat=length) for length in range(9))
    return ["".join(run) for run in itertools.islice(runs, CONTINUATIONS)]


def wrong_with(encoder: Encoder, text: str, said: Completions, behind: list[str]) -> str | None:
    """What is said of the end of a text and is not so; None if nothing."""
    stable = said.stable
    for ids, example in said.sequences.items():
        if encoder.encode(text + example, disallowed_special=())[: len(stable) + len(ids)] != [*stable, *ids]:
            return f"{text!a} + {example!a} does not begin with {stable} and {ids}"
    for added in behind:
        whole = encoder.encode(text + added, disallowed_special=())
        rest = tuple(whole[len(stable) :])
        if whole[: len(stable)] != stable or sum(rest[:n] in said.sequences for n in range(len(rest) + 1)) != 1:
            return f"{text!a} + {added!a} gives {whole}, not {stable} and one of {[*said.sequences]}"
    return None


def run_completions(number: int, seed: int, tally: Tally) -> None:
    """One tokenizer and a few texts."""
    generator = random.Random(f"borders {seed} {number}")
    spec, alphabet = random_case(generator)
    encoder, behind = Encoder(spec), continuations(alphabet)
    for _ in range(TEXTS_EACH):
        text = "".join(generator.choices(alphabet, k=generator.randint(0, 7))) + generator.choice(["", "", "", "<", "<s"])
        try:
            said = encode_with_completions(encoder, text, disallowed_special=())
        except BorderError:
            tally.add("borders, not known", 1)
            continue
        wrong = wrong_with(encoder, text, said, behind)
        if wrong is not None:
            raise Mismatch(
                f"tokenizer {number} of seed {seed}: {wrong}; pattern={spec.pattern!r}, added_tokens={spec.added_tokens}"
            )
        tally.add("borders", 1)
