"""Scores over a grid of families and τ, with their sampling errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cocensor._notes import Note
from cocensor._validation import FloatArray, check_choice, make_frame
from cocensor.evaluation import Evaluation
from cocensor.evaluation.findings import DEFAULT_LEVEL
from cocensor.evaluation.scores import AdjustmentScores
from cocensor.inference import (
    Band,
    Comparison,
    Estimates,
    Lead,
    TauCurve,
    TippingPoint,
    Uncertainty,
    compare,
    lead,
    not_told_from_best,
    simultaneous_quantile,
    tipping_points,
    uncertainty,
)


@dataclass(frozen=True, eq=False, repr=False)
class GridScores:
    """Every score over a grid of families and τ, and what their errors say; see :class:`Sensitivity`.

    A *value* of the grid is the score of a model, or its difference from that of another: score(model) − score(minus).
    """

    evaluation: Evaluation
    families: tuple[str, ...]
    taus: tuple[float, ...]
    answers: dict[str, dict[str, dict[float, AdjustmentScores]]]
    missing: dict[tuple[str, str], Note]
    _kept: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def primary(self) -> str:
        """The primary adjustment of the evaluation, or the first with an answer here, by preference a voting one."""
        order = (self.evaluation.primary, *self.evaluation.voting, *self.answers)
        return next(name for name in order if name in self.answers)

    def values(
        self, family: str, tau: float, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, float]:
        """The scores of the models at one point of the grid; those without one are missing."""
        by = self.evaluation.metric(metric).name
        answer = self.answers[self._adjustment(adjustment)].get(family, {}).get(tau)
        return {} if answer is None else {model: found.value for model, found in answer.values[by].items()}

    def ranks(
        self, family: str, tau: float, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, int]:
        """The ranks of the models at one point of the grid; those without a score are missing."""
        return self.evaluation.metric(metric).ranks(self.values(family, tau, metric, adjustment))

    @property
    def confidence_level(self) -> float:
        """Of all intervals: that of the evaluation."""
        return self.evaluation.confidence_level or DEFAULT_LEVEL

    def table(self) -> Any:
        """One row per metric, adjustment, family, τ and model: score, with its error and interval, and rank."""
        with_errors = self.evaluation.confidence_level is not None

        def errors(found: Estimates | None, model: str) -> tuple[float, ...]:
            if not with_errors:
                return ()
            if found is None:
                return np.nan, np.nan, np.nan
            estimate = found.estimate(model)
            return (estimate.standard_error, *estimate.confidence_interval(self.confidence_level))

        rows = [
            (metric, adjustment, family, tau, model, values[model], *errors(known, model), rank)
            for metric in self.evaluation.metrics
            for adjustment, family, tau in self._points()
            for values in (self.values(family, tau, metric, adjustment),)
            for known in (self.errors(family, tau, metric, adjustment),)
            for model, rank in self.ranks(family, tau, metric, adjustment).items()
        ]
        told = ("standard_error", "low", "high") if with_errors else ()
        columns = ("metric", "adjustment", "family", "tau", "model", "score", *told, "rank")
        lists = map(list, zip(*rows, strict=True)) if rows else ([] for _ in columns)
        return make_frame(dict(zip(columns, lists, strict=True)), template=self.evaluation.template)

    def leaders(
        self, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, dict[float, tuple[str, ...]]]:
        """The model with the best score by family and τ, whether or not it can be told from others."""
        name = self._adjustment(adjustment)
        found = {}
        for family, answers in self.answers[name].items():
            ranked = {tau: self.ranks(family, tau, metric, name) for tau in answers}
            found[family] = {
                tau: tuple(m for m, rank in r.items() if rank == 1) for tau, r in ranked.items() if r
            }
        return {family: by_tau for family, by_tau in found.items() if by_tau}

    def best(
        self, metric: str | None = None, adjustment: str | None = None
    ) -> dict[str, dict[float, tuple[str, ...]]]:
        """The models that cannot be told from the best by family and τ; without intervals, the leaders."""
        return {
            family: {tau: self.best_at(family, tau, metric, adjustment) for tau in by_tau}
            for family, by_tau in self.leaders(metric, adjustment).items()
        }

    def best_at(
        self, family: str, tau: float, metric: str | None = None, adjustment: str | None = None
    ) -> tuple[str, ...]:
        """The models that cannot be told from the best at one point of the grid; without intervals, the leaders."""
        ranked = self.ranks(family, tau, metric, adjustment)
        errors = self.errors(family, tau, metric, adjustment)
        if errors is None:
            return tuple(model for model, rank in ranked.items() if rank == 1)
        by = self.evaluation.metric(metric)
        kept: tuple[str, ...] = self._once(
            ("best", family, tau, by.name, self._adjustment(adjustment)),
            lambda: not_told_from_best(errors, by.direction, self.confidence_level),
        )
        return tuple(sorted(kept, key=lambda model: ranked[model]))

    # --- what the errors say ---------------------------------------------------------------------------

    def errors(
        self, family: str, tau: float, metric: str | None = None, adjustment: str | None = None
    ) -> Estimates | None:
        """The scores at one point of the grid with their errors; None where there is none."""
        answer = self.answers[self._adjustment(adjustment)].get(family, {}).get(tau)
        return None if answer is None else answer.errors.get(self.evaluation.metric(metric).name)

    def compare(
        self,
        a: str,
        b: str,
        family: str,
        tau: float,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> Comparison:
        """The score of a less that of b at one point of the grid; NaN where one of them has none."""
        for model in (a, b):
            check_choice(model, "model", self.evaluation.models)
        check_choice(family, "family", self.families)
        if tau not in self.taus:
            grid = ", ".join(f"{each:g}" for each in self.taus)
            raise ValueError(f"tau must be a point of the grid, which has {grid}, but is {tau!r}.")
        errors = self.errors(family, tau, metric, adjustment)
        if errors is not None and {a, b} <= set(errors.names):
            return compare(errors, a, b)
        values = self.values(family, tau, metric, adjustment)
        difference = values.get(a, np.nan) - values.get(b, np.nan)
        return Comparison(a, b, difference, np.nan, missing="there is no interval at this point")

    def along_tau(
        self,
        model: str,
        minus: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> dict[str, TauCurve]:
        """By family a value along τ, each with its own interval."""

        def compute() -> dict[str, TauCurve]:
            lines = self._lines(model, minus, metric, adjustment)
            return {
                family: TauCurve.normal(taus, values, np.sqrt(variances), self.confidence_level)
                for family, (taus, values, variances, _) in lines.items()
            }

        return dict(self._once(self._key("curve", model, minus, metric, adjustment), compute))

    def bands(
        self,
        model: str,
        minus: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> dict[str, Band]:
        """By family limits of a value along τ that hold its whole curve, under all families at once."""

        def compute() -> dict[str, Band]:
            lines = self._lines(model, minus, metric, adjustment)
            rows = np.concatenate([rows for *_, rows in lines.values()], axis=1)
            quantile = simultaneous_quantile(rows, self.confidence_level)
            found = {}
            for family, (_, values, variances, _) in lines.items():
                reach = np.where(variances == 0, 0.0, quantile * np.sqrt(variances))
                found[family] = Band(values - reach, values + reach, quantile)
            return found

        return dict(self._once(self._key("band", model, minus, metric, adjustment), compute))

    def lead(
        self,
        a: str,
        b: str,
        family: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> Lead | None:
        """For which τ one of two models is better for certain, outward from 0; by default under all families.

        See :func:`cocensor.inference.lead`: a fixed sequence of tests, which needs no correction. None where they
        cannot be told apart at τ = 0. ``sign`` is that of score(a) − score(b).
        """
        return lead(self.along_tau(a, b, metric, adjustment), family)

    def tipping_points(
        self,
        a: str,
        b: str,
        family: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> tuple[TippingPoint, ...]:
        """Where along τ the order of two models turns, with intervals, nearest to 0 first."""
        return tipping_points(self.along_tau(a, b, metric, adjustment), family)

    def uncertainty(
        self,
        low: float,
        high: float,
        model: str,
        minus: str | None = None,
        family: str | None = None,
        metric: str | None = None,
        adjustment: str | None = None,
    ) -> Uncertainty:
        """Intervals of a value where τ is held to lie between ``low`` and ``high``, under all families or one.

        See :func:`cocensor.inference.uncertainty`.
        """
        return uncertainty(self.along_tau(model, minus, metric, adjustment), low, high, family)

    def _lines(
        self, model: str, minus: str | None, metric: str | None, adjustment: str | None
    ) -> dict[str, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """By family the τ that have an answer, and there values, variances and rows of errors; NaN for what is not."""
        for name in (model, minus):
            if name is not None:
                check_choice(name, "model", self.evaluation.models)
        by, how = self.evaluation.metric(metric).name, self._adjustment(adjustment)
        answers = self.answers[how]
        most = max(
            (len(each.batches[by]) for line in answers.values() for each in line.values() if each.batches),
            default=1,
        )
        lines = {}
        for family, line in answers.items():
            values, variances = np.full(len(line), np.nan), np.full(len(line), np.nan)
            rows = np.full((most, len(line)), np.nan)
            for k, each in enumerate(line.values()):
                values[k] = each.value(by, model) - (0.0 if minus is None else each.value(by, minus))
                errors = each.errors.get(by)
                if errors is None or not {model, minus} - {None} <= set(errors.names):
                    continue
                if minus is None:
                    variances[k] = errors.estimate(model).standard_error ** 2
                else:
                    variances[k] = compare(errors, model, minus).standard_error ** 2
                own = each.batches[by]
                rows[:, k] = 0.0
                rows[: len(own), k] = own[:, errors.index(model)]
                if minus is not None:
                    rows[: len(own), k] -= own[:, errors.index(minus)]
            lines[family] = np.array(list(line)), values, variances, rows
        return lines

    def _key(
        self, kind: str, model: str, minus: str | None, metric: str | None, adjustment: str | None
    ) -> tuple[str | None, ...]:
        return kind, model, minus, self.evaluation.metric(metric).name, self._adjustment(adjustment)

    def _once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What is kept under ``key``."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    def _points(self) -> Iterator[tuple[str, str, float]]:
        for adjustment, by_family in self.answers.items():
            for family, by_tau in by_family.items():
                for tau in by_tau:
                    yield adjustment, family, tau

    def _adjustment(self, name: str | None) -> str:
        if name is None:
            return self.primary
        check_choice(name, "adjustment", tuple(self.answers))
        return name
