"""How much effects are shrunk: the weights of ridges by marginal likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cocensor._checks import FloatArray, IntArray
from cocensor._newton import Minimum

# In units of the log-likelihood for standardised columns: an effect has a prior standard deviation of 1/√weight.
_START = 1e3
_RANGE = (1e-3, 1e6)
# Weights have settled when none of them would change the effective number of effects by more than this.
_SETTLED = 0.05
_MAX_ROUNDS = 20

#: A fit with given weights for all parameters, from a start.
Fit = Callable[[FloatArray, FloatArray], Minimum]


def ridge_weights(
    ridges: IntArray,
    n: float,
    first_fit: Fit,
    fit: Fit,
    start: FloatArray,
    first_weights: FloatArray | None = None,
) -> tuple[Minimum, FloatArray]:
    r"""The weights that make the data most likely, effects integrated out, and the fit with them.

    Effects of ridge g have the prior :math:`N(0, 1/\lambda_g)`. The marginal likelihood (Laplace's approximation) is
    stationary where :math:`\lambda_g = d_g / \sum \hat b_j^2`, with :math:`d_g = r_g - \lambda_g \mathrm{tr}_g H^{-1}`
    the effective number of its :math:`r_g` effects and H the penalised information. That is iterated (Fellner and
    Schall; Wood and Fasiolo, 2017, *Biometrics* 73, 1071–1081).

    ``ridges`` has the number of the ridge of each parameter, −1 for those that are not shrunk; ``n`` is the number of
    subjects, over which :class:`Minimum` takes the mean; ``first_fit`` starts from ``start`` with ``first_weights``.
    """
    groups = [np.flatnonzero(ridges == g) for g in range(int(ridges.max(initial=-1)) + 1)]
    weights = np.where(ridges >= 0, _START, 0.0)
    if first_weights is not None:
        # A weight under which no effect is left would count as settled, whatever the data.
        weights = np.minimum(first_weights, weights)
    found = first_fit(weights, start)
    for _ in range(_MAX_ROUNDS if groups else 0):
        variances = _variances(found.at.hessian * n)
        moved = 0.0
        for at in groups:
            before = weights[at[0]]
            effective = float(np.clip(at.size - before * variances[at].sum(), 1e-6, at.size))
            after = float(np.clip(effective / max(np.sum(found.point[at] ** 2), 1e-300), *_RANGE))
            undecided = min(effective, at.size - effective)
            moved = max(moved, abs(np.log(after / before)) * undecided)
            weights[at] = after
        found = fit(weights, found.point)
        if moved < _SETTLED:
            break
    return found, weights


def _variances(information: FloatArray) -> FloatArray:
    """The diagonal of its inverse; of the generalised one where it has none."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(information))  # a tenth of what eigenvalues take
    except np.linalg.LinAlgError:
        return np.diag(np.linalg.pinv(information, hermitian=True))
    return np.einsum("ij,ij->j", root, root)
