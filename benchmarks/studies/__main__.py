"""The long studies: compute what is missing, or hold what is there against what the code of today gives.

    python -m benchmarks.studies              compute the units that the files in benchmarks/results lack
    python -m benchmarks.studies --list       how many units each study has, how many are done, seconds of one
    python -m benchmarks.studies --check 3    compute 3 units of each anew and compare (--minutes 20: until then)
    python -m benchmarks.studies --only impartiality coverage-scores

A run that was stopped goes on where it was. ``--check`` takes one unit of every study, the quick ones first, then a
second of each; ``--seed`` says which. It prints a table, and ends with status 1 where a difference is beyond the tolerance.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

import cocensor as cc
from benchmarks.studies.listed import STUDIES
from benchmarks.studies.study import Differences, Study, Unit
from benchmarks.tables import markdown, marked


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies", description="Run or check the long studies."
    )
    names = [study.name for study in STUDIES]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", default=names)
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--check", type=int, metavar="K", help="compute K units of each anew and compare")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no unit to check after so long")
    parser.add_argument("--seed", type=int, default=0, help="fixes which units are checked")
    asked = parser.parse_args(arguments)
    studies = [study for study in STUDIES if study.name in asked.only]
    for category in (cc.FitWarning, cc.HorizonWarning):
        warnings.simplefilter("ignore", category)
    if asked.list:
        print(listed(studies))
        return 0
    if asked.check is not None:
        return check(studies, asked.check, asked.minutes, asked.seed)
    return run(studies)


def listed(studies: Sequence[Study]) -> str:
    """A table of units, those done and seconds of one."""
    lines = []
    for study in studies:
        done = study.done()
        units = "?" if study.lacks else f"{len(study.wanted):,}"
        missing = f"needs {study.lacks}" if study.lacks else f"{len(study.missing()):,}"
        lines.append([study.name, units, f"{len(done):,}", missing, f"{study.seconds:g}"])
    return markdown(["study", "units", "done", "missing", "seconds of a unit"], lines)


def run(studies: Sequence[Study]) -> int:
    """Compute what is missing, study by study."""
    lacking = [study for study in studies if study.lacks]
    for study in lacking:
        _say(f"{study.name}: left out, as {study.lacks} is not set.")
    computed = sum(study.run(_say) for study in studies if not study.lacks)
    print(f"{len(studies) - len(lacking)} studies: {computed or 'no'} units were missing.")
    return int(bool(lacking))


@dataclass
class Checked:
    """What became of the units of a study that were computed anew."""

    study: Study
    units: list[Unit]
    n: int = 0
    seconds: float = 0.0
    found: Differences = field(default_factory=Differences)

    def one_more(self) -> None:
        """Compute the next unit."""
        start = time.perf_counter()
        try:
            found = self.study.differences(self.units[self.n])
        except Exception as error:  # whatever keeps a unit from being computed is a finding
            found = Differences(n_failed=1, where=f"{type(error).__name__}: {error}")
        self.found = self.found.joined(found)
        self.n += 1
        self.seconds += time.perf_counter() - start

    @property
    def is_same(self) -> bool:
        """Whether the file is what is computed now."""
        return self.found.within(self.study.tolerance)

    @property
    def cells(self) -> list[str]:
        """As a row of a table."""
        found, study = self.found, self.study
        if not self.n:
            return [study.name, "0", "–", "–", "–", f"needs {study.lacks}" if study.lacks else "no time"]
        verdict = "the same" if self.is_same else found.where
        if found.n_failed:
            verdict += f"; {found.n_failed} units failed"
        if found.other_rows:
            verdict += f"; {found.other_rows} rows in one only"
        if found.n_other_words:
            verdict += f"; {found.n_other_words} values with other words"
        size = f"{found.largest:.0e}" if found.largest else "0"
        return [study.name, str(self.n), f"{found.n_values:,}", size, f"{self.seconds / self.n:.1f}", verdict]


def check(studies: Sequence[Study], k: int, minutes: float, seed: int) -> int:
    """Compute units that are done anew and print how far they are from the files."""
    end = time.monotonic() + 60.0 * minutes
    every = [Checked(study, [] if study.lacks else _drawn(study, k, seed)) for study in studies]
    for number in range(k):
        for each in sorted(every, key=lambda each: each.study.seconds):
            if number < len(each.units) and time.monotonic() < end:
                each.one_more()
                _say(" | ".join(each.cells))
    print(
        f"{sum(each.n for each in every)} units computed anew, drawn by seed {seed}; relative differences beyond the "
        "last digit that a file keeps:\n"
    )
    head = ["study", "units", "values", "largest difference", "seconds of a unit", "verdict"]
    print(marked("check", markdown(head, [each.cells for each in every])))
    return int(not all(each.is_same for each in every))


def _drawn(study: Study, k: int, seed: int) -> list[Unit]:
    """Of the units that are wanted and done, ``k`` at random."""
    done = study.done()
    units = [unit for key, unit in study.wanted.items() if key in done]
    chosen = np.random.default_rng(seed).permutation(len(units))[:k]
    return [units[place] for place in chosen]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
