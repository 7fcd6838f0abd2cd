"""Bands that hold several estimates at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from cocensor._checks import FloatArray, check_number
from cocensor._late import special
from cocensor._parallel import one_blas_thread

#: At 95%, quantiles of maxima then err by about 0.01.
N_DRAWS = 20_000
# Nearly as good for bands, where what single estimates do is known: by about 0.02, 0.2 % of coverage.
_BAND_DRAWS = 2**12
# Few enough draws at once that they stay in the processor's cache, and of many estimates few cells.
_DRAWS_AT_ONCE, _CELLS_AT_ONCE = 2**10, 2**21
# Of up to this many estimates, drawn normals are kept: bands over grids and times ask for the same ones.
_WIDEST_KEPT = 104


class Band(NamedTuple):
    """Limits that hold all estimates at once; ``quantile`` times its standard error is how far each reaches."""

    low: FloatArray
    high: FloatArray
    quantile: float


def normal_quantile(confidence_level: float, *, two_sided: bool = True, among: int = 1) -> float:
    """The quantile of the standard normal distribution that an interval reaches; of Bonferroni ``among`` several."""
    level = check_number(confidence_level, "confidence_level", lower=0.0, upper=1.0)
    return -float(special.ndtri((1.0 - level) / (among * (2.0 if two_sided else 1.0))))


@one_blas_thread
def simultaneous_quantile(rows: FloatArray, confidence_level: float = 0.95) -> float:
    r"""The standard errors that a band reaches to hold all of several estimates at once (sup-t).

    The quantile of :math:`\max_s |Z_s|`, Z normal with the correlations of the estimates, over those with a positive
    variance. It lies between the pointwise quantile (all correlations 1) and Bonferroni's. It is exact for one
    estimate, else from draws with a fixed seed, to about 0.02: how often draws of single estimates lie beyond the
    quantile, which is known, corrects for how often the largest does. ``rows`` (R, S) are any with
    :math:`\sum_r r r'` as covariance. Columns with NaN or of 0 take no part; NaN where none does.
    """
    pointwise = normal_quantile(confidence_level)
    largest = np.abs(rows).max(axis=0, initial=0.0)
    used = largest > 0
    if not used.any():
        return float("nan")
    if used.sum() == 1:
        return pointwise
    # By powers of two, which is exact: squares of what is tiny would be 0.
    scaled = np.ldexp(rows[:, used], -np.frexp(largest[used])[1])
    scaled /= np.sqrt(np.square(scaled).sum(axis=0))
    limits = quantile_limits(confidence_level, scaled.shape[1])
    drawn = [np.abs(block) for block in normal_draws(scaled, _BAND_DRAWS)]
    maxima = np.concatenate([block.max(axis=0) for block in drawn])
    roughly = float(np.clip(np.quantile(maxima, confidence_level), *limits))
    beyond = np.concatenate([np.count_nonzero(block > roughly, axis=0) for block in drawn])
    covariance = np.cov(maxima > roughly, beyond)
    slope = covariance[0, 1] / covariance[1, 1] if covariance[1, 1] else 0.0
    surplus = beyond.mean() - 2.0 * scaled.shape[1] * special.ndtr(-roughly)
    level = float(np.clip(confidence_level - slope * surplus, 0.0, 1.0))
    return float(np.clip(np.quantile(maxima, level), *limits))


def normal_draws(rows: FloatArray, n_draws: int = N_DRAWS) -> Iterator[FloatArray]:
    """``n_draws`` draws of normals with covariance ``rows.T @ rows``, always the same: blocks with a draw by column.

    They are made by the symmetric root of the covariance, which is unique and moves little with its entries. Not so a
    triangular factor, where estimates depend on each other, as points of a curve with few parameters do: rounding would
    then decide what is drawn. Of fewer subjects than estimates each has a draw, the least influential first, so that
    their order does not matter. NaN counts as 0.
    """
    rows = np.where(np.isnan(rows), 0.0, rows)
    n_rows, size = rows.shape
    if n_rows < size:
        factor = rows[np.argsort(np.square(rows).sum(axis=1))]
    else:  # the covariance itself is not formed: it would lose half of the digits
        _, sizes, directions = np.linalg.svd(np.linalg.qr(rows, mode="r"))
        factor = (directions.T * sizes) @ directions
    width, block = len(factor), max(1, min(_DRAWS_AT_ONCE, _CELLS_AT_ONCE // max(size, 1)))
    kept = _standard_normals()[: n_draws * width].reshape(n_draws, width) if width <= _WIDEST_KEPT else None
    rng = np.random.default_rng(0)
    for start in range(0, n_draws, block):
        stop = min(start + block, n_draws)
        drawn = (rng.standard_normal((stop - start, width)) if kept is None else kept[start:stop]).T
        yield factor.T @ drawn


@cache
def _standard_normals() -> FloatArray:
    """One stream of numbers: its start is the draws of fewer estimates."""
    drawn = np.random.default_rng(0).standard_normal(N_DRAWS * _WIDEST_KEPT)
    drawn.flags.writeable = False
    return drawn


def quantile_limits(confidence_level: float, among: int, *, two_sided: bool = True) -> tuple[float, float]:
    """The least and the largest quantile that a maximum of ``among`` normals has, over all correlations."""
    lowest = normal_quantile(confidence_level, two_sided=two_sided)
    return lowest, normal_quantile(confidence_level, two_sided=two_sided, among=among)
