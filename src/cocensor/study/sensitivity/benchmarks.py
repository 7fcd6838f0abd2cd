"""Benchmarks of dependence from measured covariates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cocensor._cached import cached_property
from cocensor._checks import (
    FloatArray,
    IntArray,
    Progress,
    check_length,
    check_number,
    check_whole,
    escaped,
    frame_of_rows,
    library_of,
    row_blocks,
)
from cocensor._json import plain
from cocensor._notes import Note, noted
from cocensor._parallel import one_blas_thread
from cocensor._views import view
from cocensor.data import Survival
from cocensor.data.covariates import Encoding
from cocensor.data.risk_table import WhichMargin
from cocensor.estimators.cox import CoxPH, centre_and_scale
from cocensor.estimators.influence import of_cox
from cocensor.inference.estimates import ConfidenceInterval
from cocensor.study.sensitivity import hidden_factor
from cocensor.study.sensitivity.hidden_factor import Contrasts, Covariate, hidden_hazard_ratio
from cocensor.warnings import FitWarning, collected

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

# The share of the variance of a column that the columns before it must leave unexplained.
_UNEXPLAINED = 1e-8
# A normal prior of log hazard ratios per standard deviation, where there is no optimum without.
_RIDGE = 1.0
_FEW, _FEW_PER_COLUMN = 10, 5
# Shrinkage of effects: variances of the mixture, and steps to their shares.
_SCALES, _ROUNDS = 30, 300


@one_blas_thread
def plausible_tau(
    X: Any,
    y: Any,
    *,
    n_resamples: int = 200,
    confidence_level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> CovariateBenchmarks:
    r"""Which dependence of event and dropout each measured covariate would induce, had it not been measured.

    With proportional hazards, and event and dropout independent given all covariates x, leaving out covariate j
    induces, among subjects alike in the rest, Kendall's

    .. math:: \tau_j = E[\tanh(\beta_j \Delta/2) \tanh(\gamma_j \Delta/2)],

    with β the log hazard ratios of the event, γ of dropout, and Δ the difference of two draws of :math:`x_j` *given the
    rest*. It is a benchmark for what a covariate that nobody measured might do, and no bound: who leaves because the
    event is near can be more dependent than any baseline covariate shows.

    Parameters
    ----------
    X : array-like or frame of shape (n, p)
        Covariates. Texts and categories become indicators of their levels, which together are one covariate.
    y : outcomes
        Administrative censorings are censored for both event and dropout.
    n_resamples, confidence_level, seed
        Of the bootstrap intervals: subjects are drawn anew, and effects follow by their influence functions, without a
        refit.
    progress : callable, optional
        Called with the number of finished resamples and of all.

    Returns
    -------
    CovariateBenchmarks

    Notes
    -----
    Given the rest, a numeric covariate is taken to have the same distribution around its mean, whatever the rest is:
    that of the residuals of its linear regression. A categorical one (or any with two values) needs less: two subjects
    alike in the rest have levels a and b with chance :math:`-2\operatorname{cov}(1_a, 1_b)` of the residuals, wherever
    its chances are linear in the rest. :math:`\hat\tau_j` is hardly biased, as the errors of both Cox models are
    uncorrelated, but its size is, upwards, and that of the largest most of all: so they are ordered, and multiples
    of the strongest taken, by effects shrunk for their noise (``shrunken_tau``).

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> event = rng.exponential(np.exp(-X @ [1.0, 0.5]))
    >>> dropout = rng.exponential(np.exp(-X @ [0.7, -0.2]))
    >>> measured = cc.plausible_tau(X, cc.Survival.from_latent(event, dropout))
    >>> [(benchmark.name, round(benchmark.tau, 2)) for benchmark in measured.benchmarks]
    [('x0', 0.23), ('x1', -0.05)]
    >>> round(measured.multiple_for(0.5), 1)
    2.2
    """
    check_whole(n_resamples, "n_resamples", 2)
    check_whole(seed, "seed", 0)
    level = check_number(confidence_level, "confidence_level", lower=0.0, upper=1.0)
    outcomes = Survival.coerce(y)
    encoding = Encoding.of(X, "X")
    values = np.ascontiguousarray(encoding.matrix(X, "X"))
    check_length(values, "X", len(outcomes), "y")
    counts = {"event": outcomes.n_events, "dropout": int(outcomes.dropout.sum())}
    for what, count in counts.items():
        if not count:
            raise ValueError(
                f"y must have events and dropouts for benchmarks of dependence, but has no {what}."
            )
    notes = [noted("constant_in_benchmarks", covariate=name) for name in encoding.left_out]
    Z, kept = _independent(values, encoding.names, notes)
    names = [encoding.names[k] for k in kept]
    wanted = max(_FEW, _FEW_PER_COLUMN * len(names))
    for what, count in counts.items():
        if count < wanted:
            few = noted("few_for_benchmarks", n=count, what=what, columns=len(names), wanted=wanted)
            notes.append(few)
    margins: tuple[WhichMargin, ...] = ("event", "dropout")
    fits = [_effects(margin, Z, outcomes, notes) for margin in margins]
    # By margin; influence stays two arrays (n, p), which may be large.
    by_margin, influence, by_shrunken, sizes = zip(*fits, strict=True)
    estimates, shrunk = np.array(by_margin), np.array(by_shrunken)
    covariates = hidden_factor.covariates_of(Z, [encoding.columns[encoding.sources[k][0]] for k in kept])
    everyone, pairs = hidden_factor.pair_differences(Z)
    draws = _drawn(covariates, everyone, pairs, estimates, influence, n_resamples, seed, progress)
    tail = 50.0 * (1.0 - level)
    ends = np.percentile(draws, [tail, 100.0 - tail], axis=0).T.tolist()
    *intervals, interval_together = (ConfidenceInterval(low, high) for low, high in ends)

    benchmarks = []
    for covariate, interval in zip(covariates, intervals, strict=True):
        own, contrasts = covariate.places, covariate.contrasts
        # Per standard deviation: of a column, or of what several add to the log hazard.
        steps = estimates[:, own[0]] if own.size == 1 else (estimates[:, own] @ Z[:, own].T).std(axis=1)
        on_event, on_dropout = np.exp(steps).tolist()
        columns, tau = tuple(names[place] for place in own), contrasts.tau(*estimates[:, own])
        shrunken_tau = contrasts.tau(*shrunk[:, own])
        benchmark = Benchmark(covariate.name, columns, on_event, on_dropout, tau, interval, shrunken_tau)
        benchmarks.append((benchmark, covariate))
    benchmarks.sort(key=lambda pair: (abs(pair[0].shrunken_tau), abs(pair[0].tau)), reverse=True)
    strongest, together = benchmarks[0][1], everyone.tau(*estimates)
    return CovariateBenchmarks(
        tuple(benchmark for benchmark, _ in benchmarks),
        together,
        interval_together,
        # No estimate of it may be below what it is never below.
        max(everyone.aligned(*(np.array(sizes)[:, None] * estimates)), abs(together)),
        len(outcomes),
        counts["event"],
        counts["dropout"],
        level,
        tuple(notes),
        strongest.contrasts,
        shrunk[:, strongest.places],
        library_of(X),
    )


def independent_columns(values: FloatArray) -> tuple[FloatArray, list[int], dict[int, str]]:
    """Return standardised columns, which of them vary beyond those before, and why others do not."""
    centre, scale = centre_and_scale(values)
    Z = (values - centre) / np.where(scale > 0, scale, 1.0)
    left = Z.T @ Z / len(Z)
    kept, others = list[int](), dict[int, str]()
    for k in range(len(scale)):
        if scale[k] == 0 or left[k, k] <= _UNEXPLAINED:
            others[k] = "determined" if scale[k] > 0 else "constant"
            continue
        kept.append(k)
        left -= np.outer(left[:, k], left[k] / left[k, k])
    return Z, kept, others


def _independent(values: FloatArray, names: Sequence[str], notes: list[Note]) -> tuple[FloatArray, list[int]]:
    """Return standardised columns that vary and are no combination of those before, and their places; note others."""
    Z, kept, others = independent_columns(values)
    notes += [noted(f"{why}_in_benchmarks", covariate=names[k]) for k, why in others.items()]
    if not kept:
        raise ValueError("X must have a column that varies.")
    if len(kept) + 1 >= len(Z):
        raise ValueError(
            f"X has {len(kept)} independent columns, which takes {len(kept) + 2} subjects or more, but has {len(Z)}."
        )
    return Z[:, kept], kept


def _effects(
    margin: WhichMargin, Z: FloatArray, y: Survival, notes: list[Note]
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return log hazard ratios, the influence of subjects on them, the shrunken ones, and their size without noise."""
    model = CoxPH(of=margin)
    try:
        with collected(FitWarning):
            model.fit(Z, y)
        settled = model.converged_
    except ValueError:  # a column says nothing of this margin, alone or beside the others
        settled = False
    if not settled:
        model = CoxPH(of=margin, ridge=_RIDGE).fit(Z, y)
        notes.append(noted("ridge_in_benchmarks", margin=margin))
    coef, covariance = model.coef_, model.covariance_
    # Noise alone makes a χ² of as many as there are columns.
    strength = float(coef @ np.linalg.solve(covariance, coef))
    size = np.sqrt(max(0.0, 1.0 - coef.size / strength)) if strength else 0.0
    return coef, of_cox(model, Z, y).coefficients, shrunken(coef, np.diag(covariance)), size


def _drawn(
    covariates: list[Covariate],
    everyone: Contrasts,
    pairs: tuple[IntArray, IntArray],
    estimates: FloatArray,
    influence: Sequence[FloatArray],
    n_resamples: int,
    seed: int,
    progress: Progress | None,
) -> FloatArray:
    """By resample the τ of every covariate, and of all together."""
    n, rng = len(influence[0]), np.random.default_rng(seed)
    spread = np.column_stack([covariate.spread for covariate in covariates])
    taus = np.empty((n_resamples, len(covariates) + 1))
    for rows in row_blocks(n_resamples, max(n, len(everyone.weights))):
        size = rows.stop - rows.start
        counts = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(size)])
        weights = counts / n
        effects = estimates[:, None] + np.stack([weights @ of_margin for of_margin in influence])
        spreads = weights @ spread
        for k, covariate in enumerate(covariates):
            taus[rows, k] = spreads[:, k] * covariate.contrasts.taus(*effects[:, :, covariate.places])
        for k in range(size):
            together = (counts[k, pairs[0]] * counts[k, pairs[1]]).astype(np.float64)
            drawn = Contrasts(everyone.differences, together / max(together.sum(), 1.0))
            taus[rows.start + k, -1] = drawn.tau(*effects[:, k])
        if progress is not None:
            progress(rows.stop, n_resamples)
    return taus


def shrunken(effects: FloatArray, variances: FloatArray) -> FloatArray:
    r"""Return the expected effects, given estimates of these variances, for effects drawn alike around 0.

    Their distribution is a mixture of 0 and of normals of variances :math:`a_k`, whose shares maximise the likelihood
    (empirical Bayes). Few strong effects among many of none are left where they are, and estimates that are noise
    alone go to 0; a single one is multiplied by :math:`(1 - s^2/\hat\beta^2)_+`, the factor of James and Stein.
    """
    largest = max(float((effects**2).max()), float(variances.min()))
    scales = np.concatenate(([0.0], np.geomspace(1e-3 * float(variances.min()), largest, _SCALES)))
    total = scales + variances[:, None]
    log_density = -0.5 * (np.log(total) + effects[:, None] ** 2 / total)
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    shares = np.full(scales.size, 1.0 / scales.size)
    for _ in range(_ROUNDS):
        belongs = density * shares
        belongs /= belongs.sum(axis=1, keepdims=True)
        shares = belongs.mean(axis=0)
    return effects * (belongs * scales / total).sum(axis=1)


#: By default τ is held plausible up to here, on either side of 0.
USUAL = 0.2
_MOST_TIMES = 100.0


@dataclass(frozen=True)
class PlausibleRange:
    r"""From which to which Kendall's τ the dependence that is left is held plausible.

    By default :math:`|\tau| \le 0.2`, whatever the covariates show: a convention, and no bound. What leaving out all
    measured covariates would induce (``together``, by :func:`cocensor.plausible_tau`) is a benchmark beside it.
    """

    low: float
    high: float
    origin: Literal["asked", "default"]
    #: Why covariates say nothing, and what is lacking, where none could.
    why: str | None = None
    lacking: Literal["covariates", "dropouts", "benchmarks"] | None = None
    together: float | None = None

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        benchmarks: CovariateBenchmarks | ValueError,
        stated: tuple[float, float] | None,
    ) -> PlausibleRange:
        """Return the range given, or the default one; and what covariates say beside it, or why they say nothing."""
        low, high = stated or (-USUAL, USUAL)
        origin: Literal["asked", "default"] = "asked" if stated else "default"
        if not isinstance(benchmarks, ValueError):
            return cls(low, high, origin, together=benchmarks.together)
        samples = evaluation.data.samples
        lacking: Literal["covariates", "dropouts", "benchmarks"] = "covariates"
        if samples.x_test is not None:
            lacking = "benchmarks" if samples.y_test.dropout.any() else "dropouts"
        return cls(low, high, origin, str(benchmarks), lacking)


@dataclass(frozen=True)
class Benchmark:
    """The dependence of event and dropout that leaving out one covariate would induce.

    Attributes
    ----------
    name, columns : str, tuple of str
        The covariate, and its columns: the indicators of a categorical one, else itself.
    hazard_ratio_event, hazard_ratio_dropout : float
        Per standard deviation of the covariate in the sample, given all others, by Cox models. Of several indicators:
        per standard deviation of what they add to the log hazard, and then never below 1.
    tau, interval : float, ConfidenceInterval
        Kendall's τ that leaving it out induces, at the estimated effects, and its interval by the bootstrap.
    shrunken_tau : float
        τ at effects that are drawn to 0 by as much as their noise makes them stick out among all covariates.

    See Also
    --------
    plausible_tau : Makes these, and shows some in its example.
    """

    name: str
    columns: tuple[str, ...]
    hazard_ratio_event: float
    hazard_ratio_dropout: float
    tau: float
    interval: ConfidenceInterval
    shrunken_tau: float


@dataclass(frozen=True, eq=False, repr=False)
class CovariateBenchmarks:
    """Benchmarks of τ from measured covariates, by :func:`plausible_tau`.

    Attributes
    ----------
    benchmarks : tuple of Benchmark
        One for each covariate, that of the largest ``shrunken_tau`` first.
    together, together_interval : float, ConfidenceInterval
        τ that leaving all covariates out would induce; their effects can cancel.
    aligned : float
        What all together would induce if both linear predictors ranked every pair of subjects alike; with Wald's χ² of
        its p effects, the spread of each is multiplied by √(1 − p/χ²), as the rest of it is noise.
    n, n_events, n_dropouts, confidence_level : int, float
    notes : tuple of Note
        What was left out, and what makes the benchmarks doubtful.

    See Also
    --------
    plausible_tau : Makes it, with an example.
    """

    benchmarks: tuple[Benchmark, ...]
    together: float
    together_interval: ConfidenceInterval
    aligned: float
    n: int
    n_events: int
    n_dropouts: int
    confidence_level: float
    notes: tuple[Note, ...]
    #: How subjects differ in the strongest covariate, and its shrunken effects on event and dropout, (2, columns).
    contrasts: Contrasts = field(repr=False)
    effects: FloatArray = field(repr=False)
    library: Any = field(default=None, repr=False)

    @property
    def strongest(self) -> Benchmark:
        """The covariate that would induce most."""
        return self.benchmarks[0]

    @property
    def multiples(self) -> dict[int, float]:
        """τ that a factor like the strongest covariate would induce, with 1, 2 and 3 times its log hazard ratios."""
        return {times: self._multiple(times) for times in (1, 2, 3)}

    def multiple_for(self, tau: float) -> float:
        """By how much the log hazard ratios of the strongest covariate must be multiplied to induce a τ of this size.

        Infinite where no multiple up to 100 does: the covariate has no effect beyond noise, or varies too little.
        """
        from scipy.optimize import brentq  # late: it takes a moment

        size = abs(check_number(tau, "tau", lower=-1.0, upper=1.0))
        if size == 0.0:
            return 0.0
        grid, sizes = self._sizes
        if not size <= sizes.max():
            return inf
        first = int(np.argmax(sizes >= size))
        return float(brentq(lambda times: abs(self._multiple(times)) - size, grid[first - 1], grid[first]))

    def hidden(self, taus: Iterable[float]) -> dict[float, float]:
        """By τ the hazard ratio per standard deviation of a hidden factor that induces it: `hidden_hazard_ratio`."""
        return {float(tau): hidden_hazard_ratio(tau) for tau in taus}

    @property
    def statement(self) -> str:
        """How strong a hidden factor would have to be, beside the strongest measured one, and what that leaves open."""
        return view("text.sensitivity.plausible_tau_in_words")(self)

    def table(self) -> Any:
        """One row per covariate, as the kind of frame that the covariates came in; all together in the last."""
        ratios = ("hazard_ratio_event", "hazard_ratio_dropout")
        rows = [
            (b.name, b.hazard_ratio_event, b.hazard_ratio_dropout, b.tau, *b.interval, b.shrunken_tau)
            for b in self.benchmarks
        ]
        rows.append(("all together", nan, nan, self.together, *self.together_interval, nan))
        return frame_of_rows(("covariate", *ratios, "tau", "low", "high", "shrunken_tau"), rows, self.library)

    def plot(self, ax: Any = None) -> Any:
        """The τ of covariates with intervals; returns the axes (a :class:`~cocensor.views.plots.ForestDisplay`)."""
        return view("plots.ForestDisplay").from_benchmarks(self).plot(ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        same = ("n", "confidence_level", "together", "together_interval", "aligned", "statement")
        numbers = {name: getattr(self, name) for name in same} | {
            "events": self.n_events,
            "dropouts": self.n_dropouts,
            "benchmarks": list(map(vars, self.benchmarks)),
            "multiples": {str(times): tau for times, tau in self.multiples.items()},
            "hidden": [
                {"tau": tau, "hazard_ratio": ratio, "multiple": self.multiple_for(tau)}
                for tau, ratio in self.hidden(np.arange(1, 10) / 10).items()
            ],
            "notes": [note.to_dict() for note in self.notes],
        }
        return dict(plain(numbers))

    def __repr__(self) -> str:
        return escaped(view("text.sensitivity.plausible_tau_as_text")(self))

    @cached_property
    def _sizes(self) -> tuple[FloatArray, FloatArray]:
        """Multiples, and |τ| that they induce."""
        grid = np.append(0.0, np.geomspace(1e-3, _MOST_TIMES, 200))
        return grid, np.abs([self._multiple(times) for times in grid])

    def _multiple(self, times: float) -> float:
        return self.contrasts.tau(*(times * self.effects))
