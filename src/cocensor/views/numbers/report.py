"""An evaluation as JSON can hold it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

import numpy as np

from cocensor._checks import escaped
from cocensor._json import finite, finite_values
from cocensor.data import PredictionsAt, RiskScores, RiskTable, Survival
from cocensor.inference import Estimate
from cocensor.metrics import Metric
from cocensor.study.curves import CurveErrors
from cocensor.study.data import EvaluationData, Streamed
from cocensor.study.evaluation import Evaluation
from cocensor.study.primary import imputation_among
from cocensor.study.report import Report
from cocensor.study.scores import AdjustmentScores
from cocensor.study.standing import counted, standing
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
    evaluation = report.evaluation
    samples, predictions = evaluation.data.samples, evaluation.data.predictions
    counting = counted(evaluation)
    found: dict[str, Any] = {
        "cocensor": metadata.version("cocensor"),
        "versions": {name: metadata.version(name) for name in ("numpy", "scipy", "narwhals")},
        "data": {
            "train": None if samples.y_train is None else _summary(samples.y_train),
            "test": _test(evaluation),
            "covariates": None if evaluation.data.covariates is None else list(evaluation.data.covariates),
        },
        "horizon": {
            **asdict(evaluation.data.horizon),
            "n_times": int(evaluation.data.times.size),
            "at_risk": {
                name: int(table.at_risk_at(evaluation.data.horizon.time))
                for name, table in _risk_tables(evaluation).items()
            },
        },
        "time": {**asdict(evaluation.data.time_axis), "label": evaluation.data.time_axis.label},
        "at_risk": _at_risk(evaluation),
        "at": list(evaluation.data.at),
        "copula": {**_copula(evaluation), "in_words": copula_in_words(evaluation)},
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
        "confidence_level": evaluation.data.confidence_level,
        "imputation": _imputation(evaluation),
        "adjustments": [
            {
                "name": name,
                "label": each.label,
                "assumption": each.adjustment.assumption,
                "settings": repr(each.adjustment),
                "rests_on_copula": each.varies_with_copula,
                "votes": name in counting,
                "notes": [note.to_dict() for note in each.notes],
                "resampling": _resampling(each),
                "imputation_fit": None if each.imputation_fit is None else each.imputation_fit.to_dict(),
            }
            for name, each in evaluation.results.items()
        ],
        "metrics": [_metric(report, metric) for metric in evaluation.data.metrics],
        "details": detail_numbers(report),
        "verdict": report.verdict.to_dict(),
        "checks": [check.to_dict() for check in evaluation.checks],
        "notes": [note.to_dict() for note in evaluation.notes],
    }
    if evaluation.data.streamed is not None:
        found["streamed"] = _streamed(evaluation.data, evaluation.data.streamed)
    if evaluation.truth is not None:
        found["truth"] = {
            metric: {model: each.value for model, each in values.items()}
            for metric, values in evaluation.truth.values.items()
        }
    if report.sensitivity is not None:
        found["sensitivity"] = sensitivity_numbers(report.sensitivity)
    analyses: dict[str, Any] = {"profile": report.profile, "survival": report.survival, "hint": report.hint}
    analyses["plausible_tau"] = report.benchmarks
    found |= {name: each.to_dict() for name, each in analyses.items() if each is not None}
    bounds = {each.metric.name: each.to_dict() for each in report.bounds}
    return found | ({"bounds": bounds} if bounds else {})


def _at_risk(evaluation: Evaluation) -> dict[str, Any]:
    """How many of each sample are at risk at a few round times up to the horizon."""
    times = evaluation.data.time_axis.marks(0.0, evaluation.data.horizon.time)
    counts = {name: table.at_risk_at(times).tolist() for name, table in _risk_tables(evaluation).items()}
    return {"times": times, **counts}


def _risk_tables(evaluation: Evaluation) -> dict[str, RiskTable]:
    """How many are at risk, by sample."""
    train, test = evaluation.data.samples.y_train, {"test": evaluation.data.risk_table}
    return test if train is None else {"train": train.risk_table, **test}


def _test(evaluation: Evaluation) -> dict[str, Any]:
    """All test subjects, whether they are held or not."""
    streamed = evaluation.data.streamed
    if streamed is None:
        return _summary(evaluation.data.samples.y_test)
    whole = streamed.whole
    return {
        "n": whole.n,
        "events": whole.n_events,
        "dropouts": whole.n_dropouts,
        "reasons": dict(streamed.reasons),
        "administrative": whole.n - whole.n_events - whole.n_dropouts,
        "censored": 1.0 - whole.n_events / whole.n,
        "t_max": whole.t_max,
    }


def _streamed(data: EvaluationData, streamed: Streamed) -> dict[str, Any]:
    """What rests on which of the test subjects, where they are more than are held."""
    return {
        "n": streamed.whole.n,
        "n_fitted": len(streamed.learning.samples.y_test),
        "n_kept": len(data.samples.y_test),
        "metrics": [metric.name for metric in data.metrics if metric.name in streamed.metrics],
    }


def _metric(report: Report, metric: Metric) -> dict[str, Any]:
    evaluation = report.evaluation
    by = {name: each for name, each in evaluation.results.items() if each.values[metric.name]}
    standings = {name: standing(evaluation, metric.name, name) for name in by if name in counted(evaluation)}
    return {
        "name": metric.name,
        "label": metric.label,
        "family": metric.family,
        "at": metric.at,
        "curve_label": metric.curve_label,
        "profile_labels": None if metric.profile_labels is None else list(metric.profile_labels),
        "direction": metric.direction,
        "range": [finite(end) for end in metric.range],
        "settings": repr(metric),
        "scores": {
            name: {model: found.value for model, found in each.values[metric.name].items()}
            for name, each in by.items()
        },
        "reference": {name: _value(each.reference.get(metric.name)) for name, each in by.items()},
        "skill": {
            name: {
                model: value
                for model in each.values[metric.name]
                if np.isfinite(value := _skill(evaluation, model, metric.name, name).value)
            }
            for name, each in by.items()
        },
        "ranks": {name: each.ranks for name, each in standings.items()},
        "best": {name: list(each.best) for name, each in standings.items()},
        **_errors(report, metric, by),
        "times": evaluation.data.times.tolist(),
        "curves": {
            name: {
                model: finite_values(found.curve)
                for model, found in each.values[metric.name].items()
                if found.curve is not None
            }
            for name, each in by.items()
        },
        "reference_curves": {
            name: finite_values(found.curve)
            for name, each in by.items()
            if (found := each.reference.get(metric.name)) is not None and found.curve is not None
        },
        "profiles": {
            name: {
                model: {axis: finite_values(values) for axis, values in found.profile._asdict().items()}
                for model, found in each.values[metric.name].items()
                if found.profile is not None
            }
            for name, each in by.items()
        },
    }


def _skill(evaluation: Evaluation, model: str, metric: str, adjustment: str) -> Estimate:
    return evaluation.score(model, metric, adjustment).skill or Estimate(np.nan, np.nan)


def _errors(report: Report, by_metric: Metric, by: Mapping[str, AdjustmentScores]) -> dict[str, Any]:
    """How far scores, skills and differences may be off; empty where no intervals were asked for."""
    evaluation, metric = report.evaluation, by_metric.name
    level = evaluation.data.confidence_level
    if level is None:
        return {}
    models = {name: tuple(each.values[metric]) for name, each in by.items()}
    scores = {
        name: {model: evaluation.score(model, metric, name) for model in scored}
        for name, scored in models.items()
    }
    skills = {
        name: {
            model: skill
            for model in scored
            if np.isfinite((skill := _skill(evaluation, model, metric, name)).value)
        }
        for name, scored in models.items()
    }
    return {
        **_intervals(scores, level),
        "no_interval": {
            name: {model: score.missing for model, score in found.items() if score.missing is not None}
            for name, found in scores.items()
        },
        **{f"skill_{key}": each for key, each in _intervals(skills, level).items()},
        "comparisons": {name: _comparisons(evaluation, by_metric, name, level) for name in by},
        **{
            key: {
                name: _curve_errors(errors, list(models[name]), level)
                for name in by
                if (errors := handed.get((metric, name))) is not None
            }
            for key, handed in (("curve_errors", report.curves), ("profile_errors", report.profiles))
        },
    }


def _intervals(estimates: Mapping[str, Mapping[str, Estimate]], level: float) -> dict[str, Any]:
    """By adjustment and model, standard errors and intervals; null where there is none."""
    return {
        "standard_errors": {
            name: {model: finite(each.standard_error) for model, each in found.items()}
            for name, found in estimates.items()
        },
        "intervals": {
            name: {model: _interval(each, level) for model, each in found.items()}
            for name, found in estimates.items()
        },
    }


def _interval(estimate: Estimate, level: float) -> list[float] | None:
    low, high = estimate.confidence_interval(level)
    return [low, high] if np.isfinite(low) and np.isfinite(high) else None


def _comparisons(
    evaluation: Evaluation, metric: Metric, adjustment: str, level: float
) -> list[dict[str, Any]]:
    found = []
    for pair in pairs_of(evaluation, metric, adjustment):
        low, high = pair.confidence_interval(level)
        numbers = {
            "difference": pair.difference,
            "standard_error": pair.standard_error,
            "low": low,
            "high": high,
            "pvalue": pair.pvalue,
            "adjusted_pvalue": pair.adjusted_pvalue,
        }
        found.append({"a": pair.a, "b": pair.b, **{key: finite(value) for key, value in numbers.items()}})
    return found


def _curve_errors(errors: CurveErrors, models: Sequence[str], level: float) -> dict[str, Any]:
    """By model the limits of its values along its curve, each for itself and all at once."""
    found = {}
    for model in models:
        if model in errors.values and model not in errors.missing:
            values = errors.of(model)
            low, high = values.confidence_intervals(level)
            band = values.band(level)
            limits = {"low": low, "high": high, "band_low": band.low, "band_high": band.high}
            limits = {"standard_errors": values.standard_errors, **limits}
            found[model] = {key: finite_values(each) for key, each in limits.items()}
    return found


def _imputation(evaluation: Evaluation) -> dict[str, Any] | None:
    """What the imputation model conditions on: the columns of z."""
    fitted = [each.fitted for each in evaluation.results.values() if "predictions" in each.adjustment.needs]
    shared = imputation_among([each for each in fitted if each is not None])
    if shared is None or shared.design is None:
        return None
    return {"settings": repr(shared.adjustment), "columns": list(shared.design.names_of_effects)}


def _copula(evaluation: Evaluation) -> dict[str, Any]:
    copula = evaluation.data.assumed.copula
    return {
        "origin": evaluation.data.assumed.origin,
        "family": copula.name,
        "theta": float(copula.theta),
        "tau": float(copula.tau),
    }


def _summary(y: Survival) -> dict[str, Any]:
    ended = 0 if y.administrative is None else int(y.administrative.sum())
    return {
        "n": len(y),
        "events": y.n_events,
        "dropouts": len(y) - y.n_events - ended,
        "reasons": {reason: int(np.count_nonzero(y.reason == reason)) for reason in y.reasons},
        "administrative": ended,
        "censored": 1.0 - y.n_events / len(y),
        "t_max": y.t_max,
    }


def _resampling(scores: AdjustmentScores) -> dict[str, Any] | None:
    """The bootstrap that errors are from; None where they are analytic."""
    how = scores.resampling
    return None if how is None else {"n_resamples": how.n_resamples, "seed": how.seed}


def _value(found: Any) -> float | None:
    return None if found is None else found.value
