from functools import partial
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from tests.refusals import refuses

RNG = np.random.default_rng(4)
Y = cc.Survival.from_latent(RNG.exponential(size=60), RNG.exponential(size=60))
TIMES = np.array([0.2, 0.5, 0.9])
P = np.exp(-TIMES * RNG.gamma(2.0, 0.5, size=60)[:, None])


def test_results_come_in_the_order_of_the_times():
    base = cc.brier_score(Y, Y, P, TIMES)
    order = [2, 0, 1, 0]
    np.testing.assert_allclose(cc.brier_score(Y, Y, P[:, order], TIMES[order]), base[order], atol=1e-15)
    shuffled = cc.integrated_brier_score(Y, Y, P[:, order], TIMES[order])
    assert shuffled == pytest.approx(cc.integrated_brier_score(Y, Y, P, TIMES), abs=1e-15)


OVER_TIME = {
    "brier": cc.brier_score,
    "log": partial(cc.log_score, floor=0.01),
    "ici": cc.integrated_calibration_index,
    "benefit": partial(cc.net_benefit, thresholds=0.3),
}


@pytest.mark.parametrize("estimate", [P[:, 1], P[:, [1]], pd.Series(P[:, 1]), P[:, 1].tolist()])
@pytest.mark.parametrize("name", OVER_TIME)
def test_at_a_time_that_is_a_number_a_score_is_a_number(name, estimate):
    score = OVER_TIME[name]
    [expected], on_all = score(Y, Y, P[:, [1]], [0.5], return_influence=True)
    for time in (0.5, np.float64(0.5), np.array(0.5)):
        found = score(Y, Y, estimate, time)
        assert type(found) is float
        assert found == expected
    found, moved = score(Y, Y, {"a": estimate, "b": P[:, 1] ** 2}, 0.5, return_influence=True)
    assert found["a"] == expected != found["b"]
    np.testing.assert_allclose(moved["a"].test, on_all.test[:, 0], atol=1e-14)
    assert moved["a"].standard_errors == pytest.approx(on_all.standard_errors[0], rel=1e-12)


def test_an_auc_at_a_single_time():
    (aucs, mean), (on_aucs, _) = cc.cumulative_dynamic_auc(Y, Y, P[:, [1]], [0.5], return_influence=True)
    # One number per subject is a risk score at one time as at several; a column is of survival probabilities.
    for estimate in (P[:, [1]], 1.0 - P[:, 1]):
        (auc, same), (moved, _) = cc.cumulative_dynamic_auc(Y, Y, estimate, 0.5, return_influence=True)
        assert type(auc) is float
        assert (auc, same) == (aucs[0], mean)
        np.testing.assert_array_equal(moved.test, on_aucs.test[:, 0])
    assert cc.cumulative_dynamic_auc(Y, Y, P[:, 1], 0.5)[0] == pytest.approx(1.0 - auc, abs=1e-12)
    with pytest.warns(cc.warnings.HorizonWarning, match="NaN"):
        assert np.isnan(cc.cumulative_dynamic_auc(Y, Y, P[:, 1], 0.0)).all()


def test_net_benefit_has_the_axes_of_its_times_and_thresholds():
    table = cc.net_benefit(Y, Y, P, TIMES, [0.1, 0.3])
    at_one, moved = cc.net_benefit(Y, Y, P[:, 1], TIMES[1], [0.1, 0.3], return_influence=True)
    np.testing.assert_array_equal(at_one, table[1])
    assert moved.test.shape == (60, 2)
    np.testing.assert_array_equal(cc.net_benefit(Y, Y, P, TIMES, 0.3), table[:, 1])
    assert cc.net_benefit(Y, Y, P[:, [1]], TIMES[[1]], [0.3]).shape == (1, 1)


def test_details_take_one_number_per_subject_at_a_single_time():
    column, numbers = P[:, [1]], P[:, 1]
    for find, value in (
        (cc.decision_curve, lambda curve: curve.net_benefit.values),
        (cc.survival_calibration_curve, lambda curve: curve.slope.value),
        (cc.brier_decomposition, lambda parts: parts.score),
    ):
        np.testing.assert_array_equal(value(find(Y, Y, numbers, 0.5)), value(find(Y, Y, column, 0.5)))


@pytest.mark.parametrize(
    ("estimate", "times", "parts"),
    [
        (P[:, 1], [0.5], ("estimate", "(60,)", "0.5 and not [0.5]")),
        (P[:, 1], TIMES, ("estimate", "(60,)", "not a survival curve")),
        (P[:5, 1], 0.5, ("estimate", "(60, 1)", "(5, 1)")),
        (P[:, 1:], 0.5, ("estimate", "(60, 1)", "(60, 2)")),
        (P[:, [1]].T, 0.5, ("estimate", "(60, 1)", "(1, 60)")),
        (0.7, 0.5, ("estimate", "()")),
        (P[:, 1] + 1.0, 0.5, ("estimate", "[0, 1]", "row 0")),
        ({"m": P[:5, 1]}, 0.5, ("estimate['m']", "(5, 1)")),
    ],
)
def test_what_does_not_suit_a_single_time(estimate, times, parts):
    refuses(lambda: cc.brier_score(Y, Y, estimate, times), *parts, kind=ValueError)


def test_several_models_share_one_fit_and_its_weights(monkeypatch):
    calls = []
    fit = cc.IPCW.fit_to

    def counted(self, *given):
        fitted = fit(self, *given)
        weights = fitted.weights_for
        object.__setattr__(fitted, "weights_for", lambda *given: calls.append("weights") or weights(*given))
        calls.append("fit")
        return fitted

    monkeypatch.setattr(cc.IPCW, "fit_to", counted)
    both = cc.brier_score(Y, Y, {"a": P, "b": P**2}, TIMES)
    assert calls == ["fit", "weights"]
    np.testing.assert_array_equal(both["a"], cc.brier_score(Y, Y, P, TIMES))


def test_a_fitted_adjustment_is_used_as_it_is():
    fitted = cc.IPCW().fit(Y)
    base = cc.brier_score(Y, Y, P, TIMES)
    np.testing.assert_array_equal(cc.brier_score(None, Y, P, TIMES, adjustment=fitted), base)
    other = cc.Survival(Y.time * 2.0, Y.event)
    np.testing.assert_array_equal(cc.brier_score(other, Y, P, TIMES, adjustment=fitted), base)


def test_without_a_training_sample_an_adjustment_learns_from_the_test_sample():
    X = np.random.default_rng(0).normal(size=(60, 2))
    for name in cc.adjustments.adjustment_names():
        copula = None if name in ("ipcw", "ipcw_cox", "aipcw", "margin_km") else cc.Clayton(0.3)
        options = {"adjustment": name, "copula": copula, "x_test": X}
        alone = cc.brier_score(None, Y, P, TIMES, **options)
        np.testing.assert_array_equal(alone, cc.brier_score(Y, Y, P, TIMES, x_train=X, **options))
    refuses(lambda: cc.brier_score(None, Y, P, TIMES, adjustment="ipcw_cox"), "x_test")
    skill = cc.brier_skill_score(None, Y, P, TIMES)
    assert skill == cc.brier_skill_score(Y, Y, P, TIMES)


def test_single_precision_predictions():
    score = cc.brier_score(Y, Y, P.astype(np.float32), TIMES)
    np.testing.assert_allclose(score, cc.brier_score(Y, Y, P, TIMES), atol=1e-6)


def test_values_outside_by_rounding_are_warned_of_and_more_is_refused():
    off = P.copy()
    off[4, 2] = -1.2e-7
    off[5] = 1.0 + 5e-7
    with pytest.warns(cc.warnings.PredictionWarning, match="estimate has 4 values"):
        found = cc.brier_score(Y, Y, off, TIMES)
    np.testing.assert_allclose(found, cc.brier_score(Y, Y, off.clip(0.0, 1.0), TIMES), atol=1e-15)
    with pytest.warns(cc.warnings.PredictionWarning, match=r"estimate\['net'\] has 4 values"):
        several = cc.brier_score(Y, Y, {"cox": P, "net": off}, TIMES)
    np.testing.assert_array_equal(several["net"], found)
    refuses(lambda: cc.brier_score(Y, Y, off - 2e-6, TIMES), "estimate", "[0, 1]", "row 4")


@pytest.mark.parametrize(
    ("estimate", "times", "parts"),
    [
        (P[:, :2], TIMES, ("estimate", "(60, 3)", "(60, 2)")),
        (P[:5], TIMES, ("estimate", "(60, 3)", "(5, 3)")),
        (P + 1, TIMES, ("estimate", "[0, 1]", "row")),
        (P[:, ::-1], TIMES, ("estimate", "row")),
        (np.where(np.arange(60)[:, None] == 7, np.nan, P), TIMES, ("estimate", "row 7 at time 0.2 is nan")),
        (P.astype(str), TIMES, ("estimate", "numeric")),
        (cc.Predictions(TIMES, P[:4]), TIMES, ("estimate", "60", "4")),
        (cc.Predictions(TIMES, P), [5.0], ("times", "0.9", "5")),
        ({}, TIMES, ("estimate", "empty")),
    ],
)
def test_bad_predictions(estimate, times, parts):
    refuses(lambda: cc.brier_score(Y, Y, estimate, times), *parts, kind=ValueError)


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: cc.integrated_brier_score(Y, Y, P[:, [0]], [0.2]), ("times",)),
        (lambda: cc.integrated_brier_score(Y, Y, P[:, 0], 0.2), ("times",)),
        (
            lambda: cc.integrated_brier_score(Y, Y, P, TIMES, integration="simpson"),
            ("integration", "'simpson'"),
        ),
        (lambda: cc.log_score(Y, Y, P, TIMES, floor=0.0), ("floor", "0.5", "is 0")),
        (lambda: cc.brier_score(Y, Y, P, TIMES, adjustment=cc.IPCW(), copula=cc.Clayton(1)), ("copula",)),
        (lambda: cc.brier_skill_score(Y, Y, P, TIMES, reference="cox"), ("reference", "'cox'")),
        (
            lambda: cc.brier_skill_score(Y, Y, P, TIMES, reference="copula_graphic"),
            ("copula", "'copula_graphic'"),
        ),
        (
            lambda: cc.brier_skill_score(Y, Y, P, TIMES, adjustment="imputation", reference="copula_graphic"),
            ("copula", "'copula_graphic'"),
        ),
        (lambda: cc.time_grid(Y, horizon="max"), ("horizon", "'max'")),
        (lambda: cc.time_grid(Y, horizon={"risk": 0.1}), ("horizon", "'risk'")),
        (lambda: cc.time_grid(Y, horizon={"at_risk": 2.0}), ("horizon", "is 2")),
        (lambda: cc.time_grid(Y, horizon=-1.0), ("horizon", "is -1")),
        (lambda: cc.time_grid(Y, n=1), ("n must", "is 1")),
        (lambda: cc.time_grid(Y, n=np.ones((2, 1))), ("n must", "array")),
        (lambda: cc.time_grid(Y, n=10**400), ("n must", "1000")),
        (lambda: cc.time_grid(Y, n=True), ("n must", "True")),
        (lambda: cc.time_grid(([0.0, 0.0], [1, 0])), ("horizon",)),
    ],
)
def test_refusals(call, parts):
    refuses(call, *parts, kind=ValueError)


def test_the_bad_one_of_several_models_is_named():
    refuses(lambda: cc.brier_score(Y, Y, {"cox": P, "forest": P + 1}, TIMES), "estimate['forest']", "[0, 1]")


def test_a_refusal_of_predictions_is_not_its_own_cause():
    with pytest.raises(ValueError, match="estimate") as caught:
        cc.brier_score(Y, Y, P + 1, TIMES)
    assert caught.value.__cause__ is None  # whoever follows the causes comes to an end


def test_predictions_in_frames():
    base = cc.brier_score(Y, Y, P, TIMES)
    frame = pd.DataFrame(P, columns=["0.2", "0.5", "0.9"])
    np.testing.assert_array_equal(cc.brier_score(Y, Y, frame, TIMES), base)
    np.testing.assert_array_equal(cc.brier_score(Y, Y, frame.astype("Float64"), TIMES), base)


def test_any_mapping_of_models_and_any_reference():
    models = MappingProxyType({"a": P})
    assert cc.brier_skill_score(Y, Y, models, TIMES).keys() == {"a"}
    skill = cc.brier_skill_score(Y, Y, P, TIMES, reference=cc.Clayton(1.0))
    assert skill != cc.brier_skill_score(Y, Y, P, TIMES)


def test_shares_at_risk_are_taken_exactly():
    y = cc.Survival(np.arange(1.0, 101.0), np.ones(100, bool))
    assert cc.time_grid(y, horizon={"at_risk": 0.07})[-1] == 94.0


def test_time_grids():
    y = cc.Survival(np.arange(1.0, 1001.0), np.ones(1000, bool))
    short = cc.Survival(np.arange(1.0, 501.0), np.ones(500, bool))
    np.testing.assert_allclose(cc.time_grid(y, n=3, horizon=700), [0, 350, 700])
    assert cc.time_grid(y, horizon={"at_risk": 0.05})[-1] == 951
    assert cc.time_grid(y, short, horizon={"at_risk": 0.05})[-1] == 476
    assert cc.time_grid(y, horizon={"at_risk": 0.05}).size == 100
    with pytest.warns(cc.warnings.HorizonWarning, match=r"1000 .* 1% .* 951 .* 5%"):
        assert cc.time_grid(y)[-1] == 1000
    with pytest.warns(cc.warnings.HorizonWarning, match="476"):
        assert cc.time_grid(y, short)[-1] == 500


def test_a_metric_says_which_setting_it_needs_or_does_not_know():
    refuses(lambda: cc.metric("ils"), "floor", "'ils'")
    assert "label" not in refuses(lambda: cc.metric("ils", flor=0.1), "flor", "floor")
    refuses(lambda: cc.metric("ibs", floor=0.1), "floor", "'ibs'")


def test_only_what_was_registered_can_be_forgotten():
    for name in ("ibs", "unheard"):
        refuses(lambda name=name: cc.metrics.unregister_metric(name), "name", name)
    for name in ("ipcw", "unheard"):
        refuses(lambda name=name: cc.adjustments.unregister_adjustment(name), "name", name)
    assert "ibs" in cc.metrics.metric_names()
    assert "ipcw" in cc.adjustments.adjustment_names()


def test_a_skill_of_no_model_is_refused():
    y = cc.Survival([1.0, 2.0, 3.0], [1, 0, 1])
    refuses(lambda: cc.brier_skill_score(y, y, {}, [1.0, 2.0]), "estimate", "empty")
