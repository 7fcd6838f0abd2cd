"""Samples and predictions of the golden studies: plain numpy, and nothing of the library.

All are rounded after they are drawn, so that they are the same to the last bit on every processor.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
#: Where the curves of models are given.
GRID = np.round(np.linspace(0.5, 14.0, 28), 6)
#: Where scores over time are computed.
TIMES = np.array([1.0, 2.0, 3.5, 5.0, 6.5, 8.0])
COLUMNS = ("age", "stage", "marker")
REASONS = ("moved", "toxicity", "worse")
_EFFECTS = {"event": np.array([0.7, -0.5, 0.3]), "dropout": np.array([0.4, 0.2, 0.0])}


@dataclass(frozen=True, eq=False)
class Sample:
    """Subjects: covariates, outcomes, who was there at the end of the study, why the others left, and the truth."""

    x: FloatArray
    time: FloatArray
    event: npt.NDArray[np.bool_]
    administrative: npt.NDArray[np.bool_]
    reason: npt.NDArray[np.str_]
    true_time: FloatArray

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: Any) -> Self:
        return replace(self, **{name: each[rows] for name, each in vars(self).items()})


def drawn(seed: int, n: int, *, end: float | None = None, width: float | None = None) -> Sample:
    """Weibull times of event and dropout that share a frailty; up to an end of the study, rounded up to a width."""
    rng = np.random.default_rng(seed)
    x = np.column_stack(
        [rng.standard_normal(n), rng.integers(0, 3, n).astype(float), rng.standard_normal(n)]
    ).round(3)
    frailty = rng.gamma(3.0, 1 / 3.0, n)
    true_time = 7.0 * (rng.exponential(size=n) / (frailty * np.exp(x @ _EFFECTS["event"]))) ** (1 / 1.4)
    dropout = 11.0 * (rng.exponential(size=n) / (frailty * np.exp(x @ _EFFECTS["dropout"]))) ** (1 / 1.1)
    ends = np.full(n, np.inf) if end is None else end * (0.5 + 0.5 * rng.random(n))
    reason = np.array(REASONS)[(rng.random(n) + 0.4 * (x[:, 0] > 0.5) > np.array([[0.45], [0.8]])).sum(0)]
    if width is None:
        true_time, dropout, ends = (np.maximum(each.round(4), 1e-4) for each in (true_time, dropout, ends))
    else:
        true_time, dropout, ends = (
            np.round(np.ceil(each / width) * width, 6) for each in (true_time, dropout, ends)
        )
    time = np.minimum(np.minimum(true_time, dropout), ends)
    event = true_time <= np.minimum(dropout, ends)
    return Sample(x, time, event, ~event & (ends <= dropout), reason, true_time)


def halves(sample: Sample) -> tuple[Sample, Sample]:
    """The first and the second half of the subjects."""
    return sample[: len(sample) // 2], sample[len(sample) // 2 :]


def scores(x: FloatArray) -> dict[str, FloatArray]:
    """The log hazards that three models see: nearly all, one covariate, and the former too boldly.

    None is a line in the covariates or in the others, so that no rounding decides which of them says nothing new.
    """
    age, stage, marker = x.T
    full = 0.65 * age - 0.45 * stage + 0.25 * marker + 0.15 * age * marker
    return {
        "full": full,
        "part": 0.6 * age + 0.2 * np.abs(age),
        "bold": 1.8 * full - 0.4 + 0.3 * np.abs(marker),
    }


def curves(x: FloatArray, times: FloatArray = GRID) -> dict[str, FloatArray]:
    """Survival probabilities of the three models at ``times``."""
    return {
        name: np.exp(-((times / 7.5) ** 1.3) * np.exp(score[:, None])).round(6)
        for name, score in scores(x).items()
    }


def folder() -> Path:
    """Where the data sets are that the project does not ship; refused where nobody says."""
    named = os.environ.get("COCENSOR_DATA")
    if not named or not Path(named).is_dir():
        raise FileNotFoundError("COCENSOR_DATA names no folder with the data sets")
    return Path(named)


@dataclass(frozen=True, eq=False)
class RealSample:
    """Subjects of a data set: covariates as a frame with texts, outcomes, and the curves of two models."""

    x: Any
    time: FloatArray
    event: npt.NDArray[np.bool_]
    curves: dict[str, FloatArray]


def real(name: str, n: int, columns: list[str], used: dict[str, float], grid: FloatArray) -> list[RealSample]:
    """Two samples of n subjects; one model uses all of the ``used`` columns of numbers, the other the first alone."""
    import pandas as pd

    path = folder() / f"{name}.csv"
    if not path.is_file():
        raise FileNotFoundError(f"COCENSOR_DATA has no {name}.csv")
    frame = pd.read_csv(path)
    frame = frame.iloc[np.random.default_rng(11).permutation(len(frame))[: 2 * n]].reset_index(drop=True)
    z = {column: (frame[column] - frame[column].mean()) / frame[column].std() for column in used}
    score = {
        "all": sum(effect * z[column] for column, effect in used.items()),
        "one": next(iter(used.values())) * next(iter(z.values())),
    }
    typical = float(frame["time"].median())
    tables = {
        model: np.exp(-0.6 * (grid / typical) ** 1.5 * np.exp(each.to_numpy()[:, None])).round(6)
        for model, each in score.items()
    }
    return [
        RealSample(
            frame.loc[rows, columns].reset_index(drop=True),
            frame.loc[rows, "time"].to_numpy(dtype=float),
            frame.loc[rows, "event"].to_numpy() == 1,
            {model: table[rows] for model, table in tables.items()},
        )
        for rows in (np.arange(n), np.arange(n, 2 * n))
    ]
