"""What the Brier score is made of."""

import numpy as np
import pytest

import cocensor as cc
from tests.metrics.test_calibration import AT, drawn, section_of

RNG = np.random.default_rng(0)


def isotonic(y, weights, marker):
    """The regression by its formula, max over starts of min over ends of means, for equal markers alike."""
    levels = np.unique(marker)
    total = np.array([weights[marker == level].sum() for level in levels])
    sums = np.array([(weights * y)[marker == level].sum() for level in levels])
    found = []
    for k in range(levels.size):
        means = [
            [sums[i : j + 1].sum() / total[i : j + 1].sum() for j in range(k, levels.size)]
            for i in range(k + 1)
        ]
        found.append(max(min(each) for each in means))
    return np.array(found)[np.searchsorted(levels, marker)]


@pytest.mark.parametrize("adjustment", ["ipcw", "ipcw_cox", "imputation_covariates", "imputation_margins"])
def test_the_parts_add_up_to_the_brier_score(adjustment):
    x, y, survival = drawn(120, seed=1, shape=1.4)
    times = [AT, 0.2, AT]
    both = cc.Predictions([0.2, AT], np.hstack((survival ** (0.2 / AT), survival)).round(1))
    how = {"adjustment": adjustment, "x_train": x, "x_test": x}
    if adjustment.startswith("imputation"):
        how["copula"] = cc.Clayton(1.0)
    parts = cc.brier_decomposition(y, y, both, times, **how)
    expected = cc.brier_score(y, y, both, times, **how)
    np.testing.assert_allclose(parts.score, expected, rtol=1e-12)
    np.testing.assert_allclose(
        parts.miscalibration - parts.discrimination + parts.uncertainty, expected, rtol=1e-12
    )
    assert (parts.miscalibration > 0).all()
    assert (parts.discrimination > 0).all()
    np.testing.assert_array_equal(parts.times, times)
    # The metrics are the same.
    fitted = {"a": both}
    found = cc.brier_decomposition(y, y, fitted, times, **how)["a"]
    np.testing.assert_array_equal(found.uncertainty, parts.uncertainty)


def test_without_censoring_they_are_those_of_corp():
    """Dimitriadis, Gneiting and Jordan: differences of mean scores of predicted, recalibrated and constant chances."""
    p = RNG.uniform(size=40).round(1)
    happened = (RNG.uniform(size=40) < p**2).astype(float)
    y = cc.Survival(np.where(happened, 0.5, 2.0), np.ones(40))
    parts = cc.brier_decomposition(None, y, 1 - p[:, None], [1.0])
    again = isotonic(happened, np.ones(40), p)
    score, best, alike = (np.mean((q - happened) ** 2) for q in (p, again, happened.mean()))
    assert parts.miscalibration[0] == pytest.approx(score - best, abs=1e-14)
    assert parts.discrimination[0] == pytest.approx(alike - best, abs=1e-14)
    assert parts.uncertainty[0] == pytest.approx(alike, abs=1e-14)
    assert alike == pytest.approx(happened.mean() * (1 - happened.mean()))


def test_with_weights_they_are_those_of_a_weighted_regression():
    n = 30
    survival, a, b = RNG.uniform(size=n).round(1), *RNG.uniform(0.0, 1.5, size=(2, n))
    a[:4] = b[:4] = 0.0  # who does not count
    section = section_of(a, b, survival)
    p, counts = 1 - survival, a + b > 0
    total, y = a + b, b / np.where(counts, a + b, 1.0)
    again = np.full(n, np.nan)
    again[counts] = isotonic(y[counts], total[counts], p[counts])
    overall = b.sum() / total.sum()

    def mean_score(q):
        return np.nansum(total * (q - y) ** 2) / n

    miscalibration, discrimination = cc.metric("miscalibration"), cc.metric("discrimination")
    assert miscalibration.value(section) == pytest.approx(mean_score(p) - mean_score(again), abs=1e-14)
    assert discrimination.value(section) == pytest.approx(mean_score(overall) - mean_score(again), abs=1e-14)
    for metric in (miscalibration, discrimination):
        linear = metric.linear(section)
        assert np.isfinite(linear.event).all()
        # Of degree 1 in the weights.
        assert a @ linear.event_free + b @ linear.event == pytest.approx(linear.value)


def test_constant_and_perfect_predictions():
    happened = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    y = cc.Survival(np.where(happened, 0.5, 2.0), np.ones(5))
    constant = cc.brier_decomposition(None, y, np.full((5, 1), 0.7), [1.0])
    assert constant.discrimination[0] == pytest.approx(0.0, abs=1e-15)
    assert constant.miscalibration[0] == pytest.approx((0.3 - 0.6) ** 2)
    perfect = cc.brier_decomposition(None, y, 1 - happened[:, None], [1.0])
    assert perfect.miscalibration[0] == pytest.approx(0.0, abs=1e-15)
    assert perfect.discrimination[0] == pytest.approx(perfect.uncertainty[0])
    reverse = cc.brier_decomposition(None, y, happened[:, None], [1.0])
    assert reverse.discrimination[0] == pytest.approx(0.0, abs=1e-15)
    assert reverse.score[0] == pytest.approx(1.0)


def test_where_nobody_counts_or_weights_are_negative_there_are_no_parts():
    for a, b in (([0.0, 0.0], [0.0, 0.0]), ([1.0, -0.5], [0.0, 0.2])):
        section = section_of(a, b, [0.4, 0.6])
        assert np.isnan(cc.metric("miscalibration").value(section))
        assert np.isnan(cc.metric("discrimination").linear(section).value)
