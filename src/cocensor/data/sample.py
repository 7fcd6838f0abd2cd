"""A sample: the outcomes of some subjects, and all that is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy.typing as npt

from cocensor._checks import check_length
from cocensor.data.survival import Survival


@dataclass(frozen=True, eq=False)
class Sample:
    """Outcomes, and by subject what else is known.

    Attributes
    ----------
    y : Survival
    x : array, frame or Covariates, optional
        Covariates.
    folds : array, optional
        Labels of the fold that each subject's prediction comes from, where predictions are out-of-fold.

    Examples
    --------
    >>> import numpy as np
    >>> sample = Sample(Survival([1.0, 2.0, 3.0], [1, 0, 1]), x=np.array([[0.5], [1.5], [2.5]]))
    >>> len(sample), sample[np.array([2, 2])].x[:, 0]
    (3, array([2.5, 2.5]))
    """

    y: Survival
    x: Any = field(default=None, repr=False)
    folds: npt.NDArray[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.folds is not None:
            check_length(self.folds, "folds", len(self.y), "y")

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> Self:
        """Some subjects, repeats allowed."""
        x, folds = (None if each is None else each[rows] for each in (self.x, self.folds))
        return type(self)(self.y[rows], x, folds)
