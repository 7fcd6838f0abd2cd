"""A sensitivity analysis in words."""

from __future__ import annotations

from cocensor.sensitivity import Sensitivity
from cocensor.words.names import BARE, and_metric, as_noun, listed, quoted
from cocensor.words.stretches import stretches_in_words


def sensitivity_as_text(sensitivity: Sensitivity) -> str:
    """What a terminal shows of a sensitivity analysis."""
    grid = f"{', '.join(sensitivity.families)}; τ from {min(sensitivity.taus):g} to {max(sensitivity.taus):g}"
    labels = listed([as_noun(sensitivity.evaluation.results[name].label) for name in sensitivity.answers])
    return f"Sensitivity of {labels} over {grid}.\n{sensitivity_in_words(sensitivity)}"


def sensitivity_in_words(sensitivity: Sensitivity) -> str:
    """Which model is best from where to where along τ, by the primary adjustment and the first metric."""
    evaluation = sensitivity.evaluation
    label, best = quoted(evaluation, sensitivity.primary), sensitivity.leaders()
    if not best:
        return f"By {label} there is no {evaluation.metric().label} at any point of the grid."
    if len(evaluation.data.predictions) == 1:
        return _range_in_words(sensitivity)
    said = "; ".join(stretches_in_words(sensitivity, BARE))
    silent = [family for family in sensitivity.families if family not in best]
    unanswered = f" Under {listed(silent)} there is no answer." if silent else ""
    return f"By {label}{and_metric(evaluation)}, {said}.{unanswered}"


def scores_over_grid(sensitivity: Sensitivity, model: str) -> dict[tuple[str, float], float]:
    """The scores of a model by family and τ, by the primary adjustment and the first metric."""
    return {
        (family, tau): values[model]
        for family, by_tau in sensitivity.answers[sensitivity.primary].items()
        for tau in by_tau
        for values in (sensitivity.values(family, tau),)
        if model in values
    }


def _range_in_words(sensitivity: Sensitivity) -> str:
    """How far the score of a single model moves."""
    evaluation, [model] = sensitivity.evaluation, sensitivity.evaluation.data.predictions
    scores = scores_over_grid(sensitivity, model).values()
    return (
        f"The {evaluation.metric().label} of {model} lies between {min(scores):.4f} and {max(scores):.4f} over the "
        f"grid, by {quoted(evaluation, sensitivity.primary)}; with one model there is nothing to rank."
    )
