"""Resizing a checkpoint of many gigabytes, beside copying it: time, and the most memory held.

The weights between embedding and head are holes in files, which both read as zeros; both have to write them. The embedding and the
head are random. `cp` is told to write the holes too, and the disk is waited for in every case.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hf_bpe import HfBpeTokenizer
from hf_bpe.model_files.safetensors_header import Tensor, header_bytes
from tests.support.vocabularies import cl100k_spec

WIDTH = 4096
SHARDS = 4


def main() -> None:
    """Build, measure, remove."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--folder", type=Path, default=Path("resize-benchmark"), help="where to write; removed afterwards")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    if folder.exists():
        parser.error(f"{folder} exists")
    try:
        size = build(folder / "model", int(arguments.gigabytes * 1e9))
        extended = cl100k_spec().with_added_tokens([f"<|new_{number}|>" for number in range(64)])
        HfBpeTokenizer.from_spec(extended).save_pretrained(folder / "new")
        print(
            f"{size / 1e9:.2f} GB in {SHARDS} shards, embedding and head of {cl100k_spec().n_vocab} rows of {WIDTH} bf16, 64 new tokens"
        )
        for _ in range(arguments.rounds):
            compare(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def build(folder: Path, size: int) -> int:
    """A checkpoint of about that size. Returns how large it is."""
    folder.mkdir(parents=True)
    rows = cl100k_spec().n_vocab
    matrix = Tensor("model.embed_tokens.weight", "BF16", (rows, WIDTH), 0, rows * WIDTH * 2)
    block = WIDTH * WIDTH * 2
    blocks = max(SHARDS, (size - 2 * matrix.nbytes) // block)
    weight_map = {}
    for number in range(SHARDS):
        names = [f"model.layers.{at}.mlp.weight" for at in range(number * blocks // SHARDS, (number + 1) * blocks // SHARDS)]
        tensors = [Tensor(name, "BF16", (WIDTH, WIDTH), 0, block) for name in names]
        ends = {0: [matrix], SHARDS - 1: [Tensor("lm_head.weight", matrix.dtype, matrix.shape, matrix.start, matrix.end)]}
        tensors = [*ends.get(number, []), *tensors]
        path = folder / f"model-{number + 1:05}-of-{SHARDS:05}.safetensors"
        write(path, tensors, random_first=number in ends)
        weight_map |= dict.fromkeys((tensor.name for tensor in tensors), path.name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "vocab_size": rows, "tie_word_embeddings": False}))
    HfBpeTokenizer.from_spec(cl100k_spec()).save_pretrained(folder)
    return sum(path.stat().st_size for path in folder.iterdir())


def write(path: Path, tensors: list[Tensor], *, random_first: bool) -> None:
    """A file of these tensors, the first random and the others a hole."""
    head, placed = header_bytes(tensors, {"format": "pt"})
    with path.open("wb") as file:
        file.write(head)
        if random_first:
            random = np.random.default_rng(len(tensors))
            for _ in range(tensors[0].shape[0]):
                row = random.standard_normal(WIDTH, dtype=np.float32)
                file.write((row.view(np.uint32) >> 16).astype(np.uint16).tobytes())
        file.truncate(len(head) + placed[-1].end)


def compare(folder: Path) -> None:
    """One round: each writes beside the model, and what it wrote is removed."""
    model, new = folder / "model", folder / "new"
    copying, work = timed(lambda: run("cp", "-r", "--sparse=never", model, folder / "copy"), folder)
    shutil.rmtree(folder / "copy")
    print(f"cp: {copying:.1f} s, {work:.1f} s of processor time")
    resize = (sys.executable, "-m", "hf_bpe.cli", "resize", model, "--tokenizer", new, "--quiet", "--output", folder / "out")
    for what, options in {
        "linked, --init mean": (),
        "copied, --init pieces": ("--copy", "--init", "pieces"),
    }.items():
        seconds, work = timed(lambda options=options: run(*resize, *options), folder)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        print(
            f"hf-bpe resize, {what}: {seconds:.1f} s, {seconds / copying:.2f} x of cp, {work:.1f} s of processor time, at most {memory:.2f} GB of memory"
        )
        shutil.rmtree(folder / "out")


def timed(work: Callable[[], object], folder: Path) -> tuple[float, float]:
    """Seconds until it is on the disk, and of the processors: on a busy machine the first depend on what others do."""
    os.sync()
    started, before = time.perf_counter(), os.times()
    work()
    run("sync", "-f", folder)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, used


def run(*command: object) -> None:
    """In a process of its own."""
    subprocess.run([*map(str, command)], check=True)


if __name__ == "__main__":
    main()
