"""Whether censorings look like the end of a study that nobody marked."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from cocensor._notes import Note
from cocensor.outcomes.survival import Survival

_LAST = 0.1
_LEAST = 10
_SHARE = 0.25
_RATE = 5.0
_ENDED = re.compile(
    r"administrative|\b(end|close) of (the )?(study|trial|follow)|\bdata (lock|cut)|\bstudy (end|clos)", re.I
)


def unmarked_end(samples: Mapping[str, Survival]) -> list[Note]:
    """A caution where censorings pile up at the end of follow-up and none is marked as administrative.

    It is given where the last tenth of follow-up, up to the largest time, has at least 10 censorings and at least a
    quarter of all, and their rate per time at risk is there at least 5 times that before. Dropout at a steady rate does
    not look like that. Ends of study that are spread out, as where subjects enter over years, are not found: none can
    tell them from dropout.

    Parameters
    ----------
    samples : dict
        Outcomes by what a sample is called.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> event, dropout = rng.exponential(size=(2, 200))
    >>> y = Survival(np.minimum(np.minimum(event, dropout), 0.5), event <= np.minimum(dropout, 0.5))
    >>> [note.kind for note in unmarked_end({"sample": y})]
    ['caution']
    >>> unmarked_end({"sample": Survival.from_latent(event, dropout)})
    []
    """
    found = {name: share for name, y in samples.items() if (share := _share_at_end(y)) is not None}
    if not found:
        return []
    shares = " and ".join(f"{share:.0%} of the censored times in the {name}" for name, share in found.items())
    text = (
        f"{shares.replace('%', ' %')} lie in the last tenth of follow-up, probably because the study "
        "ended and not because of dropout. If so, mark them as administrative, or give dates with "
        "the data lock, or the planned follow-up."
    )
    return [Note("caution", text)]


def ended_by_reason(samples: Mapping[str, Survival]) -> list[Note]:
    """A caution where a reason for dropout reads like the end of the study.

    Examples
    --------
    >>> y = Survival([1.0, 2.0, 3.0], [True, False, False], reason=["", "moved", "End of study"])
    >>> [note.text.partition(":")[0] for note in ended_by_reason({"test sample": y})]
    ["The reason 'End of study' counts as dropout in the test sample"]
    """
    notes = []
    for name, y in samples.items():
        for reason in y.reasons:
            if _ENDED.search(reason):
                text = (
                    f"The reason {reason!r} counts as dropout in the {name}: if the study ended for these subjects, "
                    "mark them as administrative, which is not dropout."
                )
                notes.append(Note("caution", text))
    return notes


def _share_at_end(y: Survival) -> float | None:
    """The share of the censorings that lie in the last tenth of follow-up, where that looks like the end of a study."""
    if y.administrative is not None:
        return None
    start = (1.0 - _LAST) * y.t_max
    late = int(np.count_nonzero(~y.event & (y.time > start)))
    early = len(y) - y.n_events - late
    if late < _LEAST or late < _SHARE * (late + early):
        return None
    exposed_late, exposed_early = np.maximum(y.time - start, 0.0).sum(), np.minimum(y.time, start).sum()
    return late / (late + early) if late * exposed_early >= _RATE * early * exposed_late else None
