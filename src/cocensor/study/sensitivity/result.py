"""The result of a sensitivity analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import escaped
from cocensor._views import view
from cocensor.study.evaluation import Evaluation
from cocensor.study.ranking import rankable
from cocensor.study.sensitivity.benchmarks import CovariateBenchmarks, PlausibleRange
from cocensor.study.sensitivity.grid import Grid
from cocensor.study.verdict import Verdict, verdict_of

Kind = Literal["estimate", "interval"]


@dataclass(frozen=True)
class TippingPoint:
    """The point where a statement about two models stops to hold, outward from independence along one line."""

    #: The scores change order; or the interval of their difference, which excludes 0 from independence up to there,
    #: holds it from there on.
    kind: Kind
    #: The family of copulas, or "hazard_ratio".
    family: str
    #: The reason or group whose hazard ratio moves alone.
    reason: str | None
    #: Kendall's τ; NaN for hazard ratios.
    tau: float
    #: After dropout; under a copula that of :meth:`Grid.hazard_ratio`, NaN where that is not known.
    hazard_ratio: float
    #: By how much the log hazard ratios of the strongest measured covariate must be multiplied to induce this τ
    #: (:meth:`CovariateBenchmarks.multiple_for`); NaN for hazard ratios and without covariates, infinite where none
    #: does.
    multiple: float
    #: The model with the better score further out; None of an interval, where none is distinguishable.
    winner_beyond: str | None


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """Every score over families of copulas and τ, and over the hazard ratio after dropout.

    Made by :meth:`Evaluation.sensitivity`.

    Attributes
    ----------
    evaluation : Evaluation
    over_tau : Grid
        Scores along Kendall's τ, a line for each family of copulas.
    over_ratio : Grid or None
        Scores along the hazard ratio after dropout, of all and by reason or group; None where that was not asked for or
        no adjustment takes it.
    plausible : PlausibleRange
        The τ that are held plausible: as asked for, or by the measured covariates.
    benchmarks : CovariateBenchmarks or None
        Measured covariates as benchmarks of τ; None where there is none that tells.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> models = {f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
    ...           for k in (1, 3)}
    >>> result = cc.evaluate(models, test.y, y_train=train.y, adjustments="cg_q", copula=cc.Clayton(2.0), metrics="ibs")
    >>> over = result.sensitivity("clayton", [0.0, 0.4, 0.8])
    >>> {tau: round(over.over_tau.values("clayton", tau)["1"], 3) for tau in over.over_tau.points}
    {0.0: 0.113, 0.4: 0.11, 0.8: 0.114}
    """

    evaluation: Evaluation
    over_tau: Grid
    over_ratio: Grid | None
    plausible: PlausibleRange
    benchmarks: CovariateBenchmarks | None

    @cached_property
    def verdict(self) -> Verdict:
        """Who leads by the first metric under the primary adjustment, and how far that holds."""
        return verdict_of(self.evaluation, self)

    def table(self) -> Any:
        """One row per metric, adjustment, family, τ or hazard ratio, and model: score, error, interval, and rank.

        The family of hazard ratios after dropout is "hazard_ratio": there ``tau`` is NaN, and ``reason`` the reason or
        group whose ratio moves alone. Under copulas ``hazard_ratio`` is that of
        :meth:`Grid.hazard_ratio`.
        """
        data = self.evaluation.data
        order = {name: k for k, name in enumerate(self.evaluation.metrics)}
        rows = sorted((row for grid in self.grids for row in grid.rows()), key=lambda row: order[row[0]])
        errors = () if data.confidence_level is None else ("standard_error", "low", "high")
        where = ("family", "reason", "tau", "hazard_ratio")
        return data.frame(("metric", "adjustment", *where, "model", "score", *errors, "rank"), rows)

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grid over τ, and that over hazard ratios where there is one."""
        return (self.over_tau,) if self.over_ratio is None else (self.over_tau, self.over_ratio)

    def tipping_points(
        self, a: str, b: str, metric: str | None = None, adjustment: str | None = None
    ) -> tuple[TippingPoint, ...]:
        """Where the order of two models turns or becomes uncertain, on every scale; see :class:`TippingPoint`.

        Under copulas, then by hazard ratio after dropout; each nearest to independence first. There is none where one
        of the models may not be ranked.
        """
        name, points = self.over_tau.adjustment(adjustment), list[TippingPoint]()
        if not {a, b} <= set(rankable(self.evaluation)):
            return ()
        for grid in self.grids:
            if name in grid.answers:
                turns = _turns(grid, a, b, metric, name)
                for kind, line, at, winner in sorted(turns, key=lambda turn: abs(grid.position(turn[2]))):
                    place = grid.place(name, line, at)
                    points.append(TippingPoint(kind, *place, multiple(self.benchmarks, place[2]), winner))
        return tuple(points)

    def tipping_table(self) -> Any:
        """One row per metric, adjustment, pair of models and tipping point; see :class:`TippingPoint`."""
        names = [field.name for field in fields(TippingPoint)]
        rows = [
            (metric, adjustment, a, b, *vars(tip).values())
            for metric in self.evaluation.metrics
            for adjustment in self.over_tau.answers
            for a, b in combinations(self.evaluation.models, 2)
            for tip in self.tipping_points(a, b, metric, adjustment)
        ]
        return self.evaluation.data.frame(("metric", "adjustment", "a", "b", *names), rows)

    @property
    def statement(self) -> str:
        """The answer in words, by the primary adjustment and the first metric of the evaluation."""
        return str(view("text.sensitivity.sensitivity_in_words")(self))

    def plot(self, ax: Any = None, *, line: str | Sequence[str] | None = None) -> Any:
        """Scores along τ and hazard ratios; returns the axes (a :class:`~cocensor.views.plots.CurveDisplay`).

        With ``line``, along the hazard ratio after dropout of "all", or of reasons or groups, a panel each.
        """
        return view("plots.CurveDisplay").from_sensitivity(self, line=line).plot(ax=ax)

    def plot_differences(
        self, reference: str | None = None, ax: Any = None, *, line: str | Sequence[str] | None = None
    ) -> Any:
        """Scores minus that of one model; returns the axes (a :class:`~cocensor.views.plots.CurveDisplay`).

        ``line`` is that of :meth:`plot`.
        """
        return view("plots.CurveDisplay").from_differences(self, reference, line=line).plot(ax=ax)

    def __repr__(self) -> str:
        return escaped(view("text.sensitivity.sensitivity_as_text")(self))


def multiple(benchmarks: CovariateBenchmarks | None, tau: float) -> float:
    """Return how many times as strong as the strongest measured covariate a factor must be to induce τ, or NaN."""
    return float("nan") if np.isnan(tau) or benchmarks is None else benchmarks.multiple_for(tau)


def _turns(
    grid: Grid, a: str, b: str, metric: str | None, adjustment: str
) -> Iterator[tuple[Kind, str, float, str | None]]:
    """By kind and line, the points of a grid, and the model with the better score beyond."""
    pair = grid.pair(a, b, metric, adjustment)
    for point in pair.tipping_points():
        outward = point.sign_above if grid.position(point.at) >= 0 else -point.sign_above
        yield "estimate", point.line, point.at, pair.better(outward)
    for line in grid.answers[adjustment]:
        led = pair.lead(line)
        if led is not None:
            for lost, side in ((led.lost_below, -1.0), (led.lost_above, 1.0)):
                # Without independence in the grid, a lead may be lost on the way to it, which is no way outward.
                if lost is not None and side * grid.position(lost) >= 0:
                    yield "interval", line, lost, None
