"""From the arguments of a score to a status and predictions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, PredictionWarning
from cocensor.adjustments import Adjustment, Fitted, Functionals, adjustment
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Copula
from cocensor.curves import Predictions, TimeGrid, as_predictions
from cocensor.inference import Influence, influence
from cocensor.metrics.kernel import Loss, LossGradient, mean_losses
from cocensor.metrics.pointwise import Integration, time_average, time_weights
from cocensor.outcomes import Survival


def chosen_adjustment(how: str | Adjustment | Fitted, copula: Copula | None) -> Adjustment | Fitted:
    """An adjustment by name, at a copula where it rests on one, or the object itself."""
    if not isinstance(how, Adjustment | Fitted):
        return adjustment(how, copula=copula)
    if copula is not None:
        raise ValueError("copula must be None beside an adjustment object, which has its own.")
    return how


@dataclass(frozen=True, eq=False)
class Asked:
    """What a score function is asked for, checked: one model or several, under one adjustment."""

    chosen: Adjustment | Fitted
    samples: Samples
    grid: TimeGrid
    predictions: dict[Any, Predictions]
    several: bool

    @classmethod
    def of(
        cls,
        y_train: Any,
        y_test: Any,
        estimate: Any,
        times: npt.ArrayLike,
        how: str | Adjustment | Fitted,
        x_train: Any,
        x_test: Any,
        copula: Copula | None,
    ) -> Asked:
        """From the arguments of a score function."""
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
        return cls(chosen, Samples(test, x_test, train, x_train), grid, predictions, several)

    def scores(self, loss: Loss, return_influence: bool) -> Any:
        """The mean loss at each time; for a dict of models a dict."""
        each_time = self.grid.restore(np.eye(self.grid.sorted.size))
        values, moved = self._answer(loss, each_time if return_influence else None)
        return self._returned(values, moved, return_influence)

    def averages(self, loss: Loss, integration: Integration, return_influence: bool) -> Any:
        """The mean loss averaged over time."""
        over_time = time_weights(self.grid.sorted, integration)[:, None]
        values, moved = self._answer(loss, over_time if return_influence else None)
        averages = {name: time_average(self.grid.times, each, integration) for name, each in values.items()}
        return self._returned(averages, {name: each[0] for name, each in moved.items()}, return_influence)

    def _answer(
        self, loss: Loss, weights: FloatArray | None
    ) -> tuple[dict[Any, FloatArray], dict[Any, Influence]]:
        """Scores at each time, with one fit, and one status where it can be; and the influence on weighted sums."""
        values: dict[Any, FloatArray] = {}
        moved: dict[Any, Influence] = {}
        for models, _, status in self.samples.statuses(self.chosen, self.grid, self.predictions):
            curves = mean_losses(status, loss, list(models.values()))
            values |= dict(zip(models, curves, strict=True))
            if weights is None:
                continue
            gradients = tuple(LossGradient(status, loss, each) for each in models.values())
            found = influence(status, Functionals(gradients, weights), self.samples.y_test)
            moved |= dict(zip(models, found.split(len(models)), strict=True))
        return values, moved

    def _returned(self, values: dict[Any, Any], moved: dict[Any, Any], return_influence: bool) -> Any:
        found = (values, moved) if self.several else (values[""], moved.get(""))
        return found if return_influence else found[0]


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
