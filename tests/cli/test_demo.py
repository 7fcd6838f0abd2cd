import json
import re

import numpy as np
import pytest

import cocensor as cc
from cocensor.cli.demo import simulated
from tests.cli.study import refusal, run


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
    # What the demo is there for.
    page = (out / "report.html").read_text(encoding="utf-8")
    said = re.sub("</?bdi>", "", page)
    assert "truth is known: joint has the best integrated Brier score, 0.1" in said
    assert "IPCW and imputation pick cox." in said
    assert "Truth (simulated): joint is best." in result.output
    # Nobody is censored by the end of the study, and the files say so.
    assert "Nobody is marked" not in result.output
    summary = result.output[result.output.index("3 models") :].rstrip().splitlines()
    assert len(summary) <= 20
    assert str(out / "report.html") in result.output
    assert list(out.parent.iterdir()) == [out]
    assert ".cocensor-" not in result.output + (out / "report.html").read_text(encoding="utf-8")


def test_the_sensitivity_analysis_shows_it(shown):
    """Cox, which is best under independence, loses to the joint model before the true τ of 0.5."""
    page = (shown[1] / "report.html").read_text(encoding="utf-8")
    [rows] = re.findall(r'<table class="map">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    heads = [float(tau.replace("−", "-")) for tau in re.findall(r"<th scope=\"col\">τ = (.*?)</th>", page)]
    [clayton] = [row for row in rows.split("<tr>") if "Clayton" in row]
    leaders = dict(zip(heads, re.findall("<td>(.*?)</td>", clayton), strict=True))
    assert leaders[0.0] == "cox"
    assert {leader for tau, leader in leaders.items() if tau >= 0.5} == {"joint"}


def test_the_files_hold_what_was_simulated(shown):
    _, out = shown
    train, test, models = simulated(800, cc.Clayton.from_tau(0.5), 0)
    held = np.loadtxt(out / "test.csv", delimiter=",", skiprows=1)
    assert (held[:, 1] == test.y.time).all()
    assert (held[:, 2] == test.y.event).all()
    assert (held[:, -1] == test.event_time).all()
    assert (np.loadtxt(out / "train.csv", delimiter=",", skiprows=1)[:, 4:] == train.X).all()
    columns = ["--time", "months", "--event", "died", "--id", "patient"]
    files = [
        "--train",
        out / "train.csv",
        "--test",
        out / "test.csv",
        "--predictions",
        f"cox={out / 'cox.csv'}",
    ]
    numbers = out.parent / "numbers.json"
    again = run("evaluate", *files, *columns, "--adjustments", "ipcw", "--json", numbers)
    assert again.exit_code == 0, again.output
    found = json.loads(numbers.read_text(encoding="utf-8"))
    expected = cc.evaluate({"cox": models["cox"]}, test.y, y_train=train.y, adjustments="ipcw", metrics="ibs")
    assert found["metrics"][0]["scores"]["ipcw"]["cox"] == pytest.approx(
        expected.score("cox", adjustment="ipcw").value, rel=1e-8
    )


def test_what_is_there_is_not_written_over(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    refusal(run("demo", "--out", tmp_path), "--out", str(tmp_path))
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


@pytest.mark.no_cover
def test_independent_dropout_is_called_so(tmp_path):
    result = run("demo", "--out", tmp_path, "--n", "200", "--tau", "0")
    assert result.exit_code == 0, result.output
    assert "independent" in " ".join(result.output.splitlines()[:3])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    [title] = re.findall("<title>(.*?)</title>", page, re.DOTALL)
    assert "independent" in title


def test_a_dependence_that_clayton_cannot_have_is_refused(tmp_path):
    refusal(
        run("demo", "--tau", "1.5", "--out", tmp_path / "new"), "tau of the clayton copula", "[0, 1)", "1.5"
    )
    assert not list(tmp_path.iterdir())
