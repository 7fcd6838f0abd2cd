"""Panels side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3


def draw_panels(panels: Sequence[Callable[[Axes], None]], ax: Any) -> Axes | list[Axes]:
    """Draw each panel into an axes of its own, given or of a new figure in rows of three, with one legend for all."""
    axes = _new_axes(len(panels)) if ax is None else list(np.ravel(ax))
    if len(axes) != len(panels):
        raise ValueError(f"ax must hold one axes per panel, {len(panels)} of them, but holds {len(axes)}.")
    for each, draw in zip(axes, panels, strict=True):
        draw(each)
        each.spines[["top", "right"]].set_visible(False)
    handles = {
        label: handle
        for each in axes
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True)
    }
    small = {"handles": list(handles.values()), "frameon": False, "fontsize": "small"}
    if ax is not None or len(axes) == 1:
        axes[0].legend(**small)
        return axes if len(axes) > 1 else axes[0]
    for k, each in enumerate(axes):
        if k % _COLUMNS:
            each.set_ylabel("")
    axes[0].figure.legend(**small, loc="outside lower center", ncols=_COLUMNS)
    return axes


def _new_axes(n: int) -> list[Axes]:
    import matplotlib.pyplot as plt

    rows, columns = -(-n // _COLUMNS), min(n, _COLUMNS)
    size = (7.0, 4.5) if n == 1 else (3.2 * columns, 2.8 * rows + 0.6)
    _, grid = plt.subplots(rows, columns, figsize=size, sharey=True, squeeze=False, layout="constrained")
    for unused in grid.flat[n:]:
        unused.remove()
    return list(grid.flat[:n])
