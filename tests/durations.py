"""Where the time of the tests goes: tables of a log of `python -m pytest -n auto --durations=0`, as Markdown.

python -m tests.durations LOG > tables.md
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

LINE = re.compile(r"^([\d.]+)s (?:call|setup|teardown) +(\S.*)$", re.MULTILINE)


def seconds(log: str) -> Counter[str]:
    """Seconds of each case, with what it sets up and takes down."""
    of_cases: Counter[str] = Counter()
    for duration, case in LINE.findall(log):
        of_cases[case] += float(duration)
    return of_cases


def tables(log: str, least: float = 1.0, slowest: int = 40) -> str:
    """Seconds of each file that takes a second or more, and the slowest cases."""
    of_cases = seconds(log)
    of_files: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for case, duration in of_cases.items():
        of_files[file := case.partition("::")[0]] += duration
        counts[file] += 1
    lines = ["| file | cases of 5 ms or more | seconds |", "|---|---:|---:|"]
    shown = [(file, duration) for file, duration in of_files.most_common() if duration >= least]
    lines += [f"| `{file}` | {counts[file]} | {duration:.1f} |" for file, duration in shown]
    others = sum(of_files.values()) - sum(duration for _, duration in shown)
    lines += [f"| {len(of_files) - len(shown)} others | | {others:.1f} |"]
    lines += ["", "| case | seconds |", "|---|---:|"]
    lines += [f"| `{case}` | {duration:.1f} |" for case, duration in of_cases.most_common(slowest)]
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables(Path(sys.argv[1]).read_text()))
