"""A data set: features, outcome, and what must be said about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cocensor._cached import cached_property
from cocensor._checks import as_frame, check_length
from cocensor.data import Survival


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features and outcome of one data set, with its licence, citation and source.

    Attributes
    ----------
    name : str
    X : data frame
        The features, of pandas if that is installed, else of pyarrow. Numeric columns are float64, categorical
        ones have sorted text levels. Missing values are left missing.
    y : Survival
        The outcome, one entry per row of ``X``.
    categorical, numeric : tuple of str
        Which columns of ``X`` are of which kind; together they are all.
    licence : str
        As stated by those who distribute the data.
    citation : str
        What to cite.
    source : str
        Where this very copy came from: a file, a package with its version, or an address.
    dropped : tuple of str
        What the loader left out, with counts.

    Examples
    --------
    >>> from cocensor.paper.datasets import load_whas
    >>> data = load_whas()
    >>> data
    Dataset('whas', 500 rows, 14 features, 57.0% censored)
    >>> data.y
    Survival(n=500, events=215, censored=57.0%, times 1 to 2358)
    >>> data.X["bmi"].mean().round(1)
    np.float64(26.6)
    """

    name: str
    X: Any
    y: Survival
    categorical: tuple[str, ...]
    numeric: tuple[str, ...]
    licence: str
    citation: str
    source: str
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        frame = as_frame(self.X, "X")
        check_length(self.y, "y", len(frame), "X")
        named = [*self.categorical, *self.numeric]
        if sorted(named) != sorted(frame.columns):
            wrong = sorted(set(named) ^ set(frame.columns)) or sorted(
                {c for c in named if named.count(c) > 1}
            )
            raise ValueError(
                "categorical and numeric must name each column of X once, but do not for "
                f"{', '.join(map(repr, wrong))}."
            )

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {len(self)} rows, {self.n_features} features, "
            f"{self.percent_censored:.1f}% censored)"
        )

    @property
    def n_features(self) -> int:
        """How many columns ``X`` has."""
        return len(self.categorical) + len(self.numeric)

    @cached_property
    def n_encoded(self) -> int:
        """How many columns ``X`` has after one-hot encoding with the first level dropped; missing is no level."""
        frame = as_frame(self.X, "X")
        levels = (int(frame.get_column(name).drop_nulls().n_unique()) for name in self.categorical)
        return len(self.numeric) + sum(max(n - 1, 0) for n in levels)

    @property
    def percent_censored(self) -> float:
        """How many of 100 subjects are censored."""
        return 100.0 * (1.0 - self.y.n_events / len(self))

    def summary(self) -> str:
        """One line: rows, features before and (after) one-hot encoding, share of the censored.

        Examples
        --------
        >>> from cocensor.paper.datasets import load_flchain
        >>> load_flchain().summary()
        'flchain: 7,871 rows, 8 (16) features, 72.5% censored'
        """
        return (
            f"{self.name}: {len(self):,} rows, {self.n_features} ({self.n_encoded}) features, "
            f"{self.percent_censored:.1f}% censored"
        )
