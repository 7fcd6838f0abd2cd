"""One set of defaults: whoever fits a joint model to the same data gets the same one."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign

DATA = SyntheticDesign(n=1500, n_features=3, copula=cc.Clayton.from_tau(0.5)).draw(0)
TIMES = np.quantile(DATA.y.time, [0.25, 0.5])


def fitted_by(adjustment, data):
    return adjustment.fit(data.y, data.X).weights(data.y, TIMES, data.X).model


@pytest.mark.parametrize("family", ["clayton", "frank"])
def test_every_door_fits_the_same_model_by_default(family):
    model = cc.fit_joint(DATA.X, DATA.y, family)
    others = (
        cc.select_copula(DATA.X, DATA.y, families=(family,)).models[family],
        fitted_by(cc.Imputation("covariates", family), DATA),
        fitted_by(cc.DependentIPCW(family, given="covariates"), DATA),
    )
    for other in others:
        assert other.copula.tau == pytest.approx(model.copula.tau, abs=1e-6)
        assert other.penalty == model.penalty
        assert other.event.name == model.event.name == "spline"
        np.testing.assert_allclose(other.survival(TIMES, DATA.X), model.survival(TIMES, DATA.X), atol=1e-6)


@pytest.mark.parametrize("family", [cc.Clayton, cc.Frank])
def test_the_default_finds_the_dependence_whatever_the_form_of_the_margins(family):
    """The baseline hazard falls and then rises, as that of no Weibull margin does."""
    n, shapes = 3000, (np.array([0.6, -0.4, 0.2]), np.array([0.2, 0.3, -0.3]))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    grid = np.linspace(0.0, 12.0, 100_001)
    hazard = 0.6 * np.sqrt(grid) + (grid / 1.5) ** 4
    times = [
        np.interp(-np.log(u) * np.exp(-X @ effects), hazard, grid)
        for u, effects in zip(family.from_tau(0.5).sample(n, rng).T, shapes, strict=True)
    ]
    y = cc.Survival.from_latent(*times)
    model = cc.fit_joint(X, y, family)
    assert abs(model.copula.tau - 0.5) < 4 * model.tau_se_
    assert model.copula.tau > 0.35
    assert cc.fit_joint(X, y, family, "weibull", 0.01).copula.tau < 0.1
