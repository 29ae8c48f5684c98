"""Running one job in a worker process, with a limit on its time and on its threads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# What the libraries' thread pools read.
THREAD_VARIABLES = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """The answers of a worker, and why there are no more of them, if there should be."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    refusal: str | None = None


def run(job: dict[str, Any], timeout: float) -> Outcome:
    """Run a job to its end, or as far as it comes in `timeout` seconds."""
    command = [sys.executable, "-m", "benchmarks.worker"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment(job["threads"]),
            cwd=Path(__file__).parent.parent,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        said = expired.stdout or b""
        return Outcome(parse(said.decode() if isinstance(said, bytes) else said), f"too slow: over {timeout:.0f} s")
    answers = parse(done.stdout)
    if answers and "refused" in answers[-1]:
        return Outcome(answers[:-1], answers[-1]["refused"])
    if done.returncode:
        cause = signal.Signals(-done.returncode).name if done.returncode < 0 else f"exit code {done.returncode}"
        return Outcome(answers, f"crashed: {cause}")
    return Outcome(answers)


def parse(output: str) -> list[dict[str, Any]]:
    """The whole lines that are answers; libraries print to the same stream."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{") and line.endswith("}")]


def environment(threads: int) -> dict[str, str]:
    """The environment of a worker that may use so many threads and needs no network."""
    return {
        **os.environ,
        **{variable: str(threads) for variable in THREAD_VARIABLES},
        "TOKENIZERS_PARALLELISM": "false" if threads == 1 else "true",
        "TIKTOKEN_CACHE_DIR": "",  # or tiktoken keeps copies of local files
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    }
