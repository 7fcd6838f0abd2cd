"""Work on many parts on a Dask cluster; ``distributed`` is imported only where somebody brings a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import reduce
from typing import Any
from uuid import uuid4

from cocensor._checks import Progress, need
from cocensor._parallel import ProgressCount, one_core

# How many states a task of the tree merges.
_FAN_IN = 8
_PATIENCE = "15s"


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
    scheduler = f"the Dask scheduler at {client.scheduler.address}"
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise ConnectionError(f"{scheduler} has no workers.") from None
    run = f"cocensor-{uuid4().hex}"
    by_key = {f"{run}-part-{number}": part for number, part in enumerate(parts)}
    # A task too, which is repeated where the only worker that has it dies.
    job = client.submit(_itself, (work, merge), key=f"{run}-job")
    states = client.map(_worked, parts, key=list(by_key), pure=False, job=job)
    # It lets go of each state that it has given: those that are merged are forgotten.
    finished = distributed.as_completed(states, loop=client.loop)
    level = 0
    while len(states) > 1:
        level += 1
        groups = [states[start : start + _FAN_IN] for start in range(0, len(states), _FAN_IN)]
        keys = [f"{run}-merge-{level}-{k}" for k in range(len(groups))]
        states = client.map(_merged, groups, key=keys, pure=False, priority=level, job=job)
        del groups
    count = ProgressCount(len(parts), progress)
    try:
        for state in finished:
            if state.status != "finished":
                break
            count.count()
        return states[0].result()
    except (CancelledError, distributed.comm.CommClosedError) as error:
        raise ConnectionError(f"the connection to {scheduler} is lost.") from error
    except BaseException as error:
        if client.status == "running":
            client.cancel([job, *states, *finished.futures])
        if isinstance(error, distributed.KilledWorker):
            where = f" with {_name(by_key[error.task])}" if error.task in by_key else ""
            raise ChildProcessError(
                f"{error.allowed_failures + 1} Dask workers died{where}, one after the other, perhaps for lack of "
                "memory: look into their logs."
            ) from error
        if isinstance(error, ImportError):
            raise ImportError(
                f"the Dask workers need the same version of cocensor and of what it imports: {error}."
            ) from error
        raise


def _itself(job: Any) -> Any:
    return job


def _worked(part: Any, job: tuple[Callable[[Any], Any], Any]) -> Any:
    """What comes of a part, on a worker."""
    with one_core():
        try:
            return job[0](part)
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


def _merged(states: list[Any], job: tuple[Any, Callable[[Any, Any], Any]]) -> Any:
    with one_core():
        return reduce(job[1], states)


def _name(part: Any) -> str:
    return str(getattr(part, "name", part))
