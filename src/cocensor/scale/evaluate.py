"""The main job on data beyond memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cocensor._checks import BoolArray, IntArray, Progress, check_whole, library_of
from cocensor._notes import noted
from cocensor._parallel import one_blas_thread
from cocensor.adjustments import EventWeights, Fitted, Imputation
from cocensor.adjustments.gradient import Linearised
from cocensor.adjustments.models.design import wanted_times
from cocensor.adjustments.samples import Samples
from cocensor.adjustments.whole import WholeSample
from cocensor.data import Predictions, Survival
from cocensor.data.predictions import Predicted, Probabilities
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import Subsample
from cocensor.joint import CopulaChoice
from cocensor.metrics import Metric, MetricValue
from cocensor.scale.passes import (
    FitKey,
    Outcomes,
    ScoringPass,
    Stage,
    Sums,
    merged,
    n_outside,
    read_drawn,
    read_everything,
    read_outcomes,
)
from cocensor.scale.reduce import reduce_parts
from cocensor.scale.scan import Columns, Part, Scan
from cocensor.study.data import REFERENCE, EvaluationData, Streamed
from cocensor.study.evaluation import Evaluation
from cocensor.study.plan import Plan, given_fits
from cocensor.study.prepare import prepared, times_of_samples, usable_samples
from cocensor.study.run import assuming, build_evaluation, run
from cocensor.study.scores import AdjustmentScores, Scoring, fits_under, scores_of

# Of all models, so many predictions are kept by default: 1 GiB in double precision. And of so many subjects at most.
_KEPT_VALUES, _MOST_KEPT = 2**27, 1_000_000


def evaluate_scan(scan: Scan, arguments: dict[str, Any]) -> Evaluation:
    """Score the models of a scan, by the arguments of :meth:`Scan.evaluate`."""
    names = ("y_train", "x_train", "n_fit", "n_kept", "client", "progress")
    options = {name: arguments.pop(name) for name in names}
    copula = arguments["copula"]
    options["choice"] = copula if isinstance(copula, CopulaChoice) else None
    return run_scan(scan, Plan.of(**arguments), fits=given_fits(arguments["adjustments"]), **options)


@one_blas_thread
def run_scan(scan: Scan, plan: Plan, **options: Any) -> Evaluation:
    """Do what a plan asks for with the subjects of a scan; the options are those of :class:`_Study`."""
    study = _Study(scan, plan, **options)
    return study.in_memory() if scan.n <= study.most_kept else study.streamed()


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
        kept = min(_KEPT_VALUES // sum(map(self.scan.width, self.scan.models)), _MOST_KEPT)
        if self.n_kept is not None:
            kept = check_whole(self.n_kept, "n_kept")
        #: Who is kept is also fitted to.
        self.most_kept = min(kept, self.n_fit)
        if self.y_train is not None:
            self.y_train = Survival.coerce(self.y_train, "y_train")
        self.imputations = [
            planned.adjustment
            for planned in self.plan.adjustments
            if planned.name not in self.fits and planned.adjustment.needs & {"prediction", "predictions"}
        ]
        #: How often all parts are read, and how often they have been.
        self.n_passes, self._n_read = 2 + bool(self.imputations), 0

    def _reduce(self, work: Callable[[Part], Any]) -> Any:
        """Read all parts once more."""
        parts, before = self.scan.parts, self._n_read * len(self.scan.parts)

        def report(done: int, total: int) -> None:
            if self.progress is not None:
                self.progress(before + done, len(parts) * self.n_passes)

        total = reduce_parts(work, parts, merged, client=self.client, progress=report)
        self._n_read += 1
        return total

    def in_memory(self) -> Evaluation:
        """Evaluate all subjects at once, where there are no more of them than would be kept."""
        self.n_passes = 1
        columns = dict.fromkeys(self.scan.models, slice(None))
        batch = read_drawn(self.scan, self.scan.n, columns, self._reduce)
        predictions = {
            # The parts of a table share the count that they came with.
            name: table.changed(n_rounded=n_outside(table)) if table.n_rounded else table
            for name, table in batch.predictions.items()
        }
        samples = {"y_train": self.y_train, "x_train": self.x_train}
        result = run(self.plan, predictions, batch.y, batch.x, **samples, fits=self.fits, choice=self.choice)
        return replace(result, notes=(*self.scan.notes, *result.notes))

    def streamed(self) -> Evaluation:
        """Evaluate in passes over all subjects."""
        outcomes = read_outcomes(self.scan, self.n_fit, self._reduce)
        drawn = outcomes.drawn.result()
        given = Samples.of(drawn.y, drawn.x, self.y_train, self.x_train)
        as_given = {each.name: self.fits.get(each.name, each.adjustment) for each in self.plan.adjustments}
        samples, notes = usable_samples(given, "all", as_given)
        notes = [*self.scan.notes, *notes]
        times = times_of_samples(self.plan, samples)
        data = prepared(self.plan, samples, self._heads(), times, notes)
        data = replace(data, library=library_of(self.x_train))
        learning = replace(data, predictions=self._scores(data)) if self.imputations else data
        learning, start = assuming(self.plan, learning, self.fits, self.choice, notes)
        adjustments, left_out = self.plan.under(learning.assumed.copula)
        notes += left_out
        fits: dict[str, AdjustmentScores] = {}
        for name, (label, adjustment) in adjustments.items():
            fits[name], start = fits_under(learning, name, label, self.fits.get(name, adjustment), start)
        data = replace(data, assumed=learning.assumed)
        for scores in fits.values():
            for fitted, _ in scores.served:
                fitted.forget()
        scoring = self._scoring_pass(data, fits, outcomes.whole)
        sums = read_everything(scoring, self._reduce)
        notes = [*(noted("rounded", model=name, n=n) for name, n in sorted(sums.n_rounded.items())), *notes]
        kept = _kept_data(scoring, sums, learning, outcomes, drawn.rows)
        results = {
            name: scores_of(_StreamedScoring(kept, name, outcomes.whole, sums), scores)
            for name, scores in fits.items()
        }
        n_fitted, n_kept = len(learning.samples.y_test), len(kept.samples.y_test)
        notes.append(noted("read_in_parts", n=outcomes.whole.n, n_fitted=n_fitted, n_kept=n_kept))
        added_up = {metric for _, metric in sums.by_metric}
        if others := [metric.label for metric in kept.metrics if metric.name not in added_up]:
            notes.append(noted("from_kept_rows", n=n_kept, metrics=others))
        return build_evaluation(self.plan, kept, results, notes)

    def _scoring_pass(
        self, data: EvaluationData, results: Mapping[str, AdjustmentScores], whole: WholeSample
    ) -> ScoringPass:
        """Return what is to be computed of all subjects, with these fits."""
        by_grid: dict[TimeGrid, list[tuple[Metric, frozenset[str]]]] = {}
        for metric in data.in_order:
            # Of order alone, a curve that is alike for all has one half of whatever subjects.
            reference = {REFERENCE} if metric.needs_curves else set()
            scored = frozenset({*data.scored_by(metric), *reference})
            by_grid.setdefault(metric.grid(data.grid), []).append((metric, scored))
        end = data.grid.last
        marks = [t for start in (0.0, float(data.grid.sorted[0])) for t in data.time_axis.marks(start, end)]
        return ScoringPass(
            self.scan,
            tuple(
                Stage(grid, data.reference(grid).probabilities[0], tuple(own))
                for grid, own in by_grid.items()
            ),
            {
                (name, number): (fitted.for_others(), models)
                for name, scores in results.items()
                for number, (fitted, models) in enumerate(scores.served)
            },
            whole,
            data.grid,
            np.unique(np.concatenate(([0.0, end, np.nextafter(end, np.inf)], marks, data.grid.sorted))),
            self.most_kept,
            data.confidence_level is not None,
            tuple(data.predictions),
        )

    def _heads(self) -> dict[str, Predicted]:
        """Return a row of predictions by model: their kind and times, with values of no meaning."""
        heads, first = {}, dict.fromkeys(self.scan.models, slice(0, 1))
        batch = next(self.scan.batches(self.scan.parts[0], first))
        for name in self.scan.models:
            predictions, times = batch.predictions[name], self.scan.grid(name)
            if isinstance(predictions, Predictions) and times is not None:
                predictions = predictions.changed(times=times, probabilities=np.ones((1, times.size)))
            heads[name] = predictions
        return heads

    def _scores(self, data: EvaluationData) -> dict[str, Predicted]:
        """Return the predictions of those drawn at the columns that imputations read."""
        y = data.samples.y_test
        columns = {name: _columns(head, y, self.imputations) for name, head in data.predictions.items()}
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
            grid, differ = self.scan.grid(name), np.flatnonzero(_that_differ(kept[name]))
            if grid is not None and differ.size:
                near = differ[np.abs(grid[differ] - grid[columns[name]][:, None]).argmin(axis=1)]
                columns[name] = np.union1d(np.arange(grid.size)[columns[name]], near)
        return self._read_drawn(columns)

    def _read_drawn(self, columns: Mapping[str, Columns]) -> dict[str, Predicted]:
        predictions = read_drawn(self.scan, self.n_fit, columns, self._reduce).predictions
        return {name: predictions[name] for name in columns}


def _columns(predictions: Predicted, y: Survival, imputations: Sequence[Any]) -> Columns:
    """Return the columns of a model that imputations read, with their neighbours, for the interpolation."""
    are_known = all(isinstance(adjustment, Imputation) for adjustment in imputations)
    if not isinstance(predictions, Predictions) or not are_known:
        return slice(None)
    times, counts = predictions.times, [1, *(adjustment.score_times for adjustment in imputations)]
    wanted = np.concatenate([wanted_times(y, count) for count in counts])
    # A single column would be no curve.
    after = np.clip(np.searchsorted(times, wanted), min(1, times.size - 1), times.size - 1)
    return np.unique(np.maximum(np.concatenate((after - 1, after)), 0))


def _that_differ(predictions: Predicted) -> BoolArray:
    """Return by column whether not all have the same prediction."""
    assert isinstance(predictions, Probabilities)
    return np.asarray(np.ptp(predictions.probabilities, axis=0) > 0)


def _kept_data(
    scoring: ScoringPass, sums: Sums, learning: EvaluationData, outcomes: Outcomes, rows: IntArray
) -> EvaluationData:
    """Return the subjects that were kept of those drawn, with the numbers ``rows``, and what is known of all."""
    kept, samples = sums.kept.result(), learning.samples
    streamed = Streamed(
        outcomes.whole,
        learning,
        np.searchsorted(rows, kept.rows),
        frozenset(metric for _, metric in sums.by_metric),
        sums.risk_table(scoring.counted, kept.y.administrative is not None),
        dict(sorted(outcomes.reasons.most_common(), key=lambda reason: (-reason[1], reason[0]))),
    )
    x = None if samples.x_test is None else kept.x
    return replace(
        learning,
        predictions={name: kept.predictions[name] for name in learning.predictions},
        samples=Samples.of(kept.y, x, samples.y_train, samples.x_train),
        streamed=streamed,
    )


class _StreamedScoring(Scoring):
    """Scores under one adjustment whose values are known, of all subjects."""

    def __init__(self, data: EvaluationData, adjustment: str, whole: WholeSample, sums: Sums) -> None:
        super().__init__(data, adjustment)
        self.whole, self.sums = whole, sums
        #: The fit that answers.
        self.fit: FitKey = (adjustment, -1)

    def answer(self, models: Sequence[str], fitted: Fitted) -> None:
        """Score some models by the next fit."""
        self.fit = (self.adjustment, self.fit[1] + 1)
        super().answer(models, fitted)

    def make_status(self, fitted: Fitted, grid: TimeGrid) -> EventWeights:
        """Return the weights of the subjects kept, up to when there is an answer for all."""
        if (failure := self.sums.failures.get((self.fit, grid))) is not None:
            samples, n = self.data.learning.samples, self.whole.n
            some = f"{len(samples.y_test):,} of the {n:,} test subjects, as n_fit asks."
            is_whole = samples.y_train is not None or len(samples.y_test) == n
            raise ValueError(failure[1] + ("" if is_whole else f" The adjustment is fitted to {some}"))
        status = super().make_status(fitted, grid)
        return fitted.settled(status, self.whole, self.sums.loads.get((self.fit, grid)))

    def evaluate(
        self, fitted: Fitted, metric: Metric, status: EventWeights, read: Mapping[str, Predicted]
    ) -> tuple[dict[str, MetricValue], Linearised | None]:
        """Return the values of all subjects, where they could be added up."""
        place = self.fit, metric.name
        if (failure := self.sums.failures.get(place)) is not None:
            raise ValueError(failure[1])
        if place not in self.sums.by_metric:
            return super().evaluate(fitted, metric, status, read)
        values = self.sums.by_metric[place].result(status.valid_until)
        if others := {name: own for name, own in read.items() if name not in values}:
            values |= metric.evaluate(status, others)
        return {name: values[name] for name in read}, None

    def subsample_for(self, metric: Metric, models: Sequence[str]) -> Subsample | None:
        """Return how the subjects kept stand for all."""
        streamed = self.data.streamed
        if streamed is None or metric.name not in streamed.metrics:
            return None
        # Also that of a reference whose value needs no sums: errors of one metric are made of the same parts.
        subsample = streamed.subsample(self.whole.n)
        total = self.sums.by_metric.get((self.fit, metric.name))
        if total is None or (covariance := total.covariance) is None:
            return subsample
        at = [total.models.index(name) for name in models]
        return replace(subsample, covariance=covariance[np.ix_(at, at)])
