"""Imputation of margin times: the paper's dependent Brier score."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from cocensor._numerics import settled
from cocensor._validation import FloatArray, check_choice
from cocensor.adjustments.base import Adjustment, Beyond
from cocensor.adjustments.joint_source import chosen_copula
from cocensor.adjustments.status import EVENT, EVENT_FREE, Group, Status, Terms, TimeGrid
from cocensor.copulas import ArchimedeanCopula
from cocensor.curves import TAILS, Tail
from cocensor.estimators import CopulaGraphic
from cocensor.joint import CopulaChoice, JointModel
from cocensor.outcomes import Survival


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
    curve : {"step", "linear"}
        Integrate the step curve, or the authors' polygon; see :meth:`CopulaGraphic.margin_time`.
    tail : {"zero", "linear", "exponential"}, optional
        How the curve goes on beyond the last training time; by default nothing happens there.
    beyond : {"last"}, optional
        Subjects censored beyond the last training time: refused where a time (or, with uncertainty weighting,
        their weight) asks for the curve there, or counted as having their event at their censoring.

    Notes
    -----
    One imputed time per subject is not a probability: the score of even the true model is biased, more so
    the more is censored. :class:`ConditionalStatus` imputes the status itself.

    Examples
    --------
    >>> y = ([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> MarginTime().fit(y).status(y, [9.0]).a[1]
    array([1.])

    References
    ----------
    Lillelund, C. M., Qi, S., Greiner, R. (2026). Overcoming dependent censoring in the evaluation of survival
    models. *UAI*.
    """

    assumption = (
        "Event and dropout have the stated copula, and one expected event time can stand for a "
        "censored subject."
    )

    def __init__(
        self,
        copula: ArchimedeanCopula | CopulaChoice | JointModel | None = None,
        weighting: Literal["none", "uncertainty"] = "none",
        curve: Literal["step", "linear"] = "step",
        tail: Tail | None = None,
        beyond: Beyond = None,
    ) -> None:
        check_choice(weighting, "weighting", ("none", "uncertainty"))
        check_choice(curve, "curve", ("step", "linear"))
        if tail is not None:
            check_choice(tail, "tail", TAILS)
        self.copula = chosen_copula(copula)
        self.weighting, self.curve, self.tail, self.beyond = weighting, curve, tail, beyond
        self._margin = CopulaGraphic(self.copula)  # refuses a copula without a graphic form
        self._check_beyond()

    def __repr__(self) -> str:
        return f"MarginTime({self.copula!r}, weighting={self.weighting!r}, curve={self.curve!r})"

    def with_copula(self, copula: Any) -> MarginTime:
        """The same adjustment, not fitted yet, under another copula of event and dropout."""
        return MarginTime(copula, self.weighting, self.curve, self.tail, self.beyond)

    def _fit(self, y: Survival, x: Any) -> None:
        self._margin = CopulaGraphic(self.copula).fit(y)

    def _status(self, y: Survival, grid: TimeGrid, x: Any, estimate: Any) -> Status:
        margin = self._margin
        censored = np.flatnonzero(~y.event)
        c = y.time[censored]
        until = y.time.copy()
        # Whoever is censored after the last time asked for is event-free at all of them.
        asked = c <= grid.last
        weighted = self.weighting == "uncertainty"
        if self.tail is None:  # weights need the curve at every censoring
            needed = ~y.event & (weighted | (y.time <= grid.last))
            self._refuse_beyond(np.where(needed, y.time, 0.0), margin.t_max_, "y_test")
        until[censored[asked]] = settled(self._margin_times(c[asked]), grid.sorted)
        rows = np.arange(len(y))
        if not weighted:
            group = Group.of(rows, grid.cut(until), EVENT_FREE, EVENT)
            return Status(grid, len(y), (group,))
        weights = np.ones(len(y))
        weights[censored] = 1.0 - np.asarray(margin.predict(c, tail=self.tail or "last"))
        if not weights.any():
            raise ValueError(
                "weighting must be 'none' here: all test subjects are censored before the first training "
                "event, so that every uncertainty weight is 0."
            )
        alive, dead = Terms(event_free=((weights, None),)), Terms(event=((weights, None),))
        return Status(grid, len(y), (Group.of(rows, grid.cut(until), alive, dead),), normaliser=weights.sum())

    def _margin_times(self, c: FloatArray) -> FloatArray:
        """E[E given E > c], and c itself where no curve is left to integrate."""
        margin = self._margin
        result = c.copy()
        inside = np.asarray(margin.predict(c, tail=self.tail or "last")) > 0
        if self.tail is None:
            inside &= c <= margin.t_max_
        if inside.any():
            result[inside] = margin.margin_time(c[inside], curve=self.curve, tail=self.tail)
        return result
