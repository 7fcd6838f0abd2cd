"""Case weights in the joint model, and refits of a problem with other weights."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.joint.design import Design
from cocensor.joint.fit import JointProblem
from cocensor.joint.likelihood import Likelihood
from cocensor.simulate import SyntheticDesign
from tests.refusals import refuses

N = 250
DATA = SyntheticDesign(n=N, n_features=3, copula=cc.Clayton(2.0)).draw(0)
RNG = np.random.default_rng(1)
WHOLE = RNG.integers(0, 4, N)
ROWS = np.repeat(np.arange(N), WHOLE)
FRACTIONS = RNG.uniform(0.2, 3.0, N)


def outcomes(kind):
    y = DATA.y
    if kind == "grouped":
        return cc.Survival(np.ceil(6 * y.time / np.median(y.time)), y.event)
    if kind == "ended":
        end = np.quantile(y.time, 0.8)
        return cc.Survival(np.minimum(y.time, end), y.event & (y.time <= end), y.time > end)
    return y


def same_model(one, other, rtol):
    assert one.names_ == other.names_
    for margins in ((one.event, other.event), (one.dropout, other.dropout)):
        np.testing.assert_allclose(*(each.basis.knots for each in margins), rtol=1e-12)
    estimates = [np.array(list(each.parameters().values())) for each in (one, other)]
    np.testing.assert_allclose(*estimates, rtol=rtol, atol=0.01 * rtol)
    assert one.loglik_ == pytest.approx(other.loglik_, rel=rtol)
    assert one.nll_ == pytest.approx(other.nll_, rel=1e-12)
    assert (one.n_, one.t_max_) == (pytest.approx(other.n_), other.t_max_)


@pytest.mark.parametrize("kind", ["continuous", "ended", "grouped"])
@pytest.mark.parametrize(
    "form",
    [{"margins": "weibull"}, {"margins": "spline"}, {"margins": "spline", "knots": 2}],
    ids=["weibull", "auto", "2 knots"],
)
def test_whole_weights_are_repeated_rows(kind, form):
    y = outcomes(kind)
    form = {**form, "time_kind": "grouped" if kind == "grouped" else "continuous"}
    one = cc.fit_joint(DATA.X, y, cc.Frank(3.0), sample_weight=WHOLE, **form)
    other = cc.fit_joint(DATA.X[ROWS], y[ROWS], cc.Frank(3.0), **form)
    same_model(one, other, rtol=1e-9)


def test_an_estimated_copula_is_that_of_repeated_rows():
    one = cc.fit_joint(DATA.X, DATA.y, "clayton", sample_weight=WHOLE)
    other = cc.fit_joint(DATA.X[ROWS], DATA.y[ROWS], "clayton", time_kind="continuous")
    same_model(one, other, rtol=1e-7)


def test_weights_of_0_and_1():
    settings = {"copula": cc.Clayton(2.0), "margins": "spline"}
    plain = cc.fit_joint(DATA.X, DATA.y, **settings)
    same_model(cc.fit_joint(DATA.X, DATA.y, **settings, sample_weight=np.ones(N)), plain, rtol=1e-10)
    left = np.flatnonzero(np.arange(N) % 5)
    some = cc.fit_joint(DATA.X, DATA.y, **settings, sample_weight=np.arange(N) % 5 > 0)
    same_model(some, cc.fit_joint(DATA.X[left], DATA.y[left], **settings), rtol=1e-10)
    order = RNG.permutation(N)
    same_model(
        cc.fit_joint(DATA.X[order], DATA.y[order], **settings, sample_weight=FRACTIONS[order]),
        cc.fit_joint(DATA.X, DATA.y, **settings, sample_weight=FRACTIONS),
        rtol=1e-9,
    )


def test_ridges_are_those_of_repeated_rows():
    def problem(rows, weight):
        design = Design(DATA.X[rows], ridges=("a", "a", ""))
        settings = {"margins": "spline", "knots": 1, "penalty": 0.0, "time_kind": "continuous"}
        return JointProblem.of(design, DATA.y[rows], sample_weight=weight, **settings)

    one, other = problem(np.arange(N), WHOLE), problem(ROWS, None)
    np.testing.assert_allclose(one.ridge, other.ridge, rtol=1e-7)
    same_model(one.fit(cc.Clayton, 1.0), other.fit(cc.Clayton, 1.0), rtol=1e-7)


def test_heavy_subjects_do_not_make_times_grouped():
    heavy = cc.fit_joint(DATA.X, DATA.y, cc.Clayton(2.0), sample_weight=np.full(N, 100.0))
    assert heavy.time_kind_ == "continuous"


def test_a_model_of_weights_is_read_as_it_was_written(tmp_path):
    model = cc.fit_joint(DATA.X, DATA.y, cc.Clayton(2.0), sample_weight=FRACTIONS)
    assert model.n_ == pytest.approx(FRACTIONS.sum())
    assert f"{model.n_:.10g} subjects" in model.summary()
    model.save(tmp_path / "model.json")
    read = cc.joint.JointModel.load(tmp_path / "model.json")
    assert read.n_ == model.n_
    assert read.parameters() == model.parameters()


def test_subjects_with_time_0_and_no_weight_are_not_told_of():
    y = cc.Survival(np.where(np.arange(N) == 3, 0.0, DATA.y.time), DATA.y.event)
    cc.fit_joint(DATA.X, y, cc.Clayton(2.0), sample_weight=np.arange(N) != 3)
    with pytest.warns(cc.warnings.FitWarning, match="1 subject has a time of 0"):
        cc.fit_joint(DATA.X, y, cc.Clayton(2.0), sample_weight=FRACTIONS)


def test_one_event_stays_one_however_heavy():
    y = cc.Survival(DATA.y.time, np.arange(N) == 5)
    weight = np.where(np.arange(N) == 5, 300.0, 1.0)
    refuses(
        lambda: cc.fit_joint(None, y, cc.Clayton(1.0), margins="spline", sample_weight=weight),
        "too few events: 1 event for the 2 parameters",
    )


# --- refits -------------------------------------------------------------------------------------------


def prepared(kind="continuous", margins="spline", X=DATA.X):
    design = Design(X, varying=(0,), ridges=("", "a", "a"), varying_ridge="b")
    return JointProblem.of(design, outcomes(kind), margins=margins, penalty=0.01)


def test_a_refit_is_the_fit_with_these_weights():
    """Weibull margins without ridges: nothing that a refit keeps has a say."""
    problem = JointProblem.of(DATA.X, DATA.y, margins="weibull", penalty=0.01)
    problem.fit(cc.Clayton, None)
    problem.fit(cc.Frank, 3.0)
    refit = problem.weighted(FRACTIONS)
    for copula in (cc.Frank(3.0), cc.Gumbel(1.5)):
        direct = cc.fit_joint(DATA.X, DATA.y, copula, "weibull", 0.01, sample_weight=FRACTIONS)
        same_model(refit.fit(type(copula), copula.theta), direct, rtol=1e-8)
    direct = cc.fit_joint(DATA.X, DATA.y, "clayton", "weibull", 0.01, sample_weight=FRACTIONS)
    estimated = refit.fit(cc.Clayton, None)
    assert len(estimated.starts_) == 1 < len(direct.starts_)
    assert estimated.copula.theta == pytest.approx(direct.copula.theta, rel=1e-7)


@pytest.mark.parametrize("kind", ["continuous", "ended", "grouped"])
def test_refits_with_weights_of_1_stay_where_they_start(kind):
    problem = prepared(kind)
    copula = cc.Clayton(2.0)
    known = problem.margins_at(copula)
    kept = problem.weighted(np.ones(N))
    assert kept.independence.n_iter <= 2
    assert kept.margins_at(copula).n_iter <= 2
    np.testing.assert_array_equal(kept.ridge, problem.ridge)
    np.testing.assert_allclose(kept.margins_at(copula).point, known.point, rtol=1e-6, atol=1e-6)
    again = problem.weighted(np.ones(N), "refit")
    assert again.independence.value <= problem.independence.value + 0.05 / N


@pytest.mark.parametrize("kind", ["continuous", "ended", "grouped"])
@pytest.mark.parametrize("copula", [cc.Independence(), cc.Clayton(2.0)])
def test_a_refit_follows_a_weight_by_the_score_of_its_subject(kind, copula):
    """The infinitesimal jackknife: dβ/dw is the inverse information times the subject's score."""
    problem = prepared(kind)
    at = problem.margins_at(copula)
    information = at.at.hessian * problem.likelihood.n
    likelihood = problem.likelihood
    Z = likelihood.X[:]
    step = 1e-3
    for i in (0, 11, 12, 200):
        change = np.arange(N) == i
        alone = Likelihood(
            likelihood.y, Z, likelihood.bases, likelihood.ends, drift=likelihood.drift, weight=1.0 * change
        )
        score = alone.derivatives(at.point, copula, free=False).gradient
        up, down = (problem.weighted(1.0 + sign * step * change).margins_at(copula) for sign in (1, -1))
        expected = np.linalg.solve(information, score)
        found = (up.point - down.point) / (2.0 * step)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_the_weights_of_ridges_are_kept_or_chosen_again():
    problem = prepared()
    weight = np.where(np.arange(N) % 2, 2.0, 0.0)
    kept, chosen = problem.weighted(weight), problem.weighted(weight, "refit")
    shrunk = problem.ridge > 0
    np.testing.assert_array_equal(kept.ridge, problem.ridge)
    assert not np.allclose(chosen.ridge[shrunk], problem.ridge[shrunk], rtol=0.01)
    assert len(kept.y) == N // 2
    assert kept.likelihood.n == weight.sum()


def test_refusals_of_refits():
    problem = prepared()
    refuses(lambda: problem.weighted(1.0 * DATA.y.event), "too few dropouts: 0 dropouts")
    refuses(lambda: problem.weighted(1.0 * ~DATA.y.event), "too few events: 0 events")
    refuses(lambda: problem.weighted(np.ones(N), "new"), "ridge must be one of", "'new'")
    refuses(lambda: problem.weighted(np.ones(N - 1)), "sample_weight has length", str(N - 1))
