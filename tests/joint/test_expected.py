"""Expected events and dropouts against closed forms, quadrature, and draws from the model."""

import numpy as np
import pytest
from scipy.integrate import quad

import cocensor as cc
from cocensor.joint.conditional import expected_counts

COPULAS = [cc.copula(name, tau=0.5) for name in ("clayton", "frank", "gumbel", "joe", "gaussian")]
PERIODS = np.array([0.4, 0.8, 1.5])


def fitted(copula, n=400, **options):
    """A joint model with the sample that it was fitted to."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    u, v = copula.sample(n, rng).T
    e = (-np.log(u) * np.exp(-0.6 * X[:, 0])) ** (1 / 1.5)
    c = -np.log(v) * np.exp(-0.4 * X[:, 1]) / 0.7
    y = cc.Survival.from_latent(e, c, rng.uniform(0.5, 3.0, n))
    if "time_kind" in options:
        y = cc.Survival(np.ceil(5 * y.time) / 5, y.event, y.administrative)
    return cc.fit_joint(X, y, copula=copula, **options), X, y


def hazards(model, t, X):
    """Cumulative hazards of both margins, a time for each row of X."""
    return [-np.log(np.diag(survival(t, X))) for survival in (model.survival, model.dropout_survival)]


def test_at_independence_a_margin_expects_what_its_hazard_gains():
    model, X, y = fitted(cc.Independence())
    found = expected_counts(model, X, y, PERIODS)
    before = np.concatenate(([0.0], PERIODS))
    at = [hazards(model, np.minimum(t, y.time), X) for t in before]
    for margin, each in enumerate(found):
        gained = np.diff([h[margin] for h in at], axis=0).T
        np.testing.assert_allclose(each.number, gained, rtol=1e-10, atol=1e-14)
        np.testing.assert_array_equal(each.variance, each.number)


@pytest.mark.no_cover
@pytest.mark.parametrize("copula", COPULAS, ids=lambda copula: copula.name)
def test_crude_hazards_are_integrated(copula):
    model, X, y = fitted(copula)
    events, dropouts = expected_counts(model, X, y, PERIODS)
    # All that leaves C(S_E, S_C) is either an event or a dropout.
    until = np.minimum(y.time, PERIODS[-1])
    joint = copula.cdf(*(np.exp(-h) for h in hazards(model, until, X)))
    total = (events.number + dropouts.number).sum(axis=1)
    np.testing.assert_allclose(total, -np.log(joint), rtol=1e-9)
    for i in (0, 1, 2):

        def crude(t, i=i, step=1e-6):
            (x, v), (x_next, _) = (np.ravel(hazards(model, [s], X[[i]])) for s in (t, t + step))
            density = np.exp(-x) * (x_next - x) / step
            return density * copula.hfunc1(np.exp(-x), np.exp(-v)) / copula.cdf(np.exp(-x), np.exp(-v))

        wanted = quad(crude, 1e-9, until[i], limit=200)[0]
        assert events.number[i].sum() == pytest.approx(wanted, rel=0.02, abs=2e-3)


@pytest.mark.parametrize(
    "copula", [cc.Independence(), cc.Clayton.from_tau(0.5)], ids=lambda copula: copula.name
)
def test_groups_have_the_chances_of_the_likelihood(copula):
    """An event of a group comes before its dropouts; an end of study between two ends has seen the earlier one."""
    model, X, y = fitted(copula, time_kind="grouped")
    ends = model.ends_
    periods = ends[[2, 6]]
    found = expected_counts(model, X, y, periods)
    S_E, S_C = model.survival(ends, X), model.dropout_survival(ends, X)
    ended = np.flatnonzero(y.administrative)[:3]
    for i in (*np.flatnonzero(y.event)[:3], *np.flatnonzero(y.dropout)[:3], *ended):
        wanted, variance = np.zeros((2, 2)), np.zeros((2, 2))
        u, v = 1.0, 1.0
        for k in range(7):
            if ends[k] > y.time[i]:
                break
            event = 1.0 - copula.cdf(S_E[i, k], v) / copula.cdf(u, v)
            dropout = 1.0 - copula.cdf(S_E[i, k], S_C[i, k]) / copula.cdf(S_E[i, k], v)
            had_it = y.event[i] and ends[k] == y.time[i]
            chances = np.array([event, 0.0 if had_it else dropout])
            wanted[:, int(k > 2)] += chances
            variance[:, int(k > 2)] += chances * (1.0 - chances)
            u, v = S_E[i, k], S_C[i, k]
        np.testing.assert_allclose([each.number[i] for each in found], wanted, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose([each.variance[i] for each in found], variance, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("kind", ["continuous", "grouped"])
@pytest.mark.parametrize("copula", [cc.Independence(), *COPULAS[:3]], ids=lambda copula: copula.name)
def test_draws_from_a_model_are_what_it_expects(copula, kind):
    model, *_ = fitted(copula, time_kind=kind)
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20_000, 2))
    latent = [np.minimum(each, 50.0) for each in model.sample(X, rng)]
    periods = PERIODS
    if kind == "grouped":
        # Of what is recorded at the ends of groups, the last of which nobody is followed beyond.
        ends, periods = np.append(model.ends_, np.inf), model.ends_[[2, 4, 7]]
        latent = [np.minimum(ends[np.searchsorted(ends, each)], 50.0) for each in latent]
    y = cc.Survival.from_latent(*latent, study_end=periods[-1])
    for each, happened in zip(expected_counts(model, X, y, periods), (y.event, y.dropout), strict=True):
        observed = np.diff([(happened & (y.time <= t)).sum() for t in (0.0, *periods)])
        z = (observed - each.number.sum(axis=0)) / np.sqrt(each.variance.sum(axis=0))
        assert np.abs(z).max() < 3.5


def test_a_time_of_0_expects_nothing():
    model, X, y = fitted(cc.Clayton.from_tau(0.5))
    y = cc.Survival(np.where(np.arange(len(y)) < 3, 0.0, y.time), y.event)
    for each in expected_counts(model, X, y, PERIODS):
        assert (each.number[:3] == 0).all()
        assert (each.number[3:].sum(axis=1) > 0).all()
