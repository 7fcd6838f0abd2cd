"""Sharp bounds of scores: every dropout has its event where that is the best for a model, or the worst.

**A mean of losses, and the difference of two.** A dropout with its event in step m contributes a fixed sum and a
running sum of :math:`w_k (x_k - y_k)`, the losses if event-free minus if not, extremised over m for each subject:
the theory page on sensitivity derives it. The extremes of the mean are the means of the extremes, and are attained.

**The AUC at one time.** The highest is attained by a threshold, as the same page proves: of the dropouts those with a
marker above are cases, the others controls. The lowest is 1 minus the highest of the negative marker. All thresholds
are tried by running sums.

Of dropouts with equal markers some may be cases and some controls, which is better where v is below ½. With equal
weights only their number matters, so they are tried one after the other. With unequal ones, as those of administrative
censoring are, the bound can then be off a little: by about the square of a subject's share of all weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, Rows, row_blocks
from cocensor._numerics import lookup
from cocensor.adjustments import IPCW, EventWeights, Oracle
from cocensor.adjustments.gradient import DenseGradient, Functionals
from cocensor.adjustments.samples import Samples
from cocensor.adjustments.weights import Tile, by_cut
from cocensor.data import Sample, Survival
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid, shown_time
from cocensor.inference.influence import influence
from cocensor.metrics import Metric
from cocensor.metrics.auc import CumulativeDynamicAUC
from cocensor.metrics.base import sections
from cocensor.metrics.ranks import Order

# The most numbers that are held at once of all subjects, and of the gains of dropouts.
_AT_ONCE, _GAINS_AT_ONCE = 2**20, 2**24
#: The number of a model, or of two whose difference is meant.
Key = tuple[int, ...]
NO_DIFFERENCE = (
    "the difference of two AUCs has no sharp bounds that can be computed: a threshold for one model is none for the "
    "other"
)


class Extremes(NamedTuple):
    """Lower and upper bounds, (2, values): of all models, then of all pairs of them in the order of combinations."""

    values: FloatArray
    #: Standard errors; NaN where none were wanted.
    errors: FloatArray
    #: Bounds at each time for itself, (2, values, times), where there are values over time.
    curves: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Dropouts:
    r"""Weights in which whoever dropped out at c has the event from c on, and who these are.

    The first of event and dropout, :math:`\min(E, C)`, is observed in full but for the end of the study A, which is
    independent: subjects are weighted by :math:`1/G_A(t)` while at risk, by :math:`1/G_A(e-)` after an event and by
    :math:`1/G_A(c-)` after a dropout. Without marks of administrative censoring all weights are 1.
    """

    status: EventWeights
    #: The test outcomes with dropouts as events.
    y: Survival
    #: Those who dropped out before the last time, in the order of their ``cut``.
    rows: Rows
    #: Of these, the numbers of sorted times before the dropout, and up to it, when a subject is known to be event-free.
    cut: IntArray
    first: IntArray

    @classmethod
    def of(cls, samples: Samples, grid: TimeGrid) -> Dropouts:
        """Return the dropouts of the test sample, with weights at some times."""
        test, train, both = samples.y_test, samples.train, _first_of_both(samples.test)
        y = both.y
        if not np.any(test.administrative):
            status = replace(samples, test=both).weights(Oracle(test.time).fit(y), grid)
        else:
            # A training sample that marks nobody says nothing about the end of the study.
            marked = train is not None and np.any(train.y.administrative)
            samples = Samples(
                both, _first_of_both(train) if train is not None and marked else None, samples.within
            )
            status = samples.weights(samples.fit(IPCW(), {}), grid)
        if status.valid_until <= grid.last:
            raise ValueError(
                f"there are no bounds from time {shown_time(status.valid_until)} on: nobody is seen there."
            )
        cut = grid.cut(test.time)
        rows = np.flatnonzero(test.dropout & (test.time <= grid.last))
        rows = rows[by_cut(rows, cut[rows])]
        return cls(status, y, rows, cut[rows], lookup(grid.sorted, test.time[rows], "right"))

    @cached_property
    def last(self) -> EventWeights:
        """The weights of all subjects at the last time alone."""
        n_times = self.status.grid.sorted.size
        return self.status.at_columns(slice(n_times - 1, n_times))

    @cached_property
    def weights(self) -> FloatArray:
        """The weights of the dropouts after they left."""
        [tile] = self.last.tiles()
        return tile.event[self.rows, 0]


def _first_of_both(sample: Sample) -> Sample:
    """The first of event and dropout as the event."""
    y = sample.y
    return Sample(Survival(y.time, y.event | y.dropout, y.administrative), weight=sample.weight)


def extremes_of_mean(
    metric: Metric, open_: Dropouts, predictions: Mapping[str, Predicted], with_errors: bool
) -> Extremes:
    """Return the bounds of several models, and of all their differences, in one pass over the dropouts.

    Many models take several passes, so that memory does not grow with the number of pairs.
    """
    status = open_.status
    scores, linearised = metric.evaluate_linearised(status, predictions)
    linearised = linearised or metric.functionals(status, predictions)
    [part] = linearised.parts(status)
    numbers = range(len(predictions))
    keys: list[Key] = [*((m,) for m in numbers), *combinations(numbers, 2)]
    at_dropout = np.array([score.value for score in scores.values()])
    base = influence(status, linearised, open_.y) if with_errors else None
    over_time, curves = None, list[FloatArray]()
    if metric.curve_label is not None:
        over_time = status.grid.by_sorted(np.array([score.curve for score in scores.values()]))
    values, errors = np.full((2, 2, len(keys)), np.nan)
    nothing = np.broadcast_to(0.0, (status.n, 1))
    lot, step = max(1, _GAINS_AT_ONCE // max(1, 2 * open_.rows.size)), max(1, _AT_ONCE // max(1, status.n))
    for start in range(0, len(keys), lot):
        some, columns = keys[start : start + lot], slice(start, start + lot)
        # What makes values of models into those of models and pairs, (models, values).
        contrasts = np.array(list(_of(some, np.eye(len(predictions))))).T
        if over_time is not None:
            curves.append(np.repeat((contrasts.T @ over_time)[None], 2, axis=0))
        gains = _gains(open_, part.functionals, some, curves[-1] if curves else None)
        values[:, columns] = at_dropout @ contrasts + gains @ open_.weights
        if base is None:
            continue
        # Which event time is extreme depends on the losses alone, so that a bound is linear in the weights. After a
        # dropout its weight stays: all that it gains may count at the last time.
        for side, k in product(range(2), range(0, len(some), step)):
            few = slice(k, k + step)
            by_event = np.zeros((len(gains[side, few]), status.n, 1))
            by_event[:, open_.rows, 0] = -gains[side, few]
            gradients = tuple(DenseGradient(nothing, of_bound) for of_bound in by_event)
            lost = influence(open_.last, Functionals(gradients, np.ones((1, 1))), open_.y)
            errors[side, columns][few] = (base.combined(contrasts[:, few]) - lost).standard_errors
    return Extremes(values, errors, status.grid.restore(np.concatenate(curves, axis=1)) if curves else None)


def _gains(
    open_: Dropouts, functionals: Functionals, keys: list[Key], curves: FloatArray | None
) -> FloatArray:
    """Return the gains of the bounds over the scores with an event from the time of dropout on.

    They are for each of the dropouts, (2, values, dropouts), without its weight; those for each time and all of them
    are added to ``curves``, (2, values, times).
    """
    n_times = open_.status.grid.sorted.size
    by_subject = np.empty((2, len(keys), open_.rows.size))
    n_models = len(functionals.gradients)
    for some in row_blocks(open_.rows.size, n_times * (n_models + 2)):
        start = int(open_.cut[some].min())  # of the dropouts of this block, nobody is open before
        columns, weights = slice(start, n_times), open_.weights[some]
        over = functionals.time_weights[columns, 0]
        left, open_from = (cut[some, None] - start for cut in (open_.cut, open_.first))
        after = np.arange(n_times - start) >= open_from
        gaps = np.empty((n_models, *after.shape))
        for gap, gradient in zip(gaps, functionals.gradients, strict=True):
            losses = gradient.of_subjects(open_.rows[some]).part(columns)
            np.subtract(losses.event_free, losses.event, out=gap)
        # Who leaves at one of the times is event-free then, for certain.
        at_the_time = (np.arange(n_times - start) >= left) & ~after
        certain = gaps * at_the_time if (open_from > left).any() else None
        gaps *= after
        if curves is not None:
            for f, gap in enumerate(_of(keys, gaps)):
                curves[0, f, columns] += weights @ np.minimum(gap, 0.0)
                curves[1, f, columns] += weights @ np.maximum(gap, 0.0)
        gaps *= over
        for f, running in enumerate(_of(keys, np.cumsum(gaps, axis=2, out=gaps))):
            running.min(axis=1, initial=0.0, out=by_subject[0, f, some])
            running.max(axis=1, initial=0.0, out=by_subject[1, f, some])
        if certain is not None:
            by_subject[:, :, some] += list(_of(keys, certain @ over))
            if curves is not None:
                curves[:, :, columns] += list(_of(keys, weights @ certain))
    return by_subject


def _of(keys: list[Key], values: FloatArray) -> Iterator[FloatArray]:
    """Return the values of each model, or the difference of each two."""
    for key in keys:
        yield values[key[0]] if len(key) == 1 else values[key[0]] - values[key[1]]


def extremes_of_auc(
    metric: CumulativeDynamicAUC, open_: Dropouts, predictions: Mapping[str, Predicted], with_errors: bool
) -> Extremes:
    """Return the bounds of several models; NaN for differences, and where no assignment has cases and controls."""
    n_models, status = len(predictions), open_.status
    values = np.full((2, n_models * (n_models + 1) // 2), np.nan)
    errors = np.full_like(values, np.nan)
    [tile] = status.tiles()
    left = open_.first == 0  # who leaves at the very time is event-free then
    unknown, at_the_time = open_.rows[left], open_.rows[~left]
    weights = tile.event[unknown, 0]
    for m, model in enumerate(predictions.values()):
        [(_, section)] = sections(status, tile, model)
        for side, marker in enumerate((-section.marker, section.marker)):
            event_free, event = tile.event_free[:, 0].copy(), tile.event[:, 0].copy()
            event_free[at_the_time], event[at_the_time], event[unknown] = event[at_the_time], 0.0, 0.0
            cases = _cases_of_highest(Order(marker), event_free, event, unknown, weights)
            if cases is None:
                continue
            event[unknown[cases]], event_free[unknown[~cases]] = weights[cases], weights[~cases]
            [(_, assigned)] = sections(status, Tile(tile.columns, event_free[:, None], event[:, None]), model)
            values[side, m], by_free, by_event, _ = metric.linear(assigned)
            if with_errors:
                # The weight of a dropout is that of an event, also where it counts as a control. Which assignment is
                # best moves with the weights, but does not move the AUC at first order.
                controls = np.concatenate((unknown[~cases], at_the_time))
                by_event[controls] = by_free[controls]
                gradient = DenseGradient(by_free[:, None], by_event[:, None])
                moved = influence(status, Functionals((gradient,), np.ones((1, 1))), open_.y)
                errors[side, m] = moved.standard_errors[0]
    return Extremes(values, errors)


def _cases_of_highest(
    order: Order, controls: FloatArray, cases: FloatArray, unknown: Rows, weights: FloatArray
) -> BoolArray | None:
    """Return which of the unknown are cases where the AUC is highest; None where none of the thresholds has an AUC.

    ``controls`` and ``cases`` are the weights of those who are known.
    """
    rows = order.rows
    of_unknown, place = np.zeros(rows.size), np.empty(rows.size, dtype=np.intp)
    of_unknown[unknown] = weights
    place[rows] = np.arange(rows.size)
    walk = np.argsort(place[unknown], kind="stable")  # they turn into controls from the lowest marker on
    at = place[unknown[walk]]
    first, end = (at, at + 1) if order.ties is None else (ends[at] for ends in order.ties)
    w = weights[walk]

    def below(values: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Return sums of values in the order: below each of those who walk, level with it, and in all."""
        sums = np.append(0.0, np.cumsum(values))
        return sums[first], sums[end] - sums[first], float(sums[-1])

    lower_controls, level_controls, n_controls = below(controls[rows])
    lower_cases, level_cases, n_cases = below(cases[rows])
    lower, level, total = below(of_unknown[rows])
    passed = np.append(0.0, np.cumsum(w))
    turned = passed[:-1] - lower  # of those level with it, who are controls by now
    loses = lower_controls + lower + 0.5 * (level_controls + turned)
    gains = (n_cases - lower_cases - level_cases) + (total - lower - level)
    gains += 0.5 * (level_cases + level - turned - w)
    all_cases = cases + of_unknown
    start = float(all_cases[rows] @ order.others_below(controls[rows]))
    ordered = start + np.append(0.0, np.cumsum(w * (gains - loses)))
    pairs = (n_controls + passed) * (n_cases + total - passed)
    defined = pairs > 1e-9 * max(1.0, float(pairs.max()))
    if not defined.any():
        return None
    auc = np.full(pairs.size, -np.inf)
    np.divide(ordered, pairs, out=auc, where=defined)
    are_cases = np.ones(weights.size, dtype=bool)
    are_cases[walk[: int(np.argmax(auc))]] = False
    return are_cases
