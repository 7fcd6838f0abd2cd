"""Whose prediction is whose: the labels of predictions held against those of the test subjects."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from cocensor._validation import IntArray, check_same_order, is_numbered, row_labels, spelled

#: Put into the order of the test subjects by their labels; or taken by position although labels differ.
Matching = Literal["labels", "position"]


def subject_labels(x: Any, of_outcomes: Any) -> Any:
    """The labels of test subjects: those of their covariates, or those of their outcomes where only these say more."""
    labels = row_labels(x)
    if labels is None or of_outcomes is None or is_numbered(of_outcomes):
        return of_outcomes if labels is None else labels
    if is_numbered(labels):
        return of_outcomes
    check_same_order(labels, of_outcomes, ("x_test", "y_test"))
    return labels


def rows_by_label(
    own: Any, wanted: Any, by_position: str = "give a pair (times, array)"
) -> tuple[IntArray | None, Matching | None]:
    """For each of the labels ``wanted`` its row in ``own``, or None to match by position; and how they were matched.

    Labels are compared as texts: 812 read from the header of a file is "812". Numbers from 0 on say nothing, unless
    both are such numbers and somebody has sorted them. ``by_position`` says how to match by position what is refused.

    Examples
    --------
    >>> rows_by_label(["b", "a"], ["a", "b"])
    (array([1, 0]), 'labels')
    >>> rows_by_label([0, 1], ["a", "b"])
    (None, 'position')
    >>> rows_by_label(["a", "b"], ["a", "b"])
    (None, None)
    """
    if own is None or wanted is None or own is wanted or len(own) != len(wanted):
        return None, None
    given, asked = ([spelled(label) for label in labels] for labels in (own, wanted))
    if given == asked:
        return None, None
    numbers = [str(number) for number in range(len(given))]
    # A frame without an index has a RangeIndex, and one that was sorted has the numbers themselves.
    unlabelled = given == numbers and type(own).__name__ == "RangeIndex"
    rows = {label: row for row, label in enumerate(given)}
    missing = [label for label in asked if label not in rows]
    if not missing and len(set(asked)) == len(asked) and not unlabelled:
        return np.array([rows[label] for label in asked]), "labels"
    if numbers in (given, asked):
        return None, "position"
    what = f"none for {missing[0]!r}" if missing else "one that comes twice"
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    raise ValueError(
        f"predictions must have the labels of the test subjects, each once, but have {what}{more}: are they for other "
        f"subjects? to match by position, {by_position}."
    )
