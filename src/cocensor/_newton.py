"""Newton's method for a smooth function that need not be convex, with bounds on its last argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cocensor._checks import FloatArray

_MAX_HALVINGS = 40
_FLAT = 1e-13  # curvature below this share of the largest counts as none
_SADDLE = 1e-9
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Derivatives:
    """A function with its gradient and Hessian."""

    value: float
    gradient: FloatArray
    hessian: FloatArray


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where Newton's method stopped, and whether that is a local minimum."""

    point: FloatArray
    at: Derivatives
    converged: bool
    n_iter: int
    bound: bool  # whether the last coordinate is held by a bound

    @property
    def value(self) -> float:
        """The function there."""
        return self.at.value


def minimise(
    function: Callable[[FloatArray], Derivatives],
    value: Callable[[FloatArray], float] | None,
    start: FloatArray,
    *,
    bounds: tuple[float, float] | None = None,
    longest: float = np.inf,
    tolerance: float = 1e-12,
    max_iter: int = 100,
    slack: float = 1e-15,
    hopeless: Callable[[Derivatives], bool] | None = None,
) -> Minimum:
    """Return a local minimum near ``start``.

    Where the Hessian is not positive definite, its eigenvalues are taken by size, so that a step leads away from
    a saddle. ``value`` is the function alone, infinite outside its domain; None where it costs as much as with its
    derivatives. ``bounds`` are those of the last coordinate, which moves by at most ``longest`` in one step. Converged
    is what promises to fall by less than ``tolerance``. ``slack`` is the rounding of the function, relative to itself;
    ``hopeless`` sees every point that is reached, and ends the search where it says so.
    """
    point, at = start, function(start)
    converged = held = False
    n_iter = 0
    while n_iter < max_iter and not converged and np.isfinite(at.hessian).all():
        n_iter += 1
        if hopeless is not None and hopeless(at):
            break
        held = _leaves(point, -at.gradient, bounds)
        step, definite = _newton_step(at, held)
        # A step may lead out of bounds although the slope does not: then the others move first.
        postponed = not held and _leaves(point, step, bounds)
        if postponed:
            step, definite = _newton_step(at, True)
        promised = -0.5 * float(at.gradient @ step)
        small = promised < tolerance and not postponed
        if bounds is not None and step[-1] != 0:  # the last coordinate stays within its bounds
            room = (bounds[1] if step[-1] > 0 else bounds[0]) - point[-1]
            step *= min(1.0, longest / abs(step[-1]), room / step[-1])
        lower = _search(value or function, point, step, at.value, promised, slack * abs(at.value))
        if lower is None:
            # No step helps any more: rounding, if the promise was next to nothing.
            converged = definite and promised < 1e3 * tolerance + 1e-14 * abs(at.value)
            break
        point, there = lower
        if bounds is not None:
            # A step up to a bound may miss it by rounding.
            point[-1] = next((b for b in bounds if abs(point[-1] - b) < _ROUNDING), point[-1])
        at = there if isinstance(there, Derivatives) else function(point)
        converged = small and definite
    return Minimum(point, at, converged, n_iter, held)


def _newton_step(at: Derivatives, held: bool) -> tuple[FloatArray, bool]:
    """The step, without the last coordinate if that is held, and whether the Hessian has no negative curvature."""
    free = slice(0, at.gradient.size - held)
    gradient, hessian = at.gradient[free], at.hessian[free, free]
    # In units in which every curvature is 1, which is also what makes "flat" mean something.
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(hessian)), 1e-300))
    scaled = hessian * np.outer(scale, scale)
    step = np.zeros_like(at.gradient)
    try:
        if np.diag(np.linalg.cholesky(scaled)).min() ** 2 > _FLAT:
            step[free] = -scale * np.linalg.solve(scaled, scale * gradient)
            return step, True
    except np.linalg.LinAlgError:
        pass
    curvature, axes = np.linalg.eigh(scaled)
    size = np.maximum(np.abs(curvature), _FLAT * np.abs(curvature).max())
    step[free] = -scale * (axes @ ((axes.T @ (scale * gradient)) / size))
    # Flat is no obstacle to a minimum, a saddle is.
    return step, bool(curvature[0] > -_SADDLE * curvature[-1])


def _leaves(point: FloatArray, direction: FloatArray, bounds: tuple[float, float] | None) -> bool:
    """Whether the last coordinate is at a bound and would go beyond."""
    low, high = bounds or (-np.inf, np.inf)
    return bool((point[-1] <= low and direction[-1] <= 0) or (point[-1] >= high and direction[-1] >= 0))


def _search(
    look: Callable[[FloatArray], float | Derivatives],
    point: FloatArray,
    step: FloatArray,
    value: float,
    promised: float,
    rounding: float,
) -> tuple[FloatArray, float | Derivatives] | None:
    """Return the first point, on ever shorter steps, where the function falls by a fair share of what they promise.

    With what a ``look`` there found; None where no step does that promises more than rounding.
    """
    share = 1.0
    for _ in range(_MAX_HALVINGS):
        moved = point + share * step
        there = look(moved)
        lowered = there.value if isinstance(there, Derivatives) else there
        if lowered <= value - 1e-4 * share * promised + rounding:
            return moved, there
        share *= 0.5 if share > 0.1 else 0.1
        if not share * promised > rounding:
            break
    return None
