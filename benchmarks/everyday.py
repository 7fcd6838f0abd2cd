"""The everyday job: ``cocensor evaluate`` on files, from the command to the written report, in a new process.

Models are Cox models that know ten, five and three of ten covariates; half of the subjects have trained them. All
seconds are of the processor, in one thread. The peers are ``import sksurv.metrics``, and ``riskRegression::Score`` in
R with Brier score and AUC at 100 times, integrated Brier score and standard errors, from the same files.

Run: python -m benchmarks.everyday
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import cocensor as cc
from benchmarks.tables import printed_table

#: Test subjects and models, with the goal in seconds.
JOBS = ((300, 2, 3.0), (1000, 3, 4.0), (5000, 3, 8.0))
COVARIATES = [f"x{k}" for k in range(1, 11)]
KNOWN = (10, 5, 3)
REPEATS = 2
# The command as it is, with the processor's seconds at the start of every phase on its progress bar.
PHASES = """
import sys, time
from contextlib import contextmanager
import cocensor
imported = time.process_time()
import cocensor.cli.evaluate
from cocensor.cli import app
command = sys.modules["cocensor.cli.evaluate"]
marks = [("import", 0.0), ("command", imported)]

def begin(name, done=0, total=None):
    marks.append((name, time.process_time()))
    return lambda done, total: None

@contextmanager
def unseen():
    yield begin
    begin("text")

command.progress_bar = unseen
try:
    app(sys.argv[1:])
except SystemExit:
    pass
marks.append(("", time.process_time()))
for (name, start), (_, stop) in zip(marks, marks[1:]):
    print(f"{name}\\t{stop - start}", file=sys.stderr)
"""
SCORE = """
suppressMessages(library(riskRegression)); suppressMessages(library(survival)); suppressMessages(library(prodlim))
test <- read.csv("test.csv"); times <- as.numeric(readLines("times.txt"))
models <- lapply(commandArgs(TRUE), function(f) 1 - as.matrix(read.csv(f, check.names = FALSE)[, -1]))
names(models) <- commandArgs(TRUE)
score <- Score(models, Surv(months, died) ~ 1, data = test, times = times, metrics = c("brier", "auc"),
               summary = "ibs", se.fit = TRUE, null.model = FALSE, cens.model = "km")
"""
#: Phases of the command, by what they are about.
GROUPS = {
    "import": ("import", "command"),
    "reading": ("Reading", "Checking"),
    "scores": ("Scoring by",),
    "sensitivity": ("Bounds", "Benchmarks", "Scoring under"),
    "curves": ("Intervals of curves", "Survival curves"),
    "page and text": ("",),
}


def write_study(n: int, n_models: int, folder: Path) -> list[str]:
    """Write a study's files; returns the arguments of the command."""
    data = cc.simulate.SyntheticDesign(n=2 * n, n_features=10, copula=cc.Clayton.from_tau(0.3)).draw(0)
    train, test = data[:n], data[n:]
    times = np.linspace(0.0, float(np.quantile(train.y.time, 0.95)), 101)[1:]
    np.savetxt(folder / "times.txt", times)
    for name, sample in (("train", train), ("test", test)):
        head = ["patient", "months", "died", *COVARIATES]
        _write(folder / f"{name}.csv", head, np.arange(n), sample.y.time, sample.y.event, sample.X)
    predictions = []
    for k in KNOWN[:n_models]:
        curves = cc.CoxPH().fit(train.X[:, :k], train.y).survival(times, test.X[:, :k])
        _write(folder / f"cox{k}.csv", ["patient", *(f"{time:.17g}" for time in times)], np.arange(n), curves)
        predictions += ["--predictions", f"cox{k}=cox{k}.csv"]
    columns = ["--time", "months", "--event", "died", "--covariates", ",".join(COVARIATES), "--id", "patient"]
    return ["evaluate", "--train", "train.csv", "--test", "test.csv", *columns, *predictions]


def _write(path: Path, head: Sequence[str], *columns: np.ndarray) -> None:
    np.savetxt(path, np.column_stack(columns), "%.10g", ",", header=",".join(head), comments="")


def processor_seconds(command: Sequence[str], folder: Path, repeats: int = REPEATS) -> tuple[float, str]:
    """The least processor seconds of several new processes, and what that one wrote on stderr."""
    environment = os.environ | dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"
    )
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    runs = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, preexec_fn=_on_one_core
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: {done.stderr}")
        runs.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr))
    return min(runs)


def _on_one_core() -> None:
    """Threads that share an interpreter wait for each other, which costs processor time."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def seconds_by_group(stderr: str) -> dict[str, float]:
    """The processor seconds of each group of phases."""
    seconds = dict.fromkeys(GROUPS, 0.0)
    for name, value in (line.split("\t") for line in stderr.splitlines() if "\t" in line):
        group = next(group for group, starts in GROUPS.items() if name.startswith(starts))
        seconds[group] += float(value)
    return seconds


def main() -> None:
    imported, _ = processor_seconds([sys.executable, "-c", "import sksurv.metrics"], Path.cwd())
    print(
        "Processor seconds from the command to the written report; the peers are `import sksurv.metrics`, "
        f"{imported:.2f} s, and `riskRegression::Score` of Brier score and AUC at 100 times with standard errors:\n"
    )
    head = ["test subjects", "models", "all", "goal", *GROUPS, "over import sksurv.metrics", "riskRegression"]
    with printed_table("everyday", head, left=0) as row:
        for n, n_models, goal in JOBS:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                arguments = [*write_study(n, n_models, folder), "--out", "report.html"]
                whole, _ = processor_seconds([sys.executable, "-m", "cocensor", *arguments], folder)
                _, marks = processor_seconds([sys.executable, "-c", PHASES, *arguments], folder)
                peer = "not installed"
                if shutil.which("Rscript"):
                    (folder / "score.R").write_text(SCORE)
                    files = [f"cox{k}.csv" for k in KNOWN[:n_models]]
                    peer = f"{processor_seconds(['Rscript', 'score.R', *files], folder, 1)[0]:.1f}"
                parts = [f"{seconds:.2f}" for seconds in seconds_by_group(marks).values()]
                row(
                    f"{n:,}",
                    str(n_models),
                    f"{whole:.1f}",
                    f"{goal:g}",
                    *parts,
                    f"{whole / imported:.1f}",
                    peer,
                )


if __name__ == "__main__":
    main()
