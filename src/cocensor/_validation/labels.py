"""Labels of rows: whose data is whose."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from cocensor._validation.covariates import spelled


def row_labels(values: Any) -> Any:
    """The labels of the rows of a frame or column of pandas, or of a library like it; None for all that has none."""
    is_labelled = nw.dependencies.is_pandas_like_dataframe(values) or nw.dependencies.is_pandas_like_series(
        values
    )
    return values.index if is_labelled else None


def is_numbered(names: Any) -> bool:
    """Whether names are 0, 1, 2, ..., as a library numbers what was given none."""
    return list(names) == list(range(len(names)))


def check_same_order(one: Any, other: Any, names: tuple[str, str]) -> None:
    """Refuse labels of the same subjects in another order; what has no labels, or numbers from 0 on, says nothing."""
    if one is None or other is None or len(one) != len(other) or is_numbered(one) or is_numbered(other):
        return
    first, second = ([spelled(label) for label in labels] for labels in (one, other))
    if first != second and set(first) == set(second):
        row = next(k for k, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
        raise ValueError(
            f"{names[0]} and {names[1]} must have their rows in the same order, but row {row} is labelled "
            f"{first[row]!r} in {names[0]} and {second[row]!r} in {names[1]}."
        )
