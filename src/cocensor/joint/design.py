"""The covariates of a joint model, and how each column of them acts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from cocensor._checks import BoolArray, FloatArray, Rows, check_length, row_blocks
from cocensor.data.covariates import Encoding
from cocensor.estimators.cox import centre_and_scale


@dataclass(frozen=True, eq=False)
class Design:
    r"""Covariates of a joint model, :math:`\log H(t \mid z) = s(\log t) + z'\beta + z_v'\gamma \log t`.

    Attributes
    ----------
    matrix : array
        One row for each subject.
    columns : tuple of str or None
        What the columns are called.
    varying : tuple of int
        The columns :math:`z_v` whose effect changes with log time as well.
    ridges : tuple of str
        By column, the name of the ridge that shrinks its β; empty for none. All columns of one ridge share its weight.
    varying_ridge : str
        The ridge that shrinks γ.
    encoding : Encoding or None
        How the columns come from covariates; None where they come from elsewhere, as those of an imputation model.
    """

    matrix: FloatArray
    columns: tuple[str, ...] | None = None
    varying: tuple[int, ...] = ()
    ridges: tuple[str, ...] = ()
    varying_ridge: str = ""
    encoding: Encoding | None = None

    @classmethod
    def of(cls, X: Any, n: int) -> Design:
        """Plain covariates (None for none), which act linearly and are not shrunk; a design stays as it is."""
        if X is None:
            return cls(np.empty((n, 0)))
        if not isinstance(X, Design):
            encoding = Encoding.of(X, "X")
            check_length(X, "X", n, "y")
            if encoding.left_out:
                constant = encoding.left_out[0] if encoding.is_named else int(encoding.left_out[0][1:])
                raise ValueError(f"X must vary in every column, but column {constant!r} is constant.")
            X = cls.encoded(encoding, encoding.matrix(X, "X"))
        check_length(X, "X", n, "y")
        return X

    @classmethod
    def encoded(cls, encoding: Encoding, matrix: FloatArray) -> Design:
        """Plain covariates whose encoding is known."""
        is_plain = not (encoding.is_named or encoding.levels)
        return cls(matrix, None if is_plain else encoding.names, encoding=encoding)

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, rows: Rows | slice) -> Self:
        return replace(self, matrix=self.matrix[rows])

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.matrix.shape[1])

    @property
    def ridge_of_effects(self) -> tuple[str, ...]:
        """The ridge of every β and then of every γ; empty for those that are not shrunk."""
        of_columns = self.ridges or ("",) * self.n_columns
        return (*of_columns, *(self.varying_ridge for _ in self.varying))

    @property
    def names_of_effects(self) -> tuple[str, ...]:
        """The name of every β and then of every γ."""
        names = self.columns or tuple(f"x{i}" for i in range(self.n_columns))
        return (*names, *(f"{names[i]} × log time" for i in self.varying))


@dataclass(frozen=True, eq=False)
class Standardised:
    """A matrix in units of standard deviations."""

    matrix: FloatArray
    centre: FloatArray
    scale: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""
        return self.matrix.shape

    def __getitem__(self, rows: Any) -> FloatArray:
        values = self.matrix[rows] - self.centre
        values /= self.scale
        return values


def standardised(design: Design, counted: BoolArray, weight: FloatArray | None = None) -> Standardised:
    """The matrix in standard deviations of those ``counted``; refuses constant or dependent unshrunk columns."""
    everyone = design.matrix
    X, p = everyone if counted.all() else everyone[counted], everyone.shape[1]
    centre, scale = centre_and_scale(X, None if weight is None else weight[counted], design.columns)
    names = range(p) if design.columns is None else list(map(repr, design.columns))
    free = np.array([not ridge for ridge in design.ridge_of_effects[:p]], dtype=bool)
    constant = scale == 0
    if (constant & free).any():
        name = names[int(np.argmax(constant & free))]
        raise ValueError(f"X must vary in every column, but column {name} is constant.")
    result = Standardised(everyone, centre, np.where(constant, 1.0, scale))
    if free.sum() > 1:
        products = np.zeros((p, p))
        for rows in row_blocks(*everyone.shape):
            Z = result[rows][counted[rows]]
            products += Z.T @ Z
        # What of each column the columns before it do not explain.
        unexplained = np.abs(np.diag(np.linalg.qr(products[np.ix_(free, free)] / counted.sum(), mode="r")))
        if unexplained.min() < 1e-11:
            name = names[np.flatnonzero(free)[np.argmax(unexplained < 1e-11)]]
            raise ValueError(
                f"X has linearly dependent columns: column {name} is a combination of those before it."
            )
    return result
