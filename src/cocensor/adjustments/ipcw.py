"""Inverse probability of censoring weights."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np

from cocensor._validation import (
    BoolArray,
    FloatArray,
    Side,
    as_matrix,
    check_choice,
    check_length,
    check_number,
    row_blocks,
)
from cocensor.adjustments.base import Adjustment, Beyond
from cocensor.adjustments.status import (
    NOTHING,
    Group,
    Observed,
    Rows,
    Status,
    Terms,
    TimeGrid,
    Weights,
    by_cut,
)
from cocensor.curves import SurvivalCurves, evaluate_step_functions
from cocensor.estimators import CoxPH, KaplanMeier
from cocensor.outcomes import Survival

Convention = Literal["left_limit", "scikit-survival"]


class CensoringModel(Protocol):
    """Any estimator of survival given covariates, in scikit-survival's manner."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to covariates and a structured array whose event is the censoring."""

    def predict_survival_function(self, X: Any) -> Any:
        """Step functions or :class:`SurvivalCurves`, one per row."""


class IPCW(Adjustment):
    r"""The usual weights: :math:`a = 1[t_i > t]/G(t)`, :math:`b = \delta_i 1[t_i \le t]/G(t_i-)`.

    G is the probability of being uncensored, marginal (Kaplan–Meier, events before censorings) or given
    covariates. Administrative censoring is censoring like any other here.

    Parameters
    ----------
    censoring : {"km", "cox"} or an object with ``fit`` and ``predict_survival_function``
        The model of G. ``"cox"`` is :class:`CoxPH`; models given covariates need ``x_train`` and ``x_test``.
    convention : {"left_limit", "scikit-survival"}
        Weigh an event at :math:`t_i` by :math:`G(t_i-)`, as R's riskRegression does, or by :math:`G(t_i)`.
    min_probability : float, optional
        Lift smaller G to this floor; the status counts how many weights that changed. Without it, a
        weight that needs G = 0 is an error.

    Examples
    --------
    >>> y = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> IPCW().fit(y).status(y, [3.5]).b.T
    array([[1. , 0. , 1.5, 0. ]])

    References
    ----------
    Graf, E., Schmoor, C., Sauerbrei, W., Schumacher, M. (1999). Assessment and comparison of prognostic
    classification schemes for survival data. *Statistics in Medicine* 18, 2529–2545.
    """

    def __init__(
        self,
        censoring: Literal["km", "cox"] | CensoringModel = "km",
        convention: Convention = "left_limit",
        min_probability: float | None = None,
        beyond: Beyond = None,
    ) -> None:
        if isinstance(censoring, str):
            check_choice(censoring, "censoring", ("km", "cox"))
        elif not (hasattr(censoring, "fit") and hasattr(censoring, "predict_survival_function")):
            raise TypeError(
                "censoring must be 'km', 'cox' or an object with fit and predict_survival_function, "
                f"but is {censoring!r}."
            )
        check_choice(convention, "convention", ("left_limit", "scikit-survival"))
        if min_probability is not None:
            min_probability = check_number(min_probability, "min_probability", lower=0.0, upper=1.0)
        self.censoring, self.convention, self.min_probability = censoring, convention, min_probability
        self.beyond = beyond
        self._check_beyond()

    def __repr__(self) -> str:
        return f"IPCW(censoring={self.censoring!r}, convention={self.convention!r})"

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]  # depends on the model of G
        """Covariates, unless G is marginal."""
        return frozenset() if self.censoring == "km" else frozenset({"covariates"})

    @property
    def assumption(self) -> str:  # type: ignore[override]  # depends on the model of G
        """What the weights rest on."""
        if self.censoring == "km":
            return "Censoring is independent of the event and of the predictions."
        return "Censoring is independent of the event given the covariates, and its model is right."

    def _fit(self, y: Survival, x: Any) -> None:
        y = Survival(y.time, y.event)  # whoever is censored is censored
        self._t_max = y.t_max
        if self.censoring == "km":
            self._model: Any = KaplanMeier(of="censoring").fit(y)
            return
        if x is None:
            raise ValueError(f"x_train is needed: {self!r} models the censoring given covariates.")
        X = as_matrix(x, "x_train")
        check_length(X, "x_train", len(y), "y_train")
        if self.censoring == "cox":
            self._model = CoxPH(of="censoring").fit(X, y)
            return
        flipped = np.empty(len(y), dtype=[("event", bool), ("time", float)])
        flipped["event"], flipped["time"] = ~y.event, y.time
        self._model = self.censoring.fit(x, flipped)

    def _status(self, y: Survival, grid: TimeGrid, x: Any, estimate: Any) -> Status:
        self._refuse_beyond(grid.sorted, self._t_max, "times")
        side: Side = "left" if self.convention == "left_limit" else "right"
        cut = grid.cut(y.time)
        seen = by_cut(np.flatnonzero(y.event), cut)
        censored = by_cut(np.flatnonzero(~y.event), cut)
        events = seen[y.time[seen] <= grid.last]  # in the order of time: a curve is looked up along the way
        before: Weights
        if self.censoring == "km":
            at_events = np.asarray(self._model.survival_(y.time[events], side))
            needed = grid.sorted < y.t_max  # while anybody is event-free
            at_times, floored = self._floor(
                np.asarray(self._model.survival_(grid.sorted)), grid.sorted, needed
            )
            before = Terms(event_free=((None, at_times),))
        else:
            given = self._given(x, len(y))
            at_events = given.own(y.time[events], events, side)

            def inverse(rows: Rows, columns: slice) -> tuple[FloatArray, int]:
                times = grid.sorted[columns]
                return self._floor(given.grid(times, rows), times, y.time[rows][:, None] > times)

            every = slice(0, grid.sorted.size)
            blocks = row_blocks(len(y), every.stop) if self.min_probability is not None else ()
            floored = sum(inverse(np.arange(part.start, part.stop), every)[1] for part in blocks)
            before = Observed(lambda rows, columns: inverse(rows, columns)[0])
        weights = np.zeros(len(y))
        weights[events], more = self._floor(at_events, y.time[events], np.ones(events.size, dtype=bool))
        groups = (
            Group(seen, cut[seen], before, Terms(event=((weights, None),))),
            Group(censored, cut[censored], before, NOTHING),
        )
        return Status(grid, len(y), groups, n_floored=floored + more)

    def _floor(self, probability: FloatArray, times: FloatArray, needed: BoolArray) -> tuple[FloatArray, int]:
        """1/G where it is needed (0 elsewhere), and how many G were lifted; a G of 0 is refused."""
        small = needed & (probability < (self.min_probability or np.finfo(float).tiny))
        if small.any():
            if self.min_probability is None:
                t = float(np.broadcast_to(times, small.shape)[small].min())
                raise ValueError(
                    f"the censoring curve has reached 0 at time {t:g}, where a weight is needed: choose a "
                    "horizon before that time, or set min_probability."
                )
            probability = np.where(small, self.min_probability, probability)
        return np.divide(1.0, probability, out=np.zeros(probability.shape), where=needed), int(small.sum())

    def _given(self, x: Any, n: int) -> _Given:
        """G given the covariates of the test subjects."""
        if x is None:
            raise ValueError(f"x_test is needed: {self!r} models the censoring given covariates.")
        X = as_matrix(x, "x_test")
        check_length(X, "x_test", n, "y_test")
        if isinstance(self._model, CoxPH):
            return _GivenByCox(self._model, X)
        return _GivenByCurves(self._model.predict_survival_function(x))


class _Given(Protocol):
    def grid(self, times: FloatArray, rows: Rows) -> FloatArray:
        """G of ``rows`` at all ``times``."""

    def own(self, times: FloatArray, rows: Rows, side: Side) -> FloatArray:
        """G of each of ``rows`` at its own time."""


class _GivenByCox:
    def __init__(self, model: CoxPH, X: FloatArray) -> None:
        self.risk, self.baseline = model.relative_hazard(X), model.baseline_at_centre_

    def grid(self, times: FloatArray, rows: Rows) -> FloatArray:
        return np.exp(-self.risk[rows][:, None] * self.baseline(times))

    def own(self, times: FloatArray, rows: Rows, side: Side) -> FloatArray:
        return np.exp(-self.risk[rows] * self.baseline(times, side))


class _GivenByCurves:
    def __init__(self, curves: Any) -> None:
        self.curves = curves

    def grid(self, times: FloatArray, rows: Rows) -> FloatArray:
        if isinstance(self.curves, SurvivalCurves):
            return np.array(self.curves.evaluate(times, rows), dtype=np.float64)
        return evaluate_step_functions([self.curves[row] for row in rows], times)

    def own(self, times: FloatArray, rows: Rows, side: Side) -> FloatArray:
        if side == "left":
            times = np.nextafter(times, 0.0)
        pairs = zip(times, rows, strict=True)
        return np.array([self.grid(np.array([t]), np.array([row]))[0, 0] for t, row in pairs])
