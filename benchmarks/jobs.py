"""The jobs of ``make bench``, in the order in which they run, each with the seconds that it took on two cores."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_COUNTS = re.compile(r"^=*\s*(?P<counts>\d+ (?:passed|failed).*?) in .*?=*$")


def counts_of_tests(output: str) -> str:
    """The counts in the last line that pytest prints, without the time."""
    found = _COUNTS.match(output.rstrip().rpartition("\n")[2])
    if found is None:
        raise ValueError("its last line has no counts of tests.")
    return found["counts"] + ".\n"


def last_line(output: str) -> str:
    return output.rstrip().rpartition("\n")[2] + "\n"


def all_of_it(output: str) -> str:
    return output


@dataclass(frozen=True)
class Job:
    """A module that is run with arguments, what of its standard output is kept, and how it is run."""

    name: str
    command: str
    seconds: int
    #: In the second environment, which has peers under other licences.
    peers: bool = False
    #: With one thread of BLAS: what is timed is the work, not the cores.
    one_thread: bool = False
    variables: tuple[tuple[str, str], ...] = ()
    keep: Callable[[str], str] = all_of_it


JOBS = (
    Job("slow-tests", "pytest -m slow -n auto -o faulthandler_timeout=0", 184, keep=counts_of_tests),
    Job(
        "new-cases",
        "pytest -m hypothesis -n auto tests",
        66,
        variables=(("HYPOTHESIS_PROFILE", "new"),),
        keep=counts_of_tests,
    ),
    Job("fuzz", "tests.fuzz --seconds 60", 60, keep=last_line),
    Job("coverage-curves", "benchmarks.coverage curves", 427),
    Job("coverage", "benchmarks.coverage tables", 7),
    Job("ties", "benchmarks.ties", 60),
    Job("bias", "benchmarks.bias", 60),
    Job("accuracy", "benchmarks.accuracy", 60),
    Job("bounds", "benchmarks.bounds", 60, one_thread=True),
    Job("decision", "benchmarks.decision", 360, one_thread=True),
    Job("concordance", "benchmarks.concordance", 60, one_thread=True),
    Job("dependence", "benchmarks.dependence", 60, one_thread=True),
    Job("plausible", "benchmarks.plausible formula bias", 60, one_thread=True),
    Job("wide", "benchmarks.wide", 60, one_thread=True),
    Job("impartiality", "benchmarks.impartiality", 30),
    Job("discrimination", "benchmarks.discrimination", 30),
    Job("floor", "benchmarks.floor", 3),
    Job("after-dropout", "benchmarks.after_dropout", 5),
    Job("margins", "benchmarks.margins", 60),
    Job("joint", "benchmarks.joint", 60, one_thread=True),
    Job("learners", "benchmarks.learners", 60, one_thread=True),
    Job("demo", "benchmarks.demo", 60),
    Job("evaluation", "benchmarks.evaluation", 60),
    Job("growth", "benchmarks.growth --quick", 60, one_thread=True),
    Job("stream", "benchmarks.stream --n 200000 --repeats 1", 60, one_thread=True),
    Job("copula-graphic", "benchmarks.copula_graphic", 60, peers=True),
    Job("brier", "benchmarks.brier", 60, peers=True),
    Job("auc", "benchmarks.auc", 60, one_thread=True),
)
