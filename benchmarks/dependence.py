"""How far is the fitted τ from the truth when the margins are not of the form that the joint model has?

"frailty": hazards of event and dropout, Weibull and proportional in 10 covariates, are both multiplied by one
unobserved frailty W: gamma, which makes event and dropout given x a Clayton copula with τ = 1/(1 + 2k), k being the
shape of W; or lognormal. Given x, hazards are then no longer proportional, and neither Weibull nor spline margins are
right. τ given x is the same for all x, as W acts on all alike. "No frailty" is the control: margins of the right form,
tied by a Clayton copula.

"independent": event and dropout are independent Weibull times, but for what the label says, and without covariates
unless it says so.

2,000 subjects, half of them censored under frailty, no penalty; τ̂ of one family at a time.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.dependence [frailty|independent]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from scipy.stats import kendalltau

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from cocensor.joint.margins import MarginForm
from cocensor.simulate import SyntheticDesign

SEEDS = range(20)
N = 2_000
TAUS = (0.25, 0.5, 0.75)
SPREADS = (0.5, 1.0, 2.0)
FAMILIES = (cc.Clayton, cc.Frank, cc.Gumbel)

MARGINS: tuple[MarginForm, ...] = ("weibull", "spline")

Sample = tuple[np.ndarray | None, cc.Survival]


def times(log_frailty: np.ndarray, risk: np.ndarray, shape: float, rng: np.random.Generator) -> np.ndarray:
    return np.exp((np.log(rng.exponential(size=risk.size)) - risk - log_frailty) / shape)


def with_gamma_frailty(tau: float, seed: int) -> Sample:
    """Event times have shape 4, dropout times shape 3, as in SyntheticDesign."""
    rng = np.random.default_rng(seed)
    X = rng.random((N, 10))
    event_coef, dropout_coef = rng.uniform(-1.0, 1.0, size=(2, 10))
    k = (1.0 / tau - 1.0) / 2.0
    # log of a gamma variable, also where the variable itself underflows
    log_frailty = np.log(rng.gamma(k + 1.0, 1.0 / k, size=N)) + np.log(rng.random(N)) / k
    event = times(log_frailty, X @ event_coef, 4.0, rng)
    dropout = times(log_frailty, X @ dropout_coef, 3.0, rng)
    return X, cc.Survival.from_latent(event, dropout * np.median(event / dropout))


def with_lognormal_frailty(spread: float, seed: int) -> Sample:
    data = SyntheticDesign(n=N, hidden=spread).draw(seed)
    return data.X, data.y


def without_frailty(tau: float, seed: int) -> Sample:
    data = SyntheticDesign(n=N, copula=cc.Clayton.from_tau(tau)).draw(seed)
    return data.X, data.y


def tau_of_lognormal(spread: float) -> float:
    """Kendall's τ of two times that share nothing but the frailty."""
    rng = np.random.default_rng(0)
    log_frailty = spread * rng.standard_normal(200_000)
    same = np.zeros(log_frailty.size)
    pair = [times(log_frailty, same, 1.0, rng) for _ in range(2)]
    return float(kendalltau(*pair).statistic)


def rows(row: PrintRow, label: str, tau: float, samples: list[Sample]) -> None:
    """A line per family: its error, and how often the interval of its standard error holds the truth."""
    for family in FAMILIES:
        cells = []
        for margins in MARGINS:
            estimates, spreads = [], []
            for X, y in samples:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", cc.warnings.FitWarning)
                    model = cc.fit_joint(X, y, family, margins, penalty=0)
                estimates.append(model.copula.tau)
                spreads.append(model.tau_se_)
            error, se = np.array(estimates) - tau, np.array(spreads)
            known = np.isfinite(se)
            held = f"{np.sum(np.abs(error[known]) < 1.96 * se[known])} of {known.sum()}"
            cells += [f"{error.mean():+.2f}", f"{error.min():+.2f} to {error.max():+.2f}", held]
        row(label, f"{tau:.2f}", family.name, *cells)


def independent(seed: int) -> dict[str, Sample]:
    """Samples in which event and dropout are independent, given the covariates if there are any."""
    rng = np.random.default_rng(seed)
    event, dropout = 10 * rng.weibull(2.0, size=N), 12 * rng.weibull(1.5, size=N)
    marked = cc.Survival.from_latent(event, dropout, np.full(N, 9.0))
    entry = rng.uniform(4.0, 9.0, size=N)
    bump = np.where(rng.random(N) < 0.3, rng.normal(5.0, 0.3, size=N), event)
    x = rng.standard_normal((N, 2))
    early = event * np.exp(-(x @ [0.75, 0.25]))
    return {
        "nothing else": (None, cc.Survival.from_latent(event, dropout)),
        "end of study, marked": (None, marked),
        "end of study, not marked": (None, cc.Survival(marked.time, marked.event)),
        "staggered entry, not marked": (None, cc.Survival.from_latent(event, np.minimum(dropout, entry))),
        "a bump in the event times": (None, cc.Survival.from_latent(bump, dropout)),
        "two covariates of the event": (x, cc.Survival.from_latent(early, dropout)),
        "the same, the stronger left out": (x[:, 1:], cc.Survival.from_latent(early, dropout)),
    }


_MEASURES = ("bias", "range of errors", "within 1.96 SE")
HEAD = ("truth", "τ", "fitted", *(f"{m}: {what}" for m in MARGINS for what in _MEASURES))


def frailty(row: PrintRow) -> None:
    for tau in TAUS:
        rows(row, "no frailty", tau, [without_frailty(tau, seed) for seed in SEEDS])
    for tau in TAUS:
        rows(row, "gamma frailty", tau, [with_gamma_frailty(tau, seed) for seed in SEEDS])
    for spread in SPREADS:
        samples = [with_lognormal_frailty(spread, seed) for seed in SEEDS]
        rows(row, f"lognormal frailty, {spread:g}", tau_of_lognormal(spread), samples)


def independence(row: PrintRow) -> None:
    draws = [independent(seed) for seed in SEEDS]
    for label in draws[0]:
        rows(row, label, 0.0, [samples[label] for samples in draws])


def main() -> None:
    tables = {"frailty": frailty, "independent": independence}
    for asked in sys.argv[1:] or tables:
        with printed_table(asked, HEAD, left=3) as row:
            tables[asked](row)


if __name__ == "__main__":
    main()
