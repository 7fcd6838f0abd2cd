import os
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, settings

os.environ["MPLBACKEND"] = "Agg"  # figures without a screen

# The same examples in every run: a failure that comes and goes helps nobody. `make bench` draws new ones.
common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, **common)
settings.register_profile("new", max_examples=500, print_blob=True, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


# What is a job of its own, by the fixture that it takes.
JOBS = {"browser": "browser", "cluster": "dask", "doomed_cluster": "dask"}
# Dask leaves connections to processes that were killed to be closed when they are collected, in whichever test that is.
LEFT_BY_DASK = "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by marks
def pytest_collection_modifyitems(items):
    for item in items:
        for fixture in JOBS.keys() & getattr(item, "fixturenames", ()):
            item.add_marker(JOBS[fixture])
            if JOBS[fixture] == "dask":
                item.add_marker(pytest.mark.filterwarnings(LEFT_BY_DASK))


@contextmanager
def two_processes(folder):
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=50,
        local_directory=str(folder),
    ) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A Dask cluster of two processes."""
    with two_processes(tmp_path_factory.mktemp("dask")) as cluster:
        yield cluster


@pytest.fixture
def doomed_cluster(tmp_path_factory):
    """The same for one test, which may kill processes: not all of them come back at once."""
    with two_processes(tmp_path_factory.mktemp("dask")) as cluster:
        yield cluster
