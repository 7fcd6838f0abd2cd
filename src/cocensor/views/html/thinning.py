"""Fewer points of curves than were computed, and the same picture."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray

# A share of what the curves span: about a quarter of a pixel.
_UNSEEN = 1 / 1600


def points_to_draw(
    x: FloatArray, curves: Sequence[FloatArray], most: int, unseen: float = _UNSEEN
) -> npt.NDArray[np.intp]:
    """Which points of curves over the same x to keep, in the order of x.

    Between the first and the last, that point comes next at which straight lines through those kept so far are
    farthest off, until none is farther off than can be seen, or there are ``most``. Where a curve starts or ends, both
    neighbours are kept. (Douglas and Peucker, of several curves at once.)
    """
    order = np.argsort(x, kind="stable")
    at = np.asarray(x, dtype=float)[order]
    y = np.array([np.asarray(curve, dtype=float)[order] for curve in curves]).reshape(len(curves), at.size)
    if at.size <= 2 or not y.size:
        return order
    known = np.isfinite(y)
    span = np.ptp(y[known]) if known.any() else 0.0
    ends = np.flatnonzero((known[:, 1:] != known[:, :-1]).any(axis=0))
    kept = sorted({0, at.size - 1, *ends.tolist(), *(ends + 1).tolist()})
    worst: list[tuple[float, int, int, int]] = []

    def look(first: int, last: int) -> None:
        if last - first < 2:
            return
        inner = slice(first + 1, last)
        width = at[last] - at[first]
        share = (at[inner] - at[first]) / width if width else np.zeros(last - first - 1)
        line = y[:, [first]] + share * (y[:, [last]] - y[:, [first]])
        off = np.nan_to_num(np.abs(y[:, inner] - line)).max(axis=0)
        k = int(off.argmax())
        if off[k] > unseen * span:
            heappush(worst, (-float(off[k]), first, first + 1 + k, last))

    for first, last in pairwise(kept):
        look(first, last)
    while worst and len(kept) < most:
        _, first, k, last = heappop(worst)
        kept.append(k)
        look(first, k)
        look(k, last)
    return order[np.sort(kept)]
