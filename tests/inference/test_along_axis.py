"""A difference along τ: who leads beyond chance, and where that is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocensor.inference.along_axis import AxisCurve, Lead, lead
from tests.inference.axis_curves import TAUS, Z, correlated, curve


def test_it_goes_both_ways_and_stops_where_an_interval_holds_0():
    found = lead({"frank": curve([-1, -3, -3, -3, -1.5])})
    assert (found.sign, found.low, found.high) == (-1, -0.2, 0.2)
    # The upper limit goes from −3 + z to −1 + z, and to −1.5 + z.
    assert found.lost_below == pytest.approx(-0.2 - 0.2 * (3 - Z) / 2)
    assert found.lost_above == pytest.approx(0.2 + 0.2 * (3 - Z) / 1.5)


def test_a_later_lead_does_not_count():
    assert lead({"frank": curve([9, 9, 9, 0, 9])}).high == 0.0


def test_it_holds_to_the_ends_of_the_grid():
    assert lead({"frank": curve([3, 3, 3, 3, 3])}) == Lead(1, -0.4, 0.4, None, None)


@pytest.mark.parametrize("at_zero", [1.0, 0.0, np.nan])
def test_nothing_is_said_where_independence_already_fails(at_zero):
    assert lead({"frank": curve([9, 9, at_zero, 9, 9])}) is None


def test_equal_models_lead_nowhere():
    assert lead({"frank": curve(np.zeros(5), 0.0)}) is None


def test_it_stops_where_the_sign_turns_between_two_points():
    found = lead({"frank": curve([3, 3, 3, -9, -9])})
    assert (found.sign, found.high) == (1, 0.0)
    assert found.lost_above == pytest.approx(0.2 * (3 - Z) / 12)


def test_it_stops_at_a_point_without_an_answer_which_loses_nothing():
    found = lead({"frank": curve([3, 3, 3, np.nan, 9])})
    assert (found.high, found.lost_above) == (0.0, None)
    assert lead({"frank": curve([3, 3, 3, 3, 3], [1, 1, 1, 1, np.nan])}).high == 0.2


def test_all_families_must_agree_and_the_nearest_loss_counts():
    curves = {
        "frank": curve([3, 3, 3, 3, 3]),
        "clayton": curve([3, 3, 1], taus=[0.0, 0.2, 0.4]),
        "joe": curve([3, 3, 0], taus=[0.0, 0.2, 0.4]),
    }
    assert lead(curves, "clayton").high == 0.2
    together = lead(curves)
    assert (together.low, together.high) == (-0.4, 0.2)  # below 0 frank alone takes part
    assert together.lost_above == lead(curves, "joe").lost_above < lead(curves, "clayton").lost_above


def test_families_that_disagree_in_sign_lead_nowhere():
    assert lead({"frank": curve([3, 3, 3, 3, 3]), "joe": curve([-3, -3, -3, -3, -3])}) is None


@pytest.mark.parametrize(("taus", "start"), [([0.1, 0.3], 0.1), ([-0.3, -0.1], -0.1), ([-0.1, 0.1], 0.1)])
def test_without_0_it_starts_at_the_nearest(taus, start):
    values = np.where(np.array(taus) == start, 3.0, 0.0)
    found = lead({"frank": curve(values, taus=taus)})
    assert found.low == found.high == start


def test_one_tau_is_a_grid():
    assert lead({"frank": curve([3.0], taus=[0.3])}) == Lead(1, 0.3, 0.3, None, None)


@given(st.lists(st.sampled_from([-3.0, -1.0, 0.0, 1.0, 3.0, np.nan]), min_size=5, max_size=5))
def test_mirrored_and_negated_curves_have_mirrored_and_negated_leads(values):
    given_curve = curve(values)
    found = lead({"frank": given_curve})
    mirrored = lead({"frank": given_curve.mirrored()})
    negated = lead({"frank": curve(-np.asarray(values))})
    if found is None:
        assert mirrored is None
        assert negated is None
        return
    assert (mirrored.low, mirrored.high, mirrored.sign) == (-found.high, -found.low, found.sign)
    assert negated == Lead(-found.sign, found.low, found.high, found.lost_below, found.lost_above)
    for lost, last in ((found.lost_above, found.high), (found.lost_below, found.low)):
        assert lost is None or abs(lost) >= abs(last)


@pytest.mark.parametrize(
    ("arguments", "named", "value"),
    [
        (([0.0, 0.3, 0.2], np.ones(3), np.ones(3)), "positions", "0.2"),
        (([0.0, 0.0], np.ones(2), np.ones(2)), "positions", "0"),
        (([], np.ones(0), np.ones(0)), "positions", "empty"),
        (([0.0], np.ones(2), np.ones(2)), "values", "(2,)"),
    ],
)
def test_refusals_of_curves(arguments, named, value):
    with pytest.raises(ValueError, match=named) as refused:
        AxisCurve(*arguments)
    assert value in str(refused.value)


def test_refusals_of_families():
    with pytest.raises(ValueError, match="line must be one of 'frank', but is 'joe'"):
        lead({"frank": curve(np.ones(5))}, "joe")
    with pytest.raises(ValueError, match="curves is empty"):
        lead({})


@pytest.mark.parametrize(
    "truth", [[-2.0, -1.0, 4.0, 0.0, -1.0], [0.0, 4.0, 4.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]]
)
def test_a_wrong_step_is_as_rare_as_it_says(truth):
    """The lead must end before the first τ at which the truth has another sign, or none."""
    rng, repeats = np.random.default_rng(21), 2000
    truth = np.array(truth)
    wrong = 0
    for errors in correlated(rng, repeats, TAUS):
        found = lead({"frank": curve(truth + errors)})
        if found is not None:
            claimed = truth[(found.low <= TAUS) & (found.high >= TAUS)]
            wrong += bool((np.sign(claimed) != found.sign).any())
    assert wrong / repeats <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert wrong > 0
