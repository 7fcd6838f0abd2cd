"""The mean predicted survival curve against the one observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor._notes import Note, noted
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.copulas import Copula
from cocensor.data.predictions import Predicted
from cocensor.inference.bands import normal_quantile
from cocensor.inference.comparisons import Direction
from cocensor.inference.estimates import Estimates
from cocensor.metrics.calibration_values import rows_of
from cocensor.metrics.scoring import Asked
from cocensor.metrics.sections import Linear, Section, SectionMetric, sections


@dataclass(frozen=True, eq=False)
class MeanCalibration:
    """Mean predicted and observed event-free shares over time; see :func:`mean_calibration`.

    Attributes
    ----------
    times, predicted, observed : array of shape (T,)
    standard_error, low, high : array of shape (T,)
        Of the difference, observed less predicted, at each time.
    band_low, band_high : array of shape (T,)
        Limits of the difference at all times at once.
    notes : tuple of Note
        Why there are no standard errors, where the adjustment has none.

    See Also
    --------
    mean_calibration : Makes it, with an example.
    """

    times: FloatArray
    predicted: FloatArray = field(repr=False)
    observed: FloatArray = field(repr=False)
    standard_error: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    band_low: FloatArray = field(repr=False)
    band_high: FloatArray = field(repr=False)
    notes: tuple[Note, ...] = ()

    @property
    def difference(self) -> FloatArray:
        """Observed less predicted."""
        return self.observed - self.predicted


class _Difference(SectionMetric):
    """The share observed event-free less the mean predicted."""

    at = None
    name: ClassVar[str] = "difference"
    label: ClassVar[str] = "observed less predicted"
    direction: ClassVar[Direction] = "smaller"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def value(self, section: Section) -> float:
        """The difference; NaN where nobody counts."""
        return _observed(section) - float(section.survival.mean())

    def linear(self, section: Section) -> Linear:
        """By the rule for quotients; who is there also counts in the mean prediction."""
        a, b, observed = section.event_free, section.event, _observed(section)
        total = float(a.sum() + b.sum())
        by_a, by_b = np.full(a.size, (1.0 - observed) / total), np.full(a.size, -observed / total)
        mean = float(section.survival.mean())
        own = a.size * (a * by_a + b * by_b) - (section.survival - mean)
        return Linear(observed - mean, by_a, by_b, own)


def _observed(section: Section) -> float:
    total = float(section.event_free.sum() + section.event.sum())
    return float(section.event_free.sum()) / total if total > 0 else np.nan


def mean_calibration(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    confidence_level: float = 0.95,
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
) -> Any:
    r"""Calibration in the large over time: the mean predicted curve and the one observed.

    .. math::

        \frac1n \sum_i \hat S_i(t) \quad\text{against}\quad \frac{\sum_i a_i(t)}{\sum_i (a_i(t) + b_i(t))}

    with the weights of the adjustment, on whose ``assumption`` the latter rests. Under IPCW, fitted to the test sample,
    it is the Kaplan–Meier curve of that sample.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.
    confidence_level : float
        Of the limits at each time, and of the band over all.

    Returns
    -------
    MeanCalibration, or a dict of such

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import mean_calibration
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))
    >>> predicted = np.array([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]])
    >>> found = mean_calibration(y, y, predicted, [1.5, 3.5])
    >>> found.predicted, found.observed
    (array([0.8  , 0.475]), array([0.75 , 0.375]))
    >>> found.standard_error.round(3)
    array([0.185, 0.247])
    """
    quantile = normal_quantile(confidence_level)
    asked = Asked.of(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula)

    def curves(status: EventWeights, predictions: Mapping[Any, Predicted]) -> dict[Any, MeanCalibration]:
        metric, T = _Difference(), status.times.size
        linearised = metric.functionals_over_time(status, predictions)
        rows, unknown = rows_of(linearised, status, asked.samples.y_test)
        notes = (noted("no_standard_errors", why=unknown),) if unknown else ()
        found = {}
        for m, (name, (predicted, observed)) in enumerate(_means(status, predictions).items()):
            names = tuple(map(str, range(T)))
            estimates = Estimates(names, observed - predicted, rows[:, m * T : (m + 1) * T])
            error, band = estimates.standard_errors, estimates.band(confidence_level)
            low, high = (observed - predicted + way * quantile * error for way in (-1.0, 1.0))
            found[name] = MeanCalibration(
                status.times, predicted, observed, error, low, high, band.low, band.high, notes
            )
        return found

    return asked.each(curves)


def _means(status: EventWeights, predictions: Mapping[Any, Predicted]) -> dict[Any, FloatArray]:
    """The mean prediction and the share observed event-free at each time, of each model."""
    values = np.full((len(predictions), 2, status.grid.sorted.size), np.nan)
    for tile in status.tiles():
        for m, each in enumerate(predictions.values()):
            for k, section in sections(status, tile, each):
                values[m, :, k] = section.survival.mean(), _observed(section)
    return dict(zip(predictions, status.grid.restore(values), strict=True))
