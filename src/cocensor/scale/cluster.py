"""Work on many parts on a Dask cluster; ``distributed`` is imported only where somebody brings a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from cocensor._checks import Progress, need
from cocensor._parallel import ProgressCount, one_core

# How many states a task of the tree merges.
_FAN_IN = 8
# How often all is begun anew: a worker took along what only it held of what all need.
_ATTEMPTS = 3
_PATIENCE = "15s"
_POLL = 0.05


@contextmanager
def connected(address: str, who: str = "scheduler") -> Iterator[Any]:
    """A client of the Dask scheduler at an address such as tcp://host:8786, for as long as it is needed."""
    distributed = need("distributed", f"{who} {address}", "Dask", "dask")
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:  # ValueError: what is no address
        raise ValueError(
            f"{who} must be the address of a Dask scheduler, such as tcp://host:8786, but none answers at "
            f"{address!r}."
        ) from error
    with client:
        yield client


def reduce_on_cluster(
    work: Callable[[Any], Any],
    parts: Sequence[Any],
    merge: Callable[[Any, Any], Any],
    client: Any,
    progress: Progress | None,
) -> Any:
    """:func:`~cocensor.scale.run.reduce_parts` with a task per part and tasks that merge; one state comes back.

    A worker that dies costs its tasks, which others run again.
    """
    distributed = need("distributed", "client", "Dask", "dask")
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise TypeError(f"client must be a distributed.Client that is not asynchronous, but is {client!r}.")
    for _ in range(_ATTEMPTS):
        count = ProgressCount(len(parts), progress)
        try:
            return _Run(_Job(work, merge), parts, client, distributed).result(count)
        except _LostError:
            continue
        except (CancelledError, distributed.comm.CommClosedError) as error:
            raise _disconnected(client) from error
    raise ChildProcessError(
        f"all Dask workers died, {_ATTEMPTS} times over, perhaps for lack of memory: look into their logs."
    )


@dataclass(frozen=True, eq=False)
class _Job:
    """What every worker is sent once."""

    work: Callable[[Any], Any]
    merge: Callable[[Any, Any], Any]


class _LostError(Exception):
    """The job was sent to workers that are all gone."""


class _Run:
    """The tasks of one reduction, of which the client holds the last alone: all others are forgotten once merged."""

    def __init__(self, job: _Job, parts: Sequence[Any], client: Any, distributed: Any) -> None:
        self._client, self._distributed, self._name = client, distributed, f"cocensor-{uuid4().hex}"
        self._parts = {f"{self._name}-part-{number}": part for number, part in enumerate(parts)}
        self._done: SimpleQueue[int] = SimpleQueue()
        client.subscribe_topic(self._name, lambda event: self._done.put(event[1]))
        try:
            self._job = client.scatter(job, broadcast=True, hash=False)
        except TimeoutError:
            raise ConnectionError(f"the Dask scheduler at {_address(client)} has no workers.") from None
        keys = list(self._parts)
        states = client.map(
            _worked, parts, range(len(parts)), key=keys, pure=False, job=self._job, run=self._name
        )
        levels = [states]
        while len(states) > 1:
            groups = [states[start : start + _FAN_IN] for start in range(0, len(states), _FAN_IN)]
            keys = [f"{self._name}-merge-{len(levels)}-{k}" for k in range(len(groups))]
            states = client.map(_merged, groups, key=keys, pure=False, priority=len(levels), job=self._job)
            levels.append(states)
        (self._last,) = states

    def result(self, count: ProgressCount) -> Any:
        """The state of all parts; each part is counted when it is done."""
        counted: set[int] = set()
        try:
            while not (self._last.done() and self._done.empty()):
                with suppress(Empty):
                    number = self._done.get(timeout=_POLL)
                    if number not in counted:  # a part of a worker that died is done twice
                        counted.add(number)
                        count.count()
            self._check()
            for _ in range(len(self._parts) - len(counted)):
                count.count()
            return self._last.result()
        except BaseException:
            if self._client.status == "running":
                self._client.cancel([self._last])
            raise
        finally:
            self._job.release()
            if self._client.status == "running":
                self._client.unsubscribe_topic(self._name)

    def _check(self) -> None:
        """Raise what kept the last task from its end."""
        if self._last.status == "finished":
            return
        if self._last.status != "error":
            if self._client.status == "running":
                raise _LostError
            raise _disconnected(self._client)
        error = self._last.exception()
        if isinstance(error, self._distributed.KilledWorker):
            part = self._parts.get(error.task)
            raise ChildProcessError(
                f"{error.allowed_failures + 1} Dask workers died{'' if part is None else f' with {_name(part)}'}, one "
                "after the other, perhaps for lack of memory: look into their logs."
            ) from error
        if isinstance(error, ImportError):
            raise ImportError(
                f"the Dask workers need the same version of cocensor and of what it imports: {error}."
            ) from error
        raise error


def _worked(part: Any, number: int, job: _Job, run: str) -> Any:
    """What comes of a part, on a worker, which tells those who wait."""
    from distributed import get_worker

    with one_core():
        try:
            state = job.work(part)
        except (OSError, ValueError) as error:
            missing = next(
                (each for each in (error, error.__context__) if isinstance(each, FileNotFoundError)), None
            )
            if missing is None:
                raise
            raise ValueError(
                f"{missing.filename or _name(part)} is not there for a Dask worker: all workers must see the files "
                "under the same paths."
            ) from None
    get_worker().log_event(run, number)
    return state


def _merged(states: list[Any], job: _Job) -> Any:
    with one_core():
        return reduce(job.merge, states)


def _name(part: Any) -> str:
    return str(getattr(part, "name", part))


def _disconnected(client: Any) -> ConnectionError:
    return ConnectionError(f"the connection to the Dask scheduler at {_address(client)} is lost.")


def _address(client: Any) -> str:
    return str(client.scheduler.address)
