"""The learners on real data: Harrell's C-index on a test part, and the time to fit and to predict it.

One core. 70 % of the subjects train, 10 % validate, 20 % test, stratified by event, in five splits; numeric columns
are standardised and missing ones imputed by training means, categories are one-hot encoded without their first level.
The hyperparameters are those of the paper's text, and for the trees of the published numbers as well. A subject's risk
is its restricted mean survival time with the sign turned, up to the last training time.

METABRIC is read from the folder that ``COCENSOR_DATA`` names, and left out without one.

A second table compares the fits of Cox's model and of boosting with scikit-survival's, in the same run.

Run: OPENBLAS_NUM_THREADS=1 python -m benchmarks.learners
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sksurv.datasets import load_flchain, load_gbsg2
from sksurv.ensemble import GradientBoostingSurvivalAnalysis
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored
from sksurv.util import Surv

import cocensor as cc
from benchmarks.tables import PrintRow, printed_table
from benchmarks.timing import best
from cocensor.paper.learners import learner, learners

SPLITS = 5
RUNS = [
    *((name, "text") for name in learners()),
    ("gbsa", "published"),
    ("rsf", "published"),
]


@dataclass(frozen=True)
class Sample:
    """A data set."""

    name: str
    frame: pd.DataFrame
    y: cc.Survival


@dataclass(frozen=True)
class Part:
    """Subjects of one part of a data set."""

    X: pd.DataFrame
    y: cc.Survival


def data() -> Iterator[Sample]:
    frame, outcome = load_gbsg2()
    yield Sample("GBSG2", frame, cc.Survival.coerce(outcome))
    folder = os.environ.get("COCENSOR_DATA")
    if folder is not None:
        frame = pd.read_csv(Path(folder) / "metabric.csv")
        y = cc.Survival.from_frame(frame, time="time", event="event")
        yield Sample("METABRIC", frame.drop(columns=["time", "event"]), y)
    frame, outcome = load_flchain()
    kept = outcome["futime"] > 0
    frame = frame[kept].drop(columns="chapter")
    frame["sample.yr"] = frame["sample.yr"].astype(float)
    yield Sample("FLCHAIN", frame, cc.Survival.coerce(outcome[kept]))


def split(sample: Sample, seed: int) -> list[Part]:
    """Training, validation and test part."""
    numeric = sample.frame.select_dtypes("number").columns
    X = pd.get_dummies(sample.frame, drop_first=True).astype(float).reset_index(drop=True)
    rng = np.random.default_rng(seed)
    pieces = []
    for status in (True, False):
        rows = rng.permutation(np.flatnonzero(sample.y.event == status))
        pieces.append(np.split(rows, [round(0.7 * rows.size), round(0.8 * rows.size)]))
    parts = [np.concatenate(both) for both in zip(*pieces, strict=True)]
    known = X.loc[parts[0], numeric]
    X[numeric] = (X[numeric].fillna(known.mean()) - known.mean()) / known.std()
    return [Part(X.loc[rows], sample.y[rows]) for rows in parts]


def quality() -> None:
    head = ["data", "n (training) × p", "learner", "preset", "C-index (SD)"]
    with printed_table("quality", [*head, "fit [s]", "predict [s]", "epochs", "times"], left=4) as row:
        _print_quality(row)


def _print_quality(row: PrintRow) -> None:
    for sample in data():
        splits = [split(sample, seed) for seed in range(SPLITS)]
        train = splits[0][0]
        for name, preset in RUNS:
            c, fit, predict, epochs, times = np.transpose([run(name, preset, *parts) for parts in splits])
            row(
                *(sample.name, f"{len(train.y):,} × {train.X.shape[1]}", name, preset),
                *(f"{c.mean():.3f} ({c.std(ddof=1):.3f})", f"{fit.mean():.2f}", f"{predict.mean():.2f}"),
                "–" if np.isnan(epochs).any() else str(round(epochs.mean())),
                f"{round(times.mean()):,}",
            )


def run(name: str, preset: str, train: Part, validation: Part, test: Part) -> list[float]:
    """C-index, seconds to fit and to predict, epochs until the best, number of times of the curves."""
    model = learner(name, preset=preset)  # type: ignore[arg-type]  # mypy forgets the literal in a list
    start = time.perf_counter()
    model.fit(train.X, train.y, validation.X, validation.y)
    fitted = time.perf_counter()
    curves = model.predict(test.X)
    done = time.perf_counter()
    c = concordance_index_censored(test.y.event, test.y.time, -curves.restricted_mean(train.y.t_max))[0]
    return [c, fitted - start, done - fitted, getattr(model, "best_epoch_", np.nan), curves.times.size]


def speed() -> None:
    with printed_table(
        "speed", ["data", "learner", "fit [s]", "scikit-survival [s]", "ratio"], left=2
    ) as row:
        for sample in data():
            train = split(sample, 0)[0]
            for name in ("coxph", "gbsa"):
                ours, theirs = compare(name, train.X.to_numpy(), train.y)
                row(sample.name, name, f"{ours:.3f}", f"{theirs:.2f}", f"{theirs / ours:.0f}")


def compare(name: str, X: np.ndarray, y: cc.Survival) -> tuple[float, float]:
    """Seconds of our fit and of scikit-survival's."""
    outcome = Surv.from_arrays(y.event, y.time)
    if name == "coxph":
        peer = CoxPHSurvivalAnalysis(alpha=0.01, ties="breslow", n_iter=100, tol=1e-9)
    else:
        peer = GradientBoostingSurvivalAnalysis(
            n_estimators=100, max_depth=1, max_features="sqrt", subsample=0.8, random_state=0
        )
    return best(lambda: learner(name).fit(X, y), 3), best(lambda: peer.fit(X, outcome), 1)


def main() -> None:
    torch.set_num_threads(1)
    small = np.arange(8.0)[:, None], (np.arange(1.0, 9.0), np.ones(8))
    for name in learners():
        learner(name).fit(*small)  # imports
    quality()
    speed()


if __name__ == "__main__":
    main()
