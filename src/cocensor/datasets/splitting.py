"""Parts of a sample that are alike in events and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cocensor._validation import Seed, as_generator, as_vector
from cocensor.outcomes import Survival

Rows = npt.NDArray[np.intp]
_BINS = 10


def stratified_split(
    y: Any, shares: Sequence[float] = (0.7, 0.1, 0.2), seed: Seed = 0, bins: int = _BINS
) -> tuple[Rows, ...]:
    """Rows of parts with the given shares, each stratified on event and time.

    Events and censored subjects are put in the order of their times, cut into ``bins`` stretches of equal size, and
    dealt out within each at random; so every part has its share of early and late events and censorings.

    Examples
    --------
    >>> import numpy as np
    >>> y = (np.arange(1.0, 1001.0), np.arange(1000) % 3 == 0)
    >>> train, validation, test = stratified_split(y)
    >>> len(train), len(validation), len(test)
    (700, 100, 200)
    """
    outcomes = Survival.coerce(y)
    weights = as_vector(np.asarray(shares, dtype=np.float64), "shares")
    if weights.size < 2 or (weights <= 0).any() or not np.isclose(weights.sum(), 1.0):
        raise ValueError(f"shares must be positive and add up to 1, but are {tuple(shares)}.")
    order = _by_stratum(outcomes, bins, as_generator(seed))
    # Along this order the parts take turns in proportion to their shares.
    part = _turns(weights, len(outcomes))
    return tuple(np.sort(order[part == k]) for k in range(weights.size))


def subsample(y: Any, n: int, seed: Seed = 0, bins: int = _BINS) -> Rows:
    """``n`` rows, stratified on event and time as in :func:`stratified_split`; all of them if there are no more.

    Examples
    --------
    >>> import numpy as np
    >>> y = (np.arange(1.0, 1001.0), np.arange(1000) % 4 == 0)
    >>> rows = subsample(y, 100)
    >>> len(rows), int((rows % 4 == 0).sum())
    (100, 25)
    """
    outcomes = Survival.coerce(y)
    if n < 1:
        raise ValueError(f"n must be at least 1, but is {n}.")
    if n >= len(outcomes):
        return np.arange(len(outcomes))
    order = _by_stratum(outcomes, bins, as_generator(seed))
    share = n / len(outcomes)
    return np.sort(order[_turns(np.array([share, 1.0 - share]), len(outcomes)) == 0])


def _by_stratum(y: Survival, bins: int, rng: np.random.Generator) -> Rows:
    """All rows, stratum after stratum, in random order within each."""
    stratum = np.empty(len(y), dtype=np.intp)
    for kind, happened in enumerate((y.event, ~y.event)):
        rows = np.flatnonzero(happened)
        # Ties are broken at random: a heap of subjects at one time may be cut.
        ranks = np.lexsort((rng.random(rows.size), y.time[rows]))
        stratum[rows[ranks]] = kind * bins + np.arange(rows.size) * bins // max(rows.size, 1)
    return np.lexsort((rng.random(len(y)), stratum))


def _turns(shares: npt.NDArray[np.float64], n: int) -> Rows:
    """For each of n places a part, so that every stretch of places has the parts in their shares."""
    due = np.concatenate([(np.arange(round(share * n)) + 0.5) / share for share in shares])
    part = np.repeat(np.arange(shares.size), [round(share * n) for share in shares])
    turns = part[np.argsort(due, kind="stable")]
    # Rounding may leave a place too many or too few: the largest part takes it.
    missing = n - turns.size
    return turns[:n] if missing <= 0 else np.append(turns, np.full(missing, int(np.argmax(shares))))
