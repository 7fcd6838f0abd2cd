"""D-calibration: whether events fall evenly on the levels of predicted curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Unpack

import numpy as np

from cocensor._checks import FloatArray, Rows, check_whole, row_blocks
from cocensor._late import special
from cocensor._numerics import pool_starts
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import Functionals, LazyGradient
from cocensor.data import Survival
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.inference import Influence
from cocensor.inference.bands import normal_quantile
from cocensor.inference.influence import influence
from cocensor.metrics.base import Metric, MetricValue, Models, Profile, Scored, refuse_until
from cocensor.metrics.scoring import Assumed, Given, result_function

# Neighbouring cells are pooled for the test until so many are expected.
_FEWEST = 5.0
# What has less than this share of the largest variance has none.
_NO_VARIANCE = 1e-9


@dataclass(frozen=True)
class DCalibration(Metric):
    r"""The share of subjects in the wrong cell, :math:`\frac12\sum_c |o_c - e_c|`; see :func:`d_calibration`.

    Chance alone keeps it above 0: what is expected of a model that is right falls with the root of the number of
    subjects, and its interval is of use far from 0 only. The test of :func:`d_calibration` is free of this.

    Parameters
    ----------
    n_cells : int
        Number of cells of equal width, at least 2.

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> y = cc.Survival(np.random.default_rng(1).exponential(size=400), np.ones(400))
    >>> times = np.linspace(0.0, 3.0, 100)
    >>> curves = {"true": np.tile(np.exp(-times), (400, 1)), "late": np.tile(np.exp(-0.6 * times), (400, 1))}
    >>> result = cc.evaluate(curves, y, times=times, adjustments="ipcw", metrics=cc.metrics.DCalibration(n_cells=5))
    >>> {name: round(float(result.score(name)), 2) for name in curves}
    {'true': 0.04, 'late': 0.18}
    """

    n_cells: int = 10

    name = "d_calibration"
    label = "D-calibration error"
    kind = "calibration"
    in_brief = "how unevenly events fall on the levels of the predicted curves"
    explanation = (
        "D-calibration",
        "If a model is right, events fall evenly on the levels of its curves: a tenth of the subjects has the event "
        "while the curve falls from 1 to 0.9, and so on. The error is the share of subjects in the wrong cell; a small "
        "p-value says that chance alone does not explain it. A model that predicts the same for everybody can pass.",
    )
    direction = "lower"
    range = (0.0, 1.0)
    has_skill = False
    profile_style = "levels"
    #: At level 0 are those event-free at the last time.
    profile_labels = ("predicted survival at the event, up to", "observed minus expected share")

    def __post_init__(self) -> None:
        check_whole(self.n_cells, "n_cells", 2)

    def grid(self, times: TimeGrid) -> TimeGrid:
        """All times, and 0."""
        return times.from_zero

    def evaluate(self, status: EventWeights, predictions: Models) -> dict[str, MetricValue]:
        """The values of several models."""
        return self.evaluate_linearised(status, predictions)[0]

    def evaluate_linearised(self, status: EventWeights, predictions: Models) -> Scored:
        """The values, and these as functions of the weights."""
        spreads = spreads_over_cells(status, predictions, self.n_cells)
        gaps = {name: spread.surplus.sum(axis=0) / status.normaliser for name, spread in spreads.items()}
        values = {name: self.of_gaps(gap) for name, gap in gaps.items()}
        # Cells with too much count one half, those with too little minus one half.
        sums = [(spread, 0.5 * np.sign(gaps[name])) for name, spread in spreads.items()]
        return values, cell_functionals(status, sums)

    def of_gaps(self, gap: FloatArray) -> MetricValue:
        """The value where shares in the cells are off by so much."""
        profile = Profile(np.append(0.0, _levels(self.n_cells)), np.append(gap[-1], gap[:-1]))
        return MetricValue(0.5 * float(np.abs(gap).sum()), profile=profile)

    def accumulator(self, grid: TimeGrid, models: Sequence[str], n: int) -> LevelSums:
        """Return sums over subjects in the cells."""
        return LevelSums(self, grid, models)


class LevelSums:
    """D-calibration of several models over batches: sums over subjects in the cells of predicted levels."""

    covariance = None

    def __init__(self, metric: DCalibration, grid: TimeGrid, models: Sequence[str]) -> None:
        self.metric, self.grid, self.models = metric, grid, tuple(models)
        self._surplus, self._normaliser = np.zeros((len(models), metric.n_cells + 1)), 0.0

    def update(self, status: EventWeights, predictions: Models) -> None:
        """Add the subjects of a batch."""
        scored = {name: predictions[name] for name in self.models}
        spreads = spreads_over_cells(status, scored, self.metric.n_cells).values()
        self._surplus += [spread.surplus.sum(axis=0) for spread in spreads]
        self._normaliser += status.normaliser

    def merge(self, other: LevelSums) -> None:
        """Add the sums of another."""
        self._surplus += other._surplus
        self._normaliser += other._normaliser

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values by model."""
        refuse_until(until, self.grid)
        gaps = zip(self.models, self._surplus / self._normaliser, strict=True)
        return {name: self.metric.of_gaps(gap) for name, gap in gaps}


@dataclass(frozen=True, eq=False)
class DCalibrationResult:
    """The events by the level of a model's curves at which they fall; see :func:`d_calibration`.

    Attributes
    ----------
    levels : array of shape (n_cells,)
        The upper ends of the cells of predicted survival, in increasing order.
    observed, expected : array of shape (n_cells + 1,)
        Shares of the subjects in each cell; the last is "event-free at the last time". Each adds up to 1.
    standard_error, low, high : array of shape (n_cells + 1,)
        Of the observed minus the expected share, and the limits of the observed share that it gives, each cell for
        itself; NaN where it is not known.
    statistic, df, pvalue : float, int, float
        The test that the model is calibrated; NaN, 0 and NaN where there is none.
    missing : str or None
        Why there are no errors, or no test.

    See Also
    --------
    d_calibration : Makes it, with an example.
    """

    levels: FloatArray
    observed: FloatArray
    expected: FloatArray
    standard_error: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    statistic: float = np.nan
    df: int = 0
    pvalue: float = np.nan
    missing: str | None = None


@result_function
def d_calibration(
    given: Given, *, n_cells: int = 10, confidence_level: float = 0.95, **how: Unpack[Assumed]
) -> DCalibrationResult:
    r"""Whether events fall evenly on the levels of predicted curves, with a test (D-calibration).

    Under the true distribution :math:`S_i(E_i)` is uniform: a tenth of the subjects has the event while the curve falls
    from 1 to 0.9, and so on. Up to the last time h, with the weights a of the adjustment, the observed and expected
    shares of the cell of levels from p to p' are

    .. math:: o = \frac1m\sum_i \left[a_i(\hat S_i^{-1}(p')) - a_i(\hat S_i^{-1}(p))\right], \qquad
        e = \frac1n\sum_i \left(p' - \max(p, \hat S_i(h))\right)_+,

    and a last cell has those event-free at h, with :math:`o = \frac1m\sum_i a_i(h)` and :math:`e = \frac1n\sum_i
    \hat S_i(h)`. Both add up to 1: censored subjects are not spread by the model under test, and nothing is divided by
    :math:`1 - \hat S_i(h)`. Who is event-free is known at ``times`` (and at 0), so that a cell that ends between two of
    them gets the share of what is observed there which the curve expects of it. A model that is right at the times
    passes on any grid; a fine grid finds more of what is wrong.

    The statistic is :math:`d'\hat\Sigma^- d` with :math:`d = o - e`, compared with χ² whose degrees of freedom are the
    rank of Σ. Σ is the covariance of the influence of every subject on d, that by way of the fit of the adjustment
    included: weights and imputed statuses count for what they tell and no more. It is taken under the hypothesis:
    subjects are reweighted so that d = 0, and one more is added who is spread as expected. Without censoring the
    statistic is exactly Pearson's :math:`n\sum_c (o_c - e_c)^2/e_c`; with a plain covariance, far too many small
    samples reject a model that is right. Neighbouring cells are pooled until 5 subjects are expected.

    All rests on the ``assumption`` of the adjustment, its copula included: under a wrong one a right model may fail.

    Parameters
    ----------
    y_train, y_test, estimate, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.
    times : array-like
        The last is h; a hundred times are enough.
    n_cells : int
        Number of cells of equal width, at least 2.
    confidence_level : float
        Of the limits of each share.

    Returns
    -------
    DCalibrationResult, or a dict of such

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import d_calibration
    >>> rng = np.random.default_rng(1)
    >>> y = (rng.exponential(size=400), np.ones(400, bool))
    >>> times = np.linspace(0.0, 3.0, 100)
    >>> curves = {"true": np.tile(np.exp(-times), (400, 1)), "late": np.tile(np.exp(-0.6 * times), (400, 1))}
    >>> results = d_calibration(y, y, curves, times, n_cells=5)
    >>> results["late"].observed.round(2)
    array([0.01, 0.17, 0.21, 0.24, 0.33, 0.03])
    >>> results["late"].expected.round(2)
    array([0.03, 0.2 , 0.2 , 0.2 , 0.2 , 0.17])
    >>> {name: round(result.pvalue, 3) for name, result in results.items()}
    {'true': 0.478, 'late': 0.0}

    References
    ----------
    Haider, H., Hoehn, B., Davis, S., Greiner, R. (2020). Effective ways to build and evaluate individual survival
    distributions. *Journal of Machine Learning Research* 21(85), 1–63.
    """
    check_whole(n_cells, "n_cells", 2)
    normal_quantile(confidence_level)
    request = given.read(**how)
    y = request.samples.y_test
    compute = partial(d_calibration_of, y=y, n_cells=n_cells, confidence_level=confidence_level)
    return request.each(compute, grid=request.grid.from_zero)


def d_calibration_of(
    status: EventWeights,
    predictions: Models,
    y: Survival,
    n_cells: int = 10,
    confidence_level: float = 0.95,
) -> dict[Any, DCalibrationResult]:
    """Return the results of :func:`d_calibration`, under the status of the test outcomes ``y`` from time 0 on."""
    quantile, results = normal_quantile(confidence_level), {}
    for name, predicted in predictions.items():
        [spread] = spreads_over_cells(status, {name: predicted}, n_cells).values()
        gap, expected = spread.surplus.sum(axis=0) / status.normaliser, spread.expected / status.normaliser
        try:
            if status.n < 2:
                raise ValueError("a single subject gives no standard error.")
            sums = [(spread, h) for h in np.eye(n_cells + 1)]
            moved = influence(status, cell_functionals(status, sums), y)
        except ValueError as error:
            errors, test = np.full(n_cells + 1, np.nan), dict[str, Any](missing=str(error))
        else:
            errors, test = moved.standard_errors, _test(gap, expected, moved, status.weight)
        observed, reach = expected + gap, quantile * errors
        limits = observed - reach, observed + reach
        results[name] = DCalibrationResult(_levels(n_cells), observed, expected, errors, *limits, **test)
    return results


def _levels(n_cells: int) -> FloatArray:
    return np.arange(1, n_cells + 1) / n_cells


def _test(
    gap: FloatArray, expected: FloatArray, moved: Influence, weight: FloatArray | None
) -> dict[str, Any]:
    """The statistic, its degrees of freedom and the p-value; or why there is none."""
    shares = np.ones(len(moved.test)) if weight is None else weight / weight.mean()
    # So many subjects of equal weight would tell as much.
    n = shares.sum() ** 2 / (shares @ shares)
    # By level: those event-free at the last time come first.
    by_level = np.append(expected.size - 1, np.arange(expected.size - 1))
    starts = pool_starts(n * expected[by_level], _FEWEST)
    if starts.size < 2:
        why = f"there is no test: fewer than two cells have {_FEWEST:g} or more expected subjects."
        return {"missing": why}
    pooled = np.zeros((expected.size, starts.size))
    pooled[by_level] = np.repeat(np.eye(starts.size), np.diff(starts, append=expected.size), axis=0)
    covariance = _null_covariance(moved.test @ pooled, gap @ pooled, expected @ pooled, shares)
    if moved.fitted is not None:
        rows = Influence(moved.fitted).rows @ pooled
        covariance += rows.T @ rows
    variances, directions = np.linalg.eigh(covariance)
    used = variances > _NO_VARIANCE * variances[-1]
    statistic = float(((gap @ pooled @ directions[:, used]) ** 2 / variances[used]).sum())
    df = int(used.sum())
    return {"statistic": statistic, "df": df, "pvalue": float(special.chdtrc(df, statistic))}


def _null_covariance(
    moved: FloatArray, gap: FloatArray, expected: FloatArray, shares: FloatArray
) -> FloatArray:
    """The covariance of the gaps where the model is right, from the influence (subjects, cells) of test subjects."""
    # Subjects are reweighted, linearly in their influence, so that the gaps vanish. One more, spread over the cells as
    # expected, lets a cell without anybody count.
    n = len(moved)
    points = np.concatenate((moved + shares[:, None] * gap, np.eye(gap.size) - expected))
    share = np.append(np.ones(n), expected) / (n + 1.0)
    mean = share @ points
    centred = points - mean
    spread = centred.T @ (share[:, None] * centred)
    tilt = 1.0 - centred @ (np.linalg.pinv(spread, rcond=_NO_VARIANCE, hermitian=True) @ mean)
    return points.T @ ((share * np.maximum(tilt, 0.0))[:, None] * points) / n


class Spread:
    """The subjects by the levels of one model's curves: in cells up to ``upper``, and in one more, event-free at last.

    ``node`` and ``share`` say where the curves fall to the lower level of each cell, ``last`` is their last value.
    ``surplus`` is what each subject has more than its curve expects, ``expected`` what all curves expect, by cell.
    """

    def __init__(self, predictions: Predicted, times: FloatArray, upper: FloatArray) -> None:
        n, self.upper, self.lower = len(predictions), upper, np.append(0.0, upper[:-1])
        self.node = np.full((n, upper.size), times.size)
        self.share, self.last = np.ones((n, upper.size)), np.empty(n)
        self.surplus, self.expected = np.zeros((n, upper.size + 1)), np.zeros(upper.size + 1)
        for rows in row_blocks(n, times.size):
            curve = np.ones((rows.stop - rows.start, times.size + 1))
            # Rounding may let a curve rise.
            np.minimum.accumulate(predictions.read(times, rows), axis=1, out=curve[:, 1:])
            self.last[rows] = curve[:, -1]
            every = np.arange(len(curve))
            for c, level in enumerate(self.lower[1:], start=1):
                at = np.minimum((curve > level).sum(axis=1), times.size)
                above, below = curve[every, at - 1], curve[every, at]
                self.node[rows, c] = at
                whole, reached = np.ones(at.size), below <= level
                self.share[rows, c] = np.divide(above - level, above - below, out=whole, where=reached)

    def add(self, rows: Rows, a: FloatArray, b: FloatArray) -> None:
        """Add the weights (subjects, times) of some subjects."""
        at_start, by_curves = a[:, :1] + b[:, :1], self.by_curves(rows)
        nodes = np.concatenate((at_start, a), axis=1)
        every, at, share = np.arange(rows.size)[:, None], self.node[rows], self.share[rows]
        reached = (1.0 - share) * nodes[every, at - 1] + share * nodes[every, at]
        cells = np.diff(reached, axis=1, append=at_start)
        self.surplus[rows] = np.concatenate((cells, reached[:, :1]), axis=1) - at_start * by_curves
        self.expected += at_start[:, 0] @ by_curves

    def by_curves(self, rows: Rows) -> FloatArray:
        """Return the shares that the curves of some subjects expect by cell, (subjects, cells and one more)."""
        last = self.last[rows][:, None]
        return np.concatenate((np.maximum(self.upper - np.maximum(self.lower, last), 0.0), last), axis=1)


def spreads_over_cells(status: EventWeights, predictions: Models, n_cells: int) -> dict[Any, Spread]:
    """The spread over the cells by each model's curves, under a status that is known from time 0 on."""
    refuse_unless_known(status)
    times, levels = status.grid.sorted, _levels(n_cells)
    spreads = {name: Spread(predicted, times, levels) for name, predicted in predictions.items()}
    for block, a, b in status.blocks():
        for spread in spreads.values():
            spread.add(np.arange(block.start, block.stop), a, b)
    return spreads


def cell_functionals(status: EventWeights, sums: Sequence[tuple[Spread, FloatArray]]) -> Functionals:
    r"""Values :math:`\sum_c h_c d_c`, each with a spread and an h of its own, of the gaps d between shares."""
    n_times, scale = status.grid.sorted.size, status.n / status.normaliser

    def derivatives(rows: Rows, spread: Spread, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        by_level = np.concatenate(([h[-1] - h[0]], h[:-2] - h[1:-1]))
        nodes = np.zeros((rows.size, n_times + 1))
        nodes[:, 0] = h[-2] - spread.by_curves(rows) @ h
        every = np.arange(rows.size)
        for c in np.flatnonzero(by_level):
            at, share = spread.node[rows, c], spread.share[rows, c]
            nodes[every, at - 1] += by_level[c] * (1.0 - share)
            nodes[every, at] += by_level[c] * share
        nodes /= status.normaliser
        alpha, beta = nodes[:, 1:], np.zeros((rows.size, n_times))
        # At time 0 everybody is event-free, with all of the weight.
        alpha[:, 0] += nodes[:, 0]
        beta[:, 0] = nodes[:, 0]
        return alpha, beta

    gradients = (LazyGradient(partial(derivatives, spread=spread, h=h)) for spread, h in sums)
    own = np.column_stack([scale * (spread.surplus @ h) for spread, h in sums])
    return Functionals(tuple(gradients), np.ones((n_times, 1)), own)


def refuse_unless_known(status: EventWeights) -> None:
    """Refuse a status that is not known from time 0 up to its last time."""
    if status.grid.sorted[0] != 0:
        raise ValueError(f"times must start at 0, but start at {status.grid.sorted[0]:g}.")
    refuse_until(status.valid_until, status.grid)
