"""What a calibration curve is made of, each value with its derivatives by the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from cocensor._checks import BoolArray, FloatArray, IntArray
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import DenseGradient, Functionals, Linearised, Part
from cocensor.data import Survival
from cocensor.data.times import shown_time
from cocensor.inference.influence import batched_rows
from cocensor.metrics.calibration import distance, linear_distance
from cocensor.metrics.calibration_fit import Scores, SmoothCalibration
from cocensor.metrics.cloglog import CloglogFit, fit_cloglog
from cocensor.metrics.ranks import Order
from cocensor.metrics.sections import Linear, Section

# Derivatives of several values are held at once while they are no more numbers than this.
_ELEMENTS = 2**23
_DISTANCES: dict[str, float | None] = {"ici": None, "e50": 0.5, "e90": 0.9}


class Value(NamedTuple):
    """A value by name, and how to get its derivatives; NaN, and why, where it is ``missing``."""

    name: str
    value: float
    linear: Callable[[], Linear] | None = None
    missing: str = ""


def no_curve(time: float) -> str:
    """Why nothing can be fitted."""
    return f"by {shown_time(time)} nobody, or everybody, had the event"


def groups_by_risk(order: Order, n_groups: int) -> IntArray:
    """The group of each subject: of equal size by predicted risk, with equal predictions in one and the same.

    Those of equal risk go where the middle of them belongs; groups that are left empty do not count.
    """
    n = order.rows.size
    first, end = (np.arange(n), np.arange(1, n + 1)) if order.ties is None else order.ties
    middle = np.floor_divide(n_groups * (first + end - 1), 2 * n)
    result = np.empty(n, dtype=np.int64)
    result[order.rows] = np.unique(middle, return_inverse=True)[1]
    return result


def of_curve(section: Section, smooth: SmoothCalibration | None) -> list[Value]:
    """The coefficients of the smooth curve."""
    if smooth is None:
        return []
    return [
        Value(f"coefficient {k}", value, partial(_coefficient, section, smooth.fit, k))
        for k, value in enumerate(smooth.fit.coefficients)
    ]


def of_groups(section: Section, group: IntArray) -> list[Value]:
    """The shares that had the event."""
    return [_observed(section, f"group {k}", group == k) for k in range(int(group.max()) + 1)]


def summaries(section: Section, smooth: SmoothCalibration | None) -> list[Value]:
    """Means, slope and intercept, and distances from the diagonal."""
    predicted = 1.0 - section.survival
    found = [
        Value("mean_predicted", float(predicted.mean()), partial(_mean, predicted)),
        _observed(section, "mean_observed", np.ones(predicted.size, dtype=bool)),
        *_slope_and_intercept(section),
    ]
    for name, level in _DISTANCES.items():
        if smooth is None:
            found.append(Value(name, np.nan, missing=no_curve(section.time)))
        else:
            linear = partial(linear_distance, smooth, section, level)
            found.append(Value(name, distance(smooth, level), linear))
    return found


def _slope_and_intercept(section: Section) -> Iterator[Value]:
    """The slope of x, and the intercept where that is 1."""
    x = Scores.of(section.survival).x
    a, b = section.event_free, section.event
    counted = x[(a != 0) | (b != 0)]
    if counted.size and np.ptp(counted) > 0:
        fit = fit_cloglog(np.column_stack((np.ones(x.size), x - counted.mean())), a, b)
        yield _fitted(section, "slope", fit, 1)
    else:
        yield Value("slope", np.nan, missing="all predictions are equal")
    yield _fitted(section, "intercept", fit_cloglog(np.ones((x.size, 1)), a, b, offset=x), 0)


def _fitted(section: Section, name: str, fit: CloglogFit | None, k: int) -> Value:
    if fit is None:
        share = section.event.sum() / (section.event + section.event_free).sum()
        perfect = (
            "the predictions separate perfectly those with the event from the others"
            if 0 < share < 1
            else no_curve(section.time)
        )
        return Value(name, np.nan, missing=perfect)
    return Value(name, float(fit.coefficients[k]), partial(_coefficient, section, fit, k))


def _coefficient(section: Section, fit: CloglogFit, k: int) -> Linear:
    by_a, by_b = fit.by_weights(np.eye(fit.coefficients.size)[k])
    return Linear(float(fit.coefficients[k]), by_a, by_b)


def _mean(predicted: FloatArray) -> Linear:
    nothing = np.zeros_like(predicted)
    return Linear(float(predicted.mean()), nothing, nothing, predicted - predicted.mean())


def _observed(section: Section, name: str, member: BoolArray) -> Value:
    """The share of some subjects that had the event."""
    event = float(section.event[member].sum())
    total = event + float(section.event_free[member].sum())
    if not total > 0:
        return Value(name, np.nan, missing="nobody counts")
    return Value(name, event / total, partial(_share, member, event / total, total))


def _share(member: BoolArray, share: float, total: float) -> Linear:
    return Linear(share, *(np.where(member, by, 0.0) for by in (-share / total, (1.0 - share) / total)))


def rows_of(values: Linearised, status: EventWeights, y: Survival) -> tuple[FloatArray, str]:
    """Rows of the errors of values under a status, NaN where there are none; and why that is."""
    try:
        if status.n < 2:
            raise ValueError("a single subject gives no standard error.")
        return batched_rows(status, values, y), ""
    except ValueError as error:
        return np.full((1, values.size), np.nan), str(error)


@dataclass(frozen=True, eq=False)
class Together:
    """The derivatives of several values at one time, of a few at a time."""

    values: Sequence[Value]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.values)

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """As many at once as memory allows."""
        width = max(1, _ELEMENTS // max(status.n, 1))
        [tile] = status.tiles()
        a, b = tile.event_free[:, 0], tile.event[:, 0]
        for start in range(0, self.size, width):
            some = [
                (k, each.linear())
                for k, each in enumerate(self.values[start : start + width], start)
                if each.linear
            ]
            if some:
                yield Part(status, _functionals([linear for _, linear in some], a, b), [k for k, _ in some])


def _functionals(some: list[Linear], a: FloatArray, b: FloatArray) -> Functionals:
    own = [a.size * (a * each.event_free + b * each.event) if each.own is None else each.own for each in some]
    gradients = tuple(DenseGradient(each.event_free[:, None], each.event[:, None]) for each in some)
    return Functionals(gradients, np.ones((1, 1)), np.column_stack(own))
