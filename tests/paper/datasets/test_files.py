"""A user's own file: what is read from it, and which files are refused, in one sentence."""

import re
import sys

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cocensor as cc
from cocensor.paper.datasets import Dataset, load_mimic_iv, load_nacd, load_seer

ORGANS = "is_male,is_white,renal,cns,coagulation,cardiovascular"


def nacd(folder, text):
    (folder / "nacd.csv").write_text(text, encoding="utf-8")
    return load_nacd(folder)


def mimic(folder, rows):
    (folder / "mimic_iv.csv").write_text("\n".join([f"time,event,{ORGANS},age", *rows]), encoding="utf-8")
    return load_mimic_iv(folder)


# --- what is read ---------------------------------------------------------------------------------------


def test_features_are_all_other_columns_in_the_order_of_the_file(tmp_path):
    data = nacd(tmp_path, "B,time,A,event\n1,5,2.5,1\n3,6,-1e3,0\n")
    pd.testing.assert_frame_equal(data.X, pd.DataFrame({"B": [1.0, 3.0], "A": [2.5, -1000.0]}))
    assert data.y.time.tolist() == [5, 6]
    assert data.y.event.tolist() == [True, False]
    assert data.numeric == ("B", "A")
    assert data.source == str(tmp_path / "nacd.csv")


def test_empty_fields_are_missing(tmp_path):
    data = mimic(tmp_path, ["5,1,0,1,,2,0,0,70", "6,0,1,1,3,NA,0,0,", "7,0,1,1,0,1,0,0,NaN"])
    assert data.X["age"].isna().tolist() == [False, True, True]
    assert data.X["renal"].isna().tolist() == [True, False, False]
    assert data.X["cns"].cat.categories.tolist() == ["1", "2"]
    assert data.n_encoded == 1 + 1 + 0 + 1 + 1 + 0 + 0


def test_a_level_is_the_same_however_the_number_is_written(tmp_path):
    data = mimic(tmp_path, ["5,1,0,1,2.0,2,0,0,70", "6,0,1,1, 2,10,0,0,70", "7,0,1,1,10,x,0,0,70"])
    assert data.X["renal"].tolist() == ["2", "2", "10"]
    assert data.X["renal"].cat.categories.tolist() == ["2", "10"]
    assert data.X["cns"].cat.categories.tolist() == ["10", "2", "x"]  # texts, not numbers


def test_times_of_zero_or_less_are_dropped_where_the_paper_does(tmp_path):
    data = nacd(tmp_path, "time,event,A\n0,1,1\n-3,1,2\n4,0,3\n")
    assert data.X["A"].tolist() == [3.0]
    assert data.dropped == ("2 rows with a time of 0 or less",)


def test_a_zero_time_stays_where_nothing_is_said_of_it(tmp_path):
    data = mimic(tmp_path, ["0,1,0,1,0,0,0,0,70", "6,0,1,1,0,0,0,0,70"])
    assert data.y.time.tolist() == [0, 6]
    assert data.dropped == ()


@pytest.mark.parametrize("site", ["brain", "liver", "stomach"])
def test_seer_reads_the_months(tmp_path, site):
    extra = (
        ",Behavior recode for analysis,SEER historic stage A (1973-2015),RX Summ--Scope Reg LN Sur (2003+)"
        if site == "brain"
        else ""
    )
    ones, twos = ("," + ",".join("1" * 3), "," + ",".join("2" * 3)) if extra else ("", "")
    (tmp_path / f"seer_{site}.csv").write_text(
        f"Survival months,event,Sex,Age{extra}\n7,1,Male,66{ones}\n0,1,Female,70{ones}\n9,0,Female,71{twos}\n"
    )
    data = load_seer(site, tmp_path)
    assert data.name == f"seer_{site}"
    assert data.y.time.tolist() == [7, 9]
    assert data.X["Sex"].tolist() == ["Male", "Female"]
    assert data.numeric == ("Age",)
    assert data.n_encoded == data.n_features


def test_without_pandas_the_frame_is_one_of_pyarrow(tmp_path, monkeypatch):
    rows = ["5,1,0,1,2,2,0,0,70", "6,0,1,1,,10,0,0,", "7,0,1,1,10,1,0,0,66"]
    with_pandas = mimic(tmp_path, rows)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pandas", None)
        data = mimic(tmp_path, rows)
        assert data.n_encoded == 5
    assert isinstance(data.X, pa.Table)
    assert data.X["age"].null_count == 1
    pd.testing.assert_frame_equal(data.X.to_pandas(), with_pandas.X)


# --- which files are refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("when,event,A\n5,1,2\n", "{file} lacks the column 'time'."),
        ("when,what,A\n5,1,2\n", "{file} lacks the columns 'time', 'event'."),
        ("time,event,A\n", "{file} has no rows."),
        ("", "{file}: it cannot be read as CSV: Empty CSV file."),
        (
            "time,event,A\n5,1\n",
            "{file}: it cannot be read as CSV: CSV parse error: Expected 3 columns, got 2: 5,1.",
        ),
        (",time,event,A\n0,5,1,2\n", "{file} must name all its columns, but column 0 has no name."),
        (
            "time,event,A,A\n5,1,2,3\n",
            "{file} must not have two columns of the same name, but has 'A' twice.",
        ),
        ("time,event,A\n5,1,2\nlong,1,2\n", "column 'time' of {file} must be numeric, but row 1 is 'long'."),
        ("time,event,A\n5,1,2\n,1,2\n", "column 'time' of {file} is missing in row 1."),
        ("time,event,A\n5,1,2\ninf,1,2\n", "column 'time' of {file} must be finite, but row 1 is inf."),
        ("time,event,A\n5,1,2\n5,2,2\n", "column 'event' of {file} must be 0 or 1, but row 1 is 2.0."),
        ("time,event,A\n5,1,2\n5,dead,2\n", "column 'event' of {file} must be numeric, but row 1 is 'dead'."),
        ("time,event,A\n5,1,2\n5,,2\n", "column 'event' of {file} is missing in row 1."),
        ("time,event,A\n5,1,2\n5,1,two\n", "column 'A' of {file} must be numeric, but row 1 is 'two'."),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, sentence):
    sentence = re.escape(sentence.format(file=tmp_path / "nacd.csv"))
    sentence = sentence.replace("Expected", "(Row #2: )?Expected")  # pyarrow says which row, or does not
    with pytest.raises(ValueError, match=rf"^{sentence}\Z"):
        nacd(tmp_path, text)


def test_negative_times_are_refused_where_the_paper_has_none(tmp_path):
    with pytest.raises(ValueError, match=r"'time'.* row 1 .*-6\.0"):
        mimic(tmp_path, ["5,1,0,1,0,0,0,0,70", "-6,0,1,1,0,0,0,0,70"])


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "nacd.csv").write_bytes(bytes(range(256)) * 4)
    with pytest.raises(ValueError, match="nacd.csv"):
        load_nacd(tmp_path)


def test_seer_has_three_sites():
    with pytest.raises(ValueError, match="^site .*brain.*liver.*stomach.*lung"):
        load_seer("lung")


# --- a data set of one's own ----------------------------------------------------------------------------


def own(X, **changes):
    fields = {
        "name": "own",
        "X": X,
        "y": cc.Survival([1.0, 2.0, 3.0], [1, 0, 1]),
        "categorical": ("sex",),
        "numeric": ("age",),
        "licence": "none",
        "citation": "none",
        "source": "here",
    }
    return Dataset(**{**fields, **changes})


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_any_frame_will_do(library):
    data = own(library({"age": [50.0, 60.0, 70.0], "sex": ["f", "m", "f"]}))
    assert len(data) == 3
    assert data.n_encoded == 2
    assert repr(data) == "Dataset('own', 3 rows, 2 features, 33.3% censored)"
    assert nw.from_native(data.X).shape == (3, 2)


def test_every_column_is_of_one_kind_and_every_row_has_an_outcome():
    X = pd.DataFrame({"age": [50.0, 60.0, 70.0], "sex": ["f", "m", "f"]})
    with pytest.raises(ValueError, match="^categorical .*'sex'"):
        own(X, categorical=())
    with pytest.raises(ValueError, match="but do not for 'age'."):
        own(X, categorical=("sex", "age"))
    with pytest.raises(ValueError, match="y has length 3, but X has length 2."):
        own(X[:2])


def test_a_level_that_nobody_has_does_not_count():
    sex = pd.Categorical(["f", "m", "f"], categories=["f", "m", "x"])
    data = own(pd.DataFrame({"age": np.arange(3.0), "sex": sex}))
    assert data.n_encoded == 2
