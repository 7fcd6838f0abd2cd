"""Draws of the synthetic design: what stays fixed, what is calibrated, and whether the stated law is drawn."""

import pickle

import numpy as np
import pytest
from scipy.stats import kendalltau, kstest, weibull_min

import cocensor as cc
from cocensor.simulate import SyntheticDesign
from tests.strategies import member_id, members

COPULAS = members(taus=(-0.9, -0.4, 0.0, 0.25, 0.5, 0.9))
every = pytest.mark.parametrize("copula", COPULAS, ids=member_id)


def true_law(sample, of):
    """The margin of each subject, by scipy."""
    if of == "event":
        (shape, scale), coef = sample.design.event, sample.event_coef
    else:
        (shape, _), scale, coef = sample.design.dropout, sample.dropout_scale, sample.dropout_coef
    return weibull_min(shape, scale=scale * np.exp(-(sample.X @ coef) / shape))


def survival_probabilities(sample):
    u = true_law(sample, "event").sf(sample.event_time)
    v = true_law(sample, "dropout").sf(sample.dropout_time)
    return u, v


# --- what stays fixed -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "design",
    [SyntheticDesign(n=300, copula=copula) for copula in COPULAS]
    + [SyntheticDesign(n=300, censoring_rate=rate) for rate in (None, 0.1, 0.9)]
    + [SyntheticDesign(n=300, dropout=(0.7, 40.0)), SyntheticDesign.preset("published", n=300)],
    ids=str,
)
def test_covariates_and_events_depend_on_the_seed_and_not_on_the_censoring(design):
    sample, reference = design.draw(5), SyntheticDesign(n=300).draw(5)
    for name in ("X", "event_time", "event_coef", "dropout_coef"):
        np.testing.assert_array_equal(getattr(sample, name), getattr(reference, name))


def test_the_dropouts_do_depend_on_the_copula():
    independent = SyntheticDesign(n=300).draw(5)
    dependent = SyntheticDesign(n=300, copula=cc.Frank.from_tau(0.5)).draw(5)
    assert (independent.dropout_time != dependent.dropout_time).all()


def test_one_seed_gives_one_draw_and_another_seed_another():
    design = SyntheticDesign(n=50, copula=cc.Joe(2.0))
    first, again, other = design.draw(3), design.draw(np.int64(3)), design.draw(4)
    for name in ("X", "event_time", "dropout_time", "event_coef", "dropout_coef"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert (getattr(first, name) != getattr(other, name)).all()
    assert first.dropout_scale == again.dropout_scale


def test_without_a_seed_draws_differ_and_can_be_repeated():
    design = SyntheticDesign(n=50)
    first, second = design.draw(), design.draw()
    assert (first.event_time != second.event_time).all()
    np.testing.assert_array_equal(design.draw(first.seed).dropout_time, first.dropout_time)


def test_the_streams_are_unrelated():
    """No correlation between what the four streams draw: a shared state would show as one."""
    n = 20_000
    sample = SyntheticDesign(n=n, n_features=3, censoring_rate=None).draw(0)
    columns = np.column_stack((sample.X, *survival_probabilities(sample)))
    correlation = np.corrcoef(columns, rowvar=False)[np.triu_indices(5, k=1)]
    assert np.abs(correlation).max() < 4 / np.sqrt(n)


# --- the censoring rate ---------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("preset", ["text", "published"])
def test_the_censoring_rate_is_met_to_the_nearest_subject(copula, preset):
    for n in (1, 7, 1000):
        for rate in (0.1, 0.25, 0.5, 0.7, 0.9):
            sample = SyntheticDesign.preset(preset, n=n, copula=copula, censoring_rate=rate).draw(1)
            assert abs(sample.censoring_rate - rate) <= 0.5 / n + 1e-12
            assert sample.censoring_rate == np.mean(sample.event_time > sample.dropout_time)


def test_a_given_scale_is_taken_as_it_is():
    """With equal shapes and independence P(C < E given x) is the dropout's share of the hazard."""
    n, shape = 20_000, 3.0
    design = SyntheticDesign(n=n, event=(shape, 17.0), dropout=(shape, 12.0), censoring_rate=None)
    sample = design.draw(2)
    assert sample.dropout_scale == 12.0
    hazard_e = 17.0**-shape * np.exp(sample.X @ sample.event_coef)
    hazard_c = 12.0**-shape * np.exp(sample.X @ sample.dropout_coef)
    chance = hazard_c / (hazard_c + hazard_e)
    error = np.sqrt(np.sum(chance * (1 - chance))) / n
    assert sample.censoring_rate == pytest.approx(chance.mean(), abs=4 * error)


def test_calibration_multiplies_the_dropout_times_and_forgets_the_given_scale():
    calibrated = SyntheticDesign(n=500, dropout=(3, 12), censoring_rate=0.3).draw(0)
    rescaled = SyntheticDesign(n=500, dropout=(3, 1200), censoring_rate=0.3).draw(0)
    given = SyntheticDesign(n=500, dropout=(3, 12), censoring_rate=None).draw(0)
    np.testing.assert_array_equal(calibrated.dropout_time, rescaled.dropout_time)
    factor = calibrated.dropout_scale / 12
    np.testing.assert_allclose(calibrated.dropout_time, factor * given.dropout_time, rtol=1e-12)


# --- the law --------------------------------------------------------------------------------------------


@every
def test_event_and_dropout_have_the_copula_as_their_survival_copula(copula):
    n = 10_000
    u, v = survival_probabilities(SyntheticDesign(n=n, copula=copula, censoring_rate=0.4).draw(8))
    # The projection of Kendall's statistic on one pair is 4C(u, v) − 2u − 2v, up to a constant.
    error = 2 * np.std(4 * copula.cdf(u, v) - 2 * u - 2 * v) / np.sqrt(n)
    assert kendalltau(u, v).statistic == pytest.approx(copula.tau, abs=4 * error)
    # Four standard errors are a p-value of 6e-5. P(V ≤ v given U = u) also tells C from its mirror image.
    for uniform in (u, v, copula.hfunc1(u, v)):
        assert kstest(uniform, "uniform").pvalue > 6e-5


def test_the_dependence_is_given_the_covariates():
    n = 10_000
    sample = SyntheticDesign(n=n, copula=cc.Clayton.from_tau(0.5)).draw(1)
    risk_e, risk_c = sample.X @ sample.event_coef, sample.X @ sample.dropout_coef
    for probability in survival_probabilities(sample):
        for risk in (risk_e, risk_c):
            assert abs(np.corrcoef(probability, risk)[0, 1]) < 4 / np.sqrt(n)


def test_covariates_and_coefficients_are_uniform():
    samples = [SyntheticDesign(n=20, n_features=5).draw(seed) for seed in range(400)]
    X = np.concatenate([sample.X.ravel() for sample in samples])
    assert kstest(X, "uniform").pvalue > 6e-5
    for name in ("event_coef", "dropout_coef"):
        coef = np.concatenate([getattr(sample, name) for sample in samples])
        assert kstest((coef + 1) / 2, "uniform").pvalue > 6e-5
    pairs = np.array([(sample.event_coef[0], sample.dropout_coef[0]) for sample in samples])
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 4 / np.sqrt(len(samples))


@pytest.mark.parametrize("of", ["event", "dropout"])
def test_true_survival_functions_against_scipy(of):
    sample = SyntheticDesign.preset("published", n=30, censoring_rate=0.2).draw(0)
    survival = getattr(sample, f"{of}_survival")
    t = np.array([20.0, 0.0, 1e-3, 5.0, 60.0])
    expected = true_law(sample, of).sf(t[:, None]).T
    np.testing.assert_allclose(survival(t), expected, rtol=1e-11)
    np.testing.assert_array_equal(survival(t, X=sample.X[4:6]), survival(t)[4:6])
    np.testing.assert_array_equal(survival(5.0), survival(t)[:, [3]])
    np.testing.assert_array_equal(survival(1e100), 0.0)


def test_the_default_is_the_text_of_the_paper():
    assert SyntheticDesign() == SyntheticDesign.preset("text")
    assert SyntheticDesign(n=10, event=(4, 17), dropout=(6, 19)) == SyntheticDesign.preset("published", n=10)
    assert hash(SyntheticDesign()) == hash(SyntheticDesign(event=(4, 17)))
    sample = SyntheticDesign().draw(0)
    assert sample.X.shape == (10_000, 10)
    assert sample.censoring_rate == 0.5


# --- the draw as a value --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows", [slice(2, 7), slice(None, None, -2), np.arange(10) % 3 == 0, [4, 4, 0], np.array([9]), 3]
)
def test_rows_are_picked_as_from_an_array(rows):
    sample = SyntheticDesign(n=10, copula=cc.Gumbel(2.0)).draw(0)
    part, index = sample[rows], np.atleast_1d(np.arange(10)[rows])
    for name in ("X", "event_time", "dropout_time"):
        np.testing.assert_array_equal(getattr(part, name), getattr(sample, name)[index])
    np.testing.assert_array_equal(part.y.time, np.minimum(part.event_time, part.dropout_time))
    np.testing.assert_array_equal(part.y.event, part.event_time <= part.dropout_time)
    np.testing.assert_array_equal(part.event_survival([9.0]), sample.event_survival([9.0])[index])
    assert part.censoring_rate == np.mean(~part.y.event)
    assert (part.design, part.dropout_scale) == (sample.design, sample.dropout_scale)


def test_one_subject():
    sample = SyntheticDesign(n=1, n_features=1, copula=cc.Gaussian(-0.5)).draw(0)
    assert len(sample) == len(sample.y) == 1
    assert sample.event_survival([1.0, 2.0]).shape == (1, 2)


def test_a_draw_is_frozen_and_survives_a_pickle():
    sample = SyntheticDesign(n=20).draw(0)
    with pytest.raises(ValueError, match="read-only"):
        sample.X[0, 0] = 2.0
    with pytest.raises(AttributeError):
        sample.X = None
    copy = pickle.loads(pickle.dumps(sample))
    np.testing.assert_array_equal(copy.y.time, sample.y.time)
    assert copy.design == sample.design


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SyntheticDesign(n=0), "n must be a whole number from 1 on, but is 0"),
        (lambda: SyntheticDesign(n=1e4), "n must be a whole number from 1 on, but is 10000.0"),
        (lambda: SyntheticDesign(n=True), "n must be a whole number from 1 on, but is True"),
        (lambda: SyntheticDesign(n_features=-1), "n_features must be a whole number from 1 on, but is -1"),
        (lambda: SyntheticDesign(event=4), r"event must be a pair \(shape, scale\), but is 4"),
        (lambda: SyntheticDesign(event=(4, 1, 7)), r"event must be a pair .*, but is \(4, 1, 7\)"),
        (
            lambda: SyntheticDesign(event=(0, 17)),
            "the shape of event must lie strictly between 0 and inf, but is 0",
        ),
        (
            lambda: SyntheticDesign(dropout=(3, -1)),
            "the scale of dropout must lie strictly .*, but is -1",
        ),
        (lambda: SyntheticDesign(dropout=(np.nan, 1)), "the shape of dropout must be finite, but is nan"),
        (lambda: SyntheticDesign(copula="clayton"), "copula must be a Copula, but is 'clayton'"),
        (lambda: SyntheticDesign(copula=cc.Clayton), "copula must be a Copula, but is <class"),
        (
            lambda: SyntheticDesign(censoring_rate=0),
            "censoring_rate must lie strictly between 0 and 1, but is 0",
        ),
        (lambda: SyntheticDesign(censoring_rate=1.0), "censoring_rate must lie strictly .*, but is 1"),
        (lambda: SyntheticDesign.preset("paper"), "name must be one of 'text', 'published', but is 'paper'"),
        (lambda: SyntheticDesign().draw(-1), "seed must be a whole number from 0 on or None, but is -1"),
        (lambda: SyntheticDesign().draw(0.5), "seed must be a whole number from 0 on or None, but is 0.5"),
        (lambda: SyntheticDesign().draw(np.random.default_rng(0)), "seed must be .*, but is Generator"),
        (lambda: SyntheticDesign(event=(1e-3, 17)).draw(0), "event_time must be finite, but row .* is inf"),
        (lambda: SyntheticDesign(dropout=(1e-4, 12)).draw(0), "dropout_time must be finite, but row"),
        (lambda: SyntheticDesign(n=5).draw(0)[5:], "rows picks nobody: at least one subject is needed"),
        (
            lambda: SyntheticDesign(n=5).draw(0).event_survival(-1.0),
            "t must not be negative, but row 0 is -1",
        ),
        (lambda: SyntheticDesign(n=5).draw(0).event_survival([[1.0]]), "t must be one-dimensional"),
        (
            lambda: SyntheticDesign(n=5).draw(0).dropout_survival(1.0, X=np.zeros((2, 3))),
            "X must have 10 columns, as in the draw, but has 3",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_tau_given_all_that_matters_is_the_copulas_and_given_less_is_another():
    data = SyntheticDesign(n=20_000, n_features=3, copula=cc.Frank.from_tau(0.5)).draw(0)
    # With one covariate that all risk goes through, nothing is left out.
    one = SyntheticDesign(n=20_000, n_features=1, copula=cc.Frank.from_tau(0.5)).draw(0)
    assert one.tau_given(one.X[:, 0]) == pytest.approx(0.5, abs=0.02)
    assert 0.2 < data.tau_given(np.random.default_rng(0).normal(size=20_000)) < 0.49
    with pytest.raises(ValueError, match="^score .* 3.* 20000"):
        data.tau_given([1.0, 2.0, 3.0])
