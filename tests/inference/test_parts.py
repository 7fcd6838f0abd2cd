"""Values over time come in parts, of as many times as memory allows: errors do not depend on how many."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments import status as statuses
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
    status, metric = fitted.status(y, times, x), cc.metric(asked)
    whole = influence(status, metric.functionals(status, predictions), y)
    monkeypatch.setattr(statuses, "_TILE_ELEMENTS", 1)
    parts = influence(status, metric.functionals(status, predictions), y)
    np.testing.assert_allclose(parts.rows, whole.rows, rtol=1e-8, atol=1e-11 * np.abs(whole.rows).max())
