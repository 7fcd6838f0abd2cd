import numpy as np
import pytest
from scipy.integrate import quad

from cocensor.data.interpolation import tail_area, tail_quantile, tail_values


@pytest.mark.parametrize("tail", ["last", "zero", "linear", "exponential"])
@pytest.mark.parametrize("last", [0.0, 0.3, 0.9])
def test_tail_area_is_the_integral_of_the_tail(tail, last):
    end = 4.0
    for lower, upper in ((4.0, 9.0), (4.2, 5.0), (30.0, 60.0)):
        expected, _ = quad(
            lambda t: float(tail_values(tail, last, end, t)),
            lower,
            upper,
            points=[end / (1 - last)],
            limit=200,
        )
        assert float(tail_area(tail, last, end, lower, upper)) == pytest.approx(expected, abs=1e-7)


def test_infinite_tails():
    assert tail_area("exponential", 0.5, 2.0, 2.0, np.inf) == pytest.approx(0.5 * 2.0 / np.log(2.0))
    assert tail_area("linear", 0.5, 2.0, 2.0, np.inf) == pytest.approx(0.5 * 0.5 * 2.0)
    assert tail_area("zero", 0.5, 2.0, 2.0, np.inf) == 0.0
    assert tail_area("last", 0.5, 2.0, 2.0, np.inf) == np.inf
    for tail in ("last", "linear", "exponential"):
        assert tail_area(tail, 1.0, 2.0, 2.0, np.inf) == np.inf
        assert tail_area(tail, 1.0, 2.0, 2.0, 5.0) == 3.0


@pytest.mark.parametrize("tail", ["linear", "exponential"])
def test_tail_quantile_inverts_the_tail(tail):
    t = tail_quantile(tail, 0.7, 3.0, 0.2)
    assert float(tail_values(tail, 0.7, 3.0, t)) == pytest.approx(0.2)
    assert tail_quantile("last", 0.7, 3.0, 0.2) == np.inf
    assert tail_quantile("zero", 0.7, 3.0, 0.2) == 3.0
