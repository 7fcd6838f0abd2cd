"""Work in parallel threads, which an interruption stops."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator, contextmanager
from contextvars import copy_context
from threading import Event, Lock, Thread, local
from typing import Any, TypeVar

from cocensor._checks import Progress

T = TypeVar("T")
_this_thread = local()


def in_threads(jobs: Sequence[Callable[[Event], T]], n_threads: int | None = None) -> list[T]:
    """Return the results of the jobs, in their order; by default with as many threads as there are cores.

    Each is handed an event, and is to end soon after that is set: another job has failed, or the user has interrupted.
    Plain threads: an interruption amid the locks of a pool would leave it waiting for ever. Where one core is all there
    is, as in a job, no thread is started.
    """
    stopped, taking, numbers = Event(), Lock(), iter(range(len(jobs)))
    n_threads = min(n_threads or n_cores(), len(jobs))
    if n_threads <= 1 and n_cores() == 1:
        return [job(stopped) for job in jobs]
    results: dict[int, T] = {}
    failures: list[BaseException] = []

    def work() -> None:
        _this_thread.has_one_core = True
        while not stopped.is_set():
            with taking:
                number = next(numbers, None)
            if number is None:
                return
            try:
                results[number] = jobs[number](stopped)
            except BaseException as failure:
                failures.append(failure)
                stopped.set()

    with one_blas_thread:
        # What the caller has set for itself, such as how numpy takes an overflow, holds in these too.
        threads = [Thread(target=copy_context().run, args=(work,), daemon=True) for _ in range(n_threads)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.1)  # an interruption may reach another thread than this
        finally:
            stopped.set()
            for thread in threads:
                if thread.is_alive():
                    thread.join()
    if failures:
        raise failures[0]
    return [results[number] for number in range(len(jobs))]


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


class _OneBlasThread(ContextDecorator):
    """Keeps matrix products and decompositions on one thread: those of fits are small, and threads wait for each other.

    The number of threads is that of the whole process: entered from several threads at once, this ends with the last of
    them. Around a function it is a decorator.
    """

    def __init__(self) -> None:
        self._changing, self._n_inside = Lock(), 0
        self._libraries: Any = None
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._changing:
            if not self._n_inside:
                if self._libraries is None:  # looked for once, as that takes milliseconds
                    from threadpoolctl import ThreadpoolController  # late: who fits nothing does without

                    self._libraries = ThreadpoolController()
                self._limits = self._libraries.limit(limits=1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._changing:
            self._n_inside -= 1
            if not self._n_inside:
                self._limits.restore_original_limits()


#: For all that fits a model, ``with one_blas_thread:`` or ``@one_blas_thread``.
one_blas_thread = _OneBlasThread()


@contextmanager
def one_core() -> Iterator[None]:
    """Compute on one core, where others compute on the others."""
    before = getattr(_this_thread, "has_one_core", False)
    _this_thread.has_one_core = True
    try:
        with one_blas_thread:
            yield
    finally:
        _this_thread.has_one_core = before


def n_cores() -> int:
    """The cores that this thread may use: one if it is one of several, else those of the process."""
    if getattr(_this_thread, "has_one_core", False):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
