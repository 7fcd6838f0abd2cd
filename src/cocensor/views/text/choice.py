"""The choice of a copula in words."""

from __future__ import annotations

from math import isfinite

from cocensor.joint import CopulaChoice
from cocensor.study.hint import CopulaHint
from cocensor.views.text.dependence import TAU_MEANS, caveat_of
from cocensor.views.text.names import copula_name

_MOST_LISTED = 4


def choice_in_words(choice: CopulaChoice) -> str:
    """Which copula was chosen, by what, and how clearly it beat independence."""
    if choice.preferred == "independence":
        return f"No family predicts held-out outcomes better than independence (by {choice.how})."
    named = copula_name(choice.models[choice.preferred].copula)
    gain = f"{choice.gain:.1f} units of held-out log-likelihood (by {choice.how})"
    if choice.copula.is_independence:
        return (
            f"Independence is selected. {named[:1].upper() + named[1:]} is better by {gain}, but a "
            f"gain of {choice.min_gain:g} is required, because margins of another form than assumed "
            "can look like weak dependence."
        )
    return f"Of all families, {named} predicts held-out outcomes best, better than independence by {gain}."


def hint_in_words(hint: CopulaHint) -> str:
    """Which copula fits best, given what, and what to think of it."""
    if hint.choice is None:
        return f"No copula could be selected: {hint.notes[0]}"
    return f"{choice_in_words(hint.choice)} {_given(hint)}{TAU_MEANS} {caveat_of(hint.choice)}"


def _given(hint: CopulaHint) -> str:
    """Given what the copula was selected, and by whose outcomes."""
    if hint.given == "own":
        return ""
    shown = list(hint.columns[:_MOST_LISTED])
    more = len(hint.columns) - len(shown)
    columns = "; ".join([*shown, f"{more} more"] if more else shown)
    given = {
        "imputation": f"the predictions and any covariates ({columns})",
        "covariates": f"the covariates ({columns})",
        "nothing": "nothing else",
    }
    return f"Copulas are fitted to the outcomes of the {hint.sample} sample, given {given[hint.given]}. "


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
    return f"{candidates_as_text(choice)}\n\n{caveat_of(choice)}"
