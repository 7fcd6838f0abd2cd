"""The paper's synthetic experiments in small."""

import numpy as np
import pytest

import cocensor as cc
from cocensor.paper import experiments
from cocensor.simulate import SyntheticDesign


@pytest.mark.parametrize("name", ["dependence", "censoring", "misspecification", "cg-q", "horizon"])
def test_cells_are_those_of_the_paper(name):
    full = experiments()[name]()
    cells = full.cells()
    assert (
        len(cells)
        == {"dependence": 180, "censoring": 200, "misspecification": 1040, "cg-q": 180, "horizon": 240}[name]
    )
    assert len({tuple(sorted(cell.items())) for cell in cells}) == len(cells)
    quick = experiments()[name].configured(quick=True)
    assert {cell["seed"] for cell in quick.cells()} == {0}


def test_a_cell_is_what_the_public_functions_give():
    experiment = experiments()["dependence"].configured(seeds=1, quick=True)
    cell = next(c for c in experiment.cells() if c["copula"] == "frank" and c["tau"] == 0.5)
    rows = {row["adjustment"]: row for row in experiment.run_cell(cell)}
    copula = cc.Frank.from_tau(0.5)
    data = SyntheticDesign(n=2000, copula=copula).draw(0)
    train, test = data[:1400], data[1400:]
    curves = (
        cc.CoxPH()
        .fit(train.X, cc.Survival(train.event_time, np.ones(1400, bool)))
        .predict_survival_function(test.X)
    )
    horizon = cc.time_grid(train.y, n=2, horizon={"at_risk": 0.05})[-1]
    times = np.linspace(0.0, horizon, 50)
    ipcw, oracle = (
        cc.integrated_brier_score(train.y, test.y, curves, times, adjustment=adjustment)
        for adjustment in (cc.IPCW(tail="last", min_probability=1e-3), cc.Oracle(test.event_time))
    )
    assert rows["IPCW (KM)"]["estimate"] == pytest.approx(ipcw, rel=1e-12)
    assert rows["CG-Q"]["oracle"] == pytest.approx(oracle, rel=1e-12)
    assert rows["CG-Q"]["horizon"] == pytest.approx(horizon)
    assert len(rows) == 11


def test_one_interval_for_all_ends_where_a_share_is_at_risk():
    experiment = experiments()["horizon"].configured(quick=True)
    data = SyntheticDesign(n=2000, copula=cc.Clayton.from_tau(0.5)).draw(0)
    train, test = data[:1400], data[1400:]
    for cell in experiment.cells():
        if (cell["copula"], cell["tau"]) == ("clayton", 0.5):
            [end] = {row["horizon"] for row in experiment.run_cell(cell)}
            if cell["at_risk"]:
                assert (train.y.time > end).mean() < cell["at_risk"] <= (train.y.time >= end).mean()
            else:
                assert end == test.y.t_max


def test_tables_and_figures():
    experiment = experiments()["misspecification"].configured(seeds=2, quick=False)
    cells = [cell for cell in experiment.cells() if cell["along"] in (0.0, 0.5)]
    rows = [
        {**cell, "adjustment": name, "oracle": 0.1, "estimate": estimate, "horizon": 1.0}
        for cell in cells
        for name, estimate in (("IPCW (KM)", 0.11), ("given covariates", 0.1 if cell["seed"] else None))
    ]
    table = experiment.summarise(rows)["misspecification"]
    ipcw = next(row for row in table if row["adjustment"] == "IPCW (KM)")
    assert ipcw["abs_error"] == pytest.approx(0.01)
    assert ipcw["answered"] == "2 of 2"
    silent = next(row for row in table if row["adjustment"] == "given covariates")
    assert silent["answered"] == "1 of 2"
    figure = experiment.plot(rows)["misspecification"]
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[:2] == ["clayton data, frank assumed", "frank data, clayton assumed"]
    assert titles[2:6:3] == ["clayton data at τ = 0", "frank data at τ = 0.25"]
    assert len(titles) == 12


def test_published_censoring_has_the_authors_factors_and_is_binned_by_what_came_out():
    experiment = experiments()["censoring"].configured("published", seeds=1, quick=True)
    cells = [cell for cell in experiment.cells() if cell["copula"] == "frank"]
    assert cells[4]["scale_factor"] == pytest.approx(0.8564102564102565, rel=1e-15)
    rates = [experiment.run_cell(cell)[0] for cell in cells[::3]]
    assert all(abs(row["rate_bin"] - row["realised_rate"]) <= 0.05 + 1e-12 for row in rates)
    assert [row["realised_rate"] for row in rates] == sorted(row["realised_rate"] for row in rates)
    matched = experiments()["censoring"].configured(seeds=1, quick=True)
    assert matched.run_cell(matched.cells()[2])[0]["rate_bin"] == 0.25
