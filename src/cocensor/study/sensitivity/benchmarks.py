"""Benchmarks of dependence from measured covariates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    FloatArray,
    IntArray,
    Progress,
    check_length,
    check_number,
    check_whole,
    library_of,
    row_blocks,
)
from cocensor._notes import Note, noted
from cocensor._parallel import one_blas_thread
from cocensor._warnings import FitWarning, collected
from cocensor.data import Survival, WhichMargin
from cocensor.data.covariates import Encoding
from cocensor.estimators.cox import CoxPH, centre_and_scale
from cocensor.estimators.hazard_influence import of_cox
from cocensor.inference import ConfidenceInterval
from cocensor.study.sensitivity.hidden import Contrasts, Covariate, covariates_of, pair_differences
from cocensor.study.sensitivity.plausible import Benchmark, PlausibleTau

# Of what varies in a column, the columns before it must leave so much unexplained.
_UNEXPLAINED = 1e-8
# A normal prior of log hazard ratios per standard deviation, where there is no optimum without.
_RIDGE = 1.0
_FEW = 10
_FEW_PER_COLUMN = 5
# Of effects that are drawn to 0: variances of the mixture, and steps to their shares.
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
) -> PlausibleTau:
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
    PlausibleTau

    Notes
    -----
    Given the rest, a numeric covariate is taken to have the same distribution around its mean, whatever the rest is:
    that of the residuals of its linear regression. A categorical one (or any with two values) needs less: two subjects
    alike in the rest have levels a and b with chance :math:`-2\operatorname{cov}(1_a, 1_b)` of the residuals, wherever
    its chances are linear in the rest.

    :math:`\hat\tau_j` is hardly biased: the errors of both Cox models are uncorrelated. Its size is, upwards, and that
    of the largest most of all. So covariates are ordered, and multiples of the strongest taken, by effects shrunk for
    their noise (``shrunken_tau``).

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> event = rng.exponential(np.exp(-X @ [1.0, 0.5]))
    >>> dropout = rng.exponential(np.exp(-X @ [0.7, -0.2]))
    >>> found = cc.plausible_tau(X, cc.Survival.from_latent(event, dropout))
    >>> [(each.name, round(each.tau, 2)) for each in found.benchmarks]
    [('x0', 0.23), ('x1', -0.05)]
    >>> round(found.multiple_for(0.5), 1)
    2.2
    """
    check_whole(n_resamples, "n_resamples", 2)
    check_whole(seed, "seed", 0)
    level = check_number(confidence_level, "confidence_level", lower=0.0, upper=1.0)
    outcomes = Survival.coerce(y)
    encoding = Encoding.of(X, "X")
    values = np.ascontiguousarray(encoding.matrix(X, "X"))
    check_length(values, "X", len(outcomes), "y")
    n_dropouts = int(outcomes.dropout.sum())
    for count, what in ((outcomes.n_events, "event"), (n_dropouts, "dropout")):
        if not count:
            raise ValueError(
                f"y must have events and dropouts for benchmarks of dependence, but has no {what}."
            )
    Z, kept, notes = _independent(values, encoding.names)
    names = [encoding.names[k] for k in kept]
    notes = [
        *(noted("constant_in_benchmarks", covariate=name) for name in encoding.left_out),
        *notes,
        *_few(outcomes.n_events, n_dropouts, len(names)),
    ]
    event = _Effects.of("event", Z, outcomes, notes)
    dropout = _Effects.of("dropout", Z, outcomes, notes)
    covariates = covariates_of(Z, [encoding.columns[encoding.sources[k][0]] for k in kept])
    everyone, pairs = pair_differences(Z)
    draws = _drawn(covariates, everyone, pairs, event, dropout, n_resamples, seed, progress)
    tail = 50.0 * (1.0 - level)
    low, high = np.percentile(draws, [tail, 100.0 - tail], axis=0)

    def benchmark(k: int, each: Covariate) -> Benchmark:
        of = each.places
        return Benchmark(
            each.name,
            tuple(names[place] for place in of),
            _per_sd(Z, of, event.estimates),
            _per_sd(Z, of, dropout.estimates),
            each.contrasts.tau(event.estimates[of], dropout.estimates[of]),
            ConfidenceInterval(float(low[k]), float(high[k])),
            each.contrasts.tau(event.shrunken[of], dropout.shrunken[of]),
        )

    found = [(benchmark(k, each), each) for k, each in enumerate(covariates)]
    found.sort(key=lambda pair: (abs(pair[0].shrunken_tau), abs(pair[0].tau)), reverse=True)
    strongest = found[0][1]
    together = everyone.tau(event.estimates, dropout.estimates)
    return PlausibleTau(
        tuple(each for each, _ in found),
        together,
        ConfidenceInterval(float(low[-1]), float(high[-1])),
        # No estimate of it may be below what it is never below.
        max(everyone.aligned(event.size * event.estimates, dropout.size * dropout.estimates), abs(together)),
        len(outcomes),
        outcomes.n_events,
        n_dropouts,
        level,
        tuple(notes),
        strongest.contrasts,
        (event.shrunken[strongest.places], dropout.shrunken[strongest.places]),
        library_of(X),
    )


def _independent(values: FloatArray, names: Sequence[str]) -> tuple[FloatArray, list[int], list[Note]]:
    """Standardised columns that vary and are no combination of those before them, and their places; notes on others."""
    centre, scale = centre_and_scale(values)
    varies = scale > 0
    Z = (values - centre) / np.where(varies, scale, 1.0)
    left = Z.T @ Z / len(Z)
    kept, notes = [], []
    for k, name in enumerate(names):
        if not varies[k] or left[k, k] <= _UNEXPLAINED:
            code = "determined_in_benchmarks" if varies[k] else "constant_in_benchmarks"
            notes.append(noted(code, covariate=name))
            continue
        kept.append(k)
        left -= np.outer(left[:, k], left[k] / left[k, k])
    if not kept:
        raise ValueError("X must have a column that varies.")
    if len(kept) + 1 >= len(Z):
        raise ValueError(
            f"X has {len(kept)} independent columns, which takes {len(kept) + 2} subjects or more, but has {len(Z)}."
        )
    return Z[:, kept], kept, notes


def _few(n_events: int, n_dropouts: int, n_columns: int) -> list[Note]:
    """A caution where a Cox model has little to learn from."""
    wanted = max(_FEW, _FEW_PER_COLUMN * n_columns)
    return [
        noted("few_for_benchmarks", n=count, what=what, columns=n_columns, wanted=wanted)
        for count, what in ((n_events, "event"), (n_dropouts, "dropout"))
        if count < wanted
    ]


@dataclass(frozen=True, eq=False)
class _Effects:
    """Log hazard ratios of one margin, how subjects move them, and what is left of them without noise."""

    estimates: FloatArray
    influence: FloatArray  # (n, p)
    shrunken: FloatArray
    size: float  # of the linear predictor, without what noise adds to its spread

    @classmethod
    def of(cls, margin: WhichMargin, Z: FloatArray, y: Survival, notes: list[Note]) -> _Effects:
        model = CoxPH(of=margin)
        try:
            with collected(FitWarning):
                model.fit(Z, y)
            settled = model.converged_
        except ValueError:  # a column tells nothing of this margin, alone or beside the others
            settled = False
        if not settled:
            model = CoxPH(of=margin, ridge=_RIDGE).fit(Z, y)
            notes.append(noted("ridge_in_benchmarks", margin=margin))
        coef, covariance = model.coef_, model.covariance_
        # Noise alone makes a χ² of as many as there are columns.
        strength = float(coef @ np.linalg.solve(covariance, coef))
        size = np.sqrt(max(0.0, 1.0 - coef.size / strength)) if strength else 0.0
        influence = of_cox(model, Z, y).coefficients
        return cls(coef, influence, shrunken(coef, np.diag(covariance)), size)


def _drawn(
    covariates: list[Covariate],
    everyone: Contrasts,
    pairs: tuple[IntArray, IntArray],
    event: _Effects,
    dropout: _Effects,
    n_resamples: int,
    seed: int,
    progress: Progress | None,
) -> FloatArray:
    """By resample the τ of every covariate, and of all together."""
    n = len(event.influence)
    rng = np.random.default_rng(seed)
    spread = np.column_stack([each.spread for each in covariates])
    found = np.empty((n_resamples, len(covariates) + 1))
    for rows in row_blocks(n_resamples, max(n, len(everyone.weights))):
        size = rows.stop - rows.start
        counts = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(size)])
        weights = counts / n
        on_event = event.estimates + weights @ event.influence
        on_dropout = dropout.estimates + weights @ dropout.influence
        spreads = weights @ spread
        for k, each in enumerate(covariates):
            of = each.places
            found[rows, k] = spreads[:, k] * each.contrasts.taus(on_event[:, of], on_dropout[:, of])
        for k in range(size):
            together = (counts[k, pairs[0]] * counts[k, pairs[1]]).astype(np.float64)
            again = Contrasts(everyone.differences, together / max(together.sum(), 1.0))
            found[rows.start + k, -1] = again.tau(on_event[k], on_dropout[k])
        if progress is not None:
            progress(rows.stop, n_resamples)
    return found


def _per_sd(Z: FloatArray, places: npt.NDArray[np.intp], effects: FloatArray) -> float:
    """The hazard ratio per standard deviation: of a column, or of what several add to the log hazard."""
    if places.size == 1:
        return float(np.exp(effects[places[0]]))
    return float(np.exp((Z[:, places] @ effects[places]).std()))


def shrunken(effects: FloatArray, variances: FloatArray) -> FloatArray:
    r"""The expected effects, given estimates of these variances, for effects drawn alike from a law around 0.

    The law is a mixture of 0 and of normal laws of variances :math:`a_k`, whose shares maximise the likelihood
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
