import lifelines
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

from cocensor import StepFunction, SurvivalCurves
from cocensor.curves import tail_area, tail_quantile, tail_values

# --- step functions -----------------------------------------------------------------------------------


def test_one_sided_limits():
    f = StepFunction([1.0, 3.0], [0.75, 0.25], initial=1.0)
    np.testing.assert_array_equal(f([0, 1, 2, 3, 4]), [1, 0.75, 0.75, 0.25, 0.25])
    np.testing.assert_array_equal(f([0, 1, 2, 3, 4], side="left"), [1, 1, 0.75, 0.75, 0.25])
    assert isinstance(f(1.0), float)
    with pytest.raises(ValueError, match="side must be one of 'left', 'right', but is 'middle'"):
        f(1.0, side="middle")


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=10, unique=True),
    st.floats(0, 60),
    st.floats(0, 60),
    st.data(),
)
def test_integral_is_the_sum_of_rectangles(times, a, b, data):
    times = np.sort(np.array(times, dtype=float))
    values = np.array(data.draw(st.lists(st.floats(0, 1), min_size=times.size, max_size=times.size)))
    f = StepFunction(times, values, initial=2.0)
    a, b = min(a, b), max(a, b)
    knots = np.unique(np.concatenate(([a, b], times[(times > a) & (times < b)])))
    expected = np.sum(np.diff(knots) * f(knots[:-1]))
    assert f.integrate(a, b) == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(f.integrate(np.array([a, b]), b), [expected, 0.0], atol=1e-12)
    np.testing.assert_allclose(f.integrate(a, np.array([a, b])), [0.0, expected], atol=1e-12)


def test_integral_between_arrays():
    times = np.arange(1.0, 21.0)
    f = StepFunction(times, np.exp(-3 * times))
    both = f.integrate([0.0, 18.0], [20.0, 20.0])
    np.testing.assert_allclose(both, [f.integrate(0.0, 20.0), f.integrate(18.0, 20.0)], rtol=1e-14)
    assert f.integrate([], []).shape == (0,)


def test_a_step_function_is_its_own():
    times = np.array([1.0, 2.0])
    f = StepFunction(times, [0.5, 0.2])
    times[0] = 1.5
    assert f.times[0] == 1.0


def test_area_under_a_small_tail_keeps_its_relative_accuracy():
    f = StepFunction([1.0, 2.0], [1e-12, 1e-20], initial=1e6)
    assert f.integrate(1.0, 3.0) == pytest.approx(1e-12 + 1e-20, rel=1e-15)


def test_step_function_without_steps():
    f = StepFunction([], [], initial=1.0)
    assert f(5.0) == 1.0
    assert f.integrate(1.0, 4.0) == 3.0
    assert f.quantile(0.5) == np.inf


def test_quantile_is_the_first_time_at_or_below():
    f = StepFunction([1.0, 3.0, 4.0], [0.75, 1.0 - 0.1 - 0.4, 0.0])
    np.testing.assert_array_equal(f.quantile([0.0, 0.25, 0.26, 0.5, 0.51, 1.0]), [0, 1, 3, 3, 4, 4])


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ([1, 1], [0.5, 0.4], "times must increase strictly, but row 1 is 1"),
        ([1, 2], [0.5], "values has length 1, but times has length 2"),
        ([1, np.nan], [0.5, 0.4], "times must be finite"),
    ],
)
def test_step_function_refusals(times, values, message):
    with pytest.raises(ValueError, match=message):
        StepFunction(times, values)


def test_integral_refuses_reversed_limits():
    with pytest.raises(ValueError, match="lower must not exceed upper, 1, but row 1 is 2.0"):
        StepFunction([1.0], [0.5]).integrate([0.0, 2.0], 1.0)


# --- tails --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", ["last", "zero", "linear", "exponential"])
@pytest.mark.parametrize("last", [0.0, 0.3, 0.9])
def test_tail_area_is_the_integral_of_the_tail(tail, last):
    end = 4.0
    for lower, upper in ((4.0, 9.0), (4.2, 5.0), (30.0, 60.0)):
        expected, _ = quad(
            lambda t: float(tail_values(tail, last, end, t)),
            lower,
            upper,
            points=[end / (1 - last)],
            limit=200,
        )
        assert float(tail_area(tail, last, end, lower, upper)) == pytest.approx(expected, abs=1e-7)


def test_infinite_tails():
    assert tail_area("exponential", 0.5, 2.0, 2.0, np.inf) == pytest.approx(0.5 * 2.0 / np.log(2.0))
    assert tail_area("linear", 0.5, 2.0, 2.0, np.inf) == pytest.approx(0.5 * 0.5 * 2.0)
    assert tail_area("zero", 0.5, 2.0, 2.0, np.inf) == 0.0
    assert tail_area("last", 0.5, 2.0, 2.0, np.inf) == np.inf
    for tail in ("last", "linear", "exponential"):
        assert tail_area(tail, 1.0, 2.0, 2.0, np.inf) == np.inf
        assert tail_area(tail, 1.0, 2.0, 2.0, 5.0) == 3.0


@pytest.mark.parametrize("tail", ["linear", "exponential"])
def test_tail_quantile_inverts_the_tail(tail):
    t = tail_quantile(tail, 0.7, 3.0, 0.2)
    assert float(tail_values(tail, 0.7, 3.0, t)) == pytest.approx(0.2)
    assert tail_quantile("last", 0.7, 3.0, 0.2) == np.inf
    assert tail_quantile("zero", 0.7, 3.0, 0.2) == 3.0


# --- predicted curves ---------------------------------------------------------------------------------

GRID = np.array([1.0, 2.0, 4.0])
TABLE = np.array([[0.8, 0.4, 0.2], [1.0, 0.9, 0.6]])


def test_linear_and_step_evaluation_in_the_order_given():
    linear = SurvivalCurves(GRID, TABLE)
    np.testing.assert_allclose(linear([3.0, 0.0, 0.5, 2.0]), [[0.3, 1.0, 0.9, 0.4], [0.75, 1.0, 1.0, 0.9]])
    step = SurvivalCurves(GRID, TABLE, interpolation="step")
    np.testing.assert_allclose(
        step([3.0, 0.0, 0.5, 2.0, 1.0]), [[0.4, 1, 1, 0.4, 0.8], [0.9, 1, 1, 0.9, 1.0]]
    )


@given(st.lists(st.floats(0, 4), min_size=1, max_size=20))
def test_linear_evaluation_is_numpy_interp_row_by_row(times):
    curves = SurvivalCurves(GRID, TABLE)
    knots, rows = np.append(0, GRID), np.column_stack((np.ones(2), TABLE))
    expected = np.array([np.interp(times, knots, row) for row in rows])
    np.testing.assert_allclose(curves(times), expected, atol=1e-14)


def test_on_its_own_grid_nothing_is_copied_and_precision_is_kept():
    table = TABLE.astype(np.float32)
    curves = SurvivalCurves(GRID, table)
    assert np.shares_memory(curves(GRID), table)
    assert curves(GRID).dtype == np.float32
    assert curves([0.5, 5.0 - 2.0]).dtype == np.float32


def test_beyond_the_grid_needs_a_tail():
    curves = SurvivalCurves(GRID, TABLE)
    with pytest.raises(ValueError, match="times must not pass the grid's end at 4 unless tail is set"):
        curves([1.0, 5.0])
    with pytest.raises(ValueError, match="horizon must not pass the grid's end at 4"):
        curves.restricted_mean(5.0)
    expected = {
        "last": [0.2, 0.6],
        "zero": [0.0, 0.0],
        "linear": [0.0, 0.2],
        "exponential": [0.2**2, 0.6**2],
    }
    for tail, values in expected.items():
        np.testing.assert_allclose(SurvivalCurves(GRID, TABLE, tail=tail)([8.0])[:, 0], values, atol=1e-15)


@pytest.mark.parametrize("tail", ["linear", "exponential"])
def test_tails_at_their_limits(tail):
    flat = SurvivalCurves(GRID, np.ones((1, 3)), tail=tail)
    assert flat([9.0])[0, 0] == 1.0
    assert flat.median()[0] == np.inf
    at_zero = SurvivalCurves([0.0], [[0.9]], tail=tail)  # no slope leads from (0, 1) to (0, 0.9)
    assert at_zero([1.0])[0, 0] == 0.0
    assert at_zero.restricted_mean(2.0)[0] == 0.0
    tiny = SurvivalCurves([4e-310], [[0.5]], tail=tail)
    assert tiny([1.0])[0, 0] == 0.0


def test_medians_and_quantiles():
    np.testing.assert_allclose(SurvivalCurves(GRID, TABLE).median(), [1.75, np.inf])
    np.testing.assert_allclose(SurvivalCurves(GRID, TABLE, "step").median(), [2.0, np.inf])
    linear_tail = SurvivalCurves(GRID, TABLE, tail="linear")
    np.testing.assert_allclose(linear_tail.median(), [1.75, 5.0])
    np.testing.assert_allclose(linear_tail(np.array([5.0]))[1], 0.5)
    with pytest.raises(ValueError, match="p must lie strictly between 0 and 1, but is 1"):
        linear_tail.quantile(1.0)


@pytest.mark.parametrize("interpolation", ["linear", "step"])
@pytest.mark.parametrize("horizon", [0.5, 1.0, 3.0, 4.0, 7.0])
def test_restricted_mean_is_the_integral_of_the_curve(interpolation, horizon):
    curves = SurvivalCurves(GRID, TABLE, interpolation, tail="exponential")
    for row in range(2):
        expected, _ = quad(
            lambda t, row=row: curves(np.array([t]))[row, 0], 0, horizon, points=[1, 2, 4], limit=200
        )
        assert curves.restricted_mean(horizon)[row] == pytest.approx(expected, abs=1e-9)


def test_a_grid_that_holds_zero_is_taken_at_its_word():
    curves = SurvivalCurves([0.0, 2.0], [[0.9, 0.5]])
    np.testing.assert_allclose(curves([0.0, 1.0]), [[0.9, 0.7]])
    assert curves.restricted_mean(2.0)[0] == pytest.approx(1.4)


@pytest.mark.parametrize(
    ("times", "table", "message"),
    [
        ([1, 2], [[0.5, 0.4], [0.5, 1.2]], r"must lie in \[0, 1\], but row 1 at time 2 is 1.2"),
        ([1, 2], [[0.5, np.nan]], r"must lie in \[0, 1\], but row 0 at time 2 is nan"),
        (
            [1, 2],
            [[0.9, 0.4], [0.5, 0.6]],
            "must not increase over time, but row 1 rises from 0.5 to 0.6 at time 2",
        ),
        ([1, 2, 3], [[0.5, 0.4]], r"\(n, 3\), but its shape is \(1, 2\)"),
        ([2, 1], [[0.5, 0.4]], "times must increase strictly, but row 1 is 1"),
        ([-1, 1], [[0.5, 0.4]], "times must not be negative"),
        ([], np.empty((1, 0)), "times is empty"),
        ([1, 2], np.empty((0, 2)), "probabilities has no rows"),
        ([1, 2], [["a", "b"]], "probabilities must be numeric"),
    ],
)
def test_curve_refusals(times, table, message):
    with pytest.raises(ValueError, match=message):
        SurvivalCurves(times, table)


def test_refusals_find_the_row_in_a_later_block():
    table = np.full((100_000, 10), 0.5)
    table[99_999, 7] = 0.6
    with pytest.raises(ValueError, match="row 99999 rises from 0.5 to 0.6 at time 8"):
        SurvivalCurves(np.arange(1.0, 11.0), table)


def test_many_small_rises_are_a_rise():
    with pytest.raises(ValueError, match="must not increase over time"):
        SurvivalCurves(np.arange(1.0, 1001.0), 0.1 + 8e-7 * np.arange(1000)[None, :])


def test_single_precision_rounding_is_not_a_rise():
    SurvivalCurves([1.0, 2.0], np.array([[0.5, 0.5 + 1e-7]], dtype=np.float32))


def test_rows_can_be_taken():
    curves = SurvivalCurves(GRID, TABLE, "step", tail="last")
    np.testing.assert_array_equal(curves[[1]].probabilities, TABLE[[1]])
    assert curves[0].interpolation == "step"
    assert len(curves[0]) == 1
    with pytest.raises(IndexError):
        curves[:, 0]


def test_from_scikit_survival_step_functions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = Surv.from_arrays(rng.random(60) < 0.7, rng.exponential(size=60))
    functions = CoxPHSurvivalAnalysis().fit(X, y).predict_survival_function(X[:5])
    curves = SurvivalCurves.from_step_functions(functions)
    times = np.linspace(functions[0].x[0], functions[0].x[-1], 50)
    np.testing.assert_allclose(curves(times), [f(times) for f in functions], atol=1e-15)
    assert curves.interpolation == "step"


def test_from_step_functions_on_different_grids():
    functions = [StepLike([1.0, 3.0], [0.8, 0.2]), StepLike([2.0], [0.5])]
    curves = SurvivalCurves.from_step_functions(functions)
    np.testing.assert_array_equal(curves.times, [1, 2, 3])
    np.testing.assert_array_equal(curves.probabilities, [[0.8, 0.8, 0.2], [1.0, 0.5, 0.5]])
    with pytest.raises(TypeError, match="row 1 is of type int"):
        SurvivalCurves.from_step_functions([functions[0], 3])
    with pytest.raises(ValueError, match="functions is empty"):
        SurvivalCurves.from_step_functions([])


class StepLike:
    def __init__(self, x, y):
        self.x, self.y = np.array(x), np.array(y)


def test_from_lifelines_and_pycox_frames():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=50), "t": rng.exponential(size=50), "e": 1})
    fitted = lifelines.CoxPHFitter().fit(frame, "t", "e")
    predicted = fitted.predict_survival_function(frame.head(4))
    curves = SurvivalCurves.from_frame(predicted)
    np.testing.assert_array_equal(curves.probabilities, predicted.to_numpy().T)
    np.testing.assert_array_equal(curves.times, predicted.index)

    table = pl.DataFrame({"time": [1.0, 2.0], "a": [0.8, 0.4], "b": [0.9, 0.7]})
    np.testing.assert_array_equal(
        SurvivalCurves.from_frame(table, time="time").probabilities, [[0.8, 0.4], [0.9, 0.7]]
    )
    with pytest.raises(ValueError, match="time must name the column"):
        SurvivalCurves.from_frame(table)
    with pytest.raises(ValueError, match="no column 'months'"):
        SurvivalCurves.from_frame(table, time="months")
