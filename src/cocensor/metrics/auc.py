"""The area under the ROC curve at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cocensor._validation import FloatArray
from cocensor.adjustments import Linearised, Status
from cocensor.curves import Predictions, TimeGrid
from cocensor.inference.comparisons import Direction
from cocensor.metrics.base import MetricValue, Profile
from cocensor.metrics.sections import Linear, Section, SectionFunctionals, SectionMetric
from cocensor.metrics.single_time import SingleTimes

#: Shares of false alarms that a ROC curve is told at.
_FALSE_ALARMS = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True)
class CumulativeDynamicAUC(SectionMetric):
    r"""How well a model orders who had the event by a time before who is still event-free; see
    :func:`cumulative_dynamic_auc`.

    At the time ``at``, or, where that is None, the mean over the times of an evaluation, each weighted by the share of
    events since the time before.
    """

    at: float | None = None

    name: ClassVar[str] = "auc"
    label: ClassVar[str] = "mean AUC"
    curve_label: ClassVar[str | None] = "AUC"
    direction: ClassVar[Direction] = "greater"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    needs_curves: ClassVar[bool] = False
    single_times: ClassVar[SingleTimes] = "also"
    profile_labels: ClassVar[tuple[str, str] | None] = ("share of false alarms", "share of events found")
    profile_range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __post_init__(self) -> None:
        self._check_time("auc", "AUC")

    def grid(self, times: TimeGrid) -> TimeGrid:
        """The one time, or all."""
        return times if self.at is None else super().grid(times)

    def value(self, section: Section) -> float:
        """The AUC; NaN where there are no cases, or no controls."""
        a, b = section.event_free, section.event
        both = float(a @ b)
        pairs = a.sum() * b.sum() - both
        return float((b @ section.order.below(a) - 0.5 * both) / pairs) if pairs > 0 else np.nan

    def linear(self, section: Section) -> Linear:
        """The AUC and its derivatives, by the rule for quotients."""
        a, b = section.event_free, section.event
        below = section.order.below(a) - 0.5 * a
        above = (b.sum() - section.order.below(b)) - 0.5 * b
        pairs = a.sum() * b.sum() - float(a @ b)
        value = float(b @ below / pairs) if pairs > 0 else np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            by_a = (above - value * (b.sum() - b)) / pairs
            by_b = (below - value * (a.sum() - a)) / pairs
        return Linear(value, by_a, by_b)

    def profile(self, section: Section) -> Profile | None:
        """The ROC curve: of those who had the event, the share above a threshold, by that of those event-free."""
        return Profile(_FALSE_ALARMS, roc(section))

    def evaluate(self, status: Status, predictions: Mapping[str, Predictions]) -> dict[str, MetricValue]:
        """The values of several models."""
        if self.at is not None:
            return super().evaluate(status, predictions)
        events = _new_events(status)
        found = {}
        for name, curve in self.values_over_time(status, predictions).items():
            found[name] = MetricValue(_mean(self._sorted(status, curve), events), curve)
        return found

    def functionals(self, status: Status, predictions: Mapping[str, Predictions]) -> Linearised:
        r"""The value at the one time, or the mean :math:`\sum_k AUC_k\,\Delta B_k / B_K`, with B the sum of b."""
        if self.at is not None:
            return super().functionals(status, predictions)
        events = _new_events(status)
        curves = np.array(
            [self._sorted(status, each) for each in self.values_over_time(status, predictions).values()]
        )
        curves = np.where(events == 0, 0.0, curves)
        scale = np.broadcast_to(events / events.sum(), curves.shape)
        mean = curves @ events[:, None] / events.sum()
        # By each new share of events, and then by the sums: B_k adds to one, and takes from the next.
        by_new = (curves - mean) / events.sum()
        by_events = by_new - np.concatenate((by_new[:, 1:], np.zeros((len(curves), 1))), axis=1)
        return SectionFunctionals(self, predictions, np.ones((events.size, 1)), scale, by_events)

    @staticmethod
    def _sorted(status: Status, curve: FloatArray) -> FloatArray:
        """Values in the order given, by sorted time."""
        values = np.empty(status.grid.sorted.size)
        values[np.arange(values.size) if status.grid.place is None else status.grid.place] = curve
        return values


def _new_events(status: Status) -> FloatArray:
    """The sum of b at each sorted time, less that at the time before."""
    sums = np.concatenate([tile.event.sum(axis=0) for tile in status.tiles()])
    return np.diff(sums, prepend=0.0)


def _mean(curve: FloatArray, events: FloatArray) -> float:
    """The mean of values at times with events; NaN where one of them is not defined, or there are no events."""
    used = events != 0
    return float(curve[used] @ events[used] / events[used].sum()) if used.any() else np.nan


def roc(section: Section) -> FloatArray:
    """The share of events found at each share of false alarms; markers that tie are joined by a line."""
    a, b = section.event_free, section.event
    order = section.order
    found, alarms = (np.concatenate(([0.0], np.cumsum(w[order.rows][::-1]))) for w in (b, a))
    if order.ties is not None:
        # From the riskiest on, after each lot of equal markers.
        ends = np.unique(order.rows.size - np.concatenate((order.ties[0], [order.rows.size])))
        found, alarms = found[ends], alarms[ends]
    return np.interp(_FALSE_ALARMS, alarms / alarms[-1], found / found[-1])
