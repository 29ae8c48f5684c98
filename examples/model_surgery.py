"""A model and its tokenizer changed together, and gist tokens trained, on a GPT of one block in numpy: python examples/model_surgery.py

A gist token (Mu, Li and Goodman, 2023) stands for a part of a prompt: everything is frozen but its row, which learns to make the model do
what it does after the prompt.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

import conversion
import hf_bpe
from hf_bpe.editing import audit, plan_resize, with_block
from hf_bpe.editing.audit import rows_of_model

TEXT = "The translator puts each sentence into plain English. It keeps names as they are, and adds nothing. " * 4
PROMPT = "The translator keeps names as they are, and adds nothing. "
WIDTH = 24
NO_TEXT = (0xC0, 0xC1, *range(0xF5, 0x100))
Weights = dict[str, np.ndarray]


# ---------------------------------------------------------------------------------------------------------------------
# A model


def make_model(folder: Path) -> None:
    """A tokenizer of 326 tokens, and a model with random weights. Some rows are as they were before any training: of a reserved token, of bytes
    that no text has, and of " keeps", which the model never saw.
    """
    spec = hf_bpe.train([TEXT], 326, special_tokens=["<|endoftext|>", "<|reserved_0|>"], progress=False)
    hf_bpe.HfBpeTokenizer.from_spec(spec, eos_token="<|endoftext|>").save_pretrained(folder)  # noqa: S106
    random = np.random.default_rng(0)
    shapes = {"wte": (326, WIDTH), "h.0.attn": (WIDTH, 3 * WIDTH), "h.0.mlp.up": (WIDTH, 48), "h.0.mlp.down": (48, WIDTH)}
    weights = {f"{name}.weight": random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    begun_with = random.normal(0, 0.01, WIDTH)
    for token in (b"<|reserved_0|>", *(bytes([byte]) for byte in NO_TEXT), b" keeps"):
        weights["wte.weight"][spec.token_id(token)] = begun_with
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", "vocab_size": 326, "tie_word_embeddings": True}))


def logits(weights: Weights, ids: Sequence[int]) -> np.ndarray:
    """What the model gives after the last of some ids, shape (vocabulary,). Embedding and head are one matrix."""
    hidden = weights["wte.weight"][ids]
    q, k, v = np.split(_norm(hidden) @ weights["h.0.attn.weight"], 3, axis=1)
    attention = np.exp(q @ k.T / np.sqrt(WIDTH)) * np.tri(len(ids))
    hidden = hidden + attention / attention.sum(axis=1, keepdims=True) @ v
    hidden = hidden + np.maximum(_norm(hidden) @ weights["h.0.mlp.up.weight"], 0) @ weights["h.0.mlp.down.weight"]
    return _norm(hidden)[-1] @ weights["wte.weight"].T


def _norm(hidden: np.ndarray) -> np.ndarray:
    return (hidden - hidden.mean(axis=1, keepdims=True)) / hidden.std(axis=1, keepdims=True)


# ---------------------------------------------------------------------------------------------------------------------
# The steps


def find_glitch_tokens(model: Path) -> dict[str, Any]:
    """(a) Which tokens no training seems to have reached."""
    spec = conversion.load(model)
    embedding, head = rows_of_model(model, spec.n_vocab)
    found = audit(spec, embedding=embedding, head=head)
    return {"undertrained": [token.token for token in found.of("undertrained")]}


def add_gist_tokens(model: Path, target: Path) -> dict[str, Any]:
    """(b) Three new tokens, and rows for them. Nothing changes for the ids that were there."""
    spec, ids = with_block(conversion.load(model), "gist", 3)
    with tempfile.TemporaryDirectory() as folder:
        hf_bpe.HfBpeTokenizer.from_spec(spec, eos_token="<|endoftext|>").save_pretrained(folder)  # noqa: S106
        plan_resize(model, folder, init="normal", seed=1, output=target).apply()
    before, after = (load_file(folder / "model.safetensors") for folder in (model, target))
    prompt = hf_bpe.Encoder(spec).encode(PROMPT)
    same = np.allclose(logits(before, prompt), logits(after, prompt)[:326], atol=1e-5)
    return {"new ids": ids, "rows": after["wte.weight"].shape[0], "the same logits for the old ids": bool(same)}


def train_gist_tokens(model: Path) -> dict[str, Any]:
    """(c) Train the rows that new_rows.json names, and no others, until three ids do what the prompt does."""
    encoder = hf_bpe.Encoder(conversion.load(model))
    weights = load_file(model / "model.safetensors")
    frozen = {name: value.copy() for name, value in weights.items()}
    (entry,) = json.loads((model / "new_rows.json").read_text())["train"]
    [[first, count]] = entry["rows"]
    prompt, gist = encoder.encode(PROMPT), list(range(first, first + count))
    endings = [encoder.encode(text) for text in ("The", "names", " sentence", "English", " as", " adds")]

    def difference(rows: np.ndarray) -> np.ndarray:
        """Between what comes after the gist tokens and after the prompt, for the old ids; shape (endings x ids,)."""
        weights[entry["tensor"]][gist] = rows.reshape(count, WIDTH)
        return np.concatenate([(logits(weights, gist + each) - logits(frozen, prompt + each))[:first] for each in endings])

    rows = weights[entry["tensor"]][gist].astype(np.float64).ravel()
    before = _size(difference(rows))
    rows = _least_squares(difference, rows)
    after = _size(difference(rows))
    weights[entry["tensor"]][gist] = frozen[entry["tensor"]][gist]
    untouched = all(np.array_equal(weights[name], frozen[name]) for name in frozen)
    return {
        "prompt": f"{len(prompt)} ids",
        "instead": f"{count} ids",
        "difference of the logits": (round(before, 3), round(after, 3)),
        "everything else is as it was": untouched,
    }


def _size(differences: np.ndarray) -> float:
    return float(np.sqrt((differences**2).mean()))


def _least_squares(difference: Callable[[np.ndarray], np.ndarray], start: np.ndarray, steps: int = 15) -> np.ndarray:
    """Gauss-Newton with damping: what a few numbers need, instead of an optimiser for many."""
    best, damping = start, 1.0
    for _ in range(steps):
        now = difference(best)
        slopes = np.stack([(difference(best + step) - now) / 1e-2 for step in 1e-2 * np.eye(len(best))], axis=1)
        change = np.linalg.solve(slopes.T @ slopes + damping * np.eye(len(best)), slopes.T @ now)
        better = _size(difference(best - change)) < _size(now)
        best, damping = (best - change, damping / 4) if better else (best, damping * 8)
    return best


def main() -> dict[str, dict[str, Any]]:
    """Run the steps, print what they found, and return it."""
    with tempfile.TemporaryDirectory() as folder:
        model, target = Path(folder, "model"), Path(folder, "with-gist-tokens")
        model.mkdir()
        make_model(model)
        found = {
            "(a) Glitch tokens": find_glitch_tokens(model),
            "(b) New tokens, and rows for them": add_gist_tokens(model, target),
            "(c) Three tokens in place of a prompt": train_gist_tokens(target),
        }
    for title, step in found.items():
        print(f"\n{title}")
        for name, value in step.items():
            print(f"    {name}: {value!r}")
    return found


if __name__ == "__main__":
    main()
