"""SentencePiece models: out of packages, trained here, and random ones; and what SentencePiece itself says of a text."""

from __future__ import annotations

import argparse
import io
import random
from functools import cache
from pathlib import Path
from typing import Any

import sentencepiece

from conversion.nasty_strings import nasty_strings
from conversion.sentencepiece.model import reserved_tokens, serialise_model
from hf_bpe import Encoder, Piece, SentencePieceRules, TokenizerSpec
from hf_bpe.byte_level import bytes_to_token
from hf_bpe.charsmap import build_charsmap
from hf_bpe.engine.reference import as_unicode
from tests.support.vocabularies import packaged

PACKAGED = {
    "mistral v1": packaged("mistral_common", "data", "tokenizer.model.v1"),
    "mistral v3": packaged("mistral_common", "data", "mistral_instruct_tokenizer_240323.model.v3"),
    "mistral v7": packaged("mistral_common", "data", "mistral_instruct_tokenizer_241114.model.v7"),
}
USER_DEFINED = ["a b", "ab", "abc", " x", "y ", "\u2581q", "the", "日本", "  ", "\ufb01", "<x>"]
TRAINED: dict[str, dict[str, Any]] = {
    "identity": {},
    "nmt_nfkc": {"normalization_rule_name": "nmt_nfkc"},
    "nmt_nfkc_cf without bytes": {"normalization_rule_name": "nmt_nfkc_cf", "byte_fallback": False},
    "user-defined": {"user_defined_symbols": USER_DEFINED, "control_symbols": ["<c>", "%"]},
    "user-defined, nmt_nfkc": {"user_defined_symbols": USER_DEFINED, "normalization_rule_name": "nmt_nfkc"},
    "without bytes": {"byte_fallback": False},
    "space as suffix": {"treat_whitespace_as_suffix": True},
    "space as suffix, all spaces": {"treat_whitespace_as_suffix": True, "remove_extra_whitespaces": False},
    "all spaces": {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True, "unk_surface": "?!", "pad_id": 3},
    "no dummy prefix": {"add_dummy_prefix": False},
    "no dummy prefix, all spaces": {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    "denormaliser": {"denormalization_rule_tsv": "61\t41 42\n62 63\t\n2581\t78\nFFFD\t3F\n20\t5F\n"},
}
_SENTENCES = [
    "The quick brown fox jumps over the lazy dog; hello world, the cat sat on the mat.",
    "Où est la bibliothèque ? Straße, naïve café, übermäßig",
    "Привет, мир! Как дела? Съешь ещё этих мягких французских булок",
    "日本語の文章です。中文字符也有。안녕하세요 세계 한국어",
    "   several   spaces \t here 12345 3.14 (a b) abc abcab",
]


def _corpus() -> list[str]:
    code = Path(argparse.__file__).read_text("utf-8").splitlines()[:600]
    return [*code, *_SENTENCES * 20]


@cache
def trained(name: str, *, vocab_size: int = 800, folder: Path | None = None) -> bytes:
    """The `.model` file of one of `TRAINED`, made by the sentencepiece package."""
    settings = dict(TRAINED[name])
    tsv = settings.get("denormalization_rule_tsv")
    if tsv is not None:
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".tsv", delete=False, encoding="utf-8") as file:
            file.write(tsv)
        settings["denormalization_rule_tsv"] = file.name
    written = io.BytesIO()
    defaults = {"normalization_rule_name": "identity", "byte_fallback": True, "character_coverage": 0.98}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_corpus()),
        model_writer=written,
        model_type="bpe",
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        minloglevel=2,
        **{**defaults, **settings},
    )
    if tsv is not None:
        Path(file.name).unlink()
    return written.getvalue()


@cache
def model(name: str) -> bytes:
    """The `.model` file of that name in `PACKAGED` or `TRAINED`."""
    return PACKAGED[name].read_bytes() if name in PACKAGED else trained(name)


def processor(content: bytes) -> Any:
    """SentencePiece running a `.model` file."""
    return sentencepiece.SentencePieceProcessor(model_proto=content)


def pieces_spec(*pieces: Piece, **rules: Any) -> TokenizerSpec:
    """A model of these pieces, after `<unk>`."""
    made = SentencePieceRules((Piece("<unk>", 0.0, "unknown"), *pieces), **rules)
    return TokenizerSpec.from_sentencepiece(made, added_tokens=reserved_tokens(made))


def random_pieces_spec(generator: random.Random, alphabet: str = "abc\u2581") -> TokenizerSpec:
    """Few scores, so ties and cycles of ties; unused and user-defined pieces, even of one character."""
    contents = {*alphabet} | {"".join(generator.choices(alphabet, k=generator.randint(1, 5))) for _ in range(14)}
    kinds = ["normal"] * 5 + ["unused"] * 2 + ["user_defined"]
    pieces = [
        Piece(content, float(generator.randint(-5, -1)), generator.choice(kinds))  # type: ignore[arg-type]
        for content in sorted(contents)
    ]
    return pieces_spec(
        Piece("%", 0.0, "control"),
        *pieces,
        prepend_scheme=generator.choice(["always", "never"]),
        remove_extra_whitespaces=generator.random() < 0.5,
        escape_whitespaces=generator.random() < 0.8,
        treat_whitespace_as_suffix=generator.random() < 0.3,
        unk_surface=generator.choice(["", " ? "]),
    )


def bytes_as_pieces_spec() -> TokenizerSpec:
    """A byte-level tokenizer as a SentencePiece model: its charsmap has single bytes for keys, its pieces cut characters."""
    spelt = {bytes([byte]): bytes_to_token(bytes([byte])) for byte in range(256)}
    charsmap = build_charsmap({byte: token.encode() for byte, token in spelt.items() if byte != b"\0"})
    back = build_charsmap({token.encode(): byte for byte, token in spelt.items() if byte != b"\0"})
    merged = [Piece("Ġa", -1.0), Piece("Ã©", -2.0), Piece("Ã©Ã", -3.0)]
    return pieces_spec(
        *(Piece(token) for token in spelt.values()),
        *merged,
        prepend_scheme="never",
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
        precompiled_charsmap=charsmap,
        denormalizer_charsmap=back,
    )


def nasty() -> list[str]:
    """Strings that SentencePiece models come apart on."""
    return nasty_strings(["<s>", "</s>", "<unk>", "<0x41>", "<0xE4>", "\u2581", "%", "<c>", *USER_DEFINED])


SPLINTERS = [
    *[
        "a",
        "b",
        "c",
        "ab",
        "abc",
        "a b",
        " ",
        "  ",
        "\u2581",
        "x",
        "y",
        "q",
        "the",
        "日本",
        "é",
        "e\u0301",
        "\ufb01",
        "か\uff9e",
    ],
    *[
        "\u1100\u1161\u11a8",
        "\x85",
        "\xa0",
        "\u3000",
        "\n",
        "\t",
        "<s>",
        "<unk>",
        "<0x41>",
        "%",
        "<c>",
        "😀",
        "中",
        "한",
        "1",
        "12",
    ],
    *["\0", "\u200b", "\ufeff", "①", "Ａ", "\U0010ffff", ".", "hello", " world", "\ufffd", "Ġ", "\ud7ff"],
]
"""What short random texts are made of: spaces of all kinds, what normalisers change, what models spell for themselves."""


def spliced(generator: random.Random, longest: int = 14) -> str:
    """A short text made of `SPLINTERS`."""
    return "".join(generator.choices(SPLINTERS, k=generator.randrange(longest)))


def difference(encoder: Encoder, official: Any, text: str) -> str | None:
    """What differs first between an encoder and SentencePiece, in ids, offsets and decoding of a text; None if nothing does."""
    valid = as_unicode(text)  # the package takes no lone surrogates
    expected = official.encode(valid)
    found = {
        "encode_ordinary": encoder.encode_ordinary(text),
        "encode": encoder.encode(text, disallowed_special=()),
        "count": encoder.count_ordinary(text),
    }
    wanted = {"encode_ordinary": expected, "encode": expected, "count": len(expected)}
    is_byte = [official.is_byte(token_id) for token_id in expected]
    for unit in ("characters", "bytes"):
        mapping = official.encode(valid, return_type="offset_mapping", return_bytes=unit == "bytes")["offsets"]
        ids, spans = encoder.encode_with_offsets(text, unit=unit, disallowed_special=())  # type: ignore[arg-type]
        found[unit], wanted[unit] = ids.tolist(), expected
        if ids.tolist() == expected:  # of a byte piece the two say different things on purpose
            found[unit] = [span for span, byte in zip(spans.tolist(), is_byte, strict=True) if not byte]
            wanted[unit] = [list(span) for span, byte in zip(mapping, is_byte, strict=True) if not byte]
    found["decode"], wanted["decode"] = encoder.decode(expected), official.decode(expected)
    wrong = next((name for name in wanted if found[name] != wanted[name]), None)
    return wrong and f"{wrong} of {text!a}: ours {found[wrong]!a}, sentencepiece {wanted[wrong]!a}"


def serialised(spec: TokenizerSpec) -> Any:
    """SentencePiece running a spec."""
    return processor(serialise_model(spec))
