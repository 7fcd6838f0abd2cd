"""What every adjustment for censoring is."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from cocensor._validation import FloatArray, check_choice, refuse_first
from cocensor.adjustments.status import EVENT_FREE, Group, Rows, Status, TimeGrid
from cocensor.outcomes import Survival

Beyond = Literal["last"] | None


class Adjustment(ABC):
    r"""An answer to "who is still event-free at t?" under a stated assumption about the censoring.

    ``fit`` learns from training outcomes what the answer needs; ``status`` gives the weights of test
    subjects (see :class:`Status`). Metrics fit a copy of an adjustment that is not fitted yet.

    Parameters
    ----------
    beyond : {"last"} or None
        Test outcomes may lie beyond the last training time. Where a requested time needs a curve there,
        that is an error (None), or the curve is held at its last value (``"last"``).
    """

    beyond: Beyond = None

    @property
    @abstractmethod
    def assumption(self) -> str:
        """What the adjustment rests on, in one sentence for people."""

    @property
    def needs(self) -> frozenset[str]:
        """What the adjustment needs beside outcomes: "covariates", "estimate"."""
        return frozenset()

    @property
    def rests_on_copula(self) -> bool:
        """Whether a copula of event and dropout is assumed, so that another could be; not in a model that is given."""
        return hasattr(self, "copula") and getattr(self, "model", None) is None

    def with_copula(self, copula: Any) -> Adjustment:
        """The same adjustment, not fitted yet, under another copula of event and dropout."""
        raise ValueError(f"{self!r} does not rest on a copula.")

    def sharing(self) -> Adjustment:
        """The same; those that it becomes :meth:`with_copula` share what does not depend on the copula."""
        return self

    def fit(self, y_train: Any, x_train: Any = None) -> Self:
        """Learn from the training outcomes (and covariates, where the adjustment needs them)."""
        self._fit(Survival.coerce(y_train, "y_train"), x_train)
        self._is_fitted = True
        return self

    def status(self, y_test: Any, times: npt.ArrayLike, x_test: Any = None, estimate: Any = None) -> Status:
        """The weights of the test subjects at ``times``, which may be in any order and repeated."""
        if not self.is_fitted:
            raise ValueError(f"{type(self).__name__} is not fitted: call fit(y_train) first.")
        return self._status(Survival.coerce(y_test, "y_test"), TimeGrid.of(times), x_test, estimate)

    @property
    def is_fitted(self) -> bool:
        """Whether ``fit`` has been called."""
        return getattr(self, "_is_fitted", False)

    def copy(self) -> Self:
        """A copy that can be fitted without touching this one."""
        return copy.copy(self)

    @abstractmethod
    def _fit(self, y: Survival, x: Any) -> None: ...

    @abstractmethod
    def _status(self, y: Survival, grid: TimeGrid, x: Any, estimate: Any) -> Status: ...

    def _check_beyond(self) -> None:
        if self.beyond is not None:
            check_choice(self.beyond, "beyond", ("last",))

    def _refuse_beyond(self, t: FloatArray, support: float, name: str) -> None:
        """Refuse times past the training support, unless curves are held at their last value."""
        late = np.asarray(t > support)
        if self.beyond is None and late.any():
            rule = f"{name} must not pass the last training time {support:g} unless beyond is 'last'"
            refuse_first(late, np.asarray(t), rule)


def always_event_free(rows: Rows, y: Survival, grid: TimeGrid) -> Group:
    """Subjects that count as event-free at all times."""
    return Group.of(rows, np.full(len(y), grid.sorted.size), EVENT_FREE, EVENT_FREE)
