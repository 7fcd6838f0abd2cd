"""Numbers have as many digits as they deserve, and a limit is rounded so that what it says still holds."""

import pytest

from cocensor.views.text.digits import decimals, inward, number, ratio_in_words


@pytest.mark.parametrize(
    ("function", "values", "texts"),
    [
        (decimals, (0.0072, 0.00004, 12.0, 0.0, float("nan")), (4, 6, 0, 4, 4)),
        (number, (0.14321, 0.0000321, 0.0), ("0.1432", "3.2e-05", "0.0000")),
        (
            ratio_in_words,
            (0.0042, 0.637, 1.0, 1.04, 1.96, 11.7),
            ("0.0042", "0.64", "1", "1.04", "2", "12"),
        ),
        (inward, (0.637, 0.993, 1.0, 1.048, 1.96, 11.7), ("0.64", "1", "1", "1.04", "1.9", "11")),
    ],
)
def test_digits(function, values, texts):
    assert tuple(map(function, values)) == texts


def test_a_number_that_would_be_0_keeps_two_digits():
    assert number(-0.00001, 2) == "−1e-05"
