"""The likelihood and its derivatives against autodiff of textbook formulas in survival probabilities."""

import numpy as np
import pytest
import torch
from torch.func import grad, jacrev

import cocensor as cc
from cocensor.joint.likelihood import Drift, Likelihood
from cocensor.joint.margins import Basis

CDF = {
    "independence": lambda t, u, v: u * v,
    "clayton": lambda t, u, v: (u**-t + v**-t - 1) ** (-1 / t),
    "frank": lambda t, u, v: -torch.log1p(torch.expm1(-t * u) * torch.expm1(-t * v) / torch.expm1(-t)) / t,
    "gumbel": lambda t, u, v: torch.exp(-(((-torch.log(u)) ** t + (-torch.log(v)) ** t) ** (1 / t))),
    "joe": lambda t, u, v: 1 - (1 - (1 - (1 - u) ** t) * (1 - (1 - v) ** t)) ** (1 / t),
}
COPULAS = [cc.Independence(), *(cc.copula(name, tau=0.4) for name in ("clayton", "frank", "gumbel", "joe"))]
N, P = 40, 2


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(5)
    e, c = np.ceil(10 * rng.weibull(1.4, size=(2, N))) / 4
    y = cc.Survival.from_latent(e, c, rng.integers(2, 6, size=N).astype(float))
    assert y.administrative.sum() > 3
    return rng.normal(size=(N, P)), y


def bases(kind):
    if kind == "weibull":
        return Basis(np.empty(0)), Basis(np.empty(0))
    return Basis(np.array([-1.0, 0.1, 0.6, 1.3])), Basis(np.array([-0.5, 0.5, 1.5]))


def parameters(kind):
    event, dropout = bases(kind)
    rng = np.random.default_rng(1)
    parts = []
    for basis in (event, dropout):
        parts += [[-1.5, 1.3], rng.normal(0, 0.05, basis.size - 2), rng.normal(0, 0.3, P)]
    return np.concatenate(parts)


def textbook(X, y, kind, ends, name):
    """The log-likelihood as a torch function of (margins, θ), from the copula's cdf alone."""
    pair = bases(kind)
    X, time = torch.tensor(X), y.time
    size = pair[0].size + P

    def log_hazard(part, which, log_t):
        values = torch.tensor(pair[which].values(log_t))
        k = pair[which].size
        return values @ part[:k] + X @ part[k:]

    def survival(point, which, t):
        part = point[:size] if which == 0 else point[size:-1]
        return torch.exp(-torch.exp(log_hazard(part, which, np.log(t))))

    def density(point, which):
        part = point[:size] if which == 0 else point[size:-1]
        slope = torch.tensor(pair[which].slopes(np.log(time))) @ part[: pair[which].size]
        log_h = log_hazard(part, which, np.log(time))
        return torch.log(slope) - torch.tensor(np.log(time)) + log_h - torch.exp(log_h)

    def cdf(point, u, v):
        return CDF[name](point[-1], u, v)

    def slope_in(point, u, v, argument):
        with torch.enable_grad():
            return grad(lambda a: cdf(point, *((a, v) if argument == 0 else (u, a))).sum())(
                u if argument == 0 else v
            )

    def loglik(point):
        u, v = survival(point, 0, time), survival(point, 1, time)
        if ends is None:
            event = density(point, 0) + torch.log(slope_in(point, u, v, 0))
            dropout = density(point, 1) + torch.log(slope_in(point, u, v, 1))
        else:
            index = np.searchsorted(ends, y.time)
            before = ends[index - 1]
            u0, v0 = survival(point, 0, before), survival(point, 1, before)
            event = torch.log(cdf(point, u0, v0) - cdf(point, u, v0))
            dropout = torch.log(cdf(point, u, v0) - cdf(point, u, v))
        end = torch.log(cdf(point, u, v))
        kind_of = torch.where(
            torch.tensor(y.event), event, torch.where(torch.tensor(y.administrative), end, dropout)
        )
        return kind_of.sum()

    return loglik


@pytest.mark.parametrize("times", ["continuous", "grouped"])
@pytest.mark.parametrize("kind", ["weibull", "spline"])
@pytest.mark.parametrize("copula", COPULAS, ids=lambda copula: copula.name)
def test_value_gradient_and_hessian_against_autodiff(sample, copula, kind, times):
    X, y = sample
    # A first end before all times: at time 0 the textbook formulas have no derivatives.
    ends = np.append(0.1, np.unique(y.time)) if times == "grouped" else None
    likelihood = Likelihood(y, X, bases(kind), ends)
    margins = parameters(kind)
    reference = textbook(X, y, kind, ends, copula.name)
    point = torch.tensor(np.append(margins, copula.theta or 1.0))
    free = not copula.is_independence
    at = likelihood.derivatives(margins, copula, free=free)
    expected = float(reference(point))
    k = margins.size + free
    assert at.value == pytest.approx(expected, rel=1e-11)
    assert likelihood.value(margins, copula) == pytest.approx(expected, rel=1e-11)
    np.testing.assert_allclose(at.gradient, grad(reference)(point).numpy()[:k], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(
        at.hessian, jacrev(grad(reference))(point).numpy()[:k, :k], rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("times", ["continuous", "grouped"])
@pytest.mark.parametrize("rho", [-0.7, 0.0, 0.6])
def test_gaussian_derivatives_against_differences(sample, rho, times):
    X, y = sample
    likelihood = Likelihood(y, X, bases("weibull"), np.unique(y.time) if times == "grouped" else None)
    point = np.append(parameters("weibull"), rho)
    at = likelihood.derivatives(point[:-1], cc.Gaussian(rho), free=True)

    def gradient(point):
        return likelihood.derivatives(point[:-1], cc.Gaussian(point[-1]), free=True).gradient

    def value(point):
        return likelihood.value(point[:-1], cc.Gaussian(point[-1]))

    step = 1e-5
    for i, unit in enumerate(np.eye(point.size)):
        slope = (value(point + step * unit) - value(point - step * unit)) / (2 * step)
        assert at.gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-6)
        column = (gradient(point + step * unit) - gradient(point - step * unit)) / (2 * step)
        np.testing.assert_allclose(at.hessian[:, i], column, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", [cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe])
def test_the_likelihood_is_smooth_up_to_independence(sample, family):
    """θ at the limit is a point like any other: value and derivatives are those nearby."""
    X, y = sample
    margins = parameters("weibull")
    for ends in (None, np.unique(y.time)):
        likelihood = Likelihood(y, X, bases("weibull"), ends)
        limit = family.independence_theta
        at, near = (
            likelihood.derivatives(margins, family(theta), free=True) for theta in (limit, limit + 1e-7)
        )
        independent = likelihood.value(margins, cc.Independence())
        assert at.value == pytest.approx(independent, rel=1e-13)
        assert likelihood.value(margins, family(limit)) == pytest.approx(independent, rel=1e-13)
        np.testing.assert_allclose(at.gradient, near.gradient, rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(at.hessian, near.hessian, rtol=1e-4, atol=1e-3)


def test_the_contribution_of_ties_is_by_what_comes_first():
    """At one grouped time events come before dropouts: together they are what is lost."""
    y = cc.Survival([1.0, 1.0, 1.0], [1, 0, 0], [0, 0, 1])
    likelihood = Likelihood(y, np.empty((3, 0)), bases("weibull"), np.array([1.0]))
    copula, margins = cc.Clayton(2.0), np.array([-0.3, 1.0, 0.2, 1.0])
    parts = [
        part.formula(copula, *part.predictions(rows, designs, margins))
        for part in likelihood.contributions
        for rows, designs in part.blocks()
    ]
    assert sum(float(np.exp(part[0])) for part in parts) == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("times", ["continuous", "grouped"])
def test_derivatives_are_the_same_after_memory_was_given_back(sample, times):
    X, y = sample
    likelihood = Likelihood(y, X, bases("spline"), np.unique(y.time) if times == "grouped" else None, 0.5)
    margins, copula = parameters("spline"), cc.Clayton(1.5)
    first = likelihood._derivatives(margins, cc.Clayton(1.5), True)
    value = likelihood.value(margins, copula)
    likelihood.forget()
    again = likelihood._derivatives(margins, cc.Clayton(1.5), True)
    assert (again.value, likelihood.value(margins, copula)) == (first.value, value)
    np.testing.assert_array_equal(again.gradient, first.gradient)
    np.testing.assert_array_equal(again.hessian, first.hessian)


def test_scores_of_subjects_add_up_to_the_gradient_in_blocks_of_any_size(sample, monkeypatch):
    X, y = sample
    likelihood = Likelihood(y, X, bases("spline"), drift=Drift((1,), 0.2, 0.7))
    margins = np.insert(parameters("spline"), [6, 11], [0.02, -0.03])
    at = likelihood._derivatives(margins, cc.Clayton(1.5), True)
    monkeypatch.setattr("cocensor._checks._BLOCK_ELEMENTS", 60)
    directions = np.eye(margins.size + 1)
    found = list(likelihood.scores_along(margins, cc.Clayton(1.5), directions, free=True))
    assert max(values.size for _, values in found) <= 60
    total = sum(values.sum(axis=0) for _, values in found)
    np.testing.assert_allclose(total, at.gradient, rtol=1e-11, atol=1e-11)
