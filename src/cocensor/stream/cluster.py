"""Work on many parts on a Dask cluster; ``distributed`` is imported only where somebody brings a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import uuid4

from cocensor._parallel import ProgressCount, one_core
from cocensor._validation import Progress, need

# How many states a task of the tree merges.
_FAN_IN = 8
# How often all is begun anew: a worker took along what only it held of what all need.
_ATTEMPTS = 3
_PATIENCE = "15s"


@contextmanager
def connected(address: str, who: str = "scheduler") -> Iterator[Any]:
    """A client of the Dask scheduler at an address such as tcp://host:8786, for as long as it is needed."""
    distributed = need("distributed", f"{who} {address}", "Dask", "dask")
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
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
    """:func:`~cocensor.stream.run.reduce_parts` with a task per part and tasks that merge; one state comes back.

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
    """The tasks of one reduction."""

    def __init__(self, job: _Job, parts: Sequence[Any], client: Any, distributed: Any) -> None:
        self._client, self._distributed = client, distributed
        name = f"cocensor-{uuid4().hex}"
        keys = [f"{name}-part-{number}" for number in range(len(parts))]
        self._parts = dict(zip(keys, parts, strict=True))
        try:
            self._job = client.scatter(job, broadcast=True, hash=False)
        except TimeoutError:
            raise ConnectionError(f"the Dask scheduler at {_address(client)} has no workers.") from None
        states = client.map(_worked, parts, key=keys, pure=False, job=self._job)
        self._waiting = dict(zip(keys, states, strict=True))
        held = [states]
        while len(states) > 1:
            groups = [states[start : start + _FAN_IN] for start in range(0, len(states), _FAN_IN)]
            level = len(held)
            states = [
                client.submit(
                    _merged, group, self._job, key=f"{name}-merge-{level}-{k}", pure=False, priority=level
                )
                for k, group in enumerate(groups)
            ]
            held.append(states)
        (self._last,) = states

    def result(self, count: ProgressCount) -> Any:
        """The state of all parts; each part is counted when it is done."""
        try:
            # A state that no future here holds is forgotten as soon as it is merged.
            for future in self._distributed.as_completed(list(self._waiting.values())):
                self._check(future, self._parts[future.key])
                del self._waiting[future.key]
                count.count()
            self._distributed.wait(self._last)
            self._check(self._last)
            return self._last.result()
        except BaseException:
            if self._client.status == "running":
                self._client.cancel([self._job, self._last, *self._waiting.values()])
            raise

    def _check(self, future: Any, part: Any = None) -> None:
        """Raise what kept a task from its end."""
        if future.status == "finished":
            return
        if future.status != "error":
            if self._client.status == "running":
                raise _LostError
            raise ConnectionError(
                f"the connection to the Dask scheduler at {_address(self._client)} is lost."
            )
        error = future.exception()
        if isinstance(error, self._distributed.KilledWorker):
            where = "" if part is None else f" with {_name(part)}"
            raise ChildProcessError(
                f"{error.allowed_failures + 1} Dask workers died{where}, one after the other, perhaps for lack of "
                "memory: look into their logs."
            ) from error
        if isinstance(error, ImportError):
            raise ImportError(
                f"the Dask workers need the same version of cocensor and of what it imports: {error}."
            ) from error
        raise error


def _worked(part: Any, job: _Job) -> Any:
    """What comes of a part, on a worker."""
    with one_core():
        try:
            return job.work(part)
        except OSError as error:
            raise ValueError(
                f"{_name(part)} cannot be read by a Dask worker: {error.strerror or error}."
            ) from None


def _merged(states: list[Any], job: _Job) -> Any:
    with one_core():
        return reduce(job.merge, states)


def _name(part: Any) -> str:
    return str(getattr(part, "name", part))


def _address(client: Any) -> str:
    return str(client.scheduler.address)
