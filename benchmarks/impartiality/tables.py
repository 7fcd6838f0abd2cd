"""Markdown tables for docs/accuracy.md, and the goals."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks.impartiality.goals import GOALS, Check, Goal, Key
from benchmarks.impartiality.judges import DEFAULT, IPCW, IPCW_TRAINING, SELECTED
from benchmarks.impartiality.measures import Condition, Estimate, conditions
from benchmarks.reproduction.tables import markdown
from cocensor._validation import FloatArray

Conditions = dict[Key, Condition]


def all_tables(rows: pd.DataFrame) -> Iterator[str]:
    """What the rows of both studies say."""
    truths = rows[rows["study"] == "truths"]
    if len(truths):
        yield _shares(truths)
        found = conditions(truths)
        for against in (IPCW, IPCW_TRAINING):
            yield f"## Goals, against {against}"
            yield from _goals(found, against)
        yield "## Judges"
        yield from _errors(found)
    forms = rows[rows["study"] == "forms"]
    if len(forms):
        yield "## Margins of other forms, independent dropout\n\n" + _forms(conditions(forms))


def _shares(rows: pd.DataFrame) -> str:
    oracle = rows[rows["judge"] == "oracle"]
    drawn = oracle.groupby(["truth", "family", "tau", "n"]).size()
    share = oracle.groupby(["truth", "family", "tau"])["dropout"].mean()
    draws = f"{drawn.min()}" if drawn.min() == drawn.max() else f"{drawn.min()} to {drawn.max()}"
    return (
        f"{draws} draws a condition; {100 * share.min():.0f} to {100 * share.max():.0f} % drop out. "
        "Means over families; standard errors by draws."
    )


# --- goals ---------------------------------------------------------------------------------------------


def _goals(found: Conditions, against: str) -> Iterator[str]:
    for goal in GOALS:
        checks = {key: goal.check(key, each, against) for key, each in found.items() if goal.applies(key)}
        if not checks:
            continue
        met = sum(each.met for each in checks.values())
        near = sum(each.near and not each.met for each in checks.values())
        said = f"{met} of {len(checks)} met" + (f", {near} more within two standard errors" if near else "")
        yield f"**{goal.text}**: {said}.\n\n" + _matrix(checks, goal)


def _check_cell(check: Check, goal: Goal) -> str:
    shown = _plus_minus(check.figure, goal.scale, 2 if goal.scale == 1.0 else 1)
    where = f" ({check.where})" if check.where else ""
    return f"{shown}{where}" + ("" if check.met else f", **{check.verdict}**")


def _matrix(entries: dict[Key, Check], goal: Goal) -> str:
    """A line per truth and n, a column per τ."""
    taus = sorted({tau for _, _, tau in entries})
    lines = dict.fromkeys((truth, n) for truth, n, _ in entries)
    return markdown(
        ["truth, n", *(f"τ = {tau:g}" for tau in taus)],
        [
            [
                f"{truth}, {n:,}",
                *(
                    _check_cell(entries[truth, n, tau], goal) if (truth, n, tau) in entries else "–"
                    for tau in taus
                ),
            ]
            for truth, n in lines
        ],
    )


# --- judges --------------------------------------------------------------------------------------------


def _errors(found: Conditions) -> Iterator[str]:
    """For every measure and n a table of judges, a column per truth and τ."""
    measures: dict[str, Callable[[Condition, str], str]] = {
        "Mean |error| (bias) of scores": lambda c, judge: _size_and_bias(c, c.score_errors(judge)),
        "Mean |error| of differences, all pairs": lambda c, judge: _plus_minus(
            Estimate.of(c.difference_size(judge, c.all_pairs)), 1_000.0, 2
        ),
        "Mean |error| of differences of classes": lambda c, judge: _plus_minus(
            Estimate.of(c.difference_size(judge, c.class_pairs)), 1_000.0, 2
        ),
        "Bias of the difference Cox − forest": lambda c, judge: _plus_minus(
            Estimate.of(c.by_draw(c.difference_errors(judge, [_cox_and_forest(c)]))), 1_000.0, 1
        ),
    }
    for title, measure in measures.items():
        yield from _by_size(found, f"{title}, in units of 0.001", measure)
    yield from _by_size(
        found,
        "Better model of a clear pair picked, %",
        lambda c, judge: _plus_minus(Estimate.of(c.picked(judge)), 100.0, 1),
    )


def _by_size(found: Conditions, title: str, measure: Callable[[Condition, str], str]) -> Iterator[str]:
    for n in sorted({n for _, n, _ in found}):
        chosen = {key: each for key, each in found.items() if key[1] == n}
        judges = dict.fromkeys(judge for each in chosen.values() for judge in each.judges)
        head = ["judge", *(f"{truth}, τ = {tau:g}" for truth, _, tau in chosen)]
        body = [
            [judge, *(measure(each, judge) if judge in each.scores else "–" for each in chosen.values())]
            for judge in judges
        ]
        yield f"{title}; n = {n:,}\n\n" + markdown(head, body)


def _cox_and_forest(found: Condition) -> tuple[int, int]:
    return found.models.index("Cox"), found.models.index("forest")


def _size_and_bias(found: Condition, errors: FloatArray) -> str:
    size, bias = Estimate.of(found.by_draw(np.abs(errors))), Estimate.of(found.by_draw(errors))
    return f"{_plus_minus(size, 1_000.0, 1)} ({1_000 * bias.value:+.1f}){_silent(errors)}"


def _silent(errors: FloatArray) -> str:
    """A mean over those that answered says how many did not; a judge of few draws is no silent one."""
    missing = int(np.isnan(errors).any(axis=1).sum())
    return f" [{missing} of {len(errors)} without]" if missing else ""


def _plus_minus(figure: Estimate, scale: float, digits: int) -> str:
    if np.isnan(figure.value):
        return "–"
    error = "" if np.isnan(figure.error) else f" ± {scale * figure.error:.{digits}f}"
    return f"{scale * figure.value:.{digits}f}{error}"


# --- forms ---------------------------------------------------------------------------------------------


def _forms(found: Conditions) -> str:
    """Errors by judge, and by how much those of imputation exceed IPCW's on the same draws."""
    lines = []
    for (truth, n, _), each in found.items():
        pair = [_cox_and_forest(each)]
        for judge in each.judges:
            scores = Estimate.of(each.score_size(judge) - each.score_size(IPCW))
            differences = Estimate.of(each.difference_size(judge, pair) - each.difference_size(IPCW, pair))
            lines.append(
                [
                    f"{truth}, {n:,}",
                    judge,
                    _size_and_bias(each, each.score_errors(judge)),
                    _size_and_bias(each, each.difference_errors(judge, pair)),
                    *((_loss(scores), _loss(differences)) if judge in (DEFAULT, SELECTED) else ("–", "–")),
                ]
            )
    head = [
        "events, n",
        "judge",
        "scores",
        "Cox − forest",
        "scores: more than IPCW",
        "difference: more than IPCW",
    ]
    return "Mean |error| (bias), in units of 0.001\n\n" + markdown(head, lines)


def _loss(excess: Estimate) -> str:
    beyond_noise = excess.value > 2.0 * excess.error
    return _plus_minus(excess, 1_000.0, 2) + (", **beyond noise**" if beyond_noise else "")
