"""The golden studies: small, with fixed seeds, over every door and every answer of the library."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.golden import ask, data, read
from benchmarks.golden.data import COLUMNS, GRID, TIMES, FloatArray, Sample
from benchmarks.golden.numbers import Numbers, Value

ALL_METRICS = (
    *("ibs", "brier", "ils", "auc", "concordance", "ici", "e50", "e90", "miscalibration", "discrimination"),
    *("d_calibration", "net_benefit", "absolute_error"),
)
#: All that a name stands for, and AIPCW by Cox models alone: forests belong to another library.
ALL_ADJUSTMENTS = (*ask.ADJUSTMENTS, "aipcw")
CLAYTON = ("clayton", 0.3)


class SkippedError(Exception):
    """Why a study cannot run here."""


@dataclass(frozen=True)
class Study:
    """A name, and what computes its numbers into an object that keeps them, with a folder for files."""

    name: str
    compute: Callable[[Numbers, Path], None]

    def numbers(self) -> dict[str, Value]:
        """All numbers, by their keys; a data set or a package that is missing raises ``SkippedError``."""
        into = Numbers()
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.compute(into.under(self.name), Path(folder))
            except (FileNotFoundError, ModuleNotFoundError) as error:
                if isinstance(error, ModuleNotFoundError) or "COCENSOR_DATA" in str(error):
                    raise SkippedError(str(error)) from error
                raise
        return into.values


def _models(sample: Sample, names: Iterable[str] = ("full", "part"), interpolation: str = "linear") -> Any:
    tables = data.curves(sample.x)
    return {name: ask.predictions(GRID, tables[name], interpolation) for name in names}


def _samples(train: Sample, test: Sample, **marks: bool) -> dict[str, Any]:
    """Outcomes and covariates of both samples, as arguments."""
    return {
        "test": ask.outcomes(test, **marks),
        "x_test": ask.frame(test.x),
        "train": ask.outcomes(train, **marks),
        "x_train": ask.frame(train.x),
    }


# --- evaluations ------------------------------------------------------------------------------------------


def ties(into: Numbers, _: Path) -> None:
    """Rounded times, every adjustment and every metric, a given copula."""
    train, test = data.halves(data.drawn(1, 400, width=0.5))
    found = ask.evaluation(
        _models(test, ("full", "bold"), "step"),
        **_samples(train, test),
        metrics=ALL_METRICS,
        adjustments=ALL_ADJUSTMENTS,
        dependence=CLAYTON,
        times=TIMES,
        at=[5.0],
    )
    read.evaluation(into, found, curves=False)


def grouped(into: Numbers, _: Path) -> None:
    """Few different times: grouped likelihoods."""
    train, test = data.halves(data.drawn(2, 500, width=2.0))
    found = ask.evaluation(
        _models(test, interpolation="step"),
        **_samples(train, test),
        metrics=("ibs", "auc", "ici"),
        adjustments=("ipcw", "imputation", "imputation_given_covariates", "imputation_given_nothing"),
        dependence=("frank", 0.2),
        times=[2.0, 4.0, 6.0, 8.0],
    )
    along = found.sensitivity(("clayton", "hazard_ratio"), [0.0, 0.3], hazard_ratios=[1.0, 2.0])
    read.evaluation(into, found, sensitivity=along)


def ends(into: Numbers, _: Path) -> None:
    """Ends of the study that are marked, errors of curves, calibration and decision curves."""
    train, test = data.halves(data.drawn(3, 400, end=12.0))
    found = ask.evaluation(
        _models(test),
        **_samples(train, test, ends=True),
        metrics=("ibs", "brier", "auc", "ici", "net_benefit"),
        adjustments=("ipcw", "aipcw", "imputation", "imputation_given_nothing", "dependent_ipcw", "cg_q"),
        dependence=("gumbel", 0.25),
        times=TIMES,
        at=[5.0],
    )
    read.evaluation(into, found, **read.details_at(found, 5.0))


def dates(into: Numbers, _: Path) -> None:
    """Outcomes by dates, a data lock and reasons; and the same times by follow-up."""
    sample = data.drawn(4, 300)
    entry = np.datetime64("2015-01-01") + (37 * np.arange(300) % 1500).astype("timedelta64[D]")
    lock = np.datetime64("2020-12-31")
    exit = np.minimum(entry + np.ceil(sample.time * 150).astype("timedelta64[D]"), lock)
    event = sample.event & (exit < lock)
    y = ask.outcomes_by_dates(
        entry.astype(str).tolist(), exit.astype(str).tolist(), event, str(lock), "months", sample.reason
    )
    times = np.round(GRID * 5.0, 6)
    tables = data.curves(sample.x)
    found = ask.evaluation(
        {name: ask.predictions(times, tables[name]) for name in ("full", "part")},
        y,
        ask.frame(sample.x),
        metrics=("ibs", "auc"),
        at=[24.0],
        time_unit="months",
    )
    read.evaluation(into, found)
    until = (lock - entry).astype(float)
    again = ask.outcomes_by_follow_up((exit - entry).astype(float), event, until)
    days = ask.evaluation(
        {name: ask.predictions(times * 30.4375, tables[name]) for name in ("full", "part")},
        again,
        metrics=("ibs",),
        adjustments=("ipcw", "imputation"),
        times=TIMES * 150,
    )
    read.evaluation(into.under("follow_up"), days)


def reasons(into: Numbers, _: Path) -> None:
    """Sensitivity to the hazard ratio after dropout, by reason and by group."""
    train, test = data.halves(data.drawn(5, 400, end=14.0))
    found = ask.evaluation(
        _models(test),
        **_samples(train, test, ends=True, reasons=True),
        metrics=("ibs", "auc"),
        adjustments={
            "ipcw": ("ipcw", None),
            "imputation": ("imputation", None),
            "imputation@2": ("imputation_hazard_ratio_2", None),
            "imputation@by_reason": ("imputation_hazard_ratio_by_reason", None),
        },
        times=TIMES,
        at=[5.0],
    )
    along = found.sensitivity(
        ("gaussian", "hazard_ratio"), [0.0, 0.2], ("imputation",), hazard_ratios=[0.5, 1.0, 2.0, 4.0]
    )
    read.sensitivity(into.under("sensitivity"), along)
    groups = found.sensitivity(
        ("clayton", "hazard_ratio"),
        [0.0],
        ("imputation",),
        hazard_ratios=[1.0, 3.0],
        hazard_ratio_by=np.where(test.x[:, 1] == 2, "late", "early"),
    )
    read.sensitivity(into.under("by_group"), groups)
    read.evaluation(into.under("scores"), found, curves=False, sensitivity=groups)


def one_time(into: Numbers, _: Path) -> None:
    """Predictions at a single time beside curves, and alone."""
    train, test = data.halves(data.drawn(6, 300))
    models, at_5 = _models(test), {name: table[:, 9] for name, table in data.curves(test.x).items()}
    given = _samples(train, test)
    beside = ask.evaluation(models | {"once": (5.0, at_5["bold"])}, **given, times=TIMES, at=[3.5, 5.0])
    read.evaluation(into.under("beside"), beside)
    alone = ask.evaluation({"full": (5.0, at_5["full"]), "bold": (5.0, at_5["bold"])}, **given)
    read.evaluation(into.under("alone"), alone, bounds=alone.bounds())


def risk_scores(into: Numbers, _: Path) -> None:
    """A risk score, one that is the same for everybody, and one that runs against the outcome."""
    train, test = data.halves(data.drawn(7, 300))
    risks = data.scores(test.x)
    models = _models(test, ("full",)) | {
        "risk": np.round(risks["part"], 6),
        "same": np.ones(len(test)),
        "against": np.round(-risks["full"], 6),
        "refused": (GRID, 1.5 + np.zeros((len(test), len(GRID)))),
    }
    found = ask.evaluation(
        models, **_samples(train, test), metrics=("auc", "concordance", "ibs"), times=TIMES, at=[5.0]
    )
    read.evaluation(into, found)
    into.put("harrell", [ask.harrell(ask.outcomes(test), each) for each in risks.values()])


def no_covariates(into: Numbers, _: Path) -> None:
    """Predictions and outcomes alone, on the default grid; true times; no intervals."""
    train, test = data.halves(data.drawn(8, 600, end=15.0))
    samples = {"test": ask.outcomes(test, ends=True), "train": ask.outcomes(train, ends=True)}
    found = ask.evaluation(_models(test), **samples, true_times=test.true_time)
    read.evaluation(into, found, curves=False)
    bare = ask.evaluation(_models(test), **samples, metrics=("ibs", "brier"), confidence_level=None)
    read.evaluation(into.under("no_intervals"), bare, curves=False)


def no_training(into: Numbers, _: Path) -> None:
    """Out-of-fold predictions: no training sample, folds, and AIPCW by folds of its own."""
    test = data.drawn(9, 240)
    fold = np.arange(240) % 4
    tables = data.curves(test.x + 0.05 * fold[:, None])
    found = ask.evaluation(
        {name: ask.predictions(GRID, tables[name]) for name in ("full", "part")},
        ask.outcomes(test),
        ask.frame(test.x),
        metrics=("ibs", "auc", "concordance"),
        adjustments=("ipcw", "ipcw_given_covariates", "aipcw", "imputation", "imputation_given_covariates"),
        times=TIMES,
        folds=fold,
    )
    read.evaluation(into, found)


def bootstrap(into: Numbers, _: Path) -> None:
    """Errors from resamples of both samples."""
    train, test = data.halves(data.drawn(10, 240))
    found = ask.evaluation(
        _models(test),
        **_samples(train, test),
        metrics=("ibs", "auc", "concordance", "brier"),
        adjustments=("ipcw", "imputation", "cg_q"),
        dependence=CLAYTON,
        times=TIMES,
    )
    read.evaluation(into, found.bootstrap(25, seed=3, n_jobs=1), curves=False)


def selected(into: Numbers, _: Path) -> None:
    """A copula that is selected, the likelihood behind it, and survival curves of the sample."""
    train, test = data.halves(data.drawn(11, 360))
    found = ask.evaluation(
        _models(test), **_samples(train, test), metrics=("ibs",), dependence="select", times=TIMES
    )
    read.evaluation(into, found, **ask.copulas_behind(found))


def sensitivity(into: Numbers, _: Path) -> None:
    """All families over τ, bounds of every metric that has some, benchmarks, and what is certain."""
    train, test = data.halves(data.drawn(12, 400, end=16.0))
    found = ask.evaluation(
        _models(test, ("full", "part", "bold")),
        **_samples(train, test, ends=True),
        metrics=("ibs", "auc", "ici"),
        adjustments=("ipcw", "imputation", "cg_q"),
        times=TIMES,
        at=[5.0],
    )
    along = found.sensitivity(taus=[-0.2, 0.0, 0.2, 0.5], hazard_ratios=[0.5, 1.0, 2.0])
    read.sensitivity(into, along, curves=True)
    read.plausible(into.under("plausible_tau"), found.benchmarks())
    more = ("ibs", "brier", "auc", "net_benefit", "ils")
    asked = ask.evaluation(
        _models(test),
        **_samples(train, test),
        metrics=more,
        adjustments=("imputation",),
        times=TIMES,
        at=[5.0],
    )
    for word, at in (("ibs", None), ("brier", 5.0), ("auc", 5.0), ("net_benefit", 5.0), ("ils", None)):
        read.bounds(into.under("bounds", word), asked.bounds(word, at))
    read.sensitivity(into.under("asked"), asked.sensitivity(("frank",), [0.0, 0.3], plausible=(0.0, 0.25)))


def alarms(into: Numbers, _: Path) -> None:
    """Nonsense: risks given for survival, another unit of time, the same sample twice, few events."""
    train, test = data.halves(data.drawn(13, 300))
    tables = data.curves(test.x)
    models = {
        "full": ask.predictions(GRID, tables["full"]),
        "weeks": ask.predictions(np.round(GRID * 7, 6), tables["full"]),
        "flipped": ask.predictions(GRID, tables["full"][::-1]),
        "flat": ask.predictions(GRID, np.repeat(tables["part"][:1], len(test), axis=0)),
    }
    found = ask.evaluation(models, **_samples(train, test), metrics=("ibs", "concordance"), times=TIMES)
    read.evaluation(into.under("models"), found, curves=False)
    y, x = ask.outcomes(test), ask.frame(test.x)
    same = ask.evaluation(_models(test), y, x, y, x, metrics=("ibs",), times=TIMES)
    read.evaluation(into.under("same_sample"), same, curves=False)
    few = test[:40]
    found = ask.evaluation(_models(few), ask.outcomes(few), metrics=("ibs",), times=[0.25, 0.5])
    read.evaluation(into.under("few_events"), found, curves=False)


# --- data sets --------------------------------------------------------------------------------------------


def _real(
    into: Numbers, name: str, n: int, columns: list[str], used: dict[str, float], grid: FloatArray
) -> None:
    train, test = data.real(name, n, columns, used, grid)
    found = ask.evaluation(
        {model: ask.predictions(grid, table, "step") for model, table in test.curves.items()},
        ask.outcomes(test),
        test.x,
        ask.outcomes(train),
        train.x,
        metrics=("ibs", "auc", "concordance", "ici"),
        adjustments=("ipcw", "ipcw_given_covariates", "aipcw", "imputation", "imputation_given_covariates"),
        at=[4.0],
    )
    along = found.sensitivity(
        ("clayton", "hazard_ratio"), [0.0, 0.2], ("imputation",), hazard_ratios=[1.0, 2.0]
    )
    read.evaluation(into, found, curves=False, sensitivity=along)


def employee(into: Numbers, _: Path) -> None:
    """Whole years, two text columns, all columns of numbers."""
    columns = ["satisfaction_level", "last_evaluation", "number_projects", "department", "salary"]
    used = {"satisfaction_level": -0.6, "last_evaluation": 0.3, "number_projects": 0.2}
    _real(into, "employee", 300, columns, used, np.arange(1.0, 11.0))


def churn(into: Numbers, _: Path) -> None:
    """Whole months, a time of 0, three text columns."""
    columns = ["csat_score", "articles_viewed", "product_payroll", "company_size", "product_accounting"]
    used = {"csat_score": -0.5, "articles_viewed": -0.3, "minutes_customer_support": 0.2}
    _real(into, "churn", 300, columns, used, np.arange(1.0, 13.0))


# --- doors ------------------------------------------------------------------------------------------------


def _write_csv(path: Path, columns: Mapping[str, Any]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(each).tolist() for each in columns.values()), strict=True))
    return path


def _outcome_columns(sample: Sample) -> dict[str, Any]:
    group = np.array(["a", "b", "c"])[sample.x[:, 1].astype(int)]
    names = dict(zip(COLUMNS, sample.x.T, strict=True))
    return {
        "id": np.arange(len(sample)) + 100,
        "time": sample.time,
        "event": sample.event.astype(int),
        "ended": sample.administrative.astype(int),
        "why": sample.reason,
        **names,
        "group": group,
    }


def _files(folder: Path, train: Sample, test: Sample) -> None:
    """The samples and the predictions of two models as CSV."""
    _write_csv(folder / "train.csv", _outcome_columns(train))
    _write_csv(folder / "test.csv", _outcome_columns(test))
    tables = data.curves(test.x)
    for name in ("full", "part"):
        columns = {f"{time:g}": tables[name][:, k] for k, time in enumerate(GRID)}
        _write_csv(folder / f"{name}.csv", {"id": np.arange(len(test)) + 100, **columns})


def _parquet(folder: Path, test: Sample, parts: int) -> None:
    """The test sample and the predictions of two models as Parquet, each in some files."""
    import pyarrow as pa
    from pyarrow import parquet

    ids, tables = np.arange(len(test)) + 100, data.curves(test.x)
    for k, rows in enumerate(np.array_split(np.arange(len(test)), parts)):
        columns = {name: np.asarray(each)[rows] for name, each in _outcome_columns(test).items()}
        parquet.write_table(pa.table(columns), folder / f"test-{k}.parquet")
    for name in ("full", "part"):
        for k, rows in enumerate(np.array_split(np.arange(len(test)), parts + 1)):
            columns = {"id": ids[rows]} | {f"{t:g}": tables[name][rows, j] for j, t in enumerate(GRID)}
            parquet.write_table(pa.table(columns), folder / f"{name}-{k}.parquet")


def doors(into: Numbers, folder: Path) -> None:
    """One table by every door, where nobody states what holds between its times; and fitted models."""
    import pandas as pd

    train, test = data.halves(data.drawn(14, 260))
    tables, columns = data.curves(test.x), [float(time) for time in GRID]
    asked: dict[str, Any] = {"metrics": ("ibs",), "adjustments": ("ipcw", "imputation")}
    samples = _samples(train, test)
    as_models: dict[str, Callable[[FloatArray], Any]] = {
        "pair": lambda table: (GRID, table),
        "frame": lambda table: pd.DataFrame(table, columns=columns),
        "frame_by_time": lambda table: pd.DataFrame(table.T, index=columns),
        "linear": lambda table: ask.predictions(GRID, table),
        "step": lambda table: ask.predictions(GRID, table, "step"),
    }
    for door, made in as_models.items():
        models = {name: made(tables[name]) for name in ("full", "part")}
        read.evaluation(into.under(door), ask.evaluation(models, **samples, **asked), curves=False)
    fitted = {f"{ties}": ask.cox(train.x, ask.outcomes(train), ties=ties) for ties in ("efron", "breslow")}
    given = {**samples, "x_test": test.x, "x_train": train.x}
    read.evaluation(into.under("fitted"), ask.evaluation(fitted, **given, **asked), curves=False)
    _files(folder, train, test)
    where: list[object] = ["--train", folder / "train.csv", "--covariates", ",".join(COLUMNS)]
    read.as_json(into.under("command"), _commanded(folder, *where, metrics="ibs"))
    _parquet(folder, test, 2)
    scan = ask.streamed(
        folder,
        ("full", "part"),
        COLUMNS,
        metrics=("ibs",),
        adjustments=("ipcw", "imputation"),
        y_train=samples["train"],
        x_train=samples["x_train"],
    )
    read.evaluation(into.under("stream"), scan, curves=False)


def _commanded(folder: Path, *more: object, metrics: str) -> dict[str, Any]:
    """What the command line makes of the files; of its grid of copulas a few points."""
    return ask.command(
        *("--test", folder / "test.csv", "--id", "id", "--time", "time", "--event", "event"),
        *("--predictions", f"full={folder / 'full.csv'}", "--predictions", f"part={folder / 'part.csv'}"),
        *("--metrics", metrics, "--families", "clayton,hazard_ratio", "--taus", "0,0.2"),
        *("--hazard-ratios", "1,2", "--json", folder / "numbers.json", *more),
    )


def command(into: Numbers, folder: Path) -> None:
    """The command line: texts among covariates, ends of the study, reasons, a given copula, single times."""
    train, test = data.halves(data.drawn(15, 260, end=14.0))
    _files(folder, train, test)
    found = _commanded(
        folder,
        *("--train", folder / "train.csv", "--covariates", "age,marker,group"),
        *("--administrative", "ended", "--reason", "why", "--copula", "frank", "--tau", "0.2"),
        *("--interpolation", "step", "--at", "3,5", "--horizon", "8"),
        metrics="ibs,auc,ici",
    )
    read.as_json(into, found)


def stream(into: Numbers, folder: Path) -> None:
    """Parquet files in batches: all held, fewer kept than there are, and chunks in memory."""
    test = data.drawn(16, 900)
    _parquet(folder, test, 3)
    asked: dict[str, Any] = {
        "metrics": ("ibs", "auc", "concordance", "ici"),
        "times": TIMES,
        "at": [5.0],
        "interpolation": "step",
    }
    held = ask.streamed(folder, ("full", "part"), COLUMNS, adjustments=("ipcw", "imputation"), **asked)
    read.evaluation(into.under("held"), held)
    part = ask.streamed(
        *(folder, ("full", "part"), COLUMNS),
        adjustments=("ipcw", "imputation"),
        n_fit=500,
        n_kept=200,
        **asked,
    )
    read.evaluation(into.under("kept"), part, curves=False)
    tables = data.curves(test.x)
    chunks = [
        (
            {name: ask.predictions(GRID, tables[name][rows]) for name in ("full", "part")},
            ask.outcomes(test[rows]),
        )
        for rows in np.array_split(np.arange(900), 4)
    ]
    found = ask.chunked(chunks, metrics="ibs", adjustments="ipcw", times=TIMES, n_kept=300)
    read.evaluation(into.under("chunks"), found)


# --- functions, estimators, joint models ------------------------------------------------------------------


def functions(into: Numbers, _: Path) -> None:
    """Every score function under every adjustment, with influences; and adjustments with other settings."""
    train, test = data.halves(data.drawn(17, 240))
    y_train, y_test = ask.outcomes(train, reasons=True), ask.outcomes(test, reasons=True)
    estimate = _models(test)
    x = {"x_train": train.x, "x_test": test.x}

    def scored(key: str, word: str, name: str, dependence: ask.Dependence | None = CLAYTON) -> None:
        """Values, and errors where there are some; that there are none is a decision."""
        for part, more in (("value", {}), ("influence", {"return_influence": True})):
            at = into.under(key, word)
            try:
                how = ask.adjustment(name, dependence)
                found = ask.score(word, y_train, y_test, estimate, TIMES, how, **x, **more)
            except (TypeError, ValueError):
                at.put(f"{part}_is_refused", True)
                continue
            at.put(f"{part}_is_refused", False)
            read.scores(at, found)

    for name in ALL_ADJUSTMENTS:
        for word in ask.FUNCTIONS:
            scored(name, word, name)
    for name in _OTHER_SETTINGS:
        scored(name, "ibs", name)
    for family in ("frank", "gumbel", "joe", "gaussian"):
        for name in ("imputation_given_covariates", "imputation_given_nothing", "dependent_ipcw", "cg_q"):
            scored(f"{name}@{family}", "ibs", name, (family, 0.4))
    for name in ("ipcw", "imputation", "imputation_given_covariates"):
        how = ask.adjustment(name, CLAYTON)
        read.details(into.under(name), ask.details(y_train, y_test, estimate, TIMES, how, **x))
    for name in (
        "ipcw",
        "aipcw",
        "imputation_given_covariates",
        "imputation_given_nothing",
        "dependent_ipcw",
    ):
        how = ask.adjustment(name, CLAYTON)
        found = ask.weights(how, y_train, train.x, y_test, test.x, TIMES)
        read.weights(into.under(name, "weights"), found)


_OTHER_SETTINGS = (
    *(
        "ipcw_scikit_survival",
        "ipcw_floored",
        "imputation_hazard_ratio_2",
        "imputation_hazard_ratio_by_reason",
    ),
    *(
        "margin_time_linear",
        "dependent_ipcw_given_covariates",
        "imputation_weibull",
        "imputation_given_scores",
    ),
)


def tensors(into: Numbers, _: Path) -> None:
    """Scores of torch's tensors and of another array of the standard, and losses with gradients."""
    import array_api_strict
    import torch

    train, test = data.halves(data.drawn(18, 240))
    y_train, y_test = ask.outcomes(train), ask.outcomes(test)
    x = {"x_train": train.x, "x_test": test.x}
    tables = data.curves(test.x, TIMES)
    for name in ("ipcw", "imputation_given_covariates", "imputation"):
        how = ask.adjustment(name, CLAYTON)
        for word in ("brier", "ibs", "log_score", "ils", "net_benefit"):
            estimate = {model: torch.tensor(tables[model]) for model in ("full", "part")}
            found = ask.score(word, y_train, y_test, estimate, TIMES, how, **x)
            read.tensors(into.under(name, word), found)
        estimate = {model: array_api_strict.asarray(tables[model]) for model in ("full", "part")}
        found = ask.score("ibs", y_train, y_test, estimate, TIMES, how, **x)
        read.tensors(into.under(name, "ibs_of_other_arrays"), found)
    how = ask.adjustment("imputation_given_covariates", CLAYTON)
    for word in ("ibs", "ils"):
        predicted = torch.tensor(tables["full"], requires_grad=True)
        loss = ask.loss(word, y_train, y_test, TIMES, how, predicted, **x)
        value = loss(predicted)
        value.backward()
        read.tensors(into.under("loss", word), {"full": value, "gradient": predicted.grad[:15]})
        read.tensors(into.under("loss", word, "over_time"), {"full": loss.over_time(predicted)})
        rows = torch.arange(0, 120, 3)
        read.tensors(into.under("loss", word, "batch"), {"full": loss(predicted[rows], rows=rows)})


def estimators(into: Numbers, _: Path) -> None:
    """Kaplan–Meier, Copula-Graphic, Cox models, copulas, grids of times, a scorer."""
    for name, sample in (("plain", data.drawn(19, 150, end=12.0)), ("ties", data.drawn(20, 150, width=1.0))):
        y = ask.outcomes(sample, ends=True)
        for of in ("event", "dropout"):
            read.margin(into.under(name, "kaplan_meier", of), ask.kaplan_meier(y, of), TIMES)
        for family, tau in (("clayton", 0.5), ("frank", -0.3), ("gumbel", 0.4), ("joe", 0.3)):
            found = ask.copula_graphic(y, (family, tau))
            read.margin(into.under(name, "copula_graphic", family), found, TIMES)
        weight = np.round(0.5 + (np.arange(150) % 5) / 4, 6)
        for settings in (
            *({"ties": "efron"}, {"ties": "breslow"}, {"ridge": 2.0}, {"of": "dropout"}),
            {"sample_weight": weight},
        ):
            key = "+".join(f"{k}={v}" if isinstance(v, str | float) else k for k, v in settings.items())
            found = ask.cox(sample.x, y, **settings)
            read.cox(into.under(name, "cox", key), found, TIMES, sample.x[:4])
        into.put(f"{name}/grid", ask.time_grid(y, None, 7, {"at_risk": 0.1}))
    u, v = np.meshgrid([0.05, 0.4, 0.9, 0.999], [0.1, 0.6, 0.95])
    for family, taus in _REACH.items():
        for tau in taus:
            into.under("copulas", family, f"{tau:g}").put_all(
                ask.copulas((family, tau), u.ravel(), v.ravel())
            )
    into.under("hidden").put_all(ask.hidden([0.1, 0.3, 0.6]))
    train, test = data.halves(data.drawn(21, 200))
    model = ask.cox(train.x, ask.outcomes(train))
    for word, how in (("ibs", "imputation"), ("concordance", "ipcw")):
        found = ask.scorer(word, how, TIMES)(model, test.x, ask.outcomes(test))
        into.put(f"scorer/{word}/{how}", float(found))


_REACH = {
    "clayton": (0.2, 0.7),
    "frank": (-0.4, 0.5),
    "gumbel": (0.3, 0.8),
    "joe": (0.3, 0.6),
    "gaussian": (-0.5, 0.4),
}


def joint(into: Numbers, _: Path) -> None:
    """Joint models of event and dropout, by default and as stated; the choice of a copula; benchmarks."""
    sample = data.drawn(22, 300, end=15.0)
    x, y = sample.x, ask.outcomes(sample, ends=True)
    at = ([2.0, 5.0, 8.0], x[:3])
    read.joint(into.under("default"), ask.joint(x, y, None), *at)
    for margins in ("weibull", "spline"):
        for name, dependence in _FITTED.items():
            found = ask.joint(x, y, dependence, margins=margins, penalty=0.001)
            read.joint(into.under(margins, name), found, *at)
    read.joint(into.under("no_covariates"), ask.joint(None, y, CLAYTON), at[0], None)
    coarse = data.drawn(23, 300, width=2.0)
    found = ask.joint(coarse.x, ask.outcomes(coarse), "clayton", margins="weibull", penalty=0.001)
    read.joint(into.under("grouped"), found, *at)
    choice = ask.chosen_copula(x, y)
    read.choice(into.under("choice"), choice)
    read.profile(into.under("choice", "profile"), choice.profile([-0.3, 0.0, 0.3, 0.6]))
    stated = ask.chosen_copula(x, y, families=("independence", "clayton"), margins="weibull", folds=3, seed=1)
    read.choice(into.under("choice_stated"), stated)
    read.plausible(into.under("plausible_tau"), ask.plausible(ask.frame(x), y, 30))


_FITTED: dict[str, ask.Dependence | str] = {
    "clayton": "clayton",
    "frank": "frank",
    "independence": ("independence", 0.0),
    "gumbel@0.3": ("gumbel", 0.3),
    "gaussian@0.3": ("gaussian", 0.3),
}


def paper(into: Numbers, folder: Path) -> None:
    """The rows of all experiments of the paper, small."""
    data.folder()
    for path in ask.paper(folder):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        read.paper(into.under(rows[0]["experiment"]), rows[0]["experiment"], rows)


PAPER = Study("paper", paper)
STUDIES = tuple(
    Study(compute.__name__, compute)
    for compute in (
        *(ties, grouped, ends, dates, reasons, one_time, risk_scores, no_covariates, no_training, bootstrap),
        *(selected, sensitivity, alarms, employee, churn, doors, command, stream, functions, tensors),
        *(estimators, joint),
    )
)
