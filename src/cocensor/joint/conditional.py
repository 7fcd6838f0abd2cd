"""Probabilities and expected numbers by a fitted joint model, for subjects no longer, or not yet, seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, Rows, row_blocks
from cocensor._jets import Jet
from cocensor._namespaces import Array, Placing, at_most, namespace
from cocensor._numerics import hazard_from_log, log1mexp
from cocensor.copulas import Copula
from cocensor.copulas.base import log_step
from cocensor.data import Survival
from cocensor.joint.after_dropout import HazardRatio, LaterDropout
from cocensor.joint.margins import last_end, start_of_group

if TYPE_CHECKING:
    from cocensor.joint.model import JointModel


class Conditional:
    """P(E > t given what a censoring at c says), in blocks of subjects and times; a ``ratio`` needs independence."""

    def __init__(
        self,
        model: JointModel,
        t: FloatArray,
        c: FloatArray,
        X: FloatArray,
        ended: BoolArray,
        ratio: HazardRatio | None = None,
    ) -> None:
        # Who is censored at 0 was never under observation: nothing is known of the dropout.
        self._copula, self.ended = model.copula, ended | (c == 0)
        self._t, self._c, self.ratio, self._grouped = t, c, ratio, model.ends_ is not None
        event, dropout, before = model.event.of(X), model.dropout.of(X), c
        if model.ends_ is not None:
            # What is recorded at the end of a group has happened by then, and at no time in between.
            t, before = last_end(model.ends_, t), start_of_group(model.ends_, c)
            c = np.where(self.ended, last_end(model.ends_, c), c)
        #: The times at which hazards are read: of the event at common times, and of both margins at each censoring.
        self.t, self.c, self.before = t, c, before
        self._at_t, self._dropout = event.at(t), dropout
        self._x_c = hazard_from_log(event.log_hazard(c))
        #: Who was there at the end of the study, under a ratio.
        self.later: LaterDropout | None = None
        if ratio is not None:
            observed = self._c if ratio.observed is None else ratio.observed
            self.later = LaterDropout(ratio, (event, dropout), observed, t, c, model.ends_)

    @cached_property
    def _y(self) -> FloatArray:
        """The hazard of the dropout at each censoring, which is not needed at independence."""
        y = hazard_from_log(self._dropout.log_hazard(self.c))
        # A step of the dropout hazard too small for double precision is the smallest that is not.
        return np.maximum(y, np.nextafter(self._y_before, np.inf)) if self._grouped else y

    @cached_property
    def _y_before(self) -> FloatArray:
        """The hazard of the dropout at the start of the group of each censoring."""
        return hazard_from_log(self._dropout.log_hazard(self.before)) if self._grouped else self._y

    def __call__(self, rows: Rows, columns: slice) -> FloatArray:
        """The probabilities of ``rows`` at the times ``columns``; 1 for times up to c."""
        ended, independent = self.ended[rows], self._copula.is_independence
        if ended.any() and not ended.all() and (self.later is not None or not independent):
            result = np.empty((rows.size, columns.stop - columns.start))
            for kind in (ended, ~ended):
                result[kind] = self(rows[kind], columns)
            return result
        if self.later is not None and ended.any():
            return self.later(rows, columns)
        x_c = self._x_c[rows][:, None]
        x_t = hazard_from_log(self._at_t(rows, columns))
        if independent:
            result = np.minimum(np.subtract(x_c, x_t, out=x_t), 0.0, out=x_t)
            if self.ratio is not None:
                result *= self.ratio.own[rows][:, None]
            np.exp(result, out=result)
        else:
            y, y_before = self._y[rows][:, None], self._y_before[rows][:, None] if self._grouped else None
            log_chance = partial(_log_chance, self._copula, y=y, y_before=y_before, ended=bool(ended.any()))
            with np.errstate(invalid="ignore"):
                result = _left(log_chance(x=np.maximum(x_t, x_c, out=x_t)) - log_chance(x=x_c))
            # Beyond what double precision can tell, nobody is left.
            result[np.isnan(result)] = 0.0
        t, c = self._t[columns], self._c[rows]
        if t.size and t[0] <= c.max(initial=-np.inf):
            result[t <= c[:, None]] = 1.0
        return result

    def slopes(
        self, rows: Rows, columns: slice, *, free: bool
    ) -> tuple[FloatArray, list[tuple[int, FloatArray, FloatArray]], FloatArray | None]:
        """The derivatives of the probabilities of ``rows``, all after a dropout or all after an end of study.

        By the log cumulative hazards of the event at the times; by those of the event (0) or the dropout (1) at one
        time of each subject, with that time; and by θ, if it is ``free``.
        """
        x_c = self._x_c[rows][:, None]
        x_t = np.maximum(hazard_from_log(self._at_t(rows, columns)), x_c)
        y, y_before = self._y[rows][:, None], self._y_before[rows][:, None]
        ended = bool(self.ended[rows[0]])
        stepped = self._grouped and not ended
        m = 2 + stepped + free
        v = Jet.variable(y, 1, m, order=1)
        v_before = Jet.variable(y_before, 2, m, order=1) if stepped else None
        copula = self._copula
        if free:
            copula = type(copula).formulas_at(Jet.variable(copula.theta, m - 1, m, order=1))

        def log_chance(x: FloatArray) -> Jet:
            own = Jet.variable(x, 0, m, order=1)
            if self.ratio is not None and not ended:
                own = own * self.ratio.own[rows][:, None]
            return _log_chance(copula, own, v, v_before, ended=ended)

        with np.errstate(all="ignore"):
            at_t, at_c = log_chance(x_t), log_chance(x_c)
            q = np.exp(at_t.value - at_c.value)
            # What is held at 0 or 1 does not move.
            moves = np.isfinite(q) & (q <= 1.0) & (self._t[columns] > self._c[rows][:, None])
            q = np.where(moves, q, 0.0)

            def by(i: int, scale: Any) -> FloatArray:
                return np.where(moves, q * ((at_t.first[i] - at_c.first[i]) * scale), 0.0)

            at_own_times = [(0, self.c[rows], -q * (at_c.first[0] * x_c))]
            if at_t.first[1] is not None:
                at_own_times.append((1, self.c[rows], by(1, y)))
            if stepped:
                at_own_times.append((1, self.before[rows], by(2, y_before)))
            at_times = np.where(moves, q * (at_t.first[0] * x_t), 0.0)
            return at_times, at_own_times, by(m - 1, 1.0) if free else None

    def log_hazard_ratio(self, rows: Rows) -> FloatArray:
        """The log hazard ratio right after dropping out of ``rows``, against those alike still under observation."""
        if self.ratio is not None:
            return np.log(self.ratio.own[rows])
        with np.errstate(all="ignore"):
            return self._copula.log_cross_ratio_hazard(self._x_c[rows], self._y[rows])

    def placed(self, placing: Placing, rows: Rows, *, ended: bool) -> Callable[[Any], Array]:
        """The probabilities of some of ``rows``, all dropouts or none, at all times in another library; else 0."""
        limit = "computed from numpy arrays alone: give estimate as one."
        if self._copula.numpy_alone:
            raise ValueError(f"the {self._copula.name} copula is {limit}")
        if self._grouped:
            raise ValueError(f"grouped times are {limit}")
        if self.later is not None and ended:
            those = "those under observation at the end of the study"
            raise ValueError(f"a hazard ratio of {those} is {limit}")
        copula, own = self._copula.formulas, np.ones(self._c.size) if self.ratio is None else self.ratio.own
        log_now = np.full(self._c.size, np.inf)
        log_now[rows] = _log_chance(copula, self._x_c[rows] * own[rows], self._y[rows], ended=ended)
        at_t = self._at_t.placed(placing)
        x_c, y, now, scale = (placing.subjects(values) for values in (self._x_c, self._y, log_now, own))

        def chances(some: Any) -> Array:
            x = namespace(x_c).maximum(hazard_from_log(at_t(some, slice(None))), x_c[some][:, None])
            if self.ratio is not None:
                x = x * scale[some][:, None]
            return _left(_log_chance(copula, x, y[some][:, None], ended=ended) - now[some][:, None])

        return chances


def _log_chance(copula: Copula, x: Any, y: Any, y_before: Any = None, *, ended: bool) -> Any:
    """Log of P(E > t, C > c), or its derivative or (from ``y_before`` on) its loss over the group of a dropout."""
    if ended:
        return copula.log_cdf_hazard(x, y)
    return copula.log_hfunc2_hazard(x, y) if y_before is None else log_step(copula, y_before, y, x)


def _left(log_ratio: Any) -> Any:
    """The share that is left, from its logarithm, which may miss its bound by rounding."""
    return namespace(log_ratio).exp(at_most(log_ratio, 0.0))


class AtRisk:
    """S_E(t) / C(S_E(t), S_C(t)): for how many event-free subjects one stands that is still under observation."""

    def __init__(self, model: JointModel, t: FloatArray, X: FloatArray) -> None:
        if model.ends_ is not None:
            t = last_end(model.ends_, t)
        self._copula = model.copula
        self._event, self._dropout = (margin.of(X).at(t) for margin in (model.event, model.dropout))

    def __call__(self, rows: Rows, columns: slice) -> FloatArray:
        """The weights of ``rows`` at the times ``columns``."""
        x, y = (hazard_from_log(margin(rows, columns)) for margin in (self._event, self._dropout))
        with np.errstate(over="ignore"):
            return np.exp(-x - self._copula.log_cdf_hazard(x, y))

    def event_survival(self, rows: Rows, columns: slice) -> FloatArray:
        """S_E of ``rows`` at the times ``columns``."""
        return np.exp(-hazard_from_log(self._event(rows, columns)))


def event_weights(model: JointModel, t: FloatArray, X: FloatArray) -> FloatArray:
    """1 / P(C ≥ t given E = t): for how many events at ``t`` one stands that is seen; one row of X for each t."""
    margins = [margin.of(X) for margin in (model.event, model.dropout)]

    def hazards(t: FloatArray) -> list[FloatArray]:
        return [hazard_from_log(margin.log_hazard(t)) for margin in margins]

    (x, y), copula = hazards(t), model.copula
    with np.errstate(over="ignore", invalid="ignore"):
        if model.ends_ is None:
            return np.exp(-copula.log_hfunc1_hazard(x, y))
        # Over the group: [S_E(t−) − S_E(t)] / [C(S_E(t−), S_C(t−)) − C(S_E(t), S_C(t−))].
        x_before, y_before = hazards(start_of_group(model.ends_, t))
        happened = log1mexp(x - x_before) - x_before
        weights = np.exp(happened - log_step(copula, x_before, x, y_before))
        # Where double precision tells no step of S_E, the weight at its start stands in.
        return np.where(np.isnan(weights), np.exp(-copula.log_hfunc1_hazard(x_before, y_before)), weights)


# Steps of the grid for each period, the closer the earlier: a period's number is right within 1% up to τ = 0.6, and
# within 1.5% at 0.8.
_STEPS, _CLOSER = 5, 1.5


class Expected(NamedTuple):
    """The expected number by subject and period, and the variance of the observed number about it."""

    number: FloatArray
    variance: FloatArray


def expected_counts(
    model: JointModel, X: FloatArray, y: Survival, periods: FloatArray
) -> tuple[Expected, Expected]:
    r"""The events and dropouts that a model expects of subjects under observation; ``periods`` are their ends, from 0.

    What is observed less what is expected has mean 0 in each period, given all that was observed before it.
    With :math:`L = -\log C(S_E, S_C)` along the subject's time under observation, and :math:`x = H_E, y = H_C`, the
    expected number of events in a period is what L gains by x alone, and that of dropouts what it gains by y:

    .. math:: \int \frac{\partial L}{\partial x}\,dH_E(t), \qquad \int \frac{\partial L}{\partial y}\,dH_C(t).

    In each step of a fine grid the gain of L, which is exact, is shared by the mean of the two ways round its corners.
    For grouped times the chances of a group are exact: :math:`1 - C(u, v^-)/C(u^-, v^-)` for an event, and
    :math:`1 - C(u, v)/C(u, v^-)` for a dropout of whoever had no event in it.
    """
    grouped = model.ends_ is not None
    times, seen, dropout_seen = periods, y.time, y.time
    if model.ends_ is not None:
        times = model.ends_[model.ends_ <= periods[-1]]
        seen = last_end(model.ends_, y.time)
        # At one time events come first: whoever has one is no candidate for a dropout of the same group.
        dropout_seen = np.where(y.event, start_of_group(model.ends_, y.time), seen)
    elif not model.copula.is_independence:
        # The ends of the periods, and between them times at shares of what is observed, the closer the earlier.
        observed, n = y.time[(y.time > 0) & (y.time <= periods[-1])], _STEPS * periods.size
        between = np.quantile(observed, (np.arange(1, n) / n) ** _CLOSER) if observed.size else periods
        times = np.unique(np.concatenate((between, periods)))
    edges = [0, *np.searchsorted(times, periods, side="right").tolist()]
    margins = (model.event.of(X), seen), (model.dropout.of(X), dropout_seen)
    last = [hazard_from_log(margin.log_hazard(until))[:, None] for margin, until in margins]
    grid = np.concatenate(([0.0], times))
    at = [margin.at(grid) for margin, _ in margins]
    sums = [np.zeros((len(y), periods.size)) for _ in range(4 if grouped else 2)]
    for rows in row_blocks(len(y), 4 * grid.size):
        # Whoever is no longer under observation stands still.
        x, v = (
            np.minimum(hazard_from_log(log_hazards(rows, slice(None))), until[rows])
            for log_hazards, until in zip(at, last, strict=True)
        )
        under = grid[:-1] < seen[rows, None]
        for total, gains in zip(sums, _gains(model.copula, x, v, under, grouped), strict=True):
            steps = np.zeros(under.shape)
            steps[under] = gains
            for period, (first, stop) in enumerate(pairwise(edges)):
                total[rows, period] = steps[:, first:stop].sum(axis=1)
    # Of continuous times the variance is the number itself.
    return Expected(sums[0], sums[-2]), Expected(sums[1], sums[-1])


def _gains(copula: Copula, x: FloatArray, y: FloatArray, under: BoolArray, grouped: bool) -> list[FloatArray]:
    """The expected events and dropouts of each step ``under`` observation; for grouped times their variances too."""

    def gained(x: FloatArray, y: FloatArray) -> FloatArray:
        return -copula.log_cdf_hazard(x[under], y[under])

    along = np.zeros(x.shape)
    along[:, 1:][under] = end = gained(x[:, 1:], y[:, 1:])
    start, event_first = along[:, :-1][under], gained(x[:, 1:], y[:, :-1])
    if grouped:
        chances = [-np.expm1(start - event_first), -np.expm1(event_first - end)]
        return [*chances, *(chance * (1.0 - chance) for chance in chances)]
    turn = event_first - gained(x[:, :-1], y[:, 1:])
    return [0.5 * (end - start + turn), 0.5 * (end - start - turn)]
