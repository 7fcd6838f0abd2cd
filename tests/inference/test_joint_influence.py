"""The influence of imputation by a joint model is the derivative of the score by the weights of subjects."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.adjustments.gradient import Functionals
from cocensor.inference.influence import influence
from cocensor.simulate import SyntheticDesign

N = 120
STEP = 1e-5
DATA = SyntheticDesign(n=2 * N, n_features=3, copula=cc.Clayton.from_tau(0.4)).draw(3)
TRAIN, TEST = DATA[:N], DATA[N:]
MONTHS = np.ceil(TEST.y.time * 8 / np.median(TEST.y.time))
ENDED = ~TEST.y.event & (np.arange(N) % 3 == 0)
OUTCOMES = {
    "continuous": TEST.y,
    "administrative": cc.Survival(TEST.y.time, TEST.y.event, ENDED),
    "grouped": cc.Survival(MONTHS, TEST.y.event),
    "grouped, administrative": cc.Survival(MONTHS, TEST.y.event, ENDED),
    "zero": cc.Survival(np.where(np.arange(N) < 3, 0.0, TEST.y.time), TEST.y.event),
}
COPULAS = {
    "independence": None,
    "clayton": cc.Clayton.from_tau(0.4),
    "frank": cc.Frank.from_tau(-0.3),
    "gumbel": cc.Gumbel.from_tau(0.6),
    "joe": cc.Joe.from_tau(0.8),
    "gaussian": cc.Gaussian.from_tau(0.3),
    "estimated": "frank",
}


def models(y):
    times = np.linspace(0.0, np.quantile(y.time, 0.9), 12)
    found = {}
    for k in (1, 3):
        cox = cc.CoxPH().fit(TRAIN.X[:, :k], TRAIN.y)
        scale = np.median(TEST.y.time) / np.median(y.time)
        found[f"{k}"] = cc.Predictions(times, cox.survival(times * scale, TEST.X[:, :k]))
    return times, found


def weighted_scores(fitted, y, x, times, predictions, functionals, weight, of_test):
    """The functionals where subjects of the sample that was fitted to, and of the test sample, have weights."""
    problem = fitted.joint.problem.weighted(weight)
    family = type(fitted.joint.model.copula)
    fixed = fitted.joint.model.copula.theta if fitted.joint.model.theta_fixed else None
    optimum, model = problem.optimum(family, fixed)
    joint = replace(fitted.joint, model=model, optimum=optimum)
    status = replace(fitted, joint=joint).weights(y, times, x)
    found = []
    for gradient in functionals.gradients:
        block = gradient.of_subjects(np.arange(len(y)))
        by_time = of_test @ (status.a * block.event_free + status.b * block.event)
        found.append(by_time @ functionals.time_weights)
    return np.concatenate(found)


def jackknife(fitted, y, x, times, predictions, functionals, j, *, same):
    """The derivative by a share of the sample that is given to subject j, the rest shrunk."""
    n = len(fitted.joint.problem.design)

    def at(step):
        weight = np.full(n, 1.0 - step)
        weight[j] += n * step
        of_test = weight if same else np.ones(len(y))
        return weighted_scores(fitted, y, x, times, predictions, functionals, weight, of_test)

    return (at(STEP) - at(-STEP)) / (2.0 * STEP)


def check(fitted, y, x, times, predictions, metric, *, same=True, each_time=False):
    status = fitted.weights(y, times, x)
    functionals = metric.functionals(status, predictions)
    if each_time:
        functionals = Functionals(functionals.gradients, np.eye(times.size))
    found = influence(status, functionals, y)
    moved = found.test if same else found.fitted
    np.testing.assert_allclose(moved.mean(axis=0), 0.0, atol=1e-13)
    size = np.abs(moved).max(axis=0)
    for j in (0, 101):
        numeric = jackknife(fitted, y, x, times, predictions, functionals, j, same=same)
        # At time 0 everybody is event-free, and nothing moves.
        np.testing.assert_allclose(moved[j], numeric, atol=1e-5 * size.max(), rtol=1e-5)
    return found


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("kind", "copula"),
    [
        *(("continuous", copula) for copula in COPULAS),
        *((kind, copula) for kind in OUTCOMES if kind != "continuous" for copula in ("clayton", "estimated")),
        ("administrative", "gaussian"),
        ("grouped", "independence"),
        ("grouped", "gaussian"),
    ],
)
@pytest.mark.filterwarnings(
    "ignore::cocensor.warnings.FitWarning"
)  # of times of 0, which are among the cases
def test_the_imputation_model(kind, copula):
    y = OUTCOMES[kind]
    times, predictions = models(y)
    fitted = cc.Imputation("everything", COPULAS[copula]).fit(y, TEST.X, predictions)
    check(fitted, y, TEST.X, times, predictions, cc.metric("ibs"))


@pytest.mark.filterwarnings("ignore::cocensor.warnings.FitWarning")  # of times of 0
def test_a_penalty_that_is_asked_for_does_not_fade_as_more_subjects_count():
    y = OUTCOMES["zero"]
    times, predictions = models(y)
    fitted = cc.Imputation("everything", "frank", penalty=0.01).fit(y, TEST.X, predictions)
    check(fitted, y, TEST.X, times, predictions, cc.metric("ibs"))


@pytest.mark.parametrize("kind", ["administrative", "grouped, administrative", "zero"])
@pytest.mark.parametrize("ratio", [3.0, np.linspace(0.4, 3.0, N)], ids=["all", "subject"])
@pytest.mark.filterwarnings(
    "ignore::cocensor.warnings.FitWarning"
)  # of times of 0, which are among the cases
def test_a_hazard_ratio_after_dropout(kind, ratio):
    y = OUTCOMES[kind]
    times, predictions = models(y)
    fitted = cc.Imputation("everything", hazard_ratio=ratio).fit(y, TEST.X, predictions)
    check(fitted, y, TEST.X, times, predictions, cc.metric("ibs"), each_time=kind == "administrative")


def test_shares_of_the_reasons_of_dropouts_are_estimated_too():
    """By copies of the training subjects, and some more of one of them."""
    why = np.where(np.arange(N) % 2, "moved", "ill")
    train, y = (
        cc.Survival(part.y.time, part.y.event, ~part.y.event & (np.arange(N) % 3 == 0), why)
        for part in (TRAIN, TEST)
    )
    times, predictions = models(y)
    fitted = cc.Imputation("covariates", hazard_ratio={"ill": 4.0}).fit(train, TRAIN.X)
    status = fitted.weights(y, times, TEST.X)
    functionals = cc.metric("ibs").functionals(status, predictions)
    j, copies = int(np.flatnonzero(train.dropout & (why == "moved"))[0]), 40

    def moved(more):
        rows = np.concatenate((np.tile(np.arange(N), copies), np.full(more, j)))
        again = replace(fitted, sample=fitted.sample[rows])
        weight = np.bincount(rows) * (N / rows.size)
        score = weighted_scores(again, y, TEST.X, times, predictions, functionals, weight, np.ones(N))
        return score, more / rows.size

    start = moved(0)[0]
    (one, share), (two, twice) = moved(5), moved(10)
    # The second order of the step taken out.
    numeric = 2.0 * (one - start) / share - (two - start) / twice
    np.testing.assert_allclose(influence(status, functionals, y).fitted[j], numeric, rtol=1e-3)


@pytest.mark.parametrize("given", ["prediction", "predictions", ("covariates", "predictions")])
@pytest.mark.parametrize("metric", [cc.metric("ibs"), cc.metric("ils", floor=1e-3)], ids=["ibs", "ils"])
def test_given_less(given, metric):
    times, predictions = models(TEST.y)
    if given == "prediction":
        predictions = {"3": predictions["3"]}
    fitted = cc.Imputation(given, cc.Clayton.from_tau(0.4)).fit(TEST.y, TEST.X, predictions)
    check(fitted, TEST.y, TEST.X, times, predictions, metric, each_time=metric.name == "ils")


@pytest.mark.parametrize("name", ["d_calibration", "absolute_error"])
def test_what_reads_all_times_at_once(name):
    times, predictions = models(TEST.y)
    fitted = cc.Imputation("everything", cc.Clayton.from_tau(0.4)).fit(TEST.y, TEST.X, predictions)
    check(fitted, TEST.y, TEST.X, times, predictions, cc.metric(name))


@pytest.mark.parametrize("margins", ["weibull", "spline"])
def test_given_covariates_in_a_training_sample(margins):
    times, predictions = models(TEST.y)
    fitted = cc.Imputation("covariates", cc.Frank.from_tau(0.4), margins=margins).fit(TRAIN.y, TRAIN.X)
    found = check(fitted, TEST.y, TEST.X, times, predictions, cc.metric("ibs"), same=False)
    assert found.test.shape == found.fitted.shape == (N, 2)


def test_fortran_order_and_several_forms_make_no_difference():
    times, predictions = models(TEST.y)
    other = {
        name: cc.Predictions(times, np.asfortranarray(each.probabilities))
        for name, each in predictions.items()
    }
    metric, adjustment = cc.metric("ibs"), cc.Imputation("everything", cc.Clayton(1.0))
    errors = []
    for given in (predictions, other):
        status = adjustment.fit(TEST.y, np.asfortranarray(TEST.X), given).weights(TEST.y, times)
        errors.append(influence(status, metric.functionals(status, given), TEST.y).standard_errors)
    np.testing.assert_allclose(*errors, rtol=1e-12)


def test_without_anybody_to_impute_nothing_was_fitted():
    """All are observed up to the end: the score is a mean, and its error that of a mean."""
    y = cc.Survival(TEST.y.time, np.ones(N, dtype=bool))
    times, predictions = models(y)
    result = cc.evaluate(predictions, y, TEST.X, times=times, adjustments="imputation", metrics="ibs")
    score = result.score("3")
    status = result.results["imputation"].fitted.weights(y, times)
    p = predictions["3"](times)
    losses = status.a * (1 - p) ** 2 + status.b * p**2
    own = losses @ cc.metric("ibs").time_weights(status.grid)
    assert score.standard_error == pytest.approx(own.std(ddof=1) / np.sqrt(N), rel=1e-12)


def test_a_model_that_was_given_has_no_interval():
    times, predictions = models(TEST.y)
    model = cc.fit_joint(TRAIN.X, TRAIN.y, cc.Clayton(1.0))
    adjustments = {"given": cc.Imputation("covariates", model=model)}
    score = cc.evaluate(
        predictions, TEST.y, TEST.X, times=times, adjustments=adjustments, metrics="ibs"
    ).score("3")
    assert np.isfinite(score.value)
    assert np.isnan(score.standard_error)
    assert "elsewhere" in score.missing


def test_dropouts_that_count_as_ends_of_study_are_of_the_test_sample_still():
    """Three dropouts have no margin of their own: the errors are those without any, and not of two samples."""
    ended = ~TEST.y.event
    times, predictions = models(TEST.y)
    few = ended.copy()
    few[np.flatnonzero(ended)[:3]] = False
    errors = []
    for marks in (ended, few):
        y = cc.Survival(TEST.y.time, TEST.y.event, marks)
        result = cc.evaluate(predictions, y, TEST.X, times=times, adjustments="imputation", metrics="ibs")
        errors.append(result.score("3").standard_error)
    assert errors[1] == pytest.approx(errors[0], rel=1e-9)


def test_what_is_pulled_back_comes_in_small_blocks(monkeypatch):
    """However many values there are: those of a curve by all subjects fitted to would not fit into memory."""
    times, predictions = models(TEST.y)
    fitted = cc.Imputation("everything", cc.Clayton.from_tau(0.4)).fit(TEST.y, TEST.X, predictions)
    status = fitted.weights(TEST.y, times)
    functionals = cc.metrics.IntegratedBrierScore().functionals(status, predictions)
    whole, parts = np.zeros((2, len(TEST.y), functionals.size))
    for rows, values in status.pull_back(functionals.parts(status), functionals.size):
        whole[rows] += values
    monkeypatch.setattr("cocensor._checks._BLOCK_ELEMENTS", 300)
    for rows, values in status.pull_back(functionals.parts(status), functionals.size):
        assert values.size <= 300
        parts[rows] += values
    np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-12)
