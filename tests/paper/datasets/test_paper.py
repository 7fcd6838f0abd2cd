"""The data sets are the paper's, and the same from every source."""

import numpy as np
import pandas as pd
import pytest

from cocensor.paper.datasets import (
    load_churn,
    load_employee,
    load_flchain,
    load_gbsg,
    load_metabric,
    load_support,
    load_whas,
)

# Rows, features before and after encoding and % censored of the paper's table; with_chapter and with_duplicates
# are its rows for FLCHAIN and Employee, without them its text.
TABLE = {
    "whas": (load_whas, {}, 500, 14, 14, 57.0),
    "gbsg": (load_gbsg, {}, 686, 8, 8, 56.4),
    "metabric": (load_metabric, {}, 1902, 9, 9, 42.1),
    "churn": (load_churn, {}, 1958, 12, 25, 52.4),
    "flchain": (load_flchain, {}, 7871, 8, 16, 72.5),
    "flchain_with_chapter": (load_flchain, {"chapter": True}, 7871, 9, 31, 72.5),
    "support": (load_support, {}, 8873, 14, 27, 32.0),
    "employee": (load_employee, {}, 11991, 8, 17, 83.4),
    "employee_with_duplicates": (load_employee, {"duplicates": True}, 14999, 8, 17, 76.2),
}
PACKAGED = [name for name in TABLE if name.startswith(("whas", "gbsg", "flchain", "support"))]


def load(name, folder=None):
    loader, options, *_ = TABLE[name]
    return loader(folder, **options)


def assert_as_in_the_paper(name, data):
    *_, rows, features, encoded, censored = TABLE[name]
    assert (len(data), data.X.shape[1], data.n_encoded) == (rows, features, encoded)
    assert round(data.percent_censored, 1) == censored
    # The count after encoding is that of the encoder that people use.
    assert pd.get_dummies(data.X, drop_first=True).shape[1] == encoded
    assert data.y.time.min() > 0


@pytest.mark.parametrize("name", TABLE)
def test_files_have_the_numbers_of_the_paper(name, csv_folder):
    data = load(name, csv_folder)
    assert_as_in_the_paper(name, data)
    assert data.source.startswith(str(csv_folder))


@pytest.mark.parametrize("name", PACKAGED)
def test_packages_have_the_numbers_of_the_paper(name):
    data = load(name)
    assert_as_in_the_paper(name, data)
    assert data.source.startswith(("scikit-survival ", "SurvSet "))


@pytest.mark.parametrize("name", PACKAGED)
def test_packages_and_files_give_the_same_rows(name, csv_folder):
    ours, theirs = load(name, csv_folder), load(name)
    pd.testing.assert_frame_equal(ours.X, theirs.X, check_exact=True)
    np.testing.assert_array_equal(ours.y.time, theirs.y.time)
    np.testing.assert_array_equal(ours.y.event, theirs.y.event)
    assert (ours.categorical, ours.numeric) == (theirs.categorical, theirs.numeric)


@pytest.mark.parametrize("name", ["gbsg", "metabric", "support"])
def test_the_order_of_a_file_does_not_matter_where_sources_differ_in_it(name, csv_folder, tmp_path):
    loader = TABLE[name][0]
    file = pd.read_csv(csv_folder / f"{name}.csv", dtype=str)
    file.sample(frac=1, random_state=1).to_csv(tmp_path / f"{name}.csv", index=False)
    ours, shuffled = loader(csv_folder), loader(tmp_path)
    pd.testing.assert_frame_equal(ours.X, shuffled.X, check_exact=True)
    np.testing.assert_array_equal(ours.y.time, shuffled.y.time)


@pytest.mark.parametrize("name", TABLE)
def test_columns_are_typed_and_none_is_forgotten(name, csv_folder):
    data = load(name, csv_folder)
    assert sorted([*data.categorical, *data.numeric]) == sorted(data.X.columns)
    for column in data.numeric:
        assert data.X[column].dtype == np.float64
    for column in data.categorical:
        levels = data.X[column].cat.categories.tolist()
        assert all(isinstance(level, str) for level in levels)
        assert set(levels) == set(data.X[column].dropna())
    assert data.licence
    assert data.citation


def test_what_was_dropped_is_counted(csv_folder):
    assert load_churn(csv_folder).dropped == ("42 rows with time 0",)
    assert load_metabric(csv_folder).dropped == ("2 rows with a time that rounds to 0",)
    assert load_employee(csv_folder).dropped == ("3,008 rows that repeat an earlier one",)
    assert load_employee(csv_folder, duplicates=True).dropped == ()
    assert load_gbsg(csv_folder).dropped == ("column pid, which is not a feature",)
    assert load_support().dropped == ("232 rows with a missing value among x7 to x13",)


def test_missing_values_stay_missing():
    data = load_flchain(chapter=True)
    assert data.X["creatinine"].isna().sum() == 1350
    assert data.X.drop(columns=["creatinine", "chapter"]).notna().all(axis=None)


def test_chapter_would_tell_who_died():
    data = load_flchain(chapter=True)
    np.testing.assert_array_equal(data.X["chapter"].notna(), data.y.event)


def test_levels_that_are_numbers_are_sorted_by_value():
    data = load_flchain()
    assert data.X["flc.grp"].cat.categories.tolist() == [str(i) for i in range(1, 11)]


def test_employees_without_duplicates_are_those_of_pandas(csv_folder):
    file = pd.read_csv(csv_folder / "employee.csv").drop_duplicates()
    data = load_employee(csv_folder)
    np.testing.assert_array_equal(data.X["average_montly_hours"], file["average_montly_hours"])
    np.testing.assert_array_equal(data.y.time, file["time"])
