"""One evaluation over a grid of copula families and Kendall's τ: how much the answer moves with the assumption."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Event
from typing import Any

from cocensor._notes import Note
from cocensor._parallel import ProgressCount, in_threads
from cocensor._validation import (
    FitWarning,
    FloatArray,
    HorizonWarning,
    Progress,
    as_tuple,
    check_choice,
    collected,
)
from cocensor.copulas import Copula, Independence, copula_families
from cocensor.copulas.walks import as_taus, walks_from_independence
from cocensor.evaluation import Evaluation
from cocensor.evaluation.scores import AdjustmentScores, scores_at_copula
from cocensor.sensitivity.result import Sensitivity

FAMILIES = ("clayton", "frank", "gumbel", "joe", "gaussian")
TAUS = tuple(round(0.1 * k, 1) for k in range(10))
#: A copula, and the families and τ that it stands for.
Point = tuple[Copula, list[tuple[str, float]]]
Answers = dict[str, dict[str, dict[float, AdjustmentScores]]]


def sensitivity(
    evaluation: Evaluation,
    families: str | Sequence[str] = FAMILIES,
    taus: Any = TAUS,
    adjustments: str | Sequence[str] | None = None,
    *,
    progress: Progress | None = None,
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
    >>> result = cc.evaluate(models, test.y, test.X, y_train=train.y, metrics="ibs")
    >>> print(sensitivity(result, ["clayton", "frank"], [0.0, 0.3, 0.6]).statement)
    By “imputed”, at τ = 0 (independent censoring) 10 covariates beats 3 covariates, which holds as long as τ is below
    about 0.2. The scores of 10 covariates and 3 covariates change order at about τ = 0.5 (95 % interval 0.2 or more),
    first under clayton.
    """
    chosen = as_tuple(families, "families", str)
    if not chosen:
        raise ValueError("families is empty: at least one is needed.")
    for family in chosen:
        check_choice(family, "families", tuple(copula_families()))
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"families must differ, but are {', '.join(chosen)}.")
    grid = as_taus(taus)
    if not grid.size:
        raise ValueError("taus is empty: at least one is needed.")
    if not _lines(chosen, grid):
        raise ValueError(
            f"taus must have one that a family reaches, but {', '.join(chosen)} reach none of them."
        )
    varied = [name for name, each in evaluation.results.items() if each.varies_with_copula]
    if adjustments is not None:
        asked = as_tuple(adjustments, "adjustments", str)
        for name in asked:
            check_choice(name, "adjustments", tuple(varied))
        varied = list(asked)
    if not varied:
        raise ValueError("adjustments must have one that rests on a copula: nothing else moves with τ.")
    answers, notes = _answers(evaluation, chosen, grid, varied, progress)
    if not any(by_tau for by_family in answers.values() for by_tau in by_family.values()):
        why = next(iter(notes.values()), "")
        raise ValueError(f"no point of the grid has a score: {why}")
    return Sensitivity(evaluation, chosen, tuple(grid.tolist()), answers, notes)


def _answers(
    evaluation: Evaluation,
    families: tuple[str, ...],
    taus: FloatArray,
    adjustments: list[str],
    progress: Progress | None,
) -> tuple[Answers, dict[tuple[str, str], Note]]:
    """Scores by adjustment, family and τ; and by adjustment and family why some are missing."""
    answers: Answers = {name: {family: {} for family in families} for name in adjustments}
    failed: dict[tuple[str, str], dict[float, str]] = {}
    lines = _lines(families, taus)
    points = ProgressCount(len(adjustments) * sum(map(len, lines)), progress)

    def follow(name: str, line: list[Point], stopped: Event) -> list[AdjustmentScores | str]:
        """The scores along a line of copulas; each fit starts from those before."""
        start = evaluation.results[name]
        found: list[AdjustmentScores | str] = []
        for copula, _ in line:
            if stopped.is_set():
                break
            try:
                scores = scores_at_copula(evaluation.data, start, copula)
                found.append(scores if scores.answered else scores.notes_of("missing")[0].text)
            except (TypeError, ValueError) as error:
                found.append(str(error))
            points.count()
        return found

    # The evaluation itself has noted what there is to warn of.
    with collected(HorizonWarning, FitWarning):
        # The longest first, so that no thread is left alone with them.
        asked = [(name, line) for name in reversed(adjustments) for line in lines]
        answered = in_threads([partial(follow, name, line) for name, line in asked])
    for (name, line), scored in zip(asked, answered, strict=True):
        for (_, places), found in zip(line, scored, strict=True):
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
    notes = {
        (name, family): Note("missing", why[min(why, key=abs)], adjustment=name)
        for (name, family), why in sorted(failed.items())
    }
    return {name: by_family for name, by_family in ordered.items() if by_family}, notes


def _lines(families: tuple[str, ...], taus: FloatArray) -> list[list[Point]]:
    """The grid, family by family and away from τ = 0, which is independence for all of them."""
    lines: list[list[Point]] = []
    if (taus == 0).any():
        lines.append([(Independence(), [(family, 0.0) for family in families])])
    for family in families:
        kind = copula_families()[family]
        lines += [
            [(kind.from_tau(tau), [(family, tau)]) for tau in walk]
            for walk in walks_from_independence(kind, taus)
        ]
    return lines
