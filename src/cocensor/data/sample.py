"""A sample: the outcomes of some subjects, and all that is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy.typing as npt

from cocensor._checks import FloatArray, check_length
from cocensor.data.survival import Survival


@dataclass(frozen=True, eq=False)
class Sample:
    """Outcomes, and by subject what else is known.

    Attributes
    ----------
    y : Survival
    x : array, frame or Covariates, optional
        Covariates.
    weight : array, optional
        Sampling weights; None for 1 each.
    cluster : array, optional
        Labels of the cluster that each subject belongs to; None where all are independent of each other.
    folds : array, optional
        Labels of the fold that each subject's prediction comes from, where predictions are out-of-fold.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor import Survival
    >>> from cocensor.data import Sample
    >>> sample = Sample(Survival([1.0, 2.0, 3.0], [1, 0, 1]), x=np.array([[0.5], [1.5], [2.5]]))
    >>> len(sample), sample[np.array([2, 2])].x[:, 0]
    (3, array([2.5, 2.5]))
    """

    y: Survival
    x: Any = field(default=None, repr=False)
    weight: FloatArray | None = field(default=None, repr=False)
    cluster: npt.NDArray[Any] | None = field(default=None, repr=False)
    folds: npt.NDArray[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("weight", "cluster", "folds"):
            if getattr(self, name) is not None:
                check_length(getattr(self, name), name, len(self.y), "y")

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> Self:
        """Some subjects, repeats allowed."""
        columns = {own.name: getattr(self, own.name) for own in fields(self)}
        some: dict[str, Any] = {name: None if own is None else own[rows] for name, own in columns.items()}
        return type(self)(**some)
