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
from cocensor._json import finite, finite_values
from cocensor.data import RiskTable, Survival
from cocensor.data.predictions import PredictionsAt, RiskScores
from cocensor.inference.comparisons import Comparison
from cocensor.inference.estimates import Estimate
from cocensor.metrics import Metric
from cocensor.study.curves import CurveErrors
from cocensor.study.data import EvaluationData, Streamed
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import imputation_among
from cocensor.study.ranking import counted, standing
from cocensor.study.report import Report
from cocensor.study.scores import AdjustmentScores, Score
from cocensor.study.tables import pairs_of
from cocensor.views.numbers.details import detail_numbers
from cocensor.views.numbers.grids import sensitivity_numbers
from cocensor.views.text.evaluation import copula_in_words


def as_json(numbers: dict[str, Any]) -> str:
    """The text of :meth:`Report.to_json`."""
    text = json.dumps(numbers, ensure_ascii=False, allow_nan=False, indent=1)
    # Numbers of a list stand on one line; no text has a bare line break.
    text = re.sub(r"\[\n[^\[\]{}\"]*\]", lambda found: re.sub(r"\s+", "", found[0]).replace(",", ", "), text)
    # A surrogate that is escaped in the text of JSON is the same surrogate.
    return escaped(text)


def report_numbers(report: Report) -> dict[str, Any]:
    """All numbers of an evaluation and of the analyses beside it, and all that they rest on."""
    evaluation, data = report.evaluation, report.evaluation.data
    samples, predictions = data.samples, data.predictions
    tables = _risk_tables(evaluation)
    marks = data.time_axis.marks(0.0, data.horizon.time)
    numbers: dict[str, Any] = {
        "cocensor": metadata.version("cocensor"),
        "versions": {name: metadata.version(name) for name in ("numpy", "scipy", "narwhals")},
        "data": {
            "train": None if samples.y_train is None else _sample(samples.y_train),
            "test": _test(evaluation),
            "covariates": None if data.covariates is None else list(data.covariates),
        },
        "horizon": {
            **asdict(data.horizon),
            "n_times": int(data.times.size),
            "at_risk": {name: int(table.at_risk_at(data.horizon.time)) for name, table in tables.items()},
        },
        "time": {**asdict(data.time_axis), "label": data.time_axis.label},
        "at_risk": {
            "times": marks,
            **{name: table.at_risk_at(marks).tolist() for name, table in tables.items()},
        },
        "at": list(data.at),
        "copula": _copula(evaluation),
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
        "imputation": _imputation(evaluation),
        "adjustments": [_adjustment(evaluation, name) for name in evaluation.results],
        "metrics": [_metric(report, metric) for metric in data.metrics],
        "details": detail_numbers(report),
        "verdict": report.verdict.to_dict(),
        "checks": [check.to_dict() for check in evaluation.checks],
        "notes": [note.to_dict() for note in evaluation.notes],
    }
    if data.streamed is not None:
        numbers["streamed"] = _streamed(data, data.streamed)
    if evaluation.truth is not None:
        numbers["truth"] = _by_model(evaluation.truth.values, lambda value: value.value)
    if report.sensitivity is not None:
        numbers["sensitivity"] = sensitivity_numbers(report.sensitivity)
    analyses: dict[str, Any] = {"profile": report.profile, "survival": report.survival, "hint": report.hint}
    analyses["plausible_tau"] = report.benchmarks
    numbers |= {name: analysis.to_dict() for name, analysis in analyses.items() if analysis is not None}
    bounds = {each.metric.name: each.to_dict() for each in report.bounds}
    return numbers | ({"bounds": bounds} if bounds else {})


# --- the data and how they were scored ------------------------------------------------------------------


def _risk_tables(evaluation: Evaluation) -> dict[str, RiskTable]:
    """How many are at risk, by sample."""
    train, test = evaluation.data.samples.y_train, {"test": evaluation.data.risk_table}
    return test if train is None else {"train": train.risk_table, **test}


def _test(evaluation: Evaluation) -> dict[str, Any]:
    """All test subjects, whether they are held or not."""
    streamed = evaluation.data.streamed
    if streamed is None:
        return _sample(evaluation.data.samples.y_test)
    whole = streamed.whole
    return _subjects(whole.n, whole.n_events, whole.n_dropouts, dict(streamed.reasons), whole.t_max)


def _sample(y: Survival) -> dict[str, Any]:
    ended = 0 if y.administrative is None else int(y.administrative.sum())
    reasons = {reason: int(np.count_nonzero(y.reason == reason)) for reason in y.reasons}
    return _subjects(len(y), y.n_events, len(y) - y.n_events - ended, reasons, y.t_max)


def _subjects(n: int, events: int, dropouts: int, reasons: Mapping[str, int], t_max: float) -> dict[str, Any]:
    return {
        "n": n,
        "events": events,
        "dropouts": dropouts,
        "reasons": reasons,
        "administrative": n - events - dropouts,
        "censored": 1.0 - events / n,
        "t_max": t_max,
    }


def _streamed(data: EvaluationData, streamed: Streamed) -> dict[str, Any]:
    """What rests on which of the test subjects, where they are more than are held."""
    return {
        "n": streamed.whole.n,
        "n_fitted": len(streamed.learning.samples.y_test),
        "n_kept": len(data.samples.y_test),
        "metrics": [metric.name for metric in data.metrics if metric.name in streamed.metrics],
    }


def _copula(evaluation: Evaluation) -> dict[str, Any]:
    copula = evaluation.data.assumed.copula
    return {
        "origin": evaluation.data.assumed.origin,
        "family": copula.name,
        "theta": float(copula.theta),
        "tau": float(copula.tau),
        "in_words": copula_in_words(evaluation),
    }


def _imputation(evaluation: Evaluation) -> dict[str, Any] | None:
    """What the imputation model conditions on: the columns of z."""
    fitted = [each.fitted for each in evaluation.results.values() if "predictions" in each.adjustment.needs]
    shared = imputation_among([each for each in fitted if each is not None])
    if shared is None or shared.design is None:
        return None
    return {"settings": repr(shared.adjustment), "columns": list(shared.design.names_of_effects)}


def _adjustment(evaluation: Evaluation, name: str) -> dict[str, Any]:
    scores = evaluation.results[name]
    bootstrap, fit = scores.resampling, scores.imputation_fit
    return {
        "name": name,
        "label": scores.label,
        "assumption": scores.adjustment.assumption,
        "settings": repr(scores.adjustment),
        "rests_on_copula": scores.varies_with_copula,
        "votes": name in counted(evaluation),
        "notes": [note.to_dict() for note in scores.notes],
        "resampling": bootstrap and {"n_resamples": bootstrap.n_resamples, "seed": bootstrap.seed},
        "imputation_fit": fit and fit.to_dict(),
    }


# --- by metric ------------------------------------------------------------------------------------------


def _metric(report: Report, metric: Metric) -> dict[str, Any]:
    """Numbers by adjustment and model; what there is none of is left out."""
    evaluation = report.evaluation
    results = {name: each for name, each in evaluation.results.items() if each.values[metric.name]}
    values = {name: each.values[metric.name] for name, each in results.items()}
    bases = {name: each.reference.get(metric.name) for name, each in results.items()}
    standings = {
        name: standing(evaluation, metric.name, name) for name in results if name in counted(evaluation)
    }
    scores = {
        name: {model: evaluation.score(model, metric.name, name) for model in models}
        for name, models in values.items()
    }
    skills = _by_model(scores, _skill)
    return {
        "name": metric.name,
        "label": metric.label,
        "family": metric.family,
        "kind": metric.kind,
        "at": metric.at,
        "curve_label": metric.curve_label,
        "profile_labels": None if metric.profile_labels is None else list(metric.profile_labels),
        "profile_style": metric.profile_style,
        "direction": metric.direction,
        "range": [finite(end) for end in metric.range],
        "settings": repr(metric),
        "scores": _by_model(values, lambda value: value.value),
        "reference": {name: None if base is None else base.value for name, base in bases.items()},
        "skill": _by_model(skills, lambda skill: skill.value),
        "ranks": {name: each.ranks for name, each in standings.items()},
        "best": {name: list(each.best) for name, each in standings.items()},
        **_errors(report, metric, results, scores, skills),
        "times": evaluation.data.times.tolist(),
        "curves": _by_model(
            values, lambda value: None if value.curve is None else finite_values(value.curve)
        ),
        "reference_curves": {
            name: finite_values(base.curve)
            for name, base in bases.items()
            if base is not None and base.curve is not None
        },
        "profiles": _by_model(
            values,
            lambda value: (
                value.profile
                and {axis: finite_values(points) for axis, points in value.profile._asdict().items()}
            ),
        ),
    }


def _by_model(
    by: Mapping[str, Mapping[str, Any]], number: Callable[[Any], Any], with_null: bool = False
) -> dict[str, dict[str, Any]]:
    """The same of each model in mappings by model; what is None is left out, or null."""
    return {
        name: {
            model: value for model, each in models.items() if (value := number(each)) is not None or with_null
        }
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
    """How far scores, skills and differences may be off; empty where no intervals were asked for."""
    evaluation, level = report.evaluation, report.evaluation.data.confidence_level
    if level is None:
        return {}
    return {
        **_intervals(scores, level),
        "no_interval": _by_model(scores, lambda score: score.missing),
        **{f"skill_{key}": each for key, each in _intervals(skills, level).items()},
        "comparisons": {
            name: [_comparison(pair, level) for pair in pairs_of(evaluation, metric, name)]
            for name in results
        },
        **{
            key: {
                name: _curve_errors(handed[metric.name, name], models, level)
                for name, models in scores.items()
                if (metric.name, name) in handed
            }
            for key, handed in (("curve_errors", report.curves), ("profile_errors", report.profiles))
        },
    }


def _intervals(estimates: Mapping[str, Mapping[str, Estimate]], level: float) -> dict[str, Any]:
    """By adjustment and model, standard errors and intervals; null where there is none."""
    return {
        "standard_errors": _by_model(estimates, lambda each: finite(each.standard_error), with_null=True),
        "intervals": _by_model(estimates, lambda each: _interval(each, level), with_null=True),
    }


def _interval(estimate: Estimate, level: float) -> list[float] | None:
    low, high = estimate.confidence_interval(level)
    return [low, high] if np.isfinite(low) and np.isfinite(high) else None


def _comparison(pair: Comparison, level: float) -> dict[str, Any]:
    low, high = pair.confidence_interval(level)
    return {
        "a": pair.a,
        "b": pair.b,
        "difference": finite(pair.difference),
        "standard_error": finite(pair.standard_error),
        "low": finite(low),
        "high": finite(high),
        "pvalue": finite(pair.pvalue),
        "adjusted_pvalue": finite(pair.adjusted_pvalue),
    }


def _curve_errors(errors: CurveErrors, models: Mapping[str, Any], level: float) -> dict[str, Any]:
    """By model the limits of its values along its curve, each for itself and all at once."""
    numbers = {}
    for model in models:
        if model in errors.values and model not in errors.missing:
            values = errors.of(model)
            low, high = values.confidence_intervals(level)
            band = values.band(level)
            numbers[model] = {
                "standard_errors": finite_values(values.standard_errors),
                "low": finite_values(low),
                "high": finite_values(high),
                "band_low": finite_values(band.low),
                "band_high": finite_values(band.high),
            }
    return numbers
