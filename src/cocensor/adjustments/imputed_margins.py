"""The chance of being event-free after a censoring, from Copula-Graphic margins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cocensor._checks import BoolArray, FloatArray, Rows
from cocensor.adjustments.base import Hold, always_event_free, refuse_beyond
from cocensor.adjustments.margins_status import ImputedFromMargins, MarginsAt
from cocensor.adjustments.status import EventWeights, Group, NothingFitted
from cocensor.adjustments.weights import EVENT, EVENT_FREE, Imputed, Terms
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.data.times import TimeGrid
from cocensor.estimators import CopulaGraphic
from cocensor.estimators.margin import given_dropout, given_end
from cocensor.estimators.margin_influence import PullBack


def impute_from_margins(
    margin: CopulaGraphic,
    y: Survival,
    grid: TimeGrid,
    *,
    dropout: bool,
    tail: Hold,
    sample: Survival | None,
    pull: Callable[[], PullBack],
) -> EventWeights:
    """Who is event-free given the censoring, or, without ``dropout``, given nothing but survival up to it.

    The margins were fitted to the ``sample``, to which ``pull`` leads back, where it is known.
    """
    # Whoever is censored after the last time asked for is event-free at all of them.
    asked = ~y.event & (y.time < grid.last)
    groups = [
        Group.of(np.flatnonzero(y.event), grid.cut(y.time), EVENT_FREE, EVENT),
        always_event_free(np.flatnonzero(~y.event & ~asked), len(y), grid),
    ]
    if not asked.any():
        return NothingFitted(grid, len(y), tuple(groups))
    refuse_beyond(tail, grid.times, margin.support_, "times")
    refuse_beyond(tail, np.where(asked, y.time, 0.0), margin.support_, "y_test")
    at = MarginsAt.of(margin, y, grid, asked, dropout=dropout and not margin.copula.is_independence)
    if at.dropout:
        groups += given_censoring(
            y, grid, asked, margin.copula, lambda rows, columns: at.s_t[columns], at.s_c, at.before, at.after
        )
    else:
        inverse = 1.0 / at.s_c
        rest = Terms(event_free=((inverse, at.s_t),), event=((None, None), (-inverse, at.s_t)))
        groups.append(Group.of(np.flatnonzero(asked), grid.cut(y.time), EVENT_FREE, rest))
    if sample is None:
        return EventWeights(grid, len(y), tuple(groups))
    return ImputedFromMargins(grid, y, tuple(groups), asked, at, margin, sample, pull)


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
