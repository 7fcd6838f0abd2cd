"""How far predicted chances of an event at a time are from those observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from cocensor._checks import FloatArray
from cocensor.adjustments import Adjustment, Fitted
from cocensor.copulas import Copula
from cocensor.inference.comparisons import Direction
from cocensor.metrics.base import Profile
from cocensor.metrics.calibration_fit import SmoothCalibration, smooth_calibration
from cocensor.metrics.scoring import Asked
from cocensor.metrics.sections import Linear, Section, SectionMetric

#: A calibration curve is given at so many predictions, from their 1 % to their 99 % quantile.
_POINTS = 41


class CalibrationMetric(SectionMetric):
    """A summary of the distances between the smooth calibration curve and the diagonal."""

    at: float | None = None
    direction: ClassVar[Direction] = "smaller"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    has_skill: ClassVar[bool] = False
    profile_labels: ClassVar[tuple[str, str] | None] = (
        "predicted probability of the event",
        "observed share with the event",
    )
    profile_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    undefined: ClassVar[str] = "nobody, or everybody, had the event"
    level: ClassVar[float | None] = None

    def value(self, section: Section) -> float:
        """The summary; NaN where there is no curve."""
        smooth = section.once(smooth_calibration)
        return np.nan if smooth is None else distance(smooth, self.level)

    def linear(self, section: Section) -> Linear:
        """The summary and its derivatives, by way of the coefficients of the curve."""
        smooth = section.once(smooth_calibration)
        if smooth is None:
            return Linear(np.nan, *np.zeros((2, section.event.size)))
        return linear_distance(smooth, section, self.level)

    def profile(self, section: Section) -> Profile | None:
        """The smooth calibration curve; None where there is none."""
        smooth = section.once(smooth_calibration)
        if smooth is None:
            return None
        x = curve_points(smooth.predicted)
        return Profile(x, smooth.curve(x))


@dataclass(frozen=True)
class IntegratedCalibrationIndex(CalibrationMetric):
    """The mean distance of predicted from observed chances at a time; see :func:`integrated_calibration_index`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> rng = np.random.default_rng(0)
    >>> risk = np.exp(rng.normal(size=500))
    >>> y = cc.Survival(rng.exponential(1 / risk), np.ones(500))
    >>> curves = {"too low": np.exp(-np.outer(0.5 * risk, [0.5, 1.0]))}
    >>> ici = cc.metrics.IntegratedCalibrationIndex(at=1.0)
    >>> round(float(cc.evaluate(curves, y, times=[0.5, 1.0], adjustments="ipcw", metrics=ici).score("too low")), 2)
    0.2
    """

    at: float | None = None

    name: ClassVar[str] = "ici"
    label: ClassVar[str] = "ICI"


@dataclass(frozen=True)
class MedianCalibrationError(CalibrationMetric):
    """The median distance of predicted from observed chances at a time, E50; see :func:`integrated_calibration_index`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> rng = np.random.default_rng(0)
    >>> risk = np.exp(rng.normal(size=500))
    >>> y = cc.Survival(rng.exponential(1 / risk), np.ones(500))
    >>> curves = {"too low": np.exp(-np.outer(0.5 * risk, [0.5, 1.0]))}
    >>> e50 = cc.metrics.MedianCalibrationError(at=1.0)
    >>> round(float(cc.evaluate(curves, y, times=[0.5, 1.0], adjustments="ipcw", metrics=e50).score("too low")), 2)
    0.22
    """

    at: float | None = None

    name: ClassVar[str] = "e50"
    label: ClassVar[str] = "E50"
    level: ClassVar[float | None] = 0.5


@dataclass(frozen=True)
class HighCalibrationError(CalibrationMetric):
    """The distance that a tenth of the predictions exceed at a time, E90; see :func:`integrated_calibration_index`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> rng = np.random.default_rng(0)
    >>> risk = np.exp(rng.normal(size=500))
    >>> y = cc.Survival(rng.exponential(1 / risk), np.ones(500))
    >>> curves = {"too low": np.exp(-np.outer(0.5 * risk, [0.5, 1.0]))}
    >>> e90 = cc.metrics.HighCalibrationError(at=1.0)
    >>> round(float(cc.evaluate(curves, y, times=[0.5, 1.0], adjustments="ipcw", metrics=e90).score("too low")), 2)
    0.27
    """

    at: float | None = None

    name: ClassVar[str] = "e90"
    label: ClassVar[str] = "E90"
    level: ClassVar[float | None] = 0.9


def curve_points(predicted: FloatArray) -> FloatArray:
    """The predictions at which a calibration curve is given."""
    low, high = np.quantile(predicted, [0.01, 0.99])
    return np.linspace(low, high, _POINTS)


def distance(smooth: SmoothCalibration, level: float | None) -> float:
    """The mean distance from the diagonal, or a quantile of distances."""
    distances = np.abs(smooth.observed - smooth.predicted)
    return float(distances.mean() if level is None else np.quantile(distances, level))


def linear_distance(smooth: SmoothCalibration, section: Section, level: float | None) -> Linear:
    r"""The mean distance, or a quantile, with its derivatives.

    With d_i the distance of subject i, a change of the curve moves the mean by the mean change of d, and a quantile by
    the mean change of those d that lie near it. A subject's presence moves the mean by :math:`d_i - \theta` and the
    quantile θ of level u by :math:`(u - 1[d_i \le \theta])/f(\theta)`. Near, and for the density f, are the distances
    within :math:`\pm h` of the level, with Bofinger's :math:`h = n^{-1/5}
    \left[\tfrac92 \phi^4(z)/(2z^2 + 1)^2\right]^{1/5}`, z the normal quantile of the level.
    """
    gap, n = smooth.observed - smooth.predicted, smooth.predicted.size
    distances, value = np.abs(gap), distance(smooth, level)
    if level is None:
        counted, presence = np.ones(n) / n, distances - value
    else:
        near = _near(distances, level)
        counted = np.zeros(n)
        counted[near] = 1.0 / near.size
        sparsity = float(np.ptp(distances[near])) / (near.size / n)
        presence = np.where(distances <= value, level - 1.0, level) * sparsity
    direction = smooth.fit.design.T @ (counted * np.sign(gap) * smooth.fit.chance_slope)
    by_a, by_b = smooth.fit.by_weights(direction)
    own = n * (section.event_free * by_a + section.event * by_b) + presence
    return Linear(value, by_a, by_b, own)


def _near(distances: FloatArray, level: float) -> npt.NDArray[np.intp]:
    """Who has one of the distances around a quantile."""
    n, z = distances.size, float(ndtri(level))
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    half = n**-0.2 * (4.5 * density**4 / (2.0 * z * z + 1.0) ** 2) ** 0.2
    first = max(0, int(np.floor(n * (level - half))))
    last = min(n - 1, int(np.ceil(n * (level + half))))
    return np.argpartition(distances, [first, last])[first : last + 1]


def integrated_calibration_index(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    return_influence: bool = False,
) -> Any:
    r"""How far predicted chances of an event are from those observed, on average over subjects, at each time.

    .. math:: ICI(t) = \frac1n \sum_i |\hat c(p_i) - p_i|, \qquad p_i = 1 - \hat S_i(t),

    with :math:`\hat c(p)` the smooth calibration curve: the share that had the event by t among those for whom p is
    predicted (Austin, Harrell and van Klaveren, 2020). Of the same distances ``cc.metric("e50")`` is the median and
    ``cc.metric("e90")`` the 90 % quantile.

    The curve is a regression of :math:`y_i = b_i/(a_i + b_i)` with weights :math:`a_i + b_i` (who is still event-free
    at t, by the adjustment) and complementary log-log link on :math:`x_i = \log(-\log \hat S_i(t))`: an intercept and a
    natural cubic spline of 4 columns, whose 5 knots are at the quantiles .05, .275, .5, .725 and .95 of x over all
    subjects. Predictions of exactly 0 or 1, infinite on this scale, are held there at the most extreme of the others.
    With fewer distinct predictions than coefficients, or where a spline separates events perfectly, the spline has
    fewer columns, down to none for constant predictions. Where nobody, or everybody, had the event the value is NaN.

    The index rests on the ``assumption`` of the adjustment; that of IPCW, the default, is that censoring is independent
    of the event and of the predictions. It is never negative: the index of a perfectly calibrated model is above 0 by
    the noise of the curve. Near there its standard errors are no guide, as they take the curve to be off the diagonal.
    They take the knots, and how many there are, as given.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula, return_influence
        As in :func:`brier_score`.

    Returns
    -------
    array of shape (n_times,), float at a single time, or a dict of such; with ``return_influence`` a pair

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import integrated_calibration_index
    >>> rng = np.random.default_rng(0)
    >>> risk = np.exp(rng.normal(size=500))
    >>> y = (rng.exponential(1 / risk), np.ones(500))
    >>> right, too_low = (np.exp(-np.outer(factor * risk, [0.5, 1.0])) for factor in (1.0, 0.5))
    >>> integrated_calibration_index(y, y, right, [0.5, 1.0]).round(2)
    array([0.01, 0.02])
    >>> integrated_calibration_index(y, y, too_low, [0.5, 1.0]).round(2)
    array([0.15, 0.2 ])

    References
    ----------
    Austin, P. C., Harrell, F. E., van Klaveren, D. (2020). Graphical calibration curves and the integrated calibration
    index (ICI) for survival models. *Statistics in Medicine* 39, 2714–2742.
    """
    asked = Asked.of(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula)
    return asked.over_time(IntegratedCalibrationIndex(), return_influence)
