"""How an experiment scores predictions under a protocol: the interval, the adjustments, the rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

import cocensor as cc
from cocensor._validation import FloatArray
from cocensor.experiments.base import Protocol, Row
from cocensor.simulate import SimulatedSurvival

Probabilities = npt.NDArray[np.floating[Any]]
_N_TIMES = {"matched": 50, "published": 10}
_AT_RISK = 0.05


@dataclass(frozen=True)
class Scoring:
    """The training and test part of a sample whose event times are known, and the interval that scores run over.

    "matched": all run to the largest training time with at least 5 % at risk. "published": each runs to the largest of
    the times that the authors' evaluator is given, which are the true event times of the test part for the oracle, and
    the observed times of both parts for the estimates.
    """

    protocol: Protocol
    train: SimulatedSurvival
    test: SimulatedSurvival
    #: An end for all, whatever the protocol.
    end: float | None = None

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Where the oracle's interval ends, and that of the estimates."""
        if self.end is not None:
            return self.end, self.end
        if self.protocol == "published":
            return float(self.test.event_time.max()), max(self.train.y.t_max, self.test.y.t_max)
        matched = float(cc.time_grid(self.train.y, n=2, horizon={"at_risk": _AT_RISK})[-1])
        return matched, matched

    def rows(
        self, curves: cc.Predictions, adjustments: dict[str, cc.Adjustment], **same: Any
    ) -> list[Row]:
        """One row per adjustment, with what is the ``same`` in all; one that has no answer says why."""
        oracle_end, end = self.ends
        oracle = self._score(cc.Oracle(self.test.event_time), curves, oracle_end)
        rows = []
        for name, adjustment in adjustments.items():
            estimate, note = None, ""
            try:
                estimate = self._score(adjustment, curves, end)
            except ValueError as error:
                note = str(error)
            rows.append(
                {
                    **same,
                    "adjustment": name,
                    "horizon": end,
                    "oracle_horizon": oracle_end,
                    "oracle": oracle,
                    "estimate": estimate,
                    "note": note,
                }
            )
        return rows

    def _score(self, adjustment: cc.Adjustment, curves: cc.Predictions, end: float) -> float:
        times = np.linspace(0.0, end, _N_TIMES[self.protocol])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.HorizonWarning)
            warnings.simplefilter("ignore", cc.ConvergenceWarning)
            score = cc.integrated_brier_score(
                self.train.y,
                self.test.y,
                curves,
                times,
                adjustment=adjustment,
                x_train=self.train.X,
                x_test=self.test.X,
            )
        return float(score)


def published_curves(
    survival: Callable[[FloatArray], Probabilities], times: FloatArray, end: float = math.inf
) -> cc.Predictions:
    """Curves as the authors' evaluator reads them.

    They are known at √n quantiles of n ``times``, as far as these lie before ``end``; between them they are straight,
    and beyond the last one they follow the line from (0, 1) through it, down to 0.
    """
    quantiles = np.unique(np.quantile(times, np.linspace(0.0, 1.0, math.ceil(math.sqrt(times.size)))))
    grid = quantiles[quantiles <= end]
    return cc.Predictions(grid, survival(grid), interpolation="linear", tail="linear")


def without_covariates(copula: cc.Copula, protocol: Protocol, suffix: str = "") -> dict[str, cc.Adjustment]:
    """IPCW, the paper's scores and the other marginal ones; ``suffix`` says in their names where the copula is from.

    The published ones weigh by G(t_i), by nothing where G = 0, and take the polygon through the curve for margin times.
    """
    published = protocol == "published"
    ipcw: dict[str, Any] = {
        "convention": "scikit-survival" if published else "left_limit",
        "beyond": "last",
    }
    margin: dict[str, Any] = {"curve": "linear" if published else "step", "beyond": "last"}
    found: dict[str, cc.Adjustment] = {
        "IPCW (KM)": cc.IPCW(min_probability=None if published else 1e-3, **ipcw),
        "IPCW (Cox)": cc.IPCW("cox", min_probability=1e-3, **ipcw),
        "Dep (KM)": cc.MarginTime(**margin),
    }
    if isinstance(copula, cc.ArchimedeanCopula):
        named: dict[str, cc.Adjustment] = {
            "Dep (CG)": cc.MarginTime(copula, **margin),
            "IBS-Dep": cc.MarginTime(copula, weighting="uncertainty", **margin),
            "CG-Q": cc.ConditionalStatus(copula, given="event_free", beyond="last"),
            "given the censoring": cc.ConditionalStatus(copula, beyond="last"),
            "dependent IPCW": cc.DependentIPCW(copula, beyond="last"),
        }
        found |= {name + suffix: adjustment for name, adjustment in named.items()}
    return found
