"""A run loses nothing, repeats nothing, and gives the same numbers however it is run."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from cocensor.paper import Config, experiments, run
from cocensor.paper.base import Experiment
from cocensor.paper.results import Results
from cocensor.paper.runner import as_csv, as_latex, as_markdown
from tests.refusals import refuses


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
        ".lock",
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


@pytest.mark.dask
def test_the_same_numbers_on_one_core_on_two_and_on_dask(tmp_path):
    from dask.distributed import LocalCluster

    small = experiments()["dependence"].configured(seeds=1, quick=True)
    small.cells = small.cells()[:3].copy  # three cells are enough
    one = run(small, tmp_path / "one", n_jobs=1).rows
    two = run(small, tmp_path / "two", n_jobs=2).rows
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
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


@pytest.mark.program
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
    with pytest.raises(ValueError, match="configuration.* protocol, seeds"):
        run(Squares(Config(seeds=(1,), protocol="published")), tmp_path)


SMALL = Config(seeds=(0,))


def finished(folder):
    """The folder of a run of four cells, and the lines of these."""
    run(Squares(SMALL), folder)
    return folder / "cells.jsonl", (folder / "cells.jsonl").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("line", "damage"),
    [
        (4, lambda line: line[:-20]),  # killed in the middle of it
        (4, lambda line: b"\x00" * 40),  # the power went
        (2, lambda line: line[:30] + line),  # begun twice
        (1, lambda line: b"\n"),
        (3, lambda line: b"\xff\xfe\xfd\n"),
        (3, lambda line: b"{}\n"),
        (3, lambda line: b'{"cell": {}, "rows": [1], "error": null, "seconds": 1}\n'),
        (3, lambda line: b"[" * 100_000 + b"\n"),
    ],
)
def test_a_damaged_line_is_set_aside_and_its_cell_run_again(tmp_path, line, damage):
    expected = run(Squares(SMALL), tmp_path).rows
    path, lines = finished(tmp_path)
    lines[line - 1] = damage(lines[line - 1])
    path.write_bytes(b"".join(lines))
    outcome = run(Squares(SMALL), tmp_path)
    assert outcome.rows == expected
    (note,) = outcome.notes
    assert note.startswith(f"{path} was damaged in line {line}: ")
    assert (tmp_path / "cells.jsonl.damaged").read_bytes() == lines[line - 1].removesuffix(b"\n") + b"\n"
    again = run(Squares(SMALL), tmp_path)
    assert (again.rows, again.notes) == (expected, [])
    assert len(path.read_bytes().splitlines()) == 4


def test_only_the_end_of_the_last_line_is_missing(tmp_path, monkeypatch):
    path, lines = finished(tmp_path)
    path.write_bytes(b"".join(lines)[:-1])
    monkeypatch.setattr(Squares, "run_cell", None)
    assert len(run(Squares(SMALL), tmp_path).rows) == 8
    assert path.read_bytes() == b"".join(lines)


def test_what_is_set_aside_twice_is_kept_twice(tmp_path):
    path, lines = finished(tmp_path)
    for damaged in (b"one\n", b"two\n"):
        path.write_bytes(b"".join(lines) + damaged)
        run(Squares(SMALL), tmp_path)
    assert (tmp_path / "cells.jsonl.damaged").read_bytes() == b"one\ntwo\n"


def test_a_disk_that_writes_in_pieces_gets_it_all(tmp_path, monkeypatch):
    write = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda handle, data: write(handle, data[:7]))
        _, lines = finished(tmp_path)
    assert [json.loads(line)["cell"]["k"] for line in lines] == [0, 1, 2, 3]


def test_a_disk_that_is_full_for_a_moment_costs_one_cell(tmp_path, monkeypatch):
    expected = run(Squares(SMALL), tmp_path / "undisturbed").rows
    write, lines = os.write, []

    def full_in_the_second_line(handle, data):
        lines.append(data)
        if len(lines) == 2:
            return write(handle, data[:30])
        if len(lines) == 3:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    config = SMALL.as_dict() | {"experiment": "squares"}
    results = Results(tmp_path, config)
    rows = Squares(SMALL).run_cell({"seed": 0, "k": 0})
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full_in_the_second_line)
        results.append({"seed": 0, "k": 0}, rows, None, 0.0)
        with pytest.raises(OSError, match="No space left on device: .*cells.jsonl"):
            results.append({"seed": 0, "k": 1}, rows, None, 0.0)
        results.append({"seed": 0, "k": 2}, Squares(SMALL).run_cell({"seed": 0, "k": 2}), None, 0.0)
    cells = [json.loads(line)["cell"]["k"] for line in results.path.read_bytes().splitlines()]
    assert cells == [0, 2]
    assert results.missing(Squares(SMALL).cells()) == [{"seed": 0, "k": 1}, {"seed": 0, "k": 3}]
    resumed = run(Squares(SMALL), tmp_path)
    assert (resumed.rows, resumed.notes) == (expected, [])


@pytest.mark.program
def test_a_full_disk_stops_several_processes_with_that_alone(tmp_path, monkeypatch, recwarn):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Results, "append", full)
        with pytest.raises(OSError, match="No space left on device"):
            run(Squares(), tmp_path, n_jobs=2)
    assert not recwarn.list
    assert len(run(Squares(), tmp_path).rows) == 80


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"config": 3}', "{half", "\x00\x00", "[" * 100_000])
def test_a_damaged_manifest_is_a_sentence(tmp_path, content):
    manifest = tmp_path / "manifest.json"
    manifest.write_text(content)
    with pytest.raises(ValueError, match=r"manifest\.json .*damaged"):
        run(Squares(SMALL), tmp_path)
    assert manifest.read_text() == content


HOLDER = """
import sys
sys.path.insert(0, {root!r})
from tests.paper.test_runner import Squares
from cocensor.paper import run
experiment = Squares()
experiment.pause = 0.5
run(experiment, sys.argv[1], n_jobs=2, progress=lambda done, total: print(done, flush=True))
"""


@pytest.mark.program
def test_a_folder_takes_one_run_at_a_time_and_a_killed_one_lets_go(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER.format(root=str(Path(__file__).parents[2])), str(tmp_path)],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        # Its processes are at work.
        assert [process.stdout.readline() for _ in range(2)] == [b"0\n", b"1\n"]
        with pytest.raises(BlockingIOError, match=f"^{tmp_path} is in use by another run: "):
            run(Squares(), tmp_path)
        process.kill()
        process.wait()
        assert len(run(Squares(), tmp_path).rows) == 80
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.mark.program
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_its_processes_end_with_it_however_it_ends(tmp_path, number):
    """Whoever reads its output waits for all that hold it, and loky's processes would idle for five minutes."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER.format(root=str(Path(__file__).parents[2])), str(tmp_path)],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            assert [process.stdout.readline() for _ in range(2)] == [b"0\n", b"1\n"]
            process.send_signal(number)
            reader = Thread(target=process.stdout.read, daemon=True)
            reader.start()
            reader.join(60.0)
            assert not reader.is_alive()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from tests.paper.test_runner import Squares
from cocensor.paper import run
Squares.pause = 0.02
experiment = Squares()
experiment.pause = 0.02
run(experiment, sys.argv[1], n_jobs=2)
"""


@pytest.mark.program
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


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"backend": "dask"}, ["scheduler", "address"]),
        ({"backend": "x"}, ["backend", "'loky', 'dask'", "'x'"]),
        ({"n_jobs": 0}, ["n_jobs", "0"]),
    ],
)
def test_runs_that_are_refused(tmp_path, settings, parts):
    refuses(lambda: run(Squares(), tmp_path, **settings), *parts)


def test_configurations_that_are_refused():
    refuses(lambda: Config(protocol="fair"), "protocol", "'matched', 'published'", "'fair'")
    refuses(lambda: Config(seeds=()), "seeds", "empty")
