"""Which sample an adjustment is fitted to, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from cocensor.adjustments.base import Adjustment, Fitted
from cocensor.adjustments.status import Status
from cocensor.curves import Predictions, TimeGrid
from cocensor.outcomes import Survival

#: Models by name, the fit that serves them, and their status.
StatusOfModels = tuple[dict[Any, Predictions], Fitted, Status]


@dataclass(frozen=True, eq=False)
class Samples:
    """Test outcomes with their covariates, and a training sample where there is one.

    ``folds`` are labels of the fold that each test subject's prediction comes from, where these are out-of-fold.
    """

    y_test: Survival
    x_test: Any = field(default=None, repr=False)
    y_train: Survival | None = None
    x_train: Any = field(default=None, repr=False)
    folds: npt.NDArray[Any] | None = field(default=None, repr=False)

    def fit(self, adjustment: Adjustment, predictions: Mapping[Any, Predictions]) -> Fitted:
        """Fitted to the test sample if it needs predictions or there is no other, else to the training sample."""
        if adjustment.needs & {"prediction", "predictions"}:
            return adjustment.fit(self.y_test, self.x_test, predictions, self.folds)
        if self.y_train is not None:
            return adjustment.fit(self.y_train, self.x_train)
        if "covariates" in adjustment.needs and self.x_test is None:
            raise ValueError("x_test is needed: the adjustment is given covariates.")
        return adjustment.fit(self.y_test, self.x_test)

    def groups(
        self, adjustment: Adjustment, predictions: Mapping[Any, Predictions]
    ) -> list[dict[Any, Predictions]]:
        """Models that share a fit: each alone where it is given its own prediction, else all together."""
        if "prediction" in adjustment.needs:
            return [{name: each} for name, each in predictions.items()]
        return [dict(predictions)]

    def statuses(
        self, adjustment: Adjustment | Fitted, grid: TimeGrid, predictions: Mapping[Any, Predictions]
    ) -> Iterator[StatusOfModels]:
        """The status of every group of models that share one."""
        if isinstance(adjustment, Fitted):
            yield dict(predictions), adjustment, self.status(adjustment, grid)
            return
        for models in self.groups(adjustment, predictions):
            fitted = self.fit(adjustment, models)
            yield models, fitted, self.status(fitted, grid)

    def status(self, fitted: Fitted, grid: TimeGrid) -> Status:
        """Who of the test subjects is event-free."""
        return fitted.status(self.y_test, grid, self.x_test)
