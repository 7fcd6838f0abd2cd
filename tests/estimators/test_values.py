"""Values of Kaplan–Meier and Copula-Graphic from other software and from closed forms."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from lifelines import KaplanMeierFitter
from sksurv.nonparametric import kaplan_meier_estimator

import cocensor as cc
from tests.refusals import refuses
from tests.strategies import outcomes

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "values" / "survfit.json").read_text())
TOY = cc.Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])


@pytest.mark.parametrize(
    ("copula", "expected"),
    [
        (cc.Independence(), [0.875, 0.7291666667, 0.546875, 0.2734375]),
        (cc.Clayton(18.0), [0.875, 0.6262461566, 0.3751157497, 0.1250000265]),
        (cc.Frank(9.0), [0.875, 0.6524244298, 0.4050033658, 0.1476406533]),
        # R's α = 9 is the textbook θ = 10
        (cc.Gumbel(10.0), [0.875, 0.6252174789, 0.3761367801, 0.1254411401]),
    ],
)
def test_toy_of_the_r_package_compound_cox(copula, expected):
    cg = cc.CopulaGraphic(copula).fit(TOY)
    np.testing.assert_allclose(cg.predict([1, 4, 7, 10]), expected, atol=1e-9)


def test_kaplan_meier_against_survfit():
    km = cc.KaplanMeier().fit((ORACLE["time"], ORACLE["event"]))
    at = ORACLE["at"]
    np.testing.assert_allclose(km.predict(at), ORACLE["survival"], rtol=1e-12)
    np.testing.assert_allclose(np.sqrt(km.variance(at)), ORACLE["std_error"], rtol=1e-12)
    lower, upper = km.confidence_interval(at)
    np.testing.assert_allclose(lower, ORACLE["lower"], rtol=1e-10)
    np.testing.assert_allclose(upper, ORACLE["upper"], rtol=1e-10)
    assert km.quantile(0.5) == ORACLE["median"][0]


def test_restricted_mean_and_its_standard_error_against_survfit():
    km = cc.KaplanMeier().fit((ORACLE["time"], ORACLE["event"]))
    assert km.rmst(20.0) == pytest.approx(ORACLE["rmean_20"][0], rel=1e-12)
    # From c = 0 the restricted margin time is the restricted mean.
    assert km.margin_time(0.0, horizon=20.0) == pytest.approx(km.rmst(20.0), rel=1e-12)
    assert np.sqrt(km.margin_time_variance(0.0, 20.0)) == pytest.approx(ORACLE["se_rmean_20"][0], rel=1e-10)


def test_censoring_margin_against_prodlim_with_events_first():
    km = cc.KaplanMeier(of="dropout").fit((ORACLE["time"], ORACLE["event"]))
    np.testing.assert_allclose(km.predict(ORACLE["censoring_at"]), ORACLE["censoring_survival"], rtol=1e-12)


@given(outcomes(min_size=2))
def test_kaplan_meier_against_lifelines(y):
    assume(y.n_events)
    peer = KaplanMeierFitter().fit(y.time, y.event)
    times = np.unique(y.time)
    km = cc.KaplanMeier().fit(y)
    expected = peer.survival_function_at_times(times).to_numpy()
    np.testing.assert_allclose(km.predict(times), expected, atol=1e-12)


def test_kaplan_meier_against_scikit_survival():
    rng = np.random.default_rng(3)
    y = cc.Survival(np.round(rng.exponential(10, 300)), rng.random(300) < 0.6)
    times, survival = kaplan_meier_estimator(y.event, y.time)
    np.testing.assert_allclose(cc.KaplanMeier().fit(y).predict(times), survival, atol=1e-13)


def exponential_sample(n):
    """Times at the quantiles of a standard exponential, all events, as exact as n allows."""
    return cc.Survival(-np.log1p(-(np.arange(n) + 0.5) / n), np.ones(n, bool))


def test_margin_time_of_an_exponential_is_c_plus_the_mean():
    km = cc.KaplanMeier().fit(exponential_sample(1_000_000))
    np.testing.assert_allclose(km.margin_time([0.0, 0.5, 2.0]), [1.0, 1.5, 3.0], atol=1e-4)
    # cut at 0.5, an exponential tail puts the missing mean back
    cut = cc.Survival.from_latent(km.survival_.times, 0.5)
    tailed = cc.KaplanMeier().fit(cut)
    np.testing.assert_allclose(tailed.margin_time([0.0, 0.2], tail="exponential"), [1.0, 1.2], atol=1e-5)


def test_restricted_margin_time_by_hand():
    km = cc.KaplanMeier().fit(TOY)  # .875, .729…, .546875, .2734375 from 1, 4, 7, 10; t_max 13
    s1, s4, s7, s10 = km.predict([1, 4, 7, 10])
    assert km.margin_time(3.0) == pytest.approx(3 + (1 * s1 + 3 * s4 + 3 * s7 + 3 * s10) / s1)
    assert km.margin_time(3.0, horizon=8.0) == pytest.approx(3 + (1 * s1 + 3 * s4 + 1 * s7) / s1)
    assert km.margin_time(13.0) == 13.0
    # The authors' polygon: knots at all observed times, S(13) forced to 0.
    area = s1 * 0 + (s1 + s4) / 2 + (s4 + s4) / 2 + (s4 + s7) + s7 + (s7 + s10) + (s10 + 0) / 2 * 3
    assert km.margin_time(3.0, interpolation="linear") == pytest.approx(3 + area / s1)
    # From between two knots the polygon starts on the step: (c, S(c)).
    area_from_6 = (s4 + s7) / 2 + s7 + (s7 + s10) + s10 / 2 * 3
    assert km.margin_time(6.0, interpolation="linear") == pytest.approx(6 + area_from_6 / s4)
    # cut at 9, half way down the line from 8 to 10
    area_to_9 = (s4 + s7) / 2 + s7 + (s7 + (s7 + s10) / 2) / 2
    assert km.margin_time(6.0, horizon=9.0, interpolation="linear") == pytest.approx(6 + area_to_9 / s4)
    # with a tail the last point stays where it is
    tail = s10 * 13 / -np.log(s10)
    area_tail = area_from_6 - s10 / 2 * 3 + s10 * 3 + tail
    assert km.margin_time(6.0, interpolation="linear", tail="exponential") == pytest.approx(
        6 + area_tail / s4
    )


def test_the_polygon_grows_steadily_with_the_horizon():
    km = cc.KaplanMeier().fit(TOY)
    horizons = [12.0, 12.9999999, 13.0]
    times = [km.margin_time(6.0, horizon=h, interpolation="linear") for h in horizons]
    assert times[0] < times[1] <= times[2]
    assert times[2] == km.margin_time(6.0, interpolation="linear")
    assert times[1] == pytest.approx(times[2], abs=1e-6)


@pytest.mark.parametrize("tau", [0.995, 0.997, 0.999, 0.9999])
@pytest.mark.parametrize("family", [cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe])
def test_at_comonotone_strength_the_curve_counts_who_is_left(family, tau):
    """As τ goes to 1, E and C come together: S_E after an event is the share still at risk."""
    cg = cc.CopulaGraphic(family.from_tau(tau)).fit(TOY)
    np.testing.assert_allclose(cg.predict([1, 4, 7, 10]), [0.875, 0.625, 0.375, 0.125], atol=1e-3)
    assert np.isfinite(cg.variance([1, 4, 7, 10])).all()


def test_tails_of_the_margin_time():
    km = cc.KaplanMeier().fit(TOY)
    last, known = km.predict(13.0), km.rmst(13.0)
    extra = {
        "zero": 0.0,
        "linear": 0.5 * last * (13 / (1 - last) - 13),
        "exponential": last * 13 / -np.log(last),
    }
    for tail, area in extra.items():
        assert km.margin_time(0.0, tail=tail) == pytest.approx(known + area)
    assert km.margin_time(0.0, horizon=20.0, tail="last") == pytest.approx(known + 7 * last)
    assert km.rmst(20.0, tail="last") == pytest.approx(known + 7 * last)
    # beyond the support a constant hazard leaves its mean
    assert km.margin_time(15.0, tail="exponential") == pytest.approx(15 + 13 / -np.log(last))
    refuses(lambda: km.margin_time(0.0, tail="last"), "'last'", "mean")


def test_given_the_censoring_at_the_closed_form():
    """Clayton θ = 4, Exp(1) margins, c = 1: P(E > 1.5 given C = 1, E > 1) = 0.1651."""
    copula = cc.Clayton(4.0)
    s_t, s_c = np.exp(-1.5), np.exp(-1.0)
    assert copula.hfunc2(s_t, s_c) / copula.hfunc2(s_c, s_c) == pytest.approx(0.1651, abs=5e-5)
    u, v = copula.sample(200_000, rng=1).T
    cg = cc.CopulaGraphic(copula).fit(cc.Survival.from_latent(-np.log(u), -np.log(v)))
    assert cg.conditional_survival(1.5, 1.0, given="dropout") == pytest.approx(0.1651, abs=0.01)
    assert cg.conditional_survival(1.5, 1.0) == pytest.approx(np.exp(-0.5), abs=0.01)
    administrative = copula.cdf(s_t, s_c) / copula.cdf(s_c, s_c)
    assert cg.conditional_survival(1.5, 1.0, "administrative") == pytest.approx(administrative, abs=0.01)
