"""An evaluation as JSON can hold it."""

from __future__ import annotations

from dataclasses import asdict
from importlib import metadata
from typing import Any, Literal

import numpy as np

from cocensor._validation import FloatArray, column_names
from cocensor.evaluation.result import Evaluation
from cocensor.metrics import Metric
from cocensor.outcomes import Survival

_ANALYSES: tuple[Literal["sensitivity", "profile", "survival", "hint"], ...] = (
    "sensitivity",
    "profile",
    "survival",
    "hint",
)


def all_numbers(evaluation: Evaluation) -> dict[str, Any]:
    """All numbers of an evaluation and all that they rest on, with the analyses computed so far."""
    from cocensor.words import copula_in_words, winners_in_words

    samples, predictions = evaluation.data.samples, evaluation.data.predictions
    parts = {"train": samples.y_train, "test": samples.y_test}
    found: dict[str, Any] = {
        "cocensor": metadata.version("cocensor"),
        "versions": {name: metadata.version(name) for name in ("numpy", "scipy", "narwhals")},
        "data": {
            **{name: None if y is None else _summary(y) for name, y in parts.items()},
            "covariates": _covariates(evaluation),
        },
        "horizon": {
            **asdict(evaluation.horizon),
            "n_times": int(evaluation.times.size),
            "at_risk": {
                name: int((y.time >= evaluation.horizon.time).sum())
                for name, y in parts.items()
                if y is not None
            },
        },
        "copula": {**_copula(evaluation), "in_words": copula_in_words(evaluation)},
        "models": [
            {"name": name, "source": predictions[name].source if name in predictions else None}
            for name in evaluation.models
        ],
        "reference": "Kaplan–Meier curve, the same for everybody",
        "primary": evaluation.primary,
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
                "judge_fit": None if each.judge_fit is None else each.judge_fit.to_dict(),
            }
            for name, each in evaluation.results.items()
        ],
        "metrics": [_metric(evaluation, metric) for metric in evaluation.data.metrics],
        "ranking": winners_in_words(evaluation),
        "notes": [asdict(note) for note in evaluation.notes],
    }
    for name in _ANALYSES:
        analysis = evaluation.computed(name)
        if analysis is not None:
            found[name] = analysis.to_dict()
    return found


def _metric(evaluation: Evaluation, metric: Metric) -> dict[str, Any]:
    by = {name: each for name, each in evaluation.results.items() if each.values[metric.name]}
    return {
        "name": metric.name,
        "label": metric.label,
        "curve_label": metric.curve_label,
        "direction": metric.direction,
        "range": [_finite(end) for end in metric.range],
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
                if np.isfinite(value := evaluation.skill(model, metric.name, name).value)
            }
            for name, each in by.items()
        },
        "ranks": {name: evaluation.ranks(metric.name, name) for name in by if name in evaluation.voting},
        "times": evaluation.times.tolist(),
        "curves": {
            name: {
                model: _values(found.curve)
                for model, found in each.values[metric.name].items()
                if found.curve is not None
            }
            for name, each in by.items()
        },
        "reference_curves": {
            name: _values(found.curve)
            for name, each in by.items()
            if (found := each.reference.get(metric.name)) is not None and found.curve is not None
        },
    }


def _covariates(evaluation: Evaluation) -> list[str] | None:
    samples = evaluation.data.samples
    x = samples.x_test if samples.x_train is None else samples.x_train
    return None if x is None else column_names(x) or [f"x{k}" for k in range(np.shape(x)[1])]


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
        "administrative": ended,
        "censored": 1.0 - y.n_events / len(y),
        "t_max": y.t_max,
    }


def _value(found: Any) -> float | None:
    return None if found is None else found.value


def _values(curve: FloatArray) -> list[float | None]:
    return [_finite(value) for value in curve]


def _finite(value: float) -> float | None:
    """What JSON can hold."""
    return float(value) if np.isfinite(value) else None
