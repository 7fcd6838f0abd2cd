"""The scores of a study in files that are read as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cocensor as cc
from cocensor._checks import escaped
from cocensor._notes import Note
from cocensor.cli.console import Phases, warn
from cocensor.cli.inputs import BETWEEN, BEYOND, Inputs, covariates_of, groups_of, true_times_of
from cocensor.data.curves import predictions_of
from cocensor.data.files import read_content, read_table
from cocensor.data.predictions import Predicted, RiskScores
from cocensor.data.tables import Table
from cocensor.study import Plan
from cocensor.study.run import run


def scored(inputs: Inputs, plan: Plan, phase: Phases, notes: list[Note]) -> tuple[cc.Evaluation, Any]:
    """The scores, and the groups of ``--hazard-ratio-by``."""
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
        settings["true_times"] = true_times_of(subjects, inputs.true_time, y[-1])
    if inputs.folds is not None:
        settings["folds"] = subjects.texts(inputs.folds)
    groups = None if inputs.hazard_ratio_by is None else groups_of(subjects, inputs.hazard_ratio_by)
    if inputs.train is not None:
        settings |= {"y_train": y[0], "x_train": x[0]}
    models: dict[str, Any] = {}
    for name, file in inputs.files.items():
        phase(f"Reading {file.name}", len(models), len(inputs.files))
        models[name] = _predicted(file, subjects, inputs, notes)
    _tell_refused(models, inputs.strict)
    source = escaped(inputs.test.name)
    for name, column in inputs.risks.items():
        models[name] = RiskScores(subjects.numbers(column), f"column {column!r} of {source}")
    phase("Selecting a copula" if plan.copula == "select" else "Checking predictions")
    scoring = _Scoring(phase, plan)
    return run(plan, models, y[-1], x[-1], progress=scoring, **settings), groups


def check_refused(refused: Mapping[str, str]) -> None:
    """``--strict``: refuse a study in which predictions are ``refused``, by model with why."""
    if refused:
        why = " ".join(f"{name}: {text}" for name, text in refused.items())
        raise ValueError(f"--strict scores all models or none, but predictions are refused. {why}")


def _tell_refused(models: Mapping[str, Any], strict: bool) -> None:
    """Say at once which models have no predictions, and go on with the others, unless none is left."""
    refused = {name: str(found) for name, found in models.items() if isinstance(found, ValueError)}
    if strict:
        check_refused(refused)
    if refused and len(refused) == len(models):
        raise ValueError(" ".join(refused.values()))
    for name, why in refused.items():
        warn(f"{name} is left out: {why}")


def _predicted(file: Path, test: Table, inputs: Inputs, notes: list[Note]) -> Predicted | ValueError:
    """A model's predictions, or why a file has none: that costs this model, and not the others."""
    content = read_content(file)
    tail: Any = None if inputs.tail == "none" else inputs.tail
    between: Any = inputs.interpolation
    how = f"{BETWEEN[between or 'linear']}, {BEYOND[inputs.tail]}"
    try:
        table = read_table(file, inputs.id, content)
        curves, decided = predictions_of(table, test, inputs.id, between, tail, escaped(file.name), how)
    except ValueError as error:
        return error
    notes += decided
    return curves


class _Scoring:
    """What ``progress`` of :func:`cocensor.evaluate` tells, by name: first the adjustments, then resamples."""

    def __init__(self, phase: Phases, plan: Plan) -> None:
        self._phase = phase
        self._names = [each.label for each in plan.adjustments]
        self._scored = False
        self._resamples: Callable[[int, int], None] | None = None

    def __call__(self, done: int, total: int) -> None:
        """So many of all are done."""
        if self._scored:
            self._resamples = self._resamples or self._phase("Scoring bootstrap samples")
            self._resamples(done, total)
        elif done < total:
            self._phase(f"Scoring by {self._names[done]}", done, total)
        else:
            self._scored = True
