"""A second scale above a panel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In inches: a letter of a tick's label, and the gap between two of them.
_LETTER, _GAP = 0.07, 0.14


def draw_second_axis(ax: Axes, label: str, places: Iterable[tuple[str, float]]) -> Any:
    """An axis on top with ticks: their texts, and their places on the axis below.

    A tick beyond the limits, or one that would touch another named before it, is left out.
    """
    low, high = ax.get_xlim()
    inches = ax.bbox.width / ax.figure.dpi / (high - low)
    kept: list[tuple[str, float]] = []
    for text, at in places:
        apart = all(
            abs(at - other) * inches >= _GAP + 0.5 * _LETTER * (len(text) + len(known))
            for known, other in kept
        )
        if low <= at <= high and apart:
            kept.append((text, at))
    above = ax.secondary_xaxis("top")
    above.set_xticks([at for _, at in kept], [text for text, _ in kept], fontsize="small")
    above.set_xlabel(label, fontsize="small")
    above.tick_params(length=3.0)
    return above
