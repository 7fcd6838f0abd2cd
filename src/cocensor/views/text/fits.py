"""Fitted models in words: whether the imputation model fits, and which dependence a likelihood prefers."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

import numpy as np

from cocensor.joint import CopulaChoice, DependenceProfile
from cocensor.joint.select import CUT
from cocensor.study.data import SuggestedCopula
from cocensor.study.evaluation import Evaluation
from cocensor.study.imputation_fit import ImputationFit
from cocensor.study.lookup import results_of
from cocensor.views.text.names import BARE, Names, capital, copula_name
from cocensor.views.text.notes import misfit_in_words

#: The one meaning of τ.
TAU_MEANS = "τ is the dependence of event and dropout that remains given the predictions and any covariates."
# Families that fit equally well disagree if their best τ are this far apart.
_DISAGREE = 0.2
# A family is flat if this share of its τ fits about as well as the best.
_FLAT_SHARE = 0.5
# The choice and the profile name the same τ if they are no further apart than two points of the profile.
_SAME_TAU = 0.1
_MOST_LISTED = 4


def imputation_fit_in_words(fit: ImputationFit, names: Names = BARE) -> str:
    """Sentences on whether the imputation model fits what was observed."""
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
            f"deviate from it {off} (p = {fit.pvalue:.2g} for all tests together). This checks its margins, not τ."
        )
    return misfit_in_words(fit.misfits, names.model)


def choice_in_words(choice: CopulaChoice) -> str:
    """The copula that was chosen, by what, and how clearly it beat independence."""
    if choice.preferred == "independence":
        return f"No family predicts held-out outcomes better than independence (by {choice.how})."
    named = copula_name(choice.models[choice.preferred].copula)
    gain = f"{choice.gain:.1f} units of held-out log-likelihood (by {choice.how})"
    if choice.copula.is_independence:
        return (
            f"Independence is selected. {capital(named)} is better by {gain}, but a gain of {choice.min_gain:g} is "
            "required, because margins of another form than assumed can look like weak dependence."
        )
    return f"Of all families, {named} predicts held-out outcomes best, better than independence by {gain}."


def hint_in_words(hint: SuggestedCopula) -> str:
    """The copula that fits best, given what and by whose outcomes, and what to think of it."""
    if hint.choice is None:
        return f"No copula could be selected: {hint.notes[0]}"
    shown = list(hint.columns[:_MOST_LISTED])
    more = len(hint.columns) - len(shown)
    columns = "; ".join([*shown, f"{more} more"] if more else shown)
    given = {
        "imputation": f"the predictions and any covariates ({columns})",
        "covariates": f"the covariates ({columns})",
        "nothing": "nothing else",
    }
    basis = ""
    if hint.given != "own":
        basis = f"Copulas are fitted to the outcomes of the {hint.sample} sample, given {given[hint.given]}. "
    return f"{choice_in_words(hint.choice)} {basis}{TAU_MEANS} {caveat(hint.choice)}"


def candidates_as_text(choice: CopulaChoice) -> str:
    """The candidates as a table: θ, τ, and the mean negative log-likelihood of both parts."""
    best = choice.best
    lines = [
        f"Mean negative log-likelihood of {choice.problem.likelihood.n:,} subjects by {choice.how} "
        f"({best.event.name} margins, times {best.time_kind_}: {best.time_kind_reason_})",
        "",
        f"{'family':<14}{'θ':>10}{'τ':>8}{'(s.e.)':>9}{'training':>12}{'validation':>12}  converged",
    ]
    for name, model in choice.models.items():
        error = f"({model.tau_se_:.2f})" if isfinite(model.tau_se_) else "–"
        lines.append(
            f"{name:<14}{model.copula.theta:10.4g}{model.copula.tau:8.3f}{error:>9}{-model.loglik_ / model.n_:12.5f}"
            f"{choice.validation[name]:12.5f}  {'yes' if model.converged_ else 'no'}"
            + (" ← chosen" if name == choice.copula.name else "")
        )
    return "\n".join(lines)


def choice_as_text(choice: CopulaChoice) -> str:
    """The candidates, and the caveat of any choice."""
    return f"{candidates_as_text(choice)}\n\n{caveat(choice)}"


def caveat(choice: CopulaChoice | None = None) -> str:
    """A warning on a fitted τ, by default on any; advice that was followed is left out."""
    marked = None if choice is None else choice.problem.y.administrative
    is_marked = marked is not None and bool(marked.any())
    advice = "" if is_marked else "mark an end of study as administrative, "
    return (
        f"Only the assumed form of the margins identifies τ: take it as a hint, {advice}and see how "
        "the scores change over a range of τ."
    )


def profile_in_words(profile: DependenceProfile) -> str:
    """The best fit of a profile, where it is flat, and why a choice beside it is another."""
    return " ".join([*_about_profile(profile), caveat(profile.choice)])


def _about_profile(profile: DependenceProfile) -> Iterator[str]:
    """The best fit, where no τ stands out, whether families that fit alike agree on it, and why a choice is another."""
    choice, (family, tau, top) = profile.choice, profile.best
    gain = f"{top - profile.independence:.1f} log-likelihood units above independence"
    best = f"The best fit is {family} at τ = {tau:.2g}, {gain}."
    yield best if tau else "No dependence fits better than independence."
    flat_everywhere = max(np.ptp(values) for _, values in profile.curves.values()) < CUT
    if flat_everywhere:
        yield "The profile is flat in every family: the data do not identify τ."
    for name, (taus, values) in profile.curves.items():
        low, high = profile.supported(name)
        width = float(taus[-1] - taus[0])
        if not flat_everywhere and width > 0 and (high - low) > _FLAT_SHARE * width:
            worse = profile.best[2] - float(values.max())
            flat = f"{name} is flat:"
            if worse > CUT:
                flat = f"Within {name}, which fits worse by {worse:.0f} log-likelihood units,"
            yield f"{flat} any τ from {low:.2g} to {high:.2g} fits about as well."
        at = float(taus[np.argmax(values)])
        if at != 0.0 and at in (taus[0], taus[-1]):
            yield f"{name} still rises at τ = {at:.2g}, the end of the range: its optimum is at a boundary."
    near = {
        name: float(taus[np.argmax(values)])
        for name, (taus, values) in profile.curves.items()
        if values.max() >= profile.best[2] - CUT
    }
    if max(near.values()) - min(near.values()) > _DISAGREE:
        best_taus = ", ".join(f"{name} {at:.2g}" for name, at in near.items())
        yield f"Families that fit about equally well disagree on τ ({best_taus})."
    if choice is None:
        return
    copula = choice.copula
    differs = f"The selected copula differs: {copula_name(copula)}."
    if copula.name != (family if tau else "independence"):
        required = ""
        if choice.preferred != copula.name:
            required = f", where a gain of {choice.min_gain:g} units over independence is required"
        yield (
            f"{differs} It is selected by held-out outcomes ({choice.how}){required}, not by this likelihood of the "
            "whole sample. The difference shows how little the data say about τ."
        )
    elif choice.problem.penalty != 0 and abs(copula.tau - tau) > _SAME_TAU:
        yield (
            f"{differs} A penalty on θ, which is not part of this likelihood, shrinks it towards independence."
        )


def joint_fit(evaluation: Evaluation) -> ImputationFit | None:
    """The fit of the joint model of the primary adjustment, or of the first that has one."""
    first = [results_of(evaluation), *evaluation.results.values()]
    return next((scores.imputation_fit for scores in first if scores.imputation_fit is not None), None)


def copula_in_words(evaluation: Evaluation) -> str:
    """The assumption on event and dropout that adjustments by name make."""
    assumed, results = evaluation.data.assumed, evaluation.results.values()
    if assumed.origin == "unused":
        own = any(scores.adjustment.rests_on_copula for scores in results)
        return "adjustments have copulas of their own" if own else "no copula is assumed"
    if assumed.copula.is_independence:
        imputed = any(scores.fits and "predictions" in scores.adjustment.needs for scores in results)
        given = " given the predictions and any covariates" if imputed else ""
        copula = f"event and dropout are assumed independent{given}"
    else:
        copula = f"{type(assumed.copula).__name__} copula, τ = {assumed.copula.tau:.2g}"
    origin = {"selected": ", as selected: a hint, not a measurement", "given": ", as given"}
    return copula + origin.get(assumed.origin, "")
