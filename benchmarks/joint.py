"""The joint model's fit: how fast against Adam (Algorithm 1 of the paper), how low, and how honest its errors are.

One core. Times of fits are the best of three, with every start of θ and independence included. Adam runs its 30,000
epochs in full on GBSG2, WHAS500 and FLCHAIN, from τ = 0.25 and from τ = 0.75, and the lower of the two values counts;
on simulated data its time is that of 30,000 epochs at the measured time per epoch (marked "extrapolated").

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.joint [speed|errors]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sksurv.datasets import load_flchain, load_gbsg2, load_whas500

import cocensor as cc
from benchmarks.adam import fit_adam
from benchmarks.tables import PrintRow, printed_table
from benchmarks.timing import best, peak_memory
from cocensor.simulate import SyntheticDesign

EPOCHS = 30_000
FAMILIES = ("clayton", "frank")
SIZES = (10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Sample:
    """A data set, and whether Adam runs in full on it."""

    name: str
    X: np.ndarray
    y: cc.Survival
    in_full: bool


def real() -> Iterator[Sample]:
    frame, outcome = load_gbsg2()
    frame["tgrade"] = frame["tgrade"].map({"I": 1, "II": 2, "III": 3}).astype(int)
    yield _sample("GBSG2", frame, outcome)
    frame, outcome = load_whas500()
    yield _sample("WHAS500", frame, outcome)
    frame, outcome = load_flchain()
    frame = frame.drop(columns="chapter")
    frame["creatinine"] = frame["creatinine"].fillna(frame["creatinine"].mean())
    frame["sample.yr"] = frame["sample.yr"].astype(float)
    kept = outcome["futime"] > 0
    yield _sample("FLCHAIN", frame[kept], outcome[kept])


def _sample(name: str, frame: pd.DataFrame, outcome: np.ndarray) -> Sample:
    event, time = outcome.dtype.names or ("event", "time")
    X = pd.get_dummies(frame, drop_first=True).astype(float).to_numpy()
    return Sample(name, X, cc.Survival(outcome[time], outcome[event]), in_full=True)


def simulated(family: str) -> Iterator[Sample]:
    for n in SIZES:
        data = SyntheticDesign(n=n, copula=cc.copula(family, tau=0.5)).draw(0)
        yield Sample(f"simulated, n = {n:.0e}", data.X, data.y, in_full=False)


def speed() -> None:
    small = SyntheticDesign(n=500).draw(0)
    cc.fit_joint(small.X, small.y, "frank")  # imports
    head = ["data", "n × p", "copula", "fit [s]", "θ", "penalised NLL", "Adam [s]", "Adam's NLL", "ratio"]
    with printed_table("speed", head, left=3) as row:
        for family in FAMILIES:
            for sample in (*real(), *simulated(family)):
                row(*cells(sample, family))


def cells(sample: Sample, family: str) -> list[str]:
    """A fit beside Adam's."""
    X, y = sample.X, sample.y
    seconds = best(lambda: cc.fit_joint(X, y, family, "weibull", 0.01), 3)
    model = cc.fit_joint(X, y, family, "weibull", 0.01)
    if sample.in_full:
        runs = [
            fit_adam(X, y.time, y.event, family, epochs=EPOCHS, theta0=cc.copula(family, tau=tau).theta)
            for tau in (0.25, 0.75)
        ]
        adam, note = runs[0].seconds, ""
        reached = f"{min(run.nll for run in runs):.7f}"
    else:
        epochs = max(5, 2_000_000 // len(y))
        adam = EPOCHS * fit_adam(X, y.time, y.event, family, epochs=epochs).seconds_per_epoch
        reached, note = "–", " (extrapolated)"
    fitted = [f"{seconds:.3g}", f"{model.copula.theta:.4g}", f"{model.nll_:.7f}"]
    peer = [f"{adam:.3g}{note}", reached, f"{adam / seconds:.0f}"]
    return [sample.name, f"{len(y):,} × {X.shape[1]}", family, *fitted, *peer]


def memory() -> None:
    setup = (
        "import cocensor as cc\nfrom cocensor.simulate import SyntheticDesign\n"
        "small = SyntheticDesign(n=1000).draw(0)\ncc.fit_joint(small.X, small.y)\n"
        "data = SyntheticDesign(n=1_000_000, copula=cc.Clayton(2.0)).draw(0)\nX, y = data.X.copy(), data.y\ndel data\n"
    )
    print("\nMemory beside the data at n = 1,000,000 and 10 covariates (X: 76 MiB):")
    for margins in ("weibull", "spline"):
        before, after = peak_memory(setup, f"cc.fit_joint(X, y, 'clayton', '{margins}')")
        print(f"- {margins} margins: {after - before} MiB, {(after - before) / 76.3:.1f} times X")


def errors(repeats: int = 200, n: int = 2_000) -> None:
    """Do the standard errors of τ agree with the spread of its estimates?

    Coefficients differ from sample to sample, and with them the standard errors; so the last but one column divides
    each estimate's error by its own standard error, and should be 1.
    """
    print(f"\nStandard errors of τ̂ over {repeats} samples of {n:,}, 10 covariates, no penalty")
    print("(estimates on the bound of their family have no standard error and are left out)\n")
    head = ["copula", "τ", "bias", "spread", "root mean square SE", "spread of error / SE", "within 1.96 SE"]
    with printed_table("errors", [*head, "on the bound"]) as row:
        _print_errors(row, repeats, n)


def _print_errors(row: PrintRow, repeats: int, n: int) -> None:
    for family in (cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe, cc.Gaussian):
        for tau in (0.25, 0.5, 0.75):
            found, error = [], []
            for seed in range(repeats):
                data = SyntheticDesign(n=n, copula=family.from_tau(tau)).draw(seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", cc.warnings.FitWarning)
                    model = cc.fit_joint(data.X, data.y, family, "weibull", 0, starts=(0.25, 0.75))
                if np.isfinite(model.tau_se_):
                    found.append(model.copula.tau)
                    error.append(model.tau_se_)
            t, e = np.array(found), np.array(error)
            z = (t - tau) / e
            estimates = [f"{t.mean() - tau:+.3f}", f"{t.std(ddof=1):.4f}", f"{np.sqrt(np.mean(e**2)):.4f}"]
            held = [f"{z.std(ddof=1):.2f}", f"{np.mean(np.abs(z) < 1.96):.1%}", str(repeats - t.size)]
            row(family.name, f"{tau}", *estimates, *held)


def main() -> None:
    asked = sys.argv[1:] or ["speed", "errors"]
    if "speed" in asked:
        speed()
        memory()
    if "errors" in asked:
        errors()


if __name__ == "__main__":
    main()
