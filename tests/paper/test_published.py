"""The published protocol is the authors' evaluator."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from benchmarks.reproduction.replay import HASHES, Replay
from cocensor.paper import experiments
from cocensor.paper.adjustments import without_covariates
from cocensor.paper.scoring import Scoring, published_curves
from cocensor.paper.semi_synthetic import parts_of
from cocensor.simulate import SyntheticDesign

# Rows of the authors' synthetic_results_correct_copula.csv: copula_name, k_tau, seed, alpha_c_used, censoring_rate,
# ibs_true, ibs_ipcw, ibs_dep_bguw. The second has the largest error of IPCW in the file.
PUBLISHED = [
    ("clayton", 0.0, 0, 18.677966101694917, 0.5001, 0.070150346193, 0.100559736357, 0.096822128258),
    ("clayton", 0.5, 2, 9.983050847457628, 0.5309, 0.073833824756, 0.227488505328, 0.088528291233),
    ("frank", 0.5, 0, 18.677966101694917, 0.4978, 0.070150346193, 0.10158229518, 0.098406277143),
]


@pytest.mark.parametrize(
    ("family", "tau", "seed", "scale", "censored", "oracle", "ipcw", "dependent"), PUBLISHED
)
def test_published_scores_are_met_on_the_authors_draws(
    family, tau, seed, scale, censored, oracle, ipcw, dependent
):
    cell = {"copula": family, "tau": tau, "assumed_copula": family, "assumed_tau": tau}
    experiment = Replay(pd.DataFrame([cell | {"seed": seed, "scale": scale}]), HASHES["correct_copula"])
    rows = {row["adjustment"]: row for row in experiment.run_cell(experiment.cells()[0])}
    assert rows["IPCW (KM)"]["realised_rate"] == pytest.approx(censored, abs=1e-12)
    assert rows["IPCW (KM)"]["oracle"] == pytest.approx(oracle, abs=5e-9)
    assert rows["IPCW (KM)"]["estimate"] == pytest.approx(ipcw, abs=2e-8)
    assert rows["IBS-Dep"]["estimate"] == pytest.approx(dependent, abs=2e-6)


@pytest.mark.parametrize("swapped", [False, True])
def test_estimates_end_at_the_last_observed_time_of_both_parts_and_the_oracle_at_the_last_event_of_the_test_part(
    swapped,
):
    data = SyntheticDesign.preset("published", n=400, copula=cc.Clayton.from_tau(0.5)).draw(3)
    parts = (data[:200], data[200:])
    train, test = parts[::-1] if swapped else parts
    last = max(train.y.t_max, test.y.t_max)
    assert train.y.t_max != test.y.t_max
    scoring = Scoring("published", train, test)
    assert scoring.ends == (test.event_time.max(), last)
    curves = cc.Predictions([1.0, 60.0], np.tile([0.9, 0.1], (200, 1)))
    [row] = scoring.rows(curves, {"IPCW (KM)": without_covariates(data.copula, "published")["IPCW (KM)"]})
    assert (row["oracle_horizon"], row["horizon"]) == (test.event_time.max(), last)


def test_the_same_evaluator_scores_semi_synthetic_data():
    experiment = experiments()["semi-synthetic"].configured("published", quick=True)
    cell = experiment.cells()[1]
    train, _, test = parts_of(cell, "published", experiment.config.max_rows)
    row = experiment.run_cell(cell)[0]
    assert row["horizon"] == max(train.y.t_max, test.y.t_max)
    assert row["oracle_horizon"] == test.event_time.max()


def test_published_curves_go_on_along_the_line_from_0_1():
    times = np.arange(1.0, 17.0)  # sixteen times, four quantiles: 1, 6, 11, 16
    curves = published_curves(lambda grid: np.vstack((1.0 - grid / 40.0, np.exp(-grid))), times, end=12.0)
    assert curves.times.tolist() == [1.0, 6.0, 11.0]
    at = curves([0.0, 3.5, 11.0, 22.0, 44.0])
    assert at[0] == pytest.approx([1.0, 1.0 - 3.5 / 40.0, 29.0 / 40.0, 18.0 / 40.0, 0.0], abs=1e-12)
    assert at[1] == pytest.approx(
        [1.0, 0.5 * (np.exp(-1.0) + np.exp(-6.0)), np.exp(-11.0), 0.0, 0.0], abs=1e-12
    )


def test_most_of_the_published_error_is_the_mismatch_of_the_intervals():
    """At τ = 0 IPCW errs little on one interval, and the published one lies far above the oracle."""
    matched, published = (
        experiments()["dependence"].configured(protocol, seeds=3) for protocol in ("matched", "published")
    )
    errors = {"matched": [], "published": []}
    for experiment in (matched, published):
        small = type(experiment)(replace(experiment.config, n=2_000))
        for cell in [c for c in small.cells() if c["copula"] == "clayton" and c["tau"] == 0.0]:
            row = next(r for r in small.run_cell(cell) if r["adjustment"] == "IPCW (KM)")
            errors[experiment.config.protocol].append(row["estimate"] - row["oracle"])
    assert abs(np.mean(errors["matched"])) < 0.005
    assert np.mean(errors["published"]) > 0.012
