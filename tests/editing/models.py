"""Small checkpoints laid out as those of real architectures, and tokenizers of a few hundred tokens to go with them."""

from __future__ import annotations

import json
import struct
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import safetensors
from safetensors.numpy import save_file

import hf_bpe
from hf_bpe import AddedToken, HfBpeTokenizer, TokenizerSpec
from hf_bpe.model_files.safetensors_header import read_header

WIDTH = 24
TEXT = "the quick brown fox jumps over the lazy dog; the dog sleeps, the fox does not. " * 8

DTYPES = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}
Tensors = dict[str, tuple[str, tuple[int, ...]]]
"""Name -> dtype, shape."""


@cache
def old_spec() -> TokenizerSpec:
    """300 ids: bytes, 42 merges, <s> and </s>."""
    return hf_bpe.train(iter([TEXT]), 300, special_tokens=["<s>", "</s>"], progress=False)


@cache
def new_spec() -> TokenizerSpec:
    """The same with three special tokens more."""
    return old_spec().with_added_tokens(["<|user|>", "<|end|>", "the lazy"])


@cache
def pruned_spec() -> TokenizerSpec:
    """The same without its last ten merges, the ids moved together, one special token more."""
    spec = old_spec()
    dropped = {left + right for left, right in spec.merges[-10:]}
    kept = [token for token, _ in sorted(spec.vocab.items(), key=lambda item: item[1]) if token not in dropped]
    vocab = {token: number for number, token in enumerate(kept)}
    added = tuple(AddedToken(content, len(vocab) + number) for number, content in enumerate(["</s>", "<s>", "<|tool|>"]))
    return spec.replace(vocab=vocab, merges=spec.merges[:-10], added_tokens=added)


def save_tokenizer(spec: TokenizerSpec, folder: Path, **settings: Any) -> Path:
    HfBpeTokenizer.from_spec(spec, **settings).save_pretrained(folder)
    return folder


def gpt2(rows: int, dtype: str = "F32") -> Tensors:
    """Tied: there is no head."""
    body = {f"h.0.{name}": (dtype, shape) for name, shape in {"attn.c_attn.weight": (WIDTH, 72), "ln_1.bias": (WIDTH,)}.items()}
    return {
        "wte.weight": (dtype, (rows, WIDTH)),
        "wpe.weight": (dtype, (40, WIDTH)),
        **body,
        "h.0.attn.bias": ("U8", (1, 1, 9, 9)),
    }


def llama(rows: int, dtype: str = "BF16", *, tied: bool = False) -> Tensors:
    body = {
        f"model.layers.{n}.{name}.weight": (dtype, shape)
        for n in range(2)
        for name, shape in {"self_attn.q_proj": (WIDTH, WIDTH), "mlp.up_proj": (50, WIDTH), "input_layernorm": (WIDTH,)}.items()
    }
    head = {} if tied else {"lm_head.weight": (dtype, (rows, WIDTH))}
    return {"model.embed_tokens.weight": (dtype, (rows, WIDTH)), **body, "model.norm.weight": (dtype, (WIDTH,)), **head}


def with_bias(rows: int, dtype: str = "F16") -> Tensors:
    return {**llama(rows, dtype), "lm_head.bias": (dtype, (rows,)), "final_logits_bias": ("F32", (1, rows))}


def values_of(tensors: Tensors, seed: int = 0) -> dict[str, np.ndarray]:
    """Random numbers for them."""
    random = np.random.default_rng(seed)
    made = {}
    for name, (dtype, shape) in tensors.items():
        if dtype in ("U8", "I64"):
            made[name] = random.integers(0, 100, shape).astype(DTYPES[dtype])
        else:
            made[name] = random.standard_normal(shape).astype(np.float32).astype(DTYPES[dtype])
    return made


def dtype_name(array: np.ndarray) -> str:
    return next(name for name, dtype in DTYPES.items() if dtype == array.dtype)


def save_tensors(path: Path, values: dict[str, np.ndarray]) -> None:
    """A file; by the safetensors library, where its numpy side knows the dtypes."""
    if all(dtype_name(array) in ("F32", "F16", "I64", "U8") for array in values.values()):
        save_file(values, path, {"format": "pt"})
        return
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, array in values.items():
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": dtype_name(array), "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def load_tensors(folder: Path) -> dict[str, np.ndarray]:
    """All tensors of a folder, read by the library."""
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        for name, entry in safetensors.deserialize(path.read_bytes()):
            array = np.frombuffer(bytes(entry["data"]), dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
            assert name not in found
            found[name] = array
        read_header(path)
    return found


def save_model(
    folder: Path,
    tensors: Tensors,
    *,
    shards: int = 1,
    config: dict[str, Any] | None = None,
    spec: TokenizerSpec | None = None,
    **settings: Any,
) -> dict[str, np.ndarray]:
    """Write a whole model folder, and return the values of its tensors."""
    folder.mkdir(parents=True)
    values = values_of(tensors)
    if shards == 1:
        save_tensors(folder / "model.safetensors", values)
    else:
        save_sharded(folder, values, shards)
    rows = max(shape[0] for name, (_, shape) in tensors.items() if "embed" in name or "wte" in name)
    said = {"model_type": "llama", "vocab_size": rows, "bos_token_id": 298, "eos_token_id": 299, **(config or {})}
    (folder / "config.json").write_text(json.dumps(said))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [299], "suppress_tokens": [290, 5]}))
    (folder / "LICENSE").write_text("free")
    save_tokenizer(spec or old_spec(), folder, **{"bos_token": "<s>", "eos_token": "</s>", **settings})
    return values


def save_sharded(folder: Path, values: dict[str, np.ndarray], shards: int) -> None:
    names = list(values)
    weight_map = {}
    for number in range(shards):
        file = f"model-{number + 1:05}-of-{shards:05}.safetensors"
        part = names[number * len(names) // shards : (number + 1) * len(names) // shards]
        save_tensors(folder / file, {name: values[name] for name in part})
        weight_map |= dict.fromkeys(part, file)
    sizes = {"total_parameters": sum(a.size for a in values.values()), "total_size": sum(a.nbytes for a in values.values())}
    index = {"metadata": sizes, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))


def content(folder: Path) -> dict[str, bytes]:
    """Every file, to compare a folder with what it was."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
