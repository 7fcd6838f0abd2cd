"""Scores of an experiment under a protocol: the interval, and the rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import cocensor as cc
from cocensor._cached import cached_property
from cocensor._checks import FloatArray
from cocensor.paper.base import Protocol, Row
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
        self,
        curves: cc.Predictions,
        adjustments: Mapping[str, cc.adjustments.Adjustment | cc.adjustments.Fitted],
        **same: Any,
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

    def _score(
        self,
        adjustment: cc.adjustments.Adjustment | cc.adjustments.Fitted,
        curves: cc.Predictions,
        end: float,
    ) -> float:
        times = np.linspace(0.0, end, _N_TIMES[self.protocol])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
            warnings.simplefilter("ignore", cc.warnings.FitWarning)
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
