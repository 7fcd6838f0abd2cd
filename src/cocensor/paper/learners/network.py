"""Training of the small networks: mini-batches, Adam, early stopping."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cocensor._checks import BoolArray, FloatArray, IntArray, as_generator, check_number, check_whole, need
from cocensor.data import Survival
from cocensor.paper.learners.base import Learner, Part

if TYPE_CHECKING:
    import torch

# 10 of the 80 % that the paper splits into training and validation.
_SHARE_SET_ASIDE = 1 / 8
_LARGE = 10.0


class Parameters(NamedTuple):
    """Tensors of a network: the penalised weights and the free biases of its layers."""

    weights: list[torch.Tensor]
    biases: list[torch.Tensor]


@dataclass(eq=False, kw_only=True)
class NetworkLearner(Learner, ABC):
    r"""A network trained by Adam on mini-batches, stopped when the validation loss no longer falls.

    Each step goes down the gradient of the loss of one batch plus :math:`\frac{c_1}2 \lVert W \rVert^2` over all
    weights W, biases left out. After every epoch the loss of the validation part is computed, without dropout and
    penalty; training ends when it has not fallen for ``patience`` epochs, and the weights of the best epoch are kept.

    Without a validation part a seeded eighth of the subjects, of those with and of those without an event, is
    set aside and used as one; ``patience=None`` trains on all subjects for ``max_epochs`` epochs instead.

    All numbers are drawn from a generator of its own and computed in double precision: the same seed gives the same
    numbers. No global seed is read or changed; torch runs on one thread during ``fit``, and ``predict`` does without
    it.
    """

    lr: float = 1e-3
    c1: float = 0.01
    max_epochs: int = 1000
    batch_size: int | None = 32
    patience: int | None = 10
    standardize: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_number(self.lr, "lr", lower=0.0)
        if check_number(self.c1, "c1") < 0:
            raise ValueError(f"c1 must not be negative, but is {self.c1:g}.")
        check_whole(self.max_epochs, "max_epochs", 1)
        if self.batch_size is not None:
            check_whole(self.batch_size, "batch_size", 1, otherwise=" or None")
        if self.patience is not None:
            check_whole(self.patience, "patience", 1, otherwise=" or None")
        check_whole(self.seed, "seed", 0)

    def _fit(self, part: Part, validation: Part | None) -> None:
        torch = need("torch", type(self).__name__, "torch", "deep")
        if self.patience is None:
            validation = None
        elif validation is None:
            aside = set_aside(part.y, self.seed)
            part, validation = Part(part.X[~aside], part.y[~aside]), Part(part.X[aside], part.y[aside])
        self._learn_scale(part.X)
        generator = torch.Generator().manual_seed(int(self.seed))
        parameters = self._start(part, generator)
        checked = None if validation is None else self._prepare(validation)
        with _one_thread(torch), torch.enable_grad():
            best = self._train(parameters, self._prepare(part), checked, generator)
        self.weights_ = [weight.detach().numpy().copy() for weight in best.weights]
        self.biases_ = [bias.detach().numpy().copy() for bias in best.biases]
        self._finish(part)

    def _train(
        self, parameters: Parameters, data: Any, validation: Any, generator: torch.Generator
    ) -> Parameters:
        import torch

        groups: list[dict[str, Any]] = [
            {"params": parameters.weights, "weight_decay": self.c1},
            {"params": parameters.biases},
        ]
        # Plain loops are quicker than fused kernels for tensors of this size.
        optimiser = torch.optim.Adam(
            [group for group in groups if group["params"]], lr=self.lr, foreach=False
        )
        for tensor in (*parameters.weights, *parameters.biases):
            tensor.requires_grad_(True)
        best, self.best_epoch_, lowest = parameters, self.max_epochs, np.inf
        history: list[float] = []
        for epoch in range(1, self.max_epochs + 1):
            for batch in self._batches(data, generator):
                loss = self._loss(parameters, batch, generator)
                if loss is None:
                    continue
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            if validation is None:
                continue
            with torch.no_grad():
                value = self._loss(parameters, validation, None)
            if value is None:
                raise ValueError(
                    f"y_val has no event, without which {type(self).__name__} cannot stop early."
                )
            history.append(float(value))
            if not np.isfinite(history[-1]):
                break
            if history[-1] < lowest:
                lowest, self.best_epoch_ = history[-1], epoch
                best = Parameters(*([tensor.detach().clone() for tensor in group] for group in parameters))
            elif self.patience is not None and epoch - self.best_epoch_ >= self.patience:
                break
        self.n_epochs_, self.validation_losses_ = epoch, np.array(history)
        finite = all(bool(tensor.isfinite().all()) for tensor in (*parameters.weights, *parameters.biases))
        if not finite or not np.isfinite(self.validation_losses_).all():
            raise ValueError(
                f"{type(self).__name__} diverged in epoch {epoch}: lower lr, which is {self.lr:g}, or scale X."
            )
        return best

    def _batches(
        self, data: tuple[torch.Tensor, ...], generator: torch.Generator
    ) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield the subjects of each batch in ascending order."""
        import torch

        n = len(data[0])
        if self.batch_size is None or self.batch_size >= n:
            yield data
            return
        for rows in torch.split(torch.randperm(n, generator=generator), int(self.batch_size)):
            ascending = rows.sort().values
            yield tuple(column[ascending] for column in data)

    def _learn_scale(self, X: FloatArray) -> None:
        centre, scale = X.mean(axis=0), X.std(axis=0)
        if self.standardize:
            # A constant column becomes 0 everywhere in training.
            self._centre, self._scale = centre, np.where(np.ptp(X, axis=0) > 0, scale, 1.0)
            return
        self._centre, self._scale = np.zeros_like(centre), np.ones_like(scale)
        large = np.maximum(np.abs(centre), scale) > _LARGE
        if large.any():
            column = int(np.argmax(large))
            warnings.warn(
                f"X has columns far from a scale of 1, on which {type(self).__name__} trains badly (column {column} "
                f"has mean {centre[column]:.4g} and standard deviation {scale[column]:.4g}): standardise them, or "
                "set standardize=True.",
                UserWarning,
                stacklevel=4,
            )

    def _scaled(self, X: FloatArray) -> FloatArray:
        return (X - self._centre) / self._scale

    def _distinct(self, X: FloatArray) -> tuple[FloatArray, IntArray]:
        """The scaled rows, each once, and for each row of X its place among them.

        So subjects who are alike tie: a matrix product rounds some rows in another way than others.
        """
        distinct, place = np.unique(self._scaled(X), axis=0, return_inverse=True)
        return distinct, place.ravel()

    @abstractmethod
    def _start(self, part: Part, generator: torch.Generator) -> Parameters:
        """The parameters that training starts from."""

    @abstractmethod
    def _prepare(self, part: Part) -> tuple[torch.Tensor, ...]:
        """Tensors with one row per subject."""

    @abstractmethod
    def _loss(
        self, parameters: Parameters, batch: tuple[torch.Tensor, ...], generator: torch.Generator | None
    ) -> torch.Tensor | None:
        """Return the loss of a batch; None where it carries no information.

        With a generator this is a step of training, where units may be left out at random.
        """

    def _finish(self, part: Part) -> None:
        """Estimate what remains from the training part once the weights are known."""


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """Tensors this small gain nothing from more, and the numbers do not depend on how many there are."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def set_aside(y: Survival, seed: int) -> BoolArray:
    """Return who serves as the validation part: an eighth of the events and of the others, drawn with ``seed``."""
    if y.n_events < 2:
        raise ValueError(
            "y has 1 event, too few to set aside a validation part: give X_val and y_val, or set patience=None."
        )
    rng = as_generator(seed)
    aside = np.zeros(len(y), dtype=bool)
    for status in (True, False):
        rows = np.flatnonzero(y.event == status)
        count = max(int(status), round(_SHARE_SET_ASIDE * rows.size))
        aside[rng.choice(rows, count, replace=False)] = True
    return aside
