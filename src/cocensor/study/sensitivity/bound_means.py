r"""Sharp bounds of a mean of losses, and of the difference of two.

A loss at the sorted times k has the value :math:`x_k` if event-free and :math:`y_k` if not, and adds up with weights
:math:`w_k`. A subject that dropped out has its event at *one* unknown time after: with the event in step m it
contributes

.. math:: \sum_{k_0 \le k < m} w_k x_k + \sum_{k \ge m} w_k y_k
    = \sum_{k \ge k_0} w_k y_k + \sum_{k_0 \le k < m} w_k (x_k - y_k),

with :math:`k_0` the first time after the dropout. The first sum is what it counts for with an event right after
leaving; the second, a running sum, is extremised over m, and is 0 at :math:`m = k_0`. Each subject is extremised for
itself, so that the extremes of the mean are the means of the extremes, and are attained. For the difference of two
models x and y are differences, and so are the running sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from cocensor._checks import FloatArray, row_blocks
from cocensor.adjustments import DenseGradient, Functionals
from cocensor.data import Predicted
from cocensor.inference import Influence, influence
from cocensor.metrics import Metric
from cocensor.study.sensitivity.dropouts import Dropouts, Extremes

# Of all subjects so many numbers are held at once; of what dropouts add to bounds, so many.
_AT_ONCE, _GAINS_AT_ONCE = 2**20, 2**24
#: The number of a model, or of two whose difference is meant.
Key = tuple[int, ...]


def extremes_of_mean(
    metric: Metric, open_: Dropouts, predictions: Mapping[str, Predicted], with_errors: bool
) -> Extremes:
    """The bounds of several models, and of all their differences, in one pass over the dropouts.

    Many models take several passes, so that memory does not grow with the number of pairs.
    """
    status = open_.status
    found, linearised = metric.evaluate_linearised(status, predictions)
    linearised = linearised or metric.functionals(status, predictions)
    [part] = linearised.parts(status)
    numbers = range(len(predictions))
    keys: list[Key] = [*((m,) for m in numbers), *combinations(numbers, 2)]
    left = np.array([each.value for each in found.values()])
    base = influence(status, linearised, open_.y) if with_errors else None
    over_time = None
    if metric.curve_label is not None:
        over_time = status.grid.by_sorted(np.array([each.curve for each in found.values()]))
    lot = max(1, _GAINS_AT_ONCE // max(1, 2 * open_.rows.size))
    values, errors, curves = list[FloatArray](), list[FloatArray](), list[FloatArray]()
    for start in range(0, len(keys), lot):
        some = keys[start : start + lot]
        contrasts = _contrasts(some, len(predictions))
        gains = _Gains(open_, part.functionals, some, contrasts, over_time is not None)
        values.append(left @ contrasts + gains.total)
        if base is not None:
            parts = [_errors(base, contrasts, gains, open_, side, few) for side, few in gains.parts()]
            errors.append(np.concatenate(parts).reshape(2, len(some)))
        if over_time is not None and gains.curves is not None:
            curves.append(status.grid.restore(contrasts.T @ over_time + gains.curves))
    return Extremes(
        np.concatenate(values, axis=1),
        np.concatenate(errors, axis=1) if errors else None,
        np.concatenate(curves, axis=1) if curves else None,
    )


class _Gains:
    """What dropouts add to the bounds, beyond what they count for with an event from the time of dropout on.

    ``by_subject`` has it for each of the dropouts, (2, values, dropouts), without its weight; ``curves`` for each time
    and all of them, (2, values, times).
    """

    def __init__(
        self,
        open_: Dropouts,
        functionals: Functionals,
        keys: list[Key],
        contrasts: FloatArray,
        over_time: bool,
    ) -> None:
        n_times, size = open_.status.grid.sorted.size, len(keys)
        self.size, self.n = size, open_.status.n
        self.by_subject = np.empty((2, size, open_.rows.size))
        self.curves = np.zeros((2, size, n_times)) if over_time else None
        n_models = len(functionals.gradients)
        for some in row_blocks(open_.rows.size, n_times * (n_models + 2)):
            start = int(open_.cut[some].min())  # of the dropouts of this block, nobody is open before
            columns, weights = slice(start, n_times), open_.weights[some]
            over = functionals.time_weights[columns, 0]
            left, open_from = (each[some, None] - start for each in (open_.cut, open_.first))
            after = np.arange(n_times - start) >= open_from
            gaps = np.empty((n_models, *after.shape))
            for gap, gradient in zip(gaps, functionals.gradients, strict=True):
                losses = gradient.of_subjects(open_.rows[some]).part(columns)
                np.subtract(losses.event_free, losses.event, out=gap)
            # Who leaves at one of the times is event-free then, for certain.
            known = (
                gaps * ((np.arange(n_times - start) >= left) & ~after) if (open_from > left).any() else None
            )
            gaps *= after
            if self.curves is not None:
                for f, gap in enumerate(_of(keys, gaps)):
                    self.curves[0, f, columns] += weights @ np.minimum(gap, 0.0)
                    self.curves[1, f, columns] += weights @ np.maximum(gap, 0.0)
            gaps *= over
            for f, running in enumerate(_of(keys, np.cumsum(gaps, axis=2, out=gaps))):
                running.min(axis=1, initial=0.0, out=self.by_subject[0, f, some])
                running.max(axis=1, initial=0.0, out=self.by_subject[1, f, some])
            if known is not None:
                self.by_subject[:, :, some] += contrasts.T @ (known @ over)
                if self.curves is not None:
                    self.curves[:, :, columns] += contrasts.T @ (weights @ known)
        self.total = self.by_subject @ open_.weights

    def parts(self) -> Iterator[tuple[int, slice]]:
        """Lower and upper values in lots that are held at once."""
        step = max(1, _AT_ONCE // max(1, self.n))
        for side in range(2):
            for start in range(0, self.size, step):
                yield side, slice(start, min(start + step, self.size))


def _errors(
    base: Influence, contrasts: FloatArray, gains: _Gains, open_: Dropouts, side: int, some: slice
) -> FloatArray:
    """The standard errors of some bounds.

    Which event time is extreme depends on the losses alone, so that a bound is linear in the weights.
    """
    nothing = np.broadcast_to(0.0, (gains.n, 1))
    gradients = []
    for gain in gains.by_subject[side, some]:
        chosen = np.zeros((gains.n, 1))
        chosen[open_.rows, 0] = -gain
        gradients.append(DenseGradient(nothing, chosen))
    # After a dropout its weight stays: all that it gains may count at the last time.
    lost = influence(open_.last, Functionals(tuple(gradients), np.ones((1, 1))), open_.y)
    return (base.combined(contrasts[:, some]) - lost).standard_errors


def _of(keys: list[Key], values: FloatArray) -> Iterator[FloatArray]:
    """The values of each model, or the difference of each two."""
    for key in keys:
        yield values[key[0]] if len(key) == 1 else values[key[0]] - values[key[1]]


def _contrasts(keys: list[Key], n: int) -> FloatArray:
    """What makes values of ``n`` models into those of models and pairs, (models, values)."""
    return np.array(list(_of(keys, np.eye(n)))).T
