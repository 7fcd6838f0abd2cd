"""The main job on data beyond memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._notes import Note
from cocensor._parallel import one_blas_thread
from cocensor._validation import IntArray, Progress, check_whole
from cocensor.adjustments import Fitted, Imputation
from cocensor.adjustments.judge import wanted_times
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Independence
from cocensor.curves import Predictions
from cocensor.evaluation.data import EvaluationData
from cocensor.evaluation.options import AskedAdjustment, made_adjustment
from cocensor.evaluation.request import Request, concluded, rounded
from cocensor.evaluation.result import Evaluation
from cocensor.evaluation.scores import fits_under, scores_under
from cocensor.evaluation.times import HorizonRule
from cocensor.metrics import Metric
from cocensor.outcomes import Survival, TimeAxis
from cocensor.stream.assemble import about_bounds, about_subjects, assembled, kept_data, planned
from cocensor.stream.passes import (
    columns_that_differ,
    read_drawn,
    read_everything,
    read_outcomes,
)
from cocensor.stream.run import reduce_parts
from cocensor.stream.source import Batch, Columns, Part, Scan


@one_blas_thread
def evaluate_scan(
    scan: Scan,
    *,
    adjustments: AskedAdjustment | Sequence[AskedAdjustment] | Mapping[str, AskedAdjustment] = "default",
    metrics: str | Metric | Sequence[str | Metric] = "default",
    times: npt.ArrayLike | None = None,
    at: npt.ArrayLike | None = None,
    horizon: HorizonRule = None,
    copula: Any = None,
    y_train: Any = None,
    x_train: Any = None,
    confidence_level: float | None = 0.95,
    n_fit: int = 1_000_000,
    n_kept: int = 100_000,
    client: Any = None,
    progress: Progress | None = None,
    time_name: str | None = None,
    time_unit: str | None = None,
) -> Evaluation:
    """Score the models of a scan; see :meth:`Scan.evaluate`."""
    n_fit, n_kept = check_whole(n_fit, "n_fit"), check_whole(n_kept, "n_kept")
    time_axis = TimeAxis(time_name, time_unit)
    request = Request.of(adjustments, metrics, times, at, horizon, copula, confidence_level, time_axis)
    train = None if y_train is None else Survival.coerce(y_train, "y_train")
    # Who is kept is also fitted to.
    study = _Study(scan, request, train, x_train, n_fit, min(n_kept, n_fit), client, progress)
    return study.in_memory() if scan.n <= study.n_kept else study.streamed()


class _Study:
    """A scan, and what is asked of it."""

    def __init__(
        self,
        scan: Scan,
        request: Request,
        train: Survival | None,
        x_train: Any,
        n_fit: int,
        n_kept: int,
        client: Any,
        progress: Progress | None,
    ) -> None:
        self.scan, self.request, self.train, self.x_train = scan, request, train, x_train
        self.n_fit, self.n_kept = n_fit, n_kept
        made = [made_adjustment(each, Independence()) for each in request.adjustments.values()]
        self.judges = [
            each
            for each in made
            if not isinstance(each, Fitted) and each.needs & {"prediction", "predictions"}
        ]
        self._passes = _Passes(scan, 2 + bool(self.judges), client, progress)

    def in_memory(self) -> Evaluation:
        """Where no more subjects are there than would be kept, all are held."""
        self._passes.total = 1
        everything: dict[str, Columns] = dict.fromkeys(self.scan.models, slice(None))
        batch = read_drawn(self.scan, self.scan.n, everything, self._passes.reduce)
        predictions = {name: _counted(each) for name, each in batch.predictions.items()}
        data, ends, notes = self._data(batch, predictions)
        notes = [
            *(note for name, each in predictions.items() for note in rounded(each.n_rounded, name)),
            *notes,
        ]
        assumed = self.request.assumed(data, notes)
        results = {
            name: scores_under(data, name, label, each)
            for name, (label, each) in self.request.made(assumed, notes).items()
        }
        return concluded(data, results, assumed, ends, notes, (self.x_train,))

    def streamed(self) -> Evaluation:
        """In passes over all subjects."""
        outcomes = read_outcomes(self.scan, self.n_fit, self._passes.reduce)
        rows, data, ends, notes = self._drawn(outcomes.drawn.result())
        learning = replace(data, predictions=self._scores(data)) if self.judges else data
        assumed = self.request.assumed(learning, notes)
        fits = {
            name: fits_under(learning, name, label, each)
            for name, (label, each) in self.request.made(assumed, notes).items()
        }
        for each in fits.values():
            for fitted, _ in each.served:
                fitted.forget()
        plan = planned(self.scan, data, fits, outcomes.whole, self.n_kept)
        sums = read_everything(plan, self._passes.reduce)
        notes = [*(note for name, n in sorted(sums.n_rounded.items()) for note in rounded(n, name)), *notes]
        kept = kept_data(plan, sums, learning, rows, outcomes.reasons)
        results = {name: assembled(kept, plan, sums, each) for name, each in fits.items()}
        notes += [*about_subjects(kept), *about_bounds(kept, results)]
        return concluded(kept, results, assumed, ends, notes, (self.x_train,))

    def _drawn(self, drawn: Batch) -> tuple[IntArray, EvaluationData, Any, list[Note]]:
        """The numbers of the subjects drawn, and what is scored."""
        return drawn.rows, *self._data(drawn, self._heads())

    def _data(
        self, batch: Batch, predictions: Mapping[str, Predictions]
    ) -> tuple[EvaluationData, Any, list[Note]]:
        """What is scored, of subjects with these outcomes; the predictions tell their kind."""
        given = Samples(batch.y, batch.x, self.train, self.x_train)
        samples, notes = self.request.samples(given, "all")
        notes = [*self.scan.notes, *notes]
        scored = self.request.times_of(samples)
        data, ends = self.request.data(samples, predictions, {}, scored, self.scan.models, "all", notes)
        return data, ends, notes

    def _heads(self) -> dict[str, Predictions]:
        """Of each model the predictions of one subject, which tell their kind; the values say nothing."""
        one: dict[str, Columns] = dict.fromkeys(self.scan.models, slice(0, 1))
        found = {}
        for name, each in next(self.scan.batches(self.scan.parts[0], one)).predictions.items():
            times = self.scan.grid(name)
            if times is not None:
                certain = np.ones((1, times.size))
                each = Predictions.trusted(times, certain, each.interpolation, each.tail, each.source)
            found[name] = each
        return found

    def _scores(self, data: EvaluationData) -> dict[str, Predictions]:
        """The predictions of those drawn at the columns that judges read."""
        y = data.samples.y_test
        columns = {name: _columns(each, y, self.judges) for name, each in data.predictions.items()}
        read = self._read_drawn(columns)
        alike = {
            name: where
            for name, where in columns.items()
            if isinstance(where, np.ndarray) and _constant(read[name])
        }
        if not alike:
            return read
        # A judge looks at the nearest columns that differ.
        self._passes.total += 2
        differ = columns_that_differ(self.scan, self.n_fit, tuple(alike), self._passes.reduce)
        for name, where in alike.items():
            grid, found = data.predictions[name].times, differ[name]
            near = found[np.abs(grid[found] - grid[where][:, None]).argmin(axis=1)] if found.size else found
            columns[name] = np.union1d(where, near)
        return self._read_drawn(columns)

    def _read_drawn(self, columns: Mapping[str, Columns]) -> dict[str, Predictions]:
        found = read_drawn(self.scan, self.n_fit, columns, self._passes.reduce).predictions
        return {name: found[name] for name in columns}


class _Passes:
    """How often all parts are read, and how far that has come."""

    def __init__(self, scan: Scan, total: int, client: Any, progress: Progress | None) -> None:
        self.scan, self.total, self.client, self.progress = scan, total, client, progress
        self._done = 0

    def reduce(self, work: Callable[[Part], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Read all parts once more."""
        parts, before = self.scan.parts, self._done * len(self.scan.parts)

        def report(done: int, total: int) -> None:
            if self.progress is not None:
                self.progress(before + done, len(parts) * self.total)

        found = reduce_parts(work, parts, merge, client=self.client, progress=report)
        self._done += 1
        return found


def _columns(predictions: Predictions, y: Survival, judges: Sequence[Any]) -> Columns:
    """The columns of a model that judges read, with their neighbours: between them curves are interpolated."""
    times = predictions.times
    if predictions.risk is not None or not all(isinstance(each, Imputation) for each in judges):
        return slice(None)
    wanted = np.concatenate([wanted_times(y, 1), *(wanted_times(y, each.score_times) for each in judges)])
    # A single column would be no curve.
    after = np.clip(np.searchsorted(times, wanted), min(1, times.size - 1), times.size - 1)
    return np.unique(np.maximum(np.concatenate((after - 1, after)), 0))


def _constant(predictions: Predictions) -> bool:
    """Whether there is a column in which all have the same prediction."""
    table = predictions.probabilities
    return bool((table.min(axis=0) == table.max(axis=0)).any())


def _counted(predictions: Predictions) -> Predictions:
    """With the number of probabilities that are off by rounding, which parts of a table share."""
    if not predictions.n_rounded:
        return predictions
    table = predictions.probabilities
    off = int(np.count_nonzero((table < 0) | (table > 1)))
    return Predictions.trusted(
        predictions.times, table, predictions.interpolation, predictions.tail, predictions.source, off
    )
