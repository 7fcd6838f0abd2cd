"""The Brier score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, check_choice
from cocensor._namespaces import is_foreign
from cocensor.adjustments import Adjustment, Fitted
from cocensor.adjustments.copula import assumed_copula
from cocensor.arrays import refuse_foreign
from cocensor.copulas import Copula
from cocensor.data import Predictions, Survival
from cocensor.data.times import TimeGrid
from cocensor.estimators import CopulaGraphic, KaplanMeier
from cocensor.inference import Influence
from cocensor.metrics.kernel import Loss
from cocensor.metrics.pointwise import AtOneTime, Integration, PointwiseMetric
from cocensor.metrics.scoring import asked


def _event_free(p: Any) -> Any:
    gap = 1.0 - p
    return gap * gap if is_foreign(gap) else np.multiply(gap, gap, out=gap)


def _event(p: Any) -> Any:
    return p * p


def _known(event_free: FloatArray, p: FloatArray, out: FloatArray) -> None:
    np.subtract(event_free, p, out=out)
    np.multiply(out, out, out=out)


BRIER = Loss(event_free=_event_free, event=_event, known=_known, largest=1.0)


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

    name: ClassVar[str] = "ibs"
    label: ClassVar[str] = "integrated Brier score"
    curve_label: ClassVar[str | None] = "Brier score"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def loss(self) -> Loss:
        """The squared distance from the status."""
        return BRIER


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

    name: ClassVar[str] = "brier"
    label: ClassVar[str] = "Brier score"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def loss(self) -> Loss:
        """The squared distance from the status."""
        return BRIER


def brier_score(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    return_influence: bool = False,
) -> Any:
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
        the labels of ``x_test`` or ``y_test`` is put into their order, with a warning. A dict of models gives a dict of
        scores, with one fit for all.
    times : float or array-like
        In any order; results come in the same order. At one time, given as a number, an array of shape (n_test,) will
        do for ``estimate``, and a score is a float.
    adjustment : str or Adjustment
        What is assumed about the censoring: an object, used as it is when fitted, or a name from
        :func:`adjustment_names`. Each states its ``assumption``.
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
    given = asked(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula)
    return given.over_time(IntegratedBrierScore(), return_influence)


def integrated_brier_score(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    integration: Integration = "trapezoid",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    return_influence: bool = False,
) -> Any:
    r"""The Brier score averaged over time, :math:`\frac{1}{t_2 - t_1}\int_{t_1}^{t_2} BS(t)\,dt`.

    The interval is that of ``times`` (see :func:`time_grid`). Compare models, and adjustments, only on one and the same
    interval. Like the Brier score it rests on the ``assumption`` of the adjustment.

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

    References
    ----------
    Graf, E., Schmoor, C., Sauerbrei, W., Schumacher, M. (1999). Assessment and comparison of prognostic classification
    schemes for survival data. *Statistics in Medicine* 18, 2529–2545.
    """
    given = asked(y_train, y_test, estimate, times, adjustment, x_train, x_test, copula)
    return given.averages(IntegratedBrierScore(), integration, return_influence)


def brier_skill_score(
    y_train: Any,
    y_test: Any,
    estimate: Any,
    times: npt.ArrayLike,
    *,
    adjustment: str | Adjustment | Fitted = "ipcw",
    reference: Literal["kaplan_meier", "copula_graphic"] | Copula = "kaplan_meier",
    integration: Integration = "trapezoid",
    x_train: Any = None,
    x_test: Any = None,
    copula: Copula | None = None,
    return_influence: bool = False,
) -> Any:
    """How much of the reference's integrated Brier score a model saves, :math:`1 - IBS/IBS_{ref}`.

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
    models = estimate if isinstance(estimate, Mapping) else {"": estimate}
    refuse_foreign(models, "the skill is")
    grid = TimeGrid.of(times)
    if reference == "kaplan_meier":
        margin: KaplanMeier | CopulaGraphic = KaplanMeier()
    else:
        used: Any = reference
        if reference == "copula_graphic":
            used = copula if copula is not None else _copula_of(adjustment)
        if used is None or isinstance(used, str | type):
            raise ValueError("copula is needed for the reference 'copula_graphic'.")
        margin = CopulaGraphic(assumed_copula(used))
    test = Survival.coerce(y_test, "y_test")
    learned_from = test if y_train is None else Survival.coerce(y_train, "y_train")
    curve = np.asarray(margin.fit(learned_from).predict(grid.sorted, tail="last"))
    if not models:
        raise ValueError("estimate is empty: at least one model is needed.")
    key = object()  # no user's name equals it
    everybody = Predictions.trusted(grid.sorted, np.broadcast_to(curve, (len(test), curve.size)))
    found = integrated_brier_score(
        y_train,
        y_test,
        {**models, key: everybody},
        times,
        adjustment=adjustment,
        integration=integration,
        x_train=x_train,
        x_test=x_test,
        copula=copula,
        return_influence=return_influence,
    )
    found, moved = found if return_influence else (found, {})
    base = found.pop(key)
    if base == 0:
        raise ValueError("the reference curve predicts perfectly: a skill relative to it is not defined.")
    skill = {name: 1.0 - value / base for name, value in found.items()}
    if return_influence:
        of_base: Influence = moved.pop(key)
        of_skill = {
            name: (of_base * (found[name] / base) - each) * (1.0 / base) for name, each in moved.items()
        }
        return (skill, of_skill) if isinstance(estimate, Mapping) else (skill[""], of_skill[""])
    return skill if isinstance(estimate, Mapping) else skill[""]


def _copula_of(adjustment: Any) -> Any:
    """The copula that an adjustment rests on, if there is one."""
    rests = adjustment.adjustment if isinstance(adjustment, Fitted) else adjustment
    return getattr(rests, "copula", None)
