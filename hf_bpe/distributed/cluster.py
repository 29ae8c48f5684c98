"""`Cluster`: the few things we ask of Ray. Tasks that run again when their worker dies, and results as they come."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from hf_bpe.errors import ClusterError
from hf_bpe.training.counting.memory import bytes_of

__all__ = ["Cluster", "connected", "need_ray"]

_ATTEMPTS_AGAIN = 5
"""How often a task is run again whose worker or machine died. One that dies so often kills its workers itself."""

_POLL_SECONDS = 0.5

_CANCEL_SECONDS = 10.0
"""How long to wait for tasks to end that were cancelled; their workers are killed, which takes far less."""

Key = TypeVar("Key")


def need_ray() -> Any:
    """The module. Raises `ClusterError` saying how to get it."""
    try:
        return import_module("ray")
    except ImportError:
        raise ClusterError("Ray is not installed here: pip install 'hf-bpe[ray]', on every machine of the cluster") from None


@contextmanager
def connected(address: str | None, *, cpus_per_task: int, memory_limit: int | str) -> Iterator[Cluster]:
    """Join a cluster for a while; one that the process has joined before is used, and left as it is.

    address: of the cluster; "auto" finds the one that this machine is part of, "local" or None starts one on this machine alone.
    cpus_per_task, memory_limit: what each task reserves. Raises `ClusterError` if there is no such cluster.
    """
    ray = need_ray()
    if cpus_per_task < 1:
        raise ClusterError(f"cpus_per_task must be at least 1, not {cpus_per_task!r}")
    memory = bytes_of(memory_limit)
    joined = not ray.is_initialized()
    if joined:
        try:
            ray.init("local" if address is None else address, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ClusterError(
                f"there is no Ray cluster at {address!r} ({error}); start one with `ray start`, or give the address 'local'"
            ) from error
    try:
        _warn_of_small_nodes(ray, cpus_per_task, memory)
        yield Cluster(ray, cpus_per_task, memory)
    finally:
        if joined:
            ray.shutdown()


def _warn_of_small_nodes(ray: Any, cpus: int, memory: int) -> None:
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(node.get("CPU", 0) >= cpus and node.get("memory", 0) >= memory for node in nodes):
        # No error: a cluster that grows with its load may have no workers yet.
        warnings.warn(
            f"no machine of the Ray cluster has {cpus} processors and {memory:,} bytes of memory for a task, and none runs until one "
            "joins; lower cpus_per_task or memory_limit if none will",
            stacklevel=5,
        )


class Cluster:
    """A cluster that was joined."""

    def __init__(self, ray: Any, cpus: int, memory: int) -> None:
        self._ray = ray
        self.cpus = cpus
        self._memory = memory

    def share(self, value: Any) -> Any:
        """Put a value where every task can get it; pass what this returns in its place."""
        return self._ray.put(value)

    def task(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What starts a function of ours as a task. It returns a reference: to its result, and as an argument of a task that waits for it."""
        options = {"num_cpus": self.cpus, "memory": self._memory, "max_retries": _ATTEMPTS_AGAIN}
        start: Callable[..., Any] = self._ray.remote(function).options(**options).remote
        return start

    def run(self, tasks: Mapping[Any, Key], done: Callable[[Key], object]) -> None:
        """Wait until all tasks have ended. tasks: what each reference is called, to `done` and in messages.

        Raises what the first task raises that fails, and `ClusterError` for one whose worker died again and again. Whatever ends this
        early, the other tasks are cancelled.
        """
        waiting = list(tasks)
        try:
            while waiting:
                # Asking for the first one only would look at all others each time.
                ready, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=_POLL_SECONDS, fetch_local=False)
                for reference in ready:
                    with self.translated(tasks[reference]):
                        self._ray.get(reference)
                    done(tasks[reference])
        finally:
            for reference in waiting:
                # By force: a KeyboardInterrupt in the midst of an import leaves its lock held, and the worker's next task then waits for
                # ever. A worker that is killed loses nothing: our tasks are made for that.
                self._ray.cancel(reference, force=True)
            if waiting:  # whoever runs the same again shall not find these still at work
                self._ray.wait(waiting, num_returns=len(waiting), timeout=_CANCEL_SECONDS, fetch_local=False)

    @contextmanager
    def translated(self, name: object) -> Iterator[None]:
        """Raise an error of a task as it was raised there, and Ray's own as `ClusterError`."""
        try:
            yield
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            raise (cause if isinstance(cause, Exception) else error) from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"{name}: its task could not be run, or its worker died {_ATTEMPTS_AGAIN + 1} times: {error}\nWhat is finished is kept: "
                "mend that, and run the same again"
            ) from error
