"""Kaplan–Meier and Copula-Graphic: one margin of (E, C) from observed outcomes."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    FloatArray,
    Side,
    as_probabilities,
    as_times,
    broadcast,
    check_choice,
    check_number,
    refuse_first,
)
from cocensor._late import special
from cocensor._numerics import hazard_from_survival, lookup, scalar_like
from cocensor.copulas import ArchimedeanCopula, Copula, Independence
from cocensor.copulas.base import log_step
from cocensor.data import StepFunction, Survival
from cocensor.data.interpolation import TAILS, Tail, tail_area, tail_quantile, tail_values
from cocensor.data.risk_table import WhichMargin
from cocensor.estimators.influence import MarginInfluence
from cocensor.warnings import TiedTimesWarning

#: What is known of a censored subject.
Conditioning = Literal["event_free", "dropout", "administrative"]


class MarginEstimator:
    """A nonparametric survival curve of the event (or of the dropout) under a stated copula of the two.

    After ``fit``: ``survival_`` (the curve, a :class:`StepFunction`), ``n_`` (the sample size, or the sum of the case
    weights), ``t_max_`` (the largest observed time, where the curve's support ends unless it has reached 0),
    ``risk_table_`` (how many were at risk, had events and dropped out at each time).
    """

    copula: ArchimedeanCopula
    of: WhichMargin

    def fit(self, y: Any, sample_weight: Any = None) -> Self:
        """Estimate the curve from outcomes: a :class:`Survival`, or what it can be coerced from.

        ``sample_weight`` are case weights, one for each subject: a subject of weight w counts w times, in the curve as
        in its variance and intervals, and one of weight 0 is left out. Whole weights are the same as repeated rows;
        others need not be. The sum of the weights is the sample size, so that weights in another unit leave the curve
        as it is, but not its variance.
        """
        check_choice(self.of, "of", ("event", "dropout"))
        outcomes = Survival.coerce(y)
        weighted = sample_weight is not None
        self.risk_table_ = outcomes.weighted_risk_table(sample_weight) if weighted else outcomes.risk_table
        self.n_ = self.risk_table_.n
        self.t_max_ = float(self.risk_table_.times[-1])
        self.survival_ = self.copula.graphic_curve(self.risk_table_.margin(self.of))
        self._other: StepFunction | None = None
        self._influence: MarginInfluence | None = None
        return self

    def predict(self, t: npt.ArrayLike, side: Side = "right", *, tail: Tail | None = None) -> Any:
        """The curve at ``t``: S(t), or S(t−) with ``side="left"``.

        Beyond ``t_max_`` a curve that has not reached 0 is not defined: asking for it is an error, unless
        a ``tail`` rule says how it goes on (see ``tail`` of :class:`Predictions`).
        """
        t = as_times(t, "t")
        rule = self._tail_rule(t, tail, "t")
        beyond = tail_values(rule, self._last, self.t_max_, t)
        return scalar_like(np.where(t > self.support_, beyond, self._fitted()(t, side)), t)

    def variance(self, t: npt.ArrayLike) -> Any:
        r"""The variance of S(t), by the infinitesimal jackknife.

        With :math:`\psi(p) = p\varphi'(p)` and :math:`\pi` the joint survival probability before
        (:math:`\pi_j^-`) and after (:math:`\pi_j^e`) the events at a time, S(t) has the influence

        .. math:: \frac{S(t)}{\psi(S(t))} \sum_{u_j \le t} \left[ \psi(\pi_j^e)\,\delta\log(1 - d_j/n_j)
            + (\psi(\pi_j^e) - \psi(\pi_j^-))\,\delta\log\pi_j^- \right],

        a sum of uncorrelated terms. At independence ψ is constant and this is Greenwood's formula, ties
        included. NaN where the curve has reached 0, which says nothing about its own variance.
        """
        t = as_times(t, "t")
        self._tail_rule(t, None, "t", hint="")
        return scalar_like(self._influences().variance[lookup(self.survival_.times, t)], t)

    def confidence_interval(self, t: npt.ArrayLike, level: float = 0.95) -> tuple[Any, Any]:
        r"""A pointwise interval for S(t), symmetric on the scale log(−log S), so that it stays in [0, 1].

        NaN where the curve has reached 0. Before the first event the curve is 1 and has no variance; there the interval
        is exact, :math:`[S_L, 1]`. All n subjects at risk at t have outlasted it, which has the probability
        :math:`[C(S_E, S_C)/S_C]^n` given that they did not drop out before. The lower limit is the :math:`S_E` at which
        that is α/2 (α = 1 − ``level``),

        .. math:: C(S_L, S_C(t-)) = (\alpha/2)^{1/n} S_C(t-),

        which is the binomial limit :math:`(\alpha/2)^{1/n}` at independence. R's ``survfit`` has NA there.

        Warns (:class:`TiedTimesWarning`) where tied events and dropouts make the interval cover too little, which is
        checked under dependence only.
        """
        level = check_number(level, "level", lower=0.0, upper=1.0)
        t = as_times(t, "t")
        survival, variance = np.asarray(self.predict(t)), np.asarray(self.variance(t))
        if not self.copula.is_independence:
            warn_of_ties(t, survival - np.asarray(self._dropouts_first()(t)), np.sqrt(variance))
        z = float(special.ndtri(0.5 + 0.5 * level))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            log_survival = np.log(survival)
            spread = z * np.sqrt(variance) / (survival * -log_survival)
            lower = np.asarray(np.exp(log_survival * np.exp(spread)))
            upper = np.asarray(np.exp(log_survival * np.exp(-spread)))
        flat = survival == 1.0
        if flat.any():
            exposed, hazard = self.risk_table_.exposed_at(self.of, t[flat])
            some = np.where(exposed > 0, exposed, 1)
            lost = -np.expm1(np.log(0.5 - 0.5 * level) / some)
            some_left = (exposed > 0) & (lost < 1.0)  # of next to no weight at risk, rounding leaves nothing
            limit = self.copula.single_step(hazard, np.where(some_left, lost, 0.5))
            lower[flat] = np.where(some_left, limit, 0.0)
            upper[flat] = 1.0
        return scalar_like(lower, t), scalar_like(upper, t)

    def quantile(self, p: npt.ArrayLike, *, tail: Tail | None = None) -> Any:
        r"""The smallest t with :math:`S(t) \le 1 - p`; the median is ``quantile(0.5)``.

        A quantile that the curve does not reach by ``t_max_`` is an error unless a ``tail`` is given.
        """
        curve = self._fitted()
        p = as_probabilities(p, "p", interior=True)
        result = np.asarray(curve.quantile(p))
        missing = np.isinf(result)
        if tail is not None:
            check_choice(tail, "tail", TAILS)
            result = np.where(missing, tail_quantile(tail, self._last, self.t_max_, 1.0 - p), result)
        elif missing.any():
            rule = f"p must not exceed {1 - self._last:.6g}, where the curve ends, unless tail is set"
            refuse_first(missing, p, rule)
        return scalar_like(result, p)

    def rmst(self, horizon: npt.ArrayLike, *, tail: Tail | None = None) -> Any:
        r"""The restricted mean survival time :math:`\int_0^{horizon} S(t)\,dt`."""
        horizon = as_times(horizon, "horizon")
        rule = self._tail_rule(horizon, tail, "horizon")
        within = self._fitted().integrate(0.0, np.minimum(horizon, self.t_max_))
        beyond = tail_area(rule, self._last, self.t_max_, self.t_max_, np.maximum(horizon, self.t_max_))
        return scalar_like(np.asarray(within + beyond), horizon)

    def margin_time(
        self,
        c: npt.ArrayLike,
        horizon: float | None = None,
        *,
        interpolation: Literal["step", "linear"] = "step",
        tail: Tail | None = None,
    ) -> Any:
        r"""The expected time given survival to c, :math:`e(c) = c + \int_c^{t_0} S(t)\,dt / S(c)`.

        Parameters
        ----------
        c : array-like
            Times survived, such as censoring times; S(c) must be positive.
        horizon : float, optional
            :math:`t_0`. By default ``t_max_`` (the paper's assumption that nothing happens beyond) or,
            with a ``tail``, infinity.
        interpolation : {"step", "linear"}
            Integrate the step function exactly, or, as the paper's authors do, the polygon through (c, S(c)) and the
            points at the later observed times, with S put to 0 at ``t_max_`` unless a ``tail`` goes on from there.
        tail : {"last", "zero", "linear", "exponential"}, optional
            How the curve goes on beyond ``t_max_``.
        """
        check_choice(interpolation, "interpolation", ("step", "linear"))
        c, at_c = self._survived(c, tail)
        t0 = self._horizon(c, horizon, tail)
        inner = np.minimum(c, self.t_max_)
        end = min(t0, self.t_max_)
        if interpolation == "step":
            area = self._fitted().integrate(inner, end)
        else:
            knots = self.risk_table_.times
            heights = np.asarray(self._fitted()(knots))
            if tail in (None, "zero"):
                heights[-1] = 0.0
            area = _polygon_area(knots, heights, inner, at_c, end)
        if tail is not None and t0 > self.t_max_:
            area = area + tail_area(tail, self._last, self.t_max_, np.maximum(c, self.t_max_), t0)
            if np.isinf(area).any():
                raise ValueError(
                    f"tail {tail!r} has no finite mean after a curve that ends at {self._last:.4g}: "
                    "set a horizon or another tail."
                )
        return scalar_like(np.asarray(c + area / at_c), c)

    def margin_time_variance(self, c: npt.ArrayLike, horizon: float) -> Any:
        r"""The variance of the restricted margin time (``interpolation="step"``) for a fixed ``horizon``.

        The influence of a subject on :math:`e(c)` is, with :math:`A = \int_c^{t_0} S`,
        :math:`\frac{1}{S(c)}\int_c^{t_0} \mathrm{IF}_{S(u)}\,du - \frac{A}{S(c)^2} \mathrm{IF}_{S(c)}`; its
        variance follows from that of S(t). The horizon must be fixed beforehand: with the random
        ``t_max_`` intervals cover too little.
        """
        c = as_times(c, "c")
        self._tail_rule(c, None, "c", hint="")
        self._tail_rule(np.asarray(check_number(horizon, "horizon")), None, "horizon", hint="")
        self._survived(c)
        t0 = self._horizon(c, horizon, None)
        return scalar_like(self._influences().margin_time_variance(c, min(t0, self.t_max_)), c)

    def conditional_survival(
        self, t: npt.ArrayLike, c: npt.ArrayLike, given: Conditioning = "event_free"
    ) -> Any:
        r"""The chance that the event comes after ``t``, given what a censoring at ``c`` tells.

        ``t`` and ``c`` broadcast; the answer is 1 where t ≤ c.

        Parameters
        ----------
        given : {"event_free", "dropout", "administrative"}
            What is known. ``"event_free"``: E > c only, :math:`S_E(t)/S_E(c)`. ``"dropout"``: the
            subject dropped out at c, :math:`P(E > t \mid E > c, C = c)`, which is

            .. math:: \frac{C(S_E(t), S_C(c-)) - C(S_E(t), S_C(c))}{C(S_E(c), S_C(c-)) - C(S_E(c), S_C(c))}

            where :math:`S_C` steps at c, and :math:`h_2(S_E(t), S_C(c)) / h_2(S_E(c), S_C(c))` where it
            does not (before the first dropout, over the first step). ``"administrative"``: the study ended
            at c, :math:`P(E > t \mid E > c, C > c)`.

        Notes
        -----
        The three agree only at independence: dropping out at c tells more than surviving to c. There the
        time of the dropout does not matter, so that a sample without any dropout will do.
        """
        check_choice(given, "given", get_args(Conditioning))
        if self.of != "event":
            raise ValueError(f"of must be 'event' for conditional_survival, but is {self.of!r}.")
        t, c = broadcast(t=as_times(t, "t"), c=as_times(c, "c"))
        self._tail_rule(c, None, "c", hint="")
        self._tail_rule(t, None, "t", hint="")
        c, s_c = self._survived(c)
        s_t = np.asarray(self.predict(np.maximum(t, c)))
        if given == "event_free" or self.copula.is_independence:
            return scalar_like(s_t / s_c, t)
        if given == "administrative":
            v = np.asarray(self.dropout_survival(c))
            if (v == 0).any():
                refuse_first(v == 0, c, "c must be a time by which not everyone has dropped out")
            return scalar_like(given_end(self.copula, s_t, s_c, v), t)
        return scalar_like(given_dropout(self.copula, s_t, s_c, *self.dropout_limits(c)), t)

    def dropout_survival(self, t: FloatArray, side: Side = "right") -> Any:
        """S_C(t) of the other margin; held at its last value beyond the last dropout."""
        return self._dropout_curve()(t, side)

    def dropout_limits(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """S_C before and after ``c``, which are equal between the steps; before the first, those of the first."""
        dropout = self._dropout_curve()
        if not dropout.times.size:
            raise ValueError("given='dropout' needs dropouts in the fitted sample, but there are none.")
        c = np.maximum(c, dropout.times[0])
        above, below = np.asarray(dropout(c, "left")), np.asarray(dropout(c))
        if (above == 0).any():
            refuse_first(above == 0, c, "c must be a time by which not everyone has dropped out")
        return above, below

    def without_sample(self) -> Self:
        """A small copy that knows the curves of both margins, and nothing of their error."""
        light = copy.copy(self)
        light._other, light._influence = self._dropout_curve(), None
        del light.risk_table_
        return light

    @property
    def support_(self) -> float:
        """Up to when the curve is known: ``t_max_``, or for ever once it has reached 0."""
        return np.inf if self._last == 0.0 else self.t_max_

    def _fitted(self) -> StepFunction:
        if not hasattr(self, "survival_"):
            raise ValueError(f"{type(self).__name__} is not fitted: call fit(y) first.")
        return self.survival_

    @property
    def _last(self) -> float:
        curve = self._fitted()
        return float(curve.values[-1]) if curve.values.size else 1.0

    def _tail_rule(
        self, t: FloatArray, tail: Tail | None, name: str, hint: str = ", unless tail is set"
    ) -> Tail:
        """The rule for what of ``t`` passes the support; without a ``tail`` nothing may."""
        if tail is not None:
            check_choice(tail, "tail", TAILS)
            return tail
        beyond = np.asarray(t > self.support_)
        if beyond.any():
            rule = f"{name} must not pass the last observed time {self.t_max_:g}"
            refuse_first(beyond, t, f"{rule}, where the curve is still {self._last:.4g}{hint}")
        return "last"

    def _survived(self, c: npt.ArrayLike, tail: Tail | None = None) -> tuple[FloatArray, FloatArray]:
        """``c`` as times at which the curve is still positive, and the curve there."""
        c = as_times(c, "c")
        self._tail_rule(c, tail, "c")
        at_c = np.asarray(self.predict(c, tail=tail))
        if (at_c == 0).any():
            refuse_first(at_c == 0, c, "c must be a time at which the curve is still positive")
        return c, at_c

    def _horizon(self, c: FloatArray, horizon: float | None, tail: Tail | None) -> float:
        """Where the integral under the curve ends: no c may lie beyond."""
        t0 = self.t_max_ if tail is None else np.inf
        if horizon is not None:
            t0 = check_number(horizon, "horizon")
            self._tail_rule(np.asarray(t0), tail, "horizon")
        if (c > t0).any():
            refuse_first(c > t0, c, f"c must not exceed the horizon {t0:g}")
        return t0

    def _dropout_curve(self) -> StepFunction:
        if self._other is None:
            self._other = self.copula.graphic_curve(self.risk_table_.margin("dropout"))
        return self._other

    def _dropouts_first(self) -> StepFunction:
        """The curve if at tied times the dropouts came before the events."""
        other: WhichMargin = "dropout" if self.of == "event" else "event"
        return self.copula.graphic_curve(self.risk_table_.exchanged().margin(other))

    def _influences(self) -> MarginInfluence:
        if self._influence is None:
            self._influence = MarginInfluence(self.risk_table_, self.copula, self.of, self.survival_)
        return self._influence


class KaplanMeier(MarginEstimator):
    r"""The product-limit curve :math:`S(t) = \prod_{u_j \le t} (1 - d_j/n_j)`.

    Assumes that event and censoring are independent. It is the Copula-Graphic estimator at the
    independence copula, and shares all of its methods.

    Parameters
    ----------
    of : {"event", "dropout"}
        Whose curve: of the event time, or of the dropout time, for which events tied with a dropout have
        left the risk set before it, :math:`\prod (1 - m_j/(n_j - d_j))`.

    Examples
    --------
    >>> from cocensor import KaplanMeier, Survival
    >>> y = Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> km = KaplanMeier().fit(y)
    >>> km.predict([1, 4, 7, 10]).round(4)
    array([0.875 , 0.7292, 0.5469, 0.2734])
    >>> km.quantile(0.5)
    10.0

    References
    ----------
    Kaplan, E. L., Meier, P. (1958). Nonparametric estimation from incomplete observations. *JASA* 53, 457–481.
    """

    copula = Independence()

    def __init__(self, of: WhichMargin = "event") -> None:
        self.of = of

    def __repr__(self) -> str:
        return f"KaplanMeier(of={self.of!r})"


class CopulaGraphic(MarginEstimator):
    r"""The survival curve of a margin when event and censoring have a known Archimedean copula.

    .. math:: S_E(t) = \varphi^{-1}\Bigl(\sum_{u_j \le t} \bigl[\varphi(\tfrac{n_j - d_j}{N})
        - \varphi(\tfrac{n_j}{N})\bigr]\Bigr)

    Assumes that :math:`P(E > t, C > c) = C_\theta(S_E(t), S_C(c))` with the stated copula; the data cannot
    check that. Where a subject is marked as administratively censored, the shares :math:`n_j/N` give way to
    the Kaplan–Meier estimate of :math:`P(\min(E, C) > t)`, because the end of the study is independent of
    both. At independence the curve is Kaplan–Meier's, exactly.

    Parameters
    ----------
    copula : ArchimedeanCopula
        The survival copula of (E, C).
    of : {"event", "dropout"}
        Whose curve. The two together give back the observed share at risk, :math:`C(S_E(t), S_C(t)) = \#\{t_i > t\}/N`.

    Examples
    --------
    >>> from cocensor import Clayton, CopulaGraphic, Survival
    >>> y = Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> cg = CopulaGraphic(Clayton(18.0)).fit(y)
    >>> cg.predict([1, 4, 7, 10]).round(4)
    array([0.875 , 0.6262, 0.3751, 0.125 ])

    References
    ----------
    Rivest, L.-P., Wells, M. T. (2001). A martingale approach to the copula-graphic estimator for the survival
    function under dependent censoring. *Journal of Multivariate Analysis* 79, 138–155.
    Zheng, M., Klein, J. P. (1995). Estimates of marginal survival for dependent competing risks based on an
    assumed copula. *Biometrika* 82, 127–138.
    """

    def __init__(self, copula: ArchimedeanCopula, of: WhichMargin = "event") -> None:
        if not isinstance(copula, ArchimedeanCopula):
            raise TypeError(
                f"copula must be Archimedean, because others have no closed Copula-Graphic form, but is {copula!r}."
            )
        self.copula = copula
        self.of = of

    def __repr__(self) -> str:
        return f"CopulaGraphic({self.copula!r}, of={self.of!r})"


def given_dropout(
    copula: Copula, s_t: FloatArray, s_c: FloatArray, above: FloatArray, below: FloatArray
) -> FloatArray:
    """P(E > t given E > c, C = c) from S_E at t and after c, and S_C before (``above``) and after c; broadcasts."""
    x_t, x_c, upper, lower = map(hazard_from_survival, (s_t, s_c, above, below))
    step = (lower > upper) | (below == 0)

    def log_chance(x: FloatArray) -> FloatArray:
        if not step.any():
            return copula.log_hfunc2_hazard(x, lower)
        lost = log_step(copula, upper, np.where(step, lower, 2.0 * upper), x)
        # Not even the smallest probability is left below 0.
        lost = np.where(below > 0, lost, copula.log_cdf_hazard(x, upper))
        return lost if step.all() else np.where(step, lost, copula.log_hfunc2_hazard(x, lower))

    # A difference may miss its bound by rounding.
    ratio = np.exp(np.minimum(log_chance(x_t) - log_chance(x_c), 0.0))
    return np.where(s_t > 0, ratio, 0.0)


def given_end(copula: Copula, s_t: FloatArray, s_c: FloatArray, v: FloatArray) -> FloatArray:
    """P(E > t given E > c, C > c) = C(s_t, v)/C(s_c, v), with v = S_C(c) > 0; broadcasts."""
    x_t, x_c, y = map(hazard_from_survival, (s_t, s_c, v))
    ratio = np.exp(copula.log_cdf_hazard(x_t, y) - copula.log_cdf_hazard(x_c, y))
    return np.where(s_t > 0, np.minimum(ratio, 1.0), 0.0)


def _polygon_area(
    knots: FloatArray, heights: FloatArray, c: FloatArray, at_c: FloatArray, end: float
) -> FloatArray:
    """The area from each c to ``end`` under the polygon through (c, ``at_c``) and the later ``knots``."""
    if end < knots[-1]:
        cut = int(np.searchsorted(knots, end, side="left"))
        heights = np.append(heights[:cut], np.interp(end, knots, heights))
        knots = np.append(knots[:cut], end)
    pieces = 0.5 * (heights[1:] + heights[:-1]) * np.diff(knots)
    # area from each knot to the end, and nothing beyond the last one
    remaining = np.concatenate((np.cumsum(pieces[::-1])[::-1], [0.0, 0.0]))
    following = np.searchsorted(knots, c, side="right")
    inside = np.minimum(following, knots.size - 1)
    return 0.5 * (at_c + heights[inside]) * np.maximum(knots[inside] - c, 0.0) + remaining[following]


# In standard errors. Half of it is bias, and a bias of 0.65 standard errors takes a 95% interval to 90%.
_MOST_MOVED = 1.3


def warn_of_ties(t: FloatArray, moved: FloatArray, standard_error: FloatArray) -> None:
    """Warn where the order at tied times has ``moved`` the curve at ``t`` too far for its intervals.

    At one time events come before dropouts. Where times were rounded they took turns, and the curve is biased by about
    half of what the other order would change.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.atleast_1d(np.abs(moved) / standard_error)
    share[~np.isfinite(share)] = 0.0  # before the first event, and where the curve has reached 0
    if share.size and share.max() > _MOST_MOVED:
        warnings.warn(
            "events and dropouts share many times. Which of them comes first moves the curve by "
            f"{share.max():.1f} standard errors at t = {np.ravel(t)[np.argmax(share)]:g}. Intervals "
            "are too narrow: use finer times, or spread each time at random over the interval that "
            "it stands for.",
            TiedTimesWarning,
            stacklevel=3,
        )
