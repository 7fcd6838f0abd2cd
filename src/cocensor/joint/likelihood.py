r"""The likelihood of outcomes under a joint model of event and dropout.

With :math:`x = H_E(t)` and :math:`y = H_C(t)` the cumulative hazards of a subject, the copula of
:math:`u = e^{-x}, v = e^{-y}` gives

- an event at t: :math:`\log f_E(t) + \log h_1(u, v)`,
- a dropout at t: :math:`\log f_C(t) + \log h_2(u, v)`,
- an end of study at t: :math:`\log C(u, v)`.

For grouped times, where a recorded t stands for the interval :math:`(t^-, t]`, an event gives
:math:`\log[C(u^-, v^-) - C(u, v^-)]` and a dropout :math:`\log[C(u, v^-) - C(u, v)]`. All of it is computed from the
log-hazards, which are linear in the parameters; nothing is clamped. A dropout is an event with the margins exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, Rows, row_blocks
from cocensor._jets import Jet
from cocensor._newton import Derivatives
from cocensor._numerics import LOG_LARGEST_HAZARD, LOG_SMALLEST_HAZARD, by_weight, hazard_from_log
from cocensor.copulas import Copula
from cocensor.copulas.base import log_step
from cocensor.data import Survival
from cocensor.joint.margins import Barrier, Basis, informative, last_end, start_of_group


def at_the_time(copula: Copula, own: Any, other: Any) -> Any:
    """An event at its time, less the log of the slope of s: log-hazards of its own and the other margin."""
    return own - np.exp(own) + copula.log_hfunc1_hazard(hazard_from_log(own), hazard_from_log(other))


def within_the_group(copula: Copula, before: Any, own: Any, other: Any) -> Any:
    """An event within an interval, from the log-hazards at its start and end and the other one then."""
    return log_step(copula, hazard_from_log(before), hazard_from_log(own), hazard_from_log(other))


def outlasted(copula: Copula, own: Any, other: Any) -> Any:
    """Neither has happened."""
    return copula.log_cdf_hazard(hazard_from_log(own), hazard_from_log(other))


class _Blocks:
    """Subjects in blocks, which a fit goes through again and again."""

    def blocks(self, size: int = 0) -> Iterator[Any]:
        raise NotImplementedError

    @cached_property
    def kept(self) -> Any:
        return list(self.blocks())

    def forget(self) -> None:
        self.__dict__.pop("kept", None)


@dataclass(frozen=True, eq=False)
class _Contribution(_Blocks):
    """Subjects, by number, that contribute in the same way, each by its weight (None for 1)."""

    formula: Callable[..., Any]
    predictors: tuple[_Predictor, ...]
    X: Any
    subjects: Rows
    weight: FloatArray | None

    def blocks(self, size: int = 0) -> Iterator[tuple[slice, list[FloatArray]]]:
        """Some subjects and their designs, where each has about ``size`` values beside."""
        width = self.predictors[0].basis.size + self.X.shape[1]
        for rows in row_blocks(self.subjects.size, max(width, size)):
            X = self.X[self.subjects[rows]]
            yield rows, [predictor.design(rows, X) for predictor in self.predictors]

    def log_hazards(self, rows: slice, designs: list[FloatArray], parameters: FloatArray) -> list[FloatArray]:
        """The log-hazards of some subjects."""
        pairs = zip(self.predictors, designs, strict=True)
        return [predictor.log_hazard(rows, design, parameters) for predictor, design in pairs]


class Likelihood:
    """The log-likelihood of a sample as a function of the margins' parameters and θ.

    Parameters are laid out as event basis, event covariates with their changes with log time, the same of the
    dropout, and θ unless the copula is fixed. ``ends`` are the ends of the groups for grouped times; ``X`` may have no
    column. ``barrier`` times the sum of the logs of :meth:`Basis.slope_bounds` is added, for an optimiser to stay where
    the cumulative hazards of all subjects rise. Those not ``included``, and those with a time or a case ``weight`` of
    0, do not contribute; of the others each does so by its weight, and ``n`` is the sum of these.
    """

    def __init__(
        self,
        y: Survival,
        X: Any,
        bases: tuple[Basis, Basis],
        ends: FloatArray | None = None,
        barrier: float = 0.0,
        drift: Drift | None = None,
        included: BoolArray | None = None,
        weight: FloatArray | None = None,
    ) -> None:
        self.y, self.X, self.bases, self.ends, self.drift = y, X, bases, ends, drift
        self.included, self.weight = included, weight
        counted = informative(y.time) if included is None else included & informative(y.time)
        if weight is not None:
            counted &= weight > 0
        self.subjects = np.flatnonzero(counted)
        self.n: float = self.subjects.size if weight is None else float(weight[counted].sum())
        n_drifts = 0 if drift is None else len(drift.varying)
        self.sizes = tuple(basis.size + X.shape[1] + n_drifts if basis.size else 0 for basis in bases)
        starts = (0, self.sizes[0])
        self.spans = [slice(start, start + size) for start, size in zip(starts, self.sizes, strict=True)]
        # What the slope of a log hazard depends on: the basis, and changes with log time.
        at_slopes = [
            np.concatenate((span.start + np.arange(basis.size), span.stop - np.arange(n_drifts)[::-1] - 1))
            for basis, span in zip(bases, self.spans, strict=True)
        ]
        self.contributions: list[_Contribution] = []
        self.slopes: list[_Slopes] = []
        self.constant = 0.0
        self._last: tuple[Any, Derivatives] | None = None

        def contribute(formula: Callable[..., Any], rows: Rows, *read: tuple[int, FloatArray]) -> None:
            """Subjects whose formula reads a margin each at some times."""
            predictors = tuple(_Predictor(self.spans[margin], bases[margin], t, drift) for margin, t in read)
            own_weight = None if weight is None else weight[rows]
            self.contributions.append(_Contribution(formula, predictors, X, rows, own_weight))

        for own, happened in ((0, y.event), (1, y.dropout)):
            rows = np.flatnonzero(happened & counted)
            if not rows.size:
                continue
            t, other = y.time[rows], 1 - own
            if ends is None:
                contribute(at_the_time, rows, (own, t), (other, t))
                own_weight = None if weight is None else weight[rows]
                self.slopes.append(_Slopes(at_slopes[own], bases[own], t, X, drift, own_weight, rows))
                self.constant -= float(by_weight(np.log(t), own_weight).sum())
            else:
                before = start_of_group(ends, t)
                # At one time events come first: a dropout has outlasted the events of its own group.
                meanwhile = before if own == 0 else t
                contribute(within_the_group, rows, (own, before), (own, t), (other, meanwhile))
        rows = np.flatnonzero(~(y.event | y.dropout) & counted)
        if rows.size:
            # Between the ends of groups nothing is known to have happened or not.
            t = y.time[rows] if ends is None else last_end(ends, y.time[rows])
            contribute(outlasted, rows, (0, t), (1, t))
        self._drifts = None if drift is None else _DriftSlopes(X, drift)
        self.barriers = [
            Barrier(at_slopes[margin], basis.slope_bounds(), self._drifts, barrier)
            for margin, basis in enumerate(bases)
            # A straight line rises by its event terms alone.
            if barrier and basis.size and (basis.knots.size or ends is not None or drift is not None)
        ]

    def of(self, y: Survival, X: Any, weight: FloatArray | None = None) -> Likelihood:
        """The likelihood of other subjects, or by other weights, with the same parameters and no barrier changed."""
        barrier = max((barrier.weight for barrier in self.barriers), default=0.0)
        included = self.included if y is self.y else None
        return Likelihood(y, X, self.bases, self.ends, barrier, self.drift, included, weight)

    def forget(self) -> None:
        """Give back the memory of what the next fit would make again."""
        for blocks in (*self.contributions, *self.slopes, *([] if self._drifts is None else [self._drifts])):
            blocks.forget()

    def with_barriers(self, factor: float) -> Likelihood:
        """The likelihood with barriers that weigh ``factor`` times as much."""
        other = copy(self)
        other._last = None
        other.barriers = [replace(barrier, weight=factor * barrier.weight) for barrier in self.barriers]
        return other

    @property
    def n_parameters(self) -> int:
        """Of both margins, without θ."""
        return sum(self.sizes)

    def value(self, parameters: FloatArray, copula: Copula) -> float:
        """The log-likelihood; −∞ where a cumulative hazard would fall."""
        total = self.constant
        with np.errstate(all="ignore"):
            total += self.barrier_at(parameters)
            for slope in self.slopes:
                for _, design, weight in slope.kept:
                    values = design @ parameters[slope.at]
                    if not (values > 0).all():
                        return -np.inf
                    total += float(by_weight(np.log(values), weight).sum())
            for part in self.contributions:
                for rows, designs in part.kept:
                    log_hazards = part.log_hazards(rows, designs, parameters)
                    if any(log_hazard.max() > LOG_LARGEST_HAZARD for log_hazard in log_hazards):
                        return -np.inf
                    values = part.formula(copula, *log_hazards)
                    total += float(np.sum(values if part.weight is None else values * part.weight[rows]))
        return total if np.isfinite(total) else -np.inf

    def barrier_at(self, parameters: FloatArray) -> float:
        """What of the value is the barrier's; −∞ where a cumulative hazard would fall."""
        return sum(barrier.value(parameters[barrier.at]) for barrier in self.barriers)

    def derivatives(
        self, parameters: FloatArray, family: type[Copula], theta: float, *, fixed: bool
    ) -> Derivatives:
        """The log-likelihood with its gradient and Hessian, in θ as well unless it is ``fixed``.

        It is not computed twice in a row at the same place, where as a rule one search ends and another starts.
        """
        place = parameters.tobytes(), family, theta, fixed
        last = self._last
        if last is None or last[0] != place:
            self._last = last = place, self._derivatives(parameters, family, theta, fixed)
        return last[1]

    def _derivatives(
        self, parameters: FloatArray, family: type[Copula], theta: float, fixed: bool
    ) -> Derivatives:
        size = self.n_parameters + (not fixed)
        value, gradient, hessian = self.constant, np.zeros(size), np.zeros((size, size))
        with np.errstate(all="ignore"):
            for slope in self.slopes:
                at = slope.at
                for _, design, weight in slope.kept:
                    inverse = 1.0 / (design @ parameters[at])
                    value -= float(by_weight(np.log(inverse), weight).sum())
                    scaled = design * inverse[:, None]
                    counted = by_weight(scaled, weight)
                    gradient[at] += counted.sum(axis=0)
                    hessian[np.ix_(at, at)] -= counted.T @ scaled
            for barrier in self.barriers:
                of_barrier = barrier.derivatives(parameters[barrier.at])
                value += of_barrier.value
                gradient[barrier.at] += of_barrier.gradient
                hessian[np.ix_(barrier.at, barrier.at)] += of_barrier.hessian
            for part in self.contributions:
                for rows, designs, spans, jet in self._jets(
                    part, part.kept, parameters, family, theta, fixed, 2
                ):
                    jet = jet if part.weight is None else jet * part.weight[rows]
                    value += float(np.sum(jet.value))
                    _gather(gradient, hessian, jet, designs, spans)
        return Derivatives(value, gradient, hessian)

    def scores_along(
        self,
        parameters: FloatArray,
        family: type[Copula],
        theta: float,
        directions: FloatArray,
        *,
        fixed: bool,
    ) -> Iterator[tuple[Rows, FloatArray]]:
        """The derivatives of each subject's log-likelihood along some ``directions``, the columns of an array.

        In blocks (subjects, directions); what a subject adds may come in several of them. θ is the last parameter,
        unless it is ``fixed``.
        """
        for slope in self.slopes:
            for subjects, design, _ in slope.blocks(directions.shape[1]):
                yield subjects, design @ directions[slope.at] / (design @ parameters[slope.at])[:, None]
        for part in self.contributions:
            blocks = part.blocks(directions.shape[1])
            for rows, designs, spans, jet in self._jets(part, blocks, parameters, family, theta, fixed, 1):
                along = np.zeros((part.subjects[rows].size, directions.shape[1]))
                for slopes, design, span in zip(jet.first, designs, spans, strict=True):
                    if slopes is not None:
                        along += np.reshape(slopes, (-1, 1)) * (design @ directions[span])
                yield part.subjects[rows], along

    def _jets(
        self,
        part: _Contribution,
        blocks: Iterable[tuple[slice, list[FloatArray]]],
        parameters: FloatArray,
        family: type[Copula],
        theta: float,
        fixed: bool,
        order: Literal[1, 2],
    ) -> Iterator[tuple[slice, list[FloatArray], list[slice], Jet]]:
        """Some subjects of a part, what they contribute, and the designs and parameters of its variables.

        θ is the last variable, unless it is ``fixed``; it is the same for all.
        """
        m, spans = len(part.predictors), [predictor.span for predictor in part.predictors]
        copula = family(theta)
        if not fixed:
            copula = family.formulas_at(Jet.variable(theta, m, m + 1, order=order))
            spans.append(slice(self.n_parameters, self.n_parameters + 1))
        for rows, designs in blocks:
            log_hazards = part.log_hazards(rows, designs, parameters)
            variables = [Jet.variable(x, i, len(spans), order=order) for i, x in enumerate(log_hazards)]
            with np.errstate(all="ignore"):
                jet = part.formula(copula, *variables)
            yield rows, designs if fixed else [*designs, np.ones((len(designs[0]), 1))], spans, jet


def _gather(
    gradient: FloatArray, hessian: FloatArray, jet: Jet, designs: list[FloatArray], spans: list[slice]
) -> None:
    """Add derivatives in the variables as those in the parameters."""
    n = len(designs[0])
    for first, design, span in zip(jet.first, designs, spans, strict=True):
        if first is not None:
            gradient[span] += np.broadcast_to(first, n) @ design
    for (i, j), second in zip(jet.pairs, jet.second, strict=True):
        if second is not None:
            block = (designs[i] * np.broadcast_to(second, n)[:, None]).T @ designs[j]
            hessian[spans[i], spans[j]] += block
            if i != j:
                hessian[spans[j], spans[i]] += block.T


@dataclass(frozen=True)
class Drift:
    """Columns whose effect changes with log time: they act by (log t − centre) / scale."""

    varying: tuple[int, ...]
    centre: float = 0.0
    scale: float = 1.0

    def values(self, log_t: FloatArray, X: FloatArray) -> FloatArray:
        """The columns times log t."""
        return X[:, self.varying] * ((log_t - self.centre) / self.scale)[:, None]

    def slopes(self, X: FloatArray) -> FloatArray:
        """Their derivatives in log t."""
        return X[:, self.varying] / self.scale


@dataclass(frozen=True, eq=False)
class _DriftSlopes(_Blocks):
    """The derivatives in log t of what changes with it, for all subjects."""

    X: Any
    drift: Drift

    @property
    def shape(self) -> tuple[int, ...]:
        return self.X.shape[0], len(self.drift.varying)

    def __getitem__(self, rows: Any) -> FloatArray:
        return self.kept[rows]

    @cached_property
    def kept(self) -> FloatArray:
        values = np.empty(self.shape)
        for rows in row_blocks(*self.X.shape):
            values[rows] = self.drift.slopes(self.X[rows])
        return values


@dataclass(frozen=True, eq=False)
class _Predictor:
    """A log-hazard that is linear in the parameters of one margin, those of the ``span``, one for each subject.

    Where the margin has not begun, or what it is of never happens, the log-hazard is the smallest.
    """

    span: slice
    basis: Basis
    t: FloatArray
    drift: Drift | None

    def design(self, rows: slice, X: FloatArray) -> FloatArray:
        """What multiplies the parameters, for some subjects with covariates X."""
        if not self.basis.size:
            return np.empty((len(X), 0))
        t = self.t[rows]
        log_t = np.log(np.where(t > 0, t, 1.0))
        parts = [self.basis.values(log_t), X]
        matrix = np.hstack(parts if self.drift is None else [*parts, self.drift.values(log_t, X)])
        matrix[t <= 0] = 0.0
        return matrix

    def log_hazard(self, rows: slice, design: FloatArray, parameters: FloatArray) -> FloatArray:
        if not self.basis.size:
            return np.full(len(design), LOG_SMALLEST_HAZARD)
        return np.where(self.t[rows] > 0, design @ parameters[self.span], LOG_SMALLEST_HAZARD)


@dataclass(frozen=True, eq=False)
class _Slopes(_Blocks):
    """The terms log d/dlog t log H(t) of ``subjects``, whose design multiplies the parameters ``at`` some places."""

    at: IntArray
    basis: Basis
    t: FloatArray
    X: Any
    drift: Drift | None
    weight: FloatArray | None
    subjects: Rows

    def blocks(self, size: int = 0) -> Iterator[tuple[Rows, FloatArray, FloatArray | None]]:
        """Subjects with the rows of the design and their weights, where each has about ``size`` values beside."""
        for rows in row_blocks(self.t.size, max(self.at.size, size)):
            subjects, design = self.subjects[rows], self.basis.slopes(np.log(self.t[rows]))
            if self.drift is not None:
                design = np.hstack((design, self.drift.slopes(self.X[subjects])))
            yield subjects, design, None if self.weight is None else self.weight[rows]
