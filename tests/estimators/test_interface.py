"""What users meet: refusals, limits, shapes."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import cocensor as cc
from cocensor.estimators.margin import given_dropout
from tests.refusals import refuses

Y = cc.Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])
KM = cc.KaplanMeier().fit(Y)


def conditional(y, *asked):
    return cc.CopulaGraphic(cc.Clayton(1)).fit(y).conditional_survival(*asked)


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: KM.predict([1.0, 14.0]), ("t must", "last observed time 13", "row 1 is 14", "tail")),
        (lambda: KM.predict(14.0, tail="flat"), ("tail", "'flat'")),
        (lambda: KM.predict(-1.0), ("t must", "-1")),
        (lambda: KM.predict(np.nan), ("t must", "nan")),
        (lambda: KM.variance(14.0), ("t must", "13")),
        (lambda: KM.confidence_interval(1.0, level=95), ("level", "95")),
        (lambda: KM.quantile(0.9), ("p must", "0.726562", "tail")),
        (lambda: KM.quantile(0.0), ("p must", "is 0")),
        (lambda: KM.rmst(14.0), ("horizon", "13")),
        (lambda: KM.margin_time(14.0), ("c must", "13")),
        (lambda: KM.margin_time(3.0, horizon=2.0), ("c must", "horizon 2", "is 3")),
        (lambda: KM.margin_time(3.0, horizon=20.0), ("horizon", "13")),
        (lambda: KM.margin_time(3.0, interpolation="cubic"), ("interpolation", "'cubic'")),
        (lambda: KM.margin_time_variance(3.0, 20.0), ("horizon", "13")),
        (lambda: KM.conditional_survival(5, 3, given="x"), ("given", "'x'")),
        (lambda: cc.KaplanMeier().predict(1.0), ("KaplanMeier", "not fitted")),
        (lambda: cc.KaplanMeier(of="both").fit(Y), ("of must", "'both'")),
        (lambda: cc.KaplanMeier(of="dropout").fit(Y).conditional_survival(5, 3), ("of must", "'event'")),
        (lambda: conditional(([1, 2], [1, 1]), 1.5, 1.0, "dropout"), ("dropouts",)),
        (lambda: cc.KaplanMeier().fit(([1, 2], [1, 1])).margin_time(2.0), ("c must", "is 2")),
        (lambda: conditional(([1, 2], [1, 0]), 2, 2, "administrative"), ("c must", "is 2")),
    ],
)
def test_refusals(call, parts):
    refuses(call, *parts, kind=ValueError)


def test_a_gaussian_copula_has_no_graphic_form():
    refuses(lambda: cc.CopulaGraphic(cc.Gaussian(0.5)), "copula", "Archimedean", kind=TypeError)


def test_one_sided_limits_and_tails():
    assert KM.predict(4.0, side="left") == KM.predict(3.9)
    last = KM.predict(13.0)
    np.testing.assert_allclose(KM.predict([13.0, 26.0], tail="exponential"), [last, last**2])
    np.testing.assert_allclose(KM.predict([26.0], tail="zero"), 0.0)
    assert KM.quantile(0.9, tail="zero") == 13.0
    assert float(KM.predict(KM.quantile(0.9, tail="linear"), tail="linear")) == pytest.approx(0.1)


def test_a_curve_that_reached_zero_stays_there():
    km = cc.KaplanMeier().fit(([1, 2], [1, 1]))
    np.testing.assert_array_equal(km.predict([2, 5]), 0.0)
    assert km.rmst(9.0) == 1.5
    assert km.margin_time(0.0, horizon=9.0) == 1.5
    assert np.isnan(km.variance(5.0))


def test_results_have_the_shape_of_the_question():
    assert isinstance(KM.predict(3.0), float)
    t = np.arange(6.0).reshape(2, 3)
    for result in (
        KM.predict(t),
        KM.variance(t),
        KM.margin_time(t),
        KM.margin_time_variance(t, 12.0),
        KM.rmst(t),
    ):
        assert result.shape == (2, 3)
    assert KM.margin_time(t, interpolation="linear").shape == (2, 3)
    assert KM.conditional_survival(t[None, 0], t[0][:, None]).shape == (3, 3)
    assert isinstance(KM.conditional_survival(5.0, 3.0), float)


def test_fit_returns_self_and_forgets_what_it_knew():
    km = cc.KaplanMeier()
    assert km.fit(Y) is km
    km.variance(1.0)
    km.fit(([1.0, 2.0], [True, False]))
    assert km.variance(1.0) == pytest.approx(0.125)
    assert repr(km) == "KaplanMeier(of='event')"
    assert repr(cc.CopulaGraphic(cc.Clayton(2.0))) == "CopulaGraphic(Clayton(theta=2.0), of='event')"


def test_tails_of_curves_that_end_at_zero_or_never_fall():
    at_zero = cc.KaplanMeier().fit(([0, 0, 0], [1, 0, 0]))
    for tail in ("linear", "exponential"):
        np.testing.assert_array_equal(at_zero.rmst([0, 1], tail=tail), 0.0)
        assert at_zero.margin_time(0.0, horizon=1.0, tail=tail) == 0.0
        assert cc.KaplanMeier().fit(([1, 2], [0, 0])).quantile(0.5, tail=tail) == np.inf
    assert at_zero.rmst(3.0, tail="last") == pytest.approx(2.0)


def test_small_quantiles():
    assert KM.quantile(1e-11) == 1.0


def test_only_methods_with_a_tail_advise_one():
    for call in (lambda: KM.variance(14.0), lambda: KM.margin_time_variance(14.0, 20.0)):
        assert "tail" not in refuses(call, "last observed time 13", "0.2734", "14")
    refuses(lambda: KM.conditional_survival([1.0, 2.0], [1.0, 2.0, 3.0]), "t and c", "(2,)", "(3,)")


def test_an_event_at_time_zero():
    km = cc.KaplanMeier().fit(([0, 1, 2], [1, 0, 1]))
    assert km.predict(0.0) == pytest.approx(2 / 3)
    assert km.predict(0.0, side="left") == 1.0
    assert km.rmst(1.0) == pytest.approx(2 / 3)


def test_dropout_before_any_in_the_fitted_sample_uses_the_first_step():
    cg = cc.CopulaGraphic(cc.Gumbel(2.0)).fit(Y)
    early, first = (cg.conditional_survival(7.0, c, "dropout") for c in (0.5, 3.0))
    assert 0 < early <= first < 1


@pytest.mark.parametrize("copula", [cc.Clayton(2.0), cc.Frank(-5.0), cc.Gumbel(100.0), cc.Joe(3.0)], ids=repr)
def test_what_a_dropout_tells_where_the_curves_are_next_to_0_or_1(copula):
    """Without a warning: steps that vanish as cumulative hazards are no steps."""
    levels = np.array([0.0, 5e-324, 1e-300, 1e-200, 1e-16, 0.5, 1.0 - 1e-16, 1.0])
    for below, above in combinations_with_replacement(levels, 2):
        for s_t, s_c in combinations_with_replacement(levels[1:], 2):
            if above > 0:
                found = given_dropout(copula, *(np.array([each]) for each in (s_t, s_c, above, below)))
                assert 0.0 <= found[0] <= 1.0
                assert found[0] == 1.0 or s_t < s_c
