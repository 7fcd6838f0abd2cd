"""Inverse probability of censoring weights."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    Rows,
    Side,
    as_matrix,
    check_choice,
    check_length,
    check_number,
    row_blocks,
)
from cocensor._namespaces import Array, Placing, at_most
from cocensor._notes import Note
from cocensor._numerics import by_weight, lookup
from cocensor.adjustments.base import Adjustment, Fitted, Hold, Need, encoded, refuse_beyond
from cocensor.adjustments.gradient import Functionals, Part
from cocensor.adjustments.weights import EventWeights, Modelled, Term
from cocensor.adjustments.whole import WeightLoad, WholeSample, no_score_from
from cocensor.data import Predictions, Sample, StepFunction, Survival
from cocensor.data.border import as_predictions
from cocensor.data.covariates import Covariates, Encoding
from cocensor.data.predictions import Predicted
from cocensor.data.survival import fit_weighted, structured
from cocensor.data.times import TimeGrid, shown_time
from cocensor.estimators import CoxPH, KaplanMeier
from cocensor.estimators.cox import from_log_hazard
from cocensor.estimators.influence import HazardInfluence, of_cox, of_kaplan_meier
from cocensor.warnings import HorizonWarning


class CensoringModel(Protocol):
    """Any estimator of survival given covariates, in scikit-survival's manner."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to covariates and a structured array whose event is the censoring."""

    def predict_survival_function(self, X: Any) -> Any:
        """Step functions or :class:`Predictions`, one per row."""


@dataclass(frozen=True, eq=False)
class IPCW(Adjustment):
    r"""Inverse probability of censoring weights: those observed stand for those who were censored.

    .. math:: a_i(t) = \frac{1[t_i > t]}{G(t)}, \qquad b_i(t) = \frac{\delta_i 1[t_i \le t]}{G(t_i-)}

    G is the probability of being uncensored, marginal (Kaplan–Meier, events before censorings) or given
    covariates. Administrative censoring is censoring like any other here. At the last observed time itself, the end of
    a study, those censored then are event-free, by :math:`a = 1[t_i = t]/G(t-)`.

    Parameters
    ----------
    censoring : {"km", "cox"} or an object with ``fit`` and ``predict_survival_function``
        The model of G. ``"cox"`` is :class:`CoxPH`; models given covariates need ``x_train`` and ``x_test``.
    convention : {"left_limit", "scikit-survival"}
        Weigh an event at :math:`t_i` by :math:`G(t_i-)`, as R's riskRegression does, or by :math:`G(t_i)`, and where
        that is 0 by nothing, with a :class:`HorizonWarning`; then nobody is event-free from the last time on.
    min_probability : float, optional
        Lift smaller G to this floor; ``EventWeights.n_floored`` counts the weights that rest on it. Without it,
        a weight that needs G = 0 is an error, or as ``convention`` says.
    tail : {"last"} or None
        Hold G at its last value beyond the last training time, or refuse.

    Notes
    -----
    Where G is right, the weights :math:`a_i(t) + b_i(t)` sum to about n. A G close to 0 for somebody, as a model of few
    censorings and many covariates gives it, leaves the score to that subject. There is a :class:`HorizonWarning`
    where one subject carries more than a tenth of all weight at a time (with fewer than 50 subjects: five times its
    share of the sample), and where a score exceeds the largest loss there is, 1 for the Brier score. From the time on
    at which the weights sum to more than 10 n, scores and weights are NaN; so they are after the last time, where a
    subject is censored then.

    Examples
    --------
    >>> from cocensor import IPCW
    >>> y = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> IPCW().fit(y).weights(y, [3.5]).b.T
    array([[1. , 0. , 1.5, 0. ]])

    References
    ----------
    Graf, E., Schmoor, C., Sauerbrei, W., Schumacher, M. (1999). Assessment and comparison of prognostic
    classification schemes for survival data. *Statistics in Medicine* 18, 2529–2545.
    """

    censoring: Literal["km", "cox"] | CensoringModel = "km"
    convention: Literal["left_limit", "scikit-survival"] = "left_limit"
    min_probability: float | None = None
    tail: Hold = None

    def __post_init__(self) -> None:
        if isinstance(self.censoring, str):
            check_choice(self.censoring, "censoring", ("km", "cox"))
        elif not (hasattr(self.censoring, "fit") and hasattr(self.censoring, "predict_survival_function")):
            raise TypeError(
                "censoring must be 'km', 'cox' or an object with fit and predict_survival_function, "
                f"but is {self.censoring!r}."
            )
        check_choice(self.convention, "convention", ("left_limit", "scikit-survival"))
        if self.min_probability is not None:
            floor = check_number(self.min_probability, "min_probability", lower=0.0, upper=1.0)
            object.__setattr__(self, "min_probability", floor)
        if self.tail is not None:
            check_choice(self.tail, "tail", ("last",))

    @property
    def needs(self) -> frozenset[Need]:
        """Covariates, unless G is marginal."""
        return frozenset() if self.censoring == "km" else frozenset({"covariates"})

    @property
    def assumption(self) -> str:
        """The assumption behind the weights, in one sentence."""
        if self.censoring == "km":
            return "Censoring is independent of the event and of the predictions."
        return "Censoring is independent of the event given the covariates, and its model is correct."

    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from the sample what the weights need."""
        y, x = sample.y, sample.x
        if y.administrative is not None:
            y = Survival(y.time, y.event)  # whoever is censored is censored
        weight, whole = sample.weight, WholeSample.of(sample.y, sample.weight)
        fitted = _FittedIPCW(self, whole, sample.y, y, weight)
        if self.censoring == "km" or whole.nobody_censored:  # G is 1 under every model
            return replace(fitted, curve=KaplanMeier(of="dropout").fit(y, weight).survival_)
        if x is None:
            raise ValueError(f"x_train is needed: {self!r} models the censoring given covariates.")
        encoding, matrix = None, None
        notes: tuple[Note, ...] = ()
        if self.censoring == "cox" or isinstance(self.censoring, CoxPH) or isinstance(x, Covariates):
            encoding, matrix, notes = encoded(x, "x_train", len(y), "y_train")
            x = Covariates(matrix, encoding.names)
        else:
            check_length(x, "x_train", len(y), "y_train")  # a frame is for the user's own model to read
        model: Any
        if self.censoring == "cox":
            model = CoxPH(of="dropout").fit(x, y, weight)
        else:
            model = copy.deepcopy(self.censoring)  # the user's own stays as it is
            y = Survival(y.time, ~y.event)
            fit_weighted(model, "censoring", x, structured(y.time, y.event), weight)
        return replace(fitted, y=y, model=model, x=matrix, encoding=encoding, notes=notes)


class _ByCox:
    """G of each test subject, from a Cox model of the censoring."""

    def __init__(self, model: CoxPH, x: Any) -> None:
        self.log_ratio, self.log_baseline = model.log_relative_hazard(x), model.log_baseline_at_centre_
        self.covariates, self.centre = as_matrix(x, "x_test"), model.centre_

    def grid(self, times: FloatArray, rows: Rows) -> FloatArray:
        """G of ``rows`` at all ``times``."""
        return from_log_hazard(self.log_baseline(times) + self.log_ratio[rows][:, None])

    def own(self, times: FloatArray, rows: Rows, side: Side) -> FloatArray:
        """G of each of ``rows`` at its own time."""
        return from_log_hazard(self.log_baseline(times, side) + self.log_ratio[rows])

    def placed(self, placing: Placing, times: FloatArray, floor: float | None) -> Callable[[Any], Array]:
        """Make 1/G at the sorted ``times`` for arrays of another library, with G of at least ``floor``."""
        xp = placing.place.xp
        largest = -math.log(floor or float(xp.finfo(placing.place.dtype).smallest_normal))
        log_baseline, log_ratio = placing.times(self.log_baseline(times)), placing.subjects(self.log_ratio)

        def inverse(rows: Any) -> Array:
            # After its censoring nobody is asked for, whose weight need not be finite.
            return xp.exp(at_most(xp.exp(log_baseline + log_ratio[rows][:, None]), largest))

        return inverse


class _ByCurves:
    """G of each test subject, from any model of the censoring; beyond what it was fitted to its curves are held."""

    def __init__(self, model: Any, x: Any, n: int) -> None:
        predicted = model.predict_survival_function(x)
        check_length(predicted, "what censoring predicts", n, "y_test")
        curves = as_predictions(predicted, n, name="what censoring predicts")
        if not isinstance(curves, Predictions):
            raise ValueError(f"what censoring predicts must be survival curves, but it {curves.limit}.")
        settings = curves.interpolation, curves.tail or "last", curves.source, curves.n_rounded
        self.curves = Predictions.trusted(curves.times, curves.probabilities, *settings)

    def grid(self, times: FloatArray, rows: Rows) -> FloatArray:
        """G of ``rows`` at all ``times``."""
        return self.curves.read(times, rows)

    def own(self, times: FloatArray, rows: Rows, side: Side) -> FloatArray:
        """G of each of ``rows`` at its own time."""
        before = np.nextafter(times, 0.0) if side == "left" else times
        pairs = zip(before[:, None], rows[:, None], strict=True)
        values = np.array([self.grid(t, row)[0, 0] for t, row in pairs])
        return np.where((times == 0) & (side == "left"), 1.0, values)


@dataclass(frozen=True, eq=False, repr=False)
class _FittedIPCW(Fitted):
    adjustment: IPCW
    learned_from: WholeSample
    #: The outcomes fitted to, as handed over and as the curve or the model has seen them; None in a copy for others.
    sample: Survival | None
    y: Survival | None
    weight: FloatArray | None = None
    curve: StepFunction | None = None
    model: Any = None
    #: Covariates of the sample and how they are encoded; None where a user's own model reads them itself.
    x: FloatArray | None = None
    encoding: Encoding | None = None
    notes: tuple[Note, ...] = ()

    def for_others(self) -> Fitted:
        return replace(self, sample=None, y=None, weight=None, x=None)

    @cached_property
    def response(self) -> HazardInfluence:
        """The influence of the subjects of the sample on the hazard of censoring."""
        assert self.y is not None
        if self.model is None:
            return of_kaplan_meier(self.y, self.weight)
        return of_cox(self.model, self.x, self.y, self.weight)

    @np.errstate(over="ignore")  # of sums that are beyond any limit
    def weights_for(self, sample: Sample, grid: TimeGrid, _: Any, whole: WholeSample) -> EventWeights:
        y, at, last, settings = sample.y, grid.sorted, whole.t_max, self.adjustment
        side: Side = "left" if settings.convention == "left_limit" else "right"
        ends = at == last
        if side == "left" and whole.last_censored and ends.any():
            # Those censored at the last time are event-free then, as at the end of a study: G is the one just before.
            last = float(np.nextafter(whole.t_max, np.inf))
            through = ~y.event & (y.time == whole.t_max)
            if through.any():
                y = Survival(np.where(through, last, y.time), y.event)
            at = np.where(ends, np.nextafter(whole.t_max, -np.inf), at)
        cut = grid.cut(y.time)
        # Curves are needed while anybody is event-free, and at the events up to the last time.
        counted = sample.counted
        seen, end = y.event & (y.time <= grid.last) & counted, self.learned_from.t_max
        events = np.flatnonzero(seen)
        event_times = y.time[events]
        refuse_beyond(settings.tail, np.where(seen, y.time, 0.0), end, "y_test")
        refuse_beyond(settings.tail, np.where(grid.times < last, grid.times, 0.0), end, "times")
        n_times = grid.sorted.size
        # Of those seen event-free, at each time: the sum of their weights, the largest, and how many are too small.
        total, largest, n_small = np.zeros((3, n_times))
        event_free: tuple[Term, ...] = ()
        modelled: tuple[Modelled, ...] = ()
        curves: _ByCox | _ByCurves | None = None
        if self.curve is not None:
            at_events = self.curve.read(event_times, side)
            at_times, small = self._inverse(self.curve.read(at), grid.sorted, grid.sorted < last)
            by_cut, heaviest = np.bincount(cut, counted, n_times + 1), np.ones(n_times + 1)
            n_small += by_cut[::-1].cumsum()[-2::-1] * small  # of those of all later cuts
            if sample.weight is not None:
                by_cut, heaviest = np.bincount(cut, sample.weight, n_times + 1), np.zeros(n_times + 1)
                np.maximum.at(heaviest, cut, sample.weight)
            at_risk, heaviest = by_cut[::-1].cumsum()[-2::-1], np.maximum.accumulate(heaviest[::-1])[-2::-1]
            total, largest = at_risk * at_times, (at_risk > 0) * heaviest * at_times
            event_free = ((None, at_times),)

            def at_risk_weights(rows: Rows, columns: slice) -> FloatArray:
                return np.broadcast_to(at_times[columns], (rows.size, columns.stop - columns.start))

        else:
            curves = given = self._given(sample.x, len(y))
            at_events = curves.own(event_times, events, side)

            def inverse(rows: Rows, columns: slice) -> tuple[FloatArray, BoolArray]:
                times = grid.sorted[columns]
                needed = (y.time[rows][:, None] > times) & counted[rows, None]
                return self._inverse(given.grid(at[columns], rows), times, needed)

            def at_risk_weights(rows: Rows, columns: slice) -> FloatArray:
                return inverse(rows, columns)[0]

            for part in row_blocks(len(y), n_times):
                block, small = inverse(np.arange(part.start, part.stop), slice(0, n_times))
                n_small += small.sum(axis=0)
                block = by_weight(block, None if sample.weight is None else sample.weight[part])
                total, largest = total + block.sum(axis=0), np.maximum(largest, block.max(axis=0))
            placed = None
            if isinstance(curves, _ByCox) and settings.convention == "left_limit":
                placed = partial(curves.placed, times=at, floor=settings.min_probability)
            everybody = np.arange(len(y))
            modelled = (Modelled(everybody, cut, at_risk_weights, before=True, observed=True, placed=placed),)
        of_events, small = self._inverse(at_events, event_times, np.ones(events.size, dtype=bool))
        weights, by_events, event_cut = np.zeros(len(y)), np.zeros(n_times + 1), cut[events]
        weights[events] = of_events
        if sample.weight is not None:
            of_events = of_events * sample.weight[events]
        np.maximum.at(by_events, event_cut, of_events)
        largest = np.maximum(largest, np.maximum.accumulate(by_events)[:n_times])
        total += np.cumsum(np.bincount(event_cut, of_events, n_times + 1))[:n_times]
        load, n_too_small = WeightLoad(total, largest, np.zeros(n_times)), int(n_small.sum() + small.sum())
        if settings.min_probability is not None:
            load = replace(load, n_floored=n_too_small)
        else:
            first = min(grid.sorted[n_small > 0].min(initial=np.inf), event_times[small].min(initial=np.inf))
            load = replace(load, n_replaced=n_too_small, replaced_from=first)
        parts: dict[str, Any] = {"event_free": event_free, "event": ((weights, None),), "modelled": modelled}
        parts |= {"load": load, "notes": self.notes}
        if self.sample is None or isinstance(curves, _ByCurves):
            return EventWeights(grid, cut, **parts)
        used: dict[str, Any] = {"at_event": weights, "at_risk": at_risk_weights, "curves": curves}
        return _IPCWWeights(grid, cut, fitted=self, y=y, read_at=at, side=side, **used, **parts)

    def settled(self, weights: EventWeights, whole: WholeSample, load: WeightLoad | None) -> EventWeights:
        assert load is not None
        if load.n_replaced:
            warnings.warn(
                f"{load.n_replaced} weights are set to 0, as in scikit-survival: the probability of being uncensored "
                f"is 0 there, from time {shown_time(load.replaced_from)} on.",
                HorizonWarning,
                stacklevel=3,
            )
        remedy = "a model of the censoring with fewer covariates, or min_probability"
        times, end, settings = weights.grid.sorted, self.learned_from.t_max, self.adjustment
        until = no_score_from(times, load, whole, remedy)
        beyond = times[times > end]
        # After a last censoring of the sample nobody seen stands for those censored.
        ends_unseen = beyond.size and self.learned_from.last_censored and not whole.nobody_censored
        if ends_unseen and not settings.tail and settings.convention == "left_limit":
            warnings.warn(
                f"nobody is under observation after time {shown_time(end)}, when the last subject is censored: "
                f"scores from time {shown_time(beyond[0])} on are NaN.",
                HorizonWarning,
                stacklevel=3,
            )
            until = min(until, float(beyond[0]))
        return weights if until == np.inf else weights.replaced(valid_until=until)

    def _inverse(
        self, probability: FloatArray, times: FloatArray, needed: BoolArray
    ) -> tuple[FloatArray, BoolArray]:
        """1/G where needed, else 0, and where G is too small; a G of 0 is refused unless something stands in."""
        floor = self.adjustment.min_probability
        small = needed & (probability < (floor or np.finfo(float).tiny))
        if small.any():
            if floor is not None:
                probability = np.where(small, floor, probability)
            elif self.adjustment.convention == "scikit-survival":
                needed = needed & ~small
            else:
                t = float(np.broadcast_to(times, small.shape)[small].min())
                # A Kaplan–Meier curve reaches 0 with its last step; of a model only some times are known.
                zero = t if self.curve is None else float(self.curve.times[-1])
                raise ValueError(
                    f"the censoring curve reaches 0 at time {zero:g}, but a weight is needed at time "
                    f"{t:g}: choose a horizon before {zero:g}, or set min_probability."
                )
        return np.divide(1.0, probability, out=np.zeros(probability.shape), where=needed), small

    def _given(self, x: Any, n: int) -> _ByCox | _ByCurves:
        """G given the covariates of the test subjects."""
        if x is None:
            raise ValueError(f"x_test is needed: {self.adjustment!r} models the censoring given covariates.")
        if self.encoding is not None:
            x = Covariates(self.encoding.matrix(x, "x_test"), self.encoding.names)
        check_length(x, "x_test", n, "y_test")
        return _ByCox(self.model, x) if isinstance(self.model, CoxPH) else _ByCurves(self.model, x, n)


# Products of such a ratio are numbers of double precision.
_LARGEST_LOG_RATIO = 500.0


@dataclass(eq=False, repr=False, kw_only=True)
class _IPCWWeights(EventWeights):
    r"""Weights by an estimated hazard of censoring, of which the influence is known.

    A weight is :math:`1/G_i(s) = e^{e_i H(s)}`, s the time t for those seen event-free and the own time for those whose
    event was seen, so that a score answers by :math:`\sum v\,e_i[\dot H(s) + H(s)(x_i - c)'\dot\beta]`, a sum over all
    such *uses* of H, where v is the weight times the gradient of the score. With the parts of :math:`\dot H` as in
    :mod:`cocensor.estimators.influence`, :math:`\Gamma(s) = \sum_{u \le s}\gamma_u`, and :math:`s_j` the last
    time of dropout that subject j of the sample was at risk at,

    .. math:: \psi_j = N\Bigl[(g_j - e_j\Gamma(s_j)) \sum_{s \ge s_j} v e_i - e_j \sum_{s < s_j} v e_i\,\Gamma(s)\Bigr]
        + \dot\beta_j' \sum v e_i [h(s) + H(s)(x_i - c)].

    Both sums by s are running sums. Those over events are kept for one block of subjects at a time; those over subjects
    seen event-free have one row for each time of the grid.
    """

    fitted: _FittedIPCW
    y: Survival
    #: When those seen event-free at each sorted time use the hazard, and whether events use it before their time.
    read_at: FloatArray
    side: Side
    at_event: FloatArray
    at_risk: Callable[[Rows, slice], FloatArray]
    curves: _ByCox | None

    @property
    def sample(self) -> Survival | None:
        """The outcomes that the hazard of censoring was fitted to."""
        return self.fitted.sample

    def exposure(self, rows: Rows, log_unit: float) -> FloatArray:
        """The hazard ratios to the centre of the sample."""
        if self.curves is None:
            return np.ones(rows.size)
        # Whoever has a larger one has left at once: its weights do not move.
        return np.exp(np.minimum(self.curves.log_ratio[rows] - log_unit, _LARGEST_LOG_RATIO))

    def covariates(self, rows: Rows) -> FloatArray:
        """The distance from the centre of the sample; of no covariates without a model."""
        if self.curves is None:
            return np.zeros((rows.size, 0))
        return self.curves.covariates[rows] - self.curves.centre

    def pull_back(self, parts: Iterator[Part], size: int) -> Iterator[tuple[Rows, FloatArray]]:
        """Return what each subject of the ``sample`` adds by way of G: uses of the hazard are added up first."""
        response, time_order = self.fitted.response, self.y.order
        if not response.steps.size:
            return
        sums, at = _Sums(), lookup(response.steps, self.y.time, self.side)
        order = np.argsort(response.position, kind="stable")
        gain = response.jump - response.exposure * response.cumulated[response.position]
        n = float(self.fitted.learned_from.n)
        # Of the events, in the order of time, how many use less of the hazard than the subject was exposed to.
        passed = np.searchsorted(at[time_order], response.position[order])
        total, cumulated_total = np.zeros((2, 1))
        for block, values in self._uses(sums, parts):
            rows = time_order[block]
            before = _from(total, values)
            cumulated = _from(cumulated_total, values * response.cumulated[at[rows]][:, None])
            total, cumulated_total = before[-1], cumulated[-1]
            if response.drift.shape[1]:
                moved = response.drift[at[rows]] + response.hazard[at[rows]][:, None] * self.covariates(rows)
                sums.slope = sums.slope + moved.T @ values
            last = block.stop == self.n
            mine = np.searchsorted(passed, (block.start, self.n + 1 if last else block.stop))
            for part in row_blocks(int(mine[1] - mine[0]), before.shape[1]):
                chosen = slice(mine[0] + part.start, mine[0] + part.stop)
                rows, row = order[chosen], passed[chosen] - block.start
                own, exposure = gain[rows, None], response.exposure[rows, None]
                yield rows, -n * (own * before[row] + exposure * cumulated[row])
        # What is known after the last block: the sums of all, and of those seen event-free from and until each time.
        grid_at, by_time = np.concatenate(sums.grid_at), np.concatenate(sums.by_time)
        by_use = np.argsort(grid_at, kind="stable")
        grid_at, by_time = grid_at[by_use], by_time[by_use]
        from_time = _from(np.zeros(1), by_time[::-1])[::-1]
        until_time = _from(np.zeros(1), by_time * response.cumulated[grid_at][:, None])
        passed = np.searchsorted(grid_at, response.position[order])
        for part in row_blocks(order.size, from_time.shape[1]):
            rows, row = order[part], passed[part]
            own, exposure = gain[rows, None], response.exposure[rows, None]
            values = n * (own * (total + from_time[row]) - exposure * until_time[row])
            yield rows, values + response.coefficients[rows] @ sums.slope

    def _uses(self, sums: _Sums, parts: Iterator[Part]) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of test subjects in the order of time, with what their events add to all parts."""
        held: FloatArray | None = None
        for part in parts:
            weights = part.status
            assert isinstance(weights, _IPCWWeights)
            blocks = weights._uses_of(sums, part.functionals)
            if weights is self:  # at all times: there is no other part
                yield from blocks
                continue
            if held is None:
                held = np.zeros((self.n, part.functionals.size))
            for block, values in blocks:
                held[block] += values
        if held is not None:
            for block in row_blocks(*held.shape):
                yield block, held[block]

    def _uses_of(self, sums: _Sums, functionals: Functionals) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of test subjects in the order of time, with what their events add; the rest is summed up by time."""
        response, y = self.fitted.response, self.y
        n_times = int(np.searchsorted(self.grid.sorted, self.valid_until))
        times, weights = self.grid.sorted[:n_times], functionals.time_weights[:n_times]
        n_models, p = len(functionals.gradients), response.drift.shape[1]
        # A weight that rests on the floor does not move with the hazard.
        floor = self.fitted.adjustment.min_probability
        ceiling = np.inf if floor is None else 1.0 / floor
        at_risk_sums, moments = np.zeros((n_models, n_times)), np.zeros((n_models, n_times, p))
        for block in row_blocks(y.order.size, max(n_times, functionals.size)):
            rows = y.order[block]
            covariates, exposure = self.covariates(rows), self.exposure(rows, response.log_unit)[:, None]
            # Nobody here is over before the late columns, or event-free after the early ones.
            late, early = np.searchsorted(times, y.time[rows[[0, -1]]])
            at_risk = self.at_risk(rows, slice(0, early))
            moves = (y.time[rows][:, None] > times[:early]) & (at_risk < ceiling)
            at_risk = at_risk * moves * exposure
            at_events = self.at_event[rows][:, None]
            at_events = np.where(at_events < ceiling, at_events, 0.0) * exposure
            events = np.flatnonzero(at_events)
            at_event = at_events[events] * (y.time[rows[events]][:, None] <= times[late:])
            values = np.zeros((rows.size, n_models, weights.shape[1]))
            for m, gradient in enumerate(functionals.gradients):
                derivatives = gradient.of_subjects(rows)
                used = at_risk * derivatives.part(slice(0, early)).event_free
                at_risk_sums[m, :early] += used.sum(axis=0)
                if p:
                    moments[m, :early] += used.T @ covariates
                after = derivatives.part(slice(late, n_times)).event
                values[events, m] = (at_event * after[events]) @ weights[late:]
            yield block, values.reshape(rows.size, functionals.size)
        grid_at = np.searchsorted(response.steps, self.read_at[:n_times], "right")
        drift = at_risk_sums[:, :, None] * response.drift[grid_at]
        drift += moments * response.hazard[grid_at][:, None]
        sums.slope = sums.slope + np.einsum("mkp,kf->pmf", drift, weights).reshape(p, functionals.size)
        sums.grid_at.append(grid_at)
        by_time = np.einsum("mk,kf->kmf", at_risk_sums, weights)
        sums.by_time.append(by_time.reshape(n_times, functionals.size))


@dataclass(eq=False)
class _Sums:
    """Sums over the uses of a hazard: by coefficient, and by time where those seen event-free use it."""

    slope: FloatArray | float = 0.0
    grid_at: list[IntArray] = field(default_factory=list)
    by_time: list[FloatArray] = field(default_factory=list)


def _from(start: FloatArray, rows: FloatArray) -> FloatArray:
    """Running sums before each of the rows, and after the last."""
    sums = np.empty((len(rows) + 1, rows.shape[1]))
    sums[0] = start
    np.cumsum(rows, axis=0, out=sums[1:])
    sums[1:] += start
    return sums
