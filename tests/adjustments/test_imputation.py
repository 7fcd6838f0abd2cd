"""Margin times, imputation from margins and dependent IPCW by hand."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.dependent_ipcw import SMALLEST_CHANCE
from cocensor.simulate import SyntheticDesign
from tests.refusals import refuses

TOY = cc.Survival([1, 3, 5, 4, 7, 8, 10, 13], [1, 0, 0, 1, 1, 0, 1, 0])


def test_margin_times_and_uncertainty_weights_by_hand():
    copula = cc.Clayton(2.0)
    margin = cc.CopulaGraphic(copula).fit(TOY)
    test = cc.Survival([3.0, 6.0, 6.0, 12.5], [0, 0, 1, 0])
    times = [2.0, 6.5, 8.5, 11.0]
    for between in ("step", "linear"):
        e = [margin.margin_time(c, interpolation=between) for c in (3.0, 6.0)]
        until = np.array([e[0], e[1], 6.0, np.inf])  # the last is censored after all times asked for
        plain = cc.adjustments.MarginTime(copula, interpolation=between).fit(TOY).weights(test, times)
        np.testing.assert_array_equal(plain.a, until[:, None] > times)
        weighted = cc.adjustments.MarginTime(copula, "uncertainty", between).fit(TOY).weights(test, times)
        w = 1 - np.array([margin.predict(3.0), margin.predict(6.0), 0.0, margin.predict(12.5)])
        np.testing.assert_allclose(weighted.a, w[:, None] * (until[:, None] > times))
        np.testing.assert_allclose(weighted.b, w[:, None] * (until[:, None] <= times))
        assert weighted.normaliser == pytest.approx(w.sum())


def test_imputation_from_margins_is_the_conditional_survival_of_the_margin():
    test = cc.Survival([3.0, 6.0, 6.0, 2.0, 9.0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0])
    times = np.array([1.0, 2.5, 7.0, 8.0])
    for copula in (cc.Clayton(2.0), cc.Frank(-3.0), cc.Gumbel(3.0), cc.Joe(2.0)):
        margin = cc.CopulaGraphic(copula).fit(TOY)
        status = cc.Imputation((), copula).fit(TOY).weights(test, times)
        for row, given in ((0, "dropout"), (1, "dropout"), (3, "administrative")):
            expected = margin.conditional_survival(times, test.time[row], given=given)
            np.testing.assert_allclose(status.a[row], expected, atol=1e-12)
        np.testing.assert_array_equal(status.a[2], [1, 1, 0, 0])
        np.testing.assert_array_equal(status.a[4], 1.0)  # censored after all times asked for
        forgetful = cc.Imputation((), copula, "event_free").fit(TOY).weights(test, times)
        for row in (0, 1, 3):
            expected = margin.conditional_survival(times, test.time[row])
            np.testing.assert_allclose(forgetful.a[row], expected, atol=1e-12)


def test_dependent_weights_by_hand():
    copula = cc.Clayton(1.0)
    event, censoring = (cc.CopulaGraphic(copula, of).fit(TOY) for of in ("event", "dropout"))
    test = cc.Survival([4.0, 6.0, 9.0], [1, 1, 0])
    status = cc.DependentIPCW(copula).fit(TOY).weights(test, [6.5])
    above, below, v = event.predict(4, "left"), event.predict(4), censoring.predict(4, "left")
    on_a_step = (above - below) / (copula.cdf(above, v) - copula.cdf(below, v))
    between = 1 / copula.hfunc1(event.predict(6), censoring.predict(6, "left"))
    np.testing.assert_allclose(status.b[:, 0], [on_a_step, between, 0.0], rtol=1e-12)
    np.testing.assert_allclose(status.a, 1 - status.b)


def test_the_end_of_the_study_divides_event_weights():
    y = cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0], [0, 1, 0, 0])
    status = cc.DependentIPCW().fit(y).weights(y, [3.5])
    # one of three ends at 2: an event at 3 outlasted that with chance 2/3
    np.testing.assert_allclose(status.b[:, 0], [1.0, 0.0, 1.5, 0.0])


def test_dependent_ipcw_stops_with_a_warning():
    rng = np.random.default_rng(0)
    e, c = rng.exponential(size=5000), rng.exponential(0.2, size=5000)
    y = cc.Survival.from_latent(e, c)
    adjustment = cc.DependentIPCW().fit(y)
    stop = adjustment.weights(y, [0.1]).valid_until
    G = cc.KaplanMeier(of="dropout").fit(y)
    assert G.predict(stop) < SMALLEST_CHANCE < G.predict(stop * 0.9)
    with pytest.warns(cc.warnings.HorizonWarning, match=f"from time {stop:.4g} on .* 5%"):
        scores = cc.brier_score(y, y, np.full((5000, 2), 0.5), [0.1, 1.5], adjustment=adjustment)
    assert np.isfinite(scores[0])
    assert np.isnan(scores[1])
    same = np.full((5000, 2), 0.5)
    with pytest.warns(cc.warnings.HorizonWarning):
        refuses(
            lambda: cc.integrated_brier_score(y, y, same, [0.1, 1.5], adjustment=adjustment),
            "times must not pass 1.5",
        )


def test_dependent_ipcw_stops_where_dropouts_follow_the_last_event():
    time = np.concatenate(([1.0, 2.0], np.linspace(3, 10, 100)))
    train = cc.Survival(time, np.arange(102) < 2)
    test = cc.Survival([2.5, 9.95, 9.99], [1, 1, 1])
    with pytest.warns(cc.warnings.HorizonWarning, match="from time 9.95 on"):
        status = cc.DependentIPCW(cc.Clayton(0.5)).fit(train).weights(test, [9.0, 9.97])
    assert np.isfinite(status.a[:, 0]).all()
    assert np.isnan(status.a[:, 1]).all()


def test_dependent_ipcw_stops_where_the_study_has_ended_for_most():
    time = np.concatenate((np.linspace(0.1, 1, 50), np.full(345, 2.0), np.linspace(3, 4, 5)))
    event = np.r_[np.ones(50), np.zeros(345), np.ones(5)].astype(bool)
    train = cc.Survival(time, event, ~event)
    with pytest.warns(cc.warnings.HorizonWarning, match="from time 3 on"):
        status = cc.DependentIPCW().fit(train).weights(train, [1.0, 3.5])
    assert status.valid_until == 3.0


def test_who_is_censored_after_the_last_training_time_has_the_event_then_and_that_is_noted():
    """Margin times hold their curve by default, as they do by name in an evaluation."""
    train = cc.Survival([1.0, 2.0, 3.0, 4.0, 5.0], [1, 0, 1, 0, 0])
    test = cc.Survival([2.5, 7.0, 6.0], [1, 0, 0])
    status = cc.adjustments.MarginTime().fit(train).weights(test, [4.5, 6.5, 8.0])
    np.testing.assert_array_equal(status.a[1:], [[1, 1, 0], [1, 0, 0]])
    [note] = status.notes
    assert note.kind == "decision"
    assert "2 subjects" in note.text
    assert "5" in note.text
    assert cc.adjustments.MarginTime().fit(train).weights(test, [4.5]).notes == ()


def test_refusals():
    nobody = cc.Survival([0.5], [0])
    weighted = cc.adjustments.MarginTime(weighting="uncertainty").fit(TOY)
    refuses(lambda: weighted.weights(nobody, [1.0]), "weighting", "'none'")
    gone = cc.Imputation().fit(cc.Survival([1.0, 2.0], [1, 1]))
    refuses(lambda: gone.weights(cc.Survival([2.5], [0]), [3.0]), "y_test", "row 0 is 2.5")
    refuses(lambda: cc.DependentIPCW().fit(([1.0], [0])).weights(([1.0], [1]), [1.0]), "y_train", "no event")
    refuses(lambda: cc.adjustments.MarginTime(weighting="all"), "weighting", "'all'")
    refuses(lambda: cc.adjustments.MarginTime(interpolation="cubic"), "interpolation", "'cubic'")
    refuses(lambda: cc.adjustments.MarginTime(tail="first"), "tail", "'first'")
    refuses(lambda: cc.Imputation(conditioning="censored"), "conditioning", "'censored'")
    refuses(lambda: cc.Imputation(tail="zero"), "tail", "'zero'")


def test_more_score_times_than_subjects_are_all_of_their_times():
    data = SyntheticDesign(n=40, n_features=1).draw(0)
    grid = np.linspace(0.0, 20.0, 30)
    curves = {"m": cc.Predictions(grid, np.exp(-np.outer(np.exp(data.X[:, 0]), grid / 10.0)))}
    read = [
        [note.text for note in cc.Imputation("prediction", score_times=k).fit(data.y, None, curves).notes]
        for k in (40, 10**15)
    ]
    assert read[0] == read[1] != []
    refuses(lambda: cc.Imputation("prediction", score_times=10**400), "score_times")


def test_a_chance_beyond_double_precision_of_being_seen_ends_the_scores():
    train = (np.array([1.0, 2.0, 3.0, 5.0]), np.array([1, 0, 0, 1]))
    test = (np.array([0.5, 4.0, 6.0]), np.array([1, 1, 1]))
    how = cc.DependentIPCW(cc.Clayton.from_tau(0.999), "last")
    with pytest.warns(cc.warnings.HorizonWarning, match="time 4 on"):
        status = how.fit(train).weights(test, [0.7, 4.5])
    assert status.valid_until == 4.0
    assert np.isfinite(status.b[:, 0]).all()
