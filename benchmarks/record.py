"""When, at which commit and where the jobs of ``make bench`` ran: ``run.json``, and a line of it for pages."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cocensor._files import write_whole


@dataclass(frozen=True)
class Source:
    """The commit that runs, and whether files differ from it."""

    commit: str
    is_changed: bool

    @staticmethod
    def of(root: Path, kept: Path) -> Source:
        """Results that a run writes do not count as a change."""
        commit = _git(root, "rev-parse", "--short=7", "HEAD")
        changes = _git(root, "status", "--porcelain", "--", ".", f":(exclude){kept.relative_to(root)}")
        return Source(commit, bool(changes))

    def __str__(self) -> str:
        return f"commit `{self.commit}`" + (" with changes that are not committed" if self.is_changed else "")


@dataclass(frozen=True)
class Done:
    """The run that the kept output of a job is from, and the error of a later one that failed."""

    source: Source
    ended: str
    seconds: int
    #: Of the processor, on all cores; on a busy machine less than on the clock.
    processor: int
    error: str = ""

    @staticmethod
    def now(source: Source, seconds: float, processor: float, error: str = "") -> Done:
        """A job that has just ended."""
        ended = datetime.now(UTC).isoformat(timespec="seconds")
        return Done(source, ended, round(seconds), round(processor), error)

    @property
    def place(self) -> str:
        """The commit and the day."""
        return f"{self.source} on {self.ended[:10]}"


@dataclass
class Record:
    """The last run of every job, and the machine of the last of them."""

    jobs: dict[str, Done] = field(default_factory=dict)
    machine: str = ""

    @staticmethod
    def read(folder: Path) -> Record:
        """What ``run.json`` tells, if there is one."""
        path = folder / "run.json"
        if not path.exists():
            return Record()
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        jobs = {name: Done(Source(**job.pop("source")), **job) for name, job in found["jobs"].items()}
        return Record(jobs, found["machine"])

    def is_done(self, name: str, source: Source) -> bool:
        """Whether a job ended well at the same commit, without changes that are not committed."""
        done = self.jobs.get(name)
        return done is not None and not done.error and not source.is_changed and done.source == source

    def note(self, name: str, done: Done) -> None:
        """Note that a job has run here; one that failed leaves the older output, and the note of it."""
        older = self.jobs.get(name)
        self.jobs[name] = replace(older, error=done.error) if done.error and older else done
        self.machine = _machine()

    def write(self, folder: Path) -> None:
        """Write ``run.json`` and ``run.md``."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        write_whole(folder / "run.json", text + "\n")
        older = {path.stem for path in folder.glob("*.md")} - {*self.jobs, "run", "studies"}
        write_whole(folder / "run.md", self.sentence(sorted(older)) + "\n")

    def forget_others(self, names: Iterable[str]) -> None:
        """Forget jobs that are no more."""
        self.jobs = {name: self.jobs[name] for name in names if name in self.jobs}

    def sentence(self, older: Sequence[str] = ()) -> str:
        """Commit, day, machine and minutes; jobs of other commits, ``older`` output and failures by their names."""
        newest = max(self.jobs.values(), key=lambda done: done.ended)
        minutes = sum(done.seconds for done in self.jobs.values()) / 60
        text = f"Run of `make bench` at {newest.place}: {self.machine}, {minutes:.0f} minutes."
        others: dict[str, list[str]] = {}
        for name, done in self.jobs.items():
            if done.source != newest.source:
                others.setdefault(done.place, []).append(name)
        for place, names in others.items():
            text += f" At {place}: {', '.join(names)}."
        if older:
            text += f" From earlier runs: {', '.join(older)}."
        failed = [name for name, done in self.jobs.items() if done.error]
        return text + (f" Failed, so that what was there stands: {', '.join(failed)}." if failed else "")


def _machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {packages}"


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()
