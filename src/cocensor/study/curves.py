"""Curves of values with their sampling errors: over time, or behind a value at one time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cocensor._checks import FloatArray, Progress, check_choice
from cocensor._json import plain
from cocensor._parallel import ProgressCount
from cocensor.adjustments import EventWeights
from cocensor.copulas import ArchimedeanCopula, Independence, copula_families
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.estimators import CopulaGraphic, KaplanMeier
from cocensor.inference.estimates import Estimates
from cocensor.inference.influence import batched_rows
from cocensor.metrics import Metric, MetricValue
from cocensor.study.data import EvaluationData
from cocensor.study.lookup import metric_of, results_of, scores_at
from cocensor.study.scores import AdjustmentScores, missing_notes
from cocensor.warnings import FitWarning, HorizonWarning, collected

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation


@dataclass(frozen=True, eq=False)
class CurveErrors:
    """Curves of several models under one adjustment, with rows of their errors (see :class:`Estimates`).

    Of more than 4,096 subjects, random batches of subjects stand for the single ones: standard errors then err by
    about 1 %.
    """

    #: By model, the times in the order given to the evaluation, or what :attr:`Metric.profile_labels` says.
    x: dict[str, FloatArray]
    #: By model, at ``x``.
    values: dict[str, FloatArray]
    #: By model, (rows, points).
    rows: dict[str, FloatArray]
    #: By model, why there are no errors.
    missing: dict[str, str]
    #: What intervals and bands of values are cut to.
    range: tuple[float, float] = (-np.inf, np.inf)

    def of(self, model: str, minus: str | None = None) -> Estimates:
        """The values of a model, or their differences from those of another, with intervals and a band."""
        models = (model,) if minus is None else (model, minus)
        for name in models:
            check_choice(name, "model", tuple(self.values))
        if minus is not None and not np.array_equal(self.x[model], self.x[minus]):
            raise ValueError(
                f"minus must have its curve at the points of {model!r}, but {minus!r} has others."
            )
        names = tuple(f"{x:g} ({k})" for k, x in enumerate(self.x[model]))
        values = self.values[model] - (0.0 if minus is None else self.values[minus])
        why = next((self.missing[name] for name in models if name in self.missing), None)
        if why is not None:
            return Estimates(names, values, np.empty((0, values.size)), missing=dict.fromkeys(names, why))
        if minus is None:
            return Estimates(names, values, self.rows[model], range=self.range)
        # Where nothing was fitted to one of the samples, its rows are left out.
        rows = np.zeros((max(len(self.rows[name]) for name in models), values.size))
        rows[: len(self.rows[model])] += self.rows[model]
        rows[: len(self.rows[minus])] -= self.rows[minus]
        return Estimates(names, values, rows)


def curve_errors(
    evaluation: Evaluation, metric: str | None = None, adjustment: str | None = None
) -> CurveErrors:
    """The values of a metric over time, of all models and the reference, with their sampling errors."""
    by, scores = metric_of(evaluation, metric), results_of(evaluation, adjustment)
    return _with_errors(evaluation.data, by, scores, over_time=True)


def profile_errors(
    evaluation: Evaluation,
    metric: str | None = None,
    adjustment: str | None = None,
    *,
    at: float | None = None,
) -> CurveErrors:
    """The curves behind the values of a metric at one time, such as ROC curves, with their sampling errors."""
    by, scores = scores_at(evaluation, metric_of(evaluation, metric, at), adjustment)
    return _with_errors(evaluation.data, by, scores, over_time=False)


def curves_of(
    data: EvaluationData, values: Mapping[str, MetricValue], over_time: bool
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """By model the points of its curve over time, or of that behind its value at one time, where it has one."""
    if over_time:
        return {name: (data.times, value.curve) for name, value in values.items() if value.curve is not None}
    profiles = {name: value.profile for name, value in values.items()}
    return {name: (profile.x, profile.y) for name, profile in profiles.items() if profile is not None}


def _with_errors(data: EvaluationData, by: Metric, scores: AdjustmentScores, over_time: bool) -> CurveErrors:
    points = curves_of(data, scores.with_reference(by.name), over_time)
    if not points and over_time:
        raise ValueError(f"metric must have values over time, but {by.name!r} has none.")
    if not points:
        raise ValueError(f"metric {by.name!r} has no profile curve, such as a ROC curve.")
    x, values = ({name: curve[axis] for name, curve in points.items()} for axis in range(2))
    if over_time:
        grid, functionals, limits = data.grid, by.functionals_over_time, by.range
    else:
        grid, functionals, limits = by.grid(data.grid), by.profile_functionals, by.profile_range
    rows, missing = dict[str, FloatArray](), dict[str, str]()
    whole = data.streamed if data.streamed is not None and by.name in data.streamed.metrics else None
    subsample = None if whole is None else whole.subsample(whole.whole.n)
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
    return CurveErrors(x, values, rows, missing, limits)


def weights_by_fit(
    evaluation: Evaluation, grid: TimeGrid, adjustment: str | None, models: tuple[str, ...]
) -> Iterator[tuple[EventWeights, dict[str, Predicted]]]:
    """Return the weights by each fit that serves some of the models, and the predictions of these."""
    data, scores = evaluation.data, results_of(evaluation, adjustment)
    for name in models:
        if name not in scores.fits:
            missing = missing_notes(scores, evaluation.notes, name)
            why = missing[0].text if missing else "there is no score."
            raise ValueError(f"model {name!r} has no score under {scores.name!r}: {why}")
        predicted = data.predictions[name]
        if not predicted.known_at(grid.times):
            raise ValueError(f"model must predict survival curves, but {name!r} {predicted.limit}.")
    for fitted, served in scores.served:
        names = [name for name in served if name in models]
        if names:
            with collected(HorizonWarning, FitWarning):  # the evaluation has noted them
                status = data.status(fitted, grid)
            if status.valid_until <= grid.last:
                raise ValueError(f"{scores.name!r} has no score from time {status.valid_until:g} on.")
            read = data.read_at(grid)
            yield status, {name: read[name] for name in names}


_TAUS = (0.2, 0.5, 0.8)
_N_POINTS = 200


@dataclass(frozen=True, eq=False)
class MarginCurves:
    """Survival curves of one sample: by Kaplan–Meier, and by Copula-Graphic under other dependences."""

    #: The test sample only where there is no other.
    sample: Literal["training", "test"]
    times: FloatArray
    kaplan_meier: FloatArray
    #: By family and τ, at ``times``.
    copula_graphic: dict[str, dict[float, FloatArray]]
    #: At a few round times.
    at_risk: dict[float, int]

    def to_dict(self) -> dict[str, Any]:
        """The curves as JSON can hold them; those of a family in the order of ``taus``."""
        by_family = self.copula_graphic.items()
        numbers = {name: getattr(self, name) for name in ("sample", "times", "kaplan_meier")} | {
            "taus": _TAUS,
            "copula_graphic": {name: [by_tau[tau] for tau in _TAUS] for name, by_tau in by_family},
            "at_risk": {"times": list(self.at_risk), "n": list(self.at_risk.values())},
        }
        return dict(plain(numbers))

    def __repr__(self) -> str:
        return f"MarginCurves({self.sample} sample, {', '.join(self.copula_graphic)})"


def margin_curves(evaluation: Evaluation, progress: Progress | None = None) -> MarginCurves:
    """Return Kaplan–Meier's curve, and the Copula-Graphic ones of every Archimedean family at three τ.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1, 2, 3, 4], [1, 0, 1, 1])
    >>> result = cc.evaluate({"half": [[0.5, 0.5]] * 4}, y, times=[1.0, 3.0], adjustments="ipcw")
    >>> curves = margin_curves(result)
    >>> float(curves.kaplan_meier[-1]), round(float(curves.copula_graphic["clayton"][0.5][-1]), 3)
    (0.375, 0.269)
    """
    samples = evaluation.data.samples
    y, weight = samples.learned_from.y, samples.learned_from.weight
    times = np.linspace(0.0, min(evaluation.data.horizon.time, samples.learned_from.t_max), _N_POINTS)
    families = {
        name: family
        for name, family in copula_families().items()
        if issubclass(family, ArchimedeanCopula) and family is not Independence
    }
    curves: dict[str, dict[float, FloatArray]] = {name: {} for name in families}
    finished = ProgressCount(len(families) * len(_TAUS), progress)
    for name, tau in product(families, _TAUS):
        graphic = CopulaGraphic(families[name].from_tau(tau)).fit(y, weight)
        curves[name][tau] = np.asarray(graphic.predict(times))
        finished.count()
    sample: Literal["training", "test"] = "test" if samples.y_train is None else "training"
    marks = evaluation.data.time_axis.marks(0.0, float(times[-1]))
    at_risk = dict(zip(marks, y.risk_table.at_risk_at(marks).tolist(), strict=True))
    return MarginCurves(
        sample, times, np.asarray(KaplanMeier().fit(y, weight).predict(times)), curves, at_risk
    )
