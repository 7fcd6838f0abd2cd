"""The answer of a page in words: what is best, how far that holds, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from cocensor.adjustments import Adjustment
from cocensor.copulas import Copula
from cocensor.evaluation import Evaluation
from cocensor.metrics import Metric
from cocensor.sensitivity import Sensitivity
from cocensor.words.choice import choice_in_words
from cocensor.words.dependence import caveat_of
from cocensor.words.evaluation import copula_in_words
from cocensor.words.extent import extent_in_words, grid_in_words, limit_in_words
from cocensor.words.names import ON_PAGE, and_metric, copula_name, counted, quoted
from cocensor.words.sensitivity import scores_over_grid

_FEW_EVENTS = 10


@dataclass(frozen=True)
class Headline:
    """What the first screen says, from the answer to the small print."""

    lead: str
    support: str
    by: str
    extent: tuple[str, ...]
    rests_on: str
    hint: str
    caution: str


@dataclass(frozen=True)
class _Start:
    """The answer under independent censoring, or as near to it as there is one.

    ``tau`` is None where no copula is assumed.
    """

    where: str
    tau: float | None
    adjustment: str
    scores: dict[str, float]
    metric: Metric

    @property
    def winners(self) -> tuple[str, ...]:
        return tuple(model for model, rank in self.metric.ranks(self.scores).items() if rank == 1)


def headline(evaluation: Evaluation, sensitivity: Sensitivity | None) -> Headline:
    """Which model is best if censoring is independent, and how far that holds by the primary adjustment.

    All by the first metric. The copula of the evaluation comes last: it is a hint.
    """
    unanswered = sensitivity is not None and not sensitivity.best()
    if unanswered:
        sensitivity = None
    start = _start(evaluation, sensitivity)
    lead, support = _answer(evaluation, sensitivity, start)
    extent: tuple[str, ...] = ()
    if sensitivity is not None:
        one = len(evaluation.models) == 1
        extent = (_span(sensitivity),) if one else tuple(extent_in_words(sensitivity, start.winners))
    return Headline(
        lead=lead,
        support=support,
        by=" ".join([*_passed_over(evaluation), _extent_by(evaluation, sensitivity, unanswered)]),
        extent=extent,
        rests_on=_rests_on(evaluation, sensitivity, start),
        hint=_hint(evaluation),
        caution=_caution(evaluation),
    )


def _start(evaluation: Evaluation, sensitivity: Sensitivity | None) -> _Start:
    """By IPCW; else by the primary adjustment, at the τ nearest to 0 of the grid, or at the copula that it has."""
    metric = evaluation.metric()
    weighted = evaluation.under_ipcw()
    if weighted is not None:
        where = _if_independent(weighted.adjustment)
        scores = {model: found.value for model, found in weighted.values[metric.name].items()}
        return _Start(where, 0.0, weighted.name, scores, metric)
    if sensitivity is not None:
        points = [(tau, family) for family, by_tau in sensitivity.best().items() for tau in by_tau]
        tau, family = min(points, key=lambda point: abs(point[0]))
        name, scores = sensitivity.primary, sensitivity.values(family, tau)
        where = f"At τ = {tau:g} under {ON_PAGE.family(family)}"
        if tau == 0:
            where = _if_independent(evaluation.results[name].adjustment)
        return _Start(where, tau, name, scores, metric)
    primary = evaluation.under()
    scores = {model: found.value for model, found in primary.values[metric.name].items()}
    copula = getattr(primary.adjustment, "copula", None)
    if not isinstance(copula, Copula):
        return _Start(f"By {quoted(evaluation, primary.name)}", None, primary.name, scores, metric)
    where = f"Under {copula_name(copula)}"
    if copula.is_independence:
        where = _if_independent(primary.adjustment)
    return _Start(where, float(copula.tau), primary.name, scores, metric)


def _if_independent(adjustment: Adjustment) -> str:
    given = " given the covariates" if "covariates" in adjustment.needs else ""
    return f"If censoring is independent{given}"


def _answer(evaluation: Evaluation, sensitivity: Sensitivity | None, start: _Start) -> tuple[str, str]:
    """The answer, and the scores behind it."""
    metric, by = start.metric, evaluation.results[start.adjustment].label
    better = f"{metric.direction.capitalize()} is better."
    if not start.scores:
        return f"No model has a score by the {metric.label}.", better
    if len(evaluation.models) == 1:
        [model] = evaluation.models
        lead = f"There is one model, {ON_PAGE.model(model)}, and nothing to rank."
        return lead, f"{start.where}, its {metric.label} is {start.scores[model]:.4f} by “{by}”. {better}"
    told = f" by the {metric.label}" if len(evaluation.metrics) > 1 else ""
    limit = ""
    if sensitivity is not None and start.tau is not None:
        limit = limit_in_words(sensitivity, start.winners, start.tau)
    lead = f"{start.where}, {ON_PAGE.are_best(start.winners)}{told}{limit}."
    return lead, f"By “{by}”, {_lead_over(evaluation, start)} {better}"


def _lead_over(evaluation: Evaluation, start: _Start) -> str:
    """By how much the first are ahead, and who has no score."""
    best = start.scores[start.winners[0]]
    rest = {model: score for model, score in start.scores.items() if model not in start.winners}
    silent = [model for model in evaluation.models if model not in start.scores]
    said = f"the {start.metric.label} is {best:.4f}{' for each' if len(start.winners) > 1 else ''}"
    if rest:
        ranked = start.metric.ranks(rest)
        second = min(ranked, key=lambda model: ranked[model])
        said += f"; next is {ON_PAGE.model(second)} with {rest[second]:.4f}"
    if silent:
        said += f"; {ON_PAGE.models(silent)} {'has' if len(silent) == 1 else 'have'} no score"
    return f"{said}."


def _span(sensitivity: Sensitivity) -> str:
    """Between which values the score of the only model moves."""
    [model] = sensitivity.evaluation.models
    scores = scores_over_grid(sensitivity, model)
    low, high = (
        f"{scores[at]:.4f} ({ON_PAGE.family(at[0])}, τ = {at[1]:g})"
        for at in (min(scores, key=lambda at: scores[at]), max(scores, key=lambda at: scores[at]))
    )
    return f"Its score lies between {low} and {high}."


def _extent_by(evaluation: Evaluation, sensitivity: Sensitivity | None, unanswered: bool) -> str:
    """What the statements on how far an answer holds are told by, or why there are none."""
    if sensitivity is not None:
        by = quoted(evaluation, sensitivity.primary) + and_metric(evaluation)
        return f"By {by}, over {grid_in_words(sensitivity)}:"
    if unanswered:
        return f"The sensitivity analysis has no {evaluation.metric().label}."
    return why_no_sensitivity(evaluation)


def why_no_sensitivity(evaluation: Evaluation) -> str:
    """Why nothing is said of other dependences."""
    if not any(each.varies_with_copula for each in evaluation.results.values()):
        return "No adjustment here rests on a copula, so that there is no dependence to vary."
    return "How far this holds under other dependences has not been computed: call sensitivity() of the evaluation."


def _passed_over(evaluation: Evaluation) -> list[str]:
    """Why the adjustment that would be asked first is not."""
    first = evaluation.results[evaluation.preferred]
    if first.answered:
        return []
    why = "".join(f": {note.text}" for note in first.notes_of("missing")[:1])
    return [f"“{first.label}” would come first, but has no score{why}"]


def _rests_on(evaluation: Evaluation, sensitivity: Sensitivity | None, start: _Start) -> str:
    names = dict.fromkeys([start.adjustment, *([] if sensitivity is None else [sensitivity.primary])])
    said = [f"{quoted(evaluation, name)}: {evaluation.results[name].adjustment.assumption}" for name in names]
    if sensitivity is not None:
        said.append(
            "Over the grid, the copula is that of each point. Data alone cannot check it: that is why it is varied."
        )
    return " ".join(said)


def _hint(evaluation: Evaluation) -> str:
    """What the copula of the table is, and what it says."""
    assumed, ranked = evaluation.assumed, evaluation.ranks()
    if assumed.origin == "unused":
        return f"{copula_in_words(evaluation).capitalize()}."
    there = ""
    if ranked and len(evaluation.models) > 1:
        best = tuple(model for model, rank in ranked.items() if rank == 1)
        by = quoted(evaluation, evaluation.primary) + and_metric(evaluation)
        there = f" With it, by {by}, {ON_PAGE.are_best(best)}."
    if assumed.choice is not None:
        return f"{choice_in_words(assumed.choice)}{there} {caveat_of(assumed.choice)}"
    if assumed.origin == "given":
        return f"The table of scores takes {copula_name(assumed.copula)}, as given.{there}"
    return f"No copula was given or selected: the table of scores takes independence.{there}"


def _caution(evaluation: Evaluation) -> str:
    """That numbers are uncertain, and where there are next to no events, that they are very much so."""
    chance = "differences between models may be within chance"
    if len(evaluation.models) == 1:
        chance = "another sample would give another score"
    said = [f"Sampling intervals are not given yet: {chance}."]
    train, test = evaluation.data.samples.y_train, evaluation.data.samples.y_test.n_events
    if train is not None and train.n_events == 0:
        said.append("The training sample has no event: there is little to adjust by.")
    if test < _FEW_EVENTS:
        many = counted(test, "event") if test else "no event"
        said.append(f"The test sample has {many}: its scores tell next to nothing.")
    return " ".join(said)
