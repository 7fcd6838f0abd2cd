"""Tidy tables of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from cocensor._checks import FloatArray, check_choice
from cocensor.inference.comparisons import Comparison, indistinguishable_from_best, pairwise
from cocensor.inference.estimates import Estimates
from cocensor.inference.influence import as_estimates
from cocensor.metrics import Metric
from cocensor.study.curves import CurveErrors, curve_errors, profile_errors
from cocensor.study.data import REFERENCE
from cocensor.study.evaluation import NOT_ASKED, Evaluation
from cocensor.study.lookup import adjustment_named, metric_of, scores_at
from cocensor.study.ranking import standing

TableKind = Literal["scores", "differences", "ranks", "curves", "profiles"]
_ERRORS = ("standard_error", "low", "high")
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
    names = list(evaluation.results)
    if adjustment is not None:
        names = [adjustment_named(evaluation.results, adjustment)]
    rows_of = _ROWS[kind]
    rows = [
        (by.name, name, *row) for by in metrics for name in names for row in rows_of(evaluation, by, name)
    ]
    if metric is not None and not rows and kind in ("curves", "profiles"):
        what = "values over time" if kind == "curves" else "profile curve, such as a ROC curve"
        raise ValueError(f"metric {metrics[0].name!r} has no {what}.")
    errors = () if evaluation.data.confidence_level is None else _ERRORS
    bands = () if evaluation.data.confidence_level is None else ("band_low", "band_high")
    truth = () if evaluation.truth is None else ("truth",)
    columns: dict[TableKind, tuple[str, ...]] = {
        "scores": ("model", "score", *errors, "skill", "rank", "best", *truth),
        "differences": ("a", "b", "difference", *_ERRORS, "pvalue", "adjusted_pvalue"),
        "ranks": ("model", "rank", "lowest", "highest", "may_be_best"),
        "curves": ("model", "time", "value", *errors, *bands),
        "profiles": ("model", "x", "y", *errors, *bands),
    }
    return evaluation.data.frame(("metric", "adjustment", *columns[kind]), rows)


def _scored_by(evaluation: Evaluation, metric: Metric) -> Evaluation:
    """The evaluation with the scores of a metric that may be at a time of its own."""
    if metric in evaluation.data.metrics:
        return evaluation
    results = {name: scores_at(evaluation, metric, name)[1] for name in evaluation.results}
    return replace(evaluation, data=replace(evaluation.data, metrics=(metric,)), results=results)


def _scores(evaluation: Evaluation, by: Metric, adjustment: str) -> Iterator[Row]:
    level, truth = evaluation.data.confidence_level, evaluation.truth
    place = standing(evaluation, by.name, adjustment)
    for model in evaluation.models:
        score = evaluation.score(model, by.name, adjustment)
        errors = () if level is None else (score.standard_error, *score.confidence_interval(level))
        skill = np.nan if score.skill is None else score.skill.value
        true = () if truth is None else (truth.value(by.name, model),)
        yield model, score.value, *errors, skill, place.ranks.get(model), model in place.best, *true


def model_errors(evaluation: Evaluation, metric: Metric, adjustment: str | None = None) -> Estimates:
    """The scores of all models that have one by a metric, with their errors."""
    by, scores = scores_at(evaluation, metric, adjustment)
    errors = scores.errors.get(by.name)
    if errors is not None:
        return errors.only([name for name in errors.names if name != REFERENCE])
    values = {model: value.value for model, value in scores.values[by.name].items()}
    return as_estimates(values, {}, dict.fromkeys(values, NOT_ASKED))[0]


def pairs_of(evaluation: Evaluation, metric: Metric, adjustment: str | None = None) -> tuple[Comparison, ...]:
    """All pairs of models that have a score compared, with p-values adjusted for their number."""
    return pairwise(model_errors(evaluation, metric, adjustment))


def _differences(evaluation: Evaluation, by: Metric, adjustment: str) -> Iterator[Row]:
    for pair in pairs_of(evaluation, by, adjustment):
        limits = pair.confidence_interval(evaluation.data.level)
        values = pair.difference, pair.standard_error, *limits, pair.pvalue, pair.adjusted_pvalue
        yield pair.a, pair.b, *values


def _ranks(evaluation: Evaluation, by: Metric, adjustment: str) -> Iterator[Row]:
    ranks = standing(evaluation, by.name, adjustment).ranks
    open_ranks = _open_ranks(evaluation, by, adjustment, list(ranks))
    errors = model_errors(evaluation, by, adjustment)
    errors = errors.only([model for model in errors.names if model in ranks])
    kept = indistinguishable_from_best(errors, by.direction, evaluation.data.level) if ranks else ()
    for model in evaluation.models:
        places = (ranks[model], *open_ranks[model]) if model in ranks else (None, None, None)
        yield model, *places, model in kept


def _open_ranks(
    evaluation: Evaluation, metric: Metric, adjustment: str, models: list[str]
) -> dict[str, tuple[int | None, int | None]]:
    """By model the ranks that are left open by the intervals of its differences from the others; None without any."""
    level = evaluation.data.confidence_level
    if level is None:
        return dict.fromkeys(models, (None, None))
    low, high = dict.fromkeys(models, 1), dict.fromkeys(models, len(models))
    for a, b in combinations(models, 2):
        better = evaluation.compare(a, b, metric.name, adjustment).better(metric.direction, level)
        if better is not None:
            high[better] -= 1
            low[b if better == a else a] += 1
    return {model: (low[model], high[model]) for model in models}


def _curves(evaluation: Evaluation, by: Metric, adjustment: str) -> Iterator[Row]:
    values, times = evaluation.results[adjustment].values[by.name], evaluation.data.times
    curves = {model: (times, value.curve) for model, value in values.items() if value.curve is not None}
    return _with_limits(evaluation, by, adjustment, curves, curve_errors)


def _profiles(evaluation: Evaluation, by: Metric, adjustment: str) -> Iterator[Row]:
    values = evaluation.results[adjustment].values[by.name]
    curves = {
        m: (value.profile.x, value.profile.y) for m, value in values.items() if value.profile is not None
    }
    return _with_limits(evaluation, by, adjustment, curves, profile_errors)


def _with_limits(
    evaluation: Evaluation,
    by: Metric,
    adjustment: str,
    curves: dict[str, tuple[FloatArray, FloatArray]],
    errors_of: Callable[[Evaluation, str, str], CurveErrors],
) -> Iterator[Row]:
    """The points of curves, with limits where intervals were asked for."""
    level = evaluation.data.confidence_level
    errors = None if level is None or not curves else errors_of(evaluation, by.name, adjustment)
    for model, points in curves.items():
        columns = [*points]
        if level is not None and errors is not None:
            estimates = errors.of(model)
            band, limits = estimates.band(level), estimates.confidence_intervals(level)
            columns += [estimates.standard_errors, *limits, band.low, band.high]
        for point in zip(*columns, strict=True):
            yield model, *map(float, point)


_ROWS: dict[TableKind, Callable[[Evaluation, Metric, str], Iterator[Row]]] = {
    "scores": _scores,
    "differences": _differences,
    "ranks": _ranks,
    "curves": _curves,
    "profiles": _profiles,
}
