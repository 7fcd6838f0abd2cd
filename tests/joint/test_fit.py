"""Fits against other software, known optima and simulated truth."""

import warnings

import numpy as np
import pandas as pd
import pytest
from lifelines import SplineFitter, WeibullAFTFitter
from sksurv.datasets import load_gbsg2

import cocensor as cc
from cocensor.joint.fit import JointProblem
from cocensor.simulate import SyntheticDesign
from tests.oracles import data

PAPER = {"margins": "weibull", "penalty": 0.01}
DEPENDENT = [cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe, cc.Gaussian]


def covariates(name):
    frame = data.load(name)
    return frame.drop(columns=["time", "event"]), cc.Survival(frame["time"], frame["event"])


@pytest.fixture(scope="module")
def gbsg2():
    """All rows and covariates, with the grade as a number: what oracles.md's optima belong to."""
    X, y = load_gbsg2()
    X = X.assign(
        horTh=X["horTh"] == "yes",
        menostat=X["menostat"] == "Post",
        tgrade=X["tgrade"].map({"I": 1, "II": 2, "III": 3}).astype(int),
    )
    return X.astype(float), cc.Survival(y["time"], y["cens"])


# --- other software ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gbsg", "whas500"])
def test_weibull_margins_at_independence_against_lifelines(name):
    X, y = covariates(name)
    model = cc.fit_joint(X, y, "independence", "weibull")
    total = 0.0
    for margin, observed in ((model.event, y.event), (model.dropout, ~y.event)):
        frame = X.assign(time=y.time, observed=observed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            aft = WeibullAFTFitter().fit(frame, "time", "observed")
        total += aft.log_likelihood_
        shape = float(np.exp(aft.params_["rho_", "Intercept"]))
        assert margin.coef[1] == pytest.approx(shape, rel=1e-4)
        # log T = μ + x'b: the log-hazard ratios are −b times the shape.
        wanted = [-shape * aft.params_["lambda_", column] for column in X.columns]
        np.testing.assert_allclose(margin.beta, wanted, rtol=1e-3, atol=1e-6)
    assert model.loglik_ == pytest.approx(total, abs=1e-6)
    assert model.converged_


@pytest.mark.no_cover
@pytest.mark.parametrize("n_knots", [1, 3])
def test_spline_margins_at_independence_against_lifelines(n_knots):
    _, y = covariates("gbsg")
    y = cc.Survival(y.time / 365.25, y.event)
    model = cc.fit_joint(None, y, "independence", "spline", knots=n_knots)
    total = 0.0
    for margin, observed in ((model.event, y.event), (model.dropout, ~y.event)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # From a start of its own lifelines stops far from the optimum; from ours it must not find a better point.
            spline = SplineFitter(np.exp(margin.basis.knots)).fit(y.time, observed, initial_point=margin.coef)
        total += spline.log_likelihood_
        times = np.quantile(y.time, [0.1, 0.5, 0.9])
        survival = np.exp(-np.exp(margin.baseline(np.log(times))))
        np.testing.assert_allclose(survival, spline.survival_function_at_times(times), atol=1e-4)
    assert model.loglik_ == pytest.approx(total, abs=1e-6 * abs(total))
    assert model.loglik_ >= total - 1e-6


# --- known optima -----------------------------------------------------------------------------------------


def test_both_optima_of_gbsg2_with_the_clayton_copula(gbsg2):
    """Digits by a second optimiser (BFGS and Newton with torch's gradients, benchmarks/adam.py's objective)."""
    penalised = cc.fit_joint(*gbsg2, "clayton", **PAPER)
    assert penalised.nll_ == pytest.approx(8.371730446, abs=2e-9)
    assert penalised.copula == cc.Clayton(0.0)
    found = {(round(start.theta, 6), round(start.nll, 8)) for start in penalised.starts_}
    assert found == {(0.0, 8.37173045), (0.725244, 8.37583057)}
    assert np.isnan(penalised.theta_se_)
    free = cc.fit_joint(*gbsg2, "clayton", "weibull", penalty=0)
    assert free.copula.theta == pytest.approx(2.75422606, abs=1e-6)
    assert free.nll_ == pytest.approx(8.357172356, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "family", "penalty", "theta", "nll"),
    [
        ("gbsg", "clayton", 0.01, 0.91170626, 8.391473004),
        ("gbsg", "frank", 0.01, 0.40978610, 8.391299875),
        ("gbsg", "gumbel", 0.01, 1.0, 8.392903985),
        ("gbsg", "joe", 0.01, 1.0, 8.392903985),
        ("gbsg", "clayton", 0.0, 3.14914738, 8.368693130),
        ("gbsg", "frank", 0.0, 61.73477663, 8.334642361),
        ("whas500", "clayton", 0.01, 0.0, 7.841261268),
        ("whas500", "frank", 0.01, -0.05995450, 7.841222213),
        ("whas500", "gumbel", 0.0, 1.0, 7.841261268),
        ("whas500", "joe", 0.01, 1.0, 7.841261268),
    ],
)
def test_optima_found_by_another_optimiser(name, family, penalty, theta, nll):
    X, y = covariates(name)
    model = cc.fit_joint(X, y, family, "weibull", penalty=penalty)
    assert model.nll_ <= nll + 1e-9
    assert model.nll_ == pytest.approx(nll, abs=2e-9)
    assert model.copula.theta == pytest.approx(theta, rel=1e-5, abs=1e-6)
    assert model.converged_


def test_a_likelihood_without_an_optimum_stops_at_the_bound():
    """Frank on WHAS500 without penalty: the profile falls as θ → −∞."""
    X, y = covariates("whas500")
    model = cc.fit_joint(X, y, "frank", "weibull", penalty=0)
    assert model.copula.tau == pytest.approx(-0.99, abs=1e-6)
    assert model.starts_[0].at_bound
    assert np.isnan(model.tau_se_)
    assert "at the bound" in model.summary()


# --- simulated truth --------------------------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("tau", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("family", DEPENDENT)
def test_parameters_are_recovered(family, tau):
    design = SyntheticDesign(n=100_000, n_features=3, copula=family.from_tau(tau))
    sample = design.draw(4)
    model = cc.fit_joint(sample.X, sample.y, family, "weibull", penalty=0, starts=(0.5,))
    assert model.converged_
    assert abs(model.copula.tau - tau) < 4 * model.tau_se_
    assert model.tau_se_ < 0.05
    truth = {"event: shape": 4.0, "dropout: shape": 3.0}
    truth |= {f"event: x{i}": beta for i, beta in enumerate(sample.event_coef)}
    truth |= {f"dropout: x{i}": beta for i, beta in enumerate(sample.dropout_coef)}
    truth["event: intercept"] = -4.0 * np.log(17.0)
    for name, value in truth.items():
        estimate, error = model.parameters()[name]
        assert abs(estimate - value) < 4 * error, name


def test_the_papers_penalty_does_not_fade_with_the_sample_size_and_the_default_does():
    sample = SyntheticDesign(copula=cc.Clayton(2.0)).draw(0)
    assert cc.fit_joint(sample.X, sample.y, "clayton", **PAPER).copula.theta < 1.2
    for penalty in (0, None):
        model = cc.fit_joint(sample.X, sample.y, "clayton", "weibull", penalty=penalty)
        assert model.copula.theta == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("family", DEPENDENT)
def test_by_default_the_penalty_is_one_on_tau_in_every_family(family):
    """To first order from independence, and in units of the log-likelihood of all subjects."""
    sample = SyntheticDesign(n=300, n_features=1).draw(0)
    model = cc.fit_joint(sample.X, sample.y, family.from_tau(1e-3), "weibull")
    distance = model.copula.theta - family.independence_theta
    assert 300 * model.penalty * distance**2 == pytest.approx(4e-6, rel=1e-2)


def trap(rng, n=20_000):
    """Independent Weibull event and dropout, and an end of study that all who are left have in common."""
    e, c = 10 * rng.weibull(2.0, size=n), 12 * rng.weibull(1.5, size=n)
    return cc.Survival.from_latent(e, c, np.full(n, 9.0))


@pytest.mark.no_cover
@pytest.mark.parametrize("family", ["clayton", "frank", "gaussian"])
def test_a_common_end_of_study_passes_for_dependence_unless_marked(family):
    y = trap(np.random.default_rng(1))
    unaware = cc.fit_joint(None, cc.Survival(y.time, y.event), family, "weibull", penalty=0)
    aware = cc.fit_joint(None, y, family, "weibull", penalty=0)
    assert abs(unaware.copula.tau) > 0.8
    assert abs(aware.copula.tau) < 0.15
    assert abs(aware.copula.tau) < 4 * aware.tau_se_ or aware.starts_[0].at_bound
    penalised = cc.fit_joint(None, y, family, **PAPER)
    assert abs(penalised.copula.tau) < 0.05 or family == "gaussian"


@pytest.mark.no_cover
@pytest.mark.parametrize("family", [cc.Clayton, cc.Frank, cc.Gaussian])
def test_administrative_censoring_costs_no_bias(family):
    sample = SyntheticDesign(n=50_000, n_features=2, copula=family.from_tau(0.5)).draw(2)
    rng = np.random.default_rng(0)
    y = cc.Survival.from_latent(sample.event_time, sample.dropout_time, rng.uniform(5, 30, size=50_000))
    model = cc.fit_joint(sample.X, y, family, "weibull", penalty=0, starts=(0.5,))
    assert abs(model.copula.tau - 0.5) < 4 * model.tau_se_


@pytest.mark.no_cover
@pytest.mark.parametrize("copula", [cc.Independence(), cc.Clayton(2.0), cc.Gumbel(2.0)])
def test_grouped_times_recover_the_margins_that_a_density_does_not(copula):
    sample = SyntheticDesign(
        n=20_000, n_features=2, event=(1.2, 6.0), dropout=(1.5, 5.0), copula=copula
    ).draw(3)
    months = cc.Survival.from_latent(np.ceil(sample.event_time), np.ceil(sample.dropout_time))
    grouped = cc.fit_joint(sample.X, months, copula, "weibull")
    assert grouped.time_kind_ == "grouped"
    assert "different times" in grouped.time_kind_reason_
    density = cc.fit_joint(sample.X, months, copula, "weibull", time_kind="continuous")
    errors = {}
    for name, model in (("grouped", grouped), ("density", density)):
        estimate, error = model.parameters()["event: shape"]
        errors[name] = abs(estimate - 1.2) / error
    assert errors["grouped"] < 4
    assert errors["density"] > 10


def test_standard_errors_are_those_of_the_hessian_in_the_users_units():
    """Against differences of the log-likelihood itself, at the user's own parameters."""
    sample = SyntheticDesign(n=2000, n_features=1, copula=cc.Clayton(2.0)).draw(5)
    X = 10 + 7 * sample.X
    model = cc.fit_joint(X, sample.y, "clayton", "weibull", penalty=0)

    def loglik(values):
        changed = cc.joint.JointModel(
            **{name: getattr(model, name) for name in model.__dataclass_fields__ if name not in moved},
            copula=cc.Clayton(values[-1]),
            event=type(model.event)(model.event.basis, values[:2], values[2:3]),
            dropout=type(model.event)(model.event.basis, values[3:5], values[5:6]),
        )
        return changed.loglik(X, sample.y)

    moved = ("copula", "event", "dropout")
    point = np.array([value for value, _ in model.parameters().values()])
    errors = np.array([error for _, error in model.parameters().values()])
    # In units of the standard errors, where every curvature is of the same order.
    k, step = point.size, 0.05
    unit = np.eye(k) * errors * step
    information = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            corners = [loglik(point + a * unit[i] + b * unit[j]) * a * b for a in (-1, 1) for b in (-1, 1)]
            information[i, j] = -sum(corners) / (4 * step**2)
    expected = np.linalg.inv(model.covariance_ / np.outer(errors, errors))
    np.testing.assert_allclose(information, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


# --- properties -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("margins", ["weibull", "spline"])
@pytest.mark.parametrize("family", DEPENDENT)
def test_the_independence_limit_is_the_independence_fit(family, margins):
    X, y = covariates("whas500")
    limit = cc.fit_joint(X, y, family(family.independence_theta), margins)
    independent = cc.fit_joint(X, y, cc.Independence(), margins)
    assert limit.loglik_ == pytest.approx(independent.loglik_, rel=1e-13)
    assert limit.loglik(X, y) == pytest.approx(limit.loglik_, rel=1e-12)


@pytest.mark.parametrize(
    "copula", [cc.Clayton(3.0), cc.Frank(-4.0), cc.Gaussian(0.9), cc.Joe(8.0), cc.Clayton(198)]
)
def test_a_fixed_copula_stays_as_it_is(copula):
    X, y = covariates("gbsg")
    model = cc.fit_joint(X, y, copula)
    assert model.copula == copula
    assert model.theta_fixed
    assert model.converged_
    assert model.loglik(X, y) == pytest.approx(model.loglik_, rel=1e-12)
    by_name = cc.fit_joint(X, y, copula.name, theta=copula.theta)
    assert by_name.loglik_ == pytest.approx(model.loglik_, rel=1e-12)
    assert "theta" not in model.parameters()
    assert "fixed" in model.summary()


def test_units_and_order_of_the_data_do_not_matter():
    X, y = covariates("gbsg")
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))
    model = cc.fit_joint(X, y, "frank", "spline")
    other = cc.fit_joint(
        1000.0 + X.to_numpy()[rows] / 30.0,
        cc.Survival(y.time[rows] / 365.25, y.event[rows]),
        "frank",
        "spline",
    )
    assert other.copula.theta == pytest.approx(model.copula.theta, rel=1e-6)
    assert other.theta_se_ == pytest.approx(model.theta_se_, rel=1e-5)
    np.testing.assert_allclose(other.event.beta, 30 * model.event.beta, rtol=1e-5)
    days = np.array([300.0, 1000.0])
    np.testing.assert_allclose(
        other.survival(days / 365.25, 1000.0 + X / 30.0), model.survival(days, X), rtol=1e-6
    )


def test_a_spline_without_inner_knots_would_be_weibull_and_with_them_fits_no_worse():
    X, y = covariates("gbsg")
    weibull = cc.fit_joint(X, y, cc.Clayton(1.0), "weibull")
    previous = weibull.loglik_
    for knots in (1, 3):
        spline = cc.fit_joint(X, y, cc.Clayton(1.0), "spline", knots=knots)
        assert spline.loglik_ > weibull.loglik_
        previous = max(previous, spline.loglik_)
    assert len(spline.event.basis.knots) == 5


def test_draws_follow_the_model():
    X, y = covariates("whas500")
    model = cc.fit_joint(X, y, cc.Frank(6.0), "spline")
    X = X.to_numpy()[[3]].repeat(40_000, axis=0)
    e, c = model.sample(X, rng=1)
    again = model.sample(X, rng=1)
    np.testing.assert_array_equal(e, again[0])
    t = np.quantile(e, [0.1, 0.5, 0.9])
    for times, survival in ((e, model.survival), (c, model.dropout_survival)):
        expected = survival(t, X[:1])[0]
        found = (times[:, None] > t).mean(axis=0)
        np.testing.assert_array_less(
            np.abs(found - expected), 4 * np.sqrt(expected * (1 - expected) / 40_000) + 1e-9
        )
    joint = ((e > t[1]) & (c > t[1])).mean()
    expected = model.copula.cdf(model.survival(t[1], X[:1])[0, 0], model.dropout_survival(t[1], X[:1])[0, 0])
    assert abs(joint - expected) < 4 * np.sqrt(expected / 40_000)


@pytest.mark.parametrize("copula", [cc.Clayton(4.0), cc.Gaussian(0.7), cc.Independence()])
def test_conditional_survival_against_simulation(copula):
    rng = np.random.default_rng(2)
    u, v = copula.sample(5_000, rng).T
    y = cc.Survival.from_latent(-np.log(u), -np.log(v))
    model = cc.fit_joint(None, y, copula)
    e, c = model.sample(n=1_000_000, rng=3)
    close = (np.abs(c - 1.0) < 0.02) & (e > c)
    t = np.array([0.5, 1.0, 1.2, 1.5, 2.5])
    after = {False: e[close], True: e[(c > 1.0) & (e > 1.0)]}
    for ended, times in after.items():
        q = model.conditional_survival(t, [1.0], administrative=[ended])[0]
        np.testing.assert_array_equal(q[:2], 1.0)
        found = (times[:, None] > t).mean(axis=0)
        error = np.sqrt(q * (1 - q) / times.size)
        # The window around c blurs what is known of t close to it.
        np.testing.assert_array_less(np.abs(found - q)[2:], 4 * error[2:] + 0.02)


def test_conditional_survival_of_the_theory_page():
    """Clayton θ = 4, Exp(1) margins, c = 1: P(E > 1.5 given C = 1, E > 1) = 0.1651 in closed form."""
    margin = cc.fit_joint(None, cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0]), cc.Clayton(4.0)).event
    unit = type(margin)(margin.basis, np.array([0.0, 1.0]), np.empty(0))
    model = cc.fit_joint(None, cc.Survival([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0]), cc.Clayton(4.0))
    model = cc.joint.JointModel(
        **{n: getattr(model, n) for n in model.__dataclass_fields__ if n not in ("event", "dropout")},
        event=unit,
        dropout=unit,
    )
    assert model.conditional_survival([1.5], [1.0])[0, 0] == pytest.approx(0.1651, abs=5e-5)


def test_far_beyond_the_data_nobody_is_left():
    X, y = covariates("gbsg")
    model = cc.fit_joint(X, y, cc.Clayton(2.0), "spline")
    far = np.array([1e4, 1e6, 1e9, 1e300])
    q = model.conditional_survival(far, y.time[:5], X[:5], administrative=[1, 0, 0, 1, 0])
    assert (q[:, -1] == 0).all()
    assert ((q >= 0) & (q <= 1)).all()
    assert (np.diff(q, axis=1) <= 0).all()
    np.testing.assert_array_equal(model.survival([0.0], X[:3]), 1.0)


def test_saved_and_loaded_is_the_same(tmp_path):
    X, y = covariates("gbsg")
    for model in (
        cc.fit_joint(X, y, "frank", "spline"),
        cc.fit_joint(None, cc.Survival(np.ceil(y.time / 365), y.event), cc.Gumbel(2.0)),
    ):
        path = tmp_path / "model.json"
        model.save(path)
        loaded = cc.joint.JointModel.load(path)
        assert repr(loaded) == repr(model)
        assert loaded.summary() == model.summary()
        np.testing.assert_array_equal(loaded.covariance_, model.covariance_)
        given = X if model.event.beta.size else None
        outcomes = y if given is not None else cc.Survival(np.ceil(y.time / 365), y.event)
        assert loaded.loglik(given, outcomes) == model.loglik(given, outcomes)
        assert [each.name for each in tmp_path.iterdir()] == ["model.json"]
    path.write_text("{}")
    with pytest.raises(ValueError, match="path must name a saved joint model"):
        cc.joint.JointModel.load(path)
    path.write_bytes(b"\x80pickle")
    with pytest.raises(ValueError, match="is not JSON"):
        cc.joint.JointModel.load(path)


def test_the_summary_says_what_was_found(gbsg2):
    text = cc.fit_joint(*gbsg2, "clayton", **PAPER).summary()
    for part in (
        "clayton copula",
        "686 subjects",
        "event: pnodes",
        "dropout: shape",
        "0.72524",
        "(bound)",
        "a hint",
    ):
        assert part in text


# --- refusals ---------------------------------------------------------------------------------------------


def test_a_time_of_zero_adds_nothing():
    X, y = covariates("gbsg")
    zero = cc.Survival(np.where(np.arange(len(y)) < 2, 0.0, y.time), y.event)
    with pytest.warns(cc.warnings.FitWarning, match="^2 subjects .* 0"):
        with_zero = cc.fit_joint(X, zero, cc.Clayton(1.0))
    without = cc.fit_joint(X[2:], y[2:], cc.Clayton(1.0))
    assert with_zero.n_ == len(y) - 2
    assert with_zero.loglik_ == pytest.approx(without.loglik_, abs=1e-6)
    assert with_zero.loglik(X, zero) == pytest.approx(without.loglik(X[2:], y[2:]), abs=1e-6)
    np.testing.assert_allclose(with_zero.event.beta, without.event.beta, atol=1e-6)


def test_refusals():
    X, y = covariates("gbsg")
    n = len(y)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="^y .* 0"):
        cc.fit_joint(X, cc.Survival(np.zeros(n), y.event))
    with pytest.raises(ValueError, match="^y .*dropout"):
        cc.fit_joint(X, cc.Survival(y.time, np.ones(n, bool)))
    with pytest.raises(ValueError, match="^y .*event"):
        cc.fit_joint(X, cc.Survival(y.time, np.zeros(n, bool)))
    few = cc.Survival(y.time, np.arange(n) < 3)
    with pytest.raises(ValueError, match="^y .* 3 events .* 7 parameters"):
        cc.fit_joint(X, few)
    with pytest.raises(ValueError, match="'twice'"):
        cc.fit_joint(X.assign(twice=2 * X["age"] - X["nodes"]), y)
    with pytest.raises(ValueError, match="^X .*column 1 "):
        cc.fit_joint(np.column_stack((rng.normal(size=n), np.ones(n))), y)
    with pytest.raises(ValueError, match="^copula .*'claytonn'"):
        cc.fit_joint(X, y, "claytonn")
    with pytest.raises(TypeError, match="^copula .* int"):
        cc.fit_joint(X, y, 3)
    with pytest.raises(ValueError, match="^theta .*copula.* 2"):
        cc.fit_joint(X, y, cc.Clayton(1.0), theta=2.0)
    with pytest.raises(ValueError, match="^theta .*clayton"):
        cc.fit_joint(X, y, "clayton", theta=-1.0)
    with pytest.raises(ValueError, match="^penalty .*-1"):
        cc.fit_joint(X, y, penalty=-1)
    with pytest.raises(ValueError, match="^margins .*'gamma'"):
        cc.fit_joint(X, y, margins="gamma")
    with pytest.raises(ValueError, match="^knots .* 0"):
        cc.fit_joint(X, y, margins="spline", knots=0)
    with pytest.raises(ValueError, match="^starts .* 1"):
        cc.fit_joint(X, y, starts=(0.2, 1.0))
    with pytest.raises(ValueError, match="X has length 5, but y has length 686"):
        cc.fit_joint(X[:5], y)
    with pytest.raises(ValueError, match="^y .* 3"):
        cc.fit_joint(None, cc.Survival(np.full(10, 3.0), np.arange(10) < 5))
    model = cc.fit_joint(X, y, cc.Clayton(1.0))
    with pytest.raises(ValueError, match="X is needed: the model has 5 covariates"):
        model.survival([1.0])
    with pytest.raises(ValueError, match="^X .*columns"):
        model.survival([1.0], X[X.columns[::-1]])
    with pytest.raises(ValueError, match="^X .* 5 .* 2"):
        model.survival([1.0], X.to_numpy()[:, :2])
    with pytest.raises(ValueError, match="^X .* n"):
        cc.fit_joint(None, y).sample()
    with pytest.raises(ValueError, match="n must be None where X says"):
        model.sample(X, n=3)


def test_a_spline_never_lets_the_cumulative_hazard_fall():
    """Nearly nothing happens in the middle, where a spline through few knots would overshoot."""
    rng = np.random.default_rng(3)
    early, late = rng.uniform(1.0, 1.2, 400), rng.uniform(60.0, 61.0, 400)
    time = np.concatenate((early, late, rng.uniform(1, 60, 20)))
    event = rng.random(time.size) < 0.5
    log_t = np.linspace(-2.0, 6.0, 100_001)
    for copula in (cc.Independence(), cc.Clayton(3.0), cc.Gaussian(-0.5)):
        model = cc.fit_joint(None, cc.Survival(time, event), copula, "spline", knots=4)
        assert model.converged_
        for margin in (model.event, model.dropout):
            assert (np.diff(margin.baseline(log_t)) > 0).all()
            # somewhere it had to be held
            assert (margin.basis.slope_bounds() @ margin.coef).min() < 1e-3
        e, _ = model.sample(n=1000, rng=0)
        assert np.isfinite(e).all()


def test_a_fit_that_does_not_converge_says_so(monkeypatch):
    X, y = covariates("gbsg")
    problem = JointProblem.of(X, y, margins="weibull", penalty=0.0)
    original = JointProblem._minimised

    def short(self, family, start, **options):
        return original(self, family, start, **{**options, "max_iter": 2})

    monkeypatch.setattr(JointProblem, "_minimised", short)
    with pytest.warns(cc.warnings.FitWarning, match="clayton .* 2 iterations"):
        model = problem.fit(cc.Clayton, None, (0.9,))
    assert not model.converged_
    assert "NOT CONVERGED" in model.summary()


def test_frames_of_any_library_and_arrays_agree():
    import polars as pl

    X, y = covariates("whas500")
    models = [cc.fit_joint(each, y, cc.Clayton(1.0)) for each in (X, X.to_numpy(), pl.from_pandas(X))]
    for model in models[1:]:
        assert model.loglik_ == pytest.approx(models[0].loglik_, rel=1e-12)
    assert "event: bmi" in models[2].parameters()
    assert "event: x3" in models[1].parameters()


def test_one_covariate_without_variation_in_events_is_no_trouble_for_a_million_subjects():
    """Memory and time stay linear: a smoke test that the blocks add up."""
    rng = np.random.default_rng(0)
    n = 200_000
    X = rng.normal(size=(n, 1))
    e, c = rng.exponential(size=(2, n)) * np.exp(-X.T * [[0.5], [0.2]])
    model = cc.fit_joint(X, cc.Survival.from_latent(e, c), cc.Independence())
    assert abs(model.event.beta[0] - 0.5) < 4 * model.parameters()["event: x0"][1]
    assert isinstance(pd.DataFrame(model.parameters()), pd.DataFrame)
