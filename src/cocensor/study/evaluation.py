"""The result of an evaluation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import Progress, as_tuple, check_choice, check_whole, escaped
from cocensor._notes import Note
from cocensor._views import view
from cocensor.inference.comparisons import Comparison, compare
from cocensor.inference.estimates import Estimates
from cocensor.metrics import BrierScore, CalibrationCurve, DCalibrationResult, DecisionCurve
from cocensor.metrics.calibration_curve import calibration_at
from cocensor.metrics.d_calibration import d_calibration_of
from cocensor.metrics.net_benefit import THRESHOLDS, as_thresholds, decision_curve_at
from cocensor.study.checks import Check
from cocensor.study.curves import weights_by_fit
from cocensor.study.data import REFERENCE, EvaluationData, Resampling, SuggestedCopula, suggest_copula
from cocensor.study.lookup import Results, adjustment_named, imputation_among, metric_of, preferred, scores_at
from cocensor.study.plan import Plan, SensitivityPlan
from cocensor.study.scores import AdjustmentScores, Score, about_intervals, bootstrapped, missing_notes

if TYPE_CHECKING:
    from cocensor.study.report import Phases, Report
    from cocensor.study.sensitivity import Bounds, CovariateBenchmarks, Sensitivity
    from cocensor.study.tables import TableKind
    from cocensor.study.verdict import Verdict

# An error by rounding alone, as of the AUC of a constant.
_NO_ERROR = 1e-14
NOT_ASKED = "no interval was requested"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Scores of models under several assumptions about the censoring, as :func:`evaluate` returns them.

    It holds what its plan asked for, and remembers nothing: a further analysis, such as :meth:`sensitivity`, returns a
    result of its own, and a view shows what it is handed.

    Attributes
    ----------
    plan : Plan
    data : EvaluationData
        What was scored: predictions, samples, times, horizon, metrics, and the copula that was assumed.
    results : dict of AdjustmentScores
        By name or label of an adjustment: what it is, its fits, its scores, and notes.
    notes : tuple of Note
        What was decided on the way; each of the ``results`` has its own.
    checks : tuple of Check
        What looks like a mistake among predictions and outcomes. A model with one that disqualifies has scores, but no
        rank, and is not called best.
    truth : AdjustmentScores or None
        For simulated data, the scores by the true event times; no verdict counts them.

    Notes
    -----
    All methods name things alike: ``metric`` is a metric by name or label, by default the first; ``adjustment`` is one
    of the ``results`` by name or label, by default the ``primary`` one; ``at`` is a single time; ``model`` is one of
    ``models``; ``progress`` is called with the number of finished steps and of all.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"good": [[0.6, 0.2], [0.9, 0.2], [0.8, 0.4], [0.9, 0.7]], "flat": [[0.7, 0.4]] * 4}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics="ibs")
    >>> round(float(result.score("good")), 4), result.verdict.leader
    (0.1044, 'good')
    >>> comparison = result.compare("good", "flat")
    >>> round(comparison.difference, 4), round(comparison.standard_error, 4)
    (-0.1081, 0.0448)
    """

    plan: Plan
    data: EvaluationData
    results: dict[str, AdjustmentScores]
    notes: tuple[Note, ...] = ()
    checks: tuple[Check, ...] = ()
    truth: AdjustmentScores | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "results", Results(self.results))

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self.data.models

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(metric.name for metric in self.data.metrics)

    @property
    def primary(self) -> str:
        """The adjustment that answers come from unless another is named.

        Imputation given as much as there is, else the first adjustment that rests on a copula; one that does not vote
        (:attr:`Adjustment.counts_in_ranking`) comes last.
        """
        return preferred([scores for scores in self.results.values() if scores.answered], self.metrics[0])

    @cached_property
    def verdict(self) -> Verdict:
        """Who leads by the first metric under the primary adjustment, and which models are significantly worse.

        At the one dependence that was assumed: the verdict of :meth:`sensitivity` says how far it holds.
        """
        from cocensor.study.verdict import verdict_of

        return verdict_of(self)

    def score(
        self, model: str, metric: str | None = None, adjustment: str | None = None, *, at: float | None = None
    ) -> Score:
        """One score with its sampling error, by default by the first metric and under the primary adjustment.

        Its ``value`` is NaN where the adjustment gives none; its ``skill`` is against the reference curve. ``at`` asks
        for the value at any one time up to the horizon, of a metric at single times or of an average over time.
        """
        check_choice(model, "model", self.models)
        by, scores = scores_at(self, metric_of(self, metric, at), adjustment)
        value, base = scores.value(by.name, model), scores.reference.get(by.name)
        errors = skills = scores.errors.get(by.name)
        about: dict[str, Any] = {"model": model, "metric": by.name, "adjustment": scores.name, "at": by.at}
        if errors is not None:
            has_error = by.has_skill and np.isfinite(by.best) and {model, REFERENCE} <= set(errors.names)
            skills = errors.skills([model], REFERENCE, by.best) if has_error else errors.only([])
        skill = about | _error_of(skills, model)
        skill["value"] = np.nan if base is None else by.skill(value, base.value)
        if not by.has_skill:
            skill["missing"] = f"skill is not defined for the {by.label}"
        notes = missing_notes(scores, self.notes, model) if np.isnan(value) else ()
        about |= _error_of(errors, model) | {"value": value, "range": by.range, "notes": notes}
        return Score(**about, skill=Score(**skill, range=(-np.inf, 1.0)))

    def compare(
        self,
        a: str,
        b: str,
        metric: str | None = None,
        adjustment: str | None = None,
        *,
        at: float | None = None,
    ) -> Comparison:
        """The score of a minus that of b, with its sampling error and the p-value of no difference.

        Both are scored on the same subjects, so that the error of the difference is mostly far smaller than that of
        either score. NaN where one of them has no score.
        """
        for model in (a, b):
            check_choice(model, "model", self.models)
        by, scores = scores_at(self, metric_of(self, metric, at), adjustment)
        errors = scores.errors.get(by.name)
        if errors is not None and {a, b} <= set(errors.names):
            return compare(errors, a, b)
        difference = scores.value(by.name, a) - scores.value(by.name, b)
        why = _error_of(errors, a)["missing"] or _error_of(errors, b)["missing"]
        return Comparison(a, b, float(difference), np.nan, missing=why)

    def table(
        self,
        kind: TableKind = "scores",
        metric: str | None = None,
        adjustment: str | None = None,
        *,
        at: float | None = None,
    ) -> Any:
        """A tidy table, as a data frame: of all metrics and adjustments, or of one.

        Of the library that the covariates came in, else of pandas or pyarrow.

        Parameters
        ----------
        kind : {"scores", "differences", "ranks", "curves", "profiles"}
            Scores: one row per metric, adjustment and model, with error, interval, skill and rank; ``best`` says
            whether the model does not differ significantly from the best, and ``truth`` is the score by true event
            times, where these are known. Differences: one row per pair of models, with p-values adjusted for their
            number. Ranks: by model its rank, the ranks that the intervals of differences leave open (``lowest`` to
            ``highest``), and whether multiple comparisons with the best keep it (``may_be_best``, which allows for the
            number of models). Curves: values over time, with an interval each and a band that holds the whole curve.
            Profiles: the curves behind values at one time, such as ROC curves, likewise.
        metric, adjustment : str, optional
            By default all.
        at : float, optional
            With ``metric``, the value at this time.
        """
        from cocensor.study.tables import table_of

        return table_of(self, kind, metric, adjustment, at)

    def bootstrap(
        self,
        n_resamples: int = 500,
        *,
        seed: int = 0,
        adjustments: str | Sequence[str] | None = None,
        progress: Progress | None = None,
        n_jobs: int | None = None,
    ) -> Evaluation:
        """The same evaluation with errors and intervals from the bootstrap, for any adjustment.

        Test subjects are drawn with replacement, and so are those of the training sample where there is one. To every
        resample the adjustment is fitted again. Joint models start from their fit to all, and keep its columns, knots,
        and kind of times; the weights of their ridges are chosen again. Models, reference curve, horizon and copula
        stay as they are, also a selected copula: intervals are about the given models under that copula. A resample
        without an answer is left out; a note says so where these are more than 5 %, and with half of them there is no
        interval. Intervals are by percentiles; ``confidence_interval(method="basic")`` asks for others.

        Parameters
        ----------
        n_resamples, seed : int
            The same seed draws the same subjects, whatever the number of threads.
        adjustments : str or sequence of str, optional
            Of those evaluated; by default all. The others keep their errors.
        progress : callable, optional
            Called with the number of finished resamples and of all.
        n_jobs : int, optional
            Number of threads; by default one for each core.

        Examples
        --------
        >>> import cocensor as cc
        >>> from cocensor.simulate import SyntheticDesign
        >>> data = SyntheticDesign(n=300, n_features=2).draw(0)
        >>> cox = {k: cc.CoxPH().fit(data.X[:, :k], data.y) for k in (1, 2)}
        >>> curves = {f"{k}": model.predict_survival_function(data.X[:, :k]) for k, model in cox.items()}
        >>> result = cc.evaluate(curves, data.y, adjustments="ipcw", metrics="ibs")
        >>> resampled = result.bootstrap(200)
        >>> for evaluation in (result, resampled):
        ...     print(evaluation.score("2").confidence_interval(), evaluation.compare("1", "2").standard_error)
        ConfidenceInterval(low=0.0987..., high=0.1166...) 0.00109...
        ConfidenceInterval(low=0.0990..., high=0.1158...) 0.00113...
        """
        if self.data.streamed is not None:
            raise ValueError(
                f"an evaluation of {self.data.whole.n:,} test subjects that are read in parts has no bootstrap: its "
                "intervals are analytic."
            )
        how, plan = Resampling(n_resamples, seed), self.plan
        if n_jobs is not None:
            check_whole(n_jobs, "n_jobs")
        chosen: dict[str, AdjustmentScores] = self.results
        if adjustments is None:  # a plan resamples all adjustments, or none
            plan = replace(plan, n_resamples=n_resamples, seed=seed)
        else:
            given = as_tuple(adjustments, "adjustments", str)
            names = [adjustment_named(self.results, name, "adjustments") for name in given]
            chosen = {name: self.results[name] for name in names}
        results = {**self.results, **bootstrapped(self.data, chosen, how, progress, n_jobs)}
        kept = tuple(note for note in self.notes if note.code != "intervals_are_about")
        data = replace(self.data, confidence_level=self.data.level)
        return replace(self, plan=plan, data=data, results=results, notes=(*kept, about_intervals(results)))

    def calibration_curve(
        self, model: str, at: float, adjustment: str | None = None, *, n_groups: int = 10
    ) -> CalibrationCurve:
        """Predicted against observed chances of the event by ``at``, any time up to the horizon.

        See :func:`survival_calibration_curve`.

        Parameters
        ----------
        model : str
            One of the models.
        at : float
            The time.
        adjustment : str, optional
            By default the primary one.
        n_groups : int
            Groups of similar predicted risk, at least 2.

        Returns
        -------
        CalibrationCurve
        """
        check_choice(model, "model", self.models)
        check_whole(n_groups, "n_groups", 2)
        [(weights, read)] = weights_by_fit(self, BrierScore(at).grid(self.data.grid), adjustment, (model,))
        return calibration_at(weights, read[model], self.data.samples.y_test, self.data.level, n_groups)

    def d_calibration(
        self, model: str, adjustment: str | None = None, *, n_cells: int = 10
    ) -> DCalibrationResult:
        """Whether events fall evenly on the levels of predicted curves, with a test; see :func:`d_calibration`.

        Parameters
        ----------
        model : str
            One of the models.
        adjustment : str, optional
            By default the primary one.
        n_cells : int
            Number of cells of equal width, at least 2.

        Returns
        -------
        DCalibrationResult
        """
        check_choice(model, "model", self.models)
        check_whole(n_cells, "n_cells", 2)
        [(weights, read)] = weights_by_fit(self, self.data.grid.from_zero, adjustment, (model,))
        return d_calibration_of(weights, read, self.data.samples.y_test, n_cells, self.data.level)[model]

    def decision_curve(
        self, at: float, adjustment: str | None = None, *, thresholds: npt.ArrayLike | None = None
    ) -> dict[str, DecisionCurve]:
        """By model the net benefit of acting on its predictions for ``at``, over risk thresholds.

        Of all models that predict a chance for this time; see :func:`decision_curve`.
        """
        data, grid = self.data, BrierScore(at).grid(self.data.grid)
        chosen = THRESHOLDS if thresholds is None else as_thresholds(thresholds)
        able = data.scored_by(BrierScore(grid.last))
        by_model: dict[str, DecisionCurve] = {}
        for weights, read in weights_by_fit(self, grid, adjustment, able or self.models):
            by_model |= decision_curve_at(weights, read, data.samples.y_test, chosen, data.level)
        return {name: by_model[name] for name in able}

    def sensitivity(
        self,
        families: str | Sequence[str] | None = None,
        taus: Any = None,
        adjustments: str | Sequence[str] | None = None,
        *,
        hazard_ratios: Any = None,
        hazard_ratio_by: Any = None,
        plausible: Any = None,
        benchmarks: CovariateBenchmarks | None = None,
        progress: Progress | None = None,
    ) -> Sensitivity:
        """Every score over copula families and Kendall's τ, and over the hazard ratio after dropout.

        For the adjustments that rest on a copula. Copula-Graphic curves need an Archimedean family: adjustments that
        rest on them have no answer under others. A family takes part at the τ that it reaches; τ = 0 is independence
        under all of them, and so is a hazard ratio of 1. Families are followed away from it, each point from the one
        before, in parallel threads; the hazard ratio moves with the margins of the fit at independence. What is not
        given is as in the ``sensitivity`` of the plan.

        Parameters
        ----------
        families : str or sequence of str, optional
            By default "clayton", "frank", "gumbel", "joe", "gaussian" and "hazard_ratio".
        taus : array-like, optional
            By default tenths from -0.3, or from the lower end of the plausible range where that lies below, to 0.9,
            and both ends of the plausible range.
        adjustments : str or sequence of str, optional
            Of those evaluated; by default all that rest on a copula.
        hazard_ratios : array-like, optional
            Of the event after a dropout, against those alike who are still under observation; by default 0.5, 1, 1.5,
            2, 3 and 5, and those that imply the τ of both ends of the plausible range, as far as from 0.1 to 10.
        hazard_ratio_by : array-like or str, optional
            Whose ratio moves alone, beside that of everybody: a label for each test subject, the name of a column of
            numbers in ``x_test``, or "reason", the default where ``y_test`` names at least two.
        plausible : (float, float), optional
            From which to which τ the dependence is held plausible; by default from -0.2 to 0.2.
        benchmarks : CovariateBenchmarks, optional
            What :meth:`benchmarks` returned, if it was called already.
        progress : callable, optional
            Called with the number of finished grid points and of all.

        Examples
        --------
        >>> import cocensor as cc
        >>> from cocensor.simulate import SyntheticDesign
        >>> data = SyntheticDesign(n=600, copula=cc.Clayton.from_tau(0.5)).draw(0)
        >>> train, test = data[:300], data[300:]
        >>> cox = {k: cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
        ...        for k in (3, 10)}
        >>> models = {f"{k} covariates": curves for k, curves in cox.items()}
        >>> result = cc.evaluate(models, test.y, test.X, y_train=train.y, metrics="ibs")
        >>> over = result.sensitivity(["clayton", "frank"], [0.0, 0.3, 0.6])
        >>> over.verdict.leader, over.verdict.state
        ('10 covariates', 'settled_at_independence')
        >>> round(over.verdict.robustness.tau, 2), round(over.verdict.robustness.hazard_ratio, 1)
        (0.26, 1.7)
        """
        from cocensor.study.sensitivity.run import sensitivity

        arguments = {"families": families, "taus": taus, "adjustments": adjustments}
        arguments |= {"hazard_ratios": hazard_ratios, "plausible": plausible}
        given = {name: value for name, value in arguments.items() if value is not None}
        checked = vars(SensitivityPlan.of(**given))
        plan = replace(self.plan.sensitivity, **{name: checked[name] for name in given})
        return sensitivity(self, plan, hazard_ratio_by, benchmarks, progress)

    def bounds(self, metric: str | None = None, at: float | None = None) -> Bounds:
        """Bounds of scores and differences, whatever the dependence; see :class:`~cocensor.study.sensitivity.Bounds`.

        Parameters
        ----------
        metric : str, optional
            By default the first of the evaluation. A mean of losses (such as ``"ibs"``, ``"brier"`` or
            ``"net_benefit"``), or the AUC at one time.
        at : float, optional
            Asks for the value at one time.
        """
        from cocensor.study.sensitivity.bounds import find_bounds

        return find_bounds(self, metric_of(self, metric, at))

    def benchmarks(self, progress: Progress | None = None) -> CovariateBenchmarks:
        """Which dependence the measured covariates would induce, had they not been measured: benchmarks of τ.

        Of the training sample where it has covariates, else of the test sample; see :func:`cocensor.plausible_tau`.
        """
        from cocensor.study.sensitivity import plausible_tau

        sample = self.data.samples.learned_from
        sample = sample if sample.x is not None else self.data.samples.test
        if sample.x is None:
            raise ValueError("x_test is needed: benchmarks of dependence are made of covariates.")
        return replace(plausible_tau(sample.x, sample.y, progress=progress), library=self.data.library)

    def suggest_copula(self) -> SuggestedCopula:
        """Which copula fits best, given the predictions and any covariates: a hint, on which no score depends.

        Without an imputation model, given the covariates of the sample that adjustments learn from. What was selected
        for the scores is not selected again.
        """
        if self.data.assumed.hint is not None:
            return self.data.assumed.hint
        fits = [scores.fitted for scores in self.results.values()]
        shared = imputation_among([fitted for fitted in fits if fitted is not None])
        return suggest_copula(self.data.learning.samples, shared)

    def full(
        self, *, sensitivity: Sensitivity | None = None, hint: bool = False, phases: Phases | None = None
    ) -> Report:
        """All that a report shows, to be written: sensitivity, bounds, benchmarks, and curves behind scores.

        Parameters
        ----------
        sensitivity : Sensitivity, optional
            What :meth:`sensitivity` returned, if it was called with other arguments than the default.
        hint : bool
            Whether to select the copula that fits best, too, which may take longer than all the rest.
        phases : callable, optional
            Called with the name of each phase; what it returns is called with the number of finished steps and of all.
        """
        from cocensor.study.report import full_report

        return full_report(self, sensitivity=sensitivity, hint=hint, phases=phases)

    def plot(self, ax: Any = None, *, at_risk: bool = True) -> Any:
        """Values of the first metric over time; returns the axes (a :class:`~cocensor.views.plots.CurveDisplay`).

        Parameters
        ----------
        ax : Axes, optional
            Of Matplotlib, to draw into; by default a new figure.
        at_risk : bool
            Whether numbers at risk stand below the axis.
        """
        return view("plots.CurveDisplay").from_scores(self).plot(ax=ax, at_risk=at_risk)

    def to_json(self, path: str | os.PathLike[str] | None = None, **analyses: Any) -> str:
        """All numbers, with the ``analyses`` of :meth:`to_html`, as text, also written to ``path`` if there is one."""
        from cocensor.study.report import Report

        return Report(self, **analyses).to_json(path)

    def to_html(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        *,
        sensitivity: Sensitivity | None = None,
        bounds: Bounds | Sequence[Bounds] = (),
        benchmarks: CovariateBenchmarks | None = None,
        hint: SuggestedCopula | None = None,
    ) -> Path:
        """The report, one file that needs no network, with the analyses that it is handed.

        ``full().to_html(path)`` runs all that a report has a place for.

        Parameters
        ----------
        path : path
            A file there is replaced.
        title : str, optional
            Its heading.
        sensitivity, bounds, benchmarks, hint
            What :meth:`sensitivity`, :meth:`bounds`, :meth:`benchmarks` and :meth:`suggest_copula` returned.
        """
        from cocensor.study.report import Report

        listed: Any = bounds  # Report takes one alone, too
        return Report(self, sensitivity, listed, benchmarks, hint).to_html(path, title)

    def __repr__(self) -> str:
        return escaped(view("text.terminal.evaluation_as_text")(self))

    def _repr_html_(self) -> str:
        return escaped(view("html.notebook.evaluation_as_html")(self))


def _error_of(errors: Estimates | None, model: str) -> dict[str, Any]:
    """Return the error of a model's score, or why there is none."""
    if errors is None or model not in errors.names:
        return {"standard_error": np.nan, "missing": NOT_ASKED if errors is None else "there is no score"}
    estimate = errors.estimate(model)
    if estimate.standard_error <= _NO_ERROR:
        return {"standard_error": np.nan, "missing": "every subject has the same loss"}
    return {name: getattr(estimate, name) for name in ("standard_error", "replicates", "missing")}
