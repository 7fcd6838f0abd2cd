"""The jobs of ``make bench``, in the order in which they run."""

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
    #: In the second environment, which has peers under other licences.
    peers: bool = False
    #: With one thread of BLAS: what is timed is the work, not the cores.
    one_thread: bool = False
    variables: tuple[tuple[str, str], ...] = ()
    keep: Callable[[str], str] = all_of_it


JOBS = (
    Job("slow-tests", "pytest -m slow -n auto -o faulthandler_timeout=0", keep=counts_of_tests),
    Job(
        "new-cases",
        "pytest -m hypothesis -n auto tests",
        variables=(("HYPOTHESIS_PROFILE", "new"),),
        keep=counts_of_tests,
    ),
    Job("fuzz", "tests.fuzz --seconds 60", keep=last_line),
    Job("coverage-curves", "benchmarks.coverage curves"),
    Job("coverage", "benchmarks.coverage tables"),
    Job("bootstrap", "benchmarks.bootstrap", one_thread=True),
    Job("verdicts", "benchmarks.verdicts"),
    Job("ties", "benchmarks.ties"),
    Job("bias", "benchmarks.bias"),
    Job("accuracy", "benchmarks.accuracy"),
    Job("bounds", "benchmarks.bounds", one_thread=True),
    Job("decision", "benchmarks.decision", one_thread=True),
    Job("concordance", "benchmarks.concordance", one_thread=True),
    Job("dependence", "benchmarks.dependence", one_thread=True),
    Job("plausible", "benchmarks.plausible formula bias", one_thread=True),
    Job("wide", "benchmarks.wide", one_thread=True),
    Job("impartiality", "benchmarks.impartiality"),
    Job("discrimination", "benchmarks.discrimination"),
    Job("floor", "benchmarks.floor"),
    Job("after-dropout", "benchmarks.after_dropout"),
    Job("margins", "benchmarks.margins"),
    Job("joint", "benchmarks.joint", one_thread=True),
    Job("learners", "benchmarks.learners", one_thread=True),
    Job("demo", "benchmarks.demo"),
    Job("everyday", "benchmarks.everyday", one_thread=True),
    Job("evaluation", "benchmarks.evaluation"),
    Job("growth", "benchmarks.growth --quick", one_thread=True),
    Job("stream", "benchmarks.stream --n 200000 --repeats 1", one_thread=True),
    Job("agreement", "benchmarks.agreement", peers=True),
    Job("copula-graphic", "benchmarks.copula_graphic", peers=True),
    Job("brier", "benchmarks.brier", peers=True),
    Job("auc", "benchmarks.auc", one_thread=True),
)
