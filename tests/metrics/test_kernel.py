"""Weighted sums of losses: the same numbers however predictions lie in memory, and however many threads there are."""

import numpy as np
import pytest

import cocensor as cc
from cocensor import _parallel
from cocensor._parallel import one_core
from cocensor.data import Predictions
from cocensor.metrics import kernel
from cocensor.metrics.absolute_error import _MISSED
from cocensor.metrics.kernel import Loss, SumsBySubject, mean_losses
from cocensor.metrics.proper import BRIER, log_loss

LOSSES = {
    "brier": BRIER,
    "log": log_loss(1e-3),
    "absolute": _MISSED,
    "with two formulas alone": Loss(event_free=lambda p: 3.0 * (1.0 - p), event=lambda p: p**4),
}
COPULA = cc.Clayton.from_tau(0.4)
ADJUSTMENTS = {
    "known": cc.IPCW(),
    "known, with weights": cc.adjustments.MarginTime(COPULA, weighting="uncertainty"),
    "some imputed": cc.Imputation((), COPULA),
    "both losses after an event": cc.DependentIPCW(COPULA),
}


def study(n, n_times, seed=0):
    rng = np.random.default_rng(seed)
    event, dropout = rng.exponential(size=(2, n)).round(3)  # with ties
    y = cc.Survival.from_latent(event, dropout)
    times = np.linspace(0.05, 1.2, n_times)
    return y, times, np.exp(-times * rng.gamma(4.0, 0.25, size=n)[:, None])


def by_definition(status, loss, survival):
    losses = status.a * loss.event_free(survival) + status.b * loss.event(survival)
    return losses.sum(axis=0) / status.normaliser, losses


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
@pytest.mark.parametrize(
    ("n", "n_times"), [(20_000, 7), (300, 300), (1, 3)]
)  # several strips; many times; nobody else
def test_sums_are_those_of_the_weights(name, adjustment, n, n_times):
    y, times, survival = study(n, n_times)
    sample = study(500, 2, seed=1)[0]
    fitted = ADJUSTMENTS[adjustment]
    if isinstance(fitted, cc.IPCW):
        fitted = cc.IPCW(tail="last", min_probability=0.01)
    status, loss = fitted.fit(sample).weights(y, times), LOSSES[name]
    every = [
        Predictions(times, np.array(survival, dtype=precision, order=order))
        for order in "CF"
        for precision in (np.float64, np.float32)
    ]
    every.append(Predictions.trusted(times, np.broadcast_to(survival[0], survival.shape)))  # alike for all
    time_weights = np.linspace(1.0, 2.0, n_times)
    sums = SumsBySubject(status, time_weights, len(every))
    found = mean_losses(status, loss, every, sums)
    for m, each in enumerate(every):
        expected, losses = by_definition(status, loss, each(times))
        np.testing.assert_allclose(found[m], expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(sums.sums[:, m], losses @ time_weights, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
def test_threads_do_not_change_a_bit(monkeypatch, adjustment):
    y, times, survival = study(50_000, 5)
    status = ADJUSTMENTS[adjustment].fit(y).weights(y, times)
    predictions = [Predictions(times, survival), Predictions(times, np.asfortranarray(survival))]
    monkeypatch.setattr(kernel, "_WORTH_THREADS", 1)
    with one_core():
        alone = SumsBySubject(status, np.ones(5), 2)
        expected = mean_losses(status, BRIER, predictions, alone)
    monkeypatch.setattr(_parallel, "n_cores", lambda: 3)
    together = SumsBySubject(status, np.ones(5), 2)
    np.testing.assert_array_equal(mean_losses(status, BRIER, predictions, together), expected)
    np.testing.assert_array_equal(together.sums, alone.sums)
