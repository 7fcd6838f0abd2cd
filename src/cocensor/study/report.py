"""An evaluation with the analyses that are shown beside it: what a report and its numbers are made of."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cocensor._checks import Progress
from cocensor._files import write_whole
from cocensor._views import view
from cocensor.joint import DependenceProfile
from cocensor.metrics import CalibrationCurve, DCalibration, DCalibrationResult, DecisionCurve
from cocensor.study.curves import CurveErrors, MarginCurves, curve_errors, margin_curves, profile_errors
from cocensor.study.data import SuggestedCopula
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import results_of
from cocensor.study.sensitivity import Bounds, CovariateBenchmarks, Sensitivity
from cocensor.study.verdict import Verdict
from cocensor.warnings import FitWarning, collected

#: Called with the name of a phase; what it returns is called with the number of finished steps and of all.
Phases = Callable[[str], Progress]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """An evaluation and the analyses that it is shown with; made by :meth:`Evaluation.full`."""

    evaluation: Evaluation
    sensitivity: Sensitivity | None = None
    bounds: tuple[Bounds, ...] = ()
    #: By default those of the sensitivity analysis.
    benchmarks: CovariateBenchmarks | None = None
    #: By default the one that the scores rest on, if they do.
    hint: SuggestedCopula | None = None
    #: The likelihood over τ behind the hint.
    profile: DependenceProfile | None = None
    #: Survival curves of the sample, under other dependences too.
    survival: MarginCurves | None = None
    #: By metric and adjustment: values over time, and curves behind values at one time, with their errors.
    curves: Mapping[tuple[str, str], CurveErrors] = field(default_factory=dict)
    profiles: Mapping[tuple[str, str], CurveErrors] = field(default_factory=dict)
    #: By adjustment, model and time.
    calibration: Mapping[tuple[str, str, float], CalibrationCurve] = field(default_factory=dict)
    #: By adjustment and model.
    d_calibration: Mapping[tuple[str, str], DCalibrationResult] = field(default_factory=dict)
    #: By adjustment and time, and then by model.
    decision_curves: Mapping[tuple[str, float], dict[str, DecisionCurve]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.sensitivity is not None and self.sensitivity.evaluation.metrics != self.evaluation.metrics:
            names = ", ".join(self.sensitivity.evaluation.metrics)
            raise ValueError(f"sensitivity must have all metrics of the evaluation, but has {names}.")
        bounds: Any = self.bounds
        bounds = (bounds,) if isinstance(bounds, Bounds) else tuple(bounds)
        benchmarks = self.benchmarks or (self.sensitivity and self.sensitivity.benchmarks)
        hint = self.hint or self.evaluation.data.assumed.hint
        for name, value in (("bounds", bounds), ("benchmarks", benchmarks), ("hint", hint)):
            object.__setattr__(self, name, value)

    @property
    def verdict(self) -> Verdict:
        """The verdict of the sensitivity analysis, or the weaker one of the evaluation where there is none."""
        return (self.sensitivity or self.evaluation).verdict

    def bounds_by(self, metric: str | None = None) -> Bounds | None:
        """The bounds of a metric, by default of the first; None where there are none."""
        name = self.evaluation.metrics[0] if metric is None else metric
        return next((bounds for bounds in self.bounds if bounds.metric.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """All numbers and all that they rest on, as JSON can hold them."""
        return dict(view("numbers.report_numbers")(self))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """:meth:`to_dict` as text, also written to ``path`` if there is one."""
        text = str(view("numbers.as_json")(self.to_dict()))
        if path is not None:
            write_whole(path, text + "\n")
        return text

    def to_html(self, path: str | os.PathLike[str], title: str | None = None) -> Path:
        """The report, one file that needs no network; arguments as for :meth:`Evaluation.to_html`."""
        return Path(view("html.write_report")(self, Path(path), title))

    def __repr__(self) -> str:
        shown = [name for name, value in vars(self).items() if name != "evaluation" and value]
        return f"Report of {', '.join(self.evaluation.models)}: {', '.join(shown) or 'scores alone'}"


def full_report(
    evaluation: Evaluation,
    *,
    sensitivity: Sensitivity | None = None,
    hint: bool = False,
    hazard_ratio_by: Any = None,
    phases: Phases | None = None,
    curves: bool = True,
) -> Report:
    """Run all that a report shows; without ``curves``, what is said beside the scores alone."""
    phase = phases or (lambda name: lambda done, total: None)
    report = Report(evaluation)
    phase("Bounds without assumptions")
    with suppress(ValueError):  # some metrics have none
        report = replace(report, bounds=(evaluation.bounds(),))
    if any(scores.adjustment.rests_on_copula and scores.answered for scores in evaluation.results.values()):
        measured = None if sensitivity is None else sensitivity.benchmarks
        if measured is None:
            with suppress(ValueError):  # the plausible range says why
                measured = evaluation.benchmarks(phase("Benchmarks from covariates"))
        if sensitivity is None:
            scoring = phase("Scoring under other dependence")
            sensitivity = evaluation.sensitivity(
                hazard_ratio_by=hazard_ratio_by, benchmarks=measured, progress=scoring
            )
        report = replace(report, sensitivity=sensitivity, benchmarks=measured)
        if hint:
            phase("Looking for the copula that fits best")
            report = replace(report, hint=evaluation.suggest_copula())
    if curves and evaluation.data.confidence_level is not None:
        report = _with_curves(report, phase)
    if curves:
        report = replace(report, survival=margin_curves(evaluation, progress=phase("Survival curves")))
        choice = None if report.hint is None or not hint else report.hint.choice
        if choice is not None and choice.profile_is_quick:
            with collected(FitWarning):  # they are among the notes of the profile
                report = replace(report, profile=choice.profile(progress=phase("Likelihood over τ")))
    return report


def _with_curves(report: Report, phase: Phases) -> Report:
    """Return the report with the curves under the primary adjustment and their errors."""
    evaluation, primary = report.evaluation, report.evaluation.primary
    data, values = evaluation.data, results_of(evaluation).values
    with_curves = data.scored_by(DCalibration())
    shown: dict[str, Any] = defaultdict(dict)
    for k, metric in enumerate(data.metrics):
        phase(f"Intervals of curves: {metric.label}")(k, len(data.metrics))
        scored = values[metric.name]
        time = data.horizon.time if metric.at is None else metric.at
        if any(value.curve is not None for value in scored.values()):
            shown["curves"][metric.name, primary] = curve_errors(evaluation, metric.name)
        if metric.profile_style in ("calibration", "levels"):
            for model in scored:
                shown["calibration"][primary, model, time] = evaluation.calibration_curve(model, time)
                if model in with_curves and (primary, model) not in shown["d_calibration"]:
                    shown["d_calibration"][primary, model] = evaluation.d_calibration(model)
        elif metric.profile_style == "decision" and scored:
            shown["decision_curves"][primary, time] = evaluation.decision_curve(time)
        elif any(value.profile is not None for value in scored.values()):
            shown["profiles"][metric.name, primary] = profile_errors(evaluation, metric.name)
    return replace(report, **shown)
