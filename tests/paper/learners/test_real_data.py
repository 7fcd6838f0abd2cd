"""Harrell's C-index of every learner, with the paper's hyperparameters, is what the literature reports."""

import numpy as np
import pytest
from sksurv.metrics import concordance_index_censored

from cocensor.paper.learners import learner, learners
from tests.paper.learners.data import gbsg2, metabric, parts


def c_index(name, data, seed):
    (X, y), validation, (X_test, y_test) = parts(*data, seed)
    curves = learner(name).fit(X, y, *validation).predict(X_test)
    risk = -curves.restricted_mean(y.t_max)
    return concordance_index_censored(y_test.event, y_test.time, risk)[0]


@pytest.mark.no_cover
@pytest.mark.parametrize("name", learners())
def test_gbsg2(name):
    """About 0.67 to 0.70; a single test part has a standard error of 0.035, the mean of five of 0.016."""
    assert 0.62 < np.mean([c_index(name, gbsg2(), seed) for seed in range(5)]) < 0.73


@pytest.mark.parametrize("name", learners())
def test_metabric(name):
    """About 0.62 to 0.66, with a standard error of 0.02."""
    assert 0.59 < c_index(name, metabric(), 0) < 0.70
