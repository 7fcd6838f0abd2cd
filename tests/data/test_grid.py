import numpy as np
import pytest

from cocensor.data.times import TimeGrid
from tests.refusals import refuses


def test_times_in_any_order_are_sorted_once_and_restored():
    grid = TimeGrid.of([3.0, 1.0, 2.0, 1.0])
    np.testing.assert_array_equal(grid.sorted, [1, 2, 3])
    assert grid.last == 3.0
    np.testing.assert_array_equal(grid.restore(np.array([[10, 20, 30]])), [[30, 10, 20, 10]])
    np.testing.assert_array_equal(grid.cut(np.array([0.5, 1.0, 1.5, 9.0])), [0, 0, 1, 3])
    assert TimeGrid.of(grid) is grid


def test_sorted_times_need_no_second_copy():
    grid = TimeGrid.of([1.0, 2.0])
    assert grid.place is None
    assert grid.sorted is grid.times
    assert grid.restore(grid.sorted) is grid.sorted


def test_the_times_are_its_own():
    times = np.array([1.0, 2.0])
    grid = TimeGrid.of(times)
    times[0] = 5.0
    assert grid.times[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        grid.times[0] = 0.0


@pytest.mark.parametrize(
    ("times", "parts"),
    [
        ([], ("times", "empty")),
        ([1.0, np.nan], ("times", "row 1 is nan")),
        ([1.0, -2.0], ("times", "row 1 is -2.0")),
        ([[1.0], [2.0]], ("times", "(2, 1)")),
        ([[1.0], [1.0, 2.0]], ("times", "rectangular")),
        (np.ma.masked_array([1.0, 2.0], [False, True]), ("times", "missing", "row 1")),
    ],
)
def test_refusals(times, parts):
    refuses(lambda: TimeGrid.of(times), *parts)
