"""What holds for every learner."""

import dataclasses
import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import cocensor as cc
from cocensor.paper.learners import learner, learners
from tests.paper.learners.data import simulated

FAST = {
    "coxph": {},
    "gbsa": {"n_estimators": 20},
    "rsf": {"n_estimators": 20},
    "deepsurv": {"max_epochs": 10},
    "mtlr": {"max_epochs": 10},
}
NETWORKS = ("deepsurv", "mtlr")
DRAWN = ("gbsa", "rsf", *NETWORKS)

every = pytest.mark.parametrize("name", learners())


def fast(name, **changes):
    return learner(name, **{**FAST[name], **changes})


def assert_valid(curves, n):
    assert len(curves) == n
    assert curves.probabilities.min() >= 0
    assert curves.probabilities.max() <= 1
    assert np.diff(curves.probabilities, axis=1).max(initial=-1.0) <= 0


def test_the_tests_know_every_learner():
    assert list(FAST) == learners()


@every
def test_curves_are_survival_functions_and_say_what_they_do_between_and_beyond(name):
    X, y = simulated()
    model = fast(name)
    assert model.fit(X[:150], y[:150]) is model
    curves = model.predict(X[150:])
    assert_valid(curves, 50)
    assert curves.interpolation == ("linear" if name == "mtlr" else "step")
    assert curves.tail == "last"
    np.testing.assert_array_equal(curves([1e9])[:, 0], curves.probabilities[:, -1])
    assert set(curves.times) <= set(y.time[y.event])


@every
def test_higher_hazard_means_lower_curve(name):
    X, y = simulated(400)
    model = fast(name, **({"max_epochs": 40, "lr": 0.01} if name in NETWORKS else {})).fit(X, y)
    low, high = model.predict([[-1.5, 0, 0], [1.5, 0, 0]])([0.3])[:, 0]
    assert low > high + 0.1


@every
def test_a_repeated_fit_gives_the_same_numbers_and_touches_nothing_global(name):
    X, y = simulated()
    # The legacy state is what another package may have seeded.
    numpy_state, torch_state = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    threads, precision = torch.get_num_threads(), torch.get_default_dtype()
    model = fast(name)
    first = model.fit(X, y).predict(X).probabilities
    torch.rand(3)
    again = model.fit(X, y).predict(X).probabilities
    other = fast(name).fit(X, y).predict(X).probabilities
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, other)
    np.testing.assert_array_equal(numpy_state, np.random.get_state()[1])  # noqa: NPY002
    torch.set_rng_state(torch_state)
    fast(name).fit(X, y)
    assert torch.equal(torch_state, torch.get_rng_state())
    assert (threads, precision) == (torch.get_num_threads(), torch.get_default_dtype())


@pytest.mark.parametrize("name", DRAWN)
def test_another_seed_gives_other_numbers(name):
    X, y = simulated()
    rest, aside = slice(0, 150), slice(150, 200)
    one, other = (
        fast(name, seed=seed).fit(X[rest], y[rest], X[aside], y[aside]).predict(X).probabilities
        for seed in (0, 1)
    )
    assert not np.allclose(one, other, rtol=1e-6)


@every
def test_every_kind_of_input_gives_the_same_numbers(name):
    X, y = simulated(120)
    expected = fast(name).fit(X, y, X[:40], y[:40]).predict(X).probabilities
    structured = np.array(list(zip(y.event, y.time, strict=True)), dtype=[("died", bool), ("months", float)])
    administrative = cc.Survival(y.time, y.event, ~y.event & (y.time > 1))
    frame = pd.DataFrame(X, columns=list("abc"))
    for covariates, outcomes in [
        (frame, (y.time, y.event)),
        (pl.from_pandas(frame), structured),
        (torch.from_numpy(X), administrative),
        (X.tolist(), y),
    ]:
        model = fast(name).fit(covariates, outcomes, covariates[:40], y[:40])
        np.testing.assert_array_equal(model.predict(covariates).probabilities, expected)


@every
def test_a_fitted_learner_can_be_pickled(name):
    X, y = simulated(100)
    model = fast(name).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X).probabilities, model.predict(X).probabilities)
    fresh = dataclasses.replace(model)
    assert not fresh.is_fitted
    assert repr(fresh) == repr(model)


@every
@pytest.mark.parametrize("n_features", [1, 3])
def test_without_censoring(name, n_features):
    X, y = simulated(100, p=n_features)
    y = cc.Survival(y.time, np.ones(100))
    assert_valid(fast(name).fit(X, y).predict(X), 100)


@every
def test_few_events(name):
    X, y = simulated(40)
    event = np.zeros(40, bool)
    event[[3, 30]] = True
    assert_valid(fast(name).fit(X, (y.time, event)).predict(X), 40)


@every
def test_an_event_at_time_zero(name):
    X, y = simulated(60)
    time, event = y.time.copy(), y.event.copy()
    time[:10], event[:10] = 0.0, True
    curves = fast(name).fit(X, (time, event)).predict(X)
    assert_valid(curves, 60)
    if curves.times[0] == 0:
        assert (curves([0.0]) < 1).any()


@every
def test_constant_columns_are_harmless(name):
    X, y = simulated(100)
    X[:, 1] = 0.3
    assert_valid(fast(name).fit(X, y).predict(X), 100)
    same = fast(name).fit(np.full((100, 1), 0.3), y).predict(np.full((5, 1), 0.3)).probabilities
    assert_valid(fast(name).fit(X[:, 1:2], y).predict(X[:, 1:2]), 100)
    np.testing.assert_array_equal(same, np.tile(same[0], (5, 1)))


@every
@pytest.mark.parametrize("order", ["C", "F"])
def test_subjects_who_are_alike_have_the_same_curve(name, order):
    """To the last bit, or ranks would tell them apart; some products round the last rows in another way."""
    X, y = simulated(100)
    model = fast(name).fit(X, y)
    rows = np.random.default_rng(0).integers(10, size=151)
    curves = model.predict(np.array(X[rows], order=order)).probabilities
    _, first, place = np.unique(rows, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(curves, curves[first][place])


def swapped(frame):
    return frame[frame.columns[::-1]]


@every
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X, y: m.predict(X), "is not fitted: call fit(X, y) first."),
        (
            lambda m, X, y: m.fit(X, y).predict(X.iloc[:, :2].to_numpy()),
            "X must have 3 columns, as X in fit, but has 2.",
        ),
        (
            lambda m, X, y: m.fit(X, y).predict(swapped(X)),
            "X must have the columns ['a', 'b', 'c'] in this order, but has ['c', 'b', 'a'].",
        ),
        (
            lambda m, X, y: m.fit(X, y, swapped(X), y),
            "X_val must have the columns ['a', 'b', 'c'] in this order, but has ['c', 'b', 'a'].",
        ),
        (lambda m, X, y: m.fit(X.mask(X > 2), y), "X['a'] is missing in row 73."),
        (lambda m, X, y: m.fit(X.mask(X > 2).to_numpy(), y), "X must be finite, but row (26, 1) is nan."),
        (lambda m, X, y: m.fit(X, y).predict(X.mask(X > 2).to_numpy()), "X must be finite, but row (26, 1)"),
        (lambda m, X, y: m.fit(X.assign(a="low"), y), "X['a'] must be numeric, but row 0 is 'low'."),
        (lambda m, X, y: m.fit(X[:10], y), "X has length 10, but y has length 100."),
        (lambda m, X, y: m.fit(X, y, X[:10], y), "X_val has length 10, but y_val has length 100."),
        (lambda m, X, y: m.fit(X, y, X), "y_val is missing: a validation part has both."),
        (lambda m, X, y: m.fit(X, y, y_val=y), "X_val is missing: a validation part has both."),
        (lambda m, X, y: m.fit(X, (y.time, np.zeros(100))), "y has no event: nothing to learn from."),
    ],
)
def test_refusals(name, call, message):
    X, y = simulated(100)
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the message is compared below
        call(fast(name), pd.DataFrame(X, columns=list("abc")), y)
    assert message in str(caught.value)


@every
def test_a_failed_fit_leaves_nothing_to_predict_with(name):
    X, y = simulated(100)
    model = fast(name).fit(X, y)
    with pytest.raises(ValueError, match="X has length 10"):
        model.fit(X[:10], y)
    with pytest.raises(ValueError, match="is not fitted"):
        model.predict(X)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("coxph", {"ridge": -1.0}, "ridge must not be negative, but is -1.0."),
        ("coxph", {"ties": "exact"}, "ties must be one of 'breslow', 'efron', but is 'exact'."),
        ("coxph", {"max_iter": 0}, "max_iter must be a whole number above 0, but is 0."),
        ("gbsa", {"n_estimators": 0}, "n_estimators must be a whole number from 1 on, but is 0."),
        ("gbsa", {"subsample": 1.5}, "subsample must lie in (0, 1], but is 1.5."),
        ("gbsa", {"learning_rate": 0.0}, "learning_rate must lie strictly between 0 and inf, but is 0."),
        ("rsf", {"max_depth": 0}, "max_depth must be a whole number from 1 on or None, but is 0."),
        ("rsf", {"min_samples_split": 1}, "min_samples_split must be a whole number from 2 on, but is 1."),
        ("rsf", {"min_samples_leaf": 0.5}, "min_samples_leaf must be a whole number from 1 on, but is 0.5."),
        ("rsf", {"max_features": "all"}, "max_features must be 'sqrt', 'log2', a whole number"),
        ("rsf", {"max_features": True}, "a share in (0, 1] or None, but is True."),
        ("rsf", {"seed": -1}, "seed must be a whole number from 0 on, but is -1."),
        ("deepsurv", {"dropout": 1.0}, "dropout must lie in [0, 1), but is 1."),
        ("deepsurv", {"hidden_size": -1}, "hidden_size must be a whole number from 0 on, but is -1."),
        ("deepsurv", {"lr": 0.0}, "lr must lie strictly between 0 and inf, but is 0."),
        ("deepsurv", {"c1": -0.1}, "c1 must not be negative, but is -0.1."),
        ("deepsurv", {"max_epochs": True}, "max_epochs must be a whole number from 1 on, but is True."),
        ("mtlr", {"batch_size": 0}, "batch_size must be a whole number from 1 on or None, but is 0."),
        ("mtlr", {"patience": 0}, "patience must be a whole number from 1 on or None, but is 0."),
        ("mtlr", {"n_bins": 0}, "n_bins must be a whole number from 1 on or None, but is 0."),
        ("mtlr", {"hidden_size": 5}, "hidden_size is no hyperparameter of 'mtlr'; it has lr, c1,"),
        ("cox", {}, "name must be one of coxph, gbsa, rsf, deepsurv, mtlr, but is 'cox'."),
        ("rsf", {"preset": "paper"}, "preset must be one of 'text', 'published', but is 'paper'."),
    ],
)
def test_refused_hyperparameters(name, changes, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the message is compared below
        learner(name, **changes)
    assert message in str(caught.value)


def test_the_hyperparameters_of_the_paper():
    trees = {"n_estimators": 100, "max_depth": 1, "min_samples_split": 2, "min_samples_leaf": 1, "seed": 0}
    network = {"lr": 0.001, "c1": 0.01, "max_epochs": 1000, "batch_size": 32, "patience": 10}
    table = {
        "coxph": {"ridge": 0.01, "ties": "breslow", "max_iter": 100},
        "gbsa": {**trees, "max_features": "sqrt", "subsample": 0.8},
        "rsf": {**trees, "max_features": "sqrt"},
        "deepsurv": {**network, "hidden_size": 100, "dropout": 0.25},
        "mtlr": network,
    }
    for name, expected in table.items():
        assert dataclasses.asdict(learner(name)).items() >= expected.items()
        published = expected | ({"max_depth": 3} if "max_depth" in expected else {})
        assert dataclasses.asdict(learner(name, preset="published")).items() >= published.items()
    assert learner("rsf", preset="published", max_depth=2).max_depth == 2


def test_importing_and_building_learners_loads_nothing_heavy():
    code = """
import json, sys
from cocensor.paper.learners import learner, learners
models = [learner(name) for name in learners()]
models[0].fit([[0.0], [1.0], [3.0], [2.0]], ([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 1])).predict([[1.0]])
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(json.loads(done.stdout)) & {"torch", "sksurv", "sklearn", "pandas", "matplotlib"}


@pytest.mark.parametrize(
    ("name", "modules", "message"),
    [
        (
            "gbsa",
            ["sksurv", "sksurv.ensemble"],
            "GBSA needs scikit-survival: pip install 'cocensor[learners]'.",
        ),
        (
            "rsf",
            ["sksurv", "sksurv.ensemble"],
            "RSF needs scikit-survival: pip install 'cocensor[learners]'.",
        ),
        ("deepsurv", ["torch"], "DeepSurv needs torch: pip install 'cocensor[deep]'."),
        ("mtlr", ["torch"], "MTLR needs torch: pip install 'cocensor[deep]'."),
    ],
)
def test_a_missing_extra_is_named(name, modules, message, monkeypatch):
    X, y = simulated(50)
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError) as caught:
        fast(name).fit(X, y)
    assert str(caught.value) == message


def test_an_extra_that_is_broken_shows_its_own_error(monkeypatch):
    X, y = simulated(50)

    def broken(name):
        raise ModuleNotFoundError("No module named 'ecos'", name="ecos")

    monkeypatch.setattr("cocensor._checks.import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="ecos"):
        fast("rsf").fit(X, y)
