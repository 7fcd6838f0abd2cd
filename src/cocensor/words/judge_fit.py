"""The fit of the judge in words."""

from __future__ import annotations

from cocensor.evaluation.judge_fit import FitCells, JudgeFit
from cocensor.words.names import BARE, Names, listed

_ABOUT = "This checks its margins, not τ."


def judge_fit_in_words(fit: JudgeFit, names: Names = BARE) -> str:
    """Whether what was observed is what the judge expects, and what that is about."""
    tests = list(fit.tests)
    if not tests:
        return "There are too few events and dropouts to check the fit of the imputation model."
    worst: dict[str, tuple[str, FitCells]] = {}
    for model, kind, cells in sorted(tests, key=lambda test: test[2].misfit):
        if (model, kind) in fit.failed:
            worst[kind] = model, cells
    if not worst:
        off = "by no more than chance explains"
        if fit.significant:
            most = max(cells.misfit for *_, cells in fit.significant)
            off = f"by {100 * most:.0f} % at most, too little to change scores by much"
        return (
            "The imputation model fits: events and dropouts, by period and decile of the risk score, "
            f"deviate from it {off} (p = {fit.pvalue:.2g} for all tests together). {_ABOUT}"
        )
    said = listed(
        [
            (
                f"{kind}s deviate by {100 * cells.misfit:.0f} %, by period and decile of the score of "
                f"{names.model(model)} (χ² = {cells.statistic:.0f}, {cells.df} cells)"
            )
            for kind, (model, cells) in sorted(worst.items(), reverse=True)
        ]
    )
    return f"The imputation model does not fit the data: {said}. {_ABOUT}"
