r"""Metrics whose value at a time reads everybody's weights at that time, and what a model predicts for it.

Discrimination and calibration are such: they hold subjects against each other. Of a value :math:`\theta(t)` a metric
gives the derivatives by the weights of each subject, :math:`\alpha_i = \partial\theta/\partial a_i` and
:math:`\beta_i = \partial\theta/\partial b_i`, of which sampling errors are made. All subjects are taken at a few times
at once, so that there is never a further array of all subjects and times.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from cocensor._validation import FloatArray
from cocensor.adjustments import DenseGradient, Functionals, Linearised, Part, Status, Tile
from cocensor.curves import Predictions
from cocensor.metrics.base import Metric, MetricValue, Profile
from cocensor.metrics.ranks import Order
from cocensor.metrics.single_time import SingleTime, SingleTimes

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Section:
    """All subjects at one time: the weights a ("event-free") and b ("event"), and what one model predicts."""

    time: float
    event_free: FloatArray
    event: FloatArray
    predictions: Predictions
    normaliser: float
    #: The order of the subjects, where it is the same at all times.
    _order: Order | None = None
    _found: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def survival(self) -> FloatArray:
        """The predicted probabilities to be event-free."""
        return self.predictions.read(np.array([self.time]), slice(None))[:, 0]

    @cached_property
    def order(self) -> Order:
        """The subjects in the order of their predicted risk."""
        if self._order is not None:
            return self._order
        return Order(self.predictions.marker(np.array([self.time]), slice(None))[:, 0])

    def once(self, find: Callable[[Section], Found]) -> Found:
        """What a function finds of the section, computed once."""
        if find not in self._found:
            self._found[find] = find(self)
        return self._found[find]


class Linear(NamedTuple):
    """A value and its derivatives by the weights of each subject.

    ``own`` is that by the presence of each subject, times the number of subjects; None where a subject matters by its
    two weights alone (see :class:`~cocensor.adjustments.Functionals`).
    """

    value: float
    event_free: FloatArray
    event: FloatArray
    own: FloatArray | None = None


def sections(status: Status, tile: Tile, predictions: Predictions) -> Iterator[tuple[int, Section]]:
    """The sections of a tile before the status ends, each with its place among the sorted times."""
    order = None if predictions.risk is None else Order(predictions.risk)
    for k, time in enumerate(status.grid.sorted[tile.columns]):
        if time < status.until:
            a, b = (np.ascontiguousarray(weight[:, k]) for weight in (tile.event_free, tile.event))
            yield (
                tile.columns.start + k,
                Section(float(time), a, b, predictions, status.normaliser, order),
            )


class SectionMetric(SingleTime, Metric):
    """A value at one time, ``at``, or at the last of an evaluation where that is None.

    Subclasses define :meth:`value` and :meth:`linear`.
    """

    single_times: ClassVar[SingleTimes] = "only"

    @abstractmethod
    def value(self, section: Section) -> float:
        """The value at a time; NaN where it is not defined."""

    @abstractmethod
    def linear(self, section: Section) -> Linear:
        """The value with its derivatives."""

    def profile(self, section: Section) -> Profile | None:
        """The curve behind the value, where there is one."""
        return None

    def evaluate(self, status: Status, predictions: Mapping[str, Predictions]) -> dict[str, MetricValue]:
        """The values at the one time of the status."""
        [tile] = status.tiles()
        found = {}
        for name, each in predictions.items():
            for _, section in sections(status, tile, each):
                value = self.value(section)
                found[name] = MetricValue(
                    value, profile=self.profile(section) if np.isfinite(value) else None
                )
        return found

    def values_over_time(
        self, status: Status, predictions: Mapping[str, Predictions]
    ) -> dict[str, FloatArray]:
        """The values at each time of the status, in the order given."""
        values = np.full((len(predictions), status.grid.sorted.size), np.nan)
        for tile in status.tiles():
            for m, each in enumerate(predictions.values()):
                for k, section in sections(status, tile, each):
                    values[m, k] = self.value(section)
        return dict(zip(predictions, status.grid.restore(values), strict=True))

    def functionals(self, status: Status, predictions: Mapping[str, Predictions]) -> Linearised:
        """The values at the one time."""
        return SectionFunctionals(self, predictions, np.ones((1, 1)))

    def functionals_over_time(self, status: Status, predictions: Mapping[str, Predictions]) -> Linearised:
        """The values at each time, in the order given."""
        each_time = status.grid.restore(np.eye(status.grid.sorted.size))
        return SectionFunctionals(self, predictions, each_time)


@dataclass(frozen=True, eq=False)
class SectionFunctionals:
    r"""Sums over time of the values of several models.

    With the ``time_weights`` of shape (times, F) they are :math:`\sum_k w_{kf}\,\theta_m(t_k)`. What is not linear
    in the values has weights of its own for each model, ``scale`` of shape (models, times), and ``by_events``, its
    derivative by the sum over subjects of b at each time.
    """

    metric: SectionMetric
    predictions: Mapping[str, Predictions]
    time_weights: FloatArray
    scale: FloatArray | None = None
    by_events: FloatArray | None = None

    @property
    def size(self) -> int:
        """How many there are: all F of the first model come first."""
        return len(self.predictions) * int(self.time_weights.shape[1])

    def parts(self, status: Status) -> Iterator[Part]:
        """Some times in each part."""
        n_models, F = len(self.predictions), self.time_weights.shape[1]
        for tile in status.tiles(3 * n_models):
            weights = self.time_weights[tile.columns]
            used = np.flatnonzero(weights.any(axis=0))
            if not used.size:
                continue
            found = [self._of(status, tile, m, each) for m, each in enumerate(self.predictions.values())]
            own = np.concatenate([each @ weights[:, used] for _, each in found], axis=1)
            functionals = Functionals(tuple(gradient for gradient, _ in found), weights[:, used], own)
            places = (F * np.arange(n_models)[:, None] + used).ravel()
            yield Part(status.only(tile.columns), functionals, places)

    def _of(
        self, status: Status, tile: Tile, m: int, predictions: Predictions
    ) -> tuple[DenseGradient, FloatArray]:
        """The derivatives for one model, and what the presence of each subject adds to n times the values."""
        alpha, beta, own = (np.zeros_like(tile.event) for _ in range(3))
        for at, section in sections(status, tile, predictions):
            k = at - tile.columns.start
            scale = 1.0 if self.scale is None else self.scale[m, at]
            if scale:
                value, by_a, by_b, presence = self.metric.linear(section)
                if np.isfinite(value):
                    if presence is None:
                        presence = status.n * (section.event_free * by_a + section.event * by_b)
                    alpha[:, k], beta[:, k], own[:, k] = scale * by_a, scale * by_b, scale * presence
            if self.by_events is not None:
                beta[:, k] += self.by_events[m, at]
                own[:, k] += status.n * self.by_events[m, at] * section.event
        return DenseGradient(alpha, beta), own
