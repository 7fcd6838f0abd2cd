"""Which dependence is plausible, in words."""

from __future__ import annotations

from cocensor.study.sensitivity import PlausibleTau
from cocensor.views.text.digits import level_in_words
from cocensor.views.text.names import BARE, Names, counted

# A τ that many sensitivity analyses come to.
_EXAMPLE = 0.3
_TINY = 0.005
_LIMIT = (
    "This is a benchmark, not a bound: leaving because the event is near can be stronger than any covariate."
)


def plausible_tau_in_words(found: PlausibleTau, names: Names = BARE) -> str:
    """How strong a hidden factor would have to be, beside the strongest measured one, and what that leaves open."""
    strongest = found.strongest
    ratio = found.hidden([_EXAMPLE])[_EXAMPLE]
    measured = (
        f"{names.model(strongest.name)}, the strongest you measured, has {strongest.hazard_ratio_event:.2f} on the "
        f"event and {strongest.hazard_ratio_dropout:.2f} on dropout and induces {_tau(strongest.shrunken_tau)}"
        f"{_with_noise(strongest.tau, strongest.shrunken_tau)}"
    )
    together = f" All covariates together induce {_tau(found.together)}." if len(found.benchmarks) > 1 else ""
    return (
        f"τ = {_EXAMPLE} would take a hidden factor with a hazard ratio of {ratio:.1f} per SD on both event and "
        f"dropout; {measured}.{together} {_LIMIT}"
    )


def _tau(tau: float) -> str:
    return f"τ = {tau:.2f}" if abs(tau) >= _TINY else f"|τ| below {_TINY}"


def _with_noise(tau: float, shrunken: float) -> str:
    """The estimate, where shrinking it shows: all covariates together are told of without."""
    said = f"{tau:z.2f}"
    return f" ({said} before its noise is allowed for)" if said != f"{shrunken:z.2f}" else ""


def plausible_tau_as_text(found: PlausibleTau) -> str:
    """The table of all covariates, and the statement."""
    width = max(12, *(len(each.name) for each in found.benchmarks)) + 2
    level = level_in_words(found.confidence_level)
    lines = [
        f"Which τ of event and dropout leaving out a covariate would induce ({counted(found.n, 'subject')}, "
        f"{counted(found.n_events, 'event')}, {counted(found.n_dropouts, 'dropout')}; hazard ratios per SD, {level} "
        "intervals)",
        "",
        f"{'covariate':<{width}}{'event':>8}{'dropout':>9}{'τ':>9}{'from':>9}{'to':>9}{'shrunken':>10}",
    ]
    for each in found.benchmarks:
        lines.append(
            f"{each.name:<{width}}{each.hazard_ratio_event:8.2f}{each.hazard_ratio_dropout:9.2f}{each.tau:z9.3f}"
            f"{each.interval.low:z9.3f}{each.interval.high:z9.3f}{each.shrunken_tau:z10.3f}"
        )
    low, high = found.together_interval
    lines.append(f"{'all together':<{width}}{'':17}{found.together:z9.3f}{low:z9.3f}{high:z9.3f}")
    lines.append(f"{'aligned':<{width}}{'':17}{found.aligned:9.3f}")
    return "\n".join([*lines, "", found.statement, *map(str, found.notes)])
