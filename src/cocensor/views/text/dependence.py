"""What a likelihood says of the dependence, and what it cannot say, in words."""

from __future__ import annotations

import numpy as np

from cocensor.joint import CopulaChoice, DependenceProfile
from cocensor.joint.profile import CUT
from cocensor.views.text.names import copula_name

#: The one meaning of τ.
TAU_MEANS = "τ is the dependence of event and dropout that remains given the predictions and any covariates."
# Families that fit equally well disagree if their best τ are this far apart.
_DISAGREE = 0.2
# A family is flat if this share of its τ fits about as well as the best.
_FLAT_SHARE = 0.5
# The choice and the profile name the same τ if they are no further apart than two points of the profile.
_SAME_TAU = 0.1


def caveat(administrative_marked: bool) -> str:
    """What to think of a fitted τ; advice that was followed is left out."""
    advice = "" if administrative_marked else "mark an end of study as administrative, "
    return (
        f"Only the assumed form of the margins identifies τ: take it as a hint, {advice}and see how "
        "the scores change over a range of τ."
    )


def caveat_of(choice: CopulaChoice) -> str:
    """What to think of the τ that was chosen."""
    marked = choice.problem.y.administrative
    return caveat(marked is not None and bool(marked.any()))


def profile_in_words(profile: DependenceProfile) -> str:
    """What the profile says, and why a choice beside it is another."""
    family, tau, top = profile.best
    if tau == 0.0:
        said = ["No dependence fits better than independence."]
    else:
        gain = top - profile.independence
        said = [
            f"The best fit is {family} at τ = {tau:.2g}, {gain:.1f} log-likelihood units above independence."
        ]
    said += [*_flatness(profile), *_disagreement(profile)]
    if profile.choice is None:
        return " ".join([*said, caveat(administrative_marked=False)])
    return " ".join([*said, *_another_choice(profile, profile.choice), caveat_of(profile.choice)])


def _flatness(profile: DependenceProfile) -> list[str]:
    """Where the likelihood does not tell one τ from another, or has no maximum."""
    top, said = profile.best[2], []
    flat_everywhere = max(np.ptp(values) for _, values in profile.curves.values()) < CUT
    if flat_everywhere:
        said.append("The profile is flat in every family: the data do not identify τ.")
    for name, (taus, values) in profile.curves.items():
        low, high = profile.supported(name)
        width = float(taus[-1] - taus[0])
        if not flat_everywhere and width > 0 and (high - low) > _FLAT_SHARE * width:
            flat, worse = f"{name} is flat:", top - float(values.max())
            if worse > CUT:
                flat = f"Within {name}, which fits worse by {worse:.0f} log-likelihood units,"
            said.append(f"{flat} any τ from {low:.2g} to {high:.2g} fits about as well.")
        at = float(taus[np.argmax(values)])
        if at != 0.0 and at in (taus[0], taus[-1]):
            said.append(
                f"{name} still rises at τ = {at:.2g}, the end of the range: its optimum is at a boundary."
            )
    return said


def _disagreement(profile: DependenceProfile) -> list[str]:
    """That families which fit alike do not have their best τ alike."""
    top = profile.best[2]
    near = {
        name: float(taus[np.argmax(values)])
        for name, (taus, values) in profile.curves.items()
        if values.max() >= top - CUT
    }
    if max(near.values()) - min(near.values()) <= _DISAGREE:
        return []
    listed = ", ".join(f"{name} {at:.2g}" for name, at in near.items())
    return [f"Families that fit about equally well disagree on τ ({listed})."]


def _another_choice(profile: DependenceProfile, choice: CopulaChoice) -> list[str]:
    """What sets the choice apart from the maximum of the profile, where they are not the same."""
    family, tau, _ = profile.best
    copula = choice.copula
    if copula.name != (family if tau else "independence"):
        asked = ""
        if choice.preferred != copula.name:
            asked = f", where a gain of {choice.min_gain:g} units over independence is required"
        return [
            (
                f"The selected copula differs: {copula_name(copula)}. It is selected by held-out outcomes "
                f"({choice.how}){asked}, not by this likelihood of the whole sample. The difference shows "
                "how little the data say about τ."
            )
        ]
    if choice.problem.penalty != 0 and abs(copula.tau - tau) > _SAME_TAU:
        return [
            (
                f"The selected copula differs: {copula_name(copula)}. A penalty on θ, which is not part "
                "of this likelihood, shrinks it towards independence."
            )
        ]
    return []
