"""A score as a loss to train by."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._namespaces import Array, Place, is_foreign, kind_of
from cocensor.adjustments import Adjustment, Fitted
from cocensor.copulas import Copula
from cocensor.metrics.kernel import PointwiseMetric
from cocensor.metrics.registry import metric as metric_by_name
from cocensor.metrics.scoring import Given
from cocensor.metrics.tensors import PlacedWeights, placed_mean_losses, refuse_unknown


class AdjustedLoss:
    r"""A score under an adjustment as a function of predictions alone, where they are: a loss to train or to stop by.

    .. math:: \sum_t w(t) \frac1m \sum_i \left[ a_i(t)\,\ell_1(\hat S_i(t)) + b_i(t)\,\ell_0(\hat S_i(t)) \right]

    with the weights w of the average over time. What does not depend on the predictions is done once: the adjustment is
    fitted, and what a and b need is put beside the predictions, a few numbers for each subject. A call then follows the
    array-API standard alone. A tensor of torch gives a tensor without axes, with its graph; ``torch.compile`` takes it
    as it is. The weights a and b are constants.

    Parameters
    ----------
    metric : str or Metric
        A mean of losses: ``"ibs"``, ``"brier"``, ``cc.metric("ils", floor=...)`` or one of your own.
    y_train, y_test : Survival, structured array or tuple
        Outcomes that the adjustment learns from, and those of the subjects whose predictions are scored. For training
        both are the outcomes of the training subjects: nothing of validation or test data must enter the weights.
    times : array-like
        The columns of the predictions. Of a metric at one time, predictions have the one column.
    adjustment, x_train, x_test, copula
        As in :func:`brier_score`; one that is given predictions must have been fitted before, as in
        ``cc.Imputation("everything").fit(y, x, {"model": cc.Predictions(times, curves)})``.
    like : array
        Any array of the library, the device and the precision that predictions will have.

    Notes
    -----
    Predictions are not checked: a network makes probabilities. Sums over subjects are taken in double precision, where
    the device has it, whatever the precision of the predictions. Without a compiler, temporary arrays hold a block of
    rows, unless a graph is kept.

    Examples
    --------
    >>> import torch
    >>> from cocensor.metrics import AdjustedLoss
    >>> y = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> curves = torch.tensor([[0.6, 0.2], [0.9, 0.6], [0.8, 0.4], [0.9, 0.7]], requires_grad=True)
    >>> loss = AdjustedLoss("ibs", y, y, [1.5, 3.5], like=curves)
    >>> value = loss(curves)
    >>> round(value.item(), 4)
    0.1044
    >>> value.backward()
    >>> curves.grad.round(decimals=2)
    tensor([[ 0.1500,  0.0500],
            [-0.0300,  0.0000],
            [-0.0500,  0.1500],
            [-0.0300, -0.1100]])
    >>> round(loss(curves[:2], rows=torch.tensor([0, 1])).item(), 4)  # a batch of subjects
    0.1025
    """

    def __init__(
        self,
        metric: str | PointwiseMetric,
        y_train: Any,
        y_test: Any,
        times: npt.ArrayLike,
        *,
        adjustment: str | Adjustment | Fitted = "ipcw",
        x_train: Any = None,
        x_test: Any = None,
        copula: Copula | None = None,
        like: Array,
    ) -> None:
        pointwise = metric_by_name(metric) if isinstance(metric, str) else metric
        if not isinstance(pointwise, PointwiseMetric):
            raise TypeError(f"metric must be a mean of losses, such as 'ibs', but is {metric!r}.")
        if not is_foreign(like):
            raise TypeError(
                f"like must be an array of torch, CuPy or another library of the array-API standard, but is a "
                f"{kind_of(like)}."
            )
        asked = Given(y_train, y_test, like, times).asked(
            adjustment=adjustment, x_train=x_train, x_test=x_test, copula=copula
        )
        chosen, grid = asked.chosen, pointwise.grid(asked.grid)
        if isinstance(chosen, Adjustment) and chosen.needs & {"prediction", "predictions"}:
            raise ValueError(f"adjustment must be fitted before, for it is given predictions: {chosen!r}.")
        weights = asked.samples.weights(asked.samples.fit(chosen, {}), grid)
        refuse_unknown(grid, weights.valid_until)
        self.metric, self.place = pointwise, Place.of(like, "like")
        self._loss, self._weights = pointwise.loss, PlacedWeights(weights, self.place)
        time_weights = pointwise.time_weights(grid)
        if grid.place is not None:
            first = np.unique(grid.place, return_index=True)[1]
            by_time, time_weights = time_weights, np.zeros(grid.times.size)
            time_weights[first] = by_time
        place = self.place
        self._time_weights = place.xp.asarray(time_weights, dtype=place.exact, device=place.device)

    def __repr__(self) -> str:
        n, t = self._weights.n, self._time_weights.shape[0]
        return f"AdjustedLoss({self.metric!r}, n={n}, times={t}, {self.place})"

    def __call__(self, estimate: Array, rows: Array | None = None) -> Array:
        """The score of predictions, (subjects, times): an array without axes.

        ``rows`` are the numbers of the subjects that the predictions are of, for a batch of them. Over batches drawn at
        random the mean of scores is the score of all.
        """
        xp = self.place.xp
        return xp.astype(xp.sum(self._means(estimate, rows) * self._time_weights), self.place.dtype)

    def over_time(self, estimate: Array, rows: Array | None = None) -> Array:
        """The mean loss at each time, (times,)."""
        return self.place.xp.astype(self._means(estimate, rows), self.place.dtype)

    def _means(self, estimate: Array, rows: Array | None) -> Array:
        if not is_foreign(estimate) or estimate.device != self.place.device:
            where = kind_of(estimate) if not is_foreign(estimate) else f"on {estimate.device}"
            raise TypeError(f"estimate must be a {self.place}, as like is, but is {where}.")
        if estimate.dtype != self.place.dtype:
            raise TypeError(f"estimate must be a {self.place}, as like is, but is of {estimate.dtype}.")
        if estimate.ndim == 1 and self._time_weights.shape[0] == 1:
            estimate = estimate[:, None]
        if rows is not None:  # refused by the type alone: values stay on the device
            if not hasattr(rows, "dtype"):
                kind = type(rows).__name__
                raise TypeError(f"rows must be an array of whole numbers, but is of type {kind}.")
            if "int" not in str(rows.dtype) or rows.ndim != 1:
                is_of = f"{rows.dtype} with shape {tuple(rows.shape)}"
                raise TypeError(f"rows must be whole numbers along one axis, but are of {is_of}.")
        n = self._weights.n if rows is None else rows.shape[0]
        if tuple(estimate.shape) != (shape := (n, self._time_weights.shape[0])):
            raise ValueError(
                f"estimate must have a row per subject and a column per time, {shape}, but its shape is "
                f"{tuple(estimate.shape)}."
            )
        return placed_mean_losses(self._weights, self._loss, estimate, rows)
