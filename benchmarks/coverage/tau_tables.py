"""Markdown tables of what is said over the assumed τ: bands, leads, tipping points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.coverage.measures import limit, percent, shown
from benchmarks.coverage.setting import GRID
from benchmarks.tables import markdown, section
from cocensor._checks import FloatArray
from cocensor.inference.along_axis import AxisCurve, lead, tipping_points, undecided

_TAUS = np.array(GRID)
#: The estimates of one repeat along τ, and how many standard errors a band over all τ reaches.
Line = tuple[AxisCurve, float]


def tau_tables(population: pd.DataFrame, rows: pd.DataFrame) -> Iterator[str]:
    """Held against what the judge would say, at each τ, of a huge sample."""
    curves = list(rows["curve"].unique())
    bands, leads, tips = [], [], []
    for (law, n, tau), each in rows.groupby(["law", "n", "tau"], sort=False):
        at = [law, f"{n:,}", f"{tau:g}"]
        lines = {name: list(_lines(each[each["curve"] == name])) for name in curves}
        true = {name: limit(population, law, tau, name) for name in curves}
        bands.append([*at, *(_bands(lines[name], true[name]) for name in curves)])
        leads.append([*at, *(_leads(lines[name], true[name]) for name in curves if " - " in name)])
        for name in curves:
            turns = [point.at for point in tipping_points({"": _known(true[name])})]
            if " - " in name and len(turns) == 1:
                tips.append([*at, shown(name), *_tips(lines[name], turns[0])])
    head = ["distribution", "n", "true τ"]
    yield section(
        "Bands over τ = 0, 0.1, …, 0.8 that hold all of the limit, % (intervals at single τ, mean)",
        "bands",
        markdown([*head, *map(shown, curves)], bands),
    )
    yield section(
        "“A beats B up to τ*”: % said; % wrong; τ*, mean",
        "leads",
        markdown([*head, *(shown(name) for name in curves if " - " in name)], leads),
    )
    columns = ["curve", "tipping point", "interval holds it, %", "its length, mean"]
    columns += ["reaches an end of the grid, %", "estimates, mean ± SD", "one turn, %"]
    yield section("Tipping points", "tips", markdown([*head, *columns], tips))


def _known(true: FloatArray) -> AxisCurve:
    return AxisCurve(_TAUS, true, 0.0 * true)


def _lines(rows: pd.DataFrame) -> Iterator[Line]:
    values, errors = ([f"{what}{tau:g}" for tau in GRID] for what in ("", "se "))
    for quantile, value, error in zip(
        rows["quantile"], rows[values].to_numpy(), rows[errors].to_numpy(), strict=True
    ):
        yield AxisCurve(_TAUS, value, error), quantile


def _bands(lines: list[Line], true: FloatArray) -> str:
    single = np.array([(curve.low <= true) & (true <= curve.high) for curve, _ in lines])
    whole = [np.all(np.abs(curve.values - true) <= reach * curve.standard_errors) for curve, reach in lines]
    return f"{percent(whole)} ({percent(single)})"


def _leads(lines: list[Line], true: FloatArray) -> str:
    """A lead is wrong where the true difference has the other sign at one of its τ."""
    found = [lead({"": curve}) for curve, _ in lines]
    said = [each for each in found if each is not None]
    wrong = sum(bool((np.sign(true[each.high >= _TAUS]) != each.sign).any()) for each in said)
    reach = f"{np.mean([each.high for each in said]):.2f}" if said else "–"
    return f"{percent([each is not None for each in found])}; {100 * wrong / len(found):.1f}; {reach}"


def _tips(lines: list[Line], true: float) -> list[str]:
    """The interval is all τ at which 0 lies in the interval of the difference."""
    stretches = [undecided(curve) for curve, _ in lines]
    held = [
        any((low is None or low <= true) and (high is None or true <= high) for low, high in each)
        for each in stretches
    ]
    is_open = [any(None in stretch for stretch in each) for each in stretches]
    lengths = [
        sum((_TAUS[-1] if high is None else high) - (_TAUS[0] if low is None else low) for low, high in each)
        for each in stretches
    ]
    turns = [[point.at for point in tipping_points({"": curve})] for curve, _ in lines]
    once = [each[0] for each in turns if len(each) == 1]
    spread = f"{np.mean(once):.3f} ± {np.std(once, ddof=1):.3f}" if len(once) > 1 else "–"
    return [
        f"{true:.3f}",
        percent(held),
        f"{np.mean(lengths):.2f}",
        percent(is_open),
        spread,
        percent([len(each) == 1 for each in turns]),
    ]
