"""How much weight a subject, or a sample, may carry before there is no score."""

from __future__ import annotations

import warnings

import numpy as np

from cocensor._checks import FloatArray
from cocensor.adjustments.whole import WeightLoad
from cocensor.data.times import shown_time
from cocensor.warnings import HorizonWarning

#: One subject that carries more than this share of all weight is worth a word, unless there are but a few subjects.
LARGEST_SHARE = 0.1
_FEW = 50
#: Weights sum to about 1 per subject where G is right; from where on they sum to more than this there is no score.
LARGEST_MEAN = 10.0


def no_score_from(times: FloatArray, load: WeightLoad, n: int, remedy: str) -> float:
    """The time from which on there is no score; warns of that, and of weight that rests on one subject.

    ``load`` is that of all ``n`` subjects at the sorted ``times``.
    """
    total, largest = load.total, load.largest
    too_much = total > LARGEST_MEAN * n
    until = float(times[too_much].min(initial=np.inf))
    said = []
    if too_much.any():
        said.append(
            f"from time {shown_time(until)} on the weights sum to more than {LARGEST_MEAN:g} times the number of "
            f"subjects: scores there are NaN; choose a horizon before that time, {remedy}."
        )
    known = (times < until) & (total > 0)
    share = np.divide(largest, total, out=np.zeros(times.size), where=known)
    if share.max() > max(LARGEST_SHARE, LARGEST_SHARE * _FEW / n):
        worst = int(np.argmax(share))
        said.append(
            f"at time {shown_time(times[worst])} one subject carries {share[worst]:.0%} of the total weight: "
            "scores there depend on that subject."
        )
    for each in said:
        warnings.warn(each, HorizonWarning, stacklevel=4)
    return until
