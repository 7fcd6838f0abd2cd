"""A run loses nothing, repeats nothing, and gives the same numbers however it is run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cocensor.cli import app
from cocensor.experiments import Config, experiments, run
from cocensor.experiments.base import Experiment
from cocensor.experiments.results import Results
from cocensor.experiments.runner import as_csv, as_latex, as_markdown


class Squares(Experiment):
    """Cells that take a moment; one of them may fail."""

    name = "squares"
    about = "for tests"
    pause = 0.0
    failing: int | None = None

    def cells(self):
        return [{"seed": seed, "k": k} for seed in self.config.seeds for k in range(4)]

    def run_cell(self, cell):
        time.sleep(self.pause)
        if cell["k"] == self.failing:
            raise RuntimeError("no square today")
        value = np.random.default_rng(cell["seed"]).normal() + cell["k"] ** 2
        return [{"adjustment": name, "estimate": value * factor} for name, factor in (("a", 1.0), ("b", 2.0))]

    def summarise(self, rows):
        return {"squares": [{"name": "mean_%", "value": float(np.mean([row["estimate"] for row in rows]))}]}


def test_a_run_writes_rows_tables_and_a_manifest(tmp_path):
    seen = []
    outcome = run(Squares(), tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert len(outcome.rows) == 80
    assert seen[0] == (0, 40)
    assert seen[-1] == (40, 40)
    assert {path.name for path in tmp_path.iterdir()} == {
        "cells.jsonl",
        "manifest.json",
        "results.csv",
        "squares.md",
        "squares.tex",
    }
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["config"]["seeds"] == list(range(10))
    assert manifest["cells"] == 40
    assert (tmp_path / "results.csv").read_text().startswith("experiment,protocol,seed,k,")
    assert "mean\\_\\%" in (tmp_path / "squares.tex").read_text()


def test_the_same_numbers_on_one_core_on_two_and_on_dask(tmp_path):
    from dask.distributed import LocalCluster

    small = experiments()["dependence"].configured(seeds=1, quick=True)
    small.cells = small.cells()[:3].copy  # three cells are enough
    one = run(small, tmp_path / "one", n_jobs=1).rows
    two = run(small, tmp_path / "two", n_jobs=2).rows
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        far = run(
            small, tmp_path / "dask", n_jobs=2, backend="dask", scheduler=cluster.scheduler_address
        ).rows
    assert one == two == far


def test_a_finished_run_computes_nothing(tmp_path, monkeypatch):
    first = run(Squares(), tmp_path)
    monkeypatch.setattr(Squares, "run_cell", None)
    assert run(Squares(), tmp_path).rows == first.rows


class Dying(Squares):
    """One cell takes its process along."""

    def run_cell(self, cell):
        if cell["k"] == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run_cell(cell)


def test_a_process_that_dies_is_told_in_a_sentence_and_what_was_finished_is_kept(tmp_path):
    with pytest.raises(ChildProcessError, match="a process died, .* finished cells are kept"):
        run(Dying(), tmp_path, n_jobs=2)
    outcome = run(Squares(Dying().config), tmp_path, n_jobs=1)
    assert len(outcome.rows) == 80


def test_a_failing_cell_is_recorded_and_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr(Squares, "failing", 2)
    experiment = Squares(Config(seeds=(0, 1)))
    experiment.failing = 2
    outcome = run(experiment, tmp_path)
    assert len(outcome.failed) == 2
    assert outcome.failed[0] == ({"seed": 0, "k": 2}, "RuntimeError: no square today")
    assert len(outcome.rows) == 12
    experiment.failing = None
    mended = run(experiment, tmp_path)
    assert not mended.failed
    assert len(mended.rows) == 16


def test_another_configuration_does_not_mix(tmp_path):
    run(Squares(Config(seeds=(0,))), tmp_path)
    with pytest.raises(
        ValueError, match="holds results of another configuration, which differs in protocol, seeds"
    ):
        run(Squares(Config(seeds=(1,), protocol="published")), tmp_path)


def test_half_a_line_is_cut_off(tmp_path):
    run(Squares(Config(seeds=(0,))), tmp_path)
    path = tmp_path / "cells.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    results = Results(tmp_path, Config(seeds=(0,)).as_dict() | {"experiment": "squares"})
    assert len(results.finished) == 3
    outcome = run(Squares(Config(seeds=(0,))), tmp_path)
    assert len(outcome.rows) == 8
    assert len(path.read_bytes().splitlines()) == 4


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from tests.experiments.test_runner import Squares
from cocensor.experiments import run
Squares.pause = 0.02
experiment = Squares()
experiment.pause = 0.02
run(experiment, sys.argv[1], n_jobs=2)
"""


def test_killed_at_random_moments_it_loses_and_repeats_nothing(tmp_path):
    """SIGKILL, again and again; every cell is there exactly once, with the numbers of an undisturbed run."""
    root = str(Path(__file__).parents[2])
    expected = run(Squares(), tmp_path / "undisturbed").rows
    folder = tmp_path / "killed"
    chance = random.Random(1)
    kills = 0
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT.format(root=root), str(folder)],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(timeout=1.2 + 0.8 * chance.random())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
        lines = (
            (folder / "cells.jsonl").read_bytes().splitlines() if (folder / "cells.jsonl").exists() else []
        )
        if kills >= 3 and len(lines) >= 38:
            break
    assert kills >= 1
    assert run(Squares(), folder).rows == expected
    cells = [
        json.dumps(json.loads(line)["cell"]) for line in (folder / "cells.jsonl").read_bytes().splitlines()
    ]
    assert len(cells) == len(set(cells)) == 40


def test_tables_as_text():
    rows = [{"name": "a_b", "value": 0.5}, {"name": "c", "value": 2}]
    assert as_csv(rows) == "name,value\na_b,0.5\nc,2\n"
    assert as_markdown(rows) == "| name | value |\n| --- | --- |\n| a_b | 0.5000 |\n| c | 2 |\n"
    assert as_latex(rows).splitlines()[0] == "\\begin{tabular}{lr}"
    assert "a\\_b & 0.5000 \\\\" in as_latex(rows)


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="scheduler must be the address of a Dask scheduler"):
        run(Squares(), tmp_path, backend="dask")
    with pytest.raises(ValueError, match="backend must be one of 'loky', 'dask', but is 'x'"):
        run(Squares(), tmp_path, backend="x")
    with pytest.raises(ValueError, match="n_jobs must be a whole number from 1 on, but is 0"):
        run(Squares(), tmp_path, n_jobs=0)
    with pytest.raises(ValueError, match="protocol must be one of 'matched', 'published', but is 'fair'"):
        Config(protocol="fair")
    with pytest.raises(ValueError, match="seeds is empty"):
        Config(seeds=())


def test_the_command(tmp_path):
    runner = CliRunner()
    listed = runner.invoke(app, ["reproduce", "--list"])
    assert listed.exit_code == 0
    assert all(name in listed.output for name in experiments())
    for arguments, message in (
        (["nope"], "names must be of"),
        ([], "names is empty"),
        (["dependence", "--protocol", "fair"], "protocol must be one of"),
        (
            ["dependence", "--quick", "--backend", "dask", "--out", str(tmp_path)],
            "scheduler must be the address",
        ),
    ):
        refused = runner.invoke(app, ["reproduce", *arguments])
        assert refused.exit_code == 2
        assert message in refused.stderr
    done = runner.invoke(app, ["reproduce", "copula-scatter", "--quick", "--out", str(tmp_path)])
    assert done.exit_code == 0
    folder = tmp_path / "copula-scatter-matched-quick"
    assert (folder / "copula-scatter.png").stat().st_size > 10_000
    assert (folder / "copula-scatter.pdf").exists()


def test_everything_in_small(tmp_path):
    """What a newcomer runs first: every experiment, with its tables, figures and manifest."""
    done = CliRunner().invoke(
        app, ["reproduce", "all", "--quick", "--out", str(tmp_path), "--strategies", "top_5"]
    )
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


def test_a_failed_cell_shows_in_the_exit_code(tmp_path, monkeypatch):
    kind = experiments()["copula-scatter"]
    broken = kind.cells

    def cells(self):
        return [*broken(self), {"copula": "nonsense", "tau": 0.1, "seed": 0}]

    monkeypatch.setattr(kind, "cells", cells)
    result = CliRunner().invoke(app, ["reproduce", "copula-scatter", "--quick", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "Failed: {'copula': 'nonsense'" in result.stderr
