"""Imputation of the status itself, from the margins."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from cocensor._validation import BoolArray, FloatArray, check_choice, refuse_first
from cocensor.adjustments.base import Adjustment, Beyond, always_event_free
from cocensor.adjustments.joint_source import chosen_copula
from cocensor.adjustments.status import EVENT, EVENT_FREE, Group, Imputed, Rows, Status, Terms, TimeGrid
from cocensor.copulas import ArchimedeanCopula
from cocensor.estimators import CopulaGraphic
from cocensor.estimators.margin import given_dropout, given_end
from cocensor.joint import CopulaChoice, JointModel
from cocensor.outcomes import Survival


class ConditionalStatus(Adjustment):
    r"""A censored subject is event-free at t with the probability :math:`q_i(t)`: :math:`a = q`, :math:`b = 1 - q`.

    Parameters
    ----------
    copula : ArchimedeanCopula, CopulaChoice or JointModel, optional
        The survival copula of event and dropout, or what :func:`select_copula` chose; independence by default.
    given : {"censoring", "event_free"}
        ``"censoring"``: :math:`q = P(E > t \mid E > c, C = c)`, and :math:`P(E > t \mid E > c, C > c)` for an
        administrative censoring. ``"event_free"``: :math:`q = S_E(t)/S_E(c)`, the paper's CG-Q, which
        forgets that the subject dropped out.
    beyond : {"last"}, optional
        Hold curves at their last value beyond the last training time, instead of refusing.

    Notes
    -----
    On the fitting sample without administrative censoring the mean of a is :math:`S_E(t)` exactly, for
    ``given="censoring"``. What is imputed does not know the covariates: with informative predictions the loss
    of a good model is overstated.

    Examples
    --------
    >>> from cocensor import Clayton
    >>> y = ([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    >>> for given in ("event_free", "censoring"):
    ...     print(ConditionalStatus(Clayton(4.0), given).fit(y).status(y, [7.0]).a[2].round(3))
    [0.599]
    [0.159]
    """

    assumption = (
        "Event and dropout have the stated copula, and the predictions add nothing to the censoring time."
    )

    def __init__(
        self,
        copula: ArchimedeanCopula | CopulaChoice | JointModel | None = None,
        given: Literal["censoring", "event_free"] = "censoring",
        beyond: Beyond = None,
    ) -> None:
        check_choice(given, "given", ("censoring", "event_free"))
        self.copula = chosen_copula(copula)
        self.given, self.beyond = given, beyond
        self._margin = CopulaGraphic(self.copula)  # refuses a copula without a graphic form
        self._check_beyond()

    def __repr__(self) -> str:
        return f"ConditionalStatus({self.copula!r}, given={self.given!r})"

    def with_copula(self, copula: Any) -> ConditionalStatus:
        """The same adjustment, not fitted yet, under another copula of event and dropout."""
        return ConditionalStatus(copula, self.given, self.beyond)

    def _fit(self, y: Survival, x: Any) -> None:
        self._margin = CopulaGraphic(self.copula).fit(y)

    def _status(self, y: Survival, grid: TimeGrid, x: Any, estimate: Any) -> Status:
        margin = self._margin
        # Whoever is censored after the last time asked for is event-free at all of them.
        asked = ~y.event & (y.time < grid.last)
        groups = [
            Group.of(np.flatnonzero(y.event), grid.cut(y.time), EVENT_FREE, EVENT),
            always_event_free(np.flatnonzero(~y.event & ~asked), y, grid),
        ]
        if asked.any():
            self._refuse_beyond(grid.times, margin.support_, "times")
            self._refuse_beyond(np.where(asked, y.time, 0.0), margin.support_, "y_test")
            groups += self._imputed(y, grid, asked)
        return Status(grid, len(y), tuple(groups))

    def _imputed(self, y: Survival, grid: TimeGrid, asked: BoolArray) -> list[Group]:
        margin, n = self._margin, len(y)
        s_t = np.asarray(margin.predict(grid.sorted, tail="last"))
        s_c = np.ones(n)
        s_c[asked] = margin.predict(y.time[asked], tail="last")
        if (s_c == 0).any():
            refuse_first(
                s_c == 0, y.time, "y_test must not be censored after the training curve has reached 0"
            )
        cut = grid.cut(y.time)
        dependent = self.given == "censoring" and not self.copula.is_independence
        ended = np.zeros(n, dtype=bool) if y.administrative is None else y.administrative
        if not dependent:
            inverse = 1.0 / s_c
            rest = Terms(event_free=((inverse, s_t),), event=((None, None), (-inverse, s_t)))
            return [Group.of(np.flatnonzero(asked), cut, EVENT_FREE, rest)]
        above, below = np.ones(n), np.ones(n)
        dropped = asked & ~ended
        if dropped.any():
            c = np.minimum(y.time[dropped], margin.t_max_)  # held there, where beyond allows it
            above[dropped], below[dropped] = margin.dropout_limits(c)
        c = np.minimum(y.time[asked & ended], margin.t_max_)
        after = np.asarray(margin.censoring_survival(c))
        # Where everybody had dropped out by c, the last moment before that stands in.
        below[asked & ended] = np.where(after > 0, after, margin.censoring_survival(c, "left"))

        def q_dropout(rows: Rows, columns: slice) -> FloatArray:
            s, c = s_t[columns], s_c[rows][:, None]
            # Before the cut nothing is asked: there t may be before c.
            return given_dropout(self.copula, np.minimum(s, c), c, above[rows][:, None], below[rows][:, None])

        def q_ended(rows: Rows, columns: slice) -> FloatArray:
            s, c = s_t[columns], s_c[rows][:, None]
            return given_end(self.copula, np.minimum(s, c), c, below[rows][:, None])

        step = above > below
        kinds = ((dropped & step, q_dropout), (dropped & ~step, q_dropout), (asked & ended, q_ended))
        return [Group.of(np.flatnonzero(mask), cut, EVENT_FREE, Imputed(q)) for mask, q in kinds]
