"""Differences of scores along Kendall's τ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cocensor._validation import check_choice, escaped
from cocensor.inference import AxisCurve, Band, TippingPoint, tipping_points
from cocensor.plots.panels import draw_panels
from cocensor.plots.style import MARKERS, line_styles, shade
from cocensor.sensitivity import Sensitivity
from cocensor.words.digits import level_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TIPPING: dict[str, Any] = {"markersize": 9.0, "markeredgecolor": "black", "linestyle": "none", "zorder": 4}


@dataclass(frozen=True, eq=False)
class Difference:
    """Under one family, the score of a model less that of the reference along τ, and where its sign changes.

    ``band`` holds the whole curve, under all families at once; None where there are no intervals.
    """

    along: AxisCurve
    band: Band | None
    tipping: tuple[TippingPoint, ...]


@dataclass(eq=False)
class DifferenceDisplay:
    """The score of every model less that of a reference model along Kendall's τ, a panel per copula family.

    The dark area is the interval of each difference for itself; the light one holds whole curves, under all families at
    once. Where the dark area leaves out 0, the two models can be told apart at that τ. A marker on the line at 0 is
    where the order of two scores turns, and the thick line through it is where that may truly be.

    Attributes
    ----------
    reference : str
    models : tuple of str
        All models of the evaluation: a model has the same line in every display.
    families : dict of dict of Difference
        By family and model.
    label, adjustment, direction : str
        What the scores are, what they are adjusted by, and which are better.
    confidence_level : float or None
        Of intervals and bands, if there are any.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> models = {f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
    ...           for k in (1, 3)}
    >>> result = cc.evaluate(models, test.y, test.X, y_train=train.y, metrics="ibs")
    >>> display = DifferenceDisplay.from_sensitivity(result.sensitivity("clayton", [0.0, 0.4, 0.8]))
    >>> display.reference, list(display.families["clayton"])
    ('1', ['3'])
    """

    reference: str
    models: tuple[str, ...]
    families: dict[str, dict[str, Difference]]
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
            By default all.
        """
        evaluation = sensitivity.evaluation
        by, name = evaluation.metric(metric), sensitivity.primary if adjustment is None else adjustment
        answered = tuple(sensitivity.leaders(by.name, name))
        if not answered:
            raise ValueError(
                f"metric must have scores over the grid, but {by.name!r} has none under {name!r}."
            )
        against = sensitivity.reference(by.name, name) if reference is None else reference
        check_choice(against, "reference", evaluation.models)
        if family is not None:
            check_choice(family, "family", answered)
        families: dict[str, dict[str, Difference]] = {each: {} for each in answered if family in (None, each)}
        for model in evaluation.models:
            if model == against:
                continue
            along = sensitivity.along(model, against, by.name, name)
            known = evaluation.confidence_level is not None
            bands = sensitivity.bands(model, against, by.name, name) if known else {}
            for each in families:
                if np.isfinite(along[each].values).any():
                    turns = tipping_points(along, each)
                    families[each][model] = Difference(along[each], bands.get(each), turns)
        if not any(families.values()):
            raise ValueError(
                f"sensitivity must have the scores of two models at least, but has those of {against!r} alone."
            )
        return cls(
            against,
            evaluation.models,
            families,
            by.label,
            evaluation.results[name].label,
            by.direction,
            evaluation.confidence_level,
        )

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Axes | list[Axes]:
        """Draw into ``ax``, one axes per family, or into a new figure; returns the axes, several as a list."""
        return draw_panels([partial(self._draw, family) for family in self.families], ax)

    def _draw(self, family: str, ax: Axes) -> None:
        panel, level = self.families[family], self.confidence_level
        ax.axhline(0.0, color="0.3", linewidth=1.0, zorder=1)
        for k, (model, style) in enumerate(zip(self.models, line_styles(), strict=False)):
            if model not in panel:
                continue
            found, marker = panel[model], MARKERS[k % len(MARKERS)]
            taus = found.along.positions
            ax.plot(
                taus,
                found.along.values,
                marker=marker,
                markersize=4.0,
                label=escaped(model),
                zorder=3,
                **style,
            )
            if level is not None:
                shade(ax, taus, (found.along.low, found.along.high), style["color"], 0.28)
            if found.band is not None:
                shade(ax, taus, found.band[:2], style["color"], 0.12)
            for point in found.tipping:
                ax.plot(point.at, 0.0, marker=marker, color=style["color"], **_TIPPING)
                if point.interval is not None:
                    low, high = point.interval
                    ends = [taus[0] if low is None else low, taus[-1] if high is None else high]
                    ax.plot(ends, [0.0, 0.0], color=style["color"], linewidth=4.0, alpha=0.8, zorder=2)
        if level is not None:
            grey: dict[str, Any] = {"color": "0.4", "linewidth": 0}
            ax.fill_between([], [], alpha=0.45, label=f"{level_in_words(level)} interval", **grey)
            ax.fill_between(
                [], [], alpha=0.2, label=f"{level_in_words(level)} band, all τ and families at once", **grey
            )
        if any(found.tipping for found in panel.values()):
            mark = "order turns" if level is None else "order turns, and its interval"
            ax.plot([], [], marker="o", color="0.6", label=mark, **_TIPPING)
        name = escaped(self.reference)
        better = "above" if self.direction == "smaller" else "below"
        ax.set(
            xlabel="Kendall's τ of event and dropout",
            ylabel=f"{self.label} less that of {name}\n({better} 0: {name} is better)",
        )
        ax.set_title(f"{self.adjustment}\n{family}")
        taus = np.concatenate(
            [each.along.positions for panel in self.families.values() for each in panel.values()]
        )
        ax.set_xlim(float(taus.min()) - 0.02, float(taus.max()) + 0.02)
