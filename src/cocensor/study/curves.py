"""Curves of values with their sampling errors: over time, or behind a value at one time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cocensor._checks import FloatArray, check_choice
from cocensor._warnings import FitWarning, HorizonWarning, collected
from cocensor.adjustments import EventWeights, Linearised
from cocensor.data import Predicted, TimeGrid
from cocensor.inference import Estimates
from cocensor.inference.influence import batched_rows
from cocensor.metrics import Metric, MetricValue
from cocensor.study.data import REFERENCE, EvaluationData
from cocensor.study.evaluation import Evaluation, metric_of, results_of, scores_at
from cocensor.study.scores import AdjustmentScores


@dataclass(frozen=True, eq=False)
class CurveErrors:
    """Curves of several models under one adjustment, with rows of their errors (see :class:`Estimates`).

    Of more than 4,096 subjects, random batches of subjects stand for the single ones: standard errors then err by
    about 1 %.

    Attributes
    ----------
    x : dict of array
        By model, what its curve runs over: the times in the order given to the evaluation, or what
        :attr:`Metric.profile_labels` says.
    values : dict of array
        By model, at ``x``.
    rows : dict of array
        By model, (rows, points).
    missing : dict of str
        By model, why there are no errors.
    range : pair of float
        What intervals and bands of values are cut to.
    """

    x: dict[str, FloatArray]
    values: dict[str, FloatArray]
    rows: dict[str, FloatArray]
    missing: dict[str, str]
    range: tuple[float, float] = (-np.inf, np.inf)

    def of(self, model: str, minus: str | None = None) -> Estimates:
        """The values of a model, or their differences from those of another, with intervals and a band."""
        asked = (model,) if minus is None else (model, minus)
        for name in asked:
            check_choice(name, "model", tuple(self.values))
        if minus is not None and not np.array_equal(self.x[model], self.x[minus]):
            raise ValueError(
                f"minus must have its curve at the points of {model!r}, but {minus!r} has others."
            )
        why = next((self.missing[name] for name in asked if name in self.missing), None)
        names = tuple(f"{x:g} ({k})" for k, x in enumerate(self.x[model]))
        values = self.values[model] - (0.0 if minus is None else self.values[minus])
        if why is not None:
            return Estimates(
                names, values, np.full((1, values.size), np.nan), missing=dict.fromkeys(names, why)
            )
        if minus is None:
            return Estimates(names, values, self.rows[model], range=self.range)
        return Estimates(names, values, _difference(self.rows[model], self.rows[minus]))


def curve_errors(
    evaluation: Evaluation, metric: str | None = None, adjustment: str | None = None
) -> CurveErrors:
    """The values of a metric over time with their sampling errors: intervals, bands, differences of models.

    Of all models, and of the reference, that have some; by default of the first metric under the primary adjustment.
    """
    return _over_time(evaluation.data, results_of(evaluation, adjustment), metric_of(evaluation, metric))


def profile_errors(
    evaluation: Evaluation,
    metric: str | None = None,
    adjustment: str | None = None,
    *,
    at: float | None = None,
) -> CurveErrors:
    """The curves behind the values of a metric at one time, such as ROC curves, with their sampling errors."""
    by, scores = scores_at(evaluation, metric_of(evaluation, metric, at), adjustment)
    return _behind(evaluation.data, scores, by)


def _over_time(data: EvaluationData, scores: AdjustmentScores, metric: Metric) -> CurveErrors:
    found = _found(scores, metric)
    values = {name: each.curve for name, each in found.items() if each.curve is not None}
    if not values:
        raise ValueError(f"metric must have values over time, but {metric.name!r} has none.")
    x = dict.fromkeys(values, data.grid.times)
    rows, missing = _rows(data, scores, metric, x, data.grid, metric.functionals_over_time)
    return CurveErrors(x, values, rows, missing, metric.range)


def _behind(data: EvaluationData, scores: AdjustmentScores, metric: Metric) -> CurveErrors:
    profiles = {
        name: each.profile for name, each in _found(scores, metric).items() if each.profile is not None
    }
    if not profiles:
        raise ValueError(f"metric {metric.name!r} has no profile curve, such as a ROC curve.")
    x, y = ({name: getattr(each, axis) for name, each in profiles.items()} for axis in ("x", "y"))
    rows, missing = _rows(data, scores, metric, x, data.grid_of(metric), metric.profile_functionals)
    return CurveErrors(x, y, rows, missing, metric.profile_range)


def _found(scores: AdjustmentScores, metric: Metric) -> dict[str, MetricValue]:
    """The values of all models, and of the reference, that have one."""
    found = dict(scores.values[metric.name])
    if metric.name in scores.reference:
        found[REFERENCE] = scores.reference[metric.name]
    return found


def _rows(
    data: EvaluationData,
    scores: AdjustmentScores,
    metric: Metric,
    x: dict[str, FloatArray],
    grid: TimeGrid,
    functionals: Callable[[EventWeights, Mapping[str, Predicted]], Linearised],
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """By model the rows of errors of a curve at ``x``, from the status at ``grid``; or why there are none."""
    rows: dict[str, FloatArray] = {}
    missing: dict[str, str] = {}
    streamed, subsample = data.streamed, None
    if streamed is not None and metric.name in streamed.metrics:
        subsample = streamed.subsample(streamed.whole.n)
    for fitted, names in scores.served:
        served = [name for name in names if name in x]
        if not served:
            continue
        try:
            with collected(HorizonWarning, FitWarning):  # the evaluation has noted them
                status = data.status(fitted, grid)
                read = {name: data.read_at(grid)[name] for name in served}
                all_rows = batched_rows(status, functionals(status, read), data.samples.y_test, subsample)
        except ValueError as error:
            missing |= dict.fromkeys(served, str(error))
            continue
        ends = np.cumsum([x[name].size for name in served])[:-1]
        rows |= dict(zip(served, np.split(all_rows, ends, axis=1), strict=True))
    return rows, missing


def _difference(one: FloatArray, other: FloatArray) -> FloatArray:
    """Of rows of the same samples; where nothing was fitted to one of these, its rows are left out."""
    rows = np.zeros((max(len(one), len(other)), one.shape[1]))
    rows[: len(one)] += one
    rows[: len(other)] -= other
    return rows
