"""Tidy tables of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from cocensor._checks import check_choice
from cocensor.inference.comparisons import Comparison, indistinguishable_from_best, pairwise
from cocensor.inference.estimates import Estimates
from cocensor.inference.influence import as_estimates
from cocensor.metrics import Metric
from cocensor.study.curves import curve_errors, curves_of, profile_errors
from cocensor.study.data import REFERENCE
from cocensor.study.evaluation import NOT_ASKED, Evaluation
from cocensor.study.lookup import adjustment_named, metric_of, scores_at
from cocensor.study.ranking import standing

TableKind = Literal["scores", "differences", "ranks", "curves", "profiles"]
_ERRORS = ("standard_error", "low", "high")
Rows = Iterator[tuple[Any, ...]]


def table_of(
    evaluation: Evaluation, kind: TableKind, metric: str | None, adjustment: str | None, at: float | None
) -> Any:
    """See :meth:`Evaluation.table`."""
    check_choice(kind, "kind", get_args(TableKind))
    if at is not None and metric is None:
        raise ValueError(f"metric is needed where at is given, {at:g}.")
    data, names = evaluation.data, list(evaluation.results)
    if metric is not None:
        data = replace(data, metrics=(metric_of(evaluation, metric, at),))
        results = {name: scores_at(evaluation, data.metrics[0], name)[1] for name in names}
        evaluation = replace(evaluation, data=data, results=results)
    if adjustment is not None:
        names = [adjustment_named(evaluation.results, adjustment)]
    errors, bands = ((), ()) if data.confidence_level is None else (_ERRORS, ("band_low", "band_high"))
    truth = () if evaluation.truth is None else ("truth",)
    tables: dict[TableKind, tuple[Callable[[Evaluation, Metric, str], Rows], tuple[str, ...]]] = {
        "scores": (_scores, ("model", "score", *errors, "skill", "rank", "best", *truth)),
        "differences": (_differences, ("a", "b", "difference", *_ERRORS, "pvalue", "adjusted_pvalue")),
        "ranks": (_ranks, ("model", "rank", "lowest", "highest", "may_be_best")),
        "curves": (_curves, ("model", "time", "value", *errors, *bands)),
        "profiles": (partial(_curves, over_time=False), ("model", "x", "y", *errors, *bands)),
    }
    rows_of, columns = tables[kind]
    asked = [(by, name) for by in data.metrics for name in names]
    rows = [(by.name, name, *row) for by, name in asked for row in rows_of(evaluation, by, name)]
    if metric is not None and not rows and kind in ("curves", "profiles"):
        what = "values over time" if kind == "curves" else "profile curve, such as a ROC curve"
        raise ValueError(f"metric {data.metrics[0].name!r} has no {what}.")
    return data.frame(("metric", "adjustment", *columns), rows)


def _scores(evaluation: Evaluation, by: Metric, adjustment: str) -> Rows:
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


def _differences(evaluation: Evaluation, by: Metric, adjustment: str) -> Rows:
    for pair in pairs_of(evaluation, by, adjustment):
        limits = pair.confidence_interval(evaluation.data.level)
        values = pair.difference, pair.standard_error, *limits, pair.pvalue, pair.adjusted_pvalue
        yield pair.a, pair.b, *values


def _ranks(evaluation: Evaluation, by: Metric, adjustment: str) -> Rows:
    level, place = evaluation.data.level, standing(evaluation, by.name, adjustment)
    ranks = place.ranks
    # The ranks that are left open by the intervals of differences from the others.
    open_to = ranks if evaluation.data.confidence_level is not None else ()
    low, high = dict.fromkeys(open_to, 1), dict.fromkeys(open_to, len(ranks))
    for a, b in combinations(open_to, 2):
        better = place.better(a, b)
        if better is not None:
            high[better] -= 1
            low[b if better == a else a] += 1
    errors = model_errors(evaluation, by, adjustment)
    errors = errors.only([model for model in errors.names if model in ranks])
    kept = indistinguishable_from_best(errors, by.direction, level) if ranks else ()
    for model in evaluation.models:
        yield model, ranks.get(model), low.get(model), high.get(model), model in kept


def _curves(evaluation: Evaluation, by: Metric, adjustment: str, over_time: bool = True) -> Rows:
    """The points of curves over time, or behind values at one time, with limits where intervals were asked for."""
    level, errors = evaluation.data.confidence_level, None
    curves = curves_of(evaluation.data, evaluation.results[adjustment].values[by.name], over_time)
    if level is not None and curves:
        errors = (curve_errors if over_time else profile_errors)(evaluation, by.name, adjustment)
    for model, points in curves.items():
        columns = [*points]
        if level is not None and errors is not None:
            estimates = errors.of(model)
            band, limits = estimates.band(level), estimates.confidence_intervals(level)
            columns += [estimates.standard_errors, *limits, band.low, band.high]
        for point in zip(*columns, strict=True):
            yield model, *map(float, point)
