"""The sentences of notes, one for each code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cocensor._notes import Note
from cocensor.data.times import shown_time, with_unit
from cocensor.metrics.base import time_in_name
from cocensor.views.text.names import listed, plural

Values = Mapping[str, Any]


def note_in_words(note: Note) -> str:
    """The sentence of a note."""
    values, template = note.values, SENTENCES[note.code]
    if not isinstance(template, str):
        return template(values)
    in_file = f"{values['file']}: " if "file" in values else ""
    names = {key: ", ".join(map(str, part)) for key, part in values.items() if isinstance(part, list | tuple)}
    return template.format(in_file=in_file, **{**values, **names})


def misfit_in_words(worst: Mapping[str, Mapping[str, Any]], model: Callable[[str], str] = str) -> str:
    """The deviations of events or dropouts from the imputation model, of each kind that deviates."""
    misfits = [
        f"{kind}s deviate by {100 * cells['misfit']:.0f} %, by period and decile of the score of "
        f"{model(cells['model'])} (χ² = {cells['statistic']:.0f}, {cells['df']} cells)"
        for kind, cells in sorted(worst.items(), reverse=True)
    ]
    return f"The imputation model does not fit the data: {listed(misfits)}. This checks its margins, not τ."


def _after_last(values: Values) -> str:
    n, last = values["n"], shown_time(values["last"])
    who, whose = ("1 subject is", "its") if n == 1 else (f"{n} subjects are", "their")
    return f"{who} censored after {last}, the last training time: {whose} event is assumed to happen then."


def _needs_curves(values: Values) -> str:
    metrics = values["metrics"]
    verb = "need" if len(metrics) > 1 else "needs"
    time = values["time"]
    what = "is a risk score" if time is None else f"predicts at time {time:g} alone"
    return f"it {what}, but the {' and '.join(metrics)} {verb} survival curves."


def _read_as(values: Values) -> str:
    if "sheet" in values:
        return f"{values['file']}: the first sheet, {values['sheet']!r}, is read."
    if "word" in values:
        how = "it is not UTF-8 and is read as Windows-1252"
        return f"{values['file']}: {how}: check its text, such as {values['word']!r}."
    return f"{values['file']}: it is read as UTF-16, as its first bytes say."


def _read_in_parts(values: Values) -> str:
    n, n_fitted, n_kept = values["n"], values["n_fitted"], values["n_kept"]
    fitted = "all of them" if n_fitted == n else f"{n_fitted:,} of them, drawn at random"
    return (
        f"The {n:,} test subjects were read in parts. What is estimated from the test sample rests on {fitted}; "
        f"standard errors, alarms and further analyses on {n_kept:,} of these."
    )


def _single_times(values: Values) -> str:
    reasons = {
        "quartiles": "quartiles of the observed event times up to the horizon, rounded to two digits",
        "predicted": "the only time that some models predict",
    }
    times = [
        f"{with_unit([shown_time(t) for t in values[name]], values['unit'])}: {reason}"
        for name, reason in reasons.items()
        if values[name]
    ]
    return f"Scores at single times are at {'; and at '.join(times)}."


def _steps_instead(values: Values) -> str:
    scores = values["scores"]
    moved = [
        f"{score['as_steps']:#.4g} instead of {score['as_lines']:#.4g}{f' for {model}' * (len(scores) > 1)}"
        for model, score in scores.items()
    ]
    return (
        "Curves are lines between their times, as no rule was stated. If they were steps (interpolation 'step'), the "
        f"{values['metric']} under {values['under']} would be about {', '.join(moved)}."
    )


def _unmarked_end(values: Values) -> str:
    shares = [
        f"{100 * share:.0f} % of the censored times in the {sample}"
        for sample, share in values["shares"].items()
    ]
    return (
        f"{' and '.join(shares)} lie in the last tenth of follow-up, probably because the study ended and not because "
        "of dropout. If so, mark them as administrative, or give dates with the data lock, or the planned follow-up."
    )


#: By code: a template, in which a list is joined by commas, or what makes the sentence of the values.
SENTENCES: dict[str, str | Callable[[Values], str]] = {
    "decided": "{why}",
    "after_last_training_time": _after_last,
    "categorical": lambda values: (
        f"Covariate {values['covariate']!r} is categorical: it enters as indicators of its {values['levels']} levels; "
        f"{values['reference']!r} is the reference"
        + (f" (in {values['sample']})." if values["sample"] else ".")
    ),
    "columns_left_out": "Left out of the imputation model because constant or determined by the rest: {columns}.",
    "constant_covariates": "Left out because constant in {sample}: {columns}.",
    "constant_in_benchmarks": "Covariate {covariate!r} does not vary and is left out.",
    "covariates_are_all": lambda values: (
        f"Covariates are all columns of {values['file']} that no other option names: {listed(values['columns'])}."
        f"{' A column without a name is left out.' * values['unnamed_left_out']}"
    ),
    "curve_is_simpler": "the calibration curve has {df} degrees of freedom instead of {of}: there are too few distinct "
    "predictions, or too few subjects with the event, for more.",
    "determined_in_benchmarks": "Covariate {covariate!r} is a combination of those before it and is left out.",
    "extreme_in_curve": "{n} predictions of exactly 0 or 1 are replaced by the most extreme of the others to fit the "
    "curve.",
    "extreme_scores": "{n} predictions are 0 or 1: their risk scores are set to the most extreme of the others.",
    "few_dropouts": "There are not enough dropouts to model them ({n}): the joint model treats them as ends of study.",
    "files_sorted": "The files of {of} are read in the order of their names, from {first} on.",
    "from_another_library": "The predictions are a {kind}: they are brought to numpy, and scored there.",
    "from_kept_rows": "Scores and intervals by these metrics come from those {n:,} subjects alone: {metrics}.",
    "hazard_kept_from_falling": "A cumulative hazard of the joint model is kept from falling: only the bootstrap "
    "allows for it.",
    "horizon_by_times": "Scores go up to {time:g}, the last of the times given; without times= they would end at "
    "{otherwise:g}, {reason}.",
    "ids_as_integers": "{other} has integers as {id}: those of {file} are compared as integers, {text!r} as {number}.",
    "incomplete": lambda values: (
        f"Covariate {values['covariate']!r} has no value for {plural(values['n'], 'subject')}: the imputation model is "
        f"given an indicator, and the mean in {'its' if values['n'] == 1 else 'their'} place."
    ),
    "index_as_id": "{file}: the column without a name is read as {id}.",
    "index_left_out": "{file}: the first column has no name and is left out.",
    "intervals_are_about": lambda values: (
        "Intervals are for these trained models up to this horizon."
        f"{' They assume that the copula is correct.' * values['copula']}"
    ),
    "levels_grouped": "Covariate {covariate!r} has {n} levels: learned scores take all but the {kept} most frequent "
    "together.",
    "matched_by_labels": "{in_file}The predictions are put into the order of the test subjects by their labels.",
    "matched_by_position": "{in_file}The predictions are matched to the test subjects by position: the labels of the "
    "two differ, and one of them merely counts from 0.",
    "metrics_left_out": "Left out, as no model predicts what they need: {metrics}.",
    "no_copula_selected": "No copula could be selected, and independence is assumed: {why}",
    "no_risk_score": "There is no risk score: the predictions are 0 or 1, or the same for all.",
    "no_training_sample": "There is no training sample: adjustments and the reference curve are estimated from the "
    "test sample.",
    "not_learned": "No score of the {kind} is learned from covariates: there are {n} {kind}s, and {fewest} are needed.",
    "nuisance_models": "The event is modelled by {event}, the censoring by {censoring}.",
    "numbered_rows": "{file}: {what}s are numbered, and matched by position.",
    "paper_needs_archimedean": lambda values: (
        f"{' and '.join(values['adjustments'])} are left out, because they need an Archimedean copula."
    ),
    "penalised": "A penalty shrinks θ and τ of the candidates towards independence; the profile has no penalty. "
    "--penalty 0 fits without it.",
    "probability_floored": "The probability of being uncensored falls below {floor:g} for {n} of {of} subjects, and is "
    "set to {floor:g} there.",
    "put_in_order": "The predictions of {predictions!r} are put into the order of the test subjects by {id!r}, and "
    "held.",
    "read_as": _read_as,
    "read_in_parts": _read_in_parts,
    "resampled": "Standard errors of scores are from {n} bootstrap samples of subjects (seed {seed}). The adjustment "
    "is refitted to each. Standard errors over time and for other copulas are from formulas.",
    "rounded": "{n} probabilities lie outside [0, 1] by less than 1e-6: they are read as 0 or 1.",
    "score_times": lambda values: (
        f"The risk score is taken at time{'s' * (len(values['times']) > 1)} {' and '.join(values['times'])}."
    ),
    "scores_shrunk": "With {n} events or dropouts, {free} of {scores} risk scores enter the imputation model freely; "
    "the others are shrunk.",
    "single_times": _single_times,
    "steps_instead": _steps_instead,
    "warned": "{why}",
    "copula_assumed": lambda values: (
        f"The answer assumes a {values['family'].capitalize()} copula with τ = {values['tau']:.2g}, as "
        f"{values['origin']}. The data cannot check this, and the answer may differ at independence."
    ),
    "copula_unused": "The copula is not used: no adjustment given by name depends on one.",
    "few_for_benchmarks": lambda values: (
        f"With {plural(values['n'], values['what'])} for {plural(values['columns'], 'column')} of covariates, "
        f"benchmarks are mostly noise; {values['wanted']:,} or more are needed."
    ),
    "imputation_misfit": lambda values: misfit_in_words(values["worst"]),
    "no_interval": "There is no interval: {why}",
    "no_standard_errors": "there are no standard errors: {why}",
    "not_converged": "the margins with the {family} copula did not converge at τ = {tau:g}.",
    "ranked_across_folds": "AUC and concordance rank its scores across folds as they are: scores of models that were "
    "fitted to different folds need not be on one scale, as survival curves are.",
    "reason_reads_as_end": "The reason {reason!r} counts as dropout in the {sample}: if the study ended for these "
    "subjects, mark them as administrative, which is not dropout.",
    "resamples_failed": lambda values: (
        f"{values['share']:.0%} of the resamples have no score, and intervals leave them out"
        + (f": {values['why']}" if values["why"] else ".")
    ),
    "ridge_in_benchmarks": "The Cox model of the {margin} has no finite estimate, because a covariate separates "
    "{margin}s from the rest: a ridge penalty keeps its effects finite.",
    "unit_in_name": "Times are in {unit}, as --time-unit says, although their column is called {column!r}: nothing was "
    "converted.",
    "unmarked_end": _unmarked_end,
    "no_score": "{why}",
    "metric_failed": "no {metric}: {why}",
    "metric_undefined": "the {metric} is not defined: {why}.",
    "needs_curves": _needs_curves,
    "no_benchmarks": "No benchmarks of τ: {why}",
    "no_calibration_curve": "there is no calibration curve: {why}",
    "no_hazard_ratio": "the adjustment does not accept a hazard ratio after dropout.",
    "no_score_from": "there is no score from {when} on.",
    "only_at_one_time": lambda values: (
        f"it predicts at {time_in_name(values['time'])} alone, so other scores are missing."
    ),
    "refused": "{why}",
    "too_many_reasons": "No reason is moved alone: y_test may have at most {most} reasons for a line each, but has "
    "{n}: put some of them together.",
}
