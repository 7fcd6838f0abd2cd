"""A clinic in files, as one would bring it: dates, questionnaires, reasons of dropout, and predictions of three models.

Patients of a trial enter over four years and are followed up to the data lock. They fill in a questionnaire whose sums
are in the table beside its items, some die or leave on the day on which they enter, and whoever drops out says why:
"moved away" for no reason that has to do with the event, "side effects" by treatment, and "too ill to attend" shortly
before death, which no covariate tells.

Run: python -m benchmarks.clinic FOLDER [--patients N] [--seed S]
Then, in that folder:

cocensor evaluate --train train.csv --test test.csv --entry admitted --exit last_seen --data-lock 2020-12-31 \
    --event died --time-unit months --reason reason --id patient \
    --covariates age,sex,stage,treatment,item1,item2,item3,item4,item5,item6,physical,mental,total \
    --predictions cox=cox.csv --predictions simple=simple.csv --predictions forest=forest.csv --out report.html
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import cocensor as cc
from cocensor.paper.learners import RSF

DATA_LOCK = "2020-12-31"
ITEMS = [f"item{k}" for k in range(1, 7)]
COVARIATES = ["age", "sex", "stage", "treatment", *ITEMS, "physical", "mental", "total"]
_STAGES = ("I", "II", "III", "IV")
_REASONS = np.array(["moved away", "side effects", "too ill to attend"])
_DAYS = 365.25


def patients(n: int, seed: int) -> pd.DataFrame:
    """The table of the clinic: one row per patient."""
    rng = np.random.default_rng(seed)
    age = rng.normal(64, 10, n).round().clip(25, 95)
    sex = rng.choice(["female", "male"], n)
    stage = rng.choice(4, n, p=(0.3, 0.3, 0.25, 0.15))
    treatment = rng.choice(["standard", "surgery", "chemotherapy"], n, p=(0.5, 0.3, 0.2))
    burden = rng.normal(size=n) + 0.4 * stage
    items = np.clip(np.rint(1.5 + burden[:, None] + rng.normal(size=(n, len(ITEMS)))), 0, 4).astype(int)
    total = items.sum(axis=1)

    strong = treatment == "chemotherapy"
    risk = (
        0.03 * (age - 64) + 0.6 * stage + 0.08 * (total - 12) - 0.5 * (treatment == "surgery") - 0.3 * strong
    )
    event = 6.0 * np.exp(-risk / 1.2) * rng.weibull(1.2, n)
    moved = 12.0 * rng.exponential(size=n)
    effects = np.where(strong, 4.0, 25.0) * rng.exponential(size=n)
    # Of those who die a part stops coming in the weeks before.
    ill = np.where(rng.random(n) < 0.3, event * rng.beta(8, 1, n), np.inf)
    leaving = np.stack([moved, effects, ill])

    entry = np.datetime64("2015-01-01") + rng.integers(0, 4 * 365, n)
    end = (np.datetime64(DATA_LOCK) - entry).astype(int)
    days = np.floor(_DAYS * np.minimum(event, leaving.min(axis=0))).astype(int)
    ended = days >= end
    died = (event <= leaving.min(axis=0)) & ~ended
    # Some die or leave on the day on which they enter.
    days = np.where(ended, end, np.where(rng.random(n) < 0.01, 0, days))
    reason = np.where(died, "", np.where(ended, "end of study", _REASONS[leaving.argmin(axis=0)]))
    table: dict[str, Any] = {
        "patient": [f"P{k:04d}" for k in range(1, n + 1)],
        "admitted": entry.astype(str),
        "last_seen": (entry + days).astype(str),
        "died": died,
        "reason": reason,
        "age": age.astype(int),
        "sex": sex,
        "stage": np.array(_STAGES)[stage],
        "treatment": treatment,
        **dict(zip(ITEMS, items.T, strict=True)),
        "physical": items[:, :3].sum(axis=1),
        "mental": items[:, 3:].sum(axis=1),
        "total": total,
    }
    return pd.DataFrame(table)


def outcomes(table: pd.DataFrame) -> cc.Survival:
    """What the clinic observed, in months."""
    days = table["admitted"], table["last_seen"]
    return cc.Survival.from_dates(*days, table["died"], DATA_LOCK, unit="months", reason=table["reason"])


def predicted(train: pd.DataFrame, test: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Survival curves of the test patients by three models, a column per month."""
    y, months = outcomes(train), np.arange(0.0, 61.0, 2.0)
    full = pd.get_dummies(pd.concat([train, test])[COVARIATES], drop_first=True).to_numpy(float)
    stage = np.array([_STAGES.index(each) for each in pd.concat([train, test])["stage"]], float)[:, None]
    n = len(train)
    # The sums of items are left to the ridge.
    cox = cc.CoxPH(ridge=1.0).fit(full[:n], y).survival(months, full[n:])
    simple = cc.CoxPH().fit(stage[:n], y).survival(months, stage[n:])
    forest = RSF(n_estimators=100, max_depth=6, seed=0).fit(full[:n], y).predict(full[n:])
    curves = {"cox": cox, "simple": simple, "forest": forest(months)}
    names = [f"{month:g}" for month in months]
    return {
        name: pd.DataFrame(values.round(5), columns=names).assign(patient=test["patient"].to_numpy())[
            ["patient", *names]
        ]
        for name, values in curves.items()
    }


def write(folder: Path, n: int, seed: int) -> None:
    """All files of the clinic."""
    table = patients(n, seed)
    train, test = table[: n // 2], table[n // 2 :]
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in {"train": train, "test": test, **predicted(train, test)}.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    y = outcomes(table)
    print(
        f"{y}; {int((y.time == 0).sum())} of the times are 0; reasons: {table['reason'].value_counts().to_dict()}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--patients", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    write(asked.folder, asked.patients, asked.seed)


if __name__ == "__main__":
    main()
