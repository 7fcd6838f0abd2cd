"""Values over time come in parts, of as many times as memory allows: errors do not depend on how many."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import weights as event_weights
from cocensor.adjustments.weights import EventWeights
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import influence
from cocensor.simulate import SyntheticDesign

N = 80
COPULA = cc.Clayton.from_tau(0.3)
ADJUSTMENTS = {
    "km": cc.IPCW(),
    "cox": cc.IPCW(censoring="cox"),
    "everything": cc.Imputation("everything", COPULA),
    "hazard ratio": cc.Imputation("everything", hazard_ratio=2.0),
    "margins": cc.Imputation(copula=COPULA),
}


@pytest.mark.parametrize("asked", ["auc", "concordance"])
@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_the_influence_is_the_same_by_one_time_at_once_and_by_all(name, asked, monkeypatch):
    adjustment = ADJUSTMENTS[name]
    data = SyntheticDesign(n=2 * N, n_features=2, copula=COPULA).draw(3)
    y, x = data.y[N:], data.X[N:]
    # Before the first of the censorings nothing is imputed.
    times = np.append(0.5 * y.time.min(), np.linspace(*np.quantile(y.time, (0.1, 0.8)), 6))
    cox = cc.CoxPH().fit(data.X[:N], data.y[:N])
    predictions = {
        str(power): cc.Predictions(times, cox.survival(times, x) ** power * np.exp(-0.01 * k * x[:, :1] ** 2))
        for k, power in enumerate((0.5, 1.0))
    }
    if name in ("everything", "hazard ratio"):
        fitted = adjustment.fit(y, x, predictions)
    else:
        fitted = adjustment.fit(data.y[:N], data.X[:N])
    status, metric = fitted.weights(y, times, x), cc.metric(asked)
    whole = influence(status, metric.functionals(status, predictions), y)
    monkeypatch.setattr(event_weights, "_TILE_ELEMENTS", 1)
    parts = influence(status, metric.functionals(status, predictions), y)
    np.testing.assert_allclose(parts.rows, whole.rows, rtol=1e-8, atol=1e-11 * np.abs(whole.rows).max())


def test_a_fit_that_moves_beyond_double_precision_has_no_error(monkeypatch):
    """As under τ = 0.99 of Gumbel's family, times of 1e-8 and predictions of 0 and 1."""
    data = SyntheticDesign(n=N, n_features=2, copula=COPULA).draw(3)
    times = np.quantile(data.y.time, (0.3, 0.6))
    status = cc.IPCW().fit(data.y).weights(data.y, times)
    read = {"a": cc.Predictions(times, np.full((N, 2), 0.5))}
    monkeypatch.setattr(
        type(status), "pull_back", lambda _self, _parts, _size: iter([(slice(None), np.full((N, 1), 1e200))])
    )
    with pytest.raises(ValueError, match="double precision"):
        influence(status, cc.metric("ibs").functionals(status, read), data.y)


def test_hazard_ratios_beyond_double_precision_are_0_or_infinite():
    def mean(*log_ratios, weight=None):
        class Stated(EventWeights):
            log_hazard_ratios = np.arange(len(log_ratios)), np.array(log_ratios)

        cut = np.zeros(len(log_ratios), dtype=int)
        stated = Stated(TimeGrid.of([1.0]), cut)
        return (stated if weight is None else stated.weighted(weight)).hazard_ratio

    assert mean(-1e4, -2e3) == 0.0
    assert mean(1e4, np.nan) == np.inf
    assert mean(np.nan) is None
    assert mean(0.0, 1.0, 5.0, weight=np.array([1.0, 3.0, 0.0])) == pytest.approx(np.exp(0.75))
    assert mean(1.0, weight=np.zeros(1)) is None
