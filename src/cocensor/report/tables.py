"""The tables of the report: every number that a figure shows, for readers without scripts and for paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor._validation import FloatArray
from cocensor.evaluation import Evaluation
from cocensor.evaluation.judge_fit import FitCells, JudgeFit
from cocensor.inference import Estimate, Estimates
from cocensor.joint import DependenceProfile
from cocensor.sensitivity import MarginCurves, Sensitivity
from cocensor.words.names import ON_PAGE, and_metric, family_name, quoted

_MISSING = "–"
_N_TIMES = 5
# Beside the leading model in a cell of the map; of more, their number.
_MOST_LETTERS = 2


@dataclass(frozen=True)
class NumberCell:
    """A shown number with its full value, its interval in words, and what else is said beside it."""

    text: str
    value: float | None = None
    beside: str = ""
    best: bool = False
    interval: str = ""


@dataclass(frozen=True)
class NumberRow:
    """One row: its heading, in one or two parts, and its cells."""

    head: tuple[str, ...]
    cells: list[NumberCell]


@dataclass(frozen=True)
class NumberTable:
    """A table of numbers; ``head`` has the headings of the rows' headings first."""

    caption: str
    head: tuple[str, ...]
    rows: list[NumberRow]
    notes: tuple[str, ...] = ()
    metric: str = ""
    adjustment: str = ""


@dataclass(frozen=True)
class WinnerMap:
    """By family and along ``taus``, the models that cannot be told from the best."""

    metric: str
    adjustment: str
    label: str
    taus: tuple[float, ...]
    winners: dict[str, list[MapCell]]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MapCell:
    """The models that cannot be told from the best, the leading one first.

    ``is_open`` where some of them have another score than it; ``letters`` stand for all of them.
    """

    models: list[dict[str, Any]]
    letters: str
    is_open: bool


@dataclass(frozen=True)
class RatioCell:
    """Observed over expected, the numbers behind it, and whether its interval leaves 1 out."""

    text: str
    said: str
    is_off: bool = False


@dataclass(frozen=True)
class FitMap:
    """By kind and period, the ratios of the deciles of a model's score."""

    model: dict[str, Any]
    n_groups: int
    kinds: dict[str, list[tuple[str, list[RatioCell]]]]


def fit_maps(fit: JudgeFit | None, series: list[dict[str, Any]]) -> list[FitMap]:
    """Observed over expected by model, the one with most misfit first."""
    if fit is None:
        return []
    looks = [each for each in series if each["name"] in fit.cells]
    maps = []
    for look in sorted(looks, key=lambda each: each["name"] != fit.worst):
        by_kind = fit.cells[look["name"]]
        kinds = {
            f"{kind}s": [(f"to {end:.4g}", row) for end, row in zip(fit.periods, _ratios(cells), strict=True)]
            for kind, cells in by_kind.items()
        }
        maps.append(FitMap(look, len(by_kind["event"].expected), kinds))
    return maps


def _ratios(cells: FitCells) -> list[list[RatioCell]]:
    """By period, and in each by decile."""
    ratios = cells.ratio, *cells.interval()

    def cell(at: tuple[int, int]) -> RatioCell:
        said = f"{cells.observed[at]} observed, {cells.expected[at]:.1f} expected"
        if not cells.shown[at]:
            return RatioCell(_MISSING, said)
        ratio, lower, upper = (each[at] for each in ratios)
        said += f"; 95 % interval of the ratio {lower:.2f} to {upper:.2f}"
        return RatioCell(f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.0f}", said, not lower <= 1 <= upper)

    n_groups, n_periods = cells.expected.shape
    return [[cell((g, p)) for g in range(n_groups)] for p in range(n_periods)]


def winner_maps(sensitivity: Sensitivity, series: list[dict[str, Any]]) -> list[WinnerMap]:
    """Who is best where, for every metric and adjustment; ``series`` says how models look."""
    evaluation = sensitivity.evaluation
    looks = {each["name"]: each for each in series}
    maps = []
    for metric, adjustment in _pairs(sensitivity):
        best, leaders = sensitivity.best(metric, adjustment), sensitivity.leaders(metric, adjustment)
        winners = {
            family_name(family): [
                _map_cell(
                    [looks[model] for model in best.get(family, {}).get(tau, ())],
                    len(leaders.get(family, {}).get(tau, ())),
                )
                for tau in sensitivity.taus
            ]
            for family in sensitivity.families
        }
        label = f"{quoted(evaluation, adjustment)}{and_metric(evaluation, metric)}"
        notes = _why_missing(sensitivity, adjustment)
        maps.append(WinnerMap(metric, adjustment, label, sensitivity.taus, winners, notes))
    return maps


def _map_cell(models: list[dict[str, Any]], n_equal: int) -> MapCell:
    """Of models in the order of their ranks, of which the first ones are equal."""
    letters = [model["letter"] for model in models]
    equal, others = "=".join(letters[:n_equal]), letters[n_equal:]
    if len(others) > _MOST_LETTERS:
        return MapCell(models, f"{equal} +{len(others)}", True)
    return MapCell(models, "≈".join([equal, *others]), bool(others))


def score_tables(evaluation: Evaluation) -> list[NumberTable]:
    """For every metric, models by adjustments: score, skill and rank, with the reference in the last row."""
    tables = []
    for metric in evaluation.data.metrics:
        rows = [
            NumberRow((model,), [_score(evaluation, model, metric.name, name) for name in evaluation.results])
            for model in evaluation.models
        ]
        bases = [each.reference.get(metric.name) for each in evaluation.results.values()]
        reference = [_number(None if base is None else base.value) for base in bases]
        rows.append(NumberRow(("Kaplan–Meier, the same for all",), reference))
        head = ("model", *(each.label for each in evaluation.results.values()))
        caption = f"{metric.label} ({metric.direction} is better)"
        tables.append(NumberTable(caption, head, rows, metric=metric.name))
    return tables


def grid_tables(sensitivity: Sensitivity) -> list[NumberTable]:
    """For every metric and adjustment, scores by family and model along τ."""
    evaluation = sensitivity.evaluation
    tables = []
    for metric, adjustment in _pairs(sensitivity):
        rows = []
        best = sensitivity.best(metric, adjustment)
        for family in sensitivity.answers[adjustment]:
            values = {tau: sensitivity.values(family, tau, metric, adjustment) for tau in sensitivity.taus}
            errors = {tau: sensitivity.errors(family, tau, metric, adjustment) for tau in sensitivity.taus}
            winners = best.get(family, {})
            rows += [
                NumberRow(
                    (family_name(family), model),
                    [
                        _number(
                            found.get(model),
                            model in winners.get(tau, ()),
                            interval=_interval(_estimate(errors[tau], model), sensitivity.confidence_level),
                        )
                        for tau, found in values.items()
                    ],
                )
                for model in evaluation.models
            ]
        tables.append(
            NumberTable(
                f"{evaluation.metric(metric).label}, {evaluation.results[adjustment].label}",
                ("family", "model", *(f"τ = {tau:g}" for tau in sensitivity.taus)),
                rows,
                _why_missing(sensitivity, adjustment),
                metric,
                adjustment,
            )
        )
    return tables


def curve_tables(evaluation: Evaluation) -> list[NumberTable]:
    """For every metric that has values over time, those at a few of the times, by adjustment and model."""
    order = np.argsort(evaluation.times)
    shown = order[np.unique(np.linspace(0, order.size - 1, _N_TIMES).astype(int))]
    head = ("adjustment", "model", *(f"t = {evaluation.times[k]:.4g}" for k in shown))
    return [
        NumberTable(
            f"{metric.curve_label} at single times",
            head,
            [
                NumberRow(
                    (each.label, model),
                    _curve_cells(evaluation, metric.name, each.name, model, found.curve, shown),
                )
                for each in evaluation.results.values()
                for model, found in each.values[metric.name].items()
                if found.curve is not None
            ],
        )
        for metric in evaluation.data.metrics
        if metric.curve_label is not None
    ]


def _curve_cells(
    evaluation: Evaluation, metric: str, adjustment: str, model: str, curve: FloatArray, shown: Any
) -> list[NumberCell]:
    """Values at some times, with their intervals where these have been asked for."""
    errors, level = evaluation.computed_curve_errors(metric, adjustment), evaluation.confidence_level
    said = [""] * len(shown)
    if errors is not None and level is not None and model not in errors.missing:
        low, high = errors.of(model).confidence_intervals(level)
        said = [both_ends(low[k], high[k]) for k in shown]
    return [_number(float(curve[k]), interval=each) for k, each in zip(shown, said, strict=True)]


def survival_table(curves: MarginCurves | None) -> NumberTable | None:
    """The survival curves at a few times."""
    if curves is None:
        return None
    shown = np.linspace(0, curves.times.size - 1, _N_TIMES).astype(int)
    lines = [(("Kaplan–Meier", _MISSING), curves.kaplan_meier)]
    lines += [
        ((family_name(family), f"{tau:g}"), values)
        for family, by_tau in curves.copula_graphic.items()
        for tau, values in by_tau.items()
    ]
    return NumberTable(
        f"Survival probability, {curves.sample} sample",
        ("curve", "τ", *(f"t = {curves.times[k]:.4g}" for k in shown)),
        [NumberRow(head, [_number(float(values[k])) for k in shown]) for head, values in lines],
    )


def profile_table(profile: DependenceProfile | None) -> NumberTable | None:
    """The profile log-likelihood less its maximum, by family along τ."""
    if profile is None:
        return None
    top = profile.best[2]
    by_family = {
        name: dict(zip(taus.tolist(), (values - top).tolist(), strict=True))
        for name, (taus, values) in profile.curves.items()
    }
    return NumberTable(
        "Profile log-likelihood less its maximum",
        ("τ", *map(family_name, by_family)),
        [
            NumberRow((f"{tau:g}",), [_number(found.get(tau), digits=1) for found in by_family.values()])
            for tau in sorted(set().union(*by_family.values()))
        ],
    )


def _pairs(sensitivity: Sensitivity) -> Sequence[tuple[str, str]]:
    metrics = sensitivity.evaluation.metrics
    return [(metric, adjustment) for metric in metrics for adjustment in sensitivity.answers]


def _why_missing(sensitivity: Sensitivity, adjustment: str) -> tuple[str, ...]:
    """Why some points of the grid have no answer."""
    refused = {
        family: note.text for (name, family), note in sensitivity.missing.items() if name == adjustment
    }
    found = sensitivity.answers[adjustment]
    short = [
        family
        for family in sensitivity.families
        if family not in refused and len(found.get(family, {})) < len(sensitivity.taus)
    ]
    said = [
        f"No answer {'at some τ ' if family in found else ''}under {family_name(family)}: {why}"
        for family, why in refused.items()
    ]
    if short:
        said.append(f"Not every τ is one that {ON_PAGE.families(short)} can have.")
    return tuple(said)


def _score(evaluation: Evaluation, model: str, metric: str, adjustment: str) -> NumberCell:
    score = evaluation.score(model, metric, adjustment)
    if np.isnan(score.value):
        return NumberCell(_MISSING)
    rank = evaluation.ranks(metric, adjustment).get(model)
    skill = evaluation.skill(model, metric, adjustment).value
    beside = [] if rank is None else [f"rank {rank}"]
    beside += [] if np.isnan(skill) else [f"skill {100 * skill:+.1f}\u00a0%"]
    best = model in evaluation.best(metric, adjustment)
    interval = _interval(score, evaluation.confidence_level)
    return NumberCell(f"{score.value:.4f}", score.value, ", ".join(beside), best, interval)


def _number(value: float | None, best: bool = False, digits: int = 4, interval: str = "") -> NumberCell:
    if value is None or np.isnan(value):
        return NumberCell(_MISSING)
    return NumberCell(f"{value:.{digits}f}", value, best=best, interval=interval)


def _estimate(estimates: Estimates | None, name: str) -> Estimate | None:
    return None if estimates is None or name not in estimates.names else estimates.estimate(name)


def _interval(estimate: Estimate | None, level: float | None) -> str:
    if estimate is None or level is None:
        return ""
    return both_ends(*estimate.confidence_interval(level))


def both_ends(low: float, high: float, digits: int = 4, sign: str = "") -> str:
    """The two ends, or nothing where there are none."""
    return "" if np.isnan(low) or np.isnan(high) else f"{low:{sign}.{digits}f} to {high:{sign}.{digits}f}"
