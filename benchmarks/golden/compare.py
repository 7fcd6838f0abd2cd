"""Golden numbers in a file, and how numbers of today differ from them."""

from __future__ import annotations

import fnmatch
import gzip
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from benchmarks.golden.numbers import Leaf, Value, is_number, leaves

#: How far a number may move, relative to its size or, where that is larger, to its standard error.
TOLERANCE = 1e-9
#: What may move further, the first that a key meets: a pattern, how far, and why.
_EXCEPTIONS = (
    (
        r"(^|/)(hint|choice\w*|joint/.*|copula)(/.*)?/(theta|tau)$",
        1e-6,
        "a maximum of a flat likelihood is known to the root of its rounding; 6e-8 between processors",
    ),
    (
        r"(hint|choice\w*)/(.*/)?gain$",
        1e-6,
        "units of a log-likelihood of hundreds between two fits; 8e-9 between processors",
    ),
    (
        r"/plausible_tau/|/tips/multiple$",
        1e-6,
        "roots of flat curves, of effects by iterated fits; 2e-8 between processors",
    ),
    (
        r"(imputation|dependent_ipcw|joint|choice|hint).*"
        r"(standard_error|(^|_|/)low|(^|_|/)high|(low|high)_error|pvalue|constant|influence_\w+)(/(some|sum))?$",
        1e-7,
        "errors after a joint fit, which hang on second derivatives",
    ),
    (r"/adjustments/[^/]+/fit/", 1e-7, "differences of observed and expected numbers after a joint fit"),
)
#: Below this, a number is rounding.
_NOTHING = 1e-13


def write(path: Path, numbers: Mapping[str, Value]) -> None:
    """Write all numbers, one key a line, so that two files can be compared by eye."""
    lines = [f"{json.dumps(key)}: {json.dumps(numbers[key])}" for key in sorted(numbers)]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def load(path: Path) -> dict[str, Value]:
    """The numbers of a file."""
    found: dict[str, Value] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def study_of(key: str) -> str:
    """The study that a key belongs to."""
    return key.partition("/")[0]


@dataclass(frozen=True)
class Deviation:
    """One number or decision that is not as it was; ``size`` is relative, infinite for what is no change of size."""

    key: str
    was: Leaf | str
    now: Leaf | str
    size: float
    allowed: float

    @property
    def violates(self) -> bool:
        """Whether it is more than rounding."""
        return not self.size <= self.allowed

    def __str__(self) -> str:
        size = f"by {self.size:.1e}, allowed {self.allowed:.0e}" if math.isfinite(self.size) else "changed"
        return f"{self.key}: {self.was!r} is now {self.now!r} ({size})"


def deviations(was: Mapping[str, Value], now: Mapping[str, Value]) -> Iterator[Deviation]:
    """All that differ, each key at a time; a key that only one side has differs."""
    for key in sorted({*was, *now}):
        if key not in now or key not in was:
            sides = ("there", "missing") if key in was else ("missing", "there")
            yield Deviation(key, *sides, math.inf, 0.0)
            continue
        one, other = dict(leaves(key, was[key])), dict(leaves(key, now[key]))
        if one.keys() != other.keys():
            yield Deviation(key, f"{len(one)} values", f"{len(other)} values", math.inf, 0.0)
            continue
        scale, allowed = _scale(key, was), tolerance(key)
        for place, value in one.items():
            if value is not other[place] and value != other[place]:
                size = _size(value, other[place], scale if isinstance(was[key], list) else _own(value, scale))
                if size > 0:
                    yield Deviation(place, value, other[place], size, allowed)


def tolerance(key: str) -> float:
    """How far the numbers under a key may move."""
    return next((size for pattern, size, _ in _EXCEPTIONS if re.search(pattern, key)), TOLERANCE)


def _scale(key: str, was: Mapping[str, Value]) -> float:
    """What a change is relative to: the largest of a list, and the standard error of what has one."""
    parent, _, name = key.rpartition("/")
    values = (
        []
        if name == "standard_error" and not isinstance(was[key], list)
        else [was.get(f"{parent}/standard_error")]
    )
    if isinstance(was[key], list):
        values.append(was[key])
    if name == "sum":
        values.append(was[f"{parent}/some"])
    sizes = [
        abs(each) for value in values if value is not None for _, each in leaves("", value) if _finite(each)
    ]
    return max(sizes, default=0.0)


def _own(value: Leaf, scale: float) -> float:
    return max(abs(value), scale) if _finite(value) else scale


def _finite(value: Leaf) -> TypeGuard[float]:
    return is_number(value) and math.isfinite(value)


def _size(was: Leaf, now: Leaf, scale: float) -> float:
    """The relative change; infinite for decisions, and where only one of two is a number."""
    if not (is_number(was) and is_number(now)):
        return math.inf
    one, other = float(was), float(now)
    if math.isnan(one) and math.isnan(other):
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    gap = abs(one - other)
    return 0.0 if gap <= _NOTHING else gap / max(scale, _NOTHING)


@dataclass
class Change:
    """An intended change: keys by a pattern, the reason, and the largest relative change that it makes.

    A size of "any" is for decisions, and for keys that come or go.
    """

    keys: str
    reason: str
    size: float
    met: list[Deviation] = field(default_factory=list)

    def covers(self, deviation: Deviation) -> bool:
        """Whether it is meant, whatever its size."""
        return fnmatch.fnmatchcase(deviation.key, self.keys)

    def is_about(self, study: str) -> bool:
        """Whether its pattern can meet keys of a study."""
        return fnmatch.fnmatchcase(study, study_of(self.keys))

    @property
    def largest(self) -> float:
        """The largest change that was met."""
        return max((each.size for each in self.met), default=0.0)

    @property
    def beyond(self) -> list[Deviation]:
        """The changes that are larger than meant."""
        return [each for each in self.met if not each.size <= self.size]


def load_changes(path: Path) -> list[Change]:
    """The intended changes of a file, each a ``[[change]]`` with keys, reason and size; none without a file."""
    if not path.exists():
        return []
    found = []
    for number, entry in enumerate(
        tomllib.loads(path.read_text(encoding="utf-8")).get("change", []), start=1
    ):
        if entry.keys() != {"keys", "reason", "size"} or not entry["reason"]:
            raise ValueError(f"{path}: change {number} must have keys, reason and size, but has {[*entry]}.")
        size = math.inf if entry["size"] == "any" else float(entry["size"])
        found.append(Change(entry["keys"], entry["reason"], size))
    return found


@dataclass(frozen=True)
class Report:
    """What a check found."""

    worst: dict[str, Deviation | None]
    violations: list[Deviation]
    changes: Sequence[Change]

    @property
    def faults(self) -> list[str]:
        """What is wrong, one sentence each."""
        found = [str(each) for each in self.violations]
        for change in self.changes:
            if not change.met:
                found.append(f"no number changed as meant by {change.keys!r} ({change.reason}): remove it.")
            found += [
                f"{each}: more than {change.size:g}, as meant by {change.keys!r}" for each in change.beyond
            ]
        return found


def compare(was: Mapping[str, Value], now: Mapping[str, Value], changes: Sequence[Change]) -> Report:
    """Hold numbers against golden ones, up to the changes that are meant."""
    worst: dict[str, Deviation | None] = dict.fromkeys(map(study_of, [*was, *now]))
    violations = []
    for each in deviations(was, now):
        before = worst[study_of(each.key)]
        if before is None or each.size / max(each.allowed, 1e-300) > before.size / max(
            before.allowed, 1e-300
        ):
            worst[study_of(each.key)] = each
        if not each.violates:
            continue
        meant = next((change for change in changes if change.covers(each)), None)
        if meant is None:
            violations.append(each)
        else:
            meant.met.append(each)
    return Report(worst, violations, changes)
