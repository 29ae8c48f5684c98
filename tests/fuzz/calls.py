"""Random calls of random tokenizers: `HfBpeTokenizer` against transformers' own fast class, loaded from the same folder."""

from __future__ import annotations

import dataclasses
import json
import random
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm
from transformers import PreTrainedTokenizerFast
from transformers.utils import logging

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, ConversionRefused, TokenizerSpec
from hf_bpe.plugin import HfBpeTokenizer
from tests.fuzz.random_specs import ALPHABETS, random_spec
from tests.fuzz.subjects import Mismatch, Tally
from tests.support.pieces import TRAINED, model, random_pieces_spec
from tests.support.vocabularies import cl100k_spec, gpt2_spec

CALLS_EACH = 500
CHARACTERS = "aAbB 1'\n\t\u00a0é안中😉👩\u200d\u0301\u3000<>s_\x00\x85"
WORDS = [
    "the",
    " dog",
    "Hello",
    " world",
    "  ",
    " ",
    "\n\n",
    "don't",
    "12345",
    "größer",
    "안녕하세요",
    "你好",
    "👩‍👩‍👧‍👦",
    "é",
    "a" * 30,
]
ATTRIBUTES = (
    "ids",
    "type_ids",
    "tokens",
    "offsets",
    "word_ids",
    "words",
    "attention_mask",
    "special_tokens_mask",
    "sequence_ids",
    "n_sequences",
)


@dataclass(frozen=True)
class Pair:
    """One folder in both classes."""

    name: str
    ours: Any
    stock: Any

    @property
    def contents(self) -> list[str]:
        """What the added tokens look like in text."""
        return [token.content for token in self.ours.spec.added_tokens]

    @property
    def splits_alike(self) -> bool:
        """Whether `split_special_tokens` does the same: not where stock then finds a control piece of one character in plain text, or
        no plain added token that overlaps a special one.
        """
        special, plain = ([t.content for t in self.ours.spec.added_tokens if t.special is wanted] for wanted in (True, False))
        overlaps = any(
            a in b or b in a or any(a.endswith(b[:n]) or b.endswith(a[:n]) for n in range(1, min(len(a), len(b))))
            for a in special
            for b in plain
        )
        return self.name not in ("pieces", "user-defined") and not overlaps

    @property
    def words_are_the_same(self) -> bool:
        """Not where a file has to cut text that spells a piece which merging never makes, so that it is not found as a whole."""
        return self.name != "pieces"

    @property
    def places_are_the_same(self) -> bool:
        """Not where a SentencePiece model removes spaces or defines pieces with some: sentencepiece and stock classes give those to
        other tokens.
        """
        rules = self.ours.spec.sentencepiece
        if rules is None:
            return True
        spaced = any(piece.kind == "user_defined" and " " in piece.content for piece in rules.pieces)
        return not rules.remove_extra_whitespaces and not spaced


# -- tokenizers -----------------------------------------------------------------------------------------------------------


def _flags(generator: random.Random) -> dict[str, bool]:
    return {name: generator.random() < 0.25 for name in ("single_word", "lstrip", "rstrip")}


@cache
def _known(name: str) -> TokenizerSpec:
    byte_level = {"gpt2": gpt2_spec, "cl100k": cl100k_spec}
    if name in byte_level:
        return byte_level[name]()
    spec = parse_model(model(name), name)
    if name == "user-defined":  # which hold spaces, so a file could not say that spaces are removed
        return spec.replace(sentencepiece=dataclasses.replace(spec.sentencepiece, remove_extra_whitespaces=False))
    return spec


MODELS = [
    name for name, settings in TRAINED.items() if not settings.keys() & {"normalization_rule_name", "denormalization_rule_tsv"}
]
"""SentencePiece models that tokenizer.json can hold."""
KINDS = {"bytes": 20, "pieces": 10, "gpt2": 1, "cl100k": 0.5, "mistral v1": 0.5, **dict.fromkeys(MODELS, 2)}
"""What is tried, and how often: published vocabularies take seconds to save and load."""


def _spec(kind: str, generator: random.Random) -> TokenizerSpec:
    if kind == "bytes":
        return random_spec(generator, generator.choice(ALPHABETS))
    if kind == "pieces":
        return random_pieces_spec(generator, generator.choice(("abc\u2581", "ab é\u2581", "a\u2581中國")))
    spec = _known(kind)
    if generator.random() < 0.7:
        return spec
    free = spec.n_vocab
    more = [AddedToken(f"<x{n}>", free + n, special=generator.random() < 0.5, **_flags(generator)) for n in range(3)]
    return spec.replace(added_tokens=(*spec.added_tokens, *more))


def _post_processor(generator: random.Random, special: tuple[str, int], is_byte_level: bool) -> dict[str, Any] | None:
    """None, one that trims offsets, a template, or both."""
    name, token_id = special

    def parts(text: str, type_id: int) -> list[dict[str, Any]]:
        token = {"SpecialToken": {"id": name, "type_id": type_id}}
        before, after = ([token] * generator.choice((0, 1)) for _ in range(2))
        return [*before, {"Sequence": {"id": text, "type_id": type_id}}, *after]

    first, second = parts("A", 0), parts("B", 1)
    if generator.random() < 0.1:
        first, second = second, first
    template = {
        "type": "TemplateProcessing",
        "single": parts("A", 0),
        "pair": [*first, *second],
        "special_tokens": {name: {"id": name, "ids": [token_id] * generator.choice((1, 1, 2)), "tokens": [name]}},
    }
    ids = template["special_tokens"][name]
    ids["tokens"] = [name] * len(ids["ids"])
    trims = {"type": "ByteLevel", "add_prefix_space": generator.random() < 0.3, "trim_offsets": True, "use_regex": True}
    kind = generator.randrange(5 if is_byte_level else 3) + 2 * (not is_byte_level)
    if kind == 0:
        return trims
    if kind == 1:
        return {"type": "Sequence", "processors": [trims, template]}
    return None if kind == 2 else template


def make_pair(generator: random.Random, folder: Path) -> Pair:
    """A random tokenizer that a folder can hold."""
    kind = generator.choices([*KINDS], [*KINDS.values()])[0]
    for _ in range(200):
        spec = _spec(kind, generator)
        free = spec.n_vocab
        added = (AddedToken("<fill>", free), AddedToken("<sep>", free + 1, special=True, **_flags(generator)))
        sides = {f"{what}_side": generator.choice(("left", "right")) for what in ("padding", "truncation")}
        try:
            tokenizer = HfBpeTokenizer.from_spec(
                spec.replace(added_tokens=(*spec.added_tokens, *added)),
                pad_token="<fill>",
                add_bos_token=False,
                model_max_length=generator.choice((10, 50, 10**30)),
                model_input_names=["input_ids", "attention_mask", "token_type_ids"][: generator.choice((2, 3))],
                **sides,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tokenizer.save_pretrained(folder)
        except (ConversionRefused, ValueError):
            continue
        path = folder / "tokenizer.json"
        document = json.loads(path.read_text())
        document["post_processor"] = (
            _post_processor(generator, ("<sep>", free + 1), spec.sentencepiece is None) or document["post_processor"]
        )
        path.write_text(json.dumps(document))
        return Pair(kind, HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder))
    raise AssertionError(f"no folder can hold a tokenizer of the kind {kind!r}")


# -- calls ----------------------------------------------------------------------------------------------------------------


def _text(generator: random.Random, contents: list[str]) -> str:
    parts = []
    for _ in range(generator.choice((0, 1, 1, 2, 4, 9))):
        kind = generator.randrange(4)
        if kind == 0:
            parts.append("".join(generator.choices(CHARACTERS, k=generator.choice((1, 2, 5)))))
        elif kind == 1 and contents:
            parts.append(generator.choice(["", " ", "  "]) + generator.choice(contents) + generator.choice(["", " ", "x"]))
        else:
            parts.append(generator.choice(WORDS))
    return "".join(parts)


def random_call(generator: random.Random, contents: list[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a call."""

    def text() -> str:
        return _text(generator, contents)

    def words() -> list[str]:
        return [text() for _ in range(generator.choice((0, 1, 2, 5)))]

    split = generator.random() < 0.2
    one = words if split else text
    shape = generator.randrange(5)
    size = generator.choice((1, 1, 2, 4))
    arguments: tuple[Any, ...]
    if shape == 0:
        arguments = (one(),)
    elif shape == 1:
        arguments = (one(), one())
    elif shape == 2:
        arguments = ([one() for _ in range(size)],)
    elif shape == 3:
        arguments = ([(one(), one()) for _ in range(size)],)
    else:
        arguments = ([one() for _ in range(size)], [one() for _ in range(size)])
    choices: dict[str, list[Any]] = {
        "add_special_tokens": [True, False],
        "split_special_tokens": [True, False],
        "truncation": [True, True, False, "longest_first", "only_first", "only_second"],
        "max_length": [1, 2, 3, 5, 8, 12, 20],
        "stride": [0, 0, 1, 2, 5],
        "padding": [True, False, "max_length", "longest"],
        "padding_side": ["left", "right"],
        "pad_to_multiple_of": [1, 2, 4, 8],
        "return_token_type_ids": [True, False],
        "return_attention_mask": [True, False],
        "return_special_tokens_mask": [True, False],
        "return_offsets_mapping": [True, False],
        "return_overflowing_tokens": [True, False],
        "return_length": [True, False],
        "return_tensors": ["np"],
    }
    options = {name: generator.choice(values) for name, values in choices.items() if generator.random() < 0.35}
    if split:
        options["is_split_into_words"] = True
    return arguments, options


def _outcome(tokenizer: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    try:
        return tokenizer(*arguments, verbose=False, **options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # stock panics with what is no Exception
        return error


# -- comparing ------------------------------------------------------------------------------------------------------------


def _same(ours: Any, stock: Any) -> bool:
    if isinstance(stock, np.ndarray) and stock.dtype == object:
        return isinstance(ours, np.ndarray) and [np.array(row).tolist() for row in ours] == [
            np.array(row).tolist() for row in stock
        ]
    if isinstance(stock, np.ndarray):
        return (
            isinstance(ours, np.ndarray)
            and (ours.dtype, ours.shape) == (stock.dtype, stock.shape)
            and bool((ours == stock).all())
        )
    return bool(ours == stock)


def _meant(tokens: list[str], pair: Pair, stripped: frozenset[str]) -> list[Any]:
    """Tokens as ids: stock gives added tokens with the space they took along, and spells those differently that merging made."""
    return [pair.ours.convert_tokens_to_ids(token.strip() if token.strip() in stripped else token) for token in tokens]


def _differences(pair: Pair, ours: Any, stock: Any, generator: random.Random) -> Iterator[str]:
    """What two encodings do not agree on."""
    asked: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(3):
        number, sequence = generator.randrange(12), generator.choice((0, 0, 1))
        asked += [(name, (number, sequence)) for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars")]
        if number < len(stock):
            asked += [(name, (number,)) for name in ("token_to_chars", "token_to_word", "token_to_sequence")]
    answers = [(name, getattr(ours, name), getattr(stock, name)) for name in ATTRIBUTES]
    answers += [(f"{name}{given}", getattr(ours, name)(*given), getattr(stock, name)(*given)) for name, given in asked]
    stripped = frozenset(content.strip() for content in pair.contents) - {""}
    for name, found, expected in answers:
        if name == "tokens":
            found, expected = _meant(found, pair, stripped), _meant(expected, pair, stripped)
            if len(found) == len(expected):  # white space that is an added token itself, with more around it, is no token
                expected = [mine if theirs is None else theirs for mine, theirs in zip(found, expected, strict=True)]
        of_places = "char" in name or name == "offsets"
        of_words = "word" in name
        if found != expected and (pair.places_are_the_same or not of_places) and (pair.words_are_the_same or not of_words):
            yield f".{name}: {found} here, {expected} there"


def difference(pair: Pair, arguments: tuple[Any, ...], options: dict[str, Any], generator: random.Random) -> str | None:
    """What is not the same, but for what docs/transformers.md lists."""
    ours, stock = _outcome(pair.ours, arguments, options), _outcome(pair.stock, arguments, options)
    if isinstance(ours, BaseException) or isinstance(stock, BaseException):
        return _difference_of_errors(ours, stock, options)
    if list(ours) != list(stock):
        return f"columns {list(ours)} here, {list(stock)} there"
    for name in stock:
        if not _same(ours[name], stock[name]) and (pair.places_are_the_same or name != "offset_mapping"):
            return f"[{name!r}]: {ours[name]} here, {stock[name]} there"
    if len(ours.encodings) != len(stock.encodings):
        return f"{len(ours.encodings)} encodings here, {len(stock.encodings)} there"
    pairs = list(zip(ours.encodings, stock.encodings, strict=True))
    if not options.get(
        "return_overflowing_tokens"
    ):  # else they are there already, and stock gives windows of windows beside them
        for one, other in list(pairs):
            if len(one.overflowing) != len(other.overflowing):
                return f".overflowing: {len(one.overflowing)} here, {len(other.overflowing)} there"
            pairs += zip(one.overflowing, other.overflowing, strict=True)
    found = (f".encodings[{n}]{one}" for n, pair_of in enumerate(pairs) for one in _differences(pair, *pair_of, generator))
    return next(found, None)


def _difference_of_errors(ours: Any, stock: Any, options: dict[str, Any]) -> str | None:
    if isinstance(ours, BaseException) and not isinstance(ours, (ValueError, TypeError)):
        return f"raised {ours!r}"
    if isinstance(ours, BaseException) and isinstance(stock, BaseException):
        return None
    if isinstance(ours, BaseException):
        return f"raised {ours!r}, stock gave {dict(stock)}"
    return None if _is_accident(stock, options) else f"gave {dict(ours)}, stock raised {stock!r}"


def _is_accident(error: BaseException, options: dict[str, Any]) -> bool:
    """Stock stops where there is nothing wrong."""
    if isinstance(error, IndexError):
        return True  # an empty batch
    if "AddedVocabulary bad split" in str(error):
        return True  # two added tokens that take along the same white space
    # It counts special tokens that were not asked for.
    return "effective max length" in str(error) and options.get("add_special_tokens") is False


def _leaves_no_room(pair: Pair, options: dict[str, Any]) -> bool:
    """`max_length` is less than the special tokens: stock then counts below zero and cuts nothing."""
    lengths = [options.get("max_length"), pair.ours.model_max_length if options.get("truncation") else None]
    least = min(length for length in [*lengths, 10**9] if length is not None)
    added = max(pair.ours.num_special_tokens_to_add(pair=is_pair) for is_pair in (False, True))
    return bool(least < added)


def run(count: int, seed: int, tally: Tally, *, show: bool = True) -> None:
    """Make so many calls. Raises `Mismatch`."""
    logging.set_verbosity_error()
    generator = random.Random(seed)
    with tqdm(total=count, unit="call", disable=not show) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while bar.n < count:
            with tempfile.TemporaryDirectory() as folder:
                pair = make_pair(generator, Path(folder))
            for _ in range(min(CALLS_EACH, count - bar.n)):
                arguments, options = random_call(generator, pair.contents)
                bar.update()
                if not pair.splits_alike:
                    options.pop("split_special_tokens", None)
                if not _leaves_no_room(pair, options):
                    found = difference(pair, arguments, options, generator)
                    if found is not None:
                        call = f"{arguments!a}, {options}"
                        raise Mismatch(
                            f"{pair.name}, seed {seed}: tokenizer(*{call}){found}\n{pair.ours.spec!r}\n{pair.ours._template}"
                        )
                tally.add(pair.name, 1)
