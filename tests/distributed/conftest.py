from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from tests.distributed import deaths
from tests.distributed.deaths import Deaths

_REPOSITORY = str(Path(__file__).parents[2])
_NICENESS = "RAY_worker_niceness"  # Ray reads it in these letters


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of two workers on this machine; the folder is where they look whether to die."""
    folder = tmp_path_factory.mktemp("deaths")
    os.environ[deaths.FOLDER] = str(folder)
    os.environ[_NICENESS] = "0"  # else the suite's other tests starve the workers on two processors
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100 << 20,
        # Workers unpickle what these tests define: they need the repository on their path, where pytest has put it for us alone.
        runtime_env={"worker_process_setup_hook": deaths.install, "env_vars": {"PYTHONPATH": _REPOSITORY}},
    )
    try:
        yield folder
    finally:
        ray.shutdown()
        del os.environ[deaths.FOLDER], os.environ[_NICENESS]


@pytest.fixture
def dying(cluster: Path) -> Iterator[Deaths]:
    for path in cluster.iterdir():
        path.unlink()
    deaths = Deaths(cluster)
    yield deaths
    assert not deaths.outstanding
