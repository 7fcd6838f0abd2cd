"""What all plots look like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from cocensor._validation import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The lower and the upper limits of several values; NaN where there is none.
Limits = tuple[FloatArray, FloatArray]

# Okabe and Ito's palette, which colour-blind readers can tell apart, with a line style each for print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
#: What true scores of simulated data look like, in the colour of their model.
TRUTH: dict[str, Any] = {"linestyle": (0, (1.5, 2)), "linewidth": 1.1, "zorder": 1.5}
MARKERS = ("o", "s", "^", "D", "v", "P")


def line_styles() -> Iterator[dict[str, Any]]:
    """A colour and a line style for one line after the other; no pair comes twice in the first 36."""
    for i in count():
        turn = i // len(_COLOURS)
        yield {"color": _COLOURS[i % len(_COLOURS)], "linestyle": _STYLES[(i + turn) % len(_STYLES)]}


def colours(models: Sequence[str]) -> dict[str, str]:
    """The colour of the line of each model."""
    return {model: style["color"] for model, style in zip(models, line_styles(), strict=False)}


def markers() -> Iterator[str]:
    """A marker for one line after the other, which changes when the colours come again."""
    for i in count():
        yield MARKERS[(i // len(_COLOURS)) % len(MARKERS)]


def shade(ax: Axes, x: FloatArray, limits: Limits, colour: str, alpha: float = 0.15) -> None:
    """Fill what lies between two limits; where one of them is missing, nothing."""
    low, high = limits
    if np.isfinite(low + high).any():
        ax.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0, zorder=0.5)
