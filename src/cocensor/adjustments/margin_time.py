"""Imputation of margin times: the paper's dependent Brier score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from cocensor._checks import FloatArray, check_choice
from cocensor._notes import noted
from cocensor._numerics import settled
from cocensor.adjustments.base import Adjustment, Fitted, assumed_copula, refuse_beyond
from cocensor.adjustments.models.margins import FittedMargin
from cocensor.adjustments.weights import CERTAIN, EventWeights
from cocensor.adjustments.whole import WeightLoad, WholeSample
from cocensor.copulas import ArchimedeanCopula
from cocensor.data import Sample
from cocensor.data.interpolation import TAILS, Tail
from cocensor.data.predictions import Interpolation, Predicted
from cocensor.data.times import TimeGrid
from cocensor.estimators import CopulaGraphic


@dataclass(frozen=True, eq=False)
class MarginTime(Adjustment):
    r"""A censored subject counts as having its event at the margin time :math:`\tilde e_i = E[E \mid E > c_i]`.

    .. math:: a_i(t) = w_i\,1[\tilde e_i > t], \qquad b_i(t) = w_i\,1[\tilde e_i \le t], \qquad m = \sum_i w_i

    with the margin time of the Copula-Graphic curve of the training outcomes. At independence this is the
    paper's Dep (KM), with a copula its Dep (CG), and with uncertainty weighting its IBS-Dep.

    Parameters
    ----------
    copula : ArchimedeanCopula, CopulaChoice or JointModel, optional
        The survival copula of event and dropout, or what :func:`select_copula` chose; independence by default.
    weighting : {"none", "uncertainty"}
        ``"uncertainty"`` weighs a subject censored at c by :math:`1 - S_E(c)`, others by 1.
    interpolation : {"step", "linear"}
        Integrate the step curve, or the authors' polygon; see :meth:`CopulaGraphic.margin_time`.
    tail : {"last", "zero", "linear", "exponential"} or None
        Beyond the last training time. ``"last"``: the curve is held, and nothing is expected to happen there; who is
        censored later counts as having the event at that time, which is noted. None refuses such a subject. The others
        integrate over the tail.

    Notes
    -----
    One imputed time per subject is not a probability: the score of even the true model is biased, more so
    the more is censored. :class:`Imputation` imputes the status itself.

    Examples
    --------
    >>> from cocensor.adjustments import MarginTime
    >>> y = ([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> MarginTime().fit(y).weights(y, [9.0]).a[1]
    array([1.])

    References
    ----------
    Lillelund, C. M., Qi, S., Greiner, R. (2026). Overcoming dependent censoring in the evaluation of survival
    models. *UAI*.
    """

    copula: ArchimedeanCopula | Any = None
    weighting: Literal["none", "uncertainty"] = "none"
    interpolation: Interpolation = "step"
    tail: Tail | None = "last"

    assumption: ClassVar[str] = (
        "Event and dropout have the stated copula, and one expected event time can stand for a censored subject."
    )
    #: One imputed time per subject biases the score of even the true model.
    counts_in_ranking: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice(self.weighting, "weighting", ("none", "uncertainty"))
        check_choice(self.interpolation, "interpolation", ("step", "linear"))
        if self.tail is not None:
            check_choice(self.tail, "tail", TAILS)
        object.__setattr__(self, "copula", assumed_copula(self.copula))
        CopulaGraphic(self.copula)  # refuses a copula without a graphic form

    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from the sample what the weights need."""
        return _FittedMarginTime(self, sample, CopulaGraphic(self.copula).fit(sample.y, sample.weight))


@dataclass(frozen=True, eq=False, repr=False)
class _FittedMarginTime(FittedMargin):
    adjustment: MarginTime

    def for_others(self) -> Fitted:
        if self.adjustment.interpolation == "linear":
            return replace(self, sample=None)  # a polygon has corners at all times of the sample
        return super().for_others()

    def weights_for(self, sample: Sample, grid: TimeGrid, _: Any, whole: WholeSample) -> EventWeights:
        y, margin, settings = sample.y, self.margin, self.adjustment
        weighted = settings.weighting == "uncertainty"
        # Whoever is censored after the last time is event-free at all of them; weights need every censoring.
        early = ~y.event & (y.time <= grid.last) & sample.counted
        needed = ~y.event & sample.counted if weighted else early
        refuse_beyond(settings.tail, np.where(needed, y.time, 0.0), margin.t_max_, "y_test")
        until = y.time.copy()
        until[early] = settled(self._margin_times(y.time[early]), grid.sorted)
        late = int((y.time[needed] > margin.t_max_).sum()) if settings.tail == "last" else 0
        mass, certain = None, CERTAIN
        if weighted:
            mass = np.ones(len(y))
            mass[needed] = 1.0 - np.asarray(margin.predict(y.time[needed], tail=settings.tail or "last"))
            certain = ((mass, None),)
        weights = EventWeights(grid, grid.cut(until), event_free=certain, event=certain, mass=mass)
        weighed = weights if sample.weight is None else weights.weighted(sample.weight)
        nothing = np.zeros(grid.sorted.size)
        load = WeightLoad(nothing + weighed.normaliser, nothing, nothing, n_replaced=late)
        return weights.replaced(load=load)

    def settled(self, weights: EventWeights, whole: WholeSample, load: WeightLoad | None) -> EventWeights:
        """Return the weights, with a note on late censorings; a sample without any weight is refused."""
        if load is None:
            return weights
        if not load.total.any():
            raise ValueError(
                "weighting must be 'none' here: all test subjects are censored before the first training "
                "event, so that every uncertainty weight is 0."
            )
        if not load.n_replaced:
            return weights
        note = noted("after_last_training_time", n=load.n_replaced, last=self.margin.t_max_)
        return weights.replaced(notes=(*weights.notes, note))

    def _margin_times(self, c: FloatArray) -> FloatArray:
        """Return E[E given E > c], and c itself where no curve is left to integrate."""
        margin, tail, result = self.margin, self.adjustment.tail, c.copy()
        held = tail is None or tail == "last"
        inside = np.asarray(margin.predict(c, tail=tail or "last")) > 0
        if held:
            inside &= c <= margin.t_max_
        if inside.any():
            result[inside] = margin.margin_time(
                c[inside], interpolation=self.adjustment.interpolation, tail=None if held else tail
            )
        return result
