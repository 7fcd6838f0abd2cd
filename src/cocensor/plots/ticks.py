"""Ticks at chosen places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The text of a tick, and where on the axis it is.
Tick = tuple[str, float]
# In inches: a letter of a tick's label, and the gap between two of them.
_LETTER, _GAP = 0.07, 0.14


def ticks_with_room(ax: Axes, ticks: Iterable[Tick]) -> list[Tick]:
    """Those within the limits of x that would not touch one named before them."""
    low, high = ax.get_xlim()
    across, dpi = ax.get_xaxis_transform(), ax.figure.dpi
    kept: list[tuple[Tick, float]] = []
    for text, at in ticks:
        inches = across.transform((at, 0.0))[0] / dpi
        apart = all(
            abs(inches - other) >= _GAP + 0.5 * _LETTER * (len(text) + len(known[0])) for known, other in kept
        )
        if low <= at <= high and apart:
            kept.append(((text, at), inches))
    return [tick for tick, _ in kept]


def draw_second_axis(ax: Axes, label: str, ticks: Iterable[Tick]) -> Any:
    """An axis on top, with as many of the ticks as have room at their places on the axis below."""
    kept, above = ticks_with_room(ax, ticks), ax.secondary_xaxis("top")
    above.set_xticks([at for _, at in kept], [text for text, _ in kept], fontsize="small")
    above.set_xlabel(label, fontsize="small")
    above.tick_params(length=3.0)
    return above
