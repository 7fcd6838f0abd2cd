"""Scores over a grid of assumed dependences, with their sampling errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, zip_longest
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from cocensor._checks import check_choice
from cocensor._notes import Note
from cocensor.inference import along_axis
from cocensor.inference.along_axis import AxisCurve, Lead, SignChange, Uncertainty
from cocensor.inference.bands import Band, simultaneous_quantile
from cocensor.inference.comparisons import Comparison, compare
from cocensor.inference.estimates import Estimate, Estimates
from cocensor.study.evaluation import Evaluation
from cocensor.study.lookup import adjustment_named, metric_of
from cocensor.study.plan import HAZARD_RATIO
from cocensor.study.ranking import Standing, counted, margin_of, rankable
from cocensor.study.scores import AdjustmentScores

#: The line on which the hazard ratio of everybody moves.
ALL = "all"
#: By adjustment, line and point.
Answers = dict[str, dict[str, dict[float, AdjustmentScores]]]
ModelsByPoint = dict[str, dict[float, tuple[str, ...]]]


@dataclass(frozen=True, eq=False)
class Pair:
    """The difference of two models, score(a) − score(b), along a grid."""

    grid: Grid
    a: str
    b: str
    #: Whether the lower score is the better one.
    lower_is_better: bool
    #: The difference by line.
    curves: dict[str, AxisCurve]

    def lead(self, line: str | None = None) -> Lead | None:
        """How far one of the two is better beyond chance, outward from independence; by default on all lines.

        By :func:`cocensor.inference.lead`; ``sign`` is that of score(a) − score(b). None where they cannot be
        distinguished at independence, or the better one may not be called best.
        """
        positions = along_axis.lead(self.curves, line)
        if positions is None or self.better(positions.sign) not in rankable(self.grid.evaluation):
            return None
        return positions.on(self.grid.at_position)

    def better(self, sign: float) -> str:
        """The better model where the difference has this sign."""
        return self.a if (sign < 0) == self.lower_is_better else self.b

    def tipping_points(self, line: str | None = None) -> tuple[SignChange, ...]:
        """Where the order of the two turns, with intervals, nearest to independence first."""
        points = along_axis.tipping_points(self.curves, line)
        return tuple(point.on(self.grid.at_position) for point in points)


@dataclass(frozen=True, eq=False, repr=False)
class Grid:
    r"""Every score over lines of points, with its errors.

    Along Kendall's τ lines are families of copulas. Along the hazard ratio ρ after dropout they say whose ratio moves,
    that of "all" or of one reason or group while the others stay at 1: up to a dropout at c, event and dropout are
    independent given z; from then on the hazard is ρ times that of those alike in z who are still under observation,
    :math:`q(t) = [S_E(t \mid z)/S_E(c \mid z)]^\rho`, with margins that are fitted once, at independence, which is
    ρ = 1. Between two ratios values are taken to move along lines in log ρ, which is what :meth:`position` gives.

    A *value* of the grid is the score of a model, or its difference from that of another: score(model) − score(minus).
    ``metric`` and ``adjustment`` are those of the evaluation, by default its first and its primary one.
    """

    evaluation: Evaluation
    axis: Literal["tau", "hazard_ratio"]
    lines: tuple[str, ...]
    points: tuple[float, ...]
    answers: Answers
    #: By adjustment and line, why there is no answer, or none at some point.
    missing: dict[tuple[str, str], Note]

    @property
    def is_of_ratios(self) -> bool:
        """Whether it runs along hazard ratios after dropout."""
        return self.axis == "hazard_ratio"

    def position(self, point: float) -> float:
        """Position of a point on the axis along which values are taken to move on lines; 0 is independence."""
        return math.log(point) if self.is_of_ratios else point

    def at_position(self, position: float) -> float:
        """The point that lies there; a ratio of the grid comes back as it was."""
        return float(f"{math.exp(position):.12g}") if self.is_of_ratios else position

    def nearest(self, points: Iterable[float]) -> float:
        """The point nearest to independence, the higher one of two."""
        position = self.position
        return min(points, key=lambda point: (abs(position(point)), -position(point)))

    @property
    def primary(self) -> str:
        """The primary adjustment of the evaluation, or the first with an answer here, by preference a voting one."""
        order = (self.evaluation.primary, *counted(self.evaluation), *self.answers)
        return next(name for name in order if name in self.answers)

    def values(
        self, line: str, point: float, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, float]:
        """The scores of the models at one point; those without one are missing."""
        by, answer = metric_of(self.evaluation, metric).name, self._lines(adjustment).get(line, {}).get(point)
        return {} if answer is None else {model: value.value for model, value in answer.values[by].items()}

    def errors(
        self, line: str, point: float, metric: str | None = None, adjustment: str | None = None
    ) -> Estimates | None:
        """The scores at one point with their errors; None where there is none."""
        answer = self._lines(adjustment).get(line, {}).get(point)
        return None if answer is None else answer.errors.get(metric_of(self.evaluation, metric).name)

    def standing(
        self, line: str, point: float, metric: str | None = None, adjustment: str | None = None
    ) -> Standing:
        """The standing of the models at one point: their ranks, and who cannot be distinguished from the best."""
        by, values = metric_of(self.evaluation, metric), self.values(line, point, metric, adjustment)
        scores = {model: values[model] for model in rankable(self.evaluation) if model in values}
        errors, level = self.errors(line, point, metric, adjustment), self.evaluation.data.confidence_level
        errors_here = () if errors is None else (errors,)
        margin = margin_of(self.evaluation, by)
        return Standing(by, self.adjustment(adjustment), scores, errors_here, level, margin)

    def compare(
        self,
        a: str,
        b: str,
        line: str,
        point: float,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> Comparison:
        """The score of a minus that of b at one point of the grid; NaN where one of them has none."""
        for model in (a, b):
            check_choice(model, "model", self.evaluation.models)
        line_name, name = ("line", "ratio") if self.is_of_ratios else ("family", "tau")
        check_choice(line, line_name, self.lines)
        if point not in self.points:
            grid = ", ".join(f"{at:g}" for at in self.points)
            raise ValueError(f"{name} must be a point of the grid, which has {grid}, but is {point!r}.")
        errors = self.errors(line, point, metric, adjustment)
        if errors is not None and {a, b} <= set(errors.names):
            return compare(errors, a, b)
        values = self.values(line, point, metric, adjustment)
        difference = values.get(a, np.nan) - values.get(b, np.nan)
        return Comparison(a, b, difference, np.nan, missing="there is no interval at this point")

    def hazard_ratio(self, line: str, point: float, adjustment: str | None = None) -> float:
        """The mean hazard ratio right after leaving that a point stands for: τ on the clinic's scale.

        Under a copula, the geometric mean over the dropouts whose status is imputed, against those alike who are still
        under observation; 1 at τ = 0. Between two τ of the grid its logarithm is taken to move along a line. NaN where
        it is not known.
        """
        if self.is_of_ratios:
            return point
        check_choice(line, "family", self.lines)
        along = self._lines(adjustment).get(line, {}).items()
        ratios = {at: answer.hazard_ratio or np.nan for at, answer in along} | {0.0: 1.0}
        taus, values = zip(*sorted(ratios.items()), strict=True)
        return float(np.exp(np.interp(point, taus, np.log(values), left=np.nan, right=np.nan)))

    def leaders(self, metric: str | None = None, adjustment: str | None = None) -> ModelsByPoint:
        """The models with the best score by line and point; nobody where no model may be ranked."""
        return self._of_standings(attrgetter("leaders"), metric, adjustment)

    def best(self, metric: str | None = None, adjustment: str | None = None) -> ModelsByPoint:
        """The models that cannot be distinguished from the best by line and point."""
        return self._of_standings(attrgetter("best"), metric, adjustment)

    def _of_standings(
        self, models: Callable[[Standing], tuple[str, ...]], metric: str | None, adjustment: str | None
    ) -> ModelsByPoint:
        """Return models of each standing where a model that may be ranked has a score, or any if none may be."""
        able, chosen = rankable(self.evaluation), ModelsByPoint()
        for line, answers in self._lines(adjustment).items():
            for point in answers:
                place = self.standing(line, point, metric, adjustment)
                if place.scores or (not able and self.values(line, point, metric, adjustment)):
                    chosen.setdefault(line, {})[point] = models(place)
        return chosen

    def reference(self, metric: str | None = None, adjustment: str | None = None) -> str:
        """The model with the best score nearest to independence, or the first where none may be ranked."""
        if not rankable(self.evaluation):
            return self.evaluation.models[0]
        by_point = next(iter(self.leaders(metric, adjustment).values()))
        return by_point[self.nearest(by_point)][0]

    def changes(self, metric: str | None = None, adjustment: str | None = None) -> list[Change]:
        """Where the best model changes, line by line; one that merely ties with another stays."""
        runs = pairwise(self._runs(metric, adjustment))
        return [
            Change(one.adjustment, one.family, below[-1], above[0], one.high, one.model, other.model)
            for (one, below), (other, above) in runs
            if one.family == other.family
        ]

    def stretches(self, metric: str | None = None, adjustment: str | None = None) -> list[Stretch]:
        """By line, from which to which point each model has the best score."""
        return [stretch for stretch, _ in self._runs(metric, adjustment)]

    def _runs(self, metric: str | None, adjustment: str | None) -> list[tuple[Stretch, list[float]]]:
        """Return the stretches line by line, each with its points of the grid."""
        name, runs = self.adjustment(adjustment), list[tuple[Stretch, list[float]]]()
        # Where no model may be ranked, none leads.
        leaders = self.leaders(metric, adjustment) if rankable(self.evaluation) else {}
        for line, best in leaders.items():
            held = groupby(sorted(best), self._holders(best).__getitem__)
            parts = [(model, list(points)) for model, points in held]
            low = min(best)
            for (model, points), following in zip_longest(parts, parts[1:]):
                high = max(best)
                if following is not None:
                    after, (beyond, *_) = following
                    # Where the two scores cross; in the middle, if one of them has no score at one end.
                    scores = [self.values(line, point, metric, adjustment) for point in (points[-1], beyond)]
                    first, last = (values.get(after, np.nan) - values.get(model, np.nan) for values in scores)
                    cross = np.isfinite([first, last]).all() and first != last
                    share = first / (first - last) if cross else 0.5
                    below, above = self.position(points[-1]), self.position(beyond)
                    high = self.at_position(float(below + share * (above - below)))
                ties = (other for other in best[points[0]] if other != model)
                equals = tuple(other for other in ties if all(other in best[point] for point in points))
                runs.append((Stretch(name, line, model, low, high, equals), points))
                low = high
        return runs

    def _holders(self, best: dict[float, tuple[str, ...]]) -> dict[float, str]:
        """By point the best model, which changes no more often than it must, from independence outward."""
        points = sorted(best)
        start = min(range(len(points)), key=lambda k: abs(self.position(points[k])))
        # Among equals at the start, the one that stays longest.
        lasting = {model: sum(model in models for models in best.values()) for model in best[points[start]]}
        holders = {points[start]: max(lasting, key=lasting.__getitem__)}
        for outward in (points[start:], points[start::-1]):
            for before, point in pairwise(outward):
                stays = holders[before] in best[point]
                holders[point] = holders[before] if stays else best[point][0]
        return holders

    def rows(self, metric: str) -> Iterator[tuple[Any, ...]]:
        """Rows of a table: adjustment, family, reason, τ, hazard ratio, model, score, error, interval, rank."""
        level = self.evaluation.data.confidence_level
        for adjustment, line in ((name, line) for name, by_line in self.answers.items() for line in by_line):
            for point in self.answers[adjustment][line]:
                place = self.place(adjustment, line, point)
                errors = self.errors(line, point, metric, adjustment)
                ranks = self.standing(line, point, metric, adjustment).ranks
                for model, value in self.values(line, point, metric, adjustment).items():
                    limits: tuple[float, ...] = ()
                    if level is not None:
                        estimate = Estimate(value, np.nan) if errors is None else errors.estimate(model)
                        limits = estimate.standard_error, *estimate.confidence_interval(level)
                    yield adjustment, *place, model, value, *limits, ranks.get(model)

    def place(self, adjustment: str, line: str, point: float) -> tuple[str, str | None, float, float]:
        """Return what tables say of a point: its family, reason, τ and hazard ratio after dropout."""
        if self.is_of_ratios:
            return HAZARD_RATIO, None if line == ALL else line, np.nan, point
        return line, None, point, self.hazard_ratio(line, point, adjustment)

    def along(
        self, model: str, minus: str | None = None, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, AxisCurve]:
        """By line a value along the axis of :meth:`position`, each with its own interval."""
        models = [model] if minus is None else [model, minus]
        for name in models:
            check_choice(name, "model", self.evaluation.models)
        by, curves = metric_of(self.evaluation, metric).name, {}
        margin = 0.0 if minus is None else margin_of(self.evaluation, metric_of(self.evaluation, metric))
        for line, answers in self._lines(adjustment).items():
            values, standard_errors = np.full((2, len(answers)), np.nan)
            for k, answer in enumerate(answers.values()):
                values[k] = answer.value(by, model) - (0.0 if minus is None else answer.value(by, minus))
                errors = answer.errors.get(by)
                if errors is not None and set(models) <= set(errors.names):
                    spread = errors.standard_errors if minus is None else errors.apart.standard_errors
                    standard_errors[k] = spread[tuple(map(errors.names.index, models))]
            positions = np.array([self.position(point) for point in answers])
            level = self.evaluation.data.level
            curves[line] = AxisCurve(positions, values, standard_errors, level, margin)
        return curves

    def bands(
        self, model: str, minus: str | None = None, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, Band]:
        """By line limits of a value that hold its whole curve, on all lines at once."""
        by = metric_of(self.evaluation, metric).name
        answers = [answer for line in self._lines(adjustment).values() for answer in line.values()]
        n_rows = max((len(answer.batches[by]) for answer in answers if answer.batches), default=1)
        rows = np.full((n_rows, len(answers)), np.nan)  # of the errors; NaN where there are none
        for k, answer in enumerate(answers):
            errors = answer.errors.get(by)
            if errors is not None and {model, minus} - {None} <= set(errors.names):
                own = answer.batches[by]
                rows[:, k] = 0.0
                rows[: len(own), k] = own[:, errors.index(model)]
                if minus is not None:
                    rows[: len(own), k] -= own[:, errors.index(minus)]
        quantile = simultaneous_quantile(rows, self.evaluation.data.level)
        bands = {}
        for line, curve in self.along(model, minus, metric, adjustment).items():
            reach = np.where(curve.standard_errors == 0, 0.0, quantile * curve.standard_errors)
            bands[line] = Band(curve.values - reach, curve.values + reach, quantile)
        return bands

    def pair(self, a: str, b: str, metric: str | None = None, adjustment: str | None = None) -> Pair:
        """Two models along the grid: how far one leads, and where their order turns."""
        by = metric_of(self.evaluation, metric)
        return Pair(self, a, b, by.direction == "lower", self.along(a, b, by.name, adjustment))

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
        """The :func:`cocensor.inference.uncertainty` of a value whose point lies between ``low`` and ``high``."""
        curves = self.along(model, minus, metric, adjustment)
        points = [self.at_position(at) for curve in curves.values() for at in curve.positions]
        along_axis.check_range(low, high, points)
        spread = along_axis.uncertainty(curves, self.position(low), self.position(high), line)
        return replace(spread, missing=tuple((name, self.at_position(at)) for name, at in spread.missing))

    def _lines(self, adjustment: str | None) -> dict[str, dict[float, AdjustmentScores]]:
        return self.answers[self.adjustment(adjustment)]

    def adjustment(self, name: str | None) -> str:
        """The name of an adjustment that has an answer here, by name or label; by default the primary one."""
        if name is None:
            return self.primary
        results = self.evaluation.results
        return adjustment_named({key: results[key] for key in self.answers}, name)


@dataclass(frozen=True)
class Change:
    """A change of the best model under one adjustment on one line, ``family``, between two neighbours of the grid.

    ``at`` is where the two scores cross if they move along lines in between.
    """

    adjustment: str
    family: str
    below: float
    above: float
    at: float
    before: str
    after: str


@dataclass(frozen=True)
class Stretch:
    """From ``low`` to ``high``, ``model`` has the best score under one adjustment and family.

    ``equals`` are models that are just as good all along. Stretches of a family follow each other in the order of τ.
    """

    adjustment: str
    family: str
    model: str
    low: float
    high: float
    equals: tuple[str, ...] = ()
