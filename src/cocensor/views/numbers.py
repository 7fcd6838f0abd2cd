"""Results as JSON can hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from importlib import metadata
from itertools import combinations
from typing import Any

import numpy as np

from cocensor._checks import escaped
from cocensor._json import plain
from cocensor.adjustments.whole import WholeSample
from cocensor.data import Survival
from cocensor.data.predictions import Predicted, PredictionsAt, RiskScores
from cocensor.inference.comparisons import Comparison
from cocensor.inference.estimates import Estimate
from cocensor.metrics import CalibrationCurve, DecisionCurve, Metric
from cocensor.study.curves import CurveErrors
from cocensor.study.data import Streamed
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import imputation_among
from cocensor.study.ranking import counted, standing
from cocensor.study.report import Report
from cocensor.study.scores import AdjustmentScores
from cocensor.study.sensitivity import Sensitivity
from cocensor.study.sensitivity.grid import Grid
from cocensor.study.tables import pairs_of
from cocensor.views.text.fits import copula_in_words

_CALIBRATION = ("predicted", "observed", "standard_error", "low", "high", "band_low", "band_high")
_CURVES = ("curve_label", "profile_labels", "profile_style")


def as_json(numbers: dict[str, Any]) -> str:
    """The text of :meth:`Report.to_json`."""
    text = json.dumps(numbers, ensure_ascii=False, allow_nan=False, indent=1)
    # Numbers of a list stand on one line; no text has a bare line break.
    text = re.sub(r"\[\n[^\[\]{}\"]*\]", lambda match: re.sub(r"\s+", "", match[0]).replace(",", ", "), text)
    # A surrogate that is escaped in the text of JSON is the same surrogate.
    return escaped(text)


def _attributes(of: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}


def report_numbers(report: Report) -> dict[str, Any]:
    """All numbers of an evaluation and of the analyses beside it, and all that they rest on."""
    evaluation, data = report.evaluation, report.evaluation.data
    y_test, y_train, streamed = data.samples.y_test, data.samples.y_train, data.streamed
    train = None if y_train is None else _subjects(y_train)
    risk_tables = {} if y_train is None else {"train": y_train.risk_table}
    risk_tables["test"] = data.risk_table
    marks, copula = data.time_axis.marks(0.0, data.horizon.time), data.assumed.copula
    at_horizon = {name: int(table.at_risk_at(data.horizon.time)) for name, table in risk_tables.items()}
    fitted = [scores.fitted for scores in evaluation.results.values()]
    imputation = imputation_among([status for status in fitted if status is not None])
    numbers: dict[str, Any] = {
        "cocensor": metadata.version("cocensor"),
        "versions": {name: metadata.version(name) for name in ("numpy", "scipy", "narwhals")},
        "data": {"train": train, "test": _subjects(y_test, streamed), "covariates": data.covariates},
        "horizon": {**asdict(data.horizon), "n_times": int(data.times.size), "at_risk": at_horizon},
        "time": {**asdict(data.time_axis), "label": data.time_axis.label},
        "at_risk": {"times": marks, **{name: table.at_risk_at(marks) for name, table in risk_tables.items()}},
        "at": data.at,
        "copula": {
            "origin": data.assumed.origin,
            "family": copula.name,
            "theta": float(copula.theta),
            "tau": float(copula.tau),
            "in_words": copula_in_words(evaluation),
        },
        "models": [_model(name, data.predictions.get(name)) for name in evaluation.models],
        "reference": "Kaplan–Meier curve, the same for everybody",
        "primary": evaluation.primary,
        "confidence_level": data.confidence_level,
        # What the imputation model conditions on: the columns of z.
        "imputation": None
        if imputation is None or imputation.design is None
        else {"settings": repr(imputation.adjustment), "columns": imputation.design.names_of_effects},
        "adjustments": [_adjustment(evaluation, scores) for scores in evaluation.results.values()],
        "metrics": [_metric(report, metric) for metric in data.metrics],
        "details": _details(report),
        "verdict": report.verdict.to_dict(),
        "checks": [check.to_dict() for check in evaluation.checks],
        "notes": [note.to_dict() for note in evaluation.notes],
    }
    if streamed is not None:
        numbers["streamed"] = {
            "n": streamed.whole.n,
            "n_fitted": len(streamed.learning.samples.y_test),
            "n_kept": len(y_test),
            "metrics": [metric.name for metric in data.metrics if metric.name in streamed.metrics],
        }
    if evaluation.truth is not None:
        numbers["truth"] = _by_model(evaluation.truth.values, lambda value: value.value)
    if report.sensitivity is not None:
        numbers["sensitivity"] = sensitivity_numbers(report.sensitivity)
    analyses: dict[str, Any] = {"profile": report.profile, "survival": report.survival, "hint": report.hint}
    analyses["plausible_tau"] = report.benchmarks
    numbers |= {name: analysis.to_dict() for name, analysis in analyses.items() if analysis is not None}
    if report.bounds:
        numbers["bounds"] = {bounds.metric.name: bounds.to_dict() for bounds in report.bounds}
    return dict(plain(numbers))


# --- the data and how they were scored ------------------------------------------------------------------


def _subjects(y: Survival, streamed: Streamed | None = None) -> dict[str, Any]:
    """Counts of a sample, or of the stream that it was drawn from."""
    whole = WholeSample.of(y) if streamed is None else streamed.whole
    reasons = {reason: int(np.count_nonzero(y.reason == reason)) for reason in y.reasons}
    return {
        "n": whole.n,
        "events": whole.n_events,
        "dropouts": whole.n_dropouts,
        "reasons": reasons if streamed is None else streamed.reasons,
        "administrative": whole.n - whole.n_events - whole.n_dropouts,
        "censored": 1.0 - whole.n_events / whole.n,
        "t_max": whole.t_max,
    }


def _model(name: str, predictions: Predicted | None) -> dict[str, Any]:
    return {
        "name": name,
        "source": None if predictions is None else predictions.source,
        "risk_score": isinstance(predictions, RiskScores),
        "only_at": predictions.time if isinstance(predictions, PredictionsAt) else None,
    }


def _adjustment(evaluation: Evaluation, scores: AdjustmentScores) -> dict[str, Any]:
    return {
        **_attributes(scores, "name", "label"),
        **_attributes(scores.adjustment, "assumption", "rests_on_copula"),
        "settings": repr(scores.adjustment),
        "votes": scores.name in counted(evaluation),
        "notes": [note.to_dict() for note in scores.notes],
        "resampling": scores.resampling and _attributes(scores.resampling, "n_resamples", "seed"),
        "imputation_fit": scores.imputation_fit and scores.imputation_fit.to_dict(),
    }


# --- by metric ------------------------------------------------------------------------------------------


def _metric(report: Report, metric: Metric) -> dict[str, Any]:
    """Numbers by adjustment and model; what there is none of is left out."""
    evaluation = report.evaluation
    results = {name: result for name, result in evaluation.results.items() if result.values[metric.name]}
    values = {name: result.values[metric.name] for name, result in results.items()}
    bases = {name: result.reference.get(metric.name) for name, result in results.items()}
    voting = [name for name in results if name in counted(evaluation)]
    standings = {name: standing(evaluation, metric.name, name) for name in voting}
    return {
        **_attributes(metric, "name", "label", "family", "kind", "at", "direction", "range", *_CURVES),
        "settings": repr(metric),
        "scores": _by_model(values, lambda value: value.value),
        "reference": {name: base and base.value for name, base in bases.items()},
        "ranks": {name: by_name.ranks for name, by_name in standings.items()},
        "best": {name: by_name.best for name, by_name in standings.items()},
        **_scores(report, metric, values),
        "times": evaluation.data.times,
        "curves": _by_model(values, lambda value: value.curve),
        "reference_curves": {
            name: base.curve for name, base in bases.items() if base is not None and base.curve is not None
        },
        "profiles": _by_model(values, lambda value: value.profile and value.profile._asdict()),
    }


def _by_model(
    by: Mapping[str, Mapping[str, Any]], number: Callable[[Any], Any], with_null: bool = False
) -> dict[str, dict[str, Any]]:
    """A number of each model in mappings by model; what is None is left out, or null."""
    return {
        name: {model: value for model, of in models.items() if (value := number(of)) is not None or with_null}
        for name, models in by.items()
    }


def _scores(report: Report, metric: Metric, values: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Skills, and the errors of scores, skills, differences and curves where intervals were asked for."""
    evaluation, level = report.evaluation, report.evaluation.data.confidence_level
    scores = {
        name: {model: evaluation.score(model, metric.name, name) for model in models}
        for name, models in values.items()
    }
    skills = _by_model(
        scores, lambda score: score.skill if score.skill and np.isfinite(score.skill.value) else None
    )
    numbers: dict[str, Any] = {"skill": _by_model(skills, lambda skill: skill.value)}
    if level is None:
        return numbers
    pairs = {name: pairs_of(evaluation, metric, name) for name in values}
    numbers["no_interval"] = _by_model(scores, lambda score: score.missing)
    numbers["comparisons"] = {name: [_comparison(pair, level) for pair in by] for name, by in pairs.items()}
    for prefix, estimates in (("", scores), ("skill_", skills)):
        numbers[f"{prefix}standard_errors"] = _by_model(estimates, lambda score: score.standard_error, True)
        numbers[f"{prefix}intervals"] = _by_model(estimates, partial(_interval, level=level), True)
    for key, errors in (("curve_errors", report.curves), ("profile_errors", report.profiles)):
        numbers[key] = {
            name: _curve_errors(errors[metric.name, name], models, level)
            for name, models in scores.items()
            if (metric.name, name) in errors
        }
    return numbers


def _interval(estimate: Estimate, level: float) -> tuple[float, float] | None:
    ends = estimate.confidence_interval(level)
    return ends if np.isfinite(ends).all() else None


def _comparison(pair: Comparison, level: float) -> dict[str, Any]:
    low, high = pair.confidence_interval(level)
    names = ("a", "b", "difference", "standard_error", "pvalue", "adjusted_pvalue")
    return _attributes(pair, *names) | {"low": low, "high": high}


def _curve_errors(errors: CurveErrors, models: Mapping[str, Any], level: float) -> dict[str, Any]:
    """By model the limits of its values along its curve, each for itself and all at once."""
    numbers = {}
    for model in models:
        if model in errors.values and model not in errors.missing:
            values = errors.of(model)
            band = values.band(level)
            low, high = values.confidence_intervals(level)
            limits = {"low": low, "high": high, "band_low": band.low, "band_high": band.high}
            numbers[model] = {"standard_errors": values.standard_errors, **limits}
    return numbers


# --- calibration and benefit in full --------------------------------------------------------------------


def _details(report: Report) -> dict[str, Any]:
    """By kind the curves in full, each with its adjustment, and model and time where it has such."""
    return {
        "calibration": [
            {
                "adjustment": adjustment,
                "model": model,
                **_attributes(curve, "time", *_CALIBRATION, "counts", "edges"),
                "groups": vars(curve.groups),
                **_summaries(curve),
                "notes": [note.to_dict() for note in curve.notes],
            }
            for (adjustment, model, _), curve in report.calibration.items()
        ],
        "d_calibration": [
            {"adjustment": adjustment, "model": model, **vars(result)}
            for (adjustment, model), result in report.d_calibration.items()
        ],
        "decision_curves": [
            {"adjustment": adjustment, **_decision(curves)}
            for (adjustment, _), curves in report.decision_curves.items()
        ],
    }


def _summaries(curve: CalibrationCurve) -> dict[str, Any]:
    """The single numbers of a calibration curve with their intervals."""
    numbers = {}
    for name in curve.summaries:
        estimate: Estimate = getattr(curve, name)
        low, high = estimate.confidence_interval(curve.confidence_level)
        if name == "observed_expected":
            low, high = curve.observed_expected_interval
        elif name not in ("slope", "intercept"):  # shares, and distances of such
            low, high = np.clip((low, high), 0.0, 1.0)
        numbers[name] = {**_attributes(estimate, "value", "standard_error"), "low": low, "high": high}
    return numbers


def _decision(curves: Mapping[str, DecisionCurve]) -> dict[str, Any]:
    first = next(iter(curves.values()))
    parts = {"net_benefit": "net_benefit", "more_than_treat_all": "difference"}
    return {
        **_attributes(first, "time", "thresholds"),
        "treat_all": first.treat_all._asdict(),
        "models": {
            model: {name: getattr(curve, part)._asdict() for name, part in parts.items()}
            for model, curve in curves.items()
        },
    }


# --- sensitivity ----------------------------------------------------------------------------------------


def sensitivity_numbers(sensitivity: Sensitivity) -> dict[str, Any]:
    """All numbers of a sensitivity analysis; the curves behind values are many, and left out of the second grid."""
    grid, after = sensitivity.over_tau, sensitivity.over_ratio
    numbers: dict[str, Any] = {
        "families": grid.lines,
        "taus": grid.points,
        "statement": sensitivity.statement,
        **_grid(grid),
        "hazard_ratios": {
            adjustment: {
                family: [grid.hazard_ratio(family, tau, adjustment) for tau in grid.points]
                for family in by_family
            }
            for adjustment, by_family in grid.answers.items()
        },
        "changes": _listed(grid, grid.changes),
        "after_dropout": after and {"lines": after.lines, "hazard_ratios": after.points, **_grid(after)},
        "plausible": asdict(sensitivity.plausible),
    }
    for metric, by_adjustment in numbers.get("pairs", {}).items():
        for adjustment, pairs in by_adjustment.items():
            for pair in pairs:
                tips = sensitivity.tipping_points(pair["a"], pair["b"], metric, adjustment)
                pair["tips"] = [vars(tip) for tip in tips]
    return dict(plain(numbers))


def _grid(grid: Grid) -> dict[str, Any]:
    """Values by metric, adjustment, line and model, along the points of a grid."""
    missing = [
        {"adjustment": adjustment, _line_name(grid): line, "why": note.text}
        for (adjustment, line), note in grid.missing.items()
    ]
    numbers: dict[str, Any] = {"primary": grid.primary, "missing": missing}
    parts: dict[str, Callable[[Grid, str, str], Any]] = {"scores": _values, "best": _best}
    level = grid.evaluation.data.confidence_level
    if level is not None:
        numbers["confidence_level"] = level
        parts |= {"errors": _errors, "differences": _differences, "pairs": _pairs}
    return numbers | {name: _by_adjustment(grid, part) for name, part in parts.items()}


def _by_adjustment(grid: Grid, numbers: Callable[[Grid, str, str], Any]) -> dict[str, Any]:
    return {
        metric: {adjustment: numbers(grid, metric, adjustment) for adjustment in grid.answers}
        for metric in grid.evaluation.metrics
    }


def _listed(grid: Grid, parts: Callable[[str, str], Iterable[Any]]) -> list[dict[str, Any]]:
    return [
        {"metric": metric, **asdict(part)}
        for metric in grid.evaluation.metrics
        for adjustment in grid.answers
        for part in parts(metric, adjustment)
    ]


def _line_name(grid: Grid) -> str:
    return "line" if grid.is_of_ratios else "family"


def _values(grid: Grid, metric: str, adjustment: str) -> dict[str, Any]:
    scores = {}
    for line in grid.answers[adjustment]:
        values = [grid.values(line, point, metric, adjustment) for point in grid.points]
        scores[line] = {model: [row.get(model) for row in values] for model in grid.evaluation.models}
    return scores


def _best(grid: Grid, metric: str, adjustment: str) -> dict[str, Any]:
    best = grid.best(metric, adjustment)
    return {line: [by_point.get(point, ()) for point in grid.points] for line, by_point in best.items()}


def _errors(grid: Grid, metric: str, adjustment: str, minus: str | None = None) -> dict[str, Any]:
    """By line and model the errors and limits of scores, or of their differences from those of one model."""
    numbers: dict[str, Any] = {}
    for model in grid.evaluation.models:
        if model == minus:
            continue
        bands = grid.bands(model, minus, metric, adjustment)
        for line, curve in grid.along(model, minus, metric, adjustment).items():
            limits = _attributes(curve, "standard_errors", "low", "high")
            limits |= {"band_low": bands[line].low, "band_high": bands[line].high}
            if minus is not None:
                limits["differences"] = curve.values
            points = grid.answers[adjustment][line]
            numbers.setdefault(line, {})[model] = {
                name: list(map(dict(zip(points, values, strict=True)).get, grid.points))
                for name, values in limits.items()
            }
    return numbers


def _differences(grid: Grid, metric: str, adjustment: str) -> dict[str, Any] | None:
    """Scores minus that of the reference, of the models that have one besides it."""
    if not grid.leaders(metric, adjustment):
        return None
    reference = grid.reference(metric, adjustment)
    lines = "lines" if grid.is_of_ratios else "families"
    return {"reference": reference, lines: _errors(grid, metric, adjustment, reference)}


def _pairs(grid: Grid, metric: str, adjustment: str) -> list[dict[str, Any]]:
    """By pair of models, how far one is better beyond chance, and where their order turns."""
    pairs, line_name = [], _line_name(grid)
    for a, b in combinations(grid.evaluation.models, 2):
        pair = grid.pair(a, b, metric, adjustment)
        if not any(np.isfinite(curve.values).any() for curve in pair.curves.values()):
            continue
        leads = {line: pair.lead(line) for line in (None, *pair.curves)}
        by_line = {line: lead and vars(lead) for line, lead in leads.items()}
        turns = [
            {line_name: point.line, **_attributes(point, "at", "interval", "sign_above")}
            for point in pair.tipping_points()
        ]
        lead = by_line.pop(None)
        pairs.append({"a": a, "b": b, "lead": lead, f"lead_by_{line_name}": by_line, "tipping_points": turns})
    return pairs
