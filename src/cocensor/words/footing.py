"""What an answer rests on and leaves out, in words for the page."""

from __future__ import annotations

from cocensor.evaluation import Evaluation
from cocensor.evaluation.hint import CopulaHint
from cocensor.sensitivity import Sensitivity
from cocensor.words.answer import Start
from cocensor.words.digits import level_in_words
from cocensor.words.evaluation import copula_in_words
from cocensor.words.names import ON_PAGE, copula_name, quoted
from cocensor.words.standing import standing_at, verdict


def why_no_sensitivity(evaluation: Evaluation) -> str:
    """Why nothing is said of other dependences."""
    if not any(each.varies_with_copula for each in evaluation.results.values()):
        return "No adjustment here rests on a copula, so that there is no dependence to vary."
    return "How far this holds under other dependences has not been computed: call sensitivity() of the evaluation."


def passed_over(evaluation: Evaluation) -> list[str]:
    """Why the adjustment that would be asked first is not."""
    first = evaluation.results[evaluation.preferred]
    if first.answered:
        return []
    why = "".join(f": {note.text}" for note in first.notes_of("missing")[:1])
    return [f"“{first.label}” would come first, but has no score{why}"]


def rests_on(evaluation: Evaluation, sensitivity: Sensitivity | None, start: Start) -> str:
    """What is assumed."""
    names = dict.fromkeys([start.adjustment, *([] if sensitivity is None else [sensitivity.primary])])
    said = [f"{quoted(evaluation, name)}: {evaluation.results[name].adjustment.assumption}" for name in names]
    if sensitivity is not None:
        said.append(
            "Over the grid, the copula is that of each point. Data alone cannot check it: that is why it is varied."
        )
    said += [note.text for note in evaluation.notes if note.kind == "caution" and note.model is None]
    return " ".join(said)


def hint_on_page(evaluation: Evaluation, sensitivity: Sensitivity | None) -> str:
    """What the copula of the table is, and which one fits best."""
    assumed, hint = evaluation.assumed, evaluation.computed("hint")
    if assumed.origin == "unused":
        said = f"{copula_in_words(evaluation).capitalize()}."
    else:
        how = {"given": ", as given", "selected": ", as selected"}.get(assumed.origin, "")
        said = f"The table of scores assumes {copula_name(assumed.copula)}{how}."
    if hint is None:
        return f"{said} Which copula fits best has not been computed: give --hint, or call copula_hint()."
    return f"{said} {hint.statement}{_at_the_hint(hint, sensitivity)}"


def _at_the_hint(hint: CopulaHint, sensitivity: Sensitivity | None) -> str:
    """What the grid says nearest to the hint, which is of the same dependence if it is given what the judge is."""
    if hint.choice is None or hint.given != "judge" or sensitivity is None:
        return ""
    copula, one = hint.choice.copula, len(sensitivity.evaluation.contenders) < 2
    points = {} if one or copula.is_independence else sensitivity.leaders().get(copula.name, {})
    if not points:
        return ""
    tau = min(points, key=lambda each: abs(each - copula.tau))
    point = f"{ON_PAGE.family(copula.name)} with τ = {tau:g}"
    said = verdict(standing_at(sensitivity, copula.name, tau), ON_PAGE).joined()
    return f" At the nearest point of the grid, {point}, {said}."


def intervals_in_words(evaluation: Evaluation) -> str:
    """What intervals are about, and what they leave out; empty where there are none."""
    level = evaluation.confidence_level
    if level is None:
        return ""
    said = [
        f"Intervals ({level_in_words(level)}) are about these trained models until "
        f"{evaluation.time_axis.said(evaluation.horizon.time)}. They take the assumed dependence as true."
    ]
    how = evaluation.under().resampling
    if how is not None:
        drawn = f"Those of scores come from {how.n_resamples} bootstrap samples"
        said.append(f"{drawn}, those over time and over the grid from formulas: the two may differ.")
    return " ".join(said)


def caution(evaluation: Evaluation, start: Start) -> str:
    """Why numbers are more uncertain than they look; empty where nothing says so."""
    said = []
    if evaluation.confidence_level is None:
        chance = "differences between models may be due to chance"
        if len(evaluation.contenders) < 2:
            chance = "another sample would give another score"
        said = [f"No intervals were asked for: {chance}."]
    else:
        said += _without_interval(evaluation, start)
    return " ".join(said)


def _without_interval(evaluation: Evaluation, start: Start) -> list[str]:
    """Why scores that the answer is told by have no interval."""
    reasons: dict[str, list[str]] = {}
    for model in start.models.scores:
        score = evaluation.score(model, start.models.metric.name, start.adjustment)
        if score.missing is not None:
            reasons.setdefault(score.missing.rstrip("."), []).append(model)
    return [
        f"By {quoted(evaluation, start.adjustment)}, there is no interval of {ON_PAGE.models(models)}: {why}."
        for why, models in reasons.items()
    ]
