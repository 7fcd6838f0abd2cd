"""An evaluation as JSON can hold it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import metadata
from typing import Any

import numpy as np

from cocensor._checks import escaped
from cocensor._json import plain
from cocensor.data import Survival
from cocensor.data.predictions import PredictionsAt, RiskScores
from cocensor.inference.comparisons import Comparison
from cocensor.inference.estimates import Estimate
from cocensor.metrics import CalibrationCurve, DecisionCurve, Metric
from cocensor.study.curves import CurveErrors
from cocensor.study.data import Streamed
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import imputation_among
from cocensor.study.ranking import counted, standing
from cocensor.study.report import Report
from cocensor.study.scores import AdjustmentScores, Score
from cocensor.study.tables import pairs_of
from cocensor.views.numbers.grids import attributes, sensitivity_numbers
from cocensor.views.text.evaluation import copula_in_words

_METRIC = (
    "name",
    "label",
    "family",
    "kind",
    "at",
    "curve_label",
    "profile_labels",
    "profile_style",
    "direction",
)
_LIMITS = ("low", "high", "band_low", "band_high")


def as_json(numbers: dict[str, Any]) -> str:
    """The text of :meth:`Report.to_json`."""
    text = json.dumps(numbers, ensure_ascii=False, allow_nan=False, indent=1)
    # Numbers of a list stand on one line; no text has a bare line break.
    text = re.sub(r"\[\n[^\[\]{}\"]*\]", lambda match: re.sub(r"\s+", "", match[0]).replace(",", ", "), text)
    # A surrogate that is escaped in the text of JSON is the same surrogate.
    return escaped(text)


def report_numbers(report: Report) -> dict[str, Any]:
    """All numbers of an evaluation and of the analyses beside it, and all that they rest on."""
    evaluation, data = report.evaluation, report.evaluation.data
    y_train, predictions, streamed = data.samples.y_train, data.predictions, data.streamed
    train_table = {} if y_train is None else {"train": y_train.risk_table}
    risk_tables = {**train_table, "test": data.risk_table}
    marks, copula = data.time_axis.marks(0.0, data.horizon.time), data.assumed.copula
    fitted = [
        scores.fitted for scores in evaluation.results.values() if "predictions" in scores.adjustment.needs
    ]
    imputation = imputation_among([status for status in fitted if status is not None])
    numbers: dict[str, Any] = {
        "cocensor": metadata.version("cocensor"),
        "versions": {name: metadata.version(name) for name in ("numpy", "scipy", "narwhals")},
        "data": {
            "train": None if y_train is None else _subjects(y_train),
            "test": _subjects(data.samples.y_test if streamed is None else streamed),
            "covariates": data.covariates,
        },
        "horizon": {
            **asdict(data.horizon),
            "n_times": int(data.times.size),
            "at_risk": {
                name: int(table.at_risk_at(data.horizon.time)) for name, table in risk_tables.items()
            },
        },
        "time": {**asdict(data.time_axis), "label": data.time_axis.label},
        "at_risk": {
            "times": marks,
            **{name: table.at_risk_at(marks) for name, table in risk_tables.items()},
        },
        "at": data.at,
        "copula": {
            "origin": data.assumed.origin,
            "family": copula.name,
            "theta": float(copula.theta),
            "tau": float(copula.tau),
            "in_words": copula_in_words(evaluation),
        },
        "models": [
            {
                "name": name,
                "source": predictions[name].source if name in predictions else None,
                "risk_score": name in predictions and isinstance(predictions[name], RiskScores),
                "only_at": at.time if isinstance(at := predictions.get(name), PredictionsAt) else None,
            }
            for name in evaluation.models
        ],
        "reference": "Kaplan–Meier curve, the same for everybody",
        "primary": evaluation.primary,
        "confidence_level": data.confidence_level,
        # What the imputation model conditions on: the columns of z.
        "imputation": None
        if imputation is None or imputation.design is None
        else {"settings": repr(imputation.adjustment), "columns": imputation.design.names_of_effects},
        "adjustments": [_adjustment(evaluation, scores) for scores in evaluation.results.values()],
        "metrics": [_metric(report, metric) for metric in data.metrics],
        "details": _details(report),
        "verdict": report.verdict.to_dict(),
        "checks": [check.to_dict() for check in evaluation.checks],
        "notes": [note.to_dict() for note in evaluation.notes],
    }
    if streamed is not None:
        numbers["streamed"] = {
            "n": streamed.whole.n,
            "n_fitted": len(streamed.learning.samples.y_test),
            "n_kept": len(data.samples.y_test),
            "metrics": [metric.name for metric in data.metrics if metric.name in streamed.metrics],
        }
    if evaluation.truth is not None:
        numbers["truth"] = _by_model(evaluation.truth.values, lambda value: value.value)
    if report.sensitivity is not None:
        numbers["sensitivity"] = sensitivity_numbers(report.sensitivity)
    analyses: dict[str, Any] = {"profile": report.profile, "survival": report.survival, "hint": report.hint}
    analyses["plausible_tau"] = report.benchmarks
    numbers |= {name: analysis.to_dict() for name, analysis in analyses.items() if analysis is not None}
    if report.bounds:
        numbers["bounds"] = {bounds.metric.name: bounds.to_dict() for bounds in report.bounds}
    return dict(plain(numbers))


# --- the data and how they were scored ------------------------------------------------------------------


def _subjects(sample: Survival | Streamed) -> dict[str, Any]:
    """Counts of a sample: of a stream all test subjects, whether they are held or not."""
    if isinstance(sample, Survival):
        n, events, dropouts = len(sample), sample.n_events, int(sample.dropout.sum())
        reasons = {reason: int(np.count_nonzero(sample.reason == reason)) for reason in sample.reasons}
        t_max = sample.t_max
    else:
        n, events, dropouts = sample.whole.n, sample.whole.n_events, sample.whole.n_dropouts
        reasons, t_max = dict(sample.reasons), sample.whole.t_max
    return {
        "n": n,
        "events": events,
        "dropouts": dropouts,
        "reasons": reasons,
        "administrative": n - events - dropouts,
        "censored": 1.0 - events / n,
        "t_max": t_max,
    }


def _adjustment(evaluation: Evaluation, scores: AdjustmentScores) -> dict[str, Any]:
    bootstrap, fit = scores.resampling, scores.imputation_fit
    return {
        "name": scores.name,
        "label": scores.label,
        "assumption": scores.adjustment.assumption,
        "settings": repr(scores.adjustment),
        "rests_on_copula": scores.adjustment.rests_on_copula,
        "votes": scores.name in counted(evaluation),
        "notes": [note.to_dict() for note in scores.notes],
        "resampling": bootstrap and {"n_resamples": bootstrap.n_resamples, "seed": bootstrap.seed},
        "imputation_fit": fit and fit.to_dict(),
    }


# --- by metric ------------------------------------------------------------------------------------------


def _metric(report: Report, metric: Metric) -> dict[str, Any]:
    """Numbers by adjustment and model; what there is none of is left out."""
    evaluation = report.evaluation
    results = {name: result for name, result in evaluation.results.items() if result.values[metric.name]}
    values = {name: result.values[metric.name] for name, result in results.items()}
    bases = {name: result.reference.get(metric.name) for name, result in results.items()}
    standings = {
        name: standing(evaluation, metric.name, name) for name in results if name in counted(evaluation)
    }
    scores = {
        name: {model: evaluation.score(model, metric.name, name) for model in models}
        for name, models in values.items()
    }
    skills = _by_model(scores, _skill)
    return {
        **attributes(metric, *_METRIC, "range"),
        "settings": repr(metric),
        "scores": _by_model(values, lambda value: value.value),
        "reference": {name: None if base is None else base.value for name, base in bases.items()},
        "skill": _by_model(skills, lambda skill: skill.value),
        "ranks": {name: by_name.ranks for name, by_name in standings.items()},
        "best": {name: by_name.best for name, by_name in standings.items()},
        **_errors(report, metric, results, scores, skills),
        "times": evaluation.data.times,
        "curves": _by_model(values, lambda value: value.curve),
        "reference_curves": {
            name: base.curve for name, base in bases.items() if base is not None and base.curve is not None
        },
        "profiles": _by_model(values, lambda value: value.profile and value.profile._asdict()),
    }


def _by_model(
    by: Mapping[str, Mapping[str, Any]], number: Callable[[Any], Any], with_null: bool = False
) -> dict[str, dict[str, Any]]:
    """A number of each model in mappings by model; what is None is left out, or null."""
    return {
        name: {model: value for model, of in models.items() if (value := number(of)) is not None or with_null}
        for name, models in by.items()
    }


def _skill(score: Score) -> Score | None:
    return score.skill if score.skill is not None and np.isfinite(score.skill.value) else None


def _errors(
    report: Report,
    metric: Metric,
    results: Mapping[str, AdjustmentScores],
    scores: Mapping[str, Mapping[str, Score]],
    skills: Mapping[str, Mapping[str, Score]],
) -> dict[str, Any]:
    """Errors of scores, skills, differences and curves; empty where no intervals were asked for."""
    evaluation, level = report.evaluation, report.evaluation.data.confidence_level
    if level is None:
        return {}
    return {
        **_intervals(scores, level),
        "no_interval": _by_model(scores, lambda score: score.missing),
        **{f"skill_{key}": by for key, by in _intervals(skills, level).items()},
        "comparisons": {
            name: [_comparison(pair, level) for pair in pairs_of(evaluation, metric, name)]
            for name in results
        },
        **{
            key: {
                name: _curve_errors(errors[metric.name, name], models, level)
                for name, models in scores.items()
                if (metric.name, name) in errors
            }
            for key, errors in (("curve_errors", report.curves), ("profile_errors", report.profiles))
        },
    }


def _intervals(estimates: Mapping[str, Mapping[str, Estimate]], level: float) -> dict[str, Any]:
    """By adjustment and model, standard errors and intervals; null where there is none."""

    def interval(estimate: Estimate) -> tuple[float, float] | None:
        low, high = estimate.confidence_interval(level)
        return (low, high) if np.isfinite(low) and np.isfinite(high) else None

    return {
        "standard_errors": _by_model(estimates, lambda estimate: estimate.standard_error, with_null=True),
        "intervals": _by_model(estimates, interval, with_null=True),
    }


def _comparison(pair: Comparison, level: float) -> dict[str, Any]:
    low, high = pair.confidence_interval(level)
    return {
        **attributes(pair, "a", "b", "difference", "standard_error"),
        "low": low,
        "high": high,
        **attributes(pair, "pvalue", "adjusted_pvalue"),
    }


def _curve_errors(errors: CurveErrors, models: Mapping[str, Any], level: float) -> dict[str, Any]:
    """By model the limits of its values along its curve, each for itself and all at once."""
    numbers = {}
    for model in models:
        if model in errors.values and model not in errors.missing:
            values = errors.of(model)
            low, high = values.confidence_intervals(level)
            band = values.band(level)
            limits = dict(zip(_LIMITS, (low, high, band.low, band.high), strict=True))
            numbers[model] = {"standard_errors": values.standard_errors, **limits}
    return numbers


# --- calibration and benefit in full --------------------------------------------------------------------


def _details(report: Report) -> dict[str, Any]:
    """By kind the curves in full, each with its adjustment, and model and time where it has such."""
    return {
        "calibration": [
            {
                "adjustment": adjustment,
                "model": model,
                **attributes(curve, "time", "predicted", "observed", "standard_error", *_LIMITS),
                "groups": vars(curve.groups),
                **attributes(curve, "counts", "edges"),
                **_summaries(curve),
                "notes": [note.to_dict() for note in curve.notes],
            }
            for (adjustment, model, _), curve in report.calibration.items()
        ],
        "d_calibration": [
            {"adjustment": adjustment, "model": model, **vars(result)}
            for (adjustment, model), result in report.d_calibration.items()
        ],
        "decision_curves": [
            {"adjustment": adjustment, **_decision(curves)}
            for (adjustment, _), curves in report.decision_curves.items()
        ],
    }


def _summaries(curve: CalibrationCurve) -> dict[str, Any]:
    """The single numbers of a calibration curve with their intervals."""
    numbers = {}
    for name in curve.summaries:
        estimate: Estimate = getattr(curve, name)
        low, high = estimate.confidence_interval(curve.confidence_level)
        if name == "observed_expected":
            low, high = curve.observed_expected_interval
        elif name not in ("slope", "intercept"):  # shares, and distances of such
            low, high = np.clip((low, high), 0.0, 1.0)
        numbers[name] = {**attributes(estimate, "value", "standard_error"), "low": low, "high": high}
    return numbers


def _decision(curves: Mapping[str, DecisionCurve]) -> dict[str, Any]:
    first = next(iter(curves.values()))
    return {
        "time": first.time,
        "thresholds": first.thresholds,
        "treat_all": first.treat_all._asdict(),
        "models": {
            model: {
                "net_benefit": curve.net_benefit._asdict(),
                "more_than_treat_all": curve.difference._asdict(),
            }
            for model, curve in curves.items()
        },
    }
