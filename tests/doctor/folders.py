"""A small sound folder, and ways to damage it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from hf_bpe.byte_level import bytes_to_token
from hf_bpe.doctor import examine

MERGES = ["h e", "l l", "he ll", "hell o", "Ġ w"]
SPECIALS = ["<s>", "</s>", "<pad>"]
Files = dict[str, Any]


def sound() -> Files:
    """Name -> content; what is no text and no bytes is written as JSON."""
    tokens = [bytes_to_token(bytes([byte])) for byte in range(256)] + [merge.replace(" ", "") for merge in MERGES]
    added = [token(content, len(tokens) + number) for number, content in enumerate(SPECIALS)]
    return {
        "tokenizer.json": {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": added,
            "normalizer": None,
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [split({"Regex": r"\s?\S+|\s+"}), byte_level(use_regex=False)],
            },
            "post_processor": None,
            "decoder": byte_level(),
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": False,
                "vocab": {token: number for number, token in enumerate(tokens)},
                "merges": list(MERGES),
            },
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "pad_token": "<pad>",
            "clean_up_tokenization_spaces": False,
            "model_max_length": 128,
        },
        "config.json": {"model_type": "llama", "vocab_size": 264, "max_position_embeddings": 128, "eos_token_id": 262},
        "generation_config.json": {"bos_token_id": 261, "eos_token_id": [7, 262], "pad_token_id": 263},
        "model.safetensors": safetensors({"model.embed_tokens.weight": [264, 4]}),
    }


def token(content: str, number: int, **flags: Any) -> dict[str, Any]:
    rest = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": number, "content": content, **rest, **flags}


def split(pattern: dict[str, str], **settings: Any) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False, **settings}


def byte_level(**settings: Any) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True, **settings}


def bos_processor(content: str = "<s>", number: int = 261) -> dict[str, Any]:
    special = {"SpecialToken": {"id": content, "type_id": 0}}
    return {
        "type": "TemplateProcessing",
        "single": [special, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [special, {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {content: {"id": content, "ids": [number], "tokens": [content]}},
    }


def safetensors(shapes: dict[str, list[int]], dtype: str = "BF16") -> bytes:
    header = json.dumps({name: {"dtype": dtype, "shape": shape, "data_offsets": [0, 0]} for name, shape in shapes.items()})
    return struct.pack("<Q", len(header)) + header.encode()


def write(folder: Path, files: Files) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8")
    return folder


def codes(path: Path) -> set[str]:
    return {finding.code for finding in examine(path)}
