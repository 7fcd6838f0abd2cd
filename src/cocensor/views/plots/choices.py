"""Models and times of an evaluation that are to be drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cocensor._checks import as_times, as_tuple, as_vector, check_choice, escaped
from cocensor.study.evaluation import Evaluation


def at_least_one(
    names: str | Sequence[str] | None, argument: str, default: Sequence[str] = ()
) -> tuple[str, ...]:
    """One name or several, by default those given; none is refused."""
    chosen = tuple(default) if names is None else as_tuple(names, argument, str)
    if not chosen:
        raise ValueError(f"{argument} is empty: at least one is needed.")
    return chosen


def label_minus(label: str, minus: str | None, models: tuple[str, ...]) -> str:
    """The label of values of models, or of these minus those of one of them."""
    if minus is None:
        return label
    check_choice(minus, "minus", models)
    return f"{label} minus that of {escaped(minus)}"


def chosen_times(evaluation: Evaluation, at: npt.ArrayLike | None) -> tuple[float, ...]:
    """Single times, by default all of the evaluation."""
    if at is None and not evaluation.data.at:
        raise ValueError("at is needed: the evaluation has no scores at single times.")
    times = evaluation.data.at if at is None else as_times(as_vector(at, "at", single=True), "at").tolist()
    if not times:
        raise ValueError("at is empty: at least one is needed.")
    return tuple(dict.fromkeys(times))


def chosen_models(evaluation: Evaluation, models: str | Sequence[str] | None) -> tuple[str, ...]:
    """Models, by default all of the evaluation."""
    names = at_least_one(models, "models", evaluation.models)
    for name in names:
        check_choice(name, "models", evaluation.models)
    return names


def models_with_curves(
    evaluation: Evaluation, models: str | Sequence[str] | None, at: float | None = None
) -> tuple[str, ...]:
    """Models that predict survival curves, or the chance ``at`` a time, by default all such of the evaluation."""
    names, predictions = chosen_models(evaluation, models), evaluation.data.predictions
    times = evaluation.data.times if at is None else np.array([at])
    limits = {
        name: predictions[name].limit
        for name in names
        if name in predictions and not predictions[name].known_at(times)
    }
    if models is None:
        names = tuple(name for name in names if name in predictions and name not in limits)
    elif limits:
        name, limit = next(iter(limits.items()))
        raise ValueError(f"models must predict survival curves, but {name!r} {limit}.")
    if not names:
        raise ValueError("models must predict survival curves, but none does.")
    return names
