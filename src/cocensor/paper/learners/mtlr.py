"""Multi-task logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from cocensor._checks import FloatArray, check_whole
from cocensor.data import Predictions, Survival
from cocensor.paper.learners.base import Part
from cocensor.paper.learners.network import NetworkLearner, Parameters

if TYPE_CHECKING:
    import torch


@dataclass(eq=False, kw_only=True)
class MTLR(NetworkLearner):
    r"""Multi-task logistic regression: a chance for each bin of time, linear in x on the scale of scores.

    Times :math:`0 = e_0 < e_1 < \dots < e_K` cut the axis into K bins :math:`(e_{k-1}, e_k]` and the open one beyond
    :math:`e_K`. With :math:`s_{K+1} = 0` and :math:`s_k(x) = \sum_{j=k}^K (x'w_j + b_j)`,

    .. math:: P(E \in \text{bin } k \mid x) = \frac{e^{s_k(x)}}{\sum_{l=1}^{K+1} e^{s_l(x)}}.

    An event contributes the chance of its bin, a censoring at c the sum over the bins that reach beyond c, its own
    among them unless it ends at c. A batch costs the negative log-likelihood, summed over its subjects. Needs
    ``cocensor[deep]``. Assumes that event and censoring are independent given x, but no proportional hazards.

    Parameters
    ----------
    n_bins : int or None
        K. None takes the root of the number of events in the training part, rounded up. The bins end at the
        quantiles 1/K, ..., 1 of the observed event times, so that each holds about as many events; where events are
        tied, equal ends make fewer bins.
    lr : float
        Adam's learning rate.
    c1 : float
        Weight of the penalty :math:`\frac{c_1}2\sum_j \lVert w_j \rVert^2` that is added to each batch's loss. As that
        loss is a sum, the penalty is :math:`c_1` over the size of a batch on the mean log-likelihood.
    max_epochs : int
        Passes over the training part, at most.
    batch_size : int or None
        Subjects per step; None takes all of them.
    patience : int or None
        Epochs without a lower validation loss before training ends (see Notes); None trains ``max_epochs`` epochs.
    standardize : bool
        Whether to give each column mean 0 and standard deviation 1 in the training part before anything else. The
        default takes X as it is, and warns where a column is far from that.
    seed : int
        Of the batches and the subjects set aside; training starts from zero.

    Attributes
    ----------
    times_ : array of shape (K,)
        The ends of the bins.
    weights_, biases_ : list of one array each
        w, (p, K), for the scaled covariates, and b, (K,).
    n_epochs_, best_epoch_ : int
        How many epochs were run, and after which the weights were kept.
    validation_losses_ : array
        After each epoch, per subject; empty with ``patience=None``.

    Notes
    -----
    Without a validation part a seeded eighth of the subjects with and without an event is set aside as one, and has
    no part in the bins either. The same seed gives the same numbers; no global seed is touched.

    Curves are linear from :math:`(0, 1)` through the ends of the bins. Beyond the last one, the latest observed
    event, nothing is known of when the open bin's events happen: they stay at their last value.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.paper.learners import MTLR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 1))
    >>> time = rng.exponential(np.exp(-X[:, 0]))
    >>> model = MTLR(lr=0.01).fit(X, (time, np.ones(600)))
    >>> model.predict([[-1.0], [1.0]])([0.5]).round(1)
    array([[0.9],
           [0.2]])

    References
    ----------
    Yu, C.-N., Greiner, R., Lin, H.-C., Baracos, V. (2011). Learning patient-specific cancer survival distributions as
    a sequence of dependent regressors. *Advances in Neural Information Processing Systems* 24.
    """

    name: ClassVar[str] = "mtlr"

    n_bins: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_bins is not None:
            check_whole(self.n_bins, "n_bins", 1, otherwise=" or None")

    def _start(self, part: Part, generator: torch.Generator) -> Parameters:
        import torch

        self.times_ = bin_ends(part.y, self.n_bins)
        k = self.times_.size
        weights, biases = (torch.zeros(shape, dtype=torch.float64) for shape in ((part.X.shape[1], k), (k,)))
        return Parameters([weights], [biases])

    def _prepare(self, part: Part) -> tuple[torch.Tensor, ...]:
        """Covariates, and the first and last bin that a subject's event may be in."""
        import torch

        time, event = part.y.time, part.y.event
        # Events beyond the last bin, which only a validation part has, are in the open one.
        first = np.where(
            event, np.searchsorted(self.times_, time), np.searchsorted(self.times_, time, "right")
        )
        last = np.where(event, first, self.times_.size)
        return tuple(torch.from_numpy(column) for column in (self._scaled(part.X), first, last))

    def _loss(
        self, parameters: Parameters, batch: tuple[torch.Tensor, ...], generator: torch.Generator | None
    ) -> torch.Tensor:
        import torch

        X, first, last = batch
        linear = torch.addmm(parameters.biases[0], X, parameters.weights[0])
        # From the open bin to the first.
        scores = torch.nn.functional.pad(linear.flip(1).cumsum(1), (1, 0))
        bins = torch.arange(scores.shape[1] - 1, -1, -1)
        excluded = (bins < first[:, None]) | (bins > last[:, None])
        possible = scores.masked_fill(excluded, -torch.inf).logsumexp(1)
        losses = scores.logsumexp(1) - possible
        return losses.mean() if generator is None else losses.sum()

    def _predict(self, X: FloatArray) -> Predictions:
        distinct, place = self._distinct(X)
        linear = (distinct @ self.weights_[0] + self.biases_[0])[place]
        scores = np.zeros((len(X), self.times_.size + 1))
        # From the open bin to the first, as in the loss.
        scores[:, 1:] = np.cumsum(linear[:, ::-1], axis=1)
        later = np.logaddexp.accumulate(scores, axis=1)
        table = np.exp(later[:, :-1] - later[:, -1:])[:, ::-1]
        return Predictions(self.times_, table, interpolation="linear", tail="last")


def bin_ends(y: Survival, n_bins: int | None) -> FloatArray:
    """Observed event times that cut the events into ``n_bins`` parts of about the same size, the latest among them.

    Examples
    --------
    >>> bin_ends(Survival([1.0, 2.0, 3.0, 4.0, 9.0], [1, 1, 1, 1, 0]), None)
    array([2., 4.])
    """
    times = y.time[y.event]
    k = ceil(sqrt(times.size)) if n_bins is None else int(n_bins)
    ends: FloatArray = np.unique(np.quantile(times, np.arange(1, k + 1) / k, method="inverted_cdf"))
    return ends
