"""The number of knots that a margin needs, and their places."""

from __future__ import annotations

import numpy as np

from cocensor._checks import BoolArray, Counts, FloatArray
from cocensor._newton import Derivatives, minimise
from cocensor._numerics import quantile
from cocensor.data import Survival
from cocensor.joint.likelihood import BARRIER
from cocensor.joint.margins import Barrier, Basis, MarginForm
from cocensor.joint.settings import Knots

#: How many inner knots are tried.
CANDIDATES = (0, 1, 2, 3, 4, 6, 8, 12, 16)
# Each knot needs so many events of its margin.
_EVENTS_PER_KNOT = 10
# Continuous times are counted in about so many intervals.
_INTERVALS = 400


def chosen_basis(
    y: Survival, happened: BoolArray, ends: FloatArray | None, most: int, weight: FloatArray | None = None
) -> Basis:
    """Inner knots as the data need them, ``most`` at most.

    Grouped times (their ``ends`` are given) have as many as there may be: no spline is smooth over a few steps. Others
    have those with the smallest AIC of the margin alone, whatever else ended the observation counting as an end of
    study: at quantiles of the log times of what ``happened``, at equally spaced levels p or at equally spaced
    log(p/(1 − p)), which reaches into both tails. Two numbers in a row that do not lower the AIC end the search.
    """
    own = np.log(y.time[happened])
    own_weight = None if weight is None else weight[happened]
    n_happened = own.size if own_weight is None else float(own_weight.sum())
    most = min(most, int(n_happened // _EVENTS_PER_KNOT), CANDIDATES[-1])
    if ends is not None:
        return Basis.at_quantiles(np.unique(own), most)
    counts = in_intervals(y.time, happened, np.ones(len(y)) if weight is None else weight)
    best, lowest, worse = Basis(np.empty(0)), np.inf, 0
    for inner in CANDIDATES:
        if inner > most:
            break
        worse += 1
        tried = [Basis.at_quantiles(own, inner, own_weight)]
        if inner > 1:
            far = np.log(n_happened)
            levels = 1.0 / (1.0 + np.exp(-np.linspace(-far, far, inner + 2)[1:-1]))
            tried.append(Basis(np.unique(quantile(own, [0.0, *levels, 1.0], own_weight))))
        for basis in tried:
            aic = 2.0 * (negative_loglik(basis, *counts) + basis.size)
            if aic < lowest:
                best, lowest, worse = basis, aic, 0
        if worse == 2:
            break
    return best


def constant_hazard(basis: Basis, n_happened: float, exposure: float) -> FloatArray:
    """The coefficients of a constant hazard: log H = log rate + log t."""
    raw = np.zeros(basis.size)
    raw[:2] = np.log(n_happened / exposure), 1.0
    return np.asarray(np.linalg.solve(basis.matrix, raw))


def in_intervals(
    time: FloatArray, happened: BoolArray, weight: FloatArray
) -> tuple[FloatArray, Counts, Counts]:
    """Ends of intervals, and the weight of those who have the event within each, or outlast it as their last."""
    happening, going = weight[happened], weight[~happened]
    own, ends = time[happened], np.unique(time)
    if ends.size > _INTERVALS:
        share = np.linspace(0.0, 1.0, _INTERVALS // 3)
        even = np.exp(np.log(ends[0]) * (1.0 - share) + np.log(ends[-1]) * share)[1:-1]
        chosen = [ends[np.searchsorted(ends, even)]]
        for times, weights in ((own, happening), (time, weight)):
            # The smallest of the times up to which there is at least such a share of the weights.
            order = np.argsort(times)
            until = np.cumsum(weights[order])
            chosen.append(times[order][np.searchsorted(until, share * until[-1])])
        ends = np.unique(np.concatenate(chosen))
    n = ends.size
    events = np.bincount(np.searchsorted(ends, own), happening, n)
    # Whoever left before the first end says nothing.
    left = np.bincount(np.searchsorted(ends, time[~happened], side="right"), going, n + 1)[1:]
    return ends, events, left


def negative_loglik(basis: Basis, ends: FloatArray, events: Counts, left: Counts) -> float:
    r"""The value at the best fit of a margin alone to counts in intervals.

    It is :math:`-\sum_j d_j \log(1 - e^{-\Delta H_j}) - p_j \Delta H_j`, with d_j events within an interval and p_j who
    went through it: a fit for each set of knots would be slow by the likelihood of single subjects.
    """
    basis, some = basis.orthonormal(np.log(ends)), events > 0
    design, through = basis.values(np.log(ends)), np.cumsum((left + np.append(events[1:], 0.0))[::-1])[::-1]
    barrier = Barrier(np.arange(basis.size), basis.slope_bounds(), None, BARRIER)

    @np.errstate(all="ignore")  # what is not finite ends a search
    def value(point: FloatArray) -> float:
        step = np.diff(np.exp(design @ point), prepend=0.0)
        loglik = events[some] @ np.log(-np.expm1(-step[some])) - through @ step + barrier.value(point)
        return float(-loglik) if np.isfinite(loglik) else np.inf

    @np.errstate(all="ignore")
    def derivatives(point: FloatArray) -> Derivatives:
        hazard = np.exp(design @ point)
        step, steps = np.diff(hazard, prepend=0.0), np.diff(hazard[:, None] * design, axis=0, prepend=0.0)
        first, second = -through, np.zeros_like(step)
        first[some] += events[some] / np.expm1(step[some])
        second[some] = (first + through)[some] / -np.expm1(-step[some])
        bent = hazard * (
            first - np.append(first[1:], 0.0)
        )  # each hazard ends one interval and starts the next
        rising = barrier.derivatives(point)
        gradient = -(first @ steps) - rising.gradient
        hessian = steps.T @ (second[:, None] * steps) - design.T @ (bent[:, None] * design) - rising.hessian
        return Derivatives(value(point), gradient, hessian)

    start = constant_hazard(basis, float(events.sum()), float((events + left) @ ends))
    return minimise(derivatives, value, start, tolerance=1e-3).value


def margin_bases(
    y: Survival,
    n_unshrunk: int,
    margins: MarginForm,
    knots: Knots,
    ends: FloatArray | None,
    weight: FloatArray | None,
) -> tuple[tuple[Basis, Basis], str]:
    """The bases of event and dropout beside so many effects, and a clause where there are fewer knots than asked."""
    log_t, fewer, bases = np.log(y.time), "", []
    for happened, what in ((y.event, "event"), (y.dropout, "dropout")):
        n_happened = int(happened.sum())
        if not n_happened:
            if what == "event" or y.administrative is None or not y.administrative.any():
                raise ValueError(f"y has no {what}: its margin cannot be fitted.")
            bases.append(Basis(np.empty(0), present=False))  # all censoring is administrative
            continue
        own_times = np.unique(y.time[happened])
        if own_times.size == 1 and n_happened > 1 and log_t.min() < log_t.max():
            remedy = "mark an end of study as administrative"
            why = remedy if what == "dropout" else "their margin cannot be fitted"
            raise ValueError(f"y has all its {what}s at time {own_times[0]:g}: {why}.")
        own_weight = None if weight is None else weight[happened]
        if ends is not None:
            # A margin of grouped times needs more different times than it has functions of time.
            most = own_times.size - 3
        elif own_times.size == 1:  # of one subject, however heavy
            most = 0
        else:
            most = n_happened if own_weight is None else int(own_weight.sum())
        if most < 0:
            raise ValueError(
                f"y has {what}s at only {own_times.size} different times, not enough for grouped times."
            )
        if log_t.min() == log_t.max():
            raise ValueError(f"y must have different times, but all of them are {y.time[0]:g}.")
        if margins == "weibull":
            basis = Basis.at_quantiles(log_t[happened], 0)
        elif knots == "auto":
            # One for each time, where somebody is seen to outlast them.
            outlasted = ends is not None and bool(y.t_max > own_times[-1])
            basis = chosen_basis(y, happened, ends, most + outlasted, weight)
        else:
            if knots > most:
                fewer += f"; {most} inner knots for the {what}s at {own_times.size} times"
            basis = Basis.at_quantiles(log_t[happened], min(knots, most), own_weight)
        check_enough(n_happened, basis.size + n_unshrunk, what)
        bases.append(basis.orthonormal(log_t))
    return (bases[0], bases[1]), fewer


def check_enough(n_happened: int, needed: int, what: str) -> None:
    """Refuse a margin with more parameters than subjects who tell of it."""
    if n_happened < needed:
        some = f"{n_happened} {what}{'' if n_happened == 1 else 's'}"
        raise ValueError(f"y has too few {what}s: {some} for the {needed} parameters of their margin.")
