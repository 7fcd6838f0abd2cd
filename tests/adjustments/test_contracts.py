"""What must hold of every adjustment."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cocensor as cc
from cocensor.data.border import as_predictions
from cocensor.metrics.kernel import mean_losses
from cocensor.metrics.proper import BRIER
from tests.refusals import refuses
from tests.strategies import archimedean, member_id, members, outcomes

COPULAS = members([cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe], taus=(-0.5, 0.0, 0.3, 0.8))
# Those that are given covariates or predictions are held to the same in test_joint_models.py and test_aipcw.py.
GIVEN = ("ipcw_cox", "aipcw", "imputation", "imputation_covariates", "imputation_prediction")
NAMES = [name for name in cc.adjustments.adjustment_names() if name not in GIVEN]


def build(name, copula, **options):
    plain = name in ("ipcw", "margin_km")
    return replace(cc.adjustment(name, copula=None if plain else copula), **options)


def brier(status, predicted):
    """The Brier score of an array at the times of a status."""
    curves = mean_losses(status, BRIER, [as_predictions(predicted, status.n, times=status.times)])
    return status.grid.restore(curves)[0]


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
        warnings.simplefilter("ignore", cc.warnings.HorizonWarning)
        yield


@every
@every_copula
def test_without_censoring_it_is_the_oracle(name, copula):
    rng = np.random.default_rng(3)
    y = cc.Survival(np.ceil(rng.exponential(10, size=60)), np.ones(60, bool))
    status = build(name, copula).fit(y).weights(y, TIMES)
    oracle = cc.Oracle(y.time).fit(y).weights(y, TIMES)
    np.testing.assert_allclose(status.a, oracle.a, atol=1e-12)
    np.testing.assert_allclose(status.b, oracle.b, atol=1e-12)
    assert status.normaliser == 60


@every_copula
@pytest.mark.parametrize("administrative", [False, True])
def test_given_the_censoring_the_mean_is_the_margin(copula, administrative):
    y, _ = sample(300, 1, administrative)
    margin = cc.CopulaGraphic(copula).fit(y)
    status = cc.Imputation((), copula).fit(y).weights(y, TIMES)
    tolerance = 0.02 if administrative else 1e-12  # exact without administrative censoring only
    np.testing.assert_allclose(status.a.mean(axis=0), margin.predict(TIMES), atol=tolerance)
    np.testing.assert_allclose(status.a + status.b, 1.0, atol=1e-12)


@given(outcomes(min_size=3, max_size=30), archimedean())
def test_event_weights_add_up_to_the_margin(y, copula):
    assume(y.n_events > 0)
    times = y.risk_table.times
    status = cc.DependentIPCW(copula).fit(y).weights(y, times)
    valid = times < status.valid_until
    expected = len(y) * (1 - cc.CopulaGraphic(copula).fit(y).predict(times))
    np.testing.assert_allclose(status.b.sum(axis=0)[valid], expected[valid], atol=1e-12 * len(y))


@pytest.mark.parametrize("family", [cc.Clayton, cc.Frank, cc.Gumbel, cc.Joe])
def test_at_independence_it_is_its_independent_twin(family):
    y, _ = sample(200, 2)
    limit = family(family.independence_theta)
    twins = {
        "margin": cc.adjustments.MarginTime(),
        "dep": cc.adjustments.MarginTime(weighting="uncertainty"),
        "cg_q": cc.Imputation(conditioning="event_free"),
        "imputation_margins": cc.Imputation(conditioning="event_free"),
        "dependent_ipcw": cc.DependentIPCW(),
    }
    for name, twin in twins.items():
        status, expected = (a.fit(y).weights(y, TIMES) for a in (cc.adjustment(name, copula=limit), twin))
        np.testing.assert_allclose(status.a, expected.a, atol=1e-12)
        np.testing.assert_allclose(status.b, expected.b, atol=1e-12)
    # the event weights of dependent IPCW are then those of IPCW
    ipcw = cc.IPCW().fit(y).weights(y, TIMES)
    np.testing.assert_allclose(cc.DependentIPCW(limit).fit(y).weights(y, TIMES).b, ipcw.b, atol=1e-12)


@every
@every_copula
def test_permutation_and_scale_invariance(name, copula):
    train, _ = sample(150, 4, administrative=True)
    test, _ = sample(80, 5, administrative=True)
    test = test[test.time < train.t_max]
    rng = np.random.default_rng(0)
    status = build(name, copula).fit(train).weights(test, TIMES)
    rows = rng.permutation(len(test))
    shuffled = build(name, copula).fit(train[rng.permutation(len(train))]).weights(test[rows], TIMES)
    np.testing.assert_allclose(shuffled.a, status.a[rows], atol=1e-12)

    def scaled(y):
        return cc.Survival(y.time * 8, y.event, y.administrative)

    other = build(name, copula).fit(scaled(train)).weights(scaled(test), TIMES * 8)
    np.testing.assert_allclose(other.a, status.a, atol=1e-12)
    np.testing.assert_allclose(other.b, status.b, atol=1e-12)


@every
@every_copula
def test_weights_are_finite_and_have_their_sign(name, copula):
    train, _ = sample(150, 6, administrative=True)
    test, _ = sample(80, 7, administrative=True)
    test = test[test.time < train.t_max]
    status = build(name, copula).fit(train).weights(test, TIMES)
    valid = status.valid_until > TIMES
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
    floor = {"min_probability": 0.01} if name == "ipcw" else {}
    adjustment = build(name, copula, tail="last", **floor)
    try:
        status = adjustment.fit(train).weights(test, times)
    except ValueError:
        # Only where the training sample has no event or no dropout, its curve reaches 0, or no weight is left.
        curve = cc.CopulaGraphic(cc.Independence() if name in ("ipcw", "margin_km") else copula).fit(train)
        dropouts = ~train.event & ~train.administrative
        assert not train.n_events or not dropouts.any() or curve.predict(train.t_max) == 0 or name == "dep"
        assume(False)
    risk = np.random.default_rng(seed).gamma(2.0, 0.5, size=len(test))
    predicted = np.exp(-times * risk[:, None])
    direct = (status.a * (1 - predicted) ** 2 + status.b * predicted**2).sum(axis=0) / status.normaliser
    got = brier(status, predicted)
    valid = times < status.valid_until
    np.testing.assert_allclose(got[valid], direct[valid], atol=1e-12 * max(1.0, np.abs(status.a).max()))
    assert np.isnan(got[~valid]).all()


def test_the_kernel_over_many_blocks():
    rng = np.random.default_rng(8)
    n, times = 20_000, np.linspace(0.01, 1.5, 40)
    e, c = rng.exponential(size=(2, n))
    y = cc.Survival.from_latent(e, c)
    predicted = np.exp(-times * rng.gamma(4.0, 0.25, size=n)[:, None])
    for name in NAMES:
        status = build(name, cc.Gumbel(2.0)).fit(y).weights(y, times)
        direct = (status.a * (1 - predicted) ** 2 + status.b * predicted**2).sum(axis=0) / status.normaliser
        np.testing.assert_allclose(brier(status, predicted), direct, rtol=1e-11)


@every
def test_many_models_in_one_pass_are_the_same_as_one_by_one(name):
    y, _ = sample(400, 9, administrative=True)
    rng = np.random.default_rng(1)
    tables = [np.exp(-TIMES * rng.gamma(2.0, 0.05, size=len(y))[:, None]) for _ in range(3)]
    status = build(name, cc.Frank(3.0), tail="last").fit(y).weights(y, TIMES)
    models = [as_predictions(each, len(y), times=TIMES) for each in tables]
    models.append(cc.Predictions([4.0, 12.0], tables[0][:, [1, 4]], "step", source="its own times"))
    together = mean_losses(status, BRIER, models)
    for row, model in zip(together, models, strict=True):
        np.testing.assert_array_equal(mean_losses(status, BRIER, [model])[0], row)


@every
def test_an_adjustment_says_what_it_rests_on(name):
    adjustment = build(name, cc.Clayton(2.0))
    assert adjustment.assumption.endswith(".")
    assert adjustment.assumption.count(".") == 1
    assert adjustment.needs == frozenset()
    assert cc.IPCW("cox").needs == frozenset({"covariates"})


@every
def test_beyond_the_training_support(name):
    train = cc.Survival([1.0, 2.0, 3.0, 4.0, 5.0], [1, 0, 1, 0, 0])
    test = cc.Survival([2.5, 3.5, 7.0, 9.0], [0, 1, 0, 1])
    fitted = build(name, cc.Clayton(1.0), tail=None).fit(train)
    if name != "dep":  # whose weights need S_E at every censoring
        # outcomes beyond do not matter here
        assert np.isfinite(fitted.weights(test, [2.0, 3.0]).a).all()
    refuses(lambda: fitted.weights(test, [2.0, 8.0]), "last training time 5", "tail", "'last'")
    if name == "ipcw":
        return  # its curve has reached 0
    status = build(name, cc.Clayton(1.0), tail="last").fit(train).weights(test, [2.0, 8.0])
    assert np.isfinite(status.a[:, status.times < status.valid_until]).all()


def test_refusals_name_the_row_that_the_user_knows():
    train = cc.Survival([1.0, 2.0, 5.0], [1, 1, 0])
    late = cc.Survival([1, 1, 7.0], [1, 1, 0])
    for name in ("margin", "dep"):
        fitted = build(name, cc.Clayton(1.0), tail=None).fit(train)
        refuses(lambda fitted=fitted: fitted.weights(late, [1.0, 4.5, 8.0]), "y_test", "row 2 is 7.0")
    later = cc.Survival([1, 3, 9.0], [1, 0, 0])
    for name in ("ipcw", "imputation_margins", "dependent_ipcw"):
        fitted = build(name, cc.Clayton(1.0)).fit(train)
        refuses(lambda fitted=fitted: fitted.weights(later, [7.0, 1.0, 2.0]), "times", "row 0 is 7.0")


def test_imputation_where_everybody_had_dropped_out():
    train = cc.Survival([1, 2, 3, 4, 5.0], [1, 0, 1, 1, 0])
    test = cc.Survival([5.0, 6.0], [0, 0], [1, 1])
    status = cc.Imputation((), cc.Clayton(1.0), tail="last").fit(train).weights(test, [5.5, 7.0])
    assert ((status.a >= 0) & (status.a <= 1)).all()
