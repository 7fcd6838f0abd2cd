"""The distance of predicted from observed chances of an event at a time, by a smooth calibration curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Unpack
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cocensor._checks import BoolArray, FloatArray
from cocensor._late import special
from cocensor._newton import Derivatives, minimise
from cocensor._notes import Note, noted
from cocensor._numerics import log1mexp
from cocensor.data.predictions import Predicted
from cocensor.joint.margins import Basis
from cocensor.metrics.base import Linear, Profile, Section, SectionMetric
from cocensor.metrics.scoring import Assumed, Given, score_function

#: Columns beside the constant.
DF = 4
# The outer knots are at these quantiles of x, the others between them, equally far in probability.
_OUTER = (0.05, 0.95)
# A column of which less than this share is unexplained by the others counts as explained.
_LEAST_SHARE = 1e-10
# Where data are separated, information falls towards 0, and steps move linear predictors by 1 for ever; both limits are
# far from what rounding can reach.
_LEAST_INFORMATION = 1e-8
_STEP = 1e-3
#: Makes the columns of a regression, (subjects, columns), from the predictions on the scale of the link.
Columns = Callable[[FloatArray], FloatArray]
# Of so few subjects the designs of each model are kept by time: they do not change with the weights.
_FEW = 2**14
_DESIGNS: WeakKeyDictionary[Predicted, dict[float, Any]] = WeakKeyDictionary()


@dataclass(frozen=True)
class CalibrationMetric(SectionMetric):
    """A summary of the distances between the smooth calibration curve and the diagonal."""

    at: float | None = None
    kind = "calibration"
    explanation = (
        "Calibration",
        "Whether, of those with a predicted chance of 30 %, 30 % have the event. The calibration curve shows the share "
        "with the event by what was predicted; on the diagonal the two are the same. The integrated calibration index "
        "(ICI) is the mean distance between them over the subjects, E50 the median, and E90 what a tenth of the "
        "subjects exceeds. 0 is perfect, but noise keeps every one of them above 0: small differences close to 0 mean "
        "little.",
    )
    direction = "lower"
    range = (0.0, 1.0)
    has_skill = False
    profile_labels = ("predicted probability of the event", "observed share with the event")
    profile_range = (0.0, 1.0)
    profile_style = "calibration"
    undefined = "nobody, or everybody, had the event"
    level: ClassVar[float | None] = None

    def value(self, section: Section) -> float:
        """The summary; NaN where there is no curve."""
        smooth = section.once(smooth_calibration)
        return np.nan if smooth is None else smooth.distance(self.level)

    def linear(self, section: Section) -> Linear:
        """The summary and its derivatives, by way of the coefficients of the curve."""
        smooth, n = section.once(smooth_calibration), section.event.size
        return Linear.undefined(n) if smooth is None else linear_distance(smooth, section, self.level)

    def profile(self, section: Section) -> Profile | None:
        """The smooth calibration curve; None where there is none."""
        smooth, points = section.once(smooth_calibration), curve_points(1.0 - section.survival)
        return None if smooth is None else Profile(points, smooth.curve(points))


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
    >>> three = [cc.metric(name, at=1.0) for name in ("ici", "e50", "e90")]
    >>> result = cc.evaluate(curves, y, times=[0.5, 1.0], adjustments="ipcw", metrics=three)
    >>> {metric.label: round(float(result.score("too low", metric.name)), 2) for metric in three}
    {'ICI at 1': 0.2, 'E50 at 1': 0.22, 'E90 at 1': 0.27}
    """

    name = "ici"
    label = "ICI"
    in_brief = "the mean distance between predicted risks and observed frequencies"


@dataclass(frozen=True)
class MedianCalibrationError(CalibrationMetric):
    """The median distance of predicted from observed chances at a time, E50; see :func:`integrated_calibration_index`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    See Also
    --------
    IntegratedCalibrationIndex : Has an example of all three.
    """

    name = "e50"
    label = "E50"
    in_brief = "the median distance between predicted risks and observed frequencies"
    level = 0.5


@dataclass(frozen=True)
class HighCalibrationError(CalibrationMetric):
    """The distance that a tenth of the predictions exceed at a time, E90; see :func:`integrated_calibration_index`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    See Also
    --------
    IntegratedCalibrationIndex : Has an example of all three.
    """

    name = "e90"
    label = "E90"
    in_brief = (
        "the distance between predicted risks and observed frequencies that a tenth of the subjects exceeds"
    )
    level = 0.9


def curve_points(predicted: FloatArray) -> FloatArray:
    """The predictions at which a calibration curve is given, from their 1 % to their 99 % quantile."""
    low, high = np.quantile(predicted, [0.01, 0.99])
    return np.linspace(low, high, 41)


def linear_distance(smooth: SmoothCalibration, section: Section, level: float | None) -> Linear:
    r"""The mean distance, or a quantile, with its derivatives.

    A change of the curve moves the mean by the mean change of the distances d, and a quantile by that of those near it.
    A subject's presence moves the mean by :math:`d_i - \theta`, the quantile by :math:`(u - 1[d_i \le
    \theta])/f(\theta)`.
    """
    gap, n = smooth.observed - smooth.predicted, smooth.predicted.size
    distances, value = np.abs(gap), smooth.distance(level)
    if level is None:
        counted, presence = np.ones(n) / n, distances - value
    else:
        near = _near(distances, level)
        counted = np.zeros(n)
        counted[near] = 1.0 / near.size
        sparsity = float(np.ptp(distances[near])) / (near.size / n)
        presence = np.where(distances <= value, level - 1.0, level) * sparsity
    slope = smooth.fit.hazard * np.exp(-smooth.fit.hazard)
    direction = smooth.fit.design.T @ (counted * np.sign(gap) * slope)
    by_a, by_b = smooth.fit.by_weights(direction)
    own = n * (section.event_free * by_a + section.event * by_b) + presence
    return Linear(value, by_a, by_b, own)


def _near(distances: FloatArray, level: float) -> npt.NDArray[np.intp]:
    """Return the subjects whose distances are around a quantile, within Bofinger's width of its level."""
    n, z = distances.size, float(special.ndtri(level))
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    half = n**-0.2 * (4.5 * density**4 / (2.0 * z * z + 1.0) ** 2) ** 0.2
    first = max(0, int(np.floor(n * (level - half))))
    last = min(n - 1, int(np.ceil(n * (level + half))))
    return np.argpartition(distances, [first, last])[first : last + 1]


@score_function
def integrated_calibration_index(
    given: Given, *, return_influence: bool = False, **how: Unpack[Assumed]
) -> Any:
    r"""The mean distance, over subjects, of predicted from observed chances of an event, at each time.

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

    The index rests on the ``assumption`` of the adjustment. It is never negative: the index of a perfectly calibrated
    model is above 0 by the noise of the curve. Near there its standard errors are no guide, as they take the curve to
    be off the diagonal. They take the knots, and how many there are, as given.

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
    return given.read(**how).over_time(IntegratedCalibrationIndex(), return_influence)


class Scores(NamedTuple):
    """The predictions on the scale of the link; 0 and 1 are ``held`` at the most extreme others, or at −1 and 1."""

    x: FloatArray
    low: float
    high: float
    held: int

    @classmethod
    def of(cls, survival: FloatArray) -> Scores:
        """Return the scores of all subjects."""
        x = _on_link(survival)
        finite = np.isfinite(x)
        low, high = (x[finite].min(), x[finite].max()) if finite.any() else (-1.0, 1.0)
        return cls(np.clip(x, low, high), float(low), float(high), int((~finite).sum()))

    def at(self, survival: FloatArray) -> FloatArray:
        """Return the scores of other predictions, held at the same ends."""
        return np.clip(_on_link(survival), self.low, self.high)


def _on_link(survival: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(-np.log(survival))


@dataclass(frozen=True, eq=False)
class SmoothCalibration:
    """A fitted curve: ``predicted`` and ``observed`` are the chances of an event of each subject."""

    scores: Scores
    columns: Columns
    fit: CloglogFit
    predicted: FloatArray

    @property
    def df(self) -> int:
        """The number of columns beside the constant."""
        return self.fit.coefficients.size - 1

    @property
    def observed(self) -> FloatArray:
        """The curve at the prediction of each subject."""
        return self.fit.chance

    def distance(self, level: float | None) -> float:
        """The mean distance from the diagonal, or a quantile of distances."""
        distances = np.abs(self.observed - self.predicted)
        return float(distances.mean() if level is None else np.quantile(distances, level))

    def design(self, predicted: FloatArray) -> FloatArray:
        """The columns of the regression at other predictions."""
        return self.columns(self.scores.at(1.0 - predicted))

    def curve(self, predicted: FloatArray) -> FloatArray:
        """The curve at other predictions."""
        return -np.expm1(-np.exp(self.design(predicted) @ self.fit.coefficients))

    @property
    def notes(self) -> Iterator[Note]:
        """The decisions behind the curve."""
        if self.scores.held:
            yield noted("extreme_in_curve", n=self.scores.held)
        if self.df < DF:
            yield noted("curve_is_simpler", df=self.df, of=DF)


def smooth_calibration(section: Section) -> SmoothCalibration | None:
    """The curve with up to 4 degrees of freedom, as the data allow; None where nobody, or everybody, had the event."""
    a, b = section.event_free, section.event
    used = (a != 0) | (b != 0)
    few = bool(used.all()) and used.size <= _FEW
    kept = _DESIGNS.setdefault(section.predictions, {}) if few else {}
    if section.time not in kept:
        scores = Scores.of(section.survival)
        designs = ((columns, columns(scores.x)) for columns in _designs(scores.x, used))
        kept[section.time] = scores, list(designs) if few else designs
    scores, candidates = kept[section.time]
    for columns, design in candidates:
        fit = fit_cloglog(design, a, b)
        if fit is not None:
            return SmoothCalibration(scores, columns, fit, 1.0 - section.survival)
    return None


def _designs(x: FloatArray, used: BoolArray) -> Iterator[Columns]:
    """Yield designs, from the richest natural spline in x that the predictions allow, by a line, to the constant."""
    counted = x[used]
    distinct = np.unique(counted).size
    if distinct > 1:
        centre, spread = float(counted.mean()), float(counted.std())
        z, all_z = (counted - centre) / spread, (x - centre) / spread
        for df in range(min(DF, distinct - 1), 0, -1):
            knots = np.quantile(all_z, np.linspace(*_OUTER, df + 1)) if df > 1 else np.empty(0)
            if np.unique(knots).size < knots.size:
                continue
            columns = Basis(knots).values(z)
            if _least_share(columns.T @ columns) > _LEAST_SHARE:
                yield partial(_spline, Basis(knots).orthonormal(z), centre, spread)
    yield lambda at: np.ones((at.size, 1))


def _spline(basis: Basis, centre: float, spread: float, x: FloatArray) -> FloatArray:
    return basis.values((x - centre) / spread)


@dataclass(frozen=True, eq=False)
class CloglogFit:
    r"""A fitted regression: K coefficients, the design (n, K), and :math:`h = e^\eta` of each subject."""

    coefficients: FloatArray
    design: FloatArray
    hazard: FloatArray
    inverse_information: FloatArray

    @property
    def chance(self) -> FloatArray:
        """The fitted chance of an event, of each subject."""
        return -np.expm1(-self.hazard)

    def by_weights(self, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The derivatives by a and by b of each subject of the combination ``direction`` of the coefficients."""
        moved = self.design @ (self.inverse_information @ direction)
        return -self.hazard * moved, _event_score(self.hazard) * moved


def fit_cloglog(
    design: FloatArray, a: FloatArray, b: FloatArray, offset: FloatArray | float = 0.0
) -> CloglogFit | None:
    """The regression on a design that spans a constant, or is 1; None where it has no solution."""
    total = float(a.sum() + b.sum())
    share = float(b.sum()) / total if total > 0 else np.nan
    if not 0.0 < share < 1.0:
        return None

    @np.errstate(all="ignore")  # what is not finite ends the search
    def derivatives(point: FloatArray) -> Derivatives:
        hazard = np.exp(design @ point + offset)
        loss = float((a @ hazard - b @ np.where(b == 0, 0.0, log1mexp(hazard))) / total)
        of_event = _event_score(hazard)
        curvature = a * hazard - b * of_event * (1.0 - hazard - of_event)
        gradient = design.T @ (a * hazard - b * of_event) / total
        hessian = design.T @ (curvature[:, None] * design) / total
        return Derivatives(loss if np.isfinite(loss) else np.inf, gradient, hessian)

    constant = np.log(-np.log1p(-share)) - offset
    start = np.linalg.lstsq(design, np.broadcast_to(constant, a.shape), rcond=None)[0]
    optimum = minimise(
        derivatives, None, start, tolerance=1e-20, slack=1e-13, hopeless=_is_separated, max_iter=60
    )
    point, at = optimum.point, optimum.at
    if not np.isfinite(at.hessian).all() or _is_separated(at):
        return None
    if np.abs(design @ np.linalg.solve(at.hessian, at.gradient)).max() > _STEP:
        return None
    inverse: FloatArray = np.linalg.inv(at.hessian) / np.float64(total)
    return CloglogFit(point, design, np.exp(design @ point + offset), inverse)


def _event_score(hazard: FloatArray) -> FloatArray:
    """The derivative g of log c by the linear predictor."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return np.where(hazard > 0, hazard / np.expm1(hazard), 1.0)


def _is_separated(at: Derivatives) -> bool:
    """Whether the information is next to none in some direction."""
    return _least_share(at.hessian) < _LEAST_INFORMATION


def _least_share(products: FloatArray) -> float:
    """The least eigenvalue of products of columns, each in its own unit; 0 where one of these has no length."""
    scale = np.sqrt(np.abs(np.diag(products)))
    return float(np.linalg.eigvalsh(products / np.outer(scale, scale))[0]) if scale.min() > 0 else 0.0
