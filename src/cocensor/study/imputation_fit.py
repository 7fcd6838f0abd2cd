"""Whether the imputation model is right about what was observed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import BoolArray, FloatArray, IntArray, escaped, frame_of_rows
from cocensor._json import finite
from cocensor._late import special
from cocensor._numerics import pool_starts
from cocensor._views import view
from cocensor.adjustments import Fitted
from cocensor.adjustments.models.design import risk_score
from cocensor.adjustments.models.joint import JointFit
from cocensor.copulas import Copula
from cocensor.data.times import TimeAxis
from cocensor.joint.conditional import Expected, expected_counts
from cocensor.study.data import EvaluationData

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

Kind = Literal["event", "dropout"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_COUNTS = ("observed", "expected")
_N_GROUPS, _N_PERIODS = 10, 4
# Neighbouring cells are pooled until so many are expected.
_FEWEST = 5.0
# A misfit is spoken of where it is significant, all tests together, and of a size that moves scores: up to it the
# integrated Brier score moved by 0.002 at most in simulations, and by 0.005 to 0.014 at 0.5.
_LEVEL, _LARGE = 0.01, 0.20


@dataclass(frozen=True, eq=False)
class FitCells:
    r"""Observed and expected numbers of one kind by group of a model's score (rows) and period (columns)."""

    observed: IntArray
    expected: FloatArray
    #: Of the observed minus the expected number, were the model known: the expected number, and less for grouped times.
    variance: FloatArray

    @cached_property
    def _pooled(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Observed, expected and variance, where neighbouring cells are pooled until enough are expected."""
        starts = pool_starts(self.expected.T.ravel(), _FEWEST)
        cells = (self.observed, self.expected, self.variance)
        observed, expected, variance = (np.add.reduceat(values.T.ravel(), starts) for values in cells)
        return observed, expected, variance

    @property
    def statistic(self) -> float:
        r""":math:`\sum (O - E)^2 / V` over the pooled cells."""
        observed, expected, variance = self._pooled
        # What is certain has no variance.
        return float(((observed - expected) ** 2 / np.maximum(variance, 1e-6 * expected)).sum())

    @property
    def df(self) -> int:
        """The number of pooled cells; 0 where too few are expected for a test."""
        return self._pooled[0].size

    @property
    def pvalue(self) -> float:
        """The chance of a larger statistic by a χ² distribution with ``df`` degrees of freedom; NaN without any.

        The model was fitted to the same outcomes, which takes degrees of freedom away: the test is conservative.
        """
        return float(special.chdtrc(self.df, self.statistic)) if self.df else np.nan

    @property
    def misfit(self) -> float:
        r"""The relative size of the misfit, :math:`\sqrt{\sum [(O - E)^2 - V] / \sum E^2}`, with chance taken out.

        0 where there is less than chance alone would give.
        """
        observed, expected, variance = self._pooled
        if not expected.size:
            return np.nan
        return float(np.sqrt(max(((observed - expected) ** 2 - variance).sum(), 0.0) / (expected**2).sum()))

    @property
    def shown(self) -> BoolArray:
        """Where a ratio is worth showing: at least one is expected."""
        return self.expected >= 1.0

    @property
    def ratio(self) -> FloatArray:
        """Observed over expected; NaN where nothing is expected."""
        return self.observed / self._divisor

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """95 % limits for the ratio of observed to expected, as of a Poisson number; NaN where nothing is expected."""
        lower = np.nan_to_num(special.chdtri(2 * self.observed, 0.975))
        upper = special.chdtri(2 * self.observed + 2, 0.025)
        return lower / (2 * self._divisor), upper / (2 * self._divisor)

    @property
    def _divisor(self) -> FloatArray:
        return np.where(self.expected > 0, self.expected, np.nan)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as JSON can hold them."""
        arrays = {"observed": self.observed.tolist(), "expected": self.expected.tolist()}
        sizes = {"pvalue": finite(self.pvalue), "misfit": finite(self.misfit)}
        return {**arrays, "statistic": self.statistic, "df": self.df, **sizes}


@dataclass(frozen=True, eq=False, repr=False)
class ImputationFit:
    r"""Events and dropouts that were observed, against those that the joint model of the imputation model expects.

    By decile of each model's risk score and by period. What is expected of a subject in a period is the integral of the
    crude hazards while it is under observation,

    .. math:: \lambda_E(t) = f_E(t)\, h_1(S_E(t), S_C(t)) / C(S_E(t), S_C(t)),

    and alike of the dropout; for grouped times the sum of the chances. Observed minus expected has mean 0 if the
    margins are right *under the stated copula*: margins are fitted under each copula anew, so that every τ can fit. A
    misfit speaks about the margins, not about τ, and no misfit is no word for τ either.

    Attributes
    ----------
    copula : Copula
    periods : array
        The ends of the periods, of which the first begins at 0: quartiles of the event times up to the horizon.
    cells : dict of dict of FitCells
        By model and kind, "event" and "dropout". Times of 0 do not count.
    time_axis : TimeAxis
        What time is called, and its unit.

    Examples
    --------
    >>> import cocensor as cc
    >>> from cocensor.simulate import SyntheticDesign
    >>> data = SyntheticDesign(n=2000, n_features=3).draw(0)
    >>> train, test = data[:1000], data[1000:]
    >>> cox = cc.CoxPH().fit(train.X, train.y).predict_survival_function(test.X)
    >>> result = cc.evaluate({"cox": cox}, test.y, test.X, adjustments="imputation", copula=None)
    >>> fit = result.results["imputation"].imputation_fit
    >>> fit.failed
    ()
    >>> events = fit.cells["cox"]["event"]
    >>> int(events.observed.sum()), round(float(events.expected.sum()))
    (474, 476)
    """

    copula: Copula
    periods: FloatArray
    cells: dict[str, dict[Kind, FitCells]]
    library: Any = None
    time_axis: TimeAxis = field(default_factory=TimeAxis)

    @property
    def tests(self) -> list[tuple[str, Kind, FitCells]]:
        """Model, kind and cells, one after the other, as far as there are enough for a test."""
        return [test for test in self._all_cells if test[2].df]

    @property
    def _all_cells(self) -> list[tuple[str, Kind, FitCells]]:
        return [(model, *of_kind) for model, by_kind in self.cells.items() for of_kind in by_kind.items()]

    @property
    def worst(self) -> str:
        """The model whose score shows most misfit: the largest statistic over its degrees of freedom."""
        tests = [(cells.statistic / cells.df, name) for name, _, cells in self.tests]
        return max(tests)[1] if tests else next(iter(self.cells))

    @cached_property
    def significant(self) -> tuple[tuple[str, Kind, FitCells], ...]:
        """The tests that refute the model, of whatever size the misfit is (Bonferroni's rule, 1 %)."""
        tests = self.tests
        return tuple(test for test in tests if test[2].pvalue * len(tests) < _LEVEL)

    @cached_property
    def failed(self) -> tuple[tuple[str, Kind], ...]:
        """Models and kinds with a misfit that is both significant and above 20 % in size."""
        return tuple((model, kind) for model, kind, cells in self.significant if cells.misfit > _LARGE)

    @property
    def misfits(self) -> dict[str, dict[str, Any]]:
        """By kind that failed, the model whose score shows the largest misfit, its size, statistic and cells."""
        return {
            kind: {"model": model, "misfit": cells.misfit, "statistic": cells.statistic, "df": cells.df}
            for model, kind, cells in sorted(self.significant, key=lambda test: test[2].misfit)
            if cells.misfit > _LARGE
        }

    @property
    def pvalue(self) -> float:
        """The p-value of all tests together, by Bonferroni's rule; NaN without any."""
        pvalues = [cells.pvalue for *_, cells in self.tests]
        return min(1.0, len(pvalues) * min(pvalues)) if pvalues else np.nan

    def table(self) -> Any:
        """One row per model, kind, decile and period: observed, expected, their ratio with a 95 % interval."""
        columns = ("model", "kind", "decile", "start", "end", *_COUNTS, "ratio", "lower", "upper")
        ends, rows = [0.0, *self.periods.tolist()], []
        for model, kind, cells in self._all_cells:
            numbers = np.stack((cells.expected, cells.ratio, *cells.interval()), axis=-1)
            for (g, p), observed in np.ndenumerate(cells.observed):
                cell = g + 1, ends[p], ends[p + 1], int(observed), *numbers[g, p].tolist()
                rows.append((model, kind, *cell))
        return frame_of_rows(columns, rows, self.library)

    def summary(self) -> Any:
        """One row per model and kind: observed, expected, statistic, df, p-value and size of the misfit."""
        rows = []
        for model, kind, cells in self._all_cells:
            counts = int(cells.observed.sum()), float(cells.expected.sum())
            rows.append((model, kind, *counts, cells.statistic, cells.df, cells.pvalue, cells.misfit))
        columns = ("model", "kind", *_COUNTS, "statistic", "df", "pvalue", "misfit")
        return frame_of_rows(columns, rows, self.library)

    @cached_property
    def statement(self) -> str:
        """The answer in words."""
        return view("text.fits.imputation_fit_in_words")(self)

    def to_dict(self) -> dict[str, Any]:
        """The numbers as JSON can hold them; observed and expected by decile, in each by period."""
        return {
            "copula": {"family": self.copula.name, "tau": float(self.copula.tau)},
            "periods": self.periods.tolist(),
            "statement": self.statement,
            "failed": [{"model": model, "kind": kind} for model, kind in self.failed],
            "models": {
                model: {kind: cells.to_dict() for kind, cells in by_kind.items()}
                for model, by_kind in self.cells.items()
            },
        }

    def plot(self, ax: Any = None, model: str | None = None) -> Any:
        """Observed over expected; returns the axes (see :class:`~cocensor.views.plots.CurveDisplay`)."""
        return view("plots.CurveDisplay").from_imputation_fit(self, model).plot(ax=ax)

    def __repr__(self) -> str:
        return escaped(f"{self.statement}\n\n{self.summary()}")


def imputation_fit(
    data: EvaluationData, served: Iterable[tuple[Fitted, Sequence[str]]], models: Collection[str]
) -> ImputationFit | None:
    """The fit of the joint models behind some scores; None where there is no joint model of test outcomes."""
    y, horizon = data.samples.y_test, data.grid.last
    times = y.time[y.event & (y.time > 0) & (y.time <= horizon)]
    levels = np.arange(1, _N_PERIODS) / _N_PERIODS
    inner = np.quantile(times, levels, method="inverted_cdf") if times.size else np.empty(0)
    periods = np.unique(np.append(inner, horizon))
    by_model: dict[str, dict[Kind, FitCells]] = {}
    copula = None
    for fitted, names in served:
        predicted = [name for name in names if name in models and name in data.predictions]
        joint: JointFit | None = getattr(fitted, "joint", None)
        if not predicted or fitted.design is None or joint is None or joint.model is None:
            continue
        copula, expected = joint.model.copula, expected_counts(joint.model, fitted.design.matrix, y, periods)
        for name in predicted:
            groups = _groups(risk_score(data.predictions[name], y, data.samples.folds), len(y))
            by_model[name] = {
                kind: _cells(groups, y.time, periods, expected_number, happened)
                for kind, expected_number, happened in zip(KINDS, expected, (y.event, y.dropout), strict=True)
            }
    if copula is None:
        return None
    in_order = {name: by_model[name] for name in data.predictions if name in by_model}
    return ImputationFit(copula, periods, in_order, data.library, data.time_axis)


def imputation_fit_under(evaluation: Evaluation, copula: Any) -> ImputationFit:
    """Return the fit of the joint model under another copula, for which the margins are fitted anew.

    It is that of the primary adjustment, or else of the first with a joint model of the test outcomes.
    """
    adjustments = (evaluation.results[evaluation.primary], *evaluation.results.values())
    imputed = next((scores for scores in adjustments if scores.imputation_fit is not None), None)
    if imputed is None:
        raise ValueError(
            "no adjustment has a joint model of the test outcomes: none fits one, it could not be fitted, or nobody's "
            "status had to be imputed."
        )
    moved = [(fitted.with_copula(copula), names) for fitted, names in imputed.served]
    fit = imputation_fit(evaluation.data.learning, moved, evaluation.models)
    assert fit is not None  # as under the first copula
    return fit


def _groups(score: FloatArray | None, n: int) -> IntArray:
    """Return the tenth of the score that each subject is in; equal scores stay together."""
    if score is None:
        return np.zeros(n, dtype=np.intp)
    edges = np.quantile(score, np.arange(1, _N_GROUPS) / _N_GROUPS, method="inverted_cdf")
    _, groups = np.unique(np.searchsorted(edges, score, side="left"), return_inverse=True)
    return groups


def _cells(groups: IntArray, time: FloatArray, ends: FloatArray, expected: Expected, had: Any) -> FitCells:
    n_groups, n_periods = int(groups.max()) + 1, ends.size
    counted = had & (time > 0) & (time <= ends[-1])
    cell = groups[counted] * n_periods + np.searchsorted(ends, time[counted], side="left")
    observed = np.bincount(cell, minlength=n_groups * n_periods).reshape(n_groups, n_periods)

    def summed(values: FloatArray) -> FloatArray:
        return np.column_stack([np.bincount(groups, column, n_groups) for column in values.T])

    return FitCells(observed, summed(expected.number), summed(expected.variance))
