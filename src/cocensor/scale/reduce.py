"""Work on many parts, whose results are merged: in threads here, or on a Dask cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial, reduce
from threading import Condition, Event
from typing import Any, TypeVar
from uuid import uuid4

from cocensor._checks import Progress, need
from cocensor._parallel import ProgressCount, in_threads, one_core

P = TypeVar("P")
S = TypeVar("S")
# How many states a task of the tree merges.
_FAN_IN = 8
_PATIENCE = "15s"


def reduce_parts(
    work: Callable[[P], S],
    parts: Sequence[P],
    merge: Callable[[S, S], S],
    *,
    client: Any = None,
    progress: Progress | None = None,
) -> S:
    """Return what ``work`` makes of each of the ``parts``, merged into one.

    Here, parts are worked on in threads, one per core, and merged in their order: the result is the same to the last
    bit however many threads there are, and no more states are held than one per thread and their sum. On the cluster of
    a ``client`` a tree of tasks merges them, in another order of the same sums: ``work`` is sent to every worker once,
    and each part with its task, so that it should say where the data are rather than hold them. ``merge`` is
    associative, and may change the first of two states and return it.
    """
    if not parts:
        raise ValueError("parts must not be empty.")
    if client is not None:
        return _reduced_on_cluster(work, parts, merge, client, progress)
    turn, count = Condition(), ProgressCount(len(parts), progress)
    n_merged = 0
    total: Any = None

    def job(number: int, stopped: Event) -> None:
        nonlocal n_merged, total
        state = work(parts[number])
        with turn:  # each thread waits with its state until it is its turn
            while n_merged != number:
                if stopped.is_set():
                    return
                turn.wait(0.1)
            total = state if number == 0 else merge(total, state)
            n_merged += 1
            turn.notify_all()
        count.count()

    in_threads([partial(job, number) for number in range(len(parts))])
    if "pyarrow" in sys.modules:  # it keeps for itself what reading took
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    return total


# --- on a cluster; ``distributed`` is imported only where somebody brings one -------------------------------


@contextmanager
def connected(address: str, who: str = "scheduler") -> Iterator[Any]:
    """A client of the Dask scheduler at an address such as tcp://host:8786, for as long as it is needed."""
    distributed = need("distributed", f"{who} {address}", "Dask", "dask")
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:  # ValueError: what is no address
        raise ValueError(
            f"{who} must be the address of a Dask scheduler, such as tcp://host:8786, but none answers at {address!r}."
        ) from error
    with client:
        yield client


def _reduced_on_cluster(
    work: Callable[[Any], Any],
    parts: Sequence[Any],
    merge: Callable[[Any, Any], Any],
    client: Any,
    progress: Progress | None,
) -> Any:
    """Return the merged state, by a task per part and tasks that merge; those of a worker that dies run again."""
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
    job = client.submit(tuple, [work, merge], key=f"{run}-job")
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


@one_core()
def _worked(part: Any, job: tuple[Callable[[Any], Any], Any]) -> Any:
    """Return what comes of a part, on a worker."""
    try:
        return job[0](part)
    except (OSError, ValueError) as error:
        for cause in (error, error.__context__):
            if isinstance(cause, FileNotFoundError):
                raise ValueError(
                    f"{cause.filename or _name(part)} is not there for a Dask worker: all workers must see the files "
                    "under the same paths."
                ) from None
        raise


@one_core()
def _merged(states: list[Any], job: tuple[Any, Callable[[Any, Any], Any]]) -> Any:
    return reduce(job[1], states)


def _name(part: Any) -> str:
    return str(getattr(part, "name", part))
