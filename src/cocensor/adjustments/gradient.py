"""How scores answer to the weights: what a metric hands to an adjustment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cocensor._validation import FloatArray, Rows


class Gradient(Protocol):
    r"""The derivatives of the scores θ(t) of one model by the weights at t, :math:`\alpha_i(t) =
    \partial\theta(t)/\partial a_i(t)` and :math:`\beta_i(t) = \partial\theta(t)/\partial b_i(t)`.

    They are asked for by blocks, and never held for all subjects and times at once.
    """

    def of_subjects(self, rows: Rows, columns: slice) -> tuple[FloatArray, FloatArray]:
        """α and β of some subjects at some of the sorted times of the status, (rows, columns) each."""


@dataclass(frozen=True, eq=False)
class Functionals:
    r"""Sums over time of scores, :math:`\sum_k w_{kf}\,\theta_m(t_k)`, of several models m.

    Attributes
    ----------
    gradients : tuple of Gradient
        One for each model.
    time_weights : array of shape (times, F)
        The weights w by sorted time: one column for an integrated score, an identity matrix for scores at each time.
    """

    gradients: tuple[Gradient, ...]
    time_weights: FloatArray

    @property
    def size(self) -> int:
        """How many there are: all F of the first model come first."""
        return len(self.gradients) * int(self.time_weights.shape[1])
