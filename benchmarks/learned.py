"""Does an imputation that learns take sides, and how near does it come to the truth?

Two distributions of event and dropout that no linear model knows, with the copula stated given all covariates (τ = 0,
and Clayton at .45); n subjects train the models and n others test them. The models are of all kinds: Cox, a Cox model
of two covariates, a random forest, boosting of scikit-survival, boosting of scikit-learn in the very form of the
learned scores, a network, and the true distribution. They are scored in sets, as the imputation model is given the
scores of all models of a set: where the truth is among them it needs no more. Errors are those of the integrated Brier
score, minus the oracle's, which knows the event times of the same test subjects. "floor" imputes by the true
distribution.

Run: python -m benchmarks.learned rows.csv [draws]
It adds the rows of units that the file lacks, and prints tables of all.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import cocensor as cc
from benchmarks.impartiality import truths
from benchmarks.impartiality.judges import Judge, oracle, verdict
from benchmarks.impartiality.measures import Estimate, ratio_of_means
from benchmarks.impartiality.models import CLASSES, Curves
from benchmarks.impartiality.truths import Sample, Truth
from benchmarks.tables import markdown, section
from cocensor._checks import FloatArray
from cocensor.paper.learners import learner

KEYS = ("truth", "tau", "n", "seed")
IPCW, LEARNED, PLAIN, FLOOR = "IPCW (KM)", "imputed, learned", "imputed, not learned", "floor"
TAUS, SIZES, DRAWS = (0.0, 0.45), (300, 1_000, 3_000), 40
TRUE = "true distribution"
SETS = {
    "Cox, forest": ("Cox", "forest"),
    "Cox, Poisson boosting": ("Cox", "Poisson boosting"),
    "all but the truth": ("Cox", "small Cox", "forest", "boosting", "Poisson boosting", "network"),
    "all": ("Cox", "small Cox", "forest", "boosting", "Poisson boosting", "network", TRUE),
}


def _bent_event(x: FloatArray, u: FloatArray) -> FloatArray:
    risk = 1.26 * np.abs(x[:, 0]) + 0.7 * x[:, 1] * x[:, 2] + 0.4 * np.maximum(x[:, 3], 0.0)
    return (-np.log(u) * np.exp(1.0 - risk)) ** (1.0 / 1.5)


def _bent_dropout(x: FloatArray, v: FloatArray) -> FloatArray:
    risk = 0.8 * np.abs(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.4 * x[:, 4]
    return (-np.log(v) * np.exp(0.6 - risk)) ** (1.0 / 1.2)


def _stepped_event(x: FloatArray, u: FloatArray) -> FloatArray:
    risk = 1.2 * (x[:, 0] > 0.5) - 0.8 * (x[:, 1] > 0.0) * (x[:, 2] > 0.0) + 0.5 * x[:, 3]
    return (-np.log(u) * np.exp(-risk)) ** (1.0 / 1.3)


def _stepped_dropout(x: FloatArray, v: FloatArray) -> FloatArray:
    risk = 0.8 * (x[:, 0] > 0.5) + 0.6 * (x[:, 4] < -0.5) + 0.3 * x[:, 3]
    return (-np.log(v) * np.exp(-risk)) ** (1.0 / 1.2)


TRUTHS = (Truth("bends", _bent_event, _bent_dropout), Truth("steps", _stepped_event, _stepped_dropout))


def _small_cox(train: Sample, x: FloatArray, times: FloatArray) -> FloatArray:
    return cc.CoxPH().fit(train.x[:, [0, 3]], train.y).survival(times, x[:, [0, 3]])


def _poisson(train: Sample, x: FloatArray, times: FloatArray) -> FloatArray:
    """Boosting as the learned scores have it, with Breslow's baseline."""
    y = train.y
    hazard = -np.log(np.maximum(cc.KaplanMeier().fit(y).predict(y.time), 1e-3)) + 1e-6
    boosting = HistGradientBoostingRegressor(
        loss="poisson", max_iter=150, max_leaf_nodes=4, early_stopping=False, max_bins=64
    ).fit(train.x, y.event / hazard, sample_weight=hazard)
    risk, own = boosting.predict(x), boosting.predict(train.x)
    order = np.argsort(y.time)
    at_risk = np.cumsum(own[order][::-1])[::-1]
    steps = np.cumsum(y.event[order] / at_risk)
    baseline = np.append(0.0, steps)[np.searchsorted(y.time[order], times, side="right")]
    return np.exp(-np.outer(risk, baseline))


def _network(train: Sample, x: FloatArray, times: FloatArray) -> FloatArray:
    network = learner("deepsurv", hidden_size=32, max_epochs=30, batch_size=128, standardize=True)
    return network.fit(train.x, train.y).predict(x)(times)


MODELS: dict[str, Callable[[Sample, FloatArray, FloatArray], FloatArray]] = {
    "Cox": CLASSES["Cox"],
    "small Cox": _small_cox,
    "forest": CLASSES["forest"],
    "boosting": CLASSES["boosting"],
    "Poisson boosting": _poisson,
    "network": _network,
}


def units() -> list[dict[str, Any]]:
    """All conditions of the first draw, then all of the second."""
    return [
        dict(zip(KEYS, (truth.name, tau, n, seed), strict=True))
        for seed in range(DRAWS)
        for truth in TRUTHS
        for n in SIZES
        for tau in TAUS
    ]


def rows(unit: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """A row per set of models and judge, with the integrated Brier score of every model."""
    truth = next(truth for truth in TRUTHS if truth.name == unit["truth"])
    copula = cc.Clayton.from_tau(unit["tau"]) if unit["tau"] else cc.Independence()
    n = unit["n"]
    sample = truths.draw(truth, copula, 2 * n, 7_000 + unit["seed"])
    train, test = sample[:n], sample[n:]
    times = cc.time_grid(train.y, test.y, n=50, horizon={"at_risk": 0.1})
    law = truths.true_law(truth, copula, test.x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        curves: Curves = {name: predict(train, test.x, times) for name, predict in MODELS.items()}
        curves[TRUE] = law.event_survival(times)
        plain: dict[str, Judge] = {IPCW: Judge("ipcw", sees_training=False), FLOOR: Judge(lambda _: law)}
        judges = {
            LEARNED: Judge("imputation"),
            PLAIN: Judge(lambda assumed: cc.Imputation("everything", assumed, learned=False)),
        }
        scores = {("", "oracle"): oracle(curves, times, test)}
        for name, judge in plain.items():
            scores["", name] = verdict(judge, copula, curves, times, train, test).scores
        for label, models in SETS.items():
            some = {model: curves[model] for model in models}
            for name, judge in judges.items():
                scores[label, name] = verdict(judge, copula, some, times, train, test).scores
    return [
        unit | {"models": label, "judge": name} | {model: round(mine[model], 6) for model in mine}
        for (label, name), mine in scores.items()
    ]


# --- tables ------------------------------------------------------------------------------------------------


def errors(table: pd.DataFrame, label: str) -> dict[str, FloatArray]:
    """By judge, cells × models of a set, in units of 0.001."""
    own = table[table["models"].fillna("").isin(("", label))]
    models = list(SETS[label])
    by_judge = {name: part.set_index(list(KEYS))[models] for name, part in own.groupby("judge", sort=False)}
    true = by_judge.pop("oracle")
    return {
        str(name): 1_000.0 * (part.reindex(true.index) - true).to_numpy(float)
        for name, part in by_judge.items()
    }


def differences(errors: FloatArray) -> FloatArray:
    """Cells × pairs of models."""
    first, second = np.array(list(combinations(range(errors.shape[1]), 2))).T
    return errors[:, first] - errors[:, second]


def _over(mine: FloatArray, other: FloatArray) -> str:
    """The ratio of two means, with its standard error."""
    ratio = Estimate.of(np.column_stack([mine, other]), ratio_of_means)
    return f"{ratio.value:.2f} ± {ratio.error:.2f}"


def _line(of: dict[str, FloatArray], label: str) -> list[str]:
    """Of each judge mean |error| of scores and differences, and the bias of the worst pair, over IPCW's |error|."""
    size = np.abs(differences(of[IPCW])).mean(axis=1)
    cells = [str(size.size), f"{size.mean():.2f}"]
    for name in (LEARNED, PLAIN, FLOOR):
        by_pair = differences(of[name])
        worst = int(np.abs(by_pair.mean(axis=0)).argmax())
        first, second = list(combinations(SETS[label], 2))[worst]
        cells.append(_over(np.abs(of[name]).mean(axis=1), np.abs(of[IPCW]).mean(axis=1)))
        cells.append(_over(np.abs(by_pair).mean(axis=1), size))
        cells.append(
            f"{_over(by_pair[:, worst], size)}" + (f" ({first} − {second})" if len(size) > 2 else "")
        )
    return cells


def tables(table: pd.DataFrame) -> Iterator[str]:
    """A table for each distribution and τ: a line for each set of models and n."""
    measures = ("scores", "differences", "bias of the worst pair")
    head = ["models, n", "draws", "IPCW, differences × 1,000"]
    head += [f"{name}: {what}" for name in (LEARNED, PLAIN, FLOOR) for what in measures]
    for truth, tau in dict.fromkeys(zip(table["truth"], table["tau"], strict=True)):
        cells = table[(table["truth"] == truth) & (table["tau"] == tau)]
        lines = [
            [f"{label}, {n:,}", *_line(errors(cells[cells["n"] == n], label), label)]
            for label in SETS
            for n in SIZES
            if (cells["n"] == n).any()
        ]
        title = f"{truth.capitalize()}, τ = {tau:g}: error over IPCW's"
        yield section(title, f"learned-{truth}-{tau:g}", markdown(head, lines))


def main() -> None:
    path, draws = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else DRAWS
    for unit in units():
        done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=list(KEYS))
        if unit["seed"] < draws and not (done[list(KEYS)] == pd.Series(unit)).all(axis=1).any():
            pd.concat([done, pd.DataFrame(list(rows(unit)))]).to_csv(path, index=False)
    print("\n\n".join(tables(pd.read_csv(path))))


if __name__ == "__main__":
    main()
