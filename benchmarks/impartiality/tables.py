"""Markdown tables for docs/validation/accuracy.md, and the goals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks.impartiality.goals import GOALS, Check, Goal, Key
from benchmarks.impartiality.judges import DEFAULT, IPCW, IPCW_TRAINING, JUDGES, SELECTED
from benchmarks.impartiality.measures import Condition, Estimate, Pairs, conditions, over_truths
from benchmarks.tables import markdown, marked, section, slug_of
from cocensor._checks import FloatArray

Conditions = dict[Key, Condition]


def all_tables(rows: pd.DataFrame, judge: str) -> Iterator[str]:
    """What the rows of both studies say; goals are those of ``judge``."""
    truths = rows[rows["study"] == "truths"]
    if len(truths):
        yield _shares(truths)
        found = conditions(truths)
        for against in (IPCW, IPCW_TRAINING):
            yield f"## Goals of {judge}, against {against}"
            yield from _goals(found, judge, against)
        yield "## Judges, all truths"
        pooled = {f"n = {n:,}, τ = {tau:g}": each for (n, tau), each in over_truths(truths).items()}
        for title, measure in MEASURES.items():
            yield f"{title}\n\n{marked(slug_of(_short(title)), _by_judge(pooled, measure))}"
        for truth, n in dict.fromkeys(key[:2] for key in found):
            columns = {f"τ = {key[2]:g}": each for key, each in found.items() if key[:2] == (truth, n)}
            yield f"## Judges, {truth}, n = {n:,}"
            for title, measure in MEASURES.items():
                yield f"{title}\n\n{marked(slug_of(_short(title), truth, n), _by_judge(columns, measure))}"
        plainer = _plainer(truths)
        if plainer:
            yield section("Plainer recipes, on the cells that have them", "plainer", plainer)
    forms = rows[rows["study"] == "forms"]
    if len(forms):
        yield section(
            "Margins of other forms, independent dropout: mean |error| (bias), in units of 0.001",
            "forms",
            _forms(conditions(forms)),
        )


def _plainer(rows: pd.DataFrame) -> str:
    """Mean |error| of every judge of scores and of differences, and of these with crossing hazards, in 0.001."""
    cell = ["truth", "family", "tau", "n", "seed"]
    chosen = rows.loc[rows["judge"].isin(JUDGES["plainer"]), cell].drop_duplicates()
    if chosen.empty:
        return ""
    found = conditions(rows.merge(chosen, on=cell))
    judges = dict.fromkeys(
        name for each in found.values() for name in each.scores if name not in ("oracle", SELECTED)
    )
    table = []
    for name in judges:
        known = {key: each for key, each in found.items() if name in each.scores}
        scores = [np.abs(each.score_errors(name)).mean() for each in known.values()]
        pairs = {
            key: np.abs(each.difference_errors(name, each.all_pairs)).mean() for key, each in known.items()
        }
        crossing = [1000 * value for (truth, *_), value in pairs.items() if truth == "crossing hazards"]
        means = [f"{1000 * np.nanmean(values):.1f}" for values in (scores, list(pairs.values()))]
        table.append([name, *means, f"{min(crossing):.1f} to {max(crossing):.1f}"])
    return markdown(["adjustment", "scores", "differences of all pairs", "the same, crossing hazards"], table)


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


def _goals(found: Conditions, judge: str, against: str) -> Iterator[str]:
    for number, goal in enumerate(GOALS, start=1):
        checks = {
            key: goal.check(key, each, judge, against) for key, each in found.items() if goal.applies(key)
        }
        if not checks:
            continue
        met = sum(each.met for each in checks.values())
        near = sum(each.near and not each.met for each in checks.values())
        said = f"{met} of {len(checks)} met" + (f", {near} more within two standard errors" if near else "")
        yield f"**{goal.text}**: {said}.\n\n" + marked(
            slug_of("goal", number, against.removeprefix(IPCW)), _matrix(checks, goal)
        )


def _check_cell(check: Check, goal: Goal) -> str:
    shown = plus_minus(check.figure, goal.scale, 2 if goal.scale == 1.0 else 1)
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


def _size_and_bias(found: Condition, judge: str, errors: FloatArray) -> str:
    silent = int((found.asked[judge] & np.isnan(errors).any(axis=1)).sum())
    size = plus_minus(found.mean(np.abs(errors)), 1_000.0, 1)
    bias = 1_000 * found.mean(errors).value
    return f"{size} ({bias:+.1f})" + (f" [{silent} without answer]" if silent else "")


def _difference_size(found: Condition, judge: str, pairs: Pairs) -> str:
    """Mean |error|, and the mean over pairs of |bias|."""
    errors = found.difference_errors(judge, pairs)
    size, bias = found.mean(np.abs(errors)), found.mean_bias(errors)
    return f"{plus_minus(size, 1_000.0, 1)} ({plus_minus(bias, 1_000.0, 1)})"


MEASURES: dict[str, Callable[[Condition, str], str]] = {
    "Scores: mean |error| (bias), in units of 0.001": lambda found, judge: _size_and_bias(
        found, judge, found.score_errors(judge)
    ),
    "Differences of all pairs: mean |error| (mean |bias|), in units of 0.001": lambda found, judge: (
        _difference_size(found, judge, found.all_pairs)
    ),
    "Differences of classes: mean |error| (mean |bias|), in units of 0.001": lambda found, judge: (
        _difference_size(found, judge, found.class_pairs)
    ),
    "Cox − forest: mean |error| (bias), in units of 0.001": lambda found, judge: _size_and_bias(
        found, judge, found.difference_errors(judge, [_cox_and_forest(found)])
    ),
    "Better model of a clear pair picked, %": lambda found, judge: plus_minus(
        found.mean(found.right(judge)), 100.0, 1
    ),
}


def _short(title: str) -> str:
    return re.split("[:,]", title)[0]


def _by_judge(columns: dict[str, Condition], measure: Callable[[Condition, str], str]) -> str:
    judges = dict.fromkeys(judge for each in columns.values() for judge in each.scores if judge != "oracle")
    body = [
        [
            _with_draws(judge, list(columns.values())),
            *(measure(each, judge) if judge in each.scores else "–" for each in columns.values()),
        ]
        for judge in judges
    ]
    return markdown(["adjustment", *columns], body)


def _with_draws(judge: str, found: list[Condition]) -> str:
    """A judge that was asked in some of the cells only says so."""
    asked = sum(int(each.asked[judge].sum()) for each in found if judge in each.asked)
    every = sum(each.seeds.size for each in found)
    return judge if asked == every else f"{judge} ({asked:,} of {every:,} cells)"


def _cox_and_forest(found: Condition) -> tuple[int, int]:
    return found.models.index("Cox"), found.models.index("forest")


def plus_minus(figure: Estimate, scale: float, digits: int) -> str:
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
        scores = {judge: each.score_errors(judge) for judge in each.scores}
        differences = {judge: each.difference_errors(judge, pair) for judge in each.scores}
        for judge in list(scores)[1:]:
            cells = [_size_and_bias(each, judge, errors[judge]) for errors in (scores, differences)]
            for errors in (scores, differences):
                excess = each.gain(np.abs(errors[judge]), np.abs(errors[IPCW]))
                cells.append(_loss(excess) if judge in (DEFAULT, SELECTED) else "–")
            lines.append([f"{truth}, {n:,}", _with_draws(judge, [each]), *cells])
    head = [
        "events, n",
        "judge",
        "scores",
        "Cox − forest",
        "scores: more than IPCW",
        "difference: more than IPCW",
    ]
    return markdown(head, lines, left=2)


def _loss(excess: Estimate) -> str:
    beyond_noise = excess.value > 2.0 * excess.error
    return plus_minus(excess, 1_000.0, 2) + (", **beyond noise**" if beyond_noise else "")
