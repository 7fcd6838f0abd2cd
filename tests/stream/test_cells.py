"""Cells of a marker."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocensor.metrics.calibration_fit import quantiles
from cocensor.stream.cells import Cells, risk_keys, survival_at, survival_keys

CHANCES = st.one_of(
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0, width=32),
    st.floats(0.0, 1e-12),
    st.floats(0.0, 1e-12).map(lambda p: 1.0 - p),
)


@given(st.lists(CHANCES, min_size=2, max_size=20))
def test_keys_never_turn_the_order_of_predictions_round(survival):
    risk = np.sort(np.array(survival))[::-1]
    for each in (risk, np.repeat(risk, 2) * np.tile([1.0, 1.0 - 2**-53], risk.size)):
        assert (np.diff(survival_keys(np.sort(each)[::-1])) >= 0).all()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20))
def test_keys_never_turn_the_order_of_scores_round(scores):
    scores = np.sort(np.array(scores))
    assert (np.diff(risk_keys(scores)) >= 0).all()
    assert (np.diff(risk_keys(np.nextafter(1.0, [0.0, 1.0, 2.0]))) >= 0).all()
    np.testing.assert_array_equal(risk_keys(-scores), -risk_keys(scores))


@given(st.lists(CHANCES, min_size=1, max_size=20))
def test_keys_say_where_predictions_are(survival):
    survival = np.array(survival)
    np.testing.assert_allclose(survival_at(survival_keys(survival)), survival, atol=3e-9)


@given(st.data())
def test_sums_are_those_of_the_coarsest_cells_needed(data):
    keys = data.draw(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=30))
    near = data.draw(st.integers(0, 40))
    keys = np.array(keys) >> near
    weights = np.arange(1.0, keys.size + 1)
    cells = Cells(1, 1, 8, 1)
    for key, weight in zip(keys, weights, strict=True):
        cells.reach(np.array([key]), np.array([key]))
        cells.add(np.array([[key]]), lambda rows, key=key: np.array([[float(key)]]), [np.array([[weight]])])
    column = cells.column(0)
    width = int(column.high[0] - column.low[0])
    assert (column.high - column.low == width).all()
    assert width == 1 or (keys.max() // (width // 2)) - (keys.min() // (width // 2)) >= 8
    for low, high, total, mixed in zip(column.low, column.high, column.sums[0], column.mixed, strict=True):
        inside = (keys >= low) & (keys < high)
        assert total == weights[inside].sum()
        assert mixed == (np.unique(keys[inside]).size > 1)
    assert column.sums.sum() == weights.sum()


def test_what_is_below_zero_counts_by_its_size():
    cells = Cells(1, 1, 8, 2)
    cells.reach(np.array([0]), np.array([3]))
    marker, weights = np.array([[0.0, 0.0, 3.0]]), np.array([[1.0, -2.0, 0.5]])
    cells.add(marker.astype(np.int64), lambda rows: marker[:, rows], [weights, -weights])
    other = Cells(1, 1, 8, 2)
    other.merge(cells)
    other.merge(cells)
    column = other.column(0)
    np.testing.assert_array_equal(column.sums, [[-2, 0, 0, 1], [2, 0, 0, -1]])
    np.testing.assert_array_equal(column.sizes, [[6, 0, 0, 1], [6, 0, 0, 1]])


@given(st.lists(st.tuples(st.floats(-10, 10), st.integers(1, 5)), min_size=1, max_size=20), st.floats(0, 1))
def test_quantiles_of_cases_are_those_of_as_many_values(pairs, level):
    values, cases = (np.array(each, dtype=float) for each in zip(*pairs, strict=True))
    repeated = np.repeat(values, cases.astype(int))
    np.testing.assert_allclose(quantiles(values, level, cases), np.quantile(repeated, level), atol=1e-12)
