"""The semi-synthetic experiments in small, on a data set that comes with scikit-survival."""

import numpy as np
import pytest
from typer.testing import CliRunner

import cocensor as cc
from cocensor.cli import app
from cocensor.paper import SemiSynthetic, experiments
from cocensor.paper.adjustments import floor
from cocensor.paper.datasets import load_gbsg

NEEDED = {
    "dataset",
    "strategy",
    "copula",
    "tau",
    "seed",
    "learner",
    "adjustment",
    "horizon",
    "oracle",
    "estimate",
}


def test_cells():
    assert len(experiments()["semi-synthetic"]().cells()) == 7 * 4 * 10
    assert len(experiments()["semi-synthetic-copula"]().cells()) == 7 * 13 * 3
    seeds = [cell["seed"] for cell in experiments()["floor"]().cells()]
    assert seeds == sorted(seeds)  # whole grids first
    assert len(seeds) == 7 * 13 * 3


@pytest.mark.parametrize("protocol", ["matched", "published"])
def test_a_cell_has_a_row_for_every_learner_and_adjustment(protocol):
    experiment = experiments()["semi-synthetic"].configured(protocol, quick=True)
    cell = experiment.cells()[1]
    rows = [{**cell, **row} for row in experiment.run_cell(cell)]
    assert set(rows[0]) >= NEEDED
    assert {row["learner"] for row in rows} == {"coxph", "gbsa"}
    names = {row["adjustment"] for row in rows}
    assert {"IPCW (KM)", "IPCW (Cox)", "Dep (KM)", "IBS-Dep, selected", "floor"} <= names
    assert {"given covariates, spline, selected", "given prediction, weibull, selected"} <= names
    again = experiment.run_cell(cell)
    assert [row["estimate"] for row in again] == [row["estimate"] for row in rows]
    tables = experiment.summarise(rows)
    assert set(tables) == {f"semi-synthetic-{name}" for name in ("error", "error-sd", "ranking")}
    assert {row["strategy"] for row in tables["semi-synthetic-error-sd"]} == {cell["strategy"]}
    ipcw = next(row for row in tables["semi-synthetic-error"] if row["adjustment"] == "IPCW (KM)")
    assert ipcw["of_ipcw"] == 1.0


@pytest.mark.parametrize("copula", ["clayton", "gaussian"])
def test_a_known_copula_is_what_adjustments_are_told(copula):
    experiment = experiments()["semi-synthetic-copula"].configured(seeds=1, quick=True)
    cell = next(c for c in experiment.cells() if c["copula"] == copula and c["tau"] == 0.5)
    rows = experiment.run_cell(cell)
    assert rows[0]["selected"] == repr(cc.copula(copula, tau=0.5))
    names = {row["adjustment"] for row in rows}
    assert ("CG-Q, true" in names) == (copula == "clayton")
    assert "given covariates, spline, true" in names
    assert "given prediction, spline, true given the score" in names


def test_one_judge_serves_all_learners():
    """Its joint model is given all predictions: alone, each learner would have another."""
    config = {"datasets": ("gbsg",), "learners": ("coxph", "gbsa")}
    both = experiments()["floor"].configured(seeds=1, **config)
    cell = next(c for c in both.cells() if c["copula"] == "clayton" and c["tau"] == 0.5)
    alone = experiments()["floor"].configured(seeds=1, **config | {"learners": ("coxph",)})

    def estimates(experiment):
        rows = [row for row in experiment.run_cell(cell) if row["learner"] == "coxph"]
        return {row["adjustment"]: row["estimate"] for row in rows}

    together, apart = estimates(both), estimates(alone)
    assert {"IPCW (KM)", "given covariates, true", "imputed, independence", "floor"} <= set(together)
    assert together["given prediction, true"] == apart["given prediction, true"]
    assert together["imputed, true"] != apart["imputed, true"]


def test_an_adjustment_without_answer_is_counted_and_not_averaged():
    experiment = experiments()["semi-synthetic"]()
    same = {"dataset": "whas", "strategy": "top_5", "copula": "omitted", "tau": None, "learner": "coxph"}
    rows = [
        {**same, "seed": seed, "adjustment": name, "oracle": 0.1, "estimate": estimate}
        for seed, mine in enumerate((0.14, None))
        for name, estimate in (("IPCW (KM)", 0.12), ("other", mine))
    ]
    table = {row["adjustment"]: row for row in experiment.summarise(rows)["semi-synthetic-error"]}
    assert table["other"]["abs_error"] == pytest.approx(0.04)
    assert table["other"]["of_ipcw"] == pytest.approx(2.0)
    assert (table["other"]["n"], table["other"]["without_answer"]) == (1, 1)


def test_the_cost_of_a_fit_stands_beside_the_papers():
    experiment = experiments()["fit-cost"].configured(quick=True)
    (cell,) = experiment.cells()
    (row,) = experiment.run_cell(cell)
    assert 0 < row["seconds"] < 600
    assert row["peak_mib"] > 0
    (line,) = experiment.summarise([{**cell, **row}])["fit-cost"]
    assert line["paper_minutes"] == 10.61
    assert line["times_as_fast"] == pytest.approx(60 * 10.61 / row["seconds"])


@pytest.mark.parametrize("copula", [cc.Clayton.from_tau(0.5), cc.Gaussian.from_tau(0.5)])
def test_the_floor_is_unbiased(copula):
    """The true law of the status: over many draws its mean is the share that is event-free."""
    design = SemiSynthetic(load_gbsg(), dependence=copula, tail="administrative")
    times = np.array([500.0, 1200.0, 2000.0])
    gaps = []
    for seed in range(30):
        sample = design.draw(seed)
        status = floor(sample).fit(sample.y).weights(sample.y, times)
        gaps.append(status.a.mean(axis=0) - (sample.event_time[:, None] > times).mean(axis=0))
    gaps = np.array(gaps)
    np.testing.assert_array_less(
        np.abs(gaps.mean(axis=0)), 4 * gaps.std(axis=0, ddof=1) / np.sqrt(30) + 1e-12
    )


def test_the_command_takes_a_part_of_the_grid(tmp_path):
    arguments = ["reproduce", "semi-synthetic", "--quick", "--out", str(tmp_path), "--datasets", "gbsg"]
    done = CliRunner().invoke(app, [*arguments, "--strategies", "top_5", "--learners", "coxph"])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "semi-synthetic-matched-quick" / "results.csv").read_text()
    assert "gbsg,top_5,omitted" in text
    refused = CliRunner().invoke(app, [*arguments, "--learners", "crystal-ball"])
    assert refused.exit_code == 2
    assert "learners must be one of" in refused.stderr
    refused = CliRunner().invoke(app, ["reproduce", "dependence", "--datasets", "gbsg"])
    assert "datasets must not be given for dependence" in refused.stderr
