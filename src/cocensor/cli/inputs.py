"""From tables to what the library takes: covariates and predicted curves."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from cocensor._notes import Note
from cocensor._validation import as_vector, collected, escaped, spelled
from cocensor.cli.files import Table
from cocensor.curves import Interpolation, Predictions, RiskScores, Tail
from cocensor.curves.columns import NUMBER, is_risk, repeated, times_of
from cocensor.datasets.encoding import Encoder, UnseenLevelWarning
from cocensor.sensitivity.after_dropout import as_labels, check_groups
from cocensor.stream.columns import is_text, plain

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
        'named after times. One column is a prediction at that time alone, or, named "risk", a risk score. Once per '
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
            "Column that identifies subjects in the test sample and in every prediction file. "
            "Without it, rows must be in the same order."
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
    """The named columns of each table as numbers, a pyarrow table each, encoded as the first table says.

    ``notes`` also get what was decided in reading the tables.
    """
    notes += [note for table in (train, *others) for note in table.notes]
    if names is None:
        return [None, *(None for _ in others)]
    import pyarrow as pa

    go_on = ": fill it in, or leave the column out of --covariates"
    parts = [pa.table({name: table.column(name, go_on) for name in names}) for table in (train, *others)]
    texts = [
        name for name, values in zip(names, parts[0].columns, strict=True) if _is_text(values, name, train)
    ]
    among_texts = set(texts)
    for part, table in zip(parts[1:], others, strict=True):
        for name, values in zip(names, part.columns, strict=True):
            if _is_text(values, name, table) and name not in among_texts:
                raise ValueError(f"{table.path}: column {name!r} has text, but numbers in {train.path}.")
    with train.named():
        encoder = Encoder(texts, scaling=None).fit(parts[0])
    levels = {name: len(parts[0].column(name).unique()) for name in texts}
    notes += [
        Note("decision", f"Covariate {name!r} is text: it enters as indicators of its {n} levels.")
        for name, n in levels.items()
    ]
    notes += [
        Note("decision", f"Covariate {name!r} does not vary in {train.path} and is left out.")
        for name in encoder.left_out_
    ]
    encoded = []
    for part, table in zip(parts, (train, *others), strict=True):
        with table.named(), collected(UnseenLevelWarning) as warned:
            matrix = encoder.transform(part)
        notes += [Note("caution", f"{table.path}: {text}") for text in warned]
        encoded.append(pa.table(dict(zip(encoder.columns_, matrix.T, strict=True))))
    return encoded


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
    interpolation: Interpolation,
    tail: Tail | None,
    source: str,
    notes: list[Note],
) -> Predictions:
    """Predictions from a wide table, a row per subject and a column per time, in the order of the test subjects.

    A single column ``risk`` is a risk score.
    """
    notes += table.notes
    columns = [name for name in table.data.column_names if name != identity]
    is_matched = identity in table.data.column_names
    if not is_matched and len(table) != len(test) and len(columns) - len(test) in (0, 1):
        raise ValueError(
            f"{table.path} has {len(table)} rows and {len(columns)} columns for {len(test)} test subjects: transposed? "
            "it must have a row per subject and a column per time."
        )
    if identity is not None:
        table.column(identity)  # refused here, before a column of another name is taken for a time
    if columns[:1] == [""]:
        columns = columns[1:]
        _check_row_names(table, identity)
        notes.append(Note("decision", f"{table.path}: the first column has no name and is left out."))
    curves = (
        risk_scores_of(table, columns[0])
        if is_risk(columns)
        else _curves(table, columns, identity, interpolation, tail, source, notes)
    )
    if identity is not None:
        return curves[_order(table, test, identity, notes)]
    if len(table) != len(test):
        raise ValueError(
            f"{table.path} has {len(table)} rows, but {test.path} has {len(test)}: --id COLUMN matches rows by an id."
        )
    return curves


def _curves(
    table: Table,
    columns: list[str],
    identity: str | None,
    interpolation: Interpolation,
    tail: Tail | None,
    source: str,
    notes: list[Note],
) -> Predictions:
    """The curves of each row, at the times that ``columns`` are named after."""
    with table.named():
        times = times_of(columns, table.decimal, "--id {}" if identity is None else None)
    found = {name: table.numbers(name) for name in columns}
    with table.named():
        array = np.column_stack(
            [as_vector(values.to_numpy(), f"column {name!r}") for name, values in found.items()]
        )
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


def _check_row_names(table: Table, identity: str | None) -> None:
    """Refuse a nameless first column that may say which row is whose; 1, 2, ... and 0, 1, ... say nothing."""
    found = [spelled(value) for value in table.column("").to_pylist()]
    counted = [[str(k + start) for k in range(len(table))] for start in (0, 1)]
    if identity is None and found not in counted:
        raise ValueError(
            f"{table.path}: the first column has no name and does not number the rows (it starts with "
            f"{found[0]!r}): name it and give --id, or remove it."
        )


def _order(table: Table, test: Table, identity: str, notes: list[Note]) -> Any:
    """For each test subject the row of its prediction."""
    rows, wanted = (
        _rows_by_id(each, other, identity, notes) for each, other in ((table, test), (test, table))
    )
    missing = [each for each in wanted if each not in rows]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        other = ": predictions for another sample?" if len(missing) == len(wanted) else "."
        raise ValueError(f"{table.path} has no row for {identity} {missing[0]!r}{more} of {test.path}{other}")
    unknown = [each for each in rows if each not in wanted]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise ValueError(f"{table.path} has a row for {identity} {unknown[0]!r}{more}, not in {test.path}.")
    return np.array([rows[each] for each in wanted])


def _rows_by_id(table: Table, other: Table, identity: str, notes: list[Note]) -> dict[str, int]:
    """Rows by id; texts are compared as they are, but with the integers of the other table as integers."""
    from pyarrow import types

    ids = [spelled(value) for value in table.column(identity).to_pylist()]
    if is_text(plain(table.column(identity)).type) and types.is_integer(plain(other.column(identity)).type):
        whole = {text: str(int(text)) for text in ids if _INTEGER.fullmatch(text)}
        changed = [text for text, number in whole.items() if text != number]
        if changed:
            text = (
                f"{other.path} has integers as {identity}: those of {table.path} are compared as integers, "
                f"{changed[0]!r} as {whole[changed[0]]}."
            )
            notes.append(Note("decision", text))
        ids = [whole.get(text, text) for text in ids]
    rows: dict[str, int] = {}
    for row, key in enumerate(ids):
        if key in rows:
            raise ValueError(
                f"{table.path}: {identity} must differ between rows, but rows {rows[key]} and {row} have {key!r}."
            )
        rows[key] = row
    return rows
