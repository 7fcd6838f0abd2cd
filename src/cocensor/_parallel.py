"""Work in parallel threads, which an interruption stops."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from threading import Event, Lock
from typing import Any, TypeVar

from cocensor._validation import Progress

T = TypeVar("T")


def in_threads(jobs: Sequence[Callable[[Event], T]], n_threads: int | None = None) -> list[T]:
    """What the jobs return, in their order; by default with as many threads as there are cores.

    Each is handed an event, and is to end soon after that is set: another job has failed, or the user has interrupted.
    """
    stopped = Event()
    with _one_thread_each(), ThreadPoolExecutor(n_threads or n_cores()) as pool:
        try:
            running = [pool.submit(job, stopped) for job in jobs]
            finished, _ = wait(running, return_when=FIRST_EXCEPTION)
            for job in finished:
                job.result()  # raises what stopped it
        finally:  # an interruption must not wait for the rest
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
        return [job.result() for job in running]


class ProgressCount:
    """Tells a user's function how many of all are done, from one thread at a time."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._counting = 0, total, Lock()
        self._report = progress or (lambda done, total: None)
        self._report(0, total)

    def count(self) -> None:
        """One more is done."""
        with self._counting:
            self._done += 1
            self._report(self._done, self._total)


def _one_thread_each() -> AbstractContextManager[Any]:
    """Keep matrix products from starting threads of their own, which would wait for each other.

    That takes threadpoolctl, which comes with scikit-learn; without it the same numbers take half as long again.
    """
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    return import_module("threadpoolctl").threadpool_limits(1, "blas")


def n_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
