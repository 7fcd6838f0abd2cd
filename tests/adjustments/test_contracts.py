"""What must hold of every adjustment."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cocensor as cc
from cocensor.metrics.brier import BRIER
from tests.strategies import archimedean, member_id, members, outcomes

COPULAS = members([cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe], taus=(-0.5, 0.0, 0.3, 0.8))
# Those that read a joint model are held to the same in test_joint_conditional.py.
NAMES = [name for name in cc.adjustments() if name != "ipcw_cox" and not name.startswith("given_")]


def build(name, copula, **options):
    if name in ("ipcw", "margin_km"):
        adjustment = cc.adjustment(name)
    else:
        adjustment = cc.adjustment(name, copula=copula)
    for option, value in options.items():
        setattr(adjustment, option, value)
    return adjustment


def sample(n, seed, administrative=False):
    rng = np.random.default_rng(seed)
    e, c = np.ceil(rng.exponential(10, size=(2, n)))
    return cc.Survival.from_latent(e, c, rng.integers(5, 30, size=n) if administrative else None), e


every = pytest.mark.parametrize("name", NAMES)
every_copula = pytest.mark.parametrize("copula", COPULAS, ids=member_id)
TIMES = np.array([2.0, 5.0, 5.5, 8.0, 11.0])


@pytest.fixture(autouse=True)
def quiet_horizons():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.HorizonWarning)
        yield


@every
@every_copula
def test_without_censoring_it_is_the_oracle(name, copula):
    rng = np.random.default_rng(3)
    y = cc.Survival(np.ceil(rng.exponential(10, size=60)), np.ones(60, bool))
    status = build(name, copula).fit(y).status(y, TIMES)
    oracle = cc.Oracle(y.time).status(y, TIMES)
    np.testing.assert_allclose(status.a, oracle.a, atol=1e-12)
    np.testing.assert_allclose(status.b, oracle.b, atol=1e-12)
    assert status.normaliser == 60


@every_copula
@pytest.mark.parametrize("administrative", [False, True])
def test_given_the_censoring_the_mean_is_the_margin(copula, administrative):
    y, _ = sample(300, 1, administrative)
    margin = cc.CopulaGraphic(copula).fit(y)
    status = cc.ConditionalStatus(copula).fit(y).status(y, TIMES)
    tolerance = 0.02 if administrative else 1e-12  # exact without administrative censoring only
    np.testing.assert_allclose(status.a.mean(axis=0), margin.predict(TIMES), atol=tolerance)
    np.testing.assert_allclose(status.a + status.b, 1.0, atol=1e-12)


@given(outcomes(min_size=3, max_size=30), archimedean())
def test_event_weights_add_up_to_the_margin(y, copula):
    assume(y.n_events > 0)
    times = y.risk_table.times
    adjustment = cc.DependentIPCW(copula).fit(y)
    status = adjustment.status(y, times)
    valid = times < status.until
    expected = len(y) * (1 - cc.CopulaGraphic(copula).fit(y).predict(times))
    np.testing.assert_allclose(status.b.sum(axis=0)[valid], expected[valid], atol=1e-12 * len(y))


@pytest.mark.parametrize("family", [cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe])
def test_at_independence_it_is_its_independent_twin(family):
    y, _ = sample(200, 2)
    limit = family(family.independence_theta)
    twins = {
        "margin": cc.MarginTime(),
        "dep": cc.MarginTime(weighting="uncertainty"),
        "cg_q": cc.ConditionalStatus(given="event_free"),
        "conditional": cc.ConditionalStatus(given="event_free"),
        "dependent_ipcw": cc.DependentIPCW(),
    }
    for name, twin in twins.items():
        status, expected = (a.fit(y).status(y, TIMES) for a in (cc.adjustment(name, copula=limit), twin))
        np.testing.assert_allclose(status.a, expected.a, atol=1e-12)
        np.testing.assert_allclose(status.b, expected.b, atol=1e-12)
    # the event weights of dependent IPCW are then those of IPCW
    ipcw = cc.IPCW().fit(y).status(y, TIMES)
    np.testing.assert_allclose(cc.DependentIPCW(limit).fit(y).status(y, TIMES).b, ipcw.b, atol=1e-12)


@every
@every_copula
def test_permutation_and_scale_invariance(name, copula):
    train, _ = sample(150, 4, administrative=True)
    test, _ = sample(80, 5, administrative=True)
    test = test[test.time < train.t_max]
    rng = np.random.default_rng(0)
    status = build(name, copula).fit(train).status(test, TIMES)
    rows = rng.permutation(len(test))
    shuffled = build(name, copula).fit(train[rng.permutation(len(train))]).status(test[rows], TIMES)
    np.testing.assert_allclose(shuffled.a, status.a[rows], atol=1e-12)

    def scaled(y):
        return cc.Survival(y.time * 8, y.event, y.administrative)

    other = build(name, copula).fit(scaled(train)).status(scaled(test), TIMES * 8)
    np.testing.assert_allclose(other.a, status.a, atol=1e-12)
    np.testing.assert_allclose(other.b, status.b, atol=1e-12)


@every
@every_copula
def test_weights_are_finite_and_have_their_sign(name, copula):
    train, _ = sample(150, 6, administrative=True)
    test, _ = sample(80, 7, administrative=True)
    test = test[test.time < train.t_max]
    status = build(name, copula).fit(train).status(test, TIMES)
    valid = status.until > TIMES
    assert valid[:2].all()
    a, b = status.a[:, valid], status.b[:, valid]
    assert np.isfinite(a).all()
    assert (b >= 0).all()
    assert np.isnan(status.a[:, ~valid]).all()
    if name != "dependent_ipcw":  # whose a is 1 − b
        assert (a >= 0).all()
    if name not in ("ipcw", "dep"):
        np.testing.assert_allclose(a + b, 1.0, atol=1e-12)


@given(
    outcomes(min_size=2, max_size=30, administrative=True),
    outcomes(min_size=1, max_size=20, administrative=True),
    st.sampled_from(NAMES),
    archimedean(),
    st.lists(st.integers(0, 9), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
)
def test_the_kernel_sums_the_weights_that_the_status_shows(train, test, name, copula, times, seed):
    """Times in any order, repeated or single; predictions fall over time."""
    times = np.array(times) / 2
    adjustment = build(name, copula, beyond="last")
    if name == "ipcw":
        adjustment.min_probability = 0.01
    try:
        status = adjustment.fit(train).status(test, times)
    except ValueError as error:
        legal = ("has no event", "needs dropouts", "weighting must be", "has reached 0")
        assume(not any(part in str(error) for part in legal))
        raise
    risk = np.random.default_rng(seed).gamma(2.0, 0.5, size=len(test))
    predicted = np.exp(-times * risk[:, None])
    direct = (status.a * (1 - predicted) ** 2 + status.b * predicted**2).sum(axis=0) / status.normaliser
    got = status.mean(BRIER, predicted)
    valid = times < status.until
    np.testing.assert_allclose(got[valid], direct[valid], atol=1e-12 * max(1.0, np.abs(status.a).max()))
    assert np.isnan(got[~valid]).all()


def test_the_kernel_over_many_blocks():
    rng = np.random.default_rng(8)
    n, times = 20_000, np.linspace(0.01, 1.5, 40)
    e, c = rng.exponential(size=(2, n))
    y = cc.Survival.from_latent(e, c)
    predicted = np.exp(-times * rng.gamma(4.0, 0.25, size=n)[:, None])
    for name in NAMES:
        status = build(name, cc.Gumbel(2.0)).fit(y).status(y, times)
        direct = (status.a * (1 - predicted) ** 2 + status.b * predicted**2).sum(axis=0) / status.normaliser
        np.testing.assert_allclose(status.mean(BRIER, predicted), direct, rtol=1e-11)


@every
def test_an_adjustment_says_what_it_rests_on(name):
    adjustment = build(name, cc.Clayton(2.0))
    assert adjustment.assumption.endswith(".")
    assert adjustment.assumption.count(".") == 1
    assert adjustment.needs == frozenset()
    assert cc.IPCW("cox").needs == frozenset({"covariates"})
    assert not adjustment.is_fitted
    with pytest.raises(ValueError, match="is not fitted: call fit"):
        adjustment.status(sample(5, 0)[0], [1.0])


@every
def test_beyond_the_training_support(name):
    train = cc.Survival([1.0, 2.0, 3.0, 4.0, 5.0], [1, 0, 1, 0, 0])
    test = cc.Survival([2.5, 3.5, 7.0, 9.0], [0, 1, 0, 1])
    adjustment = build(name, cc.Clayton(1.0)).fit(train)
    if name != "dep":  # whose weights need S_E at every censoring
        adjustment.status(test, [2.0, 3.0])  # outcomes beyond do not matter here
    with pytest.raises(ValueError, match="must not pass the last training time 5 unless beyond is 'last'"):
        adjustment.status(test, [2.0, 8.0])
    if name == "ipcw":
        return  # its curve has reached 0
    status = build(name, cc.Clayton(1.0), beyond="last").fit(train).status(test, [2.0, 8.0])
    assert np.isfinite(status.a[:, status.times < status.until]).all()


def test_refusals_name_the_row_that_the_user_knows():
    train = cc.Survival([1.0, 2.0, 5.0], [1, 1, 0])
    for name in ("margin", "dep"):
        with pytest.raises(ValueError, match="y_test .* but row 2 is 7.0"):
            build(name, cc.Clayton(1.0)).fit(train).status(
                cc.Survival([1, 1, 7.0], [1, 1, 0]), [1.0, 4.5, 8.0]
            )
    for name in ("ipcw", "conditional", "dependent_ipcw"):
        with pytest.raises(ValueError, match="times .* but row 0 is 7.0"):
            build(name, cc.Clayton(1.0)).fit(train).status(
                cc.Survival([1, 3, 9.0], [1, 0, 0]), [7.0, 1.0, 2.0]
            )


def test_conditional_status_where_everybody_had_dropped_out():
    train = cc.Survival([1, 2, 3, 4, 5.0], [1, 0, 1, 1, 0])
    test = cc.Survival([5.0, 6.0], [0, 0], [1, 1])
    status = cc.ConditionalStatus(cc.Clayton(1.0), beyond="last").fit(train).status(test, [5.5, 7.0])
    assert ((status.a >= 0) & (status.a <= 1)).all()
