"""Frames of predicted curves: times in the columns or in the index, told apart by the number of subjects."""

import lifelines
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cocensor import Predictions
from cocensor.data.border import as_predictions
from tests.refusals import refuses

TIMES = np.array([0.5, 1.0, 2.0, 4.0])
TABLE = np.exp(-TIMES * np.array([[0.3], [0.6], [1.2]]))  # three subjects


def test_from_lifelines():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=50), "t": rng.exponential(size=50), "e": 1})
    fitted = lifelines.CoxPHFitter().fit(frame, "t", "e")
    predicted = fitted.predict_survival_function(frame.head(4))
    for curves in (Predictions.from_frame(predicted, n=4), as_predictions(predicted, 4)):
        np.testing.assert_array_equal(curves.probabilities, predicted.to_numpy().T)
        np.testing.assert_array_equal(curves.times, predicted.index)
        assert curves.interpolation is None
        assert "pandas" in curves.source


def test_from_pycox():
    """``predict_surv_df``: float32, times in the index, subjects numbered."""
    frame = pd.DataFrame(TABLE.T.astype(np.float32), index=TIMES.astype(np.float32))
    curves = Predictions.from_frame(frame, n=3)
    np.testing.assert_array_equal(curves.probabilities, TABLE.astype(np.float32))
    np.testing.assert_array_equal(curves.times, TIMES)


@pytest.mark.parametrize("names", [TIMES, list(map(str, TIMES)), [" 0.5", "1", "2e0", "4.00"]])
def test_a_row_per_subject_and_times_as_names_of_the_columns(names):
    """xgbse, and the tables of the command line."""
    for index in (None, ["a", "b", "c"], [11, 7, 9]):
        curves = Predictions.from_frame(pd.DataFrame(TABLE, columns=names, index=index), n=3)
        np.testing.assert_array_equal(curves.probabilities, TABLE)
        np.testing.assert_array_equal(curves.times, TIMES)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_libraries_without_an_index(make):
    by_subject = make({str(t): column for t, column in zip(TIMES, TABLE.T, strict=True)})
    for curves in (Predictions.from_frame(by_subject, n=3), as_predictions(by_subject, 3)):
        np.testing.assert_array_equal(curves.probabilities, TABLE)
    by_time = make({"time": TIMES, "a": TABLE[0], "b": TABLE[1], "c": TABLE[2]})
    for time in ("time", None):
        curves = Predictions.from_frame(by_time, n=3, time=time, tail="last")
        np.testing.assert_array_equal(curves.probabilities, TABLE)
        np.testing.assert_array_equal(curves.times, TIMES)
        assert curves.tail == "last"
        refuses(
            lambda time=time: Predictions.from_frame(by_time, n=2, time=time), "2 test subjects", "4 rows"
        )
    refuses(lambda: Predictions.from_frame(by_time, n=3, time="months"), "'months'")


def test_a_frame_that_can_be_read_both_ways_asks():
    square = np.exp(-np.outer(TIMES, [0.3, 0.6, 1.2, 2.0]))
    for index, columns in (
        (TIMES, TIMES),
        (TIMES, None),  # as lifelines and pycox number their subjects
        (None, None),
        ([3, 5, 8, 9], ["1", "2", "3", "4"]),
    ):
        frame = pd.DataFrame(square, index=index, columns=columns)
        refuses(
            lambda frame=frame: Predictions.from_frame(frame, n=4),
            "4 rows",
            "4 columns",
            "pair (times, array)",
        )
    # Names of subjects, or rows that are merely numbered, leave one way.
    named = Predictions.from_frame(pd.DataFrame(square, index=TIMES, columns=list("abcd")), n=4)
    np.testing.assert_array_equal(named.probabilities, square.T)
    numbered = Predictions.from_frame(pd.DataFrame(square.T, columns=TIMES), n=4)
    np.testing.assert_array_equal(numbered.probabilities, square.T)


def test_columns_that_are_merely_numbered_ask_for_their_times():
    frame = pd.DataFrame(TABLE)
    refuses(lambda: Predictions.from_frame(frame, n=3), "0, 1, 2", "times")
    refuses(lambda: as_predictions(frame, 3, times=TIMES), "0, 1, 2", "times")
    texts = pd.DataFrame(TABLE, columns=["0", "1", "2", "3"])
    refuses(lambda: as_predictions(texts, 3, times=TIMES), "0, 1, 2", "times")
    # Days from 0 on, where somebody says so.
    days = np.arange(4.0)
    for said in (as_predictions(frame, 3, times=days), as_predictions(texts, 3, times=days[:2])):
        np.testing.assert_array_equal(said.times, days)


@pytest.mark.parametrize("n", [None, 3.5, np.array([3, 3]), True, 10**400])
def test_the_number_of_subjects_is_a_whole_number(n):
    refuses(lambda: Predictions.from_frame(pd.DataFrame(TABLE, columns=TIMES), n=n), "n must")


@pytest.mark.parametrize(
    ("frame", "parts"),
    [
        (pd.DataFrame(TABLE.T, index=TIMES), ("2 test subjects", "4 rows", "3 columns")),
        (pd.DataFrame(TABLE[:2], columns=list("abcd")), ("frame: column names must be times", "'a'")),
        (pd.DataFrame(TABLE[:2, ::-1], columns=TIMES), ("probabilities", "row 0", "time 1")),
        (pd.DataFrame(TABLE[:2], columns=TIMES[::-1]), ("times", "column 2.0 comes after 4.0")),
        (pd.DataFrame(TABLE[:2].T, index=-TIMES), ("times", "row 0 is -0.5")),
        (
            pd.DataFrame({"1": ["a", "b"], "2": [0.1, 0.2]}),
            ("frame: column '1' must have numbers", "row 0 is 'a'"),
        ),
        (
            pd.DataFrame({"1": [0.9, 0.8], "2": pd.array([0.5, None], dtype="Float64")}),
            ("frame: column '2' has no value in row 1",),
        ),
    ],
)
def test_frames_that_are_no_predictions_of_two_subjects(frame, parts):
    refuses(lambda: Predictions.from_frame(frame, n=2), *parts)
