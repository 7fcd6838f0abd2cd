"""The chance of being event-free after the end of the study, where the hazard changes at a later dropout."""

import numpy as np
import pytest
from scipy.integrate import quad

import cocensor as cc
from cocensor.joint.after_dropout import HazardRatio, LaterDropout
from cocensor.joint.conditional import Conditional
from cocensor.joint.margins import Basis, Margin
from cocensor.simulate import SyntheticDesign

DATA = SyntheticDesign(n=400, n_features=2, event=(1.0, 10.0), dropout=(3.0, 10.0), study_end=(2, 12)).draw(1)
MODEL = cc.fit_joint(DATA.X, DATA.y)
ROWS = np.flatnonzero(DATA.y.administrative)
TIMES = np.linspace(0.0, 8.0, 101)[1:]


def weibull(log_scale, shape):
    """The margin with cumulative hazard e^log_scale t^shape, of one subject."""
    return Margin(Basis(np.empty(0)), np.array([log_scale, shape]), np.empty(0)).of(np.empty((1, 0)))


def alike(rho, n=1):
    return HazardRatio(np.full(n, rho), np.full((1, 1), rho), np.ones(1))


def later(rho, margins, t, a, ends=None):
    found = LaterDropout(alike(rho), margins, np.array([t[-1]]), np.asarray(t), np.array([a]), ends)
    return found(np.array([0]), slice(0, len(t)))[0]


def of_model(rho, t):
    q = Conditional(MODEL, t, DATA.y.time, DATA.X, ~DATA.y.dropout, alike(rho, len(DATA)))
    return q(ROWS, slice(0, t.size))


@pytest.mark.parametrize("rho", [0.2, 1.0, 2.0, 3.0, 2.0 + 1e-9, 40.0])
@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_constant_hazards_have_a_closed_form(rho, scale):
    """With event and dropout alike; at ρ = 2 the formula has a removable singularity."""
    t, a = np.linspace(0.5, 4.0, 8), 0.3
    s = scale * (t - a)
    near = abs(rho - 2.0) < 1e-6
    gone = s * np.exp(-2.0 * s) if near else (np.exp(-rho * s) - np.exp(-2.0 * s)) / (2.0 - rho)
    both = weibull(np.log(scale), 1.0)
    np.testing.assert_allclose(
        later(rho, (both, both), t, a), np.exp(-2.0 * s) + gone, rtol=1e-7, atol=1e-300
    )


def test_the_example_of_a_ratio_of_3():
    """Event and dropout alike, a cumulative hazard of 0.7 after the end: .371, not .497 as without a change."""
    both = weibull(0.0, 1.0)
    assert later(3.0, (both, both), [1.7], 1.0)[0] == pytest.approx(0.371, abs=5e-4)
    assert later(1.0, (both, both), [1.7], 1.0)[0] == pytest.approx(np.exp(-0.7), rel=1e-12)
    rng = np.random.default_rng(0)
    e, c = rng.exponential(size=(2, 100_000))
    e = np.where(c < e, c + (e - c) / 3.0, e)
    assert np.mean(e > 0.7) == pytest.approx(0.371, abs=4 * np.sqrt(0.371 * 0.629 / 100_000))


@pytest.mark.parametrize("rho", [0.5, 4.0])
@pytest.mark.parametrize("place", [0, 40])
def test_hazards_of_any_form_by_quadrature(rho, place):
    row, a, t = ROWS[place], DATA.y.time[ROWS[place]], TIMES[-1]
    margins = [margin.of(DATA.X[[row]]) for margin in (MODEL.event, MODEL.dropout)]

    def hazards(s):
        return np.array([float(np.exp(each.log_hazard(np.array([s])))[0]) for each in margins])

    def integrand(s):
        rate = (hazards(s * (1 + 1e-6)) - hazards(s * (1 - 1e-6)))[1] / (2e-6 * s)
        after = hazards(t)[0] - hazards(s)[0]
        return rate * np.exp(np.sum(hazards(a) - hazards(s)) - rho * after)

    expected = np.exp(np.sum(hazards(a) - hazards(t))) + quad(integrand, a, t, epsabs=1e-10)[0]
    assert of_model(rho, TIMES)[place, -1] == pytest.approx(expected, abs=4e-5)


def test_what_is_said_of_a_time_does_not_hang_on_the_others():
    found = of_model(4.0, TIMES)
    for k in (0, 10, 50, 99):
        np.testing.assert_allclose(of_model(4.0, TIMES[[k]])[:, 0], found[:, k], rtol=1e-13)


def test_in_groups_events_come_before_dropouts():
    """By hand: over the end of the group at which a subject would have dropped out."""
    ends, t, rho = np.arange(1.0, 6.0), np.array([0.5, 2.0, 3.5, 5.0]), 3.0
    margins = weibull(-1.5, 1.3), weibull(-1.0, 0.8)
    at = np.concatenate(([0.0], ends))
    x, y = (np.where(at > 0, np.exp(each.log_hazard(at)), 0.0) for each in margins)
    read = np.floor(t).astype(int)
    a = 1
    expected = []
    for k in read:
        value = np.exp(x[a] - x[k] + y[a] - y[k]) if k > a else 1.0
        for j in range(a + 1, k + 1):
            drop = np.exp(y[a] - y[j - 1]) - np.exp(y[a] - y[j])
            value += np.exp(x[a] - x[j]) * drop * np.exp(-rho * (x[k] - x[j]))
        expected.append(value)
    np.testing.assert_allclose(later(rho, margins, at[read], at[a], ends), expected, rtol=1e-12)


def test_without_a_margin_of_the_dropout_nobody_drops_out_later():
    never = Margin(Basis(np.empty(0), present=False), np.empty(0), np.empty(0)).of(np.empty((1, 0)))
    event = weibull(0.0, 1.5)
    np.testing.assert_allclose(
        later(5.0, (event, never), [1.0, 2.0], 0.0), np.exp(-(np.array([1.0, 2.0]) ** 1.5))
    )
