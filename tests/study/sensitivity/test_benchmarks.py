"""Benchmarks of dependence from measured covariates."""

import json
import os
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import cocensor as cc
from cocensor.paper.datasets import Encoder, load_gbsg
from cocensor.study.sensitivity.benchmarks import shrunken
from cocensor.study.sensitivity.hidden_factor import of_numbers
from tests.oracles.data import load, values
from tests.refusals import refuses


def latent(effect, rng):
    return rng.exponential(size=effect.size) * np.exp(-effect)


def outcomes(X, beta, gamma, rng, study_end=None):
    return cc.Survival.from_latent(latent(X @ beta, rng), latent(X @ gamma, rng), study_end)


def of(found, name):
    return next(each for each in found.benchmarks if each.name == name)


def simulated(draw, beta, gamma, n=1_000_000):
    """Kendall's τ of event and dropout of pairs alike in the rest, by a draw of x given it."""
    rng = np.random.default_rng(1)
    rest = rng.normal(size=n)
    x = [draw(rest, rng) for _ in range(2)]
    signs = np.ones(n)
    for effect in (beta, gamma):
        signs *= np.sign(latent(effect * x[0], rng) - latent(effect * x[1], rng))
    return signs.mean()


def logistic(rest):
    return 1 / (1 + np.exp(-1.5 * rest))


LAWS = {
    "normal": lambda rest, rng: 0.8 * rest + 0.6 * rng.normal(size=rest.size),
    "skewed": lambda rest, rng: 0.6 * rest + rng.exponential(size=rest.size),
    "binary": lambda rest, rng: (rng.random(rest.size) < 0.3) * 2.0,
    "binary, logistic": lambda rest, rng: (rng.random(rest.size) < logistic(rest)).astype(float),
}


@pytest.mark.parametrize(("beta", "gamma"), [(1.0, 0.8), (0.6, -0.4)])
@pytest.mark.parametrize("law", LAWS)
def test_tau_is_that_of_pairs_alike_in_the_rest(law, beta, gamma):
    rng = np.random.default_rng(0)
    rest = rng.normal(size=6000)
    X = np.column_stack((LAWS[law](rest, rng), rest))
    found = cc.plausible_tau(X, outcomes(X, [beta, 0.5], [gamma, -0.2], rng), n_resamples=50)
    mine = of(found, "x0")
    error = (mine.interval.high - mine.interval.low) / (2 * 1.96)
    assert mine.tau == pytest.approx(simulated(LAWS[law], beta, gamma), abs=3.5 * np.hypot(error, 1e-3))


HEAVY = {
    "exponential": (lambda rng, n: rng.exponential(size=n), 5e-4),
    "lognormal": (lambda rng, n: rng.lognormal(0.0, 1.2, n), 5e-4),
    "one far out": (lambda rng, n: np.append(rng.normal(size=n - 1), 40.0), 2e-2),
}


@pytest.mark.parametrize("n", [7, 200, 257, 400, 3000])
@pytest.mark.parametrize("law", HEAVY)
def test_few_differences_stand_for_those_of_all_pairs(law, n):
    draw, rel = HEAVY[law]
    x = draw(np.random.default_rng(2), n)
    x /= x.std()
    apart = (x[:, None] - x)[np.triu_indices(n, 1)]
    for beta, gamma in ((0.3, 0.2), (3.0, -2.0)):
        expected = np.mean(np.tanh(beta * apart / 2) * np.tanh(gamma * apart / 2))
        effects = np.array([beta]), np.array([gamma])
        found = of_numbers(x, np.full(n, 1 / n)).tau(*effects)
        assert found == pytest.approx(expected, rel=rel)
        # The sign of a covariate is a convention.
        assert of_numbers(-x, np.full(n, 1 / n)).tau(*effects) == pytest.approx(found, rel=1e-9)


def test_weights_stand_for_rows():
    """Constant ones for none, whatever their unit; whole ones for repeated rows, about."""
    rng = np.random.default_rng(6)
    X = np.column_stack((rng.normal(size=900), rng.integers(2, size=900)))
    y = outcomes(X, [0.8, 0.6], [0.5, -0.3], rng)
    weights = 1.0 + 3.0 * (X[:, 0] > 0.5)
    rows = np.repeat(np.arange(900), weights.astype(int))
    plain, alike = (
        cc.plausible_tau(X, y, n_resamples=20, sample_weight=w) for w in (None, np.full(900, 3.7))
    )
    weighted = cc.plausible_tau(X, y, n_resamples=200, sample_weight=weights)
    repeated = cc.plausible_tau(X[rows], y[rows], n_resamples=20)
    for own, other in zip(alike.benchmarks, plain.benchmarks, strict=True):
        assert own.name == other.name
        assert (own.tau, *own.interval) == pytest.approx((other.tau, *other.interval), rel=1e-9)
    for own, other, without in zip(weighted.benchmarks, repeated.benchmarks, plain.benchmarks, strict=True):
        assert own.name == other.name
        assert own.tau == pytest.approx(other.tau, rel=1e-2)
        assert own.hazard_ratio_event == pytest.approx(other.hazard_ratio_event, rel=1e-2)
        assert abs(own.tau - without.tau) > 3.0 * abs(own.tau - other.tau)
    assert weighted.together == pytest.approx(repeated.together, rel=5e-2)
    # Rows that are repeated look like more subjects than there are.
    for own, other in zip(weighted.benchmarks, repeated.benchmarks, strict=True):
        assert np.ptp(own.interval) > 1.1 * np.ptp(other.interval)


def test_the_order_of_rows_does_not_matter():
    """Also where there are more pairs than are looked at."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = outcomes(X, [0.8, 0.2, 0.0], [0.5, -0.3, 0.1], rng)
    order = rng.permutation(400)
    found, other = (cc.plausible_tau(X[rows], y[rows], n_resamples=2) for rows in (np.arange(400), order))
    expected = (found.together, found.aligned, found.strongest.tau)
    assert (other.together, other.aligned, other.strongest.tau) == pytest.approx(expected, rel=1e-12)


def test_given_the_rest_is_not_marginal():
    """At a correlation of 0.8, 0.113 is true where marginal draws give 0.237."""
    assert cc.study.sensitivity.induced_tau(np.exp(1.0), np.exp(0.8)) == pytest.approx(0.237, abs=5e-4)
    assert cc.study.sensitivity.induced_tau(np.exp(0.6), np.exp(0.48)) == pytest.approx(0.113, abs=5e-4)
    assert simulated(LAWS["normal"], 1.0, 0.8) == pytest.approx(0.1135, abs=3.5e-3)


def test_levels_of_a_category_are_one_covariate():
    rng = np.random.default_rng(3)
    rest = rng.normal(size=8000)
    chances = np.column_stack((np.full(rest.size, 0.4), 0.4 * norm.cdf(rest), 0.6 - 0.4 * norm.cdf(rest)))
    level = (rng.random(rest.size)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
    on_event, on_dropout = np.array([0.0, 1.0, -0.5]), np.array([0.0, 0.8, 0.6])
    event, dropout = (latent(effect[level] + 0.3 * rest, rng) for effect in (on_event, on_dropout))
    X = pd.DataFrame({"stage": np.array(["I", "II", "III"])[level], "age": rest})
    found = cc.plausible_tau(X, cc.Survival.from_latent(event, dropout), n_resamples=50)
    stage = of(found, "stage")
    assert stage.columns == ("stage=II", "stage=III")
    true = np.mean(
        [
            sum(
                p[a]
                * p[b]
                * np.tanh((on_event[a] - on_event[b]) / 2)
                * np.tanh((on_dropout[a] - on_dropout[b]) / 2)
                for a in range(3)
                for b in range(3)
            )
            for p in chances
        ]
    )
    assert stage.tau == pytest.approx(true, abs=3.5 * (stage.interval.high - stage.interval.low) / 3.92)
    assert list(found.table()["covariate"]) == [*(each.name for each in found.benchmarks), "all together"]


def test_all_together_is_kendalls_tau_without_covariates():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(5000, 3)) @ [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    beta, gamma = np.array([0.7, 0.4, -0.5]), np.array([0.5, 0.3, 0.4])
    found = cc.plausible_tau(X, outcomes(X, beta, gamma, rng))
    a, b = rng.normal(size=(2, 400_000, 3)) @ [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    apart = [(a - b) @ effect / 2 for effect in (beta, gamma)]
    true = np.mean(np.tanh(apart[0]) * np.tanh(apart[1]))
    aligned = np.mean(np.abs(np.tanh(apart[0]) * np.tanh(apart[1])))
    error = (found.together_interval.high - found.together_interval.low) / 3.92
    assert found.together == pytest.approx(true, abs=3.5 * error)
    assert found.aligned == pytest.approx(aligned, abs=4 * error)


@pytest.mark.parametrize(
    ("tau", "ratio"), [(0.1, 1.64), (0.2, 2.19), (0.4, 4.21), (0.5, 6.63), (-0.2, 2.19), (0.0, 1.0)]
)
def test_hidden_factor(tau, ratio):
    found = cc.study.sensitivity.hidden_hazard_ratio(tau)
    assert found == pytest.approx(ratio, abs=5e-3)
    assert cc.study.sensitivity.induced_tau(found, found) == pytest.approx(abs(tau), abs=1e-10)


def test_a_normal_factor_by_quadrature():
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    apart = np.sqrt(2.0) * nodes
    expected = (
        np.tanh(np.log(1.5) * apart / 2) * np.tanh(np.log(0.7) * apart / 2) @ weights / np.sqrt(2 * np.pi)
    )
    assert cc.study.sensitivity.induced_tau(1.5, 0.7) == pytest.approx(expected, abs=1e-10)
    assert cc.study.sensitivity.hidden_hazard_ratio(1e-6) == pytest.approx(np.exp(np.sqrt(2e-6)), rel=1e-6)
    assert cc.study.sensitivity.hidden_hazard_ratio(0.9999) == np.inf


def test_multiples_of_the_strongest():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 2))
    found = cc.plausible_tau(X, outcomes(X, [0.8, 0.1], [0.5, 0.0], rng), n_resamples=20)
    assert found.strongest.name == "x0"
    assert found.multiples[1] == pytest.approx(found.strongest.shrunken_tau)
    for times, tau in found.multiples.items():
        assert found.multiple_for(-tau) == pytest.approx(times, rel=1e-6)
    assert found.multiple_for(0.0) == 0.0
    refuses(lambda: found.multiple_for(1.5), "tau", "1.5")


def test_a_binary_covariate_tells_half_of_the_pairs_apart_at_most():
    rng = np.random.default_rng(6)
    X = (rng.random((2000, 1)) < 0.5).astype(float)
    found = cc.plausible_tau(X, outcomes(X, [1.0], [0.8], rng), n_resamples=20)
    assert np.isfinite(found.multiple_for(0.45))
    assert found.multiple_for(0.52) == np.inf
    assert found.to_dict()["hidden"][-1]["multiple"] is None


@pytest.mark.parametrize("name", ["gbsg", "whas500"])
def test_hazard_ratios_are_those_of_r(name):
    frame, r = load(name), values("coxph")[name]
    columns = r["covariates"]
    found = cc.plausible_tau(frame[columns], cc.Survival(frame["time"], frame["event"]), n_resamples=2)
    spread = frame[columns].std(ddof=0).to_numpy()
    for k, column in enumerate(columns):
        mine = of(found, column)
        assert np.log(mine.hazard_ratio_event) == pytest.approx(
            r["efron"]["coefficients"][k] * spread[k], rel=1e-6
        )
        assert np.log(mine.hazard_ratio_dropout) == pytest.approx(
            r["censoring_efron"]["coefficients"][k] * spread[k], rel=1e-6
        )


def test_administrative_censoring_censors_both():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(4000, 1))
    event, dropout = latent(0.8 * X[:, 0], rng), latent(0.5 * X[:, 0], rng)
    found = cc.plausible_tau(X, cc.Survival.from_latent(event, dropout, 0.5), n_resamples=50)
    low, high = found.strongest.interval
    assert found.strongest.tau == pytest.approx(
        cc.study.sensitivity.induced_tau(np.exp(0.8), np.exp(0.5)), abs=high - low
    )
    assert found.n_events + found.n_dropouts < found.n == 4000


def test_intervals_are_those_of_refits():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 2))
    y = outcomes(X, [0.6, 0.3], [0.4, -0.3], rng)
    found = cc.plausible_tau(X, y, n_resamples=400)
    taus = []
    for _ in range(60):
        rows = rng.integers(400, size=400)
        again = cc.plausible_tau(X[rows], y[rows], n_resamples=2)
        taus.append([of(again, name).tau for name in ("x0", "x1")] + [again.together])
    intervals = [of(found, "x0").interval, of(found, "x1").interval, found.together_interval]
    for (low, high), spread in zip(intervals, np.std(taus, axis=0), strict=True):
        # The spread of 60 refits is known to 9 %.
        assert (high - low) / 3.92 == pytest.approx(spread, rel=0.3)


def test_noise_alone_makes_no_benchmark():
    rng = np.random.default_rng(9)
    plain, shrunk, bias = [], [], []
    for _ in range(20):
        X = rng.normal(size=(300, 8))
        found = cc.plausible_tau(X, outcomes(X, 0.4 * rng.normal(size=8), np.zeros(8), rng), n_resamples=2)
        bias += [each.tau for each in found.benchmarks]
        plain.append(max(abs(each.tau) for each in found.benchmarks))
        shrunk.append(abs(found.strongest.shrunken_tau))
    assert np.mean(plain) > 0.02
    assert np.mean(shrunk) < 0.4 * np.mean(plain)
    assert abs(np.mean(bias)) < 3.5 * np.std(bias) / np.sqrt(len(bias))


def test_shrinkage_of_one_and_of_few_among_many():
    assert shrunken(np.array([3.0]), np.array([1.0])) == pytest.approx([3.0 * (1 - 1 / 9)], rel=0.05)
    assert shrunken(np.array([0.5]), np.array([1.0])) == pytest.approx([0.0], abs=1e-2)
    noise = norm.ppf((np.arange(40) + 0.5) / 40)
    found = shrunken(np.append(noise, 8.0), np.ones(41))
    assert found[-1] == pytest.approx(8.0, rel=0.1)
    assert np.abs(found[:-1]).max() < 0.5


def test_columns_that_tell_nothing_are_left_out_and_noted():
    rng = np.random.default_rng(10)
    X = pd.DataFrame({"age": rng.normal(size=300), "site": "one", "zero": 0.0})
    X["months"] = 12 * X["age"] + 3.0
    found = cc.plausible_tau(X, outcomes(X[["age"]].to_numpy(), [0.5], [0.5], rng))
    assert [each.name for each in found.benchmarks] == ["age"]
    for name in ("site", "zero", "months"):
        assert [note.kind for note in found.notes if repr(name) in note.text] == ["decision"]


def test_a_covariate_that_separates_gets_a_ridge_and_a_note():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(200, 2))
    X[:, 1] = X[:, 1] > 0
    event, dropout = latent(X[:, 0], rng), latent(X[:, 0], rng)
    event[X[:, 1] == 1] = 100.0  # never seen
    found = cc.plausible_tau(X, cc.Survival.from_latent(event, dropout))
    assert any(note.kind == "caution" and "ridge" in note.text for note in found.notes)
    assert np.isfinite([found.together, *(each.tau for each in found.benchmarks)]).all()


def test_few_dropouts_are_a_caution():
    rng = np.random.default_rng(12)
    time, event = rng.exponential(size=100), np.arange(100) >= 8
    found = cc.plausible_tau(rng.normal(size=(100, 1)), cc.Survival(time, event))
    assert [note.kind for note in found.notes] == ["caution"]
    assert "8 dropouts" in found.notes[0].text


def test_what_has_no_benchmark_is_refused():
    rng = np.random.default_rng(13)
    X, time = rng.normal(size=(30, 2)), rng.exponential(size=30)
    refuses(lambda: cc.plausible_tau(X, cc.Survival(time, np.zeros(30))), "y", "no event")
    ended = np.arange(30) % 2 == 1
    for nobody in (cc.Survival(time, np.ones(30)), cc.Survival(time, ~ended, ended)):
        refuses(partial(cc.plausible_tau, X, nobody), "y", "no dropout")
    y = cc.Survival(time, np.arange(30) % 2 == 0)
    refuses(lambda: cc.plausible_tau(np.ones((30, 2)), y), "X", "varies")
    refuses(lambda: cc.plausible_tau(rng.normal(size=(30, 40)), y), "X", "29")
    refuses(lambda: cc.plausible_tau(X[:20], y), "X", "20")
    refuses(lambda: cc.plausible_tau(X, y, n_resamples=1), "n_resamples", "1")
    refuses(lambda: cc.plausible_tau(X, y, confidence_level=2), "confidence_level", "2")
    refuses(lambda: cc.study.sensitivity.induced_tau(0.0, 2.0), "hazard_ratio_event", "0.0")
    refuses(lambda: cc.study.sensitivity.induced_tau(2.0, -1.0), "hazard_ratio_dropout", "-1.0")
    refuses(lambda: cc.study.sensitivity.hidden_hazard_ratio(1), "tau", "1")


def test_ties_zero_times_and_the_order_of_memory_change_nothing():
    rng = np.random.default_rng(14)
    X = rng.normal(size=(200, 3))
    latest = outcomes(X, [0.5, 0.0, 0.2], [0.5, 0.2, 0.0], rng)
    y = cc.Survival(np.floor(4 * latest.time), latest.event)
    assert (y.time == 0).any()
    found, again = cc.plausible_tau(X, y), cc.plausible_tau(np.asfortranarray(X), y)
    assert found.to_dict() == again.to_dict()
    shifted = cc.plausible_tau(100.0 - 7.0 * X, y)
    for each in found.benchmarks:
        assert of(shifted, each.name).tau == pytest.approx(each.tau, rel=1e-8)


def test_of_an_evaluation():
    rng = np.random.default_rng(15)
    X = rng.normal(size=(400, 2))
    y = outcomes(X, [0.5, 0.2], [0.4, 0.0], rng)
    curves = cc.CoxPH().fit(X[:200], y[:200]).predict_survival_function(X[200:])
    result = cc.evaluate({"cox": curves}, y[200:], X[200:], y_train=y[:200], x_train=X[:200], metrics="ibs")
    found = result.benchmarks()
    assert found.to_dict() == cc.plausible_tau(X[:200], y[:200]).to_dict()
    assert "plausible_tau" not in json.loads(result.to_json())
    numbers = json.loads(result.to_json(benchmarks=found))["plausible_tau"]
    assert numbers["together"] == found.together
    assert numbers["statement"] == found.statement
    by_test = cc.evaluate({"cox": curves}, y[200:], X[200:], metrics="ibs")
    assert by_test.benchmarks().n == 200
    without = cc.evaluate({"cox": curves}, y[200:], metrics="ibs")
    refuses(without.benchmarks, "x_test")


def test_words_have_the_numbers():
    rng = np.random.default_rng(16)
    X = pd.DataFrame({"age": rng.normal(size=1000), "dose": rng.normal(size=1000)})
    found = cc.plausible_tau(X, outcomes(X.to_numpy(), [0.9, 0.1], [0.6, 0.0], rng))
    for each in ("3.0 per SD", "age", f"{found.strongest.hazard_ratio_event:.2f}", f"{found.together:.2f}"):
        assert each in found.statement
    for each in found.benchmarks:
        assert f"{each.tau:z.3f}" in repr(found)


@pytest.mark.skipif(
    not os.environ.get("COCENSOR_DATA"), reason="COCENSOR_DATA names no folder with the CSV files"
)
def test_covariates_of_a_study_induce_little():
    data = load_gbsg()
    encoder = Encoder(data.categorical, scaling=None).fit(data.X)
    found = cc.plausible_tau(pd.DataFrame(encoder.transform(data.X), columns=encoder.columns_), data.y)
    assert len(found.benchmarks) == data.n_features
    assert max(abs(each.tau) for each in found.benchmarks) < 0.05
