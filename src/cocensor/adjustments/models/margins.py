"""Imputation from margins, and what the subjects that these were fitted to add to scores by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, Rows, refuse_first, row_blocks
from cocensor._numerics import hazard_from_survival, log1mexp
from cocensor.adjustments.base import Adjustment, Fitted, refuse_beyond
from cocensor.adjustments.gradient import Functionals, Part
from cocensor.adjustments.weights import EventWeights, Modelled, NothingFitted, cut_where_unknown
from cocensor.adjustments.whole import WholeSample
from cocensor.copulas import ArchimedeanCopula, Copula
from cocensor.data import Sample, Survival
from cocensor.data.times import TimeGrid
from cocensor.estimators import CopulaGraphic
from cocensor.estimators.influence import MarginGradient, PullBack
from cocensor.estimators.margin import given_dropout, given_end

if TYPE_CHECKING:
    from cocensor.adjustments.imputation import Imputation


@dataclass(frozen=True, eq=False, repr=False)
class FittedMargin(Fitted):
    """An adjustment by Copula-Graphic margins of a ``sample``; a copy for others has their curves alone."""

    adjustment: Adjustment
    sample: Sample | None
    margin: CopulaGraphic

    def for_others(self) -> Fitted:
        """The curves."""
        return replace(self, sample=None, margin=self.margin.without_sample())

    def with_copula(self, copula: Any) -> Fitted:
        """Return a fit under another copula."""
        assert self.sample is not None
        return self.adjustment.with_copula(copula).fit_to(self.sample, {})


@dataclass(frozen=True, eq=False, repr=False)
class ImputationFromMargins(FittedMargin):
    """Imputation given nothing."""

    adjustment: Imputation

    def weights_for(self, sample: Sample, grid: TimeGrid, _: Any, whole: WholeSample) -> EventWeights:
        """Return who is event-free given the censoring, or given nothing but survival up to it."""
        y, margin, tail = sample.y, self.margin, self.adjustment.tail
        cut, imputed = cut_where_unknown(sample, grid)
        if not imputed.any():
            return NothingFitted(grid, cut)
        refuse_beyond(tail, grid.times, margin.support_, "times")
        refuse_beyond(tail, np.where(imputed, y.time, 0.0), margin.support_, "y_test")
        s_t = np.asarray(margin.predict(grid.sorted, tail="last"))
        s_c, before, after = at_c = np.ones((3, len(y)))  # at_c is filled by its rows
        s_c[imputed] = margin.predict(y.time[imputed], tail="last")
        if (s_c == 0).any():
            rule = "y_test must not be censored after the training curve has reached 0"
            refuse_first(s_c == 0, y.time, rule)
        last: BoolArray | None = None
        if self.adjustment.conditioning == "dropout" and not margin.copula.is_independence:
            c = np.minimum(y.time, margin.t_max_)  # held there, where the tail allows it
            dropped, ended = imputed & y.dropout, imputed & ~y.dropout
            if dropped.any():
                before[dropped], after[dropped] = margin.dropout_limits(c[dropped])
            before[ended] = margin.dropout_survival(c[ended], "left")
            after[ended] = margin.dropout_survival(c[ended])
            last = after == 0
            # Where everybody had dropped out by an end of study, the last moment before that stands in.
            after[ended & last] = before[ended & last]
            modelled = given_censoring(y, cut, imputed, margin.copula, s_t, at_c)
        else:
            rows = np.flatnonzero(imputed)
            modelled = (Modelled.product(rows, cut[rows], 1.0 / s_c, s_t),)
        if self.sample is None:
            return EventWeights(grid, cut, modelled=modelled)
        at: dict[str, Any] = {"s_t": s_t, "at_c": at_c, "last": last}
        return _ImputedFromMargins(grid, cut, modelled=modelled, fitted=self, y=y, imputed=imputed, **at)

    @cached_property
    def pull(self) -> PullBack:
        """The way from the margins to the sample, which is the same for all times."""
        assert self.sample is not None
        return PullBack(self.sample.y, self.margin, self.sample.weight)


@dataclass(eq=False, repr=False, kw_only=True)
class _ImputedFromMargins(EventWeights):
    """Weights of subjects of whom some, ``imputed``, are event-free with the probabilities of two margins."""

    fitted: ImputationFromMargins
    y: Survival
    imputed: BoolArray
    #: S_E at the sorted times; by subject, S_E at its censoring, and S_C before and after that.
    s_t: FloatArray
    at_c: FloatArray
    #: Where everybody has dropped out by then; None where dropout is forgotten.
    last: BoolArray | None

    @property
    def sample(self) -> Survival | None:
        """The outcomes that the margins were fitted to."""
        return None if self.fitted.sample is None else self.fitted.sample.y

    @property
    def log_hazard_ratios(self) -> tuple[Rows, FloatArray]:
        """The hazard ratios that the copula implies at the margins; of nobody where dropout is forgotten."""
        dropped, copula = self.imputed & self.y.dropout, self.fitted.margin.copula
        if self.last is None:
            rows = np.flatnonzero(dropped & copula.is_independence)
            return rows, np.zeros(rows.size)
        s_c, before, after = self.at_c
        middle = 0.5 * (before + after)
        # Where a margin is 1 still, nothing is known of its hazard.
        rows = np.flatnonzero(dropped & (s_c < 1) & (middle < 1))
        x, y = hazard_from_survival(s_c[rows]), hazard_from_survival(middle[rows])
        with np.errstate(all="ignore"):
            return rows, copula.log_cross_ratio_hazard(x, y)

    def pull_back(self, parts: Iterator[Part], size: int) -> Iterator[tuple[Rows, FloatArray]]:
        r"""Return what each subject of the ``sample`` adds by way of the two margins.

        By the chain rule :math:`\dot q = q\,[\dot\ell(t) - \dot\ell(c)]` with the log ℓ of a chance
        (:class:`_Chance`): gradients by the margins at each censoring, block by block, and by S_E at
        the times, summed over subjects (:class:`~cocensor.estimators.influence.PullBack`).
        """
        pull = self.fitted.pull
        for weights, functionals, _ in parts:
            if isinstance(weights, _ImputedFromMargins):  # at times before all censorings nothing is imputed
                chain, size = _Chain(weights, functionals, pull), functionals.size
                width = weights.grid.sorted.size
                yield from pull(chain.at_censorings, chain.at_times, stop=chain.stop, size=size, width=width)


class _SameForm(NamedTuple):
    """Test subjects by censoring, whose chances have one form; ``early`` are those before the first step of S_C."""

    subjects: Rows
    rows: IntArray
    cut: IntArray
    early: BoolArray
    chance: _ChanceOf


class _Chain:
    """Gradients of functionals by the margins, from their gradients by the weights."""

    def __init__(self, weights: _ImputedFromMargins, functionals: Functionals, pull: PullBack) -> None:
        self._functionals, self._weights, self._copula = functionals, weights, weights.fitted.margin.copula
        self._first_step = pull.first_dropout
        self._time_rows = pull.row(weights.grid.sorted)
        self._n_times = int(np.count_nonzero(weights.s_t))  # from where S_E is 0 it stays there
        self._kinds = list(self._by_form(pull))
        early = any(kind.early.any() for kind in self._kinds)
        #: From this row on nothing is read.
        self.stop = 1 + max(int(self._time_rows[-1]), self._first_step if early else 0)
        # By S_E at each time, and by S_C after its first step: known once all censorings are through.
        self._by_time = np.zeros((len(functionals.gradients), weights.grid.sorted.size))
        self._by_first_step = np.zeros(functionals.size)

    def _by_form(self, pull: PullBack) -> Iterator[_SameForm]:
        at, y = self._weights, self._weights.y
        step = at.at_c[1] > at.at_c[2]
        forms: tuple[tuple[bool | BoolArray, _ChanceOf], ...] = ((True, _of_survival),)
        if at.last is not None:
            forms = (
                (at.last, _of_last),
                (~at.last & ~y.dropout, _of_end),
                (~at.last & y.dropout & step, _of_step),
                (~at.last & y.dropout & ~step, _of_dropout),
            )
        for mask, chance in forms:
            subjects = np.flatnonzero(at.imputed & mask)
            subjects = subjects[np.argsort(y.time[subjects], kind="stable")]
            c = y.time[subjects]
            rows = pull.row(c)
            early = y.dropout[subjects] & (rows < self._first_step)
            yield _SameForm(subjects, rows, at.grid.cut(c), early, chance)

    def at_censorings(self, rows: slice) -> MarginGradient:
        """Return gradients by the margins at the censorings that fall on some rows of theirs."""
        event, before, after = (np.zeros((rows.stop - rows.start, self._functionals.size)) for _ in range(3))
        for kind in self._kinds:
            first, last = np.searchsorted(kind.rows, (rows.start, rows.stop))
            for part in row_blocks(last - first, self._n_times):
                some = slice(first + part.start, first + part.stop)
                at = kind.rows[some] - rows.start
                starts = np.flatnonzero(np.diff(at, prepend=-1))
                for total, values in zip((event, before, after), self._of(kind, some), strict=True):
                    if values is not None:
                        total[at[starts]] += np.add.reduceat(values, starts, axis=0)
        if self._weights.last is None:
            return MarginGradient(event)
        return MarginGradient(event, before, after)

    def at_times(self, rows: slice) -> MarginGradient:
        """Return gradients by S_E at the times, and by S_C after its first step where that stands in."""
        event = np.zeros((rows.stop - rows.start, self._functionals.size))
        weights = self._functionals.time_weights
        for k in np.flatnonzero((self._time_rows >= rows.start) & (self._time_rows < rows.stop)):
            event[self._time_rows[k] - rows.start] += np.outer(self._by_time[:, k], weights[k]).ravel()
        if not rows.start <= self._first_step < rows.stop:
            return MarginGradient(event)
        after = np.zeros_like(event)
        after[self._first_step - rows.start] = self._by_first_step
        return MarginGradient(event, None, after)

    def _of(self, kind: _SameForm, some: slice) -> tuple[FloatArray | None, ...]:
        """Return gradients by S_E at the censorings of some subjects, and by S_C before and after these."""
        at, subjects, cut = self._weights, kind.subjects[some], kind.cut[some]
        columns = slice(int(cut[0]), self._n_times)
        if columns.start >= columns.stop:
            return None, None, None
        x_t = hazard_from_survival(at.s_t[columns])
        x_c, before, after = hazard_from_survival(at.at_c[:, subjects, None])
        at_t = kind.chance(self._copula, x_t[None], before, after)
        at_c = kind.chance(self._copula, x_c, before, after)
        after_cut = cut[:, None] <= np.arange(columns.start, columns.stop)
        q = np.exp(np.where(after_cut, np.minimum(at_t.log - at_c.log, 0.0), -np.inf))
        gains, by_event = [], np.broadcast_to(at_t.by_event, q.shape)
        for m, gradient in enumerate(self._functionals.gradients):
            block = gradient.of_subjects(subjects).part(columns)
            gains.append((block.event_free - block.event) * q)
            self._by_time[m, columns] += np.einsum("ij,ij->j", gains[-1], by_event)

        def summed(slope: FloatArray) -> FloatArray:
            weights = self._functionals.time_weights[columns]
            return np.concatenate([(gain * slope) @ weights for gain in gains], axis=1)

        def between(late: FloatArray | None, early: FloatArray | None) -> FloatArray | None:
            return None if late is None or early is None else summed(late - early)

        by_after = between(at_t.by_after, at_c.by_after)
        if by_after is not None:
            early = kind.early[some]
            self._by_first_step += by_after[early].sum(axis=0)
            by_after[early] = 0.0
        return summed(-at_c.by_event), between(at_t.by_before, at_c.by_before), by_after


def given_censoring(
    y: Survival, cut: IntArray, imputed: BoolArray, copula: Copula, s_t: FloatArray, at_c: FloatArray
) -> tuple[Modelled, ...]:
    """Return the chances of those ``imputed``, given C = c after a dropout and C > c after an end of study.

    ``s_t`` is S_E at the sorted times, for all subjects or by subject; ``at_c`` are S_E at each censoring, and S_C
    before and after it.
    """
    ended, step = ~(y.event | y.dropout), at_c[1] > at_c[2]

    def q(rows: Rows, columns: slice) -> FloatArray:
        """The chances of subjects of one kind."""
        c, before, after = at_c[:, rows, None]
        # Before the cut nothing counts: there t may be before c.
        s = np.minimum(s_t[columns] if s_t.ndim == 1 else s_t[rows, columns], c)
        if ended[rows[0]]:
            return given_end(copula, s, c, after)
        return given_dropout(copula, s, c, before, after)

    kinds = imputed & ~ended & step, imputed & ~ended & ~step, imputed & ended
    return tuple(Modelled(np.flatnonzero(kind), cut[kind], q) for kind in kinds)


# Below such changes of log ρ and of z over a step, a difference has lost its digits, and the middle is exact.
_FLAT, _NARROW = 1e-7, 1e-4


class _Chance(NamedTuple):
    r"""The log of a chance, and its derivatives by the hazards of S_E, and of S_C before and after the censoring.

    What is the same for all values of S_E is left out: it cancels in a ratio of chances. None is 0.

    With :math:`e(x) = |s\varphi'(s)|` at :math:`s = e^{-x}`, the hazard :math:`z = -\log C(e^{-x}, e^{-y})` has
    :math:`e(z)\,dz = e(x)\,dx + e(y)\,dy`. So all chances move with :math:`\varphi(S_E) + \varphi(S_C)`:

    - after an end of study :math:`C = e^{-z}`, and :math:`d\log C = -dz`;
    - after a dropout between the steps of S_C, :math:`h_2 \propto 1/|\varphi'(C)| =: \rho(z)`, and
      :math:`d\log\rho = -m(z)\,dz` with :math:`m = s\varphi''/|\varphi'|`;
    - over a step of S_C the loss is :math:`P = C^- - C^+ = \int \rho\,d\varphi`, and with :math:`\varphi(S_C)` at its
      two ends, :math:`dP = -\rho^-\,d\varphi^- + \rho^+\,d\varphi^+` plus :math:`-(\rho^- - \rho^+)\,d\varphi(S_E)`.
    """

    log: FloatArray
    by_event: FloatArray
    by_before: FloatArray | None = None
    by_after: FloatArray | None = None


#: The chance at the hazard x of S_E and the hazards of S_C before and after the censoring; all broadcast.
_ChanceOf = Callable[[ArchimedeanCopula, FloatArray, FloatArray, FloatArray], _Chance]


def _of_survival(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> _Chance:
    """S_E alone."""
    return _Chance(-x, np.full_like(x, -1.0))


def _of_end(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> _Chance:
    """C(S_E, S_C) with S_C after the censoring, an end of study."""
    z = -copula.log_cdf_hazard(x, after)
    log_rate = -copula.log_elasticity(z)
    by_event, by_dropout = (-np.exp(copula.log_elasticity(hazard) + log_rate) for hazard in (x, after))
    return _Chance(-z, by_event, None, by_dropout)


def _of_last(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> _Chance:
    """C(S_E, S_C) with S_C before the censoring: a step that takes everyone, or an end beyond it."""
    log, by_event, _, by_dropout = _of_end(copula, x, after, before)
    return _Chance(log, by_event, by_dropout)


def _of_dropout(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> _Chance:
    """h2(S_E, S_C): a dropout between the steps of S_C."""
    log, log_rate = _density(copula, x, after)
    by_event, by_dropout = (-np.exp(copula.log_elasticity(hazard) + log_rate) for hazard in (x, after))
    return _Chance(log, by_event, None, by_dropout)


def _of_step(copula: ArchimedeanCopula, x: FloatArray, before: FloatArray, after: FloatArray) -> _Chance:
    r"""The loss P of C(S_E, S_C) over a step of S_C.

    With w the rise of φ(S_C) and :math:`\bar\rho = P/w`, the derivatives are :math:`-(\rho^-/\bar\rho - 1)/w` by φ(S_C)
    before the step and :math:`(\rho^+/\bar\rho - 1)/w` by that after it, less the 1/w that is the same for all S_E.
    """
    z, z_after = (-copula.log_cdf_hazard(x, y) for y in (before, after))
    log_e, log_e_after = copula.log_elasticity(z), copula.log_elasticity(z_after)
    # How far z rises and log ρ falls: never back, but for rounding.
    gap, tiny = z_after - z, np.finfo(float).tiny
    fall, gap = np.maximum(gap + log_e_after - log_e, tiny), np.maximum(gap, tiny)
    flat = (fall < _FLAT) & (gap < _NARROW)
    log_w = copula.log_rise(before, after)
    log_lost = log1mexp(gap) - log_w
    log, log_rate = log_lost - z, log1mexp(np.where(flat, 1.0, fall)) - log1mexp(gap) - log_e
    log_excess, log_excess_after = -log_e - log_lost, -log_e_after - log_lost - gap
    if flat.any():
        log_middle, log_rate_middle = _density(copula, x, 0.5 * (before + after))
        log, log_rate = np.where(flat, log_middle, log), np.where(flat, log_rate_middle, log_rate)
        half = 0.5 * np.exp(np.where(flat, log_w + log_rate, -np.inf))
        log_excess = np.where(flat, half, log_excess)
        log_excess_after = np.where(flat, -half, log_excess_after)
    unit, unit_after = copula.log_elasticity(before) - log_w, copula.log_elasticity(after) - log_w
    by_before = np.exp(unit) - np.exp(unit + log_excess)
    by_after = np.exp(unit_after + log_excess_after) - np.exp(unit_after)
    return _Chance(log, -np.exp(copula.log_elasticity(x) + log_rate), by_before, by_after)


def _density(copula: ArchimedeanCopula, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log ρ, and the log of the rate at which it falls with φ(S_E) + φ(S_C)."""
    z = -copula.log_cdf_hazard(x, y)
    log_e = copula.log_elasticity(z)
    return -z - log_e, copula.log_curvature(z) - log_e
