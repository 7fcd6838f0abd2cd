"""Predicted against observed chances of an event at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, IntArray, check_whole
from cocensor._notes import Note, noted
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.data.predictions import Predicted
from cocensor.inference.bands import normal_quantile, simultaneous_quantile
from cocensor.inference.estimates import ConfidenceInterval, Estimate, Estimates
from cocensor.metrics.calibration import curve_points
from cocensor.metrics.calibration_fit import SmoothCalibration, smooth_calibration
from cocensor.metrics.calibration_values import (
    Together,
    groups_by_risk,
    no_curve,
    of_curve,
    of_groups,
    rows_of,
    summaries,
)
from cocensor.metrics.scoring import Asked
from cocensor.metrics.sections import sections

_BINS = 20


@dataclass(frozen=True, eq=False)
class CalibrationGroups:
    """Groups of subjects of similar predicted risk, from the lowest on; part of a :class:`CalibrationCurve`.

    Attributes
    ----------
    predicted : array of shape (n_groups,)
        The mean predicted chance of an event in each group.
    observed, standard_error, low, high : array of shape (n_groups,)
        The share that had the event, with its standard error and interval.
    n : array of shape (n_groups,)
        The number of subjects.

    See Also
    --------
    survival_calibration_curve : Makes them, with an example.
    """

    predicted: FloatArray
    observed: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    n: IntArray


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Predicted against observed chances of an event by a ``time``; see :func:`survival_calibration_curve`.

    Attributes
    ----------
    time, confidence_level : float
    predicted, observed : array of shape (41,)
        The smooth curve, at equally spaced predictions from their 1 % to their 99 % quantile.
    standard_error, low, high, band_low, band_high : array of shape (41,)
        Of the curve: its standard error, the limits at each point, and those that hold it at all points at once.
    groups : CalibrationGroups
    counts, edges : array of shape (20,) and (21,)
        A histogram of the predictions, from 0 to the largest.
    mean_predicted, mean_observed, observed_expected : Estimate
        Means over all subjects and their ratio, observed over predicted.
    observed_expected_interval : ConfidenceInterval
        Of the ratio, on the log scale.
    slope, intercept : Estimate
        1 and 0 for perfect calibration.
    ici, e50, e90 : Estimate
        Mean, median and 90 % quantile of the distances of the curve from the diagonal, over subjects.
    notes : tuple of Note
        What was decided, and why something is missing.

    See Also
    --------
    survival_calibration_curve : Makes it, with an example.
    """

    time: float
    confidence_level: float
    predicted: FloatArray = field(repr=False)
    observed: FloatArray = field(repr=False)
    standard_error: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    band_low: FloatArray = field(repr=False)
    band_high: FloatArray = field(repr=False)
    groups: CalibrationGroups = field(repr=False)
    counts: IntArray = field(repr=False)
    edges: FloatArray = field(repr=False)
    mean_predicted: Estimate
    mean_observed: Estimate
    observed_expected: Estimate
    observed_expected_interval: ConfidenceInterval
    slope: Estimate
    intercept: Estimate
    ici: Estimate
    e50: Estimate
    e90: Estimate
    notes: tuple[Note, ...] = ()


def survival_calibration_curve(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    n_groups: int = 10,
    confidence_level: float = 0.95,
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
) -> Any:
    r"""Predicted against observed chances of an event at a time: a smooth curve, groups, and summaries.

    With :math:`p_i = 1 - \hat S_i(t)`, the weights :math:`a_i, b_i` of the adjustment (event-free at t, event by t) and
    :math:`x_i = \log(-\log \hat S_i(t))`:

    - the smooth curve is the one of :func:`integrated_calibration_index`, with limits at each point and a band that
      holds the whole curve, both made on the scale of the link;
    - groups of equal size by predicted risk, equal predictions together: the mean of p against
      :math:`\sum b/\sum (a + b)`;
    - over all subjects, the same, and observed/expected, its ratio;
    - the slope of a regression with complementary log-log link of :math:`b/(a + b)`, weighted by a + b, on x, and the
      intercept of one in which the slope is 1: a slope below 1 means predictions that are too extreme, an intercept
      below 0 predicted chances that are too high;
    - mean, median and 90 % quantile of the distances :math:`|\hat c(p_i) - p_i|`: ICI, E50, E90.

    Observed shares divide by the weights of those who count, :math:`\sum (a + b)`, not by their number: they are what
    the regression with a constant alone says, and lie between 0 and 1 where weights do not fall below 0. Imputed
    weights add up to 1, so that the two are the same; of IPCW by Kaplan–Meier of the same sample all weights add up to
    n, so that they are the same over all subjects, though not by group.

    All of it rests on the ``assumption`` of the adjustment; that of IPCW, the default, is that censoring is independent
    of the event and of the predictions. Standard errors account for the estimation of the weights where the adjustment
    knows how, and take the knots and the groups as given.

    Parameters
    ----------
    y_train, y_test, estimate, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.
    times : float or array-like
        For one time a curve, for several a list of them.
    n_groups : int
        Fewer where many predictions are equal.
    confidence_level : float

    Returns
    -------
    CalibrationCurve, or a list of such; for a dict of models a dict

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import survival_calibration_curve
    >>> rng = np.random.default_rng(0)
    >>> risk = np.exp(rng.normal(size=500))
    >>> event, dropout = rng.exponential(1 / risk), rng.exponential(2.0, size=500)
    >>> y = (np.minimum(event, dropout), event <= dropout)
    >>> found = survival_calibration_curve(y, y, np.exp(-np.outer(0.5 * risk, [1.0])), 1.0)
    >>> round(found.observed_expected.value, 2), round(found.slope.value, 2), round(found.intercept.value, 2)
    (1.47, 0.96, 0.77)
    >>> found.groups.predicted.round(2)[:3], found.groups.observed.round(2)[:3]
    (array([0.09, 0.16, 0.22]), array([0.24, 0.31, 0.47]))

    References
    ----------
    Austin, P. C., Harrell, F. E., van Klaveren, D. (2020). Graphical calibration curves and the integrated calibration
    index (ICI) for survival models. *Statistics in Medicine* 39, 2714–2742.

    Cox, D. R. (1958). Two further applications of a model for binary regression. *Biometrika* 45, 562–565.
    """
    normal_quantile(confidence_level)
    check_whole(n_groups, "n_groups")
    asked = Asked.of(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula)
    y = asked.samples.y_test

    def curves(status: EventWeights, predictions: Mapping[Any, Predicted]) -> dict[Any, Any]:
        at_each = [status.at_columns(slice(k, k + 1)) for k in range(status.grid.sorted.size)]
        places = range(len(at_each)) if status.grid.place is None else status.grid.place
        found = {}
        for name, each in predictions.items():
            by_time = [calibration_at(at, each, y, confidence_level, n_groups) for at in at_each]
            found[name] = by_time[0] if asked.single else [by_time[k] for k in places]
        return found

    return asked.each(curves)


def calibration_at(
    status: EventWeights, predictions: Predicted, y: Survival, level: float = 0.95, n_groups: int = 10
) -> CalibrationCurve:
    """The calibration of one model at the one time of a status of the test outcomes ``y``."""
    [tile] = status.tiles()
    found = [section for _, section in sections(status, tile, predictions)]
    if not found:
        raise ValueError(
            f"times must lie before {status.valid_until:g}, where the adjustment ends, but reach {status.grid.last:g}."
        )
    [section] = found
    smooth = section.once(smooth_calibration)
    group = groups_by_risk(section.order, n_groups)
    values = [of_curve(section, smooth), of_groups(section, group), summaries(section, smooth)]
    rows, unknown = rows_of(Together([each for some in values for each in some]), status, y)
    curve_rows, group_rows, summary_rows = np.split(
        rows, np.cumsum([len(some) for some in values])[:-1], axis=1
    )
    names = tuple(each.name for each in values[2])
    missing = {each.name: each.missing or unknown for each in values[2] if each.missing or unknown}
    found_values = np.array([each.value for each in values[2]])
    estimates = Estimates(names, found_values, summary_rows, missing=missing)
    ratio, interval = _ratio(estimates, level)
    predicted = 1.0 - section.survival
    counts, edges = np.histogram(predicted, bins=_BINS, range=(0.0, float(predicted.max()) or 1.0))
    shares = np.array([each.value for each in values[1]])
    return CalibrationCurve(
        time=section.time,
        confidence_level=level,
        **_curve(predicted, smooth, curve_rows, level),
        groups=_grouped(predicted, group, shares, group_rows, level),
        counts=counts,
        edges=edges,
        # The names are those of the fields that are estimates, which a type checker cannot know.
        **{name: estimates.estimate(name) for name in names},  # type: ignore[arg-type]
        observed_expected=ratio,
        observed_expected_interval=interval,
        notes=_notes(section.time, smooth, unknown, status),
    )


def _curve(
    predicted: FloatArray, smooth: SmoothCalibration | None, rows: FloatArray, level: float
) -> dict[str, Any]:
    """The points of the curve, their standard errors, limits at each point and for all."""
    points = curve_points(predicted)
    names = ("predicted", "observed", "standard_error", "low", "high", "band_low", "band_high")
    if smooth is None:
        return dict(zip(names, (points, *np.full((6, points.size), np.nan)), strict=True))
    # On the scale of the link they are combinations of the errors of a few coefficients.
    rows_on_link, log_hazard = rows @ smooth.design(points).T, smooth.log_hazard(points)
    errors = np.sqrt(np.square(rows_on_link).sum(axis=0))
    quantiles = normal_quantile(level), simultaneous_quantile(rows_on_link, level)
    limits = [each for quantile in quantiles for each in _limits(log_hazard, quantile * errors)]
    slope = np.exp(log_hazard - np.exp(log_hazard))
    found = (points, smooth.curve(points), errors * slope, *limits)
    return dict(zip(names, found, strict=True))


def _grouped(
    predicted: FloatArray, group: IntArray, shares: FloatArray, rows: FloatArray, level: float
) -> CalibrationGroups:
    """The groups; those in which nobody or everybody had the event have no limits."""
    n, errors = np.bincount(group), np.sqrt(np.square(rows).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        hazard = np.where((shares > 0) & (shares < 1), -np.log1p(-shares), np.nan)
        reach = normal_quantile(level) * errors / (hazard * np.exp(-hazard))
    return CalibrationGroups(
        np.bincount(group, predicted) / n, shares, errors, *_limits(np.log(hazard), reach), n
    )


def _limits(log_hazard: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Chances whose log cumulative hazard is less, and more, by ``reach``."""
    with np.errstate(over="ignore"):
        return -np.expm1(-np.exp(log_hazard - reach)), -np.expm1(-np.exp(log_hazard + reach))


def _ratio(estimates: Estimates, level: float) -> tuple[Estimate, ConfidenceInterval]:
    """Observed over expected, and its interval on the log scale."""
    expected, observed = (estimates.estimate(name) for name in ("mean_predicted", "mean_observed"))
    if not (expected.value > 0 and observed.value > 0):
        ratio = observed.value / expected.value if expected.value > 0 else np.nan
        return Estimate(ratio, np.nan, missing="one of the two means is 0"), ConfidenceInterval(
            np.nan, np.nan
        )
    ratio = observed.value / expected.value
    of_expected, of_observed = (
        estimates.errors[:, estimates.index(name)] for name in ("mean_predicted", "mean_observed")
    )
    error = float(np.linalg.norm(of_observed / observed.value - of_expected / expected.value))
    reach = float(np.exp(normal_quantile(level) * error))
    interval = ConfidenceInterval(ratio / reach, ratio * reach)
    return Estimate(ratio, ratio * error, missing=observed.missing), interval


def _notes(
    time: float, smooth: SmoothCalibration | None, unknown: str, status: EventWeights
) -> tuple[Note, ...]:
    if smooth is None:
        found = [noted("no_calibration_curve", why=f"{no_curve(time)}.")]
    else:
        found = list(smooth.notes)
    if unknown:
        found.append(noted("no_standard_errors", why=unknown))
    return (*found, *status.interval_caveats)
