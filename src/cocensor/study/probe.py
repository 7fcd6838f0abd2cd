"""A cheap look at predictions: a few times, at most some thousand subjects, weights by the censoring alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._cached import cached_property
from cocensor._checks import FloatArray
from cocensor.adjustments import IPCW
from cocensor.adjustments.samples import Samples
from cocensor.data import Predicted, PredictionsAt, RiskScores, Survival, TimeGrid, on_times
from cocensor.estimators import KaplanMeier
from cocensor.inference import Estimate, Estimates
from cocensor.metrics import BrierScore, Concordance, IntegratedBrierScore, Metric
from cocensor.study.data import REFERENCE, EvaluationData, Horizon
from cocensor.study.scores import AdjustmentScores, scores_under

# As many subjects, and as many times, are looked at.
_MOST_SUBJECTS, _MOST_TIMES = 20_000, 20
_NONE, _ALONE = Estimate(np.nan, np.nan), "model"


@dataclass(frozen=True, eq=False)
class Probe:
    """Test subjects, of many every k-th, held against predictions under marginal IPCW.

    Attributes
    ----------
    y : Survival
        The outcomes of all test subjects.
    times : array
        Those of the evaluation.
    folds : array or None
        The fold that the prediction of each subject is from.
    """

    y: Survival
    times: FloatArray
    folds: npt.NDArray[Any] | None = field(default=None, repr=False)

    @cached_property
    def rows(self) -> slice:
        """The subjects that are looked at."""
        return slice(None, None, -(-len(self.y) // _MOST_SUBJECTS))

    @cached_property
    def outcomes(self) -> Survival:
        """Theirs."""
        return self.y[self.rows]

    @cached_property
    def turned(self) -> Survival:
        """Theirs if the flag of the event means the opposite."""
        return Survival(self.outcomes.time, ~self.outcomes.event)

    @cached_property
    def kaplan_meier(self) -> KaplanMeier:
        """The curve of these subjects."""
        return KaplanMeier().fit(self.outcomes)

    @cached_property
    def gain_by_chance(self) -> float:
        r"""The share of its Brier score that a curve gains by being fitted to the subjects that it is held against.

        With another curve as good as the truth, :math:`(\hat S - S)^2`, on average Var Ŝ(t); four times that is gained
        once in twenty samples. Of :math:`\hat S (1 - \hat S)`, both averaged over time.
        """
        times = np.unique(self.times)
        times = times[times <= self.outcomes.t_max]
        curve = np.asarray(self.kaplan_meier.predict(times, tail="last"))
        spread = np.asarray(self.kaplan_meier.variance(times))
        known = np.isfinite(spread)
        size = float(np.sum(curve[known] * (1.0 - curve[known])))
        return 4.0 * float(np.sum(spread[known])) / size if size > 0 else 0.0

    def grid(self, predictions: Predicted) -> FloatArray:
        """A few of the times of the evaluation, the last among them; of a prediction at one time that time."""
        if isinstance(predictions, PredictionsAt):
            return predictions.times
        known = np.unique(self.times[self.times > 0])
        some = np.linspace(0, known.size - 1, min(known.size, _MOST_TIMES)).round().astype(int)
        return known[some] if known.size else np.unique(self.times)

    def read(self, predictions: Predicted, times: FloatArray) -> FloatArray:
        """The survival probabilities of these subjects."""
        return predictions.read(times, self.rows)

    def skills(
        self, curves: Mapping[str, FloatArray], times: FloatArray, y: Survival | None = None
    ) -> dict[str, Estimate]:
        """Of the integrated Brier score against the Kaplan–Meier curve of the same subjects; NaN where unknown."""
        made = {name: on_times(times, values, "linear") for name, values in curves.items()}
        by = BrierScore().at_time(float(times[0])) if times.size == 1 else IntegratedBrierScore()
        found = self._scored(made, times, by, y)
        if found is None or REFERENCE not in found.names:
            return dict.fromkeys(curves, _NONE)
        named = [name for name in curves if name in found.names]
        skills = found.skills(named, REFERENCE, 0.0)
        return {name: skills.estimate(name) if name in named else _NONE for name in curves}

    def risk(self, predictions: Predicted) -> FloatArray:
        """What orders these subjects, the greater the riskier; within folds, as risks of two folds may differ."""
        times = self.grid(predictions)
        if isinstance(predictions, RiskScores):
            risk = predictions.risk[self.rows]
        else:
            # Equal curves must tie: a product of matrices adds up rows in different ways.
            widths = np.diff(times, prepend=0.0)
            risk = -np.multiply(self.read(predictions, times), widths, order="C").sum(axis=1)
        if self.folds is not None:
            _, fold = np.unique(self.folds[self.rows], return_inverse=True)
            risk = risk - (np.bincount(fold, risk) / np.bincount(fold))[fold]
            risk = risk.round(12)  # what is alike within folds must tie
        return risk

    def concordances(self, risks: Mapping[str, FloatArray]) -> dict[str, float]:
        """Of risks with who has the event first; ½ where all are the same, and NaN where no two can be compared."""
        models = {name: RiskScores(risk) for name, risk in risks.items()}
        found = self._scores(models, self._times_of_events, Concordance(), None)
        return {name: found.value(Concordance.name, name) for name in risks}

    def concordance(self, risk: FloatArray) -> Estimate:
        """The same of one risk, with its error."""
        found = self._scored({_ALONE: RiskScores(risk)}, self._times_of_events, Concordance())
        return _NONE if found is None or _ALONE not in found.names else found.estimate(_ALONE)

    @cached_property
    def _times_of_events(self) -> FloatArray:
        """Times of events, as far as the evaluation goes: between two of them nobody is first."""
        y, end = self.outcomes, float(self.times.max())
        seen = np.unique(y.time[y.event & (y.time <= end)])
        some = np.linspace(0, seen.size - 1, min(seen.size, _MOST_TIMES)).round().astype(int)
        return np.unique(np.append(seen[some] if seen.size else seen, end))

    def _scored(
        self,
        predictions: Mapping[str, Predicted],
        times: FloatArray,
        metric: Metric,
        y: Survival | None = None,
    ) -> Estimates | None:
        """Values with their errors, the reference among them; None where there are none."""
        return self._scores(predictions, times, metric, 0.95, y).errors.get(metric.name)

    def _scores(
        self,
        predictions: Mapping[str, Predicted],
        times: FloatArray,
        metric: Metric,
        level: float | None,
        y: Survival | None = None,
    ) -> AdjustmentScores:
        samples, names, grid = (
            Samples.of(self.outcomes if y is None else y),
            tuple(predictions),
            TimeGrid.of(times),
        )
        until = Horizon(grid.last, "times", "the times of the evaluation")
        data = EvaluationData(predictions, samples, grid, (metric,), names, until, level)
        return scores_under(data, "probe", "IPCW", IPCW())
