"""Random calls of the public API, valid and not: each gives a result within its range, or says what is wrong.

``python -m tests.fuzz --seconds 60`` goes through cases until the time is over, by default seeded by the day, and
ends at the first finding. ``--seed S --case N`` runs one case again.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from datetime import date
from typing import Any

from tests.fuzz.cases import run_case

TIME_LIMIT = 60


def _out_of_time(*_: Any) -> None:
    raise TimeoutError(f"a call took more than {TIME_LIMIT} seconds")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on")
    parser.add_argument(
        "--seed", type=int, default=int(date.today().strftime("%Y%m%d")), help="by default the day"
    )
    parser.add_argument("--case", type=int, help="run this case only")
    parser.add_argument("--start", type=int, default=0, help="the first case")
    parser.add_argument("--keep-going", action="store_true", help="do not end at the first finding")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, _out_of_time)
    end = time.monotonic() + asked.seconds
    case = asked.start if asked.case is None else asked.case
    counts: Counter[str] = Counter()
    while True:
        signal.alarm(TIME_LIMIT)
        _, kind, finding = run_case(asked.seed, case)
        signal.alarm(0)
        counts[kind] += 1
        if finding is not None:
            print(f"Case {case} of seed {asked.seed}: {finding}", flush=True)
        if asked.case is not None or time.monotonic() > end or (finding and not asked.keep_going):
            break
        case += 1
    print(f"{counts.total()} cases of seed {asked.seed}: {dict(counts)}.")
    return 1 if counts["finding"] else 0


if __name__ == "__main__":
    sys.exit(main())
