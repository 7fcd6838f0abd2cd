"""The logarithmic score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, check_number
from cocensor._namespaces import at_least, namespace
from cocensor.adjustments import Adjustment, Fitted
from cocensor.copulas import Copula
from cocensor.metrics.kernel import Loss
from cocensor.metrics.pointwise import Integration, PointwiseMetric
from cocensor.metrics.scoring import asked


@dataclass(frozen=True)
class IntegratedLogScore(PointwiseMetric):
    """The logarithmic score averaged over time; see :func:`integrated_log_score`.

    Parameters
    ----------
    floor : float
        The smallest probability that is taken at its word; it has no default.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"cox": [[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]]}
    >>> log_score = cc.metrics.IntegratedLogScore(floor=1e-6)
    >>> round(float(cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics=log_score).score("cox")), 4)
    0.3593
    """

    floor: float

    name: ClassVar[str] = "ils"
    label: ClassVar[str] = "integrated log score"
    curve_label: ClassVar[str | None] = "log score"
    range: ClassVar[tuple[float, float]] = (0.0, np.inf)

    def __post_init__(self) -> None:
        log_loss(self.floor)

    @property
    def loss(self) -> Loss:
        """Minus the logarithm of the probability of what happened."""
        return log_loss(self.floor)


def log_score(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    floor: float,
    adjustment: str | Adjustment | Fitted = "ipcw",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    return_influence: bool = False,
) -> Any:
    r"""The logarithmic score (binomial log-loss) at each time,

    .. math:: LS(t) = -\frac1m \sum_i \left[ a_i(t)\log\hat S_i(t) + b_i(t)\log(1 - \hat S_i(t)) \right],

    with the weights of the adjustment, on whose ``assumption`` it rests. A prediction of 0 or 1 that turns out wrong
    costs infinitely much.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula, return_influence
        As in :func:`brier_score`.
    floor : float
        The smallest probability that is taken at its word, for survival and for the event alike. It has no default,
        because it decides the score of overconfident models.

    Returns
    -------
    array of shape (n_times,), float at a single time, or a dict of such; with ``return_influence`` a pair

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import log_score
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))
    >>> predicted = np.array([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]])
    >>> log_score(y, y, predicted, [1.5, 3.5], floor=1e-6).round(4)
    array([0.3375, 0.3811])

    References
    ----------
    Good, I. J. (1952). Rational decisions. *Journal of the Royal Statistical Society B* 14, 107–114.
    """
    given = asked(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula)
    return given.over_time(IntegratedLogScore(floor), return_influence)


def integrated_log_score(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    floor: float,
    adjustment: str | Adjustment | Fitted = "ipcw",
    integration: Integration = "trapezoid",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    return_influence: bool = False,
) -> Any:
    r"""The logarithmic score averaged over time, :math:`\frac{1}{t_2 - t_1}\int_{t_1}^{t_2} LS(t)\,dt`.

    See :func:`log_score` for LS and its assumption.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula, return_influence
        As in :func:`brier_score`.
    floor : float
        As in :func:`log_score`.
    integration : {"trapezoid", "step"}
        As in :func:`integrated_brier_score`.

    Returns
    -------
    float, or a dict of such; with ``return_influence`` a pair

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import integrated_log_score
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))
    >>> predicted = np.array([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]])
    >>> round(integrated_log_score(y, y, predicted, [1.5, 3.5], floor=1e-6), 4)
    0.3593
    """
    given = asked(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula)
    return given.averages(IntegratedLogScore(floor), integration, return_influence)


def log_loss(floor: float) -> Loss:
    """The two losses of the logarithmic score, with probabilities of at least ``floor``."""
    floor = check_number(floor, "floor", lower=0.0, upper=0.5)
    return Loss(
        event_free=partial(_event_free, floor),
        event=partial(_event, floor),
        known=partial(_known, floor),
        largest=float(-np.log(floor)),
    )


def _event_free(floor: float, p: Any) -> Any:
    return -namespace(p).log(at_least(p, floor))


def _event(floor: float, p: Any) -> Any:
    return _event_free(floor, 1.0 - p)


def _known(floor: float, event_free: FloatArray, p: FloatArray, out: FloatArray) -> None:
    np.subtract(event_free, 1.0, out=out)
    np.add(out, p, out=out)  # p itself, or p − 1
    np.maximum(np.abs(out, out=out), floor, out=out)
    np.negative(np.log(out, out=out), out=out)
