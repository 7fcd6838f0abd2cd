"""Differences of scores along Kendall's τ, and along the hazard ratio after dropout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._checks import FloatArray, check_choice, escaped
from cocensor.inference import AxisCurve, Band, TippingPoint
from cocensor.study.evaluation import metric_of
from cocensor.study.sensitivity import Sensitivity
from cocensor.views.plots.grid_axes import GridDisplay, GridLine, RatioAxis, TauAxis, lines_of
from cocensor.views.plots.panels import wrapped
from cocensor.views.plots.style import MARKERS, ZERO, explain_area, line_styles, shade
from cocensor.views.text.digits import level_in_words

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
class DifferenceDisplay(GridDisplay):
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
    >>> from cocensor.views.plots import DifferenceDisplay
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
        line: str | Sequence[str] | None = None,
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
            By default the primary one.
        family : str, optional
            Of copulas, or "hazard_ratio"; by default all.
        line : str or sequence of str, optional
            Instead of families, along the hazard ratio after dropout of "all", or of reasons or groups, a panel each.
        """
        evaluation = sensitivity.evaluation
        by, name = metric_of(evaluation, metric), sensitivity.over_tau.adjustment(adjustment)
        asked = lines_of(sensitivity, by.name, name, family, line)
        grid = sensitivity.over_tau if line is None else next(iter(asked.values())).grid
        against = grid.reference(by.name, name) if reference is None else reference
        check_choice(against, "reference", evaluation.models)
        lines = {key: _differences(each, against, by.name, name) for key, each in asked.items()}
        if not any(lines.values()):
            raise ValueError(
                f"sensitivity must have the scores of two models at least, but has those of {against!r} alone."
            )
        return cls(
            against,
            evaluation.models,
            lines,
            {key: each.axis for key, each in asked.items()},
            by.label,
            evaluation.results[name].label,
            by.direction,
            evaluation.data.confidence_level,
        )

    def _draw(self, line: str, ax: Axes) -> None:
        panel, axis, level = self.lines[line], self.axes[line], self.confidence_level
        ax.axhline(0.0, **ZERO)
        for k, (model, style) in enumerate(zip(self.models, line_styles(), strict=False)):
            if model not in panel:
                continue
            found, marker = panel[model], MARKERS[k % len(MARKERS)]
            points, look = found.points, {"marker": marker, "markersize": 4.0, "zorder": 3, **style}
            ax.plot(points, found.along.values, label=escaped(model), **look)
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
            explain_area(ax, f"{level_in_words(level)} interval", "0.4", 0.45)
            explain_area(ax, f"{level_in_words(level)} band for whole curves", "0.4", 0.2)
        if any(found.tipping for found in panel.values()):
            mark = "order turns" if level is None else "scores change order, with interval"
            ax.plot([], [], marker="o", color="0.6", label=mark, **_TIPPING)
        better = "above" if self.direction == "smaller" else "below"
        said = self.label, f"less that of {self.reference}", f"({better} 0: {self.reference} is better)"
        ax.set_ylabel("\n".join(map(wrapped, said)))
        ax.set_title(wrapped(f"{self.adjustment}, {axis.title}"), fontsize="medium")
        axis.draw(ax)


def _differences(asked: GridLine, reference: str, metric: str, adjustment: str) -> dict[str, Difference]:
    """Of each model that has scores on the line."""
    grid, line, _ = asked
    points, found = np.array(list(grid.answers[adjustment][line])), {}
    for model in grid.evaluation.models:
        pair = grid.pair(model, reference, metric, adjustment)
        along = pair.curves[line]
        if model == reference or not np.isfinite(along.values).any():
            continue
        known = grid.evaluation.data.confidence_level is not None
        band = grid.bands(model, reference, metric, adjustment)[line] if known else None
        found[model] = Difference(points, along, band, pair.tipping_points(line))
    return found
