"""The area under the ROC curve at a time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.adjustments.gradient import Functionals, Linearised
from cocensor.adjustments.tile import Tile
from cocensor.copulas import Copula
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.inference.comparisons import Direction
from cocensor.metrics.base import MetricValue, Profile
from cocensor.metrics.ranks import Order
from cocensor.metrics.roc import FALSE_ALARMS, NO_CURVE, Roc, RocGradient
from cocensor.metrics.scoring import Asked
from cocensor.metrics.sections import (
    Linear,
    Section,
    SectionFunctionals,
    SectionMetric,
    held,
    sections,
)
from cocensor.metrics.single_time import SingleTimes
from cocensor.warnings import HorizonWarning


@dataclass(frozen=True)
class CumulativeDynamicAUC(SectionMetric):
    """How well a model separates those who had the event by a time from those still event-free.

    See :func:`cumulative_dynamic_auc` for the equation.

    Parameters
    ----------
    at : float, optional
        The time; by default it is the mean over the times of an evaluation, each weighted by the events since the time
        before.

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

    name: ClassVar[str] = "auc"
    label: ClassVar[str] = "mean AUC"
    curve_label: ClassVar[str | None] = "AUC"
    direction: ClassVar[Direction] = "greater"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    needs_curves: ClassVar[bool] = False
    single_times: ClassVar[SingleTimes] = "also"
    profile_labels: ClassVar[tuple[str, str] | None] = ("false positive rate", "true positive rate")
    profile_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    undefined: ClassVar[str] = "nobody had the event, or nobody is event-free"

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
        a, b, order = section.event_free, section.event, section.order
        n_a, n_b = a.sum(), b.sum()
        pairs = n_a * n_b - float(a @ b)
        if not pairs > 0 or order.constant:
            return Linear(0.5 if pairs > 0 else np.nan, *np.zeros((2, a.size)))
        a, b = a[order.rows], b[order.rows]
        by_b, by_a = order.others_below(a), order.others_below(b)
        value = float(b @ by_b / pairs)
        # In place, one factor after the other: by_a is (above - value (n_b - b)) / pairs, above what is not below.
        by_a += (1.0 - value) * b
        by_a -= (1.0 - value) * n_b
        by_a *= -1.0 / pairs
        by_b += value * a
        by_b -= value * n_a
        by_b *= 1.0 / pairs
        return Linear(value, order.by_subject(by_a), order.by_subject(by_b))

    def profile(self, section: Section) -> Profile | None:
        """The ROC curve: of those who had the event, the share above a threshold, by that of those event-free."""
        return roc_curve(section.order, section.event_free, section.event)

    def profile_functionals(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> Linearised:
        """The shares of events found of the ROC curves at the one time, all of the first model first."""
        [tile] = status.tiles()
        gradients: list[RocGradient] = []
        for each in predictions.values():
            found = [_roc(section).gradients(section.marker) for _, section in sections(status, tile, each)]
            gradients += found[0] if found else [NO_CURVE] * FALSE_ALARMS.size
        return Functionals(tuple(gradients), np.ones((1, 1)))

    def evaluate(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> dict[str, MetricValue]:
        """The values of several models."""
        if self.at is not None:
            return super().evaluate(status, predictions)
        return self._means(status, predictions, *self._over_time(status, predictions))

    def evaluate_linearised(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """The values, and these as functions of the weights: both at once where that takes little memory."""
        if self.at is not None:
            return super().evaluate_linearised(status, predictions)
        known = dict[tuple[int, int], Linear]()
        at_once = status.fit_in_one(held(2 * len(predictions)))
        curves, sums = self._over_time(status, predictions, known if at_once else None)
        values = self._means(status, predictions, curves, sums)
        return values, self._mean_linearised(predictions, curves, sums, known)

    def _means(
        self, status: EventWeights, predictions: Mapping[str, Predicted], curves: FloatArray, sums: FloatArray
    ) -> dict[str, MetricValue]:
        return {
            name: MetricValue(mean_over_events(curve, new_events(sums)), status.grid.restore(curve))
            for name, curve in zip(predictions, curves, strict=True)
        }

    def values_over_time(
        self, status: EventWeights, predictions: Mapping[str, Predicted]
    ) -> dict[str, FloatArray]:
        """The AUCs at each time of the status, in the order given."""
        curves, _ = self._over_time(status, predictions)
        return dict(zip(predictions, status.grid.restore(curves), strict=True))

    def functionals(self, status: EventWeights, predictions: Mapping[str, Predicted]) -> Linearised:
        r"""The value at the one time, or the mean :math:`\sum_k AUC_k\,\Delta B_k / B_K`, with B the sum of b."""
        if self.at is not None:
            return super().functionals(status, predictions)
        return self._mean_linearised(predictions, *self._over_time(status, predictions))

    def _mean_linearised(
        self,
        predictions: Mapping[str, Predicted],
        curves: FloatArray,
        sums: FloatArray,
        known: Mapping[tuple[int, int], Linear] | None = None,
    ) -> Linearised:
        events = new_events(sums)
        curves = np.where(events == 0, 0.0, curves)
        with np.errstate(divide="ignore", invalid="ignore"):  # without any event it is not defined
            scale = np.broadcast_to(events / events.sum(), curves.shape)
            mean = curves @ events[:, None] / events.sum()
            # By each new share of events, and then by the sums: B_k adds to one, and takes from the next.
            by_new = (curves - mean) / events.sum()
        by_events = by_new - np.concatenate((by_new[:, 1:], np.zeros((len(curves), 1))), axis=1)
        by_events[:, sums < 0] = 0.0
        return SectionFunctionals(self, predictions, np.ones((events.size, 1)), scale, by_events, known or {})

    def _over_time(
        self,
        status: EventWeights,
        predictions: Mapping[str, Predicted],
        known: dict[tuple[int, int], Linear] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """The AUCs by model and sorted time; and the sums of b at each time."""
        sums = np.zeros(status.grid.sorted.size)

        def with_sums() -> Iterator[Tile]:
            for tile in status.tiles() if known is None else status.tiles(held(2 * len(predictions))):
                sums[tile.columns] = tile.event.sum(axis=0)
                yield tile

        return self._values(status, predictions, with_sums(), known), sums


def area(order: Order, event_free: FloatArray, event: FloatArray) -> float:
    """Return the AUC of subjects in an order, by their two weights; NaN where there are no cases, or no controls."""
    pairs = event_free.sum() * event.sum() - float(event_free @ event)
    if not pairs > 0:
        return np.nan
    if order.constant:
        return 0.5
    return float(event[order.rows] @ order.others_below(event_free[order.rows]) / pairs)


def roc_curve(order: Order, event_free: FloatArray, event: FloatArray) -> Profile:
    """Return the ROC curve of subjects in an order, by their two weights."""
    return Profile(FALSE_ALARMS, Roc(order, event_free, event).found())


def _roc(section: Section) -> Roc:
    return Roc(section.order, section.event_free, section.event)


def new_events(sums: FloatArray) -> FloatArray:
    """What the sums of b gain at each time; where weights below 0 prevail, nobody had the event yet."""
    return np.diff(np.maximum(sums, 0.0), prepend=0.0)


def mean_over_events(curve: FloatArray, events: FloatArray) -> float:
    """The mean of values at times with events; NaN where one of them is not defined, or there are no events."""
    used = events != 0
    total = events[used].sum()  # 0 also where weights below 0 take back what others gained
    return float(curve[used] @ events[used] / total) if total else np.nan


def cumulative_dynamic_auc(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    return_influence: bool = False,
) -> Any:
    r"""The area under the ROC curve at each time, and its mean.

    A one-dimensional ``estimate`` is a risk score, the greater the riskier, also at a single time: of survival
    probabilities :math:`\hat S(t)` at one time give :math:`1 - \hat S(t)`, or a column. An array with a column per time
    holds predicted *survival* probabilities, unlike scikit-survival's, as curves and models do.

    The AUC is the chance that, of one subject who had the event by t and one who is still event-free, the model gives
    the former the higher risk,

    .. math:: AUC(t) = \frac{\sum_{i \ne j} b_i(t)\,a_j(t)\,(1[M_i > M_j] + \tfrac12 1[M_i = M_j])}
        {\sum_{i \ne j} b_i(t)\,a_j(t)},

    with the weights of the adjustment: who is still event-free at t. The marker M is the risk score, or
    :math:`-\hat S(t)`. ½ is chance, 1 is perfect. A subject whose status is imputed counts on both sides in part, but
    is never held against itself.

    The AUC rests on the ``assumption`` of the adjustment; that of IPCW, the default, is that censoring is independent
    of the event and of the predictions. It rewards ranking only: predicted risks that are all too high do not change
    it.

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
        Only with ``return_influence``: of every subject on the AUCs, ``test`` of shape (n_test, n_times), or (n_test,)
        at a single time, and on the mean, ``test`` of shape (n_test,). The standard errors of these are those of the
        AUCs and of the mean.

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
    asked = Asked.of(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula, risk=True)
    metric = CumulativeDynamicAUC()
    found = asked.with_mean(metric, return_influence)
    pairs = found[0] if return_influence else found
    means = [mean for _, mean in (pairs.values() if asked.several else [pairs])]
    if np.isnan(means).any():
        warnings.warn(
            "the mean AUC is NaN: at one of the times nobody is event-free, or nobody had the event at any.",
            HorizonWarning,
            stacklevel=2,
        )
    return found
