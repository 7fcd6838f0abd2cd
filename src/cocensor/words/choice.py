"""The choice of a copula in words."""

from __future__ import annotations

from cocensor.joint import CopulaChoice
from cocensor.words.names import copula_name


def choice_in_words(choice: CopulaChoice) -> str:
    """Which copula was chosen, by what, and how clearly it beat independence."""
    if choice.preferred == "independence":
        return f"No family predicts held-out outcomes better than independence (by {choice.how})."
    named = copula_name(choice.models[choice.preferred].copula)
    gain = f"{choice.gain:.1f} units of held-out log-likelihood (by {choice.how})"
    if choice.copula.is_independence:
        return (
            f"Independence is taken: {named} is better by {gain}, and {choice.min_gain:g} are asked for, as margins of "
            "another form than assumed pass for a weak dependence."
        )
    return f"Of all families, {named} predicts held-out outcomes best, better than independence by {gain}."
