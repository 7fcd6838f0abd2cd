"""Identities of the estimators, on data full of ties."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cocensor as cc
from tests.strategies import archimedean, member_id, members, outcomes

STRONG = members(
    [f for f in cc.copulas.copula_families().values() if f is not cc.Gaussian],
    taus=(-0.99, -0.5, 0.0, 1e-9, 1e-3, 0.3, 0.8, 0.99),
)


@given(outcomes(), archimedean())
def test_the_two_margins_give_back_the_share_at_risk(y, copula):
    event, dropout = (cc.CopulaGraphic(copula, of).fit(y) for of in ("event", "dropout"))
    times = y.risk_table.times
    joint = copula.cdf(event.predict(times), dropout.predict(times))
    shares = np.array([np.mean(y.time > t) for t in times])
    np.testing.assert_allclose(joint, shares, atol=1e-12)


@given(outcomes(administrative=True), archimedean())
def test_the_same_with_administrative_censoring(y, copula):
    """Then the joint curve is the Kaplan–Meier estimate of min(E, C)."""
    event, dropout = (cc.CopulaGraphic(copula, of).fit(y) for of in ("event", "dropout"))
    first = cc.KaplanMeier().fit(cc.Survival(y.time, y.event | ~y.administrative))
    times = y.risk_table.times
    joint = copula.cdf(event.predict(times), dropout.predict(times))
    # Tied exits one after the other: 1 − (d + m)/n is (1 − d/n)(1 − m/(n − d)).
    np.testing.assert_allclose(joint, first.predict(times), atol=1e-12)


@pytest.mark.parametrize("theta", [1e-12, 1e-100, 1e-289, 1e-291, 1e-310, 5e-324])
@pytest.mark.parametrize("family", [cc.Clayton, cc.Frank])
def test_next_to_independence_it_is_kaplan_meier(family, theta):
    y = cc.Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
    expected = cc.KaplanMeier().fit(y).predict(y.time)
    found = cc.CopulaGraphic(family(theta)).fit(y).predict(y.time)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    assert family(theta).cdf(0.3, 0.6) == pytest.approx(0.18, abs=1e-11)


@given(outcomes(administrative=True))
def test_copula_graphic_at_independence_is_kaplan_meier(y):
    km = cc.KaplanMeier().fit(y)
    times = y.risk_table.times
    positive = km.predict(times) > 0
    for copula in (cc.Independence(), cc.Clayton(0), cc.Frank(0), cc.Gumbel(1), cc.Joe(1)):
        cg = cc.CopulaGraphic(copula).fit(y)
        np.testing.assert_allclose(cg.predict(times), km.predict(times), atol=1e-12)
        np.testing.assert_allclose(cg.variance(times), km.variance(times), atol=1e-12)
        c = times[positive]
        np.testing.assert_allclose(cg.margin_time(c), km.margin_time(c), atol=1e-12)


@given(outcomes())
def test_marking_nobody_as_administrative_changes_nothing(y):
    marked = cc.Survival(y.time, y.event, np.zeros(len(y), bool))
    times = y.risk_table.times
    for copula in (cc.Clayton(3.0), cc.Frank(-4.0), cc.Gumbel(2.0), cc.Joe(5.0)):
        for of in ("event", "dropout"):
            a, b = (cc.CopulaGraphic(copula, of).fit(each) for each in (y, marked))
            np.testing.assert_allclose(a.predict(times), b.predict(times), atol=1e-12)
            np.testing.assert_allclose(a.variance(times), b.variance(times), atol=1e-12)


@given(outcomes(administrative=True))
def test_variance_at_independence_is_greenwood_with_ties(y):
    table = y.risk_table
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.cumsum(table.events / (table.at_risk * (table.at_risk - table.events)))
        km = cc.KaplanMeier().fit(y)
        greenwood = km.predict(table.times) ** 2 * terms
    np.testing.assert_allclose(km.variance(table.times), greenwood, rtol=1e-12, atol=1e-16)


@given(outcomes(min_size=2), archimedean(), st.randoms(use_true_random=False))
def test_permutation_and_scale_invariance(y, copula, random):
    rows = list(range(len(y)))
    random.shuffle(rows)
    cg = cc.CopulaGraphic(copula).fit(y)
    shuffled = cc.CopulaGraphic(copula).fit(y[rows])
    scaled = cc.CopulaGraphic(copula).fit(cc.Survival(y.time * 8.0, y.event))
    np.testing.assert_array_equal(cg.survival_.values, shuffled.survival_.values)
    np.testing.assert_array_equal(cg.survival_.values, scaled.survival_.values)
    np.testing.assert_array_equal(cg.survival_.times * 8.0, scaled.survival_.times)


@pytest.mark.filterwarnings("ignore::cocensor.warnings.TiedTimesWarning")
@given(outcomes(administrative=True), archimedean())
def test_a_survival_curve_is_one(y, copula):
    cg = cc.CopulaGraphic(copula).fit(y)
    values = cg.survival_.values
    assert np.isfinite(values).all()
    assert ((values >= 0) & (values < 1)).all()
    assert (np.diff(values) <= 0).all()
    times = y.risk_table.times
    lower, upper = cg.confidence_interval(times)
    survival = cg.predict(times)
    known = survival > 0
    assert np.isnan(lower[~known]).all()
    assert ((lower <= survival + 1e-15) & (survival <= upper + 1e-15))[known].all()
    assert ((lower >= 0) & (upper <= 1))[known].all()


@given(outcomes(min_size=3, max_size=25), archimedean(), st.data())
def test_given_the_censoring_the_mean_is_the_margin(y, copula, data):
    """Over the fitting sample the mean of P(E > t given what is seen) is S_E(t)."""
    assume(not y.event.all())
    cg = cc.CopulaGraphic(copula).fit(y)
    t = data.draw(st.sampled_from(list(y.risk_table.times)))
    censored = y.time[~y.event]
    status = (y.time > t).astype(float)
    status[~y.event] = cg.conditional_survival(t, censored, given="dropout")
    assert np.mean(status) == pytest.approx(cg.predict(t), abs=1e-12)


@given(outcomes(min_size=2, administrative=True), archimedean())
def test_conditional_survival_is_a_survival_curve_that_starts_at_c(y, copula):
    cg = cc.CopulaGraphic(copula).fit(y)
    times = y.risk_table.times
    dropouts = ~y.event & ~y.administrative
    assume(dropouts.any())
    c = np.unique(y.time[dropouts])
    assume((cg.predict(c) > 0).all())
    for given_ in ("event_free", "dropout", "administrative"):
        if given_ == "administrative":  # somebody must be left
            c = c[cc.CopulaGraphic(copula, "dropout").fit(y).predict(c) > 0]
        q = cg.conditional_survival(times[None, :], c[:, None], given=given_)
        assert ((q >= 0) & (q <= 1)).all()
        assert (np.diff(q, axis=1) <= 1e-9).all()
        np.testing.assert_array_equal(q[times[None, :] <= c[:, None]], 1.0)


@given(outcomes(min_size=2), outcomes(min_size=2), archimedean(), st.floats(0.0, 1.0))
def test_exact_expansion_of_the_margin_time(y, other, copula, share):
    """The paper's lemma: T(S + h) − T(S) is its derivative at h plus the stated remainder, exactly.

    S and S + h are two fitted curves; areas are summed here over half-units, on which all times lie.
    """
    first, second = (cc.CopulaGraphic(copula).fit(each) for each in (y, other))
    t0 = min(first.t_max_, second.t_max_)
    c = np.floor(2 * share * t0) / 2
    s, moved = first.predict(c), second.predict(c)
    assume(min(s, moved) > 1e-3)
    cells = np.arange(c, t0, 0.5)
    area, moved_area = (0.5 * np.sum(each.predict(cells)) for each in (first, second))
    h, gain = moved - s, moved_area - area
    derivative = gain / s - area / s**2 * h
    remainder = -gain * h / s**2 + moved_area * h**2 / (s**2 * (s + h))
    difference = second.margin_time(c, t0) - first.margin_time(c, t0) if t0 > 0 else 0.0
    assert difference == pytest.approx(derivative + remainder, abs=1e-7)


@pytest.mark.parametrize("copula", STRONG, ids=member_id)
@pytest.mark.parametrize("kind", ["ties", "continuous", "events", "last_event", "last_censored"])
def test_robust_at_every_strength_of_dependence(copula, kind):
    rng = np.random.default_rng(5)
    n = 100_000
    time = rng.exponential(size=n)
    event = rng.random(n) < 0.4
    if kind == "ties":
        time = np.ceil(time * 5)
    elif kind == "events":
        event[:] = True
    elif kind == "last_event":
        event[np.argmax(time)] = True
    elif kind == "last_censored":
        event[np.argmax(time)] = False
    y = cc.Survival(time, event)
    for of in ("event", "dropout"):
        cg = cc.CopulaGraphic(copula, of).fit(y)
        values = cg.survival_.values
        assert np.isfinite(values).all()
        assert (np.diff(values) <= 0).all()
        if values.size:
            assert 0 <= values[-1] <= values[0] < 1
        known = values > 0
        variance = cg.variance(cg.survival_.times)
        assert np.isfinite(variance[known]).all()
        assert (variance[known] > 0).all()
        if known.any():
            t0 = float(cg.survival_.times[known][-1])
            margin_variance = cg.margin_time_variance(np.linspace(0, 0.9 * t0, 7), t0)
            assert np.isfinite(margin_variance).all()
            assert (margin_variance >= 0).all()


@pytest.mark.parametrize("copula", STRONG, ids=member_id)
def test_a_million_subjects(copula):
    rng = np.random.default_rng(6)
    n = 1_000_000
    y = cc.Survival(rng.exponential(size=n), rng.random(n) < 0.5)
    values = cc.CopulaGraphic(copula).fit(y).survival_.values
    assert np.isfinite(values).all()
    assert (np.diff(values) <= 0).all()
    assert ((values >= 0) & (values < 1)).all()


@pytest.mark.parametrize("copula", STRONG, ids=member_id)
def test_all_censored_is_one_throughout(copula):
    y = cc.Survival([1.0, 2.0, 3.0], [0, 0, 0])
    cg = cc.CopulaGraphic(copula).fit(y)
    np.testing.assert_array_equal(cg.predict([0, 1, 3]), 1.0)
    np.testing.assert_array_equal(cg.variance([0, 1, 3]), 0.0)
    lower, upper = cg.confidence_interval(2.0)
    assert upper == 1.0
    # The two who are left at 2 of three stay event-free with the chance [C(S, S_C)/S_C]².
    assert copula.cdf(lower, 2.0 / 3.0) == pytest.approx(2.0 / 3.0 * np.sqrt(0.025), rel=1e-9)
    assert cg.margin_time(1.0) == 3.0
    assert cg.margin_time_variance(1.0, 3.0) == 0.0
    assert cg.rmst(3.0) == 3.0


@pytest.mark.parametrize("copula", STRONG, ids=member_id)
@pytest.mark.parametrize("event", [True, False])
def test_one_subject(copula, event):
    cg = cc.CopulaGraphic(copula).fit(cc.Survival([2.0], [event]))
    np.testing.assert_array_equal(cg.predict([1.0, 2.0]), [1.0, 1.0 - event])
    if event:
        assert cg.quantile(0.5) == 2.0
        assert cg.predict(99.0) == 0.0
        assert np.isnan(cg.variance(2.0))


@pytest.mark.parametrize("copula", STRONG, ids=member_id)
def test_without_censoring_every_copula_gives_the_empirical_curve(copula):
    y = cc.Survival([1, 2, 2, 4, 9], np.ones(5, bool))
    cg = cc.CopulaGraphic(copula).fit(y)
    np.testing.assert_allclose(cg.predict([1, 2, 4, 9]), [0.8, 0.4, 0.2, 0.0], atol=1e-12)
    binomial = np.array([0.8, 0.4, 0.2]) * np.array([0.2, 0.6, 0.8]) / 5
    np.testing.assert_allclose(cg.variance([1, 2, 4]), binomial, rtol=1e-9)
