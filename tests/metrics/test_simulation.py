"""Known truth: which score comes near the oracle's as n grows, and which does not."""

import numpy as np
import pytest

import cocensor as cc
from benchmarks.bias import COPULAS, SIZES, errors, informed, same_curve
from tests.strategies import member_id


@pytest.mark.parametrize("copula", COPULAS, ids=member_id)
def test_conditioning_on_the_censoring_converges_and_the_others_do_not(copula):
    # Squared residuals lie in [0, 1], and half of the statuses are unseen: a standard error of 0.3/√n, amply.
    for n in SIZES:
        found, limit = errors(copula, n, same_curve, seed=0), 4 * 0.3 / np.sqrt(n)
        assert abs(found["imputation_margins"]) < limit
        assert abs(found["dependent_ipcw"]) < limit
    # what is left at n = 100,000 is bias
    assert abs(found["cg_q"]) > 3 * limit
    assert abs(found["ipcw"]) > 3 * limit


def test_with_informative_predictions_marginal_imputation_overstates_the_loss():
    """The imputed status cannot follow the prediction: a good model looks worse than it is."""
    found = errors(cc.Clayton(2.0), 100_000, informed, seed=0)
    assert found["imputation_margins"] > 0.005
