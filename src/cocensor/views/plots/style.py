"""The look of all plots: colours, lines with their limits, and the labels of these in legends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, cycle, repeat
from typing import TYPE_CHECKING, Any, Literal

from cocensor._checks import FloatArray, check_choice
from cocensor.inference.estimates import Estimates
from cocensor.views.text.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The lower and the upper limits of several values; NaN where there is none.
Limits = tuple[FloatArray, FloatArray]
BandKind = Literal["pointwise", "simultaneous"] | None
#: How a line or a dot differs from a plain one, in Matplotlib's words.
Look = Mapping[str, Any]
#: What looks mean.
Legend = Sequence[tuple[str, Look]]

# Okabe and Ito's palette, which colour-blind readers can tell apart, with a line style each for print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
#: What true scores of simulated data look like, in the colour of their model.
TRUTH: dict[str, Any] = {"linestyle": (0, (1.5, 2)), "linewidth": 1.1, "zorder": 1.5}
#: Where a difference is 0.
ZERO: dict[str, Any] = {"color": "0.3", "linewidth": 1.0, "zorder": 1}
#: What curves are read against: a diagonal, and a curve that is no model's.
THIN: dict[str, Any] = {"color": "0.6", "linewidth": 1.0, "zorder": 1}
THICK: dict[str, Any] = {"color": "0.6", "linewidth": 2.5, "zorder": 2}
MARKERS = ("o", "s", "^", "D", "v", "P")


def line_styles() -> Iterator[dict[str, Any]]:
    """A colour and a line style for one line after the other; no pair comes twice in the first 36."""
    for turn in count():
        for k, colour in enumerate(_COLOURS):
            yield {"color": colour, "linestyle": _STYLES[(k + turn) % len(_STYLES)]}


def markers() -> Iterator[str]:
    """A marker for one line after the other, which changes when the colours come again."""
    for marker in cycle(MARKERS):
        yield from repeat(marker, len(_COLOURS))


def explain(ax: Axes, legend: Legend) -> None:
    """Say in the legend what looks mean."""
    for label, look in legend:
        ax.plot([], [], label=label, **{"linestyle": "none"} | dict(look))


def area(colour: str, alpha: float) -> Look:
    """The look of a bar or an area in a legend."""
    return {"color": colour, "alpha": alpha, "linestyle": "-", "linewidth": 7.0, "solid_capstyle": "butt"}


def shaded_area(band: BandKind, level: float | None) -> str:
    """The label of the shaded area; empty where nothing is shaded. What cannot be shaded is refused."""
    if band is not None:
        check_choice(band, "band", ("pointwise", "simultaneous"))
    if band is None or level is None:
        return ""
    return f"{level_in_words(level)} {'interval' if band == 'pointwise' else 'band for whole curves'}"


def best_in_words(level: float | None) -> str:
    """The label of the models that are marked."""
    return "best" if level is None else f"no significant difference from the best ({level_in_words(level)})"


def limits_of(estimates: Estimates, band: BandKind, level: float | None) -> Limits | None:
    """The intervals of several values, or the band that holds all of them; None where nothing is shaded."""
    if band is None or level is None:
        return None
    low, high = estimates.confidence_intervals(level) if band == "pointwise" else estimates.band(level)[:2]
    return low, high
