"""Nonsense among predictions and outcomes, in words: what is said before everything else."""

from __future__ import annotations

from typing import Any

from cocensor.study import Evaluation
from cocensor.study.checks import Check
from cocensor.study.ranking import rankable
from cocensor.views.text.names import BARE, Names, counted

CHECK_FIRST = "Check this first"
_CAUSES = {
    "risks": "Are these risks? Give 1 − risk.",
    "flag": "Is the event flag inverted? It must be 1 for an event and 0 for a censoring.",
    "rows": "Does each row belong to its subject? Match rows by an id (--id on the command line; in Python, put them "
    "in the order of the test sample). Is the event column the right one? If both are right, the model has learned "
    "nothing that holds for these subjects.",
    "negative": "Is a larger number a smaller risk? Give the negative.",
    "opposite": "Are the predictions of other subjects, or was a covariate coded the other way round?",
    "ranks": "It ranks them better than chance, but they are too few to tell whether its probabilities are better.",
    "same_sample": "Scores are too good unless the predictions are out-of-fold. Give the folds, or subjects that no "
    "model was fitted to.",
    "all_censored": "There is nothing to score or to adjust by. Is the event column the right one?",
    "few_events": "Scores are too uncertain to be of use. Add subjects, or choose a later horizon.",
    "training_censored": "What is estimated from it, such as the reference curve, is nonsense. Is the event column the "
    "right one?",
    "may_rank_nothing": "Either it has learned nothing that holds for these subjects (does each row belong to its "
    "subject?), or they are too few to tell.",
}


def check_in_words(check: Check) -> str:
    """The finding, the likely cause, and what to do."""
    return f"{_finding(check)} {_cause(check)}"


def _finding(check: Check) -> str:
    values = check.values
    match check.code:
        case "refused":
            return "It has no score:"
        case "constant":
            return "Up to the horizon, it predicts the same for every subject."
        case "same_sample":
            return "The training and the test sample are the same."
        case "training_censored":
            return "Everybody in the training sample is censored: there is no event."
        case "all_censored":
            if values["later"]:
                return f"The test sample has no event up to the horizon, {values['horizon']}."
            return "Everybody in the test sample is censored: there is no event."
        case "few_events":
            return (
                f"The test sample has {counted(values['n'], 'event')} up to the horizon, {values['horizon']}."
            )
        case "negative_skill":
            if check.model is None:
                return _all_negative(values["skills"])
            return (
                f"Its skill is {_percent(values['skill'])}: one Kaplan–Meier curve for everybody does better."
            )
        case "against_outcome":
            concordance, limit = f"{values['concordance']:.2f}", f"{values['upper_limit']:.2f}"
            return (
                f"It runs against the outcome: its concordance is {concordance} (upper limit {limit}), and ½ is "
                "chance."
            )
        case "no_better":
            than, interval = "is worse" if values["is_worse"] else "may be no better", ""
            if "interval" in values:
                low, high = values["interval"]
                interval = f" (95 % interval {_percent(low, sign='')} to {_percent(high)})"
            skill = f"its skill is {_percent(values['skill'])}{interval}"
            return f"It {than} than Kaplan–Meier, one curve for all subjects: {skill}."


def _all_negative(skills: list[float]) -> str:
    low, high = _percent(skills[0]), _percent(skills[-1])
    span = low if low == high else f"{low} to {high}"
    whose = "The skill of every model is" if len(skills) > 1 else "The skill of the model is"
    return (
        f"{whose} negative ({span}): one Kaplan–Meier curve for everybody does better. With the opposite event flag "
        "it would not be."
    )


def _cause(check: Check) -> str:
    """The likely cause, and what to do."""
    values = check.values
    cause = values.get("cause", check.code)
    match cause:
        case "refused":
            return str(values["why"])
        case "constant":
            than = " It may be no better than Kaplan–Meier." if values["may_be_no_better"] else ""
            return f"It cannot rank subjects; its concordance is ½.{than}"
        case "level":
            when, mean, observed = values["time"], f"{values['predicted']:.2f}", f"{values['observed']:.2f}"
            if values["constant"]:
                return (
                    f"It predicts the same for every subject: a survival of {mean} at {when}, where {observed} was "
                    "observed. Are the file, the time column and its unit the right ones?"
                )
            return (
                f"It ranks subjects well, but the probabilities are off: the mean predicted survival at {when} is "
                f"{mean}, the observed {observed}. Are its times in the unit of the outcomes? Was the model fitted to "
                "too few subjects, or to another population? Recalibrate it."
            )
    return _CAUSES[cause]


def _percent(skill: float, sign: str = " %") -> str:
    """In percent, with as many digits as show whether it is above or below 0."""
    return f"{100 * skill:z.0f}{sign}" if abs(skill) >= 0.01 else f"{100 * skill:z.1f}{sign}"


def checks_in_words(evaluation: Evaluation, names: Names = BARE) -> list[str]:
    """A line for all models that have checks of one cause, and for each check about all; remarks come last."""
    return [*_lines(evaluation, names, disqualifying=True), *_lines(evaluation, names, disqualifying=False)]


def _lines(evaluation: Evaluation, names: Names, disqualifying: bool) -> list[str]:
    about_all, alike = list[str](), dict[tuple[Any, ...], list[Check]]()
    for check in evaluation.checks:
        if check.disqualifies != disqualifying:
            continue
        if check.model is None:
            about_all.append(f"{check.text}{' No model can be called best.' * disqualifying}")
        else:
            alike.setdefault(_cause_of(check), []).append(check)
    by_model = []
    for checks in alike.values():
        findings: dict[str, list[str]] = {}
        for check in checks:
            findings.setdefault(str(check.model), []).append(_finding(check))
        line = [f"{names.model(model)}: {' '.join(of_model)}" for model, of_model in findings.items()]
        line.append(_cause(checks[0]))
        if disqualifying:
            they = "It gets" if len(findings) == 1 else "They get"
            line.append(f"{they} no rank and cannot be called best.")
        by_model.append(" ".join(line))
    return [*about_all, *by_model] if disqualifying else [*by_model, *about_all]


def _cause_of(check: Check) -> tuple[Any, ...]:
    """A key that checks of one and the same cause share."""
    values = check.values
    if "cause" not in values:
        return check.code, values.get("why"), values.get("may_be_no_better")
    return "", *(values.get(name) for name in ("cause", "time", "predicted", "observed", "constant"))


def nothing_to_rank(evaluation: Evaluation, names: Names) -> str:
    """The reason why no model is better than another: one alone can be scored, or has no alarm, or none."""
    contenders, scored = rankable(evaluation), evaluation.data.predictions
    if not contenders:
        return "No model can be called best: see what to check first."
    [model] = contenders
    if len(scored) > 1:
        return f"{names.model(model)} alone has no alarm: there is nothing to rank."
    if len(evaluation.models) > 1:
        return f"Only {names.model(model)} has predictions that can be scored: there is nothing to rank."
    return f"There is one model, {names.model(model)}, and nothing to rank."
