"""Values over time with their sampling errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor._validation import FitWarning, FloatArray, HorizonWarning, check_choice, collected
from cocensor.evaluation.data import REFERENCE, EvaluationData
from cocensor.evaluation.scores import AdjustmentScores
from cocensor.inference import Estimates
from cocensor.inference.influence import batched_rows
from cocensor.metrics import Metric


@dataclass(frozen=True, eq=False)
class CurveErrors:
    """The values of a metric over time under one adjustment, with rows of their errors (see :class:`Estimates`).

    Of more than 4,096 subjects, random batches of subjects stand for the single ones: standard errors then err by
    about 1 %.

    Attributes
    ----------
    times : array
        In the order given to the evaluation.
    values : dict of array
        By model, at ``times``.
    rows : dict of array
        By model, (rows, times).
    missing : dict of str
        By model, why there are no errors.
    range : pair of float
        Of the metric: what intervals and bands of values are cut to.
    """

    times: FloatArray
    values: dict[str, FloatArray]
    rows: dict[str, FloatArray]
    missing: dict[str, str]
    range: tuple[float, float] = (-np.inf, np.inf)

    def of(self, model: str, minus: str | None = None) -> Estimates:
        """The values of a model, or their differences from those of another, with intervals and a band."""
        for name in (model,) if minus is None else (model, minus):
            check_choice(name, "model", tuple(self.values))
        why = next((self.missing[name] for name in (model, minus) if name in self.missing), None)
        names = tuple(f"{t:g} ({k})" for k, t in enumerate(self.times))
        values = self.values[model] - (0.0 if minus is None else self.values[str(minus)])
        if why is not None:
            return Estimates(
                names, values, np.full((1, values.size), np.nan), missing=dict.fromkeys(names, why)
            )
        if minus is None:
            return Estimates(names, values, self.rows[model], range=self.range)
        return Estimates(names, values, _difference(self.rows[model], self.rows[minus]))


def curve_errors(data: EvaluationData, scores: AdjustmentScores, metric: Metric) -> CurveErrors:
    """The values over time of all models, and of the reference, that have some."""
    found = dict(scores.values[metric.name])
    if metric.name in scores.reference:
        found[REFERENCE] = scores.reference[metric.name]
    values = {name: each.curve for name, each in found.items() if each.curve is not None}
    if not values:
        raise ValueError(f"metric must have values over time, but {metric.name!r} has none.")
    rows: dict[str, FloatArray] = {}
    missing: dict[str, str] = {}
    for fitted in dict.fromkeys(scores.fits.values()):
        served = [name for name, each in scores.fits.items() if each is fitted and name in values]
        try:
            with collected(HorizonWarning, FitWarning):  # the evaluation has noted them
                status = data.samples.status(fitted, data.grid)
                read = {name: data.at_the_times[name] for name in served}
                all_rows = batched_rows(
                    status, metric.functionals_over_time(status, read), data.samples.y_test
                )
        except ValueError as error:
            missing |= dict.fromkeys(served, str(error))
            continue
        rows |= dict(zip(served, np.split(all_rows, max(len(served), 1), axis=1), strict=False))
    return CurveErrors(data.grid.times, values, rows, missing, metric.range)


def _difference(one: FloatArray, other: FloatArray) -> FloatArray:
    """Of rows of the same samples; where nothing was fitted to one of these, its rows are left out."""
    rows = np.zeros((max(len(one), len(other)), one.shape[1]))
    rows[: len(one)] += one
    rows[: len(other)] -= other
    return rows
