"""The arguments of score functions, read into weights and predictions; times to score at."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, check_number, check_whole
from cocensor._namespaces import is_foreign
from cocensor._numerics import settled
from cocensor._parallel import one_blas_thread
from cocensor.adjustments import Adjustment, EventWeights, Fitted, adjustment
from cocensor.adjustments.gradient import Linearised
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Copula
from cocensor.data import RiskTable, Sample, Survival
from cocensor.data.border import as_predictions
from cocensor.data.predictions import Predicted, PredictionsAt
from cocensor.data.times import TimeGrid, shown_time
from cocensor.inference import Influence
from cocensor.inference.influence import influence
from cocensor.metrics.base import Metric, MetricValue, Models
from cocensor.metrics.kernel import Integration, PointwiseMetric, time_weights
from cocensor.metrics.tensors import ArraysAsked, ArrayTable, Asked, refuse_foreign, refuse_mixed
from cocensor.warnings import HorizonWarning, PredictionWarning

# A horizon with a smaller share at risk gives a warning, which names the largest time with a share that is enough.
_FEW = 0.01
_ENOUGH = 0.05

P = ParamSpec("P")
Model = TypeVar("Model")
Result = TypeVar("Result")
Moved = TypeVar("Moved")
ByName = Mapping[Model, Any]
Times = npt.ArrayLike


def chosen_adjustment(how: str | Adjustment | Fitted, copula: Copula | None) -> Adjustment | Fitted:
    """An adjustment by name, at a copula where it rests on one, or the object itself."""
    if not isinstance(how, Adjustment | Fitted):
        return adjustment(how, copula=copula)
    if copula is not None:
        raise ValueError("copula must be None beside an adjustment object, which has its own.")
    return how


Compute = Callable[[EventWeights, Models], Mapping[Any, Any]]


class OverTime(Protocol):
    """A metric with values at each time, or a table of such."""

    def values_over_time(self, status: EventWeights, predictions: Models) -> Mapping[Any, FloatArray]:
        """The values by model, in the order of the times given."""

    def functionals_over_time(self, status: EventWeights, predictions: Models) -> Linearised:
        """The values as functions of the weights."""


@dataclass(frozen=True, eq=False)
class ScoreRequest(Asked):
    """The checked arguments of a score function: one model or several, under one adjustment."""

    predictions: dict[Any, Predicted]

    def over_time(self, metric: OverTime) -> Any:
        """The values at each time, in the order given, or at the single one; for a dict of models a dict."""
        return self.each(metric.values_over_time, metric.functionals_over_time)

    def averages(self, metric: PointwiseMetric, integration: Integration) -> Any:
        """The values averaged over time."""
        weights = time_weights(self.grid.sorted, integration)
        functionals = partial(metric.functionals_by_time, weights=weights[:, None])
        return self.each(partial(metric.evaluate, weights=weights), functionals)

    def values(self, metric: Metric) -> Any:
        """The value over all times."""
        return self.each(metric.evaluate, metric.functionals, grid=metric.grid(self.grid))

    def each_time(self, compute: Compute) -> Any:
        """The result at each time: a list in the order given, or that of the single one."""

        def by_time(status: EventWeights, models: Models) -> dict[Any, Any]:
            n_times = status.grid.sorted.size
            results = [compute(status.at_columns(slice(k, k + 1)), models) for k in range(n_times)]
            places = range(n_times) if status.grid.place is None else status.grid.place
            listed = {name: [results[k][name] for k in places] for name in models}
            return {name: at_times[0] for name, at_times in listed.items()} if self.single else listed

        return self.each(by_time)

    @one_blas_thread
    def each(
        self, compute: Compute, *functionals: Callable[..., Linearised], grid: TimeGrid | None = None
    ) -> Any:
        """What is computed with one fit, at the times or a ``grid`` of others; with influences a pair."""
        values, moved, y = dict[Any, Any](), dict[Any, Any](), self.samples.test.y
        used = functionals if self.return_influence else ()
        for models in self.samples.groups(self.chosen, self.predictions):
            status = self.samples.weights(self.samples.fit(self.chosen, models), grid or self.grid)
            by_model = compute(status, models)
            lots = [influence(status, of(status, models), y).split(len(models)) for of in used]
            for name, *influences in zip(models, *lots, strict=True):
                value = by_model[name]
                value = value.value if isinstance(value, MetricValue) else value
                values[name] = self._at_the_one(value) if self.single else value
                if influences:
                    moved[name] = self._on(value, *influences)
        return self.returned(values, moved) if used else self.returned(values)

    def _at_the_one(self, value: Any) -> Any:
        """What there is of a value, or of values over time, at the single time: a number, or an array of several."""
        if isinstance(value, tuple):
            return tuple(map(self._at_the_one, value))
        if not isinstance(value, np.ndarray):
            return value
        return float(value[0]) if value.ndim == 1 else value[0]

    def _on(self, value: Any, *moved: Influence) -> Any:
        """The influence on a value, or on values over time; NaN where these are not defined."""
        if isinstance(value, tuple):
            return tuple(map(self._on, value, moved))
        undefined, [influence_on_value] = np.isnan(np.ravel(value)), moved
        if undefined.any():
            influence_on_value = influence_on_value * np.where(undefined, np.nan, 1.0)
        alone = np.ndim(value) == 0 or (self.single and value.ndim == 1)
        return influence_on_value[0] if alone else influence_on_value


class Assumed(TypedDict, total=False):
    """The arguments of a score function that are about the censoring; see :func:`brier_score`."""

    adjustment: str | Adjustment | Fitted
    x_train: Any
    x_test: Any
    copula: Copula | None


@dataclass(frozen=True, eq=False)
class Given:
    """The first arguments of a score function; see :func:`brier_score`."""

    y_train: Any
    y_test: Any
    estimate: Any
    times: npt.ArrayLike
    return_influence: bool = False

    def read(self, *, risk: bool = False, **how: Unpack[Assumed]) -> ScoreRequest:
        """The request, of arrays of numpy; ``risk`` says whether a risk score will do."""
        return cast(ScoreRequest, self.read_arrays(**how, numpy_alone=True, risk=risk))

    def read_arrays(
        self, *, numpy_alone: bool = False, risk: bool = False, **how: Unpack[Assumed]
    ) -> ScoreRequest | ArraysAsked:
        """The request, of arrays of any library."""
        asked = self.asked(**how)
        models = self.estimate if asked.several else {"": self.estimate}
        if not models:
            raise ValueError("estimate is empty: at least one model is needed.")
        names = {key: f"estimate[{str(key)!r}]" if asked.several else "estimate" for key in models}
        foreign = [key for key, estimate in models.items() if is_foreign(estimate)]
        if foreign and numpy_alone:
            refuse_foreign(models[foreign[0]], "this is")
        if foreign:
            refuse_mixed(models, foreign)
            tables = {key: ArrayTable.of(table, names[key], asked) for key, table in models.items()}
            return ArraysAsked(**vars(asked), tables=tables)
        test, grid, predictions = asked.samples.test, asked.grid, dict[Any, Predicted]()
        given: dict[str, Any] = {"times": grid.times, "X": test.x, "labels": test.labels, "risk": risk}
        for key, estimate in models.items():
            name, column = names[key], asked.single and not risk
            predicted = as_predictions(estimate, len(test.y), name=name, column=column, **given)
            end, last = predicted.end, grid.last
            if last > end:
                raise ValueError(f"times must not pass {end:g}, the end of {name}, but reach {last:g}.")
            if isinstance(predicted, PredictionsAt) and not predicted.known_at(grid.times):
                other = grid.times[grid.times != predicted.time][0]
                raise ValueError(
                    f"times must be {predicted.time:g}, the one time of {name}, but has {other:g}."
                )
            if predicted.matched == "labels":
                message = f"{name} is put into the order of the test subjects by its labels."
                warnings.warn(message, PredictionWarning, stacklevel=4)
            if n := predicted.n_rounded:
                message = f"{name} has {n} values outside [0, 1] by less than 1e-6: they are read as 0 or 1."
                warnings.warn(message, PredictionWarning, stacklevel=4)
            predictions[key] = predicted
        return ScoreRequest(**vars(asked), predictions=predictions)

    def asked(
        self,
        *,
        adjustment: str | Adjustment | Fitted = "ipcw",
        x_train: Any = None,
        x_test: Any = None,
        copula: Copula | None = None,
    ) -> Asked:
        """All that does not depend on the predictions."""
        train = None if self.y_train is None else Survival.coerce(self.y_train, "y_train")
        samples = Samples.of(Survival.coerce(self.y_test, "y_test"), x_test, train, x_train)
        several, single = isinstance(self.estimate, Mapping), np.ndim(self.times) == 0
        chosen, grid = chosen_adjustment(adjustment, copula), TimeGrid.of(self.times)
        return Asked(chosen, samples, grid, several, single, self.return_influence)


class ResultFunction(Protocol[P, Result]):
    """A score function that gives one result for each model."""

    @overload
    def __call__(
        self, y_train: Any, y_test: Any, estimate: ByName[Model], times: Times, *a: P.args, **k: P.kwargs
    ) -> dict[Model, Result]: ...

    @overload
    def __call__(
        self, y_train: Any, y_test: Any, estimate: Any, times: Times, *a: P.args, **k: P.kwargs
    ) -> Result: ...


class ScoreFunction(Protocol[P, Result, Moved]):
    """One that gives the influence of subjects beside it where a keyword asks for it."""

    @overload
    def __call__(
        self,
        y_train: Any,
        y_test: Any,
        estimate: ByName[Model],
        times: Times,
        return_influence: Literal[True],
        *a: P.args,
        **k: P.kwargs,
    ) -> tuple[dict[Model, Result], dict[Model, Moved]]: ...

    @overload
    def __call__(
        self,
        y_train: Any,
        y_test: Any,
        estimate: Any,
        times: Times,
        return_influence: Literal[True],
        *a: P.args,
        **k: P.kwargs,
    ) -> tuple[Result, Moved]: ...

    @overload
    def __call__(
        self, y_train: Any, y_test: Any, estimate: ByName[Model], times: Times, *a: P.args, **k: P.kwargs
    ) -> dict[Model, Result]: ...

    @overload
    def __call__(
        self, y_train: Any, y_test: Any, estimate: Any, times: Times, *a: P.args, **k: P.kwargs
    ) -> Result: ...


def score_function(body: Callable[Concatenate[Given, P], Result]) -> ScoreFunction[P, Result, Influence]:
    """Return a score function with influences: one value, or an array of several, for each model."""
    return cast(ScoreFunction[P, Result, Influence], _with_all_arguments(body, influence=True))


def two_scores_function(
    body: Callable[Concatenate[Given, P], Result],
) -> ScoreFunction[P, Result, tuple[Influence, Influence]]:
    """Return a score function with influences, of which those on a pair are a pair."""
    return cast(ScoreFunction[P, Result, tuple[Influence, Influence]], score_function(body))


def result_function(body: Callable[Concatenate[Given, P], Result]) -> ResultFunction[P, Result]:
    """Return a score function that gives one result for each model."""
    return cast(ResultFunction[P, Result], _with_all_arguments(body))


def _with_all_arguments(body: Callable[..., Any], *, influence: bool = False) -> Callable[..., Any]:
    """A function with all arguments of a score function, made of one that takes a :class:`Given` and settings."""
    given, asked, own = (dict(signature(function).parameters) for function in (Given, Given.asked, body))
    moved = given.pop("return_influence")
    parameters = [*given.values(), *(asked[name] for name in Assumed.__annotations__)]
    parameters += [parameter for name, parameter in own.items() if name not in ("given", "how")]
    shared = [*given, *(["return_influence"] if influence else [])]
    parameters += [moved.replace(kind=Parameter.KEYWORD_ONLY)] if influence else []
    parameters.sort(key=lambda parameter: parameter.kind)
    shown = Signature(parameters, return_annotation=signature(body).return_annotation)

    @wraps(body)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            arguments = shown.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{body.__name__}() is called wrongly: {error}.") from None
        first = {name: arguments.pop(name) for name in shared if name in arguments}
        return body(Given(**first), **arguments)

    function.__signature__ = shown  # type: ignore[attr-defined]
    return function


def time_grid(
    y_train: Any, y_test: Any = None, n: int = 100, horizon: str | float | Mapping[str, float] = "t_max"
) -> FloatArray:
    """``n`` equally spaced times from 0 to the horizon.

    One that meets an observed time up to rounding (1e-9 of itself) is that time: scores do not depend on the unit.

    Parameters
    ----------
    y_train, y_test : Survival, structured array or tuple
        With test outcomes, the horizon is one that both samples reach.
    horizon : "t_max", number, or {"at_risk": share}
        The largest observed time; a time; or the largest observed time with at least that share still at risk.
    n : int
        How many times.

    Returns
    -------
    array of shape (n,)

    Notes
    -----
    A horizon with fewer than 1% at risk gives a :class:`HorizonWarning` that names the largest time with 5%: scores
    beyond rest on a handful of subjects.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import time_grid
    >>> y = (np.arange(1.0, 101.0), np.ones(100, bool))
    >>> time_grid(y, n=5, horizon={"at_risk": 0.2})
    array([ 0.  , 20.25, 40.5 , 60.75, 81.  ])
    """
    samples = [Sample(Survival.coerce(y_train, "y_train"))]
    if y_test is not None:
        samples.append(Sample(Survival.coerce(y_test, "y_test")))
    return grid_of(samples, n, horizon)


def grid_of(samples: Sequence[Sample], n: int, horizon: str | float | Mapping[str, float]) -> FloatArray:
    """Return the times of :func:`time_grid` for samples, whose subjects count by their weights."""
    n, tables = check_whole(n, "n", 2), [sample.risk_table for sample in samples]
    if isinstance(horizon, str) and horizon == "t_max":
        end = float(min(table.times[-1] for table in tables))
    elif isinstance(horizon, Mapping) and set(horizon) == {"at_risk"}:
        share = check_number(horizon["at_risk"], "horizon['at_risk']", lower=0.0, upper=1.0)
        end = min(_last_with(table, share) for table in tables)
    elif isinstance(horizon, str | Mapping):
        raise ValueError(f"horizon must be 't_max', a time or {{'at_risk': share}}, but is {horizon!r}.")
    else:
        end = check_number(horizon, "horizon", lower=0.0)
    if end == 0:
        raise ValueError("horizon must be positive, but the samples reach only time 0.")
    grid = settled(np.linspace(0.0, end, n), np.unique(np.concatenate([table.times for table in tables])))
    end = float(grid[-1])
    if any(table.at_risk_at(end) / table.n < _FEW for table in tables):
        better = min(_last_with(table, _ENOUGH) for table in tables)
        warnings.warn(
            f"at the horizon {shown_time(end)} fewer than {_FEW:.0%} are at risk; until {shown_time(better)} "
            f"at least {_ENOUGH:.0%} are: horizon={{'at_risk': {_ENOUGH:g}}}.",
            HorizonWarning,
            stacklevel=3,
        )
    return grid


def _last_with(table: RiskTable, share: float) -> float:
    """The largest observed time at which at least ``share`` are at risk."""
    enough = share * table.n * (1.0 - 1e-12)  # 0.07 · 100 is more than 7 in floating point
    return float(table.times[np.flatnonzero(table.at_risk >= enough)[-1]])
