"""A study in files that no memory holds: which options say so, which cannot, and its scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import cocensor as cc
from cocensor._checks import check_whole
from cocensor._notes import Note
from cocensor.cli.console import Phases
from cocensor.cli.inputs import Inputs, covariates_of
from cocensor.cli.options import batch, option_group
from cocensor.data.files import read_table
from cocensor.scale.evaluate import run_scan
from cocensor.scale.files import Files
from cocensor.scale.reduce import connected
from cocensor.study import Plan


@option_group
class Cluster:
    """Who reads the files; no study file says so."""

    scheduler: str | None = batch(
        "ADDRESS",
        "With --stream: the Dask cluster that reads and scores the files, by the address of its scheduler, such "
        "as tcp://host:8786. Its workers must see the files under the same paths.",
    )


def is_streamed(inputs: Inputs, cluster: Cluster) -> bool:
    """Whether files are read in batches: on request, or because a path stands for several files."""
    if inputs.stream or any(map(_is_several, (inputs.test, *inputs.files.values()))):
        if inputs.fit_rows is not None:
            check_whole(inputs.fit_rows, "--fit-rows")
        return True
    for name, value in (("--scheduler", cluster.scheduler), ("--fit-rows", inputs.fit_rows)):
        if value is not None:
            raise ValueError(
                f"{name} must come with --stream, or with patterns or folders of files, but is {value}."
            )
    return False


def _is_several(path: Path) -> bool:
    """Whether a path is a folder or a pattern; a file may be called as a pattern is."""
    return path.is_dir() or (any(sign in str(path) for sign in "*?[") and not path.exists())


def check_streamed(inputs: Inputs, plan: Plan) -> None:
    """Refuse what takes all subjects at once, and a training sample in several files."""
    if inputs.train is not None and _is_several(inputs.train):
        raise ValueError(f"--train must be one file, for it is held in memory, but is {inputs.train}.")
    asked: dict[str, Any] = {
        "--risk": next((f"{name}={column}" for name, column in inputs.risks.items()), None),
        "--entry": inputs.entry,
        "--follow-up": inputs.follow_up,
        "--true-time": inputs.true_time,
        "--folds": inputs.folds,
        "--hazard-ratio-by": inputs.hazard_ratio_by,
        "--bootstrap": plan.n_resamples,
    }
    instead = {
        "--risk": "give --predictions with files of one column, risk",
        "--entry": "compute times, and give --time and --administrative",
        "--follow-up": "mark who reached the end, and give --administrative",
        "--bootstrap": "intervals come from formulas",
    }
    for name, value in asked.items():
        if value is not None:
            rest = f": {instead[name]}" if name in instead else ""
            raise ValueError(
                f"{name} must not come with files that are read in batches, but is {value}{rest}."
            )


def scored_in_batches(
    inputs: Inputs, plan: Plan, cluster: Cluster, phase: Phases, notes: list[Note]
) -> cc.Evaluation:
    """The scores of a study whose test sample and predictions are read in batches."""
    phase(f"Looking at {inputs.test.name}")
    columns = Files.found(inputs.test, "--test").columns if inputs.covariate_names == [] else []
    names = inputs.covariates_among(columns, inputs.test, notes)
    tail: Any = None if inputs.tail == "none" else inputs.tail
    interpolation: Any = inputs.interpolation
    scan = cc.scan_parquet(
        inputs.test,
        dict(inputs.files),
        time=str(inputs.time),
        event=inputs.event,
        covariates=names,
        administrative=inputs.administrative,
        reason=inputs.reason,
        id=inputs.id,
        interpolation=interpolation,
        tail=tail,
    )
    settings: dict[str, Any] = {}
    if inputs.fit_rows is not None:
        settings["n_fit"] = inputs.fit_rows
    if inputs.train is not None:
        phase(f"Reading {inputs.train.name}")
        table = read_table(inputs.train)
        settings["y_train"] = inputs.columns.read(table, training=True)
        notes += table.notes
        [settings["x_train"]] = covariates_of(names, [table])
    where = cluster.scheduler
    with nullcontext() if where is None else connected(where, "--scheduler") as client:
        passes = _Passes(phase, len(scan.parts))
        return run_scan(scan, plan, client=client, progress=passes, **settings)


class _Passes:
    """Progress of :meth:`cocensor.scale.Scan.evaluate`, by name: all parts are read several times over."""

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
