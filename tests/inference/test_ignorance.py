"""What is left to say over a range of τ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from cocensor.inference.along_axis import AxisCurve, imbens_manski_constant, uncertainty
from tests.inference.axis_curves import curve

GRID = [0.0, 0.2, 0.4, 0.6]


def test_extremes_over_the_points_within_the_range():
    found = uncertainty({"frank": curve([5, 1, 3, 9], [1, 1, 1, 0.5], taus=GRID)}, 0.0, 0.4)
    assert found.ignorance == (1.0, 5.0)
    assert found.strong == pytest.approx((1 - norm.ppf(0.975), 5 + norm.ppf(0.975)))
    assert found.pointwise == pytest.approx((1 - found.constant, 5 + found.constant))


def test_ends_between_points_are_interpolated():
    found = uncertainty({"frank": curve([0, 2, 4, 6], [1, 2, 3, 4], taus=GRID)}, 0.1, 0.5)
    assert found.ignorance == pytest.approx((1.0, 5.0))
    assert found.strong == pytest.approx(
        (min(0, 1 - 1.5 * 1.96, 2 - 2 * 1.96, 4 - 3 * 1.96, 5 - 3.5 * 1.96), 11.86), abs=1e-3
    )


def test_families_together_or_one_each_where_it_reaches():
    curves = {"frank": curve([1, 2, 3], taus=[-0.2, 0.0, 0.2]), "joe": curve([2, 7], taus=[0.0, 0.2])}
    assert uncertainty(curves, -0.2, 0.2).ignorance == (1.0, 7.0)
    assert uncertainty(curves, -0.2, 0.2, "frank").ignorance == (1.0, 3.0)


def test_a_range_of_one_tau_is_the_interval_there():
    found = uncertainty({"frank": curve([5, 1, 3, 9], taus=GRID)}, 0.2, 0.2)
    assert found.ignorance == (1.0, 1.0)
    assert found.strong == pytest.approx(found.pointwise)
    assert found.constant == pytest.approx(norm.ppf(0.975), abs=1e-9)


def test_points_without_an_estimate_are_named():
    found = uncertainty({"frank": curve([5, np.nan, 3, 9], taus=GRID)}, 0.0, 0.5)
    assert found.missing == (("frank", 0.2),)
    assert found.ignorance == (3.0, 6.0)
    nothing = uncertainty({"frank": curve([np.nan], taus=[0.0])}, 0.0, 0.0)
    assert np.isnan([*nothing.ignorance, *nothing.strong, *nothing.pointwise]).all()


def test_a_point_without_an_error_leaves_the_ignorance_interval_alone():
    found = uncertainty({"frank": curve([5, 1], [1, np.nan], taus=[0.0, 0.2])}, 0.0, 0.2)
    assert found.ignorance == (1.0, 5.0)
    assert np.isnan([*found.strong, *found.pointwise]).all()


def test_the_constant_goes_by_the_larger_error():
    found = uncertainty({"frank": curve([0, 2], [1, 4], taus=[0.0, 0.2])}, 0.0, 0.2)
    assert found.constant == imbens_manski_constant(2.0, 4.0)


def test_without_sampling_error_all_three_are_one():
    found = uncertainty({"frank": curve([5, 1], 0.0, taus=[0.0, 0.2])}, 0.0, 0.2)
    assert found.ignorance == found.strong == found.pointwise == (1.0, 5.0)
    equal = uncertainty({"frank": curve([0, 0], 0.0, taus=[0.0, 0.2])}, 0.0, 0.2)
    assert equal.ignorance == equal.strong == equal.pointwise == (0.0, 0.0)


@given(st.floats(0, 20), st.floats(0.01, 10), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_constant_solves_its_equation_between_its_two_limits(width, error, level):
    c = imbens_manski_constant(width, error, level)
    assert norm.cdf(c + width / error) - norm.cdf(-c) == pytest.approx(level, abs=1e-9)
    assert norm.ppf(level) - 1e-9 <= c <= norm.ppf((1 + level) / 2) + 1e-9


@pytest.mark.no_cover
@pytest.mark.parametrize("width", [0.0, 0.5, 8.0])
@pytest.mark.parametrize("correlation", [0.95, 1.0])
def test_coverage_of_the_true_value_and_of_the_whole_range(width, correlation):
    """The truth is at one end of the range, where coverage is lowest."""
    rng, repeats = np.random.default_rng(41), 4000
    errors = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], repeats, method="eigh")
    alone = whole = 0
    for error in errors:
        found = uncertainty({"frank": curve(np.array([0.0, width]) + error, taus=[0.0, 0.3])}, 0.0, 0.3)
        alone += found.pointwise.low <= 0 <= found.pointwise.high
        whole += found.strong.low <= 0 and width <= found.strong.high
    tolerance = 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert alone / repeats >= 0.95 - tolerance
    assert whole / repeats >= 0.95 - tolerance
    if width == 8.0 or (width == 0.0 and correlation == 1.0):
        assert alone / repeats <= 0.95 + tolerance


@pytest.mark.parametrize(
    ("low", "high", "named", "value"),
    [
        (-0.1, 0.2, "low", "-0.1"),
        (0.0, 0.7, "high", "0.7"),
        (0.4, 0.2, "low", "0.4"),
        (np.nan, 0.2, "low", "nan"),
    ],
)
def test_refusals(low, high, named, value):
    with pytest.raises(ValueError, match=named) as refused:
        uncertainty({"frank": curve(np.ones(4), taus=GRID)}, low, high)
    assert value in str(refused.value)


def test_curves_of_several_levels_are_refused():
    curves = {
        "frank": AxisCurve(np.zeros(1), np.ones(1), np.ones(1), 0.9),
        "joe": AxisCurve(np.zeros(1), np.ones(1), np.ones(1), 0.95),
    }
    with pytest.raises(ValueError, match=r"confidence_level.*0\.9"):
        uncertainty(curves, 0.0, 0.0)
