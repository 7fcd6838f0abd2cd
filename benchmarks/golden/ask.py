"""How the library is asked today: this module and ``read.py`` alone know its names.

A rebuild changes these two modules, and neither studies, nor keys, nor the file of numbers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import cocensor as cc
from benchmarks.golden.data import COLUMNS, FloatArray, RealSample, Sample
from cocensor.study.curves import margin_curves

#: An assumed dependence: a family and Kendall's τ.
Dependence = tuple[str, float]

#: Adjustments by the words of the golden studies, and by the library's names.
ADJUSTMENTS = {
    "ipcw": "ipcw",
    "ipcw_given_covariates": "ipcw_cox",
    "margin_time_km": "margin_km",
    "margin_time": "margin",
    "ibs_dep": "dep",
    "cg_q": "cg_q",
    "imputation": "imputation",
    "imputation_given_nothing": "imputation_margins",
    "imputation_given_covariates": "imputation_covariates",
    "imputation_given_prediction": "imputation_prediction",
    "dependent_ipcw": "dependent_ipcw",
}
#: Those that take no copula.
_AT_INDEPENDENCE = ("ipcw", "ipcw_given_covariates", "margin_time_km")
#: The score functions by what they return: a number, or values at times.
FUNCTIONS = {
    "brier": cc.brier_score,
    "ibs": cc.integrated_brier_score,
    "brier_skill": cc.brier_skill_score,
    "log_score": cc.log_score,
    "ils": cc.integrated_log_score,
    "auc": cc.cumulative_dynamic_auc,
    "concordance": cc.concordance_index,
    "concordance_over_time": cc.concordance_index,
    "ici": cc.integrated_calibration_index,
    "net_benefit": cc.net_benefit,
    "absolute_error": cc.restricted_absolute_error,
    "absolute_error_of_mean": cc.restricted_absolute_error,
}
_SETTINGS: dict[str, dict[str, Any]] = {
    "log_score": {"floor": 0.01},
    "ils": {"floor": 0.01},
    "net_benefit": {"thresholds": [0.2, 0.4]},
    "concordance_over_time": {"time_dependent": True},
    "absolute_error_of_mean": {"predicted": "mean"},
}
_METRIC_SETTINGS: dict[str, dict[str, Any]] = {"ils": {"floor": 0.01}, "net_benefit": {"threshold": 0.3}}


# --- values -----------------------------------------------------------------------------------------------


def copula(dependence: Dependence | str | None) -> Any:
    """An assumed dependence as the library takes it; "select" and None as they are."""
    if dependence is None or isinstance(dependence, str):
        return dependence
    family, tau = dependence
    return cc.copula(family, tau=tau)


def metric(word: str) -> Any:
    """A metric by its word."""
    return cc.metric(word, **_METRIC_SETTINGS[word]) if word in _METRIC_SETTINGS else word


def metrics_at(words: Sequence[str], at: Sequence[float] | None) -> list[Any]:
    """Metrics by their words, at single times those that have values there; the mean AUC comes beside its own."""
    placed = list[Any]()
    for by in (cc.metric(word, **_METRIC_SETTINGS.get(word, {})) for word in words):
        times = () if by.single_times == "never" else at or ()
        placed += [by] if not times or by.single_times == "also" else []
        placed += [by.at_time(t) for t in times]
    return placed


def adjustment(word: str, dependence: Dependence | None = None) -> Any:
    """An adjustment with its dependence, if it rests on one."""
    assumed = copula(dependence)
    special: dict[str, Any] = {
        "aipcw": lambda: cc.AIPCW(event="cox", dropout="cox"),
        "ipcw_scikit_survival": lambda: cc.IPCW(convention="scikit-survival"),
        "ipcw_floored": lambda: cc.IPCW(min_probability=0.6),
        "margin_time_linear": lambda: cc.adjustments.MarginTime(assumed, interpolation="linear"),
        "dependent_ipcw_given_covariates": lambda: cc.DependentIPCW(assumed, given="covariates"),
        "imputation_weibull": lambda: cc.Imputation("covariates", assumed, margins="weibull"),
        "imputation_given_scores": lambda: cc.Imputation("predictions", assumed),
        "imputation_hazard_ratio_2": lambda: cc.Imputation("everything", hazard_ratio=2.0),
        "imputation_hazard_ratio_by_reason": lambda: cc.Imputation(
            "everything", hazard_ratio={"toxicity": 3.0}
        ),
    }
    if word in special:
        return special[word]()
    name = ADJUSTMENTS[word]
    return cc.adjustment(name) if word in _AT_INDEPENDENCE else cc.adjustment(name, copula=assumed)


def outcomes(sample: Sample | RealSample, *, ends: bool = False, reasons: bool = False) -> Any:
    """Outcomes, with the end of the study and with reasons where these are asked for."""
    if isinstance(sample, RealSample):
        return cc.Survival(sample.time, sample.event)
    marked = sample.administrative if ends else None
    return cc.Survival(sample.time, sample.event, marked, sample.reason if reasons else None)


def outcomes_by_dates(
    entry: Sequence[str], exit: Sequence[str], event: Any, lock: str, unit: Any, reason: Any
) -> Any:
    """Outcomes by the dates of entry, of exit and of the data lock."""
    return cc.Survival.from_dates(
        entry=entry, exit=exit, event=event, data_lock=lock, unit=unit, reason=reason
    )


def outcomes_by_follow_up(time: Any, event: Any, follow_up: Any) -> Any:
    """Outcomes by the time at which the study would have ended for each."""
    return cc.Survival.from_follow_up(time, event=event, follow_up=follow_up)


def predictions(times: FloatArray, table: FloatArray, interpolation: str = "linear") -> Any:
    """Curves that state what holds between their times."""
    return cc.Predictions(times, table, interpolation=interpolation)  # type: ignore[arg-type]  # one of two words


def frame(x: FloatArray, columns: Sequence[str] = COLUMNS) -> Any:
    """Covariates with names."""
    import pandas as pd

    return pd.DataFrame(x, columns=list(columns))


# --- evaluations ------------------------------------------------------------------------------------------


def evaluation(
    models: Mapping[str, Any],
    test: Any,
    x_test: Any = None,
    train: Any = None,
    x_train: Any = None,
    *,
    metrics: str | Sequence[str] = "default",
    adjustments: str | Iterable[str] | Mapping[str, tuple[str, Dependence | None]] = "default",
    dependence: Dependence | str | None = None,
    times: Any = None,
    at: Any = None,
    horizon: Any = None,
    **more: Any,
) -> Any:
    """An evaluation; adjustments by name take the ``dependence``, those of a mapping have their own."""
    asked: Any
    if isinstance(adjustments, str):
        asked = adjustments
    elif isinstance(adjustments, Mapping):
        asked = {label: adjustment(*each) for label, each in adjustments.items()}
    else:
        asked = {word: ADJUSTMENTS.get(word) or adjustment(word) for word in adjustments}
    return cc.evaluate(
        models,
        test,
        x_test,
        y_train=train,
        x_train=x_train,
        metrics=metrics if isinstance(metrics, str) else metrics_at(metrics, at),
        adjustments=asked,
        copula=copula(dependence),
        times=times,
        at=at if isinstance(metrics, str) else None,
        horizon=horizon,
        **more,
    )


def copulas_behind(found: Any) -> dict[str, Any]:
    """What is shown of the copula behind an evaluation: which fits best, the likelihood over τ, survival curves."""
    hint = found.suggest_copula()
    return {"hint": hint, "profile": hint.choice.profile(), "survival": margin_curves(found)}


def streamed(folder: Path, models: Sequence[str], covariates: Sequence[str] | None, **more: Any) -> Any:
    """An evaluation of Parquet files, read in batches."""
    kept = {name: more.pop(name) for name in ("adjustments", "metrics") if name in more}
    scan = cc.scan_parquet(
        folder / "test-*.parquet",
        {model: folder / f"{model}-*.parquet" for model in models},
        time="time",
        event="event",
        covariates=None if covariates is None else list(covariates),
        id="id",
        **{name: more.pop(name) for name in ("interpolation",) if name in more},
    )
    if "adjustments" in kept:
        kept["adjustments"] = {word: ADJUSTMENTS[word] for word in kept["adjustments"]}
    if "metrics" in kept:
        kept["metrics"] = metrics_at(kept["metrics"], more.pop("at", None))
    return scan.evaluate(**kept, **more)


def chunked(chunks: Sequence[tuple[Mapping[str, Any], Any]], **more: Any) -> Any:
    """An evaluation of chunks of predictions and outcomes."""
    return cc.scale.scan_chunks(list(chunks)).evaluate(**more)


def command(*arguments: object) -> dict[str, Any]:
    """The numbers that ``cocensor evaluate`` writes."""
    place = Path(str(arguments[arguments.index("--json") + 1]))
    call = [sys.executable, "-m", "cocensor", "evaluate", *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})
    if done.returncode:
        raise RuntimeError(f"cocensor evaluate ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return found


def paper(folder: Path) -> list[Path]:
    """The rows of all experiments of the paper, small: one file each."""
    call = [sys.executable, "-m", "cocensor", "reproduce", "all", "--quick", "--out", str(folder)]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"cocensor reproduce ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    return sorted(folder.glob("*/results.csv"))


# --- functions and estimators -----------------------------------------------------------------------------


def score(word: str, train: Any, test: Any, estimate: Any, times: Any, how: Any, **more: Any) -> Any:
    """What a score function returns; with ``return_influence`` also how much each subject moves it."""
    function: Any = FUNCTIONS[word]
    if word == "ici":  # at one time
        times = times[-1:]
    return function(train, test, estimate, times, adjustment=how, **_SETTINGS.get(word, {}), **more)


def details(train: Any, test: Any, estimate: Any, times: Any, how: Any, **more: Any) -> dict[str, Any]:
    """What the functions return that draw curves."""
    one = float(times[-2])
    given = {"adjustment": how, **more}
    return {
        "calibration": cc.survival_calibration_curve(train, test, estimate, one, n_groups=5, **given),
        "mean_calibration": cc.mean_calibration(train, test, estimate, times, **given),
        "d_calibration": cc.d_calibration(train, test, estimate, times, n_cells=5, **given),
        "decision": cc.decision_curve(train, test, estimate, one, [0.1, 0.3, 0.5], **given),
        "roc": cc.survival_roc_curve(train, test, estimate, one, **given),
        "decomposition": cc.brier_decomposition(train, test, estimate, times, **given),
    }


def harrell(test: Any, risk: FloatArray) -> float:
    """Harrell's C."""
    return cc.harrell_concordance(test, risk)


def weights(how: Any, train: Any, x_train: Any, test: Any, x_test: Any, times: Any) -> Any:
    """The weights of an adjustment that needs no predictions."""
    return how.fit(train, x_train).weights(test, times, x_test)


def time_grid(train: Any, test: Any, n: int, horizon: Any) -> FloatArray:
    """Times from 0 to a horizon."""
    return cc.time_grid(train, test, n=n, horizon=horizon)


def kaplan_meier(y: Any, of: str = "event") -> Any:
    """Fitted."""
    return cc.KaplanMeier(of).fit(y)  # type: ignore[arg-type]  # one of two words


def copula_graphic(y: Any, dependence: Dependence) -> Any:
    """Fitted."""
    return cc.CopulaGraphic(copula(dependence)).fit(y)


def cox(x: Any, y: Any, **settings: Any) -> Any:
    """Fitted."""
    weight = settings.pop("sample_weight", None)
    return cc.CoxPH(**settings).fit(x, y, sample_weight=weight)


def joint(x: Any, y: Any, dependence: Dependence | str | None, **settings: Any) -> Any:
    """A joint model of event and dropout; with a family alone its θ is estimated."""
    if dependence is not None:
        settings["copula"] = copula(dependence) if isinstance(dependence, tuple) else dependence
    return cc.fit_joint(x, y, **settings)


def chosen_copula(x: Any, y: Any, **settings: Any) -> Any:
    """The choice among families."""
    return cc.select_copula(x, y, **settings)


def plausible(x: Any, y: Any, n_resamples: int) -> Any:
    """Measured covariates as benchmarks of τ."""
    return cc.plausible_tau(x, y, n_resamples=n_resamples)


def hidden(taus: Sequence[float]) -> dict[str, list[float]]:
    """The hazard ratio of a hidden factor that induces τ, and back."""
    ratios = [cc.study.sensitivity.hidden_hazard_ratio(tau) for tau in taus]
    return {
        "hazard_ratio": ratios,
        "tau": [cc.study.sensitivity.induced_tau(ratio, ratio) for ratio in ratios],
    }


def copulas(dependence: Dependence, u: FloatArray, v: FloatArray) -> dict[str, Any]:
    """A copula and its derivatives at some points."""
    made = copula(dependence)
    return {
        "theta": made.theta,
        "tau": made.tau,
        "cdf": made.cdf(u, v),
        "given_first": made.hfunc1(u, v),
        "given_second": made.hfunc2(u, v),
        "density": made.pdf(u, v),
    }


def scorer(word: str, how: str, times: FloatArray) -> Any:
    """A scorer for scikit-learn's model selection."""
    return cc.survival_scorer(word, ADJUSTMENTS[how], times=times)


def loss(word: str, train: Any, test: Any, times: Any, how: Any, like: Any, **more: Any) -> Any:
    """A score as a function of predictions alone, with gradients."""
    return cc.metrics.AdjustedLoss(metric(word), train, test, times, adjustment=how, like=like, **more)
