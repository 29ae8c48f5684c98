"""How a SentencePiece model is trained: the settings by sentencepiece's own names, checked before training begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, get_args

from hf_bpe.errors import TrainingError, some

__all__ = ["PRESETS", "SETTING_NAMES", "SentencePieceSettings", "settings_for"]

NormalizationRule = Literal["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]


@dataclass(frozen=True)
class SentencePieceSettings:
    """The settings that decide what is learnt, with sentencepiece's names and defaults; the model is always a BPE.

    normalization_rule_name: "identity" leaves text as it is; "nmt_nfkc" and the others are Unicode's NFKC with additions.
    character_coverage: the share of all characters in the text that become pieces, the most frequent first.
    max_sentence_length: lines longer than this, in bytes, are not learnt from.
    max_sentencepiece_length: longest piece, in characters.
    hard_vocab_limit: fail where the text does not yield `vocab_size` pieces, instead of making fewer.
    unk_id, bos_id, eos_id, pad_id: -1 for none; there must be an unk_id.
    control_symbols: never found in text; may name the bos, eos and pad pieces again.
    user_defined_symbols: found in every text before anything else, and never merged with anything.
    """

    normalization_rule_name: str = "nmt_nfkc"
    remove_extra_whitespaces: bool = True
    add_dummy_prefix: bool = True
    treat_whitespace_as_suffix: bool = False
    character_coverage: float = 0.9995
    required_chars: str = ""
    max_sentence_length: int = 4192
    max_sentencepiece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_by_whitespace: bool = True
    split_digits: bool = False
    allow_whitespace_only_pieces: bool = False
    byte_fallback: bool = False
    hard_vocab_limit: bool = True
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_surface: str = " \u2047 "
    control_symbols: tuple[str, ...] = ()
    user_defined_symbols: tuple[str, ...] = ()

    @property
    def roles(self) -> dict[str, str]:
        """The pieces that have a role: unk, bos, eos, pad -> piece."""
        return {role: getattr(self, f"{role}_piece") for role in _ROLES if getattr(self, f"{role}_id") >= 0}

    @property
    def symbols(self) -> dict[str, list[str]]:
        """The pieces without a role that are told to sentencepiece, by the name of the setting."""
        control = [symbol for symbol in self.control_symbols if symbol not in self.roles.values()]
        return {"control_symbols": control, "user_defined_symbols": list(self.user_defined_symbols)}

    def defects(self) -> list[str]:
        """Everything that sentencepiece would refuse, or silently make something else of; one sentence each."""
        return list(_type_defects(self)) or [*_range_defects(self), *_role_defects(self)]


SETTING_NAMES = frozenset(field.name for field in fields(SentencePieceSettings))

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "llama2": MappingProxyType(
            {
                "normalization_rule_name": "identity",
                "remove_extra_whitespaces": False,
                "character_coverage": 0.99995,
                "split_digits": True,
                "allow_whitespace_only_pieces": True,
                "byte_fallback": True,
                # The rest agrees with sentencepiece's defaults of today; said all the same, as defaults may change.
                "add_dummy_prefix": True,
                "max_sentence_length": 4192,
                "max_sentencepiece_length": 16,
                "split_by_unicode_script": True,
                "split_by_number": True,
                "split_by_whitespace": True,
                "unk_id": 0,
                "bos_id": 1,
                "eos_id": 2,
                "pad_id": -1,
            }
        )
    }
)
"""Settings by name. "llama2": those that the Llama 2 tokenizer was trained with."""

_ROLES = ("unk", "bos", "eos", "pad")
_RANGES = {
    "character_coverage": (0.98, 1.0),
    "max_sentence_length": (10, 2**30),
    "max_sentencepiece_length": (1, 512),
    "unk_id": (0, 2**31 - 1),
    "bos_id": (-1, 2**31 - 1),
    "eos_id": (-1, 2**31 - 1),
    "pad_id": (-1, 2**31 - 1),
}


def settings_for(preset: str | None, given: Mapping[str, Any]) -> SentencePieceSettings:
    """A preset (None: sentencepiece's defaults) with changes. Raises `TrainingError` naming every defect.

    >>> settings_for("llama2", {"max_sentencepiece_length": 8}).split_digits
    True
    """
    if preset is not None and not (isinstance(preset, str) and preset in PRESETS):
        raise TrainingError(f"no preset is named {preset!r}; there is {', '.join(PRESETS)}")
    changes = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    settings = SentencePieceSettings(**{**PRESETS.get(preset or "", {}), **changes})
    defects = settings.defects()
    if defects:
        raise TrainingError(f"training cannot begin: {'; '.join(defects)}")
    return settings


def _type_defects(settings: SentencePieceSettings) -> Iterator[str]:
    wanted = {
        "bool": ("True or False", bool),
        "int": ("a whole number", int),
        "str": ("a str", str),
        "float": ("a number", float),
    }
    for field in fields(settings):
        value: Any = getattr(settings, field.name)
        if field.type in wanted:
            said, kind = wanted[str(field.type)]
            if type(value) is not kind and not (kind is float and type(value) is int):
                yield f"{field.name} must be {said}, not {value!r}"
        elif not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
            yield f"{field.name} must be a list of str, not {value!r}"


def _range_defects(settings: SentencePieceSettings) -> Iterator[str]:
    if settings.normalization_rule_name not in get_args(NormalizationRule):
        known = ", ".join(get_args(NormalizationRule))
        yield f"normalization_rule_name is {settings.normalization_rule_name!r}; it must be one of {known}"
    for name, (low, high) in _RANGES.items():
        value = getattr(settings, name)
        if not low <= value <= high:  # not a number is not between numbers
            yield f"{name} must lie in {low}..{high}, not be {value!r}"


def _role_defects(settings: SentencePieceSettings) -> Iterator[str]:
    pieces = [*settings.roles.values(), *(piece for symbols in settings.symbols.values() for piece in symbols)]
    ids = Counter(value for role in _ROLES if (value := getattr(settings, f"{role}_id")) >= 0)
    for token_id in (token_id for token_id, count in ids.items() if count > 1):
        yield f"{' and '.join(f'{r}_id' for r in _ROLES if getattr(settings, f'{r}_id') == token_id)} are both {token_id}"
    repeated = [repr(piece) for piece, count in Counter(pieces).items() if count > 1]
    if repeated:
        yield f"special pieces and symbols must differ from each other: {some(repeated)}"
    # sentencepiece would cut a symbol off at the NUL, and learn another one.
    unusable = [repr(piece) for piece in pieces if not piece or "\0" in piece or any("\ud800" <= c <= "\udfff" for c in piece)]
    if unusable:
        yield f"special pieces and symbols must not be empty nor hold a NUL or a lone surrogate: {some(unusable)}"
