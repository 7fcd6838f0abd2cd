"""One evaluation over a grid of copula families and Kendall's τ: how much the answer moves with the assumption."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from threading import Event, Lock
from typing import Any

import numpy as np

from cocensor._validation import (
    ConvergenceWarning,
    FloatArray,
    HorizonWarning,
    as_vector,
    check_choice,
    collected,
    escaped,
    make_frame,
)
from cocensor.copulas import Copula, Independence, copulas
from cocensor.evaluation import Evaluation
from cocensor.evaluation.evaluation import as_names, listed, ranks
from cocensor.evaluation.question import Answer

#: A copula, and the families and τ that it stands for.
Point = tuple[Copula, list[tuple[str, float]]]
FAMILIES = ("clayton", "frank", "gumbel", "joe", "gaussian")
TAUS = tuple(round(0.1 * k, 1) for k in range(10))


@dataclass(frozen=True)
class Flip:
    """Where along τ the best model changes, under one adjustment and family.

    It happens between two neighbours of the grid, ``below`` and ``above``; ``at`` is where the two scores cross if they
    move along lines in between.
    """

    adjustment: str
    family: str
    below: float
    above: float
    at: float
    before: str
    after: str


@dataclass(frozen=True)
class Stretch:
    """From ``low`` to ``high``, ``model`` is best under one adjustment and family.

    ``equals`` are models that are just as good all along. A family has one stretch after the other, in the order of τ.
    """

    adjustment: str
    family: str
    model: str
    low: float
    high: float
    equals: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """Every score over a grid of families and τ; made by :meth:`Evaluation.sensitivity`.

    Attributes
    ----------
    evaluation : Evaluation
    families, taus : tuple
    answers : dict
        By adjustment, family and τ.
    missing : dict
        Why an adjustment has no answer under a family, or at a τ.
    """

    evaluation: Evaluation
    families: tuple[str, ...]
    taus: tuple[float, ...]
    answers: dict[str, dict[str, dict[float, Answer]]]
    missing: dict[tuple[str, str], str]

    def table(self) -> Any:
        """One row per metric, adjustment, family, τ and model: score and rank."""
        rows = [
            (metric, adjustment, family, tau, model, answer.scores[metric][model], rank)
            for metric in self.evaluation.metrics
            for adjustment, family, tau, answer in self._each()
            for model, rank in ranks(answer.scores[metric]).items()
        ]
        columns = ("metric", "adjustment", "family", "tau", "model", "score", "rank")
        lists = map(list, zip(*rows, strict=True)) if rows else ([] for _ in columns)
        return make_frame(dict(zip(columns, lists, strict=True)), like=self.evaluation.like)

    def best(
        self, adjustment: str | None = None, metric: str | None = None
    ) -> dict[str, dict[float, tuple[str, ...]]]:
        """The best model by family and τ; several where they are equally good."""
        name, by = self._adjustment(adjustment), self._metric(metric)
        found = {}
        for family, answers in self.answers[name].items():
            ranked = {tau: ranks(answer.scores[by]) for tau, answer in answers.items()}
            found[family] = {
                tau: tuple(m for m, rank in r.items() if rank == 1) for tau, r in ranked.items() if r
            }
        return found

    def flips(self, adjustment: str | None = None, metric: str | None = None) -> list[Flip]:
        """Where the best model changes along τ, family by family; one that merely ties with another stays."""
        name, by = self._adjustment(adjustment), self._metric(metric)
        found = []
        for family, best in self.best(name, by).items():
            holders = _holders(best)
            for below, above in pairwise(sorted(best)):
                before, after = holders[below], holders[above]
                if before != after:
                    at = self._crossing(name, family, by, (below, above), (before, after))
                    found.append(Flip(name, family, below, above, at, before, after))
        return found

    def _crossing(
        self, adjustment: str, family: str, metric: str, between: tuple[float, float], models: tuple[str, str]
    ) -> float:
        """Where the scores of two models cross; in the middle, if one of them has no score at one end."""
        below, above = between
        scores = [self.answers[adjustment][family][tau].scores[metric] for tau in between]
        gaps = [each.get(models[1], np.nan) - each.get(models[0], np.nan) for each in scores]
        share = gaps[0] / (gaps[0] - gaps[1]) if np.isfinite(gaps).all() and gaps[0] != gaps[1] else 0.5
        return float(below + share * (above - below))

    def stretches(self, adjustment: str | None = None, metric: str | None = None) -> list[Stretch]:
        """By family, from which to which τ each model is best."""
        name, by = self._adjustment(adjustment), self._metric(metric)
        flips, found = self.flips(name, by), []
        for family, best in self.best(name, by).items():
            holders, mine = _holders(best), [flip for flip in flips if flip.family == family]
            ends = [min(best), *(flip.at for flip in mine), max(best)]
            first = [min(best), *(flip.above for flip in mine)]
            last = [*(flip.below for flip in mine), max(best)]
            for low, high, start, stop in zip(ends[:-1], ends[1:], first, last, strict=True):
                shared = [set(best[tau]) for tau in best if start <= tau <= stop]
                equals = tuple(
                    m for m in best[start] if m != holders[start] and all(m in each for each in shared)
                )
                found.append(Stretch(name, family, holders[start], low, high, equals))
        return found

    @cached_property
    def statement(self) -> str:
        """The answer in words, by the primary adjustment of the evaluation and its first metric."""
        if len(self.evaluation.models) == 1:
            return self._range_in_words()
        name = self._adjustment(None)
        by_family: dict[str, list[Stretch]] = {}
        for each in self.stretches(name):
            by_family.setdefault(each.family, []).append(each)
        alike: dict[Any, dict[str, list[Stretch]]] = {}
        for family, mine in by_family.items():
            course = mine[0].low, mine[-1].high, *((each.model, each.equals) for each in mine)
            alike.setdefault(course, {})[family] = mine
        said = "; ".join(map(_in_words, alike.values()))
        silent = [family for family in self.families if family not in by_family]
        unanswered = f" Under {listed(silent)} there is no answer." if silent else ""
        several = f" and the {self.evaluation.question.metrics[0].label}" * (len(self.evaluation.metrics) > 1)
        return f"By {self.evaluation.scored[name].label}{several}, {said}.{unanswered}"

    def _range_in_words(self) -> str:
        """How far the score of a single model moves."""
        name, [model] = self._adjustment(None), self.evaluation.models
        metric = self.evaluation.metrics[0]
        found = [
            answer.scores[metric][model]
            for by_tau in self.answers[name].values()
            for answer in by_tau.values()
            if model in answer.scores[metric]
        ]
        label = self.evaluation.question.metrics[0].label
        return (
            f"The {label} of {model} lies between {min(found):.4f} and {max(found):.4f} over the grid, by "
            f"{self.evaluation.scored[name].label}; with one model there is nothing to rank."
        )

    def to_dict(self) -> dict[str, Any]:
        """The grid as JSON can hold it: scores by metric, adjustment, family and model, along ``taus``."""
        metrics, models = self.evaluation.metrics, self.evaluation.models
        return {
            "families": list(self.families),
            "taus": list(self.taus),
            "statement": self.statement,
            "scores": {
                metric: {
                    adjustment: {
                        family: {
                            model: [
                                None if tau not in by_tau else by_tau[tau].scores[metric].get(model)
                                for tau in self.taus
                            ]
                            for model in models
                        }
                        for family, by_tau in by_family.items()
                    }
                    for adjustment, by_family in self.answers.items()
                }
                for metric in metrics
            },
            "stretches": self._by_metric(self.stretches),
            "flips": self._by_metric(self.flips),
            "missing": [
                {"adjustment": adjustment, "family": family, "why": why}
                for (adjustment, family), why in self.missing.items()
            ],
        }

    def _by_metric(self, found: Callable[[str, str], Sequence[Any]]) -> list[dict[str, Any]]:
        return [
            {"metric": metric, **asdict(each)}
            for metric in self.evaluation.metrics
            for adjustment in self.answers
            for each in found(adjustment, metric)
        ]

    def plot(self, ax: Any = None) -> Any:
        """Scores along τ; returns the axes (see :class:`~cocensor.plots.SensitivityDisplay`)."""
        from cocensor.plots import SensitivityDisplay

        return SensitivityDisplay.from_sensitivity(self).plot(ax=ax)

    def __repr__(self) -> str:
        grid = f"{', '.join(self.families)}; τ from {min(self.taus):g} to {max(self.taus):g}"
        labels = listed([self.evaluation.scored[name].label for name in self.answers])
        return escaped(f"Sensitivity of {labels} over {grid}.\n{self.statement}")

    def _each(self) -> Iterator[tuple[str, str, float, Answer]]:
        for adjustment, by_family in self.answers.items():
            for family, by_tau in by_family.items():
                for tau, answer in by_tau.items():
                    yield adjustment, family, tau, answer

    def _metric(self, name: str | None) -> str:
        if name is None:
            return self.evaluation.metrics[0]
        check_choice(name, "metric", self.evaluation.metrics)
        return name

    def _adjustment(self, name: str | None) -> str:
        if name is None:
            primary = self.evaluation.primary
            return primary if primary in self.answers else next(iter(self.answers))
        check_choice(name, "adjustment", tuple(self.answers))
        return name


def sensitivity(
    evaluation: Evaluation,
    families: str | Sequence[str] = FAMILIES,
    taus: Any = TAUS,
    adjustments: str | Sequence[str] | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Sensitivity:
    """Score all models again under every family and τ, for the adjustments that rest on a copula.

    Copula-Graphic curves need an Archimedean family: adjustments that rest on them have no answer under others. A
    family takes part at the τ that it reaches; τ = 0 is independence under all of them. Families are followed away from
    it, each point from the one before, in parallel threads.

    Parameters
    ----------
    evaluation : Evaluation
    families : sequence of str
    taus : array-like
        Kendall's τ of event and dropout, strictly between -1 and 1.
    adjustments : sequence of str, optional
        Of those of the evaluation; by default all that rest on a copula.
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
    >>> result = cc.evaluate(models, train.y, test.y, adjustments=["ipcw", "cg_q"], copula=None)
    >>> print(sensitivity(result, ["clayton", "frank"], [0.0, 0.3, 0.6]).statement)
    By CG-Q, 10 covariates is best from τ = 0 (independent censoring) to 0.33 under clayton and 0.53 under frank, then
    3 covariates up to 0.6.
    """
    chosen = as_names(families)
    if not chosen:
        raise ValueError("families is empty: at least one is needed.")
    for family in chosen:
        check_choice(family, "families", tuple(copulas()))
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"families must differ, but are {', '.join(chosen)}.")
    grid = as_taus(taus)
    if not _lines(chosen, grid):
        raise ValueError(
            f"taus must have one that a family reaches, but {listed(list(chosen))} reach none of them."
        )
    moving = [name for name, each in evaluation.scored.items() if each.moves]
    if adjustments is not None:
        for name in as_names(adjustments):
            check_choice(name, "adjustments", tuple(moving))
        moving = list(as_names(adjustments))
    if not moving:
        raise ValueError("adjustments must have one that rests on a copula: nothing else moves with τ.")
    answers, missing = _answers(evaluation, chosen, grid, moving, progress or (lambda done, total: None))
    if not any(by_tau for by_family in answers.values() for by_tau in by_family.values()):
        raise ValueError(f"no point of the grid has a score: {next(iter(missing.values()), '')}")
    return Sensitivity(evaluation, chosen, tuple(grid.tolist()), answers, missing)


def as_taus(taus: Any) -> FloatArray:
    """Different values of Kendall's τ, in their order."""
    grid = np.unique(as_vector(np.atleast_1d(taus), "taus"))
    if not grid.size:
        raise ValueError("taus is empty: at least one is needed.")
    if (np.abs(grid) >= 1).any():
        raise ValueError(
            f"taus must lie strictly between -1 and 1, but one is {grid[np.abs(grid) >= 1][0]:g}."
        )
    return grid


def _answers(
    evaluation: Evaluation,
    families: tuple[str, ...],
    taus: FloatArray,
    adjustments: list[str],
    report: Callable[[int, int], None],
) -> tuple[dict[str, dict[str, dict[float, Answer]]], dict[tuple[str, str], str]]:
    answers: dict[str, dict[str, dict[float, Answer]]] = {
        name: {family: {} for family in families} for name in adjustments
    }
    failed: dict[tuple[str, str], dict[float, str]] = {}
    lines = _lines(families, taus)
    question = evaluation.question.without_reference
    done, total, counting = 0, len(adjustments) * sum(map(len, lines)), Lock()
    stopped = Event()

    def follow(name: str, line: list[Point]) -> list[Answer | str]:
        """The answers along a line of copulas, each of which starts from the one before."""
        nonlocal done
        shared = evaluation.scored[name].adjustment.sharing()
        found: list[Answer | str] = []
        for copula, _ in line:
            if stopped.is_set():
                break
            try:
                answer = question.answer(shared.with_copula(copula))
                found.append(answer if any(answer.scores.values()) else answer.notes[0])
            except (TypeError, ValueError) as error:
                found.append(str(error))
            with counting:
                done += 1
                report(done, total)
        return found

    report(0, total)
    # The evaluation itself has told what there is to warn of.
    with collected(HorizonWarning, ConvergenceWarning), ThreadPoolExecutor(_n_cores()) as pool:
        # The longest first, so that no thread is left alone with them.
        running = [
            (name, line, pool.submit(follow, name, line)) for name in reversed(adjustments) for line in lines
        ]
        try:
            wait([job for *_, job in running], return_when=FIRST_EXCEPTION)
        finally:  # an interruption must not wait for the rest
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
        for name, line, job in running:
            for (_, places), found in zip(line, job.result(), strict=True):
                for family, tau in places:
                    if isinstance(found, str):
                        failed.setdefault((name, family), {})[tau] = found
                    else:
                        answers[name][family][tau] = found
    for name, family in failed:
        if answers[name][family].keys() <= {0.0}:  # independence alone is not an answer of the family
            answers[name][family].clear()
    ordered = {
        name: {family: dict(sorted(by_tau.items())) for family, by_tau in by_family.items() if by_tau}
        for name, by_family in answers.items()
    }
    missing = {key: why[min(why, key=abs)] for key, why in sorted(failed.items())}
    return {name: by_family for name, by_family in ordered.items() if by_family}, missing


def _n_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _holders(best: dict[float, tuple[str, ...]]) -> dict[float, str]:
    """By τ the model that is best, which changes no more often than it must; away from independence, both ways."""
    taus = sorted(best)
    start = min(range(len(taus)), key=lambda k: abs(taus[k]))
    # Among equals at the start, the one that stays longest.
    reach = {model: sum(model in best[tau] for tau in taus) for model in best[taus[start]]}
    found = {taus[start]: max(reach, key=lambda model: reach[model])}
    for way in (range(start + 1, len(taus)), range(start - 1, -1, -1)):
        held = found[taus[start]]
        for k in way:
            held = held if held in best[taus[k]] else best[taus[k]][0]
            found[taus[k]] = held
    return found


def _in_words(alike: dict[str, list[Stretch]]) -> str:
    """Which model is best from where to where along τ, under families in which the same models follow each other."""
    courses = list(alike.values())
    names = [listed([each.model, *each.equals]) for each in courses[0]]
    verb = "are equally good and best" if courses[0][0].equals else "is best"
    low, high = courses[0][0].low, courses[0][-1].high
    start = "0 (independent censoring)" if low == 0 else f"{low:g}"
    if low == high:
        return f"{names[0]} {verb} at τ = {start} under {listed(list(alike))}"
    ends = [[f"{each.high:.2f}" for each in column] for column in zip(*courses, strict=True)][:-1]
    one = all(len(set(column)) == 1 for column in ends)
    places = [
        column[0]
        if one
        else listed([f"{at} under {family}" for at, family in zip(column, alike, strict=True)])
        for column in ends
    ]
    turns = [f"{place}, then {name}" for place, name in zip(places, names[1:], strict=True)]
    said = f"{names[0]} {verb} from τ = {start} to {' up to '.join([*turns, f'{high:g}'])}"
    return f"{said} under {listed(list(alike))}" if one else said


def _lines(families: tuple[str, ...], taus: FloatArray) -> list[list[Point]]:
    """The grid, family by family and away from τ = 0, which is independence for all of them."""
    lines: list[list[Point]] = []
    if (taus == 0).any():
        lines.append([(Independence(), [(family, 0.0) for family in families])])
    for family in families:
        kind = copulas()[family]
        low, high = kind.tau_range
        reached = sorted((tau for tau in taus.tolist() if tau and low < tau < high), key=abs)
        for sign in (1.0, -1.0):
            lines.append([(kind.from_tau(tau), [(family, tau)]) for tau in reached if sign * tau > 0])
    return [line for line in lines if line]
