"""A hazard ratio after dropout: what it means, what it is not, and what it is refused with."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.samples import Resample, Samples
from cocensor.simulate import SyntheticDesign
from tests.refusals import refuses

N = 300
DATA = SyntheticDesign(n=N, n_features=2, study_end=(5.0, 25.0)).draw(2)
WHY = np.where(np.arange(N) % 3, "moved", "ill")
Y = cc.Survival(DATA.y.time, DATA.y.event, DATA.y.administrative, WHY)
TIMES = np.linspace(0.0, 15.0, 9)[1:]
CURVES = {"cox": cc.Predictions(TIMES, cc.CoxPH().fit(DATA.X, Y).survival(TIMES, DATA.X))}
FITTED = cc.Imputation("everything").fit(Y, DATA.X, CURVES)
CENSORED = ~Y.event[:, None] & (Y.time[:, None] < TIMES)


def a(ratio, y=Y):
    return FITTED.with_hazard_ratio(ratio).weights(y, TIMES).a


def scores(imputation, n_resamples=None):
    return cc.evaluate(
        CURVES,
        Y,
        DATA.X,
        times=TIMES,
        metrics="ibs",
        adjustments={"imputation": imputation},
        n_resamples=n_resamples,
    ).score("cox")


def test_a_ratio_of_1_is_independence_bit_by_bit():
    plain = FITTED.weights(Y, TIMES).a
    for ratio in (1.0, {"ill": 1.0}, np.ones(N)):
        np.testing.assert_array_equal(a(ratio), plain)
    one, other = scores(cc.Imputation("everything")), scores(cc.Imputation("everything", hazard_ratio=1.0))
    assert (one.value, one.standard_error) == (other.value, other.standard_error)


def test_after_a_dropout_the_hazard_is_a_multiple():
    plain, found = FITTED.weights(Y, TIMES).a, a(2.5)
    gone = Y.dropout[:, None] & CENSORED
    np.testing.assert_allclose(found[gone], plain[gone] ** 2.5, rtol=1e-12)
    np.testing.assert_array_equal(found[~CENSORED], plain[~CENSORED])
    ended = Y.administrative[:, None] & CENSORED
    assert (found[ended] < plain[ended]).all()
    assert (found[ended] > plain[ended] ** 2.5).all()


def test_by_reason_each_has_its_own_and_the_others_none():
    plain, found = FITTED.weights(Y, TIMES).a, a({"ill": 3.0})
    of = {why: Y.dropout & (why == WHY) for why in ("ill", "moved")}
    np.testing.assert_allclose(found[of["ill"]], a(3.0)[of["ill"]], rtol=1e-12)
    np.testing.assert_allclose(found[of["moved"]], plain[of["moved"]], rtol=1e-12)
    # Who is still there would leave for a reason as those did who left.
    share = of["ill"].sum() / Y.dropout.sum()
    ended = Y.administrative
    mixed = share * a(3.0)[ended] + (1.0 - share) * plain[ended]
    np.testing.assert_allclose(found[ended], mixed, rtol=1e-10)
    both = a({"ill": 3.0, "moved": 3.0})
    np.testing.assert_allclose(both, a(3.0), rtol=1e-12)


def test_one_number_for_each_subject():
    ratio = np.where(np.arange(N) < 100, 3.0, 1.0)
    np.testing.assert_allclose(a(ratio)[:100], a(3.0)[:100], rtol=1e-12)
    np.testing.assert_allclose(a(ratio)[100:], FITTED.weights(Y, TIMES).a[100:], rtol=1e-12)


def test_a_dropout_at_0_was_never_seen_to_drop_out():
    y = cc.Survival(np.where(np.arange(N) < 2, 0.0, Y.time), np.where(np.arange(N) < 2, False, Y.event))
    with pytest.warns(cc.warnings.FitWarning):
        fitted = cc.Imputation("everything", hazard_ratio=2.0).fit(y, DATA.X, CURVES)
    found = fitted.weights(y, TIMES)
    whole = found.model.survival(TIMES, fitted.design.matrix[:2])
    assert ((whole**2 < found.a[:2]) & (found.a[:2] < whole)).all()


def test_few_dropouts_need_no_margin_of_their_own():
    """Nobody is taken to drop out later, but those who did have their ratio."""
    few = Y.dropout & (np.cumsum(Y.dropout) <= 3)
    y = cc.Survival(Y.time, Y.event, ~Y.event & ~few)
    fitted = cc.Imputation("everything", hazard_ratio=2.0).fit(y, DATA.X, CURVES)
    plain = fitted.with_hazard_ratio(None).weights(y, TIMES).a
    found = fitted.weights(y, TIMES).a
    np.testing.assert_allclose(found[few], plain[few] ** 2, rtol=1e-12)
    np.testing.assert_allclose(found[~few], plain[~few], rtol=1e-12)


def test_another_copula_is_fitted_again_and_independence_is_not():
    assert FITTED.with_hazard_ratio(2.0).joint is FITTED.joint
    dependent = cc.Imputation("everything", cc.Clayton(1.0)).fit(Y, DATA.X, CURVES).with_hazard_ratio(2.0)
    np.testing.assert_allclose(dependent.weights(Y, TIMES).a, a(2.0), atol=1e-6)
    assert not dependent.adjustment.rests_on_copula
    refuses(lambda: dependent.with_copula(cc.Clayton(1.0)), "does not rest on a copula")


def test_who_takes_a_ratio():
    model = cc.fit_joint(DATA.X, Y, cc.Clayton(1.0))
    assert cc.Imputation("covariates", "frank").takes_hazard_ratio
    assert cc.Imputation("covariates", model=cc.fit_joint(DATA.X, Y)).takes_hazard_ratio
    for each in (cc.IPCW(), cc.Imputation(), cc.Imputation("covariates", model=model)):
        assert not each.takes_hazard_ratio
        refuses(lambda each=each: each.fit(Y, DATA.X).with_hazard_ratio(2.0), "hazard ratio")


def test_refusals():
    def make(**settings):
        return lambda: cc.Imputation("everything", **settings)

    refuses(make(hazard_ratio=0.0), "hazard_ratio", "0")
    refuses(make(hazard_ratio=np.inf), "hazard_ratio", "inf")
    refuses(make(hazard_ratio={"ill": -1.0}), "hazard_ratio['ill']", "-1")
    refuses(make(hazard_ratio={}), "hazard_ratio", "empty")
    refuses(make(hazard_ratio=[1.0, np.nan]), "hazard_ratio", "nan")
    refuses(make(hazard_ratio=2.0, copula=cc.Clayton(1.0)), "copula", "Clayton")
    refuses(make(hazard_ratio=2.0, copula="frank"), "copula", "frank")
    refuses(lambda: cc.Imputation(hazard_ratio=2.0), "hazard_ratio", "nothing is given")
    refuses(lambda: FITTED.with_hazard_ratio({"sick": 2.0}), "'sick'", "'moved', 'ill'", "y_test")
    refuses(lambda: a(np.ones(3)), "hazard_ratio", "3")
    bare = cc.Imputation("everything", hazard_ratio={"ill": 2.0})
    refuses(lambda: bare.fit(DATA.y, DATA.X, CURVES), "reason", "y_test")


@pytest.mark.parametrize(
    "ratio", [3.0, {"ill": 3.0}, np.linspace(0.5, 3.0, N)], ids=["all", "reason", "subject"]
)
def test_a_resample_keeps_the_ratio_of_each(ratio):
    fitted = FITTED.with_hazard_ratio(ratio)
    samples = Samples.of(Y, DATA.X)
    drawn = Resample.draw(samples, np.random.default_rng(0))
    again = fitted.resampled(drawn, {"cox": CURVES["cox"]})
    assert again.adjustment.hazard_ratio is not None
    # The fit held as it was, a drawn subject has the chances that it had.
    same = replace(again, joint=fitted.joint, design=fitted.design[drawn.test])
    gone = Y.dropout[drawn.test]
    np.testing.assert_allclose(
        same.weights(Y[drawn.test], TIMES).a[gone], fitted.weights(Y, TIMES).a[drawn.test][gone], rtol=1e-12
    )
    assert np.isfinite(again.weights(Y[drawn.test], TIMES).a).all()


def test_at_the_true_ratio_the_score_is_that_of_the_truth():
    """And far from it without one."""
    design = SyntheticDesign(n=3000, n_features=3, hazard_ratio=4.0, study_end=(5.0, 25.0))
    data = design.draw(5)
    train, test = data[:1000], data[1000:]
    times = np.linspace(0.0, np.quantile(train.y.time, 0.9), 21)[1:]
    curves = {"cox": cc.Predictions(times, cc.CoxPH().fit(train.X, train.y).survival(times, test.X))}
    imputations = {
        "truth": cc.Oracle(test.event_time),
        "ratio": cc.Imputation("everything", hazard_ratio=4.0),
        "independence": cc.Imputation("everything"),
    }
    result = cc.evaluate(curves, test.y, test.X, times=times, metrics="ibs", adjustments=imputations)
    score = {name: result.score("cox", adjustment=name) for name in imputations}
    error = score["ratio"].standard_error
    assert abs(score["ratio"].value - score["truth"].value) < error
    assert abs(score["independence"].value - score["truth"].value) > 3.0 * error


def test_the_ratio_right_after_leaving():
    def ratio(adjustment):
        return adjustment.fit(Y, DATA.X, CURVES).weights(Y, TIMES).hazard_ratio

    assert ratio(cc.Imputation("everything")) == 1.0
    assert ratio(cc.Imputation()) == 1.0
    for tau in (0.2, 0.5):
        for given in ((), "everything"):
            found = ratio(cc.Imputation(given, cc.Clayton.from_tau(tau)))
            assert found == pytest.approx((1 + tau) / (1 - tau), rel=1e-9)
    assert ratio(cc.Imputation("everything", hazard_ratio=2.5)) == pytest.approx(2.5)
    gone = Y.dropout & (Y.time < TIMES[-1])
    mean = np.exp(np.log(3.0) * np.mean(WHY[gone] == "ill"))
    assert ratio(cc.Imputation("everything", hazard_ratio={"ill": 3.0})) == pytest.approx(mean)
    assert ratio(cc.IPCW()) is None
    assert ratio(cc.Imputation((), cc.Clayton(1.0), "event_free")) is None
    nobody = cc.Survival(Y.time, Y.event, ~Y.event)
    assert cc.Imputation("everything").fit(nobody, DATA.X, CURVES).weights(nobody, TIMES).hazard_ratio is None


def test_what_is_assumed_is_said():
    assert "2.5 times" in cc.Imputation("everything", hazard_ratio=2.5).assumption
    assert "3 times (ill)" in cc.Imputation("everything", hazard_ratio={"ill": 3}).assumption
