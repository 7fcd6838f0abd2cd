import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocensor.data import StepFunction
from tests.refusals import refuses


def test_one_sided_limits():
    f = StepFunction([1.0, 3.0], [0.75, 0.25], initial=1.0)
    np.testing.assert_array_equal(f([0, 1, 2, 3, 4]), [1, 0.75, 0.75, 0.25, 0.25])
    np.testing.assert_array_equal(f([0, 1, 2, 3, 4], side="left"), [1, 1, 0.75, 0.75, 0.25])
    assert isinstance(f(1.0), float)
    refuses(lambda: f(1.0, side="middle"), "side", "'middle'")


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
    ("times", "values", "parts"),
    [
        ([1, 1], [0.5, 0.4], ("times", "row 1 is 1.0")),
        ([1, 2], [0.5], ("values", "length 1", "length 2")),
        ([1, np.nan], [0.5, 0.4], ("times", "row 1 is nan")),
    ],
)
def test_step_function_refusals(times, values, parts):
    refuses(lambda: StepFunction(times, values), *parts)


def test_integral_refuses_reversed_limits():
    refuses(lambda: StepFunction([1.0], [0.5]).integrate([0.0, 2.0], 1.0), "lower", "upper", "row 1 is 2.0")
