"""What the page's figures and tables are drawn from: the numbers of an evaluation, as far as they can be seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor.inference.bands import normal_quantile
from cocensor.views.html.packing import packed
from cocensor.views.html.thinning import points_to_draw

# Curves behind values are drawn of these alone, and over a grid fewer points of each.
_WITH_PROFILES = ("auc", "ici", "e50", "e90", "net_benefit", "d_calibration")
_OVER_TIME_ON_GRID, _BARS = ("auc",), ("d_calibration",)
_POINTS, _PROFILE_POINTS, _GRID_POINTS = 100, 41, 21
_UNSEEN_ON_GRID = 1 / 500
_Points = npt.NDArray[np.intp]


def page_numbers(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of :meth:`Report.to_dict` that the page's script reads, packed."""
    models = [each["name"] for each in numbers["models"]]
    names = {each["name"] for each in numbers["adjustments"]}
    found: dict[str, Any] = {
        **numbers,
        "adjustments": [_without(each, ("imputation_fit",)) for each in numbers["adjustments"]],
        "metrics": [_metric(each, numbers["primary"]) for each in numbers["metrics"]],
        "details": _details(numbers["details"]),
    }
    del found["verdict"]
    if "bounds" in numbers:
        leaders = {each["name"]: _leaders(each, numbers["primary"]) for each in numbers["metrics"]}
        found["bounds"] = {
            name: _bounds(each, leaders.get(name, ())) for name, each in numbers["bounds"].items()
        }
    if "sensitivity" in numbers:
        families = {each["name"]: each["family"] for each in numbers["metrics"]}
        whole, after = numbers["sensitivity"], numbers["sensitivity"]["after_dropout"]
        names |= {*whole["families"], *(after["lines"] if after else ())}
        found["sensitivity"] = _grid(whole, families) | {
            "after_dropout": None if after is None else _grid(after, families)
        }
    return packed(found, models, names)


def _without(numbers: Mapping[str, Any], left_out: Collection[str]) -> dict[str, Any]:
    return {name: each for name, each in numbers.items() if name not in left_out}


# --- by metric ------------------------------------------------------------------------------------------


def _metric(numbers: Mapping[str, Any], primary: str) -> dict[str, Any]:
    unread = ("standard_errors", "no_interval", "skill_standard_errors", "skill_intervals")
    found = _without(numbers, unread)
    if numbers["family"] not in _WITH_PROFILES:
        found |= {"profiles": {}} | ({"profile_errors": {}} if "profile_errors" in numbers else {})
    if "comparisons" in numbers:
        pairs = numbers["comparisons"].get(primary, [])
        found["comparisons"] = {primary: _with(pairs, _leaders(numbers, primary))}
    return found | _over_time(numbers) | _along_profile(found)


def _details(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Curves in full, without what no figure shows."""
    unread = ("standard_error", "counts", "edges", "more_than_treat_all")

    def read(node: Any) -> Any:
        if isinstance(node, Mapping):
            return {name: read(each) for name, each in _without(node, unread).items()}
        return [read(each) for each in node] if isinstance(node, list) else node

    return {kind: read(each) for kind, each in numbers.items()}


def _leaders(metric: Mapping[str, Any], primary: str) -> list[str]:
    """The models with the best score."""
    ranks = metric["ranks"].get(primary, {})
    return [model for model, rank in ranks.items() if rank == min(ranks.values())]


def _with(pairs: Iterable[Mapping[str, Any]], models: Collection[str]) -> list[Mapping[str, Any]]:
    return [pair for pair in pairs if pair["a"] in models or pair["b"] in models]


def _over_time(metric: Mapping[str, Any]) -> dict[str, Any]:
    """Curves over time at the times that show their shape."""
    names = [name for name in ("curves", "reference_curves", "curve_errors") if name in metric]
    lists = [values for name in names for values in _lists(metric[name])]
    if not lists:
        return {"times": []}
    times = np.array(metric["times"], dtype=float)
    at = points_to_draw(times, [np.array(each, dtype=float) for each in lists], _POINTS)
    kept = {name: _at(metric[name], at) for name in names}
    if "curve_errors" in kept:
        kept["curve_errors"] = {
            how: {model: _without(each, ("standard_errors",)) for model, each in by_model.items()}
            for how, by_model in kept["curve_errors"].items()
        }
    return {"times": times[at].tolist(), **kept}


def _along_profile(metric: Mapping[str, Any]) -> dict[str, Any]:
    """Curves behind values with limits of their own, at the points that show their shape."""
    if not metric.get("profile_errors"):
        return {}
    lists = _lists(metric["profiles"]) + _lists(metric["profile_errors"])
    if len({len(each) for each in lists}) != 1:
        return {}
    x = np.array(lists[0], dtype=float)
    at = points_to_draw(x, [np.array(each, dtype=float) for each in lists], _PROFILE_POINTS)
    errors = {
        how: {model: _without(each, ("standard_errors",)) for model, each in by_model.items()}
        for how, by_model in metric["profile_errors"].items()
    }
    return {"profiles": _at(metric["profiles"], at), "profile_errors": _at(errors, at)}


def _lists(node: Any) -> list[list[Any]]:
    """All lists in mappings of mappings."""
    return [node] if isinstance(node, list) else [each for below in node.values() for each in _lists(below)]


def _at(node: Any, at: _Points, inner: bool = False) -> Any:
    """The same mappings of lists, with some entries of each list, or of each list in it."""
    if isinstance(node, Mapping):
        return {name: _at(each, at, inner) for name, each in node.items()}
    if inner:
        return [None if each is None else _at(each, at) for each in node]
    return [node[k] for k in at]


def _bounds(numbers: Mapping[str, Any], leaders: Collection[str]) -> dict[str, Any]:
    """Bounds of models, and of pairs with the leading one, without their curves."""
    unread = ("curve",)
    return _without(numbers, ("times",)) | {
        "models": {name: _without(each, unread) for name, each in numbers["models"].items()},
        "pairs": [_without(each, unread) for each in _with(numbers["pairs"], leaders)],
    }


# --- grids ----------------------------------------------------------------------------------------------


def _grid(numbers: Mapping[str, Any], families: Mapping[str, str]) -> dict[str, Any]:
    """A grid: of its errors what the limits follow from, and of its pairs those that are drawn."""
    found = _without(numbers, ("statement", "verdict", "stretches", "changes", "after_dropout"))
    if "profiles" in numbers:
        found |= _grid_curves(numbers, families)
    if "errors" not in numbers:
        return found
    return found | {
        "reach": normal_quantile(numbers["confidence_level"]),
        "errors": _by_metric(
            numbers["errors"], lambda lines: {"lines": _errors(lines), "reach": _reach(lines)}
        ),
        "differences": _by_metric(numbers["differences"], _differences),
        "pairs": {
            metric: {how: _pairs(pairs, numbers["differences"][metric][how]) for how, pairs in by.items()}
            for metric, by in numbers["pairs"].items()
        },
    }


def _by_metric(numbers: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    return {metric: {how: change(each) for how, each in by.items()} for metric, by in numbers.items()}


def _errors(lines: Mapping[str, Any]) -> dict[str, Any]:
    """By line and model, without limits."""
    limits = ("low", "high", "band_low", "band_high")
    return {
        line: {model: _without(each, limits) for model, each in by_model.items()}
        for line, by_model in lines.items()
    }


def _reach(lines: Mapping[str, Any]) -> dict[str, float]:
    """By model, how many standard errors the bands reach on all lines."""
    found: dict[str, tuple[float, float]] = {}
    for by_model in lines.values():
        for model, each in by_model.items():
            for error, high, low in zip(
                each["standard_errors"], each["band_high"], each["band_low"], strict=True
            ):
                if error and high is not None and error > found.get(model, (0.0, 0.0))[0]:
                    found[model] = error, (high - low) / (2.0 * error)
    return {model: reach for model, (_, reach) in found.items()}


def _differences(numbers: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Differences from the reference; their lines go by "families" or "lines"."""
    if numbers is None:
        return None
    [by] = (name for name in numbers if name != "reference")
    return {"reference": numbers["reference"], by: _errors(numbers[by]), "reach": _reach(numbers[by])}


def _pairs(pairs: Iterable[Mapping[str, Any]], differences: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Where the order of the reference and another model turns."""
    reference = () if differences is None else (differences["reference"],)
    return [
        {
            "a": pair["a"],
            "b": pair["b"],
            "line": point.get("family", point.get("line")),
            "at": point["at"],
            **dict(zip(("low", "high"), point["interval"] or (None, None), strict=True)),
            "isOpen": int(point["interval"] is None),
        }
        for pair in _with(pairs, reference)
        for point in pair["tipping_points"]
    ]


def _grid_curves(numbers: Mapping[str, Any], families: Mapping[str, str]) -> dict[str, Any]:
    """The curves behind values that are drawn, at the points that show their shape."""
    points: dict[str, Any] = {metric: {} for metric in families}
    profiles: dict[str, Any] = {metric: {} for metric in families}
    for metric, by_model in numbers["profile_points"].items():
        if families[metric] not in _WITH_PROFILES:
            continue
        found = numbers["profiles"][metric]
        at = _shared_points(by_model, _curves(found)) if families[metric] not in _BARS else None
        points[metric] = by_model if at is None else _at(by_model, at)
        profiles[metric] = found if at is None else _at(found, at, inner=True)
    drawn = {metric for metric, family in families.items() if family in _OVER_TIME_ON_GRID}
    curves = {metric: by if metric in drawn else {} for metric, by in numbers["curves"].items()}
    return {"profile_points": points, "profiles": profiles, "curves": curves}


def _curves(profiles: Mapping[str, Any]) -> list[FloatArray]:
    """All curves, by adjustment, line and model one for each point of the grid."""
    return [
        np.array(curve, dtype=float) for along in _lists(profiles) for curve in along if curve is not None
    ]


def _shared_points(points: Mapping[str, Sequence[float]], curves: Sequence[FloatArray]) -> _Points | None:
    """Which points to draw of all curves behind the values of a metric; None where models have unlike many."""
    if len({len(each) for each in points.values()}) != 1:
        return None
    x = np.array(next(iter(points.values())), dtype=float)
    return points_to_draw(x, curves, _GRID_POINTS, _UNSEEN_ON_GRID)
