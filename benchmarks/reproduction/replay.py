"""The published protocol on the authors' own draws, score by score.

A seed gives covariates, coefficients and event times there, the same in all files. Only the dropouts' stream also hangs
on Python's hash of the copula's name, which differs from run to run and was not kept. It has a million values; the one
with which all ten seeds censor exactly as many subjects as was published, at τ = 0, is the one in ``HASHES``. The file
on the censoring rate was made in another way: there, covariates and coefficients are the authors', and times are not.

Run: python -m benchmarks.reproduction.replay FOLDER
     python -m benchmarks.reproduction.replay --search FOLDER FILE FAMILY
FOLDER holds the published results; FILE is a key of ``HASHES``. The first shows how far the rows of
benchmarks/results/replay-published.csv.gz, which ``python -m benchmarks.studies`` makes, are from the authors'.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import cocensor as cc
from benchmarks.reproduction import collect
from benchmarks.tables import markdown
from cocensor._checks import FloatArray
from cocensor.paper.base import Cell, Row
from cocensor.paper.synthetic import SyntheticConfig, SyntheticExperiment
from cocensor.simulate import SyntheticDesign, SyntheticSample

RESULTS = collect.RESULTS / "replay-published.csv.gz"
KEYS = ["copula", "tau", "assumed_copula", "assumed_tau", "seed"]
N, N_FEATURES = 10_000, 10
EVENT_STREAM, DROPOUT_STREAM = 123_456_789, 987_654_321
HASHES: dict[str, dict[str, int | None]] = {
    "correct_copula": {"clayton": 301563, "frank": 466670},
    "bguw_vs_cgq": {"clayton": 139013, "frank": 224099},
    "wrong_copula": {"clayton": 327819, "frank": 863178, "gaussian": 372349},
    "censoring": {"clayton": None, "frank": None},
}
SCORES = {"IPCW (KM)": "ibs_ipcw", "IBS-Dep": "ibs_dep_bguw", "CG-Q": "ibs_dep_cgq"}
_NAMES = {"dgp_copula": "copula", "copula_name": "copula", "true_k_tau": "tau", "k_tau": "tau"}


def uniforms(seed: int, n: int) -> FloatArray:
    """What PyTorch's generator draws in double precision: the lower 53 bits of two words of a Mersenne twister."""
    words = np.random.RandomState(seed).randint(0, 2**32, size=(n, 2), dtype=np.uint32).astype(np.uint64)
    bits = (words[:, 0] << np.uint64(32) | words[:, 1]) & np.uint64(2**53 - 1)
    return bits.astype(np.float64) * 2.0**-53


def dropout_seed(seed: int, tau: float, hashed: int) -> int:
    return seed * 1_000_003 + round(10_000 * tau) + 31 * hashed + DROPOUT_STREAM


def draw(seed: int, copula: cc.copulas.Copula, scale: float, hashed: int | None) -> SyntheticSample:
    """One of the authors' samples, the training part first; ``scale`` is that of the dropouts.

    Without a hash, the dropouts are of a stream of our own.
    """
    design = SyntheticDesign.preset("published", n=N, copula=copula, censoring_rate=None)
    shape = design.dropout[0]
    flat = uniforms(seed, (N + 2) * N_FEATURES)
    X = flat[: N * N_FEATURES].reshape(N, N_FEATURES)
    event_coef, dropout_coef = 2.0 * flat[N * N_FEATURES :].reshape(2, N_FEATURES) - 1.0
    u = np.random.default_rng(seed + EVENT_STREAM).random(N)
    stream = seed if hashed is None else dropout_seed(seed, copula.tau, hashed)
    v = copula.sample_given(u, np.random.default_rng(stream))
    event_time = _times(u, X @ event_coef, *design.event)
    dropout_time = _times(v, X @ dropout_coef, shape, scale)
    sample = SyntheticSample(
        X=X,
        y=cc.Survival(np.minimum(event_time, dropout_time), event_time < dropout_time),
        event_time=event_time,
        dropout_time=dropout_time,
        seed=seed,
        hidden=None,
        event_coef=event_coef,
        dropout_coef=dropout_coef,
        dropout_scale=scale,
        design=design,
    )
    return sample[np.random.default_rng(0).permutation(N)]


def _times(survival: FloatArray, risk: FloatArray, shape: float, scale: float) -> FloatArray:
    return scale * (-np.log(survival) / np.exp(risk)) ** (1.0 / shape)


class Replay(SyntheticExperiment):
    """The cells of one published file."""

    name, along, label = "replay", "tau", "Kendall's τ"

    def __init__(
        self, published: pd.DataFrame, hashes: dict[str, int | None], *, refit: bool = False
    ) -> None:
        super().__init__(SyntheticConfig(protocol="published"))
        self.published, self.hashes, self.refit = published, hashes, refit

    def cells(self) -> list[Cell]:
        """Every setting of the families whose hash is known, once."""
        known = self.published[self.published["copula"].isin(list(self.hashes))]
        return known[[*KEYS, "scale"]].drop_duplicates().to_dict("records")

    def _draw(self, cell: Cell, truth: cc.copulas.Copula) -> SyntheticSample:
        return draw(int(cell["seed"]), truth, cell["scale"], self.hashes[cell["copula"]])

    def _adjustments(self, assumed: cc.copulas.Copula) -> dict[str, cc.adjustments.Adjustment]:
        return {name: each for name, each in super()._adjustments(assumed).items() if name in SCORES}


def published(folder: Path, name: str) -> pd.DataFrame:
    """A file of the authors with our names of its columns."""
    frame = pd.read_csv(folder / f"synthetic_results_{name}.csv").rename(
        columns={**_NAMES, "assumed_k_tau": "assumed_tau", "alpha_c_used": "scale"}
    )
    frame["tau"] = frame["tau"].round(2)
    for column, same in (("assumed_copula", "copula"), ("assumed_tau", "tau")):
        if column not in frame:
            frame[column] = frame[same]
    return frame


def rows_of(file: str, experiment: Replay, cell: Cell) -> list[Row]:
    """Our scores on one of the authors' draws."""
    of = {"file": file} | {key: cell[key] for key in KEYS}
    kept = ("adjustment", "realised_rate", "rate_bin", "oracle", "estimate")
    return [of | {name: row[name] for name in kept} for row in experiment.run_cell(cell)]


def differences(folder: Path) -> str:
    """By file and family: the largest |difference| of the censored share, the oracle and the scores."""
    rows = pd.read_csv(RESULTS).query("file != 'censoring'")
    table = []
    for (name, family), ours in rows.groupby(["file", "copula"], sort=False):
        both = ours.merge(published(folder, str(name)).drop_duplicates(KEYS), on=KEYS, how="left")
        off = [both["realised_rate"] - both["censoring_rate"], both["oracle"] - both["ibs_true"]]
        for score, column in SCORES.items():
            if column in both:
                off.append((both["estimate"] - both[column])[both["adjustment"] == score])
        said = [f"{difference.abs().max():.0e}" for difference in off]
        settings = str(len(both.drop_duplicates(KEYS)))
        table.append([f"{name}, {family}", settings, *said, *["–"] * (len(SCORES) + 2 - len(said))])
    return markdown(["file, copula", "scores of each kind", "censored", "oracle", *SCORES], table)


def search(folder: Path, name: str, family: str) -> int | None:
    """The hash with which all seeds censor as many subjects at τ = 0 as was published."""
    frame = published(folder, name)
    settings = frame[(frame["copula"] == family) & (frame["tau"] == 0)].drop_duplicates("seed")
    limits, events = [], []
    for seed, scale, rate in settings[["seed", "scale", "censoring_rate"]].itertuples(index=False):
        sample = draw(int(seed), cc.Independence(), scale, 0)
        shape = sample.design.dropout[0]
        order = np.argsort(np.random.default_rng(0).permutation(N))
        hazard = (sample.event_time / scale) ** shape * np.exp(sample.X @ sample.dropout_coef)
        limits.append(np.exp(-hazard)[order])
        events.append(round((1.0 - rate) * N))
    for hashed in range(1_000_000):
        streams = (np.random.default_rng(dropout_seed(seed, 0.0, hashed)) for seed in range(len(limits)))
        found = (
            np.count_nonzero(stream.random(N) < limit) for stream, limit in zip(streams, limits, strict=True)
        )
        if all(n == wanted for n, wanted in zip(found, events, strict=True)):
            return hashed
    return None


def main() -> None:
    if sys.argv[1] == "--search":
        print(search(Path(sys.argv[2]), *sys.argv[3:5]))
        return
    print(differences(Path(sys.argv[1])))


if __name__ == "__main__":
    main()
