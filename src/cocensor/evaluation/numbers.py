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

_ANALYSES: tuple[Literal["sensitivity", "profile", "survival"], ...] = "sensitivity", "profile", "survival"


def all_numbers(evaluation: Evaluation) -> dict[str, Any]:
    """All numbers of an evaluation and all that they rest on, with the analyses computed so far."""
    from cocensor.words import caveat_of, copula_in_words, winners_in_words

    samples = evaluation.data.samples
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
            {"name": name, "source": each.source} for name, each in evaluation.data.predictions.items()
        ],
        "reference": "Kaplan–Meier curve, the same for everybody",
        "primary": evaluation.primary,
        "adjustments": [
            {
                "name": name,
                "label": each.label,
                "assumption": each.adjustment.assumption,
                "settings": repr(each.adjustment),
                "rests_on_copula": each.varies_with_copula,
                "notes": [asdict(note) for note in each.notes],
                "judge_fit": None if each.judge_fit is None else each.judge_fit.to_dict(),
            }
            for name, each in evaluation.results.items()
        ],
        "metrics": [_metric(evaluation, metric) for metric in evaluation.data.metrics],
        "ranking": winners_in_words(evaluation),
        "notes": [asdict(note) for note in evaluation.notes],
    }
    if evaluation.assumed.choice is not None:
        found["copula"]["caveat"] = caveat_of(evaluation.assumed.choice)
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
                if np.isfinite(value := evaluation.skill(model, metric.name, name))
            }
            for name, each in by.items()
        },
        "ranks": {name: evaluation.ranks(metric.name, name) for name in by},
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


def _copula(evaluation: Evaluation) -> dict[str, Any]:
    assumed = evaluation.assumed
    copula, choice = assumed.copula, assumed.choice
    found: dict[str, Any] = {
        "origin": assumed.origin,
        "family": copula.name,
        "theta": float(copula.theta),
        "tau": float(copula.tau),
    }
    if choice is not None:
        found |= {
            "how": choice.how,
            "candidates": [
                {
                    "family": name,
                    "theta": float(model.copula.theta),
                    "tau": float(model.copula.tau),
                    "train_nll": _finite(-model.loglik_ / model.n_),
                    "validation_nll": _finite(choice.validation[name]),
                    "converged": bool(model.converged_),
                    "chosen": name == copula.name,
                }
                for name, model in choice.models.items()
            ],
        }
    return found


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
