"""Where the order of two models turns along τ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocensor.inference.along_axis import AxisCurve, Stretch, tipping_points, undecided
from tests.inference.axis_curves import Z, correlated, curve

GRID = [0.0, 0.2, 0.4, 0.6, 0.8]


def test_the_interval_of_a_straight_curve_solves_for_the_limits():
    """Differences 10(τ − 0.45) with standard error 1: 0 is in the interval within z/10 of 0.45."""
    (point,) = tipping_points({"frank": curve(10 * (np.array(GRID) - 0.45), taus=GRID)})
    assert point.at == pytest.approx(0.45)
    assert point.interval == pytest.approx((0.45 - Z / 10, 0.45 + Z / 10))
    assert (point.line, point.sign_above) == ("frank", 1)


def test_an_interval_between_two_neighbours_of_the_grid_is_found():
    (point,) = tipping_points({"frank": curve(100 * (np.array(GRID) - 0.45), taus=GRID)})
    assert point.interval == pytest.approx((0.45 - Z / 100, 0.45 + Z / 100))


def test_an_interval_that_reaches_the_end_of_the_grid_is_open():
    (point,) = tipping_points({"frank": curve(3 * (np.array(GRID) - 0.45), taus=GRID)})
    assert point.interval == Stretch(None, None)
    (point,) = tipping_points({"frank": curve([-9, -9, -9, -9, 0.5], taus=GRID)})
    assert point.interval.low == pytest.approx(0.6 + 0.2 * (9 - Z) / 9.5)
    assert point.interval.high is None


def test_models_that_never_turn_have_no_tipping_point():
    assert tipping_points({"frank": curve([3, 2, 1, 1, 2], taus=GRID)}) == ()


def test_equal_models_have_no_tipping_point_and_are_undecided_everywhere():
    equal = curve(np.zeros(5), 0.0, taus=GRID)
    assert tipping_points({"frank": equal}) == ()
    assert undecided(equal) == (Stretch(None, None),)


def test_all_turns_are_there_the_nearest_to_independence_first():
    curves = {
        "frank": curve([1, -1, 1, 1, 1], 0.1, taus=[-0.4, -0.2, 0.0, 0.2, 0.4]),
        "joe": curve([1, 1, -3], 0.1, taus=[0.0, 0.2, 0.4]),
    }
    points = tipping_points(curves)
    assert [(point.line, point.sign_above) for point in points] == [
        ("frank", 1),
        ("joe", -1),
        ("frank", -1),
    ]
    assert [point.at for point in points] == pytest.approx([-0.1, 0.25, -0.3])
    assert tipping_points(curves, "joe") == (points[1],)
    separate = [point.interval for point in points]
    assert separate[0].low > separate[2].high


def test_turns_within_one_stretch_share_its_interval():
    first, second = tipping_points({"frank": curve([9, 1, -1, 1, 9], taus=GRID)})
    assert first.interval == second.interval


def test_a_start_in_a_tie_turns_only_if_the_sides_differ():
    assert tipping_points({"frank": curve([0, 1, 1], taus=[0.0, 0.2, 0.4])}) == ()
    (point,) = tipping_points({"frank": curve([-1, 0, 1], taus=[-0.2, 0.0, 0.2])})
    assert point.at == 0.0
    assert tipping_points({"frank": curve([1, 0, 1], taus=[-0.2, 0.0, 0.2])}) == ()


def test_a_stretch_of_equality_turns_at_its_nearest_to_independence():
    (point,) = tipping_points({"frank": curve([-1, 0, 0, 1], taus=[0.0, 0.2, 0.4, 0.6])})
    assert point.at == 0.2


def test_without_error_the_interval_is_the_point():
    (point,) = tipping_points({"frank": curve([-1, 2], 0.0, taus=[0.0, 0.3])})
    assert point.interval == (point.at, point.at)


def test_points_without_an_estimate_are_passed_over_and_leave_no_interval_beside_them():
    (point,) = tipping_points({"frank": curve([-1, np.nan, 1], 0.1, taus=[0.0, 0.2, 0.4])})
    assert point.at == pytest.approx(0.2)
    assert point.interval is None
    errors = [0.1, 0.1, np.nan, 0.1]
    (point,) = tipping_points({"frank": curve([-1, 1, 1, 1], errors, taus=[0.0, 0.2, 0.4, 0.6])})
    assert None not in point.interval


def test_what_is_undecided_beside_a_gap_is_open_there():
    found = undecided(curve([0, 0, np.nan, 0, 9], taus=GRID))
    assert found[0] == Stretch(None, None)
    assert found[1].low is None
    assert found[1].high == pytest.approx(0.6 + 0.2 * Z / 9)


@pytest.mark.parametrize(("value", "found"), [(0.5, (Stretch(None, None),)), (3.0, ()), (np.nan, ())])
def test_one_tau_only(value, found):
    assert undecided(curve([value], taus=[0.3])) == found
    assert tipping_points({"frank": curve([value], taus=[0.3])}) == ()


@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=6),
    st.floats(0.01, 2),
)
def test_an_interval_holds_its_tipping_point_and_ends_where_limits_are_0(values, error):
    taus = np.linspace(0.0, 0.8, len(values))
    found = curve(values, error, taus=taus)
    for point in tipping_points({"frank": found}):
        low, high = point.interval
        assert low is None or low <= point.at
        assert high is None or point.at <= high
        for end in (low, high):
            if end is not None:
                limits = [np.interp(end, taus, limit) for limit in (found.low, found.high)]
                assert min(map(abs, limits)) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.no_cover
def test_the_interval_holds_the_true_tipping_point_as_often_as_it_says():
    """A straight true difference that is 0 at 0.43, correlated errors, a grid of ten points."""
    rng, repeats, taus = np.random.default_rng(31), 2000, np.linspace(0.0, 0.9, 10)
    held = decided = near = 0
    for errors in correlated(rng, repeats, taus):
        found = AxisCurve(taus, 12 * (taus - 0.43) + errors, np.ones(10))
        held += any(_holds(stretch, 0.43) for stretch in undecided(found))
        points = tipping_points({"frank": found})
        near += bool(points) and any(_holds(point.interval, 0.43) for point in points)
        decided += bool(points)
    tolerance = 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert decided == repeats
    assert held / repeats == pytest.approx(
        0.95, abs=tolerance + 0.005
    )  # lines are not quite the curve's errors
    assert near / repeats >= 0.94 - tolerance


def _holds(stretch, tau):
    low, high = stretch
    return (low is None or low <= tau) and (high is None or tau <= high)
