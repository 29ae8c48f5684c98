"""Every method of `hf_bpe.tiktoken.Encoding` against tiktoken's, errors included: the same calls to both.

What differs on purpose (docs/tiktoken.md) is not compared, only run: calls in which tiktoken panics, surrogates where it raises
`UnicodeEncodeError`. Special tokens that begin one another are not tried.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import regex
import tiktoken
from tqdm import tqdm

import conversion
from hf_bpe.tiktoken import Encoding
from tests.fuzz.subjects import Mismatch, Tally
from tests.fuzz.texts import strings
from tests.support.official import TIKTOKEN_PATTERNS
from tests.support.vocabularies import CL100K_SPECIALS, cl100k_ranks, gpt2_spec

SPECIALS = {
    "<|endoftext|>": 0,
    "<|fim_prefix|>": 1,
    "[é]": 2,
    "  ": 3,
    "ab": 4,
    "\n\n": 5,
    "\U0001f600": 6,
    "b\n": 7,
}  # of which some overlap
_PATTERNS = [*TIKTOKEN_PATTERNS.values(), r"[\s\S]", r"a+|[^a]", r"\w+", r"\s+|\S+", r"[ab]+c?|."]
# Of tiktoken's methods one reads the pattern with Python's `regex`, which refuses some that its Rust engine takes.
_ERRORS = (KeyError, UnicodeEncodeError, UnicodeDecodeError, ValueError, TypeError, OverflowError, AssertionError, regex.error)

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
Pair = tuple[Encoding, tiktoken.Encoding]


def both(name: str, pat_str: str, ranks: dict[bytes, int], specials: dict[str, int]) -> Pair:
    """One encoding in both."""
    made: dict[str, Any] = {"pat_str": pat_str, "mergeable_ranks": ranks, "special_tokens": specials}
    return Encoding(name, **made), tiktoken.Encoding(name, **made)


@cache
def published(name: str) -> Pair:
    """gpt2 or cl100k, out of packages."""
    if name == "cl100k":
        return both(name, TIKTOKEN_PATTERNS[name], cl100k_ranks(), CL100K_SPECIALS)
    return both(name, TIKTOKEN_PATTERNS[name], dict(gpt2_spec().vocab), dict(gpt2_spec().special_tokens))


def of_file(path: Path) -> Pair:
    """A rank file named after its pattern: o200k_base.tiktoken."""
    name = path.stem.removesuffix("_base")
    ranks = dict(conversion.load(path, pattern=name).vocab)
    top = max(ranks.values()) + 1
    return both(name, TIKTOKEN_PATTERNS[name], ranks, {"<|endoftext|>": top, "<|endofprompt|>": top + 19})


def random_pair(generator: random.Random) -> Pair:
    """Tokens made of tokens and others that merging may not reach, ranks with gaps, and some special tokens in any order."""
    tokens = [bytes([byte]) for byte in range(256)]
    generator.shuffle(tokens)
    known = [character.encode() for character in "abc \n'1é中"] + [bytes([byte]) for byte in "aé中".encode()]
    for _ in range(generator.randrange(60)):
        known.append(b"".join(generator.choices(known, k=2))[:12])
    tokens = list(dict.fromkeys([*tokens, *(token for token in known if token)]))
    ranks = dict(zip(tokens, sorted(generator.sample(range(len(tokens) + 20), len(tokens))), strict=True))
    free = len(tokens) + 20
    # Some stand among the ranks too, under the same id.
    specials = {special: ranks.get(special.encode(), free + 2 * number) for special, number in SPECIALS.items()}
    chosen = generator.sample(sorted(specials), generator.randrange(len(specials)))
    return both("random", generator.choice(_PATTERNS), ranks, {special: specials[special] for special in chosen})


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    """What a call gives, or the built-in error that it raises, with its message where callers may look at that."""
    try:
        return "value", _plain(call())
    except _ERRORS as error:
        kind = next(kind for kind in _ERRORS if isinstance(error, kind))
        said = error.args[0] if kind in (KeyError, ValueError) and error.args else None
        return kind.__name__, said


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.tolist()
    if (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[1], list)
        and value[1]
        and isinstance(value[1][0], list)
    ):
        return value[0], sorted(value[1])  # of encode_with_unstable, which has no order
    return value


def check(pair: Pair, call: Call, where: str) -> None:
    """One call of both. Raises `Mismatch`."""
    ours, official = pair
    method, given, named = call
    found = outcome(lambda: getattr(ours, method)(*given, **named))  # a panic of ours is none of the errors, and ends the run
    try:
        expected = outcome(lambda: getattr(official, method)(*given, **named))
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return  # listed: tiktoken panics
    if expected[0] == "UnicodeEncodeError" and method in ("encode_to_numpy", "encode_with_unstable"):
        return  # listed: surrogates
    if found != expected:
        specials = official._special_tokens
        about = f"{official.name}, {where}: {method}{given!a} {named!a}, pat_str={official._pat_str!a}, specials={specials!a}"
        ranks = official._mergeable_ranks if len(official._mergeable_ranks) < 1000 else "..."
        raise Mismatch(f"{about}\nranks={ranks}\nours = {str(found)[:2000]}\ntiktoken = {str(expected)[:2000]}")


def sets(generator: random.Random, specials: Iterable[str]) -> dict[str, Any]:
    """allowed_special and disallowed_special, now and then nonsense."""
    known = [*specials, "x", "<|nope|>"] if generator.random() < 0.2 else list(specials)

    def some() -> set[str]:
        return set(generator.sample(known, generator.randrange(len(known) + 1)))

    named: dict[str, Any] = {}
    if generator.random() < 0.7:
        named["allowed_special"] = generator.choice(["all", some(), frozenset(some()), some(), some()])
    if generator.random() < 0.7:
        named["disallowed_special"] = generator.choice(["all", (), some(), list(some()), tuple(some())])
    if generator.random() < 0.03:  # of two that are wrong either may be told
        nonsense = generator.choice([None, 5, [], ["ab"], "ab"])
        named = generator.choice([{"allowed_special": nonsense, "disallowed_special": ()}, {"disallowed_special": nonsense}])
    return named


def with_specials(text: str, specials: Iterable[str], generator: random.Random) -> str:
    """The text with special tokens, or parts of them, put into it."""
    at = generator.randrange(len(text) + 1)
    # Listed: two surrogates that are a special token get past tiktoken's check.
    pair = "\ud83d" if "\U0001f600" in specials else "\ud83d\ude00"
    special = generator.choice([*specials, "<|", "\ud83d", pair, "<|endoftext|>"])
    return text[:at] + special + text[at:] if generator.random() < 0.4 else text


def any_ids(official: tiktoken.Encoding, generator: random.Random) -> list[Any]:
    """Ids, known ones more often than others."""
    top = generator.choice([300, official.n_vocab, official.n_vocab + 2])
    ids: list[Any] = [generator.randrange(top) for _ in range(generator.randrange(6))]
    if generator.random() < 0.05:
        ids.append(generator.choice([-1, 2**31, 2**32, "a", 1.5, None, 2**70]))
    return ids


def calls(official: tiktoken.Encoding, text: str, generator: random.Random) -> list[Call]:
    """A call of every method with something like this text."""
    specials = sorted(official.special_tokens_set)
    text = with_specials(text, specials, generator)
    policy = sets(generator, specials)
    ids = official.encode_ordinary(text) if generator.random() < 0.7 else any_ids(official, generator)
    rows = [any_ids(official, generator) if generator.random() < 0.1 else ids[:n] for n in range(3)]
    content = text.encode("utf-8", "surrogatepass")
    cut = content[generator.randrange(4) : generator.randrange(len(content) + 1)]
    one = generator.choice([*any_ids(official, generator), 5])
    threads = {"num_threads": generator.choice([1, 2, 8, 8, None, 0])} if generator.random() < 0.1 else {}
    errors = {"errors": generator.choice(["replace", "strict", "ignore"])}
    piece = generator.choice([text[:3], cut[:2], text[-2:], *specials, 5])
    made: list[Call] = [
        ("encode", (text,), policy),
        ("encode", (text,), {}),
        ("encode_ordinary", (text,), {}),
        ("encode_to_numpy", (text,), policy),
        ("encode_batch", ([text, "a", text[1:]],), threads or policy),
        ("encode_ordinary_batch", ([text, text[:2]],), threads),
        ("encode_single_token", (piece,), {}),
        ("decode_bytes", (ids,), {}),
        ("decode", (ids,), errors),
        ("decode_with_offsets", (ids,), {}),
        ("decode_tokens_bytes", (ids,), {}),
        ("decode_batch", (rows,), errors | threads),
        ("decode_bytes_batch", (rows,), threads),
        ("decode_single_token_bytes", (one,), {}),
        ("is_special_token", (one,), {}),
        ("_encode_bytes", (cut,), {}),
        ("_encode_single_piece", (piece or "a",), {}),  # listed: tiktoken panics on nothing
        ("_encode_only_native_bpe", (text.encode("utf-8", "replace").decode(),), {}),
    ]
    if generator.random() < 0.25:  # takes as long as all the others together
        made.append(("encode_with_unstable", (text[:12],), policy))
    return made


def check_attributes(pair: Pair) -> None:
    """What is no call with a text."""
    ours, official = pair
    names = ("name", "max_token_value", "n_vocab", "special_tokens_set", "eot_token", "_pat_str", "_mergeable_ranks")
    for name in (*names, "_special_tokens", "_special_token_values"):
        found, expected = (outcome(partial(getattr, encoding, name)) for encoding in pair)
        if found != expected:
            raise Mismatch(f"{official.name}: {name} is {str(found)[:500]}, and in tiktoken {str(expected)[:500]}")
    if (repr(ours), ours.token_byte_values()) != (repr(official), official.token_byte_values()):
        raise Mismatch(f"{official.name}: repr or token_byte_values differ")


def check_text(pair: Pair, text: str, generator: random.Random, where: str) -> int:
    """Every method; returns how many calls that were."""
    made = calls(pair[1], text, generator)
    for call in made:
        check(pair, call, where)
    return len(made)


def run(count: int, folder: Path | None, seed: int, tally: Tally) -> None:
    """So many calls, a third of them on random vocabularies."""
    pairs = [lambda: published("gpt2"), lambda: published("cl100k")]
    for path in sorted(folder.glob("*_base.tiktoken")) if folder else ():
        pair = of_file(path)
        pairs.append(lambda pair=pair: pair)
    for pair in pairs:
        check_attributes(pair())
    with tqdm(total=count, unit=" calls", unit_scale=True) as bar:
        done = number = 0
        while done < count:
            generator = random.Random(f"{seed} {number}")
            pair = random_pair(generator) if number % 3 == 0 else pairs[number % len(pairs)]()
            check_attributes(pair) if number % 3 == 0 else None
            texts = strings(60, generator, "The quick brown fox, don't you know?\n\n  It's 1234 é中 😉 " * 40)
            calls_made = sum(check_text(pair, text, generator, f"batch {number} of seed {seed}") for text in texts[:60])
            done += calls_made
            number += 1
            bar.update(calls_made)
            tally.add(pair[1].name, calls_made)
