"""From the arguments of a score to a status and predictions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from inspect import Signature, signature
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor._parallel import one_blas_thread
from cocensor.adjustments import Adjustment, EventWeights, Fitted, adjustment
from cocensor.adjustments.gradient import Linearised
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.data.border import as_predictions
from cocensor.data.ids import subject_labels
from cocensor.data.predictions import Predicted, PredictionsAt
from cocensor.data.times import TimeGrid
from cocensor.inference import Influence
from cocensor.inference.influence import influence
from cocensor.metrics.base import Metric
from cocensor.metrics.pointwise import Integration, PointwiseMetric, time_average, time_weights
from cocensor.metrics.tensors import ArraysAsked, are_foreign, refuse_foreign
from cocensor.warnings import PredictionWarning

Settings = ParamSpec("Settings")
Model = TypeVar("Model")
Result = TypeVar("Result")


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
        *,
        adjustment: str | Adjustment | Fitted = "ipcw",
        x_train: Any = None,
        x_test: Any = None,
        copula: Copula | None = None,
        risk: bool = False,
    ) -> Asked:
        """From the arguments of a score function; ``risk`` says whether a risk score will do."""
        chosen = chosen_adjustment(adjustment, copula)
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
        return self.returned(values, moved, return_influence)

    def averages(self, metric: PointwiseMetric, integration: Integration, return_influence: bool) -> Any:
        """The values averaged over time."""
        weights = time_weights(self.grid.sorted, integration)[:, None]
        functionals = partial(metric.functionals_by_time, weights=weights)
        values, moved = self._answer(metric.values_over_time, functionals if return_influence else None)
        averages = {name: time_average(self.grid.times, each, integration) for name, each in values.items()}
        return self.returned(averages, {name: each[0] for name, each in moved.items()}, return_influence)

    def values(self, metric: Metric, return_influence: bool) -> Any:
        """The value over all times."""

        def evaluated(status: EventWeights, predictions: Mapping[Any, Predicted]) -> dict[Any, float]:
            return {name: found.value for name, found in metric.evaluate(status, predictions).items()}

        values, moved = self._answer(
            evaluated, metric.functionals if return_influence else None, metric.grid(self.grid)
        )
        return self.returned(values, {name: each[0] for name, each in moved.items()}, return_influence)

    def each(
        self,
        find: Callable[[EventWeights, Mapping[Any, Predicted]], Mapping[Any, Any]],
        grid: TimeGrid | None = None,
    ) -> Any:
        """What a function finds of the models under a status, at other times where ``grid`` says so."""
        return self.returned(self._answer(find, None, grid)[0], {}, False)

    def each_time(self, find: Callable[[EventWeights, Mapping[Any, Predicted]], Mapping[Any, Any]]) -> Any:
        """What a function finds of the models at each time: a list in the order given, or that of the single one."""

        def by_time(status: EventWeights, models: Mapping[Any, Predicted]) -> dict[Any, Any]:
            each = [find(status.at_columns(slice(k, k + 1)), models) for k in range(status.grid.sorted.size)]
            places = range(len(each)) if status.grid.place is None else status.grid.place
            return {
                name: each[0][name] if self.single else [each[k][name] for k in places] for name in models
            }

        return self.each(by_time)

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
        return self.returned(values, pairs, return_influence)

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

    def returned(self, values: dict[Any, Any], moved: dict[Any, Any], return_influence: bool) -> Any:
        """What a score function returns of the values of all models, and the influences on them."""
        found = (values, moved) if self.several else (values[""], moved.get(""))
        return found if return_influence else found[0]


class Assumed(TypedDict, total=False):
    """The arguments of a score function that are about the censoring; see :func:`brier_score`."""

    adjustment: str | Adjustment | Fitted
    x_train: Any
    x_test: Any
    copula: Copula | None


class Given(NamedTuple):
    """The first arguments of a score function; see :func:`brier_score`."""

    y_train: Any
    y_test: Any
    estimate: Any
    times: npt.ArrayLike

    def read(self, *, risk: bool = False, **assumed: Unpack[Assumed]) -> Asked:
        """What is asked for, of arrays of numpy; ``risk`` says whether a risk score will do."""
        return Asked.of(*self, risk=risk, **assumed)

    def read_arrays(self, **assumed: Unpack[Assumed]) -> Asked | ArraysAsked:
        """What is asked for, of arrays of any library."""
        several = isinstance(self.estimate, Mapping)
        models = self.estimate if several else {"": self.estimate}
        if not are_foreign(models):
            return self.read(**assumed)
        train = None if self.y_train is None else Survival.coerce(self.y_train, "y_train")
        test = Survival.coerce(self.y_test, "y_test")
        samples = Samples.of(test, assumed.get("x_test"), train, assumed.get("x_train"))
        chosen = chosen_adjustment(assumed.get("adjustment", "ipcw"), assumed.get("copula"))
        single = np.ndim(self.times) == 0
        return ArraysAsked.of(
            chosen, samples, TimeGrid.of(self.times), models, several=several, single=single
        )


class ScoreFunction(Protocol[Settings]):
    """A score function with settings of its own."""

    def __call__(
        self,
        y_train: Any,
        y_test: Any,
        estimate: Any,
        times: npt.ArrayLike,
        *args: Settings.args,
        **kwargs: Settings.kwargs,
    ) -> Any:
        """The score of one model, or a dict of those of several; with influences a pair of such."""


class ResultFunction(Protocol[Settings, Result]):
    """A score function that gives one result for each model."""

    @overload
    def __call__(
        self,
        y_train: Any,
        y_test: Any,
        estimate: Mapping[Model, Any],
        times: npt.ArrayLike,
        *args: Settings.args,
        **kwargs: Settings.kwargs,
    ) -> dict[Model, Result]: ...

    @overload
    def __call__(
        self,
        y_train: Any,
        y_test: Any,
        estimate: Any,
        times: npt.ArrayLike,
        *args: Settings.args,
        **kwargs: Settings.kwargs,
    ) -> Result: ...


def score_function(scored: Callable[Concatenate[Given, Settings], Any]) -> ScoreFunction[Settings]:
    """A function with all arguments of a score function, made of one that takes a :class:`Given` and settings."""
    body: Callable[..., Any] = scored
    shared, own = signature(Asked.of).parameters, signature(body).parameters
    parameters = [shared[name] for name in (*Given._fields, *Assumed.__annotations__)]
    parameters += [parameter for name, parameter in own.items() if name not in ("given", "assumed")]
    parameters.sort(key=lambda parameter: parameter.kind)
    shown = Signature(parameters, return_annotation=signature(body).return_annotation)

    @wraps(body)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            arguments = shown.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{body.__name__}() is called wrongly: {error}.") from None
        given = Given(*(arguments.pop(name) for name in Given._fields))
        return body(given, **arguments)

    function.__signature__ = shown  # type: ignore[attr-defined]
    return function


def result_function(
    body: Callable[Concatenate[Given, Settings], Result],
) -> ResultFunction[Settings, Result]:
    """The same of a function that gives one result for each model."""
    typed: Any = score_function(body)
    function: ResultFunction[Settings, Result] = typed
    return function


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
