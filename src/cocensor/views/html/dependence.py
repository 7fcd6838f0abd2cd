"""Tables of what dependence does: grids and who is best where, tipping points, bounds, benchmarks of covariates."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from math import isfinite
from typing import Any

from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import metric_of
from cocensor.study.plan import HAZARD_RATIO
from cocensor.study.ranking import rankable
from cocensor.study.sensitivity import Bound, Bounds, CovariateBenchmarks, Sensitivity
from cocensor.study.sensitivity.grid import ALL, Grid
from cocensor.study.sensitivity.run import TippingPoint
from cocensor.views.html.tables import MISSING, NumberCell, NumberRow, NumberTable, both_ends, number_cell
from cocensor.views.text.digits import level_in_words
from cocensor.views.text.names import ON_PAGE, and_metric, listed, model_name, quoted
from cocensor.views.text.sensitivity import bounds_in_words, pairs_from_leader, plausible_tau_in_words

# In a cell of the map; of more models, their number.
_MOST_LETTERS, _ROUNDING = 3, 1e-9
# Of more pairs, those with the leading model alone; of more covariates, the others on demand.
_FEW_PAIRS, _FEW_COVARIATES = 6, 8
_HAPPENS = {"estimate": "scores change order", "interval": "no longer distinguishable"}
_RATIO, _TIMES = "hazard ratio after dropout", "times the strongest covariate"
_TIP_HEAD = ("model", "other", "what happens", "under", "τ", _RATIO, _TIMES, "better beyond")
_BEST_PAIRS = "The pairs with the best model at independence; tipping_table() of the sensitivity has all."
# By the axis of a grid, its symbol, what its lines are, and what it runs along.
_AXES = {"tau": ("τ", "family", "Kendall’s τ of event and dropout"), "hazard_ratio": ("ρ", "whose", _RATIO)}


def line_label(line: str) -> str:
    """The name of the dropouts whose hazard ratio moves."""
    return "all dropouts" if line == ALL else line


def grid_tables(grid: Grid) -> list[dict[str, Any]]:
    """For every metric and adjustment, what the page's script makes a table of: scores by line and model."""
    evaluation, (symbol, line_name, _) = grid.evaluation, _AXES[grid.axis]
    return [
        {
            "caption": f"{metric_of(evaluation, metric).label}, {evaluation.results[adjustment].label}",
            "head": (line_name, "model", *(f"{symbol} = {point:g}" for point in grid.points)),
            "lines": [(line, _line(grid, line)) for line in grid.answers[adjustment]],
            "notes": _why_missing(grid, adjustment),
            "metric": metric,
            "adjustment": adjustment,
            "axis": symbol,
        }
        for metric, adjustment in product(evaluation.metrics, grid.answers)
    ]


def winner_maps(sensitivity: Sensitivity, series: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Maps of who may be best along τ and hazard ratio by the first metric; the page's script fills those of others."""
    looks = {model["name"]: model for model in series}
    return [_map(grid, sensitivity, looks) for grid in sensitivity.grids]


def _map(grid: Grid, sensitivity: Sensitivity, looks: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    metric, adjustment = grid.evaluation.metrics[0], sensitivity.over_tau.primary
    (symbol, line_name, axis), is_there = _AXES[grid.axis], adjustment in grid.answers
    best = grid.best(metric, adjustment) if is_there else {}
    leaders = grid.leaders(metric, adjustment) if is_there else {}

    def cell(line: str, point: float) -> tuple[list[dict[str, Any]], str, bool]:
        """The models by rank, their letters as the page's script has them too, and whether one ties with the best."""
        models = [looks[model] for model in best.get(line, {}).get(point, ())]
        n_equal = len(leaders.get(line, {}).get(point, ()))
        letters = [model["letter"] for model in models]
        text = "≈".join(["=".join(letters[:n_equal]), *letters[n_equal:]])
        if len(letters) > _MOST_LETTERS:
            text = f"all {len(looks)}" if len(letters) == len(looks) else f"{letters[0]} +{len(letters) - 1}"
        return models, text, len(models) > n_equal

    low, high = sensitivity.plausible.low - _ROUNDING, sensitivity.plausible.high + _ROUNDING
    return {
        "symbol": symbol,
        "axis": axis,
        "label": f"{quoted(grid.evaluation, adjustment)}{and_metric(grid.evaluation)}",
        "line_name": line_name,
        "points": [(f"{point:g}", not grid.is_of_ratios and low <= point <= high) for point in grid.points],
        "rows": [(_line(grid, line), [cell(line, point) for point in grid.points]) for line in grid.lines],
        "adjustment": adjustment,
        "notes": [(name, note) for name in grid.answers for note in _why_missing(grid, name)],
        "is_there": is_there,
    }


def _why_missing(grid: Grid, adjustment: str) -> list[str]:
    """Sentences on the points of the grid that have no answer."""
    answers, notes, short = grid.answers[adjustment], list[str](), list[str]()
    for line in grid.lines:
        if (adjustment, line) in grid.missing:
            where = f"at some {_AXES[grid.axis][0]} " if line in answers else ""
            why = grid.missing[adjustment, line].text
            notes.append(f"No answer {where}under {_line(grid, line)}: {why}")
        elif len(answers.get(line, {})) < len(grid.points):
            short.append(_line(grid, line))
    return [*notes, f"{listed(short)} cannot reach every τ."] if short else notes


def _line(grid: Grid, line: str) -> str:
    return line_label(line) if grid.is_of_ratios else line.capitalize()


def tipping_tables(sensitivity: Sensitivity) -> list[NumberTable]:
    """For every metric and adjustment, where the order of two models turns or is lost; none without a second model."""
    evaluation, grid = sensitivity.evaluation, sensitivity.over_tau
    tables = []
    for metric, (adjustment, lines) in product(evaluation.data.metrics, grid.answers.items()):
        answers = [answer.values[metric.name] for line in lines.values() for answer in line.values()]
        scored = [model for model in rankable(evaluation) if any(model in values for values in answers)]
        chosen, notes = list(combinations(scored, 2)), list[str]()
        if not chosen:
            continue
        if len(chosen) > _FEW_PAIRS:
            first = grid.reference(metric.name, adjustment)
            chosen = [pair for pair in chosen if first in pair]
            notes.append(_BEST_PAIRS)
        rows = [
            NumberRow((a, b), _tip_cells(tip))
            for a, b in chosen
            for tip in sensitivity.tipping_points(a, b, metric.name, adjustment)
        ]
        if not rows:
            notes.append("On no line do two models change their order or become indistinguishable.")
        caption = f"tipping points by the {metric.label}, {evaluation.results[adjustment].label}"
        tables.append(NumberTable(caption, _TIP_HEAD, rows, tuple(notes), metric.name, adjustment))
    return tables


def _tip_cells(tip: TippingPoint) -> list[NumberCell]:
    under = tip.family.capitalize()
    if tip.family == HAZARD_RATIO:
        under = f"hazard ratio, {line_label(ALL) if tip.reason is None else model_name(tip.reason)}"
    return [
        NumberCell(_HAPPENS[tip.kind]),
        NumberCell(under),
        number_cell(tip.tau, digits=2),
        _ratio(tip.hazard_ratio),
        _multiple(tip.multiple),
        NumberCell(MISSING if tip.winner_beyond is None else model_name(tip.winner_beyond)),
    ]


def bound_tables(evaluation: Evaluation, bounds: Bounds) -> dict[str, Any]:
    """Tables of models and of pairs, and what their bounds say in words."""
    label, level, pair_table = bounds.metric.label, bounds.level, None
    pairs = pairs_from_leader(evaluation, bounds)
    interval = () if level is None else (f"{level_in_words(level)} interval",)
    head, notes = ("lowest", "highest", *interval), list(map(str, bounds.notes))
    if any(isfinite(bounds[pair].low) for pair in pairs):
        rows = [
            NumberRow((a, b), [*_bound_cells(bounds[a, b], level, "+"), _certain(bounds, a, b)])
            for a, b in pairs
        ]
        caption = f"difference of the {label}, whatever the dependence"
        pair_table = NumberTable(caption, ("model", "minus", *head, "certainly better"), rows)
    elif pairs:
        notes.append(f"Differences have no bounds: {bounds[bounds.pairs[0]].missing}.")
    rows = [NumberRow((model,), _bound_cells(bounds[model], level)) for model in bounds.models]
    caption = f"{label} ({bounds.metric.direction} is better), whatever the dependence"
    return {
        "metric": bounds.metric.name,
        "statement": bounds_in_words(bounds, ON_PAGE, pairs),
        "models": NumberTable(caption, ("model", *head), rows, tuple(notes)),
        "pairs": pair_table,
        "are_many": len(pairs) > _FEW_PAIRS,
    }


def _bound_cells(bound: Bound, level: float | None, sign: str = "") -> list[NumberCell]:
    ends = [number_cell(end, sign=sign) for end in (bound.low, bound.high)]
    if level is None:
        return ends
    interval = both_ends(*bound.confidence_interval(level), sign=sign) or MISSING
    return [*ends, NumberCell(interval, beside=bound.missing or "")]


def _certain(bounds: Bounds, a: str, b: str) -> NumberCell:
    """The better model, in the population by the interval, or in this sample alone."""
    in_population = bounds.certain(a, b, bounds.level)
    winner = in_population or bounds.certain(a, b)
    if winner is None:
        return NumberCell("open")
    return NumberCell(model_name(winner), beside="" if in_population else "in this sample alone")


def benchmark_tables(benchmarks: CovariateBenchmarks, sensitivity: Sensitivity | None) -> dict[str, Any]:
    """Tables of the τ that covariates and stronger factors would induce, and of the hidden factor that a τ takes."""
    level = level_in_words(benchmarks.confidence_level)
    head = ("covariate", "hazard ratio, event", "hazard ratio, dropout", "τ", "τ, shrunken")
    rows = []
    for covariate in benchmarks.benchmarks:
        ratios = covariate.hazard_ratio_event, covariate.hazard_ratio_dropout
        cells = [number_cell(ratio, digits=2) for ratio in ratios]
        cells += [_tau_cell(covariate.tau, covariate.interval), number_cell(covariate.shrunken_tau, digits=3)]
        rows.append(NumberRow((covariate.name,), cells))
    nothing, together = NumberCell(MISSING), _tau_cell(benchmarks.together, benchmarks.together_interval)
    few, others = rows[:_FEW_COVARIATES], rows[_FEW_COVARIATES:]
    few.append(NumberRow(("all together",), [nothing, nothing, together, nothing]))
    caption = f"what leaving out a covariate would induce (hazard ratios per SD, {level} intervals)"
    factors = {
        "like the strongest covariate" if times == 1 else f"{times} times as strong": tau
        for times, tau in benchmarks.multiples.items()
    }
    factors["all covariates, if their effects all went the same way"] = benchmarks.aligned
    factor_rows = [NumberRow((factor,), [number_cell(tau, digits=3)]) for factor, tau in factors.items()]
    points = () if sensitivity is None else sensitivity.over_tau.points
    taus = sorted({abs(tau) for tau in points if tau}) or [k / 10 for k in range(1, 10)]
    hidden_rows = [
        NumberRow((f"{tau:g}",), [_ratio(ratio), _multiple(benchmarks.multiple_for(tau))])
        for tau, ratio in benchmarks.hidden(taus).items()
    ]
    hidden_head = ("size of τ", "hazard ratio per SD, on event and dropout", _TIMES)
    return {
        "statement": plausible_tau_in_words(benchmarks, ON_PAGE),
        "strongest": NumberTable(caption, head, few, tuple(map(str, benchmarks.notes))),
        "others": NumberTable(f"the other covariates: {caption}", head, others) if others else None,
        "factors": NumberTable("what a stronger factor would induce", ("factor", "τ, shrunken"), factor_rows),
        "hidden": NumberTable("how strong a hidden factor would have to be", hidden_head, hidden_rows),
    }


def _tau_cell(tau: float, interval: tuple[float, float]) -> NumberCell:
    return number_cell(tau, digits=3, interval=both_ends(*interval, digits=3))


def _ratio(value: float) -> NumberCell:
    if not isfinite(value):
        return NumberCell(MISSING)
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return NumberCell(f"{value:,.{digits}f}", value)


def _multiple(value: float) -> NumberCell:
    if value != value:
        return NumberCell(MISSING)
    return NumberCell(f"{value:.1f}", value) if isfinite(value) else NumberCell("no multiple does")
