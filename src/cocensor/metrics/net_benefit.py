"""Net benefit: what it is worth to act on predicted risks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_vector, check_number, refuse_first
from cocensor._namespaces import namespace
from cocensor.adjustments import Adjustment, EventWeights, Fitted
from cocensor.adjustments.gradient import DenseGradient, Functionals, Part
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.inference.bands import normal_quantile
from cocensor.inference.influence import influence
from cocensor.metrics.base import (
    Linear,
    LinearAtOneTime,
    Models,
    Profile,
    Section,
    SectionMetric,
    by_section,
    over_sections,
    refuse_until,
)
from cocensor.metrics.kernel import Loss
from cocensor.metrics.scoring import Assumed, Given, result_function

#: Thresholds at which a decision curve is given, unless others are.
THRESHOLDS = np.arange(1, 100) / 100
# Of all subjects at some thresholds so many derivatives are held at once.
_AT_ONCE = 2**21
# A risk that is below a threshold by the rounding of single precision alone reaches it.
_ROUNDING = 1e-7


@dataclass(frozen=True)
class NetBenefit(SectionMetric):
    """The net benefit of treating those above a risk threshold; see :func:`net_benefit`.

    Parameters
    ----------
    threshold : float
        How many treatments in vain one event found in time is worth, as a risk: a choice of those who treat.
    at : float, optional
        The time; by default the last of an evaluation.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"cox": [[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]]}
    >>> benefit = cc.metrics.NetBenefit(0.3, at=3.5)
    >>> round(float(cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics=benefit).score("cox")), 3)
    0.464
    """

    threshold: float
    at: float | None = None

    name = "net_benefit"
    label = "net benefit"
    kind = "benefit"
    in_brief = "the share of events that treatment by risk finds, minus unnecessary treatments"
    explanation = (
        "Net benefit",
        "What it is worth to treat those whose predicted risk reaches a threshold: the share of events that are found, "
        "minus the unnecessary treatments, weighted by the odds of the threshold. Treating nobody has a net benefit of "
        "0. A model is of use at a threshold where it is above both treating everybody and treating nobody.",
    )
    direction = "higher"
    range = (-np.inf, 1.0)
    has_skill = False
    mean_of_losses = True
    profile_labels = ("risk threshold", "net benefit")
    profile_style = "decision"

    def __post_init__(self) -> None:
        check_number(self.threshold, "threshold", lower=0.0, upper=1.0)
        super().__post_init__()
        object.__setattr__(self, "label", f"{self.label} from a risk of {self.threshold:g}")

    def value(self, section: Section) -> float:
        """The net benefit, summed in the order of the subjects: two models that treat the same have the same."""
        return _linear(section, self.threshold).value

    def linear(self, section: Section) -> Linear:
        """The net benefit, which is linear in the weights."""
        return _linear(section, self.threshold)

    def profile(self, section: Section) -> Profile | None:
        """The decision curve: the net benefit at thresholds from 1 to 99%."""
        return Profile(THRESHOLDS, benefits(section, THRESHOLDS))


@result_function
def net_benefit(
    given: Given, thresholds: npt.ArrayLike, *, return_influence: bool = False, **how: Unpack[Assumed]
) -> Any:
    r"""The net benefit of treating those whose predicted risk :math:`M_i = 1 - \hat S_i(t)` reaches a threshold p,

    .. math:: NB(t, p) = \frac1m \sum_i 1[M_i \ge p] \left( b_i(t) - a_i(t) \frac{p}{1 - p} \right),

    with the weights of the adjustment, on whose ``assumption`` it rests: events found by t, minus treatments in
    vain, of which :math:`(1 - p)/p` weigh as much as one event. A risk of 1 for everybody has the net benefit of "treat
    all"; "treat none" has 0. Without censoring it is :math:`TP/n - FP/n \cdot p/(1 - p)`. The weights are those of all
    subjects; software with a Kaplan–Meier curve among those above the threshold differs a little.

    Parameters
    ----------
    thresholds : float or array-like
        Of the risk, strictly between 0 and 1. A prediction that equals one reaches it.
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.
    return_influence : bool
        Whether to return the :class:`Influence` on the values beside them, of shape (n_test, n_times · n_thresholds),
        all thresholds of the first time first; on a single value, of shape (n_test,).

    Returns
    -------
    array of shape (n_times, n_thresholds), or a dict of such; with ``return_influence`` a pair
        A time given as a number has no axis, nor has such a threshold: of both the result is a float.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import net_benefit
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))
    >>> predicted = np.array([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]])
    >>> net_benefit(y, y, predicted, [1.5, 3.5], [0.1, 0.3, 0.5]).round(3)
    array([[0.167, 0.25 , 0.   ],
           [0.583, 0.464, 0.625]])
    >>> round(net_benefit(y, y, predicted[:, 1], 3.5, 0.3), 3)
    0.464

    References
    ----------
    Vickers, A. J., Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction models.
    *Medical Decision Making* 26, 565–574.

    Vickers, A. J., Cronin, A. M., Elkin, E. B., Gonen, M. (2008). Extensions to decision curve analysis, a novel method
    for evaluating diagnostic tests, prediction models and molecular markers. *BMC Medical Informatics and Decision
    Making* 8, 53.
    """
    table = BenefitTable(as_thresholds(thresholds), single=np.ndim(thresholds) == 0)
    return replace(given, return_influence=return_influence).read_arrays(**how).over_time(table)


@dataclass(frozen=True, eq=False)
class BenefitTable:
    """Net benefits at several times and thresholds."""

    thresholds: FloatArray
    #: Whether there is one threshold, and values have no axis of thresholds.
    single: bool = False

    @property
    def loss(self) -> Loss | tuple[Loss, ...]:
        """The costs and gains of treatment, for each threshold: their mean is the net benefit."""
        losses = tuple(
            Loss(partial(_scaled_if_treated, p, -odds(p)), partial(_scaled_if_treated, p, 1.0))
            for p in self.thresholds.tolist()
        )
        return losses[0] if self.single else losses

    def values_over_time(self, status: EventWeights, predictions: Models) -> dict[Any, FloatArray]:
        """The values of several models, (times in the order given, thresholds) or (times,) each."""
        levels = self.thresholds
        values = over_sections(status, predictions, lambda section: benefits(section, levels), levels.size)
        return {name: table[0] if self.single else table.T for name, table in values.items()}

    def functionals_over_time(self, status: EventWeights, predictions: Models) -> BenefitFunctionals:
        """The values as functions of the weights: all thresholds of the first time first."""
        return BenefitFunctionals(predictions, self.thresholds, status.grid.times.size)


@dataclass(frozen=True, eq=False)
class BenefitFunctionals:
    """Net benefits as functions of the weights, some thresholds at one time in each part."""

    predictions: Models
    thresholds: FloatArray
    n_times: int = 1

    @property
    def size(self) -> int:
        """All times of the first model come first, and of these all thresholds of the first."""
        return len(self.predictions) * self.n_times * self.thresholds.size

    def parts(self, status: EventWeights) -> Iterator[Part]:
        """Derivatives by the weights at one time after the other."""
        places = np.arange(self.size).reshape(len(self.predictions), self.n_times, -1)
        for j, column in enumerate(range(self.n_times) if status.grid.place is None else status.grid.place):
            at = status.at_columns(slice(column, column + 1))
            for own, (_, _, section) in zip(places[:, j], by_section(at, self.predictions), strict=False):
                values = [partial(_linear, section, threshold) for threshold in self.thresholds]
                for part in LinearAtOneTime(values).parts(at):
                    yield part._replace(places=own[part.places])


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

    Intervals hold at each threshold for itself. Equation, assumption and references are those of :func:`net_benefit`.

    Parameters
    ----------
    y_train, y_test, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.
    estimate : Predictions, array of shape (n_test,) or (n_test, 1), frame, step functions, or a dict of these
        Predicted survival probabilities; an array has those at ``time``.
    time : float
        The time by which events count.
    thresholds : array-like
        Of the risk; from 1 to 99% unless given.
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
    """
    levels = as_thresholds(thresholds)
    normal_quantile(confidence_level)
    request = Given(y_train, y_test, estimate, time).read(
        adjustment=adjustment, x_train=x_train, x_test=x_test, copula=copula
    )
    if request.grid.times.size != 1:
        raise ValueError(f"time must be a single time, but there are {request.grid.times.size}.")
    y = request.samples.y_test
    return request.each(partial(decision_curve_at, y=y, thresholds=levels, confidence_level=confidence_level))


def decision_curve_at(
    status: EventWeights,
    predictions: Models,
    y: Survival,
    thresholds: FloatArray = THRESHOLDS,
    confidence_level: float = 0.95,
) -> dict[Any, DecisionCurve]:
    """Return the curves of :func:`decision_curve`, under the status of the test outcomes ``y`` at one time."""
    quantile = normal_quantile(confidence_level)
    refuse_until(status.valid_until, status.grid)
    values = BenefitTable(thresholds).values_over_time(status, predictions)
    [tile] = status.tiles()
    # Treating everybody gives the events, minus the others at the odds of the threshold.
    of_both = np.array([np.ones(thresholds.size), -odds(thresholds)])
    treat_all = np.array([tile.event.sum(), tile.event_free.sum()]) @ of_both / status.normaliser
    errors, missing = np.full((len(predictions), 3, thresholds.size), np.nan), None
    try:
        if status.n < 2:
            raise ValueError("a single subject gives no standard error.")
        none, share = np.zeros((status.n, 1)), np.full((status.n, 1), 1.0 / status.normaliser)
        gradients = (DenseGradient(none, share), DenseGradient(share, none))
        everybody = influence(status, Functionals(gradients, np.ones((1, 1))), y)
        step = max(1, _AT_ONCE // (status.n * len(predictions)))
        for start in range(0, thresholds.size, step):
            some = slice(start, start + step)
            on_all = everybody.combined(of_both[:, some])
            moved = influence(status, BenefitFunctionals(predictions, thresholds[some]), y)
            for m, own in enumerate(moved.split(len(predictions))):
                errors[m, :, some] = [part.standard_errors for part in (own, on_all, own - on_all)]
    except ValueError as error:
        missing = str(error)
    curves = {}
    for (name, [own]), spreads in zip(values.items(), errors, strict=True):
        benefit, of_all, gain = (
            Limited(value, error, value - quantile * error, value + quantile * error)
            for value, error in zip((own, treat_all, own - treat_all), spreads, strict=True)
        )
        curves[name] = DecisionCurve(status.grid.last, thresholds, benefit, of_all, gain, missing)
    return curves


def benefits(section: Section, thresholds: FloatArray) -> FloatArray:
    """The net benefit at each of several thresholds: sums over subjects from the riskiest on."""
    riskiest = section.order.rows[::-1]
    treated = np.searchsorted(section.survival[riskiest], _reaching(thresholds), side="right")
    both = (section.event_free, section.event)
    in_vain, events = (np.append(0.0, np.cumsum(weights[riskiest]))[treated] for weights in both)
    return (events - in_vain * odds(thresholds)) / section.normaliser


def _linear(section: Section, threshold: float) -> Linear:
    """The net benefit, which is linear in the weights."""
    treated = (section.survival <= _reaching(threshold)) / section.normaliser
    by_a = -odds(threshold) * treated
    return Linear(float(section.event_free @ by_a + section.event @ treated), by_a, treated)


def _scaled_if_treated(threshold: float, value: float, p: Any) -> Any:
    """A value for those who are treated at a threshold, by predicted survival probabilities."""
    return namespace(p).where(p <= _reaching(threshold), value, 0.0 * p)


def _reaching(threshold: Any) -> Any:
    """The largest survival probability whose risk reaches a threshold."""
    return (1.0 - threshold) + _ROUNDING


def odds(threshold: Any) -> Any:
    """Return how many events weigh as much as one treatment in vain."""
    return threshold / (1.0 - threshold)


def as_thresholds(thresholds: npt.ArrayLike) -> FloatArray:
    """Risk thresholds, checked."""
    levels = as_vector(thresholds, "thresholds", copy=True, single=True)
    bad = ~((levels > 0) & (levels < 1))
    if bad.any():
        refuse_first(bad, levels, "thresholds must lie strictly between 0 and 1")
    if not levels.size:
        raise ValueError("thresholds is empty: at least one threshold is needed.")
    return levels
