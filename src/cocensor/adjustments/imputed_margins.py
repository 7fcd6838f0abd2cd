"""The chance of being event-free after a censoring, from Copula-Graphic margins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cocensor._validation import BoolArray, FloatArray, Rows, refuse_first
from cocensor.adjustments.base import Hold, always_event_free, refuse_beyond
from cocensor.adjustments.status import EVENT, EVENT_FREE, Group, Imputed, Status, Terms
from cocensor.copulas import Copula
from cocensor.curves import TimeGrid
from cocensor.estimators import CopulaGraphic
from cocensor.estimators.conditional import given_dropout, given_end
from cocensor.outcomes import Survival


def impute_from_margins(
    margin: CopulaGraphic, y: Survival, grid: TimeGrid, *, dropout: bool, tail: Hold
) -> Status:
    """Who is event-free given the censoring, or, without ``dropout``, given nothing but survival up to it."""
    # Whoever is censored after the last time asked for is event-free at all of them.
    asked = ~y.event & (y.time < grid.last)
    groups = [
        Group.of(np.flatnonzero(y.event), grid.cut(y.time), EVENT_FREE, EVENT),
        always_event_free(np.flatnonzero(~y.event & ~asked), len(y), grid),
    ]
    if asked.any():
        refuse_beyond(tail, grid.times, margin.support_, "times")
        refuse_beyond(tail, np.where(asked, y.time, 0.0), margin.support_, "y_test")
        groups += _imputed(margin, y, grid, asked, dropout)
    return Status(grid, len(y), tuple(groups))


def _imputed(
    margin: CopulaGraphic, y: Survival, grid: TimeGrid, asked: BoolArray, dropout: bool
) -> list[Group]:
    n, copula = len(y), margin.copula
    s_t = np.asarray(margin.predict(grid.sorted, tail="last"))
    s_c = np.ones(n)
    s_c[asked] = margin.predict(y.time[asked], tail="last")
    if (s_c == 0).any():
        refuse_first(s_c == 0, y.time, "y_test must not be censored after the training curve has reached 0")
    cut = grid.cut(y.time)
    if not dropout or copula.is_independence:
        inverse = 1.0 / s_c
        rest = Terms(event_free=((inverse, s_t),), event=((None, None), (-inverse, s_t)))
        return [Group.of(np.flatnonzero(asked), cut, EVENT_FREE, rest)]
    ended = np.zeros(n, dtype=bool) if y.administrative is None else y.administrative
    above, below = np.ones(n), np.ones(n)
    dropped = asked & ~ended
    if dropped.any():
        c = np.minimum(y.time[dropped], margin.t_max_)  # held there, where the tail allows it
        above[dropped], below[dropped] = margin.dropout_limits(c)
    c = np.minimum(y.time[asked & ended], margin.t_max_)
    after = np.asarray(margin.dropout_survival(c))
    # Where everybody had dropped out by c, the last moment before that stands in.
    below[asked & ended] = np.where(after > 0, after, margin.dropout_survival(c, "left"))

    return given_censoring(y, grid, asked, copula, lambda rows, columns: s_t[columns], s_c, above, below)


def given_censoring(
    y: Survival,
    grid: TimeGrid,
    asked: BoolArray,
    copula: Copula,
    event_survival: Callable[[Rows, slice], FloatArray],
    s_c: FloatArray,
    above: FloatArray,
    below: FloatArray,
) -> list[Group]:
    """Those ``asked`` for, imputed given C = c after a dropout and C > c after an end of study.

    ``event_survival`` gives S_E at some of the sorted times, ``s_c`` is S_E at each subject's censoring, and ``above``
    and ``below`` are S_C before and after it.
    """
    ended = np.zeros(len(y), dtype=bool) if y.administrative is None else y.administrative

    def dropped_out(rows: Rows, columns: slice) -> FloatArray:
        c = s_c[rows][:, None]
        # Before the cut nothing is asked: there t may be before c.
        s = np.minimum(event_survival(rows, columns), c)
        return given_dropout(copula, s, c, above[rows][:, None], below[rows][:, None])

    def outlasted(rows: Rows, columns: slice) -> FloatArray:
        c = s_c[rows][:, None]
        return given_end(copula, np.minimum(event_survival(rows, columns), c), c, below[rows][:, None])

    step, cut = above > below, grid.cut(y.time)
    kinds = (
        (asked & ~ended & step, dropped_out),
        (asked & ~ended & ~step, dropped_out),
        (asked & ended, outlasted),
    )
    return [Group.of(np.flatnonzero(mask), cut, EVENT_FREE, Imputed(q)) for mask, q in kinds]
