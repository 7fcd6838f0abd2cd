"""Work on many parts, whose results are merged: in threads here, or on a Dask cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from threading import Condition, Event
from typing import Any, TypeVar

from cocensor._checks import Progress
from cocensor._parallel import ProgressCount, in_threads

P = TypeVar("P")
S = TypeVar("S")


def reduce_parts(
    work: Callable[[P], S],
    parts: Sequence[P],
    merge: Callable[[S, S], S],
    *,
    client: Any = None,
    progress: Progress | None = None,
) -> S:
    """``work`` done on each of ``parts``, and what came of it merged into one.

    Here, parts are worked on in threads, one per core, and merged in their order: the result is the same to the last
    bit however many threads there are, and no more states are held than one per thread and their sum. On a cluster a
    tree of tasks merges them, in another order of the same sums.

    Parameters
    ----------
    work : callable of a part
        On a cluster it is sent to every worker once, with all that it holds.
    parts : sequence
        On a cluster each is sent with its task: it should say where the data are rather than hold them.
    merge : callable of two states
        Associative; it may change the first state and return it.
    client : distributed.Client, optional
        Of the cluster that does the work.
    progress : callable, optional
        Told how many of all parts are done, at the start and after each.
    """
    if not parts:
        raise ValueError("parts must not be empty.")
    if client is not None:
        from cocensor.scale.cluster import reduce_on_cluster

        return reduce_on_cluster(work, parts, merge, client, progress)
    fold = _InOrder(merge)
    count = ProgressCount(len(parts), progress)

    def job(number: int, stopped: Event) -> None:
        fold.add(number, work(parts[number]), stopped)
        count.count()

    in_threads([partial(job, number) for number in range(len(parts))])
    if "pyarrow" in sys.modules:  # it keeps for itself what reading took
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    return fold.state


class _InOrder:
    """States merged in the order of their numbers: each thread waits with its state until it is its turn."""

    def __init__(self, merge: Callable[[Any, Any], Any]) -> None:
        self._merge, self._next, self._turn = merge, 0, Condition()
        self.state: Any = None

    def add(self, number: int, state: Any, stopped: Event) -> None:
        with self._turn:
            while self._next != number:
                if stopped.is_set():
                    return
                self._turn.wait(0.1)
            self.state = state if number == 0 else self._merge(self.state, state)
            self._next += 1
            self._turn.notify_all()
