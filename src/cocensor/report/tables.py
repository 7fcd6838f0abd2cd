"""The tables of the report: every number that a figure shows, for readers without scripts and for paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocensor.evaluation import Evaluation
from cocensor.evaluation.evaluation import ranks
from cocensor.evaluation.question import REFERENCE
from cocensor.metrics import Metric
from cocensor.report.words import and_metric, families_listed, family_name
from cocensor.sensitivity import Sensitivity

_MISSING = "–"
_N_TIMES = 5


@dataclass(frozen=True)
class Cell:
    """A shown number with its full value, and what is said beside it."""

    text: str
    value: float | None = None
    beside: str = ""
    best: bool = False


@dataclass(frozen=True)
class Row:
    """One row: its heading, in one or two parts, and its cells."""

    head: tuple[str, ...]
    cells: list[Cell]


@dataclass(frozen=True)
class Table:
    """A table of numbers; ``head`` has the headings of the rows' headings first."""

    caption: str
    head: tuple[str, ...]
    rows: list[Row]
    notes: tuple[str, ...] = ()
    metric: str = ""
    adjustment: str = ""


@dataclass(frozen=True)
class WinnerMap:
    """The best models (several if equal) by family and along ``taus``."""

    metric: str
    adjustment: str
    label: str
    taus: tuple[float, ...]
    winners: dict[str, list[list[dict[str, Any]]]]
    notes: tuple[str, ...]


def winner_maps(sensitivity: Sensitivity, series: list[dict[str, Any]]) -> list[WinnerMap]:
    """Who is best where, for every metric and adjustment; ``series`` says how models look."""
    evaluation = sensitivity.evaluation
    looks = {each["name"]: each for each in series}
    maps = []
    for metric, adjustment in _pairs(sensitivity):
        winners = {}
        for family in sensitivity.families:
            by_tau = sensitivity.answers[adjustment].get(family, {})
            ranked = [ranks(by_tau[tau].scores[metric]) if tau in by_tau else {} for tau in sensitivity.taus]
            winners[family_name(family)] = [
                [looks[model] for model, rank in each.items() if rank == 1] for each in ranked
            ]
        label = (
            f"“{evaluation.scored[adjustment].label}”{and_metric(evaluation, _metric(evaluation, metric))}"
        )
        notes = _why_missing(sensitivity, adjustment)
        maps.append(WinnerMap(metric, adjustment, label, sensitivity.taus, winners, notes))
    return maps


def score_tables(evaluation: Evaluation) -> list[Table]:
    """For every metric, models by adjustments: score, skill and rank, with the reference in the last row."""
    tables = []
    for metric in evaluation.question.metrics:
        ranked = {name: evaluation.ranks(name, metric.name) for name in evaluation.scored}
        rows = [
            Row(
                (model,), [_score(evaluation, model, name, metric.name, ranked) for name in evaluation.scored]
            )
            for model in evaluation.models
        ]
        reference = [_number(each.scores[metric.name].get(REFERENCE)) for each in evaluation.scored.values()]
        rows.append(Row(("Kaplan–Meier, the same for all",), reference))
        head = ("model", *(each.label for each in evaluation.scored.values()))
        tables.append(Table(metric.label, head, rows, metric=metric.name))
    return tables


def grid_tables(sensitivity: Sensitivity) -> list[Table]:
    """For every metric and adjustment, scores by family and model along τ."""
    evaluation = sensitivity.evaluation
    tables = []
    for metric, adjustment in _pairs(sensitivity):
        rows = []
        for family, by_tau in sensitivity.answers[adjustment].items():
            scores = [by_tau[tau].scores[metric] if tau in by_tau else {} for tau in sensitivity.taus]
            best = [ranks(each) for each in scores]
            rows += [
                Row(
                    (family_name(family), model),
                    [
                        _number(each.get(model), ranked.get(model) == 1)
                        for each, ranked in zip(scores, best, strict=True)
                    ],
                )
                for model in evaluation.models
            ]
        tables.append(
            Table(
                f"{_metric(evaluation, metric).label}, {evaluation.scored[adjustment].label}",
                ("family", "model", *(f"τ = {tau:g}" for tau in sensitivity.taus)),
                rows,
                _why_missing(sensitivity, adjustment),
                metric,
                adjustment,
            )
        )
    return tables


def curve_tables(evaluation: Evaluation) -> list[Table]:
    """For every metric, scores at a few of the times, by adjustment and model."""
    order = np.argsort(evaluation.times)
    shown = order[np.unique(np.linspace(0, order.size - 1, _N_TIMES).astype(int))]
    head = ("adjustment", "model", *(f"t = {evaluation.times[k]:.4g}" for k in shown))
    return [
        Table(
            f"{metric.label.removeprefix('integrated ')} at single times",
            head,
            [
                Row((each.label, model), [_number(float(each.curves[metric.name][model][k])) for k in shown])
                for each in evaluation.scored.values()
                for model in evaluation.models
                if model in each.curves[metric.name]
            ],
        )
        for metric in evaluation.question.metrics
    ]


def survival_table(margins: Mapping[str, Any]) -> Table:
    """The survival curves at a few times."""
    shown = np.linspace(0, len(margins["times"]) - 1, _N_TIMES).astype(int)
    curves = [(("Kaplan–Meier", _MISSING), margins["kaplan_meier"])]
    curves += [
        ((family_name(family), f"{tau:g}"), values)
        for family, by_tau in margins["copula_graphic"].items()
        for tau, values in zip(margins["taus"], by_tau, strict=True)
    ]
    return Table(
        "Survival probability, training sample",
        ("curve", "τ", *(f"t = {margins['times'][k]:.4g}" for k in shown)),
        [Row(head, [_number(values[k]) for k in shown]) for head, values in curves],
    )


def likelihood_table(profile: Mapping[str, Any] | None) -> Table | None:
    """The profile log-likelihood less its maximum, by family along τ."""
    if profile is None:
        return None
    families = profile["families"]
    taus = sorted({tau for curve in families.values() for tau in curve["taus"]})
    by_family = {
        name: dict(zip(curve["taus"], curve["difference"], strict=True)) for name, curve in families.items()
    }
    return Table(
        "Profile log-likelihood less its maximum",
        ("τ", *map(family_name, by_family)),
        [
            Row((f"{tau:g}",), [_number(found.get(tau), digits=1) for found in by_family.values()])
            for tau in taus
        ],
    )


def _pairs(sensitivity: Sensitivity) -> Sequence[tuple[str, str]]:
    metrics = sensitivity.evaluation.metrics
    return [(metric, adjustment) for metric in metrics for adjustment in sensitivity.answers]


def _metric(evaluation: Evaluation, name: str) -> Metric:
    return next(metric for metric in evaluation.question.metrics if metric.name == name)


def _why_missing(sensitivity: Sensitivity, adjustment: str) -> tuple[str, ...]:
    """Why some points of the grid have no answer."""
    refused = {family: why for (name, family), why in sensitivity.missing.items() if name == adjustment}
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
        said.append(f"Not every τ is one that {families_listed(short)} can have.")
    return tuple(said)


def _score(
    evaluation: Evaluation, model: str, adjustment: str, metric: str, ranked: Mapping[str, dict[str, int]]
) -> Cell:
    score = evaluation.score(model, adjustment, metric)
    if np.isnan(score):
        return Cell(_MISSING)
    rank = ranked[adjustment][model]
    skill = evaluation.skill(model, adjustment, metric)
    beside = f"rank {rank}" if np.isnan(skill) else f"rank {rank}, skill {100 * skill:+.1f}\u00a0%"
    return Cell(f"{score:.4f}", score, beside, rank == 1)


def _number(value: float | None, best: bool = False, digits: int = 4) -> Cell:
    return Cell(_MISSING) if value is None else Cell(f"{value:.{digits}f}", value, best=best)
