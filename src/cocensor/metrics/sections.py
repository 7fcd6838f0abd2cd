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
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import DenseGradient, Functionals, Linearised, Part
from cocensor.adjustments.weights import Tile
from cocensor.data.predictions import Predicted, RiskScores
from cocensor.metrics.base import Metric, MetricValue, Profile
from cocensor.metrics.ranks import Order, orders_of
from cocensor.metrics.single_time import SingleTime, SingleTimes

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Section:
    """All subjects at one time: the weights a ("event-free") and b ("event"), and what one model predicts."""

    time: float
    event_free: FloatArray
    event: FloatArray
    predictions: Predicted
    normaliser: float
    _tile: _TileCurves
    _column: int
    _found: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def survival(self) -> FloatArray:
        """The predicted probabilities to be event-free."""
        return self._tile.survival[self._column]

    @cached_property
    def marker(self) -> FloatArray:
        """What orders the subjects by their predicted risk: the greater, the riskier."""
        predictions = self.predictions
        return predictions.risk if isinstance(predictions, RiskScores) else -self.survival

    @cached_property
    def order(self) -> Order:
        """The subjects in the order of their predicted risk."""
        key = "risk" if isinstance(self.predictions, RiskScores) else self.time
        return orders_of(self.predictions).of(key, lambda: self.marker)

    def once(self, find: Callable[[Section], Found]) -> Found:
        """What a function finds of the section, computed once."""
        if find not in self._found:
            self._found[find] = find(self)
        return self._found[find]


@dataclass(frozen=True, eq=False)
class _TileCurves:
    """What one model predicts at the times of a tile."""

    predictions: Predicted
    times: FloatArray

    @cached_property
    def survival(self) -> FloatArray:
        """Of all subjects, a row for each time."""
        return np.ascontiguousarray(self.predictions.read(self.times, slice(None)).T)


class Linear(NamedTuple):
    """A value and its derivatives by the weights of each subject.

    ``own`` is that by the presence of each subject, times the number of subjects; None where a subject matters by its
    two weights alone (see :class:`~cocensor.adjustments.Functionals`).
    """

    value: float
    event_free: FloatArray
    event: FloatArray
    own: FloatArray | None = None


def sections(status: EventWeights, tile: Tile, predictions: Predicted) -> Iterator[tuple[int, Section]]:
    """The sections of a tile before the status ends, each with its place among the sorted times."""
    times = status.grid.sorted[tile.columns]
    times = times[times < status.valid_until]
    curves = _TileCurves(predictions, times)
    for k, (time, a, b) in enumerate(zip(times, *tile.by_time, strict=False)):
        yield (
            tile.columns.start + k,
            Section(float(time), a, b, predictions, status.normaliser, curves, k),
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

    def evaluate(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> dict[str, MetricValue]:
        """The values at the one time of the status."""
        return {name: self._valued(found) for name, found in self._at_one_time(status, predictions)}

    def evaluate_linearised(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """The values at the one time of the status, and these as functions of the weights."""
        values, linear = dict[str, MetricValue](), dict[tuple[int, int], Linear]()
        for m, (name, found) in enumerate(self._at_one_time(status, predictions)):
            values[name] = self._valued(found)
            if found is not None:
                linear[m, 0] = self.linear(found)
        return values, SectionFunctionals(self, predictions, np.ones((1, 1)), known=linear)

    def _at_one_time(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> Iterator[tuple[str, Section | None]]:
        """What each model says of the one time; None where the status has ended."""
        [tile] = status.tiles()
        for name, each in predictions.items():
            yield name, next((section for _, section in sections(status, tile, each)), None)

    def _valued(self, section: Section | None) -> MetricValue:
        if section is None:
            return MetricValue(np.nan)
        value = self.value(section)
        return MetricValue(value, profile=self.profile(section) if np.isfinite(value) else None)

    def values_over_time(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> dict[str, FloatArray]:
        """The values at each time of the status, in the order given."""
        values = self._values(status, predictions, status.tiles())
        return dict(zip(predictions, status.grid.restore(values), strict=True))

    def _values(
        self,
        status: EventWeights,
        predictions: Mapping[str, Predicted],
        tiles: Iterator[Tile],
        known: dict[tuple[int, int], Linear] | None = None,
    ) -> FloatArray:
        """The values by model and sorted time, from all the tiles of the status; ``known`` takes their derivatives."""
        values = np.full((len(predictions), status.grid.sorted.size), np.nan)
        for tile in tiles:
            for m, each in enumerate(predictions.values()):
                for k, section in sections(status, tile, each):
                    if known is None:
                        values[m, k] = self.value(section)
                    else:
                        known[m, k] = self.linear(section)
                        values[m, k] = known[m, k].value
        return values

    def functionals(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> Linearised:
        """The values at the one time."""
        return SectionFunctionals(self, predictions, np.ones((1, 1)))

    def functionals_over_time(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> Linearised:
        """The values at each time, in the order given."""
        each_time = status.grid.restore(np.eye(status.grid.sorted.size))
        return SectionFunctionals(self, predictions, each_time)


@dataclass(frozen=True, eq=False)
class SectionFunctionals:
    r"""Sums over time of the values of several models.

    With the ``time_weights`` of shape (times, F) they are :math:`\sum_k w_{kf}\,\theta_m(t_k)`. What is not linear
    in the values has weights of its own for each model, ``scale`` of shape (models, times), and ``by_events``, its
    derivative by the sum over subjects of b at each time. ``known`` has derivatives that were found before, by model
    and sorted time.
    """

    metric: SectionMetric
    predictions: Mapping[str, Predicted]
    time_weights: FloatArray
    scale: FloatArray | None = None
    by_events: FloatArray | None = None
    known: Mapping[tuple[int, int], Linear] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many there are: all F of the first model come first."""
        return len(self.predictions) * int(self.time_weights.shape[1])

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """Some times in each part."""
        n_models, F = len(self.predictions), self.time_weights.shape[1]
        for tile in status.tiles(held(n_models)):
            weights = self.time_weights[tile.columns]
            used = np.flatnonzero(weights.any(axis=0))
            if not used.size:
                continue
            found = [
                self._of(status, tile, weights[:, used], m, each)
                for m, each in enumerate(self.predictions.values())
            ]
            gradients, own = zip(*found, strict=True)
            functionals = Functionals(gradients, weights[:, used], np.concatenate(own, axis=1))
            places = (F * np.arange(n_models)[:, None] + used).ravel()
            yield Part(status.at_columns(tile.columns), functionals, places)

    def _of(
        self, status: EventWeights, tile: Tile, weights: FloatArray, m: int, predictions: Predicted
    ) -> tuple[DenseGradient, FloatArray]:
        """The derivatives for one model, and what the presence of each subject adds."""
        alpha, beta, presence = np.zeros((3, len(weights), status.n))
        for at, section in sections(status, tile, predictions):
            k = at - tile.columns.start
            scale = 1.0 if self.scale is None else self.scale[m, at]
            own: FloatArray | None = None
            if scale:
                value, by_a, by_b, own = self.known.get((m, at)) or self.metric.linear(section)
                if np.isfinite(value):
                    np.multiply(by_a, scale, out=alpha[k])
                    np.multiply(by_b, scale, out=beta[k])
            if own is not None:
                np.multiply(own, scale, out=presence[k])
            else:
                np.multiply(alpha[k], section.event_free, out=presence[k])
                presence[k] += beta[k] * section.event
                presence[k] *= status.n
            if self.by_events is not None:
                beta[k] += self.by_events[m, at]
                presence[k] += (status.n * self.by_events[m, at]) * section.event
        gradient = DenseGradient(np.ascontiguousarray(alpha.T), np.ascontiguousarray(beta.T))
        return gradient, presence.T @ weights


def held(n_models: int) -> int:
    """How many arrays of all subjects are at hand where derivatives for some models are."""
    return 8 + 2 * n_models
