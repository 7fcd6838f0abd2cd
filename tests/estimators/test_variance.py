"""The variances against the definition of the infinitesimal jackknife."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.data.risk_table import MarginSteps
from tests.strategies import member_id, members

COPULAS = members(
    [f for f in cc.copulas.copula_families().values() if f is not cc.Gaussian],
    taus=(-0.6, 0.0, 0.1, 0.4, 0.95),
)


def weighted_margin(time, event, ended, weight, copula, of):
    """The estimator with case weights, written anew and plainly: one step after the other."""
    hazard, steps = 0.0, []
    for t in np.unique(time):
        here = time == t
        n, d = weight[time >= t].sum(), weight[here & event].sum()
        m = weight[here & ~event & ~ended].sum()
        for kind, leaving, exposed in (("event", d, n), ("dropout", m, n - d)):
            if leaving > 0:
                if kind == of:
                    steps.append((t, hazard, leaving / exposed))
                hazard -= np.log1p(-leaving / exposed) if leaving < exposed - 1e-12 else -np.inf
    times, hazards, fractions = np.array(steps).T
    return copula.graphic_curve(MarginSteps(times, fractions, hazards))


@pytest.mark.parametrize("copula", COPULAS, ids=member_id)
@pytest.mark.parametrize("of", ["event", "dropout"])
@pytest.mark.parametrize("administrative", [False, True])
def test_variances_are_those_of_the_infinitesimal_jackknife(copula, of, administrative):
    rng = np.random.default_rng(12)
    n = 50
    time = np.ceil(rng.exponential(size=n) * 4) / 4
    event = rng.random(n) < 0.5
    ended = ~event & (rng.random(n) < 0.4) if administrative else np.zeros(n, bool)
    y = cc.Survival(time, event, ended if administrative else None)
    t, c, t0 = np.array([0.25, 0.6, 1.0, 1.4]), np.array([0.0, 0.3, 0.5, 1.1]), 1.7

    def functionals(weight):
        curve = weighted_margin(time, event, ended, weight, copula, of)
        return np.concatenate((curve(t), c + curve.integrate(c, t0) / curve(c)))

    step = 1e-5
    influence = []
    for i in range(n):
        up, down = np.ones(n), np.ones(n)
        up[i] += step
        down[i] -= step
        influence.append((functionals(up) - functionals(down)) / (2 * step))
    expected = np.sum(np.square(influence), axis=0)

    cg = cc.CopulaGraphic(copula, of).fit(y)
    np.testing.assert_allclose(cg.predict(t), functionals(np.ones(n))[:4], rtol=1e-10)
    weight = rng.uniform(0.2, 3.0, n)
    weighted = cc.CopulaGraphic(copula, of).fit(y, weight)
    np.testing.assert_allclose(weighted.predict(t), functionals(weight)[:4], rtol=1e-8)
    np.testing.assert_allclose(cg.variance(t), expected[:4], rtol=1e-6)
    np.testing.assert_allclose(cg.margin_time_variance(c, t0), expected[4:], rtol=1e-6)


def test_influence_formula_of_the_survival_function():
    """Without administrative censoring: the sum over subjects of the influence written out."""
    rng = np.random.default_rng(2)
    n, t = 200, 0.8
    time, event = np.ceil(rng.exponential(size=n) * 10) / 10, rng.random(n) < 0.6
    for copula in (cc.Clayton(2.0), cc.Frank(5.0), cc.Gumbel(1.5), cc.Joe(1.5)):
        cg = cc.CopulaGraphic(copula).fit((time, event))
        table = cc.Survival(time, event).risk_table
        influence = np.zeros(n)
        for u, at_risk, d in zip(table.times, table.at_risk, table.events, strict=True):
            if u > t or not d:
                continue
            after, before = copula.phi_prime((at_risk - d) / n), copula.phi_prime(at_risk / n)
            exposed, happens = time >= u, (time == u) & event
            influence += after * (exposed.astype(float) - happens) - before * exposed
            influence -= after * (at_risk - d) / n - before * at_risk / n
        influence /= copula.phi_prime(cg.predict(t))
        assert cg.variance(t) == pytest.approx(np.sum(influence**2) / n**2, rel=1e-10)
