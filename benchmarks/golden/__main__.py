"""Write golden numbers, or hold today's against them.

Run: python -m benchmarks.golden write FILE, or check FILE; without FILE, the one of the project
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.golden.compare import compare, load, load_changes, study_of, write
from benchmarks.golden.numbers import Value
from benchmarks.golden.studies import PAPER, STUDIES, SkippedError, Study

FILE = Path("benchmarks/results/golden.json.gz")
CHANGES = Path("benchmarks/results/golden_changes.toml")
_SHOWN = 40


@dataclass
class Computed:
    """The numbers of studies, why some have none here, and what went wrong in others."""

    numbers: dict[str, Value] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def computed(studies: list[Study]) -> Computed:
    """All studies, one after the other; one that fails does not keep the others from running."""
    found = Computed()
    for study in studies:
        start = time.perf_counter()
        try:
            found.numbers |= study.numbers()
        except SkippedError as why:
            found.skipped[study.name] = str(why)
        except Exception as error:  # told with those of other studies: nothing is written, a check fails
            found.failed[study.name] = f"{type(error).__name__}: {error}"
        print(f"{study.name}: {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return found


def write_file(path: Path, studies: list[Study]) -> int:
    """Write the numbers of all studies, or of none."""
    found = computed(studies)
    if found.skipped or found.failed:
        why = _listed(found.skipped, "was skipped") + _listed(found.failed, "failed")
        print("nothing is written:", *why, sep="\n")
        return 2
    write(path, found.numbers)
    print(
        f"{path}: {len(found.numbers):,} keys of {len(studies)} studies, {path.stat().st_size / 1e3:.0f} kB"
    )
    return 0


def check_file(path: Path, studies: list[Study], changes: Path) -> int:
    """Hold the numbers of studies against a file, and say how far each is off at worst."""
    found = computed(studies)
    ran = {study.name for study in studies} - found.skipped.keys() - found.failed.keys()
    golden = {key: value for key, value in load(path).items() if study_of(key) in ran}
    # A rule about studies of which none ran is not unused.
    rules = [rule for rule in load_changes(changes) if any(rule.is_about(name) for name in ran)]
    report = compare(golden, found.numbers, rules)
    for name in sorted(ran):
        worst = report.worst.get(name)
        print(f"{name}: {'as it was' if worst is None else f'at worst {worst}'}")
    print(*_listed(found.skipped, "skipped"), sep="\n", end="\n" if found.skipped else "")
    for rule in rules:
        print(f"meant: {rule.keys} ({rule.reason}): {len(rule.met)} values, by {rule.largest:.1e} at most")
    faults = [*_listed(found.failed, "failed"), *report.faults]
    for fault in faults[:_SHOWN]:
        print(f"FAULT {fault}")
    if faults:
        print(f"{len(faults):,} faults")
    return 1 if faults else 0


def _listed(why: dict[str, str], what: str) -> list[str]:
    return [f"{name}: {what}, {each}" for name, each in why.items()]


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
    return check_file(asked.file, chosen, asked.changes)


if __name__ == "__main__":
    sys.exit(main())
