"""All benchmarks of ``make bench``, one after the other; what they print is kept for the pages of the site.

    python -m benchmarks                 all jobs (benchmarks/jobs.py)
    python -m benchmarks --list          their names, commands, and seconds when run last
    python -m benchmarks --only ties bias
    python -m benchmarks --resume        without those that are done at this commit

The standard output of a job becomes ``benchmarks/results/bench/NAME.md``, whole or not at all: a job that fails keeps
the old file, and the others go on. ``run.json`` says when, at which commit and how long each job ran, ``run.md`` the
same in a line. Progress and warnings go to standard error.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.jobs import JOBS, Job
from benchmarks.record import Done, Record, Source
from benchmarks.tables import check_marks
from cocensor._files import write_whole

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "benchmarks" / "results" / "bench"
PEERS_PYTHON = ROOT / ".venv-bench" / "bin" / "python"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Run the benchmarks of make bench."
    )
    names = [job.name for job in JOBS]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", default=names)
    parser.add_argument("--resume", action="store_true", help="leave out what is done at this commit")
    parser.add_argument("--list", action="store_true", help="say what there is and how long it takes")
    asked = parser.parse_args(arguments)
    jobs = [job for job in JOBS if job.name in asked.only]
    record = Record.read(KEPT)
    if asked.list:
        print(listed(jobs, record))
        return 0
    record.forget_others(names)
    return run_all(jobs, record, KEPT, Source.of(ROOT, KEPT), asked.resume)


def listed(jobs: Sequence[Job], record: Record) -> str:
    """The jobs with what they took, on the clock and of the processor, when they were run last."""
    lines = [f"{'':<18}{'seconds':>8}{'processor':>11}"]
    for job in jobs:
        done = record.jobs.get(job.name)
        took = f"{done.seconds:>8}{done.processor:>11}" if done else f"{'?':>8}{'?':>11}"
        lines.append(f"{job.name:<18}{took}  {_shown(job)}")
    total = sum(done.seconds for done in record.jobs.values())
    return "\n".join([*lines, f"{len(jobs)} jobs; all that were run took {total / 60:.0f} minutes."])


def run_all(jobs: Sequence[Job], record: Record, folder: Path, source: Source, resume: bool = False) -> int:
    """Run jobs one after the other and keep what they print; 1 where one failed."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for number, job in enumerate(jobs, start=1):
        heading = f"job {number} of {len(jobs)}, {job.name}"
        if resume and record.is_done(job.name, source):
            _say(f"{heading}: done at this commit")
            continue
        _say(f"{heading}{_expected(job, record)}: {_shown(job)}")
        start, processor = time.perf_counter(), _processor()
        error = ""
        try:
            write_whole(folder / f"{job.name}.md", printed(job))
        except JobError as stopped:
            error = str(stopped)
            failed += 1
        seconds = time.perf_counter() - start
        record.note(job.name, Done.now(source, seconds, _processor() - processor, error))
        record.write(folder)
        _say(f"{heading}: {f'failed, {error}' if error else 'done'} ({seconds:.0f} s)")
    if failed:
        _say(f"{failed} of {len(jobs)} jobs failed.")
    return int(failed > 0)


class JobError(Exception):
    """Why nothing is kept of a job."""


def printed(job: Job) -> str:
    """What is kept of a job's standard output."""
    python = str(PEERS_PYTHON) if job.peers else sys.executable
    variables = os.environ | dict(job.variables) | ({"OPENBLAS_NUM_THREADS": "1"} if job.one_thread else {})
    try:
        done = subprocess.run(
            [python, "-m", *shlex.split(job.command)],
            cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
    except FileNotFoundError as error:
        raise JobError("the environment .venv-bench is missing: `make bench` sets it up.") from error
    if done.returncode:
        _say(done.stdout[-5_000:])
        raise JobError(f"it ended with status {done.returncode}.")
    try:
        text = job.keep(done.stdout).strip() + "\n"
        check_marks(text)
        _check_private(text)
    except ValueError as error:
        raise JobError(str(error)) from error
    return text


def _check_private(text: str) -> None:
    """Refuse what tells of the machine: its name and its folders."""
    private = {
        os.uname().nodename,
        str(ROOT),
        str(Path.home()),
        sys.prefix,
        os.environ.get("COCENSOR_DATA", ""),
    }
    for word in private - {"", "/", "localhost"}:
        if word in text:
            raise ValueError(f"its output tells of the machine: {word!r}.")


def _processor() -> float:
    """Seconds of the processor of all jobs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _expected(job: Job, record: Record) -> str:
    done = record.jobs.get(job.name)
    return f" ({done.seconds} s last time)" if done else ""


def _shown(job: Job) -> str:
    variables = [f"{name}={value} " for name, value in job.variables]
    thread = "OPENBLAS_NUM_THREADS=1 " if job.one_thread else ""
    python = ".venv-bench/bin/python" if job.peers else "python"
    return f"{''.join(variables)}{thread}{python} -m {job.command}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
