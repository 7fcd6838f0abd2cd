"""One evaluation over assumed dependences: families of copulas along Kendall's τ, and hazard ratios after dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Any

from cocensor._notes import Note
from cocensor._parallel import ProgressCount, in_threads, one_blas_thread
from cocensor._validation import (
    FitWarning,
    FloatArray,
    HorizonWarning,
    Progress,
    as_tuple,
    check_choice,
    collected,
)
from cocensor.adjustments import Fitted
from cocensor.copulas import Independence, copula_families
from cocensor.copulas.walks import as_taus, walks_from_independence
from cocensor.evaluation import Evaluation
from cocensor.evaluation.scores import AdjustmentScores, moved, scores_again
from cocensor.sensitivity.after_dropout import HAZARD_RATIO, RATIOS, AfterDropout, RatioLines
from cocensor.sensitivity.benchmark_result import PlausibleTau
from cocensor.sensitivity.plausible import PlausibleRange, benchmarks_of
from cocensor.sensitivity.result import Sensitivity

FAMILIES = ("clayton", "frank", "gumbel", "joe", "gaussian", HAZARD_RATIO)
# Of the τ by default, in tenths: the first, where nothing below it is plausible, and the last.
_FIRST_TENTH, _LAST_TENTH = -3, 9
Answers = dict[str, dict[str, dict[float, AdjustmentScores]]]
Missing = dict[tuple[str, str], Note]


def default_taus(evaluation: Evaluation, plausible: Any = None) -> tuple[float, ...]:
    """Tenths from -0.3, or from the lower end of the plausible range where that lies below, to 0.9."""
    held = _plausible(benchmarks_of(evaluation), plausible)
    first = max(min(math.floor(10.0 * held.low), _FIRST_TENTH), -_LAST_TENTH)
    return tuple(round(0.1 * tenth, 1) for tenth in range(first, _LAST_TENTH + 1))


@one_blas_thread
def sensitivity(
    evaluation: Evaluation,
    families: str | Sequence[str] = FAMILIES,
    taus: Any = None,
    adjustments: str | Sequence[str] | None = None,
    *,
    hazard_ratios: Any = None,
    hazard_ratio_by: Any = None,
    plausible: Any = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Score all models again under every family and τ, and every hazard ratio after dropout.

    For the adjustments that rest on a copula. Copula-Graphic curves need an Archimedean family: adjustments that rest
    on them have no answer under others. A family takes part at the τ that it reaches; τ = 0 is independence under all
    of them, and so is a hazard ratio of 1. Families are followed away from it, each point from the one before, in
    parallel threads; the hazard ratio moves with the margins of the fit at independence.

    Parameters
    ----------
    evaluation : Evaluation
    families : sequence of str
        Families of copulas, and "hazard_ratio" for the hazard ratio after dropout.
    taus : array-like, optional
        Kendall's τ of event and dropout, strictly between -1 and 1; by default :func:`default_taus`.
    adjustments : sequence of str, optional
        Of those of the evaluation; by default all that rest on a copula.
    hazard_ratios : array-like, optional
        Of the event after a dropout, against those alike who are still under observation; see :class:`AfterDropout`.
        By default 0.5, 1, 1.5, 2, 3 and 5.
    hazard_ratio_by : array-like or str, optional
        Beside that of everybody, the ratio of each group moves alone: groups are the reasons of ``y_test`` ("reason",
        and by default where it names at least two), a column of numbers in ``x_test``, or a label for each test
        subject.
    plausible : (float, float), optional
        From which to which τ the dependence is held plausible; by default see :class:`PlausibleRange`.
    progress : callable, optional
        Called with the number of finished grid points and of all.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> cox = {k: cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k]) for k in (3, 10)}
    >>> models = {f"{k} covariates": curves for k, curves in cox.items()}
    >>> result = cc.evaluate(models, test.y, test.X, y_train=train.y, metrics="ibs")
    >>> print(sensitivity(result, ["clayton", "frank"], [0.0, 0.3, 0.6]).statement)
    By the integrated Brier score, scored with imputation: If those who dropped out would have had the event about
    as fast as comparable subjects who stayed, 10 covariates predicts better than 3 covariates. That stays so in a
    part of the plausible range only: as long as they would have had it up to about 1.7 times as fast (Kendall’s τ
    up to about 0.26; τ runs from -1 to 1, and 0 means no dependence). Beyond that, the data cannot tell 10
    covariates and 3 covariates apart. At 3.2 times as fast or more (τ of 0.51 or more), 3 covariates may be
    better. The plausible range is τ from -0.36 to 0.36, which is three times the dependence that all measured
    covariates together explain (τ = -0.12). Of it, τ from 0 to 0.36 was tried. The answer holds up to about τ =
    0.26; it is lost under clayton first, at a hazard ratio of 1.7 right after leaving, 3.6 times the effects of
    x5, the strongest covariate. The scores of 10 covariates and 3 covariates change order at about τ = 0.51 (95 %
    interval 0.2 or more), first under clayton: a hazard ratio of 3.2 right after leaving, 7.0 times the effects of
    x5.
    """
    chosen, with_ratios = _families(families)
    benchmarks = benchmarks_of(evaluation)
    held = _plausible(benchmarks, plausible)
    grid = as_taus(default_taus(evaluation, plausible) if taus is None else taus)
    if not grid.size:
        raise ValueError("taus is empty: at least one is needed.")
    if not ((grid == 0).any() or _walks(chosen, grid)):
        raise ValueError(
            f"taus must have one that a family reaches, but {', '.join(chosen)} reach none of them."
        )
    lines = None
    if with_ratios:
        ratios = RATIOS if hazard_ratios is None else hazard_ratios
        lines = RatioLines.of(ratios, hazard_ratio_by, evaluation.data.samples)
    for name, given in (("hazard_ratios", hazard_ratios), ("hazard_ratio_by", hazard_ratio_by)):
        if lines is None and given is not None:
            raise ValueError(f"families must have {HAZARD_RATIO!r} where {name} is given.")
    varied = [name for name, each in evaluation.results.items() if each.varies_with_copula]
    if adjustments is not None:
        asked = as_tuple(adjustments, "adjustments", str)
        for name in asked:
            check_choice(name, "adjustments", tuple(varied))
        varied = list(asked)
    if not varied:
        raise ValueError("adjustments must include one that depends on a copula: no other changes with τ.")
    over_tau, over_ratio = _Grid.of(varied), _Grid.of(varied)
    job = _Job(evaluation, chosen, grid, lines, over_tau, over_ratio)
    job.run(varied, progress)
    answers, missing = over_tau.settled(0.0)
    if not answers:
        why = next(iter(missing.values()), "")
        raise ValueError(f"no point of the grid has a score: {why}")
    after_dropout = None
    if lines is not None:
        scores, without = over_ratio.settled(1.0)
        without |= {
            (name, "reason"): Note("missing", why, adjustment=name)
            for name in scores
            for why in lines.unnamed
        }
        if scores:
            after_dropout = AfterDropout(
                evaluation, lines.names, tuple(lines.ratios.tolist()), scores, without
            )
        else:
            missing |= {(name, HAZARD_RATIO): _why_not(name, without) for name in varied}
    measured = None if isinstance(benchmarks, ValueError) else benchmarks
    points = tuple(grid.tolist())
    return Sensitivity(evaluation, chosen, points, answers, missing, held, measured, after_dropout)


def _plausible(benchmarks: PlausibleTau | ValueError, asked: Any) -> PlausibleRange:
    """The plausible range as asked for, or by the benchmarks; either way, why these do not tell."""
    held = PlausibleRange.of(benchmarks)
    return held if asked is None else replace(PlausibleRange.asked(asked), why=held.why)


def _why_not(adjustment: str, missing: Missing) -> Note:
    """Why an adjustment has no answer by hazard ratio."""
    takes_none = Note(
        "missing", "the adjustment does not accept a hazard ratio after dropout.", adjustment=adjustment
    )
    return next((note for (name, _), note in missing.items() if name == adjustment), takes_none)


def _families(families: str | Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The families of copulas, and whether hazard ratios are asked for beside them."""
    asked = as_tuple(families, "families", str)
    if not asked:
        raise ValueError("families is empty: at least one is needed.")
    for family in asked:
        check_choice(family, "families", (*copula_families(), HAZARD_RATIO))
    if Independence.name in asked:
        raise ValueError("families must not include 'independence': τ = 0 is independence already.")
    if len(set(asked)) < len(asked):
        raise ValueError(f"families must differ, but are {', '.join(asked)}.")
    chosen = tuple(family for family in asked if family != HAZARD_RATIO)
    if not chosen:
        raise ValueError(
            f"families must have a copula beside {HAZARD_RATIO!r}, such as 'clayton', if only at taus=[0]."
        )
    return chosen, HAZARD_RATIO in asked


@dataclass(frozen=True, eq=False)
class _Grid:
    """Answers as they come in by adjustment, line and point, and why some do not."""

    answers: Answers
    failed: dict[tuple[str, str], dict[float, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, adjustments: Sequence[str]) -> _Grid:
        """Without answers yet."""
        return cls({name: {} for name in adjustments})

    def add(self, name: str, line: str, point: float, found: AdjustmentScores | str) -> None:
        if isinstance(found, str):
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
            (name, line): Note(
                "missing", why[min(why, key=lambda point: abs(point - independence))], adjustment=name
            )
            for (name, line), why in sorted(self.failed.items())
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
            for step, scores in zip(walk, scored, strict=True):
                for grid, line, point in step.places:
                    grid.add(name, line, point, scores)

    def _follow(
        self, name: str, walk: list[_Step], points: ProgressCount, stopped: Event
    ) -> list[AdjustmentScores | str]:
        """The scores along a walk; each fit starts from those before."""
        start = self.evaluation.results[name]
        found: list[AdjustmentScores | str] = []
        for step in walk:
            if stopped.is_set():
                break
            try:
                there = moved(start, step.move)
                start = there if step.stays else start
                if not step.places:
                    found.append("")
                    continue
                scores = scores_again(self.evaluation.data, there)
                found.append(scores if scores.answered else scores.notes_of("missing")[0].text)
            except (TypeError, ValueError) as error:
                found.append(str(error))
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
