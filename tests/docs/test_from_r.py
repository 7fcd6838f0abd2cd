"""What the page "From R" promises: its script, its command, and numbers of R."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cocensor as cc
from cocensor.adjustments.samples import Samples
from cocensor.data.predictions import RiskScores
from cocensor.data.times import TimeGrid
from cocensor.inference.influence import influence
from tests.oracles.data import values

ROOT = Path(__file__).parents[2]
FILES = ROOT / "examples" / "from_r"
PAGE = (ROOT / "docs" / "from-r.md").read_text(encoding="utf-8")
AT = [12.0, 24.0, 36.0]
ORACLE = values("concordance")


def read(name, folder=FILES):
    return pd.read_csv(folder / f"{name}.csv")


def outcomes(frame):
    return cc.Survival.from_frame(frame, time="months", event="died", administrative="study_ended")


def curves(name):
    table = read(name).set_index("patient").loc[read("test")["patient"]]
    return table.columns.astype(float), table.to_numpy()


@pytest.mark.site
def test_the_script_writes_the_committed_files(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    run = ["Rscript", FILES / "predict_risk.R", tmp_path]
    done = subprocess.run(
        run, capture_output=True, text=True, check=False, env=os.environ | {"LANGUAGE": "en"}
    )
    if lacking := re.search("there is no package called.*", done.stderr):
        pytest.skip(f"R says: {lacking[0]}")
    assert done.returncode == 0, done.stderr
    assert {each.name for each in tmp_path.iterdir()} == {each.name for each in FILES.glob("*.csv")}
    for name in ("train", "test"):
        pd.testing.assert_frame_equal(read(name, tmp_path), read(name))
    for name, tolerance in (("cox", 2e-4), ("forest", 0.03)):  # trees are drawn otherwise by other versions
        made, committed = read(name, tmp_path), read(name)
        assert list(made) == list(committed)
        assert made["patient"].tolist() == committed["patient"].tolist()
        apart = made.drop(columns="patient") - committed.drop(columns="patient")
        assert apart.abs().to_numpy().mean() < tolerance


@pytest.mark.site
def test_the_command_of_the_page_runs_on_the_committed_files(tmp_path):
    [block] = re.findall(r"```sh\n(cocensor evaluate .*?)\n```", PAGE, re.DOTALL)
    for each in FILES.glob("*.csv"):
        shutil.copy(each, tmp_path)
    arguments = shlex.split(block.replace("\\\n", " "))[1:]
    # The same at fewer dependences, which takes a tenth of the time.
    quick = [
        "--confidence",
        "none",
        "--families",
        "clayton",
        "--taus",
        "0,0.2",
        "--metrics",
        "ibs",
    ]
    run = [sys.executable, "-m", "cocensor", *arguments, *quick]
    done = subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "500 test subjects" in done.stdout
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "numbers.json").exists()


@pytest.mark.parametrize("model", ["cox", "forest"])
def test_scores_at_independence_are_those_of_riskregression(model):
    y, score = outcomes(read("test")), read("score").query("model == @model")
    assert score["times"].tolist() == AT
    np.testing.assert_allclose(cc.brier_score(None, y, curves(model), AT), score["Brier"], rtol=0, atol=1e-12)
    aucs, _ = cc.cumulative_dynamic_auc(None, y, curves(model), AT)
    np.testing.assert_allclose(aucs, score["AUC"], rtol=0, atol=1e-12)


def test_skill_is_riskregressions_index_of_prediction_accuracy():
    asked = {"metrics": "brier", "adjustments": "ipcw", "at": ORACLE["at"], "confidence_level": None}
    found = cc.evaluate({"cox": curves("cox")}, outcomes(read("test")), **asked)
    np.testing.assert_allclose(found.table()["skill"], ORACLE["ipa"], rtol=0, atol=1e-12)


def test_concordance_is_that_of_survival_and_of_pec():
    test, risk = read("test"), 1 - curves("cox")[1][:, -1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.warnings.CensoringWarning)
        assert cc.harrell_concordance(outcomes(test), risk) == pytest.approx(ORACLE["harrell"], abs=1e-12)
    untied = test.assign(months=test["months"] + np.arange(1, len(test) + 1) / 1e5)
    y = outcomes(untied)
    events = np.unique(y.time[y.event & (y.time <= 36)])
    found = cc.concordance_index(None, y, risk, np.union1d(np.nextafter(events, 0), events))
    assert found == pytest.approx(ORACLE["uno"], abs=1e-12)
    assert found == pytest.approx(ORACLE["pec"], abs=1e-12)


def test_weighted_concordance_is_that_of_survival(monkeypatch):
    """Under IPCW; and of events alone with robust variances, by rows and by clusters: derived at all times."""
    monkeypatch.setattr("cocensor.metrics.concordance.at_all_times", lambda *_: True)
    test, risk = read("test"), 1 - curves("cox")[1][:, -1]
    k = np.arange(1, len(test) + 1)
    untied, weight = test.assign(months=test["months"] + k / 1e5), 1.0 + k % 3
    seen, all_events = outcomes(untied), outcomes(untied.assign(died=1, study_ended=0))

    def concordance(y, last):
        events = np.unique(y.time[y.event & (y.time <= last)])
        times = np.union1d(np.nextafter(events, 0), events)
        samples = Samples.of(y, weights=weight)
        status = samples.weights(samples.fit(cc.IPCW(), {}), TimeGrid.of(times))
        values, linear = cc.metrics.Concordance().evaluate_linearised(status, {"m": RiskScores(risk)})
        return values["m"].value, influence(status, linear, y).test[:, 0] / len(y)

    assert concordance(seen, 36)[0] == pytest.approx(ORACLE["weighted"], abs=1e-12)
    value, moved = concordance(all_events, np.inf)
    by_cluster = np.bincount(k % 40, moved)
    expected = ORACLE["weighted_events"]
    np.testing.assert_allclose([value, moved @ moved, by_cluster @ by_cluster], expected, rtol=0, atol=1e-12)
