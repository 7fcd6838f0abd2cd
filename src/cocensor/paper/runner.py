"""Running an experiment: in parallel, resumably, on this machine or on a Dask cluster."""

from __future__ import annotations

import csv
import io
import os
import platform
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from threading import Thread
from typing import Any

from cocensor._checks import Progress, check_choice, check_whole, need
from cocensor._files import held, write_whole, written_whole
from cocensor.paper.base import Cell, Experiment, Row
from cocensor.paper.results import Results
from cocensor.scale.reduce import connected

_SECONDS_BETWEEN_LOOKS = 0.5


@dataclass(frozen=True, eq=False)
class Outcome:
    """The results of a run of an experiment, by :func:`run`.

    Attributes
    ----------
    experiment : Experiment
        What was run.
    folder : Path
        Where results, tables and figures are.
    rows : list of dict
        All estimates.
    tables : dict of list of dict
        By name the rows of each table.
    failed : list of pair
        Cells that failed, with why.
    notes : list of str
        What was found in the folder.

    See Also
    --------
    run : Makes it, with an example.
    """

    experiment: Experiment
    folder: Path
    rows: list[Row]
    tables: dict[str, list[Row]]
    failed: list[tuple[Cell, str]]
    notes: list[str]


def run(
    experiment: Experiment,
    folder: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Compute what is missing in ``folder``, then write tables and figures there.

    Parameters
    ----------
    experiment : Experiment
    folder : path
        Results of an earlier run with the same configuration are taken up; those of another are refused, and so is
        a folder in which another run is at work.
    n_jobs : int
        How many processes; each computes on one core, so that the numbers do not depend on how many there are.
    backend, scheduler
        "loky" for this machine, or "dask" with the address of a scheduler, through joblib.
    progress : callable, optional
        Called with the number of finished cells and of all, at the start and after each.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> import tempfile
    >>> from cocensor.paper import Experiment, run
    >>> class Squares(Experiment):
    ...     name, about = "squares", "an experiment of one's own"
    ...     def cells(self):
    ...         return [{"seed": seed} for seed in self.config.seeds]
    ...     def run_cell(self, cell):
    ...         return [cell | {"square": cell["seed"] ** 2}]
    ...     def summarise(self, rows):
    ...         return {"sums": [{"sum": sum(row["square"] for row in rows)}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run(Squares.configured(seeds=4), folder)
    >>> outcome.tables, outcome.failed
    ({'sums': [{'sum': 14}]}, [])
    """
    check_choice(backend, "backend", ("loky", "dask"))
    check_whole(n_jobs, "n_jobs")
    if (backend == "dask") != (scheduler is not None):
        raise ValueError(
            "scheduler must be the address of a Dask scheduler with backend 'dask', and None without."
        )
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with held(place):
        return _run(experiment, place, n_jobs, backend, scheduler, progress or (lambda done, total: None))


def _run(
    experiment: Experiment, folder: Path, n_jobs: int, backend: str, scheduler: str | None, progress: Progress
) -> Outcome:
    cells = experiment.cells()
    results = Results(folder, experiment.config.as_dict() | {"experiment": experiment.name})
    missing = results.missing(cells)
    begin = time.perf_counter()
    progress(len(cells) - len(missing), len(cells))
    for done, (cell, rows, error, seconds) in enumerate(
        _computed(experiment, missing, n_jobs, backend, scheduler), start=len(cells) - len(missing) + 1
    ):
        results.append(cell, rows, error, seconds)
        progress(done, len(cells))
    where = {"experiment": experiment.name, "protocol": experiment.config.protocol}
    rows = [where | row for row in results.rows(cells)]
    tables = experiment.summarise(rows) if rows else {}
    _write(results, experiment, rows, tables, time.perf_counter() - begin)
    return Outcome(experiment, results.folder, rows, tables, results.failed(cells), results.notes)


def _computed(
    experiment: Experiment, cells: list[Cell], n_jobs: int, backend: str, scheduler: str | None
) -> Iterator[tuple[Cell, list[Row], str | None, float]]:
    if not cells:
        return
    joblib = need("joblib", "running experiments", "joblib", "experiments")
    with _workers(joblib, backend, scheduler):
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        outcomes = parallel(joblib.delayed(_attempt)(experiment, cell) for cell in cells)
        try:
            for outcome in outcomes:  # noqa: UP028 - "yield from" would close them itself, with the warning
                yield outcome
        except joblib.externals.loky.process_executor.BrokenProcessPool as error:
            raise ChildProcessError(
                "a process died, perhaps for lack of memory; finished cells are kept: run the same again, "
                "perhaps with fewer processes."
            ) from error
        finally:
            with warnings.catch_warnings():
                # Of cells that are cancelled, which are run next time.
                warnings.simplefilter("ignore")
                outcomes.close()


@contextmanager
def _workers(joblib: Any, backend: str, scheduler: str | None) -> Iterator[None]:
    if backend == "loky":
        with joblib.parallel_config(_backend_that_ends(joblib), inner_max_num_threads=1):
            yield
        return
    with connected(str(scheduler)), joblib.parallel_config("dask"):
        yield


def _backend_that_ends(joblib: Any) -> Any:
    """Processes of loky that end when this one does, killed or not, and do not keep its standard output open."""

    class Backend(joblib.parallel.LokyBackend):  # type: ignore[misc]  # joblib has no types
        def configure(self, *args: Any, **how: Any) -> Any:
            return super().configure(*args, initializer=_end_with, initargs=(os.getpid(),), **how)

    return Backend()


def _end_with(parent: int) -> None:
    """End this process soon after its parent has; where systems give an orphan no other parent, it stays."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _attempt(experiment: Experiment, cell: Cell) -> tuple[Cell, list[Row], str | None, float]:
    """The rows of a cell, or why there are none; a failure of one cell is no reason to stop the others."""
    from threadpoolctl import threadpool_limits

    begin = time.perf_counter()
    try:
        with threadpool_limits(1):
            rows, error = experiment.run_cell(cell), None
    except Exception as exception:  # whatever a cell may raise is what is to be recorded
        rows, error = [], f"{type(exception).__name__}: {exception}"
    return cell, rows, error, time.perf_counter() - begin


def _write(
    results: Results, experiment: Experiment, rows: list[Row], tables: dict[str, list[Row]], seconds: float
) -> None:
    folder = results.folder
    if rows:
        write_whole(folder / "results.csv", as_csv(rows))
    for name, table in tables.items():
        write_whole(folder / f"{name}.md", as_markdown(table))
        write_whole(folder / f"{name}.tex", as_latex(table))
    for name, figure in (experiment.plot(rows) if rows else {}).items():
        for suffix in ("png", "pdf"):
            with written_whole(folder / f"{name}.{suffix}") as (place,):
                figure.savefig(place, dpi=150)
    packages = ("cocensor", "numpy", "scipy", "joblib", "scikit-survival", "scikit-learn", "torch")
    results.write_manifest(
        {
            "cells": len(experiment.cells()),
            "failed": len(results.failed(experiment.cells())),
            "seconds_of_cells": round(sum(entry["seconds"] for entry in results.finished.values()), 1),
            "seconds_of_this_run": round(seconds, 1),
            "versions": {"python": platform.python_version()} | _versions(packages),
            "cores": os.cpu_count(),
            "memory_gib": _memory_gib(),
        }
    )


def as_csv(rows: list[Row]) -> str:
    """Rows as CSV; numbers keep all their digits."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_markdown(rows: list[Row]) -> str:
    """Rows as a Markdown table."""
    columns = list(rows[0])
    lines = [columns, ["---"] * len(columns), *([_shown(row[name]) for name in columns] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_latex(rows: list[Row]) -> str:
    """Rows as a LaTeX tabular."""
    columns = list(rows[0])
    lines = [" & ".join(_escaped(name) for name in columns)]
    lines += [" & ".join(_escaped(_shown(row[name])) for name in columns) for row in rows]
    kinds = "".join("l" if isinstance(rows[0][name], str) else "r" for name in columns)
    body = " \\\\\n".join([lines[0], "\\midrule\n" + lines[1] if len(lines) > 1 else "", *lines[2:]])
    return f"\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{body} \\\\\n\\bottomrule\n\\end{{tabular}}\n"


def _shown(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _escaped(text: str) -> str:
    for sign in "&%$#_{}":
        text = text.replace(sign, f"\\{sign}")
    return text


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of the packages that are there."""
    versions = {}
    for name in packages:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def _memory_gib() -> float | None:
    """Return the memory of the machine, where the system knows it."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None
