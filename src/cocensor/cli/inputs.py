"""The files and columns of a study, as options and study files name them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import MISSING, replace
from pathlib import Path
from typing import Any
from unicodedata import category

from cocensor._cached import cached_property
from cocensor._checks import check_choice
from cocensor._notes import Note, noted
from cocensor.cli.options import (
    DATA,
    assumption,
    batch,
    called,
    column,
    data_file,
    items,
    option,
    option_group,
    outcome,
    prediction,
)
from cocensor.data.covariates import check_alike, read_covariates
from cocensor.data.tables import INDEX, Columns, Table

#: ``--interpolation`` and ``--tail`` in words.
BETWEEN = {"linear": "linear between times", "step": "a step function"}
BEYOND = {"none": "nothing after the last time", "last": "constant after the last time"}
_ALL = "all"


@option_group
class Outcomes:
    """Columns that say when subjects had the event, dropped out or reached the end of the study; and covariates."""

    event: str = column("Column: TRUE or 1 if the event was observed, FALSE or 0 if not.", default=MISSING)
    time: str | None = column(
        "Column: the observed time of event or censoring. Or give dates: --entry, --exit and --data-lock."
    )
    administrative: str | None = column(
        "Column: TRUE or 1 if censored by the end of the study, not by dropout."
    )
    follow_up: str | None = column(
        "Instead of --administrative, a column: the time at which the study would have ended for each subject. "
        "Subjects censored then count as censored by the end of the study."
    )
    entry: str | None = column(
        "Instead of --time, a column: the date of entry, such as 2021-03-31 or as --date-format says."
    )
    exit: str | None = column(
        "With --entry, a column: the date of the event, or the last date under observation."
    )
    data_lock: str | None = outcome(
        "DATE|COLUMN",
        "With --entry: the date of the data lock, one for all or a column. Subjects censored on it count as "
        "censored by the end of the study.",
    )
    date_format: str | None = outcome(
        "FORMAT",
        "With --entry: how dates are written where that is not as 2021-03-31, such as %d/%m/%Y for 31/03/2021.",
    )
    time_unit: str | None = outcome(
        "UNIT",
        "The unit of --time, such as months, as tables and axes show it; nothing is converted. With --entry: days, "
        "weeks, months (30.4375 days) or years (365.25 days), by default days. The times of predictions are in it too.",
    )
    reason: str | None = column("Column: the reason for each dropout, as text; empty for other subjects.")
    covariates: str | None = option(
        DATA,
        "A,B,...|all",
        "Covariate columns, separated by commas. A text column enters as indicators of its levels. all means "
        "every column that no other option names.",
    )

    @cached_property
    def columns(self) -> Columns:
        """Which columns are what, without the covariates."""
        dates = self.entry, self.exit, self.data_lock, self.time_unit
        outcomes = self.event, self.time, self.administrative, self.follow_up
        identity = self.others.get("id")
        return Columns(*outcomes, *dates, self.reason, self.date_format, id=identity, are_options=True)

    @property
    def others(self) -> dict[str, str | None]:
        """The columns that are neither outcomes nor covariates, by option."""
        return {}

    @property
    def also_covariates(self) -> Collection[str | None]:
        """The columns of other options that may be named as covariates, but are not among all of them."""
        return ()

    @cached_property
    def covariate_names(self) -> list[str] | None:
        """The names in ``--covariates``, none of which is the column of another option; empty for all."""
        if self.covariates is None:
            return None
        if self.covariates.strip() == _ALL:
            return []
        names = items(self.covariates, "--covariates")
        for name, own in (self.columns.by_argument | self.others).items():
            if own in names:
                raise ValueError(f"--covariates must not name the column of {called(name)}, but has {own!r}.")
        return names

    def covariates_among(self, columns: Sequence[str], file: Path, notes: list[Note]) -> list[str] | None:
        """Return the covariates among the ``columns`` of a file; which are all is noted."""
        if self.covariate_names != []:
            return self.covariate_names
        named = {*self.columns.by_argument.values(), *self.others.values(), *self.also_covariates}
        free = [name for name in columns if name not in named]
        # A spreadsheet or R puts row names there.
        taken = [name for name in free if name not in INDEX]
        if not taken:
            raise ValueError(f"--covariates all finds no column: other options name every column of {file}.")
        if _ALL in taken and len(taken) > 1:
            raise ValueError(
                f"--covariates all may mean every column of {file}, or its column {_ALL!r}: rename that column."
            )
        unnamed = len(taken) < len(free)
        notes.append(noted("covariates_are_all", file=str(file), columns=taken, unnamed_left_out=unnamed))
        return taken

    def covariates_in(self, table: Table, file: Path, notes: list[Note]) -> list[str] | None:
        """Return the covariates in a table; one that nobody has named, and that is likely an id, is refused."""
        names = self.covariates_among(table.columns, file, notes)
        for name in names or ():
            if self.covariate_names == [] and table.has_all_different_texts(name):
                if_id = f"if it is an id, give --id {name}; otherwise " if "id" in self.others else ""
                raise ValueError(
                    f"--covariates all includes the column {name!r} of {table.name}, whose text differs in every row: "
                    f"{if_id}name the covariates."
                )
        return names


@option_group
class Inputs(Outcomes):
    """The files and columns of ``cocensor evaluate``: the table ``[inputs]`` of a study file."""

    test: Path = data_file(
        "Test sample, CSV or Parquet: one row per subject. Or several "
        "Parquet files: a folder, or a pattern in quotes.",
        default=MISSING,
    )
    train: Path | None = data_file(
        "Training sample, with the same columns as the test sample. Without it, everything is estimated from the "
        "test sample, as for out-of-fold predictions."
    )
    predictions: list[str] | None = prediction(
        "NAME=FILE",
        "A model's survival probabilities for the test subjects, CSV or Parquet: a row per subject, columns named "
        "after times; or, as lifelines and pycox give them, a row per time, with the times first, and a column "
        'per subject. One column is a prediction at that time alone, or, named "risk", a risk score. Once per '
        'model; a name has no "=". Or several Parquet files, as for --test.',
    )
    risk: list[str] | None = prediction(
        "NAME=COLUMN",
        "A model that is a risk score, higher for a higher risk: a column of the test sample. It is scored by "
        "auc and concordance alone. Once per model.",
    )
    id: str | None = prediction(
        "COLUMN",
        "Column that identifies subjects in the test sample and in every prediction file, where a first column without "
        "a name, or the names of a column per subject, will do. Without it, subjects must be in the same order.",
    )
    folds: str | None = prediction(
        "COLUMN", "For out-of-fold predictions, the fold of each test subject: a column of the test sample."
    )
    interpolation: str | None = prediction(
        "TEXT",
        "Curves between predicted times: linear or step. By default linear, with a note where step would move the "
        "scores.",
    )
    tail: str = prediction(
        "TEXT",
        "Curves after the last predicted time: none (scores end there) or last (constant).",
        default="none",
    )
    strict: bool = prediction(
        None,
        "End with exit code 2, and write nothing, if a model's predictions are refused. By default the other "
        "models are scored, if there are any, and stderr and a note say why.",
        default=False,
    )
    true_time: str | None = column(
        "Simulated data: the column of the test sample with the true event times, those of censored subjects "
        "included. Scores by them are shown beside the others."
    )
    hazard_ratio_by: str | None = assumption(
        "COLUMN",
        "Also vary the hazard ratio after dropout in one group at a time. A column of the test sample names the "
        "groups.",
    )
    stream: bool = batch(
        None,
        "Read Parquet files in batches: they may be larger than the memory. Folders and patterns in quotes, such "
        "as 'test/*.parquet', are read so in any case.",
        default=False,
    )
    fit_rows: int | None = batch(
        "N",
        "With --stream: the largest number of subjects that adjustments are fitted to, drawn by a hash of their "
        "id or row number. By default 1000000.",
    )

    def check(self) -> None:
        """Refuse what can be refused before a file is read."""
        if self.interpolation is not None:
            check_choice(self.interpolation, "--interpolation", tuple(BETWEEN))
        check_choice(self.tail, "--tail", tuple(BEYOND))
        if not self.files and not self.risks:
            raise ValueError("--predictions NAME=FILE or --risk NAME=COLUMN is needed: there is no model.")
        for name in self.risks:
            if name in self.files:
                raise ValueError(f"--risk must have different names, but {name!r} comes twice.")
        _ = self.columns, self.covariate_names

    @property
    def others(self) -> dict[str, str | None]:
        """The columns that are neither outcomes nor covariates, by option."""
        return {"id": self.id, "true_time": self.true_time, "folds": self.folds}

    @property
    def also_covariates(self) -> Collection[str | None]:
        """The columns of risk scores and of groups."""
        return [*self.risks.values(), self.hazard_ratio_by]

    @property
    def between_and_beyond(self) -> tuple[Any, Any]:
        """``interpolation`` and ``tail`` of predictions."""
        return self.interpolation, None if self.tail == "none" else self.tail

    @cached_property
    def files(self) -> dict[str, Path]:
        """``--predictions``, by the name of their model."""
        by_name = _by_name(self.predictions, "--predictions", "FILE")
        return {name: Path(file) for name, file in by_name.items()}

    @cached_property
    def risks(self) -> dict[str, str]:
        """``--risk``: columns of the test sample, by the name of their model."""
        return _by_name(self.risk, "--risk", "COLUMN")


def _by_name(texts: Sequence[str] | None, option: str, what: str) -> dict[str, str]:
    """Return the files or columns in texts such as NAME=FILE."""
    by_name: dict[str, str] = {}
    for text in texts or ():
        name, equals, where = (part.strip() for part in text.partition("="))
        # Format characters belong to some scripts; control characters, line ends and broken bytes to none.
        if not (name and equals and where) or {"Cc", "Cs", "Zl", "Zp"} & set(map(category, name)):
            named = "" if equals else f", such as {f'{Path(text).stem}={text}'!r}"
            raise ValueError(f"{option} must be NAME={what}{named}, but is {text!r}.")
        if name in by_name:
            raise ValueError(f"{option} must have different names, but {name!r} comes twice.")
        by_name[name] = where
    return by_name


def covariates_of(names: Sequence[str] | None, tables: Sequence[Table]) -> list[Any]:
    """Return the named columns of each table, a frame each, checked as covariates of samples of one study."""
    if names is None:
        return [None] * len(tables)
    go_on = ": correct it, or leave the column out of --covariates"
    read = [read_covariates(replace(table, go_on=go_on), names) for table in tables]
    check_alike(read, [table.name for table in tables])
    return [table.select(names) for table in tables]
