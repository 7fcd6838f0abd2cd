"""A sensitivity analysis in words."""

from __future__ import annotations

from math import isfinite

from cocensor._validation import escaped
from cocensor.evaluation import Evaluation
from cocensor.sensitivity import Sensitivity
from cocensor.sensitivity.bounding import has_bounds
from cocensor.words.after_dropout import after_dropout_in_words
from cocensor.words.alarms import nothing_to_rank
from cocensor.words.bounds import (
    bounds_in_words,
    bounds_of,
    certain_in_words,
    open_in_words,
    pairs_from_leader,
    why_no_bounds,
)
from cocensor.words.digits import level_in_words, number
from cocensor.words.leads import first_point, told_extent, told_in_range, told_over_grid
from cocensor.words.names import BARE, Names, and_metric, as_noun, listed, quoted
from cocensor.words.plausible import plausible_tau_in_words
from cocensor.words.standing import standing_at_start, verdict
from cocensor.words.stretches import stretches_in_words
from cocensor.words.within import (
    answered_points,
    as_far_as_tried,
    covered,
    plausible_in_words,
    range_in_words,
)


def sensitivity_as_text(sensitivity: Sensitivity) -> str:
    """What a terminal shows of a sensitivity analysis."""
    low, high = min(sensitivity.taus), max(sensitivity.taus)
    taus = f"τ from {low:g} to {high:g}" if low < high else f"τ = {low:g}"
    grid = f"{', '.join(sensitivity.families)}; {taus}"
    labels = listed([as_noun(sensitivity.evaluation.results[name].label) for name in sensitivity.answers])
    lines = [f"Sensitivity of {labels} over {grid}.", *_sentences(sensitivity, BARE)]
    if sensitivity.leaders():
        lines.insert(1, plausible_in_words(sensitivity))
    if sensitivity.after_dropout is not None:
        lines.append(after_dropout_in_words(sensitivity.after_dropout))
    return "\n".join(filter(None, lines))


def beside_scores(evaluation: Evaluation, sensitivity: Sensitivity | None) -> list[str]:
    """What a terminal shows after the scores: what is certain, how far the answer holds, what is open, benchmarks."""
    bounds, covariates = bounds_of(evaluation), evaluation.computed("plausible_tau")
    said = [] if bounds is None else [certain_in_words(bounds)]
    said += [] if sensitivity is None else [sensitivity_as_text(sensitivity)]
    if bounds is None and not has_bounds(evaluation.metric()):
        said.append(why_no_bounds(evaluation))
    elif bounds is not None:
        pairs = pairs_from_leader(evaluation, bounds)
        said.append(open_in_words(bounds, pairs) if pairs else bounds_in_words(bounds))
    if covariates is not None:
        cautions = [note.text for note in covariates.notes if note.kind == "caution"]
        said.append(" ".join([plausible_tau_in_words(covariates), *cautions]))
    return [escaped(part) for part in said if part]


def sensitivity_in_words(sensitivity: Sensitivity, names: Names = BARE) -> str:
    """Who is told from whom, and how far along τ, by the primary adjustment and the first metric.

    Without intervals, which model has the best score from where to where.
    """
    return " ".join(_sentences(sensitivity, names))


def _sentences(sensitivity: Sensitivity, names: Names) -> list[str]:
    evaluation = sensitivity.evaluation
    label, best = quoted(evaluation, sensitivity.primary), sensitivity.leaders()
    if not best:
        return [f"By {label} there is no {evaluation.metric().label} at any point of the grid."]
    if not evaluation.contenders:
        return [nothing_to_rank(evaluation, names)]
    if len(evaluation.contenders) == 1:
        [model] = evaluation.contenders
        what = f"the {evaluation.metric().label} of {names.model(model)}"
        taus, within = answered_points(sensitivity), score_in_range(sensitivity, model, what)
        if within and covered(sensitivity) == (taus[0], taus[-1]):
            return [within]
        return [*filter(None, [within]), _range_in_words(sensitivity, model, what)]
    said, more = "; ".join(stretches_in_words(sensitivity, names)), list[str]()
    tau = first_point(sensitivity)
    found = standing_at_start(sensitivity, tau)
    if found.tells:
        at = f"at τ = {tau:g}{'' if tau else ' (independent censoring)'}"
        extent = told_extent(sensitivity, found, tau, names)
        said = f"{at} {verdict(found, names).joined(limit=extent.within)}"
        more = [
            told_in_range(sensitivity, found, names).strip(),
            extent.beyond,
            *told_over_grid(sensitivity, found, names),
        ]
    silent = [family for family in sensitivity.families if family not in best]
    if silent:
        more.append(f"Under {listed(silent)} there is no answer.")
    return [f"By {label}{and_metric(evaluation)}, {said}.", *filter(None, more)]


def scores_over_grid(sensitivity: Sensitivity, model: str) -> dict[tuple[str, float], float]:
    """The scores of a model by family and τ, by the primary adjustment and the first metric."""
    return {
        (family, tau): values[model]
        for family, by_tau in sensitivity.answers[sensitivity.primary].items()
        for tau in by_tau
        for values in (sensitivity.values(family, tau),)
        if model in values
    }


def _range_in_words(sensitivity: Sensitivity, model: str, what: str) -> str:
    """How far the score of a single model moves."""
    scores = scores_over_grid(sensitivity, model).values()
    return (
        f"By {quoted(sensitivity.evaluation, sensitivity.primary)}, {what} lies between {number(min(scores))} and "
        f"{number(max(scores))} over the grid{uncertainty_in_words(sensitivity, model)}; with one model there is "
        "nothing to rank."
    )


def score_in_range(sensitivity: Sensitivity, model: str, what: str = "it") -> str:
    """Between which values the score of a model lies over the plausible range; empty where that was not tried."""
    low, high = covered(sensitivity)
    if low >= high:
        return ""
    found = sensitivity.uncertainty(low, high, model).ignorance
    where = f"the plausible range of τ{as_far_as_tried(sensitivity)}, {range_in_words(low, high)}"
    return (
        f"Over {where}, {what} lies between {number(found.low)} and {number(found.high)}"
        f"{uncertainty_in_words(sensitivity, model, (low, high))}."
    )


def uncertainty_in_words(
    sensitivity: Sensitivity, model: str, between: tuple[float, float] | None = None
) -> str:
    """Between which values the score of a model lies, sampling error included; by default over the whole grid."""
    if sensitivity.evaluation.confidence_level is None:
        return ""
    taus = answered_points(sensitivity)
    found = sensitivity.uncertainty(*(between or (taus[0], taus[-1])), model).strong
    if not (isfinite(found.low) and isfinite(found.high)):
        return ""
    level = level_in_words(sensitivity.confidence_level)
    return f" (with sampling error, between {number(found.low)} and {number(found.high)} at {level})"
