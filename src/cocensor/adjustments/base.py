"""The base classes of adjustments for censoring, before and after they are fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from cocensor._checks import FloatArray, check_length, refuse_first
from cocensor._notes import Note, noted
from cocensor._parallel import one_blas_thread
from cocensor.adjustments.weights import EventWeights
from cocensor.adjustments.whole import WeightLoad, WholeSample
from cocensor.copulas import Independence
from cocensor.data import Sample, Survival
from cocensor.data.covariates import Encoding
from cocensor.data.predictions import Predicted
from cocensor.data.times import TimeGrid
from cocensor.joint import CopulaChoice, JointModel
from cocensor.joint.design import Design

if TYPE_CHECKING:
    from cocensor.adjustments.samples import Resample

#: Beyond the last time that an adjustment was fitted to: refuse, or hold curves at their last value.
Hold = Literal["last"] | None
#: What an adjustment may need beside outcomes: covariates, the predictions of the one model that is scored, or of all.
Need = Literal["covariates", "prediction", "predictions"]


class Adjustment(ABC):
    """An answer to "who is still event-free at t?" under a stated assumption about the censoring.

    A value: a frozen dataclass, compared by its fields. :meth:`fit` learns from outcomes what the answer needs, and
    returns a :class:`Fitted`, whose ``weights`` gives the weights of test subjects (see :class:`EventWeights`).

    Subclasses define :meth:`fit_to` and ``assumption``; those that rest on a copula have it as the field ``copula``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import cocensor as cc
    >>> @dataclass(frozen=True)
    ... class FlooredIPCW(cc.adjustments.Adjustment):
    ...     floor: float = 0.05
    ...     @property
    ...     def assumption(self):
    ...         return f"Censoring is independent; nobody counts for more than {1 / self.floor:.0f}."
    ...     def fit_to(self, sample, predictions):
    ...         return cc.IPCW(min_probability=self.floor).fit(sample.y)
    >>> y = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> FlooredIPCW(0.8).fit(y).weights(y, [2.5]).a.T.round(2)
    array([[0.  , 0.  , 1.25, 1.25]])
    """

    @property
    @abstractmethod
    def assumption(self) -> str:
        """The assumption behind the adjustment, in one sentence for people."""

    @property
    def needs(self) -> frozenset[Need]:
        """The inputs that the adjustment needs beside outcomes.

        An adjustment that needs predictions is fitted to the test sample, others to the training sample where there
        is one.
        """
        return frozenset()

    @property
    def counts_in_ranking(self) -> bool:
        """Whether a verdict may count it: not where scores are biased even if censoring is independent."""
        return True

    @property
    def rests_on_copula(self) -> bool:
        """Whether a copula of event and dropout is assumed, so that another could be; not in a model that is given."""
        return hasattr(self, "copula") and getattr(self, "model", None) is None

    @property
    def takes_hazard_ratio(self) -> bool:
        """Whether :meth:`Fitted.with_hazard_ratio` says what a hazard ratio after dropout would change."""
        return False

    def with_copula(self, copula: Any) -> Self:
        """Return the adjustment under another copula of event and dropout."""
        if not self.rests_on_copula:
            raise ValueError(f"{self!r} does not rest on a copula.")
        value: Any = self  # a dataclass, as its subclass is
        return replace(value, copula=copula)

    def fit(
        self, y: Any, x: Any = None, predictions: Mapping[str, Predicted] | None = None, folds: Any = None
    ) -> Fitted:
        """Learn from outcomes, covariates and predictions, as far as the adjustment needs them.

        Parameters
        ----------
        y : Survival, structured array or tuple
            The outcomes.
        x : array-like, optional
            Covariates.
        predictions : dict of Predictions, optional
            By model.
        folds : array-like, optional
            Labels of the folds that out-of-fold predictions are from, one for each subject.

        Returns
        -------
        Fitted
        """
        with one_blas_thread:
            return self.fit_to(Sample(Survival.coerce(y, "y_train"), x, folds=folds), predictions or {})

    @abstractmethod
    def fit_to(self, sample: Sample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Learn from outcomes, covariates and folds of a sample, and from predictions, what the weights need."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_equal(*pair) for pair in zip(self._settings, other._settings, strict=True))

    def __hash__(self) -> int:
        return hash((type(self), *(value for value in self._settings if isinstance(value, Hashable))))

    @property
    def _settings(self) -> list[Any]:
        """The values of all fields."""
        value: Any = self  # a dataclass, as its subclass is
        return [getattr(self, field.name) for field in fields(value)]


class Fitted(ABC):
    """An adjustment that has learned what it needs.

    Attributes
    ----------
    adjustment : Adjustment
    notes : tuple of Note
        What was decided in the fit.
    design : Design or None
        What the test subjects are given that it was fitted to, column by column; None where it is not fitted to them.

    Examples
    --------
    >>> from cocensor import IPCW
    >>> y = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    >>> fitted = IPCW().fit(y)
    >>> fitted.weights(y, [2.5]).a.T.round(2)
    array([[0. , 0. , 1.5, 1.5]])
    """

    adjustment: Adjustment
    notes: tuple[Note, ...] = ()
    design: Design | None = None

    def weights(
        self,
        y: Any,
        times: npt.ArrayLike | TimeGrid,
        x: Any = None,
        predictions: Mapping[str, Predicted] | None = None,
        whole: WholeSample | None = None,
    ) -> EventWeights:
        """The weights of test subjects at ``times``, which may be in any order and repeated.

        Parameters
        ----------
        y : Survival or what it can be coerced from
            The outcomes of the test subjects.
        times : array-like or TimeGrid
        x : array or frame, optional
            Their covariates.
        predictions : mapping, optional
            Their predictions by model, where these are given; not needed of the subjects that were fitted to.
        whole : WholeSample, optional
            Where ``y`` is a part of a sample, what is known of the whole. Each subject has the weights that it has
            within the whole. What takes all subjects is left to :meth:`settled`, with the merged ``load`` of all parts.
        """
        outcomes, grid = Survival.coerce(y, "y_test"), TimeGrid.of(times)
        all_subjects = WholeSample.of(outcomes) if whole is None else whole
        weights = self.weights_for(Sample(outcomes, x), grid, predictions, all_subjects)
        if whole is None:
            weights = self.settled(weights, all_subjects, weights.load)
        at_times = partial(self.weights, outcomes, x=x, predictions=predictions, whole=whole)
        return weights.replaced(at_times=at_times)

    def settled(self, weights: EventWeights, whole: WholeSample, load: WeightLoad | None) -> EventWeights:
        """The weights with what takes the ``load`` of all subjects: ``valid_until``, of which it warns, and notes.

        :meth:`weights` asks for it, unless its subjects are a part of a sample. By default nothing takes all subjects.
        """
        return weights

    def for_others(self) -> Fitted:
        """A small copy that answers for any subjects, and knows nothing of those that were fitted to.

        Nothing can be fitted again, and its weights have no :meth:`EventWeights.pull_back`.
        """
        return self

    def forget(self) -> None:
        """Give back the memory of what the next fit would make again."""
        return

    def with_copula(self, copula: Any) -> Fitted:
        """Return a fit to the same subjects under another copula, which shares what does not depend on it."""
        raise ValueError(f"{self.adjustment!r} does not rest on a copula.")

    def with_hazard_ratio(self, ratio: Any) -> Fitted:
        """Return a fit to the same subjects at independence, with a hazard ``ratio`` after dropout.

        One number for all, a mapping from reasons of dropouts (others have 1), or one number for each test subject.
        """
        raise ValueError(f"{self.adjustment!r} does not accept a hazard ratio after dropout.")

    def tau_after_dropout(self, ratio: float) -> float:
        """Return Kendall's τ of event and dropout that a hazard ratio after dropout implies; NaN where not known."""
        return float("nan")

    def resampled(self, resample: Resample, predictions: Mapping[str, Predicted]) -> Fitted:
        """Return a fit to subjects drawn from those that it was fitted to, by default from scratch.

        ``predictions`` are those of the drawn test subjects. Subclasses start from the fit that there is, and keep what
        they decided from the looks of the data: a subject that is drawn twice would change it.
        """
        return resample.samples.fit(self.adjustment, predictions)

    @abstractmethod
    def weights_for(
        self, sample: Sample, grid: TimeGrid, predictions: Any, whole: WholeSample
    ) -> EventWeights:
        """Return the weights of a sample, or of a part of the ``whole``, at the times of a grid."""

    def __repr__(self) -> str:
        return f"{self.adjustment!r}, fitted"


def refuse_beyond(tail: str | None, t: FloatArray, support: float, name: str) -> None:
    """Refuse times past the fitted support, unless curves are held at their last value."""
    late = np.asarray(t > support)
    if tail is None and late.any():
        rule = f"{name} must not pass the last training time {support:g} unless tail is 'last'"
        refuse_first(late, np.asarray(t), rule)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def encoded(x: Any, name: str, n: int, of: str) -> tuple[Encoding, FloatArray, tuple[Note, ...]]:
    """Return the encoding of the covariates of the ``n`` subjects fitted to, their columns, and notes on these."""
    encoding = Encoding.of(x, name)
    check_length(x, name, n, of)
    if not encoding.sources:
        raise ValueError(f"{name} must vary in at least one column, but is the same for all subjects.")
    left_out = list(encoding.left_out)
    notes = (noted("constant_covariates", sample=name, columns=left_out),) if left_out else ()
    return encoding, encoding.matrix(x, name), notes


def assumed_copula(copula: Any) -> Any:
    """Return independence for None; the copula of what :func:`select_copula` or :func:`fit_joint` returned."""
    if copula is None:
        return Independence()
    return copula.copula if isinstance(copula, CopulaChoice | JointModel) else copula
