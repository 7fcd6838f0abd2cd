"""The long studies: compute what is missing, or hold what is there against what the code of today gives.

    python -m benchmarks.studies              compute the units that the files in benchmarks/results lack
    python -m benchmarks.studies --list       how many units each study has, how many are done, seconds of one
    python -m benchmarks.studies --check 3    compute 3 units of each anew and compare (--minutes 20: until then)
    python -m benchmarks.studies --only impartiality coverage-scores

A run that was stopped goes on where it was. ``--check`` takes one unit of every study, the quick ones first, then a
second of each; ``--seed`` says which. It prints a table, and ends with status 1 where a difference is beyond the
tolerance.
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
from benchmarks.__main__ import KEPT, ROOT
from benchmarks.record import Source
from benchmarks.studies.listed import STUDIES
from benchmarks.studies.study import Differences, Study, Unit
from benchmarks.tables import markdown, marked
from cocensor._files import write_whole
from cocensor.cli.outputs import terminating_in_order


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
    parser.add_argument(
        "--write", action="store_true", help="keep what a check found in results/bench/studies.md"
    )
    asked = parser.parse_args(arguments)
    studies = [study for study in STUDIES if study.name in asked.only]
    for category in (cc.warnings.FitWarning, cc.warnings.HorizonWarning):
        warnings.simplefilter("ignore", category)
    if asked.list:
        print(listed(studies))
        return 0
    if asked.check is not None:
        text, is_same = check(studies, asked.check, asked.minutes, asked.seed)
        print(text)
        if asked.write:
            write_whole(KEPT / "studies.md", f"{text}\n")
        return int(not is_same)
    return run(studies)


def listed(studies: Sequence[Study]) -> str:
    """A table of units, those done and seconds of one."""
    lines = [[study.name, *study.counts, f"{study.seconds:g}"] for study in studies]
    return markdown(["study", "units", "done", "seconds of a unit"], lines)


def run(studies: Sequence[Study]) -> int:
    """Compute what is missing, study by study."""
    lacking = [study for study in studies if study.lacks]
    for study in lacking:
        _say(f"{study.name}: left out, as {study.lacks} is not set.")
    with terminating_in_order():
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
        start = time.process_time()
        try:
            found = self.study.differences(self.units[self.n])
        except Exception as error:  # whatever keeps a unit from being computed is a finding
            found = Differences(n_failed=1, where=f"{type(error).__name__}: {error}")
        self.found = self.found.joined(found)
        self.n += 1
        self.seconds += time.process_time() - start

    @property
    def is_same(self) -> bool:
        """Whether the file is what is computed now."""
        return self.found.within(self.study.tolerance)

    @property
    def cells(self) -> list[str]:
        """As a row of a table."""
        units = [self.study.name, *self.study.counts, str(self.n)]
        if not self.n:
            return [*units, "–", "–", "–", "–"]
        found = self.found
        verdict = "the same" if self.is_same else found.where
        if found.n_failed:
            verdict += f"; {found.n_failed} units failed"
        if found.other_rows:
            verdict += f"; {found.other_rows} rows in one only"
        if found.n_other_words:
            verdict += f"; {found.n_other_words} values with other words"
        largest = f"{found.largest:.0e}" if found.largest else "0"
        return [*units, f"{self.seconds / self.n:.1f}", f"{found.n_values:,}", largest, verdict]


def check(studies: Sequence[Study], k: int, minutes: float, seed: int) -> tuple[str, bool]:
    """Compute units that are done anew; a table of how far they are from the files, and whether all are the same."""
    end = time.monotonic() + 60.0 * minutes
    every = [Checked(study, [] if study.lacks else _drawn(study, k, seed)) for study in studies]
    for number in range(k):
        for each in sorted(every, key=lambda each: each.study.seconds):
            if number < len(each.units) and time.monotonic() < end:
                each.one_more()
                _say(" | ".join(each.cells))
    n, n_values = sum(each.n for each in every), sum(each.found.n_values for each in every)
    head = [
        "study",
        "units",
        "done",
        "computed anew",
        "seconds of a unit",
        "values",
        "largest difference",
        "verdict",
    ]
    text = (
        f"At {Source.of(ROOT, KEPT)}, {n:,} units, drawn by seed {seed}, were computed anew, and their {n_values:,} "
        "values held against the files. Relative differences, beyond the last digit that a file keeps:\n\n"
        + marked("check", markdown(head, [each.cells for each in every]))
    )
    return text, all(each.is_same for each in every)


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
