"""The numbers that the page's figures are drawn from, in as many points and digits as can be seen."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np

from cocensor.inference.bands import normal_quantile

# So many points of curves, of those behind a value at each point of a grid fewer.
_MOST, _GRID_POINTS = {"metrics": 100, "details": 100, "bounds": 21}, 21
# Significant digits: more of scores, which are ranked, fewer of what is drawn. Times are looked up by their values.
_DIGITS = 6
_DIGITS_OF = {"scores": 8, "hazard_ratios": 8, "profiles": 3, "curves": 4}
_EXACT = ("at", "time")


def embedded(content: Any) -> str:
    """JSON as gzip in Base64, the same text for the same content; ``scripts/numbers.js`` reads it."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode("ascii"), 6, mtime=0)).decode("ascii")


def page_numbers(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of :meth:`Report.to_dict`, with fewer points of curves and fewer digits."""
    page = {name: _thinned(part, _MOST[name]) if name in _MOST else part for name, part in numbers.items()}
    if "sensitivity" in numbers:
        page["sensitivity"] = _grid(numbers["sensitivity"], {by["name"]: by for by in numbers["metrics"]})
    return dict(_rounded(page))


def _grid(numbers: Mapping[str, Any], metrics: Mapping[str, Any]) -> dict[str, Any]:
    """A grid with standard errors instead of limits, the pairs of the reference, and the curves that are drawn."""
    grid = dict(numbers)
    if numbers.get("after_dropout"):
        grid["after_dropout"] = _grid(numbers["after_dropout"], metrics)
    if "profiles" in numbers:
        drawn = [name for name, metric in metrics.items() if metric["kind"] == "discrimination"]
        grid["curves"] = {name: by for name, by in numbers["curves"].items() if name in drawn}
        for part in ("profile_points", "profiles"):
            grid[part] = {
                name: by if metrics[name]["profile_style"] == "levels" else _thinned(by, _GRID_POINTS)
                for name, by in numbers[part].items()
            }
    if "errors" in numbers:
        grid["reach"] = normal_quantile(numbers["confidence_level"])
        for part in ("errors", "differences", "pairs"):
            grid[part] = {metric: dict(by) for metric, by in numbers[part].items()}
        for metric, by_adjustment in numbers["errors"].items():
            for name, lines in by_adjustment.items():
                grid["errors"][metric][name] = _errors(lines)
                differences, pairs = (grid[part][metric][name] for part in ("differences", "pairs"))
                reference = differences and differences["reference"]
                grid["pairs"][metric][name] = [
                    {part: pair[part] for part in ("a", "b", "tipping_points")}
                    for pair in pairs
                    if reference in (pair["a"], pair["b"])
                ]
                if differences:  # their values are those of the scores
                    [by_line] = (by for part, by in differences.items() if part != "reference")
                    grid["differences"][metric][name] = {"reference": reference, **_errors(by_line)}
    return grid


def _errors(lines: Mapping[str, Any]) -> dict[str, Any]:
    """By line and model the standard errors, and by model how many of them the bands reach on all lines."""
    widest: dict[str, tuple[float, float]] = {}
    for by_model in lines.values():
        for model, limits in by_model.items():
            columns = (limits[name] for name in ("standard_errors", "band_low", "band_high"))
            for error, low, high in zip(*columns, strict=True):
                if error and high is not None:
                    widest[model] = max(widest.get(model, (0.0, 0.0)), (error, (high - low) / (2.0 * error)))
    return {
        "lines": {
            line: {model: limits["standard_errors"] for model, limits in by_model.items()}
            for line, by_model in lines.items()
        },
        "reach": {model: reach for model, (_, reach) in widest.items()},
    }


def _thinned(node: Any, most: int) -> Any:
    """Mappings and lists with so many entries, evenly spaced, of each longer list of numbers."""
    if isinstance(node, Mapping):
        return {name: _thinned(below, most) for name, below in node.items()}
    if not isinstance(node, list):
        return node
    if len(node) <= most or not all(value is None or isinstance(value, int | float) for value in node):
        return [_thinned(below, most) for below in node]
    return [node[k] for k in np.linspace(0, len(node) - 1, most).round().astype(int)]


def _rounded(node: Any, name: str = "", digits: int | None = None) -> Any:
    """Mappings and lists with so many significant digits of each number as its key asks for."""
    if isinstance(node, Mapping):
        return {key: _rounded(below, key, digits or _DIGITS_OF.get(key)) for key, below in node.items()}
    if isinstance(node, list | tuple):
        return [_rounded(below, name, digits) for below in node]
    if isinstance(node, float) and name not in _EXACT:
        return float(f"{node:.{digits or _DIGITS}g}")
    return node
