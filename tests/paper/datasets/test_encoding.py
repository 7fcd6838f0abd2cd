import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cocensor.paper.datasets.encoding import Encoder, UnseenLevelWarning

COLUMNS = {
    "age": [40.0, 60.0, None, 50.0],
    "stage": ["II", "I", None, "III"],
    "sex": [1, 0, 0, 1],
}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_library_gives_the_same_numbers(library):
    encoder = Encoder(["stage"])
    found = encoder.fit_transform(library(COLUMNS))
    assert encoder.columns_ == ("age", "stage=II", "stage=III", "sex")
    assert encoder.groups_ == ("age", "stage", "stage", "sex")
    np.testing.assert_allclose(found[:, 0], np.array([-10, 10, 0, 0]) / np.sqrt(50.0))
    np.testing.assert_array_equal(
        found[:, 1], [1, 0, 0, 0]
    )  # the missing stage is the most frequent, "I" by order
    np.testing.assert_array_equal(found[:, 3], [1, -1, -1, 1])


def test_what_is_learned_comes_from_the_training_part_only():
    train, test = pd.DataFrame({"x": [0.0, 10.0]}), pd.DataFrame({"x": [100.0, None]})
    np.testing.assert_array_equal(Encoder(scaling="minmax").fit(train).transform(test), [[10.0], [0.5]])
    np.testing.assert_array_equal(Encoder().fit(train).transform(test), [[19.0], [0.0]])


def test_categories_that_are_numbers_and_pandas_categories():
    frame = pd.DataFrame({"grade": [1.0, 2.0, np.nan, 2.0], "site": pd.Categorical(["b", "a", "b", None])})
    encoder = Encoder(["grade", "site"])
    found = encoder.fit_transform(frame)
    assert encoder.columns_ == ("grade=2", "site=b")
    np.testing.assert_array_equal(found, [[0, 1], [1, 0], [1, 1], [1, 1]])


def test_columns_that_do_not_vary_are_left_out_and_named():
    frame = pd.DataFrame({"x": [1.0, 2.0], "same": [3.0, 3.0], "one": ["a", "a"]})
    encoder = Encoder(["one"]).fit(frame)
    assert encoder.columns_ == ("x",)
    assert encoder.left_out_ == ("same", "one")


def test_an_unseen_level_counts_as_the_first_and_says_so():
    encoder = Encoder(["stage"]).fit(pd.DataFrame({"stage": ["I", "II"]}))
    with pytest.warns(
        UnseenLevelWarning,
        match=r"'IV'.* 2 .*'I'",
    ):
        found = encoder.transform(pd.DataFrame({"stage": ["II", "IV", "IV"]}))
    np.testing.assert_array_equal(found, [[1], [0], [0]])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            lambda: Encoder(["b"]).fit(pd.DataFrame({"a": [1.0]})),
            "X has no column 'b', which categorical names",
        ),
        (
            lambda: Encoder().fit(pd.DataFrame({"a": ["x", "y"]})),
            "X must be numeric in column 'a', or categorical must",
        ),
        (
            lambda: Encoder().fit(pd.DataFrame({"a": [1.0, np.inf]})),
            "X must be finite, but column 'a' in row 1 is inf",
        ),
        (lambda: Encoder("stage"), "categorical must be a sequence of column names, but is 'stage'"),
        (
            lambda: Encoder().fit(pd.DataFrame({"a": [1e308, -1e308]})),
            "X must have values of moderate size, but column 'a'",
        ),
        (lambda: Encoder().fit(pd.DataFrame(index=[0, 1])), "X has no columns"),
        (lambda: Encoder().fit(pd.DataFrame({"a": [1.0, 1.0]})), "X must vary in at least one column"),
        (lambda: Encoder(scaling="log"), "scaling must be one of 'standard', 'minmax', but is 'log'"),
        (lambda: Encoder().transform(pd.DataFrame({"a": [1.0]})), "Encoder is not fitted"),
        (
            lambda: Encoder().fit(pd.DataFrame({"a": [1.0, 2.0]})).transform(pd.DataFrame({"b": [1.0]})),
            "X must have the columns \\['a'\\] in this order, but has \\['b'\\]",
        ),
    ],
)
def test_refusals(run, message):
    with pytest.raises(ValueError, match=message):
        run()


@pytest.mark.parametrize("dtype", ["string", "object", "category"])
def test_missing_is_no_level(dtype):
    frame = pd.DataFrame({"s": pd.array(["a", "b", None, "b"], dtype=dtype)})
    assert Encoder(["s"]).fit(frame).columns_ == ("s=b",)
    numbers = pd.DataFrame({"s": pd.array([1, 2, None, 2], dtype="Int64")})
    assert Encoder(["s"]).fit(numbers).columns_ == ("s=2",)


def test_levels_are_spelled_the_same_in_every_library_and_type():
    encoder = Encoder(["flag", "code"]).fit(
        pd.DataFrame({"flag": [True, False, True], "code": [1000001.0, 1000002.0, 2.5]})
    )
    assert encoder.columns_ == ("flag=True", "code=1000002", "code=2.5")
    other = pl.DataFrame({"flag": [True, False], "code": [1000001.0, 2.5]})
    np.testing.assert_array_equal(encoder.transform(other), [[1, 0, 0], [0, 0, 1]])
    whole = Encoder(["code"]).fit(pd.DataFrame({"code": [1, 2]}))
    np.testing.assert_array_equal(whole.transform(pd.DataFrame({"code": [2.0, 1.0]})), [[1], [0]])


def test_a_column_without_values_in_the_training_part_is_left_out():
    train = pd.DataFrame({"x": [1.0, 2.0], "empty": [np.nan, np.nan], "none": [None, None]})
    encoder = Encoder(["none"], scaling=None).fit(train)
    assert encoder.columns_ == ("x",)
    assert encoder.left_out_ == ("empty", "none")
    test = pd.DataFrame({"x": [3.0], "empty": [5.0], "none": ["a"]})
    np.testing.assert_array_equal(encoder.transform(test), [[3.0]])
