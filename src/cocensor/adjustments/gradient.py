"""How a score answers to the weights: what a metric hands to an adjustment."""

from __future__ import annotations

from typing import Protocol

from cocensor._validation import FloatArray, Rows


class Gradient(Protocol):
    r"""The derivatives of a score θ by the weights, :math:`\alpha_i(t) = \partial\theta/\partial a_i(t)` and
    :math:`\beta_i(t) = \partial\theta/\partial b_i(t)`, at the sorted times of a status.

    They are asked for by blocks, and never held for all subjects and times at once.
    """

    def of_subjects(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """α and β of some subjects at all times, (rows, times) each."""

    def at_times(self, columns: slice) -> tuple[FloatArray, FloatArray]:
        """α and β of all subjects at some of the sorted times, (subjects, columns) each."""
