"""What is asked of every adjustment: the scores of some predictions at some times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cocensor._validation import FloatArray
from cocensor.adjustments import Adjustment
from cocensor.metrics import Metric
from cocensor.metrics.scoring import time_average
from cocensor.outcomes import Survival

#: The name of the reference curve, which no model can have.
REFERENCE = ""
#: By metric and model: scores at the times, or their mean over time.
Curves = dict[str, dict[str, FloatArray]]
Scores = dict[str, dict[str, float]]


@dataclass(frozen=True, eq=False)
class Answer:
    """The scores under one adjustment, and what is to be said about them.

    A model that the adjustment cannot score is missing; ``notes`` say why.
    """

    curves: Curves
    scores: Scores
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Question:
    """Predictions and outcomes, ready to be scored under any adjustment.

    ``curves`` are the predictions as they came, from which an adjustment given the prediction reads its risk score;
    ``read`` are the same, at the times where that is affordable.
    """

    curves: Mapping[str, Any]
    read: Mapping[str, Any]
    y_train: Survival
    y_test: Survival
    x_train: Any
    x_test: Any
    times: FloatArray
    metrics: tuple[Metric, ...]

    @property
    def without_reference(self) -> Question:
        """The same for the models alone, where their skill is not asked for."""
        named = {name: curves for name, curves in self.curves.items() if name != REFERENCE}
        return replace(self, curves=named)

    def answer(self, adjustment: Adjustment) -> Answer:
        """The scores of all models; a status that does not depend on the model is computed once."""
        notes: dict[str, None] = {}
        curves: Curves = {metric.name: {} for metric in self.metrics}
        try:
            fitted = adjustment if adjustment.is_fitted else adjustment.copy().fit(self.y_train, self.x_train)
            own = "estimate" in fitted.needs
            shared = None if own else fitted.status(self.y_test, self.times, self.x_test)
        except ValueError as error:
            return Answer(curves, _averages(self.times, curves), (f"No score: {error}",))
        for name, predicted in self.curves.items():
            called = name or "the reference curve"
            try:
                status = shared or fitted.status(self.y_test, self.times, self.x_test, predicted)
                found = {metric.name: status.mean(metric.loss, self.read[name]) for metric in self.metrics}
            except ValueError as error:
                notes[f"No score of {called}: {error}"] = None
                continue
            without = self.times[np.any([np.isnan(values) for values in found.values()], axis=0)]
            if without.size:
                since = min(status.until, without.min())
                notes[f"No score of {called}: there is no answer from time {since:g} on."] = None
                continue
            if name != REFERENCE:
                notes |= dict.fromkeys(f"{name}: {note}" if own else note for note in status.notes)
            for metric, values in found.items():
                curves[metric][name] = values
        return Answer(curves, _averages(self.times, curves), tuple(notes))


def _averages(times: FloatArray, curves: Curves) -> Scores:
    return {metric: time_average(times, found, "trapezoid") for metric, found in curves.items()}
