"""An evaluation as JSON can hold it."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np

from cocensor._validation import column_names
from cocensor.evaluation.evaluation import REFERENCE_LABEL, Evaluation, named
from cocensor.evaluation.question import REFERENCE
from cocensor.joint.select import CAVEAT
from cocensor.metrics import Metric
from cocensor.outcomes import Survival


def all_numbers(evaluation: Evaluation) -> dict[str, Any]:
    """All numbers of an evaluation and all that they rest on."""
    return {
        "cocensor": metadata.version("cocensor"),
        "versions": {name: metadata.version(name) for name in ("numpy", "scipy", "narwhals")},
        "data": _data(evaluation),
        "horizon": {
            "time": evaluation.horizon,
            "reason": evaluation.horizon_reason,
            "n_times": int(evaluation.times.size),
            "at_risk": {
                name: int((y.time >= evaluation.horizon).sum())
                for name, y in (("train", evaluation.question.y_train), ("test", evaluation.question.y_test))
            },
        },
        "copula": _copula(evaluation),
        "models": [{"name": name, "came_as": evaluation.came_as[name]} for name in evaluation.models],
        "reference": REFERENCE_LABEL,
        "primary": evaluation.primary,
        "adjustments": [
            {
                "name": name,
                "label": each.label,
                "assumption": each.adjustment.assumption,
                "settings": repr(each.adjustment),
                "rests_on_copula": each.moves,
                "notes": list(each.notes),
            }
            for name, each in evaluation.scored.items()
        ],
        "metrics": [_metric(evaluation, metric) for metric in evaluation.question.metrics],
        "ranking": evaluation.winners_in_words(),
        "notes": list(evaluation.notes),
    }


def _metric(evaluation: Evaluation, metric: Metric) -> dict[str, Any]:
    by = {name: each for name, each in evaluation.scored.items() if each.scores[metric.name]}
    return {
        "name": metric.name,
        "label": metric.label,
        "floor": metric.floor,
        "scores": {name: named(each.scores[metric.name]) for name, each in by.items()},
        "reference": {name: each.scores[metric.name].get(REFERENCE) for name, each in by.items()},
        "skill": {
            name: {
                model: value
                for model in each.scores[metric.name]
                if model != REFERENCE and np.isfinite(value := evaluation.skill(model, name, metric.name))
            }
            for name, each in by.items()
        },
        "ranks": {name: evaluation.ranks(name, metric.name) for name in by},
        "times": evaluation.times.tolist(),
        "curves": {
            name: {model: values.tolist() for model, values in named(each.curves[metric.name]).items()}
            for name, each in by.items()
        },
        "reference_curves": {
            name: each.curves[metric.name][REFERENCE].tolist()
            for name, each in by.items()
            if REFERENCE in each.curves[metric.name]
        },
    }


def _data(evaluation: Evaluation) -> dict[str, Any]:
    x = evaluation.question.x_train
    names = None if x is None else column_names(x) or [f"x{k}" for k in range(np.shape(x)[1])]
    return {
        "train": _summary(evaluation.question.y_train),
        "test": _summary(evaluation.question.y_test),
        "covariates": names,
    }


def _copula(evaluation: Evaluation) -> dict[str, Any]:
    copula = evaluation.copula
    found: dict[str, Any] = {
        "from": evaluation.copula_from,
        "family": copula.name,
        "theta": float(copula.theta),
        "tau": float(copula.tau),
        "in_words": evaluation.copula_in_words(),
    }
    if evaluation.choice is not None:
        found |= {
            "caveat": CAVEAT,
            "how": evaluation.choice.how,
            "candidates": [
                {
                    "family": name,
                    "theta": float(model.copula.theta),
                    "tau": float(model.copula.tau),
                    "train_nll": _finite(-model.loglik_ / model.n_),
                    "validation_nll": _finite(evaluation.choice.validation[name]),
                    "converged": bool(model.converged_),
                    "chosen": name == copula.name,
                }
                for name, model in evaluation.choice.models.items()
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


def _finite(value: float) -> float | None:
    """What JSON can hold."""
    return float(value) if np.isfinite(value) else None
