"""Whether censorings look like the end of a study that nobody marked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cocensor._notes import Note
from cocensor.outcomes.survival import Survival

_LAST = 0.1
_LEAST = 10
_SHARE = 0.25
_RATE = 5.0


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
