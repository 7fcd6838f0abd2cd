"""The influence of subjects on the AUC: against derivatives by case weights, riskRegression and the bootstrap."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.inference.influence import influence
from tests.inference.case_weights import Cox, derivatives, kaplan_meier
from tests.inference.test_ipcw import TIMES, drawn, models
from tests.inference.test_ipcw_values import DATA, answer, rows_of, with_all_at_risk
from tests.inference.test_ipcw_values import predicted as unrounded
from tests.inference.test_joint_influence import COPULAS, OUTCOMES, STEP, TEST
from tests.inference.test_joint_influence import models as joint_models
from tests.oracles.data import values

ORACLE = values("auc")
AUC = cc.metric("auc")


def by_pairs(weights, a, b, marker):
    """AUCs at all times and their mean, of subjects with case weights, over all pairs, slowly."""
    aucs, events = [], []
    for k in range(a.shape[1]):
        better = (marker[:, k][:, None] > marker[:, k]) + 0.5 * (marker[:, k][:, None] == marker[:, k])
        pairs = np.outer(weights * b[:, k], weights * a[:, k])
        np.fill_diagonal(pairs, 0.0)
        aucs.append((pairs * better).sum() / pairs.sum())
        events.append((weights * b[:, k]).sum())
    new = np.diff(np.array([0.0, *events]))
    return np.array([*aucs, new @ np.array(aucs) / events[-1]])


def markers(predictions, n):
    return [each.marker(TIMES, np.arange(n)) for each in predictions]


def both(status, predictions, y):
    """The influence on the AUCs of all models, and that on their means."""
    moved = [
        influence(status, functionals(status, predictions), y)
        for functionals in (AUC.functionals_over_time, AUC.functionals)
    ]
    parts = [each.split(len(predictions)) for each in moved]
    return [
        tuple(np.column_stack(pair) if pair[0] is not None else None for pair in zip(*sides, strict=True))
        for sides in zip(*[[(each.test, each.fitted) for each in part] for part in parts], strict=True)
    ]


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("censoring", ["km", "cox"])
def test_ipcw_is_the_derivative_by_case_weights(censoring, same):
    X, y = drawn(5, 50)
    X_fit, y_fit = (X, y) if same else drawn(6, 45)
    predictions = models(X) | {"risk": cc.data.predictions.RiskScores(np.round(X[:, 0], 1))}
    adjustment = cc.IPCW(censoring=censoring)
    status = adjustment.fit(y_fit, X_fit).weights(y, TIMES, X)

    def value(weights, weights_fit):
        cox = None if censoring == "km" else Cox(X_fit - 3.0, y_fit.time, y_fit.event, weights_fit)

        def inverse(i, s, side):
            if cox is not None:
                return 1.0 / cox(X[i] - 3.0, s, side)
            return 1.0 / kaplan_meier(y_fit.time, y_fit.event, weights_fit, s, side)

        a, b = np.zeros((2, len(y), TIMES.size), dtype=complex)
        for i, (t, event) in enumerate(zip(y.time, y.event, strict=True)):
            a[i, t > TIMES] = [inverse(i, s, "right") for s in TIMES[t > TIMES]]
            if event and t <= TIMES[-1]:
                b[i, t <= TIMES] = inverse(i, t, "left")
        return np.concatenate(
            [by_pairs(weights, a, b, each) for each in markers(predictions.values(), len(y))]
        )

    found = both(status, predictions, y)
    ones, ones_fit = np.ones(len(y)), np.ones(len(y_fit))
    if same:
        expected = derivatives(lambda w: value(w, w), len(y))
        np.testing.assert_allclose(np.hstack([test for test, _ in found]), expected, atol=1e-10)
        return
    np.testing.assert_allclose(
        np.hstack([test for test, _ in found]), derivatives(lambda w: value(w, ones_fit), len(y)), atol=1e-10
    )
    np.testing.assert_allclose(
        np.hstack([fitted for _, fitted in found]),
        derivatives(lambda w: value(ones, w), len(y_fit)),
        atol=1e-10,
    )


@pytest.mark.parametrize(
    ("kind", "copula"), [("continuous", "clayton"), ("continuous", "estimated"), ("grouped", "frank")]
)
def test_the_imputation_model(kind, copula):
    y = OUTCOMES[kind]
    times, predictions = joint_models(y)
    times = times[4:]
    fitted = cc.Imputation("everything", COPULAS[copula]).fit(y, TEST.X, predictions)
    status = fitted.weights(y, times, TEST.X)
    moved = influence(status, AUC.functionals(status, predictions), y).test
    n = len(y)
    marker = [-each.read(times, np.arange(n)) for each in predictions.values()]

    def at(j, step):
        weight = np.full(n, 1.0 - step)
        weight[j] += n * step
        family = type(fitted.joint.model.copula)
        fixed = fitted.joint.model.copula.theta if fitted.joint.model.theta_fixed else None
        optimum, model = fitted.joint.problem.weighted(weight).optimum(family, fixed)
        joint = replace(fitted.joint, model=model, optimum=optimum)
        again = replace(fitted, joint=joint).weights(y, times, TEST.X)
        return [by_pairs(weight, again.a, again.b, each)[-1] for each in marker]

    for j in (0, 101):
        numeric = (np.array(at(j, STEP)) - at(j, -STEP)) / (2.0 * STEP)
        np.testing.assert_allclose(moved[j], numeric, atol=1e-5 * np.abs(moved).max(), rtol=1e-5)


# --- riskRegression -------------------------------------------------------------------------------------------


def scored(name):
    rows, times = rows_of(name)
    y, status = answer(name, "km", rows, times)
    a, b = (np.round(each, 6) for each in unrounded(name, rows, times))
    tables = {"a": a, "b": b, "tied": np.round(a, 1)}
    return y, status, times, {key: cc.Predictions(times, table) for key, table in tables.items()}


def standard_errors(terms):
    """Of the values of three models, and of the difference of the first two."""
    names = ("a_se", "b_se", "tied_se", "difference_se")
    each = (*terms, terms[0] - terms[1])
    return {name: x.std(axis=0, ddof=1) / np.sqrt(len(x)) for name, x in zip(names, each, strict=True)}


@pytest.mark.parametrize("name", DATA)
def test_values_are_riskregressions(name):
    _, status, _, predictions = scored(name)
    for key, found in AUC.values_over_time(status, predictions).items():
        np.testing.assert_allclose(found, ORACLE[name]["km"][key], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", DATA)
def test_in_its_own_convention_kaplan_meier_gives_riskregressions_errors(name):
    y, status, times, predictions = scored(name)
    [part] = AUC.functionals_over_time(status, predictions).parts(status)
    terms = []
    for gradient in part.functionals.gradients:
        block = gradient.of_subjects(np.arange(len(y)))
        each = len(y) * (status.a * block.event_free + status.b * block.event)
        terms.append(
            np.column_stack([with_all_at_risk(y, *pair) for pair in zip(each.T, times, strict=True)])
        )
    for key, found in standard_errors(terms).items():
        np.testing.assert_allclose(found, ORACLE[name]["km"][key], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "tolerance"), [("gbsg", 4e-6), ("gbsg_months", 3e-5), ("whas500", 2e-6), ("veteran", 4e-5)]
)
def test_exact_derivatives_are_as_far_from_riskregression_as_the_guide_says(name, tolerance):
    y, status, _, predictions = scored(name)
    moved = influence(status, AUC.functionals_over_time(status, predictions), y).test
    for key, found in standard_errors(np.hsplit(moved, 3)).items():
        expected = np.array(ORACLE[name]["km"][key])
        # Of one marker for all there is no error.
        apart = np.abs(found - expected)[expected > 0] / expected[expected > 0]
        assert apart.max() < tolerance


# --- the bootstrap --------------------------------------------------------------------------------------------


@pytest.mark.no_cover
def test_the_bootstrap_tells_the_same_errors():
    X, y = drawn(8, 300)
    predictions = models(X)
    metrics = [AUC, cc.metric("auc", at=2.0)]
    result = cc.evaluate(predictions, y, X, times=TIMES, adjustments="ipcw", metrics=metrics)
    again = result.bootstrap(400, seed=1)
    for metric in ("auc", "auc at 2"):
        for model in predictions:
            analytic = result.score(model, metric=metric).standard_error
            drawn_again = again.score(model, metric=metric).standard_error
            # 400 resamples tell an error up to 3.5 %.
            assert drawn_again / analytic == pytest.approx(1.0, abs=0.15)
