import json
import re

import numpy as np
import pytest

import cocensor as cc
from cocensor.cli.demo import simulated
from tests.cli.study import run


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "here"
    return run("demo", "--out", str(out), "--n", "800"), out


def test_demo_writes_files_and_a_report_and_tells_the_truth(shown):
    result, out = shown
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == [
        "cox.csv",
        "few.csv",
        "joint.csv",
        "report.html",
        "test.csv",
        "train.csv",
    ]
    assert "joint is best; IPCW picks the wrong one" in result.output
    assert f"The report is in {out / 'report.html'}." in result.output.replace("\n", "")
    assert list(out.parent.iterdir()) == [out]
    assert ".cocensor-" not in result.output + (out / "report.html").read_text(encoding="utf-8")


def test_the_sensitivity_analysis_shows_it(shown):
    result, _ = shown
    said = result.output.replace("\n", " ")
    flip = re.search(
        r"cox is best from τ = 0 \(independent censoring\) to (0\.\d+) under clayton.*?, then joint up to",
        said,
    )
    assert flip, said
    assert float(flip[1]) < 0.5


def test_the_files_hold_what_was_simulated(shown):
    _, out = shown
    train, test, models = simulated(800, cc.Clayton.from_tau(0.5), 0)
    held = np.loadtxt(out / "test.csv", delimiter=",", skiprows=1)
    assert (held[:, 1] == test.y.time).all()
    assert (held[:, 2] == test.y.event).all()
    assert (np.loadtxt(out / "train.csv", delimiter=",", skiprows=1)[:, 3:] == train.X).all()
    again = run(
        *(
            "evaluate",
            "--train",
            out / "train.csv",
            "--test",
            out / "test.csv",
            "--time",
            "months",
            "--event",
            "died",
        ),
        *("--predictions", f"cox={out / 'cox.csv'}", "--id", "patient", "--adjustments", "ipcw"),
        *("--json", out.parent / "numbers.json"),
    )
    assert again.exit_code == 0, again.output
    numbers = json.loads((out.parent / "numbers.json").read_text(encoding="utf-8"))
    expected = cc.evaluate({"cox": models["cox"]}, train.y, test.y, adjustments=["ipcw"], copula=None)
    assert numbers["metrics"][0]["scores"]["ipcw"]["cox"] == pytest.approx(
        expected.score("cox", "ipcw"), rel=1e-8
    )


def test_what_is_there_is_not_written_over(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    result = run("demo", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "Error: --out must be a new or an empty folder, but" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("there", [False, True])
def test_a_demo_that_was_stopped_does_not_block_the_next(tmp_path, monkeypatch, there):
    out = tmp_path / "new"
    if there:
        out.mkdir()

    def interrupt(*_, **__):
        assert not there or not list(out.iterdir())
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(cc.Evaluation, "sensitivity", interrupt)
        result = run("demo", "--out", out, "--n", "200")
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")
    assert list(tmp_path.rglob("*")) == ([out] if there else [])


def test_independent_dropout_is_called_so(tmp_path):
    result = run("demo", "--out", tmp_path, "--n", "200", "--tau", "0")
    assert result.exit_code == 0, result.output
    assert "% drop out before their event, independently of it given covariates." in result.output
    assert "not by chance" not in result.output
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Simulated patients whose dropout is independent of their event" in page


def test_a_dependence_that_clayton_cannot_have_is_refused(tmp_path):
    result = run("demo", "--tau", "1.5", "--out", str(tmp_path / "new"))
    assert result.exit_code == 2
    assert "Error: tau of the clayton copula must lie in [0, 1), but is 1.5." in result.output
    assert not list(tmp_path.iterdir())
