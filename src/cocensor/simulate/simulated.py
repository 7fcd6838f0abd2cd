"""Simulated outcomes together with the truth behind them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, as_vector, check_length, read_only
from cocensor._late import narwhals as nw
from cocensor.copulas import Copula
from cocensor.data import Survival
from cocensor.estimators import CoxPH


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedSurvival(ABC):
    """Simulated subjects: covariates, what a study would show, and what it would not.

    Attributes
    ----------
    X : array or frame
        Covariates, one row per subject.
    y : Survival
        What a study would show.
    event_time, dropout_time : array of shape (n,)
        The latent times E and C.
    seed : int
        What draws the same data again, also where no seed was given.

    See Also
    --------
    SyntheticDesign : Draws from Weibull margins with a copula, with an example.

    Notes
    -----
    Rows are picked as from an array, by a slice, a mask or indices; all else stays that of the whole draw.
    """

    X: Any
    y: Survival
    event_time: FloatArray
    dropout_time: FloatArray
    seed: int

    #: The attributes that have a row per subject.
    _by_row: ClassVar[tuple[str, ...]] = ("X", "y", "event_time", "dropout_time")

    def __post_init__(self) -> None:
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        vars(self).update({name: read_only(array) for name, array in arrays.items()})

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> Self:
        """The draw's rows that a slice, a mask or indices pick (repeats allowed, as in a bootstrap)."""
        index = np.atleast_1d(np.arange(len(self))[rows])
        if not index.size:
            raise ValueError("rows picks nobody: at least one subject is needed.")
        return replace(self, **{name: _rows(getattr(self, name), index) for name in self._by_row})

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n={len(self)}, n_features={self.n_features}, "
            f"censored={100.0 * self.censoring_rate:.1f}%, {self._dependence})"
        )

    @property
    def _dependence(self) -> str:
        return f"copula={self.copula}"

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return int(self.X.shape[1])

    @property
    def censoring_rate(self) -> float:
        """The realised share of censored subjects."""
        return (len(self) - self.y.n_events) / len(self)

    @property
    def _latent_order(self) -> tuple[FloatArray, FloatArray]:
        """Event and dropout on any scale that keeps their order."""
        return self.event_time, self.dropout_time

    @property
    @abstractmethod
    def copula(self) -> Copula:
        """The survival copula of event and dropout, given all that they were drawn from."""

    @abstractmethod
    def event_survival(self, t: npt.ArrayLike) -> FloatArray:
        r"""The true :math:`S_E` of each subject at each ``t``, (n, len(t))."""

    @abstractmethod
    def dropout_survival(self, t: npt.ArrayLike) -> FloatArray:
        r"""The true :math:`S_C` of each subject at each ``t``, (n, len(t))."""

    def marginal_event_survival(self, t: npt.ArrayLike) -> FloatArray:
        """The true S_E of the whole sample at each ``t``: the mean over its subjects."""
        return self.event_survival(t).mean(axis=0)

    def marginal_dropout_survival(self, t: npt.ArrayLike) -> FloatArray:
        """The true S_C of the whole sample at each ``t``: the mean over its subjects."""
        return self.dropout_survival(t).mean(axis=0)

    def tau_given(self, score: npt.ArrayLike) -> float:
        """Kendall's τ of the latent times given a ``score`` of each subject, with proportional hazards in it.

        Given less than all that drives them, event and dropout depend on each other otherwise than ``copula`` says: an
        adjustment that conditions on the prediction should assume this τ.
        """
        from scipy.stats import kendalltau

        z = as_vector(score, "score")
        check_length(z, "score", len(self), "the sample")
        hazards = []
        for time in self._latent_order:
            model = CoxPH().fit(z[:, None], Survival(time, np.ones(len(self), dtype=bool)))
            hazards.append(np.asarray(model.baseline_at_centre_(time)) * model.relative_hazard(z[:, None]))
        return float(kendalltau(*hazards).statistic)


def _rows(values: Any, index: npt.NDArray[np.intp]) -> Any:
    if nw.dependencies.is_into_dataframe(values):
        return nw.from_native(values, eager_only=True)[index].to_native()
    return None if values is None else values[index]
