"""From the arguments of a score to a status and predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor._parallel import one_blas_thread
from cocensor.adjustments import Adjustment, EventWeights, Fitted, adjustment
from cocensor.adjustments.gradient import Linearised
from cocensor.adjustments.samples import Samples
from cocensor.arrays import are_foreign, refuse_foreign
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.data.border import as_predictions
from cocensor.data.ids import subject_labels
from cocensor.data.predictions import Predicted, PredictionsAt
from cocensor.data.times import TimeGrid
from cocensor.inference import Influence
from cocensor.inference.influence import influence
from cocensor.metrics.array_scores import ArraysAsked
from cocensor.metrics.base import Metric
from cocensor.metrics.pointwise import Integration, PointwiseMetric, time_average, time_weights
from cocensor.warnings import PredictionWarning


def chosen_adjustment(how: str | Adjustment | Fitted, copula: Copula | None) -> Adjustment | Fitted:
    """An adjustment by name, at a copula where it rests on one, or the object itself."""
    if not isinstance(how, Adjustment | Fitted):
        return adjustment(how, copula=copula)
    if copula is not None:
        raise ValueError("copula must be None beside an adjustment object, which has its own.")
    return how


class OverTime(Protocol):
    """What has values at each time, or several at each: a metric, or a table of such."""

    def values_over_time(
        self, status: EventWeights, predictions: Mapping[Any, Predicted]
    ) -> Mapping[Any, FloatArray]:
        """By model, in the order of the times given."""

    def functionals_over_time(self, status: EventWeights, predictions: Mapping[Any, Predicted]) -> Linearised:
        """The same as functions of the weights."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What a score function is asked for, checked: one model or several, under one adjustment."""

    chosen: Adjustment | Fitted
    samples: Samples
    grid: TimeGrid
    predictions: dict[Any, Predicted]
    several: bool
    #: Whether the time was given as one number: what is found at it then has no axis of times.
    single: bool

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
        *,
        risk: bool = False,
    ) -> Asked:
        """From the arguments of a score function; ``risk`` says whether a risk score will do."""
        chosen = chosen_adjustment(how, copula)
        test, grid = Survival.coerce(y_test, "y_test"), TimeGrid.of(times)
        train = None if y_train is None else Survival.coerce(y_train, "y_train")
        several, single = isinstance(estimate, Mapping), np.ndim(times) == 0
        if several and not estimate:
            raise ValueError("estimate is empty: at least one model is needed.")
        given = estimate if several else {"": estimate}
        refuse_foreign(given, "this is")
        predictions = {
            key: _named(str(key) if several else None, each, test, grid, x_test, risk, single)
            for key, each in given.items()
        }
        return cls(chosen, Samples.of(test, x_test, train, x_train), grid, predictions, several, single)

    def over_time(self, metric: OverTime, return_influence: bool) -> Any:
        """The values at each time, in the order given, or at the single one; for a dict of models a dict."""
        values, moved = self._answer(
            metric.values_over_time, metric.functionals_over_time if return_influence else None
        )
        moved = {name: _where_defined(each, values[name]) for name, each in moved.items()}
        if self.single:
            moved = {name: each[0] if values[name].ndim == 1 else each for name, each in moved.items()}
            values = {name: _first(each) for name, each in values.items()}
        return self._returned(values, moved, return_influence)

    def averages(self, metric: PointwiseMetric, integration: Integration, return_influence: bool) -> Any:
        """The values averaged over time."""
        weights = time_weights(self.grid.sorted, integration)[:, None]
        functionals = partial(metric.functionals_by_time, weights=weights)
        values, moved = self._answer(metric.values_over_time, functionals if return_influence else None)
        averages = {name: time_average(self.grid.times, each, integration) for name, each in values.items()}
        return self._returned(averages, {name: each[0] for name, each in moved.items()}, return_influence)

    def values(self, metric: Metric, return_influence: bool) -> Any:
        """The value over all times."""

        def evaluated(status: EventWeights, predictions: Mapping[Any, Predicted]) -> dict[Any, float]:
            return {name: found.value for name, found in metric.evaluate(status, predictions).items()}

        values, moved = self._answer(
            evaluated, metric.functionals if return_influence else None, metric.grid(self.grid)
        )
        return self._returned(values, {name: each[0] for name, each in moved.items()}, return_influence)

    def each(
        self,
        find: Callable[[EventWeights, Mapping[Any, Predicted]], Mapping[Any, Any]],
        grid: TimeGrid | None = None,
    ) -> Any:
        """What a function finds of the models under a status, at other times where ``grid`` says so."""
        return self._returned(self._answer(find, None, grid)[0], {}, False)

    def with_mean(self, metric: Metric, return_influence: bool) -> Any:
        """The values at each time, and the value over all of them, as a pair."""

        def evaluated(status: EventWeights, predictions: Mapping[Any, Predicted]) -> dict[Any, Any]:
            found = metric.evaluate(status, predictions)
            return {name: (each.curve, each.value) for name, each in found.items()}

        at = 0 if self.single else slice(None)
        asked = (metric.functionals_over_time, metric.functionals) if return_influence else ()
        values, moved = self._answers(evaluated, *asked)
        pairs = {
            name: (_where_defined(over_time, values[name][0])[at], _where_defined(mean, values[name][1])[0])
            for name, (over_time, mean) in moved.items()
        }
        if self.single:
            values = {name: (_first(curve), mean) for name, (curve, mean) in values.items()}
        return self._returned(values, pairs, return_influence)

    def _answer(
        self,
        values: Callable[..., Mapping[Any, Any]],
        functionals: Callable[..., Linearised] | None,
        grid: TimeGrid | None = None,
    ) -> tuple[dict[Any, Any], dict[Any, Influence]]:
        """Values with one fit, and one status where it can be; and the influence on them, if asked for."""
        found, moved = self._answers(values, *(() if functionals is None else (functionals,)), grid=grid)
        return found, {name: each for name, (each,) in moved.items()}

    @one_blas_thread
    def _answers(
        self,
        values: Callable[..., Mapping[Any, Any]],
        *functionals: Callable[..., Linearised],
        grid: TimeGrid | None = None,
    ) -> tuple[dict[Any, Any], dict[Any, tuple[Influence, ...]]]:
        """Values, and the influence on each of some functionals."""
        found: dict[Any, Any] = {}
        moved: dict[Any, tuple[Influence, ...]] = {}
        for models, _, status in self.samples.weights_by_fit(
            self.chosen, grid or self.grid, self.predictions
        ):
            found |= values(status, models)
            if functionals:
                moves = [
                    influence(status, each(status, models), self.samples.y_test).split(len(models))
                    for each in functionals
                ]
                moved |= dict(zip(models, zip(*moves, strict=True), strict=True))
        return found, moved

    def _returned(self, values: dict[Any, Any], moved: dict[Any, Any], return_influence: bool) -> Any:
        found = (values, moved) if self.several else (values[""], moved.get(""))
        return found if return_influence else found[0]


def asked(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    how: str | Adjustment | Fitted,
    x_train: Any,
    x_test: Any,
    copula: Copula | None,
) -> Asked | ArraysAsked:
    """From the arguments of a score function that takes arrays of any library."""
    several = isinstance(estimate, Mapping)
    models = estimate if several else {"": estimate}
    if not are_foreign(models):
        return Asked.of(y_train, y_test, estimate, times, how, x_train, x_test, copula)
    train = None if y_train is None else Survival.coerce(y_train, "y_train")
    samples = Samples.of(Survival.coerce(y_test, "y_test"), x_test, train, x_train)
    chosen, grid = chosen_adjustment(how, copula), TimeGrid.of(times)
    return ArraysAsked.of(chosen, samples, grid, models, several=several, single=np.ndim(times) == 0)


def _where_defined(moved: Influence, values: FloatArray | float) -> Influence:
    """The influence on values, NaN on those that are not defined."""
    undefined = np.isnan(np.ravel(values))
    return moved * np.where(undefined, np.nan, 1.0) if undefined.any() else moved


def _first(values: FloatArray) -> Any:
    """What there is at the first time: a number, or an array of several."""
    return float(values[0]) if values.ndim == 1 else values[0]


def _named(
    name: str | None, estimate: Any, y: Survival, grid: TimeGrid, x_test: Any, risk: bool, single: bool
) -> Predicted:
    """Predictions whose refusal names their model, with a warning where rounding was mended, or their order."""
    called = "estimate" if name is None else f"estimate[{name!r}]"
    found = as_predictions(
        estimate,
        len(y),
        times=grid.times,
        X=x_test,
        labels=subject_labels(x_test, y.labels),
        name=called,
        risk=risk,
        column=single and not risk,
    )
    if grid.last > found.end:
        raise ValueError(f"times must not pass {found.end:g}, the end of {called}, but reach {grid.last:g}.")
    if isinstance(found, PredictionsAt) and not found.known_at(grid.times):
        other = grid.times[grid.times != found.time][0]
        raise ValueError(f"times must be {found.time:g}, the one time of {called}, but has {other:g}.")
    if found.matched == "labels":
        warnings.warn(
            f"{called} is put into the order of the test subjects by its labels.",
            PredictionWarning,
            stacklevel=4,
        )
    if found.n_rounded:
        warnings.warn(
            f"{called} has {found.n_rounded} values outside [0, 1] by less than 1e-6: they are read as 0 or 1.",
            PredictionWarning,
            stacklevel=4,
        )
    return found
