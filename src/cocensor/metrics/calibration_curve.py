"""Predicted against observed chances of an event at a time, and mean curves over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from cocensor._checks import BoolArray, Counts, FloatArray, IntArray, check_whole
from cocensor._notes import Note, noted
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import Linearised
from cocensor.data import Survival
from cocensor.data.predictions import Predicted
from cocensor.data.times import shown_time
from cocensor.inference.bands import normal_quantile, simultaneous_quantile
from cocensor.inference.estimates import ConfidenceInterval, Estimate, Estimates
from cocensor.inference.influence import batched_rows
from cocensor.metrics.base import (
    Linear,
    LinearAtOneTime,
    Models,
    Section,
    SectionFunctionals,
    by_section,
    over_sections,
)
from cocensor.metrics.calibration import (
    CloglogFit,
    Scores,
    SmoothCalibration,
    curve_points,
    fit_cloglog,
    linear_distance,
    smooth_calibration,
)
from cocensor.metrics.scoring import Assumed, Given, result_function


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
        The smooth curve, at equally spaced predictions from their 1% to their 99% quantile.
    standard_error, low, high, band_low, band_high : array of shape (41,)
        Of the curve: its standard error, the limits at each point, and those that hold it at all points at once.
    groups : CalibrationGroups
    counts, edges : array of shape (20,) and (21,)
        A histogram of the predictions, from 0 to the largest, by weight.
    mean_predicted, mean_observed, observed_expected : Estimate
        Means over all subjects and their ratio, observed over predicted.
    observed_expected_interval : ConfidenceInterval
        Of the ratio, on the log scale.
    slope, intercept : Estimate
        1 and 0 for perfect calibration.
    ici, e50, e90 : Estimate
        Mean, median and 90% quantile of the distances of the curve from the diagonal, over subjects.
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
    counts: Counts = field(repr=False)
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

    #: The fields that are single numbers, and what they are called in tables.
    summaries: ClassVar[dict[str, str]] = {
        "mean_predicted": "mean predicted",
        "mean_observed": "observed",
        "observed_expected": "observed over expected",
        "slope": "slope",
        "intercept": "intercept",
        "ici": "ICI",
        "e50": "E50",
        "e90": "E90",
    }


@result_function
def survival_calibration_curve(
    given: Given, *, n_groups: int = 10, confidence_level: float = 0.95, **how: Unpack[Assumed]
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
    - mean, median and 90% quantile of the distances :math:`|\hat c(p_i) - p_i|`: ICI, E50, E90.

    Observed shares divide by the weights of those who count, :math:`\sum (a + b)`, not by their number: they are what
    the regression with a constant alone says, and lie between 0 and 1 where weights do not fall below 0. Under
    imputation the two are the same; under IPCW by Kaplan–Meier of the same sample over all subjects, but not by group.

    All of it rests on the ``assumption`` of the adjustment. Standard errors account for the estimation of the weights
    where the adjustment knows how, and take the knots and the groups as given.

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
    >>> curve = survival_calibration_curve(y, y, np.exp(-np.outer(0.5 * risk, [1.0])), 1.0)
    >>> round(curve.observed_expected.value, 2), round(curve.slope.value, 2), round(curve.intercept.value, 2)
    (1.47, 0.96, 0.77)
    >>> curve.groups.predicted.round(2)[:3], curve.groups.observed.round(2)[:3]
    (array([0.09, 0.16, 0.22]), array([0.24, 0.31, 0.47]))

    References
    ----------
    Austin, Harrell and van Klaveren (2020), as for :func:`integrated_calibration_index`.

    Cox, D. R. (1958). Two further applications of a model for binary regression. *Biometrika* 45, 562–565.
    """
    normal_quantile(confidence_level)
    check_whole(n_groups, "n_groups")
    request = given.read(**how)
    y = request.samples.y_test

    def curves(status: EventWeights, models: Models) -> dict[Any, CalibrationCurve]:
        return {name: calibration_at(status, models[name], y, confidence_level, n_groups) for name in models}

    return request.each_time(curves)


def calibration_at(
    status: EventWeights, predictions: Predicted, y: Survival, level: float = 0.95, n_groups: int = 10
) -> CalibrationCurve:
    """The calibration of one model at the one time of a status of the test outcomes ``y``."""
    section = next((section for _, _, section in by_section(status, {"": predictions})), None)
    if section is None:
        raise ValueError(
            f"times must lie before {status.valid_until:g}, where the adjustment ends, but reach {status.grid.last:g}."
        )
    smooth = section.once(smooth_calibration)
    group = groups_by_risk(section, n_groups)
    groups = [_observed(section, group == k) for k in range(int(group.max()) + 1)]
    summaries, fit = _summaries(section, smooth), None if smooth is None else smooth.fit
    coefficients = [] if fit is None else [_coefficient(fit, k) for k in range(fit.coefficients.size)]
    values = [*coefficients, *groups, *summaries.values()]
    rows, unknown = rows_of(LinearAtOneTime([value.linear for value in values]), status, y)
    curve_rows, group_rows, summary_rows = np.split(rows, np.cumsum([len(coefficients), len(groups)]), axis=1)
    missing = {name: why for name, summary in summaries.items() if (why := summary.missing or unknown)}
    found = np.array([summary.value for summary in summaries.values()])
    estimates = Estimates(tuple(summaries), found, summary_rows, missing=missing)
    estimated: dict[str, Any] = {name: estimates.estimate(name) for name in summaries}
    ratio, interval = _ratio(estimates, level)
    predicted = 1.0 - section.survival
    limits = 0.0, float(predicted.max()) or 1.0
    counts, edges = np.histogram(predicted, bins=20, range=limits, weights=section.sampling)
    notes = [noted("no_calibration_curve", why=f"{_no_curve(section)}.")] if smooth is None else smooth.notes
    without_errors = [noted("no_standard_errors", why=unknown)] if unknown else []
    shares = np.array([share.value for share in groups])
    return CalibrationCurve(
        section.time,
        level,
        **_curve(section, smooth, curve_rows, level),
        groups=_grouped(section, group, shares, group_rows, level),
        counts=counts,
        edges=edges,
        **estimated,
        observed_expected=ratio,
        observed_expected_interval=interval,
        notes=(*notes, *without_errors, *status.interval_caveats),
    )


def _curve(
    section: Section, smooth: SmoothCalibration | None, rows: FloatArray, level: float
) -> dict[str, Any]:
    """The points of the curve, their standard errors, limits at each point and for all."""
    points = curve_points(section)
    names = ("predicted", "observed", "standard_error", "low", "high", "band_low", "band_high")
    if smooth is None:
        return dict(zip(names, (points, *np.full((6, points.size), np.nan)), strict=True))
    # On the scale of the link errors are combinations of those of a few coefficients.
    design = smooth.design(points)
    rows_on_link, log_hazard = rows @ design.T, design @ smooth.fit.coefficients
    errors = np.sqrt(np.square(rows_on_link).sum(axis=0))
    low, high = _limits(log_hazard, normal_quantile(level) * errors)
    band = _limits(log_hazard, simultaneous_quantile(rows_on_link, level) * errors)
    slope = np.exp(log_hazard - np.exp(log_hazard))
    curves = (points, smooth.curve(points), errors * slope, low, high, *band)
    return dict(zip(names, curves, strict=True))


def _grouped(
    section: Section, group: IntArray, shares: FloatArray, rows: FloatArray, level: float
) -> CalibrationGroups:
    """The groups; those in which nobody or everybody had the event have no limits."""
    n, errors = np.bincount(group[section.weight > 0]), np.sqrt(np.square(rows).sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        hazard = np.where((shares > 0) & (shares < 1), -np.log1p(-shares), np.nan)
        reach = normal_quantile(level) * errors / (hazard * np.exp(-hazard))
    means = np.bincount(group, section.weight * (1.0 - section.survival)) / np.bincount(group, section.weight)
    return CalibrationGroups(means, shares, errors, *_limits(np.log(hazard), reach), n)


def _limits(log_hazard: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Chances whose log cumulative hazard is less, and more, by ``reach``."""
    with np.errstate(over="ignore"):
        return -np.expm1(-np.exp(log_hazard - reach)), -np.expm1(-np.exp(log_hazard + reach))


def _ratio(estimates: Estimates, level: float) -> tuple[Estimate, ConfidenceInterval]:
    """Observed over expected, and its interval on the log scale."""
    names = ("mean_predicted", "mean_observed")
    expected, observed = (estimates.estimate(name) for name in names)
    ratio = observed.value / expected.value if expected.value > 0 else np.nan
    if not (expected.value > 0 and observed.value > 0):
        missing = Estimate(ratio, np.nan, missing="one of the two means is 0")
        return missing, ConfidenceInterval(np.nan, np.nan)
    by_expected, by_observed = (estimates.errors[:, estimates.index(name)] for name in names)
    error = float(np.linalg.norm(by_observed / observed.value - by_expected / expected.value))
    reach = float(np.exp(normal_quantile(level) * error))
    interval = ConfidenceInterval(ratio / reach, ratio * reach)
    return Estimate(ratio, ratio * error, missing=observed.missing), interval


def groups_by_risk(section: Section, n_groups: int) -> IntArray:
    """The group of each subject, of equal weight by predicted risk; equal predictions go where their middle belongs."""
    order, n = section.order, section.event.size
    first, end = (np.arange(n), np.arange(1, n + 1)) if order.ties is None else order.ties
    until = np.append(0.0, np.cumsum(section.weight[order.rows]))
    middle = np.floor_divide(n_groups * np.maximum(until[first] + until[end] - 1.0, 0.0), 2.0 * until[-1])
    return order.by_subject(np.unique(middle, return_inverse=True)[1])


class Value(NamedTuple):
    """A value, and what gives its derivatives; NaN, and why, where it is ``missing``."""

    value: float
    linear: Callable[[], Linear]
    missing: str = ""


def _missing(section: Section, why: str) -> Value:
    return Value(np.nan, partial(Linear.undefined, section.event.size), why)


def _no_curve(section: Section) -> str:
    return f"by {shown_time(section.time)} nobody, or everybody, had the event"


def _summaries(section: Section, smooth: SmoothCalibration | None) -> dict[str, Value]:
    """Means, slope and intercept, and distances from the diagonal."""
    a, b, x = section.event_free, section.event, Scores.of(section.survival, section.sampling).x
    counted, constant = x[(a != 0) | (b != 0)], np.ones((x.size, 1))
    slope = _missing(section, "all predictions are equal")
    if counted.size and np.ptp(counted) > 0:
        slope = _fitted(section, fit_cloglog(np.column_stack((constant, x - counted.mean())), a, b), 1)
    summaries = {
        "mean_predicted": _mean(section),
        "mean_observed": _observed(section, np.ones(x.size, dtype=bool)),
        "slope": slope,
        "intercept": _fitted(section, fit_cloglog(constant, a, b, offset=x), 0),  # where the slope is 1
    }
    for name, level in ("ici", None), ("e50", 0.5), ("e90", 0.9):
        if smooth is None:
            summaries[name] = _missing(section, _no_curve(section))
        else:
            linear = partial(linear_distance, smooth, section, level)
            summaries[name] = Value(smooth.distance(level), linear)
    return summaries


def _fitted(section: Section, fit: CloglogFit | None, k: int) -> Value:
    if fit is not None:
        return _coefficient(fit, k)
    share = section.event.sum() / (section.event + section.event_free).sum()
    perfect = "the predictions separate perfectly those with the event from the others"
    return _missing(section, perfect if 0 < share < 1 else _no_curve(section))


def _coefficient(fit: CloglogFit, k: int) -> Value:
    value = float(fit.coefficients[k])
    return Value(value, lambda: Linear(value, *fit.by_weights(np.eye(fit.coefficients.size)[k])))


def _mean(section: Section) -> Value:
    predicted = 1.0 - section.survival
    mean, nothing = section.mean(predicted), np.zeros(predicted.size)
    return Value(mean, lambda: Linear(mean, nothing, nothing, section.shares * (predicted - mean)))


def _observed(section: Section, member: BoolArray) -> Value:
    """The share of some subjects that had the event."""
    event = float(section.event[member].sum())
    total = event + float(section.event_free[member].sum())
    if not total > 0:
        return _missing(section, "nobody counts")
    share = event / total

    def linear() -> Linear:
        by_a, by_b = (np.where(member, by, 0.0) for by in (-share / total, (1.0 - share) / total))
        return Linear(share, by_a, by_b)

    return Value(share, linear)


def rows_of(values: Linearised, status: EventWeights, y: Survival) -> tuple[FloatArray, str]:
    """Rows of the errors of values under a status, NaN where there are none; and why that is."""
    try:
        if status.n < 2:
            raise ValueError("a single subject gives no standard error.")
        return batched_rows(status, values, y), ""
    except ValueError as error:
        return np.full((1, values.size), np.nan), str(error)


@dataclass(frozen=True, eq=False)
class MeanCalibration:
    """Mean predicted and observed event-free shares over time; see :func:`mean_calibration`.

    Attributes
    ----------
    times, predicted, observed : array of shape (T,)
    standard_error, low, high : array of shape (T,)
        Of the difference, observed minus predicted, at each time.
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
        """Observed minus predicted."""
        return self.observed - self.predicted


@result_function
def mean_calibration(
    given: Given, *, confidence_level: float = 0.95, **how: Unpack[Assumed]
) -> MeanCalibration:
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
    >>> means = mean_calibration(y, y, predicted, [1.5, 3.5])
    >>> means.predicted, means.observed
    (array([0.8  , 0.475]), array([0.75 , 0.375]))
    >>> means.standard_error.round(3)
    array([0.185, 0.247])
    """
    quantile = normal_quantile(confidence_level)
    request = given.read(**how)

    def curves(status: EventWeights, models: Models) -> dict[Any, MeanCalibration]:
        functionals = SectionFunctionals.over_time(_difference, status, models)
        rows, unknown = rows_of(functionals, status, request.samples.y_test)
        notes = (noted("no_standard_errors", why=unknown),) if unknown else ()
        names = tuple(map(str, range(status.times.size)))
        means = over_sections(status, models, _predicted_and_observed, 2)
        by_model, split = {}, np.split(rows, len(models), axis=1)
        for own, (name, (predicted, observed)) in zip(split, means.items(), strict=True):
            gap = observed - predicted
            estimates = Estimates(names, gap, own)
            error, band = estimates.standard_errors, estimates.band(confidence_level)
            limits = (gap - quantile * error, gap + quantile * error, band.low, band.high)
            by_model[name] = MeanCalibration(status.times, predicted, observed, error, *limits, notes)
        return by_model

    return request.each(curves)


def _predicted_and_observed(section: Section) -> tuple[float, float]:
    """The mean predicted, and the share observed event-free; NaN where nobody counts."""
    total = float(section.event_free.sum() + section.event.sum())
    observed = float(section.event_free.sum()) / total if total > 0 else np.nan
    return section.mean(section.survival), observed


def _difference(section: Section) -> Linear:
    """The observed minus the predicted, by the rule for quotients; ``own`` has the mean prediction too."""
    a, b = section.event_free, section.event
    predicted, observed = _predicted_and_observed(section)
    total = float(a.sum() + b.sum())
    by_a, by_b = np.full(a.size, (1.0 - observed) / total), np.full(a.size, -observed / total)
    own = a.size * (a * by_a + b * by_b) - section.shares * (section.survival - predicted)
    return Linear(observed - predicted, by_a, by_b, own)
