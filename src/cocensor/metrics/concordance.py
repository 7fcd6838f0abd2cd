"""Concordance: up to a horizon, and Harrell's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, IntArray, Rows, as_vector, check_length, row_blocks
from cocensor._numerics import put_rows
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import DenseGradient, Functionals, Part
from cocensor.adjustments.weights import Tile
from cocensor.data import Survival
from cocensor.data.predictions import Predicted, RiskScores
from cocensor.data.times import TimeGrid
from cocensor.metrics.base import Metric, MetricValue, Models, Scored, at_all_times, n_held, refuse_until
from cocensor.metrics.ranks import Order, OrdersByColumn, orders_of
from cocensor.metrics.scoring import Assumed, Given, score_function
from cocensor.warnings import CensoringWarning

# Of so many neighbouring times one stands for all, in errors of many subjects.
_STEP = 4


@dataclass(frozen=True)
class Concordance(Metric):
    """The agreement of predicted risks with the order of events, up to the last time; see :func:`concordance_index`.

    Parameters
    ----------
    time_dependent : bool
        Whether subjects are ordered at each time by what is predicted for it (Antolini), and not once (Uno).

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0, 5.0], [1, 0, 1, 1, 0])
    >>> risk = {"score": [0.9, 0.1, 0.2, 0.6, 0.4]}
    >>> result = cc.evaluate(risk, y, times=[1.0, 3.0, 4.0], adjustments="ipcw", metrics=cc.metrics.Concordance())
    >>> round(float(result.score("score")), 4)
    0.6744
    """

    time_dependent: bool = False

    name = "concordance"
    label = "concordance"
    kind = "discrimination"
    in_brief = "the chance that, of two subjects, the one whose event comes first was given the higher risk"
    explanation = (
        "Concordance",
        "The chance that, of two subjects, the one whose event comes first was given the higher risk, up to the "
        "horizon. ½ is guessing, 1 is perfect. It rewards ranking only: a model can order subjects well although its "
        "predicted chances are far off, so it should not be the only basis for choosing one.",
    )
    direction = "higher"
    range = (0.0, 1.0)
    needs_curves = False
    undefined = "no two subjects can be compared"

    def __post_init__(self) -> None:
        if not isinstance(self.time_dependent, bool | np.bool_):
            raise TypeError(f"time_dependent must be True or False, but is {self.time_dependent!r}.")
        if self.time_dependent:
            for field in ("name", "label"):
                object.__setattr__(self, field, "concordance (time-dependent)")
            object.__setattr__(self, "needs_curves", True)

    def evaluate(self, status: EventWeights, predictions: Models) -> dict[str, MetricValue]:
        """The values of several models; NaN where no two subjects can be compared."""
        return self.evaluate_linearised(status, predictions)[0]

    def evaluate_linearised(self, status: EventWeights, predictions: Models) -> Scored:
        """The values, and these as functions of the weights."""
        refuse_until(status.valid_until, status.grid)
        sums = self._sums(status, predictions, status.grid.sorted)
        values = {
            name: MetricValue(float(ordered / pairs) if pairs > 0 else np.nan)
            for name, (ordered, pairs) in zip(predictions, sums, strict=True)
        }
        return values, _Moves(self, predictions, sums, status.grid.sorted)

    def _sums(self, status: EventWeights, predictions: Models, times: FloatArray) -> FloatArray:
        """The sums over pairs in the order of events, and all, of each model, whose risks are up to the ``times``."""
        sums = np.zeros((len(predictions), 2))
        for steps in _steps(status):
            taken = steps.of_once if len(predictions) == 1 else steps.of
            for m, predicted in enumerate(predictions.values()):
                order = self._order(status, steps, predicted, times)
                sums[m] += order.pair_sums(taken, steps.size)
        return sums

    def _order(
        self, status: EventWeights, steps: _Steps, predictions: Predicted, times: FloatArray
    ) -> Order | OrdersByColumn:
        """The order of the subjects by one model."""
        if self.time_dependent:
            return OrdersByColumn(predictions.marker(status.grid.sorted[steps.tile.columns], slice(None)))
        key = "risk" if isinstance(predictions, RiskScores) else times.tobytes()
        return orders_of(predictions).of(key, lambda: one_risk(predictions, times))


@score_function
def concordance_index(given: Given, *, time_dependent: bool = False, **how: Unpack[Assumed]) -> float:
    r"""The concordance up to the last time: of two subjects, how often the one at higher risk has the event first.

    A one-dimensional ``estimate`` is a risk score, the higher the riskier; an array with a column per time holds
    predicted *survival* probabilities. Over the sorted times,

    .. math:: C = \frac{\sum_k \sum_{i \ne j} \Delta b_i(t_k)\,\bar a_j(t_k)
        \left(1[M_i > M_j] + \tfrac12 1[M_i = M_j]\right)}{\sum_k \sum_{i \ne j} \Delta b_i(t_k)\,\bar a_j(t_k)},

    with the weights of the adjustment, on whose ``assumption`` it rests. :math:`\Delta b_i(t_k) = b_i(t_k) -
    b_i(t_{k-1})` is the chance that i has had the event since the time before, and :math:`\bar a_j(t_k) = \tfrac12
    (a_j(t_{k-1}) + a_j(t_k))` that j is event-free halfway, without which the concordance at few times is too large.
    Before the first time nobody has had the event: :math:`b = 0`, and :math:`a_j = a_j(t_1) + b_j(t_1)`, which is 1
    where the status of everybody is known or imputed. ½ is chance, 1 is perfect. It rewards ranking only: a model whose
    hazards are all ten times too large has the same concordance.

    Parameters
    ----------
    y_train, y_test, adjustment, x_train, x_test, copula, return_influence
        As in :func:`brier_score`.
    estimate : array of shape (n_test,) or (n_test, n_times), Predictions, frame, step functions, or a dict of these
        Risk scores, or survival probabilities. Of curves the risk M is minus the predicted mean survival time up to the
        last of the times, :math:`-\int_0^{t_K} \hat S_i(t)\,dt`: it reads the whole curve, and of proportional
        hazards, whose curves do not cross, gives the one order that they have.
    times : array-like
        What happens between two of them has no order in time. Times of observed events are best. At times just before
        and at each event time the concordance is Uno's under IPCW, as ``concordance_index_ipcw`` of scikit-survival
        has it, where no two outcomes share a time; of events that do, each counts as first by half here, and neither
        there.
    time_dependent : bool
        Antolini's concordance, for curves that cross: those at risk are held against each other by what is predicted
        for the time of the event, :math:`M_i(t_k) = -\hat S_i(t_k)`.

    Returns
    -------
    float, or a dict of such; NaN where no two subjects can be compared. With ``return_influence`` a pair

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import Clayton, concordance_index
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1, 0, 1, 1, 0]))
    >>> risk = np.array([0.9, 0.1, 0.2, 0.6, 0.4])
    >>> round(concordance_index(y, y, risk, [1.0, 3.0, 4.0]), 4)
    0.6744
    >>> round(concordance_index(y, y, risk, [1.0, 3.0, 4.0], adjustment="imputation_margins", copula=Clayton(2.0)), 4)
    0.5755

    References
    ----------
    Uno, H., Cai, T., Pencina, M. J., D'Agostino, R. B., Wei, L. J. (2011). On the C-statistics for evaluating overall
    adequacy of risk prediction procedures with censored survival data. *Statistics in Medicine*, 30, 1105–1117.

    Antolini, L., Boracchi, P., Biganzoli, E. (2005). A time-dependent discrimination index for survival data.
    *Statistics in Medicine*, 24, 3927–3944.
    """
    metric = Concordance(time_dependent)
    return given.read(risk=not metric.needs_curves, **how).values(metric)


def harrell_concordance(y: Any, estimate: npt.ArrayLike) -> float:
    r"""Harrell's concordance of a risk score, for reference.

    Of the pairs of subjects whose earlier time is an event, it is the share in which that subject has the higher risk,

    .. math:: C_H = \frac{\sum_{i,j} \delta_i 1[t_i \prec t_j] (1[M_i > M_j] + \frac12 1[M_i = M_j])}
        {\sum_{i,j} \delta_i 1[t_i \prec t_j]},

    with :math:`t_i \prec t_j` where :math:`t_i < t_j`, or where the two are equal and j was censored.

    Which pairs can be compared depends on when subjects were censored, even if that is independent of the event: two
    studies of the same patients with different follow-up differ in it. So there is a :class:`CensoringWarning` where
    anybody was censored. :func:`concordance_index` adjusts for the censoring, under a stated assumption.

    Parameters
    ----------
    y : Survival, structured array or tuple
        The outcomes.
    estimate : array of shape (n,)
        Risk scores, the higher the riskier.

    Returns
    -------
    float

    Notes
    -----
    A censoring at the time of an event comes after it; two events at one time are no pair. scikit-survival's
    ``concordance_index_censored`` counts in the same way (and takes scores that differ by less than 1e-8 for tied), as
    does lifelines' ``concordance_index`` (which takes predicted times: minus the risk). The cost is that of sorting.

    Examples
    --------
    >>> from cocensor import harrell_concordance
    >>> harrell_concordance(([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1]), [0.9, 0.1, 0.2, 0.6])
    0.5

    References
    ----------
    Harrell, F. E., Califf, R. M., Pryor, D. B., Lee, K. L., Rosati, R. A. (1982). Evaluating the yield of medical
    tests. *JAMA* 247, 2543–2546.
    """
    outcomes = Survival.coerce(y, "y")
    risk = as_vector(estimate, "estimate")
    check_length(risk, "estimate", len(outcomes), "y")
    value = harrell_c(outcomes, risk)
    n_censored = len(outcomes) - outcomes.n_events
    if n_censored:
        warnings.warn(
            f"Harrell's C depends on when the {n_censored} of {len(outcomes)} subjects were censored: "
            "concordance_index corrects for that.",
            CensoringWarning,
            stacklevel=2,
        )
    return value


def harrell_c(y: Survival, risk: FloatArray) -> float:
    """Harrell's concordance of a checked score, without a warning."""
    # The last to leave comes first. Events at one time are in the order of falling risk: none is above one before it.
    place = np.lexsort((-risk, y.event, -y.time))
    event, level = y.event[place], np.unique(risk[place], return_inverse=True)[1]
    at_once = _starts(y.time[place], event)
    # Whoever comes before the events at one time outlasts them.
    comparable = int(at_once[event].sum())
    if not comparable:
        raise ValueError("y has no comparable pair: Harrell's C is not defined.")
    # Those of a level in a row, the last to leave first.
    by_level = np.argsort(level, kind="stable")
    before = np.arange(len(y)) - _starts(level[by_level])
    within = np.arange(len(y)) - _starts(level[by_level], at_once[by_level])
    tied = int((before - within)[event[by_level]].sum())
    return (int(smaller_before(level)[event].sum()) + 0.5 * tied) / comparable


def smaller_before(values: IntArray) -> IntArray:
    """Return for each of some whole numbers from 0 on how many before it are smaller; in n log n steps.

    >>> smaller_before(np.array([2, 0, 3, 3, 1]))
    array([0, 0, 2, 2, 1])
    """
    # Two numbers agree down to the first bit in which they differ, and which the greater has.
    n, count = values.size, np.zeros(values.size, dtype=np.int64)
    place, sorted_values = np.arange(n), values
    for bit in reversed(range(int(values.max(initial=0)).bit_length())):
        has = ((sorted_values >> bit) & 1).astype(bool)
        start = _starts(sorted_values >> (bit + 1))
        without = np.concatenate(([0], np.cumsum(~has)))
        smaller = without[:-1] - without[start]  # before it, among those that agree so far
        count[place[has]] += smaller[has]
        order = np.argsort(sorted_values >> bit, kind="stable")
        place, sorted_values = place[order], sorted_values[order]
    return count


def _starts(*keys: Any) -> IntArray:
    """For each element the place of the first of the run of equal keys that it is in."""
    new = np.ones(keys[0].size, dtype=bool)
    new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return np.maximum.accumulate(np.where(new, np.arange(new.size), 0))


def one_risk(predictions: Predicted, times: FloatArray) -> FloatArray:
    """The risk scores, or minus the areas under the predicted curves, 1 at time 0, up to the last sorted time."""
    if isinstance(predictions, RiskScores):
        return predictions.risk
    widths = np.diff(times, prepend=0.0)
    weights = -0.5 * (widths + np.append(widths[1:], 0.0))
    risk = np.empty(len(predictions))
    for rows in row_blocks(risk.size, times.size):
        # Equal curves must tie: a product of matrices adds up rows in different ways.
        risk[rows] = np.multiply(predictions.read(times, rows), weights, order="C").sum(axis=1)
    return risk


@dataclass(frozen=True, eq=False)
class _Steps:
    """All subjects from each time of a tile to the time before it; ``before`` has a and b before the first time."""

    tile: Tile
    before: tuple[FloatArray, FloatArray]

    @property
    def size(self) -> int:
        return self.tile.columns.stop - self.tile.columns.start

    @cached_property
    def all(self) -> tuple[FloatArray, FloatArray]:
        """The gains of b in each step, and the sum of a at both its ends: (subjects, columns) each."""
        a, b = (np.ascontiguousarray(weights) for weights in (self.tile.event_free, self.tile.event))
        return _of_steps(a, b, *self.before)

    def of(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return both for some subjects."""
        gained, around = self.all
        return gained.take(rows, axis=0), around.take(rows, axis=0)

    def of_once(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return both where each subject is asked for once: nothing is kept, which is faster."""
        a, b = (weights.take(rows, axis=0) for weights in (self.tile.event_free, self.tile.event))
        return _of_steps(a, b, self.before[0][rows], self.before[1][rows])


def _of_steps(
    a: FloatArray, b: FloatArray, a_before: FloatArray, b_before: FloatArray
) -> tuple[FloatArray, FloatArray]:
    gained, around = np.empty_like(b), np.empty_like(a)
    # Row after row in one go, which is faster than row by row; the first of each is mended.
    np.subtract(b.ravel()[1:], b.ravel()[:-1], out=gained.ravel()[1:])
    np.add(a.ravel()[1:], a.ravel()[:-1], out=around.ravel()[1:])
    gained[:, 0], around[:, 0] = b[:, 0] - b_before, a[:, 0] + a_before
    return gained, around


def _steps(status: EventWeights, n_arrays: int = 16) -> Iterator[_Steps]:
    """All steps, some at once. Before the first time all were event-free who are known to be so then, or not to be."""
    before: tuple[FloatArray, FloatArray] | None = None
    for tile in status.tiles(n_arrays):
        if before is None:
            before = tile.event_free[:, 0] + tile.event[:, 0], np.zeros(status.n)
        yield _Steps(tile, before)
        before = tile.event_free[:, -1].copy(), tile.event[:, -1].copy()


@dataclass(frozen=True, eq=False)
class _Moves:
    """The concordance of several models by the weights; ``sums`` are over pairs in the order of events, and all."""

    metric: Concordance
    predictions: Models
    sums: FloatArray
    times: FloatArray

    @property
    def size(self) -> int:
        return len(self.predictions)

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """Yield the derivatives for some steps in each part; the time before the first of them is in it too.

        Of many subjects they are those at every fourth time, which moves standard errors by less than 1 %.
        """
        times, sums = status.grid.sorted, self.sums
        if not at_all_times(status, self.size) and status.at_times is not None and times.size >= 4 * _STEP:
            status = status.at_times(TimeGrid.of(times[(times.size - 1) % _STEP :: _STEP]))
            sums = self.metric._sums(status, self.predictions, self.times)
        for steps in _steps(status, n_held(self.size)):
            columns = slice(max(steps.tile.columns.start - 1, 0), steps.tile.columns.stop)
            gradients, own = list[DenseGradient](), np.zeros((status.n, self.size))
            for m, predicted in enumerate(self.predictions.values()):
                gradient = DenseGradient(*np.zeros((2, status.n, columns.stop - columns.start)))
                gradients.append(gradient)
                if not sums[m, 1] > 0:
                    own[:, m] = np.nan
                    continue
                order = self.metric._order(status, steps, predicted, self.times)
                for rows, share, by_a, by_b, presence in _by_weights(steps, order, *sums[m]):
                    for total, values in (gradient.event_free, by_a), (gradient.event, by_b):
                        both = values if share == 1.0 else total.take(rows, axis=0) + share * values
                        put_rows(total, rows, both)
                    own[rows, m] += status.n * share * presence
            functionals = Functionals(tuple(gradients), np.ones((columns.stop - columns.start, 1)), own)
            yield Part(status.at_columns(columns), functionals, slice(None))


def _by_weights(
    steps: _Steps, order: Order | OrdersByColumn, ordered: float, pairs: float
) -> Iterator[tuple[Rows, float, FloatArray, FloatArray, FloatArray]]:
    """The derivatives of the quotient by a and b at the ends of steps, and by presence, of some subjects at a time."""
    value = ordered / pairs
    all_gained, all_around = (values.sum(axis=0) for values in steps.all)
    for rows, share, gained, around, gained_below, around_below in order.lower(steps.of, steps.size):
        by_gain = (around_below - value * (all_around - around)) / pairs
        by_around = ((1.0 - value) * (all_gained - gained) - gained_below) / pairs
        presence = np.einsum("ij,ij->i", by_gain, gained) + np.einsum("ij,ij->i", by_around, around)
        alpha, beta = np.zeros((2, rows.size, steps.size + 1))
        alpha[:, 1:], beta[:, 1:] = by_around, by_gain
        alpha[:, :-1] += by_around
        beta[:, :-1] -= by_gain
        if steps.tile.columns.start == 0:  # before the first time a is what a and b are then
            alpha[:, 1] += alpha[:, 0]
            beta[:, 1] += alpha[:, 0]
            alpha, beta = alpha[:, 1:], beta[:, 1:]
        yield rows, share, alpha, beta, presence
