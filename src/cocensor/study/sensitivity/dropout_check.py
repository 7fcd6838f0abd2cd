"""Whether dropout depends on what was measured and predicted: the part of dependent censoring that data can test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

import numpy as np

from cocensor._checks import (
    FloatArray,
    as_vector,
    check_length,
    check_number,
    escaped,
    frame_of_rows,
    library_of,
)
from cocensor._late import special
from cocensor._parallel import one_blas_thread
from cocensor.adjustments.models.design import risk_score
from cocensor.data import Survival
from cocensor.data.border import as_predictions
from cocensor.data.covariates import Encoding
from cocensor.estimators.cox import CoxPH, RiskSets, centre_and_scale
from cocensor.inference.estimates import ConfidenceInterval
from cocensor.study.sensitivity.benchmarks import independent_columns
from cocensor.warnings import FitWarning, collected

_FEW = 10  # dropouts per column, below which χ² is a rough approximation


@dataclass(frozen=True)
class DropoutTest:
    r"""The likelihood ratio test that the dropout hazard depends on some columns, and their hazard ratios.

    Attributes
    ----------
    name : str
        "covariates", or the name of a model.
    hazard_ratios, intervals : dict of float, dict of ConfidenceInterval
        By column, given the other columns of the test: per standard deviation of a number, of one level against the
        rest where a column has two values. Intervals are Wald's.
    statistic, df, pvalue : float, int, float
        Twice the gain of the partial log-likelihood, by χ² with one degree of freedom for each column.
    finite : bool
        False where a column separates dropouts from the rest, so that its hazard ratio has no finite estimate.

    See Also
    --------
    dropout_check : Makes it, with an example.
    """

    name: str
    hazard_ratios: dict[str, float]
    intervals: dict[str, ConfidenceInterval]
    statistic: float
    df: int
    pvalue: float
    finite: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class DropoutCheck:
    """Tests that dropout depends on covariates and on predictions, by :func:`cocensor.dropout_check`.

    Attributes
    ----------
    n, n_events, n_dropouts, confidence_level : int, float
    covariates : DropoutTest or None
        All covariates together.
    predictions : dict of DropoutTest
        By model, its risk score alone.
    left_out : tuple of str
        Columns and models that do not vary, or are combinations of columns before them: they cannot be tested.

    See Also
    --------
    dropout_check : Makes it, with an example.
    """

    n: int
    n_events: int
    n_dropouts: int
    confidence_level: float
    covariates: DropoutTest | None
    predictions: dict[str, DropoutTest]
    left_out: tuple[str, ...] = ()
    library: Any = field(default=None, repr=False)

    @property
    def tests(self) -> tuple[DropoutTest, ...]:
        """All tests, that of the covariates first."""
        return (*([] if self.covariates is None else [self.covariates]), *self.predictions.values())

    @property
    def few(self) -> bool:
        """Whether there are fewer than 10 dropouts per column of the largest test: p-values are approximate."""
        return self.n_dropouts < _FEW * max((test.df for test in self.tests), default=0)

    @property
    def statement(self) -> str:
        """The answer in words."""
        parts = []
        for test in self.tests:
            of = "the covariates" if test is self.covariates else f"the predictions of {test.name}"
            significant = test.pvalue < 1.0 - self.confidence_level
            depends = "Dropout depends" if significant else "No significant dependence of dropout"
            parts.append(f"{depends} on {of} ({_p(test.pvalue)}).")
            if not test.finite:
                parts.append("A column separates the dropouts: its hazard ratio has no finite estimate.")
        if self.few:
            rough = "p-values are rough, and the tests have little power"
            parts.append(f"There are few dropouts ({self.n_dropouts}): {rough}.")
        if self.left_out:
            parts.append(f"Constant, or a combination of others, and not tested: {', '.join(self.left_out)}.")
        parts.append("No test can tell whether dropout depends on the event beyond what was measured.")
        return " ".join(parts)

    def table(self) -> Any:
        """One row per column of a test: hazard ratio with limits, and the χ², df and p-value of its test."""
        names = ("test", "column", "hazard_ratio", "low", "high", "statistic", "df", "pvalue")
        rows = [
            (test.name, column, ratio, *test.intervals[column], test.statistic, test.df, test.pvalue)
            for test in self.tests
            for column, ratio in test.hazard_ratios.items()
        ]
        return frame_of_rows(names, rows, self.library)

    def __repr__(self) -> str:
        counts = f"{self.n:,} subjects: {self.n_events:,} events, {self.n_dropouts:,} dropouts"
        lines = [counts, "", f"hazard ratio of dropout ({100 * self.confidence_level:g}% CI)"]
        width = max((len(c) for test in self.tests for c in test.hazard_ratios), default=0)
        for test in self.tests:
            lines.append(f"{test.name}: χ² = {test.statistic:.1f}, df = {test.df}, {_p(test.pvalue)}")
            for column, ratio in test.hazard_ratios.items():
                low, high = test.intervals[column]
                lines.append(f"  {column:<{width}}  {ratio:.2f} ({low:.2f} to {high:.2f})")
        return escaped("\n".join([*lines, "", fill(self.statement, 116)]))


@one_blas_thread
def dropout_check(
    y: Any,
    x: Any = None,
    predictions: Any = None,
    *,
    times: Any = None,
    confidence_level: float = 0.95,
) -> DropoutCheck:
    r"""Test whether the hazard of dropout depends on covariates and on each model's predictions.

    Cox regressions of dropout, with events and administrative ends as its censorings, one on all covariates and one on
    each model's risk score :math:`\log(-\log \hat S(t))` at the median time t (or the risk score that it is). Their
    hazards are those among subjects still under observation, which data identify. A dependence on predictions means
    that Kaplan–Meier weights (``"ipcw"``) are biased; one on covariates, that weights or imputations need these. **No
    test on data can tell** whether dropout depends on the event *given* all that was measured: no significant result
    here rules that out, and none shows it.

    Parameters
    ----------
    y : outcomes
        Censorings that are not marked as administrative count as dropouts.
    x : array-like or frame of shape (n, p), optional
        Covariates. Texts and categories become indicators of their levels.
    predictions : dict of str to predictions, optional
        By name, all that :func:`evaluate` takes: curves, fitted models, frames, risk scores. They should be of subjects
        that the model was not fitted to.
    times : array-like, optional
        Of the columns of predictions that are arrays.
    confidence_level : float
        Of the intervals of hazard ratios.

    Returns
    -------
    DropoutCheck

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> rng = np.random.default_rng(2)
    >>> x = rng.normal(size=(400, 2))
    >>> event, dropout = rng.exponential(np.exp(-x @ [1.0, 0.0])), rng.exponential(np.exp(-x @ [0.5, 0.0]))
    >>> check = cc.dropout_check(cc.Survival.from_latent(event, dropout), x, {"risk": x[:, 1]})
    >>> check
    400 subjects: 187 events, 213 dropouts
    <BLANKLINE>
    hazard ratio of dropout (95% CI)
    covariates: χ² = 26.2, df = 2, p < 0.001
      x0          1.55 (1.31 to 1.83)
      x1          0.98 (0.87 to 1.12)
    risk: χ² = 0.0, df = 1, p = 0.85
      risk score  1.01 (0.89 to 1.15)
    <BLANKLINE>
    Dropout depends on the covariates (p < 0.001). No significant dependence of dropout on the predictions of risk
    (p = 0.85). No test can tell whether dropout depends on the event beyond what was measured.
    """
    outcomes = Survival.coerce(y)
    level = check_number(confidence_level, "confidence_level", lower=0.0, upper=1.0)
    if x is None and not predictions:
        raise ValueError("x or predictions must be given: dropout is tested against these.")
    if not isinstance(predictions, Mapping | None):
        kind = type(predictions).__name__
        raise TypeError(f"predictions must be a dict of names and predictions, but is of type {kind}.")
    if not outcomes.dropout.any():
        raise ValueError("y must have dropouts to be tested, but has none.")
    grid = None if times is None else as_vector(times, "times", single=True, negative=False)
    covariates: DropoutTest | None = None
    left_out, scored = list[str](), dict[str, DropoutTest]()
    if x is not None:
        encoding = Encoding.of(x, "x")
        values = encoding.matrix(x, "x")
        check_length(values, "x", len(outcomes), "y")
        _, kept, others = independent_columns(values)
        left_out = [*encoding.left_out, *(encoding.names[k] for k in others)]
        if kept:
            names = [encoding.names[k] for k in kept]
            covariates = _test("covariates", values[:, kept], names, outcomes, level, "x")
    for name, model in (predictions or {}).items():
        place = f"predictions[{name!r}]"
        about: dict[str, Any] = {"times": grid, "X": x, "labels": outcomes.labels, "name": place}
        score = risk_score(as_predictions(model, len(outcomes), risk=True, **about), outcomes)
        if score is None:
            left_out.append(name)
        else:
            scored[name] = _test(name, score[:, None], ["risk score"], outcomes, level, place)
    numbers = len(outcomes), outcomes.n_events, int(outcomes.dropout.sum()), level
    return DropoutCheck(*numbers, covariates, scored, tuple(left_out), library_of(x))


def _test(
    name: str, values: FloatArray, columns: Sequence[str], y: Survival, level: float, place: str
) -> DropoutTest:
    model = CoxPH(of="dropout")
    try:
        with collected(FitWarning):
            model.fit(values, y)
    except ValueError as error:
        why = "must vary in each column, given the others, among those at risk when subjects drop out"
        raise ValueError(f"{place} {why}, but does not: leave a column out.") from error
    _, scale = centre_and_scale(values)
    is_end = (values == values.min(axis=0)) | (values == values.max(axis=0))
    unit = np.where(is_end.all(axis=0), np.ptp(values, axis=0), scale)
    effects, errors = model.coef_ * unit, np.sqrt(np.diag(model.covariance_)) * unit
    reach = special.ndtri(0.5 + 0.5 * level) * errors
    sets = RiskSets(y, "dropout", "efron")
    without = -sets.derivatives(np.zeros((len(y), 1)), np.zeros(1), np.zeros(1)).value
    statistic = max(2.0 * float(model.log_likelihood_ - without), 0.0)
    with np.errstate(over="ignore"):
        ratios = dict(zip(columns, np.exp(effects).tolist(), strict=True))
        ends = np.exp([effects - reach, effects + reach]).T.tolist()
    intervals = {column: ConfidenceInterval(*limits) for column, limits in zip(columns, ends, strict=True)}
    pvalue = float(special.chdtrc(len(columns), statistic))
    return DropoutTest(name, ratios, intervals, statistic, len(columns), pvalue, model.converged_)


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"
