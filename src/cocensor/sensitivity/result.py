"""What a sensitivity analysis found."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any

import numpy as np

from cocensor._cached import cached_property
from cocensor._validation import check_choice, escaped
from cocensor.sensitivity.after_dropout import AfterDropout
from cocensor.sensitivity.benchmark_result import PlausibleTau
from cocensor.sensitivity.changes import Stretch, stretches
from cocensor.sensitivity.grid_scores import GridScores
from cocensor.sensitivity.numbers import sensitivity_numbers
from cocensor.sensitivity.plausible import PlausibleRange, WithinPlausible
from cocensor.sensitivity.tips import Tip, tips


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(GridScores):
    """Every score over a grid of families and τ; made by :meth:`Evaluation.sensitivity`.

    Attributes
    ----------
    evaluation : Evaluation
    lines, points : tuple
        The families and the τ of the grid, also called ``families`` and ``taus``.
    answers : dict of AdjustmentScores
        By adjustment, family and τ.
    missing : dict of Note
        By adjustment and family, why there is no answer, or none at some τ.
    plausible : PlausibleRange
        The τ that are held plausible: as asked for, or by the measured covariates.
    benchmarks : PlausibleTau or None
        Measured covariates as benchmarks of τ; None where there is none that tells.
    after_dropout : AfterDropout or None
        The same over the hazard ratio after dropout; None where that was not asked for or no adjustment takes it.

    Notes
    -----
    All methods name things alike: ``line`` is a family and ``point`` a τ of the grid; ``metric`` and ``adjustment`` are
    those of the evaluation, by default its first and its primary one; ``model``, ``a`` and ``b`` are models, and
    ``minus`` is one whose values are taken off.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=600, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
    >>> train, test = data[:300], data[300:]
    >>> models = {f"{k}": cc.CoxPH().fit(train.X[:, :k], train.y).predict_survival_function(test.X[:, :k])
    ...           for k in (1, 3)}
    >>> result = cc.evaluate(models, test.y, y_train=train.y, adjustments="cg_q", copula=cc.Clayton(2.0), metrics="ibs")
    >>> over_tau = result.sensitivity("clayton", [0.0, 0.4, 0.8])
    >>> over_tau.leaders()
    {'clayton': {0.0: ('1',), 0.4: ('1',), 0.8: ('1',)}}
    >>> {tau: round(over_tau.values("clayton", tau)["1"], 3) for tau in over_tau.taus}
    {0.0: 0.113, 0.4: 0.11, 0.8: 0.114}
    """

    line_name = "family"
    lines_name = "families"
    point_name = "tau"

    plausible: PlausibleRange
    benchmarks: PlausibleTau | None
    after_dropout: AfterDropout | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """The families of copulas."""
        return self.lines

    @property
    def taus(self) -> tuple[float, ...]:
        """Kendall's τ of the grid."""
        return self.points

    def hazard_ratio(self, family: str, tau: float, adjustment: str | None = None) -> float:
        """The mean hazard ratio right after leaving that a copula stands for: τ on the clinic's scale.

        The geometric mean over the dropouts whose status is imputed, against those alike who are still under
        observation; 1 at τ = 0. Between two τ of the grid its logarithm is taken to move along a line. NaN where it is
        not known.
        """
        check_choice(family, "family", self.lines)
        line = self.answers[self._adjustment(adjustment)].get(family, {})
        ratios = {0.0: 1.0} | {at: each.hazard_ratio or np.nan for at, each in line.items() if at != 0}
        taus = sorted(ratios)
        logs = np.log([ratios[at] for at in taus])
        return float(np.exp(np.interp(tau, taus, logs, left=np.nan, right=np.nan)))

    def within_plausible(
        self, a: str, b: str, metric: str | None = None, adjustment: str | None = None
    ) -> WithinPlausible:
        """Whether one of two models is better beyond chance over the plausible range; see :class:`WithinPlausible`.

        A range that the grid does not reach at all is refused.
        """
        name, by = self._adjustment(adjustment), self.evaluation.metric(metric)
        reached = [tau for line in self.answers[name].values() for tau in line]
        low, high = max(self.plausible.low, min(reached)), min(self.plausible.high, max(reached))
        if low > high:
            raise ValueError(
                f"taus must reach the plausible range, from {self.plausible.low:g} to {self.plausible.high:g}, but run "
                f"from {min(reached):g} to {max(reached):g}."
            )
        found = self.uncertainty(low, high, a, b, None, by.name, name)
        winner = None
        if not found.missing and (found.strong.low > 0 or found.strong.high < 0):
            winner = a if (found.strong.high < 0) == (by.direction == "smaller") else b
        if winner not in self.evaluation.contenders:
            winner = None
        whole = (low, high) == (self.plausible.low, self.plausible.high)
        return WithinPlausible(low, high, whole, winner, found)

    def multiple(self, tau: float) -> float:
        """How many times as strong as the strongest measured covariate a factor must be to induce τ.

        See :meth:`PlausibleTau.multiple_for`; NaN where no covariate tells.
        """
        if np.isnan(tau) or self.benchmarks is None:
            return float("nan")
        return self.benchmarks.multiple_for(tau)

    def tips(
        self, a: str, b: str, metric: str | None = None, adjustment: str | None = None
    ) -> tuple[Tip, ...]:
        """Where the order of two models turns or becomes uncertain, on every scale; see :class:`Tip`.

        Under copulas, then by hazard ratio after dropout; each nearest to independence first.
        """
        return tips(self, a, b, metric, self._adjustment(adjustment))

    def tips_table(self) -> Any:
        """One row per metric, adjustment, pair of models and tipping point; see :class:`Tip`."""
        names = [each.name for each in fields(Tip)]
        rows = [
            (metric, adjustment, a, b, *(getattr(tip, name) for name in names))
            for metric in self.evaluation.metrics
            for adjustment in self.answers
            for a, b in combinations(self.evaluation.models, 2)
            for tip in self.tips(a, b, metric, adjustment)
        ]
        return self._frame(rows, ("metric", "adjustment", "a", "b", *names))

    def place(self, adjustment: str, line: str, point: float) -> tuple[str, str | None, float, float]:
        """Where a point is in tables."""
        return line, None, point, self.hazard_ratio(line, point, adjustment)

    def table(self) -> Any:
        """One row per metric, adjustment, family, τ or hazard ratio, and model: score, error, interval, and rank.

        The family of hazard ratios after dropout is "hazard_ratio": there ``tau`` is NaN, and ``reason`` the reason or
        group whose ratio moves alone. Under copulas ``hazard_ratio`` is that of :meth:`hazard_ratio`.
        """
        after = [] if self.after_dropout is None else self.after_dropout._rows()
        order = {name: k for k, name in enumerate(self.evaluation.metrics)}
        rows = sorted([*self._rows(), *after], key=lambda row: order[row[0]])
        return self._frame(rows, self._columns)

    def stretches(self, metric: str | None = None, adjustment: str | None = None) -> list[Stretch]:
        """By family, from which to which τ each model is best."""
        return stretches(self, metric, self._adjustment(adjustment))

    @cached_property
    def statement(self) -> str:
        """The answer in words, by the primary adjustment and the first metric of the evaluation."""
        from cocensor.words import sensitivity_in_words

        return sensitivity_in_words(self)

    def to_dict(self) -> dict[str, Any]:
        """The grid as JSON can hold it: scores with errors, differences, and what they say of every two models."""
        return sensitivity_numbers(self)

    def plot(self, ax: Any = None) -> Any:
        """Scores along τ and hazard ratios; returns the axes (see :class:`~cocensor.plots.SensitivityDisplay`)."""
        from cocensor.plots import SensitivityDisplay

        return SensitivityDisplay.from_sensitivity(self).plot(ax=ax)

    def plot_differences(self, reference: str | None = None, ax: Any = None) -> Any:
        """Scores less that of one model; returns the axes (see :class:`~cocensor.plots.DifferenceDisplay`)."""
        from cocensor.plots import DifferenceDisplay

        return DifferenceDisplay.from_sensitivity(self, reference).plot(ax=ax)

    def __repr__(self) -> str:
        from cocensor.words import sensitivity_as_text

        return escaped(sensitivity_as_text(self))
