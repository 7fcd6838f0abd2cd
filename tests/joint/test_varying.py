"""Effects that change with log time, and ridges."""

import numpy as np
import pytest
from mpmath import mp
from scipy.optimize import minimize

import cocensor as cc
from cocensor._newton import Derivatives, minimise
from cocensor.joint.design import Design
from cocensor.joint.fit import JointProblem, ridge_weights
from cocensor.joint.likelihood import Drift, Likelihood
from cocensor.joint.margins import Barrier, Basis
from tests.refusals import refuses

TIMES = np.array([0.3, 0.8, 1.5])


def crossing(n, seed, copula=None):
    """Weibull hazards whose shapes depend on x: 1.5 + .4 x for the event, 1.2 − .2 x for the dropout."""
    rng = np.random.default_rng(seed)
    x = np.clip(rng.normal(size=n), -2.5, 2.5)
    u, v = (copula or cc.Independence()).sample(n, rng).T
    event = (-np.log(u) * np.exp(-0.5 * x)) ** (1 / (1.5 + 0.4 * x))
    dropout = (1.5 * -np.log(v)) ** (1 / (1.2 - 0.2 * x))
    return x[:, None], cc.Survival.from_latent(event, dropout)


def varying(x, ridge=""):
    return Design(x, ("x",), varying=(0,), varying_ridge=ridge)


@pytest.mark.parametrize("grouped", [False, True])
def test_derivatives_against_differences(grouped):
    x, y = crossing(60, 0)
    ends = np.quantile(y.time, np.linspace(0, 1, 9)[1:]) if grouped else None
    if grouped:
        y = cc.Survival(ends[np.searchsorted(ends, y.time)], y.event)
    bases = (Basis(np.log([0.1, 0.5, 1.0, 2.0])), Basis(np.empty(0)))
    drift = Drift((0,), 0.3, 0.7)
    likelihood = Likelihood(y, x, bases, ends, 0.5, drift)
    point = np.array([0.1, 1.6, 0.02, -0.01, 0.4, 0.2, -0.2, 1.1, 0.3, -0.1, 1.3])
    at = likelihood.derivatives(point[:-1], cc.Clayton(point[-1]), free=True)

    def value(point):
        return likelihood.value(point[:-1], cc.Clayton(point[-1]))

    def gradient(point):
        return likelihood.derivatives(point[:-1], cc.Clayton(point[-1]), free=True).gradient

    assert np.isfinite(at.value)
    assert at.value == pytest.approx(value(point), rel=1e-12)
    step = 1e-6
    for i, unit in enumerate(np.eye(point.size)):
        slope = (value(point + step * unit) - value(point - step * unit)) / (2 * step)
        assert at.gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-5)
        column = (gradient(point + step * unit) - gradient(point - step * unit)) / (2 * step)
        np.testing.assert_allclose(at.hessian[:, i], column, rtol=1e-5, atol=1e-4)


def test_the_barrier_holds_for_every_subject():
    """It ends where the first cumulative hazard would fall."""
    rng = np.random.default_rng(0)
    drifts = rng.normal(size=(5_000, 3))
    barrier = Barrier(np.arange(5), np.array([[0.0, 1.0]]), drifts, 1.0)
    gamma = np.array([0.1, -0.2, 0.05])
    least = (drifts @ gamma).min()
    for slack, inside in ((-1e-9, False), (1e-9, True)):
        assert np.isfinite(barrier.value(np.array([0.0, -least + slack, *gamma]))) == inside


def test_a_search_that_starts_outside_of_the_barrier_ends_there():
    """As from an extrapolated start: it has not converged, and another is looked for."""
    barrier = Barrier(np.arange(2), np.eye(2), None, 1.0)

    def derivatives(point):
        at = barrier.derivatives(point)
        return Derivatives(-at.value, -at.gradient, -at.hessian)

    found = minimise(derivatives, lambda point: -barrier.value(point), np.array([1.0, -1.0]))
    assert (found.converged, found.n_iter, found.value) == (False, 0, np.inf)


def test_next_to_the_barrier_its_derivatives_keep_their_digits():
    """Slopes and drifts without rounding, a room of 2⁻³⁰ between them, and the same in 50 digits."""
    rng = np.random.default_rng(0)
    drifts = rng.integers(-3_000, 3_000, (100, 2)) / 1024
    gamma, room = np.array([2.0, -1.0]), 2.0**-30
    point = np.array([room - (drifts @ gamma).min(), 0.5, *gamma])
    barrier = Barrier(np.arange(4), np.array([[1.0, 0.0], [1.0, 1.0], [2.0, -1.0]]), drifts, 1.0)
    at = barrier.derivatives(point)
    with mp.workdps(50):
        # By parameters and c, what must stay positive and its weight.
        slopes = [([*bound, 0, 0, -1], mp.mpf(1)) for bound in barrier.bounds.tolist()]
        slopes += [([0, 0, *drift, 1], mp.mpf(1) / 100) for drift in drifts.tolist()]
        fixed = [(mp.fdot(s[:4], point.tolist()), s[4], weight) for s, weight in slopes]
        low = max(-value for value, sign, _ in fixed if sign > 0)
        c = mp.findroot(
            lambda c: mp.fsum(weight * sign / (value + sign * c) for value, sign, weight in fixed),
            (low + room * mp.mpf("1e-6"), low + room * mp.mpf("0.5")),
            solver="anderson",
        )
        pulled = mp.matrix([s for s, _ in slopes])
        weights = [weight for _, weight in slopes]
        for i, (value, sign, _) in enumerate(fixed):
            pulled[i, :] = pulled[i, :] / (value + sign * c)
        gradient = [mp.fsum(w * pulled[i, j] for i, w in enumerate(weights)) for j in range(4)]
        scaled = mp.diag([mp.sqrt(w) for w in weights]) @ pulled
        whole = -(scaled.T @ scaled)
        hessian = whole[:4, :4] - whole[:4, 4] @ whole[4, :4] / whole[4, 4]
    np.testing.assert_allclose(at.gradient, np.array(gradient, dtype=float), rtol=1e-10)
    np.testing.assert_allclose(at.hessian, np.array(hessian.tolist(), dtype=float), rtol=1e-10)


@pytest.mark.parametrize("seed", range(30))
def test_newtons_method_follows_the_barrier(seed):
    """The nearest point where all hazards rise to one where many fall: found, and hazards rise by next to nothing.

    Whatever the rounding: here that of the drifts, on other processors that of every product.
    """
    rng = np.random.default_rng(1)
    bounds, drifts = rng.uniform(0.5, 1.5, (20, 2)), rng.normal(size=(2_000, 3))
    drifts *= 1.0 + 1e-15 * np.random.default_rng(seed).normal(size=drifts.shape)
    barrier = Barrier(np.arange(5), bounds, drifts, 1e-4)
    wanted = np.array([3.0, 3.0, 20.0, -10.0, 30.0])

    def derivatives(point):
        at = barrier.derivatives(point)
        away = point - wanted
        return Derivatives(0.5 * away @ away - at.value, away - at.gradient, np.eye(5) - at.hessian)

    def value(point):
        return 0.5 * np.sum((point - wanted) ** 2) - barrier.value(point)

    found = minimise(derivatives, value, np.array([1.0, 1.0, 0.0, 0.0, 0.0]), tolerance=1e-8, max_iter=200)
    assert found.converged
    assert found.value == pytest.approx(605.56630277, abs=1e-7)
    least = (barrier.bounds @ found.point[:2]).min() + (barrier.drifts @ found.point[2:]).min()
    assert 0 < least < 0.01


@pytest.mark.parametrize("copula", [cc.Independence(), cc.Clayton(2.0), cc.Frank(5.0)], ids=repr)
def test_changes_with_time_are_found(copula):
    x, y = crossing(4_000, 1, copula)
    model = cc.fit_joint(varying(x), y, copula, "weibull")
    found = model.parameters()
    for name, true in (
        ("event: shape", 1.5),
        ("event: x", 0.5),
        ("event: x × log time", 0.4),
        ("dropout: shape", 1.2),
        ("dropout: x × log time", -0.2),
    ):
        estimate, error = found[name]
        assert abs(estimate - true) < 3 * error
    proportional = cc.fit_joint(x, y, copula, "weibull")
    assert model.loglik_ > proportional.loglik_ + 50


@pytest.mark.parametrize("margins", ["weibull", "spline"])
def test_a_model_with_changes_draws_what_it_says_and_is_read_back(margins, tmp_path):
    x, y = crossing(1_500, 2, cc.Clayton(2.0))
    model = cc.fit_joint(varying(x), y, cc.Clayton(2.0), margins)
    at = np.repeat([[-1.0], [1.5]], 20_000, axis=0)
    event, dropout = model.sample(at, rng=0)
    for drawn, survival in ((event, model.survival), (dropout, model.dropout_survival)):
        for rows, z in ((slice(0, 20_000), -1.0), (slice(20_000, None), 1.5)):
            expected = survival(TIMES, np.array([[z]]))[0]
            shares = (drawn[rows, None] > TIMES).mean(axis=0)
            assert (np.abs(shares - expected) < 4 * np.sqrt(0.25 / 20_000)).all()
    model.save(tmp_path / "model.json")
    again = cc.joint.JointModel.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.survival(TIMES, x), model.survival(TIMES, x))
    assert again.loglik(x, y) == model.loglik(x, y) == pytest.approx(model.loglik_, abs=1e-6)
    c = np.full(3, 0.5)
    direct = model.conditional_survival(TIMES, c, x[:3])
    u, uc = (model.survival(t, x[:3]) for t in (TIMES, [0.5]))
    v = model.dropout_survival([0.5], x[:3])
    copula = model.copula
    expected = np.where(TIMES <= 0.5, 1.0, copula.hfunc2(u, v) / copula.hfunc2(uc, v))
    np.testing.assert_allclose(direct, expected, atol=1e-10)


def test_hazards_rise_for_everybody_where_the_data_pull_them_down():
    """The shape falls to next to nothing for some subjects: their curves must still fall with time."""
    rng = np.random.default_rng(3)
    x = rng.exponential(size=800)
    event = rng.exponential(size=800) ** (1 / (0.05 + 2.0 * np.exp(-x)))
    y = cc.Survival.from_latent(event, rng.exponential(1.5, size=800))
    model = cc.fit_joint(varying(x[:, None]), y, "independence", "spline")
    grid = np.geomspace(1e-3, float(y.time.max()), 60)
    assert (np.diff(model.survival(grid, x[:, None]), axis=1) <= 0).all()


def test_a_plain_design_is_the_same_as_covariates():
    x, y = crossing(500, 4)
    one, other = (cc.fit_joint(each, y, cc.Frank(3.0), "spline") for each in (x, Design(x)))
    np.testing.assert_array_equal(one.covariance_, other.covariance_)
    first, second = (cc.select_copula(each, y, families=("clayton",)) for each in (x, Design(x)))
    assert first.validation == second.validation
    refuses(lambda: cc.fit_joint(Design(x[:7]), y), "X", "7", "500")


# --- ridges ---------------------------------------------------------------------------------------------


def test_ridge_weights_maximise_the_marginal_likelihood():
    """With normal observations the marginal likelihood is known in closed form."""
    rng = np.random.default_rng(5)
    n, groups = 80, np.repeat([-1, 0, 1], [2, 8, 15])
    Z = rng.normal(size=(n, groups.size))
    true = np.concatenate(([1.0, -2.0], rng.normal(0, 0.5, 8), rng.normal(0, 0.15, 15)))
    seen = Z @ true + rng.normal(size=n)

    def fit(weights, start):
        def derivatives(b):
            rest = seen - Z @ b
            return Derivatives(
                0.5 * (rest @ rest + weights @ b**2) / n,
                (weights * b - Z.T @ rest) / n,
                (Z.T @ Z + np.diag(weights)) / n,
            )

        return minimise(derivatives, None, start)

    def marginal(log_weights):
        """Minus twice the log-likelihood with the effects of both ridges integrated out, flat in the others."""
        weights = np.exp(log_weights)
        free = groups < 0
        V = np.eye(n) + sum(Z[:, groups == g] @ Z[:, groups == g].T / weights[g] for g in (0, 1))
        inverse = np.linalg.inv(V)
        information = Z[:, free].T @ inverse @ Z[:, free]
        b = np.linalg.solve(information, Z[:, free].T @ inverse @ seen)
        rest = seen - Z[:, free] @ b
        return np.linalg.slogdet(V)[1] + np.linalg.slogdet(information)[1] + rest @ inverse @ rest

    _, weights = ridge_weights(groups, n, fit, fit, np.zeros(groups.size))
    best = minimize(marginal, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-4})
    reached = np.log([weights[groups == g][0] for g in (0, 1)])
    assert marginal(reached) == pytest.approx(best.fun, abs=0.05)
    assert not weights[groups < 0].any()


def test_useless_columns_are_shrunk_away_and_useful_ones_are_not():
    x, y = crossing(600, 6)
    rng = np.random.default_rng(6)
    noise = rng.normal(size=(600, 30))
    design = Design(np.hstack((x, noise)), ridges=("", *["noise"] * 30))
    model = cc.fit_joint(design, y, "independence", "spline")
    plain = cc.fit_joint(design.matrix, y, "independence", "spline")
    assert np.abs(model.event.beta[1:]).max() < 0.2 * np.abs(plain.event.beta[1:]).max()
    assert model.event.beta[0] == pytest.approx(plain.event.beta[0], abs=0.1)
    useful = JointProblem.of(Design(x, ridges=("useful",)), y, margins="spline", penalty=0.0)
    of_event = useful.ridge[useful.ridge > 0][0]
    assert of_event < 100


def test_more_shrunk_columns_than_events():
    x, y = crossing(120, 7)
    wide = np.random.default_rng(7).normal(size=(120, 90))
    design = Design(np.hstack((x, wide)), varying=(0,), ridges=("", *["wide"] * 90), varying_ridge="time")
    model = cc.fit_joint(design, y, cc.Clayton(1.0), "spline")
    assert model.converged_
    assert np.isfinite(model.event.beta).all()
    refuses(lambda: cc.fit_joint(design.matrix, y), "too few")


def test_a_constant_column_is_no_obstacle_where_it_is_shrunk():
    x, y = crossing(200, 8)
    constant = np.hstack((x, np.ones((200, 1))))
    model = cc.fit_joint(Design(constant, ridges=("", "shrunk")), y, "independence")
    assert model.event.beta[1] == 0.0
    refuses(lambda: cc.fit_joint(constant, y, "independence"), "column 1", "constant")
