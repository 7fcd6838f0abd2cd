"""Facts of a whole sample, of which parts may be weighted one by one, and the time from which on it has no score."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from cocensor._checks import FloatArray
from cocensor.data import Survival
from cocensor.data.times import shown_time
from cocensor.warnings import HorizonWarning

#: One subject that carries more than this share of all weight is worth a word, unless there are but a few subjects.
LARGEST_SHARE = 0.1
_FEW = 50
#: Weights sum to about 1 per subject where G is right; from where on they sum to more than this there is no score.
LARGEST_MEAN = 10.0


@dataclass(frozen=True)
class WholeSample:
    """The sample that some test subjects are a part of."""

    n: int
    n_events: int
    n_dropouts: int
    t_max: float
    #: Infinite where nobody is censored.
    first_censored: float
    #: Whether somebody is censored at ``t_max``.
    last_censored: bool

    #: The sum of the sampling weights, ``n`` without any.
    weight: float

    @classmethod
    def of(cls, y: Survival, weight: FloatArray | None = None) -> Self:
        """Return what is known of outcomes that are all there; but for ``n``, of those alone who have a weight."""
        n, total = len(y), float(len(y) if weight is None else weight.sum())
        y = y if weight is None else y[weight > 0]
        censored, n_dropouts = np.where(y.event, np.inf, y.time), int(np.count_nonzero(y.dropout))
        last = bool((censored == y.t_max).any())
        return cls(n, y.n_events, n_dropouts, y.t_max, float(censored.min()), last, total)

    @property
    def nobody_censored(self) -> bool:
        """Whether all events were observed."""
        return self.first_censored == np.inf

    def merge(self, other: Self) -> Self:
        """Return what is known of the subjects of both."""
        t_max = max(self.t_max, other.t_max)
        return replace(
            self,
            n=self.n + other.n,
            n_events=self.n_events + other.n_events,
            n_dropouts=self.n_dropouts + other.n_dropouts,
            t_max=t_max,
            first_censored=min(self.first_censored, other.first_censored),
            last_censored=any(part.last_censored and part.t_max == t_max for part in (self, other)),
            weight=self.weight + other.weight,
        )


@dataclass(frozen=True, eq=False)
class WeightLoad:
    """Sums and counts of the weights of some subjects; those of all subjects tell up to when there is an answer."""

    #: At each of the sorted times: the sum of the weights, the largest of a subject, and how much of the sum stands for
    #: subjects that are hardly ever seen.
    total: FloatArray
    largest: FloatArray
    unseen: FloatArray
    #: The first time from which on a single subject rules out an answer.
    no_answer_from: float = np.inf
    n_floored: int = 0
    #: For how many weights, or subjects, something else stands in, and the first time of such a weight.
    n_replaced: int = 0
    replaced_from: float = np.inf

    def merge(self, other: Self) -> Self:
        """Return the load of the subjects of both."""
        return replace(
            self,
            total=self.total + other.total,
            largest=np.maximum(self.largest, other.largest),
            unseen=self.unseen + other.unseen,
            no_answer_from=min(self.no_answer_from, other.no_answer_from),
            n_floored=self.n_floored + other.n_floored,
            n_replaced=self.n_replaced + other.n_replaced,
            replaced_from=min(self.replaced_from, other.replaced_from),
        )


def refuse_part(y: Survival, whole: WholeSample, name: str) -> None:
    """Refuse a part of a sample to what is known by row of the whole."""
    if len(y) != whole.n:
        raise ValueError(
            f"{name} must be known for any subjects where these come in parts, but is given for all {whole.n} in a row."
        )


def no_score_from(times: FloatArray, load: WeightLoad, whole: WholeSample, remedy: str) -> float:
    """The time from which on there is no score for a sample; warns of it, and of weight that is one subject's."""
    total, largest = load.total, load.largest
    until = float(times[total > LARGEST_MEAN * whole.weight].min(initial=np.inf))
    messages = []
    if until < np.inf:
        messages.append(
            f"from time {shown_time(until)} on the weights sum to more than {LARGEST_MEAN:g} times the number of "
            f"subjects: scores there are NaN; choose a horizon before that time, {remedy}."
        )
    scored = (times < until) & (total > 0)
    share = np.divide(largest, total, out=np.zeros(times.size), where=scored)
    if share.max() > max(LARGEST_SHARE, LARGEST_SHARE * _FEW / whole.n):
        worst = int(np.argmax(share))
        messages.append(
            f"at time {shown_time(times[worst])} one subject carries {share[worst]:.0%} of the total weight: "
            "scores there depend on that subject."
        )
    for message in messages:
        warnings.warn(message, HorizonWarning, stacklevel=4)
    return until
