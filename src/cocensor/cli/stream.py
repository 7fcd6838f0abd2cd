"""A study in files that no memory holds: which options say so, which cannot, and its scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

import cocensor as cc
from cocensor._notes import Note
from cocensor._validation import check_whole
from cocensor.cli.console import Phases
from cocensor.cli.files import read_table
from cocensor.cli.inputs import covariates_of
from cocensor.cli.settings import ALL, all_covariates
from cocensor.cli.study import Study
from cocensor.stream.cluster import connected
from cocensor.stream.files import Files

_PANEL = "Files larger than memory"
Stream = Annotated[
    bool,
    typer.Option(
        "--stream/--no-stream",
        help=(
            "Read Parquet files in batches: they may be larger than the memory. Folders and patterns in quotes, such "
            "as 'test/*.parquet', are read so in any case."
        ),
        rich_help_panel=_PANEL,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="With --stream: the Dask cluster that reads and scores the files, by the address of its scheduler, such "
        "as tcp://host:8786. Its workers must see the files under the same paths.",
        rich_help_panel=_PANEL,
    ),
]
FitRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help=(
            "With --stream: the largest number of subjects that adjustments are fitted to, drawn by a hash of their id "
            "or row number. By default 1000000."
        ),
        rich_help_panel=_PANEL,
    ),
]


def is_streamed(stream: bool, scheduler: str | None, fit_rows: int | None, paths: Iterable[Path]) -> bool:
    """Whether files are read in batches: on request, or because a path stands for several files."""
    if stream or any(map(_is_several, paths)):
        if fit_rows is not None:
            check_whole(fit_rows, "--fit-rows")
        return True
    for option, value in (("--scheduler", scheduler), ("--fit-rows", fit_rows)):
        if value is not None:
            raise ValueError(
                f"{option} must come with --stream, or with patterns or folders of files, but is {value}."
            )
    return False


def _is_several(path: Path) -> bool:
    """Whether a path is a folder or a pattern; a file may be called as a pattern is."""
    return path.is_dir() or (any(sign in str(path) for sign in "*?[") and not path.exists())


def check_streamed(study: Study, bootstrap: int | None) -> None:
    """Refuse what takes all subjects at once, and a training sample in several files."""
    if study.train is not None and _is_several(study.train):
        raise ValueError(f"--train must be one file, for it is held in memory, but is {study.train}.")
    columns = study.columns
    asked: dict[str, Any] = {
        "--risk": next((f"{name}={column}" for name, column in study.risks.items()), None),
        "--entry": columns.entry,
        "--follow-up": columns.follow_up,
        "--true-time": study.true_time,
        "--folds": study.folds,
        "--hazard-ratio-by": study.hazard_ratio_by,
        "--bootstrap": bootstrap,
    }
    instead = {
        "--risk": "give --predictions with files of one column, risk",
        "--entry": "compute times, and give --time and --administrative",
        "--follow-up": "mark who reached the end, and give --administrative",
        "--bootstrap": "intervals come from formulas",
    }
    for option, value in asked.items():
        if value is not None:
            rest = f": {instead[option]}" if option in instead else ""
            raise ValueError(
                f"{option} must not come with files that are read in batches, but is {value}{rest}."
            )


def scored_in_batches(
    study: Study, scheduler: str | None, fit_rows: int | None, phase: Phases, notes: list[Note]
) -> cc.Evaluation:
    """The scores of a study whose test sample and predictions are read in batches."""
    phase(f"Looking at {study.test.name}")
    names = study.covariates
    if names == ALL:
        names = all_covariates(Files.found(study.test, "--test").columns, study.test, study.named, notes)
    columns = study.columns
    scan = cc.scan_parquet(
        study.test,
        dict(study.files),
        time=str(columns.time),
        event=columns.event,
        covariates=names,
        administrative=columns.administrative,
        reason=columns.reason,
        id=study.identity,
        interpolation=study.interpolation,
        tail=study.tail,
    )
    settings = dict(study.settings)
    if fit_rows is not None:
        settings["n_fit"] = fit_rows
    if study.train is not None:
        phase(f"Reading {study.train.name}")
        table = read_table(study.train)
        settings["y_train"] = columns.read(table, training=True)
        [settings["x_train"]] = covariates_of(names, table, notes=notes)
    with nullcontext() if scheduler is None else connected(scheduler, "--scheduler") as client:
        return scan.evaluate(client=client, progress=_Passes(phase, len(scan.parts)), **settings)


class _Passes:
    """What ``progress`` of :meth:`cocensor.Scan.evaluate` tells, by name: all parts are read several times over."""

    def __init__(self, phase: Phases, n_parts: int) -> None:
        self._phase, self._n_parts, self._before = phase, n_parts, 0

    def __call__(self, done: int, total: int) -> None:
        """So many parts of all passes are done; one that ends is told, and the next that begins once more."""
        last = total // self._n_parts - 1
        number, within = divmod(done, self._n_parts)
        ended = within == 0 and done != self._before
        self._before = done
        if done == total:
            self._phase("Computing errors")
        elif ended:
            self._phase("Fitting" if number == last else "Reading")
        else:
            name = "Scoring" if number == last else "Reading scores" if number else "Reading outcomes"
            self._phase(name, within, self._n_parts)


@contextmanager
def starting_over(streamed: bool) -> Iterator[None]:
    """Say that nothing is kept of a long run that is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*["The same command starts over."] if streamed else []) from None
