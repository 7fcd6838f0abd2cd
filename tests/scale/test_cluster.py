"""On a Dask cluster the same comes out, also where a worker dies amid the work."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from cocensor import _parallel
from cocensor.scale.reduce import connected, reduce_parts

VALUES = np.random.default_rng(1).normal(size=(20, 50))


@pytest.fixture
def client(cluster):
    with connected(cluster.scheduler_address) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def added(one, other):
    return one + other


@dataclass
class Values:
    """A picklable piece of work with what it needs."""

    values: np.ndarray

    def __call__(self, part):
        return self.values[part]


@dataclass(frozen=True)
class File:
    name: str


def test_the_same_sum_as_here(client):
    told = []
    far = reduce_parts(
        Values(VALUES), range(20), added, client=client, progress=lambda *counts: told.append(counts)
    )
    np.testing.assert_allclose(far, reduce_parts(Values(VALUES), range(20), added), rtol=0, atol=1e-12)
    assert told == [(k, 20) for k in range(21)]


def test_one_part_is_merged_with_nothing(client):
    np.testing.assert_array_equal(reduce_parts(Values(VALUES), [3], added, client=client), VALUES[3])


@dataclass
class UntilKilled:
    """The part 4 waits until those who hold the folder have killed as many processes as they want."""

    folder: Path
    n_kills: int

    def __call__(self, part):
        if part == 4:
            (self.folder / f"run-{os.getpid()}").touch()
            while len(list(self.folder.glob("killed-*"))) < self.n_kills:
                time.sleep(0.01)
        return VALUES[part]


def runs(folder):
    return [int(each.name.removeprefix("run-")) for each in folder.glob("run-*")]


def kill(folder, pids):
    while not runs(folder):
        time.sleep(0.01)
    for pid in pids or runs(folder)[:1]:
        os.kill(pid, signal.SIGKILL)
        (folder / f"killed-{pid}").touch()


@pytest.mark.parametrize("who", ["the one at work", "all"])
def test_workers_that_die_cost_their_tasks_which_run_again(doomed_cluster, tmp_path, who):
    with connected(doomed_cluster.scheduler_address) as client:
        pids = list(client.run(os.getpid).values()) if who == "all" else []
        Thread(target=kill, args=(tmp_path, pids), daemon=True).start()
        found = reduce_parts(UntilKilled(tmp_path, len(pids) or 1), range(20), added, client=client)
    np.testing.assert_allclose(found, VALUES.sum(0), rtol=0, atol=1e-12)
    assert len(runs(tmp_path)) == 2


@dataclass
class Reading:
    """Bytes of files, as a worker sees them; what is empty is broken."""

    def __call__(self, part):
        size = len(Path(part.name).read_bytes())
        if not size:
            raise ValueError(f"{part.name} is broken.")
        return size


@pytest.mark.parametrize(("content", "why"), [(b"", "is broken"), (None, "not there for a Dask worker")])
def test_the_file_that_a_worker_cannot_read_is_named(client, tmp_path, content, why):
    files = [tmp_path / f"{k}.parquet" for k in range(12)]
    for file in files:
        file.write_bytes(b"rows")
    files[7].unlink()
    if content is not None:
        files[7].write_bytes(content)
    with pytest.raises(ValueError, match=f"{tmp_path}/7.parquet.*{why}"):
        reduce_parts(Reading(), [File(str(file)) for file in files], added, client=client)


@dataclass
class Counted:
    folder: Path

    def __call__(self, part):
        (self.folder / str(part)).touch()
        time.sleep(0.01)
        return _parallel.n_cores()


def test_an_interruption_leaves_nothing_to_do_on_the_cluster(cluster, client, tmp_path):
    def interrupt(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reduce_parts(Counted(tmp_path), range(1000), added, client=client, progress=interrupt)
    end = time.monotonic() + 5
    while cluster.scheduler.tasks and time.monotonic() < end:
        time.sleep(0.01)
    assert not cluster.scheduler.tasks
    assert len(list(tmp_path.iterdir())) < 1000


def test_tasks_compute_on_one_core_each(client, tmp_path):
    assert reduce_parts(Counted(tmp_path), range(3), max, client=client) == 1


# Dask may leave the socket open by which it is about to connect anew.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_connection_that_is_lost_is_told_in_a_sentence(tmp_path):
    from distributed import LocalCluster

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as brief,
        connected(brief.scheduler_address) as client,
    ):

        def close():
            while not any(tmp_path.iterdir()):
                time.sleep(0.01)
            brief.close()

        lost = Thread(target=close, daemon=True)
        lost.start()
        with pytest.raises(ConnectionError, match="connection to the Dask scheduler"):
            reduce_parts(Counted(tmp_path), range(1000), added, client=client)
        lost.join()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere at all"])
def test_an_address_without_a_scheduler_is_refused(monkeypatch, address):
    monkeypatch.setattr("cocensor.scale.reduce._PATIENCE", "200ms")
    with pytest.raises(ValueError, match=f"scheduler must be .*{address}"), connected(address):
        pass


def test_what_is_no_client_is_refused():
    with pytest.raises(TypeError, match="client must be .*'tcp://x:1'"):
        reduce_parts(float, [1], added, client="tcp://x:1")
