"""A sensitivity analysis by some of the metrics."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.simulate import SyntheticDesign


@pytest.fixture(scope="module")
def result():
    data = SyntheticDesign(n=200, n_features=2, copula=cc.Clayton.from_tau(0.5)).draw(0)
    curves = cc.CoxPH().fit(data.X, data.y).predict_survival_function(data.X)
    weaker = cc.CoxPH().fit(data.X[:, :1], data.y).predict_survival_function(data.X[:, :1])
    return cc.evaluate({"both": curves, "one": weaker}, data.y, data.X, metrics=["ibs", "auc", "concordance"])


def test_one_metric_has_the_scores_and_errors_that_it_has_among_all(result):
    everything = result.sensitivity(["clayton"], [0.0, 0.4])
    alone = result.sensitivity(["clayton"], [0.0, 0.4], metrics="auc")
    assert alone.evaluation.metrics == ("auc",)
    for tau in (0.0, 0.4):
        expected, errors = (s.over_tau.errors("clayton", tau, "auc") for s in (everything, alone))
        errors = errors.only(expected.names)  # of the first metric that of the reference curve is known too
        np.testing.assert_allclose(errors.values, expected.values, rtol=1e-12)
        np.testing.assert_allclose(errors.standard_errors, expected.standard_errors, rtol=1e-9)
        np.testing.assert_allclose(errors.apart.standard_errors, expected.apart.standard_errors, rtol=1e-9)


def test_a_report_wants_all_metrics(result):
    alone = result.sensitivity(["clayton"], [0.0, 0.4], metrics=["ibs"])
    with pytest.raises(ValueError, match="sensitivity must have all metrics of the evaluation, but has ibs"):
        result.full(sensitivity=alone)


def test_metrics_that_the_evaluation_does_not_have_are_refused(result):
    with pytest.raises(ValueError, match="metrics must be one of"):
        result.sensitivity(["clayton"], [0.0], metrics="brier")
    with pytest.raises(ValueError, match="metrics is empty"):
        result.sensitivity(["clayton"], [0.0], metrics=[])
