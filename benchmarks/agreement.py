"""Do other packages give the same values? Brier scores under IPCW, Copula-Graphic curves and margin times.

1,000 test and as many training subjects, half of them censored, with times as drawn and rounded up to a twentieth.
Brier scores at 20 times: the largest difference from ours, where an event at t weighs 1/G(t−), the default, or 1/G(t).
pycox takes G from the test sample, and so do we beside it. Copula-Graphic curves of SurvivalEVAL at all observed times,
and its margin times of the censored.

Run: python -m benchmarks.agreement (in the environment of the peers)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import cocensor as cc
from benchmarks.brier import Data, draw, our_margin_times, peer_margin_times
from benchmarks.copula_graphic import COPULAS, peer_fit
from benchmarks.copula_graphic import PEERS as FAMILIES
from benchmarks.tables import PrintRow, printed_table

N, T, GRAIN = 1_000, 20, 20


def rounded(data: Data) -> Data:
    """Times rounded up, all within the training sample's; the first time of scores lies before all of them."""
    train_time, time = (np.ceil(GRAIN * each) / GRAIN for each in (data.train_time, data.time))
    inside = time < train_time.max()
    return replace(
        data,
        train_time=train_time,
        time=time[inside],
        event=data.event[inside],
        times=data.times[1:],
        predicted=data.predicted[inside, 1:],
    )


def scikit_survival(data: Data) -> np.ndarray:
    from sksurv.metrics import brier_score
    from sksurv.util import Surv

    train = Surv.from_arrays(data.train_event, data.train_time)
    test = Surv.from_arrays(data.event, data.time)
    return np.asarray(brier_score(train, test, data.predicted, data.times)[1])


def survival_eval(data: Data) -> np.ndarray:
    from SurvivalEVAL import brier_multiple_points

    return np.asarray(
        brier_multiple_points(
            data.predicted, data.time, data.event, data.train_time, data.train_event, data.times
        )
    )


def torchsurv(data: Data) -> np.ndarray:
    import torch
    from torchsurv.metrics.brier_score import BrierScore
    from torchsurv.stats.ipcw import get_ipcw

    train = torch.tensor(data.train_event), torch.tensor(data.train_time)
    event, time, times = torch.tensor(data.event), torch.tensor(data.time), torch.tensor(data.times)
    weights = get_ipcw(*train, time), get_ipcw(*train, times)
    return np.asarray(BrierScore()(torch.tensor(data.predicted), event, time, times, *weights))


def pycox(data: Data) -> np.ndarray:
    import pandas as pd
    from pycox.evaluation import EvalSurv

    curves = pd.DataFrame(data.predicted.T, index=data.times)
    return EvalSurv(curves, data.time, data.event, censor_surv="km").brier_score(data.times).to_numpy()


PEERS: dict[str, Callable[[Data], np.ndarray]] = {
    "scikit-survival": scikit_survival,
    "SurvivalEVAL": survival_eval,
    "torchsurv": torchsurv,
    "pycox": pycox,
}


def brier() -> None:
    untied = draw(N, T)
    head = ["package", "weights from", "times", "1/G(t−), as by default", "1/G(t)"]
    with printed_table("brier", head, left=3) as row:
        _print_brier(row, untied)


def _print_brier(row: PrintRow, untied: Data) -> None:
    for name, peer in PEERS.items():
        for kind, data in (("as drawn", untied), ("rounded", rounded(untied))):
            train, test = data.outcomes
            expected = peer(data)
            cells = []
            for convention in ("left_limit", "scikit-survival"):
                found = cc.brier_score(
                    None if name == "pycox" else train,
                    test,
                    data.predicted,
                    data.times,
                    adjustment=cc.IPCW(convention=convention),
                )
                cells.append(shown(found - expected))
            sample = "test sample" if name == "pycox" else "training sample"
            row(name, sample, kind, *cells)


def curves() -> None:
    data = draw(N, T)
    y = data.train_time, data.train_event
    at = np.unique(data.train_time)
    with printed_table("curves", ["what", "before the last time", "at the last time, an event"]) as row:
        for name in FAMILIES:
            copula = COPULAS[name]
            difference = cc.CopulaGraphic(copula).fit(y).predict(at) - peer_curve(name, copula.theta, *y)(at)
            row(f"Copula-Graphic curve, {name}, τ = 0.5", shown(difference[:-1]), shown(difference[-1:]))
        difference = our_margin_times(data) - np.asarray(peer_margin_times(data)())
        row("margin times of the censored, Kaplan–Meier", shown(difference), "")


def peer_curve(
    name: str, theta: float, time: np.ndarray, event: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    fitted: Any = peer_fit(name, theta, time, event)
    return lambda at: np.asarray(fitted.predict(at))


def shown(difference: np.ndarray) -> str:
    """The largest difference, by its size."""
    largest = float(np.abs(difference).max())
    return "below 1e-14" if largest < 1e-14 else f"{largest:.0e}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    brier()
    curves()
