"""Risk scores of predictions, for a joint model that is given them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cocensor._notes import Note
from cocensor._validation import FloatArray, as_matrix, as_times, as_vector, check_whole, row_blocks
from cocensor.curves import Predictions
from cocensor.outcomes import Survival

# A column that others explain up to this share of its variance adds nothing but trouble.
_COLLINEAR = 1e-6


def check_score_times(score_times: Any) -> int | tuple[float, ...]:
    """How many times to read predictions at, or which."""
    if isinstance(score_times, int | np.integer):
        return check_whole(score_times, "score_times")
    times = np.unique(as_times(as_vector(score_times, "score_times", single=True), "score_times"))
    if not times.size:
        raise ValueError("score_times is empty: at least one time is needed.")
    return tuple(times.tolist())


def design(
    x: Any, predictions: Mapping[str, Predictions], y: Survival, score_times: int | tuple[float, ...]
) -> tuple[FloatArray, tuple[Note, ...]]:
    r"""Covariates and the risk scores :math:`\log(-\log \hat S(t_0))` of all predictions, and notes on them.

    Constant scores, and those that other columns explain, leave the design.
    """
    kept = np.empty((len(y), 0)) if x is None else as_matrix(x, "x_test")
    notes: list[Note] = []
    for name, predicted in predictions.items():
        for t in _times(predicted, y, score_times):
            score, n_extreme = _score(predicted, t)
            if score is None or _is_explained(score, kept):
                text = (
                    f"The risk score at time {t:g} is left out: it is constant, or explained by the others."
                )
                notes.append(Note("decision", text, model=name))
                continue
            if n_extreme:
                text = f"{n_extreme} predictions at time {t:g} are 0 or 1: they get the most extreme score of others."
                notes.append(Note("decision", text, model=name))
            kept = np.column_stack((kept, score))
            notes.append(Note("decision", f"The risk score is read at time {t:g}.", model=name))
    return kept, tuple(notes)


def _times(predicted: Predictions, y: Survival, score_times: int | tuple[float, ...]) -> FloatArray:
    """Where the predictions of a model are read: within what is known of them, and where they differ."""
    if isinstance(score_times, int):
        n_levels = min(score_times, len(y))  # which gives all of the times
        levels = np.arange(1, n_levels + 1) / (n_levels + 1)
        wanted = np.quantile(y.time, levels, method="inverted_cdf")
    else:
        wanted = np.array(score_times)
    wanted = np.unique(np.minimum(wanted, predicted.end))
    values = predicted.read(wanted, slice(None))
    constant = values.min(axis=0) == values.max(axis=0)
    if not constant.any():
        return wanted
    differ = _where_they_differ(predicted)
    if not differ.size:
        return wanted
    nearest = differ[np.abs(differ - wanted[constant, None]).argmin(axis=1)]
    return np.unique(np.concatenate((wanted[~constant], nearest)))


def _where_they_differ(predicted: Predictions) -> FloatArray:
    """The times of the grid at which not all subjects have the same prediction."""
    table = predicted.probabilities
    low, high = np.full(table.shape[1], np.inf), np.full(table.shape[1], -np.inf)
    for rows in row_blocks(*table.shape):
        low = np.minimum(low, table[rows].min(axis=0))
        high = np.maximum(high, table[rows].max(axis=0))
    return predicted.times[low < high]


def _score(predicted: Predictions, t: float) -> tuple[FloatArray | None, int]:
    """log(−log Ŝ(t)), and how many of them are infinite and got the most extreme score of the others."""
    with np.errstate(divide="ignore"):
        score = np.log(-np.log(predicted.read(np.array([t]), slice(None))[:, 0]))
    finite = np.isfinite(score)
    if not finite.any():
        return None, 0
    if finite.all():
        return score, 0
    return np.clip(score, score[finite].min(), score[finite].max()), int((~finite).sum())


def _is_explained(score: FloatArray, others: FloatArray) -> bool:
    """Whether a score is constant, or a combination of others up to a negligible rest."""
    columns = np.column_stack((np.ones(score.size), others))
    rest = score - columns @ np.linalg.lstsq(columns, score, rcond=None)[0]
    spread = np.var(score)
    return bool(spread <= 1e-24 * max(1.0, float(np.mean(score**2))) or np.var(rest) < _COLLINEAR * spread)
