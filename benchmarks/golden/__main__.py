"""Write golden numbers, or hold today's against them.

Run: python -m benchmarks.golden write FILE, or check FILE; without FILE, the one of the project
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.golden.compare import compare, load, load_changes, study_of, write
from benchmarks.golden.numbers import Value
from benchmarks.golden.studies import PAPER, STUDIES, Skipped, Study

FILE = Path("benchmarks/results/golden.json.gz")
CHANGES = Path("benchmarks/results/golden_changes.toml")
_SHOWN = 40


def computed(studies: list[Study]) -> tuple[dict[str, Value], dict[str, str]]:
    """The numbers of studies, and why some have none."""
    numbers: dict[str, Value] = {}
    skipped: dict[str, str] = {}
    for study in studies:
        start = time.perf_counter()
        try:
            numbers |= study.numbers()
        except Skipped as why:
            skipped[study.name] = str(why)
        print(f"{study.name}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return numbers, skipped


def write_file(path: Path, studies: list[Study]) -> int:
    """Write the numbers of all studies, or of none."""
    numbers, skipped = computed(studies)
    if skipped:
        print(f"nothing is written: {_listed(skipped)}")
        return 2
    write(path, numbers)
    print(f"{path}: {len(numbers):,} keys of {len(studies)} studies, {path.stat().st_size / 1e3:.0f} kB")
    return 0


def check_file(path: Path, studies: list[Study], changes: Path, all_asked: bool) -> int:
    """Hold the numbers of studies against a file, and say how far each is off at worst."""
    numbers, skipped = computed(studies)
    names = {study.name for study in studies} - skipped.keys()
    golden = {key: value for key, value in load(path).items() if study_of(key) in names}
    rules = load_changes(changes)
    if not all_asked or skipped:  # a change of a study that did not run is not unused
        rules = [rule for rule in rules if study_of(rule.keys) in names]
    report = compare(golden, numbers, rules)
    for name in sorted(names):
        worst = report.worst.get(name)
        said = "as it was, to the last digit" if worst is None else f"worst: {worst}"
        print(f"{name}: {said}")
    for name, why in skipped.items():
        print(f"{name}: skipped, {why}")
    for rule in rules:
        print(f"meant: {rule.keys!r} ({rule.reason}): {len(rule.met)} values, by {rule.largest:.1e} at most")
    for fault in report.faults[:_SHOWN]:
        print(f"FAULT {fault}")
    if report.faults:
        print(f"{len(report.faults)} faults")
    return 1 if report.faults else 0


def _listed(skipped: dict[str, str]) -> str:
    return "; ".join(f"{name} was skipped, {why}" for name, why in skipped.items())


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.golden", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("do", choices=("write", "check"))
    parser.add_argument("file", type=Path, nargs="?", default=FILE)
    parser.add_argument(
        "--only", nargs="+", metavar="STUDY", choices=[each.name for each in (*STUDIES, PAPER)]
    )
    parser.add_argument("--no-paper", action="store_true", help="leave the paper's experiments out")
    parser.add_argument("--changes", type=Path, default=CHANGES, help="intended changes (TOML)")
    asked = parser.parse_args(arguments)
    chosen = [
        study
        for study in (*STUDIES, PAPER)
        if (asked.only is None or study.name in asked.only) and not (asked.no_paper and study is PAPER)
    ]
    if asked.do == "write":
        return write_file(asked.file, chosen)
    return check_file(asked.file, chosen, asked.changes, asked.only is None and not asked.no_paper)


if __name__ == "__main__":
    sys.exit(main())
