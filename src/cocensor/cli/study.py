"""The scores of a study in files, which are read as a whole or, beyond memory, in batches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import cocensor as cc
from cocensor._checks import Progress, check_whole, escaped, naming
from cocensor._notes import Note
from cocensor.cli.console import Phases, warn
from cocensor.cli.inputs import BETWEEN, BEYOND, Inputs, covariates_of
from cocensor.data.curves import predictions_of
from cocensor.data.files import read_content, read_table
from cocensor.data.predictions import Predicted, RiskScores
from cocensor.data.tables import Table
from cocensor.scale.evaluate import run_scan
from cocensor.scale.files import Files
from cocensor.scale.reduce import connected
from cocensor.study import Plan
from cocensor.study.run import as_true_times, run
from cocensor.study.sensitivity.run import as_labels, check_groups

# --- in memory ----------------------------------------------------------------------------------------------


def scored(inputs: Inputs, plan: Plan, phase: Phases, notes: list[Note]) -> tuple[cc.Evaluation, Any]:
    """Return the scores, and the groups of ``--hazard-ratio-by``."""
    phase(f"Reading {inputs.test.name}")
    subjects = read_table(inputs.test, inputs.id)
    names = inputs.covariates_in(subjects, inputs.test, notes)
    samples = [subjects]
    if inputs.train is not None:
        phase(f"Reading {inputs.train.name}")
        samples.insert(0, read_table(inputs.train))
    y = [inputs.columns.read(table, training=table is not subjects) for table in samples]
    notes += [note for table in samples for note in table.notes]
    x = covariates_of(names, samples)
    settings: dict[str, Any] = {}
    if inputs.true_time is not None:
        times = subjects.numbers(inputs.true_time)
        with naming(subjects.name):
            settings["true_times"] = as_true_times(times, y[-1], f"column {inputs.true_time!r}")
    if inputs.folds is not None:
        settings["folds"] = subjects.texts(inputs.folds)
    groups = None
    if inputs.hazard_ratio_by is not None:
        labels = subjects.texts(inputs.hazard_ratio_by)
        with naming(subjects.name):
            groups = as_labels(labels, "--hazard-ratio-by")
            check_groups(groups, "--hazard-ratio-by")
    if inputs.train is not None:
        settings |= {"y_train": y[0], "x_train": x[0]}
    models: dict[str, Any] = {}
    for name, file in inputs.files.items():
        phase(f"Reading {file.name}", len(models), len(inputs.files))
        models[name] = _predicted(file, subjects, inputs, notes)
    _warn_of_refused(models, inputs.strict)
    source = escaped(inputs.test.name)
    for name, column in inputs.risks.items():
        models[name] = RiskScores(subjects.numbers(column), f"column {column!r} of {source}")
    phase("Selecting a copula" if plan.copula == "select" else "Checking predictions")
    return run(plan, models, y[-1], x[-1], progress=_progress_of_scores(phase, plan), **settings), groups


def check_refused(refused: Mapping[str, str]) -> None:
    """``--strict``: refuse a study in which predictions are ``refused``, by model with why."""
    if refused:
        why = " ".join(f"{name}: {text}" for name, text in refused.items())
        raise ValueError(f"--strict scores all models or none, but predictions are refused. {why}")


def _warn_of_refused(models: Mapping[str, Any], strict: bool) -> None:
    """Say at once which models have no predictions, and go on with the others, unless none is left."""
    refused = {name: str(error) for name, error in models.items() if isinstance(error, ValueError)}
    if strict:
        check_refused(refused)
    if refused and len(refused) == len(models):
        raise ValueError(" ".join(refused.values()))
    for name, why in refused.items():
        warn(f"{name} is left out: {why}")


def _predicted(file: Path, test: Table, inputs: Inputs, notes: list[Note]) -> Predicted | ValueError:
    """Return a model's predictions, or why a file has none: that costs this model, and not the others."""
    content, (between, tail) = read_content(file), inputs.between_and_beyond
    how = f"{BETWEEN[between or 'linear']}, {BEYOND[inputs.tail]}"
    try:
        table = read_table(file, inputs.id, content)
        curves, decided = predictions_of(table, test, inputs.id, between, tail, escaped(file.name), how)
    except ValueError as error:
        return error
    notes += decided
    return curves


def _progress_of_scores(phase: Phases, plan: Plan) -> Progress:
    """Return what names the progress of :func:`cocensor.evaluate`: first the adjustments, then resamples."""
    names = [adjustment.label for adjustment in plan.adjustments]
    scored, resamples = False, None

    def report(done: int, total: int) -> None:
        nonlocal scored, resamples
        if scored:
            resamples = resamples or phase("Scoring bootstrap samples")
            resamples(done, total)
        elif done < total:
            phase(f"Scoring by {names[done]}", done, total)
        else:
            scored = True

    return report


# --- in batches ---------------------------------------------------------------------------------------------


def is_streamed(inputs: Inputs, plan: Plan, scheduler: str | None) -> bool:
    """Return whether files are read in batches: on request, or because a path stands for several files.

    What takes all subjects at once is refused then, and so is a training sample in several files.
    """
    if not inputs.stream and not any(map(_is_several, (inputs.test, *inputs.files.values()))):
        for name, value in (("--scheduler", scheduler), ("--fit-rows", inputs.fit_rows)):
            if value is not None:
                raise ValueError(
                    f"{name} must come with --stream, or with patterns or folders of files, but is {value}."
                )
        return False
    if inputs.fit_rows is not None:
        check_whole(inputs.fit_rows, "--fit-rows")
    if inputs.train is not None and _is_several(inputs.train):
        raise ValueError(f"--train must be one file, for it is held in memory, but is {inputs.train}.")
    risk = next((f"{name}={column}" for name, column in inputs.risks.items()), None)
    for name, value, instead in (
        ("--risk", risk, ": give --predictions with files of one column, risk"),
        ("--entry", inputs.entry, ": compute times, and give --time and --administrative"),
        ("--follow-up", inputs.follow_up, ": mark who reached the end, and give --administrative"),
        ("--true-time", inputs.true_time, ""),
        ("--folds", inputs.folds, ""),
        ("--hazard-ratio-by", inputs.hazard_ratio_by, ""),
        ("--bootstrap", plan.n_resamples, ": intervals come from formulas"),
    ):
        if value is not None:
            raise ValueError(
                f"{name} must not come with files that are read in batches, but is {value}{instead}."
            )
    return True


def _is_several(path: Path) -> bool:
    """Return whether a path is a folder or a pattern; a file may be called as a pattern is."""
    return path.is_dir() or (any(sign in str(path) for sign in "*?[") and not path.exists())


def scored_in_batches(
    inputs: Inputs, plan: Plan, scheduler: str | None, phase: Phases, notes: list[Note]
) -> cc.Evaluation:
    """Return the scores of a study whose test sample and predictions are read in batches."""
    phase(f"Looking at {inputs.test.name}")
    columns = Files.of(inputs.test, "--test").columns if inputs.covariate_names == [] else []
    names = inputs.covariates_among(columns, inputs.test, notes)
    interpolation, tail = inputs.between_and_beyond
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
    settings: dict[str, Any] = {} if inputs.fit_rows is None else {"n_fit": inputs.fit_rows}
    if inputs.train is not None:
        phase(f"Reading {inputs.train.name}")
        table = read_table(inputs.train)
        settings["y_train"] = inputs.columns.read(table, training=True)
        notes += table.notes
        [settings["x_train"]] = covariates_of(names, [table])
    with nullcontext() if scheduler is None else connected(scheduler, "--scheduler") as client:
        progress = _progress_of_passes(phase, len(scan.parts))
        return run_scan(scan, plan, client=client, progress=progress, **settings)


def _progress_of_passes(phase: Phases, n_parts: int) -> Progress:
    """Return what names the progress of :meth:`cocensor.scale.Scan.evaluate`, which reads all parts several times."""
    before = 0

    def report(done: int, total: int) -> None:
        """Show a pass that ends once, and the next that begins."""
        nonlocal before
        last = total // n_parts - 1
        number, within = divmod(done, n_parts)
        has_ended = within == 0 and done != before
        before = done
        if done == total:
            phase("Computing errors")
        elif has_ended:
            phase("Fitting" if number == last else "Reading")
        else:
            name = "Scoring" if number == last else "Reading scores" if number else "Reading outcomes"
            phase(name, within, n_parts)

    return report
