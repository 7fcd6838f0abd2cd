"""``cocensor reproduce``: the experiments of the paper from the terminal."""

import json
import os

import pytest

from cocensor._files import held
from cocensor.paper import experiments
from tests.cli.study import refusal, run

SCATTER = "copula-scatter-matched-quick"


def scatter(out):
    return run("reproduce", "copula-scatter", "--quick", "--out", out)


def test_the_experiments_are_listed():
    listed = run("reproduce", "--list")
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(experiments())


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["nope"], ["names", "dependence", "'nope'"]),
        ([], ["names", "dependence"]),
        (["dependence", "--protocol", "fair"], ["protocol", "'matched', 'published'", "'fair'"]),
        (["dependence", "--quick", "--seeds", "2"], ["--seeds", "--quick", "2"]),
        (["dependence", "--quick", "--backend", "dask"], ["scheduler", "address"]),
    ],
)
def test_options_that_are_refused(tmp_path, arguments, parts):
    refusal(run("reproduce", *arguments, "--out", tmp_path), *parts)


def test_a_run_says_where_its_results_are(tmp_path):
    done = scatter(tmp_path / "[red]")
    folder = tmp_path / "[red]" / SCATTER
    assert (done.exit_code, done.stderr) == (0, "")
    assert str(folder) in done.stdout
    assert (folder / "copula-scatter.png").stat().st_size > 10_000
    assert (folder / "copula-scatter.pdf").exists()


@pytest.mark.program
def test_everything_in_small(tmp_path):
    """What a newcomer runs first: every experiment, with its tables, figures and manifest."""
    done = run("reproduce", "all", "--quick", "--out", tmp_path, "--strategies", "top_5", "--n-jobs", "2")
    assert done.exit_code == 0, done.output
    for name, kind in experiments().items():
        folder = tmp_path / f"{name}-matched-quick"
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["failed"] == 0
        assert manifest["cells"] == len((folder / "cells.jsonl").read_text().splitlines())
        assert list(folder.glob("*.md"))
        assert list(folder.glob("*.tex"))
        assert list(folder.glob("*.png"))
        assert list(folder.glob("*.pdf"))
        if hasattr(kind.default_config(), "strategies"):
            assert manifest["config"]["strategies"] == ["top_5"]


def test_a_damaged_line_is_noted(tmp_path):
    cells = tmp_path / SCATTER / "cells.jsonl"
    cells.parent.mkdir()
    cells.write_text("half")
    resumed = scatter(tmp_path)
    assert resumed.exit_code == 0, resumed.output
    [note] = resumed.stderr.splitlines()
    assert note.startswith("Note: ")
    assert f"{cells} was damaged in line 1" in note


def test_a_folder_that_cannot_be_used_is_one_line(tmp_path):
    folder = tmp_path / SCATTER
    folder.mkdir()
    with held(folder):
        refusal(scatter(tmp_path), str(folder), "in use")
    (folder / "manifest.json").mkdir()
    refusal(scatter(tmp_path), str(folder / "manifest.json"), os.strerror(21))


def test_a_failed_cell_shows_in_the_exit_code(tmp_path, monkeypatch):
    kind = experiments()["copula-scatter"]
    broken = kind.cells

    def cells(self):
        return [*broken(self), {"copula": "nonsense", "tau": 0.1, "seed": 0}]

    monkeypatch.setattr(kind, "cells", cells)
    result = scatter(tmp_path)
    assert result.exit_code == 1
    assert result.stderr.startswith("Failed: ")
    assert "nonsense" in result.stderr


def test_a_process_that_died_has_an_exit_code_of_its_own(tmp_path, monkeypatch):
    def died(*_, **__):
        raise ChildProcessError("a process died, and finished cells are kept.")

    monkeypatch.setattr("cocensor.paper.run", died)
    result = scatter(tmp_path)
    assert result.exit_code == 3
    assert result.stderr == "Error: a process died, and finished cells are kept.\n"
