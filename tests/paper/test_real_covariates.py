"""Real covariates with drawn times."""

import warnings

import numpy as np
import pandas as pd
import pytest
from lifelines import CoxPHFitter
from sksurv.metrics import concordance_index_censored

import cocensor as cc
from cocensor.metrics.concordance import harrell_c
from cocensor.paper import SemiSynthetic
from cocensor.paper.datasets import Dataset, UnseenLevelWarning, load_gbsg, load_whas


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
        ("dropout_time", draws[0].marginal_dropout_survival(t)),
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
    """P(E > t, C > t) is the copula of the two true curves, over subjects and draws; the events stay as they are."""
    design = SemiSynthetic(gbsg, dependence=copula)
    draws = [design.draw(seed) for seed in range(60)]
    assert draws[0].copula == copula
    np.testing.assert_array_equal(draws[3].event_time, SemiSynthetic(gbsg).draw(3).event_time)
    for t in np.quantile(gbsg.y.time, [0.3, 0.6]):
        u, v = draws[0].event_survival([t])[:, 0], draws[0].dropout_survival([t])[:, 0]
        expected = float(np.mean(copula.cdf(u, v)))
        found = np.mean([np.mean((d.event_time > t) & (d.dropout_time > t)) for d in draws])
        assert abs(found - expected) < 4 * np.sqrt(0.25 / (60 * len(gbsg)))


@pytest.mark.parametrize("copula", [cc.Clayton.from_tau(0.5), cc.Independence()])
def test_tau_given_the_whole_risk_is_the_copulas(gbsg, copula):
    """Also where a third of the events lie past the end of the curves."""
    taus = []
    for seed in range(10):
        sample = SemiSynthetic(gbsg, dependence=copula).draw(seed)
        # given the features that matter for the event, what is left of the dropout's matters little
        taus.append(sample.tau_given(sample.design.event_model_.predict(sample.design.design_)))
    assert np.mean(taus) == pytest.approx(copula.tau, abs=0.05)


def test_omitted_features_leave_dependence():
    """A feature that drives both times, left out: dependent given the rest, not given all."""
    rng = np.random.default_rng(0)
    n = 3000
    X = pd.DataFrame({"seen": rng.normal(size=n), "omitted": rng.normal(size=n)})
    scale = np.exp(-1.5 * X["omitted"])
    y = cc.Survival.from_latent(rng.exponential(size=n) * scale, rng.exponential(size=n) * scale)
    data = Dataset("own", X, y, (), ("seen", "omitted"), "mine", "me", "here")
    sample = SemiSynthetic(data, ["seen"]).draw(0)
    assert sample.tau_given(X["seen"]) > 0.2
    assert abs(sample.tau_given(X["omitted"])) < 0.05


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
    beyond = np.minimum(ended.event_time, ended.dropout_time) > gbsg.y.t_max
    np.testing.assert_array_equal(ended.y.administrative, beyond)
    earlier = SemiSynthetic(gbsg, tail="administrative", study_end=1000.0).draw(0)
    assert earlier.y.t_max == 1000.0
    # the paper's formula, of one subject
    row = int(np.argmax(extrapolated.event_time))
    last = extrapolated[[row]].event_survival([gbsg.y.t_max])[0, 0]
    assert extrapolated.event_time[row] == pytest.approx(gbsg.y.t_max / (1 - last))
    # nothing past a curve is seen as an event or a dropout within the study
    curve = extrapolated.design.event_model_.baseline_at_centre_
    assert not (ended.y.event & (ended.event_time > curve.times[-1])).any()
    assert extrapolated[[row]].event_survival([2 * extrapolated.event_time[row]])[0, 0] == 0.0


def test_the_published_way(gbsg):
    design = SemiSynthetic.published(gbsg, features="top_5")
    sample = design.draw(0)
    for times in (sample.event_time, sample.dropout_time):
        np.testing.assert_array_equal(times, np.rint(times))
    # only what is observed is clipped, and at least 1: the truth stays
    time = np.maximum(np.minimum(sample.event_time, sample.dropout_time), 1.0)
    np.testing.assert_array_equal(sample.y.time, np.minimum(time, np.quantile(time, 0.999)))
    tied = sample.event_time == sample.dropout_time
    assert not sample.y.event[tied].any()
    np.testing.assert_array_equal(sample.y.event, sample.event_time < sample.dropout_time)
    assert sample.event_time.max() > 10 * sample.y.t_max
    # the law of whole-numbered times
    many = [design.draw(seed).event_time for seed in range(40)]
    t = np.array([300.0, 900.0])
    found = np.mean([(times[:, None] > t).mean(axis=0) for times in many], axis=0)
    np.testing.assert_allclose(found, sample.marginal_event_survival(t), atol=4 * np.sqrt(0.25 / 40 / 686))
    train, _, _ = sample.parts(3)
    assert train.X.min() >= 0
    assert train.X.max() <= 1


def test_the_published_cox_models_are_those_of_lifelines(gbsg):
    """There: penalizer=0.01, which lifelines multiplies by n, on standardised columns, with Efron's ties."""
    design = SemiSynthetic.published(gbsg)
    frame = pd.DataFrame(design.design_, columns=design.encoder.columns_)
    for model, observed in ((design.event_model_, gbsg.y.event), (design.dropout_model_, ~gbsg.y.event)):
        fitter = CoxPHFitter(penalizer=0.01).fit(
            frame.assign(time=gbsg.y.time, observed=observed), "time", "observed"
        )
        np.testing.assert_allclose(model.coef_, fitter.params_, atol=5e-3)


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
        ({"ridge": -1.0}, "ridge must not be negative"),
        ({"scaling": "log"}, "scaling must be one of 'standard', 'minmax', but is 'log'"),
        ({"selection_seed": -1}, "selection_seed must be a whole number from 0 on, but is -1"),
        (
            {"tail": "administrative", "study_end": 1e6},
            "study_end must not pass the last time 2358, but is 1e",
        ),
        (
            {"tail": "administrative", "clip": 0.9},
            "tail must be 'extrapolate' with integer_times, clip or ties",
        ),
        ({"encode_on": "test"}, "encode_on must be one of 'train', 'all', but is 'test'"),
    ],
)
def test_refusals(whas, changes, message):
    with pytest.raises(ValueError, match=message):
        SemiSynthetic(whas, **changes)


def test_parts_of_parts_are_refused(gbsg):
    train, _, _ = SemiSynthetic(gbsg).draw(0).parts()
    with pytest.raises(ValueError, match="X has been encoded"):
        train.parts()


def test_the_data_set_must_be_one():
    with pytest.raises(TypeError, match="^dataset .* int"):
        SemiSynthetic(3)
