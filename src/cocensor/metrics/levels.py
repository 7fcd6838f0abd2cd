r"""Where predicted curves fall to given levels, and who is event-free there.

With time 0 as node 0, where everybody is event-free, and the times of the grid as the nodes after it, a curve falls to
a level p between two nodes. What is observed between them is spread over the levels between as the curve itself is:
the weight a at the level p is

.. math:: a_i(\hat S_i^{-1}(p)) = (1 - s)\,a_i(t_{k-1}) + s\,a_i(t_k), \qquad
    s = \frac{\hat S_i(t_{k-1}) - p}{\hat S_i(t_{k-1}) - \hat S_i(t_k)},

k the first node at which the curve is at p or below. So a curve that is right at the times of the grid has as much in
each cell as it expects, however coarse the grid, and whether it is continuous or has steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cocensor._checks import FloatArray, IntArray, Rows, row_blocks
from cocensor.adjustments import EventWeights
from cocensor.adjustments.gradient import DenseGradient, Functionals
from cocensor.data.predictions import Predicted
from cocensor.metrics.horizon import refuse_unanswered


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one model's predicted levels: ``upper`` has the levels up to 1, in increasing order.

    A cell holds levels above that of the cell before, up to its own; the first holds 0 too. After them comes one more,
    of those event-free at the last time. ``node`` and ``share`` say where the curves fall to the lower level of each
    cell (see above), ``last`` is their value at the last time; (subjects, cells) and (subjects,).
    """

    upper: FloatArray
    node: IntArray
    share: FloatArray
    last: FloatArray

    @classmethod
    def of(cls, predictions: Predicted, times: FloatArray, upper: FloatArray) -> Cells:
        """Those of curves read at sorted times."""
        n, lower = len(predictions), _lower(upper)
        node = np.full((n, upper.size), times.size)
        share, last = np.ones((n, upper.size)), np.empty(n)
        for rows in row_blocks(n, times.size):
            curve = np.ones((rows.stop - rows.start, times.size + 1))
            # Rounding may let a curve rise.
            np.minimum.accumulate(predictions.read(times, rows), axis=1, out=curve[:, 1:])
            last[rows] = curve[:, -1]
            every = np.arange(len(curve))
            for c, level in enumerate(lower[1:], start=1):
                at = np.minimum((curve > level).sum(axis=1), times.size)
                above, below = curve[every, at - 1], curve[every, at]
                reached = below <= level
                node[rows, c] = at
                share[rows, c] = np.divide(above - level, above - below, out=np.ones(at.size), where=reached)
        return cls(upper, node, share, last)

    def observed(self, rows: Rows, weights: FloatArray) -> FloatArray:
        """What the weights (2, subjects, times) of some subjects put into each cell, (subjects, cells and one more)."""
        a, b = weights
        nodes = np.concatenate(((a[:, :1] + b[:, :1]), a), axis=1)
        every, at, share = np.arange(rows.size)[:, None], self.node[rows], self.share[rows]
        reached = (1.0 - share) * nodes[every, at - 1] + share * nodes[every, at]
        cells = np.diff(reached, axis=1, append=nodes[:, :1])
        return np.concatenate((cells, reached[:, :1]), axis=1)

    def expected(self, rows: Rows) -> FloatArray:
        """What the curves of some subjects put into each cell, (subjects, cells and one more)."""
        last = self.last[rows][:, None]
        cells = np.maximum(self.upper - np.maximum(_lower(self.upper), last), 0.0)
        return np.concatenate((cells, last), axis=1)

    def surplus(self, rows: Rows, weights: FloatArray) -> FloatArray:
        """The observed less the expected, of the weight that each subject has at time 0."""
        return self.observed(rows, weights) - weights[:, :, :1].sum(axis=0) * self.expected(rows)


@dataclass(frozen=True, eq=False)
class CellGradient:
    r"""The derivatives of :math:`\sum_c h_c d_c`, d the observed less the expected shares, by the weights.

    ``by_cell`` are the h; they are those of all times at once, as d is no sum of scores at single times.
    """

    cells: Cells
    by_cell: FloatArray
    n_times: int
    normaliser: float

    def of_subjects(self, rows: Rows) -> DenseGradient:
        """α and β of some subjects."""
        h = self.by_cell
        by_level = np.concatenate(([h[-1] - h[0]], h[:-2] - h[1:-1]))
        nodes = np.zeros((rows.size, self.n_times + 1))
        nodes[:, 0] = h[-2] - self.cells.expected(rows) @ h
        every = np.arange(rows.size)
        for c in np.flatnonzero(by_level):
            at, share = self.cells.node[rows, c], self.cells.share[rows, c]
            nodes[every, at - 1] += by_level[c] * (1.0 - share)
            nodes[every, at] += by_level[c] * share
        nodes /= self.normaliser
        alpha, beta = nodes[:, 1:], np.zeros((rows.size, self.n_times))
        # At time 0 everybody is event-free, with all of the weight.
        alpha[:, 0] += nodes[:, 0]
        beta[:, 0] = nodes[:, 0]
        return DenseGradient(alpha, beta)


def surpluses(status: EventWeights, cells: Mapping[str, Cells]) -> dict[str, FloatArray]:
    """What each subject has more in each cell than its curve expects, by model: (subjects, cells and one more)."""
    found = {name: np.zeros((status.n, each.upper.size + 1)) for name, each in cells.items()}
    for rows, weights in _weights(status):
        for name, each in cells.items():
            found[name][rows] += each.surplus(rows, weights)
    return found


def expected_shares(status: EventWeights, cells: Cells) -> FloatArray:
    """The mean over subjects, each by its weight, of what the curves expect in each cell."""
    total = np.zeros(cells.upper.size + 1)
    for rows, weights in _weights(status, slice(0, 1)):
        total += weights.sum(axis=(0, 2)) @ cells.expected(rows)
    return total / status.normaliser


def cell_functionals(
    status: EventWeights, sums: Sequence[tuple[Cells, FloatArray, FloatArray]]
) -> Functionals:
    r"""Values :math:`\sum_c h_c d_c`, each of a model's cells, its surpluses by subject, and its own h."""
    n_times, scale = status.grid.sorted.size, status.n / status.normaliser
    gradients = (CellGradient(cells, h, n_times, status.normaliser) for cells, _, h in sums)
    own = np.column_stack([scale * (surplus @ h) for _, surplus, h in sums])
    return Functionals(tuple(gradients), np.ones((n_times, 1)), own)


def refuse_unless_known(status: EventWeights) -> None:
    """Refuse a status that is not known from time 0 up to its last time."""
    if status.grid.sorted[0] != 0:
        raise ValueError(f"times must start at 0, but start at {status.grid.sorted[0]:g}.")
    refuse_unanswered(status)


def _lower(upper: FloatArray) -> FloatArray:
    return np.concatenate(([0.0], upper[:-1]))


def _weights(status: EventWeights, columns: slice | None = None) -> Iterator[tuple[Rows, FloatArray]]:
    """Some subjects, and their weights at all sorted times, or some, (2, subjects, times); in parts that add up."""
    columns = slice(0, status.grid.sorted.size) if columns is None else columns
    refuse_unless_known(status)
    for block in status.blocks(columns):
        yield block.rows, block.dense(columns)
