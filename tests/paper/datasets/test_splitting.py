import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cocensor as cc
from cocensor.paper.datasets.splitting import stratified_split, subsample
from tests.strategies import outcomes


@given(outcomes(min_size=10, max_size=60), st.integers(0, 2**32 - 1))
def test_parts_are_a_partition_of_the_right_sizes(y, seed):
    parts = stratified_split(y, seed=seed)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(y)))
    for part, share in zip(parts, (0.7, 0.1, 0.2), strict=True):
        assert abs(part.size - share * len(y)) < 1


def test_parts_are_alike_in_events_and_times():
    rng = np.random.default_rng(0)
    y = cc.Survival(rng.exponential(size=3000), rng.random(3000) < 0.3)
    for seed in range(5):
        for part in stratified_split(y, seed=seed):
            assert abs(y.event[part].mean() - y.event.mean()) < 0.005
            for mask in (y.event, ~y.event):
                inside = y.time[part][mask[part]]
                deciles = np.quantile(y.time[mask], np.linspace(0.1, 0.9, 9))
                # counts within tenths of all times are even, to within rounding of a stratum
                found = np.searchsorted(deciles, inside)
                counts = np.bincount(found, minlength=10)
                assert np.ptp(counts) <= 3


def test_seeds_repeat_and_differ():
    y = cc.Survival(np.arange(1.0, 101.0), np.arange(100) % 2 == 0)
    first, again, other = (stratified_split(y, seed=seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("n", [20, 60, 500])
def test_every_row_can_reach_every_part(n):
    """Over many seeds each row is in the validation part as often as chance has it."""
    rng = np.random.default_rng(n)
    y = cc.Survival(rng.exponential(size=n), rng.random(n) < 0.3)
    repeats = 400
    count = np.zeros(n)
    for seed in range(repeats):
        count[stratified_split(y, seed=seed)[1]] += 1
    expected = 0.1 * repeats
    assert np.abs(count - expected).max() < 6 * np.sqrt(expected)


def test_remainders_are_spread():
    y = cc.Survival(np.arange(1.0, 105.0), np.arange(104) % 2)
    sizes = [part.size for part in stratified_split(y, [0.1] * 10)]
    assert sorted(sizes) == [10] * 6 + [11] * 4


def test_subsamples():
    rng = np.random.default_rng(1)
    y = cc.Survival(rng.exponential(size=5000), rng.random(5000) < 0.1)
    rows = subsample(y, 1000, seed=3)
    assert rows.size == 1000
    assert np.unique(rows).size == 1000
    assert abs(y.event[rows].mean() - y.event.mean()) < 0.002
    np.testing.assert_array_equal(subsample(y, 9999), np.arange(5000))


def test_refusals():
    y = cc.Survival([1.0, 2.0], [1, 0])
    for shares in ((0.7, 0.7), (1.0,), (1.2, -0.2)):
        with pytest.raises(ValueError, match="^shares "):
            stratified_split(y, shares)
    for n in (0, 2.5, True):
        with pytest.raises(ValueError, match="n must be a whole number from 1 on"):
            subsample(y, n)
    with pytest.raises(ValueError, match="^shares .* 2 subjects"):
        stratified_split(y)
    with pytest.raises(ValueError, match="^bins .* 0"):
        stratified_split(cc.Survival(np.arange(1.0, 41.0), np.arange(40) % 2), bins=0)
