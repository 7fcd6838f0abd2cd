"""Tidy tables of an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from cocensor._checks import FloatArray, check_choice
from cocensor.inference.comparisons import Comparison, indistinguishable_from_best, pairwise
from cocensor.inference.estimates import Estimates
from cocensor.inference.influence import as_estimates
from cocensor.metrics import Metric, MetricValue
from cocensor.study.curves import CurveErrors, curve_errors, profile_errors
from cocensor.study.data import REFERENCE
from cocensor.study.evaluation import NOT_ASKED, Evaluation
from cocensor.study.lookup import adjustment_named, metric_of, scores_at
from cocensor.study.ranking import standing

TableKind = Literal["scores", "differences", "ranks", "curves", "profiles"]
_LIMITS = ("standard_error", "low", "high", "band_low", "band_high")
_PAIR = ("difference", "standard_error", "low", "high", "pvalue", "adjusted_pvalue")
Row = tuple[Any, ...]


def table_of(
    evaluation: Evaluation, kind: TableKind, metric: str | None, adjustment: str | None, at: float | None
) -> Any:
    """See :meth:`Evaluation.table`."""
    check_choice(kind, "kind", get_args(TableKind))
    if at is not None and metric is None:
        raise ValueError(f"metric is needed where at is given, {at:g}.")
    metrics = evaluation.data.metrics
    if metric is not None:
        metrics = (metric_of(evaluation, metric, at),)
        evaluation = _scored_by(evaluation, metrics[0])
    names = (
        tuple(evaluation.results)
        if adjustment is None
        else (adjustment_named(evaluation.results, adjustment),)
    )
    columns, rows = _TABLES[kind](evaluation, metrics, names)
    if metric is not None and not rows and kind in ("curves", "profiles"):
        what = "values over time" if kind == "curves" else "profile curve, such as a ROC curve"
        raise ValueError(f"metric {metrics[0].name!r} has no {what}.")
    return evaluation.data.frame(columns, rows)


def _scored_by(evaluation: Evaluation, metric: Metric) -> Evaluation:
    """The evaluation with the scores of a metric that may be at a time of its own."""
    if metric in evaluation.data.metrics:
        return evaluation
    results = {name: scores_at(evaluation, metric, name)[1] for name in evaluation.results}
    return replace(evaluation, data=replace(evaluation.data, metrics=(metric,)), results=results)


def _scores(
    evaluation: Evaluation, metrics: tuple[Metric, ...], adjustments: tuple[str, ...]
) -> tuple[Row, list[Row]]:
    level, truth = evaluation.data.confidence_level, evaluation.truth
    rows = []
    for by in metrics:
        for name in adjustments:
            found = standing(evaluation, by.name, name)
            for model in evaluation.models:
                score = evaluation.score(model, by.name, name)
                skill = np.nan if score.skill is None else score.skill.value
                rows.append(
                    (
                        *(by.name, name, model, score.value),
                        *(() if level is None else (score.standard_error, *score.confidence_interval(level))),
                        *(skill, found.ranks.get(model), model in found.best),
                        *(() if truth is None else (truth.value(by.name, model),)),
                    )
                )
    errors = () if level is None else ("standard_error", "low", "high")
    known = () if truth is None else ("truth",)
    return ("metric", "adjustment", "model", "score", *errors, "skill", "rank", "best", *known), rows


def model_errors(evaluation: Evaluation, metric: Metric, adjustment: str | None = None) -> Estimates:
    """The scores of all models that have one by a metric, with their errors."""
    by, scores = scores_at(evaluation, metric, adjustment)
    errors = scores.errors.get(by.name)
    if errors is not None:
        return errors.only([name for name in errors.names if name != REFERENCE])
    values = {model: each.value for model, each in scores.values[by.name].items()}
    return as_estimates(values, {}, dict.fromkeys(values, NOT_ASKED))[0]


def pairs_of(evaluation: Evaluation, metric: Metric, adjustment: str | None = None) -> tuple[Comparison, ...]:
    """All pairs of models that have a score compared, with p-values adjusted for their number."""
    return pairwise(model_errors(evaluation, metric, adjustment))


def _differences(
    evaluation: Evaluation, metrics: tuple[Metric, ...], adjustments: tuple[str, ...]
) -> tuple[Row, list[Row]]:
    level = evaluation.data.level
    rows = [
        (
            *(by.name, name, pair.a, pair.b, pair.difference, pair.standard_error),
            *(*pair.confidence_interval(level), pair.pvalue, pair.adjusted_pvalue),
        )
        for by in metrics
        for name in adjustments
        for pair in pairs_of(evaluation, by, name)
    ]
    return ("metric", "adjustment", "a", "b", *_PAIR), rows


def _ranks(
    evaluation: Evaluation, metrics: tuple[Metric, ...], adjustments: tuple[str, ...]
) -> tuple[Row, list[Row]]:
    rows = []
    for by in metrics:
        for name in adjustments:
            ranks = standing(evaluation, by.name, name).ranks
            open_ranks = _open_ranks(evaluation, by, name, list(ranks))
            errors = model_errors(evaluation, by, name)
            errors = errors.only([model for model in errors.names if model in ranks])
            kept = indistinguishable_from_best(errors, by.direction, evaluation.data.level) if ranks else ()
            for model in evaluation.models:
                known = (ranks[model], *open_ranks[model]) if model in ranks else (None, None, None)
                rows.append((by.name, name, model, *known, model in kept))
    return ("metric", "adjustment", "model", "rank", "lowest", "highest", "may_be_best"), rows


def _open_ranks(
    evaluation: Evaluation, metric: Metric, adjustment: str, models: list[str]
) -> dict[str, tuple[int | None, int | None]]:
    """By model the ranks that are left open by the intervals of its differences from the others; None without any."""
    if evaluation.data.confidence_level is None:
        return dict.fromkeys(models, (None, None))
    low, high = dict.fromkeys(models, 1), dict.fromkeys(models, len(models))
    for a, b in combinations(models, 2):
        better = evaluation.compare(a, b, metric.name, adjustment).better(
            metric.direction, evaluation.data.level
        )
        if better is not None:
            high[better] -= 1
            low[b if better == a else a] += 1
    return {model: (low[model], high[model]) for model in models}


def _curves(
    evaluation: Evaluation, metrics: tuple[Metric, ...], adjustments: tuple[str, ...]
) -> tuple[Row, list[Row]]:
    times = evaluation.data.times

    def points(found: MetricValue) -> tuple[FloatArray, FloatArray] | None:
        return None if found.curve is None else (times, found.curve)

    return _lines(evaluation, metrics, adjustments, points, curve_errors, ("time", "value"))


def _profiles(
    evaluation: Evaluation, metrics: tuple[Metric, ...], adjustments: tuple[str, ...]
) -> tuple[Row, list[Row]]:
    def points(found: MetricValue) -> tuple[FloatArray, FloatArray] | None:
        return None if found.profile is None else (found.profile.x, found.profile.y)

    return _lines(evaluation, metrics, adjustments, points, profile_errors, ("x", "y"))


def _lines(
    evaluation: Evaluation,
    metrics: tuple[Metric, ...],
    adjustments: tuple[str, ...],
    points: Callable[[MetricValue], tuple[FloatArray, FloatArray] | None],
    errors_of: Callable[[Evaluation, str, str], CurveErrors],
    axes: tuple[str, str],
) -> tuple[Row, list[Row]]:
    """The points of curves, with limits where intervals were asked for."""
    level, rows = evaluation.data.confidence_level, list[Row]()
    for metric in metrics:
        for name in adjustments:
            by, scores = scores_at(evaluation, metric, name)
            known = {model: points(found) for model, found in scores.values[by.name].items()}
            drawn = {model: curve for model, curve in known.items() if curve is not None}
            errors = None if level is None or not drawn else errors_of(evaluation, by.name, scores.name)
            for model, curve in drawn.items():
                columns = [*curve]
                if level is not None and errors is not None:
                    estimates = errors.of(model)
                    band = estimates.band(level)
                    limits = estimates.confidence_intervals(level)
                    columns += [estimates.standard_errors, *limits, band.low, band.high]
                place = by.name, scores.name, model
                rows += [(*place, *map(float, point)) for point in zip(*columns, strict=True)]
    return ("metric", "adjustment", "model", *axes, *(() if level is None else _LIMITS)), rows


_TABLES = {
    "scores": _scores,
    "differences": _differences,
    "ranks": _ranks,
    "curves": _curves,
    "profiles": _profiles,
}
