"""The counting pass that every estimator shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from cocensor._checks import Counts, FloatArray, read_only

WhichMargin = Literal["event", "dropout"]  # of event and dropout, the two latent times, one


@dataclass(frozen=True, eq=False)
class RiskTable:
    """The counting pass of :attr:`Survival.risk_table`: one row per distinct time; weighted, counts sum case weights.

    Attributes
    ----------
    times : array
        The distinct observed times.
    at_risk : array
        How many have a time not before the row's, just before anything happens at it.
    events, dropouts : array
        How many events happen at the time, and then how many dropouts.
    administrative : array or None
        How many are censored by the end of the study, after both; None when nobody is marked.

    Examples
    --------
    >>> from cocensor import Survival
    >>> table = Survival([5.0, 3.0, 3.0, 8.0], [1, 1, 0, 0]).risk_table
    >>> [table.times.tolist(), table.at_risk.tolist(), table.events.tolist(), table.dropouts.tolist()]
    [[3.0, 5.0, 8.0], [4, 2, 1], [1, 1, 0], [1, 0, 1]]
    """

    times: FloatArray
    at_risk: Counts
    events: Counts
    dropouts: Counts
    administrative: Counts | None

    def __post_init__(self) -> None:
        vars(self).update({name: read_only(own) for name, own in vars(self).items() if own is not None})

    @property
    def n(self) -> float:
        """The sample size, a whole number, or the sum of the case weights."""
        return self.at_risk[0].item()

    @property
    def after_events(self) -> Counts:
        """The numbers at risk after the events of each time."""
        return self.after_dropouts + self.dropouts

    @property
    def after_dropouts(self) -> Counts:
        """The numbers at risk after the events and dropouts of each time."""
        later = np.append(self.at_risk[1:], self.at_risk.dtype.type(0))
        return later if self.administrative is None else later + self.administrative

    def margin(self, of: WhichMargin) -> MarginSteps:
        r"""Where the survival function of ``of`` steps, and by how much.

        Returns the times of the steps, the fraction lost at each (:math:`d_j/n_j` for events and, because events come
        first, :math:`m_j/(n_j-d_j)` for dropouts) and :math:`-\log P(\min(E, C) \ge t)`, or for dropouts that
        probability after the events at t, just before each step. Without administrative censoring that probability is
        the share still at risk, else its Kaplan–Meier estimate.
        """
        is_event = of == "event"
        happens, exposed = (self.events, self.at_risk) if is_event else (self.dropouts, self.after_events)
        rows = np.flatnonzero(happens)
        exposed = exposed[rows]
        ends = self.administrative is not None
        hazard = self._joint_hazard(of)[rows] if ends else np.log1p((self.n - exposed) / exposed)
        return MarginSteps(self.times[rows], happens[rows] / exposed, hazard)

    def exchanged(self) -> RiskTable:
        """Events as dropouts and dropouts as events: at one time the dropouts of this table come first."""
        return RiskTable(self.times, self.at_risk, self.dropouts, self.events, self.administrative)

    def at_risk_at(self, t: npt.ArrayLike) -> Counts:
        """Return the number at risk at each ``t``, just before anything happens at it; 0 after the last time."""
        counts = np.append(self.at_risk, self.at_risk.dtype.type(0))
        return counts[np.searchsorted(self.times, t)]

    def exposed_at(self, of: WhichMargin, t: FloatArray) -> tuple[Counts, FloatArray]:
        r"""Return to how many ``of`` can happen at ``t`` up to the last time, and :math:`-\log P(\min(E, C) \ge t)`."""
        row = np.searchsorted(self.times, t)
        left = (of == "dropout") & (self.times[row] == t)
        exposed = np.where(left, self.after_events[row], self.at_risk[row])
        some = np.where(exposed > 0, exposed, 1)
        if self.administrative is None:
            return exposed, np.log1p((self.n - exposed) / some)
        gone = np.where(left, self.events[row], 0)
        return exposed, self._joint_hazard("event")[row] + np.log1p(gone / some)

    def _joint_hazard(self, of: WhichMargin) -> FloatArray:
        """−log of the Kaplan–Meier estimate of min(E, C) before the exits of ``of`` at each time."""
        with np.errstate(divide="ignore", invalid="ignore"):
            lost_events = np.log1p(self.events / self.after_events)
            lost_dropouts = np.log1p(self.dropouts / self.after_dropouts)
        lost_dropouts[self.dropouts == 0] = 0.0
        before = np.concatenate(([0.0], np.cumsum(lost_events + lost_dropouts)[:-1]))
        return before if of == "event" else before + lost_events


class MarginSteps(NamedTuple):
    """The steps of one margin: ``times``, the ``fraction`` lost at each, and the joint ``hazard`` before."""

    times: FloatArray
    fraction: FloatArray
    hazard: FloatArray
