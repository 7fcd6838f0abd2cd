"""Nonsense among predictions and outcomes, in words: what is said before everything else."""

from __future__ import annotations

from typing import Any

from cocensor.study import Evaluation
from cocensor.study.checks import Check
from cocensor.study.ranking import rankable
from cocensor.views.text.digits import minus
from cocensor.views.text.names import BARE, Names, plural

CHECK_FIRST = "Check this first"
_CURVE = "one Kaplan–Meier curve for everybody does better."
_FINDINGS = {
    "refused": "It has no score:",
    "constant": "Up to the horizon, it predicts the same for every subject.",
    "same_sample": "The training and the test sample are the same.",
    "training_censored": "Everybody in the training sample is censored: there is no event.",
    "all_censored": "Everybody in the test sample is censored: there is no event.",
    "censored_so_far": "The test sample has no event up to the horizon, {horizon}.",
    "few_events": "The test sample has {events} up to the horizon, {horizon}.",
    "negative_skill": f"Its skill is {{skill}}: {_CURVE}",
    "negative_skills": f"{{whose}} negative ({{span}}): {_CURVE} With the opposite event flag it would not be.",
    "against_outcome": "It runs against the outcome: its concordance is {concordance:.2f} (upper limit "
    "{upper_limit:.2f}), and ½ is chance.",
    "worse": "It is worse than Kaplan–Meier, one curve for all subjects: its skill is {skill}{interval}.",
    "no_better": "It may be no better than Kaplan–Meier, one curve for all subjects: its skill is {skill}{interval}.",
}
# The likely cause, and what to do.
_CAUSES = {
    "refused": "{why}",
    "constant": "It cannot rank subjects; its concordance is ½.",
    "constant_and_no_better": "It cannot rank subjects; its concordance is ½. It may be no better than Kaplan–Meier.",
    "level": "It ranks subjects well, but the probabilities are off: the mean predicted survival at {time} is "
    "{predicted:.2f}, the observed {observed:.2f}. Are its times in the unit of the outcomes? Was the model fitted to "
    "too few subjects, or to another population? Recalibrate it.",
    "constant_level": "It predicts the same for every subject: a survival of {predicted:.2f} at {time}, where "
    "{observed:.2f} was observed. Are the file, the time column and its unit the right ones?",
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
    values, template = dict(check.values), str(check.code)
    if "skill" in values:
        values["skill"] = _percent(values["skill"])
    match check.code:
        case "all_censored" if values["later"]:
            template = "censored_so_far"
        case "few_events":
            values["events"] = plural(values["n"], "event")
        case "negative_skill" if check.model is None:
            template, skills = "negative_skills", values["skills"]
            values["span"] = " to ".join(dict.fromkeys((_percent(skills[0]), _percent(skills[-1]))))
            values["whose"] = f"The skill of {'every model' if len(skills) > 1 else 'the model'} is"
        case "no_better" | "worse":
            if "interval" in values:
                low, high = values["interval"]
                values["interval"] = f" (95% CI {_percent(low)} to {_percent(high)})"
            values.setdefault("interval", "")
    return _FINDINGS[template].format(**values)


def _cause(check: Check) -> str:
    values = check.values
    cause = values.get("cause", check.code)
    if cause == "constant" and values["may_be_no_better"]:
        cause = "constant_and_no_better"
    elif cause == "level" and values["constant"]:
        cause = "constant_level"
    return _CAUSES[cause].format(**values)


def _percent(skill: float) -> str:
    """In percent, with as many digits as show whether it is above or below 0."""
    return minus(f"{100 * skill:z.0f}%" if abs(skill) >= 0.01 else f"{100 * skill:z.1f}%")


def checks_in_words(evaluation: Evaluation, names: Names = BARE, but: str = "") -> list[str]:
    """A line for all models that have checks of one cause, and for each check about all; remarks come last.

    Checks of one code may be left out, ``but`` these.
    """
    alike: dict[tuple[Any, ...], list[Check]] = {}
    for place, check in enumerate(check for check in evaluation.checks if check.code != but):
        # What disqualifies all comes before what disqualifies some; remarks on all come after those on some.
        late = (check.model is None) != check.disqualifies
        cause = (place,) if check.model is None else _cause_of(check)
        alike.setdefault((not check.disqualifies, late, cause), []).append(check)
    return [_line(checks, names) for _, checks in sorted(alike.items(), key=lambda item: item[0][:2])]


def _line(checks: list[Check], names: Names) -> str:
    disqualifies = checks[0].disqualifies
    if checks[0].model is None:
        return f"{checks[0].text}{' No model can be called best.' * disqualifies}"
    findings: dict[str, list[str]] = {}
    for check in checks:
        findings.setdefault(str(check.model), []).append(_finding(check))
    line = [f"{names.model(model)}: {' '.join(of_model)}" for model, of_model in findings.items()]
    line.append(_cause(checks[0]))
    if disqualifies:
        line.append(f"{'It gets' if len(findings) == 1 else 'They get'} no rank and cannot be called best.")
    return " ".join(line)


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
