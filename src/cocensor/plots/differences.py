"""Differences of scores along Kendall's τ, and along the hazard ratio after dropout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._validation import FloatArray, check_choice, escaped
from cocensor.inference import AxisCurve, Band, TippingPoint
from cocensor.plots.grid_axes import GridLine, RatioAxis, TauAxis, lines_after_dropout, lines_of, size_of
from cocensor.plots.panels import draw_panels, wrapped
from cocensor.plots.style import MARKERS, line_styles, shade
from cocensor.sensitivity import AfterDropout, Sensitivity
from cocensor.sensitivity.after_dropout import ALL
from cocensor.sensitivity.grid_scores import GridScores
from cocensor.words.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TIPPING: dict[str, Any] = {"markersize": 9.0, "markeredgecolor": "black", "linestyle": "none", "zorder": 4}


@dataclass(frozen=True, eq=False)
class Difference:
    """The score of a model less that of the reference along τ or hazard ratios, and where its sign changes.

    ``along.positions`` are the ``points``; of hazard ratios, their logarithms. ``band`` holds the whole curve, on all
    lines of its grid at once: under all families, or whosever hazard ratio moves; None where there are no intervals.
    """

    points: FloatArray
    along: AxisCurve
    band: Band | None
    tipping: tuple[TippingPoint, ...]


@dataclass(eq=False)
class DifferenceDisplay:
    """The score of every model less that of a reference model, a panel per copula family and for hazard ratios.

    Along Kendall's τ, and along the hazard ratio after dropout. The dark area is the interval of each difference for
    itself; the light one holds whole curves, under all families at once. Where the dark area leaves out 0, the two
    models differ. A marker on the line at 0 is where the order of two scores turns, and the thick line
    through it is where that may truly be. The second axis, triangles and the shaded range are those of
    :class:`SensitivityDisplay`.

    Attributes
    ----------
    reference : str
    models : tuple of str
        All models of the evaluation: a model has the same line in every display.
    lines : dict of dict of Difference
        By family, "hazard_ratio" last, or by whose hazard ratio after dropout moves; and by model.
    axes : dict of TauAxis or RatioAxis
        What each line is drawn along.
    label, adjustment, direction : str
        What the scores are, what they are adjusted by, and which are better.
    confidence_level : float or None
        Of intervals and bands, if there are any.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.plots import DifferenceDisplay
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> models = {f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
    ...           for k in (1, 3)}
    >>> result = cc.evaluate(models, test.y, test.X, y_train=train.y, metrics="ibs")
    >>> display = DifferenceDisplay.from_sensitivity(result.sensitivity("clayton", [0.0, 0.4, 0.8]))
    >>> display.reference, list(display.lines["clayton"])
    ('1', ['3'])
    """

    reference: str
    models: tuple[str, ...]
    lines: dict[str, dict[str, Difference]]
    axes: dict[str, TauAxis | RatioAxis]
    label: str
    adjustment: str
    direction: str
    confidence_level: float | None

    @classmethod
    def from_sensitivity(
        cls,
        sensitivity: Sensitivity,
        reference: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
        family: str | None = None,
    ) -> Self:
        """From what :meth:`Evaluation.sensitivity` returns.

        Parameters
        ----------
        sensitivity : Sensitivity
        reference : str, optional
            The model that all others are compared with; by default the one with the best score at independence.
        metric : str, optional
            By default the evaluation's first.
        adjustment : str, optional
            By default the analysis's ``primary``.
        family : str, optional
            Of copulas, or "hazard_ratio"; by default all.
        """
        by, name = sensitivity.evaluation.metric(metric).name, adjustment or sensitivity.primary
        return cls._of(sensitivity, lines_of(sensitivity, by, name, family), reference, by, name)

    @classmethod
    def from_after_dropout(
        cls,
        after_dropout: AfterDropout,
        reference: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
        line: str | Sequence[str] = ALL,
    ) -> Self:
        """From :attr:`Sensitivity.after_dropout`.

        Parameters
        ----------
        after_dropout : AfterDropout
        reference, metric, adjustment
            See :meth:`from_sensitivity`.
        line : str or sequence of str
            Whose hazard ratio moves: "all", or reasons or groups, a panel each.
        """
        by, name = after_dropout.evaluation.metric(metric).name, adjustment or after_dropout.primary
        lines = lines_after_dropout(after_dropout, by, name, line)
        return cls._of(after_dropout, lines, reference, by, name)

    @classmethod
    def _of(
        cls, grid: GridScores, asked: dict[str, GridLine], reference: str | None, metric: str, adjustment: str
    ) -> Self:
        evaluation = grid.evaluation
        against = grid.reference(metric, adjustment) if reference is None else reference
        check_choice(against, "reference", evaluation.models)
        lines = {key: _differences(each, against, metric, adjustment) for key, each in asked.items()}
        if not any(lines.values()):
            raise ValueError(
                f"sensitivity must have the scores of two models at least, but has those of {against!r} alone."
            )
        by = evaluation.metric(metric)
        return cls(
            against,
            evaluation.models,
            lines,
            {key: each.axis for key, each in asked.items()},
            by.label,
            evaluation.results[adjustment].label,
            by.direction,
            evaluation.confidence_level,
        )

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per line, or into a new figure; returns the axes, several as a list."""
        return draw_panels(
            [partial(self._draw, line) for line in self.lines], ax, size=size_of(len(self.lines))
        )

    def _draw(self, line: str, ax: Axes) -> None:
        panel, axis, level = self.lines[line], self.axes[line], self.confidence_level
        ax.axhline(0.0, color="0.3", linewidth=1.0, zorder=1)
        for k, (model, style) in enumerate(zip(self.models, line_styles(), strict=False)):
            if model not in panel:
                continue
            found, marker = panel[model], MARKERS[k % len(MARKERS)]
            points = found.points
            ax.plot(
                points,
                found.along.values,
                marker=marker,
                markersize=4.0,
                label=escaped(model),
                zorder=3,
                **style,
            )
            if level is not None:
                shade(ax, points, (found.along.low, found.along.high), style["color"], 0.28)
            if found.band is not None:
                shade(ax, points, found.band[:2], style["color"], 0.12)
            for point in found.tipping:
                ax.plot(point.at, 0.0, marker=marker, color=style["color"], **_TIPPING)
                if point.interval is not None:
                    low, high = point.interval
                    ends = [points[0] if low is None else low, points[-1] if high is None else high]
                    ax.plot(ends, [0.0, 0.0], color=style["color"], linewidth=4.0, alpha=0.8, zorder=2)
        if level is not None:
            grey: dict[str, Any] = {"color": "0.4", "linewidth": 0}
            ax.fill_between([], [], alpha=0.45, label=f"{level_in_words(level)} interval", **grey)
            ax.fill_between([], [], alpha=0.2, label=f"{level_in_words(level)} band for whole curves", **grey)
        if any(found.tipping for found in panel.values()):
            mark = "order turns" if level is None else "scores change order, with interval"
            ax.plot([], [], marker="o", color="0.6", label=mark, **_TIPPING)
        name = self.reference
        better = "above" if self.direction == "smaller" else "below"
        said = self.label, f"less that of {name}", f"({better} 0: {name} is better)"
        ax.set_ylabel("\n".join(map(wrapped, said)))
        ax.set_title(wrapped(f"{self.adjustment}, {axis.title}"), fontsize="medium")
        axis.draw(ax)


def _differences(asked: GridLine, reference: str, metric: str, adjustment: str) -> dict[str, Difference]:
    """Of each model that has scores on the line."""
    grid, line, _ = asked
    points, found = np.array(list(grid.answers[adjustment][line])), {}
    for model in grid.evaluation.models:
        along = grid.along(model, reference, metric, adjustment)[line]
        if model == reference or not np.isfinite(along.values).any():
            continue
        known = grid.evaluation.confidence_level is not None
        band = grid.bands(model, reference, metric, adjustment)[line] if known else None
        turns = grid.tipping_points(model, reference, line, metric, adjustment)
        found[model] = Difference(points, along, band, turns)
    return found
