"""A sensitivity analysis in words."""

from __future__ import annotations

from math import isfinite

from cocensor._validation import escaped
from cocensor.evaluation import Evaluation
from cocensor.sensitivity import Sensitivity
from cocensor.sensitivity.bounding import has_bounds
from cocensor.words.after_dropout import after_dropout_in_words
from cocensor.words.alarms import nothing_to_rank
from cocensor.words.answer import anybody_left, best_in_words, if_independent
from cocensor.words.bounds import (
    bounds_in_words,
    bounds_of,
    certain_in_words,
    open_in_words,
    pairs_from_leader,
    why_no_bounds,
)
from cocensor.words.digits import level_in_words, number
from cocensor.words.leads import first_point, told_extent, told_in_range
from cocensor.words.names import BARE, Names, as_noun, listed, quoted
from cocensor.words.over_grid import told_over_grid
from cocensor.words.pace import tau_defined
from cocensor.words.plausible import plausible_tau_in_words
from cocensor.words.standing import standing_at_start
from cocensor.words.stretches import stretches_in_words
from cocensor.words.within import (
    answered_points,
    as_far_as_tried,
    covered,
    plausible_in_words,
)


def sensitivity_as_text(sensitivity: Sensitivity) -> str:
    """What a terminal shows of a sensitivity analysis."""
    low, high = min(sensitivity.taus), max(sensitivity.taus)
    taus = f"τ from {low:g} to {high:g}" if low < high else f"τ = {low:g}"
    grid = f"{', '.join(sensitivity.families)}; {taus}"
    labels = listed([as_noun(sensitivity.evaluation.results[name].label) for name in sensitivity.answers])
    lines = [f"Sensitivity of {labels} over {grid}.", *_sentences(sensitivity, BARE)]
    if sensitivity.after_dropout is not None:
        lines.append(after_dropout_in_words(sensitivity.after_dropout))
    return "\n".join(tau_defined(lines))


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
    return " ".join(tau_defined(_sentences(sensitivity, names)))


def _sentences(sensitivity: Sensitivity, names: Names) -> list[str]:
    evaluation = sensitivity.evaluation
    label, best = quoted(evaluation, sensitivity.primary), sensitivity.leaders()
    if not best:
        return [f"By {label} there is no {evaluation.metric().label} at any point of the grid."]
    if not anybody_left(evaluation):
        return ["Nobody dropped out: there is no dependence to vary."]
    if not evaluation.contenders:
        return [nothing_to_rank(evaluation, names)]
    plausible = plausible_in_words(sensitivity)
    if len(evaluation.contenders) == 1:
        [model] = evaluation.contenders
        what = f"the {evaluation.metric().label} of {names.model(model)}"
        taus, within = answered_points(sensitivity), score_in_range(sensitivity, model, what)
        if within and covered(sensitivity) == (taus[0], taus[-1]):
            return [plausible, within]
        return [plausible, *filter(None, [within]), _range_in_words(sensitivity, model, what)]
    tau = first_point(sensitivity)
    found = standing_at_start(sensitivity, tau)
    if found.tells:
        where = f"At τ = {tau:g}," if tau else if_independent(evaluation, sensitivity.primary)
        extent = told_extent(sensitivity, found, tau, names)
        said = [
            best_in_words(where, found, names),
            told_in_range(sensitivity, found, names),
            *extent.told(plausible_in_words(sensitivity, extent.inside)),
            extent.lost,
            *told_over_grid(sensitivity, found, names),
        ]
    else:
        said = [plausible, f"{'; '.join(stretches_in_words(sensitivity, names))}."]
    silent = [family for family in sensitivity.families if family not in best]
    if silent:
        said.append(f"Under {listed(silent)} there is no answer.")
    return [f"By the {evaluation.metric().label}, scored with {label}:", *filter(None, said)]


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
        f"Over the grid, scored with {quoted(sensitivity.evaluation, sensitivity.primary)}, {what} lies between "
        f"{number(min(scores))} and {number(max(scores))}{uncertainty_in_words(sensitivity, model)}."
    )


def score_in_range(sensitivity: Sensitivity, model: str, what: str) -> str:
    """Between which values the score of a model lies over the plausible range, to follow what that is.

    Empty where the range was not tried.
    """
    low, high = covered(sensitivity)
    if low >= high:
        return ""
    found = sensitivity.uncertainty(low, high, model).ignorance
    return (
        f"Over it{as_far_as_tried(sensitivity)}, {what} lies between {number(found.low)} and {number(found.high)}"
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
    return f"; with sampling error, between {number(found.low)} and {number(found.high)} ({level})"
