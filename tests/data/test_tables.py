"""Columns of tables, whichever library they are of; and which refusals name what."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from cocensor.data.covariates import as_covariates
from cocensor.data.curves import predictions_of, read_curves
from cocensor.data.files import read_table
from cocensor.data.tables import Columns, Table
from tests.refusals import refuses

LIBRARIES = pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
TIMES = [0.5, 1.0, 2.0]
CURVES = np.exp(-np.outer([0.3, 0.6], TIMES))


def table(library=pa.table, first=0, **columns):
    return Table.of(library(columns), "t", first)


@LIBRARIES
def test_numbers_of_every_kind(library):
    made = table(library, a=[1, 2], b=[True, False], c=[0.5, 1.5])
    assert [made.numbers(name).tolist() for name in "abc"] == [[1, 2], [True, False], [0.5, 1.5]]
    decimals = table(a=pa.array([Decimal("0.5"), Decimal("2")]))
    assert decimals.numbers("a").tolist() == [0.5, 2.0]
    single = table(a=np.array([0.5], np.float32), b=np.array([0.25], np.float32))
    assert single.matrix(["a", "b"]).dtype == np.float32


@LIBRARIES
@pytest.mark.parametrize("first", [0, 1000])
def test_rows_are_counted_from_the_first_row_of_the_table(library, first):
    made = table(
        library, first, time=[1.0, -1.0], event=[1, 2], gone=[0.5, None], text=["1", "x"], far=[1.0, np.inf]
    )
    row = first + 1
    refuses(lambda: made.times("time"), f"t: column 'time' must not be negative, but row {row} is -1.0.")
    refuses(lambda: made.flags("event"), "t: column 'event'", f"row {row} is 2.")
    refuses(lambda: made.numbers("gone"), f"t: column 'gone' has no value in row {row}.")
    refuses(lambda: made.numbers("text"), f"t: column 'text' must have numbers, but row {row} is 'x'.")
    refuses(lambda: made.numbers("far"), f"t: column 'far' must be finite, but row {row} is inf.")
    refuses(lambda: made.numbers("none"), "t has no column 'none'", "'time', 'event'")


@pytest.mark.parametrize("first", [0, 1000])
def test_outcomes_count_rows_as_their_table_does(first):
    row = first + 1
    days = {
        "a": ["2020-01-01"] * 2,
        "b": ["2020-02-01", "2019-02-01"],
        "e": [1, 0],
        "t": [1.0, 3.0],
        "f": [2.0, 2.0],
    }
    made = table(first=first, **days, why=["", ""])
    dates = Columns("e", entry="a", exit="b", data_lock="2021-01-01")
    refuses(
        lambda: dates.read(made), "t: column 'b' (exit) must not be before", f"row {row} is '2019-02-01'."
    )
    follow_up = Columns("e", "t", follow_up="f")
    refuses(lambda: follow_up.read(made), "t: column 't' (time) must not pass", f"row {row} is 3.0.")
    reason = Columns("e", "t", reason="why")
    refuses(lambda: reason.read(made), "t: column 'why' (reason)", f"row {row} is ''.")


@LIBRARIES
def test_texts_that_say_yes_or_no(library):
    assert table(library, a=["TRUE", "false", "1", "0"]).flags("a").tolist() == [True, False, True, False]
    refuses(
        lambda: table(library, a=["TRUE", "yes"]).flags("a"), "TRUE and FALSE or 1 and 0", "row 1 is 'yes'"
    )


def test_dates_and_lists_are_neither_numbers_nor_levels():
    made = table(a=[dt.date(2020, 1, 1)], b=[[1.0, 2.0]])
    refuses(lambda: made.numbers("a"), "'a' must have numbers, but has type Date")
    refuses(lambda: made.covariate("a"), "'a' must have numbers or categories, but has type Date")
    refuses(lambda: made.covariate("b"), "'b' must have numbers")


def test_complex_numbers_are_refused_whatever_holds_them():
    objects = pl.DataFrame({"a": pl.Series([0.9, 0.5 + 0j, 0.3], dtype=pl.Object)})
    refuses(
        lambda: Table.of(objects, "t").numbers("a"), "t: column 'a' must have numbers, but row 1 is (0.5+0j)."
    )
    refuses(lambda: Table.of(pd.DataFrame({"a": [0.9, 0.5 + 0j]}), "t").numbers("a"), "'a' must have numbers")


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_category_that_is_missing_is_no_level(missing):
    frame = pd.DataFrame({"a": pd.Categorical(["u", missing, "v"]), "b": ["u", missing, "v"]})
    for name in "ab":
        refuses(
            lambda name=name: as_covariates(frame[[name]], "x"), f"x: column '{name}' has no value in row 1"
        )


def test_one_text_among_numbers_is_refused_unless_they_are_categories():
    mistyped = ["1", "2", "10", "X"]
    for x in (pd.DataFrame({"a": mistyped}), np.array([[each] for each in mistyped], dtype=object)):
        refuses(lambda x=x: as_covariates(x, "x"), "mostly numbers, but row 3 is 'X'")
    assert as_covariates(pd.DataFrame({"a": pd.Categorical(mistyped)}), "x").levels[0] == tuple(mistyped)
    assert as_covariates(pd.DataFrame({"a": ["1", "2"]}), "x").levels[0] == ("1", "2")


# --- predictions ----------------------------------------------------------------------------------------


def test_a_bad_value_of_a_subject_who_has_a_column_is_named_by_that_column(tmp_path):
    """Rows are times there."""
    frame = pd.DataFrame(CURVES.T, index=TIMES, columns=["p1", "p2"])
    frame.loc[1.0, "p2"] = 1.5
    frame.to_csv(tmp_path / "m.csv")
    (tmp_path / "test.csv").write_text("id,t\np2,1\np1,2\n")
    test, model = read_table(tmp_path / "test.csv", "id"), read_table(tmp_path / "m.csv", "id")
    refuses(
        lambda: predictions_of(model, test, "id", None, None, "m", ""),
        "m.csv: probabilities must lie in [0, 1], but column 'p2' at time 1 is 1.5",
    )


def test_a_file_that_can_be_read_both_ways_is_refused(tmp_path):
    square = pd.DataFrame(np.exp(-np.outer([0.1, 0.2, 0.3], TIMES)), index=[0.1, 0.2, 0.3], columns=TIMES)
    square.to_csv(tmp_path / "m.csv")
    refuses(lambda: read_curves(read_table(tmp_path / "m.csv"), 3), "m.csv", "both ways", "first column")
    square.set_axis([1, 2, 3]).to_csv(tmp_path / "m.csv")
    np.testing.assert_array_equal(read_curves(read_table(tmp_path / "m.csv"), 3).times, TIMES)


def written(folder, name, **columns):
    parquet.write_table(pa.table(columns), folder / name)
    return read_table(folder / name, "id")


def test_ids_of_typed_files_are_compared_as_what_they_are(tmp_path):
    curves = {"1": [0.9, 0.8], "2": [0.5, 0.4]}
    test = written(tmp_path, "test.parquet", id=[7, 8])
    for ids in ([8.0, 7.0], np.array([8, 7], np.int8)):
        model = written(tmp_path, "m.parquet", id=ids, **curves)
        found, _ = predictions_of(model, test, "id", None, None, "m", "")
        assert found.probabilities[:, 0].tolist() == [0.8, 0.9]
    texts = written(tmp_path, "m.parquet", id=["8", "7"], **curves)
    refuses(
        lambda: predictions_of(texts, test, "id", None, None, "m", ""),
        "m.parquet: id",
        "whole numbers",
        "texts",
    )
    halves = written(tmp_path, "m.parquet", id=[7.0, 7.5], **curves)
    refuses(lambda: predictions_of(halves, test, "id", None, None, "m", ""), "'id'", "row 1 is 7.5")


@LIBRARIES
def test_a_frame_with_one_column_risk_is_a_risk_score(library):
    found = read_curves(table(library, Risk=[0.3, -1.0]), 2)
    assert found.times is None
    assert found.values.tolist() == [0.3, -1.0]


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ({}, ("time", "entry")),
        ({"time": "t", "covariates": ("a", "a")}, ("covariates", "twice", "'a'")),
        ({"time": "t", "covariates": ("a", "t")}, ("covariates", "column of time", "'t'")),
        ({"time": "t", "id": "p", "covariates": ("p",)}, ("covariates", "column of id", "'p'")),
        ({"time": "t", "administrative": "a", "follow_up": "f"}, ("follow_up and administrative",)),
    ],
)
def test_columns_that_contradict_each_other(columns, parts):
    refuses(lambda: Columns("died", **columns), *parts)


def test_on_the_command_line_columns_are_called_as_options():
    both = {"time": "t", "administrative": "a", "follow_up": "f", "are_options": True}
    refuses(lambda: Columns("died", **both), "--follow-up and --administrative")
