"""Samples on which an optimiser, or a formula, can go wrong."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.joint.conditional import event_weights
from cocensor.joint.fit import JointProblem
from cocensor.simulate import SyntheticDesign
from tests.refusals import refuses

FAMILIES = ["clayton", "frank", "gumbel", "joe", "gaussian"]


def late_dropout(margins):
    """A five-year trial whose dropouts are all late: at early events their cumulative hazard is next to nothing."""
    rng = np.random.default_rng(2)
    n = 300
    X = rng.normal(size=(n, 2))
    if margins == "spline":
        e = np.ceil(1825 * rng.exponential(size=n) * np.exp(-0.4 * X[:, 0]))
        c = rng.integers(1642, 1826, n).astype(float)
    else:
        e, c = 6 * rng.weibull(0.8, n), rng.uniform(5, 5.5, n)
    return X, cc.Survival.from_latent(e, c)


@pytest.mark.parametrize("margins", ["weibull", "spline"])
@pytest.mark.parametrize("family", FAMILIES)
def test_cumulative_hazards_that_are_next_to_nothing(family, margins):
    X, y = late_dropout(margins)
    fixed = cc.fit_joint(X, y, cc.copula(family, tau=0.5), margins, knots=3)
    assert fixed.converged_
    independent = cc.fit_joint(X, y, "independence", margins)
    free = cc.fit_joint(X, y, family, margins)
    assert free.converged_
    assert free.nll_ <= -independent.loglik_ / len(y) + 1e-9
    if (family, margins) == ("clayton", "spline"):
        assert fixed.loglik_ == pytest.approx(-2180.197, abs=0.01)  # by another optimiser


@pytest.mark.parametrize("family", ["clayton", "frank"])
def test_hazards_that_stand_still_are_followed_along_tau(family):
    """Nothing happens for a while: where margins point to from one τ to the next, a hazard may fall."""
    rng = np.random.default_rng(0)
    early, late = (0.1, 1.0), (20.0, 22.0)
    times = [
        np.where(rng.random(200) < 0.5, rng.uniform(*early, 200), rng.uniform(*late, 200)) for _ in range(2)
    ]
    problem = JointProblem.of(None, cc.Survival.from_latent(*times), margins="spline", penalty=0.0)
    for tau in np.arange(1, 10) / 10:
        assert problem.margins_at(cc.copula(family, tau=tau)).converged


def test_the_profile_warns_where_margins_do_not_converge(monkeypatch):
    X, y = late_dropout("weibull")
    choice = cc.select_copula(X, y, X, y, families=("clayton",))
    problem = choice.problem
    original = type(problem).margins_at

    def unconverged(self, copula):
        from dataclasses import replace

        return replace(original(self, copula), converged=False)

    monkeypatch.setattr(type(problem), "margins_at", unconverged)
    with pytest.warns(cc.warnings.FitWarning, match=r"clayton .*τ = 0\.5"):
        choice.profile([0.5])


def separated():
    """A covariate whose bearers never drop out."""
    rng = np.random.default_rng(0)
    n = 2000
    X = np.column_stack((rng.normal(size=n), rng.random(n) < 0.1)).astype(float)
    e, c = rng.exponential(size=(2, n))
    return X, cc.Survival.from_latent(e, np.where(X[:, 1] == 1, 50.0, c))


def test_separation_is_named():
    X, y = separated()
    with pytest.warns(cc.warnings.FitWarning, match="'dropout: x1' has no finite estimate"):
        model = cc.fit_joint(X, y, cc.Clayton(1.0))
    assert model.converged_
    assert model.event.beta[0] == pytest.approx(0.0, abs=0.2)


@pytest.mark.filterwarnings("error::cocensor.warnings.FitWarning")
def test_columns_that_are_nearly_the_same_are_not_called_a_separation():
    data = SyntheticDesign(n=500, n_features=1).draw(0)
    twin = data.X + 1e-4 * np.random.default_rng(0).normal(size=data.X.shape)
    model = cc.fit_joint(np.column_stack((data.X, twin)), data.y, cc.Clayton(1.0))
    assert model.parameters()["event: x1"][1] > 100


@pytest.mark.filterwarnings("ignore::cocensor.warnings.FitWarning")
def test_the_best_run_is_the_one_with_the_smallest_value():
    X, y = separated()
    model = cc.fit_joint(X, y, "gumbel", "spline", penalty=0)
    values = [start.nll for start in model.starts_]
    assert values[0] == min(values)
    assert model.nll_ == pytest.approx(values[0])
    assert model.converged_ == model.starts_[0].converged


def test_all_dropouts_at_one_time_are_an_end_of_study():
    time = np.r_[np.linspace(0.1, 5, 100), np.full(50, 5.0)]
    y = cc.Survival(time, np.r_[np.ones(100), np.zeros(50)])
    for margins in ("weibull", "spline"):
        with pytest.raises(ValueError, match="^y .*dropouts .* 5.*administrative"):
            cc.fit_joint(None, y, cc.Clayton(1.0), margins)


@pytest.mark.parametrize("what", ["event", "dropout"])
def test_one_event_or_dropout_is_too_few_and_no_end_of_study(what):
    happened = np.arange(50) == 20
    y = cc.Survival(np.linspace(0.1, 5, 50), happened if what == "event" else ~happened)
    with pytest.raises(ValueError, match=f"^y has too few {what}s: 1 {what} .* 2 parameters"):
        cc.fit_joint(None, y, cc.Clayton(1.0))


def test_too_few_groups():
    rng = np.random.default_rng(0)
    y = cc.Survival(rng.integers(1, 3, 200).astype(float), rng.random(200) < 0.5)
    with pytest.raises(ValueError, match="2 different times"):
        cc.fit_joint(None, y, cc.Clayton(1.0))


def test_administrative_times_between_the_ends_of_groups():
    """Months, with an end of study on any day: what happened in a month that was cut short is not known."""
    gaps = []
    for seed in range(3):
        data = SyntheticDesign(
            n=20_000, n_features=2, event=(1.2, 6.0), dropout=(1.5, 5.0), copula=cc.Clayton(2.0)
        ).draw(seed)
        end = np.floor(np.random.default_rng(seed).uniform(2, 9, 20_000)) + 0.5
        e, c = np.ceil(data.event_time), np.ceil(data.dropout_time)
        model = cc.fit_joint(data.X, cc.Survival.from_latent(e, c, end), cc.Clayton(2.0))
        assert model.time_kind_ == "grouped"
        np.testing.assert_array_equal(model.ends_, np.rint(model.ends_))
        t = [2.0, 4.0, 6.0]
        gaps.append(model.survival(t, data.X).mean(axis=0) - data.event_survival(t).mean(axis=0))
    assert np.abs(np.mean(gaps, axis=0)).max() < 0.012


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tau", [0.9, 0.985])
def test_grouped_times_and_dependence_near_1(family, tau):
    data = SyntheticDesign(
        n=2000, n_features=2, event=(1.2, 6.0), dropout=(1.5, 5.0), copula=cc.copula(family, tau=0.9)
    ).draw(1)
    y = cc.Survival.from_latent(np.ceil(data.event_time), np.ceil(data.dropout_time))
    model = cc.fit_joint(data.X, y, cc.copula(family, tau=tau))
    assert np.isfinite(model.loglik_)
    assert model.converged_


@pytest.mark.no_cover
def test_fine_times_as_groups_are_nearly_continuous():
    data = SyntheticDesign(n=3000, n_features=2, copula=cc.Frank(4.0)).draw(0)
    grouped, continuous = (
        cc.fit_joint(data.X, data.y, "frank", time_kind=kind) for kind in ("grouped", "continuous")
    )
    assert grouped.converged_
    assert grouped.copula.tau == pytest.approx(continuous.copula.tau, abs=0.03)
    np.testing.assert_allclose(grouped.event.beta, continuous.event.beta, atol=0.03)


def test_only_administrative_censoring():
    """Nothing about dependence is open: only the event has a margin."""
    data = SyntheticDesign(n=3000, n_features=2).draw(0)
    y = cc.Survival.from_latent(data.event_time, np.full(3000, 1e6), 12.0)
    model = cc.fit_joint(data.X, y, cc.Clayton(2.0), "spline")
    np.testing.assert_array_equal(model.dropout_survival([5.0, 100.0], data.X[:2]), 1.0)
    t = np.array([8.0, 11.0])
    assert np.abs(model.survival(t, data.X) - data.event_survival(t)).mean() < 0.03
    q = model.conditional_survival([14.0], [12.0], data.X[:1], administrative=[True])
    ratio = model.survival([14.0], data.X[:1]) / model.survival([12.0], data.X[:1])
    np.testing.assert_allclose(q, ratio, rtol=1e-9)
    assert np.isinf(model.sample(data.X, rng=0)[1]).all()
    with pytest.raises(ValueError, match="^y .*dropout"):
        cc.fit_joint(data.X, y, "clayton")
    status = cc.Imputation("covariates", cc.Clayton(2.0)).fit(y, data.X).weights(y, t, data.X)
    np.testing.assert_allclose(status.a.mean(axis=0), (data.event_time[:, None] > t).mean(axis=0), atol=1e-12)


def test_saved_with_an_unusual_fit(tmp_path):
    data = SyntheticDesign(n=300, n_features=2).draw(0)
    y = cc.Survival.from_latent(data.event_time, np.full(300, 1e6), 12.0)
    model = cc.fit_joint(data.X, y, cc.Clayton(2.0))
    model.save(tmp_path / "m.json")
    loaded = cc.joint.JointModel.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.survival([5.0], data.X), model.survival([5.0], data.X))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"coef": [', '"coef": [1.0, '),
        ('"beta": [', '"beta": ["x", '),
        ('"copula": {', '"copula": [], "x": {'),
        ('"knots": [', '"knots": -1, "x": ['),
        ('"beta": [', '"beta": 1.0, "x": ['),
        ('"ends_": ', '"ends_": 1.0, "x": '),
        ('"names_"', '"other"'),
        ('"theta": ', '"theta": -'),
        ('"theta": ', f'"theta": 1{400 * "0"}, "x": '),
        ('"loglik_": ', f'"loglik_": 1{400 * "0"}, "x": '),
        ('"nll": ', f'"nll": 1{400 * "0"}, "x": '),
        ('"n_": ', f'"n_": 1{5000 * "0"}, "x": '),
        ('"n_": ', '"n_": "300", "x": '),
        ('"n_": ', '"n_": true, "x": '),
        ('"time_kind_": "continuous"', '"time_kind_": "grouped"'),
        ('"covariance_": ', f'"covariance_": {100_000 * "["}'),
        ('"starts_": ', '"starts_": [[[]]], "x": '),
    ],
)
def test_damaged_files_are_refused(tmp_path, old, new):
    data = SyntheticDesign(n=300, n_features=2, copula=cc.Clayton(1.0)).draw(0)
    path = tmp_path / "m.json"
    cc.fit_joint(data.X, data.y, "clayton", "weibull").save(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match="path must name a saved joint model"):
        cc.joint.JointModel.load(path)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            lambda X, y: cc.fit_joint(X, y, "independence", theta=2.0),
            "theta of the independence copula must be 0",
        ),
        (lambda X, y: cc.fit_joint(X, y, starts="abc"), "starts must be"),
        (
            lambda X, y: cc.fit_joint(X * 1e200, y),
            "X must have values of moderate size, but column 'x0' reaches .*e\\+199",
        ),
        (lambda X, y: cc.fit_joint(X * 1e-155, y), "X must have values of moderate size, but column 0 .*e-"),
        (lambda X, y: cc.select_copula(None, y, X), "X_val must be None where X is"),
        (lambda X, y: cc.select_copula(X, y, families=None), "families must be a list or tuple of families"),
        (lambda X, y: cc.select_copula(X, y, families=("nope",)), "families must be one of"),
        (lambda X, y: cc.fit_joint(None, y).sample(n=-1), "n must be a whole number from 1 on, but is -1"),
        (
            lambda X, y: cc.select_copula(X, y, 1e6 * X, y, families=("clayton",)),
            "no family can be chosen: by validation part, y_val has a likelihood of 0",
        ),
        (lambda X, y: cc.Imputation("covariates", penalty=-1), "penalty must not be negative"),
        (lambda X, y: cc.Imputation("prediction", score_times=[]), "score_times is empty"),
    ],
)
def test_more_refusals(run, message):
    data = SyntheticDesign(n=200, n_features=2).draw(0)
    with pytest.raises(ValueError, match=message):
        run(data.X, data.y)


@pytest.mark.filterwarnings("ignore::cocensor.warnings.FitWarning")
def test_a_fold_that_cannot_be_fitted_is_named():
    data = SyntheticDesign(n=60, n_features=1).draw(0)
    rare = np.zeros(60)
    rare[7] = 1.0
    with pytest.raises(ValueError, match="^fold . of 5 .*X .*column 1"):
        cc.select_copula(np.column_stack((data.X, rare)), data.y, families=("clayton",))


def test_few_subjects_with_a_validation_part_need_no_folds():
    data = SyntheticDesign(n=60, n_features=1).draw(0)
    few = data[:8]
    choice = cc.select_copula(None, few.y, None, data.y, families=("clayton",), margins="weibull")
    assert set(choice.validation) == {"independence", "clayton"}
    with pytest.raises(ValueError, match="folds"):
        cc.select_copula(None, few.y, None, data.y, families=("clayton",), folds=5)


@pytest.mark.parametrize("family", FAMILIES)
def test_dropouts_of_next_to_no_chance_tell_what_the_copula_says(family):
    """As S_C tends to 1 the answer is the ratio of h₂, however small the step of S_C."""
    data = SyntheticDesign(n=500, n_features=1, copula=cc.Clayton(1.0)).draw(0)
    months = cc.Survival(np.ceil(4.0 * data.y.time / np.median(data.y.time)), data.y.event)
    copula = cc.copula(family, tau=0.5)
    model = cc.fit_joint(None, months, copula, "weibull", time_kind="grouped")
    t, c, before = np.array([6.0, 9.0]), np.array([5.0]), model.ends_[model.ends_ < 5.0].max()
    u, u_c = model.survival(t)[0], model.survival(c)[0]
    for shift in (20.0, 35.0, 40.0, 100.0):
        rare = replace(model.dropout, coef=model.dropout.coef - shift * (np.arange(2) == 0))
        found = replace(model, dropout=rare).conditional_survival(t, c)[0]
        y = np.exp(rare.baseline(np.log(np.linspace(before, 5.0, 2001)[:, None])))
        chance = np.exp(copula.log_hfunc2_hazard(-np.log(np.append(u, u_c)), y))
        over = np.trapezoid(chance * np.gradient(y[:, 0])[:, None], axis=0)
        np.testing.assert_allclose(found, over[:2] / over[2], rtol=1e-4)


def test_few_groups_have_few_knots():
    rng = np.random.default_rng(0)
    e, c = np.ceil(4 * rng.weibull(1.5, size=(2, 2000)))
    y = cc.Survival.from_latent(np.minimum(e, 4.0), c)
    model = cc.fit_joint(None, y, cc.Clayton(1.0), "spline", knots=5)
    assert "1 inner knots for the events at 4 times" in model.time_kind_reason_
    assert model.event.basis.size == 3
    assert model.converged_


@pytest.mark.parametrize("t", [np.ones((2, 2)), np.empty((0, 3)), [[1.0], [1.0, 2.0]]])
def test_times_are_a_list(t):
    data = SyntheticDesign(n=300, n_features=2).draw(0)
    model = cc.fit_joint(data.X, data.y, "clayton")
    refuses(lambda: model.survival(t, data.X[:2]), "t must")
    refuses(lambda: model.conditional_survival(t, data.y.time, data.X), "t must")
    assert model.survival(1.0, data.X).shape == (300, 1)


def test_an_event_that_the_model_has_long_expected_has_a_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    event, dropout = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2.0, 200)
    y = cc.Survival(np.ceil(4 * np.minimum(event, dropout)) / 4, event <= dropout)
    model = cc.fit_joint(X, y, copula=cc.Clayton(2.0), time_kind="grouped")
    weights = event_weights(model, np.array([2.0, 2.0]), np.array([[0.0], [900.0]]))
    assert (weights >= 1.0).all()
