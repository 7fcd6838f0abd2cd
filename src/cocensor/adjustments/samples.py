"""Which sample an adjustment is fitted to, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, Rows
from cocensor._parallel import one_blas_thread
from cocensor.adjustments.base import Adjustment, Fitted
from cocensor.adjustments.weights import EventWeights
from cocensor.data import Sample, Survival
from cocensor.data.predictions import Predicted
from cocensor.data.survival import sampling_weights
from cocensor.data.times import TimeGrid


@dataclass(frozen=True, eq=False)
class Samples:
    """The test sample, and a training sample where there is one."""

    test: Sample
    train: Sample | None = None
    #: By test subject a factor of its weight in scores, which fits do not know: 1 within a group, 0 elsewhere.
    within: FloatArray | None = None

    @classmethod
    def of(
        cls,
        y_test: Survival,
        x_test: Any = None,
        y_train: Survival | None = None,
        x_train: Any = None,
        folds: npt.NDArray[Any] | None = None,
        weights: Any = None,
        train_weights: Any = None,
    ) -> Samples:
        """Both samples from their parts; sampling weights are scaled in each."""
        for name, given in ("x_train", x_train), ("train_weights", train_weights):
            if y_train is None and given is not None:
                raise ValueError(f"y_train is needed where {name} is given.")
        test, train = (
            Sample(y_test, x_test, folds=folds),
            None if y_train is None else Sample(y_train, x_train),
        )
        if weights is not None:
            test = replace(test, weight=sampling_weights(weights, len(test), "weights", "y_test"))
        if train is not None and train_weights is not None:
            own = sampling_weights(train_weights, len(train), "train_weights", "y_train")
            train = replace(train, weight=own)
        return cls(test, train)

    @property
    def y_test(self) -> Survival:
        """The outcomes of the test sample."""
        return self.test.y

    @property
    def x_test(self) -> Any:
        """The covariates of the test sample; None where there are none."""
        return self.test.x

    @property
    def folds(self) -> npt.NDArray[Any] | None:
        """The fold of each test subject; None where predictions are not out-of-fold."""
        return self.test.folds

    @property
    def y_train(self) -> Survival | None:
        """The outcomes of the training sample; None where there is none."""
        return None if self.train is None else self.train.y

    @property
    def x_train(self) -> Any:
        """The covariates of the training sample; None where there are none."""
        return None if self.train is None else self.train.x

    @property
    def learned_from(self) -> Sample:
        """The training sample, or the test sample where there is no other."""
        return self.test if self.train is None else self.train

    def fit(self, adjustment: Adjustment | Fitted, predictions: Mapping[Any, Predicted]) -> Fitted:
        """The fit itself; or one to the test sample if it needs predictions or is alone, else to the training one."""
        if isinstance(adjustment, Fitted):
            return adjustment
        needs = adjustment.needs
        by_test = needs & {"prediction", "predictions"}
        sample = self.test if by_test or self.train is None else self.train
        if "covariates" in needs and not by_test and sample is self.test and sample.x is None:
            raise ValueError("x_test is needed: the adjustment conditions on covariates.")
        if by_test and self.train is not None and not self.train.y.equals(self.test.y):
            sample = replace(self.test, train=self.train)
        with one_blas_thread:
            return adjustment.fit_to(sample, predictions if by_test else {})

    def groups(
        self, adjustment: Adjustment | Fitted, predictions: Mapping[Any, Predicted]
    ) -> list[dict[Any, Predicted]]:
        """Models that share a fit: each alone where it is given its own prediction, else all together."""
        if isinstance(adjustment, Adjustment) and "prediction" in adjustment.needs:
            return [{name: predicted} for name, predicted in predictions.items()]
        return [dict(predictions)]

    def weights(self, fitted: Fitted, grid: TimeGrid) -> EventWeights:
        """The weights of the test subjects."""
        weights = fitted.weights(self.test.y, grid, self.test.x, weight=self.test.weight)
        return weights if self.within is None else weights.weighted(self.within)


@dataclass(frozen=True, eq=False)
class Resample:
    """Subjects drawn with replacement: rows of the test and of the training sample, and the samples of these."""

    test: Rows
    train: Rows | None
    samples: Samples

    @classmethod
    def draw(cls, samples: Samples, rng: np.random.Generator) -> Resample:
        """Draw as many subjects as there are, from each sample on its own, unless the two are one and the same."""
        test = train = rng.integers(len(samples.test), size=len(samples.test))
        within = None if samples.within is None else samples.within[test]
        if samples.train is None:
            return cls(test, None, Samples(samples.test[test], within=within))
        if not samples.train.y.equals(samples.test.y):
            train = rng.integers(len(samples.train), size=len(samples.train))
        return cls(test, train, Samples(samples.test[test], samples.train[train], within))

    def fitted_to(self, adjustment: Adjustment) -> Rows:
        """The rows drawn from the sample that an adjustment is fitted to."""
        by_test = adjustment.needs & {"prediction", "predictions"}
        return self.test if by_test or self.train is None else self.train
