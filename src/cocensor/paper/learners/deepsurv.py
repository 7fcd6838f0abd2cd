"""DeepSurv: a network in Cox's model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from cocensor._checks import FloatArray, check_number, check_whole
from cocensor.data import Predictions
from cocensor.paper.learners.base import Part
from cocensor.paper.learners.cox import ProportionalHazards
from cocensor.paper.learners.network import NetworkLearner, Parameters

if TYPE_CHECKING:
    import torch


@dataclass(eq=False, kw_only=True)
class DeepSurv(NetworkLearner):
    r"""Cox's model with a network in the place of :math:`x'\beta`: :math:`S(t \mid x) = \exp(-H_0(t)\,e^{r(x)})`,

    :math:`r(x) = w' \max(0, W'x + b)`, one hidden layer. A batch B costs the negative partial log-likelihood per
    event, with risk sets formed *within the batch* and Breslow's ties,

    .. math:: \frac{1}{\sum_B \delta_i} \sum_{i \in B} \delta_i
              \Bigl(\log \sum_{j \in B: t_j \ge t_i} e^{r(x_j)} - r(x_i)\Bigr);

    a batch without an event is passed over. The validation loss takes the whole validation part as one batch. Breslow's
    estimator on the training part gives :math:`H_0`. Needs ``cocensor[deep]``. Assumes proportional hazards, and
    that event and censoring are independent given x.

    Parameters
    ----------
    hidden_size : int
        Units of the hidden layer; 0 leaves it out, and r is linear.
    dropout : float
        The share of hidden units, in [0, 1), that is left out at random for each subject in each step.
    lr : float
        Adam's learning rate.
    c1 : float
        Weight of the penalty :math:`\frac{c_1}2(\lVert W \rVert^2 + \lVert w \rVert^2)` that is added to each batch's
        loss.
    max_epochs : int
        Passes over the training part, at most.
    batch_size : int or None
        Subjects per step; None takes all of them, which is the partial likelihood itself.
    patience : int or None
        Epochs without a lower validation loss before training ends (see Notes); None trains ``max_epochs`` epochs.
    standardize : bool
        Whether to give each column mean 0 and standard deviation 1 in the training part before it enters the
        network. The default takes X as it is, and warns where a column is far from that.
    seed : int
        Of the starting weights, the batches, the units left out and the subjects set aside.

    Attributes
    ----------
    weights_, biases_ : list of arrays
        W and w, and b, for the scaled covariates.
    n_epochs_, best_epoch_ : int
        How many epochs were run, and after which the weights were kept.
    validation_losses_ : array
        After each epoch; empty with ``patience=None``.

    Notes
    -----
    Without a validation part a seeded eighth of the subjects with and without an event is set aside as one, and has
    no part in :math:`H_0` either. Weights and biases start uniformly within one over the root of a layer's inputs.
    The same seed gives the same numbers; no global seed is touched.

    Curves are steps at all distinct event times of the training part, n × (number of these), and stay at their last
    value beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.paper.learners import DeepSurv
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 1))
    >>> time = rng.exponential(np.exp(-(X[:, 0] ** 2)))  # no linear model sees this
    >>> model = DeepSurv(lr=0.01).fit(X, (time, np.ones(600)))
    >>> model.predict([[-1.0], [0.0], [1.0]])([0.5]).round(1)
    array([[0.2],
           [0.6],
           [0.2]])

    References
    ----------
    Katzman, J. L., Shaham, U., Cloninger, A., Bates, J., Jiang, T., Kluger, Y. (2018). DeepSurv: personalized
    treatment recommender system using a Cox proportional hazards deep neural network. *BMC Medical Research
    Methodology* 18.
    """

    name: ClassVar[str] = "deepsurv"

    hidden_size: int = 100
    dropout: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.hidden_size, "hidden_size", 0)
        if not 0.0 <= check_number(self.dropout, "dropout") < 1.0:
            raise ValueError(f"dropout must lie in [0, 1), but is {self.dropout:g}.")

    def _start(self, part: Part, generator: torch.Generator) -> Parameters:
        import torch

        def uniform(inputs: int, *shape: int) -> torch.Tensor:
            bound = inputs**-0.5
            drawn = torch.empty(shape, dtype=torch.float64)
            return drawn.uniform_(-bound, bound, generator=generator)

        p, hidden = part.X.shape[1], int(self.hidden_size)
        if not hidden:
            return Parameters([uniform(p, p)], [])
        return Parameters([uniform(p, p, hidden), uniform(hidden, hidden)], [uniform(p, hidden)])

    def _prepare(self, part: Part) -> tuple[torch.Tensor, ...]:
        """Covariates, events and ranks of the times, the latest first."""
        import torch

        order = part.y.order[::-1]
        time = part.y.time[order]
        rank = np.cumsum(np.diff(time, prepend=time[0]) != 0)
        columns = (self._scaled(part.X)[order], part.y.event[order].astype(np.float64), rank)
        return tuple(torch.from_numpy(np.ascontiguousarray(column)) for column in columns)

    def _loss(
        self, parameters: Parameters, batch: tuple[torch.Tensor, ...], generator: torch.Generator | None
    ) -> torch.Tensor | None:
        import torch

        X, event, rank = batch
        n_events = event.sum()
        if not n_events:
            return None
        units = X
        for weight, bias in zip(parameters.weights, parameters.biases, strict=False):
            units = torch.relu(torch.addmm(bias, units, weight))
            if generator is not None and self.dropout > 0:
                keep = 1.0 - self.dropout
                units = units * torch.empty_like(units).bernoulli_(keep, generator=generator) / keep
        log_hazard = units @ parameters.weights[-1]
        # Those up to the last one of the same time are at risk.
        last = torch.searchsorted(rank, rank, right=True) - 1
        at_risk = torch.logcumsumexp(log_hazard, 0).index_select(0, last)
        return ((at_risk - log_hazard) * event).sum() / n_events

    def _finish(self, part: Part) -> None:
        self._hazards = ProportionalHazards.fit(part.y, self._log_hazard(part.X))

    def _predict(self, X: FloatArray) -> Predictions:
        return self._hazards.curves(self._log_hazard(X))

    def _log_hazard(self, X: FloatArray) -> FloatArray:
        units, place = self._distinct(X)
        for weight, bias in zip(self.weights_, self.biases_, strict=False):
            units = np.maximum(units @ weight + bias, 0.0)
        return (units @ self.weights_[-1])[place]
