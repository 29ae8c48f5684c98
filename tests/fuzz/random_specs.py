"""Random small tokenizers: the native engine against the reference, in every call."""

from __future__ import annotations

import base64
import random
from typing import Any

from tqdm import tqdm

from hf_bpe import NAMED_PATTERNS, AddedToken, Encoder, TokenizerSpec
from hf_bpe.engine import native
from hf_bpe.errors import HfBpeError
from hf_bpe.normalizers import Prepend, Replace
from tests.fuzz.subjects import Mismatch, Tally, shown, shrink
from tests.fuzz.texts import any_character
from tests.support.text import TROUBLE
from tests.support.vocabularies import BYTES

ALPHABETS = ["ab", "abc é中", "中国人大", "กขาำ ", "aA's 1\n", "éèê", "😉👍🏽\u200d", " \n\ta", "0123a", "-=_ /a"]
PATTERNS = [
    None,
    r"a+|[^a]",
    r"\s+|\S+",
    r"[\s\S]",
    r"\p{L}+|\p{N}|[^\p{L}\p{N}]+",
    r"(?i:a|bc)+|.",
    r"\w+(?!\S)|\s",
    r"\S{1,3}",
]
STAGES = (r"\p{N}", r"[a-z]{1,2}|\s+", r"\p{Han}+|[^\p{Han}]+", r"\p{P}")
STEPS = ("NFC", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip", Prepend("é"), Replace(r"\s+", " "))
TEXTS = 12


def random_vocabulary(generator: random.Random, alphabet: str) -> tuple[dict[bytes, int], tuple[tuple[bytes, bytes], ...]]:
    """Tokens made by merges in any order, some in two ways, some by none."""
    known = [bytes([byte]) for byte in sorted(set(alphabet.encode()))]
    merges: dict[tuple[bytes, bytes], None] = {}
    for _ in range(int(120 ** generator.random())):
        left, right = generator.choice(known), generator.choice(known)
        if generator.random() < 0.3:
            right = left
        if len(left + right) <= generator.choice((4, 16, 40, 80)):
            merges[left, right] = None
            known.append(left + right)
    whole = ["".join(generator.choices(alphabet, k=generator.choice((2, 3, 5, 8, 15, 16, 31, 70)))).encode() for _ in range(4)]
    tokens = list(dict.fromkeys([*BYTES, *known, *whole]))
    ids = sorted(generator.sample(range(len(tokens) + generator.choice((0, 3, 500))), len(tokens)))
    ranked = list(merges)
    if generator.random() < 0.5:
        generator.shuffle(ids)
    if generator.random() < 0.3:
        generator.shuffle(ranked)
    return dict(zip(tokens, ids, strict=True)), tuple(ranked)


def random_added_tokens(generator: random.Random, vocab: dict[bytes, int], alphabet: str) -> tuple[AddedToken, ...]:
    """Some that stand in the vocabulary, some that begin one another."""
    contents = ["<s>", "<s><s>", "s>", "'s", " ", "\n", alphabet[0], alphabet[:2], "".join(generator.choices(alphabet, k=4))]
    free = 1 + max(vocab.values())
    tokens = []
    for content in dict.fromkeys(generator.sample(contents, generator.choice((0, 0, 1, 2, 4)))):
        token_id = vocab.get(content.encode(), free)
        free += token_id == free
        flags = {name: generator.random() < 0.3 for name in ("single_word", "lstrip", "rstrip", "normalized")}
        tokens.append(AddedToken(content, token_id, special=generator.random() < 0.5, **flags))
    return tuple(tokens)


def random_spec(generator: random.Random, alphabet: str) -> TokenizerSpec:
    """A tokenizer; one in four is read from a rank file."""
    vocab, merges = random_vocabulary(generator, alphabet)
    pattern = generator.choice([*PATTERNS, *(named.pattern for named in NAMED_PATTERNS.values())])
    rules: dict[str, Any] = {
        "pattern": pattern,
        "unmatched": generator.choice(("keep", "keep", "drop")),
        "added_tokens": random_added_tokens(generator, vocab, alphabet),
        "normalizer": tuple(generator.choices(STEPS, k=generator.choice((0, 0, 1, 1, 3)))),
        "add_prefix_space": generator.random() < 0.2,
        "stages": tuple(generator.sample(STAGES, generator.choice((0, 0, 0, 1, 2)))) if pattern else (),
    }
    if generator.random() < 0.25:
        lines = [base64.b64encode(token) + b" %d\n" % rank for token, rank in vocab.items()]
        return TokenizerSpec.from_table(native.Vocabulary.from_rank_file(b"".join(lines)), **rules)
    return TokenizerSpec(vocab=vocab, merges=merges, ignore_merges=generator.random() < 0.5, **rules)


def random_text(generator: random.Random, spec: TokenizerSpec, alphabet: str) -> str:
    """Over the alphabet, with trouble, the added tokens and long runs in it."""
    parts = []
    for _ in range(generator.choice((1, 3, 12))):
        kind = generator.randrange(6)
        if kind < 2:
            parts.append("".join(generator.choices(alphabet, k=generator.choice((1, 3, 10, 20, 90)))))
        elif kind == 2:
            parts.append("".join(generator.choices(TROUBLE, k=5)))
        elif kind == 3:
            parts.append(generator.choice([token.content for token in spec.added_tokens] or [" "]))
        elif kind == 4:
            parts.append(generator.choice(alphabet) * int(200 ** generator.random()))
        else:
            parts.append(any_character(generator))
    return "".join(parts)


def answers(encoder: Encoder, text: str) -> dict[str, Any]:
    """Everything an encoder says of a text."""
    said: dict[str, Any] = {"pieces": encoder.pretokenize(text)}
    for name, policy in (
        ("ordinary", None),
        ("all", {"allowed_special": "all"}),
        ("none", {"disallowed_special": ()}),
        ("default", {}),
    ):
        try:
            ids = encoder.encode_ordinary(text) if policy is None else encoder.encode(text, **policy)
            said[name] = ids
            if policy is not None:
                said[f"{name}, count"] = encoder.count(text, **policy)
                said[f"{name}, array"] = encoder.encode_to_numpy(text, **policy).tolist()
                for unit in ("bytes", "characters"):
                    found = encoder.encode_with_offsets(text, unit=unit, **policy)
                    said[f"{name}, {unit}"] = (found[0].tolist(), found[1].tolist())
            said[f"{name}, bytes"] = encoder.decode_bytes(ids)
        except Exception as error:  # noqa: BLE001 - a defect of either engine is an answer too
            said[name] = type(error).__name__, str(error)
    return said


def run(count: int, seed: int, tally: Tally) -> None:
    """So many tokenizers."""
    for number in tqdm(range(count), unit=" specs", desc="specs"):
        generator = random.Random(f"specs {seed} {number}")
        alphabet = generator.choice(ALPHABETS)
        spec = random_spec(generator, alphabet)
        try:
            fast = Encoder(spec, engine="native")
        except HfBpeError:  # added tokens that normalising makes the same, or nothing
            continue
        texts = [random_text(generator, spec, alphabet) for _ in range(TEXTS)]
        said = [answers(fast, text) for text in texts]
        slow = Encoder(spec, engine="reference")
        for text, found in zip(texts, said, strict=True):
            expected = answers(slow, text)
            if found != expected:
                raise shortest(spec, text, f"tokenizer {number} of seed {seed}", found, expected)
        batch = fast.encode_batch(texts, num_threads=2, disallowed_special=())
        if batch != [expected["none"] for expected in said]:
            raise Mismatch(f"encode_batch differs from encode: tokenizer {number} of seed {seed}")
        tally.add("native against reference", 1)


def both(spec: TokenizerSpec, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What new encoders say."""
    return answers(Encoder(spec, engine="native"), text), answers(Encoder(spec, engine="reference"), text)


def shortest(spec: TokenizerSpec, text: str, where: str, found: dict[str, Any], expected: dict[str, Any]) -> Mismatch:
    """The reproducer, with less text and fewer merges if it still differs."""

    def differs(candidate: str) -> bool:
        ours, theirs = both(spec, candidate)
        return ours != theirs

    if differs(text):
        text = shrink(text, differs)
        for merge in spec.merges:
            whole, fewer = spec, tuple(kept for kept in spec.merges if kept != merge)
            spec = spec.replace(merges=fewer)
            spec = spec if differs(text) else whole
        found, expected = both(spec, text)
    else:
        where = f"only after other texts: {where}"
    return mismatch(spec, text, found, expected, where)


def mismatch(spec: TokenizerSpec, text: str, found: dict[str, Any], expected: dict[str, Any], where: str) -> Mismatch:
    """The reproducer."""
    what = next(name for name in expected if found.get(name) != expected[name])
    vocab = {token: token_id for token, token_id in spec.vocab.items() if BYTES.get(token) != token_id}
    fields = f"pattern={spec.pattern!r}, added_tokens={spec.added_tokens!r}, ignore_merges={spec.ignore_merges!r}, unmatched={spec.unmatched!r}, "
    fields += f"normalizer={spec.normalizer!r}, stages={spec.stages!r}, add_prefix_space={spec.add_prefix_space!r}"
    return Mismatch(
        f"{what}: {where}\ntext = {shown(text)}\nvocab = BYTES | {vocab!r}\nmerges = {spec.merges!r}\n{fields}\n"
        f"native = {found.get(what)!r}\nreference = {expected[what]!r}"
    )
