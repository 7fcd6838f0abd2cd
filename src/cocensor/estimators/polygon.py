"""The area under a curve that runs straight between its points."""

from __future__ import annotations

import numpy as np

from cocensor._checks import FloatArray


def polygon_area(
    knots: FloatArray, heights: FloatArray, c: FloatArray, at_c: FloatArray, end: float
) -> FloatArray:
    """The area from each c to ``end`` under the polygon through (c, ``at_c``) and the later ``knots``."""
    if end < knots[-1]:
        cut = int(np.searchsorted(knots, end, side="left"))
        heights = np.append(heights[:cut], np.interp(end, knots, heights))
        knots = np.append(knots[:cut], end)
    pieces = 0.5 * (heights[1:] + heights[:-1]) * np.diff(knots)
    # area from each knot to the end, and nothing beyond the last one
    remaining = np.concatenate((np.cumsum(pieces[::-1])[::-1], [0.0, 0.0]))
    following = np.searchsorted(knots, c, side="right")
    inside = np.minimum(following, knots.size - 1)
    first = 0.5 * (at_c + heights[inside]) * np.maximum(knots[inside] - c, 0.0)
    return first + remaining[following]
