"""What is known of the test subjects without any assumption about why some dropped out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, IntArray, Rows
from cocensor._numerics import lookup
from cocensor.adjustments import IPCW, Oracle, Status
from cocensor.adjustments.samples import Samples
from cocensor.adjustments.status import by_cut
from cocensor.data import Survival, TimeGrid, shown_time


@dataclass(frozen=True, eq=False)
class Extremes:
    """Lower and upper bounds, (2, values): of all models, then of all pairs of them in the order of combinations.

    ``errors`` are their standard errors, ``curves`` the bounds at each time for itself, (2, values, times), where there
    are values over time.
    """

    values: FloatArray
    errors: FloatArray | None = None
    curves: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Dropouts:
    r"""A status in which whoever dropped out at c has the event from c on, and who these are.

    What is observed in full is the first of event and dropout, :math:`\min(E, C)`, but for the end of the study A,
    which is independent: subjects are weighted by :math:`1/G_A(t)` while at risk, by :math:`1/G_A(e-)` after an event
    and by :math:`1/G_A(c-)` after a dropout. Without marks of administrative censoring all weights are 1.

    Attributes
    ----------
    status : Status
    y : Survival
        The test outcomes with dropouts as events.
    rows : array
        Those who dropped out before the last time, in the order of their ``cut``.
    cut, first : array
        Of these, the number of sorted times before the dropout, and that of times up to it: at the time of dropout
        itself a subject is known to be event-free.
    """

    status: Status
    y: Survival
    rows: Rows
    cut: IntArray
    first: IntArray

    @classmethod
    def of(cls, samples: Samples, grid: TimeGrid) -> Dropouts:
        """Those of the test sample, at some times."""
        test, train = samples.y_test, samples.y_train
        y = _first_of_both(test)
        if test.administrative is None or not test.administrative.any():
            status = Oracle(test.time).fit(y).status(y, grid)
        else:
            # A training sample that marks nobody says nothing about the end of the study.
            marked = train is not None and train.administrative is not None and train.administrative.any()
            seen = Samples.of(y, y_train=_first_of_both(train) if train is not None and marked else None)
            status = seen.status(seen.fit(IPCW(), {}), grid)
        if status.until <= grid.last:
            raise ValueError(
                f"there are no bounds from time {shown_time(status.until)} on: nobody is seen there."
            )
        cut = grid.cut(test.time)
        rows = np.flatnonzero(test.dropout & (test.time <= grid.last))
        rows = rows[by_cut(rows, cut[rows])]
        return cls(status, y, rows, cut[rows], lookup(grid.sorted, test.time[rows], "right"))

    @cached_property
    def last(self) -> Status:
        """The status at the last time alone."""
        n_times = self.status.grid.sorted.size
        return self.status.only(slice(n_times - 1, n_times))

    @cached_property
    def weights(self) -> FloatArray:
        """Those of the dropouts after they left."""
        [tile] = self.last.tiles()
        return tile.event[self.rows, 0]


def _first_of_both(y: Survival) -> Survival:
    """The first of event and dropout as the event."""
    return Survival(y.time, y.event | y.dropout, y.administrative)
