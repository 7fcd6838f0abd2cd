"""An evaluation as JSON can hold it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

import numpy as np

from cocensor._validation import escaped
from cocensor.evaluation.curve_errors import CurveErrors
from cocensor.evaluation.data import EvaluationData, Streamed
from cocensor.evaluation.detail_numbers import detail_numbers
from cocensor.evaluation.json_values import finite, finite_values
from cocensor.evaluation.result import Analysis, Evaluation
from cocensor.evaluation.scores import AdjustmentScores
from cocensor.inference import Estimate
from cocensor.metrics import Metric
from cocensor.outcomes import RiskTable, Survival

_ANALYSES: tuple[Analysis, ...] = (
    "sensitivity",
    "profile",
    "survival",
    "hint",
    "plausible_tau",
)


def as_json(numbers: dict[str, Any]) -> str:
    """The text of :meth:`Evaluation.to_json`."""
    text = json.dumps(numbers, ensure_ascii=False, allow_nan=False, indent=1)
    # Numbers of a list stand on one line; no text has a bare line break.
    text = re.sub(r"\[\n[^\[\]{}\"]*\]", lambda found: re.sub(r"\s+", "", found[0]).replace(",", ", "), text)
    # A surrogate that is escaped in the text of JSON is the same surrogate.
    return escaped(text)


def all_numbers(evaluation: Evaluation) -> dict[str, Any]:
    """All numbers of an evaluation and all that they rest on, with the analyses computed so far."""
    from cocensor.words import copula_in_words, winners_in_words

    samples, predictions = evaluation.data.samples, evaluation.data.predictions
    found: dict[str, Any] = {
        "cocensor": metadata.version("cocensor"),
        "versions": {name: metadata.version(name) for name in ("numpy", "scipy", "narwhals")},
        "data": {
            "train": None if samples.y_train is None else _summary(samples.y_train),
            "test": _test(evaluation),
            "covariates": _covariates(evaluation),
        },
        "horizon": {
            **asdict(evaluation.horizon),
            "n_times": int(evaluation.times.size),
            "at_risk": {
                name: int(table.at_risk_at(evaluation.horizon.time))
                for name, table in _risk_tables(evaluation).items()
            },
        },
        "time": {**asdict(evaluation.time_axis), "label": evaluation.time_axis.label},
        "at_risk": _at_risk(evaluation),
        "at": list(evaluation.at),
        "copula": {**_copula(evaluation), "in_words": copula_in_words(evaluation)},
        "models": [
            {
                "name": name,
                "source": predictions[name].source if name in predictions else None,
                "risk_score": name in predictions and predictions[name].risk is not None,
                "only_at": predictions[name].only_at if name in predictions else None,
            }
            for name in evaluation.models
        ],
        "reference": "Kaplan–Meier curve, the same for everybody",
        "primary": evaluation.primary,
        "confidence_level": evaluation.confidence_level,
        "judge": _judge(evaluation),
        "adjustments": [
            {
                "name": name,
                "label": each.label,
                "assumption": each.adjustment.assumption,
                "settings": repr(each.adjustment),
                "rests_on_copula": each.varies_with_copula,
                "votes": name in evaluation.voting,
                "notes": [asdict(note) for note in each.notes],
                "resampling": _resampling(each),
                "judge_fit": None if each.judge_fit is None else each.judge_fit.to_dict(),
            }
            for name, each in evaluation.results.items()
        ],
        "metrics": [_metric(evaluation, metric) for metric in evaluation.data.metrics],
        "details": detail_numbers(evaluation),
        "ranking": winners_in_words(evaluation),
        "alarms": [
            {"kind": each.kind, "text": each.text, "model": each.model, "disqualifies": each.disqualifies}
            for each in evaluation.alarms
        ],
        "notes": [asdict(note) for note in evaluation.notes],
    }
    if evaluation.data.streamed is not None:
        found["streamed"] = _streamed(evaluation.data, evaluation.data.streamed)
    if evaluation.truth is not None:
        found["truth"] = {
            metric: {model: each.value for model, each in values.items()}
            for metric, values in evaluation.truth.values.items()
        }
    for name in _ANALYSES:
        analysis = evaluation.computed(name)
        if analysis is not None:
            found[name] = analysis.to_dict()
    bounds = {each.metric.name: each.to_dict() for each in evaluation.all_computed("bounds")}
    return found | ({"bounds": bounds} if bounds else {})


def _at_risk(evaluation: Evaluation) -> dict[str, Any]:
    """How many of each sample are at risk at a few round times up to the horizon."""
    times = evaluation.time_axis.marks(0.0, evaluation.horizon.time)
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


def _metric(evaluation: Evaluation, metric: Metric) -> dict[str, Any]:
    by = {name: each for name, each in evaluation.results.items() if each.values[metric.name]}
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
        **_bounds(by, metric.name),
        "reference": {name: _value(each.reference.get(metric.name)) for name, each in by.items()},
        "skill": {
            name: {
                model: value
                for model in each.values[metric.name]
                if np.isfinite(value := evaluation.skill(model, metric.name, name).value)
            }
            for name, each in by.items()
        },
        "ranks": {name: evaluation.ranks(metric.name, name) for name in by if name in evaluation.voting},
        "best": {name: list(evaluation.best(metric.name, name)) for name in by if name in evaluation.voting},
        **_errors(evaluation, metric.name, by),
        "times": evaluation.times.tolist(),
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


def _bounds(by: Mapping[str, AdjustmentScores], metric: str) -> dict[str, Any]:
    """How far scores may be from those of all subjects held at once; empty where they were."""
    found = {
        name: {model: finite(each.bound) for model, each in scores.values[metric].items() if each.bound != 0}
        for name, scores in by.items()
    }
    return {"bound": found} if any(found.values()) else {}


def _errors(evaluation: Evaluation, metric: str, by: Mapping[str, AdjustmentScores]) -> dict[str, Any]:
    """How far scores, skills and differences may be off; empty where no intervals were asked for."""
    level = evaluation.confidence_level
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
            if np.isfinite((skill := evaluation.skill(model, metric, name)).value)
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
        "comparisons": {name: _comparisons(evaluation, metric, name, level) for name in by},
        **{
            key: {
                name: _curve_errors(errors, list(models[name]), level)
                for name in by
                if (errors := computed(metric, name)) is not None
            }
            for key, computed in (
                ("curve_errors", evaluation.computed_curve_errors),
                ("profile_errors", evaluation.computed_profile_errors),
            )
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


def _comparisons(evaluation: Evaluation, metric: str, adjustment: str, level: float) -> list[dict[str, Any]]:
    found = []
    for pair in evaluation.pairs(metric, adjustment):
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


def _covariates(evaluation: Evaluation) -> list[str] | None:
    samples = evaluation.data.samples
    x = samples.x_test if samples.x_train is None else samples.x_train
    return None if x is None else list(x.labels)


def _judge(evaluation: Evaluation) -> dict[str, Any] | None:
    """What the models are judged by: the columns of z."""
    judge = evaluation.judge
    if judge is None or judge.design is None:
        return None
    return {"settings": repr(judge.adjustment), "columns": list(judge.design.names_of_effects)}


def _copula(evaluation: Evaluation) -> dict[str, Any]:
    copula = evaluation.assumed.copula
    return {
        "origin": evaluation.assumed.origin,
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
