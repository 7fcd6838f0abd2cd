"""Which sample an adjustment is fitted to, and how often."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import FitWarning, Rows, collected
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
    #: The last adjustment that rests on a copula and was fitted without a warning, what it was given, and the fit.
    _last: list[tuple[Adjustment, Mapping[Any, Predictions], Fitted]] = field(
        default_factory=list, init=False, repr=False
    )

    def fit(self, adjustment: Adjustment, predictions: Mapping[Any, Predictions]) -> Fitted:
        """Fitted to the test sample if it needs predictions or there is no other, else to the training sample.

        An adjustment that differs from the one before by its copula alone shares with it what does not depend on that.
        """
        if not adjustment.rests_on_copula:
            return self.fit_anew(adjustment, predictions)
        copula = getattr(adjustment, "copula", None)
        for before, given, fitted in self._last:
            alike = type(before) is type(adjustment) and before.with_copula(copula) == adjustment
            if (
                alike
                and given.keys() == predictions.keys()
                and all(given[k] is predictions[k] for k in given)
            ):
                return fitted.with_copula(copula)
        with collected(FitWarning) as warned:
            found = self.fit_anew(adjustment, predictions)
        self._last[:] = [] if warned else [(adjustment, dict(predictions), found)]
        for text in warned:
            warnings.warn(text, FitWarning, stacklevel=2)
        return found

    def fit_anew(self, adjustment: Adjustment, predictions: Mapping[Any, Predictions]) -> Fitted:
        """The same, whatever was fitted before; many threads may ask for it at once."""
        if adjustment.needs & {"prediction", "predictions"}:
            return adjustment.fit(self.y_test, self.x_test, predictions, self.folds)
        if self.y_train is not None:
            return adjustment.fit(self.y_train, self.x_train)
        if "covariates" in adjustment.needs and self.x_test is None:
            raise ValueError("x_test is needed: the adjustment conditions on covariates.")
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


@dataclass(frozen=True, eq=False)
class Resample:
    """Subjects drawn with replacement: rows of the test and of the training sample, and the samples of these."""

    test: Rows
    train: Rows | None
    samples: Samples

    @classmethod
    def draw(cls, samples: Samples, rng: np.random.Generator) -> Resample:
        """As many subjects as there are, from each sample on its own, unless the two are one and the same."""

        def drawn(n: int) -> Rows:
            return rng.integers(n, size=n)

        def taken(values: Any, rows: Rows | None) -> Any:
            return None if values is None or rows is None else values[rows]

        test, learned_from = drawn(len(samples.y_test)), samples.y_train
        train = None
        if learned_from is not None:
            train = test if learned_from.equals(samples.y_test) else drawn(len(learned_from))
        again = Samples(
            samples.y_test[test],
            taken(samples.x_test, test),
            taken(samples.y_train, train),
            taken(samples.x_train, train),
            taken(samples.folds, test),
        )
        return cls(test, train, again)

    def fitted_to(self, adjustment: Adjustment) -> Rows:
        """The rows drawn from the sample that an adjustment is fitted to."""
        by_test = adjustment.needs & {"prediction", "predictions"}
        return self.test if by_test or self.train is None else self.train
