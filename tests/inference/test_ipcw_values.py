"""Standard errors of Brier scores under IPCW against riskRegression's."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.inference.influence import influence
from cocensor.metrics import IntegratedBrierScore
from tests.oracles.data import load, values

ORACLE = values("brier_errors")
DATA = ["gbsg", "gbsg_months", "whas500", "veteran"]
PARTS = ["a_se", "b_se", "difference_se"]


def rows_of(name, untied=False):
    oracle = ORACLE[name]
    rows = load(name.split("_")[0])
    rows["time"] = np.ceil(rows["time"] / oracle["unit"])
    times = np.array(oracle["times"], dtype=float)
    if untied:
        rows = rows[oracle["sort_by"]].sort_values(oracle["sort_by"])
        rows["time"] += np.arange(1, len(rows) + 1) / (2 * len(rows))
        times += 0.5
    return rows, times


def predicted(name, rows, times):
    oracle = ORACLE[name]
    return [
        np.exp(
            -np.outer(
                np.exp(oracle["intercept"] + rows[oracle["covariates"]].to_numpy() @ oracle[model]),
                (times / oracle["scale"]) ** oracle["shape"][model][0],
            )
        )
        for model in "ab"
    ]


def answer(name, censoring, rows, times):
    y, x = cc.Survival(rows["time"], rows["event"]), rows[ORACLE[name]["covariates"]].to_numpy()
    return y, cc.IPCW(censoring=censoring).fit(y, x).weights(y, times, x)


def standard_errors(terms):
    """Of the means of two models' ``terms``, and of their difference."""
    each = (*terms, terms[0] - terms[1])
    return {
        part: values.std(axis=0, ddof=1) / np.sqrt(len(values))
        for part, values in zip(PARTS, each, strict=True)
    }


def ours(name, censoring, untied=False):
    rows, times = rows_of(name, untied)
    y, status = answer(name, censoring, rows, times)
    models = [cc.Predictions(times, each) for each in predicted(name, rows, times)]
    values = IntegratedBrierScore().functionals_over_time(status, dict(enumerate(models)))
    found = influence(status, values, y).test
    return standard_errors(np.hsplit(found, 2))


def with_all_at_risk(y, terms, time):
    """Influences in riskRegression's convention: all who are at risk at u are at risk of dropout, and no 1 − ΔΛ."""
    censored = ~y.event & (y.time <= time)
    at_risk = y.time[:, None] >= y.time[censored]
    ratio = terms @ (y.time[:, None] > y.time[censored]) / at_risk.sum(axis=0)
    found = terms - at_risk @ (ratio / at_risk.sum(axis=0))
    found[censored] += ratio
    return found


@pytest.mark.parametrize("name", DATA)
def test_in_its_own_convention_kaplan_meier_gives_riskregressions_errors(name):
    rows, times = rows_of(name)
    y, status = answer(name, "km", rows, times)
    terms = []
    for survival in predicted(name, rows, times):
        each = status.a * (1.0 - survival) ** 2 + status.b * survival**2
        terms.append(
            np.column_stack([with_all_at_risk(y, *pair) for pair in zip(each.T, times, strict=True)])
        )
    for part, found in standard_errors(terms).items():
        np.testing.assert_allclose(found, ORACLE[name]["km"][part], rtol=1e-8)


@pytest.mark.parametrize(
    ("name", "scores", "difference"),
    [
        ("gbsg", 2e-4, 5e-6),
        ("gbsg_months", 5.5e-3, 2.5e-4),
        ("whas500", 7e-5, 1.5e-5),
        ("veteran", 4e-3, 2.5e-3),
    ],
)
def test_exact_derivatives_are_as_far_from_riskregression_as_the_guide_says(name, scores, difference):
    found = ours(name, "km")
    for part, tolerance in zip(PARTS, (scores, scores, difference), strict=True):
        apart = np.abs(found[part] / ORACLE[name]["km"][part] - 1.0).max()
        assert tolerance / 3 < apart < tolerance


@pytest.mark.parametrize("name", ["gbsg", "gbsg_months", "whas500"])
def test_untied_cox_weights_give_riskregressions_errors(name):
    # Its Cox model stops at 1e-6.
    for part, found in ours(name, "cox", untied=True).items():
        np.testing.assert_allclose(found, ORACLE[name]["cox_untied"][part], rtol=1e-7)


@pytest.mark.parametrize(("name", "tolerance"), [("gbsg", 3e-4), ("gbsg_months", 7e-3), ("whas500", 2e-4)])
def test_tied_cox_weights_give_the_errors_of_the_jackknife_in_r(name, tolerance):
    # Of other ties: there tied events are at risk, and the baseline hazard has Efron's correction.
    for part, found in ours(name, "cox").items():
        np.testing.assert_allclose(found, ORACLE[name]["cox_jackknife"][part], rtol=tolerance)
