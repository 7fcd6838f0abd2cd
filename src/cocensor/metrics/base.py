"""What every metric is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np

from cocensor._checks import FloatArray
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import Linearised
from cocensor.data import Predictions
from cocensor.data.predictions import Predicted, RiskScores
from cocensor.data.times import TimeGrid
from cocensor.inference.comparisons import Direction
from cocensor.metrics.single_time import SingleTimes

#: What metrics are about.
Kind = Literal["overall", "discrimination", "calibration", "benefit"]
#: How the curve behind a value is drawn: as such, or with what it is held against.
ProfileStyle = Literal["line", "roc", "calibration", "decision", "levels"]


class Profile(NamedTuple):
    """A curve behind a value at one time, over something else than time; see ``Metric.profile_labels``."""

    x: FloatArray
    y: FloatArray


@dataclass(frozen=True, eq=False)
class MetricValue:
    """What a metric says of one model: one number, and where it is a summary over time, the values that it sums up.

    Parameters
    ----------
    value : float
        The number.
    curve : array of shape (n_times,), optional
        A value for each time of the status, in the order given.
    profile : Profile, optional
        The curve behind a value at one time, such as the ROC curve.

    See Also
    --------
    Metric : Returns such values.

    Examples
    --------
    >>> from cocensor.metrics import MetricValue
    >>> MetricValue(0.25).value
    0.25
    """

    value: float
    curve: FloatArray | None = field(default=None, repr=False)
    profile: Profile | None = field(default=None, repr=False)


class Accumulator(Protocol):
    """What one metric needs of all subjects under one fit, for several ``models``: picklable, and small."""

    models: tuple[str, ...]

    @property
    def covariance(self) -> FloatArray | None:
        """Of the own parts of all subjects, by model; None where they are not known."""

    def update(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> None:
        """Take up the subjects of a batch."""

    def merge(self, other: Self) -> None:
        """Take up what another has taken up."""

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
    direction : {"smaller", "greater"}
        Which values are better.
    range : pair of float
        Between which values it lies, given weights that are probabilities.
    needs_curves : bool
        Whether a model must predict survival curves; if not, one risk score per subject will do.
    single_times : {"never", "only", "also"}
        Whether single times (``at`` of :func:`evaluate`) ask for it: never; it has values at such alone; or these
        come beside its value over all times.
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
    ...     name, label, direction, range = "in_the_large", "calibration in the large", "smaller", (0.0, 1.0)
    ...     def evaluate(self, status, predictions):
    ...         free = status.a.sum(axis=0) / status.normaliser
    ...         means = {name: each.read(status.times, slice(None)).mean(axis=0) for name, each in predictions.items()}
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
    def evaluate(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> dict[str, MetricValue]:
        """The values of several models under one and the same status."""

    def evaluate_linearised(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """The values, and what :meth:`functionals` gives of them where that comes on the way; else None."""
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
        """The same metric, whose label says the unit of time where it speaks of time."""
        return self

    def values_over_time(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> dict[str, FloatArray]:
        """The values of several models at each time of the status, where the metric has such."""
        raise ValueError(f"metric must have values over time, but {self.name!r} has none.")

    def functionals(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> Linearised:
        """The values of several models as functions of the weights of a status: what intervals rest on."""
        raise ValueError(f"the metric {self.name!r} has no analytic gradient.")

    def functionals_over_time(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> Linearised:
        """The values at each time of the status as functions of its weights, all of the first model first."""
        raise ValueError(f"the metric {self.name!r} has no analytic gradient.")

    def profile_functionals(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> Linearised:
        """The curves behind the values as functions of the weights, all of the first model first."""
        raise ValueError(f"the metric {self.name!r} has no analytic gradient of the curve behind it.")

    def accumulator(self, grid: TimeGrid, models: Sequence[str], n: int) -> Accumulator | None:
        """What adds up the values at the times of :meth:`grid` over batches of ``n`` subjects in all.

        None where it takes all of them at once, or is a mean of losses, for which batches can be scored one by one.
        """
        return None

    @property
    def family(self) -> str:
        """Its name without a time."""
        return type(self).name

    @property
    def best(self) -> float:
        """The value that no prediction can better."""
        return self.range[0] if self.direction == "smaller" else self.range[1]

    def skill(self, value: float, reference: float) -> float:
        r"""The share of the way from a reference to the best value, :math:`(v - r)/(v^* - r)`; NaN if there is none.

        For a score whose best value is 0 that is :math:`1 - v/r`.
        """
        way = self.best - reference
        return (value - reference) / way if self.has_skill and np.isfinite(way) and way != 0 else np.nan

    def ranks(self, values: Mapping[str, float]) -> dict[str, int]:
        """1 for the best; equal values share the better rank, and those without a value have none."""
        sign = 1.0 if self.direction == "smaller" else -1.0
        known = {name: sign * value for name, value in values.items() if not isnan(value)}
        ordered = sorted(known.values())
        return {name: 1 + bisect_left(ordered, own) for name, own in known.items()}
