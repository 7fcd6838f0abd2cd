"""Metrics by name, for those who score many models at once."""

from __future__ import annotations

from dataclasses import dataclass

from cocensor.adjustments.status import Loss
from cocensor.metrics.brier import BRIER
from cocensor.metrics.log import log_loss

_LABELS = {"ibs": "integrated Brier score", "ils": "integrated log score"}


@dataclass(frozen=True)
class Metric:
    """A loss averaged over subjects and time; smaller is better. Made by :func:`metric`."""

    name: str
    label: str
    loss: Loss
    floor: float | None = None


def metric(name: str, *, floor: float | None = None) -> Metric:
    """The integrated Brier score ``"ibs"``, or the integrated log score ``"ils"`` with its ``floor``.

    Examples
    --------
    >>> metric("ibs").label
    'integrated Brier score'
    """
    if name not in _LABELS:
        raise ValueError(f"metric must be one of {', '.join(map(repr, _LABELS))}, but is {name!r}.")
    if (name == "ils") != (floor is not None):
        needed = "needed" if name == "ils" else "not an option"
        raise ValueError(f"floor is {needed} for the metric {name!r}: cocensor.metric('ils', floor=0.01).")
    return Metric(name, _LABELS[name], BRIER if floor is None else log_loss(floor), floor)
