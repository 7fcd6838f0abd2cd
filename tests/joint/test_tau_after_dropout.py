"""Kendall's τ of event and dropout that a hazard ratio after dropout implies."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.joint.after_dropout import tau_after_dropout


@pytest.mark.parametrize("rho", [0.2, 1.0, 3.0, 5.0])
@pytest.mark.parametrize("k", [0.3, 1.0, 4.0])
def test_with_proportional_hazards_it_has_a_closed_form(rho, k):
    """τ = k(ρ − 1)/[(1 + k)(1 + k + ρ)], wherever the times end; for k = 1 and ρ = 3 it is 0.2."""
    expected = k * (rho - 1) / ((1 + k) * (1 + k + rho))
    for hazard in (np.array([[0.1, 0.5]]), np.linspace(0.2, 9.0, 45)[None]):
        assert tau_after_dropout(rho, hazard, k * hazard) == pytest.approx([expected], abs=1e-12)


@pytest.mark.parametrize("rho", [0.3, 3.0])
def test_otherwise_it_is_that_of_simulated_pairs(rho):
    """Of Λ(t) = t and M(t) = t²/2: nobody drops out at first, and more and more do."""
    rng, n = np.random.default_rng(0), 400_000
    dropout, event = np.sqrt(2 * rng.exponential(size=n)), rng.exponential(size=n)
    event = np.where(event < dropout, event, dropout + (event - dropout) / rho)
    (one, other), (left, right) = np.split(event, 2), np.split(dropout, 2)
    concordant = np.sign((one - other) * (left - right))
    times = np.linspace(0.0, 9.0, 600)[None]
    error = concordant.std() / len(concordant) ** 0.5
    assert tau_after_dropout(rho, times, times**2 / 2)[0] == pytest.approx(concordant.mean(), abs=4 * error)


def test_where_one_of_the_two_never_happens_there_is_none():
    never, once, huge = np.zeros((1, 3)), np.ones((1, 3)), np.full((1, 3), 1e4)
    assert tau_after_dropout(3.0, never, once)[0] == tau_after_dropout(3.0, once, never)[0] == 0
    assert tau_after_dropout(3.0, huge, 0.1 * huge) == pytest.approx(0.1 * 2 / (1.1 * 4.1))


def test_a_fit_says_it_of_its_own_margins():
    """Event and dropout have one and the same constant hazard: k = 1."""
    rng = np.random.default_rng(1)
    y = cc.Survival.from_latent(rng.exponential(size=1500), rng.exponential(size=1500))
    curves = (np.array([0.0, 1.0, 2.0]), np.column_stack([np.ones(1500), np.full((1500, 2), [0.4, 0.1])]))
    noisy = np.clip(curves[1] + rng.normal(0, 0.02, (1500, 1)) * (np.arange(3) > 0), 0, 1)
    result = cc.evaluate({"a": (curves[0], noisy)}, y, metrics="ibs")
    fitted = result.results["imputation"].fitted
    assert fitted.tau_after_dropout(3.0) == pytest.approx(0.2, abs=0.02)
    assert fitted.tau_after_dropout(1.0) == 0
    assert np.isnan(result.results["ipcw"].fitted.tau_after_dropout(3.0))
    assert np.isnan(fitted.for_others().tau_after_dropout(3.0))
