"""The fit of the judge in words."""

from __future__ import annotations

from cocensor.evaluation.judge_fit import FitCells, JudgeFit
from cocensor.words.names import BARE, Names, listed

_ABOUT = "A misfit speaks about its margins, not about τ."


def judge_fit_in_words(fit: JudgeFit, names: Names = BARE) -> str:
    """Whether what was observed is what the judge expects, and what that is about."""
    tests = list(fit.tests)
    if not tests:
        return "There are too few events and dropouts to tell whether the judge's joint model fits."
    worst: dict[str, tuple[str, FitCells]] = {}
    for model, kind, cells in sorted(tests, key=lambda test: test[2].misfit):
        if (model, kind) in fit.failed:
            worst[kind] = model, cells
    if not worst:
        off = "off by no more than chance may do"
        if fit.significant:
            most = max(cells.misfit for *_, cells in fit.significant)
            off = f"off by {100 * most:.0f} % at most, too little to move scores by much"
        return (
            "The judge's joint model gives no cause for concern: by decile of score and period, events and dropouts "
            f"are {off} (p = {fit.pvalue:.2g} for all tests together). {_ABOUT}"
        )
    said = listed(
        [
            f"{kind}s are {100 * cells.misfit:.0f} % off by period and decile of the score of {names.model(model)} "
            f"(χ² = {cells.statistic:.0f}, {cells.df} cells)"
            for kind, (model, cells) in sorted(worst.items(), reverse=True)
        ]
    )
    return f"The judge's joint model does not fit what was observed: {said}. {_ABOUT}"
