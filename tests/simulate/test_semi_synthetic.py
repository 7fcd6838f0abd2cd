"""Real covariates with drawn times."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sksurv.metrics import concordance_index_censored

import cocensor as cc
from cocensor.datasets import Dataset, UnseenLevelWarning, load_gbsg, load_whas
from cocensor.simulate import SemiSynthetic
from cocensor.simulate.semi_synthetic import harrell_c


@pytest.fixture(scope="module")
def whas():
    return load_whas()


@pytest.fixture(scope="module")
def gbsg():
    return load_gbsg()


def test_harrells_c_against_scikit_survival(gbsg):
    rng = np.random.default_rng(0)
    for risk in (rng.normal(size=len(gbsg)), np.round(rng.normal(size=len(gbsg)))):
        expected = concordance_index_censored(gbsg.y.event, gbsg.y.time, risk, tied_tol=0)[0]
        assert harrell_c(gbsg.y, risk) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="no comparable pair"):
        harrell_c(cc.Survival([1.0, 2.0], [0, 0]), np.zeros(2))


def test_draws_follow_the_cox_models(gbsg):
    """Over many draws the share beyond t is the fitted curve, for event and dropout, averaged over subjects."""
    design = SemiSynthetic(gbsg)
    t = np.quantile(gbsg.y.time, [0.1, 0.4, 0.7])
    draws = [design.draw(seed) for seed in range(30)]
    for times, survival in (
        ("event_time", draws[0].marginal_event_survival(t)),
        ("censoring_time", draws[0].marginal_censoring_survival(t)),
    ):
        found = np.mean([(getattr(draw, times)[:, None] > t).mean(axis=0) for draw in draws], axis=0)
        np.testing.assert_array_less(np.abs(found - survival), 4 * np.sqrt(0.25 / (30 * len(gbsg))))


def test_the_truth_is_the_fitted_model_given_all_features(gbsg):
    design = SemiSynthetic(gbsg, ["nodes"])
    sample = design.draw(1)
    t = np.array([500.0, 1500.0])
    direct = design.event_model_.survival(t, design.encoder.transform(gbsg.X))
    np.testing.assert_allclose(sample.event_survival(t), direct, rtol=1e-12)
    np.testing.assert_allclose(sample[[5, 2]].event_survival(t), direct[[5, 2]], rtol=1e-12)
    assert list(sample.X.columns) == ["nodes"]


@pytest.mark.parametrize("copula", [cc.Clayton.from_tau(0.5), cc.Gaussian.from_tau(-0.4)])
def test_a_copula_injects_a_known_dependence(gbsg, copula):
    design = SemiSynthetic(gbsg, dependence=copula)
    sample = design.draw(3)
    assert sample.copula == copula
    # Only where neither curve has ended are the times in the order of their draws.
    inside = (sample.event_time < gbsg.y.t_max) & (sample.censoring_time < gbsg.y.t_max)
    independent = SemiSynthetic(gbsg).draw(3)
    np.testing.assert_array_equal(sample.event_time, independent.event_time)
    u = sample.event_survival(gbsg.y.time)[np.arange(686)[:, None], np.argsort(gbsg.y.time)].min()
    assert u >= 0
    direction = kendalltau(sample.event_time[inside], sample.censoring_time[inside]).statistic
    base = kendalltau(independent.event_time, independent.censoring_time).statistic
    assert (direction > base) == (copula.tau > 0)


def test_omitted_features_leave_dependence(whas):
    """Independent given all features, dependent given none."""
    taus = []
    for seed in range(5):
        sample = SemiSynthetic(whas).draw(seed)
        given_all = sample.design.event_model_.predict(sample.design.design_)
        taus.append(abs(sample.tau_given(given_all)))
    assert np.mean(taus) < 0.06


def test_features(whas):
    design = SemiSynthetic(whas, "top_5")
    assert len(design.features_) == 5
    assert "age" in design.features_
    falls = list(design.importance_.values())
    assert falls == sorted(falls, reverse=True)
    assert design.features_ == SemiSynthetic(whas, "top_5").features_
    assert len(SemiSynthetic(whas, "top_10").features_) == 10
    quarter = SemiSynthetic(whas, "random_25").features_
    assert len(quarter) == 4
    assert quarter != SemiSynthetic(whas, "random_25", selection_seed=1).features_
    assert SemiSynthetic(whas).features_ == tuple(whas.X.columns)
    assert SemiSynthetic(whas, ["hr", "age"]).features_ == ("age", "hr")


def test_the_tail(gbsg):
    """A third of the subjects have no event by the end: extrapolated, or administratively censored there."""
    extrapolated, ended = (
        SemiSynthetic(gbsg, tail=tail).draw(0) for tail in ("extrapolate", "administrative")
    )
    np.testing.assert_array_equal(extrapolated.event_time, ended.event_time)
    assert extrapolated.event_time.max() > 10 * gbsg.y.t_max
    assert extrapolated.y.administrative is None
    assert ended.y.t_max <= gbsg.y.t_max
    beyond = np.minimum(ended.event_time, ended.censoring_time) > gbsg.y.t_max
    np.testing.assert_array_equal(ended.y.administrative, beyond)
    earlier = SemiSynthetic(gbsg, tail="administrative", study_end=1000.0).draw(0)
    assert earlier.y.t_max == 1000.0
    # the paper's formula, of one subject
    row = int(np.argmax(extrapolated.event_time))
    curve = extrapolated.design.event_model_.baseline_at_centre_
    last = extrapolated[[row]].event_survival([curve.times[-1]])[0, 0]
    assert extrapolated.event_time[row] == pytest.approx(curve.times[-1] / (1 - last))
    assert extrapolated[[row]].event_survival([2 * extrapolated.event_time[row]])[0, 0] == 0.0


def test_the_published_way(gbsg):
    design = SemiSynthetic.published(gbsg, features="top_5")
    sample = design.draw(0)
    for times in (sample.event_time, sample.censoring_time):
        np.testing.assert_array_equal(times, np.rint(times))
        assert times.min() >= 1
    tied = sample.event_time == sample.censoring_time
    assert not sample.y.event[tied].any()
    np.testing.assert_array_equal(sample.y.event, sample.event_time < sample.censoring_time)
    plain = SemiSynthetic(gbsg, features="top_5").draw(0)
    assert sample.event_time.max() < plain.event_time.max()
    train, _, _ = sample.parts(3)
    assert train.X.min() >= 0
    assert train.X.max() <= 1


def test_parts_learn_from_the_training_part_only(gbsg):
    sample = SemiSynthetic(gbsg).draw(0)
    train, validation, test = sample.parts(1)
    assert (len(train), len(validation), len(test)) == (480, 69, 137)
    np.testing.assert_allclose(train.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(train.X.std(axis=0), 1.0)
    assert np.abs(test.X.mean(axis=0)).max() > 1e-3
    assert abs(train.y.event.mean() - test.y.event.mean()) < 0.02
    # the truth goes along
    np.testing.assert_array_equal(sample.event_time[test.rows], test.event_time)
    np.testing.assert_array_equal(sample.y.time[test.rows], test.y.time)
    on_all = SemiSynthetic(gbsg, encode_on="all").draw(0).parts(1)[0]
    assert np.abs(on_all.X.mean(axis=0)).max() > 1e-3


def test_categorical_features_and_missing_values():
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame({"age": rng.normal(60, 10, n), "stage": rng.choice(["I", "II", "III"], n)})
    X.loc[::20, "age"] = np.nan
    y = cc.Survival.from_latent(rng.exponential(size=n) * (1 + (X["stage"] == "I")), rng.exponential(size=n))
    data = Dataset("own", X, y, ("stage",), ("age",), "mine", "me", "here")
    sample = SemiSynthetic(data, dependence=cc.Frank(3.0)).draw(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenLevelWarning)
        train, _, _ = sample.parts()
    assert train.X.shape == (280, 3)
    assert np.isfinite(train.X).all()


def test_seeds(whas):
    design = SemiSynthetic(whas)
    np.testing.assert_array_equal(design.draw(4).event_time, design.draw(4).event_time)
    assert not np.array_equal(design.draw(4).event_time, design.draw(5).event_time)
    unseeded = design.draw()
    np.testing.assert_array_equal(design.draw(unseeded.seed).event_time, unseeded.event_time)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"features": "top_3"},
            "features must be one of 'original', 'top_5', 'top_10', 'random_25', but is 'top_3'",
        ),
        ({"features": ["age", "shoe"]}, "features must be columns of the data set, but 'shoe' is not one"),
        ({"features": []}, "features must be columns of the data set, but there are none"),
        ({"dependence": 0.5}, "dependence must be 'omitted' or a copula, but is 0.5"),
        ({"tail": "cut"}, "tail must be one of 'extrapolate', 'administrative', but is 'cut'"),
        ({"study_end": 100.0}, "study_end must be None unless tail is 'administrative'"),
        ({"clip": 2.0}, "clip must lie strictly between 0 and 1, but is 2"),
        ({"encode_on": "test"}, "encode_on must be one of 'train', 'all', but is 'test'"),
    ],
)
def test_refusals(whas, changes, message):
    with pytest.raises(ValueError, match=message):
        SemiSynthetic(whas, **changes)


def test_the_data_set_must_be_one():
    with pytest.raises(TypeError, match="dataset must be a Dataset, but is of type int"):
        SemiSynthetic(3)
