"""ROC curves at single times, with their sampling error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.copulas import Copula
from cocensor.inference.estimates import Estimates
from cocensor.inference.influence import batched_rows
from cocensor.metrics.auc import CumulativeDynamicAUC
from cocensor.metrics.base import Profile
from cocensor.metrics.roc import FALSE_ALARMS
from cocensor.metrics.scoring import Asked


@dataclass(frozen=True, eq=False)
class RocCurve:
    """The ROC curve at a time: which share of the events is found at which share of false alarms.

    Attributes
    ----------
    time : float
    false_alarms, found : array of shape (101,)
        Of those event-free, and of those who had the event by then, the share above a threshold.
    low, high : array of shape (101,)
        Limits of ``found`` at each share of false alarms on its own; NaN where none were asked for.
    auc : float
        The area under the curve, of all subjects and not of the 101 points.

    See Also
    --------
    survival_roc_curve : Makes it, with an example.
    """

    time: float
    false_alarms: FloatArray = field(repr=False)
    found: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    auc: float


def survival_roc_curve(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    confidence_level: float | None = 0.95,
) -> Any:
    r"""The ROC curve behind the AUC at a time, of a risk score or of predicted survival probabilities.

    An alarm is raised for the subjects whose marker M lies above a threshold c, :math:`h_i = 1[M_i > c]`. With the
    weights of the adjustment, the share of false alarms among those event-free at t is :math:`p = \sum_i a_i h_i /
    \sum_i a_i`, and the share of events found is :math:`R(p) = \sum_i b_i h_i / \sum_i b_i`. Where markers are equal
    the curve runs along a line. What it rests on, and what ``estimate`` may be, is as in
    :func:`cumulative_dynamic_auc`.

    Weights below 0, which dependent IPCW and AIPCW may have, would make the share of false alarms fall on the way: it
    is taken as the largest so far, and the area under that curve is not the AUC. Imputed subjects, event-free in
    part, are in both shares. The AUC does not hold them against themselves, so that the area is nearer to ½, by at most
    1/n.

    The limits are R(p) ± z standard errors, cut to [0, 1]. The threshold at a given p moves with those event-free; that
    counts with the slope of the curve around p, taken over ± max(0.02, m^(−1/3)/2) for m event-free subjects. So limits
    are approximate where the curve is steep. With more than 4,096 subjects random batches stand for single ones.

    Parameters
    ----------
    y_train, y_test, estimate, adjustment, x_train, x_test, copula
        As in :func:`cumulative_dynamic_auc`.
    times : float or array-like
        One time gives one curve, several a list.
    confidence_level : float or None
        None for no limits, for adjustments without an analytic influence.

    Returns
    -------
    RocCurve, or a list of such; for a dict of models a dict

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import survival_roc_curve
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.normal(size=300)
    >>> y = (rng.exponential(np.exp(-risk)), rng.uniform(size=300) < 0.7)
    >>> curve = survival_roc_curve(y, y, risk, 0.5)
    >>> curve
    RocCurve(time=0.5, auc=0.802...)
    >>> of_100 = {"false alarms": curve.false_alarms, "found": curve.found, "from": curve.low, "to": curve.high}
    >>> {name: int(100 * values[20]) for name, values in of_100.items()}
    {'false alarms': 20, 'found': 67, 'from': 54, 'to': 79}

    References
    ----------
    Heagerty, P. J., Lumley, T., Pepe, M. S. (2000). Time-dependent ROC curves for censored survival data and a
    diagnostic marker. *Biometrics* 56, 337–344.
    """
    asked = Asked.of(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula, risk=True)
    found: dict[Any, list[RocCurve]] = {name: [] for name in asked.predictions}
    for models, _, status in asked.samples.weights_by_fit(asked.chosen, asked.grid, asked.predictions):
        for k in range(asked.grid.sorted.size):
            for name, curve in _curves(
                asked, models, status.at_columns(slice(k, k + 1)), confidence_level
            ).items():
                found[name].append(curve)
    place = range(asked.grid.sorted.size) if asked.grid.place is None else asked.grid.place
    given = {
        name: curves[0] if asked.single else [curves[k] for k in place] for name, curves in found.items()
    }
    return given if asked.several else given[""]


def _curves(
    asked: Asked, models: dict[Any, Any], status: EventWeights, confidence_level: float | None
) -> dict[Any, RocCurve]:
    """The curves of some models at the one time of a status."""
    time = float(status.grid.sorted[0])
    metric = CumulativeDynamicAUC(time)
    values = metric.evaluate(status, models)
    nothing = Profile(FALSE_ALARMS, np.full(FALSE_ALARMS.size, np.nan))
    found = np.array([(each.profile or nothing).y for each in values.values()])
    limits = np.full((2, *found.shape), np.nan)
    if confidence_level is not None:
        rows = _rows(asked, metric, status, models)
        names = tuple(map(str, range(found.size)))
        errors = Estimates(names, found.ravel(), rows, range=metric.range)
        limits = np.reshape(errors.confidence_intervals(confidence_level), limits.shape)
    return {
        name: RocCurve(time, FALSE_ALARMS, found[m], limits[0, m], limits[1, m], value.value)
        for m, (name, value) in enumerate(values.items())
    }


def _rows(
    asked: Asked, metric: CumulativeDynamicAUC, status: EventWeights, models: dict[Any, Any]
) -> FloatArray:
    try:
        return batched_rows(status, metric.profile_functionals(status, models), asked.samples.y_test)
    except ValueError as error:
        raise ValueError(f"confidence_level must be None: {error}") from error
