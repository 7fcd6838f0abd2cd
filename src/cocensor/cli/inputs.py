"""From tables to what the library takes: covariates and predicted curves."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from cocensor._notes import Note
from cocensor._validation import FloatArray, IntArray, as_vector, escaped, spelled
from cocensor.cli.files import Table
from cocensor.curves import Interpolation, Predictions, RiskScores, Tail
from cocensor.curves.columns import NUMBER, is_risk, repeated, times_of
from cocensor.curves.labels import rows_by_label
from cocensor.evaluation.request import matching_note
from cocensor.sensitivity.after_dropout import as_labels, check_groups
from cocensor.stream.columns import is_number, is_text, plain

DATA = "Data"
PREDICTIONS = "Predictions"
Train = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="Training sample, CSV or Parquet: one row per subject. Errors count rows from 0, after the header.",
        rich_help_panel=DATA,
    ),
]
Covariates = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Covariate columns, separated by commas. A text column enters as indicators of its levels.",
        rich_help_panel=DATA,
    ),
]
Test = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="Test sample, CSV or Parquet: one row per subject. Errors count rows from 0, after the header. Or several "
        "Parquet files: a folder, or a pattern in quotes.",
        rich_help_panel=DATA,
    ),
]
PredictionFiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=FILE",
        help="A model's survival probabilities for the test subjects, CSV or Parquet: a row per subject, columns "
        "named after times; or, as lifelines and pycox give them, a row per time, with the times first, and a column "
        'per subject. One column is a prediction at that time alone, or, named "risk", a risk score. Once per '
        'model; a name has no "=". Or several Parquet files, as for --test.',
        rich_help_panel=PREDICTIONS,
    ),
]
Risks = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=COLUMN",
        help=(
            "A model that is a risk score, greater for a higher risk: a column of the test sample. "
            "It is scored by auc and concordance alone. Once per model."
        ),
        rich_help_panel=PREDICTIONS,
    ),
]
Identity = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help=(
            "Column that identifies subjects in the test sample and in every prediction file, where a first column "
            "without a name, or the names of a column per subject, will do. Without it, subjects must be in "
            "the same order."
        ),
        rich_help_panel=PREDICTIONS,
    ),
]
Folds = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="For out-of-fold predictions, the fold of each test subject: a column of the test sample.",
        rich_help_panel=PREDICTIONS,
    ),
]

_INTEGER = re.compile(r"[-+]?[0-9]+")
# What pandas calls the column of an index without a name, in CSV and in Parquet.
INDEX = ("", "__index_level_0__")


def items(text: str, option: str) -> list[str]:
    """The parts of ``text`` between commas: some, and each of them once."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise ValueError(f"{option} must be names separated by commas, but is {text!r}.")
    twice = repeated(parts)
    if twice:
        raise ValueError(f"{option} must not repeat a name, but has {twice[0]!r} twice.")
    return parts


def covariate_names(text: str | None, **columns: str | None) -> list[str] | None:
    """The names in ``--covariates``, none of which is the column of another option."""
    names = None if text is None else items(text, "--covariates")
    for option, column in columns.items():
        if column in (names or ()):
            raise ValueError(f"--covariates must not name the column of --{option}, but has {column!r}.")
    return names


def numbers(text: str, option: str) -> list[float]:
    """The numbers in ``text``, between commas; one may come twice."""
    parts = [part.strip() for part in text.split(",")]
    other = [part for part in parts if not NUMBER.fullmatch(part) or not isfinite(float(part))]
    if other:
        raise ValueError(f"{option} must be numbers separated by commas, but one is {other[0]!r}.")
    return [float(part) for part in parts]


def covariates_of(names: list[str] | None, train: Table, *others: Table, notes: list[Note]) -> list[Any]:
    """The named columns of each table, a pyarrow table each; ``notes`` get what was decided in reading the tables."""
    notes += [note for table in (train, *others) for note in table.notes]
    if names is None:
        return [None, *(None for _ in others)]
    import pyarrow as pa

    go_on = ": fill it in, or leave the column out of --covariates"
    parts = [pa.table({name: table.column(name, go_on) for name in names}) for table in (train, *others)]
    kinds = [
        [
            "text" if _is_text(values, name, table) else "numbers"
            for name, values in zip(names, part.columns, strict=True)
        ]
        for part, table in zip(parts, (train, *others), strict=True)
    ]
    for own, table in zip(kinds[1:], others, strict=True):
        for name, kind, first in zip(names, own, kinds[0], strict=True):
            if kind != first:
                raise ValueError(f"{table.path}: column {name!r} has {kind}, but {first} in {train.path}.")
    return parts


def groups_of(test: Table, column: str) -> list[str]:
    """``--hazard-ratio-by``: the group of each test subject."""
    with test.named():
        groups = as_labels(test.column(column).to_pylist(), "--hazard-ratio-by")
        check_groups(groups, "--hazard-ratio-by")
    return groups


def predictions_of(
    table: Table,
    test: Table,
    identity: str | None,
    interpolation: Interpolation | None,
    tail: Tail | None,
    source: str,
    notes: list[Note],
) -> Predictions:
    """Predictions from a table, in the order of the test subjects.

    It has a row per subject and a column per time, or a row per time, with the times first, and a column per subject.
    A single column ``risk`` is a risk score. The column ``identity``, or the index of pandas, says whose each is.
    """
    notes += table.notes
    columns = [name for name in table.data.column_names if name != identity]
    index = next((name for name in columns if name in INDEX), None)
    is_matched = identity in table.data.column_names
    if not is_matched and (times := _times_in_rows(table, columns, index, len(test))) is not None:
        names = [name for name in columns if name != times]
        order = _order(table, test, names, identity, "column", notes)
        array = _numbers(table, names).T[order]
        with table.named():
            return Predictions(_numbers(table, [times])[:, 0], array, interpolation, tail, source)
    if not is_matched and len(table) != len(test) and len(columns) - len(test) in (0, 1):
        raise ValueError(
            f"{table.path} has {len(table)} rows and {len(columns)} columns for {len(test)} test subjects: transposed? "
            "it must have a row per subject and a column per time, or a row per time and the times in its first column."
        )
    if identity is not None and index is None:
        table.column(identity)  # refused here, before a column of another name is taken for a time
    columns = [name for name in columns if name != index]
    curves = (
        risk_scores_of(table, columns[0])
        if is_risk(columns)
        else _curves(table, columns, identity, interpolation, tail, source)
    )
    if identity is None and len(table) != len(test):
        raise ValueError(
            f"{table.path} has {len(table)} rows, but {test.path} has {len(test)}: --id COLUMN matches rows by an id."
        )
    if index is not None and is_matched:
        notes.append(Note("decision", f"{table.path}: the first column has no name and is left out."))
    if index is not None and identity is not None and not is_matched:
        notes.append(Note("decision", f"{table.path}: the column without a name is read as {identity}."))
    key = identity if is_matched else index
    return curves if key is None else curves[_order(table, test, table.column(key), identity, "row", notes)]


def _times_in_rows(table: Table, columns: list[str], index: str | None, n: int) -> str | None:
    """The column of times of a table with a row per time and a column for each of ``n`` subjects, if it is one."""
    times = columns[0] if index is None else index
    if len(columns) != n + 1 or NUMBER.fullmatch(times.strip()) or not is_number(table.sparse(times).type):
        return None
    if len(table) == n:
        try:
            times_of([name for name in columns if name != times], table.decimal)
        except ValueError:
            return times
        return None
    return times


def _numbers(table: Table, columns: list[str]) -> FloatArray:
    """Some columns of a table, side by side."""
    found = {name: table.numbers(name) for name in columns}
    with table.named():
        return np.column_stack(
            [as_vector(values.to_numpy(), f"column {name!r}") for name, values in found.items()]
        )


def _curves(
    table: Table,
    columns: list[str],
    identity: str | None,
    interpolation: Interpolation | None,
    tail: Tail | None,
    source: str,
) -> Predictions:
    """The curves of each row, at the times that ``columns`` are named after."""
    with table.named():
        times = times_of(columns, table.decimal, "--id {}" if identity is None else None)
    array = _numbers(table, columns)
    with table.named():
        if times.size == 2 and times[0] == 0 and (array[:, 0] == 1).all():
            times, array = times[1:], array[:, 1:]  # 1 at time 0 makes no curve of a prediction at one time
        if times.size == 1:
            return Predictions(times, array, source=f"{escaped(table.path.name)}, at time {times[0]:g} alone")
        return Predictions(times, array, interpolation, tail, source)


def risk_scores_of(table: Table, column: str) -> RiskScores:
    """A column that orders subjects, the greater the riskier."""
    values = table.numbers(column)
    with table.named():
        source = f"column {column!r} of {escaped(table.path.name)}"
        return RiskScores(values.to_numpy(), source, f"column {column!r}")


def _is_text(values: Any, name: str, table: Table) -> bool:
    """Whether a column has texts; what is neither text nor number is refused, and so is a text among numbers."""
    import pyarrow.types as kinds

    kind = plain(values).type
    if kinds.is_boolean(kind) or kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind):
        return kinds.is_dictionary(values.type)
    if not is_text(kind):
        raise ValueError(f"{table.path}: column {name!r} must have numbers or texts, but has {kind}.")
    if not kinds.is_dictionary(values.type):
        _check_levels(values.to_pylist(), name, table)
    return True


def _check_levels(texts: list[str], name: str, table: Table) -> None:
    """Refuse texts of which most are meant as numbers, whatever marks they have."""
    other = [row for row, text in enumerate(texts) if not NUMBER.fullmatch(text.replace(table.decimal, "."))]
    meant = [text for text in texts if NUMBER.fullmatch(re.sub("[.,]", "", text))]
    if other and 2 * len(meant) > len(texts):
        raise ValueError(
            f"{table.path}: column {name!r} has mostly numbers, but row {other[0]} is "
            f"{texts[other[0]]!r} (a number is like 1{table.decimal}5 here): correct it, or write all "
            "levels as text."
        )


def _order(
    table: Table, test: Table, own: Any, identity: str | None, what: str, notes: list[Note]
) -> IntArray:
    """For each test subject the place of its prediction, a row or a column of a table whose labels are ``own``.

    They are ids, or, without ``identity``, those of an index that pandas wrote: 0, 1, ... and 1, 2, ... say nothing.
    """
    import pyarrow as pa

    ids = pa.chunked_array([pa.array(own)]) if isinstance(own, list) else own
    if identity is not None:
        return _order_by_id(table, test, ids, identity, what, notes)
    labels = [spelled(value) for value in ids.to_pylist()]
    index = next((name for name in test.data.column_names if name in INDEX), None)
    wanted = [] if index is None else test.column(index).to_pylist()
    if any(labels == [str(k + start) for k in range(len(labels))] for start in (0, 1)):
        if labels != (subjects := [spelled(label) for label in wanted]) and sorted(labels) == sorted(
            subjects
        ):
            raise ValueError(
                f"{table.path}: {what}s are numbered {labels[0]}, {labels[1]}, ..., and {test.path} has these numbers "
                "in another order: give the column of ids a name in both files, and --id with that name."
            )
        notes.append(Note("decision", f"{table.path}: {what}s are numbered, and matched by position."))
        return np.arange(len(labels))
    if index is None:
        raise ValueError(
            f"{table.path}: {what}s are labelled {labels[0]!r}, ...: give --id COLUMN, the column of {test.path} with "
            "these labels, or number them."
        )
    with table.named():
        rows, matched = rows_by_label(labels, wanted, "number them")
    notes += [replace(note, text=f"{table.path}: {note.text}") for note in matching_note(matched)]
    return np.arange(len(labels)) if rows is None else rows


def _order_by_id(
    table: Table, test: Table, ids: Any, identity: str, what: str, notes: list[Note]
) -> IntArray:
    """For each test subject the place of its id among the ``ids`` of a table."""
    known = test.column(identity)
    rows = _places_by_id(table, ids, test, known, identity, notes)
    wanted = _places_by_id(test, known, table, ids, identity, notes)
    missing = [each for each in wanted if each not in rows]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        other = ": predictions for another sample?" if len(missing) == len(wanted) else "."
        raise ValueError(
            f"{table.path} has no {what} for {identity} {missing[0]!r}{more} of {test.path}{other}"
        )
    unknown = [each for each in rows if each not in wanted]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise ValueError(
            f"{table.path} has a {what} for {identity} {unknown[0]!r}{more}, not in {test.path}."
        )
    return np.array([rows[each] for each in wanted])


def _places_by_id(
    table: Table, own: Any, other: Table, ids: Any, identity: str, notes: list[Note]
) -> dict[str, int]:
    """Places by id; texts are compared as they are, but with the integers of the other table as integers."""
    from pyarrow import types

    found = [spelled(value) for value in own.to_pylist()]
    if is_text(plain(own).type) and types.is_integer(plain(ids).type):
        whole = {text: str(int(text)) for text in found if _INTEGER.fullmatch(text)}
        changed = [text for text, number in whole.items() if text != number]
        if changed:
            text = (
                f"{other.path} has integers as {identity}: those of {table.path} are compared as integers, "
                f"{changed[0]!r} as {whole[changed[0]]}."
            )
            notes.append(Note("decision", text))
        found = [whole.get(text, text) for text in found]
    places: dict[str, int] = {}
    for place, key in enumerate(found):
        if key in places:
            raise ValueError(
                f"{table.path}: {identity} must differ between rows, but rows {places[key]} and {place} have {key!r}."
            )
        places[key] = place
    return places
