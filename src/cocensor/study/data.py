"""The data of an evaluation: predictions and outcomes ready to be scored, up to which time, under which copula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import FloatArray, Rows, check_whole, escaped, frame_of_rows
from cocensor._json import finite
from cocensor._notes import Note, noted
from cocensor._views import view
from cocensor.adjustments import EventWeights, Fitted
from cocensor.adjustments.models.joint import design_given
from cocensor.adjustments.samples import Resample, Samples
from cocensor.adjustments.whole import WholeSample
from cocensor.copulas import Copula, Independence
from cocensor.data import Predictions, RiskTable
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeAxis, TimeGrid
from cocensor.estimators import KaplanMeier
from cocensor.inference.influence import Subsample
from cocensor.joint import CopulaChoice, select_copula
from cocensor.joint.design import Design
from cocensor.metrics import Metric
from cocensor.warnings import FitWarning, collected

#: The level of intervals that are wanted where the evaluation itself has none.
DEFAULT_LEVEL = 0.95
#: The name of the reference curve, which no model can have.
REFERENCE = ""
# Curves on grids of their own are kept at the times of the evaluation, if all of them together stay below this.
_MOST_KEPT = 512 * 2**20


@dataclass(frozen=True)
class Horizon:
    """The end of the interval of the scores, who decided it, and why, in words."""

    time: float
    by: Literal["default", "predictions", "asked", "times"]
    reason: str


@dataclass(frozen=True)
class Resampling:
    """A bootstrap: how many samples, and the seed of all of them; ``notes`` say what came of it."""

    n_resamples: int = 500
    seed: int = 0
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        check_whole(self.n_resamples, "n_resamples", 2)
        check_whole(self.seed, "seed", 0)


@dataclass(frozen=True, eq=False)
class AssumedCopula:
    """The copula that adjustments by name assume; "unused" if none does. ``hint`` is behind a "selected" one."""

    copula: Copula = field(default_factory=Independence)
    origin: Literal["selected", "given", "independence", "unused"] = "unused"
    hint: SuggestedCopula | None = None


@dataclass(frozen=True, eq=False)
class Streamed:
    """More test subjects than are held: those at hand were drawn from them."""

    whole: WholeSample
    #: The subjects that adjustments were fitted to, those at hand among them, with the predictions that this took.
    learning: EvaluationData
    #: Where the subjects at hand are among these.
    rows: Rows = field(repr=False)
    #: The names of the metrics whose values are those of all test subjects; others are of the subjects at hand.
    metrics: frozenset[str]
    #: Of all subjects.
    risk_table: RiskTable = field(repr=False)
    #: Numbers of dropouts by reason, the most frequent first.
    reasons: Mapping[str, int] = field(default_factory=dict)

    def subsample(self, n: int) -> Subsample:
        """Return the subjects at hand as a subsample that stands for n, themselves or all."""
        return Subsample(n, self.learning.samples.y_test, self.rows)


@dataclass(frozen=True, eq=False)
class EvaluationData:
    """Predictions and samples to be scored, at which times, by which metrics, and under which copula."""

    #: By model; those whose predictions were refused have none.
    predictions: Mapping[str, Predicted]
    samples: Samples
    #: The times that scores over time are averaged over.
    grid: TimeGrid
    metrics: tuple[Metric, ...]
    models: tuple[str, ...]
    horizon: Horizon
    #: The level of intervals; None where none are wanted.
    confidence_level: float | None = 0.95
    time_axis: TimeAxis = field(default_factory=TimeAxis)
    assumed: AssumedCopula = field(default_factory=AssumedCopula)
    #: The library of the frames that tables are made with; None for pandas or pyarrow.
    library: Any = field(default=None, repr=False)
    #: All test subjects, where these are more than are held.
    streamed: Streamed | None = None
    #: Whom the subjects were drawn from, with replacement, and which rows of these they are.
    drawn_from: tuple[EvaluationData, Rows] | None = field(default=None, repr=False)

    @property
    def times(self) -> FloatArray:
        """The times that scores over time are averaged over, in the order given."""
        return self.grid.times

    @property
    def at(self) -> tuple[float, ...]:
        """The single times that metrics are scored at."""
        return tuple(sorted({metric.at for metric in self.metrics if metric.at is not None}))

    @property
    def level(self) -> float:
        """The level of intervals that are wanted in any case."""
        return self.confidence_level or DEFAULT_LEVEL

    @property
    def covariates(self) -> tuple[str, ...] | None:
        """The columns that adjustments are given; None where they are given none."""
        x = self.samples.x_test if self.samples.x_train is None else self.samples.x_train
        return None if x is None else tuple(x.labels)

    def frame(self, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Any:
        """A data frame of the library that the covariates came in, else of pandas or pyarrow."""
        return frame_of_rows(columns, rows, self.library)

    @cached_property
    def in_order(self) -> tuple[Metric, ...]:
        """The metrics, those that share their times one after the other: first those over all times."""
        single = {by.name: by.single_times == "only" or by.at is not None for by in self.metrics}
        return tuple(sorted(self.metrics, key=lambda by: (single[by.name], by.at or 0.0)))

    @property
    def learning(self) -> EvaluationData:
        """The data of the test subjects that adjustments are fitted to."""
        return self if self.streamed is None else self.streamed.learning

    @property
    def whole(self) -> WholeSample:
        """All test subjects, whether they are held or not."""
        return (
            WholeSample.of(self.samples.y_test, self.samples.test.weight)
            if self.streamed is None
            else self.streamed.whole
        )

    @property
    def anybody_left(self) -> bool:
        """Whether there are dropouts among the test subjects."""
        return self.whole.n_dropouts > 0

    @property
    def risk_table(self) -> RiskTable:
        """The risk table of all test subjects."""
        return self.samples.y_test.risk_table if self.streamed is None else self.streamed.risk_table

    def n_events_by(self, t: float) -> int:
        """The number of all test subjects with the event up to a time, which is the horizon if they are not held."""
        table = self.risk_table
        return int(table.events[table.times <= t].sum())

    def status(self, fitted: Fitted, grid: TimeGrid) -> EventWeights:
        """Return the weights of the test subjects."""
        if self.streamed is None:
            return self.samples.weights(fitted, grid)
        given = self.with_reference(self.grid)
        weights = fitted.weights(self.samples.y_test, grid, self.samples.x_test, given, self.streamed.whole)
        return weights.replaced(subsample=self.streamed.subsample(weights.n))

    def scored_by(self, metric: Metric) -> tuple[str, ...]:
        """The models whose predictions are enough for a metric."""
        able = {name for name, model in self.predictions.items() if metric.can_score(model, self.grid)}
        return tuple(name for name in self.models if name in able)

    def reference(self, grid: TimeGrid) -> Predictions:
        """The Kaplan–Meier curve of the training sample, or of the test sample without one, for everybody."""
        if self.drawn_from is not None:  # the curve is one like the others, and stays as it is
            everyone, rows = self.drawn_from
            return everyone.reference(grid).drawn(rows)
        curve = np.asarray(self._kaplan_meier.predict(grid.sorted, tail="last"))
        everybody = np.broadcast_to(curve, (len(self.samples.y_test), curve.size))
        return Predictions.trusted(grid.sorted, everybody, source="reference curve")

    @cached_property
    def _kaplan_meier(self) -> Any:
        sample = self.learning.samples.learned_from
        return KaplanMeier().fit(sample.y, sample.weight)

    def with_reference(self, grid: TimeGrid) -> dict[str, Predicted]:
        """Predictions as they were given, and the reference curve at some times."""
        return {**self.predictions, REFERENCE: self.reference(grid)}

    def read_at(self, grid: TimeGrid) -> Mapping[str, Predicted]:
        """Predictions as they are scored at some times, the reference among them."""
        return self.at_the_times if grid == self.grid else self.with_reference(grid)

    @cached_property
    def at_the_times(self) -> dict[str, Predicted]:
        """Predictions as they are scored, the reference among them; no curve is read twice where that is affordable."""
        if self.drawn_from is not None:
            everyone, rows = self.drawn_from
            return _drawn(everyone.at_the_times, rows)
        times = self.grid.sorted
        size = sum(8 * len(model) * times.size for model in self.predictions.values())
        kept = dict(self.predictions)
        if self.streamed is None and size <= _MOST_KEPT:
            kept = {name: model.on(times) for name, model in kept.items()}
        return kept | {REFERENCE: self.reference(self.grid)}

    def resampled(self, resample: Resample) -> EvaluationData:
        """Subjects drawn from these, at the same times, without intervals of their own; no prediction is copied."""
        drawn = replace(self, predictions=_drawn(self.predictions, resample.test), samples=resample.samples)
        return replace(drawn, confidence_level=None, drawn_from=(self, resample.test))


def _drawn(predictions: Mapping[str, Predicted], rows: Rows) -> dict[str, Predicted]:
    return {name: model.drawn(rows) for name, model in predictions.items()}


@dataclass(frozen=True, eq=False, repr=False)
class SuggestedCopula:
    """The copula that :func:`select_copula` chose; made by :meth:`Evaluation.suggest_copula`."""

    #: None where none could be made; ``notes`` say why.
    choice: CopulaChoice | None
    #: What event and dropout are conditioned on: what the imputation model conditions on, the covariates of the
    #: sample, or nothing; "own" where a choice was handed over.
    given: Literal["imputation", "covariates", "nothing", "own"]
    #: The columns of what was conditioned on.
    columns: tuple[str, ...] = ()
    #: Whose outcomes it was chosen by; None where a choice was handed over.
    sample: Literal["test", "training"] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def statement(self) -> str:
        """The choice, what it conditions on, and what to think of it, in words."""
        return view("text.fits.hint_in_words")(self)

    def to_dict(self) -> dict[str, Any]:
        """The candidates and what they were chosen given, as JSON can hold it."""
        notes = [note.to_dict() for note in self.notes]
        numbers: dict[str, Any] = {"given": self.given, "columns": list(self.columns), "sample": self.sample}
        numbers |= {"statement": self.statement, "notes": notes}
        if self.choice is None:
            return numbers
        chosen, candidates = self.choice.copula, []
        for name, model in self.choice.models.items():
            validation = finite(self.choice.validation[name])
            losses = {"train_nll": finite(-model.loglik_ / model.n_), "validation_nll": validation}
            traits = {"converged": bool(model.converged_), "chosen": name == chosen.name}
            candidates.append({**_parameters(name, model.copula), **losses, **traits})
        numbers |= _parameters(chosen.name, chosen)
        return {**numbers, "how": self.choice.how, "candidates": candidates}

    def __repr__(self) -> str:
        return escaped(self.statement)


def _parameters(family: str, copula: Copula) -> dict[str, Any]:
    return {"family": family, "theta": float(copula.theta), "tau": float(copula.tau)}


def suggest_copula(samples: Samples, shared: Fitted | None) -> SuggestedCopula:
    """Select a copula given what the shared imputation conditions on; without one, given the sample's covariates."""
    learned_from, columns = samples.learned_from, tuple[str, ...]()
    sample: Literal["test", "training"] = "test" if samples.train is None else "training"
    given: Literal["imputation", "covariates", "nothing"] = "covariates"
    if shared is not None and shared.design is not None:
        learned_from, sample, given = replace(samples.test, x=shared.design), "test", "imputation"
    try:
        x, y = learned_from.x, learned_from.y
        is_design = x is None or isinstance(x, Design)
        design = Design.of(x, len(y)) if is_design else design_given(x, "x", len(y), "y")[0]
        columns = design.columns or tuple(f"x{k}" for k in range(design.n_columns))
        given = given if columns else "nothing"
        with collected(FitWarning) as warned:
            choice = select_copula(design, y, sample_weight=learned_from.weight)
    except ValueError as error:
        return SuggestedCopula(None, given, columns, sample, (noted("no_score", why=str(error)),))
    notes = tuple(noted("warned", why=text) for text in warned)
    return SuggestedCopula(choice, given, columns, sample, notes)
