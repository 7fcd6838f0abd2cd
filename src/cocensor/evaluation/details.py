"""Calibration and benefit of models in full, under the adjustments of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from cocensor._validation import FitWarning, HorizonWarning, check_choice, check_whole, collected
from cocensor.adjustments import Status
from cocensor.curves import Predictions, TimeGrid
from cocensor.evaluation.curve_findings import CurveFindings
from cocensor.metrics import BrierScore, CalibrationCurve, DCalibrationResult, DecisionCurve
from cocensor.metrics.calibration_curve import calibration_at
from cocensor.metrics.d_calibration import d_calibration_of
from cocensor.metrics.decision_curve import decision_curve_at
from cocensor.metrics.net_benefit import THRESHOLDS, as_thresholds


@dataclass(frozen=True, eq=False, repr=False)
class Details(CurveFindings):
    """What stands behind the values of calibration and benefit; each is computed when first asked for."""

    def calibration_curve(
        self, model: str, at: float, adjustment: str | None = None, *, n_groups: int = 10
    ) -> CalibrationCurve:
        """Predicted against observed chances of the event by ``at``, any time up to the horizon.

        By default under the primary adjustment. See :func:`survival_calibration_curve`.

        Parameters
        ----------
        model : str
            One of the models.
        at : float
            The time.
        adjustment : str, optional
            By default the primary one.
        n_groups : int
            Groups of similar predicted risk, at least 2.

        Returns
        -------
        CalibrationCurve
        """
        check_choice(model, "model", self.models)
        check_whole(n_groups, "n_groups", 2)
        grid, y = self._grid_at(at), self.data.samples.y_test
        key = ("calibration", self.under(adjustment).name, model, grid.last, n_groups)

        def compute() -> CalibrationCurve:
            [(status, read)] = self._statuses(grid, adjustment, (model,))
            return calibration_at(status, read[model], y, self._level, n_groups)

        found: CalibrationCurve = self._computed_once(key, compute)
        return found

    def d_calibration(
        self, model: str, adjustment: str | None = None, *, n_cells: int = 10
    ) -> DCalibrationResult:
        """Whether events fall evenly on the levels of predicted curves, with a test; see :func:`d_calibration`.

        Parameters
        ----------
        model : str
            One of the models.
        adjustment : str, optional
            By default the primary one.
        n_cells : int
            Number of cells of equal width, at least 2.

        Returns
        -------
        DCalibrationResult
        """
        check_choice(model, "model", self.models)
        check_whole(n_cells, "n_cells", 2)
        grid, y = self.data.grid.from_zero, self.data.samples.y_test
        key = ("d_calibration", self.under(adjustment).name, model, n_cells)

        def compute() -> DCalibrationResult:
            [(status, read)] = self._statuses(grid, adjustment, (model,))
            of_model: DCalibrationResult = d_calibration_of(status, read, y, n_cells, self._level)[model]
            return of_model

        found: DCalibrationResult = self._computed_once(key, compute)
        return found

    def decision_curve(
        self, at: float, adjustment: str | None = None, *, thresholds: npt.ArrayLike | None = None
    ) -> dict[str, DecisionCurve]:
        """By model the net benefit of acting on its predictions for ``at``, over risk thresholds.

        Of all models that predict a chance for this time; see :func:`decision_curve`.
        """
        chosen = THRESHOLDS if thresholds is None else as_thresholds(thresholds)
        grid, y = self._grid_at(at), self.data.samples.y_test
        key = ("decision_curves", self.under(adjustment).name, grid.last, tuple(chosen.tolist()))
        able = self.data.scored_by(BrierScore(grid.last))

        def compute() -> dict[str, DecisionCurve]:
            found: dict[str, DecisionCurve] = {}
            for status, read in self._statuses(grid, adjustment, able or self.models):
                found |= decision_curve_at(status, read, y, chosen, self._level)
            return {name: found[name] for name in able}

        return dict(self._computed_once(key, compute))

    def computed_details(self, kind: str) -> list[tuple[str, str, Any]]:
        """What was asked for of "calibration", "d_calibration" or "decision_curves": adjustment, model and result.

        The last of its kind where settings differ; decision curves are of all models at once, and have no model.
        """
        found: dict[tuple[Any, ...], Any] = {}
        for key, each in self._analyses.items():
            if key[0] == kind:
                *which, _ = key[1:]  # settings come last
                found[tuple(which)] = each
        return [
            (which[0], "" if kind == "decision_curves" else which[1], each) for which, each in found.items()
        ]

    def _grid_at(self, at: float) -> TimeGrid:
        """One time, not past the horizon."""
        return self.data.grid_of(BrierScore(at))

    def _statuses(
        self, grid: TimeGrid, adjustment: str | None, models: tuple[str, ...]
    ) -> Iterator[tuple[Status, dict[str, Predictions]]]:
        """Who is event-free by each fit that serves some of the models, and what these predict."""
        found = self.under(adjustment)
        for name in models:
            if name not in found.fits:
                missing = (
                    *found.notes_of("missing"),
                    *(note for note in self.notes if note.kind == "missing"),
                )
                why = next(
                    (note.text for note in missing if note.model in (None, name)), "there is no score."
                )
                raise ValueError(f"model {name!r} has no score under {found.name!r}: {why}")
            predicted = self.data.predictions[name]
            if not predicted.known_at(grid.times):
                raise ValueError(f"model must predict survival curves, but {name!r} {predicted.limit}.")
        for fitted, served in found.served:
            names = [name for name in served if name in models]
            if names:
                with collected(HorizonWarning, FitWarning):  # the evaluation has noted them
                    status = self.data.status(fitted, grid)
                if status.until <= grid.last:
                    raise ValueError(f"{found.name!r} has no score from time {status.until:g} on.")
                read = self.data.read_at(grid)
                yield status, {name: read[name] for name in names}
