"""One evaluation over assumed dependences: families of copulas along Kendall's τ, and hazard ratios after dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import methodcaller
from threading import Event
from typing import Any

import numpy as np

from cocensor._checks import BoolArray, FloatArray, Progress, check_length, refuse_at, spelled, to_numpy
from cocensor._notes import Note, noted
from cocensor._parallel import ProgressCount, in_threads, one_blas_thread
from cocensor.adjustments import Adjustment, Fitted
from cocensor.adjustments.samples import Samples
from cocensor.copulas import Independence, copula_families
from cocensor.copulas.registry import walks_from_independence
from cocensor.data.covariates import column_names
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import adjustment_named
from cocensor.study.plan import HAZARD_RATIO, RATIOS, SensitivityPlan, as_ratios, check_has_ratios
from cocensor.study.scores import AdjustmentScores, refit, score_refit
from cocensor.study.sensitivity.benchmarks import CovariateBenchmarks, PlausibleRange
from cocensor.study.sensitivity.grid import ALL, Answers, Grid
from cocensor.study.sensitivity.result import Sensitivity
from cocensor.warnings import FitWarning, HorizonWarning, collected

# Of the τ by default, in tenths: the first, where nothing below it is plausible, and the last.
_FIRST_TENTH, _LAST_TENTH = -3, 9
# Groups whose hazard ratio moves alone.
_MOST_GROUPS = 12
Missing = dict[tuple[str, str], Note]


@one_blas_thread
def sensitivity(
    evaluation: Evaluation,
    plan: SensitivityPlan,
    hazard_ratio_by: Any = None,
    benchmarks: CovariateBenchmarks | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Score all models again under every family and τ, and every hazard ratio; see :meth:`Evaluation.sensitivity`."""
    measured = _measured(evaluation) if benchmarks is None else benchmarks
    held = PlausibleRange.of(evaluation, measured, plan.plausible)
    grid = np.array(default_taus(held) if plan.taus is None else plan.taus)
    lines = None
    if plan.with_ratios:
        ratios = RATIOS if plan.hazard_ratios is None else plan.hazard_ratios
        lines = RatioLines.of(ratios, hazard_ratio_by, evaluation.data.samples)
    elif hazard_ratio_by is not None:
        check_has_ratios(plan.families, "hazard_ratio_by")
    varied = [name for name, each in evaluation.results.items() if each.varies_with_copula]
    if plan.adjustments is not None:
        varied = [
            adjustment_named(evaluation.results, name, varied, argument="adjustments")
            for name in plan.adjustments
        ]
    if not varied:
        raise ValueError("adjustments must include one that depends on a copula: no other changes with τ.")
    over_tau, over_ratio = _Grid(varied), _Grid(varied)
    # The longest first, so that no thread is left alone with them.
    walks = [
        (name, walk)
        for name in reversed(varied)
        for walk in _walks(
            evaluation.results[name].adjustment, plan.copulas, grid, lines, over_tau, over_ratio
        )
    ]
    finished = ProgressCount(sum(bool(step.places) for _, walk in walks for step in walk), progress)
    # The evaluation itself has noted what there is to warn of.
    with collected(HorizonWarning, FitWarning):
        jobs = [partial(_followed, evaluation, name, walk, finished) for name, walk in walks]
        for (name, walk), scored in zip(walks, in_threads(jobs), strict=True):
            for step, found in zip(walk, scored, strict=True):
                for into, line, point in step.places:
                    into.add(name, line, point, found)
    answers, missing = over_tau.settled(0.0)
    if not answers:
        why = next(iter(missing.values()), "")
        raise ValueError(f"no point of the grid has a score: {why}")
    ratio_grid = None
    if lines is not None:
        scores, without = over_ratio.settled(1.0)
        without |= {(name, "reason"): note.on(adjustment=name) for name in scores for note in lines.unnamed}
        if scores:
            points = tuple(lines.ratios.tolist())
            ratio_grid = Grid(evaluation, "hazard_ratio", lines.names, points, scores, without)
        else:
            missing |= {(name, HAZARD_RATIO): _why_not(name, without) for name in varied}
    return Sensitivity(
        evaluation,
        Grid(evaluation, "tau", plan.copulas, tuple(grid.tolist()), answers, missing),
        ratio_grid,
        held,
        None if isinstance(measured, ValueError) else measured,
    )


def default_taus(plausible: PlausibleRange) -> tuple[float, ...]:
    """Tenths from -0.3, or from the lower end of the plausible range where that lies below, to 0.9."""
    first = max(min(math.floor(10.0 * plausible.low), _FIRST_TENTH), -_LAST_TENTH)
    return tuple(round(0.1 * tenth, 1) for tenth in range(first, _LAST_TENTH + 1))


def _measured(evaluation: Evaluation) -> CovariateBenchmarks | ValueError:
    """Measured covariates as benchmarks, or why there are none."""
    try:
        return evaluation.benchmarks()
    except ValueError as error:
        return error


def _why_not(adjustment: str, missing: Missing) -> Note:
    """Why an adjustment has no answer by hazard ratio."""
    takes_none = noted("no_hazard_ratio", adjustment=adjustment)
    return next((note for (name, _), note in missing.items() if name == adjustment), takes_none)


class _Grid:
    """Answers as they come in by adjustment, line and point, and why some do not."""

    def __init__(self, adjustments: Sequence[str]) -> None:
        self.answers: Answers = {name: {} for name in adjustments}
        self.failed: dict[tuple[str, str], dict[float, Note]] = {}

    def add(self, name: str, line: str, point: float, found: AdjustmentScores | Note) -> None:
        if isinstance(found, Note):
            self.failed.setdefault((name, line), {})[point] = found
        else:
            self.answers[name].setdefault(line, {})[point] = found

    def settled(self, independence: float) -> tuple[Answers, Missing]:
        """The answers in order, and by adjustment and line why some are missing."""
        for name, line in self.failed:
            # Independence alone is not an answer of the line.
            if self.answers[name].get(line, {}).keys() <= {independence}:
                self.answers[name].pop(line, None)
        ordered = {
            name: {line: dict(sorted(by_point.items())) for line, by_point in by_line.items()}
            for name, by_line in self.answers.items()
            if by_line
        }
        missing = {
            (name, line): why[min(why, key=lambda point: abs(point - independence))]
            for (name, line), why in sorted(self.failed.items(), key=lambda failed: failed[0])
        }
        return ordered, missing


#: Where an answer belongs: a grid, a line, a point.
Place = tuple[_Grid, str, float]


@dataclass(frozen=True, eq=False)
class _Step:
    """From fits to others, whose scores stand at some places; ``stays`` where the steps after it start from there."""

    move: Callable[[Fitted], Fitted]
    places: list[Place]
    stays: bool = False


def _followed(
    evaluation: Evaluation, name: str, walk: list[_Step], points: ProgressCount, stopped: Event
) -> list[AdjustmentScores | Note]:
    """The scores along a walk, or why there are none; each fit starts from those before."""
    start = evaluation.results[name]
    answers: list[AdjustmentScores | Note] = []
    for step in walk:
        if stopped.is_set():
            break
        try:
            there = refit(start, step.move)
            start = there if step.stays else start
            scores = score_refit(evaluation.data, there) if step.places else there
            answers.append(scores if scores.answered or not step.places else scores.notes_of("missing")[0])
        except (TypeError, ValueError) as error:
            answers.append(noted("no_score", adjustment=name, why=str(error)))
        if step.places:
            points.count()
    return answers


def _walks(
    adjustment: Adjustment,
    families: tuple[str, ...],
    taus: FloatArray,
    lines: RatioLines | None,
    over_tau: _Grid,
    over_ratio: _Grid,
) -> list[list[_Step]]:
    """Independence with the hazard ratios, which move from there; then family by family away from τ = 0."""
    independent: list[Place] = []
    if (taus == 0).any():
        independent += [(over_tau, family, 0.0) for family in families]
    ratios: list[_Step] = []
    if lines is not None and adjustment.takes_hazard_ratio:
        for line in lines.names:
            for ratio in lines.ratios.tolist():
                place = over_ratio, line, ratio
                if ratio == 1:
                    independent.append(place)
                else:
                    move = methodcaller("with_hazard_ratio", lines.ratio(line, ratio))
                    ratios.append(_Step(move, [place]))
    walks = [
        [
            _Step(
                methodcaller("with_copula", copula_families()[family].from_tau(tau)),
                [(over_tau, family, tau)],
            )
            for tau in walk
        ]
        for family in families
        for walk in walks_from_independence(copula_families()[family], taus)
    ]
    if independent or ratios:
        walks.insert(
            0, [_Step(methodcaller("with_copula", Independence()), independent, stays=True), *ratios]
        )
    return walks


# --- whose hazard ratio moves ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RatioLines:
    """Whose ratio moves on each line: everybody's, or that of one reason or group.

    ``unnamed`` says why reasons that there are have no lines.
    """

    ratios: FloatArray
    reasons: tuple[str, ...] = ()
    groups: Mapping[str, BoolArray] = field(default_factory=dict)
    unnamed: tuple[Note, ...] = ()

    @classmethod
    def of(cls, ratios: Any, by: Any, samples: Samples) -> RatioLines:
        """As asked for by ``hazard_ratios`` and ``hazard_ratio_by``."""
        grid = as_ratios(ratios)
        if by is None or (isinstance(by, str) and by == "reason"):
            return cls._by_reason(grid, samples, asked=by is not None)
        labels = _labels(by, samples)
        groups = check_groups(labels, "hazard_ratio_by")
        array = np.array(labels)
        return cls(grid, groups={name: array == name for name in groups} if len(groups) > 1 else {})

    @classmethod
    def _by_reason(cls, grid: FloatArray, samples: Samples, asked: bool) -> RatioLines:
        reasons = samples.y_test.reasons
        if asked and not reasons:
            raise ValueError("hazard_ratio_by must not be 'reason' where y_test names no reasons of dropout.")
        if len(reasons) > _MOST_GROUPS:
            why = f"at most {_MOST_GROUPS} reasons for a line each, but has {len(reasons)}: put some of them together."
            if asked:
                raise ValueError(f"y_test must have {why}")
            return cls(grid, unnamed=(noted("too_many_reasons", most=_MOST_GROUPS, n=len(reasons)),))
        _refuse_all(reasons, "y_test")
        return cls(grid, reasons if len(reasons) > 1 else ())

    @property
    def names(self) -> tuple[str, ...]:
        """The lines."""
        return (ALL, *self.reasons, *self.groups)

    def ratio(self, line: str, ratio: float) -> Any:
        """What the adjustments are given at a point of a line."""
        if line == ALL:
            return ratio
        if line in self.groups:
            return np.where(self.groups[line], ratio, 1.0)
        return {line: ratio}


def _labels(by: Any, samples: Samples) -> list[str]:
    n = len(samples.y_test)
    if isinstance(by, str):
        names = column_names(samples.x_test) or []
        if by not in names:
            raise ValueError(
                f"hazard_ratio_by must be a column of numbers in x_test, or a label per test subject, but is {by!r}."
            )
        by = np.asarray(samples.x_test)[:, names.index(by)]
    check_length(by, "hazard_ratio_by", n, "y_test")
    values = to_numpy(by, "hazard_ratio_by")
    if values.ndim != 1:
        raise ValueError(
            f"hazard_ratio_by must have one label per test subject, but its shape is {values.shape}."
        )
    return as_labels(values.tolist(), "hazard_ratio_by")


def as_labels(values: Sequence[Any], argument: str) -> list[str]:
    """A text per test subject."""
    found = []
    for row, value in enumerate(values):
        text = "" if value is None else spelled(value).strip()
        if not text:
            refuse_at((row,), value, f"{argument} must have a label for each test subject")
        found.append(text)
    return found


def check_groups(labels: Sequence[str], argument: str) -> list[str]:
    """The different labels, in their order, if they are few."""
    names = sorted(set(labels))
    if len(names) > _MOST_GROUPS:
        raise ValueError(
            f"{argument} must have at most {_MOST_GROUPS} groups, but has {len(names)}: put some of them together."
        )
    _refuse_all(names, argument)
    return names


def _refuse_all(names: Sequence[str], argument: str) -> None:
    if ALL in names:
        raise ValueError(f"{argument} must not call a group {ALL!r}: that is everybody's hazard ratio.")
