"""Inverse probability of censoring weights under a copula."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cocensor._checks import BoolArray, FloatArray, Rows, check_choice, row_blocks
from cocensor._notes import Note
from cocensor._numerics import by_weight, hazard_from_log, lookup
from cocensor.adjustments.base import Adjustment, Fitted, Hold, Need, refuse_beyond
from cocensor.adjustments.models.joint import FittedJoint, JointSettings
from cocensor.adjustments.models.margins import FittedMargin
from cocensor.adjustments.samples import Resample
from cocensor.adjustments.weights import EventWeights, Modelled
from cocensor.adjustments.whole import WeightLoad, WholeSample
from cocensor.data import RiskTable, Sample, StepFunction
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid, shown_time
from cocensor.estimators import CopulaGraphic
from cocensor.joint.conditional import AtRisk, event_weights
from cocensor.warnings import HorizonWarning

#: Below this chance of being seen, weights say more about a few subjects than about the score.
SMALLEST_CHANCE = 0.05


@dataclass(frozen=True, eq=False)
class DependentIPCW(JointSettings, Adjustment):
    r"""Events weigh as many as they stand for under the copula; who had no observed event is event-free.

    An event at t is seen with the chance :math:`P(C \ge t \mid E = t) = h_1(S_E(t), S_C(t-))`. Over the step of
    :math:`S_E` at t its weight is

    .. math:: w = \frac{S_E(t-) - S_E(t)}{C(S_E(t-), S_C(t-)) - C(S_E(t), S_C(t-))},

    between steps :math:`1/h_1`; an end of study divides by the chance of outlasting it as well. Then
    :math:`b_i(t) = \delta_i\,1[t_i \le t]\,w_i` and :math:`a_i(t) = 1 - b_i(t)`: the events that are seen stand
    for those that are not, and the rest is event-free.

    Parameters
    ----------
    copula : ArchimedeanCopula, CopulaChoice or JointModel, optional
        The survival copula of event and dropout, or what :func:`select_copula` chose; independence by default.
    tail : {"last"} or None
        Hold curves at their last value beyond the last training time, or refuse.
    given : {"covariates"}, optional
        Take the curves of each subject from a joint model given covariates, fitted to ``x_train`` (or ``model``). Then
        those still at risk are known to be comparable, and
        :math:`a_i(t) = 1[t_i > t]\,S_E(t \mid x_i)/C(S_E(t \mid x_i), S_C(t \mid x_i))`; an event weighs
        :math:`1/h_1` at its own curves. The copula may be of any family.
    model : JointModel, optional
        Given covariates: use this fitted model instead of fitting one.
    margins, knots, penalty, time_kind
        Of the joint model, as in :func:`fit_joint`.

    Notes
    -----
    From the margins alone it needs that dropout is independent of the prediction given the event time, and weights a
    may be negative. Where an event would be seen with a chance below 0.05 (:math:`h_1`, or :math:`C/S_E`, times the
    chance of outlasting the study) at a training event, or a test subject has a weight above 20, the answer stops:
    from there on scores and weights are NaN, with a :class:`HorizonWarning`. Given covariates a single subject can
    bring that about early: chances differ more between subjects than on average. On the fitting sample
    :math:`\sum_{t_i \le t} \delta_i w_i = N(1 - S_E(t))` exactly, from the margins and without administrative
    censoring.

    Examples
    --------
    >>> from cocensor import Clayton, DependentIPCW
    >>> y = ([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> DependentIPCW(Clayton(1.0)).fit(y).weights(y, [7.0]).b.T.round(3)
    array([[1.   , 0.   , 0.   , 1.324, 1.822, 0.   , 0.   , 0.   ]])
    """

    copula: Any = None
    tail: Hold = None
    given: Literal["covariates"] | None = None

    def __post_init__(self) -> None:
        if self.given is not None:
            check_choice(self.given, "given", ("covariates",))
        elif self.model is not None:
            raise ValueError("model must be None unless given is 'covariates'.")
        if self.tail is not None:
            check_choice(self.tail, "tail", ("last",))
        object.__setattr__(self, "copula", self.checked(self.copula, self.given is not None))

    @property
    def assumption(self) -> str:
        """The assumption behind the adjustment, in one sentence."""
        if self.given is not None:
            return "Given the covariates, event and dropout have the stated copula and margins of the stated form."
        return (
            "Event and dropout have the stated copula, and dropout is independent of the prediction given the "
            "event time."
        )

    @property
    def needs(self) -> frozenset[Need]:
        """Covariates, where it is given them."""
        return frozenset({"covariates"} if self.given else ())

    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from the sample what the weights need."""
        table = sample.risk_table
        outlast, steps = _outlasting(table), table.margin("event")
        if self.given is not None:
            joint, notes = self.given_covariates(self.copula, sample)
            return _IPCWFromJoint(self, joint, sample, sample.t_max, outlast, notes)
        margin = CopulaGraphic(self.copula).fit(sample.y, sample.weight)
        survival = margin.survival_.values
        # The two margins give back the joint curve: C(S_E(t−), S_C(t−)) − C(S_E(t), S_C(t−)) is what events take.
        step_weights = -np.diff(survival, prepend=1.0) / (np.exp(-steps.hazard) * steps.fraction)
        left = np.exp(-steps.hazard) * (1.0 - steps.fraction)
        outlasts = np.asarray(outlast(steps.times, "left"))
        rare = step_weights * SMALLEST_CHANCE > outlasts
        rare |= left * outlasts < SMALLEST_CHANCE * survival
        return _IPCWFromMargins(self, sample, margin, outlast, step_weights, _first(steps.times, rare))


@dataclass(frozen=True, eq=False, repr=False)
class _IPCWFromMargins(FittedMargin):
    adjustment: DependentIPCW
    outlast: StepFunction
    #: The weights of events at the steps of S_E.
    step_weights: FloatArray
    #: The first training event that is seen with too small a chance.
    rare_from: float

    def weights_for(self, sample: Sample, grid: TimeGrid, _: Any, whole: WholeSample) -> EventWeights:
        y, margin, tail = sample.y, self.margin, self.adjustment.tail
        refuse_beyond(tail, grid.times, margin.support_, "times")
        seen = y.event & (y.time <= grid.last)
        rows = np.flatnonzero(seen)
        refuse_beyond(tail, np.where(seen, y.time, 0.0), margin.t_max_, "y_test")
        weights = np.zeros(len(y))
        t = np.minimum(y.time[rows], margin.t_max_)  # held there, where the tail allows it
        weights[rows] = self._weights(t) / np.asarray(self.outlast(t, "left"))
        counted = sample.counted
        rare = _first(y.time[rows], (weights[rows] * SMALLEST_CHANCE > 1.0) & counted[rows])
        # Whoever has no event that is seen is event-free at all times.
        cut = np.where(seen, grid.cut(y.time), grid.sorted.size)
        rest = Modelled.product(rows, cut[rows], 1.0 - weights, observed=True)
        nothing = np.zeros(grid.sorted.size)
        load = WeightLoad(nothing, nothing, nothing, no_answer_from=rare)
        return EventWeights(grid, cut, event=((weights, None),), modelled=(rest,), load=load)

    def settled(self, weights: EventWeights, whole: WholeSample, load: WeightLoad | None) -> EventWeights:
        assert load is not None
        return _known_until(weights, min(self.rare_from, load.no_answer_from))

    def _weights(self, t: FloatArray) -> FloatArray:
        """Return 1 over the chance that an event at t is seen, before the end of the study is considered."""
        curve = self.margin.survival_
        if not curve.times.size:
            raise ValueError("y_train has no event: the weight of an event cannot be estimated.")
        # Before the first event its step stands in.
        index = np.maximum(lookup(curve.times, t) - 1, 0)
        weights = self.step_weights[index]
        between = curve.times[index] < t
        v = np.asarray(self.margin.dropout_survival(t[between], "left"))
        log_chance = np.asarray(self.margin.copula.log_hfunc1(curve.values[index[between]], v))
        weights[between] = hazard_from_log(-log_chance)  # finite, whatever the chance
        return weights


@dataclass(frozen=True, eq=False, repr=False)
class _IPCWFromJoint(FittedJoint):
    adjustment: DependentIPCW
    t_max: float
    outlast: StepFunction
    notes: tuple[Note, ...] = ()

    def resampled(self, resample: Resample, predictions: Mapping[str, Predicted]) -> Fitted:
        assert self.sample is not None
        rows = resample.fitted_to(self.adjustment)
        joint, sample = self.joint.resampled(rows, self.adjustment.copula), self.sample[rows]
        outlast = _outlasting(sample.risk_table)
        return replace(self, joint=joint, sample=sample, t_max=sample.t_max, outlast=outlast)

    def weights_for(self, sample: Sample, grid: TimeGrid, _: Any, whole: WholeSample) -> EventWeights:
        y, x = sample.y, sample.x
        n, cut, happened = len(y), grid.cut(y.time), y.event & (y.time <= grid.last)
        if whole.nobody_censored:
            # Everything is seen: nothing stands for anything else.
            return EventWeights(grid, cut)
        model = self.joint.needed
        X = model.covariates(x, n, "x_test", "y_test")
        at_risk, outlast_t = AtRisk(model, grid.sorted, X), np.asarray(self.outlast(grid.sorted))
        weights, t = np.zeros(n), y.time[happened]
        weights[happened] = event_weights(model, t, X[happened]) / np.asarray(self.outlast(t, "left"))

        def waiting(rows: Rows, columns: slice) -> FloatArray:
            seen = cut[rows][:, None] > np.arange(columns.start, columns.stop)
            with np.errstate(divide="ignore"):
                return np.where(seen, at_risk(rows, columns) / outlast_t[columns], 0.0)

        counted, share = sample.counted, np.ones(n) if sample.weight is None else sample.weight
        rare_from = _first(t, ~(weights[happened] * SMALLEST_CHANCE <= 1.0) & counted[happened])
        every = slice(0, grid.sorted.size)
        unseen, free = np.zeros((2, grid.sorted.size))
        for part in row_blocks(n, grid.sorted.size):
            rows = np.arange(part.start, part.stop)
            rare = ~(waiting(rows, every) * SMALLEST_CHANCE <= 1.0) & counted[part, None]
            rare_from = min(rare_from, _first(grid.sorted, np.asarray(rare.any(axis=0))))
            # Subjects whose kind is hardly ever seen: how many of the event-free are they?
            survival = by_weight(at_risk.event_survival(rows, every), share[part])
            hardly = ~(at_risk(rows, every) * SMALLEST_CHANCE <= outlast_t)
            unseen += np.einsum("ij,ij->j", survival, hardly)
            free += survival.sum(axis=0)
        load = WeightLoad(free, np.zeros(grid.sorted.size), unseen, rare_from)
        free_until = (Modelled(np.arange(n), cut, waiting, before=True, observed=True),)
        parts: dict[str, Any] = {"event_free": (), "event": ((weights, None),), "modelled": free_until}
        return EventWeights(grid, cut, load=load, model=model, notes=self.notes, **parts)

    def settled(self, weights: EventWeights, whole: WholeSample, load: WeightLoad | None) -> EventWeights:
        if load is None:
            return weights
        # From the last time of either sample on nobody is left to stand for those who are event-free.
        until = min(self.t_max, whole.t_max, load.no_answer_from)
        unseen = load.unseen > SMALLEST_CHANCE * load.total
        return _known_until(weights, min(until, _first(weights.grid.sorted, unseen)))


def _known_until(weights: EventWeights, until: float) -> EventWeights:
    """Return weights that end then, with a warning where times reach it."""
    if weights.grid.last >= until:
        warnings.warn(
            f"from time {shown_time(until)} on fewer than {SMALLEST_CHANCE:.0%} of the events are observed: "
            "scores there are NaN; choose an earlier horizon.",
            HorizonWarning,
            stacklevel=4,
        )
    return weights.replaced(valid_until=until)


def _first(times: FloatArray, where: BoolArray) -> float:
    """Return the earliest of the times at which something holds."""
    return float(times[where].min(initial=np.inf))


def _outlasting(table: RiskTable) -> StepFunction:
    """Return Kaplan–Meier of the end of the study: at one time, events and dropouts come first."""
    if table.administrative is None:
        return StepFunction(np.empty(0), np.empty(0))
    rows = np.flatnonzero(table.administrative)
    left = np.multiply.accumulate(1.0 - table.administrative[rows] / table.after_dropouts[rows])
    return StepFunction(table.times[rows], left)
