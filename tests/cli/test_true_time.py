"""``--true-time``: simulated data."""

import numpy as np
import pytest

from tests.cli.study import refusal, run, said


@pytest.fixture
def simulated(study):
    """The study with the true event times of the test sample: censored subjects live on for a while."""
    longer = np.random.default_rng(3).exponential(size=len(study.test)).round(4)
    study.true = study.test["months"] + np.where(study.test["died"], 0.0, longer)
    study.test = study.test.assign(true_months=study.true)
    study.test.to_csv(study.folder / "test.csv", index=False)
    return study


def test_the_truth_is_printed_and_written(simulated):
    page = simulated.folder / "out.html"
    shown = simulated.evaluate("--true-time", "true_months", "--out", page)
    assert shown.exit_code == 0, shown.output
    assert "Truth (simulated): " in shown.output
    html = page.read_text(encoding="utf-8")
    assert "so the truth is known" in html
    truth = simulated.numbers("--true-time", "true_months")["truth"]["ibs"]
    for score in truth.values():
        assert f"<td>{score:.2f}"[:8] in html
    assert "true_times=true_times" in html


def test_without_it_nothing_is_said(simulated):
    page = simulated.folder / "out.html"
    shown = simulated.evaluate("--out", page)
    assert "Truth" not in shown.output
    assert "truth is known" not in page.read_text(encoding="utf-8")
    assert "truth" not in simulated.numbers()


def test_it_is_no_covariate(simulated):
    asked = ["--train", simulated.folder / "test.csv", "--covariates"]
    numbers = simulated.numbers("--true-time", "true_months", *asked, "all", "--adjustments", "ipcw")
    assert not any("true_months" in name for name in numbers["data"]["covariates"])
    assert "true_months" not in said(numbers, "decision")
    refusal(
        simulated.evaluate("--true-time", "true_months", *asked, "age,true_months"),
        "--covariates",
        "--true-time",
        "'true_months'",
    )


def test_a_study_file_holds_it(simulated):
    study = simulated.folder / "study.toml"
    first = simulated.evaluate("--true-time", "true_months", "--save-config", study)
    assert 'true_time = "true_months"' in study.read_text(encoding="utf-8")
    again = run("evaluate", "--config", study)
    known = " ".join(first.output.split()).replace(f"The study is in {study}. ", "")
    assert " ".join(again.output.split()) == known


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("", "no value in line 7"),
        ("soon", "line 7 is 'soon'"),
        ("-1", "line 7 is -1"),
        ("0.00001", "line 7 is 1e-05"),
    ],
)
def test_columns_that_are_refused(simulated, value, parts):
    frame = simulated.test.astype({"true_months": object})
    frame.loc[5, "true_months"] = value
    frame.to_csv(simulated.folder / "test.csv", index=False)
    refusal(simulated.evaluate("--true-time", "true_months"), "test.csv: column 'true_months'", parts)


def test_a_column_that_is_not_there(study):
    refusal(study.evaluate("--true-time", "true_months"), "test.csv has no column 'true_months'")
