"""An evaluation with the analyses that are shown beside it: what a report and its numbers are made of."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, Progress
from cocensor._files import write_whole
from cocensor._views import view
from cocensor.data.predictions import RiskScores
from cocensor.data.times import TimeGrid
from cocensor.joint import DependenceProfile
from cocensor.metrics import BrierScore, CalibrationCurve, DCalibration, DCalibrationResult, DecisionCurve
from cocensor.study.curves import CurveErrors, MarginCurves, curve_errors, margin_curves, profile_errors
from cocensor.study.data import SuggestedCopula
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import results_of
from cocensor.study.sensitivity import Bounds, CovariateBenchmarks, Sensitivity
from cocensor.study.verdict import Verdict
from cocensor.warnings import FitWarning, HorizonWarning, collected

# At so many times, from 0 to the horizon, it is counted who is event-free.
_N_EVENT_FREE = 61
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
    #: By hazard ratio after dropout, the share of the test subjects that is event-free at equally spaced times.
    event_free: Mapping[float, FloatArray] = field(default_factory=dict)
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

    @property
    def paragraph(self) -> str:
        """Methods and result in five sentences, with the numbers filled in, for a manuscript."""
        return str(view("text.face.paragraph")(self))

    def minimal_table(self) -> MinimalTable:
        """The table of a paper, one line for each model; ``to_markdown`` and ``to_latex`` write it.

        Examples
        --------
        >>> import cocensor as cc
        >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
        >>> curves = {"good": [[0.6, 0.2], [0.9, 0.2], [0.8, 0.4], [0.9, 0.7]], "flat": [[0.7, 0.4]] * 4}
        >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics="ibs")
        >>> print(result.full().minimal_table().to_markdown())
        | Model | Integrated Brier score (95% CI) | Difference to best (95% CI) | Better than Kaplan–Meier |
        | --- | --- | --- | --- |
        | good | 0.10 (0.04 to 0.17) |  | yes |
        | flat | 0.21 (0.12 to 0.31) | +0.108 (0.020 to 0.196) | cannot tell |
        """
        columns, rows = view("text.face.minimal_rows")(self)
        return MinimalTable(columns, rows)

    @property
    def fingerprint(self) -> str:
        """A short code that changes with any outcome, prediction or covariate that was scored."""
        data, digest = self.evaluation.data, sha256()
        for y in (data.samples.y_test, data.samples.y_train):
            if y is not None:
                for part in (y.time, y.event, y.dropout):
                    digest.update(np.ascontiguousarray(part).tobytes())
        for name, predictions in data.predictions.items():
            digest.update(name.encode(errors="backslashreplace"))
            read = (
                predictions.risk
                if isinstance(predictions, RiskScores)
                else predictions.read(data.times, slice(None))
            )
            digest.update(np.ascontiguousarray(read).tobytes())
        return digest.hexdigest()[:12]

    def __repr__(self) -> str:
        shown = [name for name, value in vars(self).items() if name != "evaluation" and value]
        return f"Report of {', '.join(self.evaluation.models)}: {', '.join(shown) or 'scores alone'}"


@dataclass(frozen=True)
class MinimalTable:
    """Texts in rows below the names of columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_markdown(self) -> str:
        """The table in Markdown."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |" for line in lines)

    def to_latex(self) -> str:
        """The table in LaTeX, with the rules of booktabs."""
        head, *body = (" & ".join(map(_in_latex, line)) + r" \\" for line in (self.columns, *self.rows))
        start = f"\\begin{{tabular}}{{{'l' * len(self.columns)}}}"
        return "\n".join([start, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"])


def _in_latex(text: str) -> str:
    for sign in "\\&%$#_{}":
        text = text.replace(sign, r"\textbackslash " if sign == "\\" else f"\\{sign}")
    return (
        text.replace("−", "$-$")
        .replace("–", "--")
        .replace("τ", r"$\tau$")
        .replace("<", "$<$")
        .replace(">", "$>$")
    )


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
    if curves and report.sensitivity is not None:
        report = replace(report, event_free=event_free_under(report.sensitivity))
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
    # Whether to act on predictions is the question of a clinic, whatever the metrics.
    at = data.at[len(data.at) // 2] if data.at else data.horizon.time
    if not shown["decision_curves"] and data.scored_by(BrierScore(at)):
        with suppress(ValueError):
            shown["decision_curves"][primary, at] = evaluation.decision_curve(at)
    return replace(report, **shown)


def event_free_under(sensitivity: Sensitivity) -> dict[float, FloatArray]:
    """Return by hazard ratio after dropout the share that is event-free: at 1, and at the ends of the plausible range.

    Nothing without such ratios, or of a sample that is not held.
    """
    verdict, grid = sensitivity.verdict, sensitivity.over_ratio
    course = next((course for course in verdict.courses if course.is_ratio), None)
    data = sensitivity.evaluation.data
    fitted = sensitivity.evaluation.results[verdict.adjustment].fitted
    if (
        grid is None
        or course is None
        or course.plausible is None
        or data.streamed is not None
        or fitted is None
    ):
        return {}
    shares = {}
    times = TimeGrid.of(np.linspace(0.0, data.grid.last, _N_EVENT_FREE))
    for ratio in sorted({course.plausible[0], 1.0, course.plausible[1]}):
        with collected(HorizonWarning, FitWarning):
            status = data.status(fitted.with_hazard_ratio(ratio), times)
        shares[ratio] = status.a.sum(axis=0) / status.normaliser
    return shares
