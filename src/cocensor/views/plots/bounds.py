"""Bounds of scores and of their differences, whatever the dependence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import escaped
from cocensor.study.evaluation import Evaluation
from cocensor.study.sensitivity import Bound, Bounds
from cocensor.views.plots.panels import draw_panels, wrapped
from cocensor.views.plots.style import MARKERS, colours
from cocensor.views.text.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPEN = "0.6"
_WHISKER: dict[str, Any] = {"color": "0.2", "linewidth": 1.2, "zorder": 2}
_DOT: dict[str, Any] = {
    "color": "0.1",
    "markerfacecolor": "white",
    "markersize": 5.0,
    "linestyle": "none",
    "zorder": 3,
}


@dataclass(frozen=True, eq=False)
class BoundRow:
    """What of one model, or of one less another, is drawn.

    ``better`` is the model that a row belongs to: itself, or the better one of two where that is certain; None where it
    is open. ``scores`` has by adjustment the value under it.
    """

    name: str
    bound: Bound
    better: str | None
    scores: dict[str, float] = field(default_factory=dict)


@dataclass(eq=False)
class BoundsDisplay:
    """How low and how high scores, and differences of two models, can be whatever the dependence of event and dropout.

    A row per model, and in a second panel one per pair. Bars are the bounds, whiskers the intervals that hold the one
    true value, and small markers the values under each adjustment, which assumes some dependence. A difference whose
    interval leaves out 0 has the colour of the better model: it is better whatever the dependence.

    Attributes
    ----------
    models : tuple of str
        All models: a model has the same colour in every display.
    scores, differences : tuple of BoundRow
    label, direction : str
        What the scores are, and which are better.
    confidence_level : float or None
        Of the whiskers; None without them.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import BoundsDisplay
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"good": [[0.6, 0.2], [0.9, 0.2], [0.8, 0.4], [0.9, 0.7]], "flat": [[0.7, 0.4]] * 4}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics="ibs")
    >>> display = BoundsDisplay.from_evaluation(result)
    >>> [(row.name, round(row.bound.high, 4)) for row in display.scores]
    [('good', 0.1688), ('flat', 0.225)]
    >>> [(row.name, round(row.bound.high, 4)) for row in display.differences]
    [('good less flat', -0.0562)]
    """

    models: tuple[str, ...]
    scores: tuple[BoundRow, ...]
    differences: tuple[BoundRow, ...]
    label: str
    direction: str
    confidence_level: float | None

    @classmethod
    def from_bounds(cls, bounds: Bounds) -> Self:
        """From what :meth:`Evaluation.bounds` returns; without values under adjustments."""
        return cls._of(bounds, lambda *_: {})

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, metric: str | None = None, at: float | None = None
    ) -> Self:
        """From what :func:`cocensor.evaluate` returns; ``metric`` and ``at`` as for :meth:`Evaluation.bounds`."""

        def values(a: str, b: str | None = None) -> dict[str, float]:
            return {
                each.label: evaluation.score(a, metric, name, at=at).value
                if b is None
                else evaluation.compare(a, b, metric, name, at=at).difference
                for name, each in evaluation.results.items()
            }

        return cls._of(evaluation.bounds(metric, at), values)

    @classmethod
    def _of(cls, bounds: Bounds, values: Callable[..., dict[str, float]]) -> Self:
        def known(models: str | tuple[str, str]) -> bool:
            return bool(np.isfinite(bounds[models].low))

        scores = tuple(
            BoundRow(name, bounds[name], name, values(name)) for name in bounds.models if known(name)
        )
        if not scores:
            raise ValueError(f"bounds must have one that is known, but {bounds[bounds.models[0]].missing}.")
        differences = tuple(
            BoundRow(f"{a} less {b}", bounds[a, b], bounds.certain(a, b, bounds.level), values(a, b))
            for a, b in bounds.pairs
            if known((a, b))
        )
        by = bounds.metric
        return cls(bounds.models, scores, differences, by.label, by.direction, bounds.level)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw scores, and differences if any, into an ``ax`` each, or into a new figure; returns the axes."""
        better = "below" if self.direction == "smaller" else "above"
        panels = [partial(self._draw, self.scores, f"{wrapped(self.label)}\n({self.direction} is better)")]
        if self.differences:
            said = f"{wrapped(f'difference of the {self.label}', 28)}\n({better} 0: the first is better)"
            panels.append(partial(self._draw, self.differences, said))
        rows = max(len(self.scores), len(self.differences))
        size = (4.2 if self.differences else 6.0, 1.4 + 0.34 * rows)
        return draw_panels(panels, ax, size=size, share_y=False)

    def _draw(self, rows: tuple[BoundRow, ...], label: str, ax: Axes) -> None:
        own, level = colours(self.models), self.confidence_level
        if rows is self.differences:
            ax.axvline(0.0, color="0.3", linewidth=1.0, zorder=1)
        for k, row in enumerate(rows):
            bar: dict[str, Any] = {"color": _OPEN, "alpha": 0.35}
            if row.better is not None:
                bar = {"color": own[row.better], "alpha": 0.55}
            ax.barh(k, row.bound.width, left=row.bound.low, height=0.6, linewidth=0, zorder=1.5, **bar)
            ends = (np.nan, np.nan) if level is None else row.bound.confidence_interval(level)
            if np.isfinite(ends).all():
                ax.plot(ends, [k, k], marker="|", markersize=9.0, **_WHISKER)
            for (name, value), marker in zip(row.scores.items(), cycle(MARKERS), strict=False):
                ax.plot(value, k, marker=marker, label=escaped(name) if k == 0 else None, **_DOT)
        ax.fill_between([], [], color=_OPEN, alpha=0.35, linewidth=0, label="whatever the dependence")
        if level is not None:
            ax.plot(
                [], [], marker="|", label=f"{level_in_words(level)} interval of the true value", **_WHISKER
            )
        if any(row.better is not None for row in self.differences):
            colour = own[self.models[0]]
            ax.fill_between(
                [], [], color=colour, alpha=0.55, linewidth=0, label="certain: colour of the better model"
            )
        ax.use_sticky_edges = False
        ax.set_xlabel(label)
        ax.locator_params(axis="x", nbins=4)
        ax.set_yticks(range(len(rows)), [wrapped(row.name, 24) for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
