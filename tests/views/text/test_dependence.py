"""What is said of a fitted dependence."""

from dataclasses import replace

import numpy as np
import pytest

import cocensor as cc
from cocensor.views.text.fits import caveat, choice_in_words

ADVICE = "mark an end of study as administrative"


@pytest.fixture(scope="module")
def choice(split):
    train, _ = split
    return cc.select_copula(train.X, train.y, families=["clayton", "frank"], folds=2, margins="weibull")


def profile_of(choice, at, curves):
    taus = np.array([0.0, 0.3, 0.6, 0.9])
    found = {family: (taus, np.array(values)) for family, values in curves.items()}
    return cc.joint.DependenceProfile(found, at, 150, choice=choice)


def test_advice_that_was_followed_is_left_out(split):
    assert ADVICE in caveat()
    train, _ = split
    ended = ~train.y.event & (np.arange(len(train.y)) % 2 == 0)
    marked = cc.Survival(train.y.time, train.y.event, administrative=ended)
    for y, advised in ((train.y, True), (marked, False)):
        found = cc.select_copula(None, y, families=["frank"], folds=2, margins="weibull")
        assert (ADVICE in caveat(found)) == advised
        assert (ADVICE in found.profile([0.3]).statement) == advised
        assert (ADVICE in found.summary()) == advised


def test_a_profile_alone_speaks_of_no_choice():
    alone = profile_of(None, -100.0, {"frank": [-100.0, -95.0, -90.0, -95.0]})
    assert (
        "The best fit is frank at τ = 0.6, 10.0 log-likelihood units above independence." in alone.statement
    )
    assert "choice" not in alone.statement


def test_a_choice_of_another_family_is_explained_by_what_it_was_judged_by(choice):
    frank = replace(choice, best=choice.models["frank"], preferred="frank")
    said = profile_of(
        frank, -100.0, {"clayton": [-100, -95, -90, -95], "frank": [-100, -96, -97, -98]}
    ).statement
    assert "Frank" in said
    assert choice.how in said
    none = replace(choice, best=choice.models["independence"], preferred="frank", gain=1.0, min_gain=5.0)
    said = profile_of(none, -100.0, {"frank": [-100, -96, -90, -98]}).statement
    assert "independence. It is selected by held-out outcomes" in said
    assert "a gain of 5 units" in said


def test_a_penalty_that_draws_the_choice_to_independence_is_named(choice):
    model = choice.models["frank"]
    weak = replace(choice, best=model, preferred="frank")
    tau = model.copula.tau
    far = {"frank": [-100, -99, -98, -90]} if tau < 0.6 else {"frank": [-100, -90, -98, -99]}
    assert "penalty on θ" in profile_of(weak, -100.0, far).statement
    unpenalised = replace(weak, problem=replace(choice.problem, penalty=0.0))
    assert "penalty" not in profile_of(unpenalised, -100.0, far).statement


def test_a_choice_that_agrees_needs_no_explanation(choice):
    none = replace(choice, best=choice.models["independence"], preferred="independence")
    said = profile_of(none, -90.0, {"frank": [-90, -96, -97, -98]}).statement
    assert said.startswith("No dependence fits better than independence.")
    assert "choice" not in said


def test_independence_that_is_kept_for_want_of_gain_names_the_gain(choice):
    kept = replace(choice, best=choice.models["independence"], preferred="clayton", gain=1.25, min_gain=5.0)
    for fact in ("Clayton", "1.2", "5", choice.how):
        assert fact in choice_in_words(kept)


def test_what_did_not_converge_is_a_note_of_the_profile(choice, monkeypatch):
    original = type(choice.problem).margins_at
    monkeypatch.setattr(
        type(choice.problem), "margins_at", lambda self, c: replace(original(self, c), converged=False)
    )
    with pytest.warns(cc.warnings.FitWarning):
        profile = choice.profile([0.5])
    assert {note.kind for note in profile.notes} == {"caution"}
    assert len(profile.to_dict()["notes"]) == len(choice.models) - 1


def test_the_dictionary_holds_the_curves(choice):
    profile = choice.profile([0.3])
    found = profile.to_dict()
    assert found["best"]["family"] == profile.best[0]
    for family, (taus, values) in profile.curves.items():
        assert found["families"][family]["taus"] == taus.tolist() == [0.0, 0.3]
        assert found["families"][family]["loglik"] == values.tolist()
        assert max(found["families"][family]["difference"]) <= 0.0
    assert found["statement"] == profile.statement
