"""Curves with their bands: over time, false alarms, predicted risks, thresholds and dependences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_vector, check_choice, escaped
from cocensor.adjustments import IPCW
from cocensor.copulas import Copula
from cocensor.data.times import TimeAxis
from cocensor.estimators.margin import MarginEstimator
from cocensor.joint.select import CUT, DependenceProfile
from cocensor.metrics import MetricValue
from cocensor.study.curves import curve_errors, profile_errors
from cocensor.study.evaluation import Evaluation
from cocensor.study.imputation_fit import ImputationFit
from cocensor.study.lookup import metric_of, results_of
from cocensor.study.sensitivity import Bounds, Sensitivity
from cocensor.views.plots import dependence, single_times
from cocensor.views.plots.curve_panels import AT_ZERO, GROUP, INK, BelowCurves, CurvePanel, Guide, Line
from cocensor.views.plots.panels import at_least_one, draw_panels, label_minus, wrapped
from cocensor.views.plots.style import (
    THICK,
    THIN,
    BandKind,
    Legend,
    Look,
    area,
    best_in_words,
    limits_of,
    line_styles,
    shaded_area,
)
from cocensor.views.text.digits import with_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In inches: one of several panels that have an axis on top.
_WITH_AXIS_ON_TOP = (3.2, 3.1)


@dataclass(eq=False)
class CurveDisplay:
    """Curves of models or estimators, with intervals or bands, in panels.

    A name has the same colour and line style in all panels, and a model in all figures.

    Attributes
    ----------
    names : tuple of str
        All that have a colour: the models of an evaluation, estimators, families of copulas.
    panels : dict of CurvePanel
        By adjustment, model or time, each with ``lines`` by name, which have ``x``, ``y`` and ``limits``.
    shaded : str
        What shaded areas are; empty where nothing is shaded.
    labels : dict of str
        By name what the legend says where that is not the name; empty for those that are not in it.
    legend : list of pair
        What other looks mean: a text and a look each, in Matplotlib's words.
    below : BelowCurves or None
        Of curves over time: what time is called, and how many are at risk.
    size : pair of float or None
        Of a panel, in inches; None for the usual one.
    share_y : bool
        Whether panels have one scale.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.views.plots import CurveDisplay
    >>> y = cc.Survival([1, 2, 3, 4], [1, 1, 1, 1])
    >>> half = [[0.5, 0.5]] * 4
    >>> evaluation = cc.evaluate({"half": half}, y, adjustments="ipcw", times=[1.0, 2.0])
    >>> display = CurveDisplay.from_scores(evaluation)
    >>> display.panels["ipcw"].lines["half"].y  # and display.plot()
    array([0.25, 0.25])
    """

    names: tuple[str, ...]
    panels: Mapping[Any, CurvePanel]
    shaded: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    legend: Legend = ()
    below: BelowCurves | None = None
    size: tuple[float, float] | None = None
    share_y: bool = True

    @classmethod
    def from_scores(
        cls,
        evaluation: Evaluation,
        adjustment: str | Sequence[str] | None = None,
        metric: str | None = None,
        *,
        minus: str | None = None,
        band: BandKind = "pointwise",
    ) -> Self:
        """Values of a metric over time, a panel per adjustment.

        The grey line is the reference, one Kaplan–Meier curve for everybody: a model that is not better adds nothing at
        that time. Two models may differ although their intervals overlap, as both are scored on the same subjects:
        ``minus`` shows differences. Dotted lines are the true values, where data are simulated.

        Parameters
        ----------
        evaluation : Evaluation
        adjustment : str or sequence of str, optional
            By default the evaluation's ``primary``.
        metric : str, optional
            One that has values over time; by default the evaluation's first.
        minus : str, optional
            A model: the values of all others minus those of this one.
        band : "pointwise", "simultaneous" or None
            What is shaded: an interval for each time, a band that holds a whole curve, or nothing.
        """
        by, level = metric_of(evaluation, metric), evaluation.data.confidence_level
        shaded = shaded_area(band, level)
        if by.curve_label is None:
            raise ValueError(f"metric must have values over time, but {by.name!r} has none.")
        label = label_minus(by.curve_label, minus, evaluation.models)
        if minus is not None:
            label += f"\n({'below' if by.direction == 'lower' else 'above'} 0: better)"
        elif by.direction == "higher":
            label += " (higher is better)"
        order = np.argsort(evaluation.data.times, kind="stable")
        times = evaluation.data.times[order]
        true = {} if evaluation.truth is None else evaluation.truth.values[by.name]
        truth = {model: curve[order] for model, curve in _curves(true, minus).items()}
        panels = {}
        for name in at_least_one(adjustment, "adjustment", (evaluation.primary,)):
            scores = results_of(evaluation, name)
            values = scores.values[by.name]
            own = _curves(values)
            if not own or minus not in (None, *own):
                why = "".join(f": {note.text}" for note in scores.notes_of("missing")[:1])
                of = f" of {minus!r}" if own else ""
                raise ValueError(f"adjustment must give scores{of}, but {name!r} gives none{why}")
            lines, errors = {}, curve_errors(evaluation, by.name, name) if shaded else None
            for model, curve in _curves(values, minus).items():
                limits = None if errors is None else limits_of(errors.of(model, minus), band, level)
                lines[model] = Line(times, curve[order], limits and (limits[0][order], limits[1][order]))
            if not lines:
                raise ValueError(
                    f"minus must leave a model to be drawn, but {minus!r} alone has values over time."
                )
            guides, reference = list[Guide](), scores.reference.get(by.name)
            if reference is not None and reference.curve is not None:
                curve = reference.curve - (0.0 if minus is None else own[minus])
                guides.append(Guide("Kaplan–Meier for everybody", times, curve[order], THICK))
            if minus is not None:
                guides.append(AT_ZERO)
            ylim = (0.0 if by.best == 0 and minus is None else None, None)
            title, copula = scores.label, getattr(scores.adjustment, "copula", None)
            if isinstance(copula, Copula):
                title = f"{title}\n{copula.name}, τ = {copula.tau:.2g}"
            panels[scores.name] = CurvePanel(lines, guides, title, ylabel=label, truth=truth, ylim=ylim)
        below = BelowCurves.of(evaluation.data.time_axis, evaluation.data.risk_table)
        return cls(evaluation.models, panels, shaded, below=below)

    @classmethod
    def from_bounds(
        cls, bounds: Bounds, evaluation: Evaluation | None = None, *, minus: str | None = None
    ) -> Self:
        """How low and how high a score can be at each time whatever the dependence, a panel per model.

        Bounds are sharp for each time alone.

        Parameters
        ----------
        bounds : Bounds
            What :meth:`Evaluation.bounds` returns.
        evaluation : Evaluation, optional
            Draws the values under each adjustment, which assumes some dependence, as lines.
        minus : str, optional
            A model: the bounds of all others minus this one.
        """
        by = bounds.metric
        label = label_minus(by.curve_label or by.label, minus, bounds.models)
        if evaluation is not None:
            metric_of(evaluation, by.name)  # refuses one that it lacks
        results = [] if evaluation is None else list(evaluation.results.values())
        panels = {}
        for model in bounds.models:
            if model == minus or np.isnan(bounds[model].low):
                continue
            along = bounds.over_time(model, minus)
            order = np.argsort(along.times, kind="stable")
            times, low, high = (values[order] for values in along)
            guides = [] if minus is None else [AT_ZERO]
            for scores, style in zip(results, line_styles(), strict=False):
                curve = _curves(scores.values[by.name], minus).get(model)
                if curve is not None:
                    look = {"color": "0.15", "linestyle": style["linestyle"]}
                    guides.append(Guide(escaped(scores.label), times, curve[order], look))
            line = Line(times, np.full(times.shape, np.nan), (low, high))
            panels[model] = CurvePanel({model: line}, guides, wrapped(model), ylabel=label)
        if not panels:
            raise ValueError("bounds must have a model to be drawn, but have none.")
        below, unnamed = BelowCurves.of(bounds.time_axis, bounds.risk_table), dict.fromkeys(bounds.models, "")
        return cls(bounds.models, panels, "whatever the dependence", unnamed, below=below)

    @classmethod
    def from_roc(
        cls,
        evaluation: Evaluation,
        at: npt.ArrayLike | None = None,
        models: str | Sequence[str] | None = None,
        adjustment: str | None = None,
        *,
        band: BandKind = "pointwise",
    ) -> Self:
        """ROC curves, a panel per time: who had the event by then against who is still event-free.

        The higher a curve, the better: a model finds more of those who had the event for the same share of false
        alarms. On the diagonal it does no better than chance. A point of the curve is a threshold of the predicted
        risk. The legend has the area under the curve (AUC) with its interval. ``"auc"`` must be among the metrics.

        Parameters
        ----------
        evaluation : Evaluation
        at : float or array-like, optional
            Up to the horizon; by default all single times of the evaluation.
        models : str or sequence of str, optional
            By default all.
        adjustment : str, optional
            By default the evaluation's ``primary``.
        band : "pointwise", "simultaneous" or None
            What is shaded: an interval at each share of false alarms, a band that holds a whole curve, or nothing.
        """
        scores, level = results_of(evaluation, adjustment), evaluation.data.confidence_level
        shaded = shaded_area(band, level)
        names, axis = _models(evaluation, models), evaluation.data.time_axis
        times, areas, panels = _times(evaluation, at), dict[str, list[str]](), {}
        for t in times:
            errors, lines = profile_errors(evaluation, "auc", scores.name, at=t), {}
            for model in [name for name in names if name in errors.values]:
                curve = errors.of(model)
                lines[model] = Line(errors.x[model], curve.values, limits_of(curve, band, level))
                auc = with_interval(evaluation.score(model, "auc", scores.name, at=t), level, in_short=True)
                areas.setdefault(model, []).append(f"{auc} by {axis.said(t)}" if len(times) > 1 else auc)
            panels[t] = CurvePanel(
                lines,
                [Guide("chance", (0.0, 1.0), (0.0, 1.0), THIN)],
                f"ROC curve at {axis.named(t)}",
                xlabel="false positive rate",
                ylabel=f"true positive rate\n{scores.label}",
                xlim=(-0.01, 1.01),
                ylim=(-0.01, 1.01),
            )
        labels = {model: f"{escaped(model)}: AUC {', '.join(values)}" for model, values in areas.items()}
        size = (5.2, 4.8) if len(panels) == 1 else (3.4, 3.6)
        return cls(evaluation.models, panels, shaded, labels, size=size)

    @classmethod
    def from_calibration(
        cls,
        evaluation: Evaluation,
        at: npt.ArrayLike | None = None,
        models: str | Sequence[str] | None = None,
        adjustment: str | None = None,
        *,
        band: BandKind = "pointwise",
    ) -> Self:
        """Observed against predicted risks of an event by a time: a panel per model and time.

        Of subjects for whom a calibrated model predicts a risk of 20%, 20% have the event: its curve is the diagonal.
        Above it risks are underrated, below it overrated. Dots are groups of subjects of similar predicted risk, with
        an interval each; they need no smoothing. Bars below say for how many subjects a risk was predicted: where there
        are few, the curve is uncertain, as the shaded area says. In the title are the mean distance from the diagonal
        (ICI), the ratio of observed and expected events (O/E), and the slope, which is below 1 where predictions are
        too extreme.

        Parameters
        ----------
        evaluation, at, models, adjustment, band
            As in :meth:`from_roc`; models by default all that predict a chance for the time.
        """
        level, scores = evaluation.data.confidence_level, results_of(evaluation, adjustment)
        shaded = shaded_area(band, level)
        panels: dict[tuple[str, float], CurvePanel] = {}
        for t in _times(evaluation, at):
            names, time = _models_with_curves(evaluation, models, at=t), evaluation.data.time_axis.named(t)
            curves = {model: evaluation.calibration_curve(model, t, scores.name) for model in names}
            own = single_times.calibration_panels(curves, time, scores.label, None if level is None else band)
            panels |= {(model, t): panel for model, panel in own.items()}
        size = (5.2, 5.2) if len(panels) == 1 else (3.4, 3.9)
        unnamed, smooth = dict.fromkeys(evaluation.models, ""), {"color": "0.2", "linestyle": "-"}
        legend = [("smooth curve", smooth), ("groups of subjects", {"color": "0.2", **GROUP})]
        return cls(evaluation.models, panels, shaded, unnamed, legend, size=size, share_y=False)

    @classmethod
    def from_decision_curves(
        cls,
        evaluation: Evaluation,
        at: npt.ArrayLike | None = None,
        models: str | Sequence[str] | None = None,
        adjustment: str | None = None,
    ) -> Self:
        """The net benefit of treating those whom a model gives a risk above a threshold, a panel per time.

        Whoever treats from a risk of 20% on takes four needless treatments for one that is needed. At that threshold a
        model is of use if its net benefit is above that of treating everybody, and above 0, that of treating nobody.
        Far below 0 the axis is cut.

        Parameters
        ----------
        evaluation, at, models, adjustment
            As in :meth:`from_calibration`.
        """
        scores, level = results_of(evaluation, adjustment), evaluation.data.confidence_level
        panels = {}
        for t in _times(evaluation, at):
            curves, time = evaluation.decision_curve(t, scores.name), evaluation.data.time_axis.named(t)
            chosen = {model: curves[model] for model in _models_with_curves(evaluation, models, at=t)}
            panels[t] = single_times.decision_panel(chosen, time, scores.label, limits=level is not None)
        return cls(evaluation.models, panels, shaded_area("pointwise", level), share_y=False)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, MarginEstimator],
        *,
        level: float = 0.95,
        truth: Callable[[FloatArray], FloatArray] | None = None,
        time_name: str | None = None,
        time_unit: str | None = None,
    ) -> Self:
        """Estimated survival curves with pointwise bands, and the truth where it is known.

        Below the axis stands how many are at risk: of one sample in black, of several in the colour of the first curve
        of each.

        Parameters
        ----------
        estimators : dict of MarginEstimator
            Fitted, by label.
        level : float
            Of the bands.
        truth : callable, optional
            A function of time, drawn as a thin black line: in simulations the truth is known.
        time_name, time_unit : str, optional
            What the axis of time says.
        """
        lines = {}
        for label in at_least_one(tuple(estimators), "estimators"):
            estimator = estimators[label]
            if not hasattr(estimator, "survival_"):
                raise ValueError(f"estimators must be fitted, but {label!r} is not: call fit(y) first.")
            times = np.unique(np.concatenate(([0.0], estimator.survival_.times, [estimator.t_max_])))
            limits = estimator.confidence_interval(times, level)
            lines[label] = Line(times, estimator.predict(times), limits, look={"drawstyle": "steps-post"})
        guides = []
        if truth is not None:
            grid = np.linspace(0.0, max(line.x[-1] for line in lines.values()), 401)
            guides = [Guide("truth", grid, truth(grid), {"color": "black", "linewidth": 1.0})]
        panel = CurvePanel(lines, guides, ylabel="survival probability", ylim=(0.0, 1.02))
        samples: dict[tuple[bytes, bytes], Any] = {}
        for estimator, style in zip(estimators.values(), line_styles(), strict=False):
            table = estimator.risk_table_
            samples.setdefault((table.times.tobytes(), table.at_risk.tobytes()), (style["color"], table))
        at_risk = {INK if len(samples) == 1 else colour: table for colour, table in samples.values()}
        below = BelowCurves(TimeAxis(time_name, time_unit), at_risk)
        return cls(tuple(lines), {"": panel}, shaded_area("pointwise", level), below=below)

    @classmethod
    def from_profile(cls, profile: DependenceProfile) -> Self:
        """How well each τ fits, family by family: the profile log-likelihood minus the largest of all.

        Values above the dashed line do not differ significantly from the best (95%). The axis is cut far below.

        Parameters
        ----------
        profile : DependenceProfile
            What :meth:`CopulaChoice.profile` returns.
        """
        top, lines = profile.best[2], {}
        for family, (taus, values) in profile.curves.items():
            lines[family] = Line(taus, values - top, look={"marker": "o", "markersize": 3.5})
        # What is hopeless need not be drawn to scale; every family's best and independence are.
        shown = min(min(line.y.max(), line.y[line.x == 0.0].min()) for line in lines.values())
        depth = max(3.0 * CUT, -1.5 * float(shown))
        cut = f", cut at {-depth:.3g}" if any(line.y.min() < -depth for line in lines.values()) else ""
        taus = np.concatenate([line.x for line in lines.values()])
        ends = taus.min() - 0.05, taus.max() + 0.05
        dashed = {"color": "0.4", "linestyle": "--", "linewidth": 1.0}
        guides = [
            Guide("", (0.0, 0.0), (-depth, 0.05 * depth), {"color": "0.8", "linewidth": 1.0}),
            Guide("above: fits as well as the best (95%)", ends, (-CUT, -CUT), dashed),
        ]
        panel = CurvePanel(
            lines,
            guides,
            xlabel="Kendall's τ of event and dropout",
            ylabel=f"profile log-likelihood minus its maximum{cut}",
            xlim=ends,
            ylim=(-depth, 0.05 * depth),
        )
        return cls(tuple(lines), {"": panel})

    @classmethod
    def from_sensitivity(
        cls,
        sensitivity: Sensitivity,
        metric: str | None = None,
        adjustment: str | None = None,
        family: str | None = None,
        line: str | Sequence[str] | None = None,
    ) -> Self:
        """Scores along Kendall's τ, a panel per copula family, and along the hazard ratio after dropout.

        Shaded are the intervals of the scores, each for its own point. Large dots mark the models that do not differ
        significantly from the best at each point; without intervals, those with the best score. Vertical lines are
        where the best score passes from one model to another. Ticks at independence are the scores under IPCW, if the
        evaluation has them. Dotted lines are the true scores, where data are simulated.

        The axis on top is the mean hazard ratio right after leaving that τ stands for, where it is known; the bracket
        is the plausible range (:attr:`Sensitivity.plausible`). Whether two models differ is seen in
        :meth:`from_differences`, and not from whether their intervals overlap: both are scored on the same subjects.

        Parameters
        ----------
        sensitivity : Sensitivity
        metric : str, optional
            By default the evaluation's first.
        adjustment : str, optional
            By default the primary one.
        family : str, optional
            Of copulas, or "hazard_ratio"; by default all.
        line : str or sequence of str, optional
            Instead of families, along the hazard ratio after dropout of "all", or of reasons or groups, a panel each.
        """
        evaluation, level = sensitivity.evaluation, sensitivity.evaluation.data.confidence_level
        by, name = metric_of(evaluation, metric), sensitivity.over_tau.adjustment(adjustment)
        # Marginal weights rather than those given covariates.
        weighted = sorted(
            (scores for scores in evaluation.results.values() if isinstance(scores.adjustment, IPCW)),
            key=lambda scores: len(scores.adjustment.needs),
        )
        by_ipcw = next((scores.values[by.name] for scores in weighted if scores.values[by.name]), {})
        true = {} if evaluation.truth is None else evaluation.truth.values[by.name]
        ipcw, truth = ({model: own.value for model, own in values.items()} for values in (by_ipcw, true))
        panels = {
            key: dependence.score_panel(along, by, name, ipcw, truth)
            for key, along in dependence.lines_of(sensitivity, by.name, name, family, line).items()
        }
        legend = [(best_in_words(level), {"color": "0.4", **dependence.BEST})]
        if any(panel.guides for panel in panels.values()):
            legend.append(("another model becomes best", {**dependence.CHANGE}))
        if ipcw:
            legend.append(("IPCW (assumes τ = 0)", {"color": "0.4", **dependence.TICK}))
        size = None if len(panels) == 1 else _WITH_AXIS_ON_TOP
        return cls(evaluation.models, panels, shaded_area("pointwise", level), {}, legend, size=size)

    @classmethod
    def from_differences(
        cls,
        sensitivity: Sensitivity,
        reference: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
        family: str | None = None,
        line: str | Sequence[str] | None = None,
        *,
        band: BandKind = "pointwise",
    ) -> Self:
        """The score of every model minus that of a reference model, in the panels of :meth:`from_sensitivity`.

        Where the shaded interval leaves out 0, the two models differ. A circle on the line at 0 is where the order of
        two scores turns, and the thick line through it is where that may truly be.

        Parameters
        ----------
        reference : str, optional
            The model that all others are compared with; by default the one with the best score at independence.
        sensitivity, metric, adjustment, family, line
            As in :meth:`from_sensitivity`.
        band : "pointwise", "simultaneous" or None
            What is shaded: an interval at each point, a band that covers whole curves under all families, or nothing.
        """
        evaluation, level = sensitivity.evaluation, sensitivity.evaluation.data.confidence_level
        by, name = metric_of(evaluation, metric), sensitivity.over_tau.adjustment(adjustment)
        chosen = dependence.lines_of(sensitivity, by.name, name, family, line)
        grid = sensitivity.over_tau if line is None else next(iter(chosen.values())).grid
        minus = grid.reference(by.name, name) if reference is None else reference
        check_choice(minus, "reference", evaluation.models)
        shaded = shaded_area(band, level)
        panels = {
            key: dependence.difference_panel(along, minus, by, name, band) for key, along in chosen.items()
        }
        if not any(panel.lines for panel in panels.values()):
            raise ValueError(
                f"sensitivity must have the scores of two models at least, but has those of {minus!r} alone."
            )
        legend = list[tuple[str, Look]]()
        if any(panel.marks for panel in panels.values()):
            turns = "order changes" if level is None else "order changes, with its interval"
            legend.append((turns, {"color": "0.6", **dependence.TIPPING}))
        size = None if len(panels) == 1 else _WITH_AXIS_ON_TOP
        return cls(evaluation.models, panels, shaded, {}, legend, size=size)

    @classmethod
    def from_d_calibration(
        cls, evaluation: Evaluation, models: str | Sequence[str] | None = None, adjustment: str | None = None
    ) -> Self:
        """Observed against expected shares of subjects, by the survival predicted for the time of their event.

        If a model is right, the survival that it predicts for the time of the event is spread evenly: each bar reaches
        its black line. Those event-free at the horizon have a cell of their own, on the right, which is hatched. Error
        bars are intervals of each share for itself; p is that of the test of all cells at once.

        Parameters
        ----------
        evaluation : Evaluation
        models : str or sequence of str, optional
            By default all that predict survival curves, a panel each.
        adjustment : str, optional
            By default the evaluation's ``primary``.
        """
        scores, panels = results_of(evaluation, adjustment), {}
        shown = shaded_area("pointwise", evaluation.data.confidence_level)
        for model in _models_with_curves(evaluation, models):
            test = evaluation.d_calibration(model, scores.name)
            panels[model] = single_times.d_calibration_panel(model, test, scores.label, limits=bool(shown))
        legend = [("observed", area("0.6", 0.5))]
        if any(mark.limits is not None for panel in panels.values() for mark in panel.marks):
            legend.append((shown, {"color": "0.2", "linestyle": "-", "linewidth": 1.0}))
        return cls(evaluation.models, panels, legend=legend)

    @classmethod
    def from_imputation_fit(cls, fit: ImputationFit, model: str | None = None) -> Self:
        """Observed over expected numbers by decile of a model's score and by period, a panel for events and dropouts.

        Where the joint model fits, they scatter around 1. Cells with less than 1 expected are left out. Bars are 95%
        intervals of each ratio.

        Parameters
        ----------
        fit : ImputationFit
        model : str, optional
            Whose score the deciles are of; by default the one whose score shows most misfit.
        """
        model = fit.worst if model is None else model
        check_choice(model, "model", tuple(fit.cells))
        unit = "" if fit.time_axis.unit is None else f" {escaped(fit.time_axis.unit)}"
        periods = [f"{start:.3g} < t ≤ {end:.3g}{unit}" for start, end in pairwise([0.0, *fit.periods])]
        panels = {
            kind: single_times.fit_panel(kind, cells, periods, model)
            for kind, cells in fit.cells[model].items()
            if cells.shown.any()
        }
        if not panels:
            raise ValueError(
                "fit must have a cell with at least one expected event or dropout, but has none."
            )
        return cls(tuple(periods), panels)

    def plot(self, ax: Axes | Sequence[Axes] | None = None, *, at_risk: bool = True) -> Any:
        """Draw into ``ax``, one axes per panel, or into a new figure; returns the axes, several as a list.

        Below curves over time stands how many are at risk, where that is known, unless ``at_risk`` is False.
        """
        below = self.below if at_risk or self.below is None else replace(self.below, at_risk={})
        panels = [partial(self._draw, panel, below) for panel in self.panels.values()]
        n_lines = 0 if below is None else below.n_lines
        return draw_panels(panels, ax, size=self.size, share_y=self.share_y, lines_below=n_lines)

    def _draw(self, panel: CurvePanel, below: BelowCurves | None, ax: Axes) -> None:
        panel.draw(ax, self.names, self.labels, self.legend, self.shaded)
        if below is not None:
            x = np.concatenate([line.x for line in panel.lines.values()])
            below.draw(ax, x.min(), x.max())


def _curves(values: Mapping[str, MetricValue], minus: str | None = None) -> dict[str, FloatArray]:
    """The values over time by model, of those that have some; minus those of one of them, if it has any."""
    curves = {model: value.curve for model, value in values.items() if value.curve is not None}
    if minus is None:
        return curves
    base = curves.pop(minus, None)
    return {} if base is None else {model: curve - base for model, curve in curves.items()}


def _times(evaluation: Evaluation, at: npt.ArrayLike | None) -> tuple[float, ...]:
    """Single times, by default all of the evaluation."""
    if at is None and not evaluation.data.at:
        raise ValueError("at is needed: the evaluation has no scores at single times.")
    times = evaluation.data.at if at is None else as_vector(at, "at", single=True, negative=False).tolist()
    if not times:
        raise ValueError("at is empty: at least one is needed.")
    return tuple(dict.fromkeys(times))


def _models(evaluation: Evaluation, models: str | Sequence[str] | None) -> tuple[str, ...]:
    """Models, by default all of the evaluation."""
    names = at_least_one(models, "models", evaluation.models)
    for name in names:
        check_choice(name, "models", evaluation.models)
    return names


def _models_with_curves(
    evaluation: Evaluation, models: str | Sequence[str] | None, at: float | None = None
) -> tuple[str, ...]:
    """Models that predict survival curves, or the chance ``at`` a time, by default all such of the evaluation."""
    names, predictions = _models(evaluation, models), evaluation.data.predictions
    times = evaluation.data.times if at is None else np.array([at])
    limits = {
        name: predictions[name].limit
        for name in names
        if name in predictions and not predictions[name].known_at(times)
    }
    if models is None:
        names = tuple(name for name in names if name in predictions and name not in limits)
    elif limits:
        name, limit = next(iter(limits.items()))
        raise ValueError(f"models must predict survival curves, but {name!r} {limit}.")
    if not names:
        raise ValueError("models must predict survival curves, but none does.")
    return names
