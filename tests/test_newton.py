import numpy as np

from cocensor._newton import Derivatives, minimise


def test_a_search_without_a_step_that_helps_ends_at_once():
    """A slope that is wrong promises what no step keeps: standing still is no step, however it is rounded."""
    evaluated = []

    def value(point):
        evaluated.append(point)
        return 1.0 + abs(float(point[0]))

    def derivatives(point):
        return Derivatives(1.0, np.array([1e-3]), np.array([[1.0]]))

    found = minimise(derivatives, value, np.zeros(1), max_iter=200)
    assert (found.converged, found.n_iter) == (False, 1)
    assert len(evaluated) < 20


def test_rounding_does_not_deny_a_minimum():
    """The function is known to 1e-12 only, and its slopes to 1e-8: the minimum is where they promise less."""
    centre = np.array([3.0, -2.0])
    for seed in range(20):
        rng = np.random.default_rng(seed)

        def value(point, rng=rng):
            return 1.0 + 0.5 * float((point - centre) @ (point - centre)) + 1e-12 * rng.normal()

        def derivatives(point, rng=rng, value=value):
            return Derivatives(value(point), point - centre + 1e-8 * rng.normal(size=2), np.eye(2))

        found = minimise(derivatives, value, np.zeros(2), tolerance=1e-12)
        assert found.converged
        assert found.n_iter < 10
        np.testing.assert_allclose(found.point, centre, atol=1e-6)
