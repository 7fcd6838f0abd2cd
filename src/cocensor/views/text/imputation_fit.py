"""The fit of the imputation model in words."""

from __future__ import annotations

from cocensor.study.imputation_fit import ImputationFit
from cocensor.views.text.names import BARE, Names
from cocensor.views.text.notes import misfit_in_words

_ABOUT = "This checks its margins, not τ."


def imputation_fit_in_words(fit: ImputationFit, names: Names = BARE) -> str:
    """Whether what was observed is what the imputation model expects, and what that is about."""
    tests = list(fit.tests)
    if not tests:
        return "There are too few events and dropouts to check the fit of the imputation model."
    if not fit.failed:
        off = "by no more than chance explains"
        if fit.significant:
            most = max(cells.misfit for *_, cells in fit.significant)
            off = f"by {100 * most:.0f} % at most, too little to change scores by much"
        return (
            "The imputation model fits: events and dropouts, by period and decile of the risk score, "
            f"deviate from it {off} (p = {fit.pvalue:.2g} for all tests together). {_ABOUT}"
        )
    said = misfit_in_words(fit.misfits, names.model)
    return f"The imputation model does not fit the data: {said}. {_ABOUT}"
