"""Choosing a family, and what the profile likelihood says."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cocensor as cc
from cocensor.joint.select import CUT
from cocensor.simulate import SyntheticDesign


@pytest.fixture(scope="module")
def dependent():
    return SyntheticDesign(n=6000, n_features=2, copula=cc.Clayton.from_tau(0.7)).draw(1)


@pytest.fixture(scope="module")
def independent():
    return SyntheticDesign(n=3000, n_features=2).draw(1)


@pytest.fixture(scope="module")
def chosen(dependent):
    train, validation = dependent[:4000], dependent[4000:]
    return cc.select_copula(train.X, train.y, validation.X, validation.y, penalty=0)


def test_the_true_family_is_found(chosen):
    assert chosen.copula.name == "clayton"
    assert abs(chosen.copula.tau - 0.7) < 4 * chosen.best.tau_se_
    assert list(chosen.table["family"]) == ["independence", "clayton", "frank", "gumbel", "joe"]
    assert chosen.table.loc[chosen.table["chosen"], "family"].tolist() == ["clayton"]
    assert chosen.table["validation_nll"].idxmin() == 1
    assert chosen.table["converged"].all()
    assert "← chosen" in chosen.summary()
    assert "by validation part" in repr(chosen)


def test_validation_values_are_the_likelihood_of_the_validation_part(chosen, dependent):
    validation = dependent[4000:]
    for name, model in chosen.models.items():
        row = chosen.table.set_index("family").loc[name]
        assert row["validation_nll"] == pytest.approx(-model.loglik(validation.X, validation.y) / 2000)
        assert row["train_nll"] == pytest.approx(-model.loglik_ / 4000)


def test_independence_stays_unless_it_is_beaten(independent):
    """A family at its own limit has the same likelihood: that is not beating it."""
    train, validation = independent[:2000], independent[2000:]
    choice = cc.select_copula(
        train.X, train.y, validation.X, validation.y, families=("gumbel", "joe", "clayton")
    )
    tied = choice.table["validation_nll"] <= choice.table["validation_nll"].min() + 1e-9
    assert choice.copula == cc.Independence() or not tied[0]
    assert choice.table["family"][0] == "independence"


def test_the_papers_penalised_likelihood_by_flag(dependent):
    train, validation = dependent[:4000], dependent[4000:]
    plain, penalised = (
        cc.select_copula(
            train.X,
            train.y,
            validation.X,
            validation.y,
            families=("clayton",),
            penalty=0.01,
            penalised=penalised,
        )
        for penalised in (False, True)
    )
    theta = plain.models["clayton"].copula.theta
    gap = penalised.table["validation_nll"] - plain.table["validation_nll"]
    np.testing.assert_allclose(gap, [0.0, 0.01 * theta**2], rtol=1e-9)


def test_cross_validation_needs_no_validation_part(dependent):
    few = dependent[:2000]
    choice = cc.select_copula(few.X, few.y, families=("clayton", "gumbel"), penalty=0.001, folds=4)
    assert choice.copula.name == "clayton"
    assert "4-fold cross-validation" in repr(choice)
    assert choice.best.n_ == 2000
    again = cc.select_copula(few.X, few.y, families=("clayton", "gumbel"), penalty=0.001, folds=4)
    assert choice.validation == again.validation
    other = cc.select_copula(few.X, few.y, families=("clayton", "gumbel"), penalty=0.001, folds=4, seed=1)
    assert choice.validation != other.validation
    # What is left out is not fitted to: the likelihood of the whole sample is better.
    for name, model in choice.models.items():
        assert choice.validation[name] > -model.loglik_ / 2000


def test_the_order_of_rows_does_not_matter(dependent):
    """Nor where subjects who are alike are at an end of study or have dropped out."""
    few, order = dependent[:400], np.random.default_rng(0).permutation(400)
    x = np.round(few.X)
    y = cc.Survival(np.ceil(few.y.time), few.y.event, administrative=~few.y.event & (np.arange(400) % 3 == 0))
    one, other = (
        cc.select_copula(x[rows], y[rows], families=("clayton",)) for rows in (np.arange(400), order)
    )
    assert other.validation == pytest.approx(one.validation, rel=1e-7)


def test_the_table_is_of_the_library_that_the_covariates_came_in(dependent):
    few = dependent[:500]
    columns = {"a": few.X[:, 0], "b": few.X[:, 1]}
    for X, kind in (
        (few.X, pd.DataFrame),
        (pd.DataFrame(columns), pd.DataFrame),
        (pl.DataFrame(columns), pl.DataFrame),
        (pa.table(columns), pa.Table),
    ):
        choice = cc.select_copula(X, few.y, X, few.y, families=("clayton",))
        assert isinstance(choice.table, kind)
        assert isinstance(choice.profile([0.0, 0.5]).table, kind)


def test_the_profile_is_the_fit_at_every_tau(chosen, dependent):
    train = dependent[:4000]
    taus = [0.3, 0.7, -0.4, 0.95]
    profile = chosen.profile(taus)
    assert set(profile.curves) == {"clayton", "frank", "gumbel", "joe"}
    np.testing.assert_array_equal(profile.curves["frank"][0], [-0.4, 0.0, 0.3, 0.7, 0.95])
    np.testing.assert_array_equal(profile.curves["joe"][0], [0.0, 0.3, 0.7, 0.95])
    for name, (grid, values) in profile.curves.items():
        for tau, value in zip(grid, values, strict=True):
            direct = cc.fit_joint(train.X, train.y, cc.copula(name, tau=tau), "spline")
            assert value == pytest.approx(direct.loglik_, abs=1e-6), (name, tau)
        # the maximum over τ is no better than the fit in which τ is free
        assert values.max() <= chosen.models[name].loglik_ + 1e-6
    assert profile.table["difference"].max() == 0.0


def test_words_for_a_profile_that_knows(chosen):
    profile = chosen.profile()
    assert profile.best[0] == "clayton"
    low, high = profile.supported("clayton")
    assert low <= 0.7 <= high
    assert "The best fit is clayton at τ = 0.7" in profile.statement
    assert "Only the assumed form of the margins identifies τ" in profile.statement
    assert "flat" not in profile.statement


def make(curves):
    return cc.joint.DependenceProfile(curves, independence=-100.0, n=10)


def test_words_for_profiles_that_do_not_know():
    taus = np.array([0.0, 0.3, 0.6, 0.9])
    flat = make({"clayton": (taus, np.array([-100.0, -99.5, -99.2, -99.6]))})
    assert "flat in every family" in flat.statement
    edge = make({"frank": (taus, np.array([-100.0, -90.0, -80.0, -70.0]))})
    assert "frank still rises at τ = 0.9" in edge.statement
    nothing = make({"joe": (taus, np.array([-100.0, -110.0, -120.0, -130.0]))})
    assert nothing.statement.startswith("No dependence fits better than independence.")
    split = make(
        {
            "clayton": (taus, np.array([-100.0, -100.0 + 3 * CUT, -110.0, -120.0])),
            "frank": (taus, np.array([-100.0, -110.0, -100.0 + 2.5 * CUT, -120.0])),
        }
    )
    assert "disagree on τ (clayton 0.3, frank 0.6)" in split.statement
    partly = make(
        {
            "clayton": (taus, np.array([-100.0, -89.0, -110.0, -120.0])),
            "frank": (taus, np.array([-90.0, -89.9, -89.8, -95.0])),
        }
    )
    assert "frank is flat: any τ from 0 to 0.6" in partly.statement


def test_a_family_that_is_flat_far_below_the_best_is_said_to_fit_worse():
    taus = np.array([0.0, 0.3, 0.6, 0.9])
    found = make(
        {
            "clayton": (taus, np.array([-100.0, -85.0, -110.0, -120.0])),
            "joe": (taus, np.array([-100.0, -100.1, -100.2, -120.0])),
        }
    )
    assert "joe, which fits worse by 15" in found.statement
    assert "any τ from 0 to 0.6" in found.statement
    assert "flat" not in found.statement
    assert "joe is flat" not in found.statement


def test_a_choice_takes_the_place_of_a_copula(chosen, dependent):
    y = dependent[:500].y
    times = np.array([5.0, 10.0])
    for kind in (cc.adjustments.MarginTime, partial(cc.Imputation, ()), cc.DependentIPCW):
        for given in (chosen, chosen.best):
            np.testing.assert_array_equal(
                kind(given).fit(y).weights(y, times).a, kind(chosen.copula).fit(y).weights(y, times).a
            )
    assert cc.adjustment("dep", copula=chosen).copula == chosen.copula


def test_refusals(dependent):
    few = dependent[:300]
    with pytest.raises(ValueError, match="X_val and y_val belong together"):
        cc.select_copula(few.X, few.y, few.X)
    with pytest.raises(ValueError, match="^families .*'clayton'"):
        cc.select_copula(few.X, few.y, families="clayton")
    with pytest.raises(ValueError, match="families must not fix θ"):
        cc.select_copula(few.X, few.y, families=(cc.Clayton(2.0),))
    with pytest.raises(ValueError, match="families must differ, but are clayton, clayton"):
        cc.select_copula(few.X, few.y, families=("clayton", cc.Clayton))
    with pytest.raises(ValueError, match="folds must be a whole number"):
        cc.select_copula(few.X, few.y, folds=301)
    only = cc.select_copula(few.X, few.y, few.X, few.y, families=("independence",))
    with pytest.raises(ValueError, match="families has only independence"):
        only.profile()
    choice = cc.select_copula(few.X, few.y, few.X, few.y, families=("clayton",))
    with pytest.raises(ValueError, match="^taus .* 1"):
        choice.profile([0.5, 1.0])
    gaussian = cc.select_copula(few.X, few.y, few.X, few.y, families=("gaussian",), penalty=0)
    if gaussian.copula.name == "gaussian":
        with pytest.raises((TypeError, ValueError), match="copula"):
            cc.adjustments.MarginTime(gaussian)
