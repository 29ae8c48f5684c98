"""One library in a process of its own: `python -m benchmarks.worker` reads a job as JSON and prints answers, one a line.

A fresh process makes a cold pass cold, keeps one library's threads and memory from another's, and can be stopped when it
takes too long. Only the standard library is imported before the library under test.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS, Calls, Unsupported, VocabularyFiles, rows_of

MAX_PASSES = 7


class NoSuchCall(Exception):
    """The library has no call of this kind."""


def main() -> None:
    """Do one job."""
    job = json.load(sys.stdin)
    keep_to_processors(job["threads"])
    try:
        for answer in TASKS[job["task"]](job):
            print(json.dumps(answer), flush=True)
    except (Unsupported, NoSuchCall) as refusal:
        print(json.dumps({"refused": str(refusal)}), flush=True)
    except BaseException as error:  # noqa: BLE001 - libraries raise what they like; PyO3's panics are no Exceptions
        said = (str(error).strip() or "no message").splitlines()[0]
        print(json.dumps({"refused": f"{type(error).__name__}: {said[:120]}"}), flush=True)


def keep_to_processors(threads: int) -> None:
    """Let this process use so many processors and no more: not every library's threads can be numbered otherwise.

    fastokens 0.3.5 uses all for a batch, whatever its environment says.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def load(job: dict[str, Any]) -> Calls:
    """The library under test, with the vocabulary."""
    files = VocabularyFiles(job["vocabulary"], Path(job["folder"]))
    return PEERS[job["contender"]](files, job["threads"])


def call_for(calls: Calls, form: str) -> Callable[[Any], Any]:
    """One of the calls by name."""
    call: Callable[[Any], Any] | None = getattr(calls, form)
    if call is None:
        raise NoSuchCall("no such call")
    return call


def read_texts(job: dict[str, Any]) -> list[str]:
    """The texts of the job."""
    texts: list[str] = json.loads(Path(job["texts"]).read_text("utf-8"))
    return texts


def timed(call: Callable[[Any], Any], argument: Any) -> tuple[float, Any]:
    """Seconds for one call, and what it gave."""
    start = time.perf_counter()
    result = call(argument)
    return time.perf_counter() - start, result


# ---------------------------------------------------------------------------------------------------------------------


def fingerprints(job: dict[str, Any]) -> Any:
    """A digest of each text's ids."""
    texts = read_texts(job)
    call = call_for(load(job), job["form"])
    yield {"digests": [digest(call(text)) for text in texts]}


def digest(result: Any) -> str:
    """Equal for equal ids, whether in a list or in an array of any width; and for equal text."""
    if isinstance(result, str):
        content = result.encode("utf-8", "surrogatepass")
    else:
        content = array("I", result if isinstance(result, list) else result.tolist()).tobytes()
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def passes(job: dict[str, Any]) -> Any:
    """The first pass over the documents in this process, and the best of those after it."""
    texts = read_texts(job)
    call = call_for(load(job), job["form"])
    call(["Once"])  # what libraries import or build at the first call is counted under loading
    cold, result = timed(call, texts)
    digests = [digest(row) for row in rows_of(result)]
    del result
    yield {"cold": cold, "warm": repeat(call, lambda number: turned(texts, number), job["seconds"]), "digests": digests}


def whole(job: dict[str, Any]) -> Any:
    """The same for one long string."""
    (text,) = read_texts(job)
    call = call_for(load(job), job["form"])
    call("Once")
    cold, result = timed(call, text)
    digests = [digest(result)]
    del result
    yield {"cold": cold, "warm": repeat(call, lambda number: turned(text, number), job["seconds"]), "digests": digests}


def turned(text: Any, number: int) -> Any:
    """The string or the list of documents, begun somewhere else for each pass: nobody shall know the last call's input."""
    start = number * len(text) // MAX_PASSES
    return text[start:] + text[:start]


def repeat(call: Callable[[Any], Any], argument: Callable[[int], Any], seconds: float) -> float:
    """The best of as many passes as fit into the time, at least one."""
    times: list[float] = []
    while not times or (sum(times) < seconds and len(times) < MAX_PASSES):
        seconds_taken, result = timed(call, argument(len(times) + 1))
        del result  # after the clock has stopped
        times.append(seconds_taken)
    return min(times)


def single_calls(job: dict[str, Any]) -> Any:
    """Median seconds of one call, over many different short strings, each seen before."""
    texts = read_texts(job)
    call = call_for(load(job), job["form"])
    nothing = statistics.median(timed(len, text)[0] for text in texts)
    digests = [digest(call(text)) for text in texts]
    times: list[float] = []
    while not times or (sum(times) < job["seconds"] and len(times) < 20 * len(texts)):
        times += [timed(call, text)[0] for text in texts]
    yield {"warm": max(statistics.median(times) - nothing, 1e-9), "digests": digests}


def long_strings(job: dict[str, Any]) -> Any:
    """Seconds for each text, one after the other, each for the first time."""
    texts = read_texts(job)
    call = call_for(load(job), job["form"])
    call("Once")
    for text in texts:
        seconds, ids = timed(call, text)
        yield {"warm": seconds, "digests": [digest(ids)]}


def decoding(job: dict[str, Any]) -> Any:
    """The best decoding of the ids of one long string, after a first one."""
    (text,) = read_texts(job)
    calls = load(job)
    call = call_for(calls, job["form"])
    ids: Any = calls.encode(text)
    if job["form"] == "decode_array":
        import numpy as np

        ids = np.array(ids, np.uint32)
    digests = [digest(call(ids))]
    yield {"warm": repeat(call, lambda _: ids, job["seconds"]), "digests": digests}


def loading(job: dict[str, Any]) -> Any:
    """Seconds from before the import until the first ids, and what memory that took."""
    before = resident()
    seconds, calls = timed(first_ids, job)
    yield {"warm": seconds, "megabytes": resident() - before}
    del calls


def first_ids(job: dict[str, Any]) -> Calls:
    """Import, load, encode one text."""
    calls = load(job)
    calls.encode("Hello world")
    return calls


def resident() -> float:
    """Megabytes of memory that this process holds."""
    status = Path("/proc/self/status")
    if not status.exists():
        raise NoSuchCall("memory is read from /proc, which is not here")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1000


TASKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    task.__name__: task for task in (fingerprints, passes, whole, single_calls, long_strings, decoding, loading)
}

if __name__ == "__main__":
    main()
