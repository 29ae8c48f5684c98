"""Random tokenizers, each in both classes."""

from __future__ import annotations

import dataclasses
import json
import random
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import tokenizers
from transformers import PreTrainedTokenizerFast

from conversion.sentencepiece.model import parse_model
from conversion.sentencepiece.piece_merges import merges_of
from hf_bpe import AddedToken, HfBpeError, SentencePieceRules, TokenizerSpec
from hf_bpe.byte_level import bytes_to_token
from hf_bpe.engine.normalizer_reference import NormalizerReference
from hf_bpe.pieces import SPACE_SYMBOL
from hf_bpe.plugin import HfBpeTokenizer
from tests.fuzz.random_specs import ALPHABETS, random_spec
from tests.support.pieces import TRAINED, model, random_pieces_spec
from tests.support.vocabularies import cl100k_spec, gpt2_spec

MODELS = [
    name for name, settings in TRAINED.items() if not settings.keys() & {"normalization_rule_name", "denormalization_rule_tsv"}
]
"""SentencePiece models that tokenizer.json can hold."""
KINDS = {"bytes": 20, "pieces": 10, "gpt2": 1, "cl100k": 0.5, "mistral v1": 0.5, **dict.fromkeys(MODELS, 2)}
"""What is tried, and how often: published vocabularies take seconds to save and load."""


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
    def rules(self) -> SentencePieceRules | None:
        """Those of a SentencePiece model."""
        rules: SentencePieceRules | None = self.ours.spec.sentencepiece
        return rules

    # What docs/transformers.md lists, as narrow as it can be told.

    def leaves_control(self, texts: Any, *, split: bool) -> bool:
        """Whether stock makes a control piece of plain text: one of a single character is found as any other character, where it is
        not matched as an added token before.
        """
        control = {piece.content for piece in self.rules.pieces if piece.kind == "control"} if self.rules else set()
        matched = {
            token.content for token in self.ours.spec.added_tokens if not (token.single_word or (split and token.special))
        }
        single = [content for content in control - matched if len(content) == 1]
        return any(piece in text for text in texts_in(texts) for piece in single)

    def leaves_no_room(self, options: dict[str, Any]) -> bool:
        """Whether `max_length` is less than the special tokens: stock then counts below zero and cuts nothing."""
        lengths = [options.get("max_length"), self.ours.model_max_length if options.get("truncation") else None]
        least = min(length for length in [*lengths, 10**9] if length is not None)
        added = max(self.ours.num_special_tokens_to_add(pair=is_pair) for is_pair in (False, True))
        return bool(least < added)

    def holds_spaced_piece(self, arguments: tuple[Any, ...]) -> bool:
        """Whether a text holds a user-defined piece with spaces: SentencePiece gives each character the place of the whole."""
        return any(content in text for text in texts_in(arguments) for content in self._spaced)

    def holds_unmade_piece(self, arguments: tuple[Any, ...]) -> bool:
        """Whether a file cuts out user-defined pieces, and then text that spells a piece which merging never makes: two words."""
        texts = [
            text.replace(" ", SPACE_SYMBOL) for text in texts_in(arguments)
        ]  # without the spaces that are put around stretches
        pieces = [content.replace(" ", SPACE_SYMBOL).strip(SPACE_SYMBOL) for content in self._never_made]
        return any(piece in text for text in texts for piece in pieces)

    def trims_otherwise(self, arguments: tuple[Any, ...]) -> bool:
        """Whether offsets leave out white space, and a text holds some that is an added token and that merging makes too: a file
        gives that id two names, and which of them stock goes by is another one each time it loads the file. Or an added token takes
        along white space that the normalizer changes: stock leaves out as many characters as there were afterwards.
        """
        holds_named_twice = any(content in text for text in texts_in(arguments) for content in self._named_twice)
        return bool(self.ours._template.trims) and (holds_named_twice or self._takes_changed_space)

    @cached_property
    def numbers_pieces(self) -> bool:
        """Whether a ByteLevel post-processor stands behind the one that puts tokens around texts: stock counts those as texts."""
        return "ByteLevel" in self._processors[1:] and self._processors[0] != "ByteLevel"

    @cached_property
    def has_types_of_its_own(self) -> bool:
        """Whether the second text of a pair is of type 0: in overflowing windows stock has 1."""
        return "RobertaProcessing" in self._processors

    @cached_property
    def _processors(self) -> list[str]:
        source = self.ours._template.source or {}
        return [part["type"] for part in source.get("processors", ())]

    @cached_property
    def _takes_changed_space(self) -> bool:
        spec = self.ours.spec
        changes_space = NormalizerReference(spec.normalizer).apply(" a  \u3000 ") != " a  \u3000 "
        return changes_space and any(t.normalized and (t.lstrip or t.rstrip) for t in spec.added_tokens)

    @cached_property
    def _named_twice(self) -> list[str]:
        spec = self.ours.spec
        contents = [token.content for token in spec.added_tokens if spec.vocab.get(token.content.encode()) == token.id]
        return [content for content in contents if bytes_to_token(content.encode()) != content and content.strip(" ") != ""]

    @cached_property
    def renamed(self) -> dict[str, str]:
        """What stock calls added tokens, where that is not their own text but what the normalizer makes of it."""
        normalizer = NormalizerReference(self.ours.spec.normalizer, False)
        tokens = (token.content for token in self.ours.spec.added_tokens if token.normalized)
        return {normalizer.apply(content): content for content in tokens if normalizer.apply(content) != content}

    @cached_property
    def decodes_added_alike(self) -> bool:
        """Whether stock decodes each added token to its own text: not those in letters that spell bytes."""
        return not self.renamed and not any(map(self.ours._vocabulary.spelling.misread, self.contents))

    @cached_property
    def _user_defined(self) -> list[str]:
        return [piece.content for piece in self.rules.pieces if piece.kind == "user_defined"] if self.rules else []

    @cached_property
    def _spaced(self) -> list[str]:
        return [content for content in self._user_defined if " " in content]

    @cached_property
    def _never_made(self) -> list[str]:
        if self.rules is None or not self._user_defined:
            return []
        kinds = ("control", "unknown", "byte")
        named = [piece.content for piece in self.rules.pieces if len(piece.content) > 1 and piece.kind in kinds]
        return [*named, *merges_of(self.rules).unreachable]


def texts_in(arguments: Any) -> Iterable[str]:
    """Every text of a call, however deep it stands in lists."""
    if isinstance(arguments, str):
        yield arguments
    else:
        for inner in arguments:
            yield from texts_in(inner)


# -- making them ----------------------------------------------------------------------------------------------------------


def make_pair(generator: random.Random, folder: Path, kinds: Mapping[str, float]) -> Pair:
    """A random tokenizer that a folder can hold. kinds: what it may be, and how often."""
    kind = generator.choices([*kinds], [*kinds.values()])[0]
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
        except (HfBpeError, ValueError):
            continue
        path = folder / "tokenizer.json"
        document = json.loads(path.read_text())
        document["post_processor"] = (
            _post_processor(generator, ("<sep>", free + 1), spec.sentencepiece is None) or document["post_processor"]
        )
        path.write_text(json.dumps(document))
        pair = Pair(kind, HfBpeTokenizer.from_pretrained(folder), PreTrainedTokenizerFast.from_pretrained(folder))
        _add_tokens(pair, generator)
        return pair
    raise AssertionError(f"no folder can hold a tokenizer of the kind {kind!r}")


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


@cache
def _known(name: str) -> TokenizerSpec:
    byte_level = {"gpt2": gpt2_spec, "cl100k": cl100k_spec}
    if name in byte_level:
        return byte_level[name]()
    spec = parse_model(model(name), name)
    if name == "user-defined":  # which hold spaces, so a file could not say that spaces are removed
        return spec.replace(sentencepiece=dataclasses.replace(spec.sentencepiece, remove_extra_whitespaces=False))
    return spec


def _flags(generator: random.Random) -> dict[str, bool]:
    return {name: generator.random() < 0.25 for name in ("single_word", "lstrip", "rstrip")}


def _post_processor(generator: random.Random, special: tuple[str, int], is_byte_level: bool) -> dict[str, Any] | None:
    """None, one that trims offsets, a template, or two that stand one before the other."""
    name, token_id = special

    def parts(text: str, type_id: int) -> list[dict[str, Any]]:
        token = {"SpecialToken": {"id": name, "type_id": type_id}}
        before, after = ([token] * generator.choice((0, 1)) for _ in range(2))
        return [*before, {"Sequence": {"id": text, "type_id": type_id}}, *after]

    first, second = parts("A", 0), parts("B", 1)
    if generator.random() < 0.1:
        first, second = second, first
    times = generator.choice((1, 1, 2))
    template = {
        "type": "TemplateProcessing",
        "single": parts("A", 0),
        "pair": [*first, *second],
        "special_tokens": {name: {"id": name, "ids": [token_id] * times, "tokens": [name] * times}},
    }
    trims = {"type": "ByteLevel", "add_prefix_space": generator.random() < 0.3, "trim_offsets": True, "use_regex": True}
    kind = generator.randrange(5 if is_byte_level else 3) + 2 * (not is_byte_level)
    if kind == 0:
        return trims
    if kind == 1:
        joined = {"type": "BertProcessing", "cls": [name, token_id], "sep": [name, token_id]}
        trimming = {
            "type": "RobertaProcessing",
            "trim_offsets": generator.random() < 0.5,
            "add_prefix_space": generator.random() < 0.5,
        }
        other = generator.choice((template, joined, {**joined, **trimming}))
        return {"type": "Sequence", "processors": generator.sample([trims, other], 2)}
    return None if kind == 2 else template


def _add_tokens(pair: Pair, generator: random.Random) -> None:
    """Sometimes, more added tokens after loading: new ones, or those there are with other flags."""
    if generator.random() < 0.7:
        return
    spec = pair.ours.spec
    # A text that the vocabulary spells otherwise, "Ġx", gets a second id from stock: docs/transformers.md lists it.
    spaced = [] if spec.sentencepiece is None and b" x" in spec.vocab else [" x"]
    contents = generator.sample(["<y>", "<y><y>", "y>", "the", *spaced, *pair.contents], generator.choice((1, 2, 4)))
    known = {token.content: token for token in spec.added_tokens}
    tokens = [
        tokenizers.AddedToken(
            content,
            # Stock never forgets that a token was special, nor what it was called when it was normalized.
            special=(content in known and known[content].special) or generator.random() < 0.5,
            normalized=known[content].normalized if content in known else pair.rules is None and generator.random() < 0.3,
            **_flags(generator),
        )
        for content in dict.fromkeys(contents)
    ]
    all_special = generator.random() < 0.3
    try:
        pair.ours.add_tokens(tokens, special_tokens=all_special)
    except ValueError:
        return  # what no file can hold, refused before anything is added
    pair.stock.add_tokens(tokens, special_tokens=all_special)
