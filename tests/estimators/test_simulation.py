"""Samples with a known truth: what Kaplan–Meier gets wrong, the Copula-Graphic estimator gets right."""

import numpy as np
import pytest

import cocensor as cc
from benchmarks.coverage.curves import COPULAS, coverage
from tests.strategies import member_id, members

DEPENDENT = members([cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe], taus=(0.25, 0.5, 0.75))
TIMES = np.array([0.3, 0.7, 1.2])


def errors_in_standard_errors(estimator, survival, times):
    return (estimator.predict(times) - survival) / np.sqrt(estimator.variance(times))


@pytest.mark.parametrize("copula", DEPENDENT, ids=member_id)
def test_copula_graphic_finds_the_margin_that_kaplan_meier_misses(copula):
    u, v = copula.sample(50_000, rng=4).T
    y = cc.Survival.from_latent(-np.log(u), -1.2 * np.log(v))
    graphic = errors_in_standard_errors(cc.CopulaGraphic(copula).fit(y), np.exp(-TIMES), TIMES)
    assert np.abs(graphic).max() < 4
    naive = errors_in_standard_errors(cc.KaplanMeier().fit(y), np.exp(-TIMES), TIMES)
    assert naive.min() > 5
    # and so for the dropouts
    dropout = cc.CopulaGraphic(copula, of="dropout").fit(y)
    errors = errors_in_standard_errors(dropout, np.exp(-TIMES / 1.2), TIMES)
    assert np.abs(errors).max() < 4


@pytest.mark.parametrize("copula", DEPENDENT, ids=member_id)
def test_staggered_entry_must_be_marked_as_administrative(copula):
    u, v = copula.sample(50_000, rng=8).T
    end = np.random.default_rng(9).uniform(0.0, 2.5, size=u.size)
    y = cc.Survival.from_latent(-np.log(u), -1.2 * np.log(v), study_end=end)
    marked = errors_in_standard_errors(cc.CopulaGraphic(copula).fit(y), np.exp(-TIMES), TIMES)
    assert np.abs(marked).max() < 4
    unmarked = cc.CopulaGraphic(copula).fit(cc.Survival(y.time, y.event))
    assert errors_in_standard_errors(unmarked, np.exp(-TIMES), TIMES).min() < -4


@pytest.mark.parametrize("copula", DEPENDENT, ids=member_id)
def test_given_the_censoring_matches_the_latent_events(copula):
    """Among those who dropped out around c, the share still event-free at t is the conditional survival."""
    u, v = copula.sample(400_000, rng=10).T
    e, c = -np.log(u), -np.log(v)
    cg = cc.CopulaGraphic(copula).fit(cc.Survival.from_latent(e, c))
    around = (np.abs(c - 0.6) < 0.02) & (e > c)
    for t in (0.8, 1.2):
        latent = np.mean(e[around] > t)
        estimate = np.mean(cg.conditional_survival(t, c[around], given="dropout"))
        error = np.sqrt(latent * (1 - latent) / around.sum())
        assert estimate == pytest.approx(latent, abs=4 * error + 0.003)


@pytest.mark.slow
@pytest.mark.parametrize("copula", COPULAS, ids=member_id)
def test_nominal_intervals_cover(copula):
    for shares in coverage(copula):
        assert ((shares >= 0.93) & (shares <= 0.97)).all()


@pytest.mark.parametrize(
    "copula", [cc.Independence(), cc.Gumbel.from_tau(0.75), cc.Clayton.from_tau(0.5)], ids=repr
)
@pytest.mark.parametrize("share", [0.01, 0.03])
def test_intervals_cover_before_the_first_event(copula, share):
    """Where a curve may still be 1: an interval of [1, 1] would cover only those with an event."""
    rng = np.random.default_rng(7)
    repeats, n, t = 400, 100, -np.log1p(-share)
    covered = flat = 0
    for _ in range(repeats):
        e, c = -np.log(copula.sample(n, rng)).T
        cg = cc.CopulaGraphic(copula).fit(cc.Survival.from_latent(e, c))
        lower, upper = cg.confidence_interval(t)
        covered += lower <= 1.0 - share <= upper
        flat += upper == 1.0
    assert flat > 0.02 * repeats
    assert covered / repeats > 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / repeats)


def test_the_interval_before_the_first_event_is_the_binomial_one():
    y = cc.Survival([1.0, 2.0, 3.0, 3.0, 4.0], [0, 0, 1, 0, 1])
    lower, upper = cc.KaplanMeier().fit(y).confidence_interval([0.5, 1.0, 1.5, 2.5], level=0.9)
    np.testing.assert_allclose(lower, 0.05 ** (1.0 / np.array([5, 5, 4, 3])))
    np.testing.assert_array_equal(upper, 1.0)
    # For dropouts, whoever has an event at the same time has gone before.
    events_first = cc.Survival([1.0, 2.0, 2.0, 3.0], [1, 1, 0, 0])
    lower, _ = cc.KaplanMeier(of="dropout").fit(events_first).confidence_interval([1.0, 1.5], level=0.9)
    np.testing.assert_allclose(lower, 0.05 ** (1.0 / 3.0))


def test_the_interval_before_the_first_event_with_ends_of_study():
    """Marked ends of study leave the copula's own dropouts: S_C is Kaplan–Meier's."""
    copula = cc.Clayton(2.0)
    y = cc.Survival([1.0, 2.0, 3.0, 4.0], [0, 0, 0, 1], [1, 0, 0, 0])
    lower, _ = cc.CopulaGraphic(copula).fit(y).confidence_interval(3.0)
    assert copula.cdf(lower, 2.0 / 3.0) == pytest.approx(2.0 / 3.0 * np.sqrt(0.025), rel=1e-9)


def rounded(copula, n, share, rng):
    """Exponential times, rounded up to a share of their median, and the width of the groups."""
    y = cc.Survival.from_latent(*-np.log(copula.sample(n, rng)).T)
    width = share * np.median(y.time)
    return np.ceil(y.time / width) * width, y.event, width


@pytest.mark.parametrize(
    "copula", [cc.Clayton.from_tau(0.5), cc.Frank.from_tau(0.5), cc.Gumbel.from_tau(0.5)], ids=repr
)
def test_a_warning_where_ties_take_the_coverage_and_none_where_they_do_not(copula):
    rng = np.random.default_rng(11)
    time, event, width = rounded(copula, 2000, 0.25, rng)
    at = 3.0 * width
    for of in ("event", "dropout"):
        with pytest.warns(cc.warnings.TiedTimesWarning, match="spread each time"):
            cc.CopulaGraphic(copula, of=of).fit((time, event)).confidence_interval(at)
    # What the warning advises is enough.
    lower, upper = (
        cc.CopulaGraphic(copula).fit((time - width * rng.random(2000), event)).confidence_interval(at)
    )
    assert lower < np.exp(-at) < upper
    cc.KaplanMeier().fit((time, event)).confidence_interval(at)
    time, event, _ = rounded(copula, 2000, 0.01, rng)
    cc.CopulaGraphic(copula).fit((time, event)).confidence_interval(np.quantile(time, [0.25, 0.5, 0.75]))


def test_the_curve_with_dropouts_first_is_that_of_dropouts_a_moment_earlier():
    time, event, _ = rounded(cc.Frank(5.0), 200, 0.25, np.random.default_rng(0))
    y = cc.Survival(time, event)
    earlier = cc.Survival(np.where(event, time, time * (1.0 - 1e-12)), event)
    first = cc.CopulaGraphic(cc.Frank(5.0)).fit(y)._dropouts_first()
    expected = cc.CopulaGraphic(cc.Frank(5.0)).fit(earlier).survival_
    np.testing.assert_allclose(first(np.unique(time)), expected(np.unique(time)), rtol=1e-12)
