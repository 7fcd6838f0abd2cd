"""Panels side by side, what has one, and the ticks of their axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from cocensor._checks import as_tuple, check_choice, escaped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3
# In inches: a panel alone, each of several, a line of a legend, one of its letters, and the sample beside these.
_ALONE, _AMONG_OTHERS = (7.0, 4.5), (3.2, 2.8)
LINE, _LETTER, _SAMPLE = 0.2, 0.08, 0.6
_SMALL: dict[str, Any] = {"frameon": False, "fontsize": "small"}
#: What lines are called whose names stand at their ends; in points and letters, how high and wide these are.
NAMED = "named"
_END, _END_WIDTH = 10.0, 16
_BRACKET: dict[str, Any] = {
    "color": "0.35",
    "linewidth": 4.0,
    "solid_capstyle": "butt",
    "clip_on": False,
    "zorder": 5,
}
#: The text of a tick, and where on the axis it is.
Tick = tuple[str, float]
# In inches: a letter of a tick's label, and the gap between two of them.
_TICK_LETTER, _TICK_GAP = 0.07, 0.14


def draw_panels(
    panels: Sequence[Callable[[Axes], None]],
    ax: Any,
    *,
    size: tuple[float, float] | None = None,
    share_y: bool = True,
    lines_below: int = 0,
) -> Axes | list[Axes]:
    """Draw each panel into an axes of its own, given or of a new figure in rows of up to three; one legend serves all.

    ``size`` is that of a panel, in inches, without the lines of text that it has below its axis.
    """
    rows = -(-len(panels) // _COLUMNS)
    columns = -(-len(panels) // rows)  # with as few gaps as may be
    figure, axes = None, list(np.ravel(ax))
    if ax is None:
        import matplotlib.pyplot as plt

        width, height = size or (_ALONE if len(panels) == 1 else _AMONG_OTHERS)
        whole = (width * columns, (height + lines_below * LINE) * rows)
        how: dict[str, Any] = {"sharey": share_y, "squeeze": False, "layout": "constrained"}
        figure, grid = plt.subplots(rows, columns, figsize=whole, **how)
        axes = list(grid.flat[: len(panels)])
        for unused in grid.flat[len(panels) :]:
            unused.remove()
    if len(axes) != len(panels):
        raise ValueError(f"ax must hold one axes per panel, {len(panels)} of them, but holds {len(axes)}.")
    for own, draw in zip(axes, panels, strict=True):
        draw(own)
        own.spines[["top", "right"]].set_visible(False)
    for k, own in enumerate(axes):
        at_the_right = figure is None or k == len(axes) - 1 or k % columns == columns - 1
        if at_the_right:
            _label_ends(own)
        if figure is not None and k % columns:
            own.set_ylabel("")
    handles = _handles(axes)
    if handles and figure is None:
        axes[0].legend(handles.values(), map(wrapped, handles), **_SMALL)
    elif handles and figure is not None:
        _legend_below(figure, axes, handles)
    return axes if len(axes) > 1 else axes[0]


def at_least_one(names: str | Sequence[str] | None, name: str, usual: Sequence[str] = ()) -> tuple[str, ...]:
    """The names that an argument has, one or several, or the usual ones; none is refused."""
    chosen = tuple(usual) if names is None else as_tuple(names, name, str)
    if not chosen:
        raise ValueError(f"{name} is empty: at least one is needed.")
    return chosen


def label_minus(label: str, minus: str | None, models: tuple[str, ...]) -> str:
    """The label of values of models, or of these minus those of one of them."""
    if minus is None:
        return label
    check_choice(minus, "minus", models)
    return f"{label} minus that of {escaped(minus)}"


def wrapped(name: str, width: int = 34) -> str:
    """A name in lines that a panel among others has room for."""
    return fill(escaped(name), width)


def _handles(axes: Sequence[Axes]) -> dict[str, Any]:
    """Handles of a legend by label, each label once, without the lines that have their names at their ends."""
    return {
        label: handle
        for ax in axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        if getattr(handle, "get_gid", str)() != NAMED
    }


def _label_ends(ax: Axes) -> None:
    """Write the names of lines at their right ends, in their colours and so far apart that none covers another."""
    left, right = ax.get_xlim()
    ends = []
    for line in ax.get_lines():
        x, y = (np.asarray(values, dtype=float) for values in line.get_data())
        shown = np.flatnonzero(np.isfinite(x + y) & (x >= left) & (x <= right))
        if line.get_gid() == NAMED and shown.size:
            bottom, top = sorted(ax.get_ylim())
            at = min(max(float(y[shown[-1]]), bottom), top)
            ends.append((at, line, wrapped(str(line.get_label()), _END_WIDTH)))
    ends.sort(key=lambda end: end[0])
    heights = [72.0 / ax.figure.dpi * float(ax.transData.transform((right, at))[1]) for at, _, _ in ends]
    places = heights[:1]
    for (_, _, below), (_, _, text), height in zip(ends, ends[1:], heights[1:], strict=False):
        lines = 1.0 + 0.5 * (below.count("\n") + text.count("\n"))
        places.append(max(height, places[-1] + _END * lines))
    centred = sum(places) / max(len(places), 1) - sum(heights) / max(len(heights), 1)
    how: dict[str, Any] = {
        "xycoords": ax.get_yaxis_transform(),
        "textcoords": "offset points",
        "va": "center",
    }
    for (at, line, text), place, height in zip(ends, places, heights, strict=True):
        how |= {"color": line.get_color(), "fontsize": "small", "annotation_clip": False, "gid": NAMED}
        ax.annotate(text, (1.0, at), (5.0, place - height - centred), **how)


def _legend_below(figure: Figure, axes: Sequence[Axes], handles: dict[str, Any]) -> None:
    """Put a legend below the panels of a new figure, in as many columns as fit, and make the figure higher by it."""
    from matplotlib.transforms import ScaledTranslation

    ax = axes[0]
    width, height = figure.get_size_inches()
    columns = int(width / (_LETTER * max(map(len, handles)) + _SAMPLE))
    columns = max(1, min(len(handles), _COLUMNS, columns))
    labels = [fill(label, int((width / columns - _SAMPLE) / _LETTER)) for label in handles]
    shown = {"handles": list(handles.values()), "labels": labels, "ncols": columns, **_SMALL}
    if len(axes) > 1:
        figure.legend(**shown, loc="outside lower center")
    else:
        drawn: Any = ax.get_tightbbox()
        depth = (ax.bbox.y0 - drawn.y0) / figure.dpi + 0.5 * LINE
        below = ax.transAxes + ScaledTranslation(0.0, -depth, figure.dpi_scale_trans)
        ax.legend(**shown, loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=below)
    n_lines = -(-sum(label.count("\n") + 1 for label in labels) // columns)
    figure.set_size_inches(width, height + n_lines * LINE)


def ticks_with_room(ax: Axes, ticks: Iterable[Tick]) -> list[Tick]:
    """The ticks within the limits of x that would not touch one named before them."""
    low, high = ax.get_xlim()
    across, dpi = ax.get_xaxis_transform(), ax.figure.dpi
    kept = dict[Tick, float]()
    for text, at in ticks:
        inches = across.transform((at, 0.0))[0] / dpi
        apart = (
            abs(inches - place) - 0.5 * _TICK_LETTER * (len(text) + len(other)) >= _TICK_GAP
            for (other, _), place in kept.items()
        )
        if low <= at <= high and all(apart):
            kept[text, at] = inches
    return list(kept)


def draw_second_axis(ax: Axes, label: str, ticks: Iterable[Tick]) -> None:
    """An axis on top, with as many of the ticks as have room at their places on the axis below.

    What it shows is said in the legend: a title is above it already.
    """
    kept, above = ticks_with_room(ax, ticks), ax.secondary_xaxis("top")
    above.set_xticks([at for _, at in kept], [f"{text}×" for text, _ in kept], fontsize="small")
    above.tick_params(length=3.0)
    ax.plot([], [], linestyle="none", label=f"on top: {label}")


def draw_plausible(ax: Axes, low: float, high: float) -> None:
    """A bracket on the axis, from which to which τ dependence is considered plausible."""
    across = ax.get_xaxis_transform()
    ax.plot((low, high), (0.0, 0.0), gid="plausible", transform=across, **_BRACKET)
    middle: tuple[float, float] = (0.5 * (low + high), 0.0)
    above: dict[str, Any] = {"xycoords": across, "textcoords": "offset points"}
    ax.annotate("plausible", middle, (0.0, 4.0), ha="center", fontsize="small", color="0.35", **above)
