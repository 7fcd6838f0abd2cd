"""The main job on data beyond memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cocensor._checks import BoolArray, Progress, check_whole, library_of
from cocensor._notes import Note
from cocensor._parallel import one_blas_thread
from cocensor.adjustments import Fitted, Imputation
from cocensor.adjustments.models.design import wanted_times
from cocensor.adjustments.samples import Samples
from cocensor.data import Predictions, Survival
from cocensor.data.predictions import Predicted, Probabilities
from cocensor.joint import CopulaChoice
from cocensor.scale.assemble import about_subjects, assembled, kept_data, planned
from cocensor.scale.passes import read_drawn, read_everything, read_outcomes
from cocensor.scale.run import reduce_parts
from cocensor.scale.scan import Batch, Columns, Part, Scan
from cocensor.study.data import EvaluationData
from cocensor.study.evaluation import Evaluation
from cocensor.study.plan import Plan, given_fits
from cocensor.study.prepare import about_censoring, prepared, rounded, times_of_samples, usable_samples
from cocensor.study.run import assuming, build_evaluation, run
from cocensor.study.scores import AdjustmentScores, fits_under

# Of all models, so many predictions are kept by default: 1 GiB in double precision. And of so many subjects at most.
_KEPT_VALUES, _MOST_KEPT = 2**27, 1_000_000


def evaluate_scan(scan: Scan, asked: dict[str, Any]) -> Evaluation:
    """Score the models of a scan, by the arguments of :meth:`Scan.evaluate`."""
    names = ("y_train", "x_train", "n_fit", "n_kept", "client", "progress")
    options = {name: asked.pop(name) for name in names}
    copula = asked["copula"]
    options["choice"] = copula if isinstance(copula, CopulaChoice) else None
    return run_scan(scan, Plan.of(**asked), fits=given_fits(asked["adjustments"]), **options)


@one_blas_thread
def run_scan(scan: Scan, plan: Plan, **options: Any) -> Evaluation:
    """Do what a plan asks for with the subjects of a scan; the options are those of :class:`_Study`."""
    study = _Study(scan, plan, **options)
    return study.in_memory() if scan.n <= study.most_kept else study.streamed()


def _most_kept(scan: Scan) -> int:
    """Return how many subjects are kept by default: those whose predictions take 1 GiB, and no more than 1,000,000."""
    grids = [scan.grid(name) for name in scan.models]
    return min(_KEPT_VALUES // sum(1 if times is None else times.size for times in grids), _MOST_KEPT)


@dataclass(eq=False, kw_only=True)
class _Study:
    """A scan, and what is asked of it: see :meth:`Scan.evaluate`, and for ``fits`` and ``choice`` :func:`run`."""

    scan: Scan = field(kw_only=False)
    plan: Plan = field(kw_only=False)
    y_train: Any = None
    x_train: Any = None
    fits: Mapping[str, Fitted] = field(default_factory=dict)
    choice: CopulaChoice | None = None
    n_fit: int = 1_000_000
    n_kept: int | None = None
    client: Any = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        self.n_fit = check_whole(self.n_fit, "n_fit")
        kept = _most_kept(self.scan) if self.n_kept is None else check_whole(self.n_kept, "n_kept")
        #: Who is kept is also fitted to.
        self.most_kept = min(kept, self.n_fit)
        self.y_train = None if self.y_train is None else Survival.coerce(self.y_train, "y_train")
        self.imputations = [
            each.adjustment
            for each in self.plan.adjustments
            if each.name not in self.fits and each.adjustment.needs & {"prediction", "predictions"}
        ]
        #: How often all parts are read, and how often they have been.
        self.n_passes, self._done = 2 + bool(self.imputations), 0

    def _reduce(self, work: Callable[[Part], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Read all parts once more."""
        parts, before = self.scan.parts, self._done * len(self.scan.parts)

        def report(done: int, total: int) -> None:
            if self.progress is not None:
                self.progress(before + done, len(parts) * self.n_passes)

        found = reduce_parts(work, parts, merge, client=self.client, progress=report)
        self._done += 1
        return found

    def in_memory(self) -> Evaluation:
        """Where no more subjects are there than would be kept, all are held."""
        self.n_passes = 1
        everything: dict[str, Columns] = dict.fromkeys(self.scan.models, slice(None))
        batch = read_drawn(self.scan, self.scan.n, everything, self._reduce)
        predictions = {name: _counted(each) for name, each in batch.predictions.items()}
        samples = {"y_train": self.y_train, "x_train": self.x_train}
        found = run(self.plan, predictions, batch.y, batch.x, **samples, fits=self.fits, choice=self.choice)
        return replace(found, notes=(*self.scan.notes, *found.notes))

    def streamed(self) -> Evaluation:
        """In passes over all subjects."""
        outcomes = read_outcomes(self.scan, self.n_fit, self._reduce)
        drawn = outcomes.drawn.result()
        data, notes = self._data(drawn, self._heads())
        learning = replace(data, predictions=self._scores(data)) if self.imputations else data
        learning, fits = self._fitted(learning, notes)
        data = replace(data, assumed=learning.assumed)
        for each in fits.values():
            for fitted, _ in each.served:
                fitted.forget()
        plan = planned(self.scan, data, fits, outcomes.whole, self.most_kept)
        sums = read_everything(plan, self._reduce)
        notes = [*(note for name, n in sorted(sums.n_rounded.items()) for note in rounded(n, name)), *notes]
        kept = kept_data(plan, sums, learning, drawn.rows, outcomes.reasons)
        results = {name: assembled(kept, plan, sums, each) for name, each in fits.items()}
        notes += about_subjects(kept)
        return build_evaluation(self.plan, kept, results, notes)

    def _data(self, batch: Batch, predictions: Mapping[str, Predicted]) -> tuple[EvaluationData, list[Note]]:
        """What is scored, of subjects with these outcomes; the predictions tell their kind."""
        given = Samples.of(batch.y, batch.x, self.y_train, self.x_train)
        as_they_are = {each.name: self.fits.get(each.name, each.adjustment) for each in self.plan.adjustments}
        samples, notes = usable_samples(given, "all", as_they_are)
        notes = [*self.scan.notes, *notes, *about_censoring(samples)]
        times = times_of_samples(self.plan, samples)
        data = prepared(self.plan, samples, predictions, {}, self.scan.models, times, notes)
        return replace(data, library=library_of(self.x_train)), notes

    def _fitted(
        self, data: EvaluationData, notes: list[Note]
    ) -> tuple[EvaluationData, dict[str, AdjustmentScores]]:
        """What is scored with the copula that is assumed, and all adjustments under it, fitted."""
        data, start = assuming(self.plan, data, self.fits, self.choice, notes)
        adjustments, left_out = self.plan.under(data.assumed.copula)
        notes += left_out
        fitted: dict[str, AdjustmentScores] = {}
        for name, (label, each) in adjustments.items():
            fitted[name], start = fits_under(data, name, label, self.fits.get(name, each), start)
        return data, fitted

    def _heads(self) -> dict[str, Predicted]:
        """Of each model the predictions of one subject, which tell their kind; the values say nothing."""
        one: dict[str, Columns] = dict.fromkeys(self.scan.models, slice(0, 1))
        found = {}
        for name, each in next(self.scan.batches(self.scan.parts[0], one)).predictions.items():
            times = self.scan.grid(name)
            if isinstance(each, Predictions) and times is not None:
                each = each.changed(times=times, probabilities=np.ones((1, times.size)))
            found[name] = each
        return found

    def _scores(self, data: EvaluationData) -> dict[str, Predicted]:
        """The predictions of those drawn at the columns that imputations read."""
        y = data.samples.y_test
        columns = {name: _columns(each, y, self.imputations) for name, each in data.predictions.items()}
        read = self._read_drawn(columns)
        alike: dict[str, Columns] = {
            name: slice(None)
            for name, where in columns.items()
            if isinstance(where, np.ndarray) and not _that_differ(read[name]).all()
        }
        if not alike:
            return read
        # An imputation model looks at the nearest columns that differ, by the subjects kept.
        self.n_passes += 2
        kept = read_drawn(self.scan, self.most_kept, alike, self._reduce).predictions
        for name in alike:
            grid, found, where = self.scan.grid(name), np.flatnonzero(_that_differ(kept[name])), columns[name]
            if grid is not None and found.size:
                near = found[np.abs(grid[found] - grid[where][:, None]).argmin(axis=1)]
                columns[name] = np.union1d(np.arange(grid.size)[where], near)
        return self._read_drawn(columns)

    def _read_drawn(self, columns: Mapping[str, Columns]) -> dict[str, Predicted]:
        found = read_drawn(self.scan, self.n_fit, columns, self._reduce).predictions
        return {name: found[name] for name in columns}


def _columns(predictions: Predicted, y: Survival, imputations: Sequence[Any]) -> Columns:
    """The columns of a model that imputations read, with their neighbours: between them curves are interpolated."""
    if not isinstance(predictions, Predictions) or not all(
        isinstance(each, Imputation) for each in imputations
    ):
        return slice(None)
    times = predictions.times
    wanted = np.concatenate(
        [wanted_times(y, 1), *(wanted_times(y, each.score_times) for each in imputations)]
    )
    # A single column would be no curve.
    after = np.clip(np.searchsorted(times, wanted), min(1, times.size - 1), times.size - 1)
    return np.unique(np.maximum(np.concatenate((after - 1, after)), 0))


def _that_differ(predictions: Predicted) -> BoolArray:
    """By column, whether not all have the same prediction."""
    if not isinstance(predictions, Probabilities):
        return np.ones(1, dtype=bool)
    table = predictions.probabilities
    return np.asarray(table.min(axis=0) < table.max(axis=0))


def _counted(predictions: Predicted) -> Predicted:
    """With the number of probabilities that are off by rounding, which parts of a table share."""
    if not predictions.n_rounded or not isinstance(predictions, Probabilities):
        return predictions
    table = predictions.probabilities
    return predictions.changed(n_rounded=int(np.count_nonzero((table < 0) | (table > 1))))
