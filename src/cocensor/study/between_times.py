"""What scores would be if curves stepped, where nobody said what holds between their times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cocensor._notes import Note, noted
from cocensor.data import Predicted, Predictions
from cocensor.study.scores import AdjustmentScores, scores_by

if TYPE_CHECKING:
    from cocensor.study.evaluation import Evaluation

# Other scores are told from this share of a standard error on, or of the score itself where there is none.
_OF_ERROR, _OF_SCORE = 0.1, 0.01


def read_as_steps(evaluation: Evaluation) -> list[Note]:
    """A note on what the first metric would be under the primary adjustment, as it is fitted, if curves were steps.

    Of models whose curves are lines because nothing else was stated, as far as they would move by more than a tenth of
    their standard error, or by 1 % where there is none.
    """
    data, metric = evaluation.data, evaluation.data.metrics[0]
    scores, grid = evaluation.results[evaluation.primary], data.grid_of(metric).sorted
    steps = {
        name: curves.stated(interpolation="step")
        for name, curves in data.predictions.items()
        if name in scores.values[metric.name]
        and isinstance(curves, Predictions)
        and curves.interpolation is None
        and not np.isin(grid, curves.times).all()
    }
    if not steps:
        return []
    as_steps = _values(evaluation, scores, steps)
    # Of a stream the subjects at hand are not all: what they say is the difference.
    as_lines = (
        as_steps
        if data.streamed is None
        else _values(evaluation, scores, {m: data.predictions[m] for m in steps})
    )
    others = {}
    for name, value in as_steps.items():
        own = scores.value(metric.name, name)
        other = value if data.streamed is None else own + value - as_lines[name]
        error = evaluation.score(name, metric.name, scores.name).standard_error
        margin = _OF_ERROR * error if np.isfinite(error) else _OF_SCORE * abs(own)
        if abs(other - own) > margin:
            others[name] = {"as_steps": float(other), "as_lines": float(own)}
    if not others:
        return []
    alone = next(iter(others)) if len(others) == 1 else None
    return [noted("steps_instead", model=alone, metric=metric.label, under=scores.label, scores=others)]


def _values(
    evaluation: Evaluation, scores: AdjustmentScores, predictions: Mapping[str, Predicted]
) -> dict[str, float]:
    """The first metric of some models with other predictions, under the fits that there are."""
    data, metric = evaluation.data, evaluation.data.metrics[0]
    others = replace(data, predictions=predictions, confidence_level=None)
    served = tuple((fitted, tuple(n for n in names if n in predictions)) for fitted, names in scores.served)
    found = scores_by(others, replace(scores, served=served), metric)
    return {name: each.value for name, each in found.values[metric.name].items()}
