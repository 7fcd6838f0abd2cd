from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

import cocensor as cc

RNG = np.random.default_rng(4)
Y = cc.Survival.from_latent(RNG.exponential(size=60), RNG.exponential(size=60))
TIMES = np.array([0.2, 0.5, 0.9])
P = np.exp(-TIMES * RNG.gamma(2.0, 0.5, size=60)[:, None])


def test_results_come_in_the_order_of_the_times():
    base = cc.brier_score(Y, Y, P, TIMES)
    order = [2, 0, 1, 0]
    np.testing.assert_allclose(cc.brier_score(Y, Y, P[:, order], TIMES[order]), base[order], atol=1e-15)
    assert cc.brier_score(Y, Y, P[:, [1]], 0.5).shape == (1,)
    shuffled = cc.integrated_brier_score(Y, Y, P[:, order], TIMES[order])
    assert shuffled == pytest.approx(cc.integrated_brier_score(Y, Y, P, TIMES), abs=1e-15)


def test_several_models_share_one_fit_and_one_status(monkeypatch):
    calls = []
    monkeypatch.setattr(cc.IPCW, "_fit", lambda self, *a, f=cc.IPCW._fit: (calls.append("fit"), f(self, *a)))
    status = cc.IPCW._status
    monkeypatch.setattr(cc.IPCW, "_status", lambda self, *a: (calls.append("status"), status(self, *a))[1])
    both = cc.brier_score(Y, Y, {"a": P, "b": P**2}, TIMES)
    assert calls == ["fit", "status"]
    np.testing.assert_array_equal(both["a"], cc.brier_score(Y, Y, P, TIMES))


def test_a_fitted_adjustment_is_used_as_it_is_and_another_is_left_alone():
    fitted = cc.IPCW().fit(Y)
    np.testing.assert_array_equal(
        cc.brier_score(None, Y, P, TIMES, adjustment=fitted), cc.brier_score(Y, Y, P, TIMES)
    )
    fresh = cc.IPCW()
    cc.brier_score(Y, Y, P, TIMES, adjustment=fresh)
    assert not fresh.is_fitted


def test_single_precision_predictions():
    score = cc.brier_score(Y, Y, P.astype(np.float32), TIMES)
    np.testing.assert_allclose(score, cc.brier_score(Y, Y, P, TIMES), atol=1e-6)


@pytest.mark.parametrize(
    ("estimate", "times", "message"),
    [
        (P[:, :2], TIMES, r"estimate must have .* \(60, 3\), but its shape is \(60, 2\)"),
        (P[:5], TIMES, r"\(60, 3\), but its shape is \(5, 3\)"),
        (P + 1, TIMES, r"estimate must lie in \[0, 1\], but row"),
        (P[:, ::-1], TIMES, "estimate must not increase over time, but row"),
        (np.where(np.arange(60)[:, None] == 7, np.nan, P), TIMES, "row 7 at time 0.2 is nan"),
        (P.astype(str), TIMES, "estimate must be numeric"),
        (cc.SurvivalCurves(TIMES, P[:4]), TIMES, "estimate has length 4, but y_test has length 60"),
        (cc.SurvivalCurves(TIMES, P), [5.0], "must not pass"),
    ],
)
@pytest.mark.filterwarnings("ignore:.* one subject carries:cocensor.HorizonWarning")
def test_bad_predictions(estimate, times, message):
    with pytest.raises(ValueError, match=message):
        cc.brier_score(Y, Y, estimate, times)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cc.integrated_brier_score(Y, Y, P[:, [0]], [0.2]), "times must span an interval"),
        (
            lambda: cc.integrated_brier_score(Y, Y, P, TIMES, integration="simpson"),
            "integration must be one of",
        ),
        (lambda: cc.log_score(Y, Y, P, TIMES, floor=0.0), "floor must lie strictly between 0 and 0.5"),
        (
            lambda: cc.brier_score(Y, Y, P, TIMES, adjustment=cc.IPCW(), copula=cc.Clayton(1)),
            "copula must be None",
        ),
        (lambda: cc.brier_skill_score(Y, Y, P, TIMES, reference="cox"), "reference must be one of"),
        (
            lambda: cc.brier_skill_score(Y, Y, P, TIMES, reference="copula_graphic"),
            "copula is needed for the ref",
        ),
        (lambda: cc.time_grid(Y, horizon="max"), "horizon must be 't_max', a time or .* but is 'max'"),
        (lambda: cc.time_grid(Y, horizon={"risk": 0.1}), "horizon must be 't_max', a time or"),
        (lambda: cc.time_grid(Y, horizon={"at_risk": 2.0}), "horizon.* must lie strictly between 0 and 1"),
        (lambda: cc.time_grid(Y, horizon=-1.0), "horizon must lie strictly between 0 and inf, but is -1"),
        (lambda: cc.time_grid(Y, n=1), "n must be a whole number of at least 2 times, but is 1"),
        (lambda: cc.time_grid(([0.0, 0.0], [1, 0])), "horizon must be positive"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_bad_one_of_several_models_is_named():
    with pytest.raises(ValueError, match="model 'forest': estimate must lie in"):
        cc.brier_score(Y, Y, {"cox": P, "forest": P + 1}, TIMES)


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
    with pytest.warns(
        cc.HorizonWarning, match="horizon 1000 fewer than 1% are at risk; until 951 at least 5%"
    ):
        assert cc.time_grid(y)[-1] == 1000
    with pytest.warns(cc.HorizonWarning, match="until 476"):
        assert cc.time_grid(y, short)[-1] == 500
