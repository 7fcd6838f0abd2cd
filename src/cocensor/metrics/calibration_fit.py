r"""The smooth calibration curve at a time: how many have the event of those for whom a chance p is predicted.

The status is regressed on :math:`x_i = \log(-\log \hat S_i(t))` by a natural cubic spline with the complementary
log-log link (:mod:`cocensor.metrics.cloglog`), so that a straight line of slope 1 through the origin is perfect
calibration, and proportional hazards between truth and prediction are another line of slope 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cocensor._checks import BoolArray, FloatArray
from cocensor._notes import Note, noted
from cocensor.joint.margins import Basis
from cocensor.metrics.cloglog import CloglogFit, fit_cloglog
from cocensor.metrics.sections import Section

#: Columns beside the constant.
DF = 4
# The outer knots are at these quantiles of x, the others between them, equally far in probability.
_OUTER = (0.05, 0.95)
# A column of which less than this share is unexplained by the others counts as explained.
_LEAST_SHARE = 1e-10


class Scores(NamedTuple):
    """The predictions at a time on the scale of the link.

    Predictions of exactly 0 or 1 are infinite there: they are ``held`` at the most extreme of the others, and at −1 and
    1 where there are no others.
    """

    x: FloatArray
    low: float
    high: float
    held: int

    @classmethod
    def of(cls, survival: FloatArray) -> Scores:
        """Those of all subjects."""
        x = _on_link(survival)
        finite = np.isfinite(x)
        low, high = (x[finite].min(), x[finite].max()) if finite.any() else (-1.0, 1.0)
        return cls(np.clip(x, low, high), float(low), float(high), int((~finite).sum()))

    def at(self, survival: FloatArray) -> FloatArray:
        """Those of other predictions, held at the same ends."""
        return np.clip(_on_link(survival), self.low, self.high)


def _on_link(survival: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(-np.log(survival))


@dataclass(frozen=True, eq=False)
class _Form:
    """A constant, a straight line or a natural spline in x, of some ``df`` beside the constant."""

    df: int
    centre: float
    spread: float
    basis: Basis

    def columns(self, x: FloatArray) -> FloatArray:
        """The design at x."""
        if not self.df:
            return np.ones((x.size, 1))
        return self.basis.values((x - self.centre) / self.spread)


@dataclass(frozen=True, eq=False)
class SmoothCalibration:
    """A fitted curve: ``predicted`` and ``observed`` are the chances of an event of each subject."""

    scores: Scores
    form: _Form
    fit: CloglogFit
    predicted: FloatArray

    @property
    def observed(self) -> FloatArray:
        """The curve at the prediction of each subject."""
        return self.fit.chance

    def design(self, predicted: FloatArray) -> FloatArray:
        """The columns of the regression at other predictions."""
        return self.form.columns(self.scores.at(1.0 - predicted))

    def log_hazard(self, predicted: FloatArray) -> FloatArray:
        """The curve c at other predictions on the scale of the link, log(−log(1 − c))."""
        return self.design(predicted) @ self.fit.coefficients

    def curve(self, predicted: FloatArray) -> FloatArray:
        """The curve at other predictions."""
        return -np.expm1(-np.exp(self.log_hazard(predicted)))

    @property
    def notes(self) -> Iterator[Note]:
        """What was decided on the way."""
        if self.scores.held:
            yield noted("extreme_in_curve", n=self.scores.held)
        if self.form.df < DF:
            yield noted("curve_is_simpler", df=self.form.df, of=DF)


def smooth_calibration(section: Section) -> SmoothCalibration | None:
    """The curve with up to 4 degrees of freedom, as the data allow; None where nobody, or everybody, had the event.

    There must be more distinct predictions, of subjects that count, than degrees of freedom; and where the fit has no
    solution, because the spline separates perfectly those with the event, there is one less.
    """
    a, b = section.event_free, section.event
    scores = Scores.of(section.survival)
    for form in _forms(scores.x, (a != 0) | (b != 0)):
        fit = fit_cloglog(form.columns(scores.x), a, b)
        if fit is not None:
            return SmoothCalibration(scores, form, fit, 1.0 - section.survival)
    return None


def _forms(x: FloatArray, used: BoolArray) -> Iterator[_Form]:
    """From the richest that the predictions allow to the constant."""
    counted = x[used]
    distinct = np.unique(counted).size
    if distinct > 1:
        centre, spread = float(counted.mean()), float(counted.std())
        z, all_z = (counted - centre) / spread, (x - centre) / spread
        for df in range(min(DF, distinct - 1), 0, -1):
            knots = np.quantile(all_z, np.linspace(*_OUTER, df + 1)) if df > 1 else np.empty(0)
            if np.unique(knots).size == knots.size and _has_full_rank(Basis(knots).values(z)):
                yield _Form(df, centre, spread, Basis(knots).orthonormal(z))
    yield _Form(0, 0.0, 1.0, Basis(np.empty(0)))


def _has_full_rank(columns: FloatArray) -> bool:
    length = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    if not length.min() > 0:
        return False
    scaled = columns / length
    return bool(np.linalg.eigvalsh(scaled.T @ scaled)[0] > _LEAST_SHARE)
