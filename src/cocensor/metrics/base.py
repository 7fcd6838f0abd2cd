"""The base of all metrics, and of those whose value at a time compares all subjects with each other.

Sampling errors are made of derivatives by the weights of each subject, who are all taken at a few times at once: there
is never a further array of all subjects and times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from math import isnan
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar, cast

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, as_times, check_number
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import DenseGradient, Functionals, Linearised, Part
from cocensor.adjustments.weights import Tile
from cocensor.data import Predictions
from cocensor.data.predictions import Predicted, RiskScores
from cocensor.data.times import TimeGrid, with_unit
from cocensor.inference.comparisons import Direction
from cocensor.metrics.ranks import Order, orders_of

Model = TypeVar("Model")
Result = TypeVar("Result")
#: What each model predicts, by its name.
Models = Mapping[Any, Predicted]
#: Whether single times ask for a metric: never; it has values at such alone; or beside its value over all times.
SingleTimes = Literal["never", "only", "also"]
# Derivatives of several values at one time are held at once while they are no more numbers than this.
_HELD_ELEMENTS = 2**23
Kind = Literal["overall", "discrimination", "calibration", "benefit"]
ProfileStyle = Literal["line", "roc", "calibration", "decision", "levels"]


class Profile(NamedTuple):
    """A curve behind a value at one time, over something else than time; see ``Metric.profile_labels``."""

    x: FloatArray
    y: FloatArray


@dataclass(frozen=True, eq=False)
class MetricValue:
    """The value of a metric for one model: one number, and where it is a summary over time, the values it sums up.

    Parameters
    ----------
    value : float
        The number.
    curve : array of shape (n_times,), optional
        A value for each time of the status, in the order given.
    profile : Profile, optional
        The curve behind a value at one time, such as the ROC curve.

    Examples
    --------
    >>> from cocensor.metrics import MetricValue
    >>> MetricValue(0.25).value
    0.25
    """

    value: float
    curve: FloatArray | None = field(default=None, repr=False)
    profile: Profile | None = field(default=None, repr=False)


#: Values by model, and these as functions of the weights where that comes on the way.
Scored = tuple[dict[str, MetricValue], Linearised | None]


class Accumulator(Protocol):
    """Sums that give a metric of several ``models`` under one fit: picklable, and small."""

    models: tuple[str, ...]

    @property
    def covariance(self) -> FloatArray | None:
        """The covariance of the own parts of all subjects, by model; None where they are not known."""

    def update(self, status: EventWeights, predictions: Models) -> None:
        """Add the subjects of a batch."""

    def merge(self, other: Self) -> None:
        """Add the sums of another."""

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values by model, where ``until`` is from when on there are none."""


class Metric(ABC):
    """A score of predictions that reads a :class:`EventWeights`, and nothing else, about the censoring.

    A value: a frozen dataclass, whose fields are its settings. Subclasses define :meth:`evaluate`, and for intervals
    from formulas :meth:`functionals`; without, there is the bootstrap. A status hands out the weights of all subjects
    block by block (``status.blocks()``), or as arrays (``status.a``, ``status.b``); predictions are read by
    ``predictions.read(times, rows)``.

    Attributes
    ----------
    name, label : str
        By which it is asked for, and what it is called in tables.
    kind : {"overall", "discrimination", "calibration", "benefit"} or None
        What it is about: the section of the report that it is in (the overall scores have none of their own), and the
        verb of sentences, as in "ranks subjects better than".
    in_brief : str
        What it is, as the end of a sentence that begins "It is", such as "the mean squared error of …".
    explanation : pair of str or None
        What it is called where it is explained, and the explanation.
    curve_label : str or None
        What its values over time are called; None where there are none.
    direction : {"lower", "higher"}
        Which values are better.
    range : pair of float
        Between which values it lies, given weights that are probabilities.
    noise : float
        Values that lie within so many standard errors of the lower end of the range may be noise alone: their
        intervals begin there.
    needs_curves : bool
        Whether a model must predict survival curves; if not, one risk score per subject will do.
    single_times : {"never", "only", "also"}
        Whether single times (``at`` of :func:`evaluate`) ask for it: never; it has values at such alone; or these
        come in place of its value over all times, or beside it among the default metrics.
    profile_labels : pair of str or None
        What the curve behind a value runs over, and what it shows.
    profile_range : pair of float
        Between which values that curve lies.
    profile_style : {"line", "roc", "calibration", "decision", "levels"}
        How that curve is drawn: as a line, a ROC, calibration or decision curve, or as bars.
    has_skill : bool
        Whether a value can be held against that of a curve which is alike for all; not where such a curve is as good
        as any, as by calibration, nor where no model can have the best value.
    mean_of_losses : bool
        Whether it is a mean over subjects of losses, and so linear in the weights of a status, all of which are in one
        part of :meth:`functionals`: then it has sharp bounds without any assumption (:meth:`Evaluation.bounds`).
    undefined : str
        Where it has no value, in words.
    at : float or None
        The time of its value, where that is at a single one which was chosen.
    unit : str or None
        The unit of that time, which the label then says.

    Examples
    --------
    The mean predicted chance of being event-free, held against the share that is:

    >>> from dataclasses import dataclass
    >>> import cocensor as cc
    >>> @dataclass(frozen=True)
    ... class CalibrationInTheLarge(cc.metrics.Metric):
    ...     name, label, direction, range = "in_the_large", "calibration in the large", "lower", (0.0, 1.0)
    ...     def evaluate(self, status, predictions):
    ...         free = status.a.sum(axis=0) / status.normaliser
    ...         means = {name: p.read(status.times, slice(None)).mean(axis=0) for name, p in predictions.items()}
    ...         return {name: cc.metrics.MetricValue(float(abs(mean - free).mean())) for name, mean in means.items()}
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> result = cc.evaluate({"flat": [[0.7, 0.4]] * 4}, y, times=[1.5, 3.5], adjustments="ipcw",
    ...                      metrics=CalibrationInTheLarge(), confidence_level=None)
    >>> round(float(result.score("flat")), 4)
    0.0375
    """

    name: ClassVar[str]
    label: ClassVar[str]
    curve_label: ClassVar[str | None] = None
    kind: ClassVar[Kind | None] = None
    in_brief: ClassVar[str] = ""
    explanation: ClassVar[tuple[str, str] | None] = None
    direction: ClassVar[Direction]
    range: ClassVar[tuple[float, float]]
    noise: ClassVar[float] = 0.0
    needs_curves: ClassVar[bool] = True
    single_times: ClassVar[SingleTimes] = "never"
    profile_labels: ClassVar[tuple[str, str] | None] = None
    profile_range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    profile_style: ClassVar[ProfileStyle] = "line"
    has_skill: ClassVar[bool] = True
    mean_of_losses: ClassVar[bool] = False
    undefined: ClassVar[str] = "these weights give it no value"
    at: float | None = None
    unit: str | None = None

    @abstractmethod
    def evaluate(self, status: EventWeights, predictions: Models) -> dict[str, MetricValue]:
        """The values of several models under one and the same status."""

    def evaluate_linearised(self, status: EventWeights, predictions: Models) -> Scored:
        """The values, and these as functions of the weights where that comes on the way; else None."""
        return self.evaluate(status, predictions), None

    def grid(self, times: TimeGrid) -> TimeGrid:
        """The times at which it needs a status, out of those of an evaluation: all, unless it says otherwise."""
        return times

    def can_score(self, predictions: Predicted, times: TimeGrid) -> bool:
        """Whether what one model predicts is enough for it at the ``times`` of an evaluation."""
        if isinstance(predictions, RiskScores):
            return not self.needs_curves
        return isinstance(predictions, Predictions) or predictions.known_at(self.grid(times).times)

    def at_time(self, t: float) -> Metric:
        """The metric whose value is the one of this metric at one time, where it has values over time."""
        raise ValueError(f"metric must have values over time, but {self.name!r} has none.")

    def in_unit(self, unit: str | None) -> Self:
        """Return the metric with the unit of time in its label, where that has a time."""
        return self

    def values_over_time(self, status: EventWeights, predictions: Models) -> dict[str, FloatArray]:
        """The values of several models at each time of the status, where the metric has such."""
        raise ValueError(f"metric must have values over time, but {self.name!r} has none.")

    def functionals(self, status: EventWeights, predictions: Models) -> Linearised:
        """The values of several models as functions of the weights of a status: what intervals rest on."""
        linearised = self.evaluate_linearised(status, predictions)[1]
        if linearised is None:
            raise ValueError(f"the metric {self.name!r} has no analytic gradient.")
        return linearised

    def functionals_over_time(self, status: EventWeights, predictions: Models) -> Linearised:
        """The values at each time of the status as functions of its weights, all of the first model first."""
        raise ValueError(f"the metric {self.name!r} has no analytic gradient.")

    def profile_functionals(self, status: EventWeights, predictions: Models) -> Linearised:
        """The curves behind the values as functions of the weights, all of the first model first."""
        raise ValueError(f"the metric {self.name!r} has no analytic gradient of the curve behind it.")

    def accumulator(self, grid: TimeGrid, models: Sequence[str], n: int) -> Accumulator | None:
        """Return sums over batches of ``n`` subjects in all; None where all are taken at once, or losses averaged."""
        return None

    @property
    def family(self) -> str:
        """Its name without a time."""
        return type(self).name

    @property
    def best(self) -> float:
        """The value that no prediction can better."""
        return self.range[0] if self.direction == "lower" else self.range[1]

    def skill(self, value: float, reference: float) -> float:
        r"""The share :math:`(v - r)/(v^* - r)` of the way from a reference r to the best value, or NaN."""
        way = self.best - reference
        return (value - reference) / way if self.has_skill and np.isfinite(way) and way != 0 else np.nan

    def ranks(self, values: Mapping[str, float]) -> dict[str, int]:
        """1 for the best; equal values share the better rank, and those without a value have none."""
        sign = 1.0 if self.direction == "lower" else -1.0
        losses = {name: sign * value for name, value in values.items() if not isnan(value)}
        ordered = sorted(losses.values())
        return {name: 1 + bisect_left(ordered, loss) for name, loss in losses.items()}


class SingleTime(Metric):
    """A metric with a field ``at``: the time of its value, or None for the last of an evaluation."""

    single_times: ClassVar[SingleTimes] = "only"

    def __post_init__(self) -> None:
        kind = type(self)
        self._check_time(kind.name, kind.curve_label or kind.label)

    def _check_time(self, name: str, label: str) -> None:
        """Check the time, and take it into the name, which sets several apart."""
        if self.at is not None:
            at = float(as_times(np.asarray(check_number(self.at, "at")), "at"))
            object.__setattr__(self, "at", at)
            object.__setattr__(self, "name", f"{name} at {time_in_name(at)}")
            object.__setattr__(self, "label", f"{label} at {time_in_label(at, self.unit)}")

    def grid(self, times: TimeGrid) -> TimeGrid:
        """The one time."""
        at, last = self.at, times.last
        if at is not None and at > last:
            raise ValueError(f"at must not pass {last:g}, the last time of the evaluation, but is {at:g}.")
        return TimeGrid.of([last if at is None else at])

    def at_time(self, t: float) -> Self:
        """Return the metric at another time."""
        return cast(Self, replace(cast(Any, self), at=t))

    def in_unit(self, unit: str | None) -> Self:
        """Return the metric with the unit of its time in its label."""
        if unit is None or self.at is None:
            return self
        labelled = copy(self)
        object.__setattr__(labelled, "unit", unit)
        labelled.__post_init__()
        return labelled


def time_in_name(at: float) -> str:
    """Return a time as it stands in the name of a metric."""
    return f"{at:.15g}" if at.is_integer() else f"{at:g}"


def time_in_label(at: float, unit: str | None) -> str:
    """Return a time as it stands in the label of a metric."""
    return with_unit([time_in_name(at)], unit)


def label_without_time(metric: Any) -> str:
    """Return the label of a metric, without the time where it ends by that."""
    label: str = metric.label
    return label if metric.at is None else label.removesuffix(f" at {time_in_label(metric.at, metric.unit)}")


@dataclass(frozen=True, eq=False)
class Section:
    """All subjects at one time: the weights a ("event-free") and b ("event"), and what one model predicts."""

    time: float
    event_free: FloatArray
    event: FloatArray
    predictions: Predicted
    normaliser: float
    #: The sampling weights; None for 1 each.
    sampling: FloatArray | None
    #: The curves at several times, a row for each; ``_column`` is the row of this time.
    _curves: Callable[[], FloatArray]
    _column: int
    _results: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def weight(self) -> FloatArray:
        """The sampling weights, also where they are 1."""
        return np.ones(self.event.size) if self.sampling is None else self.sampling

    @property
    def shares(self) -> FloatArray:
        """The sampling weights over their mean: how much more than others each subject counts in a mean."""
        return self.weight * (self.event.size / self.weight.sum())

    def mean(self, values: FloatArray) -> float:
        """The mean of some values over subjects."""
        return float(values.mean() if self.sampling is None else self.shares @ values / values.size)

    @cached_property
    def survival(self) -> FloatArray:
        """The predicted probabilities to be event-free."""
        return self._curves()[self._column]

    @cached_property
    def marker(self) -> FloatArray:
        """The marker that orders the subjects by their predicted risk: the higher, the riskier."""
        predictions = self.predictions
        return predictions.risk if isinstance(predictions, RiskScores) else -self.survival

    @cached_property
    def order(self) -> Order:
        """The subjects in the order of their predicted risk."""
        key = "risk" if isinstance(self.predictions, RiskScores) else self.time
        return orders_of(self.predictions).of(key, lambda: self.marker)

    def once(self, compute: Callable[[Section], Result]) -> Result:
        """The result of a function of the section, computed once."""
        if compute not in self._results:
            self._results[compute] = compute(self)
        return self._results[compute]


def sections(status: EventWeights, tile: Tile, predictions: Predicted) -> Iterator[tuple[int, Section]]:
    """Yield the sections of a tile before the status ends, each with its place among the sorted times."""
    times = status.grid.sorted[tile.columns]
    times = times[times < status.valid_until]

    @cache
    def curves() -> FloatArray:
        return np.ascontiguousarray(predictions.read(times, slice(None)).T)

    for k, (time, a, b) in enumerate(zip(times, *tile.by_time, strict=False)):
        section = Section(float(time), a, b, predictions, status.normaliser, status.weight, curves, k)
        yield tile.columns.start + k, section


def by_section(
    status: EventWeights, predictions: Mapping[Model, Predicted], tiles: Iterator[Tile] | None = None
) -> Iterator[tuple[Model, int, Section]]:
    """Yield all sections before the status ends: the model, the place among the sorted times, and the section."""
    for tile in status.tiles() if tiles is None else tiles:
        for name, predicted in predictions.items():
            for k, section in sections(status, tile, predicted):
                yield name, k, section


def over_sections(
    status: EventWeights,
    predictions: Mapping[Model, Predicted],
    compute: Callable[[Section], FloatArray | Sequence[float]],
    size: int,
) -> dict[Model, FloatArray]:
    """Return values of each section by model, (size, times in the order given); NaN after the end of the status."""
    values = {name: np.full((size, status.grid.sorted.size), np.nan) for name in predictions}
    for name, k, section in by_section(status, predictions):
        values[name][:, k] = compute(section)
    return {name: status.grid.restore(by_time) for name, by_time in values.items()}


class Linear(NamedTuple):
    """A value and its derivatives by the weights of each subject, and by its presence where that is not by these alone.

    ``own`` are the latter, times the number of subjects (see :class:`~cocensor.adjustments.Functionals`).
    """

    value: float
    event_free: FloatArray
    event: FloatArray
    own: FloatArray | None = None

    @classmethod
    def undefined(cls, n: int) -> Linear:
        """NaN, which nothing moves."""
        return cls(np.nan, *np.zeros((2, n)))

    def presence(self, event_free: FloatArray, event: FloatArray) -> FloatArray:
        """The derivative by the presence of each subject, times their number, from the weights of the subjects."""
        if self.own is not None:
            return self.own
        return event_free.size * (event_free * self.event_free + event * self.event)


class SectionMetric(SingleTime):
    """A value at one time that reads all subjects: subclasses define :meth:`value` and :meth:`linear`."""

    @abstractmethod
    def value(self, section: Section) -> float:
        """The value at a time; NaN where it is not defined."""

    @abstractmethod
    def linear(self, section: Section) -> Linear:
        """The value with its derivatives."""

    def profile(self, section: Section) -> Profile | None:
        """The curve behind the value, where there is one."""
        return None

    def evaluate(self, status: EventWeights, predictions: Models) -> dict[str, MetricValue]:
        """The values at the one time of the status."""
        values = dict.fromkeys(predictions, MetricValue(np.nan))
        for name, _, section in by_section(status, predictions):
            values[name] = self._with_profile(self.value(section), section)
        return values

    def evaluate_linearised(self, status: EventWeights, predictions: Models) -> Scored:
        """The values at the one time of the status, and these as functions of the weights."""
        values, known = dict.fromkeys(predictions, MetricValue(np.nan)), dict[tuple[str, int], Linear]()
        for name, k, section in by_section(status, predictions):
            linear = known[name, k] = self.linear(section)
            values[name] = self._with_profile(linear.value, section)
        return values, SectionFunctionals(self.linear, predictions, np.ones((1, 1)), known)

    def _with_profile(self, value: float, section: Section) -> MetricValue:
        return MetricValue(value, profile=self.profile(section) if np.isfinite(value) else None)

    def values_over_time(self, status: EventWeights, predictions: Models) -> dict[str, FloatArray]:
        """The values at each time of the status, in the order given."""
        values = over_sections(status, predictions, lambda section: [self.value(section)], 1)
        return {name: value[0] for name, value in values.items()}

    def functionals_over_time(self, status: EventWeights, predictions: Models) -> Linearised:
        """The values at each time, in the order given."""
        return SectionFunctionals.over_time(self.linear, status, predictions)


@dataclass(frozen=True, eq=False)
class SectionFunctionals:
    """Sums over time of the values of several models; ``known`` has derivatives by model and sorted time."""

    compute: Callable[[Section], Linear]
    predictions: Models
    time_weights: FloatArray
    known: Mapping[tuple[str, int], Linear] = field(default_factory=dict)

    @classmethod
    def over_time(cls, compute: Callable[[Section], Linear], status: EventWeights, models: Models) -> Self:
        """The values at each time of the status, in the order given."""
        return cls(compute, models, status.grid.restore(np.eye(status.grid.sorted.size)))

    @property
    def size(self) -> int:
        """The number of sums: all F of the first model come first."""
        return len(self.predictions) * int(self.time_weights.shape[1])

    def linear(self, model: str, k: int, section: Section) -> Linear:
        """Return the value of a model at a time that is summed up."""
        return self.known.get((model, k)) or self.compute(section)

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """Yield the derivatives for some times in each part."""
        n_models, n_sums = len(self.predictions), self.time_weights.shape[1]
        for tile in status.tiles(n_held(n_models)):
            columns, weights = tile.columns, self.time_weights[tile.columns]
            used = np.flatnonzero(weights.any(axis=0))
            if not used.size:
                continue
            weights, gradients, own = weights[:, used], list[DenseGradient](), list[FloatArray]()
            for model, predicted in self.predictions.items():
                alpha, beta, presence = np.zeros((3, columns.stop - columns.start, status.n))
                for at, section in sections(status, tile, predicted):
                    linear, k = self.linear(model, at, section), at - columns.start
                    if np.isfinite(linear.value):
                        alpha[k], beta[k] = linear.event_free, linear.event
                        presence[k] = linear.presence(section.event_free, section.event)
                gradients.append(DenseGradient(np.ascontiguousarray(alpha.T), np.ascontiguousarray(beta.T)))
                own.append(presence.T @ weights)
            functionals = Functionals(tuple(gradients), weights, np.concatenate(own, axis=1))
            places = (n_sums * np.arange(n_models)[:, None] + used).ravel()
            yield Part(status.at_columns(columns), functionals, places)


def at_all_times(status: EventWeights, n_models: int) -> bool:
    """Whether few enough subjects are scored that the errors of some models are computed at all times.

    Standard errors of more vary more by themselves, as the sample does, than a fourth of the times moves them.
    """
    return status.fit_in_one(4 * n_held(2 * n_models))


def n_held(n_models: int) -> int:
    """Return how many arrays of all subjects are at hand where derivatives for some models are."""
    return 8 + 2 * n_models


@dataclass(frozen=True, eq=False)
class LinearAtOneTime:
    """Several values at the one time of a status; each is made when its derivatives are asked for."""

    values: Sequence[Callable[[], Linear]]

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.values)

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """Yield the derivatives of as many values in each part as memory allows."""
        [tile] = status.tiles()
        a, b = tile.event_free[:, 0], tile.event[:, 0]
        width = max(1, _HELD_ELEMENTS // max(1, status.n))
        for start in range(0, self.size, width):
            linear = [compute() for compute in self.values[start : start + width]]
            own = np.column_stack([value.presence(a, b) for value in linear])
            gradients = (DenseGradient(value.event_free[:, None], value.event[:, None]) for value in linear)
            functionals = Functionals(tuple(gradients), np.ones((1, 1)), own)
            yield Part(status, functionals, start + np.arange(len(linear)))


def refuse_until(until: float, grid: TimeGrid) -> None:
    """Refuse times that reach the one from which on an adjustment gives no answer."""
    if until <= grid.last:
        raise ValueError(f"times must not reach {until:g}, from where the adjustment gives no score.")
