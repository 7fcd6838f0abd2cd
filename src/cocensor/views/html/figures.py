"""Figures of the page as SVG: they need no script, print as they are, and a small script reads values from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, isfinite, log10
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from cocensor._checks import FloatArray
from cocensor.study.sensitivity.zones import Course
from cocensor.views.text.digits import minus, number, ratio_in_words, tau_in_words
from cocensor.views.text.names import shortened
from cocensor.views.text.verdict import KAPLAN_MEIER, rival_name

# So many points of a line can be told apart, and so many are read out.
_POINTS, _TIPS = 120, 41
_LETTER = 7.0  # the mean width of a letter
_RATIOS = (0.1, 0.2, 1 / 3, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True)
class Line:
    """A line of a chart, perhaps with limits; ``look`` are classes that give its colour and dashes."""

    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    look: str = ""


@dataclass
class Canvas:
    """A plane in which charts are drawn; y grows upwards."""

    width: float
    height: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: float = 46.0
    right: float = 12.0
    top: float = 26.0
    bottom: float = 40.0
    parts: list[str] = field(default_factory=list)

    def x(self, value: float) -> float:
        """Where a value lies from left to right."""
        low, high = self.x_range
        return self.left + (value - low) / ((high - low) or 1.0) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """Where a value lies from top to bottom, held within the plane."""
        low, high = self.y_range
        share = min(max((value - low) / ((high - low) or 1.0), 0.0), 1.0)
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def text(self, x: float, y: float, text: str, look: str = "", anchor: str = "start") -> None:
        """Write a text, whose script does not move what is around it."""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{look}">{escape(text)}</text>'
        )

    def rule(self, x1: float, y1: float, x2: float, y2: float, look: str) -> None:
        """Draw a straight line."""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{look}"/>')

    def box(self, x1: float, y1: float, x2: float, y2: float, look: str) -> None:
        """Draw a rectangle."""
        low, high = min(x1, x2), max(x1, x2)
        top, height = min(y1, y2), abs(y2 - y1)
        self.parts.append(
            f'<rect x="{low:.1f}" y="{top:.1f}" width="{high - low:.1f}" height="{height:.1f}" class="{look}"/>'
        )

    def curve(self, line: Line) -> None:
        """Draw a line, and the area between its limits where there are some; gaps stay gaps."""
        kept = np.unique(np.linspace(0, len(line.x) - 1, min(len(line.x), _POINTS)).round().astype(int))
        at = [self.x(value) for value in line.x[kept]]
        if line.low is not None and line.high is not None:
            there = [
                k for k, place in enumerate(kept) if isfinite(line.low[place]) and isfinite(line.high[place])
            ]
            ends = [f"{at[k]:.1f},{self.y(float(line.low[kept[k]])):.1f}" for k in there]
            ends += [f"{at[k]:.1f},{self.y(float(line.high[kept[k]])):.1f}" for k in reversed(there)]
            self.parts.append(f'<polygon class="band {line.look}" points="{" ".join(ends)}"/>')
        path, pen = [], "M"
        for k, place in enumerate(kept):
            value = float(line.y[place])
            if not isfinite(value):
                pen = "M"
                continue
            path.append(f"{pen}{at[k]:.1f},{self.y(value):.1f}")
            pen = "L"
        self.parts.append(
            f'<path class="line {line.look}" data-name="{escape(line.name)}" d="{"".join(path)}"/>'
        )

    def y_axis(self, ticks: Sequence[float], shown: Callable[[float], str]) -> None:
        """Draw the grid of values."""
        for tick in ticks:
            self.rule(self.left, self.y(tick), self.width - self.right, self.y(tick), "grid")
            self.text(self.left - 6, self.y(tick) + 4, shown(tick), "tick", "end")

    def x_axis(self, ticks: Sequence[tuple[float, str]], label: str) -> None:
        """Draw marks below the plane, those that have room, and the label of the axis."""
        base, end = self.height - self.bottom, -1e9
        for value, text in ticks:
            at, half = self.x(value), _LETTER * len(text) / 2
            if at - half < end + 4:
                continue
            end = at + half
            self.rule(at, base, at, base + 4, "mark")
            self.text(at, base + 16, text, "tick", "middle")
        self.text((self.left + self.width - self.right) / 2, self.height - 6, label, "label", "middle")

    def svg(self, alt: str, tips: Mapping[str, Any] | None = None, look: str = "") -> Markup:
        """The figure; ``alt`` states what it shows, ``tips`` are the values that are read out point by point."""
        data = "" if tips is None else f' data-tips="{escape(json.dumps(tips, separators=(",", ":")))}"'
        return Markup(
            f'<svg class="chart {look}" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(alt)}"{data}>{"".join(self.parts)}</svg>'
        )


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """A handful of round numbers between two."""
    if not (isfinite(low) and isfinite(high)) or high <= low:
        return [low] if isfinite(low) else []
    power = 10.0 ** floor(log10((high - low) / most))
    step = next(step * power for step in (1, 2, 2.5, 5, 10) if (high - low) / (step * power) <= most)
    return [float(f"{k * step:.12g}") for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def plain_number(value: float) -> str:
    """A number of an axis."""
    return minus(f"{value:g}")


def _tips(canvas: Canvas, lines: Sequence[Line], said: Callable[[float], str], digits: int) -> dict[str, Any]:
    """The values of lines at points that are read out, by their places in the figure."""
    longest = max(lines, key=lambda line: len(line.x)).x
    kept = longest[np.unique(np.linspace(0, len(longest) - 1, min(len(longest), _TIPS)).round().astype(int))]
    shown = []
    for line in lines:
        values = np.interp(kept, line.x, line.y, left=np.nan, right=np.nan)
        texts = [number(float(value), digits) if isfinite(value) else "" for value in values]
        if line.low is not None and line.high is not None:
            limits = [
                np.interp(kept, line.x, ends, left=np.nan, right=np.nan) for ends in (line.low, line.high)
            ]
            for k, (low, high) in enumerate(zip(*limits, strict=True)):
                if isfinite(low) and isfinite(high):
                    texts[k] += f" ({number(float(low), digits)} to {number(float(high), digits)})"
        shown.append({"n": line.name, "t": texts})
    return {
        "x": [round(canvas.x(float(at)), 1) for at in kept],
        "at": [said(float(at)) for at in kept],
        "lines": shown,
    }


def line_chart(
    lines: Sequence[Line],
    *,
    title: str,
    x_label: str,
    alt: str,
    said: Callable[[float], str],
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    x_ticks: Sequence[tuple[float, str]] | None = None,
    size: tuple[float, float] = (340.0, 250.0),
    digits: int = 3,
    rules: Sequence[float] = (),
    diagonal: bool = False,
    labels: bool = True,
    bars: tuple[FloatArray, FloatArray] | None = None,
) -> Markup:
    """Lines with the areas of their limits, their names at their ends; ``bars`` are edges and heights below them."""
    xs = np.concatenate([line.x for line in lines])
    ys = np.concatenate(
        [part for line in lines for part in (line.y, line.low, line.high) if part is not None]
    )
    ys = ys[np.isfinite(ys)]
    x_low, x_high = x_range or (float(xs.min()), float(xs.max()))
    y_low, y_high = y_range or _padded(float(ys.min()), float(ys.max()))
    names = [shortened(line.name, 14) for line in lines]
    right = 10.0 + (_LETTER * max(map(len, names)) if labels else 2.0)
    canvas = Canvas(*size, (x_low, x_high), (y_low, y_high), right=right)
    canvas.text(4, 14, title, "label")
    canvas.y_axis(ticks(y_low, y_high, 4), plain_number)
    marks = x_ticks or [(tick, plain_number(tick)) for tick in ticks(x_low, x_high, 5)]
    canvas.x_axis(marks, x_label)
    if bars is not None and bars[1].max() > 0:
        base, highest = size[1] - canvas.bottom, float(bars[1].max())
        for left, right, count in zip(bars[0][:-1], bars[0][1:], bars[1], strict=True):
            canvas.box(canvas.x(left), base, canvas.x(right) - 1, base - 34 * float(count) / highest, "bars")
    if diagonal:
        low, high = max(x_low, y_low), min(x_high, y_high)
        canvas.rule(canvas.x(low), canvas.y(low), canvas.x(high), canvas.y(high), "ideal")
    for level in rules:
        canvas.rule(canvas.left, canvas.y(level), size[0] - canvas.right, canvas.y(level), "zero")
    for line in lines:
        canvas.curve(line)
    if labels:
        _end_labels(canvas, lines, names)
    return canvas.svg(alt, _tips(canvas, lines, said, digits))


def _padded(low: float, high: float) -> tuple[float, float]:
    room = 0.06 * (high - low) or 0.5
    return low - room, high + room


def _end_labels(canvas: Canvas, lines: Sequence[Line], names: Sequence[str]) -> None:
    """Write names beside the ends of lines, moved apart where they would overlap."""
    ends = list[tuple[float, str, str]]()
    for line, name in zip(lines, names, strict=True):
        there = np.flatnonzero(np.isfinite(line.y))
        if there.size:
            ends.append((canvas.y(float(line.y[there[-1]])) + 4, name, line.look))
    ends.sort(key=lambda end: end[0])
    heights = list[float]()
    for height, *_ in ends:
        heights.append(max(height, heights[-1] + 13) if heights else height)
    over = max(heights[-1] - (canvas.height - canvas.bottom + 4), 0.0) if heights else 0.0
    for y, (_, name, look) in zip(heights, ends, strict=True):
        canvas.text(canvas.width - canvas.right + 5, y - over, name, f"name {look}")


def course_figure(
    course: Course,
    looks: Mapping[str, str],
    benchmarks: Sequence[tuple[str, float]],
    alt: str,
    level: str,
    metric: str,
) -> Markup:
    """The difference of the two models that matter, over the dependence: once for wide pages, once for narrow ones."""
    sizes = (("wide", 620.0, 340.0), ("narrow", 340.0, 330.0))
    return Markup("").join(
        _course(course, looks, benchmarks, (alt, level, metric), look, width, height)
        for look, width, height in sizes
    )


def _course(
    course: Course,
    looks: Mapping[str, str],
    benchmarks: Sequence[tuple[str, float]],
    words: tuple[str, str, str],
    look: str,
    width: float,
    height: float,
) -> Markup:
    alt, level, metric = words
    positions, curve = course.curve.positions, course.curve
    ends = np.concatenate([part[np.isfinite(part)] for part in (curve.low, curve.high, curve.values)])
    low, high = min(float(ends.min()), 0.0), max(float(ends.max()), 0.0)
    canvas = Canvas(
        width,
        height,
        (float(positions[0]), float(positions[-1])),
        _padded(low, high),
        52,
        14,
        40,
        64,
    )
    base = height - canvas.bottom
    first, second = (shortened(name, 18) for name in (course.first, rival_name(course)))
    better = "above 0" if curve.values.size else ""
    canvas.text(4, 14, f"Difference in {metric}, {second} and {first}", "label")
    canvas.text(4, 30, f"{better}: {first} better" + (f"; band: {level} CI" if level else ""), "tick")
    if course.plausible is not None:
        left, right = (canvas.x(course.position(end)) for end in course.plausible)
        canvas.box(left, canvas.top, right, base, "plausible")
        canvas.text(left + 5, base - 22, "plausible range", "tick")
    canvas.y_axis(ticks(*canvas.y_range, 5), plain_number)
    canvas.rule(canvas.left, canvas.y(0), width - canvas.right, canvas.y(0), "zero")
    start = canvas.x(course.position(course.start))
    canvas.rule(start, canvas.top, start, base, "start")
    difference = Line("difference", positions, curve.values, look="main")
    if np.isfinite(curve.standard_errors).any():
        difference = replace(difference, low=curve.low, high=curve.high)
    canvas.curve(difference)
    for zone in course.zones:
        _bar(canvas, course, zone, looks, base)
    if course.turn is not None:
        at = course.position(course.turn)
        place = f"{ratio_in_words(course.turn)}×" if course.is_ratio else f"τ = {tau_in_words(course.turn)}"
        tau = course.tau(course.turn)
        extra = f" (τ = {tau_in_words(tau)})" if course.is_ratio and isfinite(tau) else ""
        text = f"tips at {place}{extra}"
        canvas.parts.append(f'<circle cx="{canvas.x(at):.1f}" cy="{canvas.y(0):.1f}" r="5" class="turn"/>')
        fits = canvas.x(at) + 10 + _LETTER * len(text) < width
        falls = course.curve.values[0] > course.curve.values[-1]
        y = canvas.y(0) + (-9 if fits == falls else 19)
        canvas.text(canvas.x(at) + (9 if fits else -9), y, text, "label halo", "start" if fits else "end")
    if course.is_ratio:
        marks = [(course.position(ratio), "same" if ratio == 1 else _times(ratio)) for ratio in _RATIOS]
        label = "event rate of dropouts, relative to similar subjects who stayed"
    else:
        marks = [(tau, tau_in_words(tau)) for tau in ticks(*canvas.x_range, 7)]
        label = f"Kendall’s τ of event and dropout ({course.line.capitalize()} copula)"
    marks = [mark for mark in marks if canvas.x_range[0] - 1e-9 <= mark[0] <= canvas.x_range[1] + 1e-9]
    _axis_with_bar(canvas, marks, label, base)
    _benchmark_marks(canvas, course, benchmarks, base)

    def said(position: float) -> str:
        point = float(np.exp(position)) if course.is_ratio else position
        tau = course.tau(point)
        in_tau = f"τ = {tau_in_words(tau)}" if isfinite(tau) else ""
        return (
            f"{ratio_in_words(point)} times as fast{f' ({in_tau})' if in_tau else ''}"
            if course.is_ratio
            else in_tau
        )

    return canvas.svg(alt, _tips(canvas, [difference], said, 4), look)


def _times(ratio: float) -> str:
    return {0.5: "½×", 1 / 3: "⅓×"}.get(ratio, f"{ratio:g}×")


def _bar(canvas: Canvas, course: Course, zone: Any, looks: Mapping[str, str], base: float) -> None:
    """Draw the part of the bar that says who is better where, with its name where there is room."""
    left, right = (canvas.x(course.position(end)) for end in (zone.low, zone.high))
    if zone.kind == "better":
        name = shortened(zone.model, 18) if zone.model else KAPLAN_MEIER
        look, texts = looks.get(zone.model or "", "kaplan-meier"), [f"{name} better", name]
    else:
        look, texts = zone.kind, ["equal", "="] if zone.kind == "equivalent" else ["cannot tell", "?"]
    canvas.box(left, base, right, base + 10, f"zone {look}")
    for text in texts:
        if _LETTER * len(text) <= right - left:
            canvas.text((left + right) / 2, base - 6, text, f"name {look}", "middle")
            return


def _axis_with_bar(canvas: Canvas, marks: Sequence[tuple[float, str]], label: str, base: float) -> None:
    end = -1e9
    # Independence is always named.
    fixed = [canvas.x(value) for value, text in marks if text == "same"]
    for value, text in marks:
        at, half = canvas.x(value), _LETTER * len(text) / 2 + 3
        if at - half < end or any(abs(at - place) < half + 18 for place in fixed if place != at):
            continue
        end = at + half
        canvas.rule(at, base + 10, at, base + 14, "mark")
        canvas.text(at, base + 26, text, "tick", "middle")
    words = label.split(" ")
    rows, row = list[str](), ""
    for word in words:
        if _LETTER * len(f"{row} {word}") > canvas.width - 10 and row:
            rows.append(row)
            row = word
        else:
            row = f"{row} {word}".strip()
    for k, text in enumerate([*rows, row]):
        canvas.text(canvas.width / 2, base + 42 + 14 * k, text, "label", "middle")


def _benchmark_marks(
    canvas: Canvas, course: Course, benchmarks: Sequence[tuple[str, float]], base: float
) -> None:
    """Mark what leaving out measured covariates would induce, as far as there is room for their names."""
    ends, last = {0: -1e9, 1: -1e9}, -1e9
    for name, position in sorted(benchmarks, key=lambda mark: mark[1]):
        at, text = canvas.x(position), shortened(name, 16)
        half = _LETTER * len(text) / 2 + 4
        row = next((row for row, end in ends.items() if at - half >= end), None)
        if row is None or at < last + 10:
            continue
        last = at
        ends[row] = at + half
        y = canvas.top + 20 + 14 * row
        canvas.rule(at, canvas.top, at, y - 11, "benchmark")
        canvas.text(at, y, text, "tick benchmark", "middle")


def forest(
    rows: Sequence[tuple[str, float, float, float]],
    *,
    shade: tuple[float, float],
    x_label: str,
    alt: str,
    width: float = 460.0,
) -> Markup:
    """Values with their intervals, one below the other, each beside its name; a range is a bracket on the axis."""
    longest = max(len(shortened(name, 22)) for name, *_ in rows)
    ends = [value for _, *values in rows for value in values if isfinite(value)] + [*shade, 0.0]
    canvas = Canvas(
        width, 62 + 22 * len(rows), _padded(min(ends), max(ends)), (0, 1), 14 + _LETTER * longest, 14, 24, 40
    )
    base = canvas.height - canvas.bottom
    left, right = (canvas.x(end) for end in shade)
    for at in (left, right):
        canvas.rule(at, 16, at, 22, "bracket")
    canvas.rule(left, 16, right, 16, "bracket")
    canvas.text((left + right) / 2, 11, "plausible range", "tick", "middle")
    canvas.rule(canvas.x(0), canvas.top, canvas.x(0), base, "zero")
    for k, (name, value, low, high) in enumerate(rows):
        y = canvas.top + 14 + 22 * k
        canvas.text(canvas.left - 8, y + 4, shortened(name, 22), "tick", "end")
        if isfinite(low) and isfinite(high):
            canvas.rule(canvas.x(low), y, canvas.x(high), y, "whisker")
        canvas.parts.append(f'<circle cx="{canvas.x(value):.1f}" cy="{y:.1f}" r="4" class="dot"/>')
    canvas.x_axis([(tick, plain_number(tick)) for tick in ticks(*canvas.x_range, 6)], x_label)
    return canvas.svg(alt)
