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
from typing import Any, ClassVar, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, Rows, row_blocks
from cocensor._jets import Jet
from cocensor._newton import Derivatives
from cocensor._numerics import LOG_LARGEST_HAZARD, LOG_SMALLEST_HAZARD, by_weight, hazard_from_log
from cocensor.copulas import Copula
from cocensor.copulas.base import log_step
from cocensor.data import Survival
from cocensor.joint.margins import Barrier, Basis, last_end, log_or_zero, start_of_group

#: Keeps splines rising, in units of the log-likelihood: where they rise anyway it moves that by less than 1e-6.
BARRIER = 1e-4
#: Some subjects of a contribution, and what multiplies the parameters in each of its predictors.
_Designs = tuple[slice, list[FloatArray]]
# The parameters that a predictor is linear in.
_Place = slice | IntArray


def at_the_time(copula: Copula, own: Any, other: Any) -> Any:
    """An event at its time, less the log of the slope of s: log-hazards of its own and the other margin."""
    return own - np.exp(own) + copula.log_hfunc1_hazard(hazard_from_log(own), hazard_from_log(other))


def within_the_group(copula: Copula, before: Any, own: Any, other: Any) -> Any:
    """An event within an interval, from the log-hazards at its start and end and the other one then."""
    return log_step(copula, hazard_from_log(before), hazard_from_log(own), hazard_from_log(other))


def outlasted(copula: Copula, own: Any, other: Any) -> Any:
    """Neither has happened."""
    return copula.log_cdf_hazard(hazard_from_log(own), hazard_from_log(other))


def rising(copula: Copula, slope: Any) -> Any:
    """The log of the slope of s, which :func:`at_the_time` leaves out."""
    return np.log(slope)


@dataclass(frozen=True, eq=False)
class _Contribution:
    """Subjects, by number, that contribute in the same way, each by its weight (None for 1)."""

    formula: Callable[..., Any]
    predictors: tuple[_LogHazard, ...]
    X: Any
    subjects: Rows
    weight: FloatArray | None

    def blocks(self, size: int = 0) -> Iterator[_Designs]:
        """Some subjects and their designs, where each has about ``size`` values beside."""
        width = max(self.predictors[0].basis.size + self.X.shape[1], size)
        for rows in row_blocks(self.subjects.size, width):
            X = self.X[self.subjects[rows]]
            yield rows, [predictor.design(rows, X) for predictor in self.predictors]

    def predictions(self, rows: slice, designs: list[FloatArray], parameters: FloatArray) -> list[FloatArray]:
        """The arguments of the formula for some subjects."""
        pairs = zip(self.predictors, designs, strict=True)
        return [predictor.value(rows, design, parameters) for predictor, design in pairs]


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
        self.barrier, self.included, self.weight = barrier, included, weight
        counted = (y.time > 0) & (True if included is None else included)
        counted &= True if weight is None else weight > 0
        self.subjects = np.flatnonzero(counted)
        self.n: float = self.subjects.size if weight is None else float(weight[counted].sum())
        n_drifts = 0 if drift is None else len(drift.varying)
        self.sizes = [basis.size + X.shape[1] + n_drifts if basis.size else 0 for basis in bases]
        #: The number of parameters of both margins, without θ.
        self.n_parameters = sum(self.sizes)
        self.spans = slice(0, self.sizes[0]), slice(self.sizes[0], self.n_parameters)
        # What the slope of a log hazard depends on: the basis, and changes with log time.
        self._at_slopes = [
            np.concatenate((span.start + np.arange(basis.size), span.stop - np.arange(n_drifts)[::-1] - 1))
            for basis, span in zip(bases, self.spans, strict=True)
        ]
        self.contributions: list[_Contribution] = []
        self.constant = 0.0
        self._last: tuple[Any, Derivatives] | None = None

        def contribute(formula: Callable[..., Any], rows: Rows, *predictors: _LogHazard) -> None:
            if rows.size:
                own_weight = None if weight is None else weight[rows]
                self.contributions.append(_Contribution(formula, predictors, X, rows, own_weight))

        def log_hazard(margin: int, t: FloatArray) -> _LogHazard:
            return _LogHazard(self.spans[margin], bases[margin], t, drift)

        for own, happened in ((0, y.event), (1, y.dropout)):
            rows = np.flatnonzero(happened & counted)
            t, other = y.time[rows], 1 - own
            if ends is None:
                contribute(at_the_time, rows, log_hazard(own, t), log_hazard(other, t))
                contribute(rising, rows, _Slope(self._at_slopes[own], bases[own], t, drift))
                self.constant -= float(by_weight(np.log(t), None if weight is None else weight[rows]).sum())
            else:
                before = start_of_group(ends, t)
                # At one time events come first: a dropout has outlasted the events of its own group.
                meanwhile = log_hazard(other, before if own == 0 else t)
                contribute(within_the_group, rows, log_hazard(own, before), log_hazard(own, t), meanwhile)
        rows = np.flatnonzero(~(y.event | y.dropout) & counted)
        # Between the ends of groups nothing is known to have happened or not.
        t = y.time[rows] if ends is None else last_end(ends, y.time[rows])
        contribute(outlasted, rows, log_hazard(0, t), log_hazard(1, t))

    def of(self, y: Survival, X: Any, weight: FloatArray | None = None) -> Likelihood:
        """The likelihood of other subjects, or by other weights, with the same parameters and barrier."""
        included = self.included if y is self.y else None
        return Likelihood(y, X, self.bases, self.ends, self.barrier, self.drift, included, weight)

    @cached_property
    def barriers(self) -> list[Barrier]:
        """The barrier of each margin that could fall: a straight line rises by its event terms alone."""
        if not self.barrier:
            return []
        drifts = None
        if self.drift is not None:
            drifts = np.empty((self.X.shape[0], len(self.drift.varying)))
            for rows in row_blocks(*self.X.shape):
                drifts[rows] = self.drift.slopes(self.X[rows])
        curved = self.ends is not None or self.drift is not None
        return [
            Barrier(at, basis.slope_bounds(), drifts, self.barrier)
            for at, basis in zip(self._at_slopes, self.bases, strict=True)
            if basis.size and (basis.knots.size or curved)
        ]

    @cached_property
    def _designs(self) -> list[tuple[_Contribution, list[_Designs]]]:
        """The contributions with their designs, which fits go through again and again."""
        return [(part, list(part.blocks())) for part in self.contributions]

    def forget(self) -> None:
        """Give back the memory of what the next fit would make again."""
        for name in ("_designs", "barriers"):
            vars(self).pop(name, None)

    def with_barriers(self, factor: float) -> Likelihood:
        """The likelihood with barriers that weigh ``factor`` times as much, and the same designs in memory."""
        barriers = [replace(barrier, weight=factor * barrier.weight) for barrier in self.barriers]
        _ = self._designs  # made once, for both
        other = copy(self)
        vars(other).update(barrier=factor * self.barrier, barriers=barriers, _last=None)
        return other

    def value(self, parameters: FloatArray, copula: Copula) -> float:
        """The log-likelihood; −∞ where a cumulative hazard would fall."""
        with np.errstate(all="ignore"):
            total = self.constant + self.barrier_at(parameters)
            for part, blocks in self._designs:
                for rows, designs in blocks:
                    predictions = part.predictions(rows, designs, parameters)
                    largest = part.predictors[0].largest  # all of a part are of one kind
                    if any(prediction.max() > largest for prediction in predictions):
                        return -np.inf
                    values = part.formula(copula, *predictions)
                    total += float(np.sum(values if part.weight is None else values * part.weight[rows]))
        return total if np.isfinite(total) else -np.inf

    def barrier_at(self, parameters: FloatArray) -> float:
        """The share of the barrier in the value; −∞ where a cumulative hazard would fall."""
        return sum(barrier.value(parameters[barrier.at]) for barrier in self.barriers)

    def derivatives(self, parameters: FloatArray, copula: Copula, *, free: bool) -> Derivatives:
        """The log-likelihood and its derivatives, in θ as well if it is ``free``; kept for who asks twice in a row."""
        place = parameters.tobytes(), copula, free
        last = self._last
        if last is None or last[0] != place:
            self._last = last = place, self._derivatives(parameters, copula, free)
        return last[1]

    def _derivatives(self, parameters: FloatArray, copula: Copula, free: bool) -> Derivatives:
        size = self.n_parameters + free
        value, gradient, hessian = self.constant, np.zeros(size), np.zeros((size, size))
        with np.errstate(all="ignore"):
            for barrier in self.barriers:
                of_barrier = barrier.derivatives(parameters[barrier.at])
                value += of_barrier.value
                gradient[barrier.at] += of_barrier.gradient
                hessian[np.ix_(barrier.at, barrier.at)] += of_barrier.hessian
            for part, blocks in self._designs:
                for rows, designs, places, jet in self._jets(part, blocks, parameters, copula, free, 2):
                    jet = jet if part.weight is None else jet * part.weight[rows]
                    value += float(np.sum(jet.value))
                    _gather(gradient, hessian, jet, designs, places)
        return Derivatives(value, gradient, hessian)

    def scores_along(
        self, parameters: FloatArray, copula: Copula, directions: FloatArray, *, free: bool
    ) -> Iterator[tuple[Rows, FloatArray]]:
        """Each subject's derivatives along ``directions``, columns with θ last; several blocks may hold a subject."""
        for part in self.contributions:
            blocks = part.blocks(directions.shape[1])
            for rows, designs, places, jet in self._jets(part, blocks, parameters, copula, free, 1):
                along = np.zeros((part.subjects[rows].size, directions.shape[1]))
                for slopes, design, at in zip(jet.first, designs, places, strict=True):
                    if slopes is not None:
                        along += np.reshape(slopes, (-1, 1)) * (design @ directions[at])
                yield part.subjects[rows], along

    def _jets(
        self,
        part: _Contribution,
        blocks: Iterable[_Designs],
        parameters: FloatArray,
        copula: Copula,
        free: bool,
        order: Literal[1, 2],
    ) -> Iterator[tuple[slice, list[FloatArray], list[_Place], Jet]]:
        """Some subjects of a part, what they contribute, and designs and parameters of its variables; θ is the last."""
        # A margin that has not begun has no parameters.
        begun = [k for k, predictor in enumerate(part.predictors) if predictor.basis.size]
        m, places = len(begun), [part.predictors[k].at for k in begun]
        if free:
            copula = copula.formulas_at(Jet.variable(copula.theta, m, m + 1, order=order))
            places.append(slice(self.n_parameters, self.n_parameters + 1))
        for rows, designs in blocks:
            arguments: list[Any] = part.predictions(rows, designs, parameters)
            for i, k in enumerate(begun):
                arguments[k] = Jet.variable(arguments[k], i, len(places), order=order)
            with np.errstate(all="ignore"):
                jet = part.formula(copula, *arguments)
            own = [designs[k] for k in begun]
            yield rows, [*own, np.ones((len(designs[0]), 1))] if free else own, places, jet


def _gather(
    gradient: FloatArray, hessian: FloatArray, jet: Jet, designs: list[FloatArray], places: list[_Place]
) -> None:
    """Add derivatives in the variables as those in the parameters."""
    n = len(designs[0])
    for first, design, at in zip(jet.first, designs, places, strict=True):
        if first is not None:
            gradient[at] += np.broadcast_to(first, n) @ design
    for (i, j), second in zip(jet.pairs, jet.second, strict=True):
        if second is not None:
            block = (designs[i] * np.broadcast_to(second, n)[:, None]).T @ designs[j]
            rows, columns = places[i], places[j]
            if isinstance(rows, slice):
                hessian[rows, columns] += block
            else:  # a slope, which has no other variable beside it
                hessian[np.ix_(rows, rows)] += block
            if i != j:
                hessian[columns, rows] += block.T


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
class _LogHazard:
    """A log-hazard, linear in the parameters ``at`` places, by subject; the smallest where the margin has not begun."""

    at: _Place
    basis: Basis
    t: FloatArray
    drift: Drift | None
    #: Beyond this the likelihood is 0.
    largest: ClassVar[float] = LOG_LARGEST_HAZARD

    def design(self, rows: slice, X: FloatArray) -> FloatArray:
        """The matrix that multiplies the parameters, for some subjects with covariates X."""
        if not self.basis.size:
            return np.empty((len(X), 0))
        t = self.t[rows]
        log_t = log_or_zero(t)
        parts = [self.basis.values(log_t), X]
        matrix = np.hstack(parts if self.drift is None else [*parts, self.drift.values(log_t, X)])
        matrix[t <= 0] = 0.0
        return matrix

    def value(self, rows: slice, design: FloatArray, parameters: FloatArray) -> FloatArray:
        if not self.basis.size:
            return np.full(len(design), LOG_SMALLEST_HAZARD)
        return np.where(self.t[rows] > 0, design @ parameters[self.at], LOG_SMALLEST_HAZARD)


class _Slope(_LogHazard):
    """The derivative of a log-hazard in log t."""

    largest = np.inf

    def design(self, rows: slice, X: FloatArray) -> FloatArray:
        design = self.basis.slopes(np.log(self.t[rows]))
        return design if self.drift is None else np.hstack((design, self.drift.slopes(X)))
