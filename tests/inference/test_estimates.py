"""Intervals of estimates, of differences and of ratios: closed forms, bootstrap replicates, bad cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cocensor.inference.bands import simultaneous_quantile
from cocensor.inference.estimates import Estimate, Estimates

Z = 1.959963984540054


def means_of(data):
    """Means of columns with their influences."""
    n = len(data)
    names = tuple(f"m{k}" for k in range(data.shape[1]))
    return Estimates(names, data.mean(axis=0), (data - data.mean(axis=0)) / np.sqrt(n * (n - 1)))


@pytest.fixture
def data():
    return np.random.default_rng(3).multivariate_normal(
        [1, 1.2, 4], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 2]], 50
    )


def test_rows_give_the_standard_error_of_a_mean_and_the_normal_interval(data):
    found = means_of(data).estimate("m1")
    expected = data[:, 1].std(ddof=1) / np.sqrt(50)
    assert found.standard_error == pytest.approx(expected, rel=1e-12)
    low, high = found.confidence_interval()
    assert (low, high) == pytest.approx((found.value - Z * expected, found.value + Z * expected))
    narrow = found.confidence_interval(0.5)
    assert low < narrow.low < narrow.high < high
    assert found.missing is None


def test_a_difference_is_paired(data):
    apart = means_of(data).differences([("m0", "m1")]).estimate("m0 - m1")
    gaps = data[:, 0] - data[:, 1]
    assert apart.value == pytest.approx(gaps.mean())
    assert apart.standard_error == pytest.approx(gaps.std(ddof=1) / np.sqrt(50), rel=1e-12)


@pytest.mark.parametrize("replicates", [None, np.random.default_rng(4).standard_normal((30, 5))])
def test_all_estimates_apart_are_the_differences_of_their_pairs(data, replicates):
    """Among them two equal ones, one without a value, and one without an interval."""
    means = means_of(np.c_[data, data[:, 1], data[:, 0]])
    values = np.where(np.arange(5) == 2, np.nan, means.values)
    if replicates is not None:
        replicates[:, 3] = replicates[:, 1]
    found = Estimates(means.names, values, means.rows, replicates=replicates, missing={"m4": "too few"})
    pairs = found.differences([(a, b) for a in found.names for b in found.names])
    np.testing.assert_array_equal(found.apart.values.ravel(), pairs.values)
    np.testing.assert_allclose(found.apart.standard_errors.ravel(), pairs.standard_errors, rtol=1e-13)
    assert found.apart.standard_errors[1, 3] == 0.0
    assert np.isnan(found.apart.standard_errors[[2, 4]]).all()


@pytest.mark.parametrize("noise", [0.0, 1e-15])
def test_a_difference_by_rounding_alone_is_none(noise):
    rows = np.random.default_rng(0).standard_normal((20, 1)) * [1.0, 1.0 + noise]
    apart = Estimates(("a", "b"), np.array([0.3, 0.3 * (1 + noise)]), rows).differences([("a", "b")])
    assert apart.values[0] == 0
    assert apart.standard_errors[0] == 0


def test_a_small_difference_that_is_no_rounding_stays():
    apart = Estimates(("a", "b"), np.array([0.3, 0.3 + 1e-6]), np.array([[1.0, 1.0 + 1e-6]])).differences(
        [("a", "b")]
    )
    assert apart.values[0] == pytest.approx(-1e-6)
    assert apart.standard_errors[0] == pytest.approx(1e-6)


def test_no_influence_at_all_is_an_interval_of_width_0():
    found = Estimates(("a",), np.array([0.0]), np.zeros((30, 1))).estimate("a")
    assert found.confidence_interval() == (0.0, 0.0)


@pytest.mark.parametrize("rows", [np.full((1, 1), np.nan), np.empty((0, 1))])
def test_one_subject_or_none_has_no_interval(rows):
    found = Estimates(("a",), np.array([0.2]), rows).estimate("a")
    assert found.value == 0.2
    assert np.isnan([found.standard_error, *found.confidence_interval()]).all()
    assert found.missing == "there is no standard error"


def test_what_is_missing_has_no_interval_and_says_why_in_its_differences_too(data):
    means = means_of(data)
    partly = Estimates(means.names, means.values, means.rows, missing={"m2": "no event by t"})
    assert np.isnan(partly.estimate("m2").confidence_interval()).all()
    assert partly.estimate("m2").missing == "no event by t"
    apart = partly.differences([("m0", "m1"), ("m0", "m2")])
    assert [each.missing for each in apart] == [None, "no event by t"]
    assert np.isnan(apart.standard_errors).tolist() == [False, True]
    np.testing.assert_allclose(partly.errors[:, :2], means.errors[:, :2])


def test_an_estimate_that_is_not_there_says_so():
    found = Estimates(("a", "b"), np.array([np.nan, 1.0]), np.ones((3, 2)))
    assert found.estimate("a").missing == "there is no estimate"
    assert np.isnan(found.confidence_intervals()[0]).tolist() == [True, False]


def test_intervals_of_the_bootstrap_are_quantiles_of_its_replicates():
    replicates = np.arange(101.0)
    found = Estimate(40.0, 29.3, replicates)
    assert found.confidence_interval(0.9) == pytest.approx((5.0, 95.0))
    assert found.confidence_interval(0.9, "basic") == pytest.approx((80.0 - 95.0, 80.0 - 5.0))
    assert found.confidence_interval(0.95, "normal") == pytest.approx((40 - Z * 29.3, 40 + Z * 29.3))


def test_replicates_give_covariances_and_samples_without_an_estimate_are_left_out():
    replicates = np.random.default_rng(1).standard_normal((200, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    whole = Estimates(("a", "b"), np.zeros(2), np.empty((0, 2)), replicates=replicates)
    np.testing.assert_allclose(whole.errors.T @ whole.errors, np.cov(replicates.T))
    holes = replicates.copy()
    holes[:20, 0] = np.nan
    holed = Estimates(("a", "b"), np.zeros(2), np.empty((0, 2)), replicates=holes)
    np.testing.assert_allclose(holed.standard_errors, [holes[20:, 0].std(ddof=1), holes[:, 1].std(ddof=1)])
    low, _ = holed.confidence_intervals(0.9)
    np.testing.assert_allclose(low, [np.quantile(holes[20:, 0], 0.05), np.quantile(holes[:, 1], 0.05)])
    gaps = holed.differences([("a", "b")])
    assert gaps.standard_errors[0] == pytest.approx((holes[20:, 0] - holes[20:, 1]).std(ddof=1))


def test_fewer_than_two_replicates_are_no_error():
    one = Estimates(("a",), np.zeros(1), np.empty((0, 1)), replicates=np.array([[1.0], [np.nan]]))
    assert np.isnan(one.standard_errors).all()
    assert np.isnan(one.confidence_intervals()[0]).all()


def test_a_skill_score_has_the_error_of_its_numerical_derivative(data):
    """Moving each subject's weight moves the ratio of means as the delta method says."""
    scores = means_of(data)
    found = scores.skills(["m0", "m1"], "m2").estimate("m1")
    assert found.value == pytest.approx(1 - data[:, 1].mean() / data[:, 2].mean())
    n, step = len(data), 1e-5
    influences = []
    for i in range(n):
        weights = np.ones(n)
        weights[i] += step
        a, r = (np.average(data[:, k], weights=weights) for k in (1, 2))
        influences.append(n * ((1 - a / r) - found.value) / step)
    assert found.standard_error == pytest.approx(np.std(influences, ddof=1) / np.sqrt(n), rel=1e-4)


def test_a_skill_towards_another_best_value():
    scores = Estimates(("auc", "null"), np.array([0.8, 0.6]), np.array([[0.01, 0.0], [0.0, 0.02]]))
    found = scores.skills(["auc"], "null", best=1.0).estimate("auc")
    assert found.value == pytest.approx(0.5)
    # ∂s/∂v = 1/0.4, ∂s/∂r = −0.2/0.16
    assert found.standard_error == pytest.approx(np.hypot(0.01 / 0.4, 0.02 * 0.2 / 0.16))


def test_the_reference_has_skill_0_without_error(data):
    found = means_of(data).skills(["m2"], "m2").estimate("m2")
    assert (found.value, found.standard_error) == (0.0, 0.0)


def test_a_perfect_reference_leaves_no_skill():
    found = Estimates(("a", "r"), np.array([0.1, 0.0]), np.ones((4, 2))).skills(["a"], "r").estimate("a")
    assert np.isnan([found.value, found.standard_error]).all()
    assert "r is as good" in found.missing


def test_skills_of_replicates_are_skills_replicate_by_replicate():
    replicates = np.array([[1.0, 2.0], [1.0, 4.0], [3.0, 4.0], [1.0, 1.0]])
    scores = Estimates(("a", "r"), np.array([1.0, 2.0]), np.empty((0, 2)), replicates=replicates)
    found = scores.skills(["a"], "r").estimate("a")
    np.testing.assert_allclose(found.replicates, [0.5, 0.75, 0.25, 0.0])
    assert found.standard_error == pytest.approx(np.std([0.5, 0.75, 0.25, 0.0], ddof=1))


def test_a_band_is_wider_than_intervals_and_holds_what_has_no_error():
    rows = np.hstack((np.eye(4), np.zeros((4, 1)), np.full((4, 1), np.nan)))
    several = Estimates(tuple("abcdef"), np.arange(6.0), rows)
    low, high, quantile = several.band()
    assert quantile == simultaneous_quantile(np.eye(4))
    np.testing.assert_allclose(high[:4] - low[:4], 2 * quantile)
    assert (low[4], high[4]) == (4.0, 4.0)
    assert np.isnan([low[5], high[5]]).all()


@pytest.mark.parametrize(
    ("call", "argument", "value"),
    [
        (lambda e: e.estimate("forest"), "name", "forest"),
        (lambda e: e.differences([("a", "forest")]), "name", "forest"),
        (lambda e: e.estimate("a").confidence_interval(95), "confidence_level", "95"),
        (lambda e: e.estimate("a").confidence_interval(method="bca"), "method", "bca"),
        (lambda e: e.estimate("a").confidence_interval(method="basic"), "method", "basic"),
    ],
)
def test_refusals_name_the_argument_and_its_value(call, argument, value):
    with pytest.raises(ValueError, match=argument) as refused:
        call(Estimates(("a",), np.array([1.0]), np.ones((2, 1))))
    assert value in str(refused.value)


@given(
    arrays(float, (6, 3), elements=st.floats(-1, 1)),
    st.permutations(["a", "b", "c"]),
)
def test_a_difference_reversed_is_its_negative(rows, order):
    scores = Estimates(("a", "b", "c"), rows.sum(axis=0), rows)
    one, other = scores.differences([(order[0], order[1]), (order[1], order[0])])
    assert one.value == -other.value
    assert one.standard_error == other.standard_error
    assert one.confidence_interval().low == -other.confidence_interval().high
