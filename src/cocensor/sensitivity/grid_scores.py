"""Scores over a grid of assumed dependences, with their sampling errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from cocensor._notes import Note
from cocensor._validation import FloatArray, check_choice, make_frame
from cocensor.evaluation import Evaluation
from cocensor.evaluation.findings import DEFAULT_LEVEL
from cocensor.evaluation.scores import AdjustmentScores
from cocensor.inference import (
    AxisCurve,
    Band,
    Comparison,
    Estimates,
    Lead,
    TippingPoint,
    Uncertainty,
    compare,
    lead,
    may_be_best,
    simultaneous_quantile,
    tipping_points,
    uncertainty,
)
from cocensor.inference.ignorance import check_range
from cocensor.sensitivity.changes import Change, changes


@dataclass(frozen=True, eq=False, repr=False)
class GridScores(ABC):
    """Every score over lines of points, and what their errors say; see :class:`Sensitivity` and :class:`AfterDropout`.

    Lines are families of copulas, and their points Kendall's τ; or lines say whose hazard ratio after dropout moves,
    and points are the ratios. What lies between points goes by :meth:`position`, where 0 is independence. A *value* of
    the grid is the score of a model, or its difference from that of another: score(model) − score(minus).

    Attributes
    ----------
    evaluation : Evaluation
    lines : tuple of str
    points : tuple of float
    answers : dict of AdjustmentScores
        By adjustment, line and point.
    missing : dict of Note
        By adjustment and line, why there is no answer, or none at some point.
    """

    evaluation: Evaluation
    lines: tuple[str, ...]
    points: tuple[float, ...]
    answers: dict[str, dict[str, dict[float, AdjustmentScores]]]
    missing: dict[tuple[str, str], Note]
    _kept: dict[Any, Any] = field(default_factory=dict, init=False)

    #: What a line, lines and a point are called.
    line_name: ClassVar[str] = "line"
    lines_name: ClassVar[str] = "lines"
    point_name: ClassVar[str] = "point"

    @staticmethod
    def position(point: float) -> float:
        """Where a point lies on the axis along which values are taken to move on lines; 0 is independence."""
        return point

    @staticmethod
    def at_position(position: float) -> float:
        """The point that lies there; see :meth:`position`."""
        return position

    @property
    def primary(self) -> str:
        """The primary adjustment of the evaluation, or the first with an answer here, by preference a voting one."""
        order = (self.evaluation.primary, *self.evaluation.voting, *self.answers)
        return next(name for name in order if name in self.answers)

    def values(
        self, line: str, point: float, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, float]:
        """The scores of the models at one point of the grid; those without one are missing."""
        by = self.evaluation.metric(metric).name
        answer = self.answers[self._adjustment(adjustment)].get(line, {}).get(point)
        return {} if answer is None else {model: found.value for model, found in answer.values[by].items()}

    def ranks(
        self, line: str, point: float, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, int]:
        """The ranks of the contenders at one point of the grid; those without a score are missing."""
        values, able = self.values(line, point, metric, adjustment), self.evaluation.contenders
        return self.evaluation.metric(metric).ranks({m: value for m, value in values.items() if m in able})

    @property
    def confidence_level(self) -> float:
        """Of all intervals: that of the evaluation."""
        return self.evaluation.confidence_level or DEFAULT_LEVEL

    def table(self) -> Any:
        """One row per metric, adjustment, line, point and model: score, with its error and interval, and rank."""
        return self._frame(self._rows(), self._columns)

    @abstractmethod
    def place(self, adjustment: str, line: str, point: float) -> tuple[str, str | None, float, float]:
        """Where a point is in tables: its family, reason, τ and hazard ratio after dropout."""

    def _rows(self) -> list[tuple[Any, ...]]:
        with_errors = self.evaluation.confidence_level is not None

        def errors(found: Estimates | None, model: str) -> tuple[float, ...]:
            if not with_errors:
                return ()
            if found is None:
                return np.nan, np.nan, np.nan
            estimate = found.estimate(model)
            return (estimate.standard_error, *estimate.confidence_interval(self.confidence_level))

        return [
            (metric, adjustment, *place, model, value, *errors(known, model), ranks.get(model))
            for metric in self.evaluation.metrics
            for adjustment, line, point in self._places()
            for place in (self.place(adjustment, line, point),)
            for values in (self.values(line, point, metric, adjustment),)
            for known in (self.errors(line, point, metric, adjustment),)
            for ranks in (self.ranks(line, point, metric, adjustment),)
            for model, value in values.items()
        ]

    @property
    def _columns(self) -> tuple[str, ...]:
        errors = () if self.evaluation.confidence_level is None else ("standard_error", "low", "high")
        where = ("family", "reason", "tau", "hazard_ratio")
        return ("metric", "adjustment", *where, "model", "score", *errors, "rank")

    def _frame(self, rows: list[tuple[Any, ...]], columns: tuple[str, ...]) -> Any:
        lists = map(list, zip(*rows, strict=True)) if rows else ([] for _ in columns)
        return make_frame(dict(zip(columns, lists, strict=True)), template=self.evaluation.template)

    def reference(self, metric: str | None = None, adjustment: str | None = None) -> str:
        """The model with the best score nearest to independence, which others are compared with by default.

        The first model where none is a contender.
        """
        by_point = next(iter(self.leaders(metric, adjustment).values()))
        if not self.evaluation.contenders:
            return self.evaluation.models[0]
        at = {point: self.position(point) for point in by_point}
        return by_point[min(by_point, key=lambda point: (abs(at[point]), -at[point]))][0]

    def leaders(
        self, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, dict[float, tuple[str, ...]]]:
        """The contender with the best score by line and point, whether or not it can be distinguished from others.

        Without any contender, nobody, at every point that has a score.
        """
        name, able = self._adjustment(adjustment), self.evaluation.contenders
        found = {}
        for line, answers in self.answers[name].items():
            scored = [point for point in answers if self.values(line, point, metric, name)]
            ranked = {point: self.ranks(line, point, metric, name) for point in scored}
            found[line] = {
                point: tuple(m for m, rank in r.items() if rank == 1)
                for point, r in ranked.items()
                if r or not able
            }
        return {line: by_point for line, by_point in found.items() if by_point}

    def best(
        self, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, dict[float, tuple[str, ...]]]:
        """The models that cannot be distinguished from the best by line and point; without intervals, the leaders."""
        return {
            line: {point: self.best_at(line, point, metric, adjustment) for point in by_point}
            for line, by_point in self.leaders(metric, adjustment).items()
        }

    def best_at(
        self, line: str, point: float, metric: str | None = None, adjustment: str | None = None
    ) -> tuple[str, ...]:
        """The model with the best score at one point, and those that its interval there does not tell from it.

        The same intervals tell how far a lead goes (:meth:`lead`). Without intervals, the leaders.
        """
        ranked = self.ranks(line, point, metric, adjustment)
        errors = self.errors(line, point, metric, adjustment)
        if errors is None:
            return tuple(model for model, rank in ranked.items() if rank == 1)
        by = self.evaluation.metric(metric)
        kept: tuple[str, ...] = self._once(
            ("best", line, point, by.name, self._adjustment(adjustment)),
            lambda: may_be_best(errors.only(list(ranked)), by.direction, self.confidence_level),
        )
        return tuple(sorted(kept, key=lambda model: ranked[model]))

    def changes(self, metric: str | None = None, adjustment: str | None = None) -> list[Change]:
        """Where the best model changes, line by line; one that merely ties with another stays."""
        return changes(self, metric, self._adjustment(adjustment))

    # --- what the errors say ---------------------------------------------------------------------------

    def errors(
        self, line: str, point: float, metric: str | None = None, adjustment: str | None = None
    ) -> Estimates | None:
        """The scores at one point of the grid with their errors; None where there is none."""
        answer = self.answers[self._adjustment(adjustment)].get(line, {}).get(point)
        return None if answer is None else answer.errors.get(self.evaluation.metric(metric).name)

    def compare(
        self,
        a: str,
        b: str,
        line: str,
        point: float,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> Comparison:
        """The score of a less that of b at one point of the grid; NaN where one of them has none."""
        for model in (a, b):
            check_choice(model, "model", self.evaluation.models)
        check_choice(line, self.line_name, self.lines)
        if point not in self.points:
            grid = ", ".join(f"{each:g}" for each in self.points)
            raise ValueError(
                f"{self.point_name} must be a point of the grid, which has {grid}, but is {point!r}."
            )
        errors = self.errors(line, point, metric, adjustment)
        if errors is not None and {a, b} <= set(errors.names):
            return compare(errors, a, b)
        values = self.values(line, point, metric, adjustment)
        difference = values.get(a, np.nan) - values.get(b, np.nan)
        return Comparison(a, b, difference, np.nan, missing="there is no interval at this point")

    def along(
        self,
        model: str,
        minus: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> dict[str, AxisCurve]:
        """By line a value along the axis of :meth:`position`, each with its own interval."""

        def compute() -> dict[str, AxisCurve]:
            found = {}
            for line, answers in self.answers[self._adjustment(adjustment)].items():
                values, errors = self._on_line(line, model, minus, metric, adjustment)
                positions = np.array([self.position(point) for point in answers])
                found[line] = AxisCurve.normal(positions, values, errors, self.confidence_level)
            return found

        return dict(self._once(self._key("curve", model, minus, metric, adjustment), compute))

    def bands(
        self,
        model: str,
        minus: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> dict[str, Band]:
        """By line limits of a value that hold its whole curve, on all lines at once."""

        def compute() -> dict[str, Band]:
            rows = self._rows_of_errors(model, minus, metric, adjustment)
            quantile = simultaneous_quantile(rows, self.confidence_level)
            found = {}
            for line, curve in self.along(model, minus, metric, adjustment).items():
                reach = np.where(curve.standard_errors == 0, 0.0, quantile * curve.standard_errors)
                found[line] = Band(curve.values - reach, curve.values + reach, quantile)
            return found

        return dict(self._once(self._key("band", model, minus, metric, adjustment), compute))

    def lead(
        self,
        a: str,
        b: str,
        line: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> Lead | None:
        """How far one of two models is better beyond chance, outward from independence; by default on all lines.

        See :func:`cocensor.inference.lead`: a fixed sequence of tests, which needs no correction. None where they
        cannot be distinguished at independence, or the better one is no contender. ``sign`` is that of
        score(a) − score(b).
        """
        found: Lead | None = self._once(
            (line, *self._key("lead", a, b, metric, adjustment)),
            lambda: lead(self.along(a, b, metric, adjustment), line),
        )
        if found is None:
            return None
        better = a if (found.sign < 0) == (self.evaluation.metric(metric).direction == "smaller") else b
        return found.on(self.at_position) if better in self.evaluation.contenders else None

    def tipping_points(
        self,
        a: str,
        b: str,
        line: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> tuple[TippingPoint, ...]:
        """Where the order of two models turns, with intervals, nearest to independence first."""
        points: tuple[TippingPoint, ...] = self._once(
            (line, *self._key("turns", a, b, metric, adjustment)),
            lambda: tipping_points(self.along(a, b, metric, adjustment), line),
        )
        return tuple(point.on(self.at_position) for point in points)

    def uncertainty(
        self,
        low: float,
        high: float,
        model: str,
        minus: str | None = None,
        line: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> Uncertainty:
        """Intervals of a value where the point is held to lie between ``low`` and ``high``, on all lines or one.

        See :func:`cocensor.inference.uncertainty`.
        """
        curves = self.along(model, minus, metric, adjustment)
        check_range(low, high, [self.at_position(at) for curve in curves.values() for at in curve.positions])
        found = uncertainty(curves, self.position(low), self.position(high), line)
        return replace(found, missing=tuple((name, self.at_position(at)) for name, at in found.missing))

    def _on_line(
        self, line: str, model: str, minus: str | None, metric: str | None, adjustment: str | None
    ) -> tuple[FloatArray, FloatArray]:
        """Along the answers of a line a value, and its standard error; NaN for what is not."""
        wanted = [model] if minus is None else [model, minus]
        for name in wanted:
            check_choice(name, "model", self.evaluation.models)
        by = self.evaluation.metric(metric).name
        answers = self.answers[self._adjustment(adjustment)][line]
        found = np.full((2, len(answers)), np.nan)
        for k, each in enumerate(answers.values()):
            found[0, k] = each.value(by, model) - (0.0 if minus is None else each.value(by, minus))
            errors = each.errors.get(by)
            if errors is None or not all(name in errors.names for name in wanted):
                continue
            at = tuple(map(errors.names.index, wanted))
            found[1, k] = (errors.standard_errors if minus is None else errors.apart.standard_errors)[at]
        return found[0], found[1]

    def _rows_of_errors(
        self, model: str, minus: str | None, metric: str | None, adjustment: str | None
    ) -> FloatArray:
        """Rows of the errors of a value at all answers, line by line; NaN for what is not."""
        by = self.evaluation.metric(metric).name
        answers = [
            each for line in self.answers[self._adjustment(adjustment)].values() for each in line.values()
        ]
        most = max((len(each.batches[by]) for each in answers if each.batches), default=1)
        rows = np.full((most, len(answers)), np.nan)
        for k, each in enumerate(answers):
            errors = each.errors.get(by)
            if errors is None or not {model, minus} - {None} <= set(errors.names):
                continue
            own = each.batches[by]
            rows[:, k] = 0.0
            rows[: len(own), k] = own[:, errors.index(model)]
            if minus is not None:
                rows[: len(own), k] -= own[:, errors.index(minus)]
        return rows

    def _key(
        self, kind: str, model: str, minus: str | None, metric: str | None, adjustment: str | None
    ) -> tuple[str | None, ...]:
        return kind, model, minus, self.evaluation.metric(metric).name, self._adjustment(adjustment)

    def _once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What is kept under ``key``."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    def _places(self) -> Iterator[tuple[str, str, float]]:
        for adjustment, by_line in self.answers.items():
            for line, by_point in by_line.items():
                for point in by_point:
                    yield adjustment, line, point

    def _adjustment(self, name: str | None) -> str:
        if name is None:
            return self.primary
        check_choice(name, "adjustment", tuple(self.answers))
        return name
