"""Ids and texts in random parts: streams against the whole."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, Encoder, TokenizerSpec
from hf_bpe.errors import DisallowedSpecialTokenError, HfBpeError
from hf_bpe.pieces import SPACE_SYMBOL
from hf_bpe.streaming import StreamingByteDecoder, StreamingDecoder, StreamingEncoder
from tests.fuzz import borders
from tests.fuzz.random_specs import ALPHABETS, random_spec, random_text
from tests.fuzz.subjects import Mismatch, Tally
from tests.support.pieces import TRAINED, model, random_pieces_spec
from tests.support.vocabularies import byte_spec

CASES_EACH = 500
TEXTS_EACH = 20
ERRORS = ("replace", "replace", "replace", "ignore", "backslashreplace", "surrogateescape", "strict")
PIECES = ("abc\u2581", "ab é\u2581", "a\u2581中國")
BYTES = b"a \xe4\xb8\xad\xc3\xa9\xf0\x9f\x98\x89\xef\xbf\xbd\xed\xa0\x80\xc0\xff\x80\xe2\x96\x81"
"""Bytes that make characters, parts of some, and none."""


def parts(items: Any, generator: random.Random) -> Iterator[Any]:
    """What is split, bit by bit; some bits are empty."""
    done = 0
    while done < len(items):
        stop = done + generator.choice((0, 1, 1, 1, 2, 3, 7))
        yield items[done:stop]
        done = stop


def random_tokenizer(generator: random.Random) -> tuple[str, TokenizerSpec]:
    """One of either dialect."""
    kind = generator.choice(("bytes", "random bytes", "pieces", "pieces", "trained"))
    if kind == "bytes":
        return kind, byte_spec().replace(added_tokens=(AddedToken("<é>", 300), AddedToken("<b>", 301, special=False)))
    if kind == "random bytes":
        return kind, random_spec(generator, generator.choice(ALPHABETS))
    if kind == "pieces":
        return kind, random_pieces_spec(generator, generator.choice(PIECES))
    name = generator.choice([*TRAINED])
    return name, parse_model(model(name), name)


def random_ids(spec: TokenizerSpec, generator: random.Random) -> list[int]:
    """Any ids, and runs of those that are single bytes, most of which make no character."""
    every = [*spec.vocab.values(), *(token.id for token in spec.added_tokens)]
    byte_ids = single_bytes(spec)
    ids: list[int] = []
    for _ in range(generator.choice((1, 2, 4, 8))):
        if byte_ids and generator.random() < 0.6:
            ids += [byte_ids[byte] for byte in generator.choices(BYTES, k=generator.randint(1, 4))]
            if generator.random() < 0.5:
                ids += [byte_ids[byte] for byte in generator.choice(("中", "é", "😉", "\ufffd", "a")).encode()]
        else:
            ids += generator.choices(every, k=generator.randint(1, 3))
    return ids


def single_bytes(spec: TokenizerSpec) -> dict[int, int]:
    """Byte -> id, where all have one."""
    if spec.sentencepiece is None:
        return {byte: spec.vocab[bytes([byte])] for byte in range(256)}
    if not spec.sentencepiece.byte_fallback:
        return {}
    return {byte: spec.vocab[f"<0x{byte:02X}>".encode()] for byte in range(256)}


def check_decoding(encoder: Encoder, ids: Sequence[int], generator: random.Random) -> str | None:
    """What differs from decoding all at once; None if nothing does."""
    special = set(encoder.spec.special_tokens.values())
    skips, errors = generator.random() < 0.3, generator.choice(ERRORS)
    kept = [token_id for token_id in ids if not (skips and token_id in special)]
    split = [*parts(ids, generator)]
    stream = StreamingDecoder(encoder, skip_special_tokens=skips, errors=errors)
    try:
        wanted = encoder.decode(kept, errors=errors)
    except UnicodeDecodeError:
        wanted = None
    try:
        found = "".join([stream.feed(part) for part in split]) + stream.finish()
    except UnicodeDecodeError:
        found = None
    if found != wanted:
        return f"errors={errors!r}, skip_special_tokens={skips}: {split} gives {found!a}, not {wanted!a}"
    bytes_stream = StreamingByteDecoder(encoder, skip_special_tokens=skips)
    content = b"".join([bytes_stream.feed(part) for part in split]) + bytes_stream.finish()
    if content != (expected := encoder.decode_bytes(kept)):
        return f"skip_special_tokens={skips}: {split} gives {content!r}, not {expected!r}"
    return None


def random_encoding_case(generator: random.Random) -> tuple[TokenizerSpec, list[str]]:
    """A tokenizer of which something can often be proved, and texts."""
    if generator.random() < 0.3:
        spec = random_pieces_spec(generator, generator.choice(PIECES))
        rules = spec.sentencepiece
        assert rules is not None
        kind = {"a": "normal", SPACE_SYMBOL: "normal"}
        pieces = tuple(replace(p, kind=kind.get(p.content, p.kind)) for p in rules.pieces)
        rules = replace(rules, pieces=pieces, treat_whitespace_as_suffix=False, escape_whitespaces=True)
        spec = spec.replace(sentencepiece=rules)
        alphabet = "abc  é\u2581"
        return spec, [
            "".join(generator.choices([*alphabet, "<s>", "%"], k=generator.randint(1, 30))) for _ in range(TEXTS_EACH)
        ]
    alphabet = generator.choice(ALPHABETS)
    spec = random_spec(generator, alphabet)
    if generator.random() < 0.8:
        changes = generator.choice(((), (), ("NFC",), ("NFKC", "Lowercase")))
        tokens = tuple(replace(token, single_word=False) for token in spec.added_tokens)
        spec = spec.replace(normalizer=changes, add_prefix_space=False, added_tokens=tokens)
    return spec, [random_text(generator, spec, alphabet)[:400] for _ in range(TEXTS_EACH)]


def check_encoding(encoder: Encoder, text: str, generator: random.Random) -> tuple[str | None, bool]:
    """What differs from encoding all at once, and whether anything came before the end."""
    options: Any = generator.choice(({}, {"allowed_special": "all"}, {"disallowed_special": ()}))
    stream = StreamingEncoder(encoder, **options)
    ids: list[int] = []
    early = False
    try:
        for part in parts(text, generator):
            given = stream.feed(part)
            early |= bool(given)
            ids += given
        found: Any = ids + stream.finish()
    except DisallowedSpecialTokenError:
        found = "refused"
    try:
        expected: Any = encoder.encode(text, **options)
    except DisallowedSpecialTokenError:
        expected = "refused"
    return (f"{options} {text!a} gives {found}, not {expected}" if found != expected else None), early


def run(count: int, seed: int, tally: Tally) -> None:
    """So many runs of ids, a tenth as many texts, and a thousandth borders."""
    with tqdm(total=count, unit=" cases", desc="decoding") as progress:
        for number in range(-(-count // CASES_EACH)):
            run_decoding(number, seed, tally)
            progress.update(CASES_EACH)
    for number in tqdm(range(-(-count // (10 * TEXTS_EACH))), unit=" tokenizers", desc="encoding"):
        run_encoding(number, seed, tally)
    for number in tqdm(range(-(-count // (1000 * borders.TEXTS_EACH))), unit=" tokenizers", desc="borders"):
        borders.run_completions(number, seed, tally)


def run_decoding(number: int, seed: int, tally: Tally) -> None:
    """One tokenizer, and runs of ids in random parts."""
    generator = random.Random(f"streams {seed} {number}")
    name, spec = random_tokenizer(generator)
    try:
        encoder = Encoder(spec)
    except HfBpeError:  # added tokens that normalising makes the same, or nothing
        return
    for _ in range(CASES_EACH):
        wrong = check_decoding(encoder, random_ids(spec, generator), generator)
        if wrong is not None:
            raise Mismatch(f"tokenizer {number} of seed {seed} ({name}): {wrong}")
    tally.add("decoding", CASES_EACH)


def run_encoding(number: int, seed: int, tally: Tally) -> None:
    """One tokenizer, and texts in random parts."""
    generator = random.Random(f"streams of text {seed} {number}")
    try:
        spec, texts = random_encoding_case(generator)
        encoder = Encoder(spec)
    except HfBpeError:
        return
    for text in texts:
        wrong, early = check_encoding(encoder, text, generator)
        if wrong is not None:
            raise Mismatch(
                f"tokenizer {number} of seed {seed}: {wrong}; pattern={spec.pattern!r}, added_tokens={spec.added_tokens}, "
                f"normalizer={spec.normalizer}, sentencepiece={spec.sentencepiece}"
            )
        tally.add("encoding, some before the end" if early else "encoding, all at the end", 1)
