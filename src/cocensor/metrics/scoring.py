"""From the arguments of a score to a status and predictions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from cocensor._validation import PredictionWarning
from cocensor.adjustments import Adjustment, Fitted, adjustment
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Copula
from cocensor.curves import Predictions, TimeGrid, as_predictions
from cocensor.metrics.kernel import Loss, mean_losses
from cocensor.outcomes import Survival


def chosen_adjustment(how: str | Adjustment | Fitted, copula: Copula | None) -> Adjustment | Fitted:
    """An adjustment by name, at a copula where it rests on one, or the object itself."""
    if not isinstance(how, Adjustment | Fitted):
        return adjustment(how, copula=copula)
    if copula is not None:
        raise ValueError("copula must be None beside an adjustment object, which has its own.")
    return how


def scores(
    loss: Loss,
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    how: str | Adjustment | Fitted,
    x_train: Any,
    x_test: Any,
    copula: Copula | None,
) -> Any:
    """The mean loss at each time; for a dict of models a dict, with one fit, and one status where it can be."""
    chosen = chosen_adjustment(how, copula)
    test, grid = Survival.coerce(y_test, "y_test"), TimeGrid.of(times)
    train = None if y_train is None else Survival.coerce(y_train, "y_train")
    several = isinstance(estimate, Mapping)
    if several and not estimate:
        raise ValueError("estimate is empty: at least one model is needed.")
    given = estimate if several else {"": estimate}
    predictions = {
        key: _named(str(key) if several else None, each, len(test), grid, x_test)
        for key, each in given.items()
    }
    found: dict[Any, Any] = {}
    samples = Samples(test, x_test, train, x_train)
    for models, _, status in samples.statuses(chosen, grid, predictions):
        curves = mean_losses(status, loss, list(models.values()))
        found |= dict(zip(models, curves, strict=True))
    return found if several else found[""]


def _named(name: str | None, estimate: Any, n: int, grid: TimeGrid, x_test: Any) -> Predictions:
    """Predictions whose refusal names their model, with a warning where rounding was mended."""
    called = "estimate" if name is None else f"estimate[{name!r}]"
    found = as_predictions(estimate, n, times=grid.times, X=x_test, name=called)
    if grid.last > found.end:
        raise ValueError(f"times must not pass {found.end:g}, the end of {called}, but reach {grid.last:g}.")
    if found.n_rounded:
        warnings.warn(
            f"{called} has {found.n_rounded} values that leave [0, 1] by less than 1e-6: they are read as 0 or 1.",
            PredictionWarning,
            stacklevel=4,
        )
    return found
