"""Doubly robust weights at independence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from cocensor._checks import (
    FloatArray,
    Rows,
    check_choice,
    check_length,
    check_number,
    check_whole,
    row_blocks,
)
from cocensor._notes import Note, noted
from cocensor._numerics import by_weight, lookup
from cocensor.adjustments.base import Adjustment, Fitted, Hold, Need, encoded, refuse_beyond
from cocensor.adjustments.models.nuisances import (
    CrossFitted,
    Hazard,
    Learners,
    Nuisance,
    check_learners,
    dealt,
    in_words,
    places,
    resolved,
)
from cocensor.adjustments.samples import Resample
from cocensor.adjustments.weights import EventWeights, Modelled
from cocensor.adjustments.whole import WeightLoad, WholeSample, no_score_from
from cocensor.data import Sample, Survival
from cocensor.data.covariates import Encoding
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid

# Integrals run over all distinct times of the fitted sample up to so many, then over quantiles of these.
_MOST_KNOTS = 256


@dataclass(frozen=True, eq=False)
class AIPCW(Adjustment):
    r"""Augmented inverse probability of censoring weights: right if the event's model or the dropout's is.

    With S the survival function of the event and G that of the censoring, both given x, and :math:`b = 1 - a`,

    .. math:: a_i(t) = \frac{1[t_i > t]}{G(t)}
        + \int_0^t \frac{S(t)}{S(u)} \frac{dN^C_i(u) - Y^C_i(u)\,d\Lambda^C(u)}{G(u)},

    IPCW's weight for the event-free, and what the event's model adds by way of the censoring's martingale. At tied
    times events come first: :math:`Y^C_i(u)` is 0 from an event at u on. As computed here, the same weights are

    .. math:: a_i(t) = \begin{cases} w_i(t) & \text{before } t_i, \\
        w_i(c)\, S(t)/S(c) & \text{after a censoring at } c, \\
        [w_i(e-) - 1/G(e-)]\, S(t)/S(e-) & \text{after an event at } e, \end{cases}

    .. math:: w_i(t) = 1 + \int_0^t \frac{S(t)}{S(u)} \Bigl(\frac1{G(u-)} - 1\Bigr) d\Lambda(u),

    the imputed status, corrected by the event's martingale. The two are equal for all step functions S and G, with
    :math:`d\Lambda(u) = 1 - S(u)/S(u-)`. The expectation of a score is right if S is *or* G is, where an imputation
    needs S and IPCW needs G. Weights outside [0, 1] are legitimate.

    A subject's curves come from other subjects: from the training sample, where there is one; of a subject that was
    fitted to, as its outcome and covariates tell, from the folds that it is not in.

    Parameters
    ----------
    event, dropout : {"auto", "cox", "forest"}, an object with ``fit`` and ``predict``, or several of these
        What learns the hazard of the event, and of the censoring, given covariates: a :class:`CoxPH` with a small
        ridge, a random survival forest, or any estimator of a risk score in scikit-survival's manner. A Cox model of
        their out-of-fold scores, with weights that are not negative, makes one hazard of them. ``"auto"`` is
        ``("cox", "forest")`` where scikit-survival is installed, else ``"cox"``.
    folds : int
        Number of folds; each has its share of the events. Which fold a subject is in depends on its outcome and
        covariates, not on the order of the rows.
    seed : int
        Of folds and forests.
    min_probability : float
        Smaller G are lifted to this floor, above 0, and a note says for how many subjects. Where S is right it costs
        nothing; without it one subject may carry a score.
    tail : {"last"} or None
        Hold curves at their last value beyond the last time fitted to, or refuse.

    Notes
    -----
    Administrative censoring is censoring like any other here. A margin in which nothing happens has no hazard: without
    censorings the weights are the truth. Integrals are exact where the fitted sample has up to 256 distinct times; else
    they run over 256 quantiles of these by the trapezoidal rule. As for :class:`IPCW`, there is a
    :class:`HorizonWarning` where one subject carries more than a tenth of :math:`\sum_i |a_i| + |b_i|`, and scores are
    NaN from the time on where that exceeds 10 n.

    Hazards are proportional given the scores: where both margins have crossing hazards, both models are wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import AIPCW, IPCW, Survival
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(4000, 1))
    >>> event, dropout = (rng.exponential(np.exp(-0.8 * x[:, 0])) for _ in range(2))
    >>> y = Survival.from_latent(event, dropout)
    >>> weights = AIPCW("cox", "cox").fit(y, x).weights(y, [1.0], x)
    >>> ipcw = IPCW().fit(y).weights(y, [1.0])
    >>> [round(float(each.mean()), 2) for each in (event > 1.0, weights.a, ipcw.a)]
    [0.37, 0.37, 0.42]

    References
    ----------
    Robins, J. M., Rotnitzky, A. (1992). Recovery of information and adjustment for dependent censoring using surrogate
    markers. *AIDS Epidemiology*, 297–331.
    """

    event: Learners = "auto"
    dropout: Learners = "auto"
    folds: int = 5
    seed: int = 0
    min_probability: float = 0.05
    tail: Hold = None

    assumption: ClassVar[str] = (
        "Censoring is independent of the event given the covariates, and the model of the event or that of the "
        "censoring is correct."
    )
    needs: ClassVar[frozenset[Need]] = frozenset({"covariates"})

    def __post_init__(self) -> None:
        for name in ("event", "dropout"):
            object.__setattr__(self, name, check_learners(getattr(self, name), name))
        check_whole(self.folds, "folds", 2)
        check_whole(self.seed, "seed", 0)
        floor = check_number(self.min_probability, "min_probability", lower=0.0, upper=1.0)
        object.__setattr__(self, "min_probability", floor)
        if self.tail is not None:
            check_choice(self.tail, "tail", ("last",))

    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from the sample what the weights need."""
        y, x = sample.y, sample.x
        if x is None:
            raise ValueError(f"x_train is needed: {self!r} models event and censoring given covariates.")
        encoding, matrix, notes = encoded(x, "x_train", len(y), "y_train")
        if not y.n_events:
            raise ValueError("y_train has no event: the event cannot be modelled given covariates.")
        if self.folds > len(y):
            raise ValueError(f"folds must not exceed the number of subjects, {len(y)}, but is {self.folds}.")
        y = Survival(y.time, y.event)  # whoever is censored is censored
        learners = resolved(self.event), resolved(self.dropout)
        place = places(y, matrix, self.seed)
        fold = dealt(place, y.event, self.folds)
        own = Sample(y, matrix, sample.weight)
        margin = Nuisance(own, "event", learners[0], place, fold, self.seed)
        hazards = CrossFitted.of(margin, replace(margin, of="dropout", learners=learners[1]))
        models = noted("nuisance_models", event=in_words(learners[0]), censoring=in_words(learners[1]))
        return _FittedAIPCW(self, hazards, encoding, (*notes, models))


@dataclass(frozen=True, eq=False, repr=False)
class _FittedAIPCW(Fitted):
    adjustment: AIPCW
    hazards: CrossFitted
    encoding: Encoding
    notes: tuple[Note, ...] = ()

    def for_others(self) -> Fitted:
        return replace(self, hazards=self.hazards.for_others)

    def resampled(self, resample: Resample, predictions: Mapping[str, Predicted]) -> Fitted:
        """A subject that is drawn twice is twice in one fold: no fold learns from its own subjects."""
        return replace(self, hazards=self.hazards.drawn(resample.fitted_to(self.adjustment)))

    def weights_for(self, sample: Sample, grid: TimeGrid, _: Any, whole: WholeSample) -> EventWeights:
        y, x = sample.y, sample.x
        if x is None:
            needs = f"{self.adjustment!r} models event and censoring given covariates"
            raise ValueError(f"x_test is needed: {needs}.")
        x, times = self.encoding.matrix(x, "x_test"), self.hazards.times
        check_length(x, "x_test", len(y), "y_test")
        refuse_beyond(self.adjustment.tail, grid.times, float(times[-1]), "times")
        knots = times[: np.searchsorted(times, grid.last, "right")]
        if knots.size > _MOST_KNOTS:
            knots = knots[np.linspace(0, knots.size - 1, _MOST_KNOTS).round().astype(np.intp)]
        knots = np.union1d(grid.sorted, knots)
        cut = grid.cut(y.time)
        largest_hazard, lifted = -float(np.log(self.adjustment.min_probability)), 0
        # Everybody counts as one with the event, but for the augmented weight of being event-free.
        modelled = []
        for rows, event, dropout in self.hazards.parts(y, x):
            curves = _Augmented(event, dropout, knots, grid.sorted, largest_hazard)
            hazard = dropout.at(np.minimum(y.time[rows], grid.last), rows, "left")
            lifted += int((hazard > largest_hazard).sum())
            after = curves.after(y, rows[y.time[rows] <= grid.last])
            modelled.append(Modelled(rows, cut[rows], curves.before, before=True))
            modelled.append(Modelled(rows, cut[rows], after))
        parts: dict[str, Any] = {"modelled": tuple(modelled), "notes": self.notes}
        weights = EventWeights(grid, np.zeros_like(cut), event_free=(), **parts)
        total, largest, unseen = np.zeros((3, grid.sorted.size))
        for part, a, b in weights.blocks():
            size = by_weight(np.abs(a) + np.abs(b), None if sample.weight is None else sample.weight[part])
            total += size.sum(axis=0)
            largest = np.maximum(largest, size.max(axis=0))
        return weights.replaced(load=WeightLoad(total, largest, unseen, n_replaced=lifted))

    def settled(self, weights: EventWeights, whole: WholeSample, load: WeightLoad | None) -> EventWeights:
        assert load is not None
        remedy = "a larger min_probability, or models of event and censoring with fewer covariates"
        until, notes = no_score_from(weights.grid.sorted, load, whole, remedy), weights.notes
        if load.n_replaced:
            floor = self.adjustment.min_probability
            notes += (noted("probability_floored", floor=floor, n=load.n_replaced, of=whole.n),)
        return weights.replaced(valid_until=until, notes=notes)


class _Augmented:
    """The weights of subjects whose hazards have the same baselines, at sorted ``times``; integrals run over knots."""

    def __init__(
        self, event: Hazard, dropout: Hazard, knots: FloatArray, times: FloatArray, largest: float
    ) -> None:
        self.event, self.dropout, self.knots, self.largest = event, dropout, knots, largest
        self.place = np.searchsorted(knots, times)
        self.log_event = np.asarray(event.log_baseline(knots))
        self.log_dropout = {side: np.asarray(dropout.log_baseline(knots, side)) for side in ("left", "right")}

    def before(self, rows: Rows, columns: slice) -> FloatArray:
        """The weights w of those seen event-free."""
        place = self.place[columns]
        wanted = set(place.tolist())
        walk = enumerate(self._walk(rows, int(place[-1]) + 1))
        return np.column_stack([w for k, w in walk if k in wanted])

    def after(self, y: Survival, rows: Rows) -> Callable[[Rows, slice], FloatArray]:
        """The weights of ``rows`` after their observed times."""
        # The hazard of each just before its event, or at its censoring, and its weight from then on.
        hazard, weight = np.zeros((2, len(y)))
        # What is left from the last knot before; where there is none, from the start.
        log_event = np.append(self.log_event, -np.inf)
        log_dropout = np.append(self.log_dropout["right"], -np.inf)
        for part in row_blocks(rows.size, 1):
            own = rows[part]
            t, event, w = y.time[own], y.event[own], np.ones(own.size)
            last = lookup(self.knots, t, "left") - 1
            for k, at_knot in enumerate(self._walk(own, int(last.max()) + 1)):
                np.copyto(w, at_knot, where=last == k)
            passed = self.event.over(log_event[last], own)
            lifted = self._lifted(self.dropout.over(log_dropout[last], own))
            until = self._lifted(self.dropout.at(t, own, "left"))
            hazard[own] = np.where(event, self.event.at(t, own, "left"), self.event.at(t, own))
            w = _stepped(w, hazard[own] - passed, 0.5 * (lifted + until))
            weight[own] = np.where(event, w - 1.0 - until, w)

        def weights(rows: Rows, columns: slice) -> FloatArray:
            passed = self.event.over(self.log_event[self.place[columns]], rows[:, None])
            # Before the time of a subject its weights do not count.
            return weight[rows, None] * np.exp(-np.maximum(passed - hazard[rows, None], 0.0))

        return weights

    def _walk(self, rows: Rows, stop: int) -> Iterator[FloatArray]:
        """Return w at one knot after the other."""
        w, passed, lifted = np.ones(rows.size), np.zeros(rows.size), np.zeros(rows.size)
        for k in range(stop):
            hazard = self.event.over(self.log_event[k], rows)
            until = self._lifted(self.dropout.over(self.log_dropout["left"][k], rows))
            w = _stepped(w, hazard - passed, 0.5 * (lifted + until))
            yield w
            passed, lifted = hazard, self._lifted(self.dropout.over(self.log_dropout["right"][k], rows))

    def _lifted(self, dropout_hazard: FloatArray) -> FloatArray:
        """1/G − 1."""
        return np.expm1(np.minimum(dropout_hazard, self.largest))


def _stepped(w: FloatArray, hazard: FloatArray, lifted: FloatArray) -> FloatArray:
    """Return w after some hazard of the event, during which 1/G − 1 is ``lifted`` on average."""
    return 1.0 + (w - 1.0) * np.exp(-hazard) - lifted * np.expm1(-hazard)
