"""What every view shows first: facts, state, conclusion, the models in one table, what it hangs on, what to ask."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan

from cocensor.adjustments import IPCW
from cocensor.inference.comparisons import Direction
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import results_of
from cocensor.study.ranking import standing
from cocensor.study.report import Report
from cocensor.study.sensitivity.zones import Course
from cocensor.study.verdict import Verdict
from cocensor.views.text.checks import checks_in_words
from cocensor.views.text.digits import decimals, inward, level_in_words, number, ratio_in_words
from cocensor.views.text.names import BARE, Names, capital, plural
from cocensor.views.text.verdict import STATES, conclusion, hangs_on, rival_name

_UNMARKED = (
    "Nobody is marked as censored by the end of the study, so all {n} censorings count as dropouts. "
    "Mark them: {how}."
)


@dataclass(frozen=True)
class Row:
    """A model in the table of all models, its cells as texts."""

    model: str
    score: str
    #: Empty where there is none.
    interval: str
    #: The score minus that of the best; with its interval.
    difference: str
    difference_interval: str
    better_than_reference: str
    #: Whether no other model is better.
    is_best: bool
    truth: str = ""


@dataclass(frozen=True)
class Face:
    """The first screen, in words."""

    facts: tuple[str, ...]
    state: str
    conclusion: str
    sentences: tuple[str, ...]
    metric: str
    direction: str
    assumption: str
    level: str
    rows: tuple[Row, ...]
    reference: str
    #: The warning that matters most; empty where there is none.
    warning: str
    #: Further checks, after that warning.
    checks: tuple[str, ...]
    question: str
    usual: str


def face(report: Report, names: Names = BARE, how: str = "Survival(…, administrative=…)") -> Face:
    """What a view of a report shows first; ``how`` names the argument that marks administrative censorings."""
    evaluation, verdict = report.evaluation, report.verdict
    # Who may be no better than Kaplan–Meier stands in the table of models.
    metric, checks = verdict.standing.metric, checks_in_words(evaluation, names, but="no_better")
    unmarked = unmarked_in_words(evaluation, how)
    base = results_of(evaluation, verdict.adjustment).reference.get(metric.name)
    rows, places = model_rows(evaluation, verdict)
    at_zero = verdict.assumption.tau == 0 and verdict.assumption.anybody_left
    return Face(
        facts_in_words(evaluation),
        STATES[verdict.state],
        conclusion(verdict, names),
        tuple(hangs_on(verdict, names)),
        metric.label,
        metric.direction,
        "if dropouts fared like those who stayed" if at_zero else "",
        "" if verdict.standing.level is None else level_in_words(verdict.standing.level),
        rows,
        number(base.value, places) if base is not None and metric.has_skill else "",
        unmarked or next(iter(checks), ""),
        tuple(checks if unmarked else checks[1:]),
        question_in_words(verdict, names),
        usual_in_words(evaluation, verdict, names),
    )


def facts_in_words(evaluation: Evaluation) -> tuple[str, ...]:
    """Models, test subjects, what happened to them, and the horizon."""
    data = evaluation.data
    whole, axis = data.whole, data.time_axis
    ended = whole.n - whole.n_events - whole.n_dropouts
    happened = [plural(whole.n_events, "event"), plural(whole.n_dropouts, "dropout")]
    happened += [f"{ended:,} censored by the end of the study"] if ended else []
    horizon = f"{float(f'{data.horizon.time:.3g}'):,g}"
    until = f"up to {horizon} {axis.unit}" if axis.unit else f"up to time {horizon}"
    return plural(len(evaluation.models), "model"), plural(whole.n, "test subject"), *happened, until


def model_rows(evaluation: Evaluation, verdict: Verdict) -> tuple[tuple[Row, ...], int]:
    """All models, the best score first, with the decimals of the scores."""
    place, level, truth = verdict.standing, verdict.standing.level, evaluation.truth
    metric = place.metric
    scores = {model: evaluation.score(model, metric.name, verdict.adjustment) for model in evaluation.models}
    errors = [score.standard_error for score in scores.values() if score.standard_error > 0]
    places = max(decimals(min(errors)) - 1, 2) if errors else decimals(0.0)
    sign = 1 if metric.direction == "lower" else -1
    by_score = sorted(scores, key=lambda model: (isnan(scores[model].value), sign * scores[model].value))
    ranked = [model for model in by_score if model in place.scores]
    rows = []
    for model in [*ranked, *(model for model in by_score if model not in ranked)]:
        score, interval, difference, limits = scores[model], "", "", ""
        if level is not None and isfinite(score.standard_error):
            interval = limits_in_words(score.confidence_interval(level), places)
        if ranked and model != ranked[0] and not isnan(score.value):
            pair = evaluation.compare(model, ranked[0], metric.name, verdict.adjustment)
            digits = decimals(pair.standard_error)
            difference = signed(pair.difference, digits)
            if level is not None and isfinite(pair.standard_error):
                limits = limits_in_words(pair.confidence_interval(level), digits)
        value = "–" if isnan(score.value) else number(score.value, places)
        true = "" if truth is None else number(truth.value(metric.name, model), places)
        rows.append(
            Row(
                model,
                value,
                interval,
                difference,
                limits,
                reference_in_words(verdict, model),
                model in place.best,
                true,
            )
        )
    return tuple(rows), places


def limits_in_words(limits: tuple[float, float], places: int) -> str:
    """The limits of an interval."""
    return " to ".join(number(limit, places) for limit in limits)


def signed(value: float, places: int) -> str:
    """A difference with its sign."""
    return f"+{number(value, places)}" if value > 0 else number(value, places)


def reference_in_words(verdict: Verdict, model: str) -> str:
    """Whether a model is better than Kaplan–Meier, at independence and throughout the plausible range."""
    answer = verdict.better_than_reference.get(model)
    if answer is None:
        return "–"
    if answer.here == "yes" and answer.over_plausible not in (None, "yes"):
        return "yes, if independent" if verdict.assumption.tau == 0 else "yes, as stated"
    return answer.here


def unmarked_in_words(evaluation: Evaluation, how: str) -> str:
    """That nobody is marked as censored by the end of the study, where there are censorings; else empty."""
    y, whole = evaluation.data.samples.y_test, evaluation.data.whole
    if y.administrative is not None or y.reasons or not whole.n_dropouts:
        return ""
    return _UNMARKED.format(n=f"{whole.n_dropouts:,}", how=how)


def question_in_words(verdict: Verdict, names: Names = BARE) -> str:
    """What to ask whoever knows why subjects left; empty where the answer does not hang on it."""
    if not verdict.courses or verdict.state in ("settled", "no_usable_model", "tie"):
        return ""
    course = verdict.courses[0]
    first, rival = names.model(course.first), rival_name(course, names)
    leads = (course.at_start.kind, course.at_start.model) == ("better", course.first)
    ends = [(way, zone) for way in (1, -1) for zone in course.outward(way)[:1]]
    if not leads or not course.is_ratio or not ends:
        return ""
    way, zone = min(ends, key=lambda end: abs(course.position(end[1].low if end[0] > 0 else end[1].high)))
    lost = zone.low if way > 0 else zone.high
    worse = "because they were getting worse" if way > 0 else "because they were doing well"
    rate = f"{inward(lost)}-fold rate" if way > 0 else f"rate below {inward(lost)} times"
    both = (
        f"report both {first} and {rival}"
        if course.second
        else "say that it may be no better than Kaplan–Meier"
    )
    return f"Did subjects leave {worse}? If a {rate} can be ruled out, report {first}; if not, {both}."


def usual_in_words(evaluation: Evaluation, verdict: Verdict, names: Names = BARE) -> str:
    """What the usual score says; empty where it is the score shown, or missing."""
    usual = [name for name, scores in evaluation.results.items() if isinstance(scores.adjustment, IPCW)]
    if not usual or usual[0] == verdict.adjustment:
        return ""
    place = standing(evaluation, verdict.metric, usual[0])
    if not place.contenders or not verdict.standing.contenders:
        return ""
    same = set(place.contenders) == set(verdict.standing.contenders)
    picks = names.models(place.contenders)
    also = "also picks" if same else "picks"
    if len(place.contenders) > 1:
        also = "cannot tell either:" if same else "cannot tell"
    return f"The usual score (IPCW) {also} {picks}; it assumes that dropouts fared like all who stayed."


def paragraph(report: Report) -> str:
    """Methods and result of a report in five sentences, to be pasted into a manuscript."""
    evaluation, verdict = report.evaluation, report.verdict
    data, metric, level = evaluation.data, verdict.standing.metric, verdict.standing.level
    whole, axis = data.whole, data.time_axis
    rows, _ = model_rows(evaluation, verdict)
    given = " and ".join(f"the {part}" for part in verdict.assumption.given)
    ended = whole.n - whole.n_events - whole.n_dropouts
    horizon = axis.named(float(f"{data.horizon.time:.3g}"))
    sentences = [
        f"We compared {BARE.models(evaluation.models)} by the {metric.label} up to {horizon} in {whole.n:,} test "
        f"subjects, of whom {whole.n_events:,} had the event, {whole.n_dropouts:,} dropped out and {ended:,} were "
        "censored by the end of the study."
    ]
    how = "by inverse probability of censoring weighting"
    if given:
        how = f"by imputing the outcome of dropouts with a joint model of event and dropout given {given}"
    if data.anybody_left:
        sentences.append(
            f"Dropout was accounted for {how}, under independence of event and dropout given these."
        )
    ci = "" if level is None else f" ({level_in_words(level)} CI "
    scored = [
        f"{row.score}{f'{ci}{row.interval})' if row.interval else ''} for {row.model}"
        for row in rows
        if row.score != "–"
    ]
    if scored:
        rivals = (
            f"; the Kaplan–Meier curve had {number(_reference(evaluation, verdict), 3)}"
            if metric.has_skill
            else ""
        )
        sentences.append(f"The {metric.label} was {BARE.models(scored)}{rivals}.")
    sentences.append(_sensitivity_paragraph(verdict))
    sentences.append(f"Conclusion: {conclusion(verdict)}")
    return " ".join(filter(None, sentences))


def _reference(evaluation: Evaluation, verdict: Verdict) -> float:
    base = results_of(evaluation, verdict.adjustment).reference.get(verdict.metric)
    return float("nan") if base is None else base.value


def _sensitivity_paragraph(verdict: Verdict) -> str:
    """The sensitivity analysis in the words of ICH E9(R1)."""
    if not verdict.courses or not verdict.courses[0].is_ratio:
        return ""
    course = verdict.courses[0]
    low, high = (ratio_in_words(end) for end in (course.points[0], course.points[-1]))
    outward = [zone.low if way > 0 else zone.high for way in (1, -1) for zone in course.outward(way)[:1]]
    nearest = min(outward, key=lambda point: abs(course.position(point)), default=None)
    leads = (course.at_start.kind, course.at_start.model) == ("better", course.first)
    pair, at_start = rival_name(course), course.at_start.kind
    said = f"At independence the data could not tell {course.first} from {pair}"
    said = f"At independence {course.first} and {pair} were equivalent" if at_start == "equivalent" else said
    if leads:
        lead, point = f"the lead of {course.first} over {pair}", nearest and inward(nearest)
        said = (
            f"The tipping point of {lead} was a ratio of {point}"
            if point
            else f"There was no tipping point of {lead}"
        )
    return (
        "In a delta-adjusted sensitivity analysis the hazard ratio of the event after dropout was varied from "
        f"{low} to {high}, and Kendall’s τ of event and dropout over families of copulas. {said}."
    )


def in_other_metrics(evaluation: Evaluation) -> list[tuple[str, Direction, dict[str, tuple[str, str, bool]]]]:
    """By metric after the first its label, direction, and by model score, interval, and whether none is better."""
    tables = []
    for metric in evaluation.data.metrics[1:]:
        scores = {model: evaluation.score(model, metric.name) for model in evaluation.models}
        errors = [score.standard_error for score in scores.values() if score.standard_error > 0]
        places, level = (
            max(decimals(min(errors)) - 1, 2) if errors else decimals(0.0),
            evaluation.data.confidence_level,
        )
        best = standing(evaluation, metric.name).best
        cells = {}
        for model, score in scores.items():
            value = "–" if isnan(score.value) else number(score.value, places)
            has = level is not None and isfinite(score.standard_error)
            limits = limits_in_words(score.confidence_interval(level or 0.95), places) if has else ""
            cells[model] = value, limits, model in best
        tables.append((metric.label, metric.direction, cells))
    return tables


def minimal_rows(report: Report) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Columns and rows of the table for a paper."""
    evaluation, verdict = report.evaluation, report.verdict
    rows, _ = model_rows(evaluation, verdict)
    level = "" if verdict.standing.level is None else f" ({level_in_words(verdict.standing.level)} CI)"
    columns = [
        "Model",
        f"{capital(verdict.standing.metric.label)}{level}",
        f"Difference to best{level}",
        "Better than Kaplan–Meier",
    ]
    columns += ["Lead held for ratios"] * any(course.is_ratio for course in verdict.courses)
    held = {course.second: _held(course) for course in verdict.courses if course.is_ratio}
    cells = [
        (
            row.model,
            f"{row.score} ({row.interval})" if row.interval else row.score,
            f"{row.difference} ({row.difference_interval})" if row.difference_interval else row.difference,
            row.better_than_reference,
            held.get(row.model, ""),
        )[: len(columns)]
        for row in rows
    ]
    return tuple(columns), tuple(cells)


def _held(course: Course) -> str:
    """Over which hazard ratios after dropout the best model is better than another; "none" where it is not at 1."""
    zone = course.at_start
    if (zone.kind, zone.model) != ("better", course.first):
        return "none"
    return f"{inward(zone.low)} to {inward(zone.high)}"


def scores_in_a_line(evaluation: Evaluation) -> str:
    """The scores at independence, to be said before a longer analysis is done."""
    rows, _ = model_rows(evaluation, evaluation.verdict)
    scores = ", ".join(f"{BARE.model(row.model)} {row.score}" for row in rows)
    return f"{evaluation.data.metrics[0].label}: {scores}."
