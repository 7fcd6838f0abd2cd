"""A study as the options of ``cocensor evaluate`` describe it, and its scores where all of it is held in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocensor as cc
from cocensor._notes import Note
from cocensor._validation import escaped, spelled
from cocensor.cli.analyses import Scoring
from cocensor.cli.console import Phases, warn
from cocensor.cli.files import Table, read_content, read_table
from cocensor.cli.inputs import covariates_of, groups_of, predictions_of, risk_scores_of
from cocensor.cli.outcomes import OutcomeColumns, true_times_of
from cocensor.cli.settings import ALL, all_covariates, check_not_ids, check_refused

#: ``--interpolation`` and ``--tail`` in words.
BETWEEN = {"linear": "linear between times", "step": "a step function"}
BEYOND = {"none": "nothing after the last time", "last": "constant after the last time"}


@dataclass(frozen=True)
class Study:
    """Files, columns and settings, checked as far as options alone can be."""

    test: Path
    train: Path | None
    files: Mapping[str, Path]
    risks: Mapping[str, str]
    columns: OutcomeColumns
    #: The names in ``--covariates``, or all.
    covariates: Any
    identity: str | None
    true_time: str | None
    folds: str | None
    hazard_ratio_by: str | None
    interpolation: Any
    tail: Any
    #: Whether a model whose predictions are refused ends the command.
    strict: bool
    settings: Mapping[str, Any]

    @property
    def named(self) -> set[str | None]:
        """The columns of the test sample that options other than ``--covariates`` name."""
        single = (self.true_time, self.identity, self.folds, self.hazard_ratio_by)
        return {*self.columns.by_option.values(), *single, *self.risks.values()}


def scored(study: Study, grid: dict[str, Any], phase: Phases, notes: list[Note]) -> cc.Evaluation:
    """The scores of a study whose files are read as a whole; ``grid`` gets the groups of subjects that it names."""
    phase(f"Reading {study.test.name}")
    subjects = read_table(study.test, study.identity)
    names = study.covariates
    if names == ALL:
        names = all_covariates(subjects.data.column_names, study.test, study.named, notes)
        check_not_ids(subjects, names)
    samples = [subjects]
    if study.train is not None:
        phase(f"Reading {study.train.name}")
        samples.insert(0, read_table(study.train))
    y = [study.columns.read(table, training=table is not subjects) for table in samples]
    x = covariates_of(names, *samples, notes=notes)
    settings = dict(study.settings)
    if study.true_time is not None:
        settings["true_times"] = true_times_of(subjects, study.true_time, y[-1])
    if study.folds is not None:
        settings["folds"] = [spelled(value) for value in subjects.column(study.folds).to_pylist()]
    if study.hazard_ratio_by is not None:
        grid["hazard_ratio_by"] = groups_of(subjects, study.hazard_ratio_by)
    if study.train is not None:
        settings |= {"y_train": y[0], "x_train": x[0]}
    models: dict[str, Any] = {}
    for name, file in study.files.items():
        phase(f"Reading {file.name}", len(models), len(study.files))
        models[name] = _predicted(file, subjects, study, notes)
    _tell_refused(models, study.strict)
    models |= {name: risk_scores_of(subjects, column) for name, column in study.risks.items()}
    phase("Selecting a copula" if settings["copula"] == "select" else "Checking predictions")
    scoring = Scoring(phase, settings["adjustments"])
    return cc.evaluate(models, y[-1], x[-1], progress=scoring, **settings)


def _tell_refused(models: Mapping[str, Any], strict: bool) -> None:
    """Say at once which models have no predictions, and go on with the others, unless none is left."""
    refused = {name: str(found) for name, found in models.items() if isinstance(found, ValueError)}
    if strict:
        check_refused(refused)
    if refused and len(refused) == len(models):
        raise ValueError(" ".join(refused.values()))
    for name, why in refused.items():
        warn(f"{name} is left out: {why}")


def _predicted(file: Path, test: Table, study: Study, notes: list[Note]) -> cc.Predictions | ValueError:
    """A model's predictions, or why a file has none: that costs this model, and not the others."""
    content = read_content(file)
    how = study.interpolation, study.tail
    between, beyond = BETWEEN[study.interpolation or "linear"], BEYOND[study.tail or "none"]
    source = f"{escaped(file.name)}, {between}, {beyond}"
    try:
        table = read_table(file, study.identity, content)
        return predictions_of(table, test, study.identity, *how, source, notes)
    except ValueError as error:
        return error
