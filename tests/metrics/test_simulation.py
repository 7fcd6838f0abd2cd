"""Known truth: which score comes near the oracle's as n grows, and which does not."""

import numpy as np
import pytest

import cocensor as cc
from tests.strategies import member_id, members

DEPENDENT = members([cc.Clayton, cc.Frank, cc.Gumbel], taus=(0.5,))
TIMES = np.linspace(0.05, 1.2, 24)


def errors(copula, n, names, predict=None, seed=0):
    """IBS under each adjustment less the oracle's, on one sample; all predict the same curve by default."""
    u, v = copula.sample(n, rng=seed).T
    e, c = -np.log(u), -np.log(v)
    y = cc.Survival.from_latent(e, c)
    estimate = np.tile(np.exp(-0.7 * TIMES), (n, 1)) if predict is None else predict(e)
    oracle = cc.integrated_brier_score(y, y, estimate, TIMES, adjustment=cc.Oracle(e))
    result = {}
    for name in names:
        needs = None if name == "ipcw" else copula
        result[name] = (
            cc.integrated_brier_score(y, y, estimate, TIMES, adjustment=name, copula=needs) - oracle
        )
    return result


@pytest.mark.parametrize("copula", DEPENDENT, ids=member_id)
def test_conditioning_on_the_censoring_converges_and_the_others_do_not(copula):
    names = ("conditional", "dependent_ipcw", "cg_q", "ipcw")
    # The residuals lie in [−1, 1] and half of the statuses are unseen: a standard error of 0.3/√n, amply.
    for n in (1_000, 10_000, 100_000):
        found = errors(copula, n, names)
        assert abs(found["conditional"]) < 4 * 0.3 / np.sqrt(n)
        assert abs(found["dependent_ipcw"]) < 4 * 0.3 / np.sqrt(n)
    # what is left at n = 100,000 is bias
    assert abs(found["cg_q"]) > 3 * 4 * 0.3 / np.sqrt(n)
    assert abs(found["ipcw"]) > 3 * 4 * 0.3 / np.sqrt(n)


def test_with_informative_predictions_marginal_imputation_overstates_the_loss():
    """The imputed status cannot follow the prediction: a good model looks worse than it is."""
    rng = np.random.default_rng(1)

    def informed(e):
        risk = np.exp(-np.log(e) + rng.normal(0.0, 0.5, size=e.size))
        return np.exp(-0.7 * risk[:, None] * TIMES)

    found = errors(cc.Clayton(2.0), 100_000, ("conditional",), informed)
    assert found["conditional"] > 0.005
