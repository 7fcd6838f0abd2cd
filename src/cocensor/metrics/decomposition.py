r"""What the Brier score at a time is made of: miscalibration, discrimination and uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.copulas import Copula
from cocensor.data.predictions import Predicted
from cocensor.inference.comparisons import Direction
from cocensor.metrics.scoring import Asked
from cocensor.metrics.sections import Linear, Section, SectionMetric, sections


class BrierParts(NamedTuple):
    """The parts of a score; the chances of an event as predicted, recalibrated, and of all subjects alike."""

    miscalibration: float
    discrimination: float
    uncertainty: float
    predicted: FloatArray
    recalibrated: FloatArray
    overall: float


def brier_parts(section: Section) -> BrierParts | None:
    """The parts; None where nobody counts, or somebody's two weights have a negative sum."""
    a, b, predicted = section.event_free, section.event, 1.0 - section.survival
    total = a + b
    if not total.sum() > 0 or total.min() < 0:
        return None
    recalibrated, overall = _recalibrated(section), float(b.sum() / total.sum())

    def score(chance: FloatArray | float) -> float:
        return float(
            a @ np.square(chance + np.zeros_like(a)) + b @ np.square(1.0 - chance + np.zeros_like(b))
        )

    at_best, alike = score(recalibrated), score(overall)
    m = section.normaliser
    return BrierParts(
        max(0.0, score(predicted) - at_best) / m,  # below 0 by rounding alone
        max(0.0, alike - at_best) / m,
        alike / m,
        predicted,
        recalibrated,
        overall,
    )


def _recalibrated(section: Section) -> FloatArray:
    """The isotonic regression of b/(a + b) on the predicted chance, weighted by a + b."""
    from scipy.optimize import isotonic_regression  # late: it takes a moment

    rows = section.order.rows
    n = rows.size
    first: Any = np.arange(n) if section.order.ties is None else section.order.ties[0]
    starts, place = np.unique(first, return_inverse=True)
    total, event = (
        np.add.reduceat(w[rows], starts) for w in (section.event_free + section.event, section.event)
    )
    used = total > 0
    fitted = isotonic_regression(event[used] / total[used], weights=total[used]).x
    # Who does not count is given the chance of those just below, or of the lowest.
    level = np.maximum(np.cumsum(used) - 1, 0)
    result = np.empty(n)
    result[rows] = fitted[level][place]
    return result


class PartOfBrier(SectionMetric):
    """A part of the Brier score at one time."""

    at: float | None = None
    undefined: ClassVar[str] = "the weights of a subject have a negative sum"
    has_skill: ClassVar[bool] = False

    def value(self, section: Section) -> float:
        """The part; NaN where there is none."""
        parts = section.once(brier_parts)
        return np.nan if parts is None else float(getattr(parts, type(self).name))

    def linear(self, section: Section) -> Linear:
        """The part and its derivatives.

        Recalibrated chances are the means of their blocks, at which the score is least: where they move, it does not.
        The same holds for the chance of all.
        """
        parts = section.once(brier_parts)
        if parts is None:
            return Linear(np.nan, *np.zeros((2, section.event.size)))
        before: Any = parts.predicted if type(self).name == "miscalibration" else parts.overall
        after, m = parts.recalibrated, section.normaliser
        by_a = (before**2 - after**2) / m
        by_b = ((1.0 - before) ** 2 - (1.0 - after) ** 2) / m
        return Linear(self.value(section), by_a, by_b)


@dataclass(frozen=True)
class Miscalibration(PartOfBrier):
    """What recalibration would take off the Brier score at one time; see :func:`brier_decomposition`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> rng = np.random.default_rng(0)
    >>> risk = np.exp(rng.normal(size=500))
    >>> y = cc.Survival(rng.exponential(1 / risk), np.ones(500))
    >>> curves = {"too low": np.exp(-np.outer(0.5 * risk, [0.5, 1.0]))}
    >>> result = cc.evaluate(curves, y, times=[0.5, 1.0], adjustments="ipcw", metrics=cc.metrics.Miscalibration(at=1.0))
    >>> round(float(result.score("too low")), 3)
    0.053
    """

    at: float | None = None

    name: ClassVar[str] = "miscalibration"
    label: ClassVar[str] = "miscalibration"
    direction: ClassVar[Direction] = "smaller"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)


@dataclass(frozen=True)
class Discrimination(PartOfBrier):
    """What telling subjects apart takes off the Brier score at one time; see :func:`brier_decomposition`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    Examples
    --------
    >>> import numpy as np
    >>> import cocensor as cc
    >>> rng = np.random.default_rng(0)
    >>> risk = np.exp(rng.normal(size=500))
    >>> y = cc.Survival(rng.exponential(1 / risk), np.ones(500))
    >>> curves = {"too low": np.exp(-np.outer(0.5 * risk, [0.5, 1.0]))}
    >>> result = cc.evaluate(curves, y, times=[0.5, 1.0], adjustments="ipcw", metrics=cc.metrics.Discrimination(at=1.0))
    >>> round(float(result.score("too low")), 3)
    0.077
    """

    at: float | None = None

    name: ClassVar[str] = "discrimination"
    label: ClassVar[str] = "discrimination"
    direction: ClassVar[Direction] = "greater"
    range: ClassVar[tuple[float, float]] = (0.0, 0.25)


@dataclass(frozen=True, eq=False)
class BrierDecomposition:
    """The Brier score at some times as the sum of its parts; made by :func:`brier_decomposition`.

    Attributes
    ----------
    times : array of shape (n_times,)
        In the order given.
    miscalibration, discrimination, uncertainty : array of shape (n_times,)
        The score is ``miscalibration`` − ``discrimination`` + ``uncertainty``.

    See Also
    --------
    brier_decomposition : Makes it; its example shows all parts.
    """

    times: FloatArray
    miscalibration: FloatArray = field(repr=False)
    discrimination: FloatArray = field(repr=False)
    uncertainty: FloatArray = field(repr=False)

    @property
    def score(self) -> FloatArray:
        """The Brier score: the sum of its parts."""
        return self.miscalibration - self.discrimination + self.uncertainty


def brier_decomposition(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
) -> Any:
    r"""The Brier score at each time as miscalibration − discrimination + uncertainty.

    With :math:`p_i = 1 - \hat S_i(t)`, :math:`y_i = b_i/(a_i + b_i)` and :math:`w_i = a_i + b_i` a subject adds

    .. math:: a_i p_i^2 + b_i (1 - p_i)^2 = w_i (p_i - y_i)^2 + \frac{a_i b_i}{w_i}

    to the score. Let :math:`\hat c_i` be the isotonic regression of y on p, with weights w: the predictions
    recalibrated, in the same order; and :math:`\bar y = \sum b_i / \sum w_i`. Then, with BS(q) the score of the
    predictions q (Dimitriadis, Gneiting and Jordan, 2021, for y of 0 and 1),

    - miscalibration is :math:`BS(p) - BS(\hat c)`, never negative: what recalibration would take off;
    - discrimination is :math:`BS(\bar y) - BS(\hat c)`, never negative: what telling subjects apart takes off;
    - uncertainty is :math:`BS(\bar y)`, the same for all models. The last term above, of those whose status is not
      known, is part of it.

    An isotonic regression follows noise: in small samples the first two are too large, by the same amount. Standard
    errors, of ``cc.metric("miscalibration")`` and ``cc.metric("discrimination")``, take its blocks as given.
    Where two weights of a subject have a negative sum, there is no isotonic regression, and the parts are NaN. All
    parts rest on the ``assumption`` of the adjustment.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.

    Returns
    -------
    BrierDecomposition, or a dict of such
        With arrays ``miscalibration``, ``discrimination``, ``uncertainty`` and ``score`` over the times.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import brier_decomposition
    >>> rng = np.random.default_rng(0)
    >>> risk = np.exp(rng.normal(size=500))
    >>> y = (rng.exponential(1 / risk), np.ones(500))
    >>> parts = brier_decomposition(y, y, np.exp(-np.outer(0.5 * risk, [0.5, 1.0])), [0.5, 1.0])
    >>> parts.miscalibration.round(3), parts.discrimination.round(3), parts.uncertainty.round(3)
    (array([0.034, 0.053]), array([0.071, 0.077]), array([0.245, 0.232]))
    >>> parts.score.round(3)
    array([0.207, 0.208])

    References
    ----------
    Dimitriadis, T., Gneiting, T., Jordan, A. I. (2021). Stable reliability diagrams for probabilistic classifiers.
    *Proceedings of the National Academy of Sciences* 118, e2016191118.
    """
    asked = Asked.of(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula)
    return asked.each(_decomposed)


def _decomposed(status: EventWeights, predictions: Mapping[Any, Predicted]) -> dict[Any, BrierDecomposition]:
    found = np.full((len(predictions), 3, status.grid.sorted.size), np.nan)
    for tile in status.tiles():
        for m, each in enumerate(predictions.values()):
            for k, section in sections(status, tile, each):
                parts = brier_parts(section)
                if parts is not None:
                    found[m, :, k] = parts[:3]
    return {
        name: BrierDecomposition(status.times, *status.grid.restore(found[m]))
        for m, name in enumerate(predictions)
    }
