import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from cocensor import Predictions
from cocensor.data.border import as_predictions
from cocensor.data.predictions import PredictionsAt
from tests.refusals import refuses

GRID = np.array([1.0, 2.0, 4.0])
TABLE = np.array([[0.8, 0.4, 0.2], [1.0, 0.9, 0.6]])


def test_linear_and_step_evaluation_in_the_order_given():
    linear = Predictions(GRID, TABLE)
    np.testing.assert_allclose(linear([3.0, 0.0, 0.5, 2.0]), [[0.3, 1.0, 0.9, 0.4], [0.75, 1.0, 1.0, 0.9]])
    step = Predictions(GRID, TABLE, interpolation="step")
    np.testing.assert_allclose(
        step([3.0, 0.0, 0.5, 2.0, 1.0]), [[0.4, 1, 1, 0.4, 0.8], [0.9, 1, 1, 0.9, 1.0]]
    )


@given(st.lists(st.floats(0, 4), min_size=1, max_size=20))
def test_linear_evaluation_is_numpy_interp_row_by_row(times):
    curves = Predictions(GRID, TABLE)
    knots, rows = np.append(0, GRID), np.column_stack((np.ones(2), TABLE))
    expected = np.array([np.interp(times, knots, row) for row in rows])
    np.testing.assert_allclose(curves(times), expected, atol=1e-14)


def test_on_its_own_grid_nothing_is_copied_and_the_table_keeps_its_precision():
    curves = Predictions(GRID, TABLE)
    assert np.shares_memory(curves(GRID), TABLE)
    assert np.shares_memory(curves.probabilities, TABLE)
    with pytest.raises(ValueError, match="read-only"):
        curves.probabilities[0, 0] = 0.0
    single = Predictions(GRID, TABLE.astype(np.float32))
    assert single.probabilities.dtype == np.float32
    assert single(GRID).dtype == np.float64
    assert single([0.5, 3.0]).dtype == np.float64


def test_beyond_the_grid_needs_a_tail():
    curves = Predictions(GRID, TABLE)
    assert curves.end == 4.0
    refuses(lambda: curves([1.0, 5.0]), "times", "4", "5", "tail")
    refuses(lambda: curves.restricted_mean(5.0), "horizon", "4", "5", "tail")
    expected = {
        "last": [0.2, 0.6],
        "zero": [0.0, 0.0],
        "linear": [0.0, 0.2],
        "exponential": [0.2**2, 0.6**2],
    }
    for tail, values in expected.items():
        known = Predictions(GRID, TABLE, tail=tail)
        assert known.end == np.inf
        np.testing.assert_allclose(known([8.0])[:, 0], values, atol=1e-15)


@pytest.mark.parametrize("tail", ["linear", "exponential"])
def test_tails_at_their_limits(tail):
    flat = Predictions(GRID, np.ones((1, 3)), tail=tail)
    assert flat([9.0])[0, 0] == 1.0
    assert flat.median()[0] == np.inf
    at_zero = Predictions([0.0], [[0.9]], tail=tail)  # no slope leads from (0, 1) to (0, 0.9)
    assert at_zero([1.0])[0, 0] == 0.0
    assert at_zero.restricted_mean(2.0)[0] == 0.0
    tiny = Predictions([4e-310], [[0.5]], tail=tail)
    assert tiny([1.0])[0, 0] == 0.0


def test_medians_and_quantiles():
    np.testing.assert_allclose(Predictions(GRID, TABLE).median(), [1.75, np.inf])
    np.testing.assert_allclose(Predictions(GRID, TABLE, "step").median(), [2.0, np.inf])
    linear_tail = Predictions(GRID, TABLE, tail="linear")
    np.testing.assert_allclose(linear_tail.median(), [1.75, 5.0])
    np.testing.assert_allclose(linear_tail(np.array([5.0]))[1], 0.5)
    refuses(lambda: linear_tail.quantile(1.0), "p must", "is 1")


@pytest.mark.parametrize("interpolation", ["linear", "step"])
@pytest.mark.parametrize("horizon", [0.5, 1.0, 3.0, 4.0, 7.0])
def test_restricted_mean_is_the_integral_of_the_curve(interpolation, horizon):
    curves = Predictions(GRID, TABLE, interpolation, tail="exponential")
    for row in range(2):
        expected, _ = quad(
            lambda t, row=row: curves(np.array([t]))[row, 0], 0, horizon, points=[1, 2, 4], limit=200
        )
        assert curves.restricted_mean(horizon)[row] == pytest.approx(expected, abs=1e-9)


def test_a_grid_that_holds_zero_is_taken_at_its_word():
    curves = Predictions([0.0, 2.0], [[0.9, 0.5]])
    np.testing.assert_allclose(curves([0.0, 1.0]), [[0.9, 0.7]])
    assert curves.restricted_mean(2.0)[0] == pytest.approx(1.4)


def test_rows_can_be_taken():
    curves = Predictions(GRID, TABLE, "step", tail="last")
    np.testing.assert_array_equal(curves[[1]].probabilities, TABLE[[1]])
    np.testing.assert_array_equal(curves[np.array([False, True])].probabilities, TABLE[[1]])
    assert curves[0].interpolation == "step"
    assert len(curves[0]) == 1
    with pytest.raises(IndexError):
        curves[:, 0]
    refuses(lambda: curves[:0], "rows", "empty")


def test_drawn_subjects_are_the_rows_that_are_taken():
    times, rows = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2, 1])
    everyone = Predictions(times, np.array([[0.9, 0.5, 0.2], [0.8, 0.4, 0.3], [0.7, 0.6, 0.1]]))
    drawn, taken, some = everyone.drawn(rows), everyone[rows], slice(1, 3)
    assert len(drawn) == len(taken) == 4
    np.testing.assert_array_equal(drawn.probabilities, taken.probabilities)
    np.testing.assert_array_equal(drawn.read(times, some), taken.read(times, some))
    np.testing.assert_array_equal(drawn.marker(times, some), taken.marker(times, some))


def test_kept_at_other_times_it_is_the_same_there():
    curves = Predictions(GRID, TABLE.astype(np.float32), "step", tail="zero", source="a model")
    times = np.array([0.5, 2.0, 3.0, 9.0])
    kept = curves.on(times)
    np.testing.assert_array_equal(kept.probabilities, curves(times))
    np.testing.assert_array_equal(kept.read(times, [1]), curves(times)[[1]])
    assert kept.source == "a model"
    assert curves.on(GRID) is curves


# --- what is refused, and what is rounding ------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "table", "parts"),
    [
        ([1, 2], [[0.5, 0.4], [0.5, 1.2]], ("probabilities", "row 1", "time 2", "1.2")),
        ([1, 2], [[0.5, np.nan]], ("probabilities", "row 0", "time 2", "nan")),
        ([[1], [2, 3]], [[0.5, 0.4]], ("times", "differ in shape")),
        ([1, 2], [[0.5, -0.01]], ("probabilities", "row 0", "time 2", "-0.01")),
        ([1, 2], [[0.9, 0.4], [0.5, 0.6]], ("probabilities", "row 1", "0.5 to 0.6", "time 2")),
        ([1, 2, 3], [[0.5, 0.4]], ("probabilities", "(n, 3)", "(1, 2)")),
        ([2, 1], [[0.5, 0.4]], ("times", "row 1 is 1.0")),
        ([-1, 1], [[0.5, 0.4]], ("times", "row 0 is -1.0")),
        ([], np.empty((1, 0)), ("times", "empty")),
        ([1, 2], np.empty((0, 2)), ("probabilities", "no rows")),
        ([1, 2], [["a", "b"]], ("probabilities", "numeric")),
    ],
)
def test_curve_refusals(times, table, parts):
    refuses(lambda: Predictions(times, table), *parts)


def test_settings_are_refused_by_name():
    refuses(lambda: Predictions(GRID, TABLE, "cubic"), "interpolation", "'cubic'")
    refuses(lambda: Predictions(GRID, TABLE, tail="flat"), "tail", "'flat'")


def test_refusals_find_the_row_in_a_later_block():
    table = np.full((100_000, 10), 0.5)
    table[99_999, 7] = 0.6
    refuses(lambda: Predictions(np.arange(1.0, 11.0), table), "row 99999", "0.5 to 0.6", "time 8")


def test_many_small_rises_are_a_rise():
    table = 0.1 + 8e-7 * np.arange(1000)[None, :]
    refuses(lambda: Predictions(np.arange(1.0, 1001.0), table), "probabilities", "row 0")


def test_single_precision_rounding_is_not_a_rise():
    curves = Predictions([1.0, 2.0], np.array([[0.5, 0.5 + 1e-7]], dtype=np.float32))
    assert curves.n_rounded == 0


def test_values_outside_by_rounding_are_read_as_0_or_1_and_counted():
    """A network of pycox predicted −1.2e-07."""
    table = np.array([[1.0 + 1e-6, 0.5, -1.2e-7], [1.0, 0.9, 0.0]])
    curves = Predictions(GRID, table)
    assert curves.n_rounded == 2
    np.testing.assert_array_equal(curves(GRID)[0], [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(curves.on(np.array([0.5, 4.0])).probabilities[0], [1.0, 0.0])
    assert table[0, 2] == -1.2e-7  # the user's own stays
    assert Predictions(GRID, TABLE).n_rounded == 0
    for beyond in (1.0 + 1.1e-6, 1.1):
        refuses(lambda beyond=beyond: Predictions(GRID, [[beyond, 0.5, 0.4]]), "[0, 1]", str(beyond))
    refuses(lambda: Predictions(GRID, [[0.9, 0.5, -1.1e-6]]), "[0, 1]", "-1.1e-06")


# --- blocks -------------------------------------------------------------------------------------------

N, T = 20_000, 50
TIMES = np.linspace(0.0, 1.0, T)
ROWS = np.random.default_rng(0).permutation(N)[:100]
CURVES = np.exp(-TIMES * np.random.default_rng(1).exponential(size=(N, 1)))


def unaligned(values):
    """The same values, one byte off."""
    raw = np.empty(values.nbytes + 1, dtype=np.uint8)
    array = raw[1:].view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


LAYOUTS = {
    "by rows": lambda: CURVES.copy(),
    "by columns": lambda: np.asfortranarray(CURVES),
    "transposed": lambda: CURVES.T.copy().T,
    "one curve for everybody": lambda: np.broadcast_to(CURVES[0], (N, T)),
    "every second column": lambda: np.repeat(CURVES, 2, axis=1)[:, ::2],
    "every second row": lambda: np.repeat(CURVES, 2, axis=0)[::2],
    "reversed": lambda: CURVES[::-1].copy()[::-1],
    "unaligned": lambda: unaligned(CURVES),
    "single precision by columns": lambda: np.asfortranarray(CURVES, dtype=np.float32),
}


@pytest.mark.parametrize("times", [TIMES, TIMES[5:-5] + 0.001], ids=["its times", "other times"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_block_reads_no_more_than_its_rows(layout, times):
    predictions = Predictions(TIMES, LAYOUTS[layout]())
    tracemalloc.start()
    block = predictions.read(times, ROWS)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(block, predictions(times)[ROWS])
    # The rows themselves, and a few temporaries of their size, beside what other threads take meanwhile; the whole
    # would be 200 times as much.
    assert most < 20 * block.nbytes


def test_single_precision_is_interpolated_in_double():
    times, table = np.array([1.0, 4.0]), np.array([[0.9, 0.3], [0.8, 0.1]], dtype=np.float32)
    between = np.array([1.3, 2.7, 3.1])
    one, other = (Predictions(times, each)(between) for each in (table, table.astype(np.float64)))
    np.testing.assert_array_equal(one, other)


def test_one_time_without_a_tail_is_no_curve():
    refuses(lambda: Predictions([12.0], [[0.8], [0.4]]), "times", "12 alone", "(12, probabilities)")
    refuses(lambda: Predictions([12.0], [0.8, 0.4]), "probabilities", "(2,)")
    assert Predictions([12.0], [[0.8]], tail="last").end == np.inf
    single = as_predictions((12.0, [0.8, 0.4]), 2)
    assert isinstance(single, PredictionsAt)
    assert single.time == single.end == 12.0
    at, everybody = np.array([12.0]), slice(None)
    np.testing.assert_array_equal(single.read(at, everybody), [[0.8], [0.4]])
    np.testing.assert_array_equal(single.read(np.array([12.0, 12.0]), everybody), [[0.8, 0.8], [0.4, 0.4]])
    np.testing.assert_array_equal(single[[1]].read(at, everybody), [[0.4]])
    np.testing.assert_array_equal(single.drawn(np.array([1, 1])).marker(at, everybody), [[-0.4], [-0.4]])
    refuses(lambda: single.read(np.array([6.0, 12.0]), everybody), "times", "6", "12")
    refuses(lambda: as_predictions((12.0, [0.8, 1.4]), 2), "probabilities", "1.4")
    refuses(lambda: as_predictions((-1.0, [0.8, 0.4]), 2), "times", "-1")


def test_rounding_is_mended_in_a_prediction_at_one_time():
    single = PredictionsAt(1.0, np.array([1.0 + 1e-7, 0.5]))
    assert single.n_rounded == 1
    np.testing.assert_array_equal(single.read(np.array([1.0]), slice(None)), [[1.0], [0.5]])


@given(
    arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 4)), elements=st.floats(-1e-6, 1 + 1e-6)),
    st.booleans(),
)
def test_both_orders_of_memory_are_checked_alike(table, sort):
    """Checks take one way along rows, another along columns."""
    if sort:
        table = -np.sort(-table, axis=1)
    times = np.arange(1.0, table.shape[1] + 1)

    def found(array):
        try:
            return Predictions(times, array).n_rounded
        except ValueError as error:
            return str(error)

    assert found(np.asfortranarray(table)) == found(np.ascontiguousarray(table))
