"""Parts of a sample that are alike in events and times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cocensor._checks import FloatArray, Rows, Seed, as_generator, as_vector, check_whole
from cocensor.data import Survival

_BINS = 10


def stratified_split(
    y: Any, shares: Sequence[float] = (0.7, 0.1, 0.2), seed: Seed = 0, bins: int = _BINS
) -> tuple[Rows, ...]:
    """Rows of parts with the given shares, each stratified on event and time.

    Events and censored subjects are put in the order of their times, cut into ``bins`` stretches of equal size (fewer
    in small samples), and dealt out within each at random; so every part has its share of early and late events and
    censorings.

    Parameters
    ----------
    y : Survival, structured array or tuple
        The outcomes.
    shares : sequence of float
        The share of each part; together 1.
    seed : int or Generator
        Of who comes into which part.
    bins : int
        How many stretches of time, at most.

    Returns
    -------
    tuple of array
        The rows of each part, as whole numbers in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.paper.datasets import stratified_split
    >>> y = (np.arange(1.0, 1001.0), np.arange(1000) % 3 == 0)
    >>> train, validation, test = stratified_split(y)
    >>> len(train), len(validation), len(test)
    (700, 100, 200)
    """
    outcomes = Survival.coerce(y)
    weights = as_vector(shares, "shares")
    if weights.size < 2 or (weights <= 0).any() or not np.isclose(weights.sum(), 1.0):
        raise ValueError(f"shares must be positive and add up to 1, but are {tuple(weights.tolist())}.")
    rng = as_generator(seed)
    sizes = _sizes(weights, len(outcomes), rng)
    if not sizes.all():
        raise ValueError(
            f"shares must give every part a subject, but there are only {len(outcomes)} subjects."
        )
    return _dealt(outcomes, sizes, bins, rng)


def subsample(y: Any, n: int, seed: Seed = 0, bins: int = _BINS) -> Rows:
    """Return some rows, stratified on event and time as in :func:`stratified_split`.

    Parameters
    ----------
    y : Survival, structured array or tuple
        The outcomes.
    n : int
        How many; all of them if there are no more.
    seed : int or Generator
        Of who is drawn.
    bins : int
        How many stretches of time, at most.

    Returns
    -------
    array
        The rows, as whole numbers in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> from cocensor.paper.datasets import subsample
    >>> y = (np.arange(1.0, 1001.0), np.arange(1000) % 4 == 0)
    >>> rows = subsample(y, 100)
    >>> len(rows), int((rows % 4 == 0).sum())
    (100, 26)
    """
    outcomes = Survival.coerce(y)
    if check_whole(n, "n") >= len(outcomes):
        return np.arange(len(outcomes))
    return _dealt(outcomes, np.array([n, len(outcomes) - n]), bins, as_generator(seed))[0]


def _dealt(y: Survival, sizes: Rows, bins: int, rng: np.random.Generator) -> tuple[Rows, ...]:
    """Parts of the given sizes: along the strata, each takes its turns at even distances from a random start."""
    order = _by_stratum(y, _fitting(bins, sizes, y), rng)
    turns = np.concatenate([(np.arange(size) + rng.random()) / size for size in sizes])
    part = np.repeat(np.arange(sizes.size), sizes)[np.argsort(turns, kind="stable")]
    return tuple(np.sort(order[part == k]) for k in range(sizes.size))


def _fitting(bins: int, sizes: Rows, y: Survival) -> int:
    """Return so many strata that the smallest part can have someone of each."""
    rarer = min(y.n_events, len(y) - y.n_events) or len(y)
    return max(1, min(check_whole(bins, "bins"), int(rarer * sizes.min() / len(y))))


def _sizes(shares: FloatArray, n: int, rng: np.random.Generator) -> Rows:
    """Return whole numbers in the proportion of the shares: the largest remainders get what rounding down leaves."""
    exact = shares * n
    sizes = np.floor(exact + 1e-9).astype(np.intp)
    first = np.lexsort((rng.random(shares.size), -(exact - sizes)))
    sizes[first[: n - int(sizes.sum())]] += 1
    return sizes


def _by_stratum(y: Survival, bins: int, rng: np.random.Generator) -> Rows:
    """All rows, stratum after stratum in random order, and in random order within each."""
    stratum = np.empty(len(y), dtype=np.intp)
    for kind, happened in enumerate((y.event, ~y.event)):
        rows = np.flatnonzero(happened)
        # Ties are broken at random: a heap of subjects at one time may be cut.
        ranks = np.lexsort((rng.random(rows.size), y.time[rows]))
        stratum[rows[ranks]] = kind * bins + np.arange(rows.size) * bins // max(rows.size, 1)
    return np.lexsort((rng.random(len(y)), rng.permutation(2 * bins)[stratum]))
