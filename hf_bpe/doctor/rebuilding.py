"""Which stock class of transformers 5 loads a folder, and whether it keeps what tokenizer.json says.

Most of its classes for byte-level BPE take vocabulary and merges from the file and build the rest themselves. Read in transformers 5.23,
models/*/tokenization_*.py and models/auto/tokenization_auto.py; newer versions may differ, so a finding names the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversion.json_shapes import text_at
from conversion.tokenizer_json.steps import regex_of, steps_of
from hf_bpe.doctor.vocabularies import is_byte_level
from hf_bpe.errors import PatternError
from hf_bpe.pattern_syntax import translate
from hf_bpe.patterns import find_named_pattern

__all__ = ["rebuilding_class"]

_GPT2, _QWEN2, _QWEN35, _COHERE = ("gpt2",), ("qwen2",), ("qwen3.5",), ("digits", "gpt2")

# class -> the splits it builds, by name, and whether it normalises to NFC
_BUILDS: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "GPT2Tokenizer": (_GPT2, False),
    "RobertaTokenizer": (_GPT2, False),
    "GPTNeoXTokenizer": (_GPT2, True),
    "CohereTokenizer": (_COHERE, True),
    "Qwen2Tokenizer": (_QWEN2, True),
    "Qwen3_5Tokenizer": (_QWEN35, True),
}

# Model types whose own class is taken whatever tokenizer_class says.
_FORCED: Mapping[str, str] = {
    "hyperclovax_vision_v2": "GPT2Tokenizer",
    "qwen2": "Qwen2Tokenizer",
    **dict.fromkeys(("qwen3_5", "qwen3_5_moe", "qwen3_5_moe_text", "qwen4_exp"), "Qwen3_5Tokenizer"),
}

# Model types whose class is taken where no tokenizer_class is named.
_BY_TYPE: Mapping[str, str] = {
    **dict.fromkeys(
        "codegen dbrx emu3 gpt2 gpt_neo gptj jais2 opt phi starcoder2 instructblip instructblipvideo blip-2".split(),
        "GPT2Tokenizer",
    ),
    **dict.fromkeys("falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm".split(), "GPTNeoXTokenizer"),
    **dict.fromkeys("aya_vision cohere cohere2".split(), "CohereTokenizer"),
    **dict.fromkeys(
        "audioflamingo3 colqwen2 hunyuan_vl internvl ovis2 qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_asr qwen3_moe "
        "qwen3_next qwen3_omni_moe qwen3_vl qwen3_vl_moe".split(),
        "Qwen2Tokenizer",
    ),
    **dict.fromkeys("bart bridgetower clap data2vec-text ibert lilt longformer mega mra roberta".split(), "RobertaTokenizer"),
    **_FORCED,
}


def rebuilding_class(document: Mapping[str, Any], named: str | None, model_type: str | None) -> tuple[str, str] | None:
    """(class, how it differs) if the class that transformers 5 takes would give other ids than the file; None if not, or not known.

    named: the tokenizer_class of the configuration.

    >>> rebuilding_class({"decoder": {"type": "ByteLevel"}, "pre_tokenizer": {"type": "ByteLevel"}}, "GPT2Tokenizer", None)
    >>> rebuilding_class({"decoder": {"type": "ByteLevel"}, "pre_tokenizer": {"type": "ByteLevel"}}, None, "qwen2")
    ('Qwen2Tokenizer', "splits text by the pattern 'qwen2'")
    """
    if not is_byte_level(document):
        return None
    name = _FORCED.get(model_type or "") or (named or _BY_TYPE.get(model_type or "", "")).removesuffix("Fast")
    if name == "LlamaTokenizer":
        return (
            name,
            "builds a SentencePiece tokenizer wherever it does not notice the ByteLevel (5.23 does, the first releases of 5 do not)",
        )
    if name not in _BUILDS:
        return None
    splits, nfc = _BUILDS[name]
    if _splits_of(document) != splits:
        return name, f"splits text by the pattern {splits[-1]!r}"
    if nfc != _normalises_to_nfc(document):
        return name, "normalises text to NFC" if nfc else "leaves the normalizer out"
    return None


def _splits_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The splits of a tokenizer.json, by name where the pattern has one."""
    found: list[str] = []
    for _, step in steps_of(document.get("pre_tokenizer"), "", "pretokenizers"):
        pattern = regex_of(step)
        if pattern is not None:
            found.append(_name_of(pattern))
        elif step.get("type") == "Digits" and step.get("individual_digits") is True:
            found.append("digits")
        elif step.get("type") == "ByteLevel":
            found += ["gpt2"] if step.get("use_regex", True) is True else []
        else:
            found.append(str(text_at(step, "type")))
    return tuple(found)


def _name_of(pattern: str) -> str:
    try:
        named = find_named_pattern(translate(pattern, source="oniguruma", target="regex"))
    except (PatternError, RecursionError):
        return pattern
    return pattern if named is None else named.name


def _normalises_to_nfc(document: Mapping[str, Any]) -> bool:
    return [step.get("type") for _, step in steps_of(document.get("normalizer"), "", "normalizers")] == ["NFC"]
