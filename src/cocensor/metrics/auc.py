"""The ROC curve at a time, and the area under it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby
from typing import Any, NamedTuple, Unpack

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, IntArray, Rows
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import DenseGradient, Functionals, LazyGradient, Linearised, Part
from cocensor.adjustments.weights import Tile
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.inference.estimates import Estimates
from cocensor.inference.influence import batched_rows
from cocensor.metrics.base import (
    Linear,
    MetricValue,
    Models,
    Profile,
    Scored,
    Section,
    SectionMetric,
    at_all_times,
    by_section,
    n_held,
    sections,
)
from cocensor.metrics.ranks import Order
from cocensor.metrics.scoring import Assumed, Given, result_function, two_scores_function
from cocensor.warnings import HorizonWarning

#: False positive rates at which a ROC curve is given.
FALSE_ALARMS = np.linspace(0.0, 1.0, 101)
# A share of false alarms that the subjects give, up to rounding, is met.
_ROUNDING = 1e-12
# So many weights are taken at once.
_AREA_ELEMENTS = 2**20
# Of so many neighbouring times one stands for all where there are many subjects.
_STEP = 4


@dataclass(frozen=True)
class CumulativeDynamicAUC(SectionMetric):
    """The separation of those with the event by a time from those event-free; see :func:`cumulative_dynamic_auc`.

    Parameters
    ----------
    at : float, optional
        The time; by default it is the mean over the times of an evaluation, each weighted by its new events.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0, 5.0], [1, 0, 1, 1, 0])
    >>> risk = {"score": [2.0, 0.5, 0.1, 1.0, 0.3]}
    >>> auc = cc.metrics.CumulativeDynamicAUC(at=3.5)
    >>> round(float(cc.evaluate(risk, y, times=[1.5, 3.5], adjustments="ipcw", metrics=auc).score("score")), 3)
    0.429
    """

    at: float | None = None

    name = "auc"
    label = "mean AUC"
    kind = "discrimination"
    in_brief = "the chance that a subject with the event was given a higher risk than one still without it"
    explanation = (
        "AUC",
        "The chance that, of two subjects of whom one had the event by a time and the other is still event-free, the "
        "first was given the higher risk. ½ is guessing, 1 is perfect. The ROC curve behind it shows the true "
        "positive rate at each false positive rate; the mean AUC weights each time by its events. It rewards ranking "
        "only: predicted chances that are all far too high do not change it.",
    )
    curve_label = "AUC"
    direction = "higher"
    range = (0.0, 1.0)
    needs_curves = False
    single_times = "also"
    profile_labels = ("false positive rate", "true positive rate")
    profile_range = (0.0, 1.0)
    profile_style = "roc"
    undefined = "nobody had the event, or nobody is event-free"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at is not None:
            object.__setattr__(self, "curve_label", None)

    def grid(self, times: TimeGrid) -> TimeGrid:
        """The one time, or all."""
        return times if self.at is None else super().grid(times)

    def value(self, section: Section) -> float:
        """The AUC; NaN where there are no cases, or no controls."""
        return area(section.order, section.event_free, section.event)

    def linear(self, section: Section) -> Linear:
        """The AUC and its derivatives, by the rule for quotients."""
        value, by_a, by_b = linear_area(section.order, section.event_free, section.event)
        return Linear(float(value), by_a, by_b)

    def profile(self, section: Section) -> Profile | None:
        """The ROC curve: of those who had the event, the share above a threshold, by that of those event-free."""
        return Profile(FALSE_ALARMS, Roc(section.order, section.event_free, section.event).found())

    def profile_functionals(self, status: EventWeights, predictions: Models) -> Linearised:
        """The shares of events found of the ROC curves at the one time, all of the first model first."""
        by_model = dict.fromkeys(predictions, [LazyGradient(_nothing)] * FALSE_ALARMS.size)
        for name, _, section in by_section(status, predictions):
            roc = Roc(section.order, section.event_free, section.event)
            if np.isfinite(roc.found()[0]):
                by_model[name] = roc.gradients(section.marker)
        return Functionals(tuple(chain.from_iterable(by_model.values())), np.ones((1, 1)))

    def evaluate(self, status: EventWeights, predictions: Models) -> dict[str, MetricValue]:
        """The values of several models."""
        if self.at is not None:
            return super().evaluate(status, predictions)
        return self._mean(status, predictions).values(status.grid)

    def evaluate_linearised(self, status: EventWeights, predictions: Models) -> Scored:
        """The values, and these as functions of the weights: both at once where that takes little memory."""
        if self.at is not None:
            return super().evaluate_linearised(status, predictions)
        mean = self._mean(status, predictions, keep=at_all_times(status, len(predictions)))
        return mean.values(status.grid), mean

    def accumulator(self, grid: TimeGrid, models: Sequence[str], n: int) -> SingleTimeAUC | None:
        """At one time the weights and predictions of all subjects can be held."""
        return SingleTimeAUC(grid, models) if self.at is not None and n <= MOST_HELD else None

    def _mean(self, status: EventWeights, predictions: Models, *, keep: bool = False) -> MeanAUC:
        """The mean over the times, whose derivatives are kept, or made when they are asked for."""
        known, sums = dict[str, _Areas](), np.zeros(status.grid.sorted.size)
        curves = {name: np.full(sums.size, np.nan) for name in predictions}
        for tile in status.tiles(n_held(2 * len(curves))) if keep else status.tiles():
            sums[tile.columns] = tile.event.sum(axis=0)
            for name, predicted in predictions.items():
                areas = _areas(status, tile, predicted, derive=keep)
                curves[name][tile.columns] = areas.values
                if keep:  # there is one tile
                    known[name] = areas
        return MeanAUC(predictions, known, curves, sums)


@dataclass(frozen=True, eq=False)
class MeanAUC:
    r"""The mean :math:`\sum_k AUC_k\,\Delta B_k / B_K` of the ``curves`` of several models; ``sums`` are B."""

    predictions: Models
    #: The areas at all times with their derivatives, by model, if they are kept.
    known: Mapping[str, _Areas]
    curves: Mapping[str, FloatArray]
    sums: FloatArray

    @property
    def size(self) -> int:
        """The number of means, one for each model."""
        return len(self.predictions)

    @property
    def events(self) -> FloatArray:
        """The gains of B at each time; where weights below 0 prevail, nobody had the event yet."""
        return np.diff(np.maximum(self.sums, 0.0), prepend=0.0)

    def values(self, grid: TimeGrid) -> dict[str, MetricValue]:
        """The means, and what they are means of in the order of the times given."""
        return {
            name: MetricValue(mean_over_events(curve, self.events), grid.restore(curve))
            for name, curve in self.curves.items()
        }

    def _weights(self) -> tuple[FloatArray, dict[str, FloatArray]]:
        """The share of the events of each time, and by model the derivatives of the mean by the sum of b at each."""
        events = self.events
        total = events.sum() or np.inf  # without any event nothing moves
        curves = np.where(events == 0, 0.0, list(self.curves.values()))
        shares, by_new = events / total, (curves - curves @ events[:, None] / total) / total
        # The sum at a time adds to the new events there, and takes from those of the next time.
        by_sums = -np.diff(by_new, axis=1, append=0.0)
        by_sums[:, self.sums < 0] = 0.0
        return shares, dict(zip(self.curves, by_sums, strict=True))

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """Yield the derivatives of the areas times their shares, and of these shares, for some times in each part.

        Of many subjects the areas at every fourth time stand for those around them: standard errors move by about 1 %.
        """
        shares, by_sums = self._weights()
        if not at_all_times(status, self.size):
            shares = _thinned(shares)
        for tile in status.tiles(n_held(self.size)):
            columns, gradients, own = tile.columns, list[DenseGradient](), list[FloatArray]()
            for name, predicted in self.predictions.items():
                areas = self.known.get(name) or _areas(
                    status, tile, predicted, derive=True, at=shares[columns]
                )
                alpha, beta = shares[columns] * areas.event_free, shares[columns] * areas.event
                beta += by_sums[name][columns]
                gradients.append(DenseGradient(alpha, beta))
                own.append(
                    np.einsum("ik,ik->i", tile.event_free, alpha) + np.einsum("ik,ik->i", tile.event, beta)
                )
            ones = np.ones((columns.stop - columns.start, 1))
            functionals = Functionals(tuple(gradients), ones, status.n * np.column_stack(own))
            yield Part(status.at_columns(columns), functionals, slice(None))


class _Areas(NamedTuple):
    """The AUC at some times, and its derivatives by the weights of all subjects, (subjects, times) each."""

    values: FloatArray
    event_free: FloatArray
    event: FloatArray


def _thinned(shares: FloatArray) -> FloatArray:
    """Shares of times, those of neighbours added up at the one in their middle; few times keep theirs."""
    if shares.size < 4 * _STEP:
        return shares
    centres = np.arange(_STEP // 2, shares.size, _STEP)
    thinned = np.zeros_like(shares)
    np.add.at(thinned, centres[np.minimum(np.arange(shares.size) // _STEP, centres.size - 1)], shares)
    return thinned


def _areas(
    status: EventWeights, tile: Tile, predictions: Predicted, *, derive: bool, at: FloatArray | None = None
) -> _Areas:
    """The AUC of a model at the times of a tile, or where ``at`` is not 0; neighbours with one order at once."""
    size = tile.columns.stop - tile.columns.start
    values, shape = np.full(size, np.nan), (status.n, size) if derive else (0, 0)
    areas = _Areas(values, np.zeros(shape), np.zeros(shape))
    orders = [section.order for _, section in sections(status, tile, predictions)]
    width = max(1, _AREA_ELEMENTS // status.n)
    wanted = range(len(orders)) if at is None else np.flatnonzero(at[: len(orders)]).tolist()
    for order, lot in groupby(wanted, orders.__getitem__):
        of_order = list(lot)
        for start in range(0, len(of_order), width):
            columns = of_order[start : start + width]
            one: Any = columns
            if columns[-1] - columns[0] == len(columns) - 1:  # neighbours
                one = columns[0] if len(columns) == 1 else slice(columns[0], columns[-1] + 1)
            a, b = tile.event_free[:, one], tile.event[:, one]
            if derive:
                areas.values[one], areas.event_free[:, one], areas.event[:, one] = linear_area(order, a, b)
            else:
                areas.values[one] = area(order, a, b)
    return areas


#: Up to this many subjects of a stream the AUC at a single time is that of all, whose predictions for it are held.
MOST_HELD = 10_000_000


class SingleTimeAUC:
    """The AUC of several models at one time: the weights and predictions of all subjects at that time are held."""

    covariance = None

    def __init__(self, grid: TimeGrid, models: Sequence[str]) -> None:
        self.grid, self.models = grid, tuple(models)
        #: By batch, two rows of weights (event-free and event), and by model a row of markers.
        self._batches: list[tuple[FloatArray, dict[str, FloatArray]]] = []

    def update(self, status: EventWeights, predictions: Models) -> None:
        """Take up the subjects of a batch."""
        [tile] = status.tiles()
        times = self.grid.sorted
        markers = {name: predictions[name].marker(times, slice(None))[:, 0] for name in self.models}
        self._batches.append((np.concatenate(tile.by_time), markers))

    def merge(self, other: SingleTimeAUC) -> None:
        """Take up what another has taken up."""
        self._batches += other._batches

    def result(self, until: float) -> dict[str, MetricValue]:
        """The values by model; NaN from the time ``until`` on."""
        values = dict.fromkeys(self.models, MetricValue(np.nan))
        event_free, event = np.concatenate([weights for weights, _ in self._batches], axis=1)
        for name in self.models if until > self.grid.last else ():
            order = Order(np.concatenate([markers[name] for _, markers in self._batches]))
            value, found = area(order, event_free, event), Roc(order, event_free, event).found()
            profile = Profile(FALSE_ALARMS, found) if np.isfinite(value) else None
            values[name] = MetricValue(value, profile=profile)
        return values


def area(order: Order, event_free: FloatArray, event: FloatArray) -> Any:
    """Return the AUC of subjects in an order, by their two weights, a column for each of several times.

    It is NaN where there are no cases, or no controls.
    """
    pairs = event_free.sum(axis=0) * event.sum(axis=0) - _products(event_free, event)
    above = np.full(np.shape(pairs), 0.5) * pairs
    if not order.constant:
        above = _products(
            event.take(order.rows, axis=0), order.others_below(event_free.take(order.rows, axis=0))
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pairs > 0, above / pairs, np.nan)[()]


def linear_area(
    order: Order, event_free: FloatArray, event: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The AUC as by :func:`area`, and its derivatives by both weights, by the rule for quotients; 0 where it is NaN."""
    n_a, n_b = event_free.sum(axis=0), event.sum(axis=0)
    pairs = n_a * n_b - _products(event_free, event)
    defined = pairs > 0
    if order.constant:
        return np.where(defined, 0.5, np.nan), *np.zeros((2, *event.shape))
    with np.errstate(divide="ignore"):
        scale = np.where(defined, 1.0 / pairs, 0.0)
    a, b = event_free.take(order.rows, axis=0), event.take(order.rows, axis=0)
    by_b, by_a = order.others_below(a), order.others_below(b)
    value = _products(b, by_b) * scale
    # In place, one factor after the other: by_a is (above - value (n_b - b)) / pairs, above what is not below.
    b *= 1.0 - value
    by_a += b
    by_a -= (1.0 - value) * n_b
    by_a *= -scale
    a *= value
    by_b += a
    by_b -= value * n_a
    by_b *= scale
    return np.where(defined, value, np.nan), order.by_subject(by_a), order.by_subject(by_b)


def _products(x: FloatArray, y: FloatArray) -> Any:
    """Sums over subjects of products, by time."""
    return x @ y if x.ndim == 1 else np.einsum("ik,ik->k", x, y)


def mean_over_events(curve: FloatArray, events: FloatArray) -> float:
    """Return the mean of values at times with events; NaN where one of them is not defined, or there are no events."""
    used = events != 0
    total = events[used].sum()  # 0 also where weights below 0 take back what others gained
    return float(curve[used] @ events[used] / total) if total else np.nan


@two_scores_function
def cumulative_dynamic_auc(given: Given, **how: Unpack[Assumed]) -> tuple[Any, float]:
    r"""The area under the ROC curve at each time, and its mean.

    A one-dimensional ``estimate`` is a risk score, the higher the riskier, also at a single time: of survival
    probabilities :math:`\hat S(t)` at one time give :math:`1 - \hat S(t)`, or a column. An array with a column per time
    holds predicted *survival* probabilities, unlike scikit-survival's, as curves and models do.

    The AUC is the chance that, of one subject who had the event by t and one who is still event-free, the model gives
    the former the higher risk,

    .. math:: AUC(t) = \frac{\sum_{i \ne j} b_i(t)\,a_j(t)\,(1[M_i > M_j] + \tfrac12 1[M_i = M_j])}
        {\sum_{i \ne j} b_i(t)\,a_j(t)},

    with the weights of the adjustment, on whose ``assumption`` it rests. The marker M is the risk score, or
    :math:`-\hat S(t)`. ½ is chance, 1 is perfect. A subject whose status is imputed counts on both sides in part, but
    not against itself. The AUC rewards ranking only: predicted risks that are all too high do not change it.

    The mean is :math:`\sum_k AUC(t_k)\,[B(t_k) - B(t_{k-1})] / B(t_K)` with :math:`B(t) = \sum_i b_i(t)`, the events
    by t as the adjustment has them. scikit-survival takes the steps of the Kaplan–Meier curve of the test sample, which
    are the same where the adjustment is IPCW, fitted to the test sample.

    Parameters
    ----------
    y_train, y_test, times, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.
    estimate : array of shape (n_test,), or as in :func:`brier_score`, or a dict of these
        One risk score per subject, the same at all times; or predicted survival probabilities.
    return_influence : bool
        Whether to return the influence of every subject beside the values.

    Returns
    -------
    pair of array of shape (n_times,) and float, or a dict of such
        The AUCs, in the order of ``times``, and their mean; at a single time two equal floats. Where nobody
        had the event, or nobody is event-free, the AUC is NaN. A time without new events has no part in the mean; if
        nobody is event-free at another, the mean is NaN, with a :class:`HorizonWarning`.
    pair of Influence, or a dict of such
        Only with ``return_influence``: on the AUCs, as of :func:`brier_score`, and on the mean, which is one value.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import Clayton, cumulative_dynamic_auc
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([1, 0, 1, 1, 0]))
    >>> risk = np.array([2.0, 0.5, 0.1, 1.0, 0.3])
    >>> aucs, mean = cumulative_dynamic_auc(y, y, risk, [1.5, 3.5])
    >>> aucs, round(mean, 3)
    (array([1.        , 0.42857143]), 0.673)
    >>> aucs, mean = cumulative_dynamic_auc(y, y, risk, [3.5], adjustment="imputation_margins", copula=Clayton(2.0))
    >>> aucs.round(3)
    array([0.5])
    >>> (aucs, mean), (of_aucs, of_mean) = cumulative_dynamic_auc(y, y, risk, [1.5, 3.5], return_influence=True)
    >>> of_aucs.standard_errors.round(3), of_mean.standard_errors.round(3)
    (array([0.   , 0.379]), np.float64(0.433))

    References
    ----------
    Uno, H., Cai, T., Tian, L., Wei, L. J. (2007). Evaluating prediction rules for t-year survivors with censored
    regression models. *Journal of the American Statistical Association* 102, 527–537.

    Hung, H., Chiang, C.-T. (2010). Estimation methods for time-dependent AUC models with survival data. *Canadian
    Journal of Statistics* 38, 8–26.
    """
    request, metric, means = given.read(risk=True, **how), CumulativeDynamicAUC(), list[float]()

    def pairs(status: EventWeights, models: Models) -> dict[Any, Any]:
        values = metric.evaluate(status, models)
        means.extend(value.value for value in values.values())
        return {name: (value.curve, value.value) for name, value in values.items()}

    scores: tuple[Any, float] = request.each(pairs, metric.functionals_over_time, metric.functionals)
    if np.isnan(means).any():
        warnings.warn(
            "the mean AUC is NaN: at one of the times nobody is event-free, or nobody had the event at any.",
            HorizonWarning,
            stacklevel=3,
        )
    return scores


@dataclass(frozen=True, eq=False)
class RocCurve:
    """The ROC curve at a time: which share of the events is found at which share of false alarms.

    Attributes
    ----------
    time : float
    false_alarms, found : array of shape (101,)
        Of those event-free, and of those who had the event by then, the share above a threshold.
    low, high : array of shape (101,)
        Limits of ``found`` at each share of false alarms on its own; NaN where none were asked for.
    auc : float
        The area under the curve, of all subjects and not of the 101 points.

    See Also
    --------
    survival_roc_curve : Makes it, with an example.
    """

    time: float
    false_alarms: FloatArray = field(repr=False)
    found: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    auc: float


@result_function
def survival_roc_curve(given: Given, *, confidence_level: float | None = 0.95, **how: Unpack[Assumed]) -> Any:
    r"""The ROC curve behind the AUC at a time, of a risk score or of predicted survival probabilities.

    An alarm is raised for the subjects whose marker M lies above a threshold c, :math:`h_i = 1[M_i > c]`. With the
    weights of the adjustment, the share of false alarms among those event-free at t is :math:`p = \sum_i a_i h_i /
    \sum_i a_i`, and the share of events found is :math:`R(p) = \sum_i b_i h_i / \sum_i b_i`. Where markers are equal
    the curve runs along a line. What it rests on, and what ``estimate`` may be, is as in
    :func:`cumulative_dynamic_auc`.

    Weights below 0, which dependent IPCW and AIPCW may have, would make the share of false alarms fall on the way: it
    is taken as the largest so far, and the area under that curve is not the AUC. Imputed subjects are in both shares,
    but not held against themselves by the AUC, so that the area is nearer to ½, by at most 1/n.

    The limits are R(p) ± z standard errors, cut to [0, 1]. The threshold at a given p moves with those event-free; that
    counts with the slope of the curve around p, taken over ± max(0.02, m^(−1/3)/2) for m event-free subjects. So limits
    are approximate where the curve is steep. With more than 4,096 subjects random batches stand for single ones.

    Parameters
    ----------
    y_train, y_test, estimate, adjustment, x_train, x_test, copula
        As in :func:`cumulative_dynamic_auc`.
    times : float or array-like
        One time gives one curve, several a list.
    confidence_level : float or None
        None for no limits, for adjustments without an analytic influence.

    Returns
    -------
    RocCurve, or a list of such; for a dict of models a dict

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import survival_roc_curve
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.normal(size=300)
    >>> y = (rng.exponential(np.exp(-risk)), rng.uniform(size=300) < 0.7)
    >>> curve = survival_roc_curve(y, y, risk, 0.5)
    >>> curve
    RocCurve(time=0.5, auc=0.802...)
    >>> of_100 = {"false alarms": curve.false_alarms, "found": curve.found, "from": curve.low, "to": curve.high}
    >>> {name: int(100 * values[20]) for name, values in of_100.items()}
    {'false alarms': 20, 'found': 67, 'from': 54, 'to': 79}

    References
    ----------
    Heagerty, P. J., Lumley, T., Pepe, M. S. (2000). Time-dependent ROC curves for censored survival data and a
    diagnostic marker. *Biometrics* 56, 337–344.
    """
    request = given.read(risk=True, **how)

    def curves(status: EventWeights, models: Models) -> dict[Any, RocCurve]:
        time, nothing = status.grid.last, np.full(FALSE_ALARMS.size, np.nan)
        metric = CumulativeDynamicAUC(time)
        values = metric.evaluate(status, models)
        shares = np.array([value.profile.y if value.profile else nothing for value in values.values()])
        low, high = np.full((2, *shares.shape), np.nan)
        if confidence_level is not None:
            functionals = metric.profile_functionals(status, models)
            try:
                rows = batched_rows(status, functionals, request.samples.y_test)
            except ValueError as error:
                raise ValueError(f"confidence_level must be None: {error}") from error
            names = tuple(map(str, range(shares.size)))
            errors = Estimates(names, shares.ravel(), rows, range=metric.range)
            low, high = np.reshape(errors.confidence_intervals(confidence_level), (2, *shares.shape))
        return {
            name: RocCurve(time, FALSE_ALARMS, shares[m], low[m], high[m], float(value.value))
            for m, (name, value) in enumerate(values.items())
        }

    return request.each_time(curves)


@dataclass(frozen=True, eq=False)
class Roc:
    """The ROC curve of subjects in an order; of those level with the threshold all are called by the same share h."""

    order: Order
    event_free: FloatArray
    event: FloatArray

    @cached_property
    def _corners(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """False alarms and events found, and one subject of those who are called next; none at the end."""
        rows = self.order.rows[::-1]
        alarms, found = (np.concatenate(([0.0], np.cumsum(w[rows]))) for w in (self.event_free, self.event))
        ends = np.arange(1, rows.size + 1) if self.order.ends is None else self.order.ends
        called = np.append(rows.size - ends[::-1], rows.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Weights below 0 would make the curve turn back.
            alarms = np.maximum.accumulate(alarms[called] / alarms[-1])
            return alarms, found[called] / found[-1], rows[called[:-1]]

    def found(self, false_alarms: FloatArray = FALSE_ALARMS) -> FloatArray:
        """The share of events found at shares of false alarms; NaN without events, or without anybody event-free."""
        alarms, found, _ = self._corners
        if not np.isfinite(alarms[-1] + found[-1]):
            return np.full(false_alarms.shape, np.nan)
        return np.interp(false_alarms + _ROUNDING, alarms, found)

    def gradients(self, marker: FloatArray) -> list[LazyGradient]:
        r"""Derivatives :math:`-R'(p)(h_i - p)/\sum a` and :math:`(h_i - R(p))/\sum b`, by the marker of subjects."""
        alarms, _, following = self._corners
        found = self.found()
        at = np.minimum(np.searchsorted(alarms, FALSE_ALARMS + _ROUNDING, "right") - 1, alarms.size - 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            called = np.clip((FALSE_ALARMS - alarms[at]) / (alarms[at + 1] - alarms[at]), 0.0, 1.0)
        called, levels = np.nan_to_num(called), marker[following[at]]
        # The slope is taken over a width that narrows with the number of those event-free.
        number = self.event_free.sum() ** 2 / np.square(self.event_free).sum()
        half = max(0.02, 0.5 * number ** (-1.0 / 3.0))
        low, high = np.maximum(FALSE_ALARMS - half, 0.0), np.minimum(FALSE_ALARMS + half, 1.0)
        slopes = (self.found(high) - self.found(low)) / (high - low)
        by_free, by_event = -slopes / self.event_free.sum(), 1.0 / self.event.sum()

        def derivatives(rows: Rows, k: int) -> tuple[FloatArray, FloatArray]:
            of_rows = marker[rows][:, None]
            share = (of_rows > levels[k]) + called[k] * (of_rows == levels[k])
            return by_free[k] * (share - FALSE_ALARMS[k]), by_event * (share - found[k])

        return [LazyGradient(partial(derivatives, k=k)) for k in range(FALSE_ALARMS.size)]


def _nothing(rows: Rows) -> tuple[FloatArray, FloatArray]:
    """The derivatives of a curve that is not defined."""
    return np.zeros((rows.size, 1)), np.zeros((rows.size, 1))
