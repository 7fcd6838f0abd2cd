"""From columns of any kind to numbers, with what is learned from the training part only."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from cocensor._checks import FloatArray, as_frame, check_choice, spelled
from cocensor._late import narwhals as nw

Scaling = Literal["standard", "minmax"] | None


class UnseenLevelWarning(UserWarning):
    """A categorical column has a level that the training part does not have.

    See Also
    --------
    Encoder : Warns of it.
    """


class Encoder:
    """Impute, scale and one-hot encode a frame; everything is learned in ``fit``.

    Missing numbers become the mean of the training part, missing categories its most frequent level. Numbers are
    scaled; a category with k levels becomes k − 1 indicators, without the first level in sorted order. What does not
    vary in the training part is left out (``left_out_``).

    Parameters
    ----------
    categorical : sequence of str
        The categorical columns; all others are numbers.
    scaling : {"standard", "minmax"} or None
        Zero mean and unit variance, the range [0, 1], or as they are.

    Attributes
    ----------
    columns_ : tuple of str
        Names after encoding, such as ``"grade=II"``.
    groups_ : tuple of str
        For each of them the column that it comes from.

    Notes
    -----
    A level that the training part does not have counts as missing, with an :class:`UnseenLevelWarning`. Levels are
    compared as texts: 2, 2.0 and "2" are one.

    Examples
    --------
    >>> import pandas as pd
    >>> from cocensor.paper.datasets import Encoder
    >>> frame = pd.DataFrame({"age": [40.0, 60.0, None, 50.0], "stage": ["I", "II", "I", "III"]})
    >>> encoder = Encoder(categorical=["stage"], scaling=None).fit(frame)
    >>> encoder.columns_
    ('age', 'stage=II', 'stage=III')
    >>> encoder.transform(frame)
    array([[40.,  0.,  0.],
           [60.,  1.,  0.],
           [50.,  0.,  0.],
           [50.,  0.,  1.]])
    """

    def __init__(self, categorical: Sequence[str] = (), scaling: Scaling = "standard") -> None:
        if scaling is not None:
            check_choice(scaling, "scaling", ("standard", "minmax"))
        if isinstance(categorical, str):
            raise ValueError(f"categorical must be a sequence of column names, but is {categorical!r}.")
        self.categorical, self.scaling = tuple(categorical), scaling

    def fit(self, X: Any) -> Self:
        """Learn from the training part."""
        frame = as_frame(X, "X")
        named, categorical = set(frame.columns), set(self.categorical)
        missing = [name for name in self.categorical if name not in named]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}, which categorical names.")
        if not frame.columns:
            raise ValueError("X has no columns.")
        self._input = tuple(frame.columns)
        self._levels: dict[str, list[str]] = {}
        self._most_frequent: dict[str, str] = {}
        self._mean: dict[str, float] = {}
        for name in frame.columns:
            if name in categorical:
                values = _texts(frame, name)
                levels, counts = np.unique(values[values != ""], return_counts=True)
                self._levels[name] = levels.tolist()
                self._most_frequent[name] = str(levels[np.argmax(counts)]) if levels.size else ""
            else:
                numbers = _numbers(frame, name)
                present = numbers[~np.isnan(numbers)]
                # A column without any value does not vary either.
                self._mean[name] = float(present.mean()) if present.size else 0.0
        raw, columns, groups = self._raw(frame)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            spread = raw.std(axis=0)
        # What is too small or too large for a standard deviation is refused rather than scaled to nonsense.
        if not np.isfinite(spread).all():
            raise ValueError(
                f"X must have values of moderate size, but column {columns[int(np.argmax(spread))]!r} overflows."
            )
        varies = spread > 0
        single = {name for name in self.categorical if len(self._levels[name]) < 2}
        constant = {name for name, keep in zip(columns, varies, strict=True) if not keep}
        left_out = single | constant
        self.left_out_ = tuple(dict.fromkeys(name for name in (*self._input, *columns) if name in left_out))
        self._kept = np.flatnonzero(varies)
        self.columns_ = tuple(columns[i] for i in self._kept)
        self.groups_ = tuple(groups[i] for i in self._kept)
        if not self._kept.size:
            raise ValueError(
                "X must vary in at least one column, but does not: its columns are "
                f"{', '.join(map(repr, self._input))}."
            )
        kept = raw[:, self._kept]
        number = np.array([group not in categorical for group in self.groups_])
        if self.scaling == "minmax":
            shift, scale = kept.min(axis=0), np.ptp(kept, axis=0)
        else:
            shift, scale = kept.mean(axis=0), kept.std(axis=0)
        scaled = number & (self.scaling is not None)
        self._shift, self._scale = np.where(scaled, shift, 0.0), np.where(scaled, scale, 1.0)
        return self

    def transform(self, X: Any) -> FloatArray:
        """The numbers of any part, of shape (n, k) for the k names of ``columns_``."""
        if not hasattr(self, "_kept"):
            raise ValueError("Encoder is not fitted: call fit(X) first.")
        frame = as_frame(X, "X")
        if tuple(frame.columns) != self._input:
            raise ValueError(
                f"X must have the columns {list(self._input)} in this order, but has {frame.columns}."
            )
        raw, _, _ = self._raw(frame)
        return (raw[:, self._kept] - self._shift) / self._scale

    def fit_transform(self, X: Any) -> FloatArray:
        """``fit``, then ``transform`` the same part."""
        return self.fit(X).transform(X)

    def _raw(self, frame: nw.DataFrame[Any]) -> tuple[FloatArray, list[str], list[str]]:
        """Imputed numbers and indicators of all columns, with their names and those of the columns behind them."""
        parts, columns, groups = [], [], []
        for name in frame.columns:
            if name not in self._levels:
                numbers = _numbers(frame, name)
                parts.append(np.where(np.isnan(numbers), self._mean[name], numbers)[:, None])
                columns.append(name)
                groups.append(name)
                continue
            levels = np.array(self._levels[name])
            values = _texts(frame, name)
            values = np.where(values == "", self._most_frequent[name], values)
            unseen = ~np.isin(values, levels) & (levels.size > 0)
            if unseen.any():
                usual, n = self._most_frequent[name], int(unseen.sum())
                warnings.warn(
                    f"column {name!r} has the level {str(values[unseen][0])!r}, which the training part does not have: "
                    f"{n} row{'s count' if n > 1 else ' counts'} as {usual!r}, its most frequent level.",
                    UnseenLevelWarning,
                    stacklevel=3,
                )
                values = np.where(unseen, usual, values)
            parts.append((values[:, None] == levels[1:]).astype(np.float64))
            columns += [f"{name}={level}" for level in levels[1:]]
            groups += [name] * (levels.size - 1)
        return np.hstack(parts), columns, groups


def _numbers(frame: nw.DataFrame[Any], name: str) -> FloatArray:
    """A numeric column with NaN where it is missing."""
    series = frame.get_column(name)
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        raise ValueError(
            f"X must be numeric in column {name!r}, or categorical must name it; it is {series.dtype}."
        )
    numbers: FloatArray = series.cast(nw.Float64).to_numpy().astype(np.float64)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise ValueError(f"X must be finite, but column {name!r} in row {row} is {numbers[row]}.")
    return numbers


def _texts(frame: nw.DataFrame[Any], name: str) -> Any:
    """A categorical column as texts, empty where it is missing."""
    series = frame.get_column(name)
    missing = series.is_null().to_list()
    values = series.to_list()
    texts = ["" if gone else spelled(value) for gone, value in zip(missing, values, strict=True)]
    return np.array(texts, dtype=np.str_)
