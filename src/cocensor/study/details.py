"""Calibration and benefit of models in full, under the adjustments of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from cocensor._checks import check_choice, check_whole
from cocensor._warnings import FitWarning, HorizonWarning, collected
from cocensor.adjustments import EventWeights
from cocensor.data import Predicted, TimeGrid
from cocensor.metrics import BrierScore, CalibrationCurve, DCalibrationResult, DecisionCurve
from cocensor.metrics.calibration_curve import calibration_at
from cocensor.metrics.d_calibration import d_calibration_of
from cocensor.metrics.decision_curve import decision_curve_at
from cocensor.metrics.net_benefit import THRESHOLDS, as_thresholds
from cocensor.study.scores import missing_notes

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation


def calibration_curve(
    evaluation: Evaluation, model: str, at: float, adjustment: str | None, n_groups: int
) -> CalibrationCurve:
    """See :meth:`Evaluation.calibration_curve`."""
    check_choice(model, "model", evaluation.models)
    check_whole(n_groups, "n_groups", 2)
    data = evaluation.data
    [(status, read)] = _statuses(evaluation, data.grid_of(BrierScore(at)), adjustment, (model,))
    return calibration_at(status, read[model], data.samples.y_test, data.level, n_groups)


def d_calibration(
    evaluation: Evaluation, model: str, adjustment: str | None, n_cells: int
) -> DCalibrationResult:
    """See :meth:`Evaluation.d_calibration`."""
    check_choice(model, "model", evaluation.models)
    check_whole(n_cells, "n_cells", 2)
    data = evaluation.data
    [(status, read)] = _statuses(evaluation, data.grid.from_zero, adjustment, (model,))
    by_model: dict[Any, DCalibrationResult] = d_calibration_of(
        status, read, data.samples.y_test, n_cells, data.level
    )
    return by_model[model]


def decision_curve(
    evaluation: Evaluation, at: float, adjustment: str | None, thresholds: npt.ArrayLike | None
) -> dict[str, DecisionCurve]:
    """See :meth:`Evaluation.decision_curve`."""
    data = evaluation.data
    chosen = THRESHOLDS if thresholds is None else as_thresholds(thresholds)
    grid = data.grid_of(BrierScore(at))
    able = data.scored_by(BrierScore(grid.last))
    by_model: dict[str, DecisionCurve] = {}
    for status, read in _statuses(evaluation, grid, adjustment, able or evaluation.models):
        by_model |= decision_curve_at(status, read, data.samples.y_test, chosen, data.level)
    return {name: by_model[name] for name in able}


def _statuses(
    evaluation: Evaluation, grid: TimeGrid, adjustment: str | None, models: tuple[str, ...]
) -> Iterator[tuple[EventWeights, dict[str, Predicted]]]:
    """Who is event-free by each fit that serves some of the models, and what these predict."""
    data = evaluation.data
    scores = evaluation.results[evaluation.primary if adjustment is None else adjustment]
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
