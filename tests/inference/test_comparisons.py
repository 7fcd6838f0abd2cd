"""Pairs, adjusted p-values, and who cannot be told from the best."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import dunnett, norm, ttest_rel, tukey_hsd

from cocensor.inference.bands import normal_draws
from cocensor.inference.comparisons import compare, indistinguishable_from_best, pairwise
from cocensor.inference.estimates import Estimates

NAMES = ("a", "b", "c", "d")


def scores_of(data):
    n = len(data)
    return Estimates(
        NAMES[: data.shape[1]], data.mean(axis=0), (data - data.mean(axis=0)) / np.sqrt(n * (n - 1))
    )


@st.composite
def estimates(draw):
    size = draw(st.integers(1, 4))
    values = draw(arrays(float, size, elements=st.integers(-3, 3).map(float)))
    rows = draw(arrays(float, (5, size), elements=st.integers(-4, 4).map(lambda k: k / 4)))
    return Estimates(NAMES[:size], values, rows)


def test_a_comparison_is_the_paired_test_of_a_large_sample():
    data = np.random.default_rng(0).multivariate_normal([0, 0.05], [[1, 0.9], [0.9, 1]], 20_000)
    found = compare(scores_of(data), "a", "b")
    t = ttest_rel(data[:, 0], data[:, 1])
    assert found.difference / found.standard_error == pytest.approx(t.statistic)
    assert found.pvalue == pytest.approx(t.pvalue, rel=0.01)
    assert found.confidence_interval() == pytest.approx(tuple(t.confidence_interval()), rel=1e-3)


def test_equal_models_do_not_differ():
    found = compare(Estimates(("a", "b"), np.array([0.2, 0.2]), np.array([[0.1, 0.1], [0.3, 0.3]])), "a", "b")
    assert (found.difference, found.standard_error, found.pvalue) == (0.0, 0.0, 1.0)
    assert found.confidence_interval() == (0.0, 0.0)
    assert found.better("lower") is None


def test_equal_models_do_not_differ_in_bootstrap_samples():
    replicates = np.repeat(np.random.default_rng(0).standard_normal((99, 1)), 2, axis=1)
    found = compare(
        Estimates(("a", "b"), np.array([0.2, 0.2]), np.empty((0, 2)), replicates=replicates), "a", "b"
    )
    assert (found.difference, found.standard_error, found.pvalue) == (0.0, 0.0, 1.0)
    assert found.confidence_interval() == (0.0, 0.0)


def test_models_that_differ_without_error_differ_for_certain():
    found = compare(Estimates(("a", "b"), np.array([0.25, 0.2]), np.zeros((5, 2))), "a", "b")
    assert found.pvalue == 0.0
    assert found.better("lower") == "b"


def test_p_of_the_bootstrap_counts_replicates_beyond_0():
    replicates = np.column_stack((np.r_[np.full(96, 1.0), -1.0, -1.0, 0.0], np.zeros(99)))
    found = compare(
        Estimates(("a", "b"), np.array([1.0, 0.0]), np.empty((0, 2)), replicates=replicates), "a", "b"
    )
    assert found.pvalue == pytest.approx(2 * (1 + 3) / 100)


def test_one_without_an_interval_is_not_compared():
    scores = Estimates(("a", "b"), np.array([0.1, 0.9]), 0.01 * np.eye(2), missing={"b": "one subject"})
    found = compare(scores, "a", "b")
    assert found.difference == pytest.approx(-0.8)
    assert np.isnan([found.pvalue, found.standard_error, *found.confidence_interval()]).all()
    assert found.better("lower") is None
    assert found.missing == "one subject"


def test_the_better_one_goes_by_the_direction():
    scores = Estimates(("a", "b"), np.array([0.1, 0.9]), 0.01 * np.eye(2))
    assert compare(scores, "a", "b").better("lower") == compare(scores, "b", "a").better("lower") == "a"
    assert compare(scores, "a", "b").better("higher") == "b"
    with pytest.raises(ValueError, match="direction must be one of 'lower', 'higher', but is 'less'"):
        compare(scores, "a", "b").better("less")


def test_adjusted_p_of_independent_means_is_tukey_s():
    """Three independent groups with many subjects: the studentised range."""
    rng = np.random.default_rng(4)
    groups = [rng.standard_normal(400) + shift for shift in (0.0, 0.1, 0.19)]
    pooled = np.sqrt(np.mean([group.var(ddof=1) for group in groups]) / 400)
    scores = Estimates(NAMES[:3], np.array([group.mean() for group in groups]), pooled * np.eye(3))
    expected = tukey_hsd(*groups).pvalue
    for pair, (i, j) in zip(pairwise(scores), [(0, 1), (0, 2), (1, 2)], strict=True):
        tolerance = 4 * np.sqrt(expected[i, j] * (1 - expected[i, j]) / 20_000) + 2e-3
        assert pair.adjusted_pvalue == pytest.approx(expected[i, j], abs=tolerance)


@given(estimates())
def test_adjusted_p_is_at_least_p_at_most_bonferroni_and_in_the_same_order(scores):
    pairs = pairwise(scores)
    assert [(pair.a, pair.b) for pair in pairs] == [
        (a, b) for i, a in enumerate(scores.names) for b in scores.names[i + 1 :]
    ]
    by_p = sorted(pairs, key=lambda pair: pair.pvalue)
    for pair in pairs:
        assert pair.pvalue <= pair.adjusted_pvalue <= min(1.0, len(pairs) * pair.pvalue) + 1e-12
    adjusted = [pair.adjusted_pvalue for pair in by_p if pair.standard_error > 0]
    assert adjusted == sorted(adjusted)


def test_pairs_without_an_interval_stay_without_p():
    scores = Estimates(NAMES[:3], np.array([0.0, 1.0, 2.0]), np.eye(3), missing={"c": "no event"})
    first, *others = pairwise(scores)
    assert first.adjusted_pvalue == first.pvalue
    assert np.isnan([pair.adjusted_pvalue for pair in others]).all()


def test_a_single_model_has_no_pairs_and_is_the_best():
    alone = Estimates(("a",), np.array([0.3]), np.ones((4, 1)))
    assert pairwise(alone) == ()
    assert indistinguishable_from_best(alone, "lower") == ("a",)


@pytest.mark.parametrize(("gap", "kept"), [(1.644, ("a", "b")), (1.646, ("a",))])
def test_two_models_are_told_apart_by_the_one_sided_quantile(gap, kept):
    scores = Estimates(("a", "b"), np.array([0.0, gap]), np.sqrt(0.5) * np.eye(2))
    assert indistinguishable_from_best(scores, "lower") == kept


@pytest.mark.parametrize("size", [3, 4])
def test_the_limit_is_dunnett_s_one_sided(size):
    """Independent scores with equal errors: differences with one of them are correlated by one half."""
    rng = np.random.default_rng(6)
    groups = [rng.standard_normal(500) for _ in range(size)]
    interval = dunnett(*groups[1:], control=groups[0], alternative="less", rng=rng).confidence_interval(0.95)
    pooled = np.sqrt(np.mean([group.var(ddof=1) for group in groups]))
    gaps = [group.mean() - groups[0].mean() for group in groups[1:]]
    limit = np.mean(interval.high - gaps) / (pooled * np.sqrt(2 / 500))
    for step, kept in ((-0.03, True), (0.03, False)):
        worst = np.r_[np.zeros(size - 1), limit + step]
        scores = Estimates(NAMES[:size], worst, np.sqrt(0.5) * np.eye(size))
        assert (NAMES[size - 1] in indistinguishable_from_best(scores, "lower")) == kept


@pytest.mark.parametrize("level", [0.3, 0.8, 0.95])
def test_draws_that_are_left_out_would_change_no_answer(level):
    """One is kept where the quantile of all draws reaches its largest standardised difference."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((4, 4)) / 2
        scores = Estimates(NAMES, 1.2 * rng.standard_normal(4), rows)
        drawn = np.concatenate(list(normal_draws(rows)), axis=1)
        for m, name in enumerate(NAMES):
            spread = np.sqrt(np.square(rows[:, [m]] - rows).sum(axis=0))
            others = spread > 0
            z = (drawn[m] - drawn[others]) / spread[others, None]
            quantile = np.quantile(z.max(axis=0), level)
            stays = ((scores.values[m] - scores.values[others]) <= max(quantile, 0.0) * spread[others]).all()
            assert (name in indistinguishable_from_best(scores, "lower", level)) == stays


@given(estimates(), st.sampled_from([0.2, 0.9, 0.99]))
def test_the_best_and_its_equals_are_always_kept_and_direction_is_a_sign(scores, level):
    kept = indistinguishable_from_best(scores, "lower", level)
    best = scores.values.min()
    assert {name for name, value in zip(scores.names, scores.values, strict=True) if value == best} <= set(
        kept
    )
    negated = Estimates(scores.names, -scores.values, scores.rows)
    assert indistinguishable_from_best(negated, "higher", level) == kept


@given(estimates(), st.integers(0, 3))
def test_a_copy_of_a_model_stays_or_goes_with_it(scores, k):
    assume(k < len(scores.names))
    copied = Estimates(
        (*scores.names, "copy"), np.r_[scores.values, scores.values[k]], np.c_[scores.rows, scores.rows[:, k]]
    )
    kept = indistinguishable_from_best(copied, "lower")
    assert ("copy" in kept) == (scores.names[k] in kept)


def test_one_without_an_interval_is_kept_and_one_without_a_value_is_not():
    scores = Estimates(
        NAMES,
        np.array([0.0, 9.0, 9.0, np.nan]),
        0.1 * np.eye(4),
        missing={"b": "fewer subjects than parameters"},
    )
    assert indistinguishable_from_best(scores, "lower") == ("a", "b")


@pytest.mark.no_cover
@pytest.mark.parametrize("gap", [0.0, 0.05])
def test_the_true_best_is_kept_as_often_as_it_says(gap):
    """Four correlated scores, all truly equal or one the best."""
    rng, repeats, n = np.random.default_rng(11), 600, 200
    covariance = np.full((4, 4), 0.7) + np.diag([0.3, 0.3, 0.6, 1.3])
    kept = []
    for _ in range(repeats):
        data = rng.multivariate_normal([0.0, gap, gap, gap], covariance, n)
        kept.append("a" in indistinguishable_from_best(scores_of(data), "lower"))
    tolerance = 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert np.mean(kept) >= 0.95 - tolerance
    if gap == 0.0:  # exact where all are equal
        assert np.mean(kept) <= 0.95 + tolerance


@pytest.mark.no_cover
def test_no_pair_is_told_apart_by_mistake_more_often_than_it_says():
    rng, repeats, n = np.random.default_rng(12), 600, 200
    wrong = []
    for _ in range(repeats):
        data = rng.standard_normal((n, 4)) + rng.standard_normal((n, 1))
        wrong.append(min(pair.adjusted_pvalue for pair in pairwise(scores_of(data))) < 0.05)
    assert np.mean(wrong) == pytest.approx(0.05, abs=3 * np.sqrt(0.05 * 0.95 / repeats))


def test_small_adjusted_p_are_as_small_as_bonferroni_s():
    scores = Estimates(NAMES[:3], np.array([0.0, 0.1, 10.0]), np.sqrt(0.5) * np.eye(3))
    last = pairwise(scores)[1]
    assert last.adjusted_pvalue <= 3 * 2 * norm.sf(10.0) * (1 + 1e-9)
