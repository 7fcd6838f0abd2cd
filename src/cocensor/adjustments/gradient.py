"""How scores answer to the weights: what a metric hands to an adjustment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cocensor._validation import BoolArray, FloatArray, Rows


class GradientBlock(Protocol):
    r"""The derivatives α and β of some subjects at some times, (subjects, times) each; computed when asked for."""

    @property
    def event_free(self) -> FloatArray:
        r""":math:`\alpha_i(t) = \partial\theta(t)/\partial a_i(t)`."""

    @property
    def event(self) -> FloatArray:
        r""":math:`\beta_i(t) = \partial\theta(t)/\partial b_i(t)`."""

    def part(self, columns: slice, mask: BoolArray | None = None) -> GradientBlock:
        """Some of the times; 0 outside of the ``mask``."""


class Gradient(Protocol):
    """The derivatives of the scores θ(t) of one model by the weights at t.

    They are asked for by blocks, and never held for all subjects and times at once.
    """

    def of_subjects(self, rows: Rows) -> GradientBlock:
        """Those of some subjects at all sorted times of the status."""


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
