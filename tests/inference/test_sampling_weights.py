"""With unequal sampling weights the influence is the derivative of the weighted score by the weights, fits included."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.samples import Samples
from cocensor.data import Sample
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import influence
from tests.inference.case_weights import derivatives, kaplan_meier, score

N, N_TRAIN, STEP = 90, 80, 1e-5
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N + N_TRAIN, 2))
LATENT = np.ceil(8.0 * RNG.exponential(1.0 / np.exp(X @ [[0.7, 0.5], [0.2, -0.3]]).T)) / 8.0
END = np.where(RNG.uniform(size=N + N_TRAIN) < 0.3, RNG.uniform(0.4, 2.0, size=N + N_TRAIN), 9.0)
ALL = cc.Survival.from_latent(*LATENT, END)
ALL = cc.Survival(
    ALL.time, ALL.event, ALL.administrative, np.where(np.arange(len(ALL)) % 3, "moved", "other")
)
WEIGHT = RNG.gamma(2.0, size=N + N_TRAIN)
TIMES = np.array([0.0, 0.25, 0.6, 1.0, 1.4])
LEVELS = np.where(X[:N, 0] + 0.5 * RNG.normal(size=N) > 0.0, 1.6, 0.6)
#: Predictions of two levels have a calibration curve without knots, which would move with the weights.
CURVES = {
    "levels": cc.Predictions(TIMES, np.exp(-TIMES * LEVELS[:, None])),
    "score": cc.Predictions(TIMES, np.exp(-TIMES * np.exp(0.5 * X[:N, 0] - 0.2 * X[:N, 1])[:, None])),
}
ADJUSTMENTS = {
    "ipcw": cc.IPCW(),
    "ipcw, floor": cc.IPCW(min_probability=0.5),
    "ipcw, cox": cc.IPCW("cox"),
    "ipcw, ridge": cc.IPCW(cc.CoxPH(ridge=3.0)),
    "margins": cc.Imputation((), cc.Clayton.from_tau(0.4)),
    "margins, event-free": cc.Imputation((), cc.Frank.from_tau(0.3), conditioning="event_free"),
    "covariates": cc.Imputation("covariates", cc.Gumbel.from_tau(0.3)),
    "covariates, estimated": cc.Imputation("covariates", "frank", margins="weibull"),
    "everything": cc.Imputation("everything", cc.Clayton.from_tau(0.4)),
    "hazard ratio": cc.Imputation("predictions", margins="weibull", hazard_ratio=2.0),
    "by reason": cc.Imputation("covariates", margins="weibull", hazard_ratio={"moved": 3.0}),
}
METRICS = {
    "ibs": cc.metric("ibs"),
    "brier": cc.metric("brier", at=1.0),
    "ils": cc.metric("ils", floor=0.05),
    "auc": cc.metric("auc"),
    "auc at a time": cc.metric("auc", at=1.0),
    "concordance": cc.metric("concordance"),
    "time-dependent": cc.metrics.Concordance(time_dependent=True),
    "ici": cc.metric("ici", at=1.0),
    "discrimination": cc.metric("discrimination", at=1.0),
    "miscalibration": cc.metric("miscalibration", at=1.0),
    "net benefit": cc.metric("net_benefit", threshold=0.5, at=1.0),
    "d_calibration": cc.metric("d_calibration", n_cells=3),
    "absolute error": cc.metric("absolute_error"),
}


def sample(rows, weight):
    return Sample(ALL[rows], X[rows], weight)


TEST, TRAIN = np.arange(N), np.arange(N, N + N_TRAIN)
OWN = {"test": WEIGHT[TEST] / WEIGHT[TEST].mean(), "train": WEIGHT[TRAIN] / WEIGHT[TRAIN].mean()}


def refitted(fitted, own):
    """A fit by other weights; of a joint model with the same knots, ridges and columns."""
    if not hasattr(fitted, "joint"):
        return fitted.adjustment.fit_to(own, {})
    joint, problem = fitted.joint, fitted.joint.problem.weighted(own.weight)
    copula = joint.model.copula
    optimum, model = problem.optimum(type(copula), copula.theta if joint.model.theta_fixed else None)
    return replace(fitted, joint=replace(joint, model=model, optimum=optimum), sample=own)


def jackknife(value, weight, j):
    """The derivative by a share given to subject j, times its weight."""
    moved = [
        weight * (1.0 - step) + step * weight.sum() * (np.arange(weight.size) == j) for step in (STEP, -STEP)
    ]
    return (value(moved[0]) - value(moved[1])) / (2.0 * STEP) * weight[j]


def fitted_to(adjustment, trained):
    own = sample(TRAIN, OWN["train"]) if trained else sample(TEST, OWN["test"])
    return own, adjustment.fit_to(own, CURVES)


def check(adjustment, metric, trained, within=None):
    own, fitted = fitted_to(adjustment, trained)
    models = {"levels": CURVES["levels"]} if "ici" in metric.name else CURVES
    grid = metric.grid(TimeGrid.of(TIMES))

    def status(fitted, weight):
        weights = fitted.weights(ALL[TEST], grid, X[TEST], weight=weight)
        return weights if within is None else weights.weighted(within)

    def value(of_fit, of_test):
        again = status(refitted(fitted, replace(own, weight=of_fit)), of_test)
        return np.array([each.value for each in metric.evaluate(again, models).values()])

    at_hand = status(fitted, OWN["test"])
    found = influence(at_hand, metric.functionals(at_hand, models), ALL[TEST])
    np.testing.assert_allclose(found.test.sum(axis=0), 0.0, atol=1e-10)
    pairs = [(found.test, "test", lambda w: value(w, w))]
    if trained:
        pairs = [
            (found.test, "test", lambda w: value(own.weight, w)),
            (found.fitted, "train", lambda w: value(w, OWN["test"])),
        ]
    for moved, of, by in pairs:
        for j in (3, 40, 71):
            numeric = jackknife(by, OWN[of], j)
            np.testing.assert_allclose(moved[j], numeric, rtol=2e-5, atol=2e-5 * np.abs(moved).max())
    return found


@pytest.mark.filterwarnings("ignore::cocensor.warnings.HorizonWarning")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("adjustment", ["ipcw", "margins", "covariates"])
def test_every_metric(adjustment, metric):
    check(ADJUSTMENTS[adjustment], METRICS[metric], trained=False)


@pytest.mark.filterwarnings("ignore::cocensor.warnings.HorizonWarning")
@pytest.mark.parametrize("trained", [False, True], ids=["own sample", "trained"])
@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
def test_every_adjustment(adjustment, trained):
    by_test = ADJUSTMENTS[adjustment].needs & {"predictions"}
    check(ADJUSTMENTS[adjustment], METRICS["ibs"], trained and not by_test)


@pytest.mark.filterwarnings("ignore::cocensor.warnings.HorizonWarning")
@pytest.mark.parametrize("metric", ["ibs", "auc", "ici", "concordance"])
@pytest.mark.parametrize("adjustment", ["ipcw", "ipcw, cox", "covariates"])
def test_within_a_group_scores_have_other_weights_than_the_fit(adjustment, metric):
    group = (np.arange(N) % 2).astype(float)
    check(ADJUSTMENTS[adjustment], METRICS[metric], trained=False, within=group)


def test_under_kaplan_meier_it_is_the_derivative_of_the_definition():
    y, weight, metric = ALL[TEST], OWN["test"], cc.metric("ibs")
    bare = cc.Survival(y.time, y.event)
    status = cc.IPCW().fit(bare, weight=weight).weights(bare, TIMES, weight=weight)
    found = influence(status, metric.functionals(status, CURVES), bare)
    losses = [
        (metric.loss.event_free(p), metric.loss.event(p))
        for p in (curves.read(TIMES, np.arange(N)) for curves in CURVES.values())
    ]

    def value(weights):
        def uncensored(_, s, side):
            return kaplan_meier(y.time, y.event, weights, s, side)

        curves = [score(y, weights, pair, TIMES, uncensored, "left") for pair in losses]
        return np.array([metric.time_weights(status.grid) @ curve for curve in curves])

    scores = [each.value for each in metric.evaluate(status, CURVES).values()]
    np.testing.assert_allclose(scores, value(weight).real, rtol=1e-12)
    np.testing.assert_allclose(found.test, derivatives(value, N, weight), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("metric", ["ibs", "auc", "concordance", "ici", "net benefit"])
def test_a_group_under_its_own_weights_is_the_sample_of_the_group(metric):
    """Where nothing is fitted, nobody else has a say."""
    metric, group = METRICS[metric], (np.arange(N) % 3 == 0).astype(float)
    grid, rows = metric.grid(TimeGrid.of(TIMES)), np.flatnonzero(group)
    oracle = cc.Oracle(LATENT[0, :N])
    status = Samples(sample(TEST, OWN["test"]), within=group).weights(oracle.fit(ALL[TEST]), grid)
    alone = cc.Oracle(LATENT[0, rows]).fit(ALL[rows]).weights(ALL[rows], grid, weight=OWN["test"][rows])
    models = {name: curves[rows] for name, curves in CURVES.items()}
    values, expected = metric.evaluate(status, CURVES), metric.evaluate(alone, models)
    for name in models:
        assert values[name].value == pytest.approx(expected[name].value, rel=1e-12)
    found, wanted = (
        influence(of, metric.functionals(of, given), ALL[who])
        for of, given, who in ((status, CURVES, TEST), (alone, models, rows))
    )
    # Shares of all subjects, of whom those in the group are a third.
    np.testing.assert_allclose(found.test[rows], wanted.test * N / rows.size, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.test[group == 0.0], 0.0)
