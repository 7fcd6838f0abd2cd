"""Decision curves: net benefit over risk thresholds, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.adjustments.gradient import DenseGradient, Functionals
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.data.predictions import Predicted
from cocensor.inference.bands import normal_quantile
from cocensor.inference.influence import influence
from cocensor.metrics.horizon import refuse_unanswered
from cocensor.metrics.net_benefit import (
    THRESHOLDS,
    BenefitFunctionals,
    BenefitTable,
    as_thresholds,
    odds,
    threshold_blocks,
)
from cocensor.metrics.scoring import Asked


class Limited(NamedTuple):
    """Values with standard errors and the limits of intervals, each for itself; NaN where they are not known."""

    values: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """The net benefit of acting on one model's predictions at one time, over risk thresholds; see
    :func:`decision_curve`. That of treating nobody is 0.

    Attributes
    ----------
    time : float
    thresholds : array
    net_benefit, treat_all, difference : tuple of array
        Of treating those whose predicted risk reaches the threshold, of treating everybody, and what the first gains
        over the second: ``values``, ``standard_error``, ``low`` and ``high``.
    missing : str or None
        Why there are no standard errors.

    See Also
    --------
    decision_curve : Makes it, with an example.
    """

    time: float
    thresholds: FloatArray
    net_benefit: Limited
    treat_all: Limited
    difference: Limited
    missing: str | None = None


def decision_curve(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    time: float,
    thresholds: npt.ArrayLike = THRESHOLDS,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    confidence_level: float = 0.95,
) -> Any:
    """The net benefit at one time over risk thresholds, beside that of treating everybody, with intervals.

    Intervals hold at each threshold for itself. See :func:`net_benefit` for the equation and the assumption.

    Parameters
    ----------
    y_train, y_test, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.
    estimate : Predictions, array of shape (n_test,) or (n_test, 1), frame, step functions, or a dict of these
        Predicted survival probabilities; an array has those at ``time``.
    time : float
        The time by which events count.
    thresholds : array-like
        Of the risk; from 1 to 99 % unless given.
    confidence_level : float

    Returns
    -------
    DecisionCurve, or a dict of such

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import decision_curve
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.uniform(0.2, 2.0, size=(500, 1))
    >>> y = (rng.exponential(1.0 / risk[:, 0]), np.ones(500, bool))
    >>> curve = decision_curve(y, y, np.exp(-risk), 1.0, [0.4, 0.6])
    >>> curve.net_benefit.values.round(2), curve.treat_all.values.round(2)
    (array([0.43, 0.27]), array([0.42, 0.13]))
    >>> curve.difference.low.round(2), curve.difference.high.round(2)
    (array([-0.01,  0.07]), array([0.04, 0.21]))

    References
    ----------
    Vickers, A. J., Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction models.
    *Medical Decision Making* 26, 565–574.
    """
    levels = as_thresholds(thresholds)
    normal_quantile(confidence_level)
    asked = Asked.of(y_train, y_test, estimate, time, adjustment, x_train, x_test, copula)
    if asked.grid.times.size != 1:
        raise ValueError(f"time must be a single time, but there are {asked.grid.times.size}.")

    def curves(status: EventWeights, models: Mapping[Any, Predicted]) -> dict[Any, DecisionCurve]:
        return decision_curve_at(status, models, asked.samples.y_test, levels, confidence_level)

    return asked.each(curves, asked.grid)


def decision_curve_at(
    status: EventWeights,
    predictions: Mapping[Any, Predicted],
    y: Survival,
    thresholds: FloatArray = THRESHOLDS,
    confidence_level: float = 0.95,
) -> dict[Any, DecisionCurve]:
    """What :func:`decision_curve` says of several models, under the status of the test outcomes ``y`` at one time."""
    quantile = normal_quantile(confidence_level)
    refuse_unanswered(status)
    values = BenefitTable(thresholds).values_over_time(status, predictions)
    [tile] = status.tiles()
    # Treating everybody gives the events, less the others at the odds of the threshold.
    of_both = np.array([np.ones(thresholds.size), -odds(thresholds)])
    treat_all = np.array([tile.event.sum(), tile.event_free.sum()]) @ of_both / status.normaliser
    errors, missing = np.full((len(predictions), 3, thresholds.size), np.nan), None
    try:
        if status.n < 2:
            raise ValueError("a single subject gives no standard error.")
        none, each = np.zeros((status.n, 1)), np.full((status.n, 1), 1.0 / status.normaliser)
        gradients = (DenseGradient(none, each), DenseGradient(each, none))
        everybody = influence(status, Functionals(gradients, np.ones((1, 1))), y)
        for some in threshold_blocks(thresholds.size, status.n * len(predictions)):
            of_all = everybody.combined(of_both[:, some])
            moved = influence(status, BenefitFunctionals(predictions, thresholds[some]), y)
            for m, own in enumerate(moved.split(len(predictions))):
                errors[m, :, some] = [part.standard_errors for part in (own, of_all, own - of_all)]
    except ValueError as error:
        missing = str(error)

    def limited(each: FloatArray, spread: FloatArray) -> Limited:
        return Limited(each, spread, each - quantile * spread, each + quantile * spread)

    found = {}
    for (name, [own]), spread in zip(values.items(), errors, strict=True):
        three = [limited(*pair) for pair in zip((own, treat_all, own - treat_all), spread, strict=True)]
        found[name] = DecisionCurve(status.grid.last, thresholds, three[0], three[1], three[2], missing)
    return found
