"""The proper scores: the Brier score, what it is made of at a time, and the logarithmic score."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from cocensor._checks import FloatArray, check_choice, check_number
from cocensor._namespaces import at_least, is_foreign, namespace
from cocensor.adjustments import EventWeights, Fitted
from cocensor.adjustments.base import assumed_copula
from cocensor.copulas import Copula
from cocensor.data import Predictions
from cocensor.estimators import CopulaGraphic, KaplanMeier
from cocensor.metrics.base import Linear, Models, Section, SectionMetric, over_sections
from cocensor.metrics.kernel import AtOneTime, Integration, Loss, PointwiseMetric
from cocensor.metrics.scoring import Assumed, Given, result_function, score_function


def _squared_gap(p: Any) -> Any:
    gap = 1.0 - p
    return gap * gap if is_foreign(gap) else np.multiply(gap, gap, out=gap)


def _squared(p: Any) -> Any:
    return p * p


def _squared_known(event_free: FloatArray, p: FloatArray, out: FloatArray) -> None:
    np.square(np.subtract(event_free, p, out=out), out=out)


BRIER = Loss(event_free=_squared_gap, event=_squared, known=_squared_known, largest=1.0)
_EXPLANATION = (
    "Brier score",
    "The mean squared distance between the predicted probability of being event-free and what happened, 1 or 0. The "
    "integrated score is its mean over time up to the horizon. 0 is perfect; predicting 50% for everybody gives 0.25.",
)


@dataclass(frozen=True)
class IntegratedBrierScore(PointwiseMetric):
    """The Brier score averaged over time; see :func:`integrated_brier_score`.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"cox": [[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]]}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics=cc.metrics.IntegratedBrierScore())
    >>> round(float(result.score("cox")), 4)
    0.1044
    """

    name = "ibs"
    label = "integrated Brier score"
    curve_label = "Brier score"
    kind = "overall"
    in_brief = "the mean squared error of the predicted probabilities over time"
    explanation = _EXPLANATION
    range = (0.0, 1.0)
    loss = BRIER


@dataclass(frozen=True)
class BrierScore(AtOneTime):
    """The Brier score at one time; see :func:`brier_score`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    Examples
    --------
    >>> import cocensor as cc
    >>> y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = {"cox": [[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]]}
    >>> result = cc.evaluate(curves, y, times=[1.5, 3.5], adjustments="ipcw", metrics=cc.metrics.BrierScore(at=3.5))
    >>> round(float(result.score("cox")), 4)
    0.1038
    """

    at: float | None = None

    name = "brier"
    label = "Brier score"
    kind = "overall"
    in_brief = "the mean squared error of the predicted probabilities"
    explanation = _EXPLANATION
    range = (0.0, 1.0)
    loss = BRIER


@score_function
def brier_score(given: Given, **how: Unpack[Assumed]) -> Any:
    r"""The Brier score at each time,

    .. math:: BS(t) = \frac1m \sum_i \left[ a_i(t)(1 - \hat S_i(t))^2 + b_i(t)\,\hat S_i(t)^2 \right],

    with the weights of the adjustment: who is still event-free at t.

    Parameters
    ----------
    y_train, y_test : Survival, structured array or tuple
        Training outcomes, from which the adjustment learns, and test outcomes. Without a training sample (None) it
        learns from the test outcomes.
    estimate : array of shape (n_test, n_times), Predictions, frame, step functions, or a dict of these
        Predicted survival probabilities; also a pair ``(times, array)`` or a fitted model, as in :func:`evaluate`.
        Between their own times curves are lines, unless they say otherwise or are known to step. A frame of pandas with
        the labels of ``x_test`` or ``y_test`` is put into their order, with a warning. A dict gives a dict, by one fit.
    times : float or array-like
        In any order; results come in the same order. At one time, given as a number, an array of shape (n_test,) will
        do for ``estimate``, and a score is a float.
    adjustment : str or Adjustment
        What is assumed about the censoring: an object, used as it is when fitted, or a name from
        :func:`adjustment_names`. Each states its ``assumption``; that of IPCW, the default, is that censoring is
        independent of the event and of the predictions.
    x_train, x_test : array-like, optional
        Covariates, for adjustments that need them. Texts and categories become indicators of their levels in the
        sample that the adjustment is fitted to.
    copula : Copula, optional
        For names that rest on one.
    return_influence : bool
        Whether to return the influence of every subject on the scores beside them: an :class:`Influence`, with
        ``test`` of shape (n_test, n_times), (n_test,) at a single time, or a dict of such. Its standard errors are
        those of the scores.

    Returns
    -------
    array of shape (n_times,), float at a single time, or a dict of such; with ``return_influence`` a pair

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import Clayton, brier_score
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))
    >>> predicted = np.array([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]])
    >>> brier_score(y, y, predicted, [1.5, 3.5]).round(4)
    array([0.105 , 0.1038])
    >>> round(brier_score(y, y, predicted[:, 1], 3.5), 4)
    0.1038
    >>> brier_score(y, y, predicted, [1.5, 3.5], adjustment="imputation_margins", copula=Clayton(2.0)).round(4)
    array([0.105 , 0.1586])
    >>> score, influence = brier_score(y, y, predicted, [1.5, 3.5], return_influence=True)
    >>> influence.standard_errors.round(3)
    array([0.085, 0.03 ])

    References
    ----------
    Graf, E., Schmoor, C., Sauerbrei, W., Schumacher, M. (1999). Assessment and comparison of prognostic classification
    schemes for survival data. *Statistics in Medicine* 18, 2529–2545.
    """
    return given.read_arrays(**how).over_time(IntegratedBrierScore())


@score_function
def integrated_brier_score(
    given: Given, *, integration: Integration = "trapezoid", **how: Unpack[Assumed]
) -> Any:
    r"""The Brier score averaged over time, :math:`\frac{1}{t_2 - t_1}\int_{t_1}^{t_2} BS(t)\,dt`.

    The interval is that of ``times`` (see :func:`time_grid`). Compare models, and adjustments, only on one and the same
    interval. Like the Brier score, whose reference is given there, it rests on the ``assumption`` of the adjustment.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula, return_influence
        As in :func:`brier_score`.
    integration : {"trapezoid", "step"}
        Join the scores by lines, as scikit-survival does, or hold each until the next time.

    Returns
    -------
    float, or a dict of such; with ``return_influence`` a pair

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import integrated_brier_score
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))
    >>> predicted = np.array([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]])
    >>> round(integrated_brier_score(y, y, predicted, [1.5, 3.5]), 4)
    0.1044
    """
    return given.read_arrays(**how).averages(IntegratedBrierScore(), integration)


@score_function
def brier_skill_score(
    given: Given,
    *,
    reference: Literal["kaplan_meier", "copula_graphic"] | Copula = "kaplan_meier",
    integration: Integration = "trapezoid",
    **how: Unpack[Assumed],
) -> float:
    """The share of the reference's integrated Brier score that a model saves, :math:`1 - IBS/IBS_{ref}`.

    0 is no better than the reference, which predicts the same curve for everybody, and 1 is perfect.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula, return_influence
        As in :func:`brier_score`.
    reference : {"kaplan_meier", "copula_graphic"} or Copula
        The curve of the reference: Kaplan–Meier of the training outcomes, the Copula-Graphic curve under the copula of
        the adjustment, or that under a given copula.
    integration : {"trapezoid", "step"}
        As in :func:`integrated_brier_score`.

    Returns
    -------
    float, or a dict of such; with ``return_influence`` a pair

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import brier_skill_score
    >>> y = (np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]))
    >>> predicted = np.array([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]])
    >>> round(brier_skill_score(y, y, predicted, [1.5, 3.5]), 3)
    0.505
    """
    if not isinstance(reference, Copula):
        check_choice(reference, "reference", ("kaplan_meier", "copula_graphic"))
    request = given.read(**how)
    margin: KaplanMeier | CopulaGraphic = KaplanMeier()
    if reference != "kaplan_meier":
        copula: Any = reference
        if reference == "copula_graphic":
            asked: Any = how.get("adjustment")  # one by name has the copula that is named, or none
            own = getattr(asked.adjustment if isinstance(asked, Fitted) else asked, "copula", None)
            copula = own if how.get("copula") is None else how["copula"]
        if copula is None or isinstance(copula, str | type):
            raise ValueError("copula is needed for the reference 'copula_graphic'.")
        margin = CopulaGraphic(assumed_copula(copula))
    times, n = request.grid.sorted, len(request.samples.y_test)
    sample = request.samples.learned_from
    curve = np.asarray(margin.fit(sample.y, sample.weight).predict(times, tail="last"))
    everybody = Predictions.trusted(times, np.broadcast_to(curve, (n, curve.size)))
    key = object()  # no user's name equals it
    with_reference = replace(request, predictions={**request.predictions, key: everybody}, several=True)
    averages = with_reference.averages(IntegratedBrierScore(), integration)
    scores, *moved = averages if request.return_influence else (averages,)
    base = scores.pop(key)
    if base == 0:
        raise ValueError("the reference curve predicts perfectly: a skill relative to it is not defined.")
    skills = {name: 1.0 - score / base for name, score in scores.items()}

    for influences in moved:
        on_base = influences.pop(key)
        for name, on_score in influences.items():
            influences[name] = (on_base * (scores[name] / base) - on_score) * (1.0 / base)
    return request.returned(skills, *moved)


class BrierParts(NamedTuple):
    """The parts of a score; the chances of an event as predicted, recalibrated, and of all subjects alike."""

    miscalibration: float
    discrimination: float
    uncertainty: float
    predicted: FloatArray
    recalibrated: FloatArray
    overall: float


def brier_parts(section: Section) -> BrierParts:
    """The parts; NaN where nobody counts, or somebody's two weights have a negative sum."""
    a, b, predicted = section.event_free, section.event, 1.0 - section.survival
    total = a + b
    if not total.sum() > 0 or total.min() < 0:
        return BrierParts(np.nan, np.nan, np.nan, predicted, np.full(a.size, np.nan), np.nan)
    recalibrated, overall = _recalibrated(section), float(b.sum() / total.sum())

    def score(chance: FloatArray) -> float:
        return float(a @ np.square(chance) + b @ np.square(1.0 - chance))

    at_best, alike, m = score(recalibrated), score(np.full(a.size, overall)), section.normaliser
    # What each gains is below 0 by rounding alone.
    calibrating, separating = (max(0.0, above - at_best) / m for above in (score(predicted), alike))
    return BrierParts(calibrating, separating, alike / m, predicted, recalibrated, overall)


def _recalibrated(section: Section) -> FloatArray:
    """The isotonic regression of b/(a + b) on the predicted chance, weighted by a + b."""
    from scipy.optimize import isotonic_regression  # late: it takes a moment

    rows = section.order.rows
    n = rows.size
    first: Any = np.arange(n) if section.order.ties is None else section.order.ties[0]
    starts, place = np.unique(first, return_inverse=True)
    both = (section.event_free + section.event, section.event)
    total, event = (np.add.reduceat(weights[rows], starts) for weights in both)
    used = total > 0
    fitted = isotonic_regression(event[used] / total[used], weights=total[used]).x
    # Who does not count is given the chance of those just below, or of the lowest.
    level = np.maximum(np.cumsum(used) - 1, 0)
    return section.order.by_subject(fitted[level][place])


@dataclass(frozen=True)
class PartOfBrier(SectionMetric):
    """A part of the Brier score at one time."""

    at: float | None = None
    undefined = "the weights of a subject have a negative sum"
    explanation = (
        "Parts of the Brier score",
        "Miscalibration is how much of the Brier score would go if the predicted chances were set right without "
        "changing their order; discrimination is how much a model that is set right gains over one and the same chance "
        "for everybody.",
    )
    has_skill = False

    def value(self, section: Section) -> float:
        """The part; NaN where there is none."""
        return float(getattr(section.once(brier_parts), type(self).name))

    def linear(self, section: Section) -> Linear:
        """The part and its derivatives."""
        # Recalibrated chances, and that of all, are means, at which the score is least: it does not move with them.
        parts = section.once(brier_parts)
        before: Any = parts.predicted if type(self).name == "miscalibration" else parts.overall
        after, m = parts.recalibrated, section.normaliser
        by_a = (before**2 - after**2) / m
        by_b = ((1.0 - before) ** 2 - (1.0 - after) ** 2) / m
        return Linear(self.value(section), by_a, by_b)


@dataclass(frozen=True)
class Miscalibration(PartOfBrier):
    """The part of the Brier score at one time that recalibration would remove; see :func:`brier_decomposition`.

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
    >>> parts = [cc.metrics.Miscalibration(at=1.0), cc.metrics.Discrimination(at=1.0)]
    >>> result = cc.evaluate(curves, y, times=[0.5, 1.0], adjustments="ipcw", metrics=parts)
    >>> {part.label: round(float(result.score("too low", part.name)), 3) for part in parts}
    {'miscalibration at 1': 0.053, 'discrimination at 1': 0.077}
    """

    name = "miscalibration"
    label = "miscalibration"
    kind = "calibration"
    in_brief = "the part of the Brier score that is due to wrong levels of risk"
    direction = "lower"
    range = (0.0, 1.0)


@dataclass(frozen=True)
class Discrimination(PartOfBrier):
    """The part of the Brier score at one time that separating subjects removes; see :func:`brier_decomposition`.

    Parameters
    ----------
    at : float, optional
        The time; by default the last of an evaluation.

    See Also
    --------
    Miscalibration : Has an example of both.
    """

    name = "discrimination"
    label = "discrimination"
    kind = "discrimination"
    in_brief = "the part of the Brier score that is gained by separating subjects"
    direction = "higher"
    range = (0.0, 0.25)


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


@result_function
def brier_decomposition(given: Given, **how: Unpack[Assumed]) -> BrierDecomposition:
    r"""The Brier score at each time as miscalibration − discrimination + uncertainty.

    With :math:`p_i = 1 - \hat S_i(t)`, :math:`y_i = b_i/(a_i + b_i)` and :math:`w_i = a_i + b_i` a subject adds

    .. math:: a_i p_i^2 + b_i (1 - p_i)^2 = w_i (p_i - y_i)^2 + \frac{a_i b_i}{w_i}

    to the score. Let :math:`\hat c_i` be the isotonic regression of y on p, with weights w: the predictions
    recalibrated, in the same order; and :math:`\bar y = \sum b_i / \sum w_i`. Then, with BS(q) the score of the
    predictions q (Dimitriadis, Gneiting and Jordan, 2021, for y of 0 and 1),

    - miscalibration is :math:`BS(p) - BS(\hat c)`, never negative: what recalibration would take off;
    - discrimination is :math:`BS(\bar y) - BS(\hat c)`, never negative: what separating subjects takes off;
    - uncertainty is :math:`BS(\bar y)`, the same for all models. The last term above, of those whose status is not
      known, is part of it.

    An isotonic regression follows noise: in small samples the first two are too large, by the same amount. Standard
    errors, of ``cc.metric("miscalibration")`` and ``cc.metric("discrimination")``, take its blocks as given. The parts
    are NaN where two weights of a subject have a negative sum, and rest on the ``assumption`` of the adjustment.

    Parameters
    ----------
    y_train, y_test, estimate, times, adjustment, x_train, x_test, copula
        As in :func:`brier_score`.

    Returns
    -------
    BrierDecomposition, or a dict of such

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

    def decomposed(status: EventWeights, models: Models) -> dict[Any, BrierDecomposition]:
        parts = over_sections(status, models, lambda section: brier_parts(section)[:3], 3)
        return {name: BrierDecomposition(status.times, *three) for name, three in parts.items()}

    return given.read(**how).each(decomposed)


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

    name = "ils"
    label = "integrated log score"
    kind = "overall"
    in_brief = "how little probability was given to what happened, on a logarithmic scale"
    explanation = (
        "Log score",
        "The mean of minus the logarithm of the probability that was given to what happened. It punishes confident "
        "errors harder than the Brier score does.",
    )
    curve_label = "log score"
    range = (0.0, np.inf)

    def __post_init__(self) -> None:
        log_loss(self.floor)

    @property
    def loss(self) -> Loss:
        """Minus the logarithm of the probability of what happened."""
        return log_loss(self.floor)


@score_function
def log_score(given: Given, *, floor: float, **how: Unpack[Assumed]) -> Any:
    r"""The logarithmic score (binomial log-loss) at each time,

    .. math:: LS(t) = -\frac1m \sum_i \left[ a_i(t)\log\hat S_i(t) + b_i(t)\log(1 - \hat S_i(t)) \right],

    with the weights of the adjustment, on whose ``assumption`` it rests. A wrong prediction of 0 or 1 costs infinity.

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
    return given.read_arrays(**how).over_time(IntegratedLogScore(floor))


@score_function
def integrated_log_score(
    given: Given, *, floor: float, integration: Integration = "trapezoid", **how: Unpack[Assumed]
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
    return given.read_arrays(**how).averages(IntegratedLogScore(floor), integration)


def log_loss(floor: float) -> Loss:
    """The two losses of the logarithmic score, with probabilities of at least ``floor``."""
    floor = check_number(floor, "floor", lower=0.0, upper=0.5)
    return Loss(
        event_free=partial(_minus_log, floor),
        event=partial(_minus_log_of_rest, floor),
        known=partial(_minus_log_known, floor),
        largest=float(-np.log(floor)),
    )


def _minus_log(floor: float, p: Any) -> Any:
    return -namespace(p).log(at_least(p, floor))


def _minus_log_of_rest(floor: float, p: Any) -> Any:
    return _minus_log(floor, 1.0 - p)


def _minus_log_known(floor: float, event_free: FloatArray, p: FloatArray, out: FloatArray) -> None:
    np.subtract(event_free, 1.0, out=out)
    np.add(out, p, out=out)  # p itself, or p − 1
    np.maximum(np.abs(out, out=out), floor, out=out)
    np.negative(np.log(out, out=out), out=out)
