"""Values that may be off by a bound: nothing is said that the values themselves might not say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocensor.inference import (
    Comparison,
    Estimate,
    Estimates,
    compare,
    indistinguishable_from_best,
    pairwise,
)
from cocensor.metrics import metric

NAMES = ("a", "b", "c", "d")
SEEDS = st.integers(0, 2**32 - 1)


def estimates(rng, *, replicates=False, bounds=None):
    values, rows = rng.normal(size=4), rng.normal(size=(6, 4)) * rng.choice([0.0, 0.1, 0.5], size=4)
    drawn = values + rng.normal(scale=0.5, size=(60, 4)) if replicates else None
    return Estimates(NAMES, values, rows, replicates=drawn, bounds=bounds)


def with_values(found, values, bounds=None):
    drawn = None if found.replicates is None else found.replicates + (values - found.values)
    return Estimates(NAMES, values, found.rows, replicates=drawn, bounds=bounds)


@pytest.mark.parametrize("replicates", [False, True])
@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_what_is_said_holds_of_all_values_within_the_bounds(replicates, seed):
    rng = np.random.default_rng(seed)
    bounds = rng.choice([0.0, 0.01, 0.3], size=4)
    exact = estimates(rng, replicates=replicates)
    found = with_values(exact, exact.values + bounds * rng.uniform(-1, 1, size=4), bounds)
    np.testing.assert_allclose(found.standard_errors, exact.standard_errors, rtol=1e-12)
    for one, other in zip(found.confidence_intervals(0.9), exact.confidence_intervals(0.9), strict=True):
        assert (np.abs(one - other) <= 2 * bounds + 1e-12).all()
    wide = (found.confidence_intervals(0.9), found.band(0.9)[:2])
    narrow = (exact.confidence_intervals(0.9), exact.band(0.9)[:2])
    for (low, high), (inner_low, inner_high) in zip(wide, narrow, strict=True):
        assert (low <= inner_low + 1e-12).all()
        assert (high >= inner_high - 1e-12).all()
    for one, other in zip(pairwise(found), pairwise(exact), strict=True):
        assert abs(one.difference - other.difference) <= one.bound + 1e-12
        assert one.pvalue >= other.pvalue - 1e-12
        assert one.adjusted_pvalue >= other.adjusted_pvalue - 1e-12
        assert one.better("smaller", 0.9) in (None, other.better("smaller", 0.9))
    for direction in ("smaller", "greater"):
        kept = indistinguishable_from_best(found, direction, 0.9)
        assert set(kept) >= set(indistinguishable_from_best(exact, direction, 0.9))
    by = metric("ibs")
    mine, theirs = (dict(zip(NAMES, each.values.tolist(), strict=True)) for each in (found, exact))
    ranks = by.ranks(mine, dict(zip(NAMES, bounds.tolist(), strict=True)))
    assert all(ranks[name] <= rank for name, rank in by.ranks(theirs).items())


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.sampled_from([0.0, 1.0]))
def test_skills_are_off_by_no_more_than_their_bounds(seed, best):
    rng = np.random.default_rng(seed)
    exact, bounds = rng.uniform(0.1, 0.9, size=4), rng.choice([0.0, 0.01, 0.08], size=4)
    moved = exact + bounds * rng.choice([-1.0, 1.0], size=4)
    skills = [
        Estimates(NAMES, values, np.zeros((2, 4)), bounds=off).skills(NAMES[:3], "d", best)
        for values, off in ((moved, bounds), (exact, None))
    ]
    off = skills[0].off
    assert (np.abs(skills[0].values - skills[1].values)[~np.isnan(off)] <= off[~np.isnan(off)] + 1e-12).all()
    assert np.isnan(off).all() == (abs(best - moved[3]) <= bounds[3])
    assert (skills[1].off == 0).all()


@pytest.mark.parametrize("replicates", [False, True])
def test_bounds_of_0_change_no_number(replicates):
    one = estimates(np.random.default_rng(3), replicates=replicates)
    other = with_values(one, one.values, np.zeros(4))
    for method in ("normal", "percentile", "basic") if replicates else ("normal",):
        np.testing.assert_array_equal(
            one.confidence_intervals(0.9, method), other.confidence_intervals(0.9, method)
        )
    np.testing.assert_array_equal(one.band().high, other.band().high)
    numbers = [
        [(each.difference, each.standard_error, each.pvalue, each.adjusted_pvalue) for each in pairwise(some)]
        for some in (one, other)
    ]
    assert numbers[0] == numbers[1]


def test_intervals_and_tests_by_hand():
    assert Estimate(1.0, 0.0, bound=0.25).confidence_interval() == (0.75, 1.25)
    found = compare(
        Estimates(("a", "b"), np.array([1.0, 4.0]), np.eye(2), bounds=np.array([0.5, 1.0])), "a", "b"
    )
    assert found.bound == 1.5
    # |d| less the bound is 1.5, of a standard error of √2.
    assert found.pvalue == pytest.approx(0.28884437, abs=1e-8)
    assert Comparison("a", "b", 0.1, 0.0, bound=0.1).pvalue == 1.0
    assert Comparison("a", "b", 0.1, 0.0, bound=0.09).pvalue == 0.0
    assert Comparison("a", "b", 0.1, 0.01, bound=0.2).pvalue == 1.0


def test_an_unknown_bound_leaves_no_interval_and_says_why():
    known = Estimates(("a", "b"), np.array([1.0, 9.0]), np.eye(2), bounds=np.array([0.0, np.nan]))
    assert known.estimate("a").missing is None
    for each in (known.estimate("b"), compare(known, "a", "b")):
        assert np.isnan(each.confidence_interval()).all()
        assert "not known" in each.missing
    assert np.isnan(compare(known, "a", "b").pvalue)
    assert indistinguishable_from_best(known, "smaller") == ("a", "b")
