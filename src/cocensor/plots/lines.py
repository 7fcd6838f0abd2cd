"""Lines of models with their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from cocensor._validation import FloatArray, check_choice, escaped
from cocensor.inference import Estimates
from cocensor.plots.style import line_styles, shade
from cocensor.words.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BandKind = Literal["pointwise", "simultaneous"] | None


class Line(NamedTuple):
    """Values over something, and their limits, NaN where there are none."""

    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, x: FloatArray, estimates: Estimates, band: BandKind, level: float | None) -> Line:
        """Estimates with an interval each, with a band that holds all, or with nothing."""
        if band is None or level is None:
            none = np.full(len(x), np.nan)
            return cls(x, estimates.values, none, none)
        limits = estimates.confidence_intervals(level) if band == "pointwise" else estimates.band(level)[:2]
        return cls(x, estimates.values, *limits)


def check_band(band: BandKind) -> None:
    """Refuse what cannot be shaded."""
    if band is not None:
        check_choice(band, "band", ("pointwise", "simultaneous"))


def shaded_area(band: BandKind, level: float | None) -> str:
    """What is shaded, in words; empty where nothing is."""
    if band is None or level is None:
        return ""
    return f"{level_in_words(level)} {'interval' if band == 'pointwise' else 'band for the whole curve'}"


def draw_lines(
    ax: Axes,
    models: Sequence[str],
    lines: Mapping[str, Line],
    shaded: str,
    labels: Mapping[str, str] | None = None,
) -> None:
    """A line for each model that has one, in a style that it has in every display, with its limits shaded."""
    for model, style in zip(models, line_styles(), strict=False):
        if model in lines:
            line = lines[model]
            label = escaped(model) if labels is None else labels[model]
            ax.plot(line.x, line.y, label=label, zorder=3, **style)
            shade(ax, line.x, (line.low, line.high), style["color"])
    if any(np.isfinite(line.low).any() for line in lines.values()):
        ax.fill_between([], [], color="0.5", alpha=0.3, linewidth=0, label=shaded)
