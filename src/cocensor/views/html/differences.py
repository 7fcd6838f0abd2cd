"""The differences of models, with their intervals, as tables of the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cocensor.inference import Comparison
from cocensor.study.evaluation import Evaluation
from cocensor.study.standing import standing
from cocensor.study.tables import pairs_of
from cocensor.views.html.cells import MISSING, NumberCell, NumberRow, NumberTable, both_ends, pvalue_cell
from cocensor.views.text.digits import decimals

# Of more pairs, those with the leading model are shown first, and all others on demand.
_FEW_PAIRS = 6
# More than at least where a standard error would have fewer than two, or an end would seem to be 0.
_DIGITS, _MOST_DIGITS = 4, 8


@dataclass(frozen=True)
class Differences:
    """By one metric: each model less the leading one, and, of many models, all pairs apart by the first metric.

    On the ``side`` of 0 the leading one is better.
    """

    leader: str
    side: str
    table: NumberTable
    all_pairs: NumberTable | None


def difference_tables(evaluation: Evaluation) -> list[Differences]:
    """For every metric the differences of the models under the primary adjustment; none without intervals."""
    level = evaluation.data.confidence_level
    if level is None:
        return []
    tables = []
    for metric in evaluation.data.metrics:
        pairs = pairs_of(evaluation, metric)
        ranked = standing(evaluation, metric.name).ranks
        if not pairs or not ranked:
            continue
        leader = min(ranked, key=lambda model: ranked[model])
        few = len(pairs) <= _FEW_PAIRS
        shown = [pair for pair in pairs if few or leader in (pair.a, pair.b)]
        label = evaluation.results[evaluation.primary].label
        caption = f"{metric.label} by “{label}”, {metric.direction} is better"
        rest = None
        if not few and metric is evaluation.data.metrics[0]:
            rest = NumberTable(f"all pairs, {caption}", _HEAD, [_row(pair, None, level) for pair in pairs])
        rows = [_row(pair, leader, level) for pair in shown]
        side = "right" if metric.direction == "smaller" else "left"
        tables.append(Differences(leader, side, NumberTable(caption, _HEAD, rows, metric=metric.name), rest))
    return tables


_HEAD = ("model", "less", "difference", "interval", "p", "adjusted p")


def _row(pair: Comparison, leader: str | None, level: float) -> NumberRow:
    """A pair; the leading model is what is subtracted."""
    low, high = pair.confidence_interval(level)
    names, difference = (pair.a, pair.b), pair.difference
    if pair.a == leader:
        names, difference, low, high = (pair.b, pair.a), -difference, -high, -low
    digits = max(_DIGITS, decimals(pair.standard_error))
    while digits < _MOST_DIGITS and any(end and round(end, digits) == 0 for end in (low, high)):
        digits += 1
    interval = both_ends(low, high, digits, "+") or MISSING
    cells = [
        NumberCell(MISSING)
        if np.isnan(difference)
        else NumberCell(f"{difference:+z.{digits}f}", difference + 0.0),
        NumberCell(interval, beside="" if pair.missing is None else pair.missing),
        pvalue_cell(pair.pvalue),
        pvalue_cell(pair.adjusted_pvalue),
    ]
    return NumberRow(names, cells)
