"""Whose prediction is whose: ids and labels of predictions held against those of the test subjects."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

import narwhals as nw
import numpy as np
import numpy.typing as npt

from cocensor._checks import IntArray, line_of_file, naming, spelled
from cocensor._notes import Note, noted

#: One number for each id, the same for ids that are the same, and for no others.
Keys = npt.NDArray[np.integer[Any]]
#: Put into the order of the test subjects by their labels; or taken by position although labels differ.
Matching = Literal["labels", "position"]

_INTEGER = re.compile(r"[-+]?[0-9]+")


class Identified(ABC):
    """A table whose subjects have ids: what a refusal has to say of one of them."""

    given: str  # the table as the user calls it
    what: str = "row"  # whether a subject has a "row" or a "column" in it

    def place(self, number: int) -> tuple[str, str]:
        """Return the file of a subject, and what its row there is called."""
        return self.given, f"row {number}"

    @abstractmethod
    def value(self, column: str, number: int) -> Any:
        """Return the id of a subject, which ``column`` has."""


@dataclass(frozen=True, eq=False)
class Ids(Identified):
    """The ids of the subjects of a table that is held in memory: whole numbers or texts."""

    given: str
    values: Sequence[Any]
    is_typed: bool = True  # whether texts are texts, and not perhaps whole numbers, as in a CSV file
    what: str = "row"
    is_of_lines: bool = False  # whether the table is a file with a line for each row, below a header

    def place(self, number: int) -> tuple[str, str]:
        """Return the file of a subject, and what its row there is called."""
        return self.given, line_of_file(number) if self.is_of_lines else f"row {number}"

    def value(self, column: str, number: int) -> Any:
        """Return the id of a subject."""
        return self.values[number]

    def beside(self, other: Ids, name: str) -> tuple[Ids, list[Note]]:
        """Return these ids as they compare with others: with whole numbers, texts of a CSV file as such."""
        if not isinstance(self.values[0], str) or isinstance(other.values[0], str):
            return self, []
        if self.is_typed:
            has = f"whole numbers, as in {other.given}, but has texts"
            raise ValueError(f"{self.given}: {name} must have {has}.")
        whole = {text: int(text) for text in self.values if _INTEGER.fullmatch(text)}
        changed = [text for text, number in whole.items() if text != str(number)][:1]
        files = {"id": name, "file": self.given, "other": other.given}
        notes = [noted("ids_as_integers", **files, text=text, number=str(whole[text])) for text in changed]
        return replace(self, values=[whole.get(text, text) for text in self.values]), notes


def rows_by_id(test: Ids, predicted: Ids, name: str) -> tuple[IntArray | None, list[Note]]:
    """Return for each test subject its place among the predictions, None where that is the same, and notes.

    Examples
    --------
    >>> rows_by_id(Ids("test.csv", ["a", "b", "c"]), Ids("cox.csv", ["c", "a", "b"]), "patient")
    (array([1, 2, 0]), [])
    >>> rows_by_id(Ids("test.csv", ["a", "b"]), Ids("cox.csv", ["a", "d"]), "patient")
    Traceback (most recent call last):
    ...
    ValueError: cox.csv has no row for patient 'b' of test.csv, row 1.
    """
    (own, of_own), (wanted, of_wanted) = predicted.beside(test, name), test.beside(predicted, name)
    code: dict[Any, int] = {}
    keys = [np.array([code.setdefault(value, len(code)) for value in ids.values]) for ids in (own, wanted)]
    check_distinct(own, keys[0], name)
    check_distinct(wanted, keys[1], name)
    return join(wanted, keys[1], own, keys[0], name), [*of_own, *of_wanted]


def check_distinct(table: Identified, keys: Keys, name: str) -> None:
    """Refuse an id that comes twice."""
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if again.size:
        second = int(order[again + 1].min())
        first = int(np.argmax(keys == keys[second]))
        (path, row), (other, earlier) = table.place(second), table.place(first)
        like = f"{table.value(name, second)!r} like {earlier}{'' if path == other else f' of {other}'}"
        raise ValueError(f"{path}: {name} must differ between rows, but {row} has {like}.")


def join(test: Identified, wanted: Keys, predicted: Identified, own: Keys, name: str) -> IntArray | None:
    """Return for each test subject its place among the predictions, by keys that differ; None where it is the same."""
    if np.array_equal(wanted, own):
        return None
    missing, unknown = (np.flatnonzero(~np.isin(*pair)) for pair in ((wanted, own), (own, wanted)))
    if missing.size:
        refuse_missing(test, predicted, name, int(missing[0]), missing.size, missing.size == wanted.size)
    if unknown.size:
        refuse_unknown(test, predicted, name, int(unknown[0]), unknown.size)
    rows = np.empty(own.size, dtype=np.int64)
    rows[np.argsort(wanted)] = np.argsort(own)
    return rows


def refuse_missing(
    test: Identified, predicted: Identified, name: str, number: int, n: int, are_all: bool = False
) -> NoReturn:
    """Raise that ``n`` test subjects, the first of whom has this ``number``, have no prediction."""
    path, row = test.place(number)
    subject = f"{name} {test.value(name, number)!r}{_and_more(n)}"
    other = ": predictions for another sample?" if are_all else "."
    raise ValueError(f"{predicted.given} has no {predicted.what} for {subject} of {path}, {row}{other}")


def refuse_unknown(test: Identified, predicted: Identified, name: str, number: int, n: int) -> NoReturn:
    """Raise that ``n`` predictions, the first of which has this ``number``, are for nobody in the test sample."""
    path, row = predicted.place(number)
    where = f", {row}," if predicted.what == "row" else ","
    subject = f"{name} {predicted.value(name, number)!r}{_and_more(n)}"
    raise ValueError(f"{path} has a {predicted.what} for {subject}{where} not in {test.given}.")


def _and_more(n: int) -> str:
    return f" and {n - 1:,} more" if n > 1 else ""


def rows_by_label(
    own: Any, wanted: Any, by_position: str = "give a pair (times, array)"
) -> tuple[IntArray | None, Matching | None]:
    """Return for each of the labels ``wanted`` its row in ``own``, None to match by position, and how they matched.

    Labels are compared as texts: 812 read from the header of a file is "812". Numbers from 0 on say nothing, unless
    both are such numbers and somebody has sorted them. ``by_position`` says how to match by position what is refused.

    Examples
    --------
    >>> rows_by_label(["b", "a"], ["a", "b"]), rows_by_label(["a", "b"], ["a", "b"])
    ((array([1, 0]), 'labels'), (None, None))
    >>> rows_by_label([0, 1], ["a", "b"])
    (None, 'position')
    """
    if own is None or wanted is None or own is wanted or len(own) != len(wanted):
        return None, None
    labels, subjects = _spelled(own), _spelled(wanted)
    if labels == subjects:
        return None, None
    # A frame without an index has a RangeIndex, and one that was sorted has the numbers themselves.
    unlabelled = count_from(labels, 0) and type(own).__name__ == "RangeIndex"
    rows = {label: row for row, label in enumerate(labels)}
    missing = [label for label in subjects if label not in rows]
    if not missing and len(set(subjects)) == len(subjects) and not unlabelled:
        return np.array([rows[label] for label in subjects]), "labels"
    if count_from(labels, 0) or count_from(subjects, 0):
        return None, "position"
    what = f"none for {missing[0]!r}" if missing else "one that comes twice"
    raise ValueError(
        f"predictions must have the labels of the test subjects, each once, but have {what}{_and_more(len(missing))}: "
        f"are they for other subjects? to match by position, {by_position}."
    )


def rows_by_file_label(
    predicted: Ids, wanted: Sequence[Any] | None, test: str
) -> tuple[IntArray | None, list[Note]]:
    """Return for each subject of the ``test`` file its place among the predictions of another, and notes.

    Labels are those of an index that pandas wrote. Numbers from 0 or from 1 on say nothing: a file does not tell
    whether they were sorted or written anew.
    """
    labels = _spelled(predicted.values)
    subjects = None if wanted is None else _spelled(wanted)
    given, what = predicted.given, predicted.what
    if count_from(labels, 0, 1):
        if subjects is not None and labels != subjects and sorted(labels) == sorted(subjects):
            raise ValueError(
                f"{given}: {what}s are numbered {labels[0]}, {labels[1]}, ..., and {test} has these numbers in another "
                "order: give the column of ids a name in both files, and --id with that name."
            )
        return None, [noted("numbered_rows", file=given, what=what)]
    if subjects is None:
        instead = f"give --id COLUMN, the column of {test} with these labels, or number them"
        raise ValueError(f"{given}: {what}s are labelled {labels[0]!r}, ...: {instead}.")
    with naming(given):
        rows, matched = rows_by_label(labels, subjects, "number them")
    return rows, [] if matched is None else [noted(f"matched_by_{matched}", file=given)]


def count_from(labels: Any, *starts: int) -> bool:
    """Whether labels, as texts, are numbers from one of ``starts`` on."""
    texts = _spelled(labels)
    return any(texts == [str(start + k) for k in range(len(texts))] for start in starts)


def _spelled(labels: Any) -> list[str]:
    return [spelled(label) for label in labels]


def row_labels(values: Any) -> Any:
    """Return the labels of the rows of a frame or column of pandas, or of a library like it; None of all others."""
    of_pandas = nw.dependencies.is_pandas_like_dataframe, nw.dependencies.is_pandas_like_series
    return values.index if any(is_labelled(values) for is_labelled in of_pandas) else None


def is_numbered(names: Any) -> bool:
    """Whether names are the numbers 0, 1, 2, ..."""
    return list(names) == list(range(len(names)))


def check_same_order(one: Any, other: Any, names: tuple[str, str]) -> None:
    """Refuse labels of the same subjects in another order; what has no labels, or numbers from 0 on, says nothing."""
    if one is None or other is None or len(one) != len(other) or is_numbered(one) or is_numbered(other):
        return
    first, second = _spelled(one), _spelled(other)
    if first != second and set(first) == set(second):
        row = next(k for k, (a, b) in enumerate(zip(first, second, strict=True)) if a != b)
        raise ValueError(
            f"{names[0]} and {names[1]} must have their rows in the same order, but row {row} is labelled "
            f"{first[row]!r} in {names[0]} and {second[row]!r} in {names[1]}."
        )
