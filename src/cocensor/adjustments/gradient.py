"""Derivatives of scores by the weights, which a metric hands to an adjustment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from cocensor._checks import FloatArray, Rows

if TYPE_CHECKING:
    from cocensor.adjustments.weights import EventWeights


class GradientBlock(Protocol):
    r"""The derivatives α and β of some subjects at some times, (subjects, times) each; computed when asked for."""

    @property
    def event_free(self) -> FloatArray:
        r""":math:`\alpha_i(t) = \partial\theta(t)/\partial a_i(t)`."""

    @property
    def event(self) -> FloatArray:
        r""":math:`\beta_i(t) = \partial\theta(t)/\partial b_i(t)`."""

    def part(self, columns: slice) -> GradientBlock:
        """Return the derivatives at some of the times."""


class Gradient(Protocol):
    """The derivatives of the scores θ(t) of one model by the weights at t, never held for all subjects at once."""

    def of_subjects(self, rows: Rows) -> GradientBlock:
        """Return the derivatives of some subjects at all sorted times."""


@dataclass(frozen=True, eq=False)
class DenseGradient:
    """Derivatives that are known for all subjects: α and β, (subjects, times) each."""

    event_free: FloatArray
    event: FloatArray

    def of_subjects(self, rows: Rows) -> DenseGradient:
        """Return the derivatives of some subjects."""
        return DenseGradient(self.event_free.take(rows, axis=0), self.event.take(rows, axis=0))

    def part(self, columns: slice) -> DenseGradient:
        """Return the derivatives at some of the times."""
        return DenseGradient(self.event_free[:, columns], self.event[:, columns])


@dataclass(frozen=True, eq=False)
class LazyGradient:
    """Derivatives of which those of some subjects are computed when they are asked for."""

    compute: Callable[[Rows], tuple[FloatArray, FloatArray]]

    def of_subjects(self, rows: Rows) -> DenseGradient:
        """Return the derivatives for some subjects."""
        return DenseGradient(*self.compute(rows))


@dataclass(frozen=True, eq=False)
class Functionals:
    r"""Sums over time of scores, :math:`\sum_k w_{kf}\,\theta_m(t_k)`, of several models m."""

    gradients: tuple[Gradient, ...]
    #: w by sorted time, (times, F): one column for an integrated score, an identity matrix for scores at each time.
    time_weights: FloatArray
    #: What each subject's presence adds to n times the values, (subjects, size); by default
    #: :math:`n\sum_k w_k[a_i\alpha_i + b_i\beta_i]`, as if it were in the score by its two weights alone.
    own: FloatArray | None = None

    @property
    def size(self) -> int:
        """The number of values: all F of the first model come first."""
        return len(self.gradients) * int(self.time_weights.shape[1])

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """Return all values at once."""
        yield Part(status, self, slice(None))


class Part(NamedTuple):
    """Derivatives of the values at ``places`` by some weights, at their times; those of several parts add up."""

    status: EventWeights
    functionals: Functionals
    places: Any

    def bare(self, weight: Any) -> Part:
        """Return derivatives by the weights as they are before each is multiplied by the ``weight`` of its subject."""

        def products(gradient: Gradient, rows: Rows) -> tuple[FloatArray, FloatArray]:
            block, own = gradient.of_subjects(rows), weight[rows, None]
            return own * block.event_free, own * block.event

        gradients = tuple(LazyGradient(partial(products, own)) for own in self.functionals.gradients)
        functionals, status = replace(self.functionals, gradients=gradients), self.status.bare
        assert status is not None
        return Part(status, functionals, self.places)


class Linearised(Protocol):
    """Values as functions of the weights, in parts whose derivatives add up, such as one for some of the times each."""

    @property
    def size(self) -> int:
        """The number of values."""

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """The derivatives, part by part."""


@dataclass(frozen=True, eq=False)
class Together:
    """Values by several metrics, each as functions of the weights at times of its own, as those of one."""

    members: Sequence[tuple[EventWeights, Linearised]]

    @property
    def size(self) -> int:
        """The number of all values: those of the first metric come first."""
        return sum(values.size for _, values in self.members)

    def parts(self, _: EventWeights) -> Iterator[Part]:
        """Return the derivatives, metric by metric."""
        start = 0
        for status, values in self.members:
            places = np.arange(start, start + values.size)
            for part in values.parts(status):
                yield part._replace(places=places[part.places])
            start += values.size
