"""Predictions of one model: survival curves, probabilities at one time, or a risk score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from cocensor._checks import (
    BoolArray,
    FloatArray,
    IntArray,
    Rows,
    as_vector,
    check_choice,
    check_number,
    check_whole,
    naming,
    read_only,
    row_blocks,
)
from cocensor.data.ids import Matching, rows_by_label
from cocensor.data.interpolation import (
    TAILS,
    Tail,
    is_by_columns,
    on_lines,
    rows_of,
    tail_area,
    tail_quantile,
    tail_values,
)
from cocensor.data.probabilities import as_probability_table, count_rounded
from cocensor.data.steps import QUANTILE_TOLERANCE, check_increasing, table_of_steps

Interpolation = Literal["linear", "step"]
AnyRows = slice | BoolArray | IntArray  # a slice, a mask or indices


class Predicted(ABC):
    """Predictions of one model for n subjects: :class:`Predictions`, :class:`PredictionsAt` or :class:`RiskScores`."""

    source: str  # where they are from, in words
    n_rounded: int = 0  # how many values leave [0, 1] by rounding
    #: How they were matched to the test subjects where their labels are in another order, or are other labels.
    matched: Matching | None = None
    _rows_in: ClassVar[str] = "probabilities"  # the attribute that has a row per subject

    def __len__(self) -> int:
        return len(getattr(self, self._rows_in))

    def __getitem__(self, rows: Any) -> Self:
        """Return the predictions for some subjects: a slice, a mask or indices."""
        index = np.atleast_1d(np.arange(len(self))[rows])
        if not index.size:
            raise ValueError("rows is empty: predictions need at least one subject.")
        return self.taken(index)

    def taken(self, rows: AnyRows) -> Self:
        """Return the predictions for some subjects, of a slice without a copy."""
        return self.changed(**{self._rows_in: getattr(self, self._rows_in)[rows]}, matched=None)

    def drawn(self, rows: Rows) -> Self:
        """Return the predictions for subjects drawn with repeats; of curves no table is copied."""
        return self.taken(rows)

    def changed(self, **values: Any) -> Self:
        """Return a copy with some values changed, which are not checked again."""
        other = copy(self)
        vars(other).update(values)
        return other

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the predictions for all subjects of several parts, at the same times."""
        name = parts[0]._rows_in
        rows = np.concatenate([getattr(part, name) for part in parts])
        return parts[0].changed(**{name: rows}, n_rounded=sum(part.n_rounded for part in parts))

    @property
    def limit(self) -> str | None:
        """In words, why there are no survival curves; None where there are."""
        return None

    @property
    def end(self) -> float:
        """Up to when there is a prediction."""
        return np.inf

    def known_at(self, times: FloatArray) -> bool:
        """Whether there are probabilities at all of the ``times``."""
        return False

    @property
    def alike(self) -> bool:
        """Whether all subjects share one row of a table, as those of a reference curve do."""
        return False

    @abstractmethod
    def read(self, times: FloatArray, rows: Any) -> FloatArray:
        """Probabilities of some ``rows`` at ``times``, in double precision; nothing is checked again."""

    def _within(self, table: npt.NDArray[np.floating[Any]]) -> FloatArray:
        """Return probabilities in double precision, those that leave [0, 1] by rounding as 0 or 1."""
        values = np.asarray(table, dtype=np.float64)
        return np.clip(values, 0.0, 1.0) if self.n_rounded else values

    def marker(self, times: FloatArray, rows: Any) -> FloatArray:
        """Return what orders ``rows`` by their risk of an event by each of the ``times``, the higher the riskier."""
        return -self.read(times, rows)

    def on(self, times: FloatArray, room: FloatArray | None = None) -> Predicted:
        """Return curves kept at ``times`` (sorted, each once) alone, all other predictions as they are.

        Where values lie by columns, they may be put into a ``room`` of shape (times, subjects or more).
        """
        return self

    def in_order_of(self, labels: Any, own: Any) -> Self:
        """Return the predictions in the order of ``labels``, by ``own`` of the rows; as they are without either."""
        rows, matched = rows_by_label(own, labels)
        return (self if rows is None else self[rows]).changed(matched=matched)


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Predicted):
    r"""Predicted survival curves of n subjects on one grid of m times.

    :math:`S_i(0) = 1` is implied where the grid does not hold 0. One time without a tail makes no curve, and is
    refused: :func:`evaluate` takes a pair ``(12.0, probabilities)`` for a prediction at this time alone. All is checked
    when predictions are made, and never again.

    Parameters
    ----------
    times : array-like of shape (m,)
        Strictly increasing times.
    probabilities : array-like of shape (n, m)
        :math:`\hat S_i(t)`, in [0, 1] and not increasing along a row. What is off by at most 1e-6 is the rounding of
        single precision: a rise is let pass, a value outside of [0, 1] is read as 0 or 1, and ``n_rounded`` counts
        the latter. Kept without a copy, in its own precision: do not write to it later.
    interpolation : {"linear", "step"} or None
        What holds between grid times. None, the default, is a line that nobody stated: an evaluation notes where steps
        would give another score.
    tail : {"last", "zero", "linear", "exponential"} or None
        Beyond the grid: refuse (None, the default), hold the last value, drop to zero, or go on along the line, or the
        exponential, from (0, 1) through the last point.
    source : str
        Where they are from, in words.

    Examples
    --------
    >>> from cocensor import Predictions
    >>> curves = Predictions([1.0, 2.0], [[0.8, 0.4], [0.9, 0.7]], tail="last")
    >>> curves([0.5, 1.5, 3.0])
    array([[0.9 , 0.6 , 0.4 ],
           [0.95, 0.8 , 0.7 ]])
    >>> curves.median()
    array([1.75,  inf])
    """

    times: FloatArray
    probabilities: npt.NDArray[np.floating[Any]]
    interpolation: Interpolation | None = None
    tail: Tail | None = None
    source: str = "curves"
    n_rounded: int = field(default=0, init=False)
    matched: Matching | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.interpolation is not None:
            check_choice(self.interpolation, "interpolation", ("linear", "step"))
        if self.tail is not None:
            check_choice(self.tail, "tail", TAILS)
        times = as_vector(self.times, "times", copy=True, single=True, negative=False)
        if not times.size:
            raise ValueError("times is empty: a curve needs at least one time.")
        check_increasing(times)
        table = as_probability_table(self.probabilities, times)
        if times.size == 1 and self.tail is None:
            instead = f"for a prediction at one time give ({times[0]:g}, probabilities) as the model"
            raise ValueError(f"times must be several, or have a tail, but are {times[0]:g} alone: {instead}.")
        rounded = count_rounded(table, "probabilities", times)
        vars(self).update(times=read_only(times), probabilities=read_only(table), n_rounded=rounded)

    @classmethod
    def trusted(
        cls,
        times: FloatArray,
        probabilities: npt.NDArray[np.floating[Any]],
        interpolation: Interpolation | None = "linear",
        tail: Tail | None = None,
        source: str = "curves",
        n_rounded: int = 0,
    ) -> Self:
        """Return the curves of arrays that were checked already."""
        curves = object.__new__(cls)
        vars(curves).update(times=read_only(times), probabilities=read_only(probabilities))
        vars(curves).update(interpolation=interpolation, tail=tail, source=source, n_rounded=n_rounded)
        return curves

    @classmethod
    def from_step_functions(
        cls, functions: Sequence[Any] | npt.NDArray[Any], tail: Tail | None = None
    ) -> Predictions:
        """From what scikit-survival's ``predict_survival_function`` returns.

        Takes objects with ``x`` and ``y`` (and, where present, the affine ``a`` and ``b``, and the ``domain`` up to
        whose end they are known). Functions on different grids are put on the union of these.
        """
        grid, values = table_of_steps(functions, known_for_good=tail is not None)
        return cls(grid, values, "step", tail, "step functions")

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        n: int,
        *,
        time: str | None = None,
        times: FloatArray | None = None,
        labels: Any = None,
        interpolation: Interpolation | None = None,
        tail: Tail | None = None,
        name: str = "frame",
    ) -> Predicted:
        """From a data frame for ``n`` subjects, with times in its columns or in its index.

        A row per time and a column per subject is what lifelines' ``predict_survival_function`` and pycox'
        ``predict_surv_df`` return: the index holds the times, or the first column, or the column ``time``. A row per
        subject has times as names of the columns. The number of subjects tells the two apart; ``times`` are those of
        the evaluation. Where neither ``interpolation`` nor ``tail`` is stated, a time 0 that everybody outlives makes
        no curve of one other time.

        Returns :class:`Predictions`; ``PredictionsAt`` for a frame of one time, which says nothing of others; and
        ``RiskScores`` for a single column "risk", the higher the riskier.

        With ``labels``, those of the test subjects in their order, such as ``x_test.index``, curves are put into that
        order if the frame labels its subjects by them, are taken by position if one of the two merely numbers subjects
        from 0, and are refused otherwise. :func:`evaluate` does so by itself. Refusals call the frame ``name``.

        Examples
        --------
        >>> import pandas as pd
        >>> from cocensor import Predictions
        >>> frame = pd.DataFrame({"a": [0.8, 0.4], "b": [0.9, 0.7], "c": [1.0, 0.6]}, index=[1.0, 2.0])
        >>> Predictions.from_frame(frame, n=3)
        Predictions(n=3, times 1 to 2 (2), interpolation='linear', tail=None)
        >>> Predictions.from_frame(frame.T, n=3)([1.0])[:, 0]
        array([0.8, 0.9, 1. ])
        >>> Predictions.from_frame(frame, n=3, labels=["c", "a", "b"])([1.0])[:, 0]
        array([1. , 0.8, 0.9])
        """
        from cocensor.data.curves import read_curves
        from cocensor.data.tables import Table

        curves = read_curves(Table.of(frame, name), check_whole(n, "n"), time=time, times=times)
        curves = curves.after_start() if interpolation is None and tail is None else curves
        source = f"frame of {type(frame).__module__.partition('.')[0]}"
        with naming(name):
            return curves.predictions(interpolation, tail, source).in_order_of(labels, curves.labels)

    def drawn(self, rows: Rows) -> Predictions:
        """Return the curves of subjects drawn with repeats, read from those of all."""
        return _DrawnPredictions(self, rows)

    def __repr__(self) -> str:
        return (
            f"Predictions(n={len(self)}, times {self.times[0]:g} to {self.times[-1]:g} "
            f"({self.times.size}), interpolation={self.interpolation or 'linear'!r}, tail={self.tail!r})"
        )

    @property
    def end(self) -> float:
        """Up to when the curves are known: for good where they have a tail."""
        return float(self.times[-1]) if self.tail is None else np.inf

    def known_at(self, times: FloatArray) -> bool:
        """Whether the curves are known at all of the ``times``."""
        return bool(times.max(initial=0.0) <= self.end)

    @property
    def alike(self) -> bool:
        """Whether all subjects share one row of the table."""
        return self.probabilities.strides[0] == 0

    def __call__(self, times: npt.ArrayLike) -> FloatArray:
        """Probabilities of every subject at ``times``, in their order: (n, len(times))."""
        return self.read(as_vector(times, "times", negative=False), slice(None))

    def read(self, times: FloatArray, rows: Any) -> FloatArray:
        """Return probabilities of some ``rows`` at ``times``."""
        table = self.probabilities[rows] if isinstance(rows, slice) else rows_of(self.probabilities, rows)
        if times.size != self.times.size or not np.array_equal(times, self.times):
            table = self._between(table, times)
        return self._within(table)

    def on(self, times: FloatArray, room: FloatArray | None = None) -> Predictions:
        """Return the curves kept at ``times`` alone."""
        if np.array_equal(times, self.times):
            return self
        if is_by_columns(self.probabilities):
            values = self._within(self._between(self.probabilities, times, room))
        else:
            values = np.empty((len(self), times.size))
            for rows in row_blocks(*values.shape):
                values[rows] = self.read(times, rows)
        return Predictions.trusted(times, values, source=self.source)

    def _between(
        self, table: npt.NDArray[np.floating[Any]], t: FloatArray, room: FloatArray | None = None
    ) -> npt.NDArray[np.floating[Any]]:
        """Return the curves of a block off their grid."""
        grid = self.times
        left = np.searchsorted(grid, t, side="right") - 1
        if t.size and np.array_equal(grid[left], t) and (np.diff(left) == 1).all():
            return table[:, left[0] : left[0] + t.size]
        right = np.minimum(left + 1, grid.size - 1)
        start = np.where(left >= 0, grid[left], 0.0)
        width = grid[right] - start
        # Beyond the grid, on its last time and between steps the weight is 0.
        between = (width > 0) & (self.interpolation != "step")
        weight = np.divide(t - start, width, out=np.zeros_like(t), where=between)
        result = on_lines(table, left, right, weight, room)
        beyond = t > grid[-1]
        if beyond.any():
            last = table[:, -1:].astype(np.float64)
            result[:, beyond] = tail_values(self._tail_at(t.max(), "times"), last, grid[-1], t[beyond])
        return result

    def median(self) -> FloatArray:
        """The median survival time of each subject, infinite where its curve stays above one half."""
        return self.quantile(0.5)

    def quantile(self, p: float) -> FloatArray:
        r"""Each subject's :math:`\inf\{t : S_i(t) \le 1 - p\}`.

        A curve that has not fallen that far at the end of the grid follows the tail rule, and gives infinity without.
        """
        level = 1.0 - check_number(p, "p", lower=0.0, upper=1.0)
        below = self.probabilities <= level + QUANTILE_TOLERANCE
        reached = below.any(axis=1)
        index = np.argmax(below, axis=1)
        rows = np.arange(len(self))
        result = self.times[index].copy()
        if self.interpolation != "step":
            top = np.where(index > 0, self.probabilities[rows, index - 1], 1.0)
            start = np.where(index > 0, self.times[index - 1], 0.0)
            fall = top - self.probabilities[rows, index]
            share = np.divide(top - level, fall, out=np.ones(len(self)), where=fall > 0)
            result = start + np.clip(share, 0.0, 1.0) * (result - start)
        last = self.probabilities[:, -1].astype(np.float64)
        later = tail_quantile(self.tail or "last", last, float(self.times[-1]), level)
        return np.where(reached, result, later)

    def restricted_mean(self, horizon: float) -> FloatArray:
        r"""Each subject's mean survival time up to ``horizon``, :math:`\int_0^{horizon} S_i(t)\,dt`."""
        horizon = check_number(horizon, "horizon", lower=0.0)
        end = float(self.times[-1])
        inner = self.times[(self.times > 0) & (self.times < horizon)]
        knots = np.concatenate(([0.0], inner, [min(horizon, end)]))
        # S is evaluated at the left end of each piece for steps, at both ends for lines.
        widths, values = np.diff(knots), self(knots)
        area: FloatArray = values[:, :-1] @ widths
        if self.interpolation != "step":
            area = 0.5 * (area + values[:, 1:] @ widths)
        if horizon > end:
            last = self.probabilities[:, -1].astype(np.float64)
            area = area + tail_area(self._tail_at(horizon, "horizon"), last, end, end, horizon)
        return area

    def _tail_at(self, t: float, name: str) -> Tail:
        if self.tail is None:
            end = f"the grid's end at {self.times[-1]:g} unless tail is set"
            raise ValueError(f"{name} must not pass {end}, but reaches {t:g}.")
        return self.tail


class _DrawnPredictions(Predictions):
    """The curves of some subjects, repeats allowed, read from those of all: no table is copied."""

    _everyone: Predictions
    _rows: Rows
    _rows_in = "_rows"

    def __init__(self, everyone: Predictions, rows: Rows) -> None:
        own = {name: value for name, value in vars(everyone).items() if name != "probabilities"}
        vars(self).update(own | {"_everyone": everyone, "_rows": rows})

    @property
    def probabilities(self) -> npt.NDArray[np.floating[Any]]:
        """The table, copied when it is asked for."""
        return self._everyone.probabilities[self._rows]

    @property
    def alike(self) -> bool:
        return self._everyone.alike

    def taken(self, rows: AnyRows) -> _DrawnPredictions:
        return _DrawnPredictions(self._everyone, self._rows[rows])

    def changed(self, **values: Any) -> _DrawnPredictions:
        return _DrawnPredictions(self._everyone.changed(**values), self._rows)

    def read(self, times: FloatArray, rows: Any) -> FloatArray:
        return self._everyone.read(times, self._rows[rows])


@dataclass(frozen=True, eq=False, repr=False)
class PredictionsAt(Predicted):
    r"""The probabilities :math:`\hat S_i(t)` of n subjects at one time, which say nothing of other times.

    Examples
    --------
    >>> predicted = PredictionsAt(12.0, [0.8, 0.4, 0.9])
    >>> predicted, predicted.end
    (PredictionsAt(n=3, time 12), 12.0)
    >>> predicted.known_at(np.array([6.0, 12.0]))
    False
    """

    time: float
    probabilities: npt.NDArray[np.floating[Any]]
    source: str = "at one time"
    n_rounded: int = field(default=0, init=False)
    matched: Matching | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        [time] = times = as_vector(self.time, "times", single=True, negative=False)
        table = as_probability_table(self.probabilities, times, column=True)
        rounded = count_rounded(table, "probabilities", times)
        vars(self).update(time=float(time), probabilities=read_only(table), n_rounded=rounded)

    def __repr__(self) -> str:
        return f"PredictionsAt(n={len(self)}, time {self.time:g})"

    @property
    def times(self) -> FloatArray:
        """The one time, in an array as the times of curves are."""
        return np.array([self.time])

    @property
    def end(self) -> float:
        """The one time."""
        return self.time

    @property
    def limit(self) -> str:
        """Why there are no survival curves."""
        return f"predicts at time {self.time:g} alone"

    def known_at(self, times: FloatArray) -> bool:
        """Whether all of the ``times`` are the one time."""
        return bool((times == self.time).all())

    def read(self, times: FloatArray, rows: Any) -> FloatArray:
        """Return the probabilities of some ``rows``, once for each of the ``times``."""
        for other in times[times != self.time][:1]:
            has = f"there is a prediction at {self.time:g} alone"
            raise ValueError(f"several times are needed for times = {other:g}, but {has}.")
        values = self._within(rows_of(self.probabilities, rows))
        return values if times.size == 1 else np.repeat(values, times.size, axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class RiskScores(Predicted):
    """One number for each subject, the higher the riskier: enough for discrimination, and for nothing else.

    Examples
    --------
    >>> scores = RiskScores([0.3, -1.2, 0.8])
    >>> scores
    RiskScores(n=3)
    >>> scores.marker(np.array([1.0, 2.0]), slice(0, 2))
    array([[ 0.3,  0.3],
           [-1.2, -1.2]])
    """

    risk: FloatArray
    source: str = "risk score"
    matched: Matching | None = field(default=None, init=False)
    name: InitVar[str] = "scores"
    _rows_in = "risk"

    def __post_init__(self, name: str) -> None:
        vars(self).update(risk=read_only(as_vector(self.risk, name, copy=True)))

    def __repr__(self) -> str:
        return f"RiskScores(n={len(self)})"

    @property
    def limit(self) -> str:
        """Why there are no survival curves."""
        return "is a risk score"

    def read(self, times: FloatArray, rows: Any) -> FloatArray:
        """Raise that there are no probabilities."""
        raise ValueError("a risk score orders subjects; it is not a survival curve.")

    def marker(self, times: FloatArray, rows: Any) -> FloatArray:
        """Return the score once for each of the ``times``."""
        return np.repeat(self.risk[rows][:, None], times.size, axis=1)


Probabilities = Predictions | PredictionsAt  # probabilities at several times, or at one


def on_times(
    times: FloatArray,
    table: npt.NDArray[np.floating[Any]],
    interpolation: Interpolation | None = None,
    tail: Tail | None = None,
    source: str = "curves",
    n_rounded: int = 0,
) -> Probabilities:
    """Return the curves of a checked table; of one time without a tail, the prediction there alone."""
    if times.size > 1 or tail is not None:
        return Predictions.trusted(times, table, interpolation, tail, source, n_rounded)
    single = object.__new__(PredictionsAt)
    vars(single).update(
        time=float(times[0]), probabilities=read_only(table), source=source, n_rounded=n_rounded
    )
    return single
