"""A sample: what is known of its subjects stays with them."""

import numpy as np
import pytest

from cocensor.data import Sample, Survival
from tests.refusals import refuses

Y = Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0])
KNOWN = {
    "x": np.arange(8.0).reshape(4, 2),
    "weight": np.array([0.5, 1.0, 2.0, 0.5]),
    "cluster": np.array(["a", "a", "b", "b"]),
    "folds": np.array([0, 1, 0, 1]),
}


@pytest.mark.parametrize("rows", [[2, 2, 0], slice(1, 3), np.array([True, False, False, True])])
def test_rows_take_along_all_that_is_known(rows):
    some = Sample(Y, **KNOWN)[rows]
    np.testing.assert_array_equal(some.y.time, Y.time[rows])
    for name, values in KNOWN.items():
        np.testing.assert_array_equal(getattr(some, name), values[rows])


def test_what_is_not_known_stays_so():
    some = Sample(Y)[:2]
    assert [getattr(some, name) for name in KNOWN] == [None] * 4


@pytest.mark.parametrize("name", ["weight", "cluster", "folds"])
def test_another_number_of_subjects_is_refused(name):
    refuses(lambda: Sample(Y, **{name: KNOWN[name][:3]}), name, "3", "4")
