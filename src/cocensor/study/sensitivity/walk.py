"""One evaluation over assumed dependences: families of copulas along Kendall's τ, and hazard ratios after dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, Progress
from cocensor._notes import Note, noted
from cocensor._parallel import ProgressCount, in_threads, one_blas_thread
from cocensor._warnings import FitWarning, HorizonWarning, collected
from cocensor.adjustments import Fitted
from cocensor.copulas import Independence, copula_families
from cocensor.copulas.walks import walks_from_independence
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import adjustment_named
from cocensor.study.plan import HAZARD_RATIO, RATIOS, SensitivityPlan, check_has_ratios
from cocensor.study.scores import AdjustmentScores, moved, scores_again
from cocensor.study.sensitivity.grid import Answers, Grid
from cocensor.study.sensitivity.plausible import PlausibleRange, PlausibleTau
from cocensor.study.sensitivity.ratios import RatioLines
from cocensor.study.sensitivity.result import Sensitivity

# Of the τ by default, in tenths: the first, where nothing below it is plausible, and the last.
_FIRST_TENTH, _LAST_TENTH = -3, 9
Missing = dict[tuple[str, str], Note]


@one_blas_thread
def sensitivity(
    evaluation: Evaluation,
    plan: SensitivityPlan,
    hazard_ratio_by: Any = None,
    benchmarks: PlausibleTau | None = None,
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
    over_tau, over_ratio = _Grid.of(varied), _Grid.of(varied)
    _Job(evaluation, plan.copulas, grid, lines, over_tau, over_ratio).run(varied, progress)
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


def _measured(evaluation: Evaluation) -> PlausibleTau | ValueError:
    """Measured covariates as benchmarks, or why there are none."""
    try:
        return evaluation.benchmarks()
    except ValueError as error:
        return error


def _why_not(adjustment: str, missing: Missing) -> Note:
    """Why an adjustment has no answer by hazard ratio."""
    takes_none = noted("no_hazard_ratio", adjustment=adjustment)
    return next((note for (name, _), note in missing.items() if name == adjustment), takes_none)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Answers as they come in by adjustment, line and point, and why some do not."""

    answers: Answers
    failed: dict[tuple[str, str], dict[float, Note]] = field(default_factory=dict)

    @classmethod
    def of(cls, adjustments: Sequence[str]) -> _Grid:
        """Without answers yet."""
        return cls({name: {} for name in adjustments})

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


@dataclass(frozen=True, eq=False)
class _Job:
    """Which points are scored in which order."""

    evaluation: Evaluation
    families: tuple[str, ...]
    taus: FloatArray
    lines: RatioLines | None
    over_tau: _Grid
    over_ratio: _Grid

    def run(self, adjustments: list[str], progress: Progress | None) -> None:
        """Score all points, and put the scores in their places."""
        # The longest first, so that no thread is left alone with them.
        walks = [(name, walk) for name in reversed(adjustments) for walk in self._walks_of(name)]
        points = ProgressCount(sum(bool(step.places) for _, walk in walks for step in walk), progress)
        # The evaluation itself has noted what there is to warn of.
        with collected(HorizonWarning, FitWarning):
            answered = in_threads([partial(self._follow, name, walk, points) for name, walk in walks])
        for (name, walk), scored in zip(walks, answered, strict=True):
            for step, found in zip(walk, scored, strict=True):
                for grid, line, point in step.places:
                    assert found is not None  # a step without an answer has no places
                    grid.add(name, line, point, found)

    def _follow(
        self, name: str, walk: list[_Step], points: ProgressCount, stopped: Event
    ) -> list[AdjustmentScores | Note | None]:
        """The scores along a walk, or why there are none; each fit starts from those before."""
        start = self.evaluation.results[name]
        found: list[AdjustmentScores | Note | None] = []
        for step in walk:
            if stopped.is_set():
                break
            try:
                there = moved(start, step.move)
                start = there if step.stays else start
                if not step.places:
                    found.append(None)
                    continue
                scores = scores_again(self.evaluation.data, there)
                found.append(scores if scores.answered else scores.notes_of("missing")[0])
            except (TypeError, ValueError) as error:
                found.append(noted("no_score", adjustment=name, why=str(error)))
            if step.places:
                points.count()
        return found

    def _walks_of(self, name: str) -> list[list[_Step]]:
        """Independence with the hazard ratios, which move from there; then family by family away from τ = 0."""
        lines = self.lines
        takes = self.evaluation.results[name].adjustment.takes_hazard_ratio
        independent: list[Place] = []
        if (self.taus == 0).any():
            independent += [(self.over_tau, family, 0.0) for family in self.families]
        ratios: list[_Step] = []
        if lines is not None and takes:
            for line in lines.names:
                for ratio in lines.ratios.tolist():
                    place = self.over_ratio, line, ratio
                    if ratio == 1:
                        independent.append(place)
                    else:
                        ratios.append(_Step(_with_hazard_ratio(lines.ratio(line, ratio)), [place]))
        walks = [
            [
                _Step(_with_copula(copula_families()[family].from_tau(tau)), [(self.over_tau, family, tau)])
                for tau in walk
            ]
            for family, walk in _walks(self.families, self.taus)
        ]
        if independent or ratios:
            walks.insert(0, [_Step(_with_copula(Independence()), independent, stays=True), *ratios])
        return walks


def _with_copula(copula: Any) -> Callable[[Fitted], Fitted]:
    return lambda fitted: fitted.with_copula(copula)


def _with_hazard_ratio(ratio: Any) -> Callable[[Fitted], Fitted]:
    return lambda fitted: fitted.with_hazard_ratio(ratio)


def _walks(families: tuple[str, ...], taus: FloatArray) -> list[tuple[str, list[float]]]:
    """The grid, family by family and away from τ = 0."""
    return [
        (family, walk)
        for family in families
        for walk in walks_from_independence(copula_families()[family], taus)
    ]
